"""Paired tests of differences, pairs × columns, whose columns belong to groups: variances and draws within groups."""

from __future__ import annotations

import numpy as np
from scipy import special

from gainful.stats.paired import CLOSE, Extremes
from gainful.stats.resample import FloatArray, block_sizes, check_resamples
from gainful.stats.strata import Strata


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
    limit = np.divide(np.abs(mean), error, out=np.zeros_like(mean), where=error > 0.0) * (1.0 - CLOSE)
    noise = np.abs(z).max(axis=1, initial=0.0) * 1e-14
    groups = list(zip(strata.members(), strata.sizes().tolist(), strict=True))
    streams, counts = strata.streams(seed), np.zeros(len(z), np.int64)
    for size in block_sizes(resamples, max(z.shape)):
        drawn = strata.counts(streams, size)
        shifted, variance, squares = (np.zeros((size, len(z))) for _ in range(3))
        for columns, number in groups:
            part = drawn[:, columns] @ deviations[:, columns].T
            total = drawn[:, columns] @ (deviations[:, columns] ** 2).T
            shifted += part
            squares += total
            variance += (total - part**2 / number) * (number / (number - 1.0))
        constant = variance <= CLOSE * squares
        root = np.sqrt(np.maximum(variance, 0.0))
        counts += np.where(constant, np.abs(shifted) > noise, np.abs(shifted) >= limit * root).sum(axis=0)
    return Extremes(counts=counts, resamples=resamples)
