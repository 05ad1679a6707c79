"""A run: what one system returned for every topic."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

import polars as pl

from gainful.data.columns import check_columns, check_finite
from gainful.errors import DataError
from gainful.results import Note

RUN_SCHEMA = {"query_id": pl.String(), "doc_id": pl.String(), "score": pl.Float64()}


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
    """

    frame: pl.DataFrame
    name: str = "run"
    source: str = ""
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        check_columns(self.frame, RUN_SCHEMA, f"run {self.name!r}")
        check_finite(self.frame["score"], f"run {self.name!r}", "score")

    def __len__(self) -> int:
        return self.frame.height

    def __repr__(self) -> str:
        topics = self.frame["query_id"].n_unique()
        return f"Run({self.name!r}: {self.frame.height} documents, {topics} topics)"

    @property
    def topics(self) -> list[str]:
        """Topic ids in the order in which they first appear."""
        return self.frame["query_id"].unique(maintain_order=True).to_list()


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

    def read(self) -> Run:
        """The run as a whole, in memory."""
        frames = list(self.chunks())
        frame = pl.concat(frames, rechunk=True) if frames else pl.DataFrame(schema=RUN_SCHEMA)
        return Run(frame, self.name, self.source, self.notes)


@dataclass(frozen=True, slots=True)
class UnreadRun:
    """A run, or several, that could not be read."""

    source: str
    reason: str


def check_name(name: str, others: Container[str]) -> None:
    """Refuse a second run of the same name."""
    if name in others:
        raise DataError(f"two runs are called {name!r}; rename one")
