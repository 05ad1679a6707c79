"""Measures of rankings that may leave documents out: what was shown that should not be, and the reverse."""

from __future__ import annotations

import numpy as np

from gainful.data.rankings import FloatArray, Rankings
from gainful.measures.binary import ratio, relevant_in_pool, relevant_shown
from gainful.measures.gains import depth, discounts
from gainful.measures.parameters import Cutoff, Rel
from gainful.measures.registry import measure
from gainful.measures.sets import shown


@measure("Forbidden", higher="worse", expected=True, cite="carmel2022")
def forbidden(rankings: Rankings, *, cutoff: Cutoff = None) -> FloatArray:
    """The share of the documents shown that are forbidden (have a negative label).

    Forbidden@k = (negative labels in the first k)/min(k, returned); 0 where nothing is shown. Never undefined.
    """
    places = np.ones(depth(rankings) if cutoff is None else min(cutoff, depth(rankings)))
    found = rankings.sum(rankings.of_grade(rankings.grades < 0) * rankings.weights(places))
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
