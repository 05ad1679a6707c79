"""How far off measures are at a tenth of the judgments, and how far estimates from samples can be trusted.

``python benchmarks/sampled_judgments.py`` prints the tables of docs/what-to-judge.md and docs/llm-judge.md as Markdown:
errors of measures on simulated runs, and on those of TREC-COVID round 1 where ``GAINFUL_DATA`` names the folder that
has them; the bias of these estimates over samples of one topic; coverage of prediction-powered intervals.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import special

import gainful as gf
from gainful.data.rankings import Rankings
from gainful.stats.correlation import kendall
from gainful.stats.prediction import predicted_means

TRIALS = 20
SAMPLES = 10_000
EXPERIMENTS = 20_000
# Each measure, and what it estimates.
MEASURES = {"AP": "AP", "infAP": "AP", "xinfAP": "AP", "statAP": "AP", "statAP(corrected=True)": "AP", "bpref": "bpref"}
MEASURES |= {"nDCG": "nDCG", "infNDCG": "nDCG", "nDCG@10": "nDCG@10", "infNDCG@10": "nDCG@10"}
DESIGNS = ("uniform", "stratified")


def places(group: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The place of each document within its group, by an order that goes through groups one after another."""
    size = np.bincount(group)
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    found = np.empty(len(group), np.int64)
    found[order] = np.arange(len(group)) - start[group[order]]
    return found


def sample(rankings: Rankings, design: str, rng: np.random.Generator) -> Rankings:
    """Uniform: a tenth of each pool. Stratified: the twentieth that ranks best in any run, and as many of the rest."""
    topic = rankings.pool_topic
    size = np.bincount(topic)
    stratum = np.zeros(len(topic), np.int64)
    if design == "stratified":
        best = np.full(len(topic), 10**6)
        np.minimum.at(best, rankings.document, rankings.rank)
        order = np.lexsort((rng.random(len(topic)), best, topic))
        stratum = (places(topic, order) >= 0.05 * size[topic]).astype(np.int64)
    group = topic * 2 + stratum
    number = np.bincount(group, minlength=2 * len(size))
    share = np.tile([1.0, 0.05 / 0.95] if design == "stratified" else [0.1, 0.0], len(size))
    wanted = np.minimum(np.maximum(np.ceil(share * number), 2), number)
    kept = places(group, np.lexsort((rng.random(len(group)), group))) < wanted[group]
    return replace(rankings, pool_grade=np.where(kept, rankings.pool_grade, -1), pool_stratum=stratum)


def errors(rankings: Rankings, design: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Per measure the root mean square error of the runs' means, their mean error, and τ, averaged over trials."""
    full = gf.evaluate(rankings, sorted(set(MEASURES.values())))
    truth = {measure: full[measure].values.mean(axis=1) for measure in full.measures}
    found: dict[str, list[list[float]]] = {measure: [] for measure in MEASURES}
    for _ in range(TRIALS):
        scores = gf.evaluate(sample(rankings, design, rng), list(MEASURES))
        for measure, wanted in MEASURES.items():
            values = scores[measure].values.mean(axis=1)
            off = values - truth[wanted]
            found[measure].append([np.sqrt(np.mean(off**2)), off.mean(), kendall(values, truth[wanted]).item()])
    return {measure: np.mean(rows, axis=0) for measure, rows in found.items()}


def bias(judged: tuple[int, int]) -> dict[str, tuple[float, float, float]]:
    """Of one topic with 80 pooled documents, strata of 20 and 60 of which so many are judged: truth, mean, its error.

    For the estimate of R, that of R·AP, their quotient, and the other estimates.
    """
    rng = np.random.default_rng(8)
    size, strata = 80, (20, 60)
    grade = (rng.random(size) < np.linspace(0.7, 0.1, size)).astype(np.int64) * rng.integers(1, 3, size)
    stratum = np.repeat([0, 1], strata)
    truth = dict(
        zip(full := ("AP", "nDCG@20"), gf.evaluate(*_topic(grade[None], stratum), full).values.ravel(), strict=True)
    )
    grades = np.tile(grade, (SAMPLES, 1))
    draw = np.random.default_rng(0)
    for number, n in enumerate(judged):
        inside = np.flatnonzero(stratum == number)
        left_out = np.argsort(draw.random((SAMPLES, len(inside))), axis=1)[:, n:]
        np.put_along_axis(grades, inside[left_out], -1, axis=1)
    names = {"statAP": "AP", "statAP(corrected=True)": "AP", "xinfAP": "AP", "infNDCG@20": "nDCG@20"}
    found = gf.evaluate(*_topic(grades, stratum), list(names), degenerate="nan")
    weight = np.array([of / n for of, n in zip(strata, judged, strict=True)])[stratum]
    relevant = ((grades >= 1) * weight).sum(axis=1)
    number = float((grade >= 1).sum())
    above = np.nan_to_num(found["statAP"].values[0]) * relevant
    parts = {"R": (number, relevant), "R·AP": (number * truth["AP"], above)}
    for name, wanted in names.items():
        values = found[name].values[0]
        parts[name] = (truth[wanted], values[~np.isnan(values)])
    return {
        name: (wanted, float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))
        for name, (wanted, values) in parts.items()
    }


def _topic(grades: np.ndarray, stratum: np.ndarray) -> tuple[gf.Qrels, gf.Run]:
    """As many topics as samples, each with the same pool and ranking; -1 is not judged."""
    import polars as pl

    samples, size = grades.shape
    topic = np.repeat(np.arange(samples), size).astype(str)
    doc = np.tile(np.arange(size), samples).astype(str)
    label = np.where(grades < 0, np.nan, grades).ravel()
    frame = pl.DataFrame({"query_id": topic, "doc_id": doc, "relevance": label}).with_columns(
        pl.col("relevance").fill_nan(None), stratum=pl.Series(np.tile(stratum, samples).astype(str))
    )
    score = np.tile(-np.arange(size, dtype=np.float64), samples)
    return gf.read_qrels(frame), gf.read_run(pl.DataFrame({"query_id": topic, "doc_id": doc, "score": score}))


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(0.4, 0.2, shape)


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """As AP: many low scores, few high ones."""
    return rng.gamma(0.7, 0.3, shape)


def coverage(world: Callable[..., np.ndarray], n: int, more: int, noise: float) -> tuple[float, float, float]:
    """Of 95 % intervals with a cheap judge that is biased: coverage, that of the good topics alone, relative width."""
    rng = np.random.default_rng([n, more, int(100 * noise)])
    everyone = world(rng, (EXPERIMENTS, n + more))
    truth = world(np.random.default_rng(1), (1, 2_000_000)).mean()
    cheap = 0.15 + 0.8 * everyone + rng.normal(0.0, noise, everyone.shape)
    found = predicted_means(everyone[:, :n], cheap[:, :n], cheap[:, n:], confidence=0.95)
    held = (found.low <= truth) & (truth <= found.high)
    alone = (found.low_alone <= truth) & (truth <= found.high_alone)
    width, width_alone = found.high - found.low, found.high_alone - found.low_alone
    return float(held.mean()), float(alone.mean()), float(width.mean() / width_alone.mean())


def real_scores(data: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Runs × topics: scores by good labels and by cheap ones.

    TREC-COVID's labels are changed as often as FLAN-T5 errs on TREC DL 2019, where the cheap labels are real; of
    matrices of scores the cheap ones are made by a formula.
    """
    import polars as pl

    rng = np.random.default_rng(0)
    found = {}
    good = gf.read_qrels(data / "trec-covid-round1" / "qrels.txt.gz")
    relevant = pl.Series(rng.random(len(good.frame))) < pl.when(pl.col("relevance") >= 1).then(0.797).otherwise(0.397)
    label = pl.when(relevant).then(pl.max_horizontal("relevance", pl.lit(1.0))).otherwise(0.0)
    changed = gf.Qrels(good.frame.with_columns(relevance=label), "changed")
    dl, runs = data / "llm-judges", data / "trec-covid-round1" / "runs"
    for measure in ("nDCG@10", "AP", "P@10"):
        pair = [gf.evaluate(labels, runs, measure).values[0] for labels in (good, changed)]
        found[f"TREC-COVID 1, {measure}"] = (pair[0], pair[1])
        for judge, name in (("llama70b-4prompts", "Llama 70B"), ("flant5-4prompts", "FLAN-T5")):
            files = (dl / "dl2019.nist.txt", dl / f"dl2019.{judge}.txt")
            pair = [gf.evaluate(file, dl / "runs", measure, missing="skip").values[0] for file in files]
            both = ~np.isnan(pair).any(axis=(0, 1))
            found[f"DL 2019, {measure}, {name}"] = (pair[0][:, both], pair[1][:, both])
    for file, name in (
        ("adhoc7_ap", "TREC-7, AP"),
        ("web2011_ndcg20", "Web 2011, nDCG@20"),
        ("robust2003", "Robust 2003"),
    ):
        scores = gf.read_scores(data / "score-matrices" / f"{file}.csv").values[0]
        cheap = np.clip(0.15 + 0.8 * scores + rng.normal(0.0, 0.15, scores.shape), 0.0, 1.0)
        found[name] = (scores, cheap)
    return found


def real_coverage(scores: np.ndarray, cheap: np.ndarray, n: int) -> tuple[float, float, float]:
    """Coverage with n good topics and 5n more, Student's in its place, and width; means over up to 20 runs.

    Topics are drawn from the real ones with replacement, so that their mean is the truth.
    """
    rng = np.random.default_rng(n)
    varied = np.flatnonzero((scores.std(axis=1) > 0) & (cheap.std(axis=1) > 0))
    rows = []
    for run in varied[:: max(1, len(varied) // 20)]:
        drawn = rng.integers(0, scores.shape[1], (2000, 6 * n))
        good, other, truth = scores[run, drawn], cheap[run, drawn], scores[run].mean()
        found = predicted_means(good[:, :n], other[:, :n], other[:, n:], confidence=0.95)
        held = np.mean((found.low <= truth) & (truth <= found.high))
        student = np.mean(np.abs(found.mean - truth) <= special.stdtrit(n - 1, 0.975) * found.error)
        rows.append([held, student, np.mean(found.high - found.low) / np.mean(found.high_alone - found.low_alone)])
    return tuple(np.mean(rows, axis=0).tolist())


def main() -> None:
    made = gf.simulate(topics=40, systems=24, depth=200, seed=7)
    places_of = {"simulated": gf.align(made.qrels, made.runs)}
    data = Path(os.environ.get("GAINFUL_DATA", "/nonexistent")) / "trec-covid-round1"
    if data.is_dir():
        places_of["TREC-COVID 1"] = gf.align(data / "qrels.txt.gz", data / "runs")
    tables = {}
    for name, rankings in places_of.items():
        rng = np.random.default_rng(0)
        tables[name] = {design: errors(rankings, design, rng) for design in DESIGNS}
    print("| | " + " | ".join(f"{name}: error | bias | τ" for name in tables) + " |")
    print("|---" * (1 + 3 * len(tables)) + "|")
    for design in DESIGNS:
        print(f"| *{design}* |" + " |" * 3 * len(tables))
        for measure in MEASURES:
            cells = [
                f"{e:.3f} | {bias:+.3f} | {tau:.2f}" for e, bias, tau in (t[design][measure] for t in tables.values())
            ]
            print(f"| {measure} | {' | '.join(cells)} |")
    print("\n| judged of 20 and 60 | | truth | mean of 10,000 | standard errors off |")
    print("|---|---|---|---|---|")
    for judged in ((10, 12), (10, 30), (20, 30), (20, 60)):
        for name, (truth, mean, error) in bias(judged).items():
            off = (mean - truth) / error if error > 1e-12 else 0.0
            print(f"| {judged[0]}, {judged[1]} | {name} | {truth:.4f} | {mean:.4f} | {off:+.1f} |")
    print("\n| scores | good topics | more | noise of the judge | coverage | of good topics alone | relative width |")
    print("|---|---|---|---|---|---|---|")
    for world in (normal, skewed):
        for n, more in ((10, 100), (15, 100), (25, 200), (50, 500)):
            for noise in (0.1, 0.3):
                held, alone, width = coverage(world, n, more, noise)
                print(f"| {world.__name__} | {n} | {more} | {noise} | {held:.3f} | {alone:.3f} | {width:.2f} |")
    if data.is_dir():
        sizes = (10, 15, 20, 30, 50)
        print("\n| scores | " + " | ".join(f"{n} topics" for n in sizes) + " | relative width |")
        print("|---" * (len(sizes) + 2) + "|")
        for name, pair in real_scores(data.parent).items():
            cells = [real_coverage(*pair, n) for n in sizes]
            shown = " | ".join(f"{held:.3f} ({student:.3f})" for held, student, _ in cells)
            print(f"| {name} | {shown} | {np.mean([width for *_, width in cells]):.2f} |")


if __name__ == "__main__":
    main()
