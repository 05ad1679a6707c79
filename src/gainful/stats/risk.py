"""Is a mean loss at most so high? Tests that need nothing but losses from 0 to 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from gainful.stats.resample import FloatArray

# What rounding may add to a sum of losses.
_ROUNDING = 1e-9


def hoeffding_bentkus(mean: ArrayLike, number: int, most: float) -> FloatArray:
    """The p-value of "the expected loss is above `most`", from mean losses of `number` independent topics each.

    The smaller one of Hoeffding's exp(−n·h(min(R̂, α), α)), h(a, b) = a·log(a/b) + (1 − a)·log((1 − a)/(1 − b)), and
    Bentkus' e·P(Bin(n, α) ≤ ⌈nR̂⌉), at most 1 (Bates et al. 2021; Angelopoulos et al. 2021, Proposition 1).
    """
    found = np.asarray(mean, np.float64)
    below = np.minimum(found, most)
    distance = special.rel_entr(below, most) + special.rel_entr(1.0 - below, 1.0 - most)
    tail = special.bdtr(np.clip(np.ceil(number * found - _ROUNDING), 0, number), number, most)
    return np.asarray(np.minimum(1.0, np.minimum(np.exp(-number * distance), np.e * tail)), np.float64)


def largest_loss(number: int, most: float, confidence: float, steps: int) -> float:
    """The largest sum of losses of `number` topics, in whole `steps`, that tests as "at most `most`"; −1 if none does.

    The p-value rises with the sum, so that it is found by halving.
    """
    fails = int(np.ceil(most * number * steps)) + 1  # a mean above `most` is never shown to be below it
    holds = -1
    while fails - holds > 1:
        middle = (holds + fails) // 2
        if hoeffding_bentkus(middle / (steps * number), number, most) <= 1.0 - confidence + _ROUNDING:
            holds = middle
        else:
            fails = middle
    return holds / steps if holds >= 0 else -1.0


def topics_needed(most: float, confidence: float) -> int:
    """With how many topics a loss of 0 in all of them tests as "at most `most`": (1 − α)ⁿ ≤ δ."""
    return int(np.ceil(np.log(1.0 - confidence + _ROUNDING) / np.log1p(-most) - _ROUNDING))
