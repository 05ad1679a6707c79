"""Files of examples: JSONL, CSV, TSV, Parquet and LETOR/SVMlight, and where in them a wrong row stands."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.io.compression import decompress, split_compression
from gainful.io.damage import check_parquet

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


# All features of all documents are held in memory.
_MOST_FEATURES = 100_000


class Table(NamedTuple):
    """Rows as read, where they came from, and where each stands there."""

    frame: pl.DataFrame
    name: str
    place: Callable[[int], str]
    sparse: bool = False


def frame_of(source: Any) -> pl.DataFrame:
    """A frame of polars, pandas or anything that speaks Arrow, as one of polars."""
    if isinstance(source, pl.DataFrame):
        return source
    try:
        if isinstance(source, pl.LazyFrame):
            return source.collect()
        if hasattr(source, "iloc"):  # pandas: polars' own way needs pyarrow
            columns = {str(name): source[name] for name in source.columns}
            return pl.DataFrame(
                {name: cells.astype(object).where(cells.notna(), None).tolist() for name, cells in columns.items()},
                strict=False,
            )
        return pl.DataFrame(source)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise DataError(f"examples: cannot be read: {str(error).splitlines()[0]}") from None


def read_file(path: Path) -> Table:
    """The rows of a file; its name says what it is, LETOR/SVMlight if nothing else."""
    try:
        data = decompress(path.read_bytes(), str(path))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: expected a file, got a folder") from None
    suffix = split_compression(path)[0].suffix.lower()
    if suffix not in _TABLES:
        return _read_letor(data, str(path))
    if suffix in (".jsonl", ".ndjson"):
        return _read_jsonl(data, str(path))
    try:
        if suffix == ".parquet":
            check_parquet(data, str(path))
            frame = pl.read_parquet(data)
        else:
            frame = pl.read_csv(data, separator="\t" if suffix == ".tsv" else ",", infer_schema=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"{path}: cannot be read as {suffix[1:]}: {str(error).partition(chr(10))[0]}") from None
    # Row 1 is the first after the header: a cell in quotes may hold several lines.
    return Table(frame, str(path), lambda row: f"{path}, row {row + 1}")


def _read_jsonl(data: bytes, where: str) -> Table:
    rows, numbers = [], []
    wanted: set[str] = set()
    for number, line in enumerate(io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            got = line.decode(errors="replace").strip()[:80]
            raise DataError(f"{where}:{number}: expected a JSON object, got {got!r}")
        wanted = wanted or set(row)
        if row.keys() != wanted:
            raise DataError(
                f"{where}:{number}: expected the keys of the first line, {', '.join(sorted(wanted))}; got "
                f"{', '.join(sorted(row))}"
            )
        rows.append(row)
        numbers.append(number)
    try:
        frame = pl.DataFrame(rows, infer_schema_length=None, strict=False)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{where}: cannot be read: {str(error).splitlines()[0]}") from None
    return Table(frame, where, lambda row: f"{where}:{numbers[row]}")


def _read_letor(data: bytes, where: str) -> Table:
    """`label qid:1 1:0.5 3:0.1 # doc`: features that are not named are 0."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise DataError(f"{where}: expected LETOR/SVMlight lines or a table ({', '.join(_TABLES)})") from None
    lines = pl.DataFrame({"line": text.splitlines()}, schema={"line": pl.String}).with_row_index("number", offset=1)
    lines = lines.filter(~pl.col("line").str.contains(r"^\s*(#|$)"))
    if not lines.height:
        raise DataError(f"{where}: expected examples, got an empty file")
    numbers = lines["number"].to_list()
    head = r"^\s*(\S+)\s+qid:([^\s#]+)"
    parts = lines.select(
        pl.col("line").str.extract(head, 1).cast(pl.Float64, strict=False).alias("label"),
        pl.col("line").str.extract(head, 2).alias("query_id"),
        pl.col("line").str.extract(r"#\s*(?:docid\s*=\s*)?(\S+)").alias("doc_id"),
        pl.col("line").str.replace(r"#.*$", "").str.extract_all(r"\S+").list.slice(2).alias("cells"),
    )
    for row in parts.select((pl.col("label").is_null() | pl.col("query_id").is_null()).arg_max()).to_series():
        if parts["label"][row] is None or parts["query_id"][row] is None:
            wrong = lines["line"][row]
            raise DataError(f"{where}:{numbers[row]}: expected 'label qid:… 1:… 2:…', got {wrong[:80]!r}")
    cells = parts.select(pl.int_range(pl.len()).alias("row"), "cells").explode("cells").drop_nulls("cells")
    cells = cells.with_columns(
        pl.col("cells").str.extract(r"^(\d+):").cast(pl.Int64, strict=False).alias("feature"),
        pl.col("cells").str.extract(r"^\d+:(.+)$").cast(pl.Float64, strict=False).alias("value"),
    )
    for cell in cells.filter(pl.col("feature").is_null() | pl.col("value").is_null()).head(1).iter_rows(named=True):
        raise DataError(f"{where}:{numbers[cell['row']]}: expected feature:value, got {cell['cells'][:80]!r}")
    if not cells.height:
        raise DataError(f"{where}: expected features, got none in any line")
    width = int(cells["feature"].max()) + 1  # type: ignore[arg-type]
    if width - 1 > _MOST_FEATURES:
        raise DataError(f"{where}: expected features numbered up to {_MOST_FEATURES}, got {width - 1}")
    dense = np.zeros((parts.height, width), np.float32)
    dense[cells["row"].to_numpy(), cells["feature"].to_numpy()] = cells["value"].to_numpy()
    first = 0 if (cells["feature"] == 0).any() else 1
    number = pl.Series(numbers).cast(pl.String)
    keys = parts.select("query_id", pl.col("doc_id").fill_null(number), "label")
    features = pl.DataFrame(dense[:, first:], schema=[str(k) for k in range(first, width)])
    frame = pl.concat([keys, features], how="horizontal")
    return Table(frame, where, lambda row: f"{where}:{numbers[row]}", sparse=True)
