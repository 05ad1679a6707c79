"""The one join: runs and qrels in, `Rankings` out.

Only documents of the pool need a rank, and most run files come sorted, so nothing is sorted that is already in
order, and strings are compared only where 64-bit hashes agree.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gainful.data.chunks import TopicsWithoutJudgments, gathered, whole_topics
from gainful.data.policies import Policies
from gainful.data.pool import Pool, keys, make_pool, repeated_rows, runs_of_equal, topic_numbers
from gainful.data.qrels import Qrels
from gainful.data.rankings import BoolArray, FloatArray, IntArray, ListedDocuments, Rankings
from gainful.data.run import LargeRun, Run, UnreadRun, check_name
from gainful.errors import DataError, DuplicateError, PolicyError, setting
from gainful.results import Note

# Rows of a run that one thread takes at a time: large enough to amortise a call, small enough to stay in cache.
PIECE = 1 << 19
# Pieces of a large run that are joined at the same time, at most.
_AHEAD = min(os.cpu_count() or 1, 8)


@dataclass(frozen=True, slots=True, eq=False)
class _Rules:
    """What runs are joined with, and how."""

    pool: Pool
    policies: Policies
    single: bool  # trec_eval held scores as float32: what tied there must tie here
    documents: float  # how many of each ranking are listed


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Whole topics of one run: consecutive rows, one segment a topic."""

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
    tied: FloatArray  # per segment, whether all its documents have the same score; NaN if there is only one
    listed: ListedDocuments | None  # whose row is the topic


@dataclass(frozen=True, slots=True, eq=False)
class _Joined:
    """What is kept of one run."""

    counts: IntArray  # per topic
    tied: FloatArray  # per topic
    hits: list[_Hits]
    ignored: int
    stranger: str | None


@dataclass(frozen=True, slots=True)
class _Twice:
    """A document that a topic lists twice; topics first in the judgments come first."""

    topic: int
    doc: str


class _ScatteredError(Exception):
    """A topic went on after others had begun."""


def align(
    qrels: Qrels,
    runs: Iterable[Run | LargeRun | UnreadRun],
    policies: Policies | None = None,
    *,
    exact: bool = False,
    documents: float = 0,
    keep_going: bool = False,
) -> Rankings:
    """Join runs with qrels.

    Parameters
    ----------
    qrels
        The judgments; their topics are the topics of the result, in the order in which they first appear.
    runs
        One or more runs with different names; consumed one at a time, so a generator keeps memory low. Of a
        `LargeRun` no more than some chunks are held at a time, and its hits; how it is cut makes no difference.
    policies
        `ties`, `unjudged`, `missing` and `duplicates` are honoured here.
    exact
        Compare scores as float64 under ties='trec' too, as trec_eval does since version 10.
    documents
        How many documents of each ranking to list, judged or not; infinity for all.
    keep_going
        Leave out runs that are refused, and say so in `failed`; there may be none left then.

    Returns
    -------
    Rankings
        Every returned document that is in the pool, for all systems and topics.
    """
    policies = policies or Policies()
    pool = make_pool(qrels, policies.duplicates)
    rules = _Rules(pool, policies, policies.ties == "trec" and not exact, documents)
    joined: dict[str, _Joined] = {}
    failed: list[tuple[str, str]] = []
    notes: list[Note] = []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as threads:
        for run in runs:
            if isinstance(run, UnreadRun):
                failed.append((run.source, run.reason))
                continue
            try:
                check_name(run.name, joined)
                found = _join(run, rules, threads)
                check_missing(run.name, pool.topics, found.counts > 0, policies)
            except (DataError, PolicyError) as error:
                if not keep_going:
                    raise
                failed.append((run.source or repr(run.name), str(error)))
                continue
            joined[run.name] = found
            notes += run.notes
    if not joined and not failed:
        raise DataError("expected at least one run, got none")
    return replace(_assemble(rules, joined), failed=tuple(failed), run_notes=tuple(notes))


def _join(run: Run | LargeRun, rules: _Rules, threads: ThreadPoolExecutor) -> _Joined:
    if isinstance(run, LargeRun):
        with suppress(_ScatteredError):
            return _join_large(run, rules, threads, scattered=False)
        # Once more from the start. That is noticed early, as a rule, since a file is sorted throughout or not at all.
        return _join_large(run, rules, threads, scattered=True)
    whole, unknown = _segments(run.frame, rules.pool)
    pieces = list(_split(whole))
    apply = threads.map if len(pieces) > 1 else map  # starting threads costs more than a small run
    found = apply(lambda piece: _match(piece, rules), pieces)
    unjudged = TopicsWithoutJudgments()
    unjudged.add(unknown)
    return _collect(found, run.name, rules.pool, unjudged)


def _join_large(run: LargeRun, rules: _Rules, threads: ThreadPoolExecutor, *, scattered: bool) -> _Joined:
    unjudged = TopicsWithoutJudgments()
    pool = rules.pool

    def pieces() -> Iterator[_Piece]:
        closed = np.zeros(len(pool.topics), np.bool_)
        for part in gathered(run, pool, unjudged) if scattered else whole_topics(run.chunks()):
            whole, unknown = _segments(part, pool)
            if closed[whole.topic].any():
                raise _ScatteredError
            closed[whole.topic] = True
            unjudged.add(unknown)
            yield from _split(whole)

    def found() -> Iterator[tuple[_Piece, _Hits] | _Twice]:
        # Reading goes on in this thread meanwhile; few pieces wait, so that few are held.
        ahead: deque[Future[tuple[_Piece, _Hits] | _Twice]] = deque()
        for piece in pieces():
            ahead.append(threads.submit(_match, piece, rules))
            if len(ahead) > _AHEAD:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()

    return _collect(found(), run.name, pool, unjudged)


def _collect(
    found: Iterable[tuple[_Piece, _Hits] | _Twice], name: str, pool: Pool, unjudged: TopicsWithoutJudgments
) -> _Joined:
    """All that was found; or the first duplicate, once the whole run was seen to be readable."""
    counts = np.zeros(len(pool.topics), np.int64)
    tied = np.full(len(pool.topics), np.nan)
    hits: list[_Hits] = []
    twice: list[_Twice] = []
    for item in found:
        if isinstance(item, _Twice):
            twice.append(item)
        else:
            piece, matched = item
            counts[piece.topic] = np.diff(piece.start)
            tied[piece.topic] = matched.tied
            hits.append(matched)
    if twice:
        first = min(twice, key=lambda item: item.topic)
        raise DuplicateError(
            f"run {name!r}: document {first.doc!r} appears twice in topic {pool.topics[first.topic]!r}"
        )
    return _Joined(counts, tied, hits, len(unjudged), unjudged.first)


def _assemble(rules: _Rules, runs: dict[str, _Joined]) -> Rankings:
    pool, policies, joined = rules.pool, rules.policies, list(runs.values())
    hits = [found for run in joined for found in run.hits]
    first_row = [at * len(pool.topics) for at, run in enumerate(joined) for _ in run.hits]
    row = _concatenate([found.topic + first for found, first in zip(hits, first_row, strict=True)])
    rank = _concatenate([h.rank for h in hits])
    document = _concatenate([h.document for h in hits])
    order = _row_order(row, rank)
    row, rank, document = row[order], rank[order], document[order]
    first, last = rank, rank
    if policies.ties == "expected":
        first = _concatenate([h.tie_first for h in hits])[order]
        last = _concatenate([h.tie_last for h in hits])[order]
    total = _concatenate([run.counts for run in joined])
    rankings = Rankings(
        systems=tuple(runs),
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
        ignored=tuple(run.ignored for run in joined),
        policies=policies,
        pool_doc=pool.doc,
        tied=np.concatenate([np.zeros(0), *(run.tied for run in joined)]),
        stranger=tuple(run.stranger for run in joined),
    )
    if policies.unjudged == "condensed":
        rankings = rankings.condensed()
    if not rules.documents:
        return rankings
    listed = _listed([h.listed for h in hits if h.listed is not None], first_row, rules)
    return replace(rankings, documents=rules.documents, listed=listed)


def _listed(parts: list[ListedDocuments], first_row: list[int], rules: _Rules) -> ListedDocuments:
    """The documents of all rankings, by row and rank."""
    row = _concatenate([part.row + first for part, first in zip(parts, first_row, strict=True)])
    rank = _concatenate([part.rank for part in parts])
    order = _row_order(row, rank)
    row, rank = row[order], rank[order]
    doc_id = pl.concat([pl.Series(dtype=pl.String), *(part.doc_id for part in parts)], rechunk=True)
    score = np.concatenate([np.zeros(0), *(part.score for part in parts)])[order]
    document = _concatenate([part.document for part in parts])[order]
    doc_id = doc_id if isinstance(order, slice) else doc_id.gather(order)
    if rules.policies.unjudged == "condensed":
        rank = np.arange(len(row)) - np.searchsorted(row, row) + 1
        kept = np.flatnonzero(rank <= rules.documents)
        row, rank, score, document = row[kept], rank[kept], score[kept], document[kept]
        doc_id = doc_id.gather(kept)
    return ListedDocuments(row=row, rank=rank, doc_id=doc_id, score=score, document=document)


def _concatenate(parts: list[IntArray]) -> IntArray:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _row_order(row: IntArray, rank: IntArray) -> IntArray | slice:
    """What sorts hits by row and rank; nothing to do for a run that lists topics as the qrels do."""
    if not len(row):
        return slice(None)
    key = row * (int(rank.max()) + 1) + rank
    return slice(None) if bool((key[1:] > key[:-1]).all()) else np.argsort(key)


def check_missing(name: str, topics: Sequence[str], present: BoolArray, policies: Policies) -> None:
    """Refuse a run that lacks a judged topic, if the policy says so."""
    if policies.missing == "error" and not present.all():
        absent = [topics[i] for i in np.flatnonzero(~present).tolist()]
        raise PolicyError(
            f"run {name!r} returns nothing for {len(absent)} of {len(topics)} judged topics "
            f"({_some(absent)}): use {setting('missing', 'empty')} or {setting('missing', 'skip')} to score it all the "
            "same."
        )


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _segments(frame: pl.DataFrame, pool: Pool) -> tuple[_Piece, pl.Series]:
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
    return _Piece(frame["doc_id"], frame["score"], topic, start), unknown


def _split(whole: _Piece) -> Iterator[_Piece]:
    """Pieces of about `PIECE` rows, cut between topics."""
    segments = len(whole.topic)
    if not segments:
        return
    cuts = np.unique(np.searchsorted(whole.start[:-1], np.arange(0, whole.start[-1], PIECE)))
    for first, last in zip(cuts, np.append(cuts[1:], segments), strict=True):
        begin, end = int(whole.start[first]), int(whole.start[last])
        yield _Piece(
            whole.doc.slice(begin, end - begin),
            whole.score.slice(begin, end - begin),
            whole.topic[first:last],
            whole.start[first : last + 1] - begin,
        )


def _match(piece: _Piece, rules: _Rules) -> tuple[_Piece, _Hits] | _Twice:
    """The hits of a piece, with their ranks; and the piece, less duplicates where those are dropped."""
    pool, policies = rules.pool, rules.policies
    lengths = np.diff(piece.start)
    key = keys(piece.doc, piece.topic, lengths)
    repeated = repeated_rows(key, piece.doc, piece.topic, lengths)
    if len(repeated):
        if policies.duplicates == "error":
            topics = piece.topic[np.searchsorted(piece.start, repeated, side="right") - 1]
            where = int(np.argmin(topics))
            return _Twice(int(topics[where]), piece.doc[int(repeated[where])])
        once = np.setdiff1d(np.arange(len(key)), repeated)
        start = np.searchsorted(once, piece.start)
        piece = _Piece(piece.doc.gather(once), piece.score.gather(once), piece.topic, start)
        key, lengths = key[once], np.diff(start)
    position, document = pool.find(piece.doc, piece.topic, lengths, key)
    shift, first, last, tied = _shifts(piece, rules)
    listed = _first_documents(piece, shift, position, document, rules) if rules.documents else None
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
        return piece, _Hits(hit_topic, rank, document, rank, rank, tied, listed)
    return piece, _Hits(hit_topic, rank, document, first[place] - before, last[place] - before, tied, listed)


def _first_documents(
    piece: _Piece, shift: IntArray, position: IntArray, document: IntArray, rules: _Rules
) -> ListedDocuments:
    """The first documents of each topic, whether in the pool or not; all judged ones if others are to be removed."""
    n, lengths = len(piece.score), np.diff(piece.start)
    row = np.empty(n, np.int64)
    row[np.arange(n) + shift] = np.arange(n)  # which stands at each place
    known = np.full(n, -1)
    known[position] = document
    known = known[row]
    rank = np.arange(n) - np.repeat(piece.start[:-1], lengths) + 1
    if rules.policies.unjudged == "condensed":
        kept = np.flatnonzero(np.append(rules.pool.grade, -1)[known] >= 0)
    else:
        kept = np.flatnonzero(rank <= rules.documents)
    return ListedDocuments(
        row=np.repeat(piece.topic, lengths)[kept],
        rank=rank[kept],
        doc_id=piece.doc.gather(row[kept]) + "",  # a copy: a part of a column would hold all of it in memory
        score=piece.score.gather(row[kept]).to_numpy(),
        document=known[kept],
    )


def _shifts(piece: _Piece, rules: _Rules) -> tuple[IntArray, IntArray | None, IntArray | None, FloatArray]:
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
    if rules.policies.ties == "trec":
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
