"""How far two orders agree: vectorised over leading axes, so that a thousand orders are one call."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gainful.stats.resample import FloatArray


def kendall(x: ArrayLike, y: ArrayLike, *, variant: Literal["a", "b"] = "b") -> FloatArray:
    """Kendall's τ over the last axis; the leading axes are broadcast.

    Parameters
    ----------
    x, y
        Scores of the same things.
    variant
        ``a`` divides by all pairs; ``b`` corrects for ties, and is NaN where one side is all tied.
    """
    a, b = _signs(x), _signs(y)
    agreement = (a * b).sum(axis=(-2, -1))
    if variant == "a":
        n = a.shape[-1]
        total = np.full(np.shape(agreement), float(n * (n - 1)))
    else:
        total = np.sqrt(np.square(a).sum(axis=(-2, -1)) * np.square(b).sum(axis=(-2, -1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(total > 0, agreement / total, np.nan), np.float64)


def _signs(values: ArrayLike) -> NDArray[np.float64]:
    """1 where the first of two is larger, -1 where the second is, 0 where they are equal: … × n × n."""
    numbers = np.asarray(values, np.float64)
    return np.sign(numbers[..., :, None] - numbers[..., None, :])
