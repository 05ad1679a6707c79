"""What is done with runs wherever it runs: read some, join them with the judgments, score them."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.data.qrels import Qrels
from gainful.data.rankings import BoolArray, FloatArray, Rankings
from gainful.errors import DataError, MeasureError, PolicyError
from gainful.io.read import default_names, distinct, expand, read_entry
from gainful.measures import Measure

# Runs that are read together: one that cannot be read makes these be read again one by one, judgments are indexed once.
TOGETHER = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """What to compute of every run.

    Parameters
    ----------
    qrels, measures, policies
        As for `gainful.evaluate`.
    keep_going
        Whether a run that is refused is only noted.
    """

    qrels: Qrels
    measures: tuple[Measure, ...]
    policies: Policies
    keep_going: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """What holds one run, or several.

    Parameters
    ----------
    source
        A file as it was given, or an object.
    path
        Where the file is, for a process in another folder; None for an object.
    name
        What to call its run, if that was said.
    default
        What to call its run otherwise, unless it says so itself.
    """

    source: object
    path: str | None
    name: str | None
    default: str

    def __str__(self) -> str:
        return str(self.source) if self.path is not None else repr(self.name or self.default)

    def found(self) -> object:
        """The source, by the name it was given if that leads there from here."""
        if self.path is None or self.path == os.path.abspath(str(self.source)):
            return self.source
        if not os.path.exists(self.path):
            raise DataError(
                f"{self.path}: expected every worker to see the files under the same names as this process does, got "
                f"one that does not, on {platform.node()}"
            )
        return Path(self.path)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """The scores of some runs.

    Parameters
    ----------
    systems
        Their names.
    values
        Measures × systems × topics, as the measures give them: NaN where one is undefined.
    present
        Systems × topics: whether the run has the topic.
    ignored
        Per system, its topics without judgments.
    failed
        What was refused, and why.
    """

    systems: tuple[str, ...]
    values: FloatArray
    present: BoolArray
    ignored: tuple[int, ...]
    failed: tuple[tuple[str, str], ...] = ()


def entries_of(runs: object) -> list[Entry]:
    """What holds the runs, file by file, as `gainful.read_runs` would go through it."""
    found = [] if isinstance(runs, Mapping) and not runs else expand(runs)
    if not found:
        raise DataError("expected at least one run, got none")
    # What gives its rows but once can neither be sent elsewhere nor be read again.
    found = [(name, list(source) if isinstance(source, Iterator) else source) for name, source in found]
    return [
        Entry(source, os.path.abspath(source) if isinstance(source, Path) else None, name, default)
        for (name, source), default in zip(found, default_names(found), strict=True)
    ]


def batches(entries: Sequence[Entry], number: int) -> list[list[Entry]]:
    """About `number` lists of consecutive entries, of about the same size on disk."""
    sizes = np.array([_size(entry) for entry in entries], np.float64)
    middle = np.cumsum(sizes) - sizes / 2.0
    which = np.minimum((middle / sizes.sum() * number).astype(np.int64), number - 1)
    cuts = np.flatnonzero(np.diff(which)) + 1
    return [list(part) for part in np.split(np.array(entries, dtype=object), cuts)]


def _size(entry: Entry) -> int:
    try:
        return 1 if entry.path is None else max(1, os.path.getsize(entry.path))
    except OSError:  # which is told when it is read
        return 1


def score_runs(job: Job, entries: Sequence[Entry]) -> Part:
    """Read runs and score them."""
    try:
        runs = chain.from_iterable(read_entry(entry.name, entry.found(), entry.default) for entry in entries)
        return scored(align(job.qrels, distinct(runs), job.policies), job.measures)
    except (DataError, PolicyError) as error:
        if not job.keep_going:
            raise
        if len(entries) > 1:
            return joined([score_runs(job, [entry]) for entry in entries])
        return refused(job, entries[0], str(error))


def refused(job: Job, entry: Entry, message: str) -> Part:
    """No scores, and why."""
    return Part(
        systems=(),
        values=np.zeros((len(job.measures), 0, 0)),
        present=np.zeros((0, 0), np.bool_),
        ignored=(),
        failed=((str(entry), message),),
    )


def scored(rankings: Rankings, measures: Iterable[Measure]) -> Part:
    """The scores of rankings, before any policy fills or leaves out what is undefined."""
    shape = (len(rankings.systems), len(rankings.topics))
    return Part(
        systems=rankings.systems,
        values=np.stack([_scores_of(measure, rankings) for measure in measures]).reshape(-1, *shape),
        present=rankings.present.reshape(shape),
        ignored=rankings.ignored,
    )


def joined(parts: Sequence[Part]) -> Part:
    """The scores of different runs, in the order of the parts."""
    failed = tuple(chain.from_iterable(part.failed for part in parts))
    some = [part for part in parts if part.systems]
    if not some:
        return replace(parts[0], failed=failed)
    return Part(
        systems=tuple(chain.from_iterable(part.systems for part in some)),
        values=np.concatenate([part.values for part in some], axis=1),
        present=np.concatenate([part.present for part in some]),
        ignored=tuple(chain.from_iterable(part.ignored for part in some)),
        failed=failed,
    )


def _scores_of(measure: Measure, rankings: Rankings) -> FloatArray:
    scores = measure.compute(rankings)
    if np.shape(scores) != (rankings.n_rows,):
        raise MeasureError(f"{measure}: expected {rankings.n_rows} scores, one a row, got shape {np.shape(scores)}")
    return scores
