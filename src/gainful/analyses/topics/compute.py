"""The topics that a test or an interval needs, by the variances of scores."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gainful.analyses.topics.plan import Plan
from gainful.analyses.topics.result import SHARES, MeasureTopics, TopicsNeeded, pair_variances
from gainful.analyses.topics.simulate import simulated
from gainful.data.complete import complete_matrices
from gainful.data.scores import ScoreMatrix, Scores
from gainful.results import Settings
from gainful.stats.anova import two_way
from gainful.stats.pooled import variance_interval
from gainful.stats.resample import FloatArray


def computed(scores: Scores, settings: Settings) -> TopicsNeeded:
    """The topics that every measure needs, by the settings of `gainful.topics`."""
    matrices = complete_matrices(scores, gaps=settings["gaps"])
    method = settings["method"]
    plan = Plan(
        method=method,
        difference=float(settings["difference"]),
        alpha=float(settings["alpha"]),
        power=float(settings["power"]),
        systems=(settings["systems"] or len(scores.systems)) if method == "anova" else None,
    )
    drawn = {name: settings[name] for name in ("resamples", "seed")}
    found = tuple(_of(matrix, plan, settings["confidence"], drawn) for matrix in matrices)
    return TopicsNeeded(measures=found, plan=plan, settings=settings)


def _of(matrix: ScoreMatrix, plan: Plan, confidence: float, drawn: Mapping[str, int]) -> MeasureTopics:
    squares = two_way(matrix.values)
    variance = float(squares.within_rows()) if plan.method == "anova" else 2.0 * float(squares.residual)
    topics = len(matrix.topics)
    ends = _ends(matrix.values, plan, confidence, drawn) if variance else (0.0, 0.0)
    needed, low, high = plan.needed(np.array([variance, *ends]))
    shares: tuple[int | None, ...] = ()
    if plan.method != "anova":
        quantiles = np.quantile(pair_variances(matrix.values), SHARES, method="inverted_cdf")
        shares = tuple(plan.needed(quantiles))

    def by_simulation(number: int | None) -> float:
        return simulated(matrix.values, plan, number, experiments=drawn["resamples"], seed=drawn["seed"])

    return MeasureTopics(
        measure=matrix.measure,
        runs=len(matrix.systems),
        topics=topics,
        variance=variance,
        needed=needed,
        attained=float(plan.attained(variance, needed)) if needed else math.nan,
        now=float(plan.attained(variance, topics)),
        detectable=plan.detectable(variance, topics),
        scores=matrix,
        low=low,
        high=high,
        shares=shares,
        simulated=by_simulation(needed),
        simulated_now=by_simulation(topics),
    )


def _ends(values: FloatArray, plan: Plan, confidence: float, drawn: Mapping[str, int]) -> tuple[float, float]:
    """The interval of the variance that the plan uses."""
    rows = len(values)
    if plan.method == "anova":
        centred, share = values, 1.0 / rows
    else:
        centred, share = values - values.mean(axis=0), 2.0 / (rows - 1.0)
    residuals = centred - centred.mean(axis=1, keepdims=True)
    return variance_interval(residuals, share, confidence=confidence, resamples=drawn["resamples"], seed=drawn["seed"])
