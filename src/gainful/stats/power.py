"""Power of tests and width of intervals for a given sample size, exact for normal data; and the size that suffices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from gainful.stats.resample import FloatArray

IntArray = NDArray[np.int64]

# Outside of this the series behind the noncentral F do not converge; there the power is as good as that at the end.
_LEAST, _MOST = 1e-12, 1e10
# How far off an effect may be, relative to it.
_CLOSE = 1e-14


def t_power(effect: Any, n: Any, alpha: float) -> FloatArray:
    """Power of the two-sided paired t-test on n ≥ 2 pairs; effect: (mean of the differences)² over their variance."""
    n = np.asarray(n, np.float64)
    return _f_power(n * effect, 1.0, n - 1.0, alpha)


def anova_power(effect: Any, n: Any, groups: int, alpha: float) -> FloatArray:
    """Power of the one-way analysis of variance with n ≥ 2 values per group.

    The effect is Σ(mean of a group − mean of all)² over the variance within groups: at least D²/(2σ²) if two groups
    differ by D.
    """
    n = np.asarray(n, np.float64)
    return _f_power(n * effect, groups - 1.0, groups * (n - 1.0), alpha)


def detectable_effect(power_of: Callable[[float], float], power: float) -> float:
    """The effect for which an increasing function of it reaches a power; 0 if no effect is needed."""
    if power_of(0.0) >= power:
        return 0.0
    low, high = 0.0, 1e-6
    while power_of(high) < power:
        low, high = high, high * 4.0
    # Halving, and not scipy.optimize, whose import takes longer than all of this.
    while high - low > _CLOSE * high and low < (middle := (low + high) / 2.0) < high:
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    return high


def expected_width(variance: Any, n: Any, alpha: float) -> FloatArray:
    """Expected full width of the t interval (confidence 1 − alpha) of a mean of n: 2·t·E[s]/√n.

    E[s] = σ·√(2/φ)·Γ((φ+1)/2)/Γ(φ/2) with φ = n − 1: a sample's standard deviation is a little too small on average.
    """
    n = np.asarray(n, np.float64)
    df = n - 1.0
    log_bias = special.gammaln((df + 1.0) / 2.0) - special.gammaln(df / 2.0) + np.log(2.0 / df) / 2.0
    return np.asarray(-2.0 * special.stdtrit(df, alpha / 2.0) * np.sqrt(variance / n) * np.exp(log_bias), np.float64)


def smallest(suffices: Callable[[IntArray], NDArray[np.bool_]], count: int, *, largest: int) -> IntArray:
    """Per question the smallest size that suffices, as all larger ones must; 0 if none from 2 to `largest` does."""
    high = np.full(count, min(2, largest), np.int64)
    low = np.ones(count, np.int64)
    enough = suffices(high)
    while (open_ := ~enough & (high < largest)).any():
        low = np.where(open_, high, low)
        high = np.where(open_, np.minimum(high * 2, largest), high)
        enough = suffices(high)
    while (high - low > 1)[enough].any():
        middle = (low + high + 1) // 2
        reached = suffices(middle)
        high = np.where(reached, middle, high)
        low = np.where(reached, low, middle)
    return np.where(enough, high, 0)


def _f_power(noncentrality: Any, df1: float, df2: Any, alpha: float) -> FloatArray:
    noncentrality = np.asarray(noncentrality, np.float64)
    within = np.clip(noncentrality, _LEAST, _MOST)
    power = _noncentral_f(special.fdtri(df1, df2, 1.0 - alpha), df1, df2, within)
    return np.asarray(np.where(np.isinf(noncentrality), 1.0, power), np.float64)


def _noncentral_f(x: Any, df1: float, df2: Any, noncentrality: FloatArray) -> Any:
    """The upper tail of the noncentral F; scipy.special.ncfdtr is NaN for some noncentralities above 1000."""
    # What scipy.stats.ncf.sf calls, without importing scipy.stats, which takes a third of a second.
    tail = getattr(special._ufuncs, "_ncf_sf", None)
    if tail is None:
        from scipy import stats

        tail = stats.ncf.sf
    return tail(x, df1, df2, noncentrality)
