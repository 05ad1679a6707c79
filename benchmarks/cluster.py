"""One worker of a Dask cluster, then two, beside this process: `python benchmarks/cluster.py [WORKERS ...]`.

Prints the rows of docs/benchmarks.md. Workers take turns with this process, so that what else the machine does meets
all of them alike, and the least of several timings is shown, since that only adds to it. BLAS has one thread a worker,
polars its share of the cores. Results are compared bit for bit before they are timed.

It is not called dask.py, which `import dask` would then find.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import gainful as gf
from gainful.engine import Work, open_engine

REPEAT = 4


def write_runs(folder: Path, systems: int, topics: int, depth: int, judgments: int = 100) -> None:
    """Judgments and runs as text; ids as in MS MARCO."""
    rng = np.random.default_rng(0)
    (folder / "runs").mkdir(parents=True)
    topic = np.repeat(np.arange(topics), depth)
    rank = np.tile(np.arange(1, depth + 1), topics)
    judged = rank <= judgments
    qrels = {"topic": topic[judged], "0": 0, "doc": rank[judged], "label": rng.integers(4, size=judged.sum())}
    _write(pl.DataFrame(qrels), folder / "qrels.txt")
    for system in range(systems):
        place = np.argsort(rng.random((topics, depth)), axis=1).ravel() + 1
        run = {"topic": topic, "q0": "Q0", "doc": place, "rank": rank, "score": depth - rank, "tag": f"run{system}"}
        _write(pl.DataFrame(run), folder / "runs" / f"run{system}.txt")


def _write(frame: pl.DataFrame, path: Path) -> None:
    """Documents are numbered within their topic."""
    number = 1_000_000 + pl.col("topic") * 10_007 + pl.col("doc") * 7
    named = frame.with_columns(doc=pl.format("D{}", number))
    named.write_csv(path, separator=" ", include_header=False)


def works(folder: Path) -> dict[str, Callable[..., object]]:
    """What is timed, by name."""
    made = gf.simulate(topics=50, systems=40, depth=500)
    scores = np.random.default_rng(1).random((100, 50))
    return {
        "evaluate, 30 runs × 100 topics × 1,000 documents, text": lambda **where: gf.evaluate(
            folder / "qrels.txt", folder / "runs", ["nDCG@20", "AP"], **where
        ).values.tobytes(),
        "evaluate, one run of 10,000 topics × 1,000 documents, text": lambda **where: gf.evaluate(
            folder / "large" / "qrels.txt", folder / "large" / "runs", ["nDCG@20", "AP"], **where
        ).values.tobytes(),
        "robustness, 40 runs × 50 topics, 17 levels × 3 trials × 4 measures": lambda **where: gf.robustness(
            made.qrels, made.runs, **where
        ).taus.tobytes(),
        "compare by bootstrap, 100 systems × 50 topics, 5,000 resamples": lambda **where: (
            gf.compare(scores, test="bootstrap", resamples=5_000, **where).contrasts[0].p.tobytes()
        ),
    }


def timed(work: Callable[..., object], engine: Work, where: dict[str, object]) -> tuple[float, float, float]:
    """Seconds of one call: on the clock, of this process's CPU, and of the workers' CPU."""
    started, before, theirs = time.perf_counter(), time.process_time(), cpu(engine)
    work(**where)
    return time.perf_counter() - started, time.process_time() - before, cpu(engine) - theirs


def cpu(engine: Work) -> float:
    """CPU seconds of all workers since they were started."""
    return sum(engine.client.run(time.process_time).values()) if hasattr(engine, "client") else 0.0


def main() -> None:
    """Time every work here and on clusters of each size."""
    sizes = [int(word) for word in sys.argv[1:]] or [1, 2]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "made")
        write_runs(folder, systems=30, topics=100, depth=1000)
        write_runs(folder / "large", systems=1, topics=10_000, depth=1000, judgments=10)
        timed_works = works(folder)
        found: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
        for _ in range(REPEAT):
            for number in (0, *sizes):
                where = {"engine": gf.Dask(workers=number)} if number else {}
                started = time.perf_counter()
                with open_engine(where.get("engine", "local")) as engine:
                    opened = time.perf_counter() - started
                    for label, work in timed_works.items():
                        if (label, number) not in found:
                            assert work(**where) == work(), label  # and all that is imported for the first time
                        found.setdefault((label, number), []).append(timed(work, engine, where))
                        print(number, label, found[label, number][-1], file=sys.stderr, flush=True)
                if number:
                    print(f"{number} workers started in {opened:.1f} s", file=sys.stderr)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
    print("| work | where | seconds | CPU here | CPU of the workers |")
    print("|---|---|---|---|---|")
    for (label, number), times in found.items():
        where = {0: "this process", 1: "1 worker"}.get(number, f"{number} workers")
        clock, here, theirs = (min(column) for column in zip(*times, strict=True))
        print(f"| {label} | {where} | {clock:.2f} | {here:.2f} | {theirs:.2f} |")


if __name__ == "__main__":
    main()
