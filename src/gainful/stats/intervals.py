"""Confidence intervals of means, one per row: two-sided, low and high."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from gainful.errors import check_share
from gainful.progress import Apply, here
from gainful.stats.choices import Interval
from gainful.stats.resample import (
    BLOCK,
    FloatArray,
    block_sizes,
    bootstrap_counts,
    check_resamples,
    exponents,
    generator,
    largest_of,
    weighted_sums,
)
from gainful.stats.strata import Strata

# Numbers held at once: all resamples of as many rows as fit, since quantiles need all of a row's.
_HELD = 1 << 23
# What rounding may do to a mean, relative to the largest value.
_ROUNDING = 1e-12


def mean_interval(
    values: FloatArray,
    how: Interval,
    *,
    confidence: float,
    resamples: int,
    seed: int,
    strata: Strata | None = None,
    apply: Apply = here,
) -> tuple[FloatArray, FloatArray]:
    """The interval of each row's mean, by `t_interval` or `bca_interval`; with strata, of the mean they define."""
    if how == "t":
        return t_interval(values, confidence=confidence) if strata is None else _welch(values, strata, confidence)
    return bca_interval(values, confidence=confidence, resamples=resamples, seed=seed, strata=strata, apply=apply)


def _welch(values: FloatArray, strata: Strata, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Student's interval with the variance within the groups."""
    check_share("confidence", confidence)
    mean, (error, df) = strata.mean(values), strata.errors(values)
    half = special.stdtrit(df, 0.5 + confidence / 2.0) * error
    return mean - half, mean + half


def t_interval(values: FloatArray, *, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Student's interval of each row's mean, x̄ ± t·s/√n."""
    check_share("confidence", confidence)
    n = values.shape[1]
    power = exponents(largest_of(values))
    values = np.ldexp(values, power[:, None])
    mean = values.mean(axis=1)
    half = special.stdtrit(n - 1, 0.5 + confidence / 2.0) * values.std(axis=1, ddof=1) / np.sqrt(n)
    return _back(mean - half, power), _back(mean + half, power)


def bca_interval(
    values: FloatArray,
    *,
    confidence: float,
    resamples: int,
    seed: int,
    strata: Strata | None = None,
    apply: Apply = here,
) -> tuple[FloatArray, FloatArray]:
    """Bias-corrected and accelerated bootstrap interval of each row's mean (Efron 1987); the same draws for all rows.

    A row that never varies has an interval of no width.
    """
    check_share("confidence", confidence)
    check_resamples(resamples)
    generator(seed)
    power = exponents(largest_of(values))
    values = np.ldexp(values, power[:, None])
    sizes = block_sizes(len(values), max(1, resamples * BLOCK // _HELD))
    rows = np.split(values, np.cumsum(list(sizes))[:-1])
    ends = list(apply(_bca, rows, shared=(confidence, resamples, seed, strata), total=len(rows), label="Resampling"))
    low, high = (np.concatenate([found[end] for found in ends]) for end in (0, 1))
    return _back(low, power), _back(high, power)


def _back(ends: FloatArray, power: NDArray[np.int32]) -> FloatArray:
    """In the units of the scores again; the end of an interval may lie beyond all floats."""
    with np.errstate(over="ignore"):
        return np.ldexp(ends, -power)


def _bca(shared: tuple[float, int, int, Strata | None], values: FloatArray) -> tuple[FloatArray, FloatArray]:
    confidence, resamples, seed, strata = shared
    rows, n = values.shape
    if strata is None:
        mean = values.mean(axis=1)
        centred = values - mean[:, None]
    else:
        mean, centred = strata.mean(values), strata.centred(values) * n
    noise = np.abs(values).max(axis=1, initial=0.0) * _ROUNDING
    centred[np.abs(centred).max(axis=1, initial=0.0) <= noise] = 0.0
    drawn = np.empty((rows, resamples))  # means of the resamples, less the mean
    shares = centred / n
    streams = [] if strata is None else strata.streams(seed)
    rng, done = generator(seed), 0
    for size in block_sizes(resamples, max(n, rows)):
        counts = bootstrap_counts(rng, size, n) if strata is None else strata.counts(streams, size)
        drawn[:, done : done + size] = weighted_sums(counts, shares).T
        done += size
    drawn.sort(axis=1)
    wanted = _levels(centred, _share_below(drawn, noise), confidence)
    low, high = (mean + _quantile(drawn, level) for level in wanted)
    return low, high


def _share_below(drawn: FloatArray, noise: FloatArray) -> FloatArray:
    """The share of the resamples below the mean, one that equals it counting half; never 0 or 1, which have no z."""
    resamples = drawn.shape[1]
    below = (drawn < -noise[:, None]).sum(axis=1) + (drawn <= noise[:, None]).sum(axis=1)
    return np.asarray(np.clip(below / (2.0 * resamples), 0.5 / resamples, 1.0 - 0.5 / resamples), np.float64)


def _levels(centred: FloatArray, below: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """At which quantiles of the resamples the interval ends."""
    bias = special.ndtri(below)
    squares = (centred**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The jackknife's value without x_i differs from the mean by (x̄ − x_i)/(n − 1): n − 1 cancels.
        pull = np.where(squares > 0.0, (centred**3).sum(axis=1) / (6.0 * squares**1.5), 0.0)
        ends = []
        for tail in ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0):
            z = bias + special.ndtri(tail)
            ends.append(np.nan_to_num(special.ndtr(bias + z / (1.0 - pull * z)), nan=tail))
    return ends[0], ends[1]


def _quantile(ascending: FloatArray, level: FloatArray) -> FloatArray:
    """The quantile of each row at its own level, between neighbours in proportion."""
    at = level * (ascending.shape[1] - 1)
    below = np.floor(at).astype(np.int64)
    rows = np.arange(len(ascending))
    lower, upper = ascending[rows, below], ascending[rows, np.minimum(below + 1, ascending.shape[1] - 1)]
    return np.asarray(lower + (at - below) * (upper - lower), np.float64)
