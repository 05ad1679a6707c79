"""Is the difference real? Paired tests, intervals and effect sizes of runs on the same topics."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from gainful.data.complete import complete_matrices
from gainful.data.policies import Gaps
from gainful.data.scores import ScoreMatrix
from gainful.engine import Engine, open_engine
from gainful.errors import check_choice
from gainful.stats.corrections import Method as Correction
from gainful.stats.corrections import corrected
from gainful.stats.intervals import Interval, check_confidence, mean_interval
from gainful.stats.paired import (
    bootstrap,
    pairs,
    randomisation,
    rounding,
    signed_ranks,
    t_statistic,
    t_test,
    tukey_all,
    wilcoxon,
)
from gainful.stats.resample import Apply, FloatArray, check_resamples, generator
from gainful.verbs.compare.result import Comparison, Contrasts, Test, place_of
from gainful.verbs.evaluate import read_scores

__all__ = ["Comparison", "Contrasts", "compare"]


def compare(
    scores: Any,
    *,
    baseline: str | None = None,
    test: Test = "t",
    correction: Correction = "holm",
    interval: Interval = "t",
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    gaps: Gaps = "error",
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: int | None = None,
) -> Comparison:
    """Find out whether the difference of runs is real: paired tests, intervals, effect sizes, wins.

    Parameters
    ----------
    scores
        Scores of runs on topics: what `evaluate` returns, a file, a frame, or an array of systems × topics.
    baseline
        Compare the other runs with this one; without it, all pairs are compared.
    test
        t (Student's paired t-test), wilcoxon (signed ranks), randomisation (signs of the differences are flipped),
        bootstrap (studentised) or tukey (randomised Tukey HSD, which corrects for all pairs by itself).
    correction
        For testing many pairs: holm, bonferroni, bh (Benjamini-Hochberg) or none; the family is the pairs tested
        under one measure. tukey takes none.
    interval
        Of means and differences: t or bca (bootstrap). Intervals are not corrected.
    confidence
        Of the intervals.
    resamples
        How many bootstrap samples or randomisations.
    seed
        Where the random numbers start.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs).
    engine
        Where to compute: local (in this process) or dask (on the workers of a Dask cluster).
    scheduler
        With engine dask: the address of a running scheduler, such as tcp://10.0.0.1:8786; by default workers are
        started on this machine, and ended afterwards.
    workers
        With engine dask: how many workers to start on this machine; one a core by default.

    Returns
    -------
    Comparison
        Means, and for each pair the difference with its interval, effect size, wins and losses, and p-values.

    Notes
    -----
    All tests are two-sided, on the differences z of two runs over topics. p of a Monte Carlo test is (b + 1)/(resamples
    + 1), never 0; the randomisation test is exact where 2ᵀ, for T topics, is no more than `resamples`. Identical runs
    have p = 1. Which of two runs is better, where they differ significantly, is what the test is about: for wilcoxon
    the sum of the signed ranks, for all others the mean difference. The effect size is mean(z)/sd(z). Counts (measures
    that are summed over topics) are compared by their mean per topic.

    Examples
    --------
    >>> found = compare([[0.1, 0.2, 0.3, 0.4, 0.5], [0.3, 0.5, 0.4, 0.6, 0.7]])
    >>> found.to_frame().select("run", "other", "difference", "wins", "losses", "p").rows()
    [('1', '2', -0.2, 0, 5, 0.00319...)]
    """
    chosen = {"test": (test, Test), "correction": (correction, Correction), "interval": (interval, Interval)}
    for name, (value, kind) in chosen.items():
        check_choice(name, value, get_args(kind))
    check_confidence(confidence)
    check_resamples(resamples)
    generator(seed)
    scores = read_scores(scores)
    against = None if baseline is None else place_of(baseline, scores.systems, "baseline")
    matrices = complete_matrices(scores, gaps=gaps)

    def contrasts(matrix: ScoreMatrix, higher: str, p: FloatArray, apply: Apply) -> Contrasts:
        values = matrix.values
        first, second = pairs(len(values), against)
        z = values[first] - values[second]
        noise = rounding(values, first, second)
        z[np.abs(z) <= noise[:, None]] = 0.0
        ends = mean_interval(
            np.concatenate([values, z]), interval, confidence=confidence, resamples=resamples, seed=seed, apply=apply
        )
        (low, difference_low), (high, difference_high) = (np.split(end, [len(values)]) for end in ends)
        p = p[(first, second) if against is None else first]
        gain = -z if higher == "worse" else z
        difference = z.mean(axis=1)
        tested = signed_ranks(values, first, second).sum(axis=1) if test == "wilcoxon" else difference
        return Contrasts(
            measure=matrix.measure,
            higher=higher,
            topics=matrix.topics,
            values=values,
            mean=values.mean(axis=1),
            low=low,
            high=high,
            first=first,
            second=second,
            difference=difference,
            difference_low=difference_low,
            difference_high=difference_high,
            effect=np.nan_to_num(t_statistic(z, noise) / np.sqrt(z.shape[1]), nan=0.0, posinf=np.inf, neginf=-np.inf),
            wins=(gain > 0.0).sum(axis=1),
            ties=(gain == 0.0).sum(axis=1),
            losses=(gain < 0.0).sum(axis=1),
            direction=np.sign(tested).astype(np.int64),
            p=p,
            p_corrected=p if test == "tukey" else corrected(p, correction),
        )

    with open_engine(engine, scheduler=scheduler, workers=workers) as work:
        values = [matrix.values for matrix in matrices]
        levels = _levels(values, test, resamples=resamples, seed=seed, against=against, apply=work.map)
        found = tuple(
            contrasts(matrix, higher, p, work.map)
            for matrix, higher, p in zip(matrices, scores.higher, levels, strict=True)
        )
    return Comparison(
        systems=scores.systems,
        contrasts=found,
        baseline=baseline,
        test=test,
        correction="tukey" if test == "tukey" else correction,
        interval=interval,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
        gaps=gaps,
        policies=scores.policies,
    )


def _levels(
    matrices: list[FloatArray], test: Test, *, resamples: int, seed: int, against: int | None, apply: Apply
) -> list[FloatArray]:
    """The p-values of each measure."""
    match test:
        case "t":
            return [t_test(values, against=against) for values in matrices]
        case "wilcoxon":
            return [wilcoxon(values, against=against) for values in matrices]
        case "tukey":
            found = tukey_all(matrices, resamples=resamples, seed=seed, against=against, apply=apply)
        case _:
            resampled = randomisation if test == "randomisation" else bootstrap
            found = [
                resampled(values, resamples=resamples, seed=seed, against=against, apply=apply) for values in matrices
            ]
    return [extremes.p() for extremes in found]
