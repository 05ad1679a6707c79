"""Tuning beside plain code for the same thing: called by run.py in its environment."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
from scipy.optimize import minimize

import gainful as gf
from environment import verdict
from gainful.data.align import align
from gainful.tune.optimize.bilinear import bilinear
from gainful.tune.optimize.fit import Point, Problem, Space, climb

RANKS = 100


def optimize_row() -> None:
    """Design: 100 discounts, 100 × 50, at least 10 times finite differences, the same optimum."""
    made = gf.simulate(systems=100, topics=50, depth=RANKS, seed=1)
    rankings = align(made.qrels, made.runs)
    labels = rankings.grades[rankings.grades > 0]
    arrays = bilinear(rankings, labels, RANKS)
    problem = Problem(owner=0, arrays=arrays, cutoff=RANKS, discount=np.ones(RANKS), gain=labels)
    space = Space(ranks=RANKS, labels=0, constrained=True)
    start = space.coordinates(Point(discount=1 / np.log2(np.arange(2, RANKS + 2))))
    print("\noptimise 100 discounts, 100 systems × 50 topics, from log2")
    taken, found = {}, {}
    for method in ("cone", "slsqp"):
        began = time.perf_counter()
        found[method] = space.point(climb([problem], space, method, start)).worst([problem])
        taken[method] = time.perf_counter() - began
    basis = np.triu(np.ones((RANKS, RANKS))) / np.arange(1, RANKS + 1)
    began = time.perf_counter()
    ended = minimize(
        lambda x: -problem.arrays.phi(basis @ x, labels),
        start,
        method="SLSQP",
        bounds=[(0, 1)] * RANKS,
        constraints=[{"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(RANKS)}],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    plain = time.perf_counter() - began
    for method in taken:
        assert abs(found[method] + ended.fun) < 1e-6, (method, found[method], -ended.fun)
        ratio = plain / taken[method]
        line = f"  {method} {taken[method]:.3f} s; SLSQP by finite differences {plain:.1f} s: {ratio:.0f}×"
        print(f"{line}; bar ≥ 10×: {verdict(ratio >= 10)}", flush=True)


def threshold_row() -> None:
    """Design: 1M documents in a second, = brute force; growth linear."""
    print("\nexact threshold (the whole curve), 100 documents per topic")
    for topics in (2500, 5000, 10_000):
        qrels, run = _judged(topics)
        began = time.perf_counter()
        curve = gf.threshold.curve(qrels, run)
        taken = time.perf_counter() - began
        for at in np.linspace(1, len(curve) - 1, 12).astype(int):
            kept = gf.threshold.apply(run, threshold=curve.thresholds[at])
            assert abs(gf.evaluate(qrels, kept, "nDCGf@3").values.mean() - curve.score[at]) < 1e-10
        bar = f"; bar ≤ 1 s: {verdict(taken <= 1)}" if topics == 10_000 else ""
        print(f"  {topics * 100:>9,} documents: {taken:.2f} s; 12 cuts checked by evaluating them{bar}", flush=True)


def _judged(topics: int, documents: int = 100) -> tuple[gf.Qrels, gf.Run]:
    rng = np.random.default_rng(0)
    number = topics * documents
    ids = {
        "query_id": np.repeat(np.arange(topics), documents).astype(str),
        "doc_id": np.tile(np.arange(documents), topics).astype(str),
    }
    label = rng.choice([-2.0, 0.0, 1.0, 2.0], number, p=[0.4, 0.2, 0.2, 0.2])
    score = (label + rng.normal(0, 2, number)).round(3)
    return gf.Qrels(pl.DataFrame({**ids, "relevance": label})), gf.Run(pl.DataFrame({**ids, "score": score}))


if __name__ == "__main__":
    optimize_row()
    threshold_row()
