"""Measures of a user who reads from the top and may stop at each document."""

from __future__ import annotations

import numpy as np

from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.errors import MeasureError
from gainful.measures.binary import ratio
from gainful.measures.gains import depth
from gainful.measures.parameters import Cutoff, Persistence, Rel, TopLabel
from gainful.measures.registry import measure


def _check_top(measure: str, rankings: Rankings, top: float) -> None:
    if len(rankings.grades) and rankings.grades[-1] > max(top, 0.0):
        raise MeasureError(
            f"The 'max_label' parameter of {measure} must be at least the largest label of the qrels, "
            f"{rankings.grades[-1]:g}, got {top:g} instead."
        )


def _stops(rankings: Rankings, max_label: float | None) -> FloatArray:
    """Per grade, the probability that its document satisfies the user."""
    if not len(rankings.grades):
        return np.zeros(0)
    top = max(float(rankings.grades[-1]), 0.0) if max_label is None else max_label
    _check_top("ERR", rankings, top)
    # As a difference of powers, which a scale to 100 or to 5000 does not overflow.
    stops: FloatArray = np.exp2(np.maximum(rankings.grades, 0.0) - top) - np.exp2(-top)
    return stops


def _cascade(segment: IntArray, rank: IntArray, stop: FloatArray, segments: int) -> FloatArray:
    """Per segment, Σ (1/rank)·stop·Π over those above of (1-stop), from values sorted by segment and rank."""
    if not len(segment):
        return np.zeros(segments)
    start = np.flatnonzero(np.diff(segment, prepend=-1))
    position = np.arange(len(segment)) - np.repeat(start, np.diff(np.append(start, len(segment))))
    reached = np.where(position > 0, 1.0 - np.roll(stop, 1), 1.0)
    # Products over 2, 4, 8, … predecessors: a segment's result is the same to the last bit whatever stands beside it.
    step = 1
    while len(at := np.flatnonzero(position >= step)):
        reached[at] *= reached[at - step]
        step *= 2
    return np.bincount(segment, weights=stop * reached / rank, minlength=segments).astype(np.float64, copy=False)


@measure("ERR", cite="chapelle2009")
def err(rankings: Rankings, *, cutoff: Cutoff = None, max_label: TopLabel = 4.0) -> FloatArray:
    """Expected reciprocal rank of the document that satisfies the user.

    ERR@k = Σ_{r≤k} (1/r)·R_r·Π_{i<r} (1-R_i), R = (2^label - 1)/2^max_label, 0 for negative and unjudged labels.
    `max_label` is the top of the scale, 4 as in gdeval; a larger label is refused. None stands for the largest
    label of the qrels.
    Never undefined.
    """
    hits = rankings.rank <= (depth(rankings) if cutoff is None else cutoff)
    stop = rankings.of_grade(_stops(rankings, max_label))
    return _cascade(rankings.row[hits], rankings.rank[hits], stop[hits], rankings.n_rows)


@measure("nERR", cite="chapelle2009")
def nerr(rankings: Rankings, *, cutoff: Cutoff = None, max_label: TopLabel = 4.0) -> FloatArray:
    """Expected reciprocal rank relative to that of the best ordering of the pool.

    nERR@k = ERR@k/(ERR@k of the pool by label, descending). Undefined if the pool has no positive label.
    """
    stop = _stops(rankings, max_label)
    judged = rankings.pool_grade >= 0
    size = len(stop)
    # Grades ascend, so size-1-grade sorts the best first.
    key = np.sort(rankings.pool_topic[judged] * size + (size - 1 - rankings.pool_grade[judged]))
    topic = key // max(size, 1)
    rank = np.arange(len(key)) - np.searchsorted(topic, np.arange(len(rankings.topics)))[topic] + 1
    kept = rank <= (len(key) if cutoff is None else cutoff)
    grade = size - 1 - (key - topic * size)
    ideal = _cascade(topic[kept], rank[kept], stop[grade[kept]], len(rankings.topics))
    return ratio(err(rankings, cutoff=cutoff, max_label=max_label), rankings.per_row(ideal))


def _check_rbp(*, rel: float, max_label: float | None, **_: object) -> None:
    if max_label is not None and (rel != 1.0 or max_label <= 0.0):
        raise MeasureError("RBP takes max_label, a number above 0, for graded labels, or rel, but not both.")


@measure("RBP", expected=True, cite="moffat2008", check=_check_rbp)
def rbp(
    rankings: Rankings,
    *,
    cutoff: Cutoff = None,
    p: Persistence = 0.8,
    rel: Rel = 1.0,
    max_label: TopLabel = None,
) -> FloatArray:
    """Rank-biased precision: a user goes on to the next document with probability p.

    RBP@k = (1-p)·Σ_{i≤k} [label_i ≥ rel]·p^(i-1): the lower end of what full judgments could show; RBPres is the
    rest of the interval. If `max_label` is given, the top of a graded scale, label_i/max_label (0 if the label is
    negative) takes the place of [label_i ≥ rel]: for labels 0, 1 and 2 that is the mean of rel=1 and rel=2. A larger
    label is refused. trec_eval's name rbp stands for p=0.9. Never undefined.
    """
    weights = rankings.weights(_persistence(rankings, cutoff, p))
    if max_label is None:
        return rankings.sum(rankings.relevant(rel) * weights)
    _check_top("RBP", rankings, max_label)
    return rankings.sum(rankings.of_grade(np.maximum(rankings.grades, 0.0) / max_label) * weights)


@measure("RBPres", higher="neither", expected=True, cite="moffat2008")
def rbp_residual(rankings: Rankings, *, cutoff: Cutoff = None, p: Persistence = 0.8) -> FloatArray:
    """Residual of rank-biased precision: how much RBP could rise if all that is not judged were relevant.

    RBPres@k = 1 - (1-p)·Σ over judged documents at rank i ≤ k of p^(i-1): unjudged documents and all ranks beyond
    the end or the cutoff count as unknown. Never undefined; 1 for an empty ranking.
    """
    return 1.0 - rankings.sum((rankings.grade >= 0) * rankings.weights(_persistence(rankings, cutoff, p)))


def _persistence(rankings: Rankings, cutoff: int | None, p: float) -> FloatArray:
    length = depth(rankings) if cutoff is None else min(cutoff, depth(rankings))
    return (1.0 - p) * p ** np.arange(length, dtype=np.float64)
