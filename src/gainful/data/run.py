"""A run: what one system returned for every topic."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from gainful import _polars as pl
from gainful.data.columns import SCORES, check_columns, check_finite, schema_of
from gainful.errors import DataError
from gainful.results import Note, plural

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class TextFile:
    """TREC text in a file, or the topics that begin in some of its bytes, from the first to before the last."""

    path: Path
    first: int = 0
    last: int | None = None


@dataclass(frozen=True, slots=True)
class TextBlocks:
    """TREC text in blocks, which are given again from the start each time."""

    blocks: Callable[[], Iterator[bytes]]


# What the compiled core reads as it is; bytes are TREC text.
Raw: TypeAlias = "bytes | TextFile | TextBlocks | dict[Any, Any]"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """The documents that a run returned, with their scores.

    Parameters
    ----------
    frame
        Columns ``query_id`` and ``doc_id`` (String) and ``score`` (Float64, finite); a ``rank`` column may
        follow and is carried along, but documents are ranked by score (see the `ties` policy).
    name
        The name of the run: the label of its row in every table.
    source
        The file it came from, for messages; nothing if it came from none, or not alone.
    notes
        What its reader noticed that changes how its scores must be read.
    doubtful
        Whether it may be no run at all, which is so if none of its topics is judged: settings written as JSON, say.
    """

    frame: pl.DataFrame
    name: str = "run"
    source: str = ""
    notes: tuple[Note, ...] = ()
    doubtful: bool = False

    def __post_init__(self) -> None:
        check_columns(self.frame, schema_of(SCORES), f"run {self.name!r}")
        check_finite(self.frame["score"], f"run {self.name!r}", "score")

    def __len__(self) -> int:
        return self.frame.height

    def __repr__(self) -> str:
        topics = self.frame["query_id"].n_unique()
        return f"Run({self.name!r}: {plural(self.frame.height, 'document')}, {plural(topics, 'topic')})"

    def without_topics(self) -> Run:
        """The run without documents that have the id of their topic."""
        return replace(self, frame=_without_topics(self.frame))

    @property
    def topics(self) -> list[str]:
        """Topic ids in the order in which they first appear."""
        return self.frame["query_id"].unique(maintain_order=True).to_list()


@dataclass(frozen=True, slots=True, eq=False)
class RawRun:
    """A run as it was given, for the compiled core; what is wrong with its rows is known once it is read."""

    name: str
    raw: Raw
    rows: Callable[[], pl.DataFrame]
    # As for `Run`.
    source: str = ""
    notes: tuple[Note, ...] = ()
    doubtful: bool = False
    entry: str = ""  # as for `UnreadRun`

    def read(self) -> Run:
        """The run, with its rows."""
        return Run(self.rows(), self.name, self.source, self.notes, self.doubtful)


@dataclass(frozen=True, slots=True, eq=False)
class LargeRun:
    """A run that is read in chunks while it is joined with the judgments, and never held as a whole."""

    name: str
    # Gives the rows again from the start, in order, as frames of any length with the columns of `Run`.
    chunks: Callable[[], Iterator[pl.DataFrame]]
    size: int  # about how many bytes of text all rows are
    # As for `Run`.
    source: str = ""
    notes: tuple[Note, ...] = ()
    raw: TextFile | TextBlocks | None = None  # the same as text, if it is

    def without_topics(self) -> LargeRun:
        """The run without documents that have the id of their topic."""
        return replace(self, chunks=lambda: map(_without_topics, self.chunks()), raw=None)

    def read(self) -> Run:
        """The run as a whole, in memory."""
        frames = list(self.chunks())
        frame = pl.concat(frames, rechunk=True) if frames else pl.DataFrame(schema=schema_of(SCORES))
        return Run(frame, self.name, self.source, self.notes)


@dataclass(frozen=True, slots=True)
class UnreadRun:
    """A run, or several, that could not be read; or a file that is no run and was found beside some."""

    source: str  # what the user called it
    reason: str  # why it could not be read, or what it is instead
    is_run: bool = True


def _without_topics(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("doc_id") != pl.col("query_id"))


def check_unchanged(before: os.stat_result, file: int, where: str) -> None:
    """Refuse a file that is not as it was `before` it was read: what was read may be half of it."""
    after = os.fstat(file)
    if stat.S_ISREG(before.st_mode) and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise DataError(f"{where}: changed while it was read; wait until it is complete")


def after_mark(text: bytes) -> memoryview:
    """A text without the byte order mark that it may begin with."""
    return memoryview(text)[len(BOM) if text.startswith(BOM) else 0 :]


def check_name(name: str, others: Container[str]) -> None:
    """Refuse a second run of the same name."""
    if name in others:
        raise DataError(f"two runs are called {name!r}; rename one")
