"""Whole topics of a run: ranked, and looked up in the pool.

Only documents of the pool need a rank, and most run files come sorted, so nothing is sorted that is already in
order, and strings are compared only where 64-bit hashes agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful import _polars as pl
from gainful.data.policies import Policies
from gainful.data.pool import Judged, Pool, keys, repeated_rows, runs_of_equal, topic_numbers
from gainful.data.rankings import BoolArray, FloatArray, IntArray, ListedDocuments

# Rows of a run that one thread takes at a time: large enough to amortise a call, small enough to stay in cache.
PIECE = 1 << 19


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What runs are joined with, and how."""

    judged: Judged
    policies: Policies
    single: bool  # trec_eval held scores as float32: what tied there must tie here
    documents: float  # how many of each ranking are listed
    scores: bool  # whether the score of every document is kept

    @property
    def pool(self) -> Pool:
        """For runs that are frames."""
        return self.judged.pool


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Whole topics of one run: consecutive rows, one segment per topic."""

    doc: pl.Series
    score: pl.Series
    topic: IntArray  # per segment
    start: IntArray  # per segment, and the end of the last


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The documents of a piece that are in the pool."""

    topic: IntArray
    rank: IntArray
    document: IntArray
    tie_first: IntArray
    tie_last: IntArray
    tied: FloatArray  # per segment, whether all its documents have the same score; NaN if there is only one
    listed: ListedDocuments | None  # whose row is the topic
    score: FloatArray | None  # of all documents, by topic of the piece and rank


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """What is kept of one run."""

    counts: IntArray  # per topic
    tied: FloatArray  # per topic
    hits: list[Hits]
    scores: list[FloatArray]  # of all documents, by topic and rank, in parts; none if they are not kept
    ignored: int
    stranger: str | None


@dataclass(frozen=True, slots=True)
class Twice:
    """A document that a topic lists twice; topics first in the judgments come first."""

    topic: int
    doc: str


def segments(frame: pl.DataFrame, pool: Pool) -> tuple[Piece, pl.Series]:
    """The judged topics among these rows as consecutive rows, and the ids of the others, once or more."""
    values, start = runs_of_equal(frame["query_id"])
    topic = topic_numbers(values, pool.codes)
    unknown = values.filter(pl.Series(topic < 0))
    judged = topic[topic >= 0]
    if len(judged) < len(topic) or len(np.unique(judged)) < len(judged):
        per_row = np.repeat(topic, np.diff(start))
        order = np.argsort(per_row, kind="stable")
        order = order[np.searchsorted(per_row[order], 0) :]
        frame = frame[order]
        topic, lengths = np.unique(per_row[order], return_counts=True)
        start = np.concatenate([[0], np.cumsum(lengths)])
    return Piece(frame["doc_id"], frame["score"], topic, start), unknown


def split(whole: Piece) -> Iterator[Piece]:
    """Pieces of about `PIECE` rows, cut between topics."""
    topics = len(whole.topic)
    if not topics:
        return
    cuts = np.unique(np.searchsorted(whole.start[:-1], np.arange(0, whole.start[-1], PIECE)))
    for first, last in zip(cuts, np.append(cuts[1:], topics), strict=True):
        begin, end = int(whole.start[first]), int(whole.start[last])
        yield Piece(
            whole.doc.slice(begin, end - begin),
            whole.score.slice(begin, end - begin),
            whole.topic[first:last],
            whole.start[first : last + 1] - begin,
        )


def match(piece: Piece, rules: Rules) -> tuple[Piece, Hits] | Twice:
    """The hits of a piece, with their ranks; and the piece, less duplicates where those are dropped."""
    pool, policies = rules.pool, rules.policies
    lengths = np.diff(piece.start)
    key = keys(piece.doc, piece.topic, lengths)
    repeated = repeated_rows(key, piece.doc, piece.topic, lengths)
    if len(repeated):
        if policies.duplicates == "error":
            topics = piece.topic[np.searchsorted(piece.start, repeated, side="right") - 1]
            where = int(np.argmin(topics))
            return Twice(int(topics[where]), piece.doc[int(repeated[where])])
        once = np.setdiff1d(np.arange(len(key)), repeated)
        start = np.searchsorted(once, piece.start)
        piece = Piece(piece.doc.gather(once), piece.score.gather(once), piece.topic, start)
        key, lengths = key[once], np.diff(start)
    position, document = pool.find(piece.doc, piece.topic, lengths, key)
    shift, first, last, tied = _shifts(piece, rules)
    # Condensed, only documents of the pool are listed: their names are known.
    listing = rules.documents and policies.unjudged == "zero"
    listed = _first_documents(piece, shift, position, document, rules) if listing else None
    score = _ranked_scores(piece, shift) if rules.scores else None
    begin = np.zeros(len(pool.topics), np.int64)
    begin[piece.topic] = piece.start[:-1]
    hit_topic = pool.topic[document]
    before = begin[hit_topic] - 1
    place = position + shift[position]
    if len(place) and bool((np.diff(place) < 0).any()):
        # In rank order here, in parallel, so that whole runs need not be sorted in the end.
        order = np.argsort(place)
        place, document, hit_topic, before = place[order], document[order], hit_topic[order], before[order]
    rank = place - before
    if first is None or last is None:
        return piece, Hits(hit_topic, rank, document, rank, rank, tied, listed, score)
    return piece, Hits(hit_topic, rank, document, first[place] - before, last[place] - before, tied, listed, score)


def _first_documents(
    piece: Piece, shift: IntArray, position: IntArray, document: IntArray, rules: Rules
) -> ListedDocuments:
    """The first documents of each topic, whether in the pool or not."""
    begin, rank = first_ranks(piece.start[:-1], np.diff(piece.start), rules.documents)
    row = begin + rank - 1
    if shift.any():
        row = _order(shift)[row]
    # Those of the pool come in ascending rows.
    at = np.searchsorted(position, row)
    known = np.append(position, -1)[at] == row
    return ListedDocuments(
        row=first_ranks(piece.topic, np.diff(piece.start), rules.documents)[0],
        rank=rank,
        doc_id=piece.doc.gather(row) + "",  # a copy: a part of a column would hold all of it in memory
        document=np.where(known, np.append(document, -1)[at], -1),
    )


def first_ranks(value: IntArray, lengths: IntArray, most: float) -> tuple[IntArray, IntArray]:
    """Of the first documents of topics that have so many, the value of the topic and the rank."""
    shown = np.minimum(lengths, most).astype(np.int64)
    rank: IntArray = np.arange(shown.sum()) - np.repeat(np.cumsum(shown) - shown, shown) + 1
    return np.repeat(value, shown), rank


def by_topic(topics: list[IntArray], hits: list[Hits], counts: IntArray) -> list[FloatArray]:
    """The scores of a run by topic, in parts; `topics` are those of each piece."""
    kept = [found.score for found in hits if found.score is not None]
    if not kept:
        return []
    topic = np.concatenate(topics)
    if bool((topic[1:] > topic[:-1]).all()):
        return kept
    order, lengths = np.argsort(topic), counts[topic]
    begin = (np.cumsum(lengths) - lengths)[order] - (np.cumsum(lengths[order]) - lengths[order])
    score: FloatArray = np.concatenate(kept)
    return [score[np.arange(len(score)) + np.repeat(begin, lengths[order])]]


def _ranked_scores(piece: Piece, shift: IntArray) -> FloatArray:
    """The scores of the piece, as its topics rank them."""
    score = piece.score.to_numpy()
    return score[_order(shift)] if shift.any() else score.copy()


def _order(shift: IntArray) -> IntArray:
    """Which row stands at each place."""
    row = np.empty_like(shift)
    row[np.arange(len(shift)) + shift] = np.arange(len(shift))
    return row


def _shifts(piece: Piece, rules: Rules) -> tuple[IntArray, IntArray | None, IntArray | None, FloatArray]:
    """By how much each row moves when the piece is sorted; for ties='expected', the tied group at each place.

    Lastly, for each topic whether all its documents have the same score; NaN if it has only one.
    """
    n = len(piece.score)
    # Zeros are not written to memory until they are touched: a sorted run costs nothing here.
    shift = np.zeros(n, np.int64)
    with np.errstate(over="ignore"):
        score: NDArray[np.floating] = piece.score.to_numpy().astype(np.float32 if rules.single else np.float64)
    boundary = piece.start[1:-1] - 1
    rises = score[1:] > score[:-1]
    rises[boundary] = False
    order: IntArray | None = None
    if rises.any():
        segment = np.repeat(np.arange(len(piece.topic)), np.diff(piece.start))
        frame = pl.DataFrame({"segment": segment, "score": score})
        by = pl.arg_sort_by("segment", "score", descending=[False, True], maintain_order=True)
        order = frame.select(by.cast(pl.Int64)).to_series().to_numpy()
        shift[order] = np.arange(n) - order
        score = score[order]
    first, last = piece.start[:-1], piece.start[1:] - 1
    all_tied = np.where(last > first, score[first] == score[last], np.nan)
    tied = score[1:] == score[:-1]
    tied[boundary] = False
    if rules.policies.ties == "trec" and tied.any():
        places, rows = _break_ties(tied, order, piece.doc)
        shift[rows] = places - rows
    if rules.policies.ties != "expected":
        return shift, None, None, all_tied
    group = np.flatnonzero(np.append(n > 0, ~tied))
    size = np.diff(np.append(group, n))
    return shift, np.repeat(group, size), np.repeat(group + size - 1, size), all_tied


def _break_ties(tied: BoolArray, order: IntArray | None, doc: pl.Series) -> tuple[IntArray, IntArray]:
    """The places that tied documents hold, and the rows that belong there: by id, descending in byte order."""
    later = np.flatnonzero(tied) + 1
    places = np.union1d(later - 1, later)
    rows = places if order is None else order[places]
    group = np.cumsum(~np.isin(places, later, assume_unique=True))
    frame = pl.DataFrame({"group": group, "doc": doc.gather(rows), "row": rows})
    return places, frame.sort("group", "doc", descending=[False, True])["row"].to_numpy()
