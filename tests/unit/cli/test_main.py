"""Exit codes, streams and messages of the command line as a whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gainful import __version__
from gainful._core import KIND
from gainful.cli import app as commands
from gainful.cli import main as cli
from gainful.errors import GainfulError

TINY = Path(__file__).parents[2] / "golden" / "tiny"
GAINFUL = [sys.executable, "-c", "import sys; from gainful.cli.main import main; sys.exit(main())"]


def process(*words: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GAINFUL, *map(str, words)], capture_output=True, text=True, check=False, **options)


@pytest.fixture
def heeded():
    """Ctrl-C, which a shell in the background, or a test runner there, has its children ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class TestProcess:
    def test_data_to_stdout_the_rest_to_stderr(self):
        ended = process("evaluate", TINY / "qrels.txt", TINY / "a.txt", "--format", "csv", "-m", "P@2")
        assert ended.returncode == 0
        assert ended.stdout == "run,measure,query_id,score\na,P@2,all,0.5\n"
        assert ended.stderr == (
            "evaluate: 1 run, 3 topics; ties=trec unjudged=zero missing=empty degenerate=zero duplicates=error\n"
        )

    def test_refused_input_is_one_line_and_status_1(self):
        ended = process("evaluate", TINY / "qrels.txt", TINY / "none.txt")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith("gainful: error: ")
        assert ended.stderr.count("\n") == 1

    def test_usage_is_status_2(self):
        ended = process("evaluate", TINY / "qrels.txt", TINY / "a.txt", "--tie", "trec")
        assert (ended.returncode, ended.stdout) == (2, "")
        assert (
            ended.stderr
            == "gainful: error: Unknown option: --tie. Did you mean --ties? Try 'gainful evaluate --help'.\n"
        )

    @pytest.mark.parametrize("words", [("measures", "--format", "json"), ("--help",)])
    def test_closed_pipe(self, words):
        reader, writer = os.pipe()
        os.close(reader)  # nobody reads: the first write fails
        ended = subprocess.run([*GAINFUL, *words], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
        os.close(writer)
        assert (ended.returncode, ended.stderr) == (141, "")

    def test_interrupt(self, heeded):
        code = "\n".join(
            [
                "import sys, time",
                "from gainful.cli import app as commands, main as cli",
                "commands.register = lambda *_: None",
                "commands.app = lambda words: (print('on', flush=True), time.sleep(30))",
                "sys.exit(cli.main(['evaluate']))",
            ]
        )
        command = [sys.executable, "-c", code]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert running.stdout.readline() == "on\n"
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=20)
        assert (running.returncode, err) == (130, "")

    def test_interrupt_while_importing(self, tmp_path, heeded):
        # Stands for the real one, found first, and takes its time.
        (tmp_path / "cyclopts.py").write_text(
            "import time\nprint('on', flush=True)\ntime.sleep(30)\n", encoding="utf-8"
        )
        command = [sys.executable, "-m", "gainful", "--help"]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
        )
        assert running.stdout.readline() == "on\n"
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=20)
        assert (running.returncode, err) == (-signal.SIGINT, "")  # which shells show as 130

    def test_the_installed_command_is_this_module_too(self):
        scripts = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert scripts["scripts"] == {"gainful": "gainful.cli.start:start"}
        ended = subprocess.run(
            [sys.executable, "-m", "gainful", "--version"], capture_output=True, text=True, check=True
        )
        assert ended.stdout == f"gainful {__version__} ({KIND})\n"

    def test_message_that_the_terminal_cannot_show(self):
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        ended = process("evaluate", TINY / "qrels.txt", TINY / "a.txt", "-m", "é", env=environment)
        assert ended.returncode == 1
        assert "'\\xe9'" in ended.stderr


def test_version(gainful):
    assert gainful("--version") == (0, f"gainful {__version__} ({KIND})\n", "")


def test_without_command_shows_help(gainful):
    status, out, err = gainful()
    assert (status, err) == (0, "")
    assert out.startswith("Usage: gainful COMMAND\n")


USAGE = {
    "evaluate": "missing QRELS. Try 'gainful evaluate --help'.",
    "evaluate q": "missing RUN... Try 'gainful evaluate --help'.",
    "evaluate q r -m": "-m: expected a value after it. Try 'gainful evaluate --help'.",
    "evaluate q r --format xml": 'Invalid value "xml" for --format. '
    'Choose from: "table", "csv", "json", "latex", "markdown", "html". '
    "Try 'gainful evaluate --help'.",
    "evaluate q r --ties tre": 'Invalid value "tre" for --ties. Choose from: "trec", "order", "expected". '
    "Did you mean \"trec\"? Try 'gainful evaluate --help'.",
    "explain q r s": "unexpected 's'. Try 'gainful explain --help'.",
    "explain q r s t": "unexpected 's', 't'. Try 'gainful explain --help'.",
    "threshold apply r --threshold 8": "missing --output FILE. Try 'gainful threshold apply --help'.",
    "threshold apply r --threshold": "--threshold: expected a value after it. Try 'gainful threshold apply --help'.",
    "threshold apply r --threshold abc -o x": "Invalid value for --threshold: expected a number, got 'abc'. "
    "Try 'gainful threshold apply --help'.",
    "report q -o x": "missing RUN... Try 'gainful report --help'.",
    # Alike only by the dashes.
    "report q r -o x --engine dask": "Unknown option: --engine. Try 'gainful report --help'.",
    "compare q r --basline=r": "Unknown option: --basline. Did you mean --baseline? Try 'gainful compare --help'.",
    "compare q r --tets t": "Unknown option: --tets. Did you mean --test? Try 'gainful compare --help'.",
    "compare q r --hlep": "Unknown option: --hlep. Did you mean --help? Try 'gainful compare --help'.",
    "simulate f --topics many": "Invalid value for --topics: expected a whole number, got 'many'. "
    "Try 'gainful simulate --help'.",
}


def test_unknown_command(gainful):
    status, out, err = gainful("evalute")
    assert (status, out) == (2, "")
    assert err.startswith('gainful: error: Unknown command "evalute". Did you mean "evaluate"? Available commands: ')


@pytest.mark.parametrize("words", USAGE)
def test_usage_errors(gainful, words):
    assert gainful(*words.split()) == (2, "", f"gainful: error: {USAGE[words]}\n")


def refused(outcome, message: str) -> None:
    assert outcome == (1, "", f"gainful: error: {message}\n")


class TestRefused:
    def test_unknown_measure(self, gainful):
        outcome = gainful("evaluate", TINY / "qrels.txt", TINY / "a.txt", "-m", "nDGC@10")
        refused(outcome, "Unknown measure 'nDGC@10'. Did you mean 'nDCG@10'? 'gainful measures' lists them all.")

    def test_run_first(self, gainful):
        expected = "expected 4 fields (topic iteration doc label), got 6: 'q1 Q0 d1 1 3.0 a'"
        outcome = gainful("evaluate", TINY / "a.txt", TINY / "qrels.txt")
        refused(outcome, f"{TINY / 'a.txt'}:1: {expected}. It looks like a run; qrels come before runs")

    def test_qrels_twice(self, gainful):
        expected = "expected 6 fields (topic Q0 doc rank score tag), got 4: 'q1 0 d1 2'"
        outcome = gainful("evaluate", TINY / "qrels.txt", TINY / "qrels.txt")
        refused(outcome, f"{TINY / 'qrels.txt'}:1: {expected}. It looks like qrels; qrels come before runs")

    @pytest.mark.parametrize(
        "line",
        ["q1 Q0 d1 two", "q1 Q0 d1 2"],  # the second could be of qrels, but not after one of a run
    )
    def test_line_cut_short_makes_no_qrels(self, gainful, tmp_path, line):
        bad = tmp_path / "bad.txt"
        bad.write_text(f"q1 Q0 d2 1 3.0 t\n{line}\n", encoding="utf-8")
        outcome = gainful("evaluate", TINY / "qrels.txt", bad)
        refused(outcome, f"{bad}:2: expected 6 fields (topic Q0 doc rank score tag), got 4: {line!r}")

    def test_first_line_that_is_none_of_qrels(self, gainful, tmp_path):
        bad = tmp_path / "bad.txt"
        bad.write_text("q1 Q0 d1 two\n", encoding="utf-8")
        outcome = gainful("evaluate", TINY / "qrels.txt", bad)
        refused(outcome, f"{bad}:1: expected 6 fields (topic Q0 doc rank score tag), got 4: 'q1 Q0 d1 two'")

    def test_settings_are_options(self, gainful, tmp_path):
        twice = tmp_path / "twice.txt"
        twice.write_text("q1 Q0 d1 1 3.0 t\nq1 Q0 d1 2 2.0 t\n", encoding="utf-8")
        message = (
            "run 'twice': document 'd1' appears twice in topic 'q1': remove one, or use --duplicates first to keep the "
            "first."
        )
        refused(gainful("evaluate", TINY / "qrels.txt", twice), message)
        _, _, err = gainful("evaluate", TINY / "qrels.txt", twice, TINY / "a.txt", "--keep-going")
        assert f"failed: {twice}: {message}" in err.splitlines()
        outcome = gainful("evaluate", TINY / "qrels.txt", TINY / "a.txt", "--workers", "2")
        refused(outcome, "--workers 2: expected --engine dask with it")

    def test_missing_file(self, gainful):
        outcome = gainful("evaluate", TINY / "qrel.txt", TINY / "a.txt")
        refused(outcome, f"{TINY / 'qrel.txt'}: no such file. Did you mean 'qrels.txt'?")

    def test_missing_topics(self, gainful):
        outcome = gainful("evaluate", TINY / "qrels.txt", TINY / "b.txt", "--missing", "error")
        refused(
            outcome,
            "run 'b' returns nothing for 1 of 3 judged topics (q3): "
            "use --missing empty or --missing skip to score it all the same.",
        )

    def test_file_that_cannot_be_written(self, gainful, tmp_path):
        target = tmp_path / "nowhere" / "out.csv"
        outcome = gainful("evaluate", TINY / "qrels.txt", TINY / "a.txt", "-o", target)
        refused(outcome, f"{target}: expected a folder that exists, got {str(target.parent)!r}")

    def test_two_runs_of_one_name(self, gainful):
        outcome = gainful("evaluate", TINY / "qrels.txt", TINY / "a.txt", TINY / "a.txt")
        refused(outcome, "two runs are called 'a'; rename one")


def test_operating_system_errors_have_no_traceback(gainful, monkeypatch):
    def fail(words):
        raise PermissionError(13, "Permission denied", "x.txt")

    monkeypatch.setattr(commands, "app", fail)
    assert gainful("evaluate") == (1, "", "gainful: error: x.txt: Permission denied\n")


@pytest.mark.parametrize(
    ("error", "status"), [(BrokenPipeError(), 141), (SystemExit(1), 141), (KeyboardInterrupt(), 130)]
)
def test_ways_out(gainful, monkeypatch, error, status):
    def leave(words):
        raise error

    monkeypatch.setattr(commands, "app", leave)
    monkeypatch.setattr(cli, "_redirect", lambda stream: None)  # pytest still needs its stdout
    assert gainful("evaluate") == (status, "", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--memory", "lots"], "--memory: expected a size such as 2GB or 500MB, got 'lots'"),
        (["--memory=5"], "--memory: expected at least 100 MB, got '5'"),
        (["--documents=-1"], "--documents: expected a whole number of at least 0, got -1"),
        (["--include", "memory"], "memory: expected at least 100 MB, got '7'"),  # which the environment says
    ],
)
def test_errors_name_options_as_typed(gainful, monkeypatch, words, message):
    def fail(_):
        raise GainfulError(message.removeprefix("--"))

    monkeypatch.setattr(commands, "app", fail)
    assert gainful("evaluate", *words) == (1, "", f"gainful: error: {message}\n")


@pytest.mark.parametrize(
    ("error", "why"),
    [(MemoryError("Unable to allocate 72.8 TiB"), ": Unable to allocate 72.8 TiB"), (MemoryError(), "")],
)
def test_too_large_for_memory(gainful, monkeypatch, error, why):
    def fail(words):
        raise error

    monkeypatch.setattr(commands, "app", fail)
    message = f"gainful: error: not enough memory{why}; take fewer runs, topics or resamples at a time\n"
    assert gainful("evaluate") == (1, "", message)


def test_our_own_mistakes_keep_their_traceback(gainful, monkeypatch):
    def fail(words):
        raise ZeroDivisionError

    monkeypatch.setattr(commands, "app", fail)
    with pytest.raises(ZeroDivisionError):
        gainful("evaluate")


def test_a_closed_stdout_is_no_crash():
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m gainful measures P >&-"], stderr=subprocess.PIPE, text=True, check=False
    )
    message = "gainful: error: standard output: cannot be written: Bad file descriptor\n"
    assert (done.returncode, done.stderr) == (1, message)
