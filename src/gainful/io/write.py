"""Write qrels and runs; the suffix of the file's name says how."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gainful import _polars as pl
from gainful.data.columns import SAMPLE
from gainful.errors import DataError
from gainful.io.atomic import appearing, refuse_if_occupied, write_atomically
from gainful.io.compression import compress, is_compressed, split_compression
from gainful.io.encoding import decode, from_utf8
from gainful.io.files import ARROW_SUFFIXES, JSONL_SUFFIXES
from gainful.io.read import read_qrels, read_run
from gainful.tables import as_cell

if TYPE_CHECKING:
    from gainful.data.simulate.collection import Collection

# What spreadsheets open.
_SPREADSHEET = (".csv", ".tsv")
# What would not be what its name says. Any other name is that of TREC text.
_OTHERS = (".json", ".xlsx", ".xls", ".ods", ".html", ".pdf", ".zip", ".tar")
# Whole numbers beyond this are written as floats: they would not be exact as such.
_LARGEST_WHOLE = 2**53


def write_qrels(qrels: Any, path: str | os.PathLike[str]) -> None:
    """Write judgments to a file; it is complete or absent.

    Parameters
    ----------
    qrels
        What to write: anything that `read_qrels` takes.
    path
        ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet`` and ``.arrow`` (and their synonyms) are tables, all else is TREC
        text, but for names of other formats (``.json``, ``.xlsx``), which are refused; one of ``.gz``, ``.zst``,
        ``.bz2`` and ``.xz`` may follow.

    Raises
    ------
    DataError
        The file cannot be written, or TREC text cannot hold these judgments: ids with blanks, labels that are null,
        samples.
    """
    frame = read_qrels(qrels).frame
    _check_not_empty(frame, "empty qrels", Path(path))
    more = [column for column in ("iteration", *SAMPLE) if column in frame.columns]
    columns = ["query_id", "doc_id", "relevance", *more]
    label = pl.col("relevance")
    whole = label.is_null() | ((label == label.round()) & (label.abs() <= _LARGEST_WHOLE))
    if _is_text(Path(path)):
        _check_text(frame, path)
        if frame["relevance"].null_count():
            raise DataError(
                f"{path}: TREC text has no way to say 'pooled but not judged' (null); write .csv or .parquet"
            )
        if {*SAMPLE} & {*more}:
            raise DataError(f"{path}: TREC text has no place for strata and probabilities; write .csv or .parquet")
        iteration = pl.col("iteration").fill_null("0") if "iteration" in columns else pl.lit("0")
        written = (
            pl.when(whole).then(label.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(label.cast(pl.String))
        )
        _write_text(frame.select("query_id", iteration.alias("iteration"), "doc_id", written), Path(path))
        return
    table = frame.select(columns)
    if table.select(whole.all()).item():
        table = table.with_columns(label.cast(pl.Int64))
    _write_table(table, Path(path))


def write_run(run: Any, path: str | os.PathLike[str]) -> None:
    """Write a run to a file; it is complete or absent.

    Rows stay in their order. In TREC text the ranks are those by score, equal scores by descending document id, and
    the tag is the run's name.

    Parameters
    ----------
    run
        What to write: anything that `read_run` takes.
    path
        As for `write_qrels`.

    Raises
    ------
    DataError
        The file cannot be written, or TREC text cannot hold this run: ids with blanks, no document at all.
    """
    run = read_run(run)
    frame = run.frame
    _check_not_empty(frame, "an empty run", Path(path))
    if not _is_text(Path(path)):
        _write_table(
            frame.select("query_id", "doc_id", "score", *(["rank"] if "rank" in frame.columns else [])), Path(path)
        )
        return
    _check_text(frame, path)
    rank = pl.struct("score", "doc_id").rank("ordinal", descending=True).over("query_id").alias("rank")
    # The name may be that of a file, and need not be Unicode.
    name = decode(run.name.encode("utf-8", "surrogatepass"))
    tag = "_".join(name.replace("\0", " ").split()) or "run"
    lines = frame.select("query_id", pl.lit("Q0").alias("q0"), "doc_id", rank, "score", pl.lit(tag).alias("tag"))
    _write_text(lines, Path(path))


def write_list(frame: pl.DataFrame, path: Path) -> None:
    """Write a list to judge, in which labels are to be filled in.

    A table has the columns query_id, doc_id, relevance (empty) and, if there is any, text. TREC text has the lines
    ``topic 0 doc``, at whose ends labels are to be written. Either is read as qrels then.
    """
    if _is_text(path):
        if frame.is_empty():
            raise DataError(f"{path}: TREC text cannot hold an empty list; write .csv or .parquet")
        if "text" in frame.columns:
            raise DataError(f"{path}: TREC text has no place for the texts of documents; write .csv or .jsonl")
        _check_text(frame, path)
        _write_text(frame.select("query_id", pl.lit("0").alias("iteration"), "doc_id"), path)
        return
    more = ["text"] if "text" in frame.columns else []
    label = pl.lit(None, pl.Int64).alias("relevance")
    # Ids must stay what they are, to be read back; what documents say is for people, and their programs.
    shown = (
        frame.with_columns(pl.col(more).map_elements(as_cell, pl.String)) if _format(path) in _SPREADSHEET else frame
    )
    _write_table(shown.select("query_id", "doc_id", label, *more), path)


def write_collection(collection: Collection, folder: str | os.PathLike[str]) -> None:
    """Write what `simulate` made; the folder appears with all of it, or not at all.

    Parameters
    ----------
    collection
        What to write.
    folder
        A new or empty folder: gets ``qrels.txt``, ``runs/*.txt`` and ``collection.json``, which has settings and
        systems.

    Raises
    ------
    DataError
        There is something at that place, or it cannot be written.
    """
    refuse_if_occupied(Path(folder))
    with appearing(Path(folder)) as draft:
        write_qrels(collection.qrels, draft / "qrels.txt")
        (draft / "runs").mkdir()
        for run in collection.runs:
            write_run(run, draft / "runs" / f"{run.name}.txt")
        text = json.dumps(collection.to_dict(), indent=2, allow_nan=False)
        (draft / "collection.json").write_text(text + "\n", encoding="utf-8")


def _format(path: Path) -> str:
    return split_compression(path)[0].suffix.lower()


def _is_text(path: Path) -> bool:
    if _format(path) in _OTHERS:
        raise DataError(f"{path}: expected .txt, .csv, .tsv, .jsonl, .parquet or .arrow, got {_format(path)}")
    return _format(path) not in (".csv", ".tsv", ".parquet", *ARROW_SUFFIXES, *JSONL_SUFFIXES)


def _write_text(lines: pl.DataFrame, path: Path) -> None:
    data = lines.write_csv(separator=" ", include_header=False, quote_style="never").encode()
    if is_compressed(from_utf8(data)):
        raise DataError(f"{path}: the first topic looks like the start of a compressed file; write .csv or .parquet")
    _write(from_utf8(data), path)


def _write_table(table: pl.DataFrame, path: Path) -> None:
    suffix = _format(path)
    if suffix == ".parquet":
        table.write_parquet(binary := io.BytesIO())
        _write(binary.getvalue(), path)
    elif suffix in ARROW_SUFFIXES:
        _write(table.write_ipc(None).getvalue(), path)
    elif suffix in JSONL_SUFFIXES:
        _write(from_utf8(table.write_ndjson().encode()), path)
    else:
        _write(from_utf8(table.write_csv(separator="\t" if suffix == ".tsv" else ",").encode()), path)


def _write(data: bytes, path: Path) -> None:
    write_atomically(path, compress(data, split_compression(path)[1], str(path)))


def _check_not_empty(frame: pl.DataFrame, what: str, path: Path) -> None:
    # Lines without a header: an empty file could be anything, and is refused by the readers.
    if frame.is_empty() and (_is_text(path) or _format(path) in JSONL_SUFFIXES):
        kind = "TREC text" if _is_text(path) else "JSONL"
        raise DataError(f"{path}: {kind} cannot hold {what}; write .csv or .parquet")


def _check_text(frame: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Refuse what would be read back as something else."""
    for column in ("query_id", "doc_id", *(["iteration"] if "iteration" in frame.columns else [])):
        values = frame[column].cast(pl.String)
        bad = values.str.contains(r"[\x00 \t\n\v\f\r]") | (values == "")
        if column == "query_id":
            # A comment; and a byte order mark, were it the first line.
            bad |= values.str.starts_with("#") | values.str.starts_with("\ufeff")
        if bad.any():
            row = bad.arg_max() or 0
            raise DataError(f"{path}: TREC text cannot hold the {column} {values[row]!r}; write .csv or .parquet")
