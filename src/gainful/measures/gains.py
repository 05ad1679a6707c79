"""From labels to gains, from ranks to discounts, and the best and worst that a pool allows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gainful.data.rankings import FloatArray, Rankings
from gainful.errors import MeasureError

_SHORT = 1000


def gains(grades: FloatArray, gain: str | tuple[tuple[float, float], ...]) -> FloatArray:
    """The gain of each label: the label itself, 2^label - 1, or what the map says (else the label itself)."""
    if gain == "linear":
        return grades
    if gain == "exp":
        if grades.max(initial=0.0) > 1000:
            raise MeasureError(f"gain='exp', 2^label - 1, takes labels of at most 1000, got {grades[-1]:g}: use a map.")
        return np.exp2(grades) - 1.0
    mapped = dict(gain)  # type: ignore[arg-type]
    return np.array([mapped.get(label, label) for label in grades.tolist()], dtype=np.float64)


def discounts(
    discount: str | tuple[float, ...], length: int, cutoff: int | None = None, base: float = 2.0
) -> FloatArray:
    """The discounts of ranks 1, 2, … up to the cutoff, but no further than `length`; a vector to its own end."""
    if not isinstance(discount, str):
        # Where it rises, the best place may lie below everything returned: the ideal must not depend on `length`.
        return np.array(discount[:cutoff], dtype=np.float64)
    if cutoff is not None:
        length = min(length, cutoff)
    return (_kept if length <= _SHORT else _named)(discount, length, cutoff, base)


@lru_cache
def _kept(discount: str, length: int, cutoff: int | None, base: float) -> FloatArray:
    """Those of many small calls, which ask for the same again and again; nobody may write to them."""
    values = _named(discount, length, cutoff, base)
    values.flags.writeable = False
    return values


def _named(discount: str, length: int, cutoff: int | None, base: float) -> FloatArray:
    rank = np.arange(1, length + 1, dtype=np.float64)
    if discount == "log2":
        return 1.0 / np.log2(1.0 + rank)
    if discount == "jk":
        return np.where(rank < base, 1.0, np.log(base) / np.log(np.maximum(rank, base)))
    if discount == "zipf":
        return 1.0 / rank
    if discount == "linear":
        full = length if cutoff is None else cutoff
        return (full + 1.0 - rank) / full
    return np.ones(length)


def depth(rankings: Rankings) -> int:
    """The last rank that any hit holds, or that an ordering of any pool would."""
    deepest = int(rankings.tie_last.max(initial=0))
    return max(deepest, int(np.bincount(rankings.pool_topic, minlength=1).max()))


def best_ordering(rankings: Rankings, gain: FloatArray, discount: FloatArray) -> FloatArray:
    """Per topic, the DCG of the pool, the largest gain at the largest discount; for the worst, negate both."""
    topic, grade = rankings.pool_topic, rankings.pool_grade
    judged = grade >= 0
    if not judged.all():
        topic, grade = topic[judged], grade[judged]
    by_gain = (-gain).argsort(kind="stable")
    place = np.empty(len(gain), np.int64)
    place[by_gain] = np.arange(len(gain))
    # One sorted integer holds topic and gain: sorting those is far cheaper than an indirect sort by two keys.
    first = topic * len(gain)
    ordered = first + place[grade]
    ordered.sort()
    ordered -= first  # topics stay where they are
    rank = np.arange(len(topic)) - topic.searchsorted(np.arange(len(rankings.topics)))[topic]
    if len(topic) > len(discount):
        shown = rank < len(discount)
        topic, rank, ordered = topic[shown], rank[shown], ordered[shown]
    value = gain[by_gain][ordered] * np.sort(discount)[::-1][rank]
    return np.bincount(topic, weights=value, minlength=len(rankings.topics)).astype(np.float64, copy=False)
