"""Scores in tables: one row per score (long), or one row per topic and one column per run (wide)."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.data.rankings import BoolArray, FloatArray
from gainful.data.scores import MEAN, ScoreMatrix, Scores, Summary
from gainful.errors import DataError
from gainful.io.atomic import write_atomically
from gainful.io.compression import compress, decompress, split_compression
from gainful.io.damage import check_parquet
from gainful.io.encoding import from_utf8, to_utf8
from gainful.io.files import is_standard_input, read_bytes, standard_input
from gainful.io.objects import is_table
from gainful.io.tables import PARQUET, load_json
from gainful.io.text import BOM
from gainful.tables import from_cell

COLUMNS = ("run", "measure", "query_id", "score")
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
# Other people's names for our columns; the first column of a spreadsheet or data frame often has none.
_ALIASES = {
    "run": ("run", "system", "name"),
    "measure": ("measure", "metric"),
    "query_id": ("query_id", "qid", "q_id", "topic", "topic_id", "topic_no", "query", "tid", "id", ""),
    "score": ("score", "value"),
}
# In a wide table, where runs may have any name, these mean topics only in the first column.
_FIRST_ONLY = ("query", "tid", "id")
# What may stand between columns, and what to do where it should not.
_SEPARATORS = {
    "\t": ("tabs", "call the file .tsv"),
    ";": ("semicolons", "write it with commas, and decimals with a point"),
    ",": ("commas", "call the file .csv"),
}
_PANIC = pl.exceptions.PanicException
_UNREADABLE = (pl.exceptions.PolarsError, _PANIC, csv.Error, ValueError, TypeError, RecursionError)
_ABSENT = ("", "NA", "null", "None", "-")


def write_scores(scores: Scores, path: str | Path) -> None:
    """Write the scores of all topics as a long table: run, measure, query_id, score.

    Parameters
    ----------
    scores
        From `evaluate`. Cells that a ``skip`` policy left out get no row.
    path
        Ends in .csv, .tsv, .jsonl, .json or .parquet; the first four may be followed by .gz, .bz2, .xz or .zst. Written
        to a temporary name first, so never half. JSON has no NaN: there an undefined score is null, and is read back
        as left out.
    """
    path = Path(path)
    if MEAN in scores.topics:
        raise DataError(f"{path}: a topic is called {MEAN!r}, which stands for the mean in tables of scores: rename it")
    plain, packing = split_compression(path)
    frame, suffix = scores.to_frame(), _suffix(plain, path)
    if suffix in (".jsonl", ".json"):
        frame = frame.with_columns(pl.col("score").fill_nan(None))
    match suffix:
        case ".csv" | ".tsv":
            data = from_utf8(frame.write_csv(separator="\t" if suffix == ".tsv" else ",").encode())
        case ".jsonl":
            data = frame.write_ndjson().encode()
        case ".json":
            data = json.dumps(frame.to_dicts(), indent=1).encode()
        case _:
            frame.write_parquet(content := io.BytesIO())
            data = content.getvalue()
    write_atomically(path, compress(data, packing, str(path)))


def read_scores(source: Any) -> Scores:
    """Scores from a table, long or wide, each measure summarised by its mean.

    `gainful.read_scores`, which stands on this, knows the measures and how they are summarised.

    Examples
    --------
    >>> scores = read_scores(pl.DataFrame({"query_id": ["1", "2"], "bm25": [0.5, 0.25], "dense": [0.75, None]}))
    >>> scores.mean()["score"].to_list()
    [0.375, 0.75]
    """
    if isinstance(source, Scores):
        return source
    if isinstance(source, ScoreMatrix):
        return _scores(
            source.values[None], ~np.isnan(source.values)[None], [source.measure], source.systems, source.topics
        )
    if isinstance(source, (np.ndarray, list, tuple)):
        return read_scores(_matrix(source))
    where, frame = read_table(source)
    if not frame.height or not frame.width:
        raise DataError(f"{where}: expected scores, got an empty table")
    named = _our_names(frame, _ALIASES)
    # Two of the telling columns: a system of a wide table may have one of these names, hardly two.
    if len({"run", "measure", "score"}.intersection(named.columns)) >= 2:
        return _cube(_from_long(named, where), where)
    # Any other column of a wide table is a system, whatever it is called.
    first = _folded(frame.columns[0])
    topics = tuple(name for name in _ALIASES["query_id"] if name not in _FIRST_ONLY or name == first)
    return _cube(_from_wide(_our_names(frame, {"query_id": topics}), where), where)


def _matrix(source: Any) -> ScoreMatrix:
    """Systems × topics without names: they are numbered from 1."""
    try:
        values = np.asarray(source, np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 2 or not values.size:
        raise DataError("expected an array of systems × topics, all rows of the same length")
    if np.isinf(values).any():
        raise DataError("expected finite scores (NaN where there is none), got an infinite one")
    systems, topics = (tuple(str(number) for number in range(1, n + 1)) for n in values.shape)
    return ScoreMatrix(values=values, systems=systems, topics=topics)


def _suffix(plain: Path | Any, path: Path) -> str:
    suffix: str = plain.suffix.lower()
    suffix = ".jsonl" if suffix == ".ndjson" else suffix
    if suffix not in _SUFFIXES or (suffix == ".parquet" and plain != path):
        raise DataError(f"{path}: expected a name that ends in {', '.join(_SUFFIXES)}, got {path.name!r}")
    return suffix


def read_table(source: Any) -> tuple[str, pl.DataFrame]:
    """What to call a table in messages, and the table."""
    if is_standard_input(source):
        content = standard_input()
        data = bytes(content.data)
        return content.where, _parsed(data, _sniffed(data), content.where)
    if isinstance(source, (str, Path)):
        path = Path(source)
        suffix = _suffix(split_compression(path)[0], path)
        return str(path), _parsed(decompress(bytes(read_bytes(path)), str(path)), suffix, str(path))
    if not is_table(source):
        raise DataError(f"expected a file, a frame or Scores, got {type(source).__name__}")
    try:
        if isinstance(source, pl.LazyFrame):
            return "scores", source.collect()
        return "scores", _from_pandas(source) if hasattr(source, "iloc") else pl.DataFrame(source)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise DataError(f"scores: cannot be read: {_first_line(error)}") from None


def _from_pandas(source: Any) -> pl.DataFrame:
    """Column by column, since polars' own way needs pyarrow; an index that says something names the topics."""
    columns = {str(name): source[name].tolist() for name in source.columns}
    if type(source.index).__name__ != "RangeIndex" and not set(_ALIASES["query_id"]) & set(map(_folded, columns)):
        columns = {"query_id": [str(topic) for topic in source.index], **columns}
    return pl.DataFrame(columns, strict=False)


def _parsed(data: bytes, suffix: str, where: str) -> pl.DataFrame:
    data = data.removeprefix(BOM)
    try:
        match suffix:
            case ".csv" | ".tsv":
                return _read_separated(to_utf8(data, where), "\t" if suffix == ".tsv" else ",", where)
            case ".jsonl":
                return pl.read_ndjson(data, infer_schema_length=None) if data.strip() else pl.DataFrame()
            case ".json":
                return pl.DataFrame(_rows(load_json(data or b"[]")), infer_schema_length=None, strict=False)
            case _:
                check_parquet(data, where)
                return pl.read_parquet(data)
    except DataError:
        raise
    except _UNREADABLE as error:
        raise DataError(f"{where}: cannot be read as {suffix[1:]}: {_first_line(error)}") from None


def _sniffed(data: bytes) -> str:
    """What a file without a name would be called."""
    if data.startswith(PARQUET):
        return ".parquet"
    line = data.removeprefix(BOM).lstrip().partition(b"\n")[0]
    if line.startswith((b"[", b"{")):
        try:
            row = json.loads(line)
        except ValueError:
            return ".json"
        return ".jsonl" if isinstance(row, dict) and not isinstance(row.get("scores"), dict) else ".json"
    return ".tsv" if b"\t" in line else ".csv"


def _read_separated(data: bytes, separator: str, where: str) -> pl.DataFrame:
    """The names come from Python's csv module, since polars leaves doubled quotes in them."""
    rows = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline=""), delimiter=separator)
    header = next((row for row in rows if row), [])
    if not header:
        return pl.DataFrame()
    if len(header) == 1:
        for sign, (name, cure) in _SEPARATORS.items():
            if sign != separator and sign in header[0]:
                raise DataError(f"{where}: expected {_SEPARATORS[separator][0]} between columns, got {name}: {cure}")
    for at, column in enumerate(header):
        if column in header[:at]:
            raise DataError(f"{where}: two columns are named {column!r}: give each its own name")
    frame = pl.read_csv(data, separator=separator, infer_schema=False)
    if frame.width == len(header):
        frame.columns = [from_cell(name) for name in header]
    return frame.with_columns(pl.col(pl.String).str.replace(r"^'('*[=+@-])", "$1"))  # as `from_cell` does


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _rows(content: Any) -> Any:
    """The rows of a JSON file; those of `Scores.to_dict()` are nested by run, measure and topic."""
    if isinstance(content, dict) and isinstance(content.get("scores"), dict):
        try:
            return [
                dict(zip(COLUMNS, (run, measure, topic, score), strict=True))
                for run, measures in content["scores"].items()
                for measure, topics in measures.items()
                for topic, score in topics.items()
            ]
        except AttributeError:
            raise TypeError("expected scores by run, measure and topic") from None
    if not isinstance(content, list):
        raise TypeError("expected a list of rows")
    return content


def _our_names(frame: pl.DataFrame, aliases: Mapping[str, tuple[str, ...]]) -> pl.DataFrame:
    found = {}
    for column, names in aliases.items():
        if column in frame.columns:
            continue
        spelled = {_folded(name): name for name in reversed(frame.columns)}
        match = next((spelled[name] for name in names if name in spelled), None)
        if match is not None:
            found[match] = column
    return frame.rename(found)


def _folded(column: str) -> str:
    return re.sub(r"[\s_-]+", "_", column.strip().casefold())


def _from_long(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    for column in ("run", "query_id", "score"):
        if column not in frame.columns:
            raise DataError(f"{where}: expected columns {', '.join(COLUMNS)}, got {', '.join(frame.columns)}")
    if "measure" not in frame.columns:
        frame = frame.with_columns(measure=pl.lit("score"))
    frame = frame.select(
        *(_text(frame[column], where) for column in ("run", "measure", "query_id")),
        _numbers(frame["score"], where, "as score"),
    )
    topics = frame.with_row_index("row", offset=1).filter(pl.col("query_id") != MEAN)
    if not topics.height:
        raise DataError(
            f"{where}: expected scores of topics, got only means (query_id {MEAN!r}): "
            "write the file with gainful evaluate --per-topic"
        )
    again = topics.filter(~pl.struct("run", "measure", "query_id").is_first_distinct())
    if again.height:
        row = again.row(0, named=True)
        raise DataError(
            f"{where}, row {row['row']}: run {row['run']!r} has a second score of {row['measure']!r} for topic "
            f"{row['query_id']!r}: keep one"
        )
    return topics.drop("row")


def _from_wide(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    columns = frame.columns
    topics = pl.Series("query_id", [str(number) for number in range(1, frame.height + 1)])
    if "query_id" in frame.columns:
        topics = _text(frame["query_id"], where)
        frame = frame.drop("query_id")
    else:
        _refuse_ids(frame, where)
    if not frame.width:
        raise DataError(f"{where}: expected one column per run beside query_id, got none")
    for values in frame.get_columns():
        _refuse_words(values, where, first=values.name == frame.columns[0] and "query_id" not in columns)
    systems = [_numbers(frame[name], where, f"in column {name!r}").fill_nan(None) for name in frame.columns]
    if not topics.is_unique().all():
        at = int((~topics.is_first_distinct()).arg_max() or 0)
        raise DataError(f"{where}, row {at + 1}: a second row of topic {topics[at]!r}: keep one")
    long = pl.concat(
        pl.select(run=pl.lit(values.name), measure=pl.lit("score"), query_id=topics, score=values) for values in systems
    )
    return long.filter(pl.col("query_id") != MEAN)


def _refuse_ids(frame: pl.DataFrame, where: str) -> None:
    """Topic ids under a name that we do not know would be a run that beats all others."""
    first, *others = frame.get_columns()
    numbered = first.dtype.is_integer() or (
        first.dtype == pl.String and bool(first.str.contains(r"^\s*\d+\s*$").fill_null(False).all())
    )
    if not numbered or len(first) < 2 or first.null_count() or first.n_unique() < len(first):
        return
    if (first.cast(pl.Float64, strict=False).fill_null(0) < 1).any():
        return
    fraction = r"^\s*-?\d*\.\d"
    if any(
        values.dtype.is_float() or (values.dtype == pl.String and values.str.contains(fraction).any())
        for values in others
    ):
        raise DataError(
            f"{where}: column {first.name!r} looks like topic ids, not scores: call it query_id, or, if it is a run, "
            "write its scores with a decimal point, such as 3.0"
        )


def _refuse_words(values: pl.Series, where: str, *, first: bool) -> None:
    """A column without any number holds no scores: say what to do with it."""
    if values.dtype != pl.String:
        return
    texts = values.str.strip_chars()
    texts = texts.filter(~texts.is_in(_ABSENT))
    if not len(texts) or texts.cast(pl.Float64, strict=False).is_not_null().any():
        return
    if _folded(values.name) in _ALIASES["run"]:
        raise DataError(
            f"{where}: expected one row per topic and one column per run, got names in column {values.name!r}: "
            "transpose the table if it has one row per run, or remove that column"
        )
    cure = "call it query_id if it holds topics, or remove it" if first else "remove it"
    raise DataError(f"{where}: expected numbers in column {values.name!r}, got {texts[0]!r} and no number: {cure}")


def _text(values: pl.Series, where: str) -> pl.Series:
    if values.null_count():
        raise DataError(
            f"{where}, row {int(values.is_null().arg_max() or 0) + 1}: expected a {values.name}, got nothing"
        )
    try:
        return values.cast(pl.String)
    except pl.exceptions.PolarsError:
        raise DataError(f"{where}: expected text as {values.name}, got {values.dtype}") from None


def _numbers(values: pl.Series, where: str, what: str) -> pl.Series:
    """Finite numbers, NaN or null."""
    given = values
    if values.dtype == pl.String:
        texts = values.str.strip_chars()
        given = texts.set(texts.is_in(_ABSENT), None)
    elif not values.dtype.is_numeric() and values.dtype != pl.Null:
        raise DataError(f"{where}: expected numbers {what}, got {values.dtype}")
    numbers = given.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & given.is_not_null()) | numbers.is_infinite().fill_null(value=False)
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        raise DataError(f"{where}, row {at + 1}: expected a finite number {what}, got {values[at]!r}")
    return numbers


def _cube(long: pl.DataFrame, where: str) -> Scores:
    names = {column: long[column].unique(maintain_order=True) for column in ("measure", "run", "query_id")}
    place = {column: long[column].cast(pl.Enum(values)).to_physical().to_numpy() for column, values in names.items()}
    shape = tuple(len(values) for values in names.values())
    values = np.full(shape, math.nan)
    counted = np.zeros(shape, np.bool_)
    at = tuple(place.values())
    values[at] = long["score"].fill_null(math.nan).to_numpy()
    counted[at] = long["score"].is_not_null().to_numpy()
    if not counted.any():
        raise DataError(f"{where}: expected scores, got none: every cell is empty")
    return _scores(values, counted, *names.values())


def _scores(
    values: FloatArray, counted: BoolArray, measures: Iterable[str], systems: Iterable[str], topics: Iterable[str]
) -> Scores:
    measures, systems = tuple(measures), tuple(systems)
    mean: Summary = "mean"
    return Scores(
        values=values,
        counted=counted,
        measures=measures,
        systems=systems,
        topics=tuple(topics),
        summaries=(mean,) * len(measures),
        higher=("better",) * len(measures),
        spellings={},
        policies=None,
        missing=tuple((~counted.any(axis=0)).sum(axis=1).tolist()),
        ignored=(0,) * len(systems),
    )
