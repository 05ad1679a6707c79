"""Threads, processes and the size of pieces never change a result, not in its last digit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gainful as gf

pytestmark = pytest.mark.slow

# All that works in parallel or in pieces, written out in full; the numbers are the sizes of the pieces.
SCRIPT = """
import sys
import gainful as gf
from gainful.analyses.stability import compute
from gainful.data import match
from gainful.io import chunks, files, text
from gainful.stats import intervals, resample

piece, large, slice_, batch, streamed, chunk, block = map(int, sys.argv[2:])
for module, sizes in (
    (match, {"PIECE": piece}),
    (text, {"LARGE": large, "_SLICE": slice_, "_BATCH": batch}),
    (files, {"LARGE": large}),
    (chunks, {"STREAMED": streamed, "CHUNK": chunk}),
    *((module, {"BLOCK": block}) for module in (resample, intervals, compute)),
):
    for name, size in sizes.items():
        assert getattr(module, name) > 0, f"{module} has no {name} to set"
        setattr(module, name, size)
qrels, runs = "c/qrels.txt", "c/runs"
for ties, more in (("trec", ["AP", "infAP", "bpref"]), ("expected", [])):
    scores = gf.evaluate(qrels, runs, ["nDCG@10", "nDCGf@5", "RBP", *more], ties=ties)
    print(scores.values.tobytes().hex(), scores.topics, scores.systems)
scores = gf.evaluate(qrels, runs, ["nDCG@10", "AP"])
print(gf.compare(scores, test="randomisation", interval="bca", resamples=200).to_dict())
print(gf.reliability(scores).to_dict())
print(gf.stability(scores, draws=50).to_dict())
print(gf.sensitivity(scores, resamples=100).to_dict())
print(gf.agreement(scores, resamples=50).to_dict())
print(gf.robustness(qrels, runs, "AP", levels=[0.2, 0.5], trials=2).to_dict())
print(gf.threshold.fit(qrels, "c/runs/" + sys.argv[1], resamples=50, repeats=2).to_dict())
"""
USUAL = (1 << 19, 1 << 23, 1 << 18, 1 << 20, 1 << 27, 1 << 23, 1 << 20)
SETTINGS = {
    "one thread": ({"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}, USUAL),
    "eight threads": ({"POLARS_MAX_THREADS": "8", "OMP_NUM_THREADS": "8"}, USUAL),
    "small pieces": ({"POLARS_MAX_THREADS": "2"}, (50, 1000, 64, 192, 1 << 27, 1 << 23, 100)),
    "streamed": ({"POLARS_MAX_THREADS": "2"}, (777, 1 << 23, 1 << 18, 1 << 20, 1000, 2000, 3000)),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("repeatable")
    (home / "c" / "runs").mkdir(parents=True)
    made = gf.simulate(topics=14, systems=6, depth=60, pool_depth=10, seed=3)
    gf.write_qrels(made.qrels, home / "c" / "qrels.txt")
    for run in made.runs:
        # Ties, and topics in an order of each run's own.
        frame = run.frame.with_columns(score=run.frame["score"].round(1)).sample(fraction=1.0, shuffle=True, seed=5)
        gf.write_run(frame, home / "c" / "runs" / f"{run.name}.txt")
    return home


def printed(home: Path, name: str) -> str:
    environment, sizes = SETTINGS[name]
    first = sorted(os.listdir(home / "c" / "runs"))[0]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, first, *map(str, sizes)],
        cwd=home,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_whatever_it_runs_on(home):
    usual, *others = (printed(home, name) for name in SETTINGS)
    assert len(usual.splitlines()) == 9
    for name, other in zip(list(SETTINGS)[1:], others, strict=True):
        assert other == usual, name
