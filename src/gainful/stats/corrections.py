"""p-values corrected for how many tests there are: the last axis is the family."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gainful.stats.choices import Correction
from gainful.stats.resample import FloatArray


def corrected(p: ArrayLike, method: Correction) -> FloatArray:
    """What a p-value becomes, so that the whole family may be compared with one level; never less than it was.

    ``bonferroni``: m·p. ``holm``: (m − i + 1)·p of the i-th smallest, and no less than for a smaller p. Both keep the
    chance of any false finding below the level. ``bh`` (Benjamini and Hochberg): m·p/i, and no more than for a larger
    p; keeps the expected share of false ones among the findings below it. ``none``: p.
    """
    values = np.asarray(p, np.float64)
    m = values.shape[-1]
    if method == "none" or m == 0:
        return values.copy()
    if method == "bonferroni":
        return np.asarray(np.minimum(values * m, 1.0), np.float64)
    order = np.argsort(values, axis=-1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=-1)
    place = np.arange(1, m + 1)
    if method == "holm":
        ascending = np.maximum.accumulate(ascending * (m - place + 1), axis=-1)
    else:
        ascending = np.minimum.accumulate((ascending * (m / place))[..., ::-1], axis=-1)[..., ::-1]
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.minimum(ascending, 1.0), axis=-1)
    return result
