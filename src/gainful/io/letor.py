"""LETOR/SVMlight lines, `label qid:1 1:0.5 3:0.1 # doc`: the judgments in them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import islice

from gainful import _polars as pl
from gainful.errors import DataError

_FIRST = re.compile(rb"(?:\s*(?:#[^\n]*)?\n)*\s*[-+.\de]+\s+qid:[^\s#]", re.IGNORECASE)
_HEAD = r"^\s*(\S+)\s+qid:([^\s#]+)"
# Lines that are looked at together: some megabytes of features.
_AT_ONCE = 20_000


def is_letor(head: bytes) -> bool:
    """Whether a file that begins so has LETOR/SVMlight lines."""
    return _FIRST.match(head) is not None


def blocks(data: bytes, where: str) -> Iterator[pl.DataFrame]:
    """Some lines at a time, without blank ones and comments: number, line, label, query_id, doc_id (or the number).

    What is no UTF-8 is a `UnicodeDecodeError`.
    """
    lines = enumerate(io.BytesIO(data), 1)
    while some := list(islice(lines, _AT_ONCE)):
        columns = {"number": [number for number, _ in some], "line": [line.decode() for _, line in some]}
        frame = pl.DataFrame(columns, {"number": pl.Int64, "line": pl.String})
        frame = frame.filter(~pl.col("line").str.contains(r"^\s*(#|$)")).with_columns(
            pl.col("line").str.extract(_HEAD, 1).cast(pl.Float64, strict=False).alias("label"),
            pl.col("line").str.extract(_HEAD, 2).alias("query_id"),
            pl.col("line")
            .str.extract(r"#\s*(?:docid\s*=\s*)?(\S+)")
            .fill_null(pl.col("number").cast(pl.String))
            .alias("doc_id"),
        )
        wrong = frame.filter(pl.col("label").is_null() | pl.col("query_id").is_null())
        for number, line in wrong.select("number", "line").head(1).iter_rows():
            raise DataError(f"{where}:{number}: expected 'label qid:… 1:… 2:…', got {line.rstrip()[:80]!r}")
        yield frame


def read_letor(data: bytes, where: str) -> pl.DataFrame:
    """The judgments: query_id, doc_id, relevance."""
    try:
        return pl.concat([block.select("query_id", "doc_id", relevance="label") for block in blocks(data, where)])
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: expected LETOR/SVMlight lines as UTF-8: {error.reason}") from None
