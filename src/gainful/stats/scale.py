"""Numbers brought near 1, so that their squares neither overflow nor vanish."""

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
