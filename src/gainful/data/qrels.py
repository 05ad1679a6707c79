"""Judgments: which document got which label for which topic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gainful import _polars as pl
from gainful.data.columns import LABELS, SAMPLE, check_columns, check_finite, check_sample, schema_of
from gainful.results import plural


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Qrels:
    """Relevance judgments, one row per judged (or pooled) document.

    Parameters
    ----------
    frame
        Columns ``query_id`` and ``doc_id`` (String) and ``relevance`` (Float64; negative = forbidden,
        null = pooled but not judged); an ``iteration`` column may follow. Judgments of a sample of the pool also have
        ``stratum`` (String), from which the document was drawn, or ``inclusion`` (Float64), the probability that it was
        to be judged, or both.
    name
        Where it came from, for messages.
    """

    frame: pl.DataFrame
    name: str = "qrels"

    def __post_init__(self) -> None:
        check_columns(self.frame, schema_of(LABELS), f"qrels {self.name!r}")
        check_finite(self.frame["relevance"], f"qrels {self.name!r}", "label")
        check_sample(self.frame, f"qrels {self.name!r}")

    def __len__(self) -> int:
        return self.frame.height

    def __repr__(self) -> str:
        topics = self.frame["query_id"].n_unique()
        return f"Qrels({self.name!r}: {plural(self.frame.height, 'judgment')}, {plural(topics, 'topic')})"

    @property
    def topics(self) -> list[str]:
        """Topic ids in the order in which they first appear."""
        return self.frame["query_id"].unique(maintain_order=True).to_list()

    @property
    def sample(self) -> tuple[str, ...]:
        """Which of the columns ``stratum`` and ``inclusion`` there are."""
        return tuple(column for column in SAMPLE if column in self.frame.columns)


@dataclass(frozen=True, slots=True, eq=False)
class RawQrels:
    """Judgments as they were given, for the compiled core: TREC text, or a dict of dicts."""

    raw: bytes | dict[Any, Any]
    rows: Callable[[], pl.DataFrame]
    name: str = "qrels"

    def read(self) -> Qrels:
        """The judgments, with their rows; an error if there is something wrong with them."""
        return Qrels(self.rows(), self.name)
