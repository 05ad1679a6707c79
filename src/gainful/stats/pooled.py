"""The interval of a variance that is pooled over the columns of a table: columns are resampled."""

from __future__ import annotations

import numpy as np
from scipy import special

from gainful.stats.resample import FloatArray, block_sizes, bootstrap_counts, generator, weighted_sums


def variance_interval(
    residuals: FloatArray, share: float, *, confidence: float, resamples: int, seed: int
) -> tuple[float, float]:
    """The ends of the interval of share·Σr²/(n − 1), for residuals (rows × n columns) about the means of the rows.

    The bootstrap of t of its logarithm, no narrower than Student's interval of that: columns that vary much more than
    others make a variance hard to know, and resamples without them do not show it. Of two columns, whose residuals
    have the same size, the ends are 0 and infinite.
    """
    n = residuals.shape[1]
    squares = share * (residuals**2).sum(axis=0) * n / (n - 1.0)
    variance, error = float(squares.mean()), float(squares.std(ddof=1) / np.sqrt(n))
    if not variance:
        return 0.0, 0.0
    if n == 2:
        return 0.0, np.inf
    tails = np.array([0.5 - confidence / 2.0, 0.5 + confidence / 2.0])
    t = np.array(special.stdtrit(n - 1, tails))
    drawn = []
    rng = generator(seed)
    for size in block_sizes(resamples, max(residuals.shape)):
        counts = bootstrap_counts(rng, size, n)
        means = weighted_sums(counts, residuals) / n
        total = weighted_sums(counts, np.stack([squares, squares**2])) / n
        found = total[:, 0] - share * n / (n - 1.0) * (means**2).sum(axis=1)
        errors = np.sqrt(np.maximum(total[:, 1] - total[:, 0] ** 2, 0.0) / (n - 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn.append(np.log(found / (variance * (n - 1.0) / n)) / (errors / found))
    known = np.concatenate(drawn)
    known = known[np.isfinite(known)]
    if known.size:
        quantiles = np.quantile(known, tails)
        t = np.array([min(t[0], quantiles[0]), max(t[1], quantiles[1])])
    with np.errstate(over="ignore"):
        low, high = variance * np.exp(-t[::-1] * error / variance)
    return float(low), float(high)
