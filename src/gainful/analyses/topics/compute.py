"""The topics that a test or an interval needs, by the variances of scores."""

from __future__ import annotations

import math

import numpy as np

from gainful.analyses.topics.plan import Plan
from gainful.analyses.topics.result import MeasureTopics, TopicsNeeded
from gainful.data.complete import complete_matrices
from gainful.data.scores import ScoreMatrix, Scores
from gainful.results import Settings
from gainful.stats.anova import two_way


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
    return TopicsNeeded(measures=tuple(_of(matrix, plan) for matrix in matrices), plan=plan, settings=settings)


def _of(matrix: ScoreMatrix, plan: Plan) -> MeasureTopics:
    squares = two_way(matrix.values)
    variance = float(squares.within_rows()) if plan.method == "anova" else 2.0 * float(squares.residual)
    topics = len(matrix.topics)
    (needed,) = plan.needed(np.array([variance]))
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
    )
