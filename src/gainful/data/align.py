"""The one join: runs and qrels in, `Rankings` out."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace

import numpy as np

from gainful import _polars as pl
from gainful.data.chunks import TopicsWithoutJudgments, gathered, whole_topics
from gainful.data.core import Threads, join_raw
from gainful.data.match import Hits, Joined, Piece, Rules, Twice, by_topic, match, segments, split
from gainful.data.policies import Policies
from gainful.data.pool import Judged, Pool
from gainful.data.qrels import Qrels, RawQrels
from gainful.data.rankings import BoolArray, IntArray, ListedDocuments, Names, Rankings
from gainful.data.run import LargeRun, RawRun, Run, UnreadRun, check_name
from gainful.errors import DataError, DuplicateError, PolicyError, mention_keep_going, setting
from gainful.results import Note, listed, some

# Pieces of a large run that are joined at the same time, at most.
_AHEAD = min(os.cpu_count() or 1, 8)
# Files that are no runs and are named.
_MOST_STRAYS = 10
# What a file is that is written as a run may be, and has no topic of one.
SETTINGS = "settings, since none of its topics is judged"


class _ScatteredError(Exception):
    """A topic went on after others had begun."""


def align(
    qrels: Qrels | RawQrels | Judged,
    runs: Iterable[Run | RawRun | LargeRun | UnreadRun],
    policies: Policies | None = None,
    *,
    exact: bool = False,
    documents: float = 0,
    scores: bool = False,
    keep_going: bool = False,
) -> Rankings:
    """Join runs with qrels: every returned document that is in the pool, for all systems and topics.

    Topics are those of the qrels, in the order in which they first appear. Runs have different names and are consumed
    one at a time, so a generator keeps memory low; of a `LargeRun` no more than some chunks are held at a time, and its
    hits, and how it is cut makes no difference. `exact` compares scores as float64 under ties='trec' too, as trec_eval
    does since version 10. `documents` is how many of each ranking to list, judged or not. To keep going is to leave out
    runs that are refused and say so in `failed`; there may be none left then.
    """
    policies = policies or Policies()
    judged = qrels if isinstance(qrels, Judged) else Judged(qrels, policies.duplicates)
    rules = Rules(judged, policies, policies.ties == "trec" and not exact, documents, scores or documents == np.inf)
    joined: dict[str, Joined] = {}
    failed: list[tuple[str, str]] = []
    strays: list[tuple[str, str]] = []
    notes: list[Note] = []
    with ExitStack() as stack:
        started: list[ThreadPoolExecutor] = []

        def threads() -> ThreadPoolExecutor:
            if not started:
                started.append(stack.enter_context(ThreadPoolExecutor(os.cpu_count() or 1)))
            return started[0]

        for run in runs:
            if isinstance(run, UnreadRun):
                (failed if run.is_run else strays).append((run.source, run.reason))
                continue
            try:
                check_name(run.name, joined)
                found = _join(run, rules, threads, keep_going=keep_going)
                if isinstance(found, UnreadRun):
                    failed.append((found.source, found.reason))
                    continue
                check_missing(run.name, judged.topics, found.counts > 0, policies)
            except (DataError, PolicyError) as error:
                if not keep_going:
                    if joined and run.name not in joined and isinstance(error, DataError):
                        mention_keep_going(error)
                    raise
                failed.append((run.source or repr(run.name), str(error)))
                continue
            if not isinstance(run, LargeRun) and run.doubtful and not found.counts.any():
                strays.append((run.source, SETTINGS))
                continue
            joined[run.name] = found
            notes += run.notes
    if not joined and not failed and not strays:
        raise DataError("expected at least one run, got none")
    notes += stray_notes(strays)
    return _assemble(rules, joined, failed, notes)


def _join(run: Run | RawRun | LargeRun, rules: Rules, threads: Threads, *, keep_going: bool) -> Joined | UnreadRun:
    if not isinstance(run, Run) and run.raw is not None and rules.documents < np.inf:
        found = join_raw(run.raw, run.name, rules, threads)
        if found is not None:
            return found
    if isinstance(run, RawRun):
        entry = run.entry
        try:
            run = run.read()
        except DataError as error:
            if not keep_going:
                raise
            return UnreadRun(entry, str(error))
    if isinstance(run, LargeRun):
        with suppress(_ScatteredError):
            return _join_large(run, rules, threads, scattered=False)
        # Once more from the start. That is noticed early, as a rule, since a file is sorted throughout or not at all.
        return _join_large(run, rules, threads, scattered=True)
    whole, unknown = segments(run.frame, rules.pool)
    pieces = list(split(whole))
    apply = threads().map if len(pieces) > 1 else map  # starting threads costs more than a small run
    matched = apply(lambda piece: match(piece, rules), pieces)
    unjudged = TopicsWithoutJudgments()
    unjudged.add(unknown)
    return _collect(matched, run.name, rules.pool, unjudged)


def _join_large(run: LargeRun, rules: Rules, threads: Threads, *, scattered: bool) -> Joined:
    unjudged = TopicsWithoutJudgments()
    pool = rules.pool

    def pieces() -> Iterator[Piece]:
        closed = np.zeros(len(pool.topics), np.bool_)
        for part in gathered(run, pool, unjudged) if scattered else whole_topics(run.chunks()):
            whole, unknown = segments(part, pool)
            if closed[whole.topic].any():
                raise _ScatteredError
            closed[whole.topic] = True
            unjudged.add(unknown)
            yield from split(whole)

    def found() -> Iterator[tuple[Piece, Hits] | Twice]:
        # Reading goes on in this thread meanwhile; few pieces wait, so that few are held.
        ahead: deque[Future[tuple[Piece, Hits] | Twice]] = deque()
        for piece in pieces():
            ahead.append(threads().submit(match, piece, rules))
            if len(ahead) > _AHEAD:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()

    return _collect(found(), run.name, pool, unjudged)


def _collect(
    found: Iterable[tuple[Piece, Hits] | Twice], name: str, pool: Pool, unjudged: TopicsWithoutJudgments
) -> Joined:
    """All that was found; or the first duplicate, once the whole run was seen to be readable."""
    counts = np.zeros(len(pool.topics), np.int64)
    tied = np.full(len(pool.topics), np.nan)
    topics: list[IntArray] = []
    hits: list[Hits] = []
    twice: list[Twice] = []
    for item in found:
        if isinstance(item, Twice):
            twice.append(item)
        else:
            piece, matched = item
            counts[piece.topic] = np.diff(piece.start)
            tied[piece.topic] = matched.tied
            topics.append(piece.topic)
            hits.append(matched)
    if twice:
        first = min(twice, key=lambda item: item.topic)
        raise DuplicateError(
            f"run {name!r}: document {first.doc!r} appears twice in topic {pool.topics[first.topic]!r}"
        )
    return Joined(counts, tied, hits, by_topic(topics, hits, counts), len(unjudged), unjudged.first)


def _assemble(rules: Rules, runs: dict[str, Joined], failed: list[tuple[str, str]], notes: list[Note]) -> Rankings:
    judged, policies, joined = rules.judged, rules.policies, list(runs.values())
    hits = [found for run in joined for found in run.hits]
    first_row = [at * len(judged.topics) for at, run in enumerate(joined) for _ in run.hits]
    row = _concatenate(
        [found.topic + first if first else found.topic for found, first in zip(hits, first_row, strict=True)]
    )
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
        topics=judged.topics,
        retrieved=total,
        present=total > 0,
        row=row,
        rank=rank,
        document=document,
        tie_first=first,
        tie_last=last,
        pool_topic=judged.topic,
        pool_grade=judged.grade,
        grades=judged.grades,
        ignored=tuple(run.ignored for run in joined),
        policies=policies,
        pool_docs=Names(lambda: judged.doc),
        pool_subtopics=judged.subtopics,
        pool_stratum=judged.stratum,
        pool_inclusion=judged.inclusion,
        tied=joined[0].tied if len(joined) == 1 else np.concatenate([np.zeros(0), *(run.tied for run in joined)]),
        stranger=tuple(run.stranger for run in joined),
        failed=tuple(failed),
        run_notes=tuple(notes),
    )
    if rules.scores:
        rankings = replace(rankings, parts=tuple(tuple(run.scores) for run in joined))
    if rules.documents:
        both = zip((found.listed for found in hits), first_row, strict=True)
        parts = [(listed, first) for listed, first in both if listed is not None]
        rankings = replace(rankings, documents=rules.documents, listed=_listed(parts))
    return rankings.condensed() if policies.unjudged == "condensed" else rankings


def _listed(parts: list[tuple[ListedDocuments, int]]) -> ListedDocuments:
    """The documents of all rankings, by row and rank, out of parts and the row that their first topic has."""
    row = _concatenate([part.row + first for part, first in parts])
    rank = _concatenate([part.rank for part, _ in parts])
    order = _row_order(row, rank)
    doc_id = pl.concat([pl.Series(dtype=pl.String), *(part.doc_id for part, _ in parts)], rechunk=True)
    return ListedDocuments(
        row=row[order],
        rank=rank[order],
        doc_id=doc_id if isinstance(order, slice) else doc_id.gather(order),
        document=_concatenate([part.document for part, _ in parts])[order],
    )


def _concatenate(parts: list[IntArray]) -> IntArray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0, np.int64)


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
            f"({some(absent)}): use {setting('missing', 'empty')} or {setting('missing', 'skip')} to score it all the "
            "same."
        )


def stray_notes(strays: Sequence[tuple[str, str]]) -> list[Note]:
    """What files that are no runs are instead."""
    if not strays:
        return []
    named = [f"{source} ({what})" for source, what in strays]
    files = "1 file that is no run" if len(strays) == 1 else f"{len(strays)} files that are no runs"
    return [Note("no-run", strays[0][0], f"Left out {files}: {listed(named, _MOST_STRAYS)}.")]
