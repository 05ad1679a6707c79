"""Why every topic of every run scored what it did: what `explain` tells of one, for all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.data.pool import make_pool
from gainful.data.qrels import Qrels
from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.data.run import Run
from gainful.measures import Measure
from gainful.measures.gains import best_ordering, depth, discounts, gains

GAIN_FAMILY = ("nDCG", "DCG", "CG")
BINARY = ("AP", "P", "R", "RR")
# The largest losses of a topic that are shown one by one.
LOSSES = 10
# Contributions are told in whole numbers of 1e-8: finely enough for their sum to be the score that is shown.
_SCALE = 1e8
# Whole numbers that a browser holds.
_LARGEST = 2.0**53


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares:
    """What the documents that count add to a measure: systems × counted documents, a topic's side by side.

    Parameters
    ----------
    document
        Per counted document, its number in the pool.
    rank
        Where it was returned; infinite if it was not.
    won, best
        What it adds to the score, and what it adds in the best ordering.
    empty, top
        Per topic, what an empty ranking scores, and the best one.
    gain
        Per label of the qrels, what it gains.
    discount
        Per rank; None for binary measures, which have none.
    """

    document: IntArray
    rank: FloatArray
    won: FloatArray
    best: FloatArray
    empty: FloatArray
    top: FloatArray
    gain: FloatArray
    discount: FloatArray | None


def can_be_explained(measure: Measure) -> bool:
    """Whether there is something to tell rank by rank."""
    return measure.definition.name in GAIN_FAMILY + BINARY


def with_unjudged(qrels: Qrels, runs: Sequence[Run], ranks: int, policies: Policies) -> Qrels:
    """The judgments, and the unjudged documents among the first `ranks` of any run: those get a name."""
    judged = qrels.frame.select("query_id", "doc_id", "relevance")
    if policies.unjudged == "condensed":
        return Qrels(judged, name=qrels.name)
    # As coarse as trec_eval compares scores: all that may be among the first, whatever breaks the ties.
    place = pl.col("score").cast(pl.Float32).rank("min", descending=True).over("query_id")
    frames = [run.frame.lazy() for run in runs]
    if policies.duplicates == "first":  # what is dropped holds no rank
        frames = [frame.unique(["query_id", "doc_id"], keep="first", maintain_order=True) for frame in frames]
    first = [frame.filter(place <= ranks).select("query_id", "doc_id") for frame in frames]
    topics = judged.lazy().select("query_id").unique()
    others = (
        pl.concat(first)
        .unique(maintain_order=True)
        .join(topics, on="query_id", how="semi", maintain_order="left")
        .join(judged.lazy(), on=["query_id", "doc_id"], how="anti", maintain_order="left")
        .with_columns(relevance=pl.lit(None, pl.Float64))
        .collect()
    )
    return Qrels(pl.concat([judged, others]), name=qrels.name)


def shares(rankings: Rankings, measure: Measure) -> Shares:
    """What each document adds to a measure, in every ranking and in the best one.

    Parameters
    ----------
    rankings
        Of all runs; ties must be broken.
    measure
        One that `can_be_explained`.
    """
    name, parameters = measure.definition.name, measure.parameters
    if name in GAIN_FAMILY:
        return _of_gains(rankings, **parameters)  # type: ignore[arg-type]
    return _of_hits(rankings, name, **parameters)  # type: ignore[arg-type]


def _ranks(rankings: Rankings, counted: IntArray) -> FloatArray:
    """Systems × counted documents: the rank, infinite if not returned."""
    column = np.full(len(rankings.pool_topic), -1)
    column[counted] = np.arange(len(counted))
    at = column[rankings.document]
    ranks = np.full((len(rankings.systems), len(counted)), np.inf)
    ranks[rankings.row[at >= 0] // len(rankings.topics), at[at >= 0]] = rankings.rank[at >= 0]
    return ranks


def _places(topic: IntArray, value: FloatArray, ranks: FloatArray) -> IntArray:
    """Systems × documents: the place from 0 in the best ordering of the topic; the higher ranked of equals first."""
    keys = np.stack([ranks, np.broadcast_to(-value, ranks.shape), np.broadcast_to(topic, ranks.shape)])
    order = np.lexsort(keys, axis=-1)
    start = np.searchsorted(topic, topic)  # where a topic's documents begin: it is sorted
    places = np.empty(ranks.shape, np.int64)
    np.put_along_axis(places, order, np.arange(len(topic)) - start[order], axis=-1)
    return places


def _at(weight: FloatArray, place: IntArray) -> FloatArray:
    """The weight at each place from 0; nothing beyond the last."""
    return np.append(weight, 0.0)[np.minimum(place, len(weight))]


def _of_gains(
    rankings: Rankings,
    *,
    cutoff: int | None,
    gain: Any,
    discount: Any = "none",
    base: float = 2.0,
    norm: str | None = None,
) -> Shares:
    """See `gainful.explain`: with Z = I - W, a document of gain g at rank r wins g·D(r)/Z."""
    value = gains(rankings.grades, gain)
    value = np.maximum(value, 0.0) if norm == "zero" else value
    weight = discounts(discount, depth(rankings), cutoff, base)
    sublist = norm in ("f", None)
    top = best_ordering(rankings, np.maximum(value, 0.0) if sublist else value, weight)
    bottom = np.zeros_like(top)
    if norm in ("min", "f"):
        bottom = -best_ordering(rankings, -np.minimum(value, 0.0) if sublist else -value, weight)
    size = best_ordering(rankings, np.abs(value), weight)
    span = np.ones_like(top)
    if norm is not None:
        span = np.where(np.abs(top - bottom) > 1e-12 * size, top - bottom, np.nan)

    of_pool = np.append(value, 0.0)[rankings.pool_grade]
    counted = np.flatnonzero(of_pool != 0.0)
    topic, worth, ranks = rankings.pool_topic[counted], of_pool[counted], _ranks(rankings, counted)
    place = _places(topic, worth, ranks)
    # Documents that gain nothing stand between those that gain and those that cost.
    none = np.bincount(rankings.pool_topic[(of_pool == 0.0) & (rankings.pool_grade >= 0)], minlength=len(top))
    place = np.where(worth < 0.0, place + none[topic], place)
    best = worth * _at(np.sort(weight)[::-1], place) / span[topic]
    if sublist:
        best[:, worth < 0.0] *= 0.0
    reached = np.where(np.isinf(ranks), len(weight), ranks - 1).astype(np.int64)
    return Shares(
        document=counted,
        rank=ranks,
        won=worth * _at(weight, reached) / span[topic] + 0.0,
        best=best + 0.0,  # -0.0 is no way to show nothing
        empty=(-bottom / span if norm is not None else np.zeros_like(top)) + 0.0,
        top=(top - bottom) / span if norm is not None else top,
        gain=value,
        discount=weight,
    )


def _of_hits(rankings: Rankings, name: str, *, cutoff: int | None, rel: float) -> Shares:
    """AP, P, R and RR: in the best ordering the relevant documents come first, those found in the order found."""
    relevant = rankings.grades >= rel
    counted = np.flatnonzero(np.append(relevant, False)[rankings.pool_grade])
    topic, ranks = rankings.pool_topic[counted], _ranks(rankings, counted)
    total = np.bincount(topic, minlength=len(rankings.topics))
    before = _places(topic, np.ones(len(counted)), ranks)  # those that rank above it, too
    found = ranks <= (np.inf if cutoff is None else cutoff)
    found &= ~np.isinf(ranks)
    reach = before < (np.inf if cutoff is None else cutoff)
    each = 1.0 / total[topic] if name in ("AP", "R") else np.full(len(topic), 1.0 / (cutoff or 1))
    match name:
        case "AP":
            won, best = (before + 1) / ranks * each, each
        case "RR":
            won, best = (before == 0) / ranks, (before == 0).astype(np.float64)
        case _:
            won, best = each, each
    undefined = (total == 0) & (name in ("AP", "R"))
    best = np.where(reach, best, 0.0)
    top = np.zeros(len(rankings.topics))
    if len(best):
        np.add.at(top, topic, best[0])
    return Shares(
        document=counted,
        rank=ranks,
        won=np.where(found, won, 0.0),
        best=best,
        empty=np.where(undefined, np.nan, 0.0),
        top=np.where(undefined, np.nan, top),
        gain=relevant.astype(np.float64),
        discount=None,
    )


def reasons(
    qrels: Qrels, runs: Sequence[Run], measures: Sequence[Measure], policies: Policies, *, ranks: int
) -> dict[str, object]:
    """All that a page needs to explain any topic of any run; documents are numbered within their topic.

    Parameters
    ----------
    qrels, runs
        All of them.
    measures
        Those that `can_be_explained`.
    policies
        `ties` must not be expected.
    ranks
        How many ranks are shown.
    """
    pooled = with_unjudged(qrels, runs, ranks, policies)
    rankings = align(pooled, runs, policies)
    names = make_pool(pooled, policies.duplicates).doc
    shown = rankings.rank <= ranks
    found = {str(measure): shares(rankings, measure) for measure in measures}
    listed = {name: _losses(rankings, of) for name, of in found.items()}

    used = np.zeros(len(names), np.bool_)
    used[rankings.document[shown]] = True
    for of, (_, column) in zip(found.values(), listed.values(), strict=True):
        used[of.document[column]] = True
    kept = np.flatnonzero(used)
    start = np.searchsorted(rankings.pool_topic[kept], np.arange(len(rankings.topics) + 1))
    local = np.full(len(names), -1)
    local[kept] = np.arange(len(kept)) - start[rankings.pool_topic[kept]]
    label = np.append(rankings.grades, np.nan)[rankings.pool_grade[kept]]
    doc = names.gather(kept).to_list()

    at = np.full((rankings.n_rows, ranks), -1)
    at[rankings.row[shown], rankings.rank[shown] - 1] = local[rankings.document[shown]]
    length = np.minimum(rankings.retrieved, ranks)
    return {
        "ranks": ranks,
        "documents": [doc[start[t] : start[t + 1]] for t in range(len(rankings.topics))],
        "labels": [_plain(label[start[t] : start[t + 1]]) for t in range(len(rankings.topics))],
        "rankings": [row[:n] for row, n in zip(at.tolist(), length.tolist(), strict=True)],
        "retrieved": rankings.retrieved.tolist(),
        "measures": {
            str(measure): _told(rankings, measure, found[str(measure)], listed[str(measure)], local, at)
            for measure in measures
        },
    }


def _losses(rankings: Rankings, of: Shares) -> tuple[IntArray, IntArray]:
    """The (row, counted document) of the largest losses and wins of every row, largest loss first."""
    topics = rankings.pool_topic[of.document]
    counts = (of.won != 0.0) | (of.best != 0.0)
    system, column = np.nonzero(counts & ~np.isnan(of.won))
    row = system * len(rankings.topics) + topics[column]
    lost = (of.best - of.won)[system, column]
    order = np.lexsort((of.rank[system, column], -np.round(lost, 12), row))
    row, column = row[order], column[order]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    return row[place < LOSSES], column[place < LOSSES]


def _told(
    rankings: Rankings,
    measure: Measure,
    of: Shares,
    listed: tuple[IntArray, IntArray],
    local: IntArray,
    at: IntArray,
) -> dict[str, object]:
    """One measure: what each shown rank adds, the largest losses, and the sums of all losses."""
    topics, n_rows, ranks = len(rankings.topics), rankings.n_rows, at.shape[1]
    adds = np.zeros(at.shape)
    system, column = np.nonzero(of.rank <= ranks)
    row_of = system * topics + rankings.pool_topic[of.document[column]]
    adds[row_of, of.rank[system, column].astype(np.int64) - 1] = of.won[system, column]

    cutoff = measure.parameters.get("cutoff")
    within = of.rank <= (cutoff if isinstance(cutoff, int) else np.inf)
    within &= ~np.isinf(of.rank)
    all_rows = np.arange(len(rankings.systems))[:, None] * topics + rankings.pool_topic[of.document]
    lost = of.best - of.won
    sums = [
        np.bincount(all_rows[chosen], weights=lost[chosen], minlength=n_rows).astype(np.float64)
        for chosen in (~within, within)
    ]
    top = float(max(np.nanmax(np.abs(share), initial=0.0) for share in (of.won, of.best)))
    scale = _SCALE if top * _SCALE < _LARGEST else _LARGEST / top
    row, column = listed
    system = row // topics
    rank = of.rank[system, column]
    table = np.stack(
        [
            local[of.document[column]],
            np.where(np.isinf(rank), 0, rank).astype(np.int64),
            _scaled(of.won[system, column], scale),
            _scaled(of.best[system, column], scale),
        ],
        axis=1,
    )
    ends = np.searchsorted(row, np.arange(n_rows + 1))
    flat = [table[ends[i] : ends[i + 1]].ravel().tolist() for i in range(n_rows)]
    length = np.minimum(rankings.retrieved, ranks)
    undefined = np.tile(np.isnan(of.top), len(rankings.systems))
    contributions = [
        None if none else row[:n]
        for row, n, none in zip(_scaled(adds, scale).tolist(), length.tolist(), undefined.tolist(), strict=True)
    ]
    return {
        "family": "gain" if of.discount is not None else "binary",
        "cutoff": cutoff,
        "gains": [list(pair) for pair in zip(_plain(rankings.grades), of.gain.tolist(), strict=True)],
        "discounts": None if of.discount is None else np.round(of.discount[:ranks], 6).tolist(),
        "empty": _plain(of.empty),
        "best": _plain(of.top),
        "adds": contributions,
        "lost": flat,
        "not_shown": _plain(sums[0]),
        "misplaced": _plain(sums[1]),
        "scale": scale,
    }


def _scaled(values: FloatArray, scale: float) -> IntArray:
    return np.round(np.nan_to_num(values) * scale).astype(np.int64)


def _plain(values: FloatArray, digits: int = 8) -> list[float | None]:
    """Rounded numbers; None for NaN, which JSON has not."""
    return [None if value != value else value for value in np.round(values, digits).tolist()]
