"""Why every topic of every run scored what it did: what `explain` tells of one, for all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gainful import _polars as pl
from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.measures import Measure
from gainful.measures.contributions import Contributions
from gainful.verbs.explain.result import REASONS

# The largest losses of a topic that are shown one by one.
LOSSES = 10
# Contributions are told in whole numbers of 1e-8: finely enough for their sum to be the score that is shown.
_SCALE = 1e8
# Whole numbers that a browser holds.
_LARGEST = 2.0**53


def _documents(rankings: Rankings, ranks: int) -> tuple[pl.Series, IntArray, IntArray]:
    """Names and topics of the documents of the pool, then of others that are shown; and rows × ranks, -1 for none."""
    listed = rankings.listed
    if listed is None:
        raise ValueError("expected rankings that list their documents")
    first = np.flatnonzero(listed.rank <= ranks)
    row, rank, document = listed.row[first], listed.rank[first], listed.document[first].copy()
    other = np.flatnonzero(document < 0)
    asked = pl.DataFrame({"topic": row[other] % len(rankings.topics), "doc": listed.doc_id.gather(first[other])})
    known = asked.unique(maintain_order=True).with_row_index("at")
    document[other] = len(rankings.pool_topic) + asked.join(known, on=["topic", "doc"], maintain_order="left")["at"]
    shown = np.full((rankings.n_rows, ranks), -1)
    shown[row, rank - 1] = document
    names = pl.concat([rankings.pool_doc, known["doc"]])
    return names, np.append(rankings.pool_topic, known["topic"].to_numpy()), shown


def reasons(rankings: Rankings, measures: Sequence[Measure], *, ranks: int) -> dict[str, object]:
    """All that a page needs to explain every topic of every run to rank `ranks`; documents are numbered by topic."""
    names, topic, shown = _documents(rankings, ranks)
    found = [measure.contributions(rankings) for measure in measures]
    losses = [_largest_losses(rankings, of) for of in found]
    used = np.zeros(len(names), np.bool_)
    used[shown[shown >= 0]] = True
    for of, (_, column) in zip(found, losses, strict=True):
        used[of.document[column]] = True
    kept = np.flatnonzero(used)
    kept = kept[np.argsort(topic[kept], kind="stable")]
    start = np.searchsorted(topic[kept], np.arange(len(rankings.topics) + 1))
    local = np.full(len(names) + 1, -1)
    local[kept] = np.arange(len(kept)) - start[topic[kept]]
    grade = np.append(rankings.pool_grade, np.full(len(names) - len(rankings.pool_grade), -1))[kept]
    label = _plain(np.append(rankings.grades, np.nan)[grade])
    doc = names.gather(kept).to_list()
    lists = local[shown]
    length = np.minimum(rankings.retrieved, ranks).tolist()
    return {
        "ranks": ranks,
        "reasons": REASONS,
        "documents": [doc[start[t] : start[t + 1]] for t in range(len(rankings.topics))],
        "labels": [label[start[t] : start[t + 1]] for t in range(len(rankings.topics))],
        "rankings": [row[:n] for row, n in zip(lists.tolist(), length, strict=True)],
        "retrieved": rankings.retrieved.tolist(),
        "measures": {
            str(measure): _told(rankings, measure, of, listed, local, lists, length)
            for measure, of, listed in zip(measures, found, losses, strict=True)
        },
    }


def _largest_losses(rankings: Rankings, of: Contributions) -> tuple[IntArray, IntArray]:
    """The (row, counted document) of the largest losses and wins of every row, largest loss first."""
    system, column = np.nonzero(((of.won != 0.0) | (of.best != 0.0)) & ~np.isnan(of.won))
    row = system * len(rankings.topics) + rankings.pool_topic[of.document[column]]
    lost = (of.best - of.won)[system, column]
    order = np.lexsort((of.rank[system, column], -np.round(lost, 12), row))
    row, column = row[order], column[order]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    return row[place < LOSSES], column[place < LOSSES]


def _told(
    rankings: Rankings,
    measure: Measure,
    of: Contributions,
    losses: tuple[IntArray, IntArray],
    local: IntArray,
    lists: IntArray,
    length: Sequence[int],
) -> dict[str, object]:
    """One measure: what each shown rank adds, the largest losses, and the sums of all losses.

    A loss is document, rank, won and best; that of a document whose rank is shown is minus its rank, and best.
    """
    ranks = lists.shape[1]
    top = float(max(np.nanmax(np.abs(share), initial=0.0) for share in (of.won, of.best)))
    scale = _SCALE if top * _SCALE < _LARGEST else _LARGEST / top
    row, column = losses
    system = row // len(rankings.topics)
    rank = of.rank[system, column]
    rank = np.where(np.isinf(rank), 0, rank).astype(np.int64)
    document, won = local[of.document[column]], _scaled(of.won[system, column], scale)
    added = _scaled(of.added(rankings, ranks), scale)
    at = row, np.clip(rank - 1, 0, ranks - 1)
    shown = (rank > 0) & (rank <= ranks) & (lists[at] == document) & (added[at] == won)
    table = np.stack([np.where(shown, -rank, document), rank, won, _scaled(of.best[system, column], scale)], axis=1)
    kept = np.ones(table.shape, np.bool_)
    kept[shown, 1:3] = False
    cells = table[kept].tolist()
    sizes = np.append(0, kept.sum(axis=1).cumsum())
    ends = sizes[np.searchsorted(row, np.arange(rankings.n_rows + 1))].tolist()
    undefined = np.tile(np.isnan(of.top), len(rankings.systems)).tolist()
    absent, misplaced, forbidden = of.lost(rankings, measure.cutoff)
    worth = [] if of.worth is None else zip(_plain(rankings.grades), of.worth.tolist(), strict=True)
    return {
        "family": "gain" if of.discount is not None else "binary" if of.worth is not None else "other",
        "cutoff": measure.cutoff,
        "gains": [list(pair) for pair in worth],
        "discounts": None if of.discount is None else np.round(of.discount[:ranks], 6).tolist(),
        "empty": _plain(of.empty),
        "best": _plain(of.top),
        "adds": [None if none else row[:n] for row, n, none in zip(added.tolist(), length, undefined, strict=True)],
        "lost": [cells[first:end] for first, end in pairwise(ends)],
        "not_shown": _plain(absent),
        "misplaced": _plain(misplaced),
        "forbidden": _plain(forbidden),
        "scale": scale,
    }


def _scaled(values: FloatArray, scale: float) -> IntArray:
    return np.round(np.nan_to_num(values) * scale).astype(np.int64)


def _plain(values: FloatArray, digits: int = 8) -> list[float | None]:
    """Rounded numbers; None for NaN, which JSON has not."""
    return [None if value != value else value for value in np.round(values, digits).tolist()]
