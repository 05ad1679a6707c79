"""All runs, shared out to whoever does the work, and put together in the order in which they were given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TypeAlias

from gainful.engine import Work
from gainful.engine.dataset import Group, Grouped, groups_of, put_together, score_group
from gainful.engine.scoring import TOGETHER, Entry, Job, Part, batches, entries_of, joined, refused, score_runs
from gainful.errors import DataError, PolicyError

# Pieces of work for each that works at the same time: some take longer than others.
_EACH = 4

Piece: TypeAlias = "list[Entry] | Group"


def score_all(work: Work, job: Job, runs: object, *, divided: bool) -> Part:
    """The scores of all runs.

    Parameters
    ----------
    work
        What does the work.
    job
        What to compute.
    runs
        As for `gainful.evaluate`.
    divided
        Whether a data set is shared out, too, or read by one.
    """
    entries = entries_of(runs)
    number = max(-(-len(entries) // TOGETHER), _EACH * work.at_once)
    groups = {id(entry): groups_of(entry, number) if divided else [] for entry in entries}
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
    return _told_apart(joined(parts), keep_going=job.keep_going)


def _score(job: Job, piece: Piece) -> Part | Grouped | str:
    """The scores, or why there are none."""
    if isinstance(piece, list):
        return score_runs(job, piece)
    try:
        return score_group(job, piece)
    except (DataError, PolicyError) as error:
        if not job.keep_going:
            raise
        return str(error)


def _put_together(work: Work, job: Job, entry: Entry | None, results: Sequence[Part | Grouped | str]) -> Iterator[Part]:
    """The parts of several runs; or all that a data set has, unless something in it is wrong."""
    yield from (result for result in results if isinstance(result, Part))
    if entry is None:
        return
    messages = [result for result in results if isinstance(result, str)]
    if messages:
        yield refused(job, entry, messages[0])
        return
    try:
        found = put_together(job, [result for result in results if isinstance(result, Grouped)])
    except (DataError, PolicyError) as error:
        if not job.keep_going:
            raise
        yield refused(job, entry, str(error))
        return
    if found is not None:
        yield found
    else:
        yield from work.map(score_runs, [[entry]], shared=job, total=1, label="Scoring runs")


def _told_apart(part: Part, *, keep_going: bool) -> Part:
    """Every name once: the second run of a name is refused."""
    if not part.systems:
        raise DataError(part.failed[0][1] if part.failed else "expected at least one run, got none")
    first = {name: at for at, name in reversed(list(enumerate(part.systems)))}
    again = [name for at, name in enumerate(part.systems) if first[name] != at]
    if not again:
        return part
    if not keep_going:
        raise DataError(f"two runs are called {again[0]!r}; rename one, or give a dict {{name: run}}")
    kept = sorted(first.values())
    doubled = ((name, f"two runs are called {name!r}; only the first was scored") for name in again)
    return Part(
        systems=tuple(part.systems[at] for at in kept),
        values=part.values[:, kept],
        present=part.present[kept],
        ignored=tuple(part.ignored[at] for at in kept),
        failed=(*part.failed, *doubled),
    )
