"""Intervals of means whose values are skewed."""

from __future__ import annotations

import numpy as np
from scipy import special

from gainful.stats.resample import FloatArray


def skewed_interval(
    mean: float | FloatArray,
    *,
    variance: float | FloatArray,
    skewness: float | FloatArray,
    number: int,
    confidence: float,
) -> tuple[FloatArray, FloatArray]:
    """Student's interval of the mean of `number` values, corrected for their skewness (Hall 1992).

    With T = √n(x̄ − μ)/s and a = γ/√n, T + aT²/3 + a²T³/27 + a/6 is nearer to Student's distribution than T is. It
    rises in T, so that it is solved for μ at both quantiles. Without skewness it is Student's interval itself.
    """
    error = np.sqrt(np.asarray(variance) / number)
    quantile = float(special.stdtrit(number - 1, 0.5 + confidence / 2.0))
    pull = np.asarray(skewness) / np.sqrt(number)
    even = np.abs(pull) < 1e-9  # the limit, where the formula below divides by 0
    pull = np.where(even, 1.0, pull)
    low, high = (
        mean - np.where(even, end * error, error * 3.0 / pull * (np.cbrt(1.0 + pull * (end - pull / 6.0)) - 1.0))
        for end in (quantile, -quantile)
    )
    return low, high
