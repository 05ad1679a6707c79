"""Files of examples: JSONL, CSV, TSV, Parquet and LETOR/SVMlight, and where in them a wrong row stands."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.io import letor
from gainful.io.compression import decompress, split_compression
from gainful.io.damage import check_parquet
from gainful.io.files import read_bytes

FloatMatrix = NDArray[np.float32]
BoolArray = NDArray[np.bool_]
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


# All features of all documents are held in memory.
_MOST_FEATURES = 100_000


class Features(NamedTuple):
    """Names, and documents × features."""

    names: tuple[str, ...]
    values: FloatMatrix


class Table(NamedTuple):
    """Rows as read, where they came from, and where each stands there."""

    frame: pl.DataFrame
    name: str
    place: Callable[[int], str]
    features: Features | None = None  # where they are no columns


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
    data = decompress(bytes(read_bytes(path)), str(path))
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
    """`label qid:1 1:0.5 3:0.1 # doc`: features that are not named in a line are 0 there."""
    try:
        parts = [_letor_block(block, where) for block in letor.blocks(data, where)]
    except UnicodeDecodeError:
        raise DataError(f"{where}: expected LETOR/SVMlight lines or a table ({', '.join(_TABLES)})") from None
    keys = pl.concat([part[0] for part in parts]) if parts else pl.DataFrame()
    if not keys.height:
        raise DataError(f"{where}: expected examples, got an empty file")
    width = max(dense.shape[1] for _, dense, _ in parts)
    named = np.zeros(width, bool)
    whole = np.zeros((keys.height, width), np.float32)
    row = 0
    for _, dense, seen in parts:
        whole[row : row + len(dense), : dense.shape[1]] = dense
        named[: len(seen)] |= seen
        row += len(dense)
    if not named.any():
        raise DataError(f"{where}: expected features, got none in any line")
    if not named.all():  # one that no line names is not there
        whole = whole[:, named]
    names = tuple(map(str, np.flatnonzero(named).tolist()))
    numbers = keys["number"]
    return Table(keys.drop("number"), where, lambda at: f"{where}:{numbers[at]}", Features(names, whole))


def _letor_block(lines: pl.DataFrame, where: str) -> tuple[pl.DataFrame, FloatMatrix, BoolArray]:
    """Keys with the numbers of lines, features by number, and whether any line names each."""
    numbers = lines["number"]
    cells = lines.select(
        pl.int_range(pl.len()).alias("row"),
        pl.col("line").str.replace(r"#.*", "").str.extract_all(r"\S+").list.slice(2).alias("cells"),
    )
    cells = cells.explode("cells").drop_nulls("cells")
    cells = cells.with_columns(
        pl.col("cells").str.extract(r"^(\d+):").cast(pl.Int64, strict=False).alias("feature"),
        pl.col("cells").str.extract(r"^\d+:(.+)$").cast(pl.Float64, strict=False).alias("value"),
    )
    for cell in cells.filter(pl.col("feature").is_null() | pl.col("value").is_null()).head(1).iter_rows(named=True):
        raise DataError(f"{where}:{numbers[cell['row']]}: expected feature:value, got {cell['cells'][:80]!r}")
    feature = cells["feature"].to_numpy()
    last = int(feature.max(initial=-1))
    if last > _MOST_FEATURES:
        raise DataError(f"{where}: expected features numbered up to {_MOST_FEATURES}, got {last}")
    dense = np.zeros((lines.height, last + 1), np.float32)
    dense[cells["row"].to_numpy(), feature] = cells["value"].to_numpy()
    return lines.select("query_id", "doc_id", "label", "number"), dense, np.bincount(feature, minlength=last + 1) > 0
