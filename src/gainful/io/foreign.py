"""Judgments and runs in the objects of other packages, which are known by their types alone: none is imported here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gainful import _polars as pl
from gainful.errors import DataError, GainfulError
from gainful.io.text import Layout

# How a name of a data set of ir_datasets begins, where a file would be named.
_IRDS = "irds:"


def is_foreign(source: object) -> bool:
    """Whether this is an object of a package that is known here, or the name of a data set of ir_datasets."""
    return _package(source) in _READERS or (isinstance(source, str) and source.startswith(_IRDS))


def converted(source: object, layout: Layout) -> Any:
    """The frame, dict or list that an object of another package stands for; any other as it is."""
    if isinstance(source, str) and source.startswith(_IRDS):
        source = _load(source)
    read = _READERS.get(_package(source))
    return source if read is None else read(source, layout)


def _load(name: str) -> Any:
    """The data set of this name, which is downloaded if it is not there."""
    try:
        import ir_datasets
    except ImportError:
        raise GainfulError(f"{name} needs a package that is not installed: pip install ir_datasets") from None
    try:
        return ir_datasets.load(name.removeprefix(_IRDS))
    except KeyError:
        raise DataError(f"{name}: expected the name of a data set of ir_datasets, got none of them") from None


def _package(source: object) -> str:
    return type(source).__module__.partition(".")[0]


def _duckdb(source: Any, layout: Layout) -> Any:
    """Read at once: a connection does one thing at a time, and runs are read in the background."""
    if not hasattr(source, "fetchall"):
        return source
    try:
        names = [column[0] for column in source.description]
        return pl.DataFrame(source.fetchall(), schema=names, orient="row", infer_schema_length=None)
    except Exception as error:  # which of its errors it is does not matter
        raise DataError(f"{layout.what}: cannot be read from DuckDB: {str(error).splitlines()[0]}") from None


def _datasets(source: Any, layout: Layout) -> Any:
    if isinstance(source, dict):
        splits = ", ".join(map(repr, source))
        raise DataError(f"expected one split of a DatasetDict as {layout.what}, got all of them: take one of {splits}")
    if hasattr(source, "with_format") and hasattr(source, "num_rows"):
        return pl.DataFrame(source.with_format("arrow")[:])
    return list(source)


def _ranx(source: Any, layout: Layout) -> Any:
    plain = {topic: dict(documents) for topic, documents in source.to_dict().items()}
    name = None if layout.judged else getattr(source, "name", None)
    return plain if name is None else {str(name): plain}


def _trectools(source: Any, layout: Layout) -> Any:
    """TrecQrel and TrecRun hold a frame of pandas each."""
    found = getattr(source, "qrels_data" if layout.judged else "run_data", None)
    if found is None:
        raise DataError(
            f"expected {layout.what}, got trectools.{type(source).__name__}: give a TrecQrel, then TrecRun objects"
        )
    return found


def _ir_datasets(source: Any, layout: Layout) -> Any:
    kind = "qrels" if layout.judged else "scoreddocs"
    has = getattr(source, f"has_{kind}", None)
    if has is None:
        return source
    if not has():
        raise DataError(f"expected {layout.what}, got a data set of ir_datasets without {kind}")
    return list(getattr(source, f"{kind}_iter")())


_READERS: dict[str, Callable[[Any, Layout], Any]] = {
    "duckdb": _duckdb,
    "_duckdb": _duckdb,
    "datasets": _datasets,
    "ranx": _ranx,
    "trectools": _trectools,
    "ir_datasets": _ir_datasets,
}
