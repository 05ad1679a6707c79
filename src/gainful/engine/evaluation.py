"""All runs, shared out to whoever does the work, and put together in the order in which they were given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TypeAlias

from gainful.engine import Work
from gainful.engine.dataset import Group, Grouped, groups_of, put_together, score_group
from gainful.engine.scoring import Job, Part, batches, joined, refused, score_entries
from gainful.errors import DataError, PolicyError
from gainful.io.read import Entry, entries_of

# Pieces of work for each that works at the same time: some take longer than others.
_EACH = 4

Piece: TypeAlias = "list[Entry] | Group"


def score_all(work: Work, job: Job, runs: object) -> Part:
    """The scores of all runs, of which several are read and scored at the same time."""
    entries = entries_of(runs)
    number = _EACH * work.at_once
    groups = {id(entry): groups_of(entry, number) for entry in entries}
    pieces: list[Piece] = []
    plan: list[tuple[Entry | None, int]] = []  # the data set, or None, and the number of its pieces
    for is_set, some in groupby(entries, key=lambda entry: bool(groups[id(entry)])):
        stretch = list(some)
        if is_set:
            for entry in stretch:
                pieces += groups[id(entry)]
                plan.append((entry, len(groups[id(entry)])))
        else:
            share = min(len(stretch), -(-number * len(stretch) // len(entries)))
            together = batches(stretch, share)
            pieces += together
            plan.append((None, len(together)))
    results = work.map(_score, pieces, shared=job, total=len(pieces), label="Scoring runs")
    parts = [part for entry, size in plan for part in _put_together(work, job, entry, list(islice(results, size)))]
    found = joined(parts, keep_going=job.keep_going)
    if not found.systems and not found.failed:
        raise DataError("expected at least one run, got none")
    return found


def _score(job: Job, piece: Piece) -> Part | Grouped | str:
    """The scores, or why there are none."""
    if isinstance(piece, list):
        return score_entries(job, piece)
    try:
        return score_group(job, piece)
    except (DataError, PolicyError) as error:
        if not job.keep_going:
            raise
        return str(error)


def _put_together(work: Work, job: Job, entry: Entry | None, results: Sequence[Part | Grouped | str]) -> Iterator[Part]:
    """The parts of several runs; or all that a data set has, unless something in it cannot be read."""
    yield from (result for result in results if isinstance(result, Part))
    if entry is None:
        return
    messages = [result for result in results if isinstance(result, str)]
    if messages:
        yield refused(job, (str(entry), messages[0]))
        return
    found = put_together(job, entry, [result for result in results if isinstance(result, Grouped)])
    if found is not None:
        yield found
    else:
        yield from work.map(score_entries, [[entry]], shared=job, total=1, label="Scoring runs")
