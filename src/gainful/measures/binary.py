"""Measures that ask only whether a document is relevant: its label reaches `rel`."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings
from gainful.measures.contributions import Contributions, Declared, by_rank, counting, places, ranks_of
from gainful.measures.gains import depth
from gainful.measures.parameters import Beta, Cutoff, Depth, Recall, Rel
from gainful.measures.registry import measure


def relevant_in_pool(rankings: Rankings, rel: float) -> FloatArray:
    """Per row, the number R of relevant documents in its topic's pool."""
    return rankings.pool_sum(rankings.grades >= rel)


def relevant_shown(rankings: Rankings, rel: float, cutoff: int | None) -> FloatArray:
    """Per row, the number of relevant documents in the first `cutoff`; the expected number if ties are averaged."""
    shown = rankings.weights(np.ones(depth(rankings) if cutoff is None else min(cutoff, depth(rankings))))
    return rankings.sum(rankings.relevant(rel) * shown)


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """above/below, NaN (undefined) where below is 0."""
    if below.all():
        return above / below
    return np.asarray(np.divide(above, below, out=np.full(len(below), np.nan), where=below != 0.0), np.float64)


def within(rankings: Rankings, cutoff: int | None) -> BoolArray:
    """Per hit, whether it ranks within the cutoff."""
    return np.ones(len(rankings.rank), np.bool_) if cutoff is None else rankings.rank <= cutoff


def _contributions(name: Literal["AP", "P", "R", "RR"]) -> Declared:
    """In the best ordering the relevant documents come first, those found in the order found."""

    def contributions(rankings: Rankings, *, cutoff: int | None, rel: float) -> Contributions:
        relevant = (rankings.grades >= rel).astype(np.float64)
        document = counting(rankings, relevant)
        rank = ranks_of(rankings, document)
        above = places(rankings, document, rank)  # those that rank above it
        topic = rankings.pool_topic[document]
        total = np.bincount(topic, minlength=len(rankings.topics))
        undefined = (total == 0) & (name in ("AP", "R"))
        of = (total if name in ("AP", "R") else np.full(len(total), cutoff or 1)).astype(np.float64)
        share = 1.0 / of[topic]
        won: FloatArray | float
        best: FloatArray | BoolArray | float
        match name:
            case "AP":
                won, best = (above + 1) / rank / of[topic], share
            case "RR":
                won, best = (above == 0) / rank, above == 0
            case _:
                won, best = share, share
        within = (rank < np.inf) & (rank <= (cutoff or np.inf))

        def steps(row: int, last: int) -> dict[str, FloatArray | IntArray]:
            at = row % len(rankings.topics)
            hit = by_rank(rankings, row, last, relevant > 0)
            found, ranks = np.cumsum(hit), np.arange(1, last + 1)
            recall = found / total[at] if total[at] else np.full(last, np.nan)
            columns = {"relevant": hit, "found": found, "precision": found / ranks, "recall": recall}
            if name in ("AP", "RR"):
                added = np.where(hit, found / ranks / max(total[at], 1), 0.0)
                added = added if name == "AP" else (hit & (found == 1)) / ranks
                columns[name.lower()] = np.full(last, np.nan) if undefined[at] else np.cumsum(added)
            return columns

        return Contributions.of(
            rankings,
            document,
            won=np.where(within, won, 0.0),
            rank=rank,
            best=np.where(above < (cutoff or np.inf), best, 0.0),
            empty=np.where(undefined, np.nan, 0.0),
            # As a quotient, to the last bit: a sum of shares of 1 need not be 1.
            top=None if name == "RR" else ratio(np.minimum(total, cutoff or np.inf), of),
            worth=relevant,
            steps=steps,
        )

    return contributions


@measure("P", expected=True, cite="trec_eval", contributions=_contributions("P"))
def precision(rankings: Rankings, *, cutoff: Depth, rel: Rel = 1.0) -> FloatArray:
    """Precision: the share of the first k places that hold a relevant document.

    P@k = (relevant in the first k)/k, also where fewer than k documents were returned. Never undefined.
    """
    return relevant_shown(rankings, rel, cutoff) / cutoff


@measure("R", expected=True, cite="trec_eval", contributions=_contributions("R"))
def recall(rankings: Rankings, *, cutoff: Depth, rel: Rel = 1.0) -> FloatArray:
    """Recall: the share of the topic's relevant documents found in the first k.

    R@k = (relevant in the first k)/R, with R the relevant documents of the pool. Undefined if R = 0.
    """
    return ratio(relevant_shown(rankings, rel, cutoff), relevant_in_pool(rankings, rel))


@measure("Rcap", expected=True, cite="thakur2021")
def capped_recall(rankings: Rankings, *, cutoff: Depth, rel: Rel = 1.0) -> FloatArray:
    """Capped recall: the share of the relevant documents that the first k could hold that is found there.

    Rcap@k = (relevant in the first k)/min(k, R), with R the relevant documents of the pool. Undefined if R = 0.
    """
    return ratio(relevant_shown(rankings, rel, cutoff), np.minimum(relevant_in_pool(rankings, rel), cutoff))


@measure("F", expected=True, cite="vanrijsbergen1979")
def f_measure(rankings: Rankings, *, cutoff: Depth, rel: Rel = 1.0, beta: Beta = 1.0) -> FloatArray:
    """F-measure of precision and recall after k documents.

    F@k = (1+β²)·P·R/(β²·P+R) = (1+β²)·(relevant in the first k)/(β²·R + k). Undefined if the pool has no relevant
    document.
    """
    pool = relevant_in_pool(rankings, rel)
    value = (1 + beta**2) * relevant_shown(rankings, rel, cutoff) / (beta**2 * pool + cutoff)
    return np.where(pool > 0, value, np.nan)


@measure("Rprec", expected=True, cite="trec_eval")
def r_precision(rankings: Rankings, *, rel: Rel = 1.0) -> FloatArray:
    """R-precision: precision after as many documents as the topic has relevant ones.

    Rprec = (relevant in the first R)/R, with R the relevant documents of the pool. Undefined if R = 0.
    """
    pool = relevant_in_pool(rankings, rel)
    limit = pool[rankings.row]
    # The share of a tied group's places that lie within the first R; 0 or 1 where nothing is tied.
    size = rankings.tie_last - rankings.tie_first + 1
    inside = np.clip((limit - rankings.tie_first + 1) / size, 0.0, 1.0)
    return ratio(rankings.sum(rankings.relevant(rel) * inside), pool)


@measure("RR", cite="kantor2000", contributions=_contributions("RR"))
def reciprocal_rank(rankings: Rankings, *, cutoff: Cutoff = None, rel: Rel = 1.0) -> FloatArray:
    """Reciprocal rank of the first relevant document.

    RR@k = 1/(rank of the first relevant document), 0 if there is none in the first k. Never undefined.
    """
    found = rankings.relevant(rel) & within(rankings, cutoff)
    first = np.full(rankings.n_rows, np.inf)
    np.minimum.at(first, rankings.row[found], rankings.rank[found])
    return 1.0 / first


@measure("Success", cite="craswell2004")
def success(rankings: Rankings, *, cutoff: Depth, rel: Rel = 1.0) -> FloatArray:
    """Success: 1 if there is a relevant document in the first k, else 0. Never undefined.

    Success@k = [a document with label ≥ rel has rank ≤ k]. Also known as hit rate.
    """
    found = rankings.relevant(rel) & within(rankings, cutoff)
    return (rankings.sum(found) > 0).astype(np.float64)


@measure("AP", cite="trec_eval", contributions=_contributions("AP"))
def average_precision(rankings: Rankings, *, cutoff: Cutoff = None, rel: Rel = 1.0) -> FloatArray:
    """Average precision: the mean, over the relevant documents of the pool, of the precision where each is found.

    AP@k = (1/R)·Σ over relevant documents at rank r ≤ k of P@r; one that is not found adds 0. Undefined if R = 0.
    """
    relevant = rankings.relevant(rel)
    (found,) = (relevant if cutoff is None else relevant & within(rankings, cutoff)).nonzero()
    precise = rankings.place_among(found) / rankings.rank[found]
    return ratio(rankings.sum(precise, found), relevant_in_pool(rankings, rel))


@measure("GMAP", summary="gmean", cite="robertson2006")
def geometric_map(rankings: Rankings, *, cutoff: Cutoff = None, rel: Rel = 1.0) -> FloatArray:
    """Average precision, summarised over topics by the geometric mean, so that hard topics count.

    Per topic AP@k; over topics exp(mean(log(max(AP, 0.00001)))). Undefined if the pool has no relevant document.
    """
    return average_precision(rankings, cutoff=cutoff, rel=rel)


@measure("iP", cite="trec_eval")
def interpolated_precision(rankings: Rankings, *, cutoff: Recall, rel: Rel = 1.0) -> FloatArray:
    """Interpolated precision at a recall level, written iP@0.1.

    iP@r = the highest precision at any rank where recall is at least r, with recall over the R relevant documents
    of the pool; 0 if that recall is never reached. trec_eval 9 takes the whole part of r·R + 0.9 in floating point,
    at times one document fewer (R = 3, r = 0.7), and trec_eval 10 rounds r·R; this follows the definition.
    Undefined if R = 0.
    """
    relevant = rankings.relevant(rel)
    found = np.flatnonzero(relevant)
    pool = relevant_in_pool(rankings, rel)
    row, count = rankings.row[found], rankings.place_among(found)
    # 1e-9 keeps a product such as 0.28 · 25 = 7.000000000000001 from asking for one document more.
    reached = count >= cutoff * pool[row] - 1e-9
    value = np.zeros(rankings.n_rows)
    np.maximum.at(value, row[reached], (count / rankings.rank[found])[reached])
    return np.where(pool > 0, value, np.nan)
