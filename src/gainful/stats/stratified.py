"""Paired tests of differences, pairs × columns, whose columns belong to groups: variances and draws within groups."""

from __future__ import annotations

import numpy as np
from scipy import special

from gainful.stats.paired import CLOSE, Extremes, parts_of
from gainful.stats.resample import BLOCK, FloatArray, block_sizes, check_resamples, largest_of
from gainful.stats.strata import Strata

# Resamples and pairs of which a piece of work stays in the cache of a core.
_RESAMPLES, _PAIRS = 250, 256


def stratified_t(z: FloatArray, strata: Strata) -> FloatArray:
    """P of each pair by t, with the variances of the groups and Satterthwaite's degrees of freedom; NaN without any."""
    error, df = strata.errors(z)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = strata.mean(z) / error
    return np.where(error > 0.0, 2.0 * special.stdtr(df, -np.abs(t)), np.nan)


def stratified_bootstrap(z: FloatArray, strata: Strata, *, resamples: int, seed: int) -> Extremes:
    """The studentised bootstrap with as many columns drawn from each group as it has.

    As in `bootstrap`, a resample without variance counts as extreme, unless its mean is that of the sample.
    """
    check_resamples(resamples)
    deviations, mean, (error, _) = strata.centred(z), strata.mean(z), strata.errors(z)
    limit = (np.divide(mean, error, out=np.zeros_like(mean), where=error > 0.0) * (1.0 - CLOSE)) ** 2
    noise = (largest_of(z) * 1e-14) ** 2
    groups = list(zip(strata.members(), strata.sizes().tolist(), strict=True))
    streams, counts = strata.streams(seed), np.zeros(len(z), np.int64)
    for size in block_sizes(resamples, BLOCK // _RESAMPLES):
        drawn = strata.counts(streams, size)
        for begin, end in parts_of(len(z), _PAIRS):
            shifted, variance, squares = (np.zeros((size, end - begin)) for _ in range(3))
            for columns, number in groups:
                own = deviations[begin:end, columns].T
                part, total = drawn[:, columns] @ own, drawn[:, columns] @ own**2
                shifted += part
                squares += total
                part *= part
                part /= number
                total -= part
                total *= number / (number - 1.0)
                variance += total
            shifted *= shifted
            constant = variance <= CLOSE * squares
            variance *= limit[begin:end]
            extreme = np.where(constant, shifted > noise[begin:end], shifted >= variance)
            counts[begin:end] += extreme.sum(axis=0)
    return Extremes(counts=counts, resamples=resamples)
