"""Checks that every frame passes on its way into Qrels or Run."""

from __future__ import annotations

from collections.abc import Mapping

from gainful import _polars as pl
from gainful.data.policies import Duplicates
from gainful.errors import DataError, DuplicateError

LABELS, SCORES = "relevance", "score"
# What judgments of a sample may have besides: see `gainful.measures.sampled`.
SAMPLE = ("stratum", "inclusion")


def schema_of(value: str) -> dict[str, pl.DataType]:
    """The columns of `Qrels` or `Run`, whose values are `LABELS` or `SCORES`."""
    return {"query_id": pl.String(), "doc_id": pl.String(), value: pl.Float64()}


def check_columns(frame: pl.DataFrame, schema: Mapping[str, pl.DataType], where: str) -> None:
    """Refuse a frame without the needed columns, with other types, or with nulls among the ids."""
    for column, dtype in schema.items():
        if column not in frame.columns:
            raise DataError(f"{where}: expected columns {', '.join(schema)}, got {', '.join(frame.columns) or 'none'}")
        if frame.schema[column] != dtype:
            raise DataError(f"{where}: expected column {column!r} to be {dtype}, got {frame.schema[column]}")
    for column in ("query_id", "doc_id"):
        if frame[column].null_count():
            row = frame[column].is_null().arg_max()
            raise DataError(f"{where}, row {(row or 0) + 1}: expected a {column}, got null")


def check_finite(values: pl.Series, where: str, what: str) -> None:
    """Refuse NaN and infinities (and, for scores, nulls); a null label means pooled but unjudged."""
    if what == "score" and values.null_count():
        row = values.is_null().arg_max()
        raise DataError(f"{where}, row {(row or 0) + 1}: expected a finite score, got null")
    if not values.is_finite().all():
        row = values.is_finite().not_().arg_max() or 0
        raise DataError(f"{where}, row {row + 1}: expected a finite {what}, got {values[row]}")


def check_sample(frame: pl.DataFrame, where: str) -> None:
    """Refuse a sample with a stratum that is missing, with what is no probability, or with several in one stratum."""
    for column in SAMPLE:
        if column not in frame.columns:
            continue
        check_columns(frame, {column: pl.String() if column == "stratum" else pl.Float64()}, where)
        values = frame[column]
        bad = values.is_null()
        if column == "inclusion":
            bad |= ~((values > 0.0) & (values <= 1.0)).fill_null(value=False)
        if bad.any():
            row = bad.arg_max() or 0
            wanted = "a stratum" if column == "stratum" else "a probability above 0 and at most 1 as inclusion"
            raise DataError(f"{where}, row {row + 1}: expected {wanted}, got {values[row]}")
    if set(SAMPLE) <= set(frame.columns):
        ends = pl.col("inclusion").min().alias("least"), pl.col("inclusion").max().alias("most")
        mixed = (
            frame.group_by("query_id", "stratum", maintain_order=True)
            .agg(*ends)
            .filter(pl.col("least") < pl.col("most"))
        )
        for topic, stratum, least, most in mixed.head(1).iter_rows():
            raise DataError(
                f"{where}: expected one inclusion per topic and stratum, got {least:g} and {most:g} in stratum "
                f"{stratum!r} of topic {topic!r}"
            )


def each_once(frame: pl.DataFrame, duplicates: Duplicates, where: str, how: str = "is judged") -> pl.DataFrame:
    """The rows without a second one for the same topic and document; or the error about the first such pair."""
    pair = ["query_id", "doc_id"]
    again = frame.select(pair).is_duplicated()
    if not again.any():
        return frame
    if duplicates == "error":
        topic, doc = frame.select(pair).row(again.arg_max() or 0)
        raise DuplicateError(f"{where}: document {doc!r} {how} twice for topic {topic!r}")
    return frame.unique(pair, keep="first", maintain_order=True)
