"""Rows without a peer, each with the most that it may take: called by run.py. Standard library only."""

from __future__ import annotations

import resource
import statistics
import subprocess
import time
from pathlib import Path

from environment import HERE, PYTHON, VENV, tool, verdict

# Seconds of processor time, unless there is no bar.
REPORTS = {
    "143 runs × 30 topics": (143, 30, 5.0),
    "10 runs × 2,000 topics": (10, 2000, 5.0),
    "400 × 50": (400, 50, None),
}
# How many milliseconds one call may take; None: no bar.
SMALL = {"gainful.compat.pytrec_eval": 0.1, "gainful.evaluate": 0.4, "pytrec_eval": None}
ODD = ("tabs", "double spaces", "CRLF", "comments")


def odd(folder: str, repeat: int) -> dict[str, list[float]]:
    """Text that is not plain: at most twice the time of the same text that is."""
    print("\none run, 2,000 topics × 1,000 documents, in-process: odd text over plain text")
    tool("odd", folder)
    found: dict[str, list[float]] = {"plain": [], **{name: [] for name in ODD}}
    for _ in range(repeat):
        for name, seconds in found.items():
            seconds.append(float(tool("time", "gainful", name if name in ODD else "files", folder)))
    plain = statistics.median(found["plain"])
    for name in ODD:
        ratio = statistics.median(found[name]) / plain
        print(f"  {name:<14} {statistics.median(found[name]):.3f} s, plain {plain:.3f} s: {ratio:.2f}×; ", end="")
        print(f"bar ≤ 2×: {verdict(ratio <= 2)}", flush=True)
    return found


def small(folder: str, repeat: int) -> dict[str, list[float]]:
    """Time many calls of one topic each, as a training loop makes them."""
    print("\none topic of ten documents from dicts, nDCG@10 + AP, per call")
    found = {name: [1000.0 * float(tool("small", name)) for _ in range(repeat)] for name in SMALL}
    for name, timings in found.items():
        middle, bar = statistics.median(timings), SMALL[name]
        said = "no bar" if bar is None else f"bar ≤ {bar:g} ms: {verdict(middle <= bar)}"
        print(f"  {name:<26} {middle:8.4f} ms  ({min(timings):.4f}–{max(timings):.4f})   {said}", flush=True)
    return found


def help(folder: str, repeat: int) -> dict[str, list[float]]:
    """Every command's --help, and trec_eval on a small file: a quarter of a second each."""
    print("\n--help of every command, and `gainful trec_eval` on a small file, whole process")
    commands = [name.split() for name in tool("commands").split(",")]
    qrels, run = Path(folder, "small.qrels"), Path(folder, "small.run")
    qrels.write_text("1 0 a 1\n")
    run.write_text("1 Q0 a 1 2.5 t\n")
    todo = [["--help"], *([*name, "--help"] for name in commands), ["trec_eval", str(qrels), str(run)]]
    found: dict[str, list[float]] = {}
    for words in todo * min(repeat, 3):
        began = time.perf_counter()
        subprocess.run([str(VENV / "bin" / "gainful"), *words], check=True, stdout=subprocess.DEVNULL)
        label = " ".join(words).removesuffix(f" {qrels} {run}")
        found.setdefault(label, []).append(time.perf_counter() - began)
    slowest = max(found, key=lambda words: statistics.median(found[words]))
    most = statistics.median(found[slowest])
    print(
        f"  slowest of {len(found)}: gainful {slowest}, {most:.3f} s; bar ≤ 0.25 s: {verdict(most <= 0.25)}", flush=True
    )
    return found


def report(folder: str, repeat: int) -> dict[str, list[float]]:
    """Reports of files: processor seconds of the whole process."""
    found: dict[str, list[float]] = {}
    for title, (runs, topics, bar) in REPORTS.items():
        where = Path(folder, f"report-{runs}")
        gainful = str(VENV / "bin" / "gainful")
        sizes = ["--systems", str(runs), "--topics", str(topics)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([gainful, "simulate", str(where), *sizes], check=True, **quiet)
        for _ in range(min(repeat, 3)):
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run([str(PYTHON), str(HERE / "tools.py"), "report", str(where)], check=True)
            wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found.setdefault(title, []).append(cpu)
        taken = statistics.median(found[title])
        end = "" if bar is None else f"; bar ≤ {bar:g} s: {verdict(taken <= bar)}"
        print(f"\nreport of {title} × 1,000 documents: {taken:.2f} s of processor time, {wall:.2f} s{end}", flush=True)
        subprocess.run(["rm", "-rf", str(where)], check=True)
    return found
