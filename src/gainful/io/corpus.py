"""Texts of documents and topics, for those who judge or read them."""

from __future__ import annotations

from pathlib import Path

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.io.columns import SPELLINGS
from gainful.io.compression import split_compression
from gainful.io.files import JSONL_SUFFIXES
from gainful.io.tables import parse

_TEXTS = {
    "doc_id": ("text", "contents", "content", "body", "passage"),
    "query_id": ("text", "query", "title", "question", "contents"),
}
_IDS = {key: (*(name for name in SPELLINGS[key] if name not in words), "id", "_id") for key, words in _TEXTS.items()}
_NAMES = {"doc_id": "document", "query_id": "topic"}


def texts_of(listed: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The list with a column text, null where there is no such document; with titles where there are any.

    The first column says of what: doc_id or query_id.
    """
    where, key = str(path), listed.columns[0] if "doc_id" not in listed.columns else "doc_id"
    check_texts(path)
    wanted = listed[key].unique()
    lines = split_compression(path)[0].suffix.lower() in JSONL_SUFFIXES
    found = parse(lambda: (_json if lines else _separated)(path, wanted, key), f"texts of {_NAMES[key]}s", where)
    if not found.height:
        raise DataError(f"{where}: expected texts of {_NAMES[key]}s in the list, got none of them")
    return listed.join(found.unique(key, keep="first"), on=key, how="left", maintain_order="left")


def check_texts(path: Path) -> None:
    """Refuse, before any work, a file that is not there, or has nothing in it."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if not path.stat().st_size:
        raise DataError(f"{path}: expected texts, TSV (id, text) or JSONL, got an empty file")


def _separated(path: Path, wanted: pl.Series, key: str) -> pl.DataFrame:
    """TSV with or without a header: the first column is the document, the last one its text."""
    start = pl.read_csv(path, separator="\t", has_header=False, quote_char=None, infer_schema=False, n_rows=1)
    header = [str(name).strip().lower() for name in start.row(0)]
    if start.width < 2:
        raise DataError(f"{path}: expected two columns, {_NAMES[key]} and text, separated by a tab, got {start.width}")
    named = header[0] in _IDS[key]
    table = pl.scan_csv(path, separator="\t", has_header=named, quote_char=None, infer_schema=False)
    names = table.collect_schema().names()
    columns = pl.col(names[0]).alias(key), pl.col(names[-1]).alias("text")
    return table.select(*columns).filter(pl.col(key).is_in(wanted.implode())).collect()


def _json(path: Path, wanted: pl.Series, key: str) -> pl.DataFrame:
    """JSON objects, one per line."""
    table = pl.scan_ndjson(path)
    names = table.collect_schema().names()
    found = {name.lower(): name for name in reversed(names)}
    which, text = (next((found[one] for one in known if one in found), None) for known in (_IDS[key], _TEXTS[key]))
    if which is None or text is None:
        raise DataError(f"{path}: expected keys such as {key} and text, got {', '.join(names)}")
    title = next((pl.col(name).cast(pl.String) for name in names if name.lower() == "title" != text.lower()), None)
    body = pl.col(text).cast(pl.String)
    whole = body if title is None else pl.concat_str([title, body], separator="\n", ignore_nulls=True)
    rows = table.select(pl.col(which).cast(pl.String).alias(key), whole.alias("text"))
    return rows.filter(pl.col(key).is_in(wanted.implode())).collect()
