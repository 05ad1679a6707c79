"""Cumulated gain and its normalised forms."""

from __future__ import annotations

import numpy as np

from gainful.data.rankings import FloatArray, Rankings
from gainful.errors import MeasureError
from gainful.measures.gains import best_ordering, depth, discounts, gains
from gainful.measures.parameters import Base, Cutoff, Discount, Gain, Norm, Value
from gainful.measures.registry import measure

# Gains and discounts beyond this are brought back to 1 where only their ratio counts; below it nothing can overflow.
_HUGE = 1e100


def _check_discount(*, cutoff: int | None, discount: str | tuple[float, ...], norm: str = "zero", **_: Value) -> None:
    if discount == "linear" and cutoff is None:
        raise MeasureError("discount='linear' falls to 0 at the cutoff and so needs one: add @10, say")
    if norm in ("org", "min") and not isinstance(discount, str) and sorted(discount, reverse=True) != list(discount):
        raise MeasureError(f"norm={norm!r} is over orderings of the pool and needs discounts that never rise")


@measure("CG", bounds=None, expected=True, cite="jarvelin2002")
def cg(rankings: Rankings, *, cutoff: Cutoff = None, gain: Gain = "linear") -> FloatArray:
    """Cumulated gain: the sum of the gains of the first k documents.

    CG@k = Σ_{i≤k} g_i, with g_i the gain of the document at rank i. An unjudged document has gain 0.
    Never undefined; an empty ranking has CG 0.

    Järvelin & Kekäläinen, ACM TOIS 20(4), 2002.
    """
    return dcg(rankings, cutoff=cutoff, gain=gain, discount="none")


@measure("DCG", bounds=None, expected=True, cite="jarvelin2002", check=_check_discount)
def dcg(
    rankings: Rankings,
    *,
    cutoff: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    base: Base = 2.0,
) -> FloatArray:
    """Discounted cumulated gain: gains count less the further down they come.

    DCG@k = Σ_{i≤k} g_i·D(i). `gain`: linear (the label), exp (2^label - 1), or a map from label to gain (labels
    it does not name keep their own value). `discount`: log2 is 1/log2(1+i); jk is 1 for i < base, else
    1/log_base(i); zipf is 1/i; linear is (k+1-i)/k; none is 1; a list gives D(1), D(2), … and 0 beyond its end.
    An unjudged document has gain 0. Never undefined; an empty ranking has DCG 0.

    Järvelin & Kekäläinen, ACM TOIS 20(4), 2002.
    """
    weights = rankings.weights(discounts(discount, depth(rankings), cutoff, base))
    with np.errstate(over="ignore", invalid="ignore"):
        total = rankings.sum(rankings.of_grade(gains(rankings.grades, gain)) * weights)
    if not np.isfinite(total).all():
        raise MeasureError("these gains and discounts add up to more than a number can hold: use smaller ones, or nDCG")
    return total


@measure(
    "nDCG",
    bounds=None,
    expected=True,
    cite="jarvelin2002",
    presets={
        "nDCG0": {"norm": "zero"},
        "nDCGorg": {"norm": "org"},
        "nDCGmin": {"norm": "min"},
        "nDCGf": {"norm": "f"},
    },
    check=_check_discount,
)
def ndcg(
    rankings: Rankings,
    *,
    cutoff: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    base: Base = 2.0,
    norm: Norm = "zero",
) -> FloatArray:
    """Discounted gain of the ranking relative to the best (and worst) that the pool allows.

    With I and W the DCG@k of the best and the worst ordering of the topic's judged documents:

    - zero: negative gains become 0; DCG/I. In [0, 1]; what trec_eval computes.
    - org: DCG/I with negative gains kept. Unbounded. Undefined if I = 0.
    - min: (DCG - W)/(I - W). In [0, 1] for an ordering of the pool, unbounded if documents of it are left out or
      unjudged ones stand between them. Undefined if I = W.
    - f: (DCG - W_f)/(I_f - W_f), with I_f from the non-negative gains alone and W_f from the non-positive ones.
      In [0, 1] whatever is returned or left out; an empty ranking scores -W_f/(I_f - W_f). Undefined if I_f = W_f.

    Gains and discounts as for DCG.

    Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; Gienapp et al., CIKM 2020 (min); Carmel et al., SIGIR 2022 (f).
    """
    value = gains(rankings.grades, gain)
    if norm == "zero":
        value = np.maximum(value, 0.0)
    value = _tamed(value)
    weight = _tamed(discounts(discount, depth(rankings), cutoff, base))
    achieved = rankings.sum(rankings.of_grade(value) * rankings.weights(weight))
    ideal = best_ordering(rankings, np.maximum(value, 0.0) if norm == "f" else value, weight)
    worst = np.zeros_like(ideal)
    if norm in ("min", "f"):
        worst = -best_ordering(rankings, -np.minimum(value, 0.0) if norm == "f" else -value, weight)
    span = ideal - worst
    if norm in ("org", "min"):
        # Summed in another order, the same gains differ in their last bits: that is not a span to divide by.
        size = best_ordering(rankings, np.abs(value), weight)
        span = np.where(np.abs(span) > 1e-12 * size, span, 0.0)
    span = rankings.per_row(span)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(span != 0.0, (achieved - rankings.per_row(worst)) / span, np.nan)


def _tamed(values: FloatArray) -> FloatArray:
    """The values, divided by the largest where that is huge: a ratio of sums of them stays what it is."""
    largest = float(np.abs(values).max(initial=0.0))
    return values / largest if largest > _HUGE else values
