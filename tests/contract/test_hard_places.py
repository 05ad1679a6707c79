"""Where others fail: little address space, no docstrings, no home, links in circles, a scheduler that is gone."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

TINY = Path(__file__).parents[1] / "golden" / "tiny"
FILES = [str(TINY / "qrels.txt"), str(TINY / "a.txt"), str(TINY / "b.txt")]


def gainful(*words: str, folder: Path, flags: tuple[str, ...] = (), space: int = 0, **environment: str):
    def limit() -> None:
        if space:
            resource.setrlimit(resource.RLIMIT_AS, (space, space))

    return subprocess.run(
        [sys.executable, *flags, "-m", "gainful", *words],
        cwd=folder,
        env={**os.environ, **environment},
        preexec_fn=limit,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_a_report_where_vega_cannot_be_had(tmp_path):
    """V8 wants more address space than 3 GB, and ended the process (status 133) without a page."""
    pytest.importorskip("vl_convert")
    words = ("report", *FILES, "-m", "nDCG@10", "-o", "page.html", "--resamples", "50")
    done = gainful(*words, folder=tmp_path, space=3 << 30, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 0
    assert "note: The page is without charts: " in done.stderr
    assert "(ulimit -v)" in done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "window.vegaEmbed = async () => { throw new Error(" in page
    assert "nDCG@10" in page


@pytest.mark.slow
def test_a_chart_where_it_cannot_be_drawn(tmp_path):
    pytest.importorskip("vl_convert")
    words = ("threshold", "curve", *FILES[:2], "--chart")
    done = gainful(*words, "c.svg", folder=tmp_path, space=3 << 30)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("gainful: error: charts cannot be drawn here: ")
    assert gainful(*words, "c.json", folder=tmp_path, space=3 << 30).returncode == 0


@pytest.mark.slow
def test_a_library_that_aborts(tmp_path):
    """As Rust does where it gets no memory; under a limit, a second process is there to say so."""
    code = "import os; from gainful.cli import main, start; main._run = lambda _: os.abort(); start.start()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("gainful: error: a library could not go on, most often for want of memory; ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("evaluate", *FILES), ("trec_eval", *FILES[:2]), ("measures",), ("compare", "--help")]
)
def test_without_docstrings(tmp_path, words):
    with_them, without = (gainful(*words, folder=tmp_path, flags=flags) for flags in ((), ("-OO",)))
    assert (without.returncode, without.stderr) == (0, with_them.stderr)
    if words[0] != "measures" and "--help" not in words:
        assert without.stdout == with_them.stdout


@pytest.mark.slow
def test_a_home_that_cannot_be_written(tmp_path):
    words = ("report", *FILES, "-m", "AP", "-o", "page.html", "--resamples", "50")
    done = gainful(*words, folder=tmp_path, HOME="/proc/nowhere", XDG_CACHE_HOME="")
    assert done.returncode == 0
    assert "window.vegaEmbed" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("pattern", ["runs/**/*.txt", "runs"])
def test_links_in_a_circle(tmp_path, pattern, monkeypatch):
    from gainful.io.sources import Selection, find_files

    (tmp_path / "runs" / "deep").mkdir(parents=True)
    (tmp_path / "runs" / "deep" / "a.txt").write_bytes((TINY / "a.txt").read_bytes())
    (tmp_path / "runs" / "deep" / "up").symlink_to(tmp_path / "runs")
    (tmp_path / "runs" / "same.txt").symlink_to("deep/a.txt")  # a name of its own: a run of its own
    monkeypatch.chdir(tmp_path)
    found = find_files(Path(pattern), Selection(recursive=True))
    assert sorted(str(one.file) for one in found) == ["runs/deep/a.txt", "runs/same.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_while_it_starts(tmp_path, number):
    """Python itself may be interrupted before gainful begins: what it says then has no line of gainful in it."""
    for moment in range(0, 300, 20):
        running = subprocess.Popen(
            [sys.executable, "-m", "gainful", "evaluate", *FILES],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        time.sleep(moment / 1000)
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
        assert running.returncode in (-number, 0, 1)  # 1: Python's own words, before
        assert "gainful" not in said.partition("Traceback")[2]


@contextmanager
def cluster(folder: Path, *words: str, **environment: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler with a worker, processes of their own; the scheduler, and its address."""
    file = folder / "scheduler.json"
    begin = partial(subprocess.Popen, stderr=subprocess.DEVNULL, env={**os.environ, **environment})
    dask = [sys.executable, "-m", "dask"]
    place = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = begin([*dask, "scheduler", *place, *words])
    worker = begin([*dask, "worker", "--scheduler-file", str(file), "--no-dashboard"])
    try:
        for _ in range(300):
            if file.exists() and file.read_text():
                break
            time.sleep(0.1)
        yield scheduler, json.loads(file.read_text())["address"]
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


KILLING = """
import os, signal, sys
from gainful.engine.cluster import Cluster
from gainful.cli import start
mapped = Cluster.map
def killed(self, *words, **more):
    os.kill(int(sys.argv.pop()), signal.SIGKILL)
    return mapped(self, *words, **more)
Cluster.map = killed
start.start()
"""


@pytest.mark.slow
def test_a_scheduler_that_is_gone(tmp_path):
    pytest.importorskip("distributed")
    with cluster(tmp_path) as (scheduler, address):
        words = ["evaluate", *FILES, "--engine", "dask", "--address", address, str(scheduler.pid)]
        done = subprocess.run([sys.executable, "-c", KILLING, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "the scheduler was lost before the work was done" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_who_has_no_certificate_cannot_connect(tmp_path):
    pytest.importorskip("distributed")
    for name in ("ours", "others"):
        subject = ["-subj", "/CN=localhost", "-days", "2", "-keyout", f"{name}.key", "-out", f"{name}.pem"]
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    def settings(name: str) -> dict[str, str]:
        tls = "DASK_DISTRIBUTED__COMM__TLS__"
        files = {"CERT": str(tmp_path / f"{name}.pem"), "KEY": str(tmp_path / f"{name}.key")}
        roles = {
            f"{tls}{role}__{kind}": file for role in ("SCHEDULER", "WORKER", "CLIENT") for kind, file in files.items()
        }
        return {f"{tls}CA_FILE": files["CERT"], "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true", **roles}

    with cluster(tmp_path, "--protocol", "tls", **settings("ours")) as (_, address):
        words = ("evaluate", *FILES, "--engine", "dask", "--address", address)
        assert address.startswith("tls://")
        inside = gainful(*words, folder=tmp_path, **settings("ours"))
        assert (inside.returncode, inside.stdout) == (0, gainful("evaluate", *FILES, folder=tmp_path).stdout)
        for outside in (settings("others"), {}):
            done = gainful(*words, folder=tmp_path, **outside)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
            assert f"scheduler {address}: expected a Dask scheduler that answers" in done.stderr
