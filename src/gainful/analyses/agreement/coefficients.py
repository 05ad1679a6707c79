"""How far the measures of complete scores agree on the order of runs, on all topics or on any draws of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.analyses.agreement import Correlation
from gainful.data.complete import CompleteScores
from gainful.stats.correlation import kendall, rbo, rms, spearman, tau_ap
from gainful.stats.resample import FloatArray, counts_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coefficients:
    """Which coefficients of which measures."""

    complete: CompleteScores
    turned: FloatArray  # per measure, -1 where a lower score is better, else 1
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    chosen: tuple[Correlation, ...]
    p: float  # persistence of rbo

    def of_draws(self, draws: NDArray[np.unsignedinteger]) -> FloatArray:
        """Draws × pairs of measures × coefficients, for topics drawn with replacement."""
        return self.of_means(self.means(counts_of(draws)))

    def means(self, weights: FloatArray) -> FloatArray:
        """… × measures × runs, rounded so far that means which only rounding tells apart are equal."""
        means = self.complete.means(weights)
        grain = np.array([self.complete.noise(at) or 1.0 for at in range(len(self.complete.measures))])[:, None]
        return np.asarray(np.round(means / grain) * grain, np.float64)

    def of_means(self, means: FloatArray) -> FloatArray:
        """… × pairs of measures × coefficients."""
        of: dict[Correlation, Callable[[FloatArray, FloatArray], FloatArray]] = {
            "tau_b": kendall,
            "tau_a": lambda x, y: kendall(x, y, variant="a"),
            "tau_ap": lambda x, y: tau_ap(x, y, variant="b"),
            "rho": spearman,
            "rbo": lambda x, y: rbo(x, y, p=self.p),
        }
        order = means * self.turned[:, None]
        x, y = order[:, self.first], order[:, self.second]
        found = [
            rms(means[:, self.first], means[:, self.second]) if name == "rms" else of[name](x, y)
            for name in self.chosen
        ]
        return np.stack(found, axis=-1)
