"""Cumulated gain and its normalised forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from gainful.data.rankings import FloatArray, Rankings
from gainful.errors import MeasureError
from gainful.measures.binary import ratio, relevant_in_pool, relevant_shown
from gainful.measures.contributions import Contributions, at_place, by_rank, counting, places, ranks_of
from gainful.measures.gains import best_ordering, depth, discounts, gains
from gainful.measures.parameters import Base, Cutoff, Discount, Gain, Norm, Rel, Value
from gainful.measures.registry import measure

# Gains and discounts beyond this are brought back to 1 where only their ratio counts; below it nothing can overflow.
_HUGE = 1e100


def check_discount(*, cutoff: int | None, discount: str | tuple[float, ...], norm: str = "zero", **_: Value) -> None:
    """Refuse discounts that need a cutoff, and those that a norm cannot take."""
    if discount == "linear" and cutoff is None:
        raise MeasureError("discount='linear' falls to 0 at the cutoff and so needs one: add @10, say")
    if norm in ("org", "min") and not isinstance(discount, str) and sorted(discount, reverse=True) != list(discount):
        raise MeasureError(f"norm={norm!r} is over orderings of the pool and needs discounts that never rise")


def _contributions(
    rankings: Rankings,
    *,
    cutoff: int | None,
    gain: Any,
    discount: Any = "none",
    base: float = 2.0,
    norm: str | None = None,
) -> Contributions:
    """With Z = I - W of the norm, a document of gain g at rank r wins g·D(r)/Z, and in the best ordering g·D(r')/Z.

    DCG has no norm: Z is 1, and the best is that of the documents with a positive gain.
    """
    value = gains(rankings.grades, gain)
    value = np.maximum(value, 0.0) if norm == "zero" else value
    weight = discounts(discount, max(depth(rankings), int(rankings.retrieved.max(initial=0))), cutoff, base)
    # Under norm='f' and for DCG documents may be left out: the best ordering shows no harm, the worst nothing else.
    sublist = norm in ("f", None)
    ideal, worst = _bounds(rankings, value, weight, norm or "f")
    span = np.ones_like(ideal)
    if norm is None:
        worst = np.zeros_like(ideal)
    else:
        span = _span(rankings, value, weight, norm, ideal - worst)
        span = np.where(span != 0.0, span, np.nan)

    counted = counting(rankings, value)
    topic = rankings.pool_topic[counted]
    worth, rank = value[rankings.pool_grade[counted]], ranks_of(rankings, counted)
    place = places(rankings, counted, rank, worth)
    # Documents that gain nothing stand between those that gain and those that cost.
    judged = np.bincount(rankings.pool_topic[rankings.pool_grade >= 0], minlength=len(ideal))
    nothing = judged - np.bincount(topic, minlength=len(ideal))
    place = np.where(worth < 0.0, place + nothing[topic], place)
    best = worth * at_place(np.sort(weight)[::-1], place) / span[topic]
    if sublist:
        best[:, worth < 0.0] *= 0.0

    def steps(row: int, last: int) -> dict[str, FloatArray]:
        at = row % len(rankings.topics)
        every = np.zeros(last)
        every[: len(weight)] = weight[:last]
        grade = rankings.pool_grade[rankings.pool_topic == at]
        pool = value[grade[grade >= 0]]
        shown = by_rank(rankings, row, last, value)
        most = _best_so_far(np.maximum(pool, 0.0) if sublist else pool, every)
        least = np.zeros(last)
        if norm in ("min", "f", None):
            least = -_best_so_far(-np.minimum(pool, 0.0) if sublist else -pool, every)
        achieved = np.cumsum(shown * every)
        columns = {"gain": shown, "cg": np.cumsum(shown), "discount": every}
        columns |= {"dcg": achieved, "ideal": most, "worst": least}
        if norm is not None:
            size = _best_so_far(np.abs(pool), every)
            spans = np.where(np.abs(most - least) > 1e-12 * size, most - least, np.nan)
            columns["ndcg"] = (achieved - least) / spans
        return columns

    return Contributions.of(
        rankings,
        counted,
        won=worth * at_place(weight, rank - 1) / span[topic],
        best=best,
        rank=rank,
        empty=-worst / span + 0.0,
        top=(ideal - worst) / span,
        worth=value,
        discount=weight,
        length=judged if isinstance(discount, str) else np.maximum(judged, len(discount)),
        steps=steps,
    )


def _best_so_far(gain: FloatArray, weight: FloatArray) -> FloatArray:
    """Per rank, the highest DCG that an ordering of these gains reaches down to it."""
    ordered = np.sort(gain)[::-1]
    if (np.diff(weight) <= 0).all():
        padded = np.zeros(len(weight))
        padded[: len(ordered)] = ordered[: len(weight)]
        return np.cumsum(padded * weight)
    # Discounts that rise somewhere: what is best for a rank may use its predecessors differently.
    best = np.zeros(len(weight))
    for last in range(1, len(weight) + 1):
        highest = np.sort(weight[:last])[::-1][: len(ordered)]
        best[last - 1] = ordered[: len(highest)] @ highest
    return best


@measure("CG", bounds=None, expected=True, cite="jarvelin2002", contributions=_contributions)
def cg(rankings: Rankings, *, cutoff: Cutoff = None, gain: Gain = "linear") -> FloatArray:
    """Cumulated gain: the sum of the gains of the first k documents.

    CG@k = Σ_{i≤k} g_i, with g_i the gain of the document at rank i. An unjudged document has gain 0.
    Never undefined; an empty ranking has CG 0.
    """
    return dcg(rankings, cutoff=cutoff, gain=gain, discount="none")


@measure("DCG", bounds=None, expected=True, cite="jarvelin2002", check=check_discount, contributions=_contributions)
def dcg(
    rankings: Rankings, *, cutoff: Cutoff = None, gain: Gain = "linear", discount: Discount = "log2", base: Base = 2.0
) -> FloatArray:
    """Discounted cumulated gain: gains count less the further down they come.

    DCG@k = Σ_{i≤k} g_i·D(i). `gain`: linear (the label), exp (2^label - 1), or a map from label to gain (labels
    it does not name keep their own value). `discount`: log2 is 1/log2(1+i); jk is 1 for i < base, else
    1/log_base(i); zipf is 1/i; linear is (k+1-i)/k; none is 1; a list gives D(1), D(2), … and 0 beyond its end.
    An unjudged document has gain 0. Never undefined; an empty ranking has DCG 0.
    """
    weights = rankings.weights(discounts(discount, depth(rankings), cutoff, base))
    with np.errstate(over="ignore"):
        total = rankings.sum(rankings.of_grade(gains(rankings.grades, gain)) * weights)
    if not np.isfinite(total).all():
        raise MeasureError("these gains and discounts add up to more than a number can hold: use smaller ones, or nDCG")
    return total


def _range(*, norm: str, **_: Value) -> tuple[float, float] | None:
    return (0.0, 1.0) if norm in ("zero", "f") else None


@measure(
    "nDCG",
    bounds=_range,
    expected=True,
    cite="jarvelin2002, gienapp2020, carmel2022",
    presets={"nDCG0": {"norm": "zero"}, "nDCGorg": {"norm": "org"}, "nDCGmin": {"norm": "min"}, "nDCGf": {"norm": "f"}},
    check=check_discount,
    contributions=_contributions,
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
    """
    value = gains(rankings.grades, gain)
    if norm == "zero":
        value = np.maximum(value, 0.0)
    value = tamed(value)
    weight = discounts(discount, depth(rankings), cutoff, base)
    weight = weight if isinstance(discount, str) else tamed(weight)  # those with a name are at most 1
    achieved = rankings.sum(rankings.of_grade(value) * rankings.weights(weight))
    ideal, worst = _bounds(rankings, value, weight, norm)
    span = rankings.per_row(_span(rankings, value, weight, norm, ideal - worst))
    gained = achieved if norm in ("zero", "org") else achieved - rankings.per_row(worst)
    return ratio(gained, span)


def _bounds(rankings: Rankings, value: FloatArray, weight: FloatArray, norm: str) -> tuple[FloatArray, FloatArray]:
    """Per topic, the DCG of the best and of the worst that the pool allows."""
    ideal = best_ordering(rankings, np.maximum(value, 0.0) if norm == "f" else value, weight)
    if norm not in ("min", "f"):
        return ideal, np.zeros(len(ideal))
    return ideal, -best_ordering(rankings, -np.minimum(value, 0.0) if norm == "f" else -value, weight)


def _span(rankings: Rankings, value: FloatArray, weight: FloatArray, norm: str, span: FloatArray) -> FloatArray:
    """Per topic, best less worst; 0 where the measure is undefined."""
    if norm not in ("org", "min"):
        return span
    # Summed in another order, the same gains differ in their last bits: that is not a span to divide by.
    size = best_ordering(rankings, np.abs(value), weight)
    return np.where(np.abs(span) > 1e-12 * size, span, 0.0)


def tamed(values: FloatArray) -> FloatArray:
    """The values, divided by the largest where that is huge: a ratio of sums of them stays what it is."""
    largest = float(np.abs(values).max(initial=0.0))
    return values / largest if largest > _HUGE else values


@measure("QWA", expected=True, cite="liu2016")
def quit_while_ahead(rankings: Rankings, *, rel: Rel = 1.0) -> FloatArray:
    """Quit while ahead: nDCG of the whole ranking with a terminal document appended, which rewards stopping early.

    Labels are binary: 1 from `rel` on. With n documents returned and R relevant ones in the pool, the terminal
    document stands at rank n+1 and has the gain t = (relevant returned)/R, or 1 if R = 0.
    QWA = [Σ_{i≤n} g_i/log2(1+i) + t/log2(n+2)] / Σ_{i≤R+1} 1/log2(1+i). Never undefined.
    """
    pool = relevant_in_pool(rankings, rel).astype(np.int64)
    longest = max(depth(rankings), int(rankings.retrieved.max(initial=0)))
    weight = discounts("log2", longest + 1)
    achieved = rankings.sum(rankings.relevant(rel) * rankings.weights(weight))
    terminal = np.where(pool > 0, relevant_shown(rankings, rel, None) / np.maximum(pool, 1), 1.0)
    ideal: FloatArray = np.cumsum(weight)[pool]
    return (achieved + terminal * weight[rankings.retrieved]) / ideal
