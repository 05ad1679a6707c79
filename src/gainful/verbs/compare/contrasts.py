"""The runs and pairs of runs under one measure: numbers, and which run is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.errors import GainfulError
from gainful.stats.choices import Interval
from gainful.stats.intervals import mean_interval
from gainful.stats.paired import IntArray, sign_flip_p
from gainful.stats.resample import FloatArray, largest_of
from gainful.stats.strata import Strata

# Differences without variance that differ by less than this, relative to them, are the same in all groups.
_SAME = 1e-6


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
    # The same ends, so far out that the intervals of all pairs that were tested hold at the same time.
    all_low: FloatArray
    all_high: FloatArray
    # The difference in standard deviations of the differences per topic; 0 where all of them are 0, NaN where they are
    # all the same other number.
    effect: FloatArray
    # Of each pair, whether all differences are the same number, not 0: without variance there is no t.
    equal: NDArray[np.bool_]
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
    # Of each run, the best and the worst place that it may have, and the share of resampled topics on which it is best.
    place_low: IntArray
    place_high: IntArray
    best: FloatArray
    # How much too good the mean of the best run is likely to be, because it was chosen as the best.
    optimism: float
    # The range of the scores, and the groups of the topics, where there are any.
    bounds: tuple[float, float]
    strata: Strata | None

    def sign(self) -> float:
        """-1 where lower is better, else 1."""
        return -1.0 if self.higher == "worse" else 1.0

    def order(self) -> IntArray:
        """The places of the runs, the best mean first (the highest, if neither is better)."""
        return np.argsort(-self.sign() * self.mean, kind="stable")

    def may_be_best(self) -> NDArray[np.bool_]:
        """Of each run, whether no other is shown to be better."""
        return np.equal(self.place_low, 1)

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


def difference_interval(
    z: FloatArray,
    how: Interval,
    *,
    equal: NDArray[np.bool_],
    bounds: tuple[float, float],
    strata: Strata | None,
    confidence: float,
    **more: Any,
) -> tuple[FloatArray, FloatArray]:
    """The interval of each pair's mean difference, within what the range of the scores allows.

    Of equal differences it is what the exact test of signs leaves: that number alone, or everything; the latter also
    where they are equal in each group, but not in all.
    """
    low, high = mean_interval(z, how, strata=strata, confidence=confidence, **more)
    unknown = equal & ((np.ptp(z, axis=1) > _SAME * largest_of(z)) | (sign_flip_p(z.shape[1]) > 1.0 - confidence))
    low, high = np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)
    return within(low, high, (bounds[0] - bounds[1], bounds[1] - bounds[0]))


def within(low: FloatArray, high: FloatArray, bounds: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """The part of intervals that can be true: it is as often right as the whole."""
    return np.clip(low, *bounds), np.clip(high, *bounds)
