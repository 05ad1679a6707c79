"""Hall's interval of a skewed mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gainful.stats.skewness import skewed_interval


@pytest.mark.parametrize("skewness", [-4.0, -0.5, 0.3, 6.0])
def test_the_ends_solve_the_polynomial(skewness):
    """Hall (1992): T + aT²/3 + a²T³/27 + a/6, a = γ/√n, is Student's quantile at both ends."""
    n, mean, variance, a = 30, 0.2, 0.09, skewness / np.sqrt(30)
    low, high = skewed_interval(mean, variance=variance, skewness=skewness, number=n, confidence=0.9)
    for end, level in ((low, 0.95), (high, 0.05)):
        t = (mean - end) / np.sqrt(variance / n)
        assert t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6 == pytest.approx(stats.t.ppf(level, n - 1))
    assert low < mean < high
    assert (high - mean > mean - low) == (skewness > 0)


@pytest.mark.parametrize("skewness", [0.0, 1e-12, 1e-7])
def test_without_skewness_it_is_students(skewness):
    values = np.array([0.1, 0.4, 0.3, 0.2, 0.9])
    given = {"variance": values.var(ddof=1), "skewness": skewness, "number": 5, "confidence": 0.95}
    expected = stats.t.interval(0.95, 4, loc=values.mean(), scale=stats.sem(values))
    assert skewed_interval(values.mean(), **given) == pytest.approx(expected, rel=1e-5)


def test_no_variance_no_width():
    assert skewed_interval(0.3, variance=0.0, skewness=0.0, number=9, confidence=0.95) == (0.3, 0.3)
