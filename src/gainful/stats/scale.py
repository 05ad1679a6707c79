"""Numbers brought near 1, so that their squares neither overflow nor vanish; sums that no order of summing changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gainful.stats.resample import FloatArray


def exponents(largest: FloatArray) -> NDArray[np.int32]:
    """The powers of two, for `np.ldexp`, by which these come near 1; such a product is exact. 0 for a 0."""
    return -np.frexp(largest)[1]


def largest_of(rows: FloatArray) -> FloatArray:
    """The largest absolute value of each row."""
    return np.asarray(np.abs(rows).max(axis=1, initial=0.0), np.float64)


def weighted_sums(counts: FloatArray, values: FloatArray) -> FloatArray:
    """`counts` @ `values`.T, the same to the last bit on any number of threads, which BLAS alone does not give.

    Counts, … × n, are whole numbers of at least 0. The values, rows × n, are taken apart into whole numbers so small
    that all of their sums are exact; what is left after two such parts is less than a sum of floats could hold.

    >>> weighted_sums(np.array([[1.0, 2.0]]), np.array([[0.1, 0.2], [3.0, 4.0]])).tolist()
    [[0.5, 11.0]]
    """
    most = float(counts.sum(axis=-1).max(initial=1.0))
    bits = 53 - int(np.ceil(np.log2(max(2.0, most))))
    power = bits + exponents(largest_of(values))
    scaled = np.ldexp(values, power[:, None])
    high = np.rint(scaled)
    low = np.rint(np.ldexp(scaled - high, bits))
    total = np.ldexp(counts @ high.T, -power) + np.ldexp(counts @ low.T, -power - bits)
    return np.asarray(total, np.float64)
