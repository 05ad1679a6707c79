"""Judgments of a sample as TREC text: five fields per line, where qrels have four.

Two such formats are in use. NIST's for inferred measures is ``topic iteration doc stratum label``, with label -1 for
what was pooled and not drawn. That of TREC's legal track is ``topic iteration doc label probability``, the last being
that of the document to be judged, and some of them are fractions.
"""

from __future__ import annotations

from itertools import islice

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.io.text import BOM, Layout, read_text

_NOT_DRAWN = -1.0


def is_sampled(data: bytes) -> bool:
    """Whether most of the first three lines with data have five fields, the first of two: one may be wrong."""
    lines = (line.split() for line in data[: 1 << 16].removeprefix(BOM).split(b"\n"))
    counts = list(islice((len(fields) for fields in lines if fields and not fields[0].startswith(b"#")), 3))
    return 2 * counts.count(5) + (counts[:1] == [5]) > len(counts)


def read_sampled(data: bytes, where: str) -> pl.DataFrame:
    """Frame of the topic, the document, the label, and the stratum or the probability of each line."""
    # Read twice, once for either of the last two fields: the reader of text keeps one value.
    columns = ("query_id", "iteration", "doc_id", "fourth", "fifth")
    fields = ("topic", "iteration", "doc", "stratum", "label")
    frame = read_text(data, Layout("qrels of a sample", fields, columns, "fifth"), where)
    fourth = read_text(data, Layout("qrels of a sample", fields, columns, "fourth"), where)["fourth"]
    fifth = frame["fifth"]
    ids = frame.select("query_id", "doc_id")
    if ((fifth > 0.0) & (fifth < 1.0)).any():
        return ids.with_columns(fourth.alias("relevance"), fifth.alias("inclusion"))
    if (fifth == 1.0).all():
        raise DataError(
            f"{where}: expected stratum and label, or label and probability, as the last two fields, got 1 as the last "
            "of every line, which may be either; leave it out if all was to be judged"
        )
    label = pl.when(fifth != _NOT_DRAWN).then(fifth).alias("relevance")
    number = fourth.cast(pl.Int64, strict=False)
    stratum = pl.select(
        pl.when(number.cast(pl.Float64) == fourth).then(number.cast(pl.String)).otherwise(fourth.cast(pl.String))
    ).to_series()
    return ids.with_columns(label, stratum.alias("stratum"))
