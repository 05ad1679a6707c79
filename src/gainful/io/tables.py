"""Tables with named columns: CSV, TSV, JSONL, Parquet, Arrow, and the frames made of them.

Each table is brought to gainful's columns: ``query_id, doc_id, relevance[, iteration]`` for qrels and
``query_id, doc_id, score[, rank, run]`` for runs. The spellings of PyTerrier, ranx, BEIR and trec_eval are recognised.
Ids that are integers become strings; a label that is there but empty (null) is one that was pooled but not judged; a
run without scores is scored by its ranks.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any, TypeVar

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.io.columns import IDS, added_header, check_header, needed_columns
from gainful.io.damage import check_arrow, check_parquet
from gainful.io.encoding import decode, to_utf8
from gainful.io.records import Read, first_error, first_record
from gainful.io.text import BOM, WRITE_NUMBER, Layout, shorten
from gainful.memory import check_memory

TEXT_COLUMNS = ("query_id", "doc_id", "run", "iteration", "stratum")
PARQUET = b"PAR1"
ARROW_FILE = b"ARROW1\0\0"
ARROW_STREAM = b"\xff\xff\xff\xff"

# Beyond it, floats are not told apart from their neighbours.
_LARGEST_WHOLE = 2**53
T = TypeVar("T")


class _CellError(Exception):
    """A value that is no good, in a row counted from 1."""

    def __init__(self, row: int, problem: str, remedy: str = WRITE_NUMBER) -> None:
        super().__init__(problem)
        self.row, self.remedy = row, remedy


def to_columns(table: pl.DataFrame, layout: Layout, where: str, before: int = 0) -> pl.DataFrame:
    """The table, `before` rows into its source, with gainful's columns and types; an error for its first bad row."""
    found = needed_columns(table.columns, layout, where)
    columns = {}
    problems = []
    for column, name in found.items():
        values = table[name].alias(column)
        try:
            if column in TEXT_COLUMNS:
                columns[column] = _to_text(values, where)
            else:
                columns[column] = _to_numbers(values, layout, where)
            if column == "rank":
                columns[column] = _to_ranks(columns[column])
        except _CellError as error:
            problems.append(error)
    if problems:
        first = min(problems, key=lambda problem: problem.row)
        raise DataError(f"{where}, row {before + first.row}: {first}", remedy=first.remedy)
    if "rank" in columns:
        columns.setdefault("score", -columns["rank"].cast(pl.Float64).alias("score"))
    order = [*IDS, layout.value, *(column for column in columns if column not in (*IDS, layout.value))]
    return pl.DataFrame({column: columns[column] for column in order})


def _to_text(values: pl.Series, where: str) -> pl.Series:
    if values.dtype.is_float() and _are_whole(values):  # ids that a table with gaps has made numbers of
        values = values.cast(pl.Int64)
    dtype = values.dtype
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        # One text may stand in many rows, and has its bytes but once as long as nobody puts rows into another order.
        check_memory(where, int((values.str if dtype == pl.String else values.cat).len_bytes().sum()))
    if not (dtype.is_integer() or dtype in (pl.String, pl.Categorical, pl.Enum, pl.Binary, pl.Null)):
        raise DataError(f"{where}: expected strings or integers in column {values.name!r}, got {dtype}")
    if dtype == pl.Binary:
        text = pl.Series(values.name, [None if value is None else decode(value) for value in values], pl.String)
    else:
        text = values.cast(pl.String)
    if values.name != "iteration" and text.null_count():
        raise _CellError(_first(text.is_null()), f"expected a {values.name}, got nothing", "Fill in this field.")
    return text


def _are_whole(values: pl.Series) -> bool:
    return bool(((values % 1 == 0) & (values.abs() < _LARGEST_WHOLE)).fill_null(value=True).all())


def _to_numbers(values: pl.Series, layout: Layout, where: str) -> pl.Series:
    what = layout.value_field if values.name == layout.value else values.name
    if values.dtype == pl.Boolean and what == "label":
        values = values.cast(pl.Float64)
    if not (values.dtype.is_numeric() or values.dtype in (pl.String, pl.Null)):
        raise DataError(f"{where}: expected numbers in column {values.name!r}, got {values.dtype}")
    numbers = values.cast(pl.Float64, strict=False)
    bad = ~numbers.is_finite()  # null where there is none
    if what != "label":
        bad = bad.fill_null(value=True)
    elif numbers.null_count() > values.null_count():
        bad = bad.fill_null(value=True) & values.is_not_null()
    if bad.any():
        row = _first(bad)
        value, number = values[row - 1], numbers[row - 1]
        if value is None:
            raise _CellError(row, f"expected a number as {what}, got nothing")
        if number is None:
            point = ": write a decimal point" if isinstance(value, str) and value.count(",") == 1 else ""
            raise _CellError(row, f"expected a number as {what}, got {value!r}{point}")
        raise _CellError(row, f"expected a finite {what}, got {number}")
    return numbers


def _to_ranks(numbers: pl.Series) -> pl.Series:
    ranks = numbers.cast(pl.Int64, strict=False)
    bad = ranks.is_null() | (ranks.cast(pl.Float64) != numbers)
    if bad.any():
        row = _first(bad)
        raise _CellError(row, f"expected an integer as rank, got {numbers[row - 1]}")
    return ranks


def _first(flags: pl.Series) -> int:
    """Row number, from 1, of the first true value."""
    return (flags.fill_null(value=False).arg_max() or 0) + 1


def _read_csv(
    content: bytes, separator: str, layout: Layout, where: str, lines: int = 0, rows: int = 0
) -> pl.DataFrame:
    """The rows below a header, as if it stood after so many lines and rows."""
    content = to_utf8(content, where, lines)
    table = parse(lambda: pl.read_csv(content, separator=separator, infer_schema=False), "CSV", where)
    blank = table.select(pl.all_horizontal(pl.all().is_null())).to_series()
    frame = to_columns(table.filter(~blank) if blank.any() else table, layout, where, rows)
    if frame[layout.value].null_count():
        _check_widths(content, separator, table.width, where, lines)
    return frame


def separated(start: bytes, separator: str, layout: Layout, where: str) -> tuple[Read, int]:
    """What reads the rows of CSV or TSV that begins with this, and where they begin; lines count from there on."""
    header = start[: first_record(start)]
    if added := added_header(header, separator, layout):
        begin = len(BOM) if start.startswith(BOM) else 0
        return lambda data, lines, rows: _read_csv(added + data, separator, layout, where, lines - 1, rows), begin
    check_header(header, separator, layout, where)
    return lambda data, *before: _read_csv(header + data, separator, layout, where, *before), len(header)


def read_separated(data: bytes, separator: str, layout: Layout, where: str) -> pl.DataFrame:
    """CSV or TSV, with a header line or without."""
    read, begin = separated(data, separator, layout, where)
    try:
        return read(data[begin:], 0, 0)
    except DataError as error:
        raise first_error(read, data[begin:], quotes=True) or error from None


def _check_widths(content: bytes, separator: str, width: int, where: str, before: int) -> None:
    """An empty cell is a label that was not given; a row that ends before it is a damaged file."""
    rows = csv.reader(io.StringIO(content.decode()), delimiter=separator)
    for row in rows:
        if row and len(row) < width:
            raise DataError(f"{where}:{before + rows.line_num}: expected {width} fields, got {len(row)}")


def json_lines(start: bytes, layout: Layout, where: str) -> Read:
    """What reads the JSON objects, one per line, of a file that begins with this; the first tells which keys matter."""
    lines = ((number, to_utf8(line, where, number - 1)) for number, line in enumerate(io.BytesIO(start), 1))
    first = next((_json_object(line, f"{where}:{number}") for number, line in lines if line.strip()), {})
    found = needed_columns(list(first), layout, where)
    schema = {name: pl.String() if column in TEXT_COLUMNS else pl.Float64() for column, name in found.items()}

    def read(data: bytes, lines: int, rows: int) -> pl.DataFrame:
        content = to_utf8(data, where, lines)
        if not content.strip():
            return to_columns(pl.DataFrame(schema=schema), layout, where)
        try:
            table = pl.read_ndjson(content, schema=schema)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise _first_bad_object(content, found, layout, where, str(error), lines) from None
        frame = to_columns(table, layout, where, rows)
        ids = (frame["query_id"], frame["doc_id"])
        if (
            frame[layout.value].null_count()
            or any(content.count(b'"%b"' % name.encode()) > frame.height for name in found.values())
            or any((one.str.starts_with("{") | one.str.starts_with("[")).any() for one in ids)
        ):
            _check_objects(content, found, layout, where, lines)
        return frame

    return read


def read_jsonl(data: bytes, layout: Layout, where: str) -> pl.DataFrame:
    """One JSON object per line; the first one tells which keys matter."""
    content = data.removeprefix(BOM)
    read = json_lines(content, layout, where)
    try:
        return read(content, 0, 0)
    except DataError as error:
        raise first_error(read, content) or error from None


def _check_objects(content: bytes, found: dict[str, str], layout: Layout, where: str, before: int) -> None:
    """What polars takes: a key that is missing or there twice, and an id that is a list or an object.

    A null is a label that was not given; an object without the key is a mistake.
    """
    for number, line in enumerate(io.BytesIO(content), before + 1):
        if not line.strip():
            continue
        values = _json_object(line, f"{where}:{number}")
        key = found.get(layout.value)
        if key is not None and key not in values:
            raise DataError(f"{where}:{number}: expected the key {key!r}, as in the first line: {shorten(line)!r}")
        for column in IDS:
            if isinstance(values.get(found[column]), dict | list):
                raise DataError(
                    f"{where}:{number}: expected a string or an integer as {column}, "
                    f"got {shorten(json.dumps(values[found[column]]).encode())}"
                )


class _TwiceError(ValueError):
    """A key that is twice in an object of JSON."""


def load_json(text: bytes | str) -> Any:
    """The value of a JSON text; of a key that is twice in an object, neither value is taken."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _TwiceError(f"the key {twice!r} is there twice")
    return found


def _json_object(line: bytes, where: str) -> dict[str, object]:
    try:
        value = load_json(line)
    except _TwiceError as error:
        raise DataError(f"{where}: {error}: {shorten(line)!r}") from None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected a JSON object, got {shorten(line)!r}")
    return value


def _first_bad_object(
    content: bytes, found: dict[str, str], layout: Layout, where: str, reason: str, before: int
) -> DataError:
    for number, line in enumerate(io.BytesIO(content), before + 1):
        if not line.strip():
            continue
        try:
            values = _json_object(line, f"{where}:{number}")
        except DataError as error:
            return error
        for column, name in found.items():
            value = values.get(name)
            what = layout.value_field if column == layout.value else column
            if column in TEXT_COLUMNS or value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                problem = f"expected a number as {what}, got {value!r}: {shorten(line)!r}"
                return DataError(f"{where}:{number}: {problem}", remedy=WRITE_NUMBER)
            if not abs(value) < float("inf"):
                problem = f"expected a finite {what}, got {value!r}: {shorten(line)!r}"
                return DataError(f"{where}:{number}: {problem}", remedy=WRITE_NUMBER)
    return DataError(f"{where}: cannot be read as JSONL: {reason}")


def read_parquet(data: bytes, layout: Layout, where: str) -> pl.DataFrame:
    """Parquet; only the columns that matter are unpacked."""
    groups = check_parquet(data, where)
    names = list(parse(lambda: pl.read_parquet_schema(io.BytesIO(data)), "Parquet", where))
    wanted = list(needed_columns(names, layout, where).values())
    check_memory(where, sum(group.get(name, 0) for group in groups for name in wanted))
    return to_columns(parse(lambda: pl.read_parquet(data, columns=wanted), "Parquet", where), layout, where)


def read_arrow(data: bytes, layout: Layout, where: str) -> pl.DataFrame:
    """Arrow IPC, as a file (also called Feather) or as a stream."""
    check_arrow(data, where)
    read = pl.read_ipc if data.startswith(ARROW_FILE) else pl.read_ipc_stream
    return to_columns(parse(lambda: read(data), "Arrow", where), layout, where)


def parse(read: Callable[[], T], what: str, where: str) -> T:
    """What polars reads, or its complaint in our words."""
    try:
        return read()
    except DataError:
        raise  # in our words already
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(f"{where}: cannot be read as {what}: {reason}") from None
