"""Measures estimated from a sample of the pool, drawn by strata or with known probabilities.

Judgments say how the sample was drawn by a column `stratum`, of which a random part was judged (the others have null
labels), or by a column `inclusion`, the probability that a document was to be judged, independently of the others.
Without either, the pool of a topic is one stratum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.errors import MeasureError
from gainful.measures.binary import ratio
from gainful.measures.dcg import check_discount, tamed
from gainful.measures.gains import depth, discounts, gains
from gainful.measures.parameters import Base, Cutoff, Discount, Gain, Rel
from gainful.measures.registry import measure

# Yilmaz & Aslam's smoothing of an empty count.
_EPSILON = 1e-5
# Judgments that stand for so many times the documents listed belong to a pool of which others are not listed.
_UNLISTED = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """How the judged documents of a pool were drawn."""

    group: IntArray  # per pool document, the number of its topic and stratum
    strata: int  # how many there are of each topic
    weight: FloatArray  # per pool document, how many of the pool a judged one stands for: 1/π; 0 if it is not judged
    # Per group, how many are judged, how many documents these stand for, and π_ij/π_i for two of them (0 if none has).
    drawn: IntArray
    size: FloatArray
    pair: FloatArray
    independent: bool  # documents are drawn one by one: π_ij/π_i is π_j


def _sums(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Per group, the sum of its values."""
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64, copy=False)


def _sample(rankings: Rankings) -> _Sample:
    stratum, inclusion = rankings.pool_stratum, rankings.pool_inclusion
    strata = 1 if stratum is None else int(stratum.max(initial=0)) + 1
    group = rankings.pool_topic * strata + (0 if stratum is None else stratum)
    judged = rankings.pool_grade >= 0
    pooled = np.bincount(group, minlength=len(rankings.topics) * strata)
    drawn = np.bincount(group[judged], minlength=len(pooled))
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(judged, (pooled / drawn)[group] if inclusion is None else 1.0 / inclusion, 0.0)
        # The documents of a stratum as the judged ones stand for them: with probabilities, the others need not be here.
        size = _sums(group, weight, len(pooled))
        pair = np.where(drawn > 1, (drawn - 1.0) / (size - 1.0), 0.0)
    independent = inclusion is not None and stratum is None
    return _Sample(group, strata, weight, drawn, size, pair, independent=independent)


def _estimated_relevant(rankings: Rankings, sample: _Sample, rel: float) -> FloatArray:
    """Per row, R̂: how many relevant documents its topic's pool has by this sample."""
    relevant = np.append(rankings.grades >= rel, False)[rankings.pool_grade]
    return rankings.per_row(_sums(rankings.pool_topic, relevant * sample.weight, len(rankings.topics)))


def _before(row: IntArray, value: FloatArray) -> FloatArray:
    """Per hit, the sum of the values of the hits of its row that rank above it."""
    place = _count_alike(row)
    line = np.cumsum(place == 0) - 1
    # Row by row, so that no row is rounded by what stands in others.
    table = np.zeros((int(line.max(initial=-1)) + 1, int(place.max(initial=0)) + 2))
    table[line, place + 1] = value
    return np.asarray(np.cumsum(table, axis=1)[line, place], np.float64)


@measure("statAP", bounds=None, cite="aslam2006", estimates=True)
def stat_ap(rankings: Rankings, *, rel: Rel = 1.0, corrected: bool = False) -> FloatArray:
    """Average precision estimated from a random sample of the pool, by how probable each judgment was.

    statAP = Σ_i Σ_{j≤i} x_i·x_j/(i·π_ij) / R̂ over ranks i and j, with x = 1 for a judged relevant document, π_ij the
    probability that both are judged (π_ii = π_i), and R̂ = Σ x_d/π_d over the pool: Horvitz and Thompson's estimates of
    R·AP and R. π_i = n/N of the stratum's documents, π_ij = π_i·(n-1)/(N-1) within a stratum and π_i·π_j across strata;
    or what a column `inclusion` says. It is AP where all is judged; it may exceed 1. Undefined if R̂ = 0.

    The quotient of two unbiased estimates is biased. `corrected` takes most of that away: it divides each term by
    R̂ + ē - e_i - e_j (for j = i by R̂ + ē - e_i) instead of R̂, as a document that is known to be judged adds e too much
    to R̂. e = (N-n)·(n-r)/(n·(n-1)) in a stratum of whose n judged documents r are relevant (0 if n = 1), and 1/π - 1 if
    only a column `inclusion` says how documents were drawn; ē = Σ x_d·e_d/π_d / R̂ is the variance of R̂, divided by R̂.
    """
    sample = _sample(rankings)
    found = np.flatnonzero(rankings.relevant(rel))
    document = rankings.document[found]
    weight = sample.weight[document]
    total = _estimated_relevant(rankings, sample, rel)
    if corrected:
        own = _without_bias(rankings.with_hits(found), sample, rel, total)
        return ratio(rankings.sum(weight * own / rankings.rank[found], found), total)
    own = 1.0 + _before(rankings.row[found], weight)
    if not sample.independent:
        group = sample.group[document]
        # What the sum above took for drawn independently, and is not: those of the same stratum.
        with np.errstate(divide="ignore"):
            together = np.where(sample.pair[group] > 0.0, 1.0 / sample.pair[group] - weight, 0.0)
        own += _count_alike(rankings.row[found] * sample.strata + group % sample.strata) * together
    return ratio(rankings.sum(weight * own / rankings.rank[found], found), total)


def _without_bias(hits: Rankings, sample: _Sample, rel: float, total: FloatArray) -> FloatArray:
    """Per relevant hit i, Σ_{j≤i} π_i/π_ij·R̂/(R̂ + ē - e_i - e_j)."""
    relevant = np.append(hits.grades >= rel, False)[hits.pool_grade]
    with np.errstate(divide="ignore", invalid="ignore"):
        if sample.independent:
            excess = sample.weight - 1.0
        else:
            nonrelevant = sample.drawn - np.bincount(sample.group[relevant], minlength=len(sample.drawn))
            each = (sample.size / sample.drawn - 1.0) * nonrelevant / (sample.drawn - 1.0)
            excess = np.where(sample.drawn > 1, each, 0.0)[sample.group]
        together = 1.0 / sample.pair[sample.group[hits.document]]
        mean = hits.per_row(_sums(hits.pool_topic, relevant * sample.weight * excess, len(hits.topics))) / total
    weight, stratum, excess = sample.weight[hits.document], sample.group[hits.document], excess[hits.document]
    number = total[hits.row]
    rest = number + mean[hits.row] - excess
    own, place = number / rest, _count_alike(hits.row)
    later = np.arange(len(place))
    for distance in range(1, int(place.max(initial=0)) + 1):  # pairs with so many relevant hits from one to the other
        later = later[place[later] >= distance]
        above = later - distance
        alike = (stratum[later] == stratum[above]) & (not sample.independent)
        times = np.where(alike, together[later], weight[above])
        own[later] += times * number[later] / (rest[later] - excess[above])
    return own


def _count_alike(key: IntArray) -> IntArray:
    """How often each key has come before."""
    order = np.argsort(key, kind="stable")
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    count = np.empty(len(key), np.int64)
    count[order] = np.arange(len(key)) - np.repeat(begins, np.diff(np.append(begins, len(key))))
    return count


@measure("xinfAP", cite="yilmaz2008", estimates=True)
def extended_inferred_ap(rankings: Rankings, *, rel: Rel = 1.0) -> FloatArray:
    """Extended inferred average precision: AP estimated from a pool that was sampled by strata.

    xinfAP = (1/R̂)·Σ over judged relevant documents of (N/n)·E[P@k], with k the rank, N and n the documents of its
    stratum in the pool and those judged, and R̂ = Σ N/n over the judged relevant ones; one that is not returned adds 0.
    E[P@k] = (1 + Σ_s N_s·(r_s+ε)/(n_s+2ε))/k, the counts of stratum s (documents, judged, relevant) being those above
    rank k, ε = 0.00001; where n_s = N_s, it is r_s. Without strata it is infAP, but for the smoothing of what is
    judged in full; it is AP where all is judged. Undefined if R̂ = 0.
    """
    sample = _sample(rankings)
    if sample.independent:
        raise MeasureError("xinfAP: expected judgments with a column stratum, got inclusion alone: use statAP")
    if sample.weight.sum() > _UNLISTED * len(sample.weight):
        raise MeasureError(
            "xinfAP: expected judgments that list the whole pool, with null labels for what was not drawn, got only "
            "what was: use statAP"
        )
    relevant = rankings.relevant(rel)
    found = np.flatnonzero(relevant)
    judged, stratum = rankings.grade >= 0, sample.group[rankings.document] % sample.strata
    expected = np.ones(len(found))
    for number in range(sample.strata):
        inside = stratum == number
        pooled, seen, good = (
            rankings.count_before(chosen, found) for chosen in (inside, inside & judged, inside & relevant)
        )
        expected += np.where(seen == pooled, good, pooled * (good + _EPSILON) / (seen + 2 * _EPSILON))
    value = sample.weight[rankings.document[found]] * expected / rankings.rank[found]
    return ratio(rankings.sum(value, found), _estimated_relevant(rankings, sample, rel))


@measure("infNDCG", bounds=None, expected=True, cite="yilmaz2008", check=check_discount, estimates=True)
def inferred_ndcg(
    rankings: Rankings,
    *,
    cutoff: Cutoff = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    base: Base = 2.0,
) -> FloatArray:
    """Inferred nDCG: nDCG estimated from a pool that was sampled by strata, or with known probabilities.

    infNDCG@k = Σ_{i≤k} w_i·g_i·D(i) / Î, with w = 1/π the number of documents that a judged one stands for (N/n of
    its stratum, or 1/inclusion) and Î the DCG@k of the best order of as many documents of each label as the sample
    lets expect, Σ w: fractions of a document take fractions of a rank. Negative gains become 0; gains and discounts as
    for DCG. It is nDCG where all is judged; it may exceed 1. Undefined if Î = 0.
    """
    sample = _sample(rankings)
    value: Any = tamed(np.maximum(gains(rankings.grades, gain), 0.0))
    size = np.bincount(rankings.pool_topic, weights=sample.weight, minlength=1).max()
    weight = tamed(discounts(discount, max(depth(rankings), int(np.ceil(size))), cutoff, base))
    shown = rankings.of_grade(value) * sample.weight[rankings.document] * rankings.weights(weight)
    topics, grades = len(rankings.topics), len(value)
    judged = np.flatnonzero(rankings.pool_grade >= 0)
    cell = rankings.pool_topic[judged] * grades + rankings.pool_grade[judged]
    number = _sums(cell, sample.weight[judged], topics * grades).reshape(topics, grades)
    best = np.argsort(-value, kind="stable")
    last = np.cumsum(number[:, best], axis=1)
    total = np.concatenate([np.zeros(1), np.cumsum(np.sort(weight)[::-1])])
    reached = np.interp(last, np.arange(len(total)), total)
    ideal = (np.diff(reached, axis=1, prepend=0.0) * value[best]).sum(axis=1)
    return ratio(rankings.sum(shown), rankings.per_row(ideal))
