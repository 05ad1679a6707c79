"""How robust measures are to incomplete judgments: whether runs keep their order when judgments are taken away."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from gainful.data.align import align
from gainful.data.policies import Degenerate, Duplicates, Missing, Policies, Ties, Unjudged
from gainful.data.rankings import BoolArray, FloatArray, Rankings
from gainful.data.scores import Scores
from gainful.errors import DataError
from gainful.evaluate import check_ties, compute
from gainful.io.read import iterate_runs, read_qrels
from gainful.measures import REGISTRY, Measure, parse_measures
from gainful.meta.checks import check_count, check_finite, check_numbers, check_share
from gainful.meta.curves import Robustness, tidy
from gainful.meta.decisions import Decisions, can_differ, compared, draw_pairs, rejected
from gainful.meta.deplete import (
    Depletion,
    checked_levels,
    deplete,
    judged_only,
    of_system,
    only_contributor,
    stratified,
    to_depth,
    uniform,
    unpool,
)
from gainful.progress import track
from gainful.stats.correlation import kendall
from gainful.stats.resample import generator

DEFAULT_MEASURES = ("bpref", "infAP", "AP", "nDCG@1000")

# More levels at once take more memory than they save time.
MOST_THREADS = 8

# Scores at one level, and the number of judgments left.
_Step: TypeAlias = "tuple[Scores, float]"


def robustness(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    depletion: Depletion = "stratified",
    levels: Sequence[float] | None = None,
    trials: int = 10,
    weights: Sequence[float] = (),
    rel: float = 1.0,
    pairs: int = 300,
    alpha: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
) -> Robustness:
    """Find out whether judgments are deep enough: take some away, and see if runs keep their order.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
    runs
        Two or more runs: files, folders or globs, dicts or frames.
    measures
        What to compute, such as bpref, infAP or nDCG@1000; `gainful measures` lists them all.
    depletion
        What is taken away: stratified (at random, the same share of relevant and of nonrelevant documents), uniform
        (at random, each document with the same probability), depth (what a shallower pool of these runs would not have
        had judged), or leave-one-out (each run is scored without the judgments that it alone contributed).
    levels
        Shares of the judgments to keep, such as 0.1,0.5 (stratified, uniform), or depths of the pool, such as 5,10
        (depth, leave-one-out); the usual ones if not given.
    trials
        How often judgments are drawn at random; depth and leave-one-out draw nothing and make one trial.
    weights
        Also compute nDCG@1000 with the lowest relevant label counting 1 and all higher ones this much, such as 2,10;
        1 is binary.
    rel
        The lowest label that is relevant, for stratified samples and weights; not for the measures.
    pairs
        How many pairs of runs, drawn at random, are tested for a difference; all if there are no more.
    alpha
        Level of these tests (Wilcoxon's signed-rank test).
    confidence
        Of the interval of the mean τ over the trials.
    seed
        Where the random numbers start.
    ties
        Documents with equal scores: trec (by document id, as trec_eval), order (as in the run), or expected (the
        mean over all their orders).
    unjudged
        Documents without a judgment: zero (label 0, holding their rank) or condensed (removed before ranking).
    missing
        Judged topics that a run has nothing for: empty (scored as an empty ranking), skip or error.
    degenerate
        Where a measure is undefined: zero, nan, skip or one.
    duplicates
        A document twice in a topic: error or first.

    Returns
    -------
    Robustness
        Per measure and level: Kendall's τ with the full order, the mean score, and the decisions on pairs.

    Notes
    -----
    Samples are nested: a lower level keeps a subset of a higher one. Of R relevant and N nonrelevant judged documents
    of a topic, stratified depletion to a share f keeps min(R, max(1, ⌈f·R⌉)) and min(N, max(10, ⌈f·N⌉)). What
    stratified and uniform take away stays pooled but unjudged, which infAP uses; what depth and leave-one-out take away
    was never pooled, and leaves the pool. The scale of the labels stays that of the full judgments. All measures see
    the same samples. τ_b corrects for ties; it is 0 where the depleted judgments leave all runs tied and NaN where the
    full ones do. Negative labels count as nonrelevant.

    Pairs are tested by Wilcoxon's signed-rank test in its normal approximation, with few judgments as with all; see
    `Decisions` for what is counted. Nothing is counted, and the shares are NaN, where the test could find no pair
    different under all judgments, whatever run wins: runs are identical or undefined, or topics too few. Buckley &
    Voorhees, SIGIR 2004; Bompada et al., SIGIR 2007; Zobel, SIGIR 1998 (leave-one-out).

    Examples
    --------
    >>> import gainful as gf
    >>> made = gf.simulate(topics=20, systems=12, depth=100)
    >>> found = gf.robustness(made.qrels, made.runs, ["infAP", "AP"], levels=[0.1, 0.5, 1], trials=5)
    >>> found.knees()
    {'infAP': Knee(first=0.5, sustained=0.5), 'AP': Knee(first=0.5, sustained=0.5)}
    """
    policies = Policies(ties=ties, unjudged=unjudged, missing=missing, degenerate=degenerate, duplicates=duplicates)
    steps = checked_levels(depletion, levels)
    _check_settings(trials=trials, pairs=pairs, alpha=alpha, confidence=confidence, rel=rel)
    heavier = _checked_weights(weights)
    rng = generator(seed)
    chosen = parse_measures(measures)
    check_ties(chosen, ties)
    if isinstance(runs, (dict, list, tuple)) and not runs:
        raise DataError("expected at least 2 runs, whose order can change, got none")
    reading = iterate_runs(runs)  # in the background, while the judgments are read and indexed
    # Condensed after depletion, not before: what is taken away is no longer judged.
    held = Policies(ties=ties, missing=missing, degenerate=degenerate, duplicates=duplicates)
    rankings = align(read_qrels(qrels), reading, held)
    if len(rankings.systems) < 2:
        raise DataError(f"expected at least 2 runs, whose order can change, got 1: {rankings.systems[0]}")
    chosen = list(dict.fromkeys([*chosen, *_weighted(rankings, heavier, rel)]))

    first, second = draw_pairs(len(rankings.systems), pairs, rng)
    scorer = Scorer(measures=tuple(chosen), policies=policies)
    full = scorer.score(rankings)
    means = full.summary()
    truth = [
        rejected(matrix, first, second, alpha) if can_differ(matrix, first, second, alpha) else None
        for matrix in _matrices(full)
    ]
    trials = trials if depletion in ("stratified", "uniform") else 1
    taus = np.empty((len(chosen), len(steps), trials))
    scores = np.zeros((len(chosen), len(steps), len(rankings.systems)))
    judged = np.zeros(len(steps))
    decisions = [[Decisions()] * len(steps) for _ in chosen]
    if depletion == "leave-one-out":
        work = _left_out(rankings, steps, scorer)
    else:
        work = _sampled(rankings, depletion, steps, rel, trials, rng, scorer)
    for step, (found, left) in enumerate(track(work, trials * len(steps), "Depleting")):
        trial, at = divmod(step, len(steps))
        summary = found.summary()
        taus[:, at, trial] = _taus(summary, means)
        scores[:, at] += summary / trials
        judged[at] += left / trials
        for m, (matrix, known) in enumerate(zip(_matrices(found), truth, strict=True)):
            if known is not None:
                decisions[m][at] += compared(known, rejected(matrix, first, second, alpha))
    return Robustness(
        measures=full.measures,
        levels=steps,
        systems=rankings.systems,
        taus=taus,
        scores=scores,
        full=means,
        scored=full,
        decisions=tuple(tuple(row) for row in decisions),
        judged=tuple(judged.tolist()),
        judgments=int((rankings.pool_grade >= 0).sum()),
        topics=len(rankings.topics),
        pairs=len(first),
        higher=full.higher,
        labels=tuple(rankings.grades.tolist()),
        depletion=depletion,
        trials=trials,
        weights=heavier,
        rel=float(rel),
        alpha=float(alpha),
        confidence=float(confidence),
        seed=seed,
        policies=policies,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """Scores rankings whose judgments have been depleted.

    Parameters
    ----------
    measures, policies
        What to compute, and how.
    """

    measures: tuple[Measure, ...]
    policies: Policies

    def score(self, rankings: Rankings) -> Scores:
        """All measures; those that make nothing of pooled documents without a judgment never get to see them."""
        if self.policies.unjudged == "condensed":
            return compute(rankings.condensed(), list(self.measures), self.policies)
        slim = judged_only(rankings)
        parts = [compute(rankings if _sees_pool(m) else slim, [m], self.policies) for m in self.measures]
        return replace(
            parts[0],
            values=np.concatenate([part.values for part in parts]),
            counted=np.concatenate([part.counted for part in parts]),
            measures=tuple(part.measures[0] for part in parts),
            summaries=tuple(part.summaries[0] for part in parts),
            higher=tuple(part.higher[0] for part in parts),
            undefined=tuple(part.undefined[0] for part in parts),
        )


def _sees_pool(measure: Measure) -> bool:
    """Whether a document that is pooled but not judged may differ from any other to it; foreign measures might."""
    return measure.definition.name == "infAP" or not measure.definition.function.__module__.startswith("gainful.")


def _sampled(
    rankings: Rankings,
    depletion: Depletion,
    levels: Sequence[float],
    rel: float,
    trials: int,
    rng: np.random.Generator,
    scorer: Scorer,
) -> Iterator[_Step]:
    """Every trial and level."""
    # Array operations leave the interpreter to others: levels are independent of each other, and share all they read.
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, MOST_THREADS)) as threads:
        for _ in range(trials):
            without: Callable[[Rankings, BoolArray], Rankings] = deplete
            match depletion:
                case "stratified":
                    kept = stratified(rankings, levels, rel, rng)
                case "uniform":
                    kept = uniform(rankings, levels, rng)
                case _:
                    kept, without = to_depth(rankings, levels), unpool
            found = threads.map(lambda mask, less=without: scorer.score(less(rankings, mask)), kept)
            yield from zip(found, (kept & (rankings.pool_grade >= 0)).sum(axis=1).tolist(), strict=True)


def _left_out(rankings: Rankings, depths: Sequence[float], scorer: Scorer) -> Iterator[_Step]:
    """Every depth: each run scored without the judgments that it alone contributed."""
    alone = [of_system(rankings, system) for system in range(len(rankings.systems))]
    judged = rankings.pool_grade >= 0
    for depth in depths:
        owner = only_contributor(rankings, depth)
        parts = [scorer.score(unpool(own, owner != system)) for system, own in enumerate(alone)]
        together = replace(
            parts[0],
            systems=rankings.systems,
            values=np.concatenate([part.values for part in parts], axis=1),
            counted=np.concatenate([part.counted for part in parts], axis=1),
        )
        yield together, judged.sum() - ((owner >= 0) & judged).sum() / len(alone)


def _taus(depleted: FloatArray, full: FloatArray) -> FloatArray:
    """Per measure, τ_b of two orders of the systems; 0 where the depleted one ties them all, and the full one not."""
    pairs = [(tidy(now), tidy(then)) for now, then in zip(depleted, full, strict=True)]
    tau = kendall(np.stack([now for now, _ in pairs]), np.stack([then for _, then in pairs]))
    tied = [bool((now == now[0]).all() and (then > then.min()).any()) for now, then in pairs]
    return np.where(tied, 0.0, tau)


def _matrices(scores: Scores) -> FloatArray:
    """Measures × systems × topics, NaN where a cell does not count."""
    return np.where(scores.counted, scores.values, np.nan)


def _weighted(rankings: Rankings, weights: Sequence[float], rel: float) -> list[Measure]:
    """nDCG@1000 with the lowest relevant label counting 1 and all higher ones as much as each weight says."""
    labels = rankings.grades.tolist()
    relevant = [label for label in labels if label >= rel]
    if weights and not relevant:
        raise DataError(f"weights: no document is relevant, the highest label is {max(labels, default=0.0):g}")
    measures = []
    for weight in weights:
        # Labels up to 0 gain nothing anyhow, and would only make the name longer.
        gain = {label: 0.0 for label in labels if 0 < label < rel}
        gain |= {label: 1.0 if label == relevant[0] else float(weight) for label in relevant}
        measures.append(REGISTRY["nDCG"].bind({"gain": gain, "cutoff": 1000}))
    return measures


def _checked_weights(weights: Sequence[float]) -> tuple[float, ...]:
    given = check_numbers("weights", weights, "2, 10")
    for weight in given:
        if not (math.isfinite(weight) and weight > 0):
            raise DataError(f"weights: expected numbers above 0, got {weight:g}")
    return tuple(float(weight) for weight in given)


def _check_settings(*, trials: int, pairs: int, alpha: float, confidence: float, rel: float) -> None:
    check_count("trials", trials)
    check_count("pairs", pairs)
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    check_finite("rel", rel)
