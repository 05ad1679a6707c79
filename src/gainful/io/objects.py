"""Qrels and runs that are Python objects; pandas and pyarrow are known only where the caller has imported them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.io.encoding import decode, id_text
from gainful.io.tables import needed_columns, to_columns
from gainful.io.text import QRELS, Layout


def is_table(source: object) -> bool:
    """Whether this is a frame of polars or pandas, or gives its content as an Arrow stream."""
    # So does a frame of polars; a LazyFrame can only come from who has imported polars.
    return hasattr(source, "__arrow_c_stream__") or _is_pandas(source) or _is_lazy(source)


def is_record(source: object) -> bool:
    """Whether this is a judgment or a result in the manner of ir_measures."""
    if isinstance(source, Mapping):
        return "query_id" in source and "doc_id" in source
    return hasattr(source, "query_id") and hasattr(source, "doc_id") and not is_table(source)


def read_object(source: object, layout: Layout) -> pl.DataFrame:
    """The frame of anything but a path."""
    what = layout.what.removeprefix("a ")
    if isinstance(source, Mapping):
        return _read_dict(source, layout, f"{what} dict")
    if is_table(source):
        return to_columns(_to_polars(source, layout, f"{what} frame"), layout, f"{what} frame")
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return _read_records(list(source), layout, f"{what} list")
    raise DataError(
        f"expected a path, a dict of dicts, a frame or a list of named tuples as {what}, got {type(source).__name__}"
    )


def _is_pandas(source: object) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def _is_lazy(source: object) -> bool:
    return "polars" in sys.modules and isinstance(source, pl.LazyFrame)


def _to_polars(source: Any, layout: Layout, where: str) -> pl.DataFrame:
    if isinstance(source, pl.DataFrame):
        return source
    try:
        if isinstance(source, pl.LazyFrame):
            return source.collect()
        if _is_pandas(source):
            return _from_pandas(source, layout, where)
        return pl.DataFrame(source, infer_schema_length=None)
    except DataError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{where}: cannot be read: {str(error).splitlines()[0]}") from None


def _from_pandas(source: Any, layout: Layout, where: str) -> pl.DataFrame:
    """Column by column, since polars' own way needs pyarrow; pandas' NaN is a missing value."""
    names = [str(name) for name in source.columns]
    columns = []
    for name in needed_columns(names, layout, where).values():
        values = source.iloc[:, names.index(name)]
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iuf":
            columns.append(pl.Series(name, values.to_numpy()).fill_nan(None))
        else:
            columns.append(_from_cells(values.astype(object).where(values.notna(), None).tolist(), name, where))
    return pl.DataFrame(columns)


def _from_cells(cells: list[Any], name: str, where: str) -> pl.Series:
    try:
        return pl.Series(name, cells)
    except (TypeError, UnicodeEncodeError):  # strings and integers together are fine

        def place(row: int) -> str:
            return f"{where}, row {row + 1}"

        ids = [None if cell is None else _to_id(cell, name, place, row) for row, cell in enumerate(cells)]
        return pl.Series(name, ids, pl.String)


def _read_dict(source: Mapping[Any, Any], layout: Layout, where: str) -> pl.DataFrame:
    topics, found = list(source), list(source.values())
    ranked = layout is not QRELS and any(isinstance(docs, list | tuple) for docs in found)
    for topic, docs in zip(topics, found, strict=True):
        if not isinstance(docs, list | tuple if ranked else Mapping):
            wanted = "a list of docs as for other topics" if ranked else f"{{doc: {layout.value_field}}}"
            raise DataError(f"{where}, topic {topic!r}: expected {wanted}, got {type(docs).__name__}")
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    ends = np.cumsum(sizes)
    doc_ids = list(chain.from_iterable(found))

    def place(row: int) -> str:
        return f"{where}, topic {topics[int(np.searchsorted(ends, row, side='right'))]!r}"

    rows = np.repeat(np.arange(len(found)), sizes)
    if ranked:
        values = pl.Series((np.repeat(ends - sizes, sizes) - np.arange(len(doc_ids)) - 1).astype(np.float64))
    else:
        numbers = list(chain.from_iterable(docs.values() for docs in found))
        values = _to_floats(numbers, layout, lambda row: f"{place(row)}, doc {doc_ids[row]!r}")
    return pl.DataFrame(
        {
            "query_id": _to_ids(topics, "topic", lambda _: where).gather(rows),
            "doc_id": _to_ids(doc_ids, "doc", place),
            layout.value: values,
        }
    )


def _read_records(records: Sequence[Any], layout: Layout, where: str) -> pl.DataFrame:
    if records and all(isinstance(record, Mapping) for record in records):
        table = _to_polars(records, layout, where)
        return to_columns(table, layout, where)
    columns: dict[str, list[Any]] = {}
    for column in ("query_id", "doc_id", layout.value):
        try:
            columns[column] = [getattr(record, column) for record in records]
        except AttributeError:
            row, record = next((row, item) for row, item in enumerate(records, 1) if not hasattr(item, column))
            wanted = f"query_id, doc_id and {layout.value}"
            raise DataError(
                f"{where}, item {row}: expected an object with {wanted}, got {type(record).__name__}"
            ) from None

    def place(row: int) -> str:
        return f"{where}, item {row + 1}"

    return pl.DataFrame(
        {
            "query_id": _to_ids(columns["query_id"], "topic", place),
            "doc_id": _to_ids(columns["doc_id"], "doc", place),
            layout.value: _to_floats(columns[layout.value], layout, place),
        }
    )


def _to_ids(values: list[Any], what: str, place: Callable[[int], str]) -> pl.Series:
    try:
        ids = pl.Series(values, dtype=pl.String)
        if not ids.null_count():
            return ids
    except (TypeError, UnicodeEncodeError, OverflowError):
        pass  # not all are strings, or some hold bytes
    return pl.Series([_to_id(value, what, place, row) for row, value in enumerate(values)], dtype=pl.String)


def _to_id(value: object, what: str, place: Callable[[int], str], row: int) -> str:
    try:
        if isinstance(value, str):
            return id_text(value)
        if isinstance(value, bytes):
            return decode(value)
        if isinstance(value, Integral) and not isinstance(value, bool):
            return str(int(value))
    except UnicodeEncodeError:
        pass
    raise DataError(f"{place(row)}: expected a string or an integer as {what}, got {value!r} ({type(value).__name__})")


def _to_floats(values: list[Any], layout: Layout, place: Callable[[int], str]) -> pl.Series:
    what = layout.value_field
    kinds = set(map(type, values))
    unjudged: list[int] = []
    if layout is QRELS and type(None) in kinds:  # pooled but unjudged
        kinds.remove(type(None))
        unjudged = [row for row, value in enumerate(values) if value is None]
        values = [0 if value is None else value for value in values]
    wrong = {kind for kind in kinds if not _is_number(kind)}
    if wrong:
        row = next(row for row, value in enumerate(values) if type(value) in wrong)
        raise DataError(
            f"{place(row)}: expected a number as {what}, got {values[row]!r} ({type(values[row]).__name__})"
        )
    try:
        numbers = np.fromiter(values, np.float64, len(values))
    except OverflowError:
        numbers = np.array([value if abs(value) < sys.float_info.max else np.inf for value in values], np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise DataError(f"{place(row)}: expected a finite {what}, got {numbers[row]}")
    series = pl.Series(layout.value, numbers)
    return series.scatter(unjudged, None) if unjudged else series


def _is_number(kind: type) -> bool:
    # numpy would also take "1", True and Decimal(1), which are more likely mistakes than numbers.
    return issubclass(kind, int | float | np.integer | np.floating) and not issubclass(kind, bool)
