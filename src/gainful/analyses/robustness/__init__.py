"""How robust measures are to incomplete judgments: whether runs keep their order when judgments are taken away."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from gainful.analyses.robustness.decisions import Decisions, can_differ, draw_pairs, rejected
from gainful.analyses.robustness.experiment import Experiment, Scorer, matrices_of, samples
from gainful.analyses.robustness.result import Robustness
from gainful.analyses.robustness.samples import Depletion, checked_levels
from gainful.checks import check_count, check_finite, check_numbers, check_share
from gainful.data.align import align
from gainful.data.policies import Degenerate, Duplicates, Missing, Policies, Ties, Unjudged
from gainful.data.rankings import Rankings
from gainful.engine import Engine, open_engine
from gainful.errors import DataError
from gainful.io.read import iterate_runs, read_qrels
from gainful.measures import REGISTRY, Measure, parse_measures
from gainful.stats.resample import generator
from gainful.verbs.evaluate import check_ties

DEFAULT_MEASURES = ("bpref", "infAP", "AP", "nDCG@1000")

# More levels at once take more memory than they save time.
MOST_THREADS = 8


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
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: int | None = None,
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
    engine
        Where to compute: local (in this process) or dask (on the workers of a Dask cluster).
    scheduler
        With engine dask: the address of a running scheduler, such as tcp://10.0.0.1:8786; by default workers are
        started on this machine, and ended afterwards.
    workers
        With engine dask: how many workers to start on this machine; one a core by default.

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
        for matrix in matrices_of(full)
    ]
    trials = trials if depletion in ("stratified", "uniform") else 1
    taus = np.empty((len(chosen), len(steps), trials))
    scores = np.zeros((len(chosen), len(steps), len(rankings.systems)))
    judged = np.zeros(len(steps))
    decisions = [[Decisions()] * len(steps) for _ in chosen]
    experiment = Experiment(
        rankings=rankings,
        depletion=depletion,
        rel=rel,
        scorer=scorer,
        means=means,
        truth=tuple(truth),
        first=first,
        second=second,
        alpha=alpha,
        threads=min(os.cpu_count() or 1, MOST_THREADS) if engine == "local" else 1,
    )
    with open_engine(engine, scheduler=scheduler, workers=workers) as work:
        todo = list(samples(rankings, depletion, steps, trials, rng, at_once=work.at_once))
        found = work.map(Experiment.run, todo, shared=experiment, total=len(todo), label="Depleting")
        for step, outcome in enumerate(chain.from_iterable(found)):
            trial, at = divmod(step, len(steps))
            taus[:, at, trial] = outcome.taus
            scores[:, at] += outcome.summary / trials
            judged[at] += outcome.judged / trials
            for m, counted in enumerate(outcome.decisions):
                decisions[m][at] += counted
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
