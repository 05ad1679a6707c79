"""The variances of scores, and the coefficients that follow from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gainful.analyses.reliability.result import Coefficient, Components, Estimate, MeasureReliability, Reliability
from gainful.data.complete import complete_matrices
from gainful.data.scores import ScoreMatrix, Scores
from gainful.results import Settings
from gainful.stats.anova import Ratios, absolute_ratios, components, relative_ratios, two_way


def computed(scores: Scores, settings: Settings) -> Reliability:
    """The reliability of every measure, by the settings of `gainful.reliability`."""
    matrices = complete_matrices(scores, gaps=settings["gaps"])
    measures = tuple(_of(matrix, settings["confidence"]) for matrix in matrices)
    sizes = settings["sizes"] or _telling_sizes(measures, settings["target"])
    return Reliability(measures=measures, sizes=tuple(sizes), settings=settings)


def _of(matrix: ScoreMatrix, confidence: float) -> MeasureReliability:
    squares = two_way(matrix.values)
    run, topic, rest = (float(part) for part in components(squares))
    ratios: dict[Coefficient, Ratios] = {
        "phi": absolute_ratios(squares, confidence),
        "erho2": relative_ratios(squares, confidence),
    }
    return MeasureReliability(
        measure=matrix.measure,
        runs=len(matrix.systems),
        topics=len(matrix.topics),
        mean_squares=Components(float(squares.rows), float(squares.columns), float(squares.residual)),
        raw=Components(run, topic, rest),
        variances=Components(max(run, 0.0), max(topic, 0.0), rest),
        ratios={name: Estimate(*(float(end) for end in ends)) for name, ends in ratios.items()},
    )


def _telling_sizes(measures: Sequence[MeasureReliability], target: float) -> tuple[int, ...]:
    """From 1 to a little beyond the target, but not beyond 20 times what was observed; dense where the curve bends."""
    last = 1
    for m in measures:
        needed = m.topics_needed(target).value or 0
        last = max(last, min(20 * m.topics, max(2 * m.topics, round(1.2 * needed))))
    chosen = set(np.geomspace(1, last, 48).round().astype(int).tolist())
    return tuple(sorted(chosen | {m.topics for m in measures}))
