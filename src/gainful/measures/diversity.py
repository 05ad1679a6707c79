"""Measures of diversity: several subtopics (intents) per topic, each with judgments of its own, as in TREC's ndeval.

Judgments without subtopics count as those of one subtopic. A subtopic without a relevant document does not count.
"""

from __future__ import annotations

import numpy as np

from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings
from gainful.measures.binary import ratio
from gainful.measures.gains import depth, discounts
from gainful.measures.parameters import Cutoff, Depth, Rel, Share
from gainful.measures.registry import measure


def _relevant(rankings: Rankings, rel: float) -> BoolArray:
    """Pool documents × subtopics: whether the label reaches `rel`."""
    if rankings.pool_subtopics is not None:
        with np.errstate(invalid="ignore"):
            return (rankings.pool_subtopics >= rel) & (rankings.pool_grade >= 0)[:, None]
    return np.append(rankings.grades >= rel, False)[rankings.pool_grade][:, None]


def _subtopics(rankings: Rankings, relevant: BoolArray) -> FloatArray:
    """Per topic, how many subtopics have a relevant document."""
    any_of = np.zeros((len(rankings.topics), relevant.shape[1]), np.bool_)
    np.logical_or.at(any_of, rankings.pool_topic, relevant)
    number: FloatArray = any_of.sum(axis=1).astype(np.float64)
    return number


def _seen(rankings: Rankings, found: BoolArray) -> IntArray:
    """Hits × subtopics: how many hits above it in its row are relevant to the subtopic."""
    running = np.zeros((len(found) + 1, found.shape[1]), np.int64)
    np.cumsum(found, axis=0, out=running[1:])
    return running[:-1] - running[rankings.first_hit()][rankings.row]


def _novelty(found: BoolArray, seen: IntArray, alpha: float) -> FloatArray:
    """Per hit, the sum over its subtopics of (1-α) to the power of how often they were seen."""
    total = np.zeros(len(found))
    for at in range(found.shape[1]):  # one after another: more subtopics of other topics change no bit
        total += np.where(found[:, at], (1.0 - alpha) ** seen[:, at], 0.0)
    return total


def _gain(rankings: Rankings, relevant: BoolArray, alpha: float, weight: FloatArray) -> FloatArray:
    """Per row, the novel gain of its documents, each times the weight of its rank."""
    found = relevant[rankings.document]
    return rankings.sum(_novelty(found, _seen(rankings, found), alpha) * rankings.weights(weight))


def _most(rankings: Rankings, relevant: BoolArray, alpha: float, weight: FloatArray) -> FloatArray:
    """Per row, what every document being relevant to all subtopics would gain."""
    return rankings.per_row(_subtopics(rankings, relevant) * ((1.0 - alpha) ** np.arange(len(weight)) @ weight))


def _ideal(rankings: Rankings, relevant: BoolArray, alpha: float, weight: FloatArray) -> FloatArray:
    """Per row, the gain of an order in which each document is the most novel one that is left.

    To find the best order is too hard; of equals, the document with the greater name comes first, as in ndeval.
    """
    kept = np.flatnonzero(relevant.any(axis=1))
    topic, names = rankings.pool_topic[kept], rankings.pool_doc
    if len(names) == len(relevant):
        place = np.empty(len(names), np.int64)
        place[names.arg_sort().to_numpy()] = np.arange(len(names))
        order = np.lexsort((-place[kept], topic))
        kept, topic = kept[order], topic[order]
    relevant = relevant[kept]
    first = np.flatnonzero(np.diff(topic, prepend=-1))
    own = np.cumsum(np.diff(topic, prepend=-1) != 0) - 1  # per document, the number of its topic among those here
    left = np.ones((len(first), relevant.shape[1]))
    free = np.ones(len(kept), np.bool_)
    total = np.zeros(len(rankings.topics))
    for rank in range(min(len(weight), int(np.bincount(own).max(initial=0)))):
        score = np.zeros(len(kept))
        for at in range(relevant.shape[1]):
            score += np.where(relevant[:, at], left[own, at], 0.0)
        score[~free] = -1.0
        best = np.maximum.reduceat(score, first) if len(first) else score
        hit = np.flatnonzero((score == best[own]) & free)
        chosen = hit[np.flatnonzero(np.diff(own[hit], prepend=-1))]
        free[chosen] = False
        total[topic[chosen]] += score[chosen] * weight[rank]
        left[own[chosen]] = np.where(relevant[chosen], left[own[chosen]] * (1.0 - alpha), left[own[chosen]])
    return rankings.per_row(total)


def _geometric(rankings: Rankings, beta: float) -> FloatArray:
    """Weights of as many ranks as any ranking, or ideal order, can have."""
    weights: FloatArray = beta ** np.arange(max(depth(rankings), len(rankings.pool_topic)), dtype=np.float64)
    return weights


def _reciprocal(length: int) -> FloatArray:
    return 1.0 / np.arange(1, length + 1)


@measure("alpha_DCG", cite="clarke2008", subtopics=True)
def alpha_dcg(rankings: Rankings, *, cutoff: Depth, alpha: Share = 0.5, rel: Rel = 1.0) -> FloatArray:
    """Discounted gain of documents that tell something new, relative to documents that have all subtopics.

    alpha_DCG@k = Σ_{i≤k} J_i/log2(1+i) / (N·Σ_{i≤k} (1-α)^(i-1)/log2(1+i)), J_i = Σ over the subtopics that document i
    is relevant to of (1-α)^(number of documents above it that are), N the number of subtopics. Undefined if N = 0.
    """
    relevant, weight = _relevant(rankings, rel), discounts("log2", cutoff)
    return ratio(_gain(rankings, relevant, alpha, weight), _most(rankings, relevant, alpha, weight))


@measure("alpha_nDCG", cite="clarke2008", subtopics=True)
def alpha_ndcg(rankings: Rankings, *, cutoff: Depth, alpha: Share = 0.5, rel: Rel = 1.0) -> FloatArray:
    """Discounted gain of documents that tell something new, relative to that of an ideal order of the pool.

    alpha_nDCG@k = (Σ_{i≤k} J_i/log2(1+i))/(that sum for the order that takes the most novel document at each rank); J
    as in alpha_DCG. Undefined if no subtopic has a relevant document.
    """
    relevant, weight = _relevant(rankings, rel), discounts("log2", cutoff)
    return ratio(_gain(rankings, relevant, alpha, weight), _ideal(rankings, relevant, alpha, weight))


@measure("ERR_IA", cite="chapelle2011", subtopics=True)
def err_ia(rankings: Rankings, *, cutoff: Depth, alpha: Share = 0.5, rel: Rel = 1.0) -> FloatArray:
    """Intent-aware expected reciprocal rank: a user of each subtopic stops at a relevant document with probability α.

    ERR_IA@k = Σ_{i≤k} J_i/i / (N·Σ_{i≤k} (1-α)^(i-1)/i); J and N as in alpha_DCG. Undefined if N = 0.
    """
    relevant, weight = _relevant(rankings, rel), _reciprocal(cutoff)
    return ratio(_gain(rankings, relevant, alpha, weight), _most(rankings, relevant, alpha, weight))


@measure("nERR_IA", cite="chapelle2011", subtopics=True)
def nerr_ia(rankings: Rankings, *, cutoff: Depth, alpha: Share = 0.5, rel: Rel = 1.0) -> FloatArray:
    """Intent-aware expected reciprocal rank, relative to that of an ideal order of the pool.

    nERR_IA@k = (Σ_{i≤k} J_i/i)/(that sum for the ideal order of alpha_nDCG). Undefined if no subtopic has a relevant
    document.
    """
    relevant, weight = _relevant(rankings, rel), _reciprocal(cutoff)
    return ratio(_gain(rankings, relevant, alpha, weight), _ideal(rankings, relevant, alpha, weight))


@measure("NRBP", cite="clarke2009", subtopics=True)
def nrbp(rankings: Rankings, *, alpha: Share = 0.5, beta: Share = 0.5, rel: Rel = 1.0) -> FloatArray:
    """Novelty- and rank-biased precision: a user goes on to the next document with probability β.

    NRBP = (1-(1-α)·β)/N·Σ_i J_i·β^(i-1); J and N as in alpha_DCG. Undefined if N = 0.
    """
    relevant, weight = _relevant(rankings, rel), _geometric(rankings, beta)
    total = (1.0 - (1.0 - alpha) * beta) * _gain(rankings, relevant, alpha, weight)
    return ratio(total, rankings.per_row(_subtopics(rankings, relevant)))


@measure("nNRBP", cite="clarke2009", subtopics=True)
def nnrbp(rankings: Rankings, *, alpha: Share = 0.5, beta: Share = 0.5, rel: Rel = 1.0) -> FloatArray:
    """Novelty- and rank-biased precision, relative to that of an ideal order of the pool (see alpha_nDCG).

    Undefined if no subtopic has a relevant document.
    """
    relevant, weight = _relevant(rankings, rel), _geometric(rankings, beta)
    return ratio(_gain(rankings, relevant, alpha, weight), _ideal(rankings, relevant, alpha, weight))


@measure("P_IA", cite="agrawal2009", subtopics=True)
def precision_ia(rankings: Rankings, *, cutoff: Depth, rel: Rel = 1.0) -> FloatArray:
    """Intent-aware precision: the mean over subtopics of the precision in the first k documents.

    P_IA@k = (pairs of one of the first k documents and a subtopic that it is relevant to)/(k·N). Undefined if N = 0.
    """
    relevant = _relevant(rankings, rel)
    found = rankings.sum((relevant[rankings.document].sum(axis=1)) * (rankings.rank <= cutoff))
    return ratio(found, cutoff * rankings.per_row(_subtopics(rankings, relevant)))


@measure("AP_IA", cite="agrawal2009", subtopics=True)
def average_precision_ia(rankings: Rankings, *, rel: Rel = 1.0) -> FloatArray:
    """Intent-aware average precision: the mean over subtopics of the average precision. Undefined if N = 0."""
    relevant = _relevant(rankings, rel)
    found = relevant[rankings.document]
    seen = _seen(rankings, found)
    total = np.zeros(rankings.n_rows)
    for at in range(relevant.shape[1]):
        here = np.bincount(rankings.pool_topic, weights=relevant[:, at], minlength=len(rankings.topics))
        precision = rankings.sum(np.where(found[:, at], (seen[:, at] + 1) / rankings.rank, 0.0))
        total += np.nan_to_num(ratio(precision, rankings.per_row(here.astype(np.float64))))
    return ratio(total, rankings.per_row(_subtopics(rankings, relevant)))


@measure("StRecall", cite="zhai2003", subtopics=True)
def subtopic_recall(rankings: Rankings, *, cutoff: Cutoff = None, rel: Rel = 1.0) -> FloatArray:
    """The share of the subtopics that some document (of the first k) is relevant to. Undefined if N = 0."""
    relevant = _relevant(rankings, rel)
    found = relevant[rankings.document]
    if cutoff is not None:
        found = found & (rankings.rank <= cutoff)[:, None]
    new = (found & (_seen(rankings, found) == 0)).sum(axis=1)
    return ratio(rankings.sum(new.astype(np.float64)), rankings.per_row(_subtopics(rankings, relevant)))
