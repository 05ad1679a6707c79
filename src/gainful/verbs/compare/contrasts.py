"""The runs and pairs of runs under one measure: numbers, and which run is better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.errors import GainfulError
from gainful.stats.paired import IntArray
from gainful.stats.resample import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrasts:
    """The runs under one measure, and the pairs that were tested; a pair is a run and an other run."""

    # What was measured, whether a higher score is better, worse or neither, and how `evaluate` summarises topics: a
    # measure that it sums is compared by its mean.
    measure: str
    higher: str
    summary: str
    # A pair differs significantly if its corrected p-value is below this, where no other level is asked for.
    alpha: float
    # The topics that all runs have, and the scores: runs × topics.
    topics: tuple[str, ...]
    values: FloatArray
    # Of each run, with the ends of its interval.
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    # Of each pair, the places of the run and of the other.
    first: IntArray
    second: IntArray
    # Of each pair, the mean of run − other, with the ends of its interval.
    difference: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray
    # The difference in standard deviations of the differences per topic; 0 where all of them are 0, infinite where they
    # are all the same other number.
    effect: FloatArray
    # Of each pair, the topics in which the run is better than, equal to, worse than the other; higher counts as better
    # where neither is.
    wins: IntArray
    ties: IntArray
    losses: IntArray
    # Of each pair, 1 where the test takes the run for higher than the other, -1 for lower, 0 for neither: the sign of
    # the sum of signed ranks for wilcoxon, of the difference for all other tests.
    direction: IntArray
    # Of each pair, as tested, and corrected for the number of pairs.
    p: FloatArray
    p_corrected: FloatArray

    def sign(self) -> float:
        """-1 where lower is better, else 1."""
        return -1.0 if self.higher == "worse" else 1.0

    def order(self) -> IntArray:
        """The places of the runs, the best mean first (the highest, if neither is better)."""
        return np.argsort(-self.sign() * self.mean, kind="stable")

    def differences(self) -> FloatArray:
        """Pairs × topics: run − other."""
        return self.values[self.first] - self.values[self.second]

    def significant(self, alpha: float | None = None) -> NDArray[np.bool_]:
        """Of each pair, whether its corrected p-value is below the level."""
        return self.p_corrected < (self.alpha if alpha is None else checked_alpha(alpha))

    def better(self, alpha: float | None = None) -> NDArray[np.bool_]:
        """Runs × runs: whether the row's run is significantly better than the column's (higher, if neither is).

        The `direction` of the test says which one is better.
        """
        won = np.zeros((len(self.mean), len(self.mean)), np.bool_)
        found, gain = self.significant(alpha), self.sign() * self.direction
        won[self.first, self.second] = found & (gain > 0.0)
        won[self.second, self.first] = found & (gain < 0.0)
        return won

    def against_the_mean(self, alpha: float | None = None) -> NDArray[np.bool_]:
        """Of each pair, whether it differs significantly, and the better of the two has not the better mean."""
        return self.significant(alpha) & (self.direction * np.sign(self.difference) <= 0.0)

    def groups(self) -> IntArray:
        """Of each run, its group, from 1: a group is the best run that has none yet, and all it is not better than.

        Better is significantly better, at the level `alpha`; it needs all pairs.
        """
        group, better = np.zeros(len(self.mean), np.int64), self.better()
        for at in self.order():
            if not group[at]:
                group[(group == 0) & ~better[at]] = group.max() + 1
        return group


def checked_alpha(alpha: float) -> float:
    """The level; refuses what is none."""
    if not 0.0 < alpha < 1.0:
        raise GainfulError(f"alpha: expected a number between 0 and 1, got {alpha}")
    return alpha


def check_margin(margin: float | None, alpha: float) -> None:
    """Refuse a margin, if there is one, that no run could keep to."""
    if margin is not None and not 0.0 <= margin < np.inf:
        raise GainfulError(f"margin: expected a number of at least 0, got {margin}")
    if margin is not None and alpha >= 0.5:
        raise GainfulError(f"alpha: expected a number below 0.5 for a margin, got {alpha}")
