"""One worker of a Dask cluster, then two, beside this process: `python benchmarks/cluster.py [WORKERS ...]`.

Prints the rows of docs/benchmarks.md. Workers take turns with this process, so that what else the machine does meets
all of them alike; each has one thread for polars and for BLAS. Results are compared bit for bit before they are timed.
It is not called dask.py, which `import dask` would then find.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import gainful as gf
from gainful.engine import open_engine

REPEAT = 3


def write_runs(folder: Path, systems: int, topics: int, depth: int) -> None:
    """Judgments and runs as text; ids as in MS MARCO, 100 documents a topic judged."""
    rng = np.random.default_rng(0)
    (folder / "runs").mkdir(parents=True)
    documents = rng.integers(1_000_000, 9_999_999, size=(topics, 2 * depth))
    with (folder / "qrels.txt").open("w") as file:
        for topic, row in enumerate(documents):
            file.writelines(
                f"{topic} 0 D{doc} {label}\n" for doc, label in zip(row, rng.integers(4, size=100), strict=False)
            )
    for system in range(systems):
        with (folder / "runs" / f"run{system}.txt").open("w") as file:
            for topic, row in enumerate(documents):
                chosen = rng.permutation(np.unique(row))[:depth]
                file.writelines(
                    f"{topic} Q0 D{doc} {rank} {depth - rank}.5 run{system}\n" for rank, doc in enumerate(chosen)
                )


def works(folder: Path) -> dict[str, Callable[..., object]]:
    """What is timed, by name."""
    made = gf.simulate(topics=50, systems=60, depth=1000)
    scores = np.random.default_rng(1).random((100, 50))
    return {
        "evaluate, 40 runs × 200 topics × 1,000 documents, text": lambda **where: gf.evaluate(
            folder / "qrels.txt", folder / "runs", ["nDCG@20", "AP"], **where
        ).values.tobytes(),
        "robustness, 60 runs × 50 topics, 17 levels × 10 trials × 4 measures": lambda **where: gf.robustness(
            made.qrels, made.runs, **where
        ).taus.tobytes(),
        "compare by bootstrap, 100 systems × 50 topics, 20,000 resamples": lambda **where: (
            gf.compare(scores, test="bootstrap", resamples=20_000, **where).contrasts[0].p.tobytes()
        ),
    }


def timed(work: Callable[..., object], where: dict[str, object]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    work(**where)
    return time.perf_counter() - started


def main() -> None:
    """Time every work here and on clusters of each size."""
    sizes = [int(word) for word in sys.argv[1:]] or [1, 2]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "made")
        write_runs(folder, systems=40, topics=200, depth=1000)
        found: dict[str, dict[str, list[float]]] = {}
        for _ in range(REPEAT):
            for number in (0, *sizes):
                where = {"engine": "dask", "workers": number} if number else {}
                started = time.perf_counter()
                with open_engine(**where):
                    opened = time.perf_counter() - started
                    for label, work in works(folder).items():
                        if not found.get(label, {}).get(str(number)):
                            assert work(**where) == work(), label  # and all that is imported for the first time
                        found.setdefault(label, {}).setdefault(str(number), []).append(timed(work, where))
                if number:
                    print(f"{number} workers started in {opened:.1f} s", file=sys.stderr)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
    print(f"| work | this process | {' | '.join(f'{size} workers' for size in sizes)} | ratio |")
    print("|---|---" + "|---" * len(sizes) + "|---|")
    for label, taken in found.items():
        median = {number: statistics.median(times) for number, times in taken.items()}
        cells = " | ".join(f"{median[str(number)]:.2f} s" for number in (0, *sizes))
        print(f"| {label} | {cells} | {median[str(sizes[0])] / median[str(sizes[-1])]:.2f}× |")


if __name__ == "__main__":
    main()
