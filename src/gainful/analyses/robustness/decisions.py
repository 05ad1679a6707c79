"""Whether one comes to the same decisions: tests of pairs of runs, and how two sets of outcomes agree."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np
from scipy import special

from gainful.data.rankings import BoolArray, FloatArray, IntArray
from gainful.stats.correlation import sorted_ranks

# What rounding alone can make of a difference that is 0, relative to the largest score.
_NOISE = 1e-14


@dataclass(frozen=True, slots=True)
class Decisions:
    """How many pairs of runs were found equal or different: in truth, and by what is examined.

    'Equal' is the positive outcome, as in Bompada et al. (SIGIR 2007), where the null hypothesis is accepted.
    """

    both_equal: int = 0  # C11: equal under both
    lost_equal: int = 0  # C12: equal in truth, but found different
    lost_difference: int = 0  # C21: different in truth, but found equal (the false positives)
    both_different: int = 0  # C22: different under both

    @property
    def accuracy(self) -> float:
        """The share of the pairs with the same outcome under both."""
        return _share(self.both_equal + self.both_different, sum(astuple(self)))

    @property
    def true_positive(self) -> float:
        """TP = C11/(C11 + C12): of the pairs equal in truth, the share found equal; NaN if there are none."""
        return _share(self.both_equal, self.both_equal + self.lost_equal)

    @property
    def predicted_positive(self) -> float:
        """P = C11/(C11 + C21): of the pairs found equal, the share that is; NaN if there are none."""
        return _share(self.both_equal, self.both_equal + self.lost_difference)

    @property
    def g_mean(self) -> float:
        """√(TP·P): accuracy where nearly all pairs differ; NaN where one of the two is."""
        return math.sqrt(self.true_positive * self.predicted_positive)

    @property
    def false_positive(self) -> float:
        """C21/(C21 + C22): of the pairs different in truth, the share found equal; NaN if there are none."""
        return _share(self.lost_difference, self.lost_difference + self.both_different)

    def __add__(self, other: Decisions) -> Decisions:
        return Decisions(*(mine + more for mine, more in zip(astuple(self), astuple(other), strict=True)))


def draw_pairs(systems: int, number: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """First and second system of `number` different pairs, or of all pairs if there are no more."""
    first, second = np.triu_indices(systems, k=1)
    if number >= len(first):
        return first, second
    chosen = np.sort(rng.choice(len(first), size=number, replace=False))
    return first[chosen], second[chosen]


def rejected(scores: FloatArray, first: IntArray, second: IntArray, alpha: float) -> BoolArray:
    """Per pair, whether Wilcoxon's signed-rank test finds it different at `alpha`.

    Always by the normal approximation, so that the same test is made whatever ties the judgments leave. Topics without
    a difference, and those where one of the two has no score (NaN), are left out.
    """
    return _p(_differences(scores, first, second)) < alpha


def can_differ(scores: FloatArray, first: IntArray, second: IntArray, alpha: float) -> bool:
    """Whether the test could find any pair different, did one run win wherever the two differ."""
    return bool((_p(np.abs(_differences(scores, first, second))) < alpha).any())


def _differences(scores: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Pairs × topics; 0 where it is mere rounding, or one of the two has no score."""
    z = np.nan_to_num(scores[first] - scores[second])
    z[np.abs(z) <= _NOISE * np.nanmax(np.abs(scores), initial=0.0)] = 0.0
    return z


def _p(z: FloatArray) -> FloatArray:
    """The normal approximation, with the variance that ties leave; 1 where nothing differs."""
    # Not stats.paired.wilcoxon, which is exact for few topics: then a level would change the test with the judgments.
    # One sorted integer holds the size of a difference, whose sign bit is free, and its direction.
    key = (np.abs(z).view(np.uint64) << 1) | (z > 0.0)
    key.sort(axis=1)
    size = key >> 1
    ranks = sorted_ranks(size) - np.count_nonzero(size == 0, axis=1)[:, None]
    ranks[size == 0] = 0.0
    spread = np.sqrt(np.maximum((ranks * ranks).sum(axis=1), 1.0))
    return np.asarray(2.0 * special.ndtr(-np.abs(np.where(key & 1, ranks, -ranks).sum(axis=1)) / spread), np.float64)


def compared(truth: BoolArray, found: BoolArray) -> Decisions:
    """Count outcomes; True where a pair was found different."""
    outcomes = (~truth & ~found, ~truth & found, truth & ~found, truth & found)
    return Decisions(*(int(outcome.sum()) for outcome in outcomes))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
