"""Scores of several measures on the same topics: for analyses that set one measure against another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gainful.data.complete import complete_matrices
from gainful.data.policies import Gaps
from gainful.data.scores import FLOOR, Scores
from gainful.errors import DataError
from gainful.stats.resample import FloatArray
from gainful.stats.scale import weighted_sums


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cube:
    """Scores without a gap, every measure on the same topics.

    Parameters
    ----------
    values
        Measures × systems × topics.
    measures, systems, topics
        The names of the three axes.
    geometric
        Per measure, whether systems are compared by the geometric mean.
    """

    values: FloatArray
    measures: tuple[str, ...]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    geometric: tuple[bool, ...]

    def means(self, weights: FloatArray) -> FloatArray:
        """… × measures × systems: the means over the topics, weighted by the rows (… × topics) of `weights`."""
        return np.stack([self.mean_of(at, weights) for at in range(len(self.measures))], axis=-2)

    def mean_of(self, measure: int, weights: FloatArray) -> FloatArray:
        """… × systems: the means of one measure."""
        values = self.values[measure]
        total = weights.sum(axis=-1)[..., None]
        if self.geometric[measure]:
            return np.asarray(np.exp(weighted_sums(weights, np.log(np.maximum(values, FLOOR))) / total), np.float64)
        return np.asarray(weighted_sums(weights, values) / total, np.float64)

    def noise(self, measure: int) -> float:
        """What rounding alone can make of a difference of two scores or means that is 0."""
        return float(np.abs(self.values[measure]).max(initial=0.0)) * 1e-12


def complete_cube(scores: Scores, *, gaps: Gaps) -> Cube:
    """All measures on the topics for which every system has a score of every measure.

    Parameters
    ----------
    scores
        From `read_scores`.
    gaps
        ``error``, or ``drop`` to leave a topic out for all measures that is not complete in one.
    """
    matrices = complete_matrices(scores, gaps=gaps, geometric=True)
    kept = set(matrices[0].topics).intersection(*(matrix.topics for matrix in matrices))
    topics = tuple(topic for topic in scores.topics if topic in kept)
    if len(topics) < 2:
        raise DataError(
            f"expected at least 2 topics that have a score of every measure for every run, got {len(topics)}"
        )
    values = [matrix.values[:, [topic in kept for topic in matrix.topics]] for matrix in matrices]
    return Cube(
        values=np.stack(values),
        measures=scores.measures,
        systems=scores.systems,
        topics=topics,
        geometric=tuple(how == "gmean" for how in scores.summaries),
    )
