"""How far two orders agree: vectorised over leading axes, so that a thousand orders are one call.

Everywhere the things to be ordered lie on the last axis, the higher number is the better, equal numbers are tied, and
the leading axes are broadcast.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gainful.stats.resample import FloatArray

BoolArray = NDArray[np.bool_]


def kendall(x: ArrayLike, y: ArrayLike, *, variant: Literal["a", "b"] = "b") -> FloatArray:
    """Kendall's τ; ``a`` divides by all pairs, ``b`` corrects for ties, and is NaN where one side is all tied.

    >>> kendall([3, 2, 1], [[3, 2, 1], [2, 3, 1]]).round(3).tolist()
    [1.0, 0.333]
    """
    above_x, above_y = _above(x), _above(y)
    n = above_x.shape[-1]
    same, other = _count(above_x & above_y), _count(above_x & np.swapaxes(above_y, -1, -2))
    pairs = np.full(np.shape(same), n * (n - 1) / 2.0)
    total = pairs if variant == "a" else np.sqrt(_count(above_x) * _count(above_y))
    return _defined(_ratio(same - other, total), x, y)


def tau_ap(x: ArrayLike, y: ArrayLike, *, variant: Literal["a", "b"] = "a") -> FloatArray:
    """Yilmaz, Aslam & Robertson's τ_AP, in which a mistake counts the more the nearer it is to the top.

    Going down the order of x, the share of what stands above the i-th thing that y puts above it, too, is averaged over
    i = 2 … n and stretched to [-1, 1]. It is τ_a if mistakes are spread evenly.

    The variants treat ties differently (Urbano & Marrero 2017): ``a`` gives the mean over all orders of what is tied in
    x, and of what is tied in y, and thus asks how right x is; ``b`` is symmetric, the mean of both directions, each of
    which leaves out what is tied with the thing in the order gone down and counts as agreement only what the other puts
    strictly above, too; NaN where one side is all tied.

    >>> truth = [4, 3, 2, 1]
    >>> tau_ap([[3, 4, 2, 1], [4, 3, 1, 2]], truth).round(3).tolist()  # at the top, and at the bottom
    [0.333, 0.778]
    """
    above_x, above_y = _above(x), _above(y)
    n = above_x.shape[-1]
    higher_x, higher_y = above_x.sum(axis=-1), above_y.sum(axis=-1)
    both = (above_x & above_y).sum(axis=-1)
    if variant == "b":
        return _defined((_share_above(both, higher_x) + _share_above(both, higher_y)) / 2.0, x, y)
    tied_y = ~(above_y | np.swapaxes(above_y, -1, -2))
    agreed = both + (above_x & tied_y).sum(axis=-1) / 2.0
    size = _group_sizes(above_x)
    # The mean of 1/(rank - 1) over the ranks that a thing may have within its group of ties.
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])
    first = np.maximum(higher_x, 1)
    inverse = (harmonic[np.maximum(higher_x + size - 1, 0)] - harmonic[first - 1]) / size
    # What is tied with a thing is above it at random: half of it agrees.
    within = (size - 1 - higher_x * (harmonic[higher_x + size - 1] - harmonic[higher_x])) / (2.0 * size)
    found = np.where(higher_x > 0, agreed * inverse, 0.0) + within
    return _defined(_ratio(2.0 * found.sum(axis=-1), np.full(found.shape[:-1], n - 1.0)) - 1.0, x, y)


def spearman(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Spearman's ρ: the correlation of the ranks, those of ties being their mean; NaN where one side is all tied.

    >>> spearman([4, 3, 2, 1], [3, 4, 2, 1]).round(3).item()
    0.8
    """
    a, b = (mid_ranks(side) for side in (x, y))
    middle = (a.shape[-1] + 1.0) / 2.0
    a, b = a - middle, b - middle
    total = np.sqrt(np.square(a).sum(axis=-1) * np.square(b).sum(axis=-1))
    return _defined(_ratio((a * b).sum(axis=-1), total), x, y)


def rbo(x: ArrayLike, y: ArrayLike, *, p: float = 0.9) -> FloatArray:
    """Rank-biased overlap of two orders of the same things: 1 if they are the same, and the top decides.

    With A(d) the overlap of the first d of both, as a share of d: (1 − p)/p · Σ_{d ≤ n} A(d)·pᵈ + A(n)·pⁿ, which is
    RBO_ext of Webber, Moffat & Zobel (2010), the last agreement being carried on; here A(n) = 1, as both hold the same
    things. A reader goes on to the next rank with the probability p.

    Ties are treated as in variant b of Corsi & Urbano (2024): the expected overlap over all orders of what is tied is
    divided by what each side has with itself, so that an order with ties agrees with itself wholly.

    >>> rbo([3, 2, 1], [2, 3, 1], p=0.5).round(3).item()
    0.5
    """
    ranks_x, ranks_y = np.broadcast_arrays(*(np.nan_to_num(mid_ranks(side), nan=1.0) for side in (x, y)))
    n = ranks_x.shape[-1]
    weights = (1.0 - p) * p ** np.arange(n)
    weights[-1] += p**n
    # Without ties a thing is in the overlap from the later of its two ranks on, which saves n × n for each order.
    since = np.cumsum((weights / np.arange(1, n + 1))[::-1])[::-1]
    later = np.maximum(ranks_x, ranks_y).astype(np.int64) - 1
    found = np.asarray(since[later].sum(axis=-1), np.float64)
    tied = _has_ties(ranks_x) | _has_ties(ranks_y)
    if tied.any():
        found[tied] = _tied_agreement(ranks_x[tied], ranks_y[tied]) @ weights
    return _defined(found, x, y)


def rms(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """The root of the mean squared difference of the scores themselves; 0 if they are the same.

    >>> rms([0.5, 0.25], [0.25, 0.5]).item()
    0.25
    """
    difference = np.asarray(x, np.float64) - np.asarray(y, np.float64)
    # Near 1 before it is squared, exactly, by a power of 2.
    _, power = np.frexp(np.abs(difference).max(axis=-1))
    scaled = np.ldexp(difference, -power[..., None])
    return np.asarray(np.ldexp(np.sqrt(np.square(scaled).mean(axis=-1)), power), np.float64)


def mid_ranks(values: ArrayLike) -> FloatArray:
    """Ranks from 1 for the highest; things that are tied share the mean of theirs, and all are NaN if one is."""
    numbers = np.asarray(values, np.float64)
    order = np.argsort(-numbers, axis=-1)
    ranks = np.empty(numbers.shape, np.float64)
    np.put_along_axis(ranks, order, sorted_ranks(np.take_along_axis(numbers, order, axis=-1)), axis=-1)
    return np.where(np.isnan(numbers).any(axis=-1, keepdims=True), np.nan, ranks)


def sorted_ranks(ordered: NDArray[Any]) -> FloatArray:
    """Ranks from 1 for the first of what is sorted already; ties share the mean of theirs."""
    # The places in the order where each group of ties begins and ends.
    last = ordered.shape[-1] - 1
    apart = ordered[..., 1:] != ordered[..., :-1]
    place = np.arange(last + 1)
    first_of, last_of = np.zeros(ordered.shape, np.int64), np.full(ordered.shape, last)
    first_of[..., 1:] = np.where(apart, place[1:], 0)
    last_of[..., :-1] = np.where(apart, place[:-1], last)
    begin = np.maximum.accumulate(first_of, axis=-1)
    end = np.minimum.accumulate(last_of[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray((begin + end) / 2.0 + 1.0, np.float64)


def _share_above(both: NDArray[np.int64], higher: NDArray[np.int64]) -> FloatArray:
    """Of what is strictly above a thing, the share that is above it in both, averaged; stretched to [-1, 1]."""
    below_the_top = higher > 0
    shares = np.where(below_the_top, both / np.maximum(higher, 1), 0.0)
    return 2.0 * _ratio(shares.sum(axis=-1), below_the_top.sum(axis=-1) + np.zeros(shares.shape[:-1])) - 1.0


def _has_ties(ranks: FloatArray) -> BoolArray:
    ordered = np.sort(ranks, axis=-1)
    return np.asarray((ordered[..., 1:] == ordered[..., :-1]).any(axis=-1), np.bool_)


def _tied_agreement(x: FloatArray, y: FloatArray) -> FloatArray:
    """The agreement at each depth of orders given as ranks, of which some are tied."""
    a, b = _within_depth(-x), _within_depth(-y)
    return np.asarray(_overlap(a, b) / np.sqrt(_overlap(a, a) * _overlap(b, b)), np.float64)


def _overlap(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...dn,...dn->...d", a, b), np.float64)


def _within_depth(values: FloatArray) -> FloatArray:
    """The probability that a thing is among the first d if ties are broken at random: … × d × things."""
    above = _above(values)
    depth = np.arange(1, above.shape[-1] + 1)[:, None]
    higher, size = above.sum(axis=-1), _group_sizes(above)
    inside = np.clip((depth - higher[..., None, :]) / size[..., None, :], 0.0, 1.0)
    return np.asarray(inside, np.float64)


def _above(values: ArrayLike) -> BoolArray:
    """Whether the second of two is strictly better than the first: … × n × n."""
    numbers = np.asarray(values, np.float64)
    above: BoolArray = numbers[..., None, :] > numbers[..., :, None]
    return above


def _group_sizes(above: BoolArray) -> NDArray[np.int64]:
    """With how many each thing is tied, itself included."""
    sizes: NDArray[np.int64] = above.shape[-1] - above.sum(axis=-1) - above.sum(axis=-2)
    return sizes


def _count(chosen: BoolArray) -> FloatArray:
    return np.asarray(chosen.sum(axis=(-2, -1)), np.float64)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """NaN where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(whole > 0, part / whole, np.nan), np.float64)


def _defined(found: FloatArray, x: ArrayLike, y: ArrayLike) -> FloatArray:
    """NaN where something has no score: comparisons alone would take it for the worst."""
    unknown = np.isnan(np.asarray(x, np.float64)).any(axis=-1) | np.isnan(np.asarray(y, np.float64)).any(axis=-1)
    return np.asarray(np.where(unknown, np.nan, found), np.float64)
