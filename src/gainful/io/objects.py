"""Qrels and runs that are Python objects; pandas and pyarrow are known only where the caller has imported them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.io.columns import IDS, SPELLINGS, match_columns, needed_columns
from gainful.io.encoding import decode, id_text
from gainful.io.foreign import converted
from gainful.io.tables import to_columns
from gainful.io.text import RUN, WRITE_NUMBER, Layout, shorten

# What a document is called in the list of a topic, as that of an encoder or a retriever.
_LISTED = (*SPELLINGS["doc_id"], "id", "_id")
_NO_VALUE = object()
# Topics, and documents of each, that are looked at to see what a dict holds.
_LOOKED_AT = 8


def is_table(source: object) -> bool:
    """Whether this is a frame of polars or pandas, an array with names, or gives its content as an Arrow stream."""
    if isinstance(source, np.ndarray):
        return source.dtype.names is not None
    # So does a frame of polars; a LazyFrame can only come from who has imported polars.
    return hasattr(source, "__arrow_c_stream__") or _is_pandas(source) or _is_lazy(source)


def is_record(source: object) -> bool:
    """Whether this is a judgment or a result: a dict, an object as ir_measures has it, or topic, document and value."""
    if isinstance(source, Mapping):
        return {*IDS} <= match_columns([name for name in source if isinstance(name, str)], RUN).keys()
    if hasattr(source, "query_id") and hasattr(source, "doc_id"):
        return not is_table(source)
    return isinstance(source, tuple) and len(source) == 3 and _is_number(type(source[2]))


def is_one_run(source: Mapping[Any, object]) -> bool:
    """Tell ``{topic: {doc: score}}`` and ``{topic: [doc, …]}`` from ``{name: run}`` by the first value that can."""
    for value in source.values():
        if isinstance(value, Mapping) and value:
            return not isinstance(next(iter(value.values())), Mapping | list | tuple | set | frozenset)
        if isinstance(value, list | tuple) and value:
            return not is_record(value[0])
        if isinstance(value, set | frozenset) or _is_number(type(value)) or _is_row(value):
            return True  # of a run, be it a wrong one
        if not isinstance(value, Mapping | list | tuple):
            return False
    return True


def refuse_ids(items: Sequence[object]) -> None:
    """Refuse lists of documents without their topics, which would be taken for names of files."""
    for at, item in enumerate(items, 1):
        if not isinstance(item, list | tuple) or not item or not all(isinstance(word, str) for word in item):
            continue
        if not any(os.path.exists(word) or set(word) & {*"*?[:"} for word in item):
            raise DataError(
                f"runs, item {at}: expected a path, {{topic: {{doc: score}}}} or {{topic: [best doc, …]}}, a frame or "
                f"records, got a list of words that are no files, {item[0]!r}, …: of which topic are these documents?"
            )


def read_object(source: object, layout: Layout) -> pl.DataFrame:
    """The frame of anything but a path."""
    what = layout.what.removeprefix("a ")
    source = converted(source, layout)
    if isinstance(source, Mapping) and not _is_columns(source, layout):
        return _read_dict(source, layout, f"{what} dict")
    if isinstance(source, Mapping) or is_table(source):
        return to_columns(_to_polars(source, layout, f"{what} frame"), layout, f"{what} frame")
    if isinstance(source, Iterable) and not isinstance(source, str | bytes | bytearray):
        return _read_records(list(source), layout, f"{what} list")
    value, of = layout.value_field, "relevant doc" if layout.judged else "best doc"
    raise DataError(
        f"expected a path, a dict {{topic: {{doc: {value}}}}} or {{topic: [{of}, …]}}, a frame, or a list of records "
        f"with query_id, doc_id and {layout.value} as {what}, got {type(source).__name__}"
    )


def seem_swapped(qrels: object, runs: object) -> bool:
    """Whether judgments and runs, each a dict, look like each other: labels that are fractions, scores that are not."""
    if not (isinstance(qrels, dict) and isinstance(runs, dict)):
        return False
    labels = _first_values(qrels)
    if all(isinstance(label, int) or label == round(label) for label in labels):
        return False
    scores = _first_values(runs if is_one_run(runs) else next(iter(runs.values()), None))
    return bool(scores) and all(score == round(score) for score in scores)


def _first_values(source: object) -> list[float]:
    """Some of the numbers in a dict of dicts; none if there is any that cannot be rounded."""
    inner = source.values() if isinstance(source, dict) else ()
    rows = [docs for _, docs in zip(range(_LOOKED_AT), inner, strict=False) if isinstance(docs, dict)]
    found = [value for docs in rows for _, value in zip(range(_LOOKED_AT), docs.values(), strict=False)]
    return found if all(isinstance(value, int | float) and abs(value) < np.inf for value in found) else []


def _is_row(value: object) -> bool:
    """Whether this is an array of ids."""
    return isinstance(value, np.ndarray) and value.dtype.names is None and value.ndim == 1


def _is_columns(source: Mapping[Any, Any], layout: Layout) -> bool:
    """Whether this is a table, column by column."""
    if not all(isinstance(cells, list | tuple | np.ndarray) for cells in source.values()):
        return False
    names = [name for name in source if isinstance(name, str)]
    return {*IDS} <= match_columns(names, layout).keys() and len(set(map(len, source.values()))) == 1


def _is_pandas(source: object) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame | pandas.Series)


def _is_lazy(source: object) -> bool:
    return "polars" in sys.modules and isinstance(source, pl.LazyFrame)


def _to_polars(source: Any, layout: Layout, where: str) -> pl.DataFrame:
    if isinstance(source, pl.DataFrame):
        return source
    try:
        if isinstance(source, pl.LazyFrame):
            return source.collect()
        if _is_pandas(source):
            return _from_pandas(_without_index(source, layout, where), layout, where)
        if isinstance(source, np.ndarray):
            return pl.DataFrame({name: source[name].tolist() for name in source.dtype.names or ()})
        return pl.DataFrame(source, infer_schema_length=None)
    except DataError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{where}: cannot be read: {str(error).splitlines()[0]}") from None


def _without_index(source: Any, layout: Layout, where: str) -> Any:
    """A frame of pandas with the named levels of its index as columns; a series of values becomes one."""
    if source.ndim == 1:
        if source.index.nlevels != len(IDS):
            raise DataError(f"{where}: expected an index of topic and document, got {source.index.nlevels} level")
        names = [name or ours for name, ours in zip(source.index.names, IDS, strict=True)]
        return source.rename_axis(index=names).rename(layout.value).reset_index()
    names = [name for name in source.index.names if name is not None and name not in source.columns]
    return source.reset_index(level=names) if names else source


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
    listed = any(not isinstance(docs, Mapping) and _is_several(docs) for docs in found)
    given: list[Sequence[Any] | None] = [None]
    if listed:
        each = [_listed(docs, layout, f"{where}, topic {topic!r}") for topic, docs in source.items()]
        found, given = [ids for ids, _ in each], [values for _, values in each]
    for topic, docs in zip(topics, found, strict=True):
        if not isinstance(docs, list if listed else Mapping):
            raise DataError(f"{where}, topic {topic!r}: {_expected(layout)}, got {_shown(docs)}{_level(docs, layout)}")
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    ends = np.cumsum(sizes)
    doc_ids = list(chain.from_iterable(found))

    def place(row: int) -> str:
        return f"{where}, topic {topics[int(np.searchsorted(ends, row, side='right'))]!r}"

    rows = np.repeat(np.arange(len(found)), sizes)
    # Not a list of views, each of which the collector of garbage would have to look through.
    parts: Iterable[Iterable[Any]] = (docs.values() for docs in found)
    if listed:
        by_rank = (np.repeat(ends - sizes, sizes) - np.arange(len(doc_ids)) - 1).astype(np.float64)
        without = np.split(np.ones(len(doc_ids)) if layout.judged else by_rank, ends)
        parts = [one if one is not None else own for one, own in zip(given, without, strict=False)]
    numbers = list(chain.from_iterable(parts))
    values = _to_floats(numbers, layout, lambda row: f"{place(row)}, doc {doc_ids[row]!r}")
    return pl.DataFrame(
        {
            "query_id": _to_ids(topics, "topic", lambda _: where).gather(rows),
            "doc_id": _to_ids(doc_ids, "doc", place),
            layout.value: values,
        }
    )


def _is_several(docs: object) -> bool:
    return isinstance(docs, list | tuple | set | frozenset) or _is_row(docs)


def _expected(layout: Layout) -> str:
    of = "a list or set of relevant docs" if layout.judged else "a list of docs, the best first"
    return f"expected {{doc: {layout.value_field}}} or {of}"


def _shown(value: object) -> str:
    return f"{value!r} ({type(value).__name__})" if isinstance(value, int | float) else type(value).__name__


def _level(value: object, layout: Layout) -> str:
    """What may be wrong with a dict that has a level less, or more, than expected."""
    whole = f"{{topic: {{doc: {layout.value_field}}}}}"
    if isinstance(value, int | float):
        return f". The whole is {whole}: the level of topics may be missing"
    if isinstance(value, Mapping):
        several = "one judge or collection at a time" if layout.judged else f"several are {{name: {whole}}}"
        return f". The whole is {whole}, and {several}: there may be a level too many"
    return ""


def _listed(docs: Any, layout: Layout, where: str) -> tuple[list[Any], list[Any] | None]:
    """The ids of the documents of a topic that are no dict, and their labels or scores, if there are any."""
    if isinstance(docs, Mapping) or not _is_several(docs):
        raise DataError(f"{where}: expected a list of docs as for other topics, got {type(docs).__name__}")
    if isinstance(docs, set | frozenset) and not layout.judged:
        raise DataError(
            f"{where}: expected a list of docs, the best first, got {type(docs).__name__}, without an order"
        )
    items = docs.tolist() if isinstance(docs, np.ndarray) else list(docs)
    if {*map(type, items)} <= {str, int}:
        return items, None
    pairs = [_id_and_value(item, layout, where) for item in items]
    ids = [found for found, _ in pairs]
    if all(value is _NO_VALUE for _, value in pairs):
        return ids, None
    if any(value is _NO_VALUE for _, value in pairs):
        raise DataError(f"{where}: expected a {layout.value_field} with every doc or with none, got it with some")
    return ids, [value for _, value in pairs]


def _id_and_value(item: Any, layout: Layout, where: str) -> tuple[Any, Any]:
    """Of an id alone, of (id, value), of {"corpus_id": id, "score": value}, or of an object that has these."""
    if isinstance(item, str | bytes | int):
        return item, _NO_VALUE
    found, value = _field(item, _LISTED), _field(item, SPELLINGS[layout.value])
    if found is not _NO_VALUE:
        return found, value
    if isinstance(item, list | tuple) and len(item) == 2:
        return item[0], item[1]
    if isinstance(item, Mapping):
        known = ", ".join(_LISTED)
        raise DataError(f"{where}: expected a doc with one of the keys {known}, got {', '.join(map(str, item))}")
    return item, _NO_VALUE


def _field(item: Any, names: Sequence[str]) -> Any:
    """The first of these keys or attributes that is there."""
    if isinstance(item, Mapping):
        plain = {str(name).lower().replace("-", "_"): value for name, value in item.items()}
        return next((plain[name] for name in names if name in plain), _NO_VALUE)
    return next((getattr(item, name) for name in names if hasattr(item, name)), _NO_VALUE)


def _read_records(records: Sequence[Any], layout: Layout, where: str) -> pl.DataFrame:
    if records and all(isinstance(record, Mapping) for record in records):
        table = _to_polars(records, layout, where)
        return to_columns(table, layout, where)
    odd = next((at for at, one in enumerate(records) if isinstance(one, Mapping) != isinstance(records[0], Mapping)), 0)
    if odd:
        kinds = [type(records[at]).__name__ for at in (0, odd)]
        raise DataError(f"{where}, item {odd + 1}: expected a {kinds[0]} like the items before it, got {kinds[1]}")
    wanted = ("query_id", "doc_id", layout.value)
    columns: dict[str, list[Any]] = {column: [] for column in wanted}
    for row, record in enumerate(records, 1):
        plain = type(record) is tuple and len(record) == len(wanted)
        cells = record if plain else [getattr(record, column, _NO_VALUE) for column in wanted]
        if any(cell is _NO_VALUE for cell in cells):
            raise DataError(
                f"{where}, item {row}: expected an object with {' and '.join(wanted).replace(' and ', ', ', 1)}, or a "
                f"tuple of them, got {type(record).__name__}"
            )
        for column, cell in zip(wanted, cells, strict=True):
            columns[column].append(cell)

    def place(row: int) -> str:
        return f"{where}, item {row + 1}"

    found = {
        "query_id": _to_ids(columns["query_id"], "topic", place),
        "doc_id": _to_ids(columns["doc_id"], "doc", place),
        layout.value: _to_floats(columns[layout.value], layout, place),
    }
    subtopics = [getattr(record, "iteration", None) for record in records] if layout.judged else []
    if len(set(subtopics)) > 1 and None not in subtopics:
        found["iteration"] = _to_ids(subtopics, "iteration", place)
    return pl.DataFrame(found)


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
    if layout.judged and type(None) in kinds:  # pooled but unjudged
        kinds.remove(type(None))
        unjudged = [row for row, value in enumerate(values) if value is None]
        values = [0 if value is None else value for value in values]
    wrong = {kind for kind in kinds if not (_is_number(kind) or (layout.judged and issubclass(kind, bool | np.bool_)))}
    if wrong:
        row = next(row for row, value in enumerate(values) if type(value) in wrong)
        raise DataError(
            f"{place(row)}: expected a number as {what}, got {shorten(repr(values[row]).encode())} "
            f"({type(values[row]).__name__}){_level(values[row], layout) if isinstance(values[row], Mapping) else ''}",
            remedy=WRITE_NUMBER,
        )
    try:
        numbers = np.fromiter(values, np.float64, len(values))
    except OverflowError:
        numbers = np.array([value if abs(value) < sys.float_info.max else np.inf for value in values], np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise DataError(f"{place(row)}: expected a finite {what}, got {numbers[row]}", remedy=WRITE_NUMBER)
    series = pl.Series(layout.value, numbers)
    return series.scatter(unjudged, None) if unjudged else series


def _is_number(kind: type) -> bool:
    # numpy would also take "1", True and Decimal(1), which are more likely mistakes than numbers.
    return issubclass(kind, int | float | np.integer | np.floating) and not issubclass(kind, bool)
