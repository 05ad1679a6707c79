"""What rankers learn from: judged pairs of query and document, as text or as features."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful import _polars as pl
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import DataError, GainfulError
from gainful.io.objects import is_table
from gainful.ltrf.reading import Features, Table, frame_of, read_file
from gainful.ltrf.settings import Kind
from gainful.ltrf.targets import FloatArray, IntArray, Scale

KEYS = ("query_id", "doc_id", "label")
TEXTS = ("query", "document")
SPLIT = (0.64, 0.16, 0.20)
# Other people's names for our columns.
_SPELLINGS = {
    "query_id": ("query_id", "qid", "q_id"),
    "doc_id": ("doc_id", "docno", "did"),
    "label": ("label", "relevance", "rel"),
    "query": ("query", "question"),
    "document": ("document", "text", "answer"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examples:
    """Judged pairs of query and document; the pairs of a query are next to each other.

    Parameters
    ----------
    frame
        query_id, doc_id, label (null where there is none), and for text query and document.
    features
        Documents × features, or None for text.
    names
        The names of the features.
    name
        Where they came from, for messages.
    """

    frame: pl.DataFrame
    features: NDArray[np.float32] | None = None
    names: tuple[str, ...] = ()
    name: str = "examples"

    def __len__(self) -> int:
        return self.frame.height

    def __str__(self) -> str:
        return f"{len(self)} documents of {len(self.sizes)} queries, {self.kind}"

    @property
    def kind(self) -> Kind:
        """Whether documents are known by their text or by features."""
        return "text" if self.features is None else "features"

    @property
    def labels(self) -> FloatArray:
        """One a document; NaN where there is none."""
        return self.frame["label"].fill_null(math.nan).to_numpy()

    @property
    def doc_ids(self) -> list[str]:
        """One a document."""
        return self.frame["doc_id"].to_list()

    @property
    def queries(self) -> tuple[str, ...]:
        """In the order of the documents."""
        return tuple(self.frame["query_id"].unique(maintain_order=True).to_list())

    @property
    def sizes(self) -> IntArray:
        """How many documents each query has."""
        return self.frame["query_id"].rle().struct.field("len").to_numpy().astype(np.int64)

    def fingerprint(self) -> str:
        """A short text that other examples do not have."""
        digest = hashlib.sha256(self.frame.write_csv().encode())
        if self.features is not None:
            digest.update("\0".join(self.names).encode() + self.features.tobytes())
        return digest.hexdigest()[:16]

    def matrix(self, names: Sequence[str]) -> NDArray[np.float32]:
        """These features, in this order; others are not looked at."""
        if self.features is None:
            raise DataError(f"{self.name}: expected features, got text")
        if tuple(names) == self.names:
            return self.features
        at = {name: place for place, name in enumerate(self.names)}
        absent = [name for name in names if name not in at]
        if absent:
            some = ", ".join(repr(name) for name in absent[:5]) + (", …" if len(absent) > 5 else "")
            numbers = all(name.isdecimal() for name in self.names)
            hint = f"; if they are 0 in all lines, name them in one, as {absent[0]}:0" if numbers else ""
            raise DataError(
                f"{self.name}: expected the {len(names)} features that the f-ranker learnt from, got none called "
                f"{some}{hint}"
            )
        return np.ascontiguousarray(self.features[:, [at[name] for name in names]])

    def only(self, queries: Sequence[str]) -> Examples:
        """The documents of some queries."""
        return self.where(self.frame["query_id"].is_in(list(queries)).to_numpy())

    def where(self, chosen: NDArray[np.bool_]) -> Examples:
        """Some of the documents."""
        features = None if self.features is None else self.features[chosen]
        return replace(self, frame=self.frame.filter(pl.Series(chosen)), features=features)

    def split(self, shares: Sequence[float] = SPLIT, *, seed: int = 0) -> tuple[Examples, ...]:
        """By query, at random: training, validation and test, or as many parts as there are shares."""
        if min(shares, default=0.0) <= 0 or not math.isclose(sum(shares), 1.0, abs_tol=1e-9):
            raise GainfulError(f"split: expected positive shares that add up to 1, got {tuple(shares)}")
        queries = np.array(self.queries, dtype=object)
        np.random.default_rng(seed).shuffle(queries)
        ends = np.round(np.cumsum(shares) * len(queries)).astype(int)
        if (np.diff(ends, prepend=0) == 0).any():
            raise DataError(f"{self.name}: expected enough queries for {len(shares)} parts, got {len(queries)}")
        return tuple(self.only(part.tolist()) for part in np.split(queries, ends[:-1]))

    def check(self, scale: Scale) -> None:
        """Refuse a label that has no gain."""
        try:
            scale.grade(self.labels)
        except DataError as error:
            raise DataError(f"{self.name}: {error}") from None

    def qrels(self, scale: Scale | None = None) -> Qrels:
        """The judgments: labels as given, or their gains on a scale."""
        labels = self.frame["label"] if scale is None else pl.Series(scale.gain(self.labels))
        return Qrels(self.frame.select("query_id", "doc_id").with_columns(relevance=labels), self.name)

    def run(self, scores: FloatArray, name: str) -> Run:
        """The documents, scored; NaN leaves one out."""
        frame = self.frame.select("query_id", "doc_id").with_columns(score=pl.Series(scores, dtype=pl.Float64))
        return Run(frame.filter(~pl.col("score").is_nan()), name)

    def kept(self, run: Run) -> list[float | None]:
        """The scores of a run of these documents; None for those that it leaves out."""
        joined = self.frame.select("query_id", "doc_id").join(
            run.frame, on=["query_id", "doc_id"], how="left", maintain_order="left"
        )
        found: list[float | None] = joined["score"].to_list()
        return found


def read_examples(source: Any, *, labelled: bool = True) -> Examples:
    """Read judged pairs of query and document.

    Parameters
    ----------
    source
        Text: JSONL, CSV, TSV, Parquet (compressed or not) or a frame with the columns query_id, query, doc_id, document
        and label. Features: a table with query_id, doc_id, label and one column per feature, or LETOR/SVMlight lines
        (`label qid:1 1:0.5 2:0.1 # doc`).
    labelled
        Whether every document must have a label.
    """
    if isinstance(source, Examples):
        if labelled and source.frame["label"].null_count():
            raise DataError(f"{source.name}: expected a label for every document, got some without")
        return source
    if isinstance(source, str | Path):
        return _examples(read_file(Path(source)), labelled)
    if is_table(source):
        return _examples(Table(frame_of(source), "examples", lambda row: f"examples, row {row + 1}"), labelled)
    raise DataError(f"expected a file or a frame of examples, got {type(source).__name__}")


def _examples(table: Table, labelled: bool) -> Examples:
    frame, name, place = table.frame, table.name, table.place
    frame = _renamed(frame, name)
    if not labelled and "label" not in frame.columns:
        frame = frame.with_columns(label=pl.lit(None, pl.Float64))
    if not set(KEYS) <= set(frame.columns):
        raise DataError(f"{name}: expected the columns {', '.join(KEYS)}, got {', '.join(frame.columns) or 'none'}")
    if not frame.height:
        raise DataError(f"{name}: expected examples, got none")
    text = [column for column in TEXTS if column in frame.columns]
    if len(text) == 1:
        raise DataError(
            f"{name}: expected the columns query and document, or one column per feature, got only {text[0]!r}"
        )
    for column in ("query_id", "doc_id", *text):
        if frame[column].dtype.is_nested():
            raise DataError(f"{name}: expected text in column {column!r}, got lists or objects")
        _refuse(frame[column].is_null(), place, f"a {column}", frame[column])
    label = frame["label"].cast(pl.Float64, strict=False)
    wrong = (label.is_null() & (frame["label"].is_not_null() | labelled)) | (label.is_not_null() & ~label.is_finite())
    _refuse(wrong.fill_null(True), place, "a finite number as label", frame["label"])
    frame = frame.with_columns(pl.col("query_id", "doc_id", *text).cast(pl.String), label)
    again = ~frame.select(pl.struct("query_id", "doc_id").is_first_distinct()).to_series()
    _refuse(again, place, "every document once in a query", frame["doc_id"])
    names = [column for column in frame.columns if column not in KEYS]
    if not names and table.features is None:
        raise DataError(f"{name}: expected columns query and document, or one column per feature, got neither")
    # The documents of a query side by side, queries as they first appear.
    first = frame.with_row_index("row").select(pl.col("row").min().over("query_id")).to_series()
    order = first.arg_sort()
    if text:
        return Examples(frame=frame[order].select(*KEYS, *TEXTS), name=name)
    given = table.features or Features(tuple(names), _matrix(frame.select(names), place))
    sorted_already = bool((order.diff().drop_nulls() == 1).all())
    features = given.values if sorted_already else given.values[order.to_numpy()]
    return Examples(frame=frame[order].select(KEYS), features=features, names=given.names, name=name)


def _matrix(columns: pl.DataFrame, place: Callable[[int], str]) -> NDArray[np.float32]:
    """Column by column: nothing is held twice."""
    found = np.empty(columns.shape, np.float32)
    for at, column in enumerate(columns.iter_columns()):
        found[:, at] = _numbers(column, place).to_numpy()
    return found


def _renamed(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    """The columns by our names; two columns for one thing are refused, since one of them would pass for a feature."""
    names = {}
    for ours, spellings in _SPELLINGS.items():
        found = [name for name in spellings if name in frame.columns]
        if len(found) > 1 and ours in KEYS:
            raise DataError(f"{where}: expected one column for the {ours}, got {' and '.join(found)}")
        if found and (ours in KEYS or any(name in frame.columns for name in _SPELLINGS["document"])):
            names[found[0]] = ours
    return frame.rename(names)


def _numbers(values: pl.Series, place: Callable[[int], str]) -> pl.Series:
    numbers = values.cast(pl.Float32, strict=False) if not values.dtype.is_nested() else pl.Series([None] * len(values))
    _refuse(numbers.is_null() & values.is_not_null(), place, f"a number in column {values.name!r}", values)
    return numbers.cast(pl.Float32).fill_null(math.nan).rename(values.name)


def _refuse(wrong: pl.Series, place: Callable[[int], str], expected: str, values: pl.Series) -> None:
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        got = "nothing" if values[at] is None else repr(values[at])[:80]
        raise DataError(f"{place(at)}: expected {expected}, got {got}")
