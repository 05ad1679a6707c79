"""What is asked of the topics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.analyses.topics import Method
from gainful.stats.power import anova_power, detectable_effect, expected_width, smallest, t_power
from gainful.stats.resample import FloatArray

# Nobody judges more topics than this.
LARGEST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is asked of the topics; answers for any variance and number of topics."""

    # As in `gainful.topics`.
    method: Method
    difference: float
    alpha: float
    power: float
    systems: int | None  # how many runs an ANOVA compares; None for the other methods

    def attained(self, variance: Any, topics: Any) -> FloatArray:
        """The power, or the expected width of the interval, with so many topics."""
        if self.method == "interval":
            return expected_width(variance, topics, self.alpha)
        return self._power(self._effect(variance), topics)

    def needed(self, variances: FloatArray) -> list[int | None]:
        """For each variance the smallest number of topics that does; None if a million do not."""
        interval = self.method == "interval"

        def suffices(n: Any) -> np.typing.NDArray[np.bool_]:
            attained = self.attained(variances, n)
            return attained <= self.difference if interval else attained >= self.power

        return [int(n) or None for n in smallest(suffices, len(variances), largest=LARGEST)]

    def detectable(self, variance: float, topics: int) -> float:
        """The smallest difference for which so many topics suffice."""
        if self.method == "interval":
            return float(self.attained(variance, topics))
        effect = detectable_effect(lambda effect: float(self._power(effect, topics)), self.power)
        return math.sqrt(effect * variance * (2.0 if self.method == "anova" else 1.0))

    def _effect(self, variance: Any) -> FloatArray:
        # A range of D leaves the means at least D²/2 of squares about their mean, the others being half-way.
        share = 2.0 if self.method == "anova" else 1.0
        with np.errstate(divide="ignore"):
            return np.asarray(self.difference**2 / (share * np.asarray(variance)), np.float64)

    def _power(self, effect: Any, topics: Any) -> FloatArray:
        if self.systems is not None:
            return anova_power(effect, topics, self.systems, self.alpha)
        return t_power(effect, topics, self.alpha)
