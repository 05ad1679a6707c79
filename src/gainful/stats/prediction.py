"""Means of what was measured well on few topics, with the help of what was measured cheaply on more."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gainful.errors import check_share
from gainful.stats.resample import FloatArray
from gainful.stats.skewness import skewed_interval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicted:
    """Estimates of the means of rows, with and without the cheap values."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    error: FloatArray  # the standard error
    weight: FloatArray  # λ: how much the cheap values count
    correlation: FloatArray  # of good and cheap values; NaN where one of them never varies
    # The same of the good values alone.
    mean_alone: FloatArray
    low_alone: FloatArray
    high_alone: FloatArray
    error_alone: FloatArray

    def narrower(self) -> FloatArray:
        """The standard error, relative to that of the good values alone; NaN where that is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.error_alone > 0.0, self.error / self.error_alone, np.nan)

    def within(self, low: float, high: float) -> Predicted:
        """The same with ends of intervals inside of a range."""
        ends = ("low", "high", "low_alone", "high_alone")
        return replace(self, **{name: np.clip(getattr(self, name), low, high) for name in ends})


def predicted_means(good: FloatArray, cheap: FloatArray, more: FloatArray, *, confidence: float) -> Predicted:
    """Prediction-powered means (Angelopoulos et al. 2023, the weight as in PPI++): rows × topics.

    With f the `good` values of n topics, g the `cheap` ones of these and of N more:
    λ·mean_N(g) + mean_n(f − λ·g), λ = cov_n(f, g)/((1 + n/N)·var_n(g)) within [0, 1], with the variance
    λ²·var_N(g)/N + var_n(f − λ·g)/n. The interval is Student's with n − 1 degrees of freedom, corrected for the
    skewness of the estimate (Hall 1992), whose third moment is λ³·m₃(g)/N² + m₃(f − λ·g)/n². As λ was fitted to the n
    topics, the second variance is divided by n − 1 − r² instead of n − 1, r being the correlation of f and g: coverage
    was simulated. Where λ is 0, the interval is that of the good values alone. The variance of g in λ is that of the n
    topics: that of all would let λ rise and fall with their mean where values are skewed, which is a bias.
    """
    check_share("confidence", confidence)
    n, extra = good.shape[1], more.shape[1]
    f, g = good - good.mean(axis=1, keepdims=True), cheap - cheap.mean(axis=1, keepdims=True)
    covariance = (f * g).sum(axis=1) / (n - 1)
    spread = good.var(axis=1, ddof=1), cheap.var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = covariance / np.sqrt(spread[0] * spread[1])
        weight = covariance / ((1.0 + n / extra) * spread[1])
    weight = np.clip(np.nan_to_num(weight, nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)
    fitted = np.where(weight > 0.0, np.clip(np.nan_to_num(correlation) ** 2, 0.0, 1.0), 0.0)
    rest = good - weight[:, None] * cheap
    # Where the judges agree wholly on two topics, nothing is left to divide by.
    error = rest.var(axis=1, ddof=1) * (n - 1.0) / np.maximum(n - 1.0 - fitted, 0.5) / n
    error += weight**2 * more.var(axis=1, ddof=1) / extra
    skewed = _third_moment(rest) / n**2 + weight**3 * _third_moment(more) / extra**2
    mean, alone = weight * more.mean(axis=1) + rest.mean(axis=1), good.mean(axis=1)
    low, high = _interval(mean, error, skewed, n, confidence)
    low_alone, high_alone = _interval(alone, spread[0] / n, _third_moment(good) / n**2, n, confidence)
    return Predicted(
        mean=mean,
        low=low,
        high=high,
        error=np.sqrt(error),
        weight=weight,
        correlation=correlation,
        mean_alone=alone,
        low_alone=low_alone,
        high_alone=high_alone,
        error_alone=np.sqrt(spread[0] / n),
    )


def _third_moment(values: FloatArray) -> FloatArray:
    """Per row, an unbiased estimate of the third central moment; 0 if there are fewer than three values."""
    n = values.shape[1]
    if n < 3:
        return np.zeros(len(values))
    cubes = (values - values.mean(axis=1, keepdims=True)) ** 3
    return np.asarray(cubes.sum(axis=1) * (n / ((n - 1.0) * (n - 2.0))), np.float64)


def _interval(
    mean: FloatArray, variance: FloatArray, third: FloatArray, number: int, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Of estimates with these moments, from so many good values."""
    skewness = np.divide(third, variance**1.5, out=np.zeros_like(third), where=variance > 0.0) * np.sqrt(number)
    return skewed_interval(mean, variance=variance * number, skewness=skewness, number=number, confidence=confidence)
