"""Measures for incomplete judgments, and of how incomplete they are."""

from __future__ import annotations

import numpy as np

from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings
from gainful.measures.binary import ratio, relevant_in_pool
from gainful.measures.parameters import Negatives, Rel
from gainful.measures.registry import measure

# Buckley & Voorhees' and Yilmaz & Aslam's smoothing of an empty count, as trec_eval has it.
_EPSILON = 1e-5


def _nonrelevant(rankings: Rankings, rel: float, negatives: str) -> BoolArray:
    """Per grade, whether it counts as judged nonrelevant."""
    low = rankings.grades < rel
    return low & (rankings.grades >= 0) if negatives == "unjudged" else low


def _judged_above(rankings: Rankings, rel: float, low: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """The relevant hits; and of each, how many relevant ones and ones of the grades in `low` rank above it."""
    kind = np.append(np.where(rankings.grades >= rel, 2, low), 0).astype(np.int8)[rankings.pool_grade]
    hits = kind[rankings.document]
    judged = np.flatnonzero(hits)  # few, where judgments are a sample
    at = np.flatnonzero(hits[judged] == 2)
    found, begin = judged[at], rankings.first_hit()
    row = rankings.row[found]
    good = np.arange(len(found)) - np.searchsorted(found, begin)[row]
    return found, good, at - np.searchsorted(judged, begin)[row] - good


@measure("bpref", cite="buckley2004")
def bpref(rankings: Rankings, *, rel: Rel = 1.0, negatives: Negatives = "nonrelevant") -> FloatArray:
    """Binary preference: how seldom judged nonrelevant documents rank above relevant ones.

    bpref = (1/R)·Σ over returned relevant d of [1 - min(n_d, R)/min(N, R)], with R and N the judged relevant and
    nonrelevant documents of the pool and n_d the judged nonrelevant above d; a term is 1 if n_d = 0. Unjudged
    documents play no part. `negatives`: whether a negative label is judged nonrelevant, or (as in trec_eval)
    not judged. Undefined if R = 0.
    """
    low = _nonrelevant(rankings, rel, negatives)
    found, _, above = _judged_above(rankings, rel, low)
    pool, others = relevant_in_pool(rankings, rel), rankings.pool_sum(low)
    row = rankings.row[found]
    limit = pool[row]
    with np.errstate(invalid="ignore"):
        penalty = np.where(above > 0, np.minimum(above, limit) / np.minimum(others[row], limit), 0.0)
    return ratio(rankings.sum(1.0 - penalty, found), pool)


@measure("infAP", cite="yilmaz2006", estimates=True)
def inferred_ap(rankings: Rankings, *, rel: Rel = 1.0, negatives: Negatives = "nonrelevant") -> FloatArray:
    """Inferred average precision: AP estimated from a pool of which only a sample is judged.

    Mean over the R relevant documents of the pool of the expected precision at rank r: 1 if r = 1, else
    1/r + ((r-1)/r)·(p/(r-1))·(rel+ε)/(rel+nonrel+2ε), with p the pooled documents above (judged or not), rel and
    nonrel the judged ones above, ε = 0.00001; one that is not returned adds 0. Pooled but unjudged documents are
    null labels in the qrels. `negatives`: whether a negative label is judged nonrelevant, or (as in trec_eval)
    pooled but unjudged. Undefined if R = 0.
    """
    found, good, bad = _judged_above(rankings, rel, _nonrelevant(rankings, rel, negatives))
    rank, pooled = rankings.rank[found], found - rankings.first_hit()[rankings.row[found]]
    share = (good + _EPSILON) / (good + bad + 2 * _EPSILON)
    expected = (1.0 + pooled * share) / rank  # 1 at rank 1, above which nothing is pooled
    return ratio(rankings.sum(expected, found), relevant_in_pool(rankings, rel))
