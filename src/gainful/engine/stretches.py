"""A large text, cut into stretches that are scored side by side: a topic belongs to the stretch that it begins in.

Only the compiled core reads a stretch. What it does not read, and a text whose topics are scattered, is read as one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from gainful import _polars as pl
from gainful._core import native
from gainful.data.align import check_missing
from gainful.data.run import RawRun, TextFile
from gainful.engine.scoring import Job, Part, refused, score_runs, some_topics
from gainful.errors import DataError, PolicyError
from gainful.io.changes import unchanged
from gainful.io.compression import is_compressed
from gainful.io.files import HEAD, detect
from gainful.io.ranks import rank_notes
from gainful.io.read import Entry
from gainful.results import Note

# Bytes that are worth a piece of work of their own.
LEAST = 1 << 24


class _NotForTheCoreError(Exception):
    """A stretch that the core does not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Some bytes of a text, and what it was like when it was cut."""

    entry: Entry
    first: int
    last: int
    size: int
    changed: int  # when the file was last written to, in nanoseconds
    notes: tuple[Note, ...]  # of the run, with its first stretch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretched:
    """The scores of the topics of a stretch; None if it is not for the core."""

    part: Part | None


def stretches_of(entry: Entry, number: int) -> list[Stretch]:
    """At most `number` stretches of a text, of the same size; none if it is read by one."""
    if number < 2 or native is None or entry.path is None or entry.ignore_identical_ids:
        return []
    path, name = Path(entry.path), entry.name or entry.default
    try:
        status = path.stat()
        number = min(number, status.st_size // LEAST)
        if number < 2 or not stat.S_ISREG(status.st_mode):
            return []
        with path.open("rb") as file:
            head = file.read(HEAD)
        if is_compressed(head) or detect(head, b"", path) != "text":
            return []
    except (OSError, DataError):
        return []  # whoever reads it says why
    cuts = [status.st_size * at // number for at in range(number + 1)]
    return [
        Stretch(
            entry=entry,
            first=first,
            last=last,
            size=status.st_size,
            changed=status.st_mtime_ns,
            notes=() if first else rank_notes(name, None, head),
        )
        for first, last in pairwise(cuts)
    ]


def score_stretch(job: Job, stretch: Stretch) -> Stretched:
    """Score the topics that begin in a stretch."""
    entry, path = stretch.entry, Path(str(stretch.entry.found()))

    def rows() -> pl.DataFrame:
        raise _NotForTheCoreError

    run = RawRun(entry.name or entry.default, TextFile(path, stretch.first, stretch.last), rows, notes=stretch.notes)
    try:
        with unchanged(path):
            status = os.stat(path)
            if (status.st_size, status.st_mtime_ns) != (stretch.size, stretch.changed):
                raise DataError(f"{path}: changed while it was read; wait until it is complete")
            return Stretched(part=score_runs(replace(some_topics(job), keep_going=False), [run]))
    except _NotForTheCoreError:
        return Stretched(part=None)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def whole_run(job: Job, entry: Entry, found: Sequence[Stretched]) -> Part | None:
    """The scores of a run; None if it must be read as a whole: a stretch is not for the core, or a topic is in two."""
    parts = [one.part for one in found if one.part is not None]
    if len(parts) < len(found):
        return None
    present = np.stack([part.present for part in parts])
    ignored = sum(part.ignored[0] for part in parts)
    if (present.sum(axis=0) > 1).any() or not (present.any() or ignored):
        return None
    values, signs = parts[0].values, parts[0].signs
    for part in parts[1:]:
        values = np.where(part.present, part.values, values)
        signs = np.where(part.present, part.signs, signs)
    strangers = (part.stranger[0] for part in parts if part.stranger[0] is not None)
    whole = replace(
        parts[0],
        values=values,
        present=np.asarray(present.any(axis=0), np.bool_),
        ignored=(ignored,),
        stranger=(next(strangers, None),),
        signs=signs,
    )
    try:
        check_missing(whole.systems[0], whole.topics, whole.present[0], job.policies)
    except PolicyError as error:
        if not job.keep_going:
            raise
        return refused(job, (str(entry), str(error)))
    return whole
