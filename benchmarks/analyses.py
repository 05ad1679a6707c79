"""The analyses beside plain code for the same thing, and how their cost grows: called by run.py in its environment.

`python analyses.py [CHART]` prints the rows of docs/benchmarks.md and draws the growth curves.
"""

from __future__ import annotations

import itertools
import math
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import gainful as gf


def seconds(call: Callable[[], object], repeat: int = 5) -> float:
    """The median of several calls, after one that is not counted."""
    call()
    taken = []
    for _ in range(repeat):
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def once(call: Callable[[], object]) -> float:
    """For what takes long: a single call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def matrix(systems: int, topics: int) -> np.ndarray:
    """Scores of systems that differ a little on topics that differ much."""
    rng = np.random.default_rng(1)
    raw = rng.normal(0, 0.05, (systems, 1)) + rng.normal(0.4, 0.2, (1, topics)) + rng.normal(0, 0.1, (systems, topics))
    return raw.clip(0, 1)


def t_statistic(values: np.ndarray) -> float:
    """Mean over standard error; 0 without variance."""
    spread = values.std(ddof=1)
    return float(values.mean() / spread * math.sqrt(len(values))) if spread > 1e-12 else 0.0


def asl_by_pair(scores: np.ndarray, resamples: int, some: int) -> float:
    """Seconds of a loop over pairs and resamples, from the first `some` pairs; checked against ours."""
    topics = scores.shape[1]
    draws = np.random.default_rng(0).integers(topics, size=(resamples, topics))
    pairs = list(itertools.combinations(range(len(scores)), 2))
    ours = gf.sensitivity(scores, resamples=resamples).tests[0].asl
    started = time.perf_counter()
    for i, j in pairs[:some]:
        z = scores[i] - scores[j]
        w = z - z.mean()
        limit = abs(t_statistic(z))
        level = sum(abs(t_statistic(w[draw])) >= limit for draw in draws) / resamples
        assert abs(level - ours[i, j]) < 1e-12
    return (time.perf_counter() - started) / some * len(pairs)


def asl_by_pair_vectorised(scores: np.ndarray, resamples: int, some: int) -> float:
    """The same with the resamples of a pair as one array."""
    topics = scores.shape[1]
    draws = np.random.default_rng(0).integers(topics, size=(resamples, topics))
    pairs = list(itertools.combinations(range(len(scores)), 2))
    started = time.perf_counter()
    for i, j in pairs[:some]:
        z = scores[i] - scores[j]
        sampled = (z - z.mean())[draws]
        t = sampled.mean(axis=1) / (sampled.std(axis=1, ddof=1) / math.sqrt(topics))
        (np.abs(t) >= abs(t_statistic(z))).mean()
    return (time.perf_counter() - started) / some * len(pairs)


def bootstrap_row() -> None:
    """Design: at least 500 times a per-pair loop."""
    scores = matrix(100, 50)
    ours = seconds(lambda: gf.sensitivity(scores, resamples=1000))
    loop, half = asl_by_pair(scores, 1000, 40), asl_by_pair_vectorised(scores, 1000, 100)
    print("\nbootstrap ASL, 100 systems × 50 topics, 1,000 resamples, all 4,950 pairs")
    print(f"  gainful {ours:.3f} s; loop over pairs and resamples {loop:.1f} s (40 pairs timed): {loop / ours:.0f}×")
    print(f"  loop over pairs, resamples as an array {half:.1f} s (100 pairs timed): {half / ours:.0f}×", flush=True)


def stability_row() -> None:
    """Design: about a second."""
    scores = matrix(100, 92)
    taken = seconds(lambda: gf.stability(scores, sizes=range(1, 47), draws=200), 3)
    print(f"\nstability, 46 sizes × 200 draws × 100 systems: {taken:.2f} s", flush=True)


def robustness_row() -> None:
    """Design: at least 20 times re-evaluating with pytrec_eval."""
    collection = gf.simulate(topics=50, systems=100, depth=1000, seed=1)
    names = {"bpref": "bpref", "infAP": "infAP", "nDCG@1000": "ndcg_cut_1000"}
    ours = once(lambda: gf.robustness(collection.qrels, collection.runs, list(names), trials=1, seed=0))
    runs = [_nested(run.frame, "score") for run in collection.runs]
    labels = _nested(collection.qrels.frame, "relevance")
    levels = (0.1, 0.5)  # timed; each of the 17 costs about the same
    theirs = sum(once(lambda f=level: _evaluated(_depleted(labels, f), runs, names)) for level in levels)
    theirs *= 17 / len(levels)
    print("\nrobustness, 17 levels × 3 measures × 100 runs × 50 topics")
    print(f"  gainful {ours:.2f} s, joining included; pytrec_eval {theirs:.1f} s: {theirs / ours:.0f}×", flush=True)


def _depleted(labels: dict[str, dict[str, float]], level: float) -> dict[str, dict[str, int]]:
    """Judgments dropped at random, as trec_eval wants them: -1, pooled but not judged."""
    rng = np.random.default_rng(0)
    return {
        topic: {doc: int(label) if rng.random() < level else -1 for doc, label in docs.items()}
        for topic, docs in labels.items()
    }


def _evaluated(judged: dict[str, dict[str, int]], runs: list, names: dict[str, str]) -> None:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(judged, set(names.values()))
    for run in runs:
        evaluator.evaluate(run)


def _nested(frame: object, value: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for topic, doc, number in frame.select("query_id", "doc_id", value).iter_rows():
        found.setdefault(topic, {})[doc] = number
    return found


GROWTH = {
    "systems": [25, 50, 100, 200, 400],
    "topics": [25, 50, 100, 200, 400],
    "resamples": [250, 500, 1000, 2000, 4000],
}


def growth(chart: str | None) -> None:
    """Seconds as one of the three grows, and the exponent between the last two: 2, 1 and 1 by the algebra."""
    import polars as pl

    rows = []
    print("\nbootstrap ASL as one size grows (the others at 100 systems, 50 topics, 1,000 resamples)")
    for what, values in GROWTH.items():
        for value in values:
            size = {"systems": 100, "topics": 50, "resamples": 1000, what: value}
            scores = matrix(size["systems"], size["topics"])
            taken = seconds(lambda y=scores, n=size["resamples"]: gf.sensitivity(y, resamples=n), 3)
            rows.append({"grows": what, "value": value, "seconds": taken})
        first, last = rows[-2]["seconds"], rows[-1]["seconds"]
        line = ", ".join(f"{row['value']}: {row['seconds']:.3f} s" for row in rows[-len(values) :])
        print(f"  {what}: {line}; exponent at the end {math.log2(last / first):.1f}", flush=True)
    if chart:
        from gainful.charts import load_altair, save_chart, styled

        alt = load_altair()
        lines = (
            alt.Chart(pl.DataFrame(rows))
            .mark_line(point=True)
            .encode(
                x=alt.X("value:Q", title="systems, topics or resamples", scale=alt.Scale(type="log")),
                y=alt.Y("seconds:Q", title="seconds", scale=alt.Scale(type="log")),
                color=alt.Color("grows:N", title="what grows"),
            )
            .properties(width=420, height=280)
        )
        save_chart(styled(lines, "Cost of the bootstrap of all pairs"), chart)


def main() -> None:
    """All rows; a path, if given, gets the growth chart."""
    bootstrap_row()
    stability_row()
    robustness_row()
    growth(sys.argv[1] if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()
