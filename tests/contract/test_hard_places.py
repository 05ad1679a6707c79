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
from contextlib import contextmanager, suppress
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
@pytest.mark.parametrize("words", [("report", *FILES), ("threshold", "curve", *FILES[:2], "--chart", "c.svg")])
def test_charts_without_docstrings(tmp_path, words):
    """Altair reads its own, and ended in a traceback."""
    done = gainful(*words, folder=tmp_path, flags=("-OO",))
    why = "charts are drawn by altair, which needs docstrings: run Python without -OO; -O will do"
    assert (done.returncode, done.stderr) == (1, f"gainful: error: {why}\n")
    assert not list(tmp_path.iterdir())


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
    """Python itself may be interrupted before gainful begins: what it says then has no line of gainful in it.

    But for those that see to it, at the top of gainful/__init__.py.
    """
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
        assert "gainful" not in said.partition("Traceback")[2].replace("gainful/__init__.py", "")


@contextmanager
def cluster(folder: Path, *words: str, **environment: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler with a worker, processes of their own; the scheduler, and its address."""
    file, log = folder / "scheduler.json", folder / "worker.log"
    begin = partial(subprocess.Popen, env={**os.environ, **environment})
    dask = [sys.executable, "-m", "dask"]
    place = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = begin([*dask, "scheduler", *place, *words], stderr=subprocess.DEVNULL)
    with log.open("w") as told:
        worker = begin([*dask, "worker", "--scheduler-file", str(file), "--no-dashboard"], stderr=told)
    try:
        for _ in range(1200):  # a busy machine may need longer than gainful waits for a worker
            if "Registered to" in log.read_text():
                break
            time.sleep(0.1)
        yield scheduler, json.loads(file.read_text())["address"]
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


KILLING = """
import os, signal, sys, time
from gainful.engine.cluster import Cluster
from gainful.cli import start
name, pause, number = sys.argv.pop(), float(sys.argv.pop()), int(sys.argv.pop())
called = getattr(Cluster, name)
def killed(self, *words, **more):
    os.kill(number, signal.SIGKILL)
    time.sleep(pause)
    return called(self, *words, **more)
setattr(Cluster, name, killed)
start.start()
"""


# Dask notices at once or after a while, tries to connect for five seconds, and then gives up.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pause"), [("map", 0), ("map", 1), ("map", 8), ("_submit", 0), ("_submit", 8), ("_result", 1)]
)
def test_a_scheduler_that_is_gone(tmp_path, name, pause):
    pytest.importorskip("distributed")
    with cluster(tmp_path) as (scheduler, address):
        words = ["evaluate", *FILES, "--engine", "dask", "--address", address, str(scheduler.pid), str(pause), name]
        done = subprocess.run([sys.executable, "-c", KILLING, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "the scheduler was lost before the work was done" in done.stderr


def certified(folder: Path, name: str) -> dict[str, str]:
    """The settings of Dask for TLS with a certificate that is made here."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates")
    subject = ["-subj", "/CN=localhost", "-days", "2", "-keyout", f"{name}.key", "-out", f"{name}.pem"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    files = {"CERT": str(folder / f"{name}.pem"), "KEY": str(folder / f"{name}.key")}
    roles = {f"{tls}{role}__{kind}": file for role in ("SCHEDULER", "WORKER", "CLIENT") for kind, file in files.items()}
    return {f"{tls}CA_FILE": files["CERT"], "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true", **roles}


@pytest.mark.slow
def test_who_has_no_certificate_cannot_connect(tmp_path):
    pytest.importorskip("distributed")
    ours, others = (certified(tmp_path, name) for name in ("ours", "others"))
    with cluster(tmp_path, "--protocol", "tls", **ours) as (_, address):
        words = ("evaluate", *FILES, "--engine", "dask", "--address", address)
        assert address.startswith("tls://")
        inside = gainful(*words, folder=tmp_path, **ours)
        assert (inside.returncode, inside.stdout) == (0, gainful("evaluate", *FILES, folder=tmp_path).stdout)
        for outside in (others, {}):
            done = gainful(*words, folder=tmp_path, **outside)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
            assert f"scheduler {address}: expected a Dask scheduler that answers" in done.stderr


@contextmanager
def machines(number: int) -> Iterator[list[str]]:
    """Network namespaces, each with a loopback of its own, on a bridge in the first of them: 10.77.0.1, 10.77.0.2, …"""
    names = [f"gainful-{os.getpid()}-{at}" for at in range(number)]

    def ip(*words: str, inside: str = "") -> None:
        command = ["ip", *(["-n", inside] if inside else []), *words]
        subprocess.run(command, check=True, capture_output=True, text=True)

    try:
        for at, name in enumerate(names):
            ip("netns", "add", name)
            ip("link", "set", "lo", "up", inside=name)
            if at:
                ip("link", "add", "eth0", "type", "veth", "peer", "name", f"to{at}", "netns", names[0], inside=name)
                ip("link", "set", f"to{at}", "master", "bridge", "up", inside=names[0])
            else:
                ip("link", "add", "bridge", "type", "bridge", inside=name)
            link = "eth0" if at else "bridge"
            ip("address", "add", f"10.77.0.{at + 1}/24", "dev", link, inside=name)
            ip("link", "set", link, "up", inside=name)
        yield names
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespaces: {getattr(error, 'stderr', '') or error}")
    finally:
        for name in names:
            with suppress(OSError):
                subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@pytest.mark.slow
def test_workers_on_other_machines(tmp_path):
    """The scheduler, two workers and whoever asks, each with a network of its own; all that they say is encrypted."""
    pytest.importorskip("distributed")
    settings, file = certified(tmp_path, "ours"), tmp_path / "scheduler.json"
    address, dask = "tls://10.77.0.1:8786", [sys.executable, "-m", "dask"]
    begin = partial(subprocess.Popen, cwd=tmp_path, stderr=subprocess.DEVNULL, env={**os.environ, **settings})
    with machines(4) as (first, *others, last):
        at = {name: ["ip", "netns", "exec", name] for name in (first, *others, last)}
        place = ["--protocol", "tls", "--host", "10.77.0.1", "--port", "8786", "--scheduler-file", str(file)]
        started = [begin([*at[first], *dask, "scheduler", *place, "--no-dashboard"])]
        try:
            started += [
                begin([*at[name], *dask, "worker", address, "--no-dashboard", "--nthreads", "1"]) for name in others
            ]
            # First, as a busy machine may need longer than gainful waits for a scheduler and a worker.
            asked = (
                "from distributed import Client; client = Client(scheduler_file='scheduler.json'); "
                "client.wait_for_workers(2, timeout=180); print(*client.nthreads())"
            )
            found = subprocess.run(
                [*at[last], sys.executable, "-c", asked],
                cwd=tmp_path,
                env={**os.environ, **settings},
                capture_output=True,
                text=True,
            )
            assert sorted(one.rpartition(":")[0] for one in found.stdout.split()) == [
                "tls://10.77.0.2",
                "tls://10.77.0.3",
            ], found.stderr
            for analysis in (["evaluate"], ["robustness", "-m", "AP", "--trials", "3"]):
                words = [sys.executable, "-m", "gainful", *analysis, *FILES, "--format", "csv"]
                here = subprocess.run(words, capture_output=True, text=True, check=True)
                there = [*at[last], *words, "--engine", "dask", "--address", address]
                done = subprocess.run(there, env={**os.environ, **settings}, capture_output=True, text=True)
                assert (done.returncode, done.stdout) == (0, here.stdout), done.stderr
        finally:
            for process in started:
                process.kill()
                process.wait()
