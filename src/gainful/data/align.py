"""The one join: runs and qrels in, `Rankings` out.

Only documents of the pool need a rank, and most run files come sorted, so nothing is sorted that is already in
order, and strings are compared only where 64-bit hashes agree.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gainful.data.policies import Policies
from gainful.data.pool import Pool, keys, make_pool, repeated_rows, runs_of_equal, topic_numbers
from gainful.data.qrels import Qrels
from gainful.data.rankings import BoolArray, IntArray, Rankings
from gainful.data.run import Run
from gainful.errors import DataError, PolicyError

# Rows of a run that one thread takes at a time: large enough to amortise a call, small enough to stay in cache.
PIECE = 1 << 19
# trec_eval holds scores as float32: what ties there must tie here.
_PRECISION = {"trec": np.float32, "order": np.float64, "expected": np.float64}


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Whole topics of one run: consecutive rows, one segment a topic."""

    name: str
    doc: pl.Series
    score: pl.Series
    topic: IntArray  # per segment
    start: IntArray  # per segment, and the end of the last


@dataclass(frozen=True, slots=True, eq=False)
class _Hits:
    topic: IntArray
    rank: IntArray
    document: IntArray
    tie_first: IntArray
    tie_last: IntArray


def align(qrels: Qrels, runs: Iterable[Run], policies: Policies | None = None) -> Rankings:
    """Join runs with qrels.

    Parameters
    ----------
    qrels
        The judgments; their topics are the topics of the result, in the order in which they first appear.
    runs
        One or more runs with different names; consumed one at a time, so a generator keeps memory low.
    policies
        `ties`, `unjudged`, `missing` and `duplicates` are honoured here.

    Returns
    -------
    Rankings
        Every returned document that is in the pool, for all systems and topics.
    """
    policies = policies or Policies()
    pool = make_pool(qrels, policies.duplicates)
    n_topics = len(pool.topics)
    names: list[str] = []
    retrieved: list[IntArray] = []
    hits: list[_Hits] = []
    rows: list[IntArray] = []
    ignored: list[int] = []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as threads:
        for run in runs:
            if run.name in names:
                raise DataError(f"Two runs are named {run.name!r}: give each run its own name.")
            counts = np.zeros(n_topics, np.int64)
            whole, unknown = _segments(run, pool)
            pieces = list(_split(whole))
            apply = threads.map if len(pieces) > 1 else map  # starting threads costs more than a small run
            for piece, found in apply(lambda p: _match(p, pool, policies), pieces):
                counts[piece.topic] = np.diff(piece.start)
                rows.append(found.topic + len(names) * n_topics)
                hits.append(found)
            _check_missing(run, pool, counts, policies)
            names.append(run.name)
            retrieved.append(counts)
            ignored.append(unknown)
    if not names:
        raise DataError("expected at least one run, got none")
    return _assemble(pool, names, retrieved, rows, hits, ignored, policies)


def _assemble(
    pool: Pool,
    names: list[str],
    retrieved: list[IntArray],
    rows: list[IntArray],
    hits: list[_Hits],
    ignored: list[int],
    policies: Policies,
) -> Rankings:
    row = _concatenate(rows)
    rank = _concatenate([h.rank for h in hits])
    document = _concatenate([h.document for h in hits])
    order = _row_order(row, rank)
    row, rank, document = row[order], rank[order], document[order]
    first, last = rank, rank
    if policies.ties == "expected":
        first = _concatenate([h.tie_first for h in hits])[order]
        last = _concatenate([h.tie_last for h in hits])[order]
    total = np.concatenate(retrieved)
    rankings = Rankings(
        systems=tuple(names),
        topics=pool.topics,
        retrieved=total,
        present=total > 0,
        row=row,
        rank=rank,
        document=document,
        tie_first=first,
        tie_last=last,
        pool_topic=pool.topic,
        pool_grade=pool.grade,
        grades=pool.grades,
        ignored=tuple(ignored),
    )
    return rankings.condensed() if policies.unjudged == "condensed" else rankings


def _concatenate(parts: list[IntArray]) -> IntArray:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _row_order(row: IntArray, rank: IntArray) -> IntArray | slice:
    """What sorts hits by row and rank; nothing to do for a run that lists topics as the qrels do."""
    if not len(row):
        return slice(None)
    key = row * (int(rank.max()) + 1) + rank
    return slice(None) if bool((key[1:] > key[:-1]).all()) else np.argsort(key)


def _check_missing(run: Run, pool: Pool, counts: IntArray, policies: Policies) -> None:
    if policies.missing == "error" and not counts.all():
        absent = [pool.topics[i] for i in np.flatnonzero(counts == 0)]
        raise PolicyError(
            f"run {run.name!r} returns nothing for {len(absent)} of {len(pool.topics)} judged topics "
            f"({_some(absent)}): use missing='empty' or missing='skip' to score it all the same."
        )


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _segments(run: Run, pool: Pool) -> tuple[_Piece, int]:
    """The judged topics of a run as consecutive rows, and the number of its topics without judgments."""
    frame = run.frame
    values, start = runs_of_equal(frame["query_id"])
    topic = topic_numbers(values, pool.codes)
    unknown = values.filter(pl.Series(topic < 0)).n_unique()
    judged = topic[topic >= 0]
    if len(judged) < len(topic) or len(np.unique(judged)) < len(judged):
        per_row = np.repeat(topic, np.diff(start))
        order = np.argsort(per_row, kind="stable")
        order = order[np.searchsorted(per_row[order], 0) :]
        frame = frame[order]
        topic, lengths = np.unique(per_row[order], return_counts=True)
        start = np.concatenate([[0], np.cumsum(lengths)])
    return _Piece(run.name, frame["doc_id"], frame["score"], topic, start), unknown


def _split(whole: _Piece) -> Iterator[_Piece]:
    """Pieces of about `PIECE` rows, cut between topics."""
    segments = len(whole.topic)
    if not segments:
        return
    cuts = np.unique(np.searchsorted(whole.start[:-1], np.arange(0, whole.start[-1], PIECE)))
    for first, last in zip(cuts, np.append(cuts[1:], segments), strict=True):
        begin, end = int(whole.start[first]), int(whole.start[last])
        yield _Piece(
            whole.name,
            whole.doc.slice(begin, end - begin),
            whole.score.slice(begin, end - begin),
            whole.topic[first:last],
            whole.start[first : last + 1] - begin,
        )


def _match(piece: _Piece, pool: Pool, policies: Policies) -> tuple[_Piece, _Hits]:
    """The hits of a piece, with their ranks; and the piece, less duplicates where those are dropped."""
    lengths = np.diff(piece.start)
    key = keys(piece.doc, piece.topic, lengths)
    repeated = repeated_rows(key, piece.doc, piece.topic, lengths)
    if len(repeated):
        if policies.duplicates == "error":
            where = int(repeated[0])
            topic = pool.topics[piece.topic[np.searchsorted(piece.start, where, side="right") - 1]]
            raise DataError(
                f"run {piece.name!r}: document {piece.doc[where]!r} appears twice in topic {topic!r}: "
                "remove one, or use duplicates='first' to keep the first."
            )
        once = np.setdiff1d(np.arange(len(key)), repeated)
        start = np.searchsorted(once, piece.start)
        piece = _Piece(piece.name, piece.doc.gather(once), piece.score.gather(once), piece.topic, start)
        key, lengths = key[once], np.diff(start)
    position, document = pool.find(piece.doc, piece.topic, lengths, key)
    shift, first, last = _shifts(piece, policies)
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
        return piece, _Hits(hit_topic, rank, document, rank, rank)
    return piece, _Hits(hit_topic, rank, document, first[place] - before, last[place] - before)


def _shifts(piece: _Piece, policies: Policies) -> tuple[IntArray, IntArray | None, IntArray | None]:
    """By how much each row moves when the piece is sorted; for ties='expected', the tied group at each place."""
    n = len(piece.score)
    # Zeros are not written to memory until they are touched: a sorted run costs nothing here.
    shift = np.zeros(n, np.int64)
    with np.errstate(over="ignore"):
        score: NDArray[np.floating] = piece.score.to_numpy().astype(_PRECISION[policies.ties])
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
    tied = score[1:] == score[:-1]
    tied[boundary] = False
    if policies.ties == "trec":
        places, rows = _break_ties(tied, order, piece.doc)
        shift[rows] = places - rows
    if policies.ties != "expected":
        return shift, None, None
    group = np.flatnonzero(np.append(n > 0, ~tied))
    size = np.diff(np.append(group, n))
    return shift, np.repeat(group, size), np.repeat(group + size - 1, size)


def _break_ties(tied: BoolArray, order: IntArray | None, doc: pl.Series) -> tuple[IntArray, IntArray]:
    """The places that tied documents hold, and the rows that belong there: by id, descending in byte order."""
    later = np.flatnonzero(tied) + 1
    places = np.union1d(later - 1, later)
    rows = places if order is None else order[places]
    group = np.cumsum(~np.isin(places, later, assume_unique=True))
    frame = pl.DataFrame({"group": group, "doc": doc.gather(rows), "row": rows})
    return places, frame.sort("group", "doc", descending=[False, True])["row"].to_numpy()
