"""An interval of a mean whose values are skewed."""

from __future__ import annotations

import math

import numpy as np
from scipy import special


def skewed_interval(
    mean: float, *, variance: float, skewness: float, number: int, confidence: float
) -> tuple[float, float]:
    """Student's interval of the mean of `number` values, corrected for their skewness (Hall 1992).

    With T = √n(x̄ − μ)/s and a = γ/√n, T + aT²/3 + a²T³/27 + a/6 is nearer to Student's distribution than T is. It
    rises in T, so that it is solved for μ at both quantiles. Without skewness it is Student's interval itself.
    """
    error = math.sqrt(variance / number)
    quantile = float(special.stdtrit(number - 1, 0.5 + confidence / 2.0))
    pull = skewness / math.sqrt(number)
    if abs(pull) < 1e-9:  # the limit, where the formula below divides by 0
        return mean - quantile * error, mean + quantile * error
    low, high = (
        mean - error * 3.0 / pull * float(np.cbrt(1.0 + pull * (end - pull / 6.0)) - 1.0)
        for end in (quantile, -quantile)
    )
    return low, high
