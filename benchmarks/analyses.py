"""The analyses beside plain code for the same thing, and how their cost grows: called by run.py in its environment.

`python analyses.py [CHART]` prints the rows of docs/benchmarks.md and draws the growth curves.
"""

from __future__ import annotations

import itertools
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import gainful as gf
from environment import verdict
from gainful.analyses.robustness.decisions import draw_pairs
from gainful.analyses.robustness.depletion import SHARES, stratified
from gainful.data.align import align
from gainful.data.qrels import Qrels


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
    print(f"  bar ≥ 500×: {verdict(loop / ours >= 500)}")
    print(f"  loop over pairs, resamples as an array {half:.1f} s (100 pairs timed): {half / ours:.0f}×", flush=True)
    many = matrix(1000, 50)
    taken = once(lambda: gf.sensitivity(many, resamples=1000))
    print(f"  1,000 systems, 499,500 pairs: {taken:.1f} s; bar ≤ 15 s: {verdict(taken <= 15)}", flush=True)


def stability_row() -> None:
    """Design: about a second."""
    scores = matrix(100, 92)
    taken = seconds(lambda: gf.stability(scores, sizes=range(1, 47), draws=200), 3)
    print(f"\nstability, 46 sizes × 200 draws × 100 systems: {taken:.2f} s", flush=True)


def robustness_row(topics: int = 50, systems: int = 100, depth: int = 1000, many: int = 400) -> None:
    """Design: at least 40 times re-evaluating with pytrec_eval, whose scores of the same samples are the same.

    Both start from dicts of dicts.
    """
    collection = gf.simulate(topics=topics, systems=systems, depth=depth, seed=1)
    # trec_eval has its own idea of negative labels (pooled, not judged): here spam is nonrelevant to both.
    qrels = Qrels(collection.qrels.frame.with_columns(pl.col("relevance").clip(0)))
    names = {"bpref": "bpref", "infAP": "infAP", "nDCG@1000": "ndcg_cut_1000"}
    runs = [_nested(run.frame, "score") for run in collection.runs]
    levels = (0.1, 0.5)  # timed for pytrec_eval; each of the 17 costs about the same
    samples = _samples(qrels, collection.runs, levels)
    found = gf.robustness(qrels, collection.runs, list(names), levels=levels, trials=1, seed=0)
    for at, sample in enumerate(samples):
        means = np.array(_evaluated(sample, runs, names))
        np.testing.assert_allclose(found.scores[:, at].T, means, rtol=0, atol=1e-9)
    judged = _nested(qrels.frame, "relevance")
    named = {f"run{at}": run for at, run in enumerate(runs)}
    ours = seconds(lambda: gf.robustness(judged, named, list(names), trials=1, seed=0), 3)
    theirs = sum(once(lambda judged=sample: _evaluated(judged, runs, names)) for sample in samples)
    theirs *= len(SHARES) / len(levels)
    print(
        f"\nrobustness, {len(SHARES)} levels × 3 measures × {systems} runs × {topics} topics, the same scores to 1e-9"
    )
    ratio = theirs / ours
    print(f"  gainful {ours:.2f} s, joining included; pytrec_eval {theirs:.1f} s: {ratio:.0f}×", end="")
    print(f"; bar ≥ 40×: {verdict(ratio >= 40)}")
    print(f"  (pytrec_eval: {len(levels)} of {len(SHARES)} levels timed, and multiplied)", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        larger = gf.simulate(topics=topics, systems=many, depth=depth, seed=1)
        gf.write_qrels(larger.qrels, f"{folder}/qrels.txt")
        Path(folder, "runs").mkdir()
        for run in larger.runs:
            gf.write_run(run, f"{folder}/runs/{run.name}.txt")
        taken = once(lambda: gf.robustness(f"{folder}/qrels.txt", f"{folder}/runs", list(names), trials=1))
    print(f"  {many} runs, from text files: {taken:.1f} s; bar ≤ 10 s: {verdict(taken <= 10)}", flush=True)


def _samples(qrels: Qrels, runs: list[gf.Run], levels: tuple[float, ...]) -> list[dict[str, dict[str, int]]]:
    """The judgments that robustness keeps with seed 0, as trec_eval wants them: -1 is pooled but not judged."""
    rng = np.random.default_rng(0)
    draw_pairs(len(runs), 300, rng)  # robustness draws the pairs it tests first
    rows = qrels.frame.select("query_id", "doc_id", "relevance").rows()
    found = []
    for kept in stratified(align(qrels, runs), levels, 1.0, rng):
        sample: dict[str, dict[str, int]] = {}
        for (topic, doc, label), stays in zip(rows, kept.tolist(), strict=True):
            sample.setdefault(topic, {})[doc] = int(label) if stays else -1
        found.append(sample)
    return found


def _evaluated(judged: dict[str, dict[str, int]], runs: list, names: dict[str, str]) -> list[list[float]]:
    """Per run, the mean of each measure over the topics."""
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(judged, set(names.values()))
    found = []
    for run in runs:
        topics = evaluator.evaluate(run).values()
        found.append([sum(topic[name] for topic in topics) / len(judged) for name in names.values()])
    return found


def _nested(frame: object, value: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for topic, doc, number in frame.select("query_id", "doc_id", value).iter_rows():
        found.setdefault(topic, {})[doc] = number
    return found


SIZES = [25, 50, 100, 200, 400]
# What each analysis grows with, from where the others stand still, and its call.
GROWTH: dict[str, tuple[dict[str, list[int]], dict[str, int], Callable[[np.ndarray, dict[str, int]], object]]] = {
    "bootstrap of all pairs": (
        {"systems": SIZES, "topics": SIZES, "resamples": [250, 500, 1000, 2000, 4000]},
        {"systems": 100, "topics": 50, "resamples": 1000},
        lambda scores, size: gf.sensitivity(scores, resamples=size["resamples"]),
    ),
    "stability, 12 sizes": (
        {"systems": SIZES, "topics": SIZES, "draws": [50, 100, 200, 400, 800]},
        {"systems": 100, "topics": 50, "draws": 200},
        lambda scores, size: gf.stability(scores, sizes=range(1, 13), draws=size["draws"]),
    ),
}


def growth(chart: str | None, growing: dict = GROWTH) -> None:
    """Seconds as one size grows, and the exponent at the end: by the algebra 2 for systems, else at most 1."""
    rows = []
    for what, (axes, still, call) in growing.items():
        print(f"\n{what}, as one size grows (the others at {still})")
        for name, values in axes.items():
            for value in values:
                size = {**still, name: value}
                scores = matrix(size["systems"], size["topics"])
                taken = seconds(lambda y=scores, size=size, call=call: call(y, size), 3)
                rows.append({"analysis": what, "grows": name, "value": value, "seconds": taken})
            exponent = math.log(rows[-1]["seconds"] / rows[-2]["seconds"]) / math.log(values[-1] / values[-2])
            line = ", ".join(f"{row['value']}: {row['seconds']:.3f} s" for row in rows[-len(values) :])
            print(f"  {name}: {line}; exponent at the end {exponent:.1f}", flush=True)
    if chart:
        _draw(rows, chart)


def _draw(rows: list[dict], chart: str) -> None:
    from gainful.charts import load_altair, save_chart, styled

    alt = load_altair()
    panels = [
        alt.Chart(pl.DataFrame([row for row in rows if row["analysis"] == what]))
        .mark_line(point=True)
        .encode(
            x=alt.X("value:Q", title="how many", scale=alt.Scale(type="log", nice=False)),
            y=alt.Y("seconds:Q", title="seconds", scale=alt.Scale(type="log")),
            color=alt.Color("grows:N", title="what grows", sort=None),
        )
        .properties(width=300, height=260, title=what)
        for what in dict.fromkeys(row["analysis"] for row in rows)
    ]
    save_chart(styled(alt.hconcat(*panels), "What the analyses cost as one size grows"), chart)


def main() -> None:
    """All rows; a path, if given, gets the growth chart."""
    bootstrap_row()
    stability_row()
    robustness_row()
    growth(sys.argv[1] if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()
