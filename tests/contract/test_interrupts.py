"""Whatever ends a command, no half of a file is left, nor a temporary one, nor a traceback; and shells are told."""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from effort import examples

TINY = Path(__file__).parents[1] / "golden" / "tiny"
GAINFUL = [sys.executable, "-m", "gainful"]
# `gainful`, but the rename that makes a file appear takes its time: the moment at which a temporary one is there.
HELD = """
import pathlib, sys, time
def held(self, target):
    print("held", file=sys.stderr, flush=True)
    time.sleep(60)
pathlib.Path.replace = pathlib.Path.rename = held
from gainful.cli.start import start
sys.exit(start())
"""
# `gainful`, which says when it begins: before that, it is Python that is interrupted. Until the command heeds Ctrl-C,
# gainful/__init__.py leaves it to the system.
BEGUN = """
import signal, sys
from gainful.cli.start import start
signal.signal(signal.SIGINT, signal.SIG_DFL)
print("begun", file=sys.stderr, flush=True)
sys.exit(start())
"""
# `gainful`, which says when workers of a cluster get something to do.
WORKING = """
import sys
from gainful.cli.start import start
from gainful.engine.cluster import Cluster
work = Cluster.map
def told(*words, **more):
    print("working", file=sys.stderr, flush=True)
    return work(*words, **more)
Cluster.map = told
sys.exit(start())
"""
# `gainful`, which is sent a signal inside of such a callback.
DROPPING = """
import os, sys
from gainful.cli import main, start
class Thrown:
    def __del__(self):
        os.kill(os.getpid(), NUMBER)
        for _ in range(100):
            pass
def dropping(words, run=main._run):
    Thrown()
    return run(words)
main._run = dropping
sys.exit(start.start())
"""
# `gainful`, which has no memory left and goes on all the same.
STUCK = """
import sys, threading, time
from gainful.cli import main, start
def stuck(words):
    try:
        threading.Thread(target=start._exhausted, args=(MemoryError("full"), lambda: False), daemon=True).start()
        time.sleep(60)
    except start.Ended:
        time.sleep(60)
main._run = stuck
sys.exit(start.start())
"""
EVALUATE = ["evaluate", TINY / "qrels.txt", TINY / "a.txt"]
WRITERS = {
    "evaluate": [*EVALUATE, "-o", "out.csv"],
    "simulate": ["simulate", "out", "--topics", "2", "--systems", "2", "--depth", "20"],
    "threshold apply": ["threshold", "apply", TINY / "a.txt", "--threshold", "2", "-o", "out.txt.gz"],
    "threshold fit": ["threshold", "fit", TINY / "qrels.txt", TINY / "a.txt", "--save", "out.json"],
    "optimize": [
        *("optimize", TINY / "qrels.txt", TINY / "a.txt", TINY / "b.txt"),
        *("--cutoff", "2", "--splits", "0", "--resamples", "10", "--save", "out.json"),
    ],
    "report": ["report", TINY / "qrels.txt", TINY / "a.txt", TINY / "b.txt", "-o", "out.html"],
    "a chart": ["threshold", "curve", TINY / "qrels.txt", TINY / "a.txt", "--chart", "out.svg"],
}


def slow(*values: object) -> object:
    """Values of a test that `make test-all` takes the time for."""
    return pytest.param(*values, marks=pytest.mark.slow)


def heed() -> None:
    """What a shell in the background, or a test runner there, has its children ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(*words: str | Path, command: list[str] = GAINFUL, **options) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **{"preexec_fn": heed, **options},
    )


def ended(running: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = running.communicate(timeout=180)  # others may be at work, too
    return running.returncode, out, err


def wait_until(done: Callable[[], bool]) -> None:
    for _ in range(3600):
        if done():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to that in three minutes")


def reads(process: int, name: str) -> bool:
    """Whether a process has a file open, as Linux tells it."""
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            if os.readlink(descriptor) == os.path.abspath(name):
                return True
    return False


def children(process: int) -> list[int]:
    """The processes that a process has started and that still run."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def shell(script: str, *words: str | Path, **options) -> tuple[int, str, str]:
    """A script in which "$@" is a gainful command."""
    return ended(started(*GAINFUL, *words, command=["bash", "-c", script, "bash"], **options))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pipe(folder: Path) -> Iterator[str]:
    """A run that never comes."""
    os.mkfifo("pipe")
    writer = os.open("pipe", os.O_RDWR)
    yield "pipe"
    os.close(writer)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("collection") / "c"
    words = ["--topics", "300", "--systems", "4", "--depth", "20", "--pool-depth", "5"]
    assert ended(started("simulate", path, *words))[0] == 0
    return path


class TestSignals:
    @pytest.mark.parametrize(
        ("words", "number"),
        [
            (WRITERS["evaluate"], signal.SIGTERM),
            # All write by the same function; these by other ways to it.
            *(slow(WRITERS[name], signal.SIGTERM) for name in ("simulate", "threshold apply", "report")),
            slow(WRITERS["simulate"], signal.SIGINT),
            slow(WRITERS["evaluate"], signal.SIGHUP),
        ],
        ids=lambda value: value.name if isinstance(value, signal.Signals) else value[0],
    )
    def test_while_a_file_is_written(self, folder, words, number):
        target = Path("out") if words[0] == "simulate" else Path(words[-1])
        if words[0] != "simulate":
            target.write_text("before")
        running = started(*words, command=[sys.executable, "-c", HELD])
        assert running.stderr.readline() == "held\n"
        assert [path.name for path in folder.iterdir() if path != folder / target] != []
        running.send_signal(number)
        code, _, err = ended(running)
        assert (code, err) == (-number, "")
        assert os.listdir() == ([] if words[0] == "simulate" else [target.name])
        assert words[0] == "simulate" or target.read_text() == "before"

    @pytest.mark.parametrize("number", [signal.SIGINT, slow(signal.SIGTERM)], ids=lambda number: number.name)
    def test_while_a_pipe_is_read(self, pipe, number):
        running = started("evaluate", TINY / "qrels.txt", pipe, "-o", "out.csv")
        wait_until(lambda: reads(running.pid, pipe))
        running.send_signal(number)
        code, out, err = ended(running)
        assert (code, out) == (-number, "")
        assert "Traceback" not in err
        assert os.listdir() == ["pipe"]

    def test_an_error_does_not_wait_for_a_pipe(self, pipe):
        """Which is being read already, in the background."""
        code, out, err = ended(started("evaluate", "none", pipe))
        assert (code, out, err) == (1, "", "gainful: error: none: no such file.\n")

    @pytest.mark.slow
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
    def test_where_python_drops_exceptions(self, pipe, number):
        """As in what it calls when something is thrown away, which happens all the time during imports."""
        script = DROPPING.replace("NUMBER", str(int(number)))
        running = started("evaluate", TINY / "qrels.txt", pipe, command=[sys.executable, "-c", script])
        assert ended(running) == (-number, "", "")

    @pytest.mark.slow
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
    def test_what_a_dropped_signal_leaves_half_done(self, number):
        """As polars does whose import was interrupted; the signal is sent again only after that."""
        half = "raise AttributeError('module has no attribute')"
        script = DROPPING.replace("NUMBER", str(int(number))).replace("return run(words)", half)
        assert ended(started("evaluate", command=[sys.executable, "-c", script])) == (-number, "", "")

    @pytest.mark.slow
    def test_what_is_told_to_end_for_want_of_memory_ends(self):
        """From the thread that looks after memory, two seconds after it was told."""
        running = started("evaluate", command=[sys.executable, "-c", STUCK])
        assert ended(running) == (1, "", "gainful: error: full\n")

    @pytest.mark.slow
    def test_at_any_time(self, folder):
        """The collection is there, whole, or nothing is."""
        times = random.Random(8)
        for _ in range(examples(40)):
            words = ["simulate", "out", "--topics", "20", "--systems", "20", "--depth", "100"]
            running = started(*words, command=[sys.executable, "-c", BEGUN])
            assert running.stderr.readline() == "begun\n"
            time.sleep(times.uniform(0.1, 1.5))
            running.send_signal(times.choice([signal.SIGINT, signal.SIGTERM]))
            code, _, err = ended(running)
            assert "Traceback" not in err
            assert os.listdir() in ([], ["out"])
            if os.path.exists("out"):
                assert sorted(os.listdir("out")) == ["collection.json", "qrels.txt", "runs"]
                assert len(os.listdir("out/runs")) == 20
                subprocess.run(["rm", "-r", "out"], check=True)
            else:
                assert code != 0

    @pytest.mark.slow
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
    def test_while_workers_work(self, collection, number):
        """Of all processes of a terminal, only one has something to say."""
        pytest.importorskip("distributed")
        words = ["robustness", collection / "qrels.txt", collection / "runs", "-m", "AP", "--trials", "9999"]
        running = started(
            *(*words, "--engine", "dask", "--workers", "1"),
            command=[sys.executable, "-c", WORKING],
            start_new_session=True,
        )
        assert running.stderr.readline() == "working\n"
        os.killpg(running.pid, number)
        assert ended(running) == (-number, "", "")

    @pytest.mark.slow
    def test_a_loop_in_a_shell_ends_with_its_command(self, pipe):
        script = 'for i in 1 2 3; do "$@"; echo "again $?"; done'
        words = [*GAINFUL, "evaluate", str(TINY / "qrels.txt"), pipe]
        running = started(*words, command=["bash", "-c", script, "bash"], start_new_session=True)
        wait_until(lambda: any(reads(child, pipe) for child in children(running.pid)))
        os.killpg(running.pid, signal.SIGINT)
        assert ended(running) == (-signal.SIGINT, "", "")

    @pytest.mark.slow
    def test_what_a_shell_shows(self, pipe):
        script = '"$@" & sleep 3; kill -TERM $!; wait $!; echo $?'
        assert shell(script, "evaluate", TINY / "qrels.txt", pipe)[1] == "143\n"

    @pytest.mark.slow
    def test_nohup_is_heeded(self, pipe):
        ignoring = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
        running = started("evaluate", TINY / "qrels.txt", pipe, preexec_fn=ignoring)
        wait_until(lambda: reads(running.pid, pipe))
        running.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert running.poll() is None
        running.send_signal(signal.SIGTERM)
        assert ended(running)[0] == -signal.SIGTERM


def at_most(size: int) -> Callable[[], None]:
    """No file may grow beyond so many bytes: what a full disk does, where one cannot be had."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class TestFullDisk:
    @pytest.mark.parametrize("words", [WRITERS["evaluate"], *map(slow, list(WRITERS.values())[1:])], ids=WRITERS)
    def test_nothing_is_left(self, folder, words):
        code, _, err = ended(started(*words, preexec_fn=at_most(20)))
        assert code == 1
        assert re.fullmatch(r"gainful: error: \S+: cannot be written: File too large\n", err.splitlines(True)[-1])
        assert "Traceback" not in err
        assert os.listdir() == []

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "words", [EVALUATE, ["measures"], ["trec_eval", *EVALUATE[1:]]], ids=lambda words: words[0]
    )
    def test_of_standard_output(self, words):
        code, _, err = shell('"$@" > /dev/full', *words)
        assert (code, err) == (1, "gainful: error: standard output: cannot be written: No space left on device\n")

    @pytest.mark.slow
    def test_of_standard_output_for_help(self):
        assert shell('"$@" > /dev/full', "--help") == (1, "", "gainful: error: [Errno 28] No space left on device\n")

    @pytest.mark.slow
    def test_of_messages_is_no_failure(self):
        code, out, _ = shell('"$@" 2> /dev/full', *EVALUATE, "--format", "csv")
        assert (code, out.splitlines()[0]) == (0, "run,measure,query_id,score")

    @pytest.mark.slow
    def test_of_errors_leaves_the_status(self):
        assert shell('"$@" > /dev/full 2> /dev/full', "evaluate", "none", "none") == (1, "", "")


class TestClosedStreams:
    @pytest.mark.parametrize("unbuffered", ["", slow("1")])
    def test_a_reader_that_has_enough(self, collection, unbuffered):
        """Unbuffered, a write of more than the pipe holds ends half-way, and says so only when asked."""
        words = ["evaluate", collection / "qrels.txt", collection / "runs", "--per-topic", "--format", "csv"]
        words += ["-m", "nDCG@1,2,3,4,5,6,7,8"]  # more than a pipe holds
        script = '"$@" | head -n 1; echo ${PIPESTATUS[0]}'
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        assert shell(script, *words, env=environment) == (0, "run,measure,query_id,score\n141\n", "")

    def test_closed_stdout(self):
        code, out, err = shell('"$@" >&-', *EVALUATE)
        assert (code, out, err) == (1, "", "gainful: error: standard output: cannot be written: Bad file descriptor\n")

    def test_closed_stderr_sends_nothing_to_stdout(self):
        code, out, _ = shell('"$@" 2>&-', *EVALUATE, "-m", "P@2", "--format", "csv")
        assert (code, out) == (0, "run,measure,query_id,score\na,P@2,all,0.5\n")

    @pytest.mark.slow
    def test_no_file_takes_the_place_of_a_closed_stream(self, folder):
        code, *_ = shell('"$@" <&- >&- 2>&-', *EVALUATE, "-m", "P@2", "-o", "out.csv")
        assert code == 0
        assert Path("out.csv").read_text() == "run,measure,query_id,score\na,P@2,all,0.5\n"
        assert os.listdir() == ["out.csv"]


WRITE_UNTIL_THERE_IS_ENOUGH = """
import os, sys
from gainful.io.atomic import write_atomically
while not os.path.exists("enough"):
    write_atomically("shared", sys.argv[1] * 100_000)
"""


@pytest.mark.slow
class TestTwoWriters:
    def test_a_file_is_always_that_of_one(self, folder):
        writers = [started(letter, command=[sys.executable, "-c", WRITE_UNTIL_THERE_IS_ENOUGH]) for letter in "abc"]
        wait_until(Path("shared").exists)
        seen, rounds = set(), 0
        while len(seen) < 3 or rounds < examples(8000):
            assert [writer.poll() for writer in writers] == [None] * 3
            content = Path("shared").read_bytes()
            assert len(content) == 100_000
            assert len(set(content)) == 1
            seen.add(content[:1])
            rounds += 1
        Path("enough").touch()
        assert [ended(writer) for writer in writers] == [(0, "", "")] * 3
        assert sorted(os.listdir()) == ["enough", "shared"]

    def test_two_commands(self, folder):
        for _ in range(2):
            writers = [started(*EVALUATE, "-m", measure, "-o", "out.csv") for measure in ("P@2", "RR")]
            assert [ended(writer)[0] for writer in writers] == [0, 0]
            lines = Path("out.csv").read_text().splitlines()
            assert lines in (["run,measure,query_id,score", "a,P@2,all,0.5"], ["run,measure,query_id,score", lines[1]])
            assert lines[1].startswith(("a,P@2,", "a,RR,"))
        assert os.listdir() == ["out.csv"]

    def test_two_collections_in_one_folder(self, folder):
        words = ["--topics", "10", "--systems", "8", "--depth", "50"]
        writers = [started("simulate", "out", *words, "--seed", seed) for seed in "12"]
        outcomes = [ended(writer) for writer in writers]
        assert sorted(code for code, *_ in outcomes) == [0, 1]
        assert os.listdir() == ["out"]
        assert len(os.listdir("out/runs")) == 8
        [(_, _, err)] = [outcome for outcome in outcomes if outcome[0] == 1]
        assert err.count("\n") == 1
        assert err.startswith("gainful: error: ")
