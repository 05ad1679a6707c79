"""How often the intervals of analyses and thresholds hold the truth: simulated, seeded; Markdown on stdout.

python benchmarks/coverage_analyses.py [--draws 1000] > table.md

Truth is known because topics are drawn from a source that is written down here. The source of thresholds: 6 documents
per topic, labels -2, 0, 1 and 2 with given shares, scores the label plus normal noise (or noise alone: no cut helps).
The interval of the held-out gain was chosen among a dozen by its coverage on the first four sources; those of CHECKS
were written down afterwards, and nothing was changed by what they gave.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import special

import gainful as gf
from gainful.stats.anova import absolute_ratios, relative_ratios, two_way
from gainful.stats.correlation import kendall
from gainful.stats.intervals import bca_interval, t_interval

PLACES = 3
LABELS = np.array([-2.0, 0.0, 1.0, 2.0])
POPULATION = 600_000
NOMINAL = 0.95


class Source(NamedTuple):
    """Where topics come from: shares of the labels, and the noise of the scores; None: scores say nothing."""

    shares: tuple[float, ...]
    noise: float | None
    docs: int = 6

    def draw(self, rng: np.random.Generator, topics: int) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores, topics × documents."""
        label = rng.choice(LABELS, (topics, self.docs), p=self.shares)
        noise = rng.normal(0.0, self.noise or 1.0, label.shape)
        return label, noise if self.noise is None else label + noise


SOURCES = {
    "a small gain": Source((0.3, 0.2, 0.25, 0.25), 2.0),
    "a large gain": Source((0.4, 0.2, 0.2, 0.2), 1.2),
    "no gain": Source((0.3, 0.2, 0.25, 0.25), None),
    "no gain, few forbidden": Source((0.1, 0.2, 0.35, 0.35), 2.0),
}
CHECKS = {
    "check: 10 documents": Source((0.2, 0.4, 0.25, 0.15), 1.5, 10),
    "check: 4 documents, most forbidden": Source((0.6, 0.1, 0.2, 0.1), 1.0, 4),
    "check: 10 documents, scores without meaning": Source((0.4, 0.3, 0.2, 0.1), None, 10),
}


class Truth:
    """By threshold, the gain in nDCGf@3 over keeping everything, and the forbidden share of the first 3 places."""

    def __init__(self, source: Source, seed: int) -> None:
        label, score = source.draw(np.random.default_rng(seed), POPULATION)
        discount = 1.0 / np.log2(np.arange(PLACES) + 2.0)
        best = np.sort(np.maximum(label, 0.0), axis=1)[:, ::-1][:, :PLACES] @ discount
        worst = np.sort(np.minimum(label, 0.0), axis=1)[:, :PLACES] @ discount
        first = np.argsort(-score, axis=1)[:, :PLACES]
        shown, at = (np.take_along_axis(values, first, axis=1) for values in (label, score))
        part = shown * discount / np.where(best > worst, best - worst, 1.0)[:, None]
        order = np.argsort(at, axis=None)
        self._score = at.ravel()[order]
        self._lost = np.concatenate([[0.0], np.cumsum(part.ravel()[order])]) / POPULATION
        bad = np.cumsum((shown < 0).ravel()[order][::-1])[::-1] / POPULATION / PLACES
        self._loss = np.append(bad, 0.0)
        self.best = float(np.append(self._score, np.inf)[np.argmin(self._lost)])

    def gain(self, threshold: Any) -> np.ndarray:
        """What cutting there gains."""
        return -self._lost[np.searchsorted(self._score, threshold, side="left")]

    def loss(self, threshold: Any) -> np.ndarray:
        """What is forbidden there."""
        return self._loss[np.searchsorted(self._score, threshold, side="left")]


def collection(label: np.ndarray, score: np.ndarray) -> tuple[gf.Qrels, gf.Run]:
    """As judgments and a run."""
    topics, docs = label.shape
    ids = {
        "query_id": np.repeat(np.arange(topics), docs).astype(str),
        "doc_id": np.tile(np.arange(docs), topics).astype(str),
    }
    return (
        gf.Qrels(pl.DataFrame({**ids, "relevance": label.ravel()})),
        gf.Run(pl.DataFrame({**ids, "score": score.ravel()})),
    )


def row(what: str, where: str, low: Any, high: Any, truth: Any, nominal: str = f"{NOMINAL}") -> str:
    """One row of the table: coverage, its Monte Carlo error, and on which side the truth is missed."""
    low, high, truth = (np.asarray(values, np.float64) for values in (low, high, truth))
    slack = 1e-9
    below, above = (truth < low - slack).mean(), (truth > high + slack).mean()
    covered = 1.0 - below - above
    error = math.sqrt(max(covered * (1.0 - covered), 0.25 / len(low)) / len(low))
    return f"| {what} | {where} | {nominal} | {covered:.3f} | {error:.3f} | {below:.3f} | {above:.3f} |"


def thresholds(draws: int, seed: int, sources: Mapping[str, Source]) -> Iterator[str]:
    """The three intervals of `threshold fit`."""
    for name, source in sources.items():
        truth, rng = Truth(source, seed), np.random.default_rng(seed + 1)
        for topics in (25, 50, 200):
            cuts, chosen = [], []
            for draw in range(draws):
                cuts.append(gf.threshold.fit(*collection(*source.draw(rng, topics)), resamples=200, seed=draw))
                four_fifths = collection(*source.draw(rng, topics * 4 // 5))
                chosen.append(gf.threshold.fit(*four_fifths, resamples=1, folds=2, repeats=1).threshold)
            expected = truth.gain(chosen).mean()
            held_out = [cut.held_out for cut in cuts]
            ends = [one.gain_low for one in held_out], [one.gain_high for one in held_out]
            where = f"{name}, {topics} topics"
            own = truth.gain([cut.threshold for cut in cuts])
            yield row("held-out gain", where, *ends, own)
            again = f"{where} (expected {expected:+.4f})"
            yield row("held-out gain, as that of choosing anew", again, *ends, np.full(draws, expected))
            yield row("gain on these topics", where, *zip(*(cut.gain_interval for cut in cuts), strict=True), own)
            if source.noise is not None and "no gain" not in name:
                ends = zip(*(cut.threshold_interval for cut in cuts), strict=True)
                yield row("threshold", where, *ends, np.full(draws, truth.best))


def risks(draws: int, seed: int) -> Iterator[str]:
    """Both statements: the mean of the true loss over fits, and how many fits lose more than was allowed."""
    source, most = SOURCES["a small gain"], 0.1
    truth, rng = Truth(source, seed), np.random.default_rng(seed + 2)
    for topics in (30, 60, 200):
        drawn = [collection(*source.draw(rng, topics)) for _ in range(draws)]
        for confidence in (None, 0.9):
            promise = {"risk": most, "risk_confidence": confidence}
            cuts = [gf.threshold.fit(*one, **promise, resamples=1, folds=2, repeats=1) for one in drawn]
            for which, at in (("chosen", [c.threshold for c in cuts]), ("lowest", [c.safe_from[0] for c in cuts])):
                loss = truth.loss(at)
                error = loss.std(ddof=1) / math.sqrt(draws)
                more = float((loss > most).mean())
                spread = math.sqrt(max(more * (1.0 - more), 0.25 / draws) / draws)
                asked = f"`--risk {most}`" + ("" if confidence is None else f" `--risk-confidence {confidence}`")
                yield f"| {asked} | {topics} | {which} | {loss.mean():.4f} ± {error:.4f} | {more:.3f} ± {spread:.3f} |"


def means(draws: int, seed: int) -> Iterator[str]:
    """Of the mean of scores as AP has them: a quarter of the topics at 0, the rest skewed."""
    rng = np.random.default_rng(seed + 3)
    for topics in (10, 25, 50, 200):
        values = np.where(rng.random((draws, topics)) < 0.25, 0.0, rng.beta(0.8, 2.0, (draws, topics)))
        true = np.full(draws, 0.75 * 0.8 / 2.8)
        for name, (low, high) in {
            "mean, t": t_interval(values, confidence=NOMINAL),
            "mean, bca": bca_interval(values, confidence=NOMINAL, resamples=1000, seed=seed),
        }.items():
            yield row(name, f"{topics} topics", low, high, true)


def reliabilities(draws: int, seed: int) -> Iterator[str]:
    """Of Φ and Eρ²: normal scores, as the formulas assume, and scores from 0 to 1."""

    def additive(rng: np.random.Generator, runs: int, topics: int, number: int) -> np.ndarray:
        shapes = ((0.07, (runs, 1)), (0.47, (1, topics)), (0.46, (runs, topics)))
        return sum(rng.normal(0.0, math.sqrt(variance), (number, *shape)) for variance, shape in shapes)

    def bounded(rng: np.random.Generator, runs: int, topics: int, number: int) -> np.ndarray:
        return special.expit(3.0 * additive(rng, runs, topics, number) - 1.0)

    kinds: dict[str, Callable[..., np.ndarray]] = {"normal": additive, "bounded": bounded}
    for kind, made in kinds.items():
        whole = two_way(made(np.random.default_rng(seed + 4), 2000, 4000, 1))
        for runs, topics in ((12, 25), (60, 50)):
            squares = two_way(made(np.random.default_rng(seed + 5), runs, topics, draws))
            for name, ratios in (("Φ", absolute_ratios), ("Eρ²", relative_ratios)):
                true = (
                    0.07 / (0.93 if name == "Φ" else 0.46) if kind == "normal" else float(ratios(whole, NOMINAL)[0][0])
                )
                _, low, high = ratios(squares, NOMINAL)
                yield row(name, f"{kind} scores, {runs} runs, {topics} topics", low, high, np.full(draws, true))


def orders(draws: int, seed: int) -> Iterator[str]:
    """The middle 95 % of τ on resampled topics, which is not an interval of the true τ."""
    rng = np.random.default_rng(seed + 6)
    runs, draws = 20, min(draws, 400)
    for topics in (25, 50, 200):
        low, high, true = [], [], []
        for draw in range(draws):
            quality = rng.normal(0.0, 1.0, (1, runs, 1)) + rng.normal(0.0, 0.4, (2, runs, 1))
            scores = quality + rng.normal(0.0, 2.5, (1, runs, topics)) + rng.normal(0.0, 1.0, (2, runs, topics))
            columns = {"score": scores.ravel()}
            for at, name in enumerate(("measure", "run", "query_id")):
                columns[name] = np.indices(scores.shape)[at].ravel().astype(str)
            given = pl.DataFrame(columns)
            found = gf.agreement(given, correlation="tau_b", resamples=200, seed=draw).between("0", "1", "tau_b")
            low.append(found.resampled_low)
            high.append(found.resampled_high)
            true.append(float(kendall(quality[0, :, 0], quality[1, :, 0])))
        yield row("τ on resampled topics (spread 0.95)", f"{runs} runs, {topics} topics", low, high, true, "none")


def curves(seed: int) -> Iterator[str]:
    """The mean τ over trials that drop judgments; its truth the mean of 1,600 trials."""
    made = gf.simulate(topics=10, systems=8, depth=60, seed=seed + 2)
    every = gf.robustness(made.qrels, made.runs, "AP", levels=[0.1, 0.3], trials=1600, seed=seed + 7)
    for at, level in enumerate((0.1, 0.3)):
        for trials in (8, 30):
            groups = every.taus[0, at][: 1600 // trials * trials].reshape(-1, trials)
            low, high = t_interval(groups, confidence=NOMINAL)
            true = np.full(len(groups), every.taus[0, at].mean())
            yield row("robustness: mean τ", f"level {level}, {trials} trials", low, np.minimum(high, 1.0), true)


def main() -> None:
    """All tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draws, seed = given.draws, given.seed
    print("| interval | of | nominal | covered | ± | truth below | truth above |\n|---|---|---|---|---|---|---|")
    parts = (means(2 * draws, seed), reliabilities(2 * draws, seed), orders(draws, seed), curves(seed))
    for part in (*parts, thresholds(draws, seed, SOURCES), thresholds(draws, seed, CHECKS)):
        for line in part:
            print(line, flush=True)
    print("\n| asked for | topics | threshold | mean true share | fits above the risk |\n|---|---|---|---|---|")
    for line in risks(draws, seed):
        print(line, flush=True)
    print(f"seed {seed}, {draws} draws; {POPULATION:,} topics for the truth of thresholds", file=sys.stderr)


if __name__ == "__main__":
    main()
