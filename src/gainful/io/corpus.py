"""Texts of documents, for those who judge them."""

from __future__ import annotations

from pathlib import Path

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.io.columns import SPELLINGS
from gainful.io.compression import split_compression
from gainful.io.files import JSONL_SUFFIXES
from gainful.io.tables import parse

_TEXTS = ("text", "contents", "content", "body", "passage")
_IDS = (*(name for name in SPELLINGS["doc_id"] if name not in _TEXTS), "id", "_id")


def texts_of(listed: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The list with a column text, null where there is no such document; with titles where there are any."""
    where = str(path)
    if not path.is_file():
        raise DataError(f"{where}: no such file")
    wanted = listed["doc_id"].unique()
    lines = split_compression(path)[0].suffix.lower() in JSONL_SUFFIXES
    found = parse(lambda: (_json if lines else _separated)(path, wanted), "texts of documents", where)
    if not found.height:
        raise DataError(f"{where}: expected texts of documents in the list, got none of them")
    return listed.join(found.unique("doc_id", keep="first"), on="doc_id", how="left", maintain_order="left")


def _separated(path: Path, wanted: pl.Series) -> pl.DataFrame:
    """TSV with or without a header: the first column is the document, the last one its text."""
    start = pl.read_csv(path, separator="\t", has_header=False, quote_char=None, infer_schema=False, n_rows=1)
    header = [str(name).strip().lower() for name in start.row(0)]
    if start.width < 2:
        raise DataError(f"{path}: expected two columns, document and text, separated by a tab, got {start.width}")
    named = header[0] in _IDS
    table = pl.scan_csv(path, separator="\t", has_header=named, quote_char=None, infer_schema=False)
    names = table.collect_schema().names()
    columns = pl.col(names[0]).alias("doc_id"), pl.col(names[-1]).alias("text")
    return table.select(*columns).filter(pl.col("doc_id").is_in(wanted.implode())).collect()


def _json(path: Path, wanted: pl.Series) -> pl.DataFrame:
    """JSON objects, one per line."""
    table = pl.scan_ndjson(path)
    names = table.collect_schema().names()
    doc, text = (next((name for name in names if name.lower() in known), None) for known in (_IDS, _TEXTS))
    if doc is None or text is None:
        raise DataError(f"{path}: expected keys such as doc_id and text, got {', '.join(names)}")
    title = next((pl.col(name).cast(pl.String) for name in names if name.lower() == "title"), None)
    body = pl.col(text).cast(pl.String)
    whole = body if title is None else pl.concat_str([title, body], separator="\n", ignore_nulls=True)
    rows = table.select(pl.col(doc).cast(pl.String).alias("doc_id"), whole.alias("text"))
    return rows.filter(pl.col("doc_id").is_in(wanted.implode())).collect()
