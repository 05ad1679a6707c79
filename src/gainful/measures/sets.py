"""Measures of what was returned, in whatever order: what was shown that should not be, and the reverse; counts."""

from __future__ import annotations

import numpy as np

from gainful.data.rankings import FloatArray, Rankings
from gainful.measures.binary import ratio, relevant_in_pool, relevant_shown
from gainful.measures.gains import depth
from gainful.measures.parameters import Beta, Cutoff, Depth, Rel
from gainful.measures.registry import measure


def shown(rankings: Rankings, cutoff: int | None) -> FloatArray:
    """Per row, how many documents are shown: those returned, up to the cutoff."""
    number = rankings.retrieved if cutoff is None else np.minimum(rankings.retrieved, cutoff)
    return number.astype(np.float64)


@measure("SetP", expected=True, cite="trec_eval")
def set_precision(rankings: Rankings, *, rel: Rel = 1.0, relative: bool = False) -> FloatArray:
    """Precision of all that was returned: relevant returned/returned; 0 for an empty ranking.

    If `relative`, divided by the highest precision that so many documents can have: relevant returned/min(returned, R),
    undefined if R = 0. Otherwise never undefined.
    """
    size = rankings.retrieved.astype(np.float64)
    if relative:
        pool = relevant_in_pool(rankings, rel)
        size = np.where(pool > 0, np.maximum(np.minimum(size, pool), 1.0), 0.0)
        return ratio(relevant_shown(rankings, rel, None), size)
    return relevant_shown(rankings, rel, None) / np.maximum(size, 1.0)


@measure("SetR", expected=True, cite="trec_eval")
def set_recall(rankings: Rankings, *, rel: Rel = 1.0) -> FloatArray:
    """Recall of all that was returned: relevant returned/R. Undefined if the pool has no relevant document."""
    return ratio(relevant_shown(rankings, rel, None), relevant_in_pool(rankings, rel))


@measure("SetF", expected=True, cite="vanrijsbergen1979")
def set_f(rankings: Rankings, *, rel: Rel = 1.0, beta: Beta = 1.0) -> FloatArray:
    """F-measure of all that was returned.

    SetF = (1+β²)·P·R/(β²·P+R) = (1+β²)·(relevant returned)/(β²·R + returned). Undefined if R = 0.
    """
    pool = relevant_in_pool(rankings, rel)
    found = np.where(pool > 0, relevant_shown(rankings, rel, None), np.nan)
    return ratio((1 + beta**2) * found, beta**2 * pool + rankings.retrieved)


@measure("SetAP", expected=True, cite="trec_eval")
def set_average_precision(rankings: Rankings, *, rel: Rel = 1.0) -> FloatArray:
    """Precision times recall of all that was returned: trec_eval's set_map.

    SetAP = (relevant returned)²/(returned·R); 0 for an empty ranking. Undefined if R = 0.
    """
    found = relevant_shown(rankings, rel, None)
    return ratio(found * found, np.maximum(rankings.retrieved, 1) * relevant_in_pool(rankings, rel))


@measure("Judged", higher="neither", expected=True, cite="ir_measures")
def judged(rankings: Rankings, *, cutoff: Cutoff = None) -> FloatArray:
    """The share of the documents shown that are judged.

    Judged@k = (judged in the first k)/min(k, returned), without a cutoff of all that was returned. Undefined for an
    empty ranking.
    """
    places = np.ones(depth(rankings) if cutoff is None else min(cutoff, depth(rankings)))
    return ratio(rankings.sum((rankings.grade >= 0) * rankings.weights(places)), shown(rankings, cutoff))


@measure("Hole", higher="neither", expected=True, cite="thakur2021")
def hole(rankings: Rankings, *, cutoff: Depth) -> FloatArray:
    """The share of the first k places that hold a document without a judgment for the topic.

    Hole@k = (unjudged in the first k)/k. Never undefined. BEIR's counts only documents that no topic has judged: the
    two are equal where no document is judged for one topic and returned for another.
    """
    places = np.ones(min(cutoff, depth(rankings)))
    found = rankings.sum((rankings.grade >= 0) * rankings.weights(places))
    return (shown(rankings, cutoff) - found) / cutoff


@measure("NumRet", higher="neither", bounds=None, summary="sum", expected=True, cite="trec_eval")
def number_retrieved(rankings: Rankings, *, cutoff: Cutoff = None) -> FloatArray:
    """The number of documents returned (up to k); summed over topics. Never undefined."""
    return shown(rankings, cutoff)


@measure("NumRel", higher="neither", bounds=None, summary="sum", expected=True, cite="trec_eval")
def number_relevant(rankings: Rankings, *, rel: Rel = 1.0) -> FloatArray:
    """The number R of relevant documents in the topic's pool; summed over topics. Never undefined."""
    return relevant_in_pool(rankings, rel)


@measure("NumRelRet", bounds=None, summary="sum", expected=True, cite="trec_eval")
def number_relevant_retrieved(rankings: Rankings, *, cutoff: Cutoff = None, rel: Rel = 1.0) -> FloatArray:
    """The number of relevant documents returned (in the first k); summed over topics. Never undefined."""
    return relevant_shown(rankings, rel, cutoff)


@measure("NumQ", higher="neither", bounds=None, summary="sum", expected=True, cite="trec_eval")
def number_of_topics(rankings: Rankings) -> FloatArray:
    """1 for every topic scored; summed over topics. Never undefined."""
    return np.ones(rankings.n_rows)


@measure("Forbidden", higher="worse", expected=True, cite="carmel2022")
def forbidden(rankings: Rankings, *, cutoff: Cutoff = None, below: Rel = 0.0) -> FloatArray:
    """The share of the documents shown that are forbidden (have a negative label, or one below `below`).

    Forbidden@k = (labels < below in the first k)/min(k, returned); 0 where nothing is shown. An unjudged document has
    no label. Never undefined.
    """
    places = np.ones(depth(rankings) if cutoff is None else min(cutoff, depth(rankings)))
    found = rankings.sum(rankings.of_grade(rankings.grades < below) * rankings.weights(places))
    return found / np.maximum(shown(rankings, cutoff), 1.0)


@measure("FilteredGood", higher="worse", expected=True, cite="carmel2022")
def filtered_good(rankings: Rankings, *, rel: Rel = 1.0) -> FloatArray:
    """The share of the topic's good documents that were not returned.

    FilteredGood = 1 - (returned documents with label ≥ rel)/R, R the number of such documents in the pool.
    Undefined if R = 0.
    """
    return 1.0 - ratio(relevant_shown(rankings, rel, None), relevant_in_pool(rankings, rel))


@measure("Empty", higher="neither", expected=True, cite="carmel2022")
def empty(rankings: Rankings) -> FloatArray:
    """1 if nothing was returned for the topic, else 0; its mean is the share of empty answers. Never undefined."""
    return np.where(rankings.retrieved == 0, 1.0, 0.0)
