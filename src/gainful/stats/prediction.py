"""Means of what was measured well on few topics, with the help of what was measured cheaply on more."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from gainful.errors import check_share
from gainful.stats.resample import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicted:
    """Estimates of the means of rows, with and without the cheap values."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    half: FloatArray  # half the width of the interval, before a range cuts it
    weight: FloatArray  # λ: how much the cheap values count
    correlation: FloatArray  # of good and cheap values; NaN where one of them never varies
    # The same of the good values alone.
    mean_alone: FloatArray
    low_alone: FloatArray
    high_alone: FloatArray
    half_alone: FloatArray

    def narrower(self) -> FloatArray:
        """The width of the interval, relative to that of the good values alone; NaN where that is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.half_alone > 0.0, self.half / self.half_alone, np.nan)

    def within(self, low: float, high: float) -> Predicted:
        """The same with ends of intervals inside of a range."""
        ends = ("low", "high", "low_alone", "high_alone")
        return replace(self, **{name: np.clip(getattr(self, name), low, high) for name in ends})


def predicted_means(good: FloatArray, cheap: FloatArray, more: FloatArray, *, confidence: float) -> Predicted:
    """Prediction-powered means (Angelopoulos et al. 2023, the weight as in PPI++): rows × topics.

    With f the `good` values of n topics, g the `cheap` ones of these and of N more:
    λ·mean_N(g) + mean_n(f − λ·g), λ = cov_n(f, g)/((1 + n/N)·var(g)) within [0, 1], with the variance
    λ²·var_N(g)/N + var_n(f − λ·g)/n. The interval is Student's with n − 1 degrees of freedom. As λ was fitted to the n
    topics, the second variance is divided by n − 1 − r² instead of n − 1, r being the correlation of f and g: coverage
    was simulated. Where λ is 0, the interval is that of the good values alone.
    """
    check_share("confidence", confidence)
    n, extra = good.shape[1], more.shape[1]
    f, g = good - good.mean(axis=1, keepdims=True), cheap - cheap.mean(axis=1, keepdims=True)
    covariance = (f * g).sum(axis=1) / (n - 1)
    spread = good.var(axis=1, ddof=1), cheap.var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = covariance / np.sqrt(spread[0] * spread[1])
        weight = covariance / ((1.0 + n / extra) * np.concatenate([cheap, more], axis=1).var(axis=1, ddof=1))
    weight = np.clip(np.nan_to_num(weight, nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)
    fitted = np.where(weight > 0.0, np.clip(np.nan_to_num(correlation) ** 2, 0.0, 1.0), 0.0)
    rest = good - weight[:, None] * cheap
    # Where the judges agree wholly on two topics, nothing is left to divide by.
    error = rest.var(axis=1, ddof=1) * (n - 1.0) / np.maximum(n - 1.0 - fitted, 0.5) / n
    error += weight**2 * more.var(axis=1, ddof=1) / extra
    quantile = special.stdtrit(n - 1, 0.5 + confidence / 2.0)
    mean, alone = weight * more.mean(axis=1) + rest.mean(axis=1), good.mean(axis=1)
    half, half_alone = quantile * np.sqrt(error), quantile * np.sqrt(spread[0] / n)
    return Predicted(
        mean=mean,
        low=mean - half,
        high=mean + half,
        half=half,
        weight=weight,
        correlation=correlation,
        mean_alone=alone,
        low_alone=alone - half_alone,
        high_alone=alone + half_alone,
        half_alone=half_alone,
    )
