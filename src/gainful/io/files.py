"""A file of qrels or of runs: told by its content what it is, and read as a whole."""

from __future__ import annotations

import json
import os
import re
import stat
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from gainful.errors import DataError, did_you_mean
from gainful.io.compression import decompress, is_compressed, split_compression
from gainful.io.objects import read_object
from gainful.io.tables import (
    ARROW_FILE,
    ARROW_STREAM,
    PARQUET,
    match_columns,
    read_arrow,
    read_jsonl,
    read_parquet,
    read_separated,
)
from gainful.io.text import BOM, LARGE, RUN, Layout, is_text, read_text

ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
JSONL_SUFFIXES = (".jsonl", ".ndjson")
# How much of a file is looked at to tell what it is.
HEAD = 1 << 16


class Format(NamedTuple):
    """What a file holds."""

    kind: Literal["text", "separated", "jsonl", "json", "parquet", "arrow"]
    separator: str = ""


def detect(head: bytes, tail: bytes, path: Path) -> Format:
    """What a file holds, by its first `HEAD` bytes (unpacked), its last four, and its name."""
    where = str(path)
    suffix = split_compression(path)[0].suffix.lower()
    if head[:8] == ARROW_FILE or (suffix in ARROW_SUFFIXES and head[:4] == ARROW_STREAM):
        return Format("arrow")
    if head[:4] == PARQUET and (suffix == ".parquet" or tail == PARQUET):
        return Format("parquet")
    if suffix in (".parquet", *ARROW_SUFFIXES):
        raise DataError(f"{where}: expected {'Parquet' if suffix == '.parquet' else 'Arrow'}, got something else")
    line = head.removeprefix(BOM).lstrip().split(b"\n", 1)[0]
    if suffix == ".json":
        return Format("json")
    # MS MARCO's qrels are TREC text called .tsv, so the first line counts more than the name.
    if not is_text(line):
        if suffix in JSONL_SUFFIXES or re.match(rb'\{\s*"', line):
            return Format("jsonl")
        if separator := _separator(line, suffix):
            return Format("separated", separator)
    return Format("text")


def read_file(path: Path, layout: Layout) -> pl.DataFrame:
    """The frame of a file."""
    where = str(path)
    content = load(path, where)
    if is_compressed(content[:HEAD]):
        content = decompress(bytes(content), where)
    if not content:
        raise DataError(f"{where}: expected {layout.what}, got an empty file")
    form = detect(content[:HEAD], content[-4:], path)
    if form.kind == "text":
        return read_text(content, layout, where)
    data = bytes(content)
    if form.kind == "separated":
        return read_separated(data, form.separator, layout, where)
    readers = {"arrow": read_arrow, "parquet": read_parquet, "json": _read_json, "jsonl": read_jsonl}
    return readers[form.kind](data, layout, where)


def _read_json(data: bytes, layout: Layout, where: str) -> pl.DataFrame:
    """One JSON value: the dict of dicts, or the list of records, that Python would pass."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: cannot be read as JSON: {error}") from None
    if not isinstance(value, dict | list):
        raise DataError(f"{where}: expected {{topic: {{doc: {layout.value_field}}}}}, got {type(value).__name__}")
    try:
        return read_object(value, layout)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def _separator(header: bytes, suffix: str) -> str | None:
    """What separates the columns of a table with this first line; None for TREC text."""
    for separator in (",", "\t"):
        names = [name.strip().strip('"') for name in header.decode("utf-8", "replace").split(separator)]
        if {"query_id", "doc_id"} <= match_columns(names, RUN).keys():
            return separator
    return {".csv": ",", ".tsv": "\t"}.get(suffix)


def load(path: Path, where: str) -> bytes | mmap:
    """The file's content, mapped into memory if it is large."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size >= LARGE:
                return mmap(file.fileno(), 0, access=ACCESS_READ)
            return file.read()
    except FileNotFoundError:
        raise DataError(f"{where}: no such file.{_similar(path)}") from None
    except (OSError, ValueError) as error:
        if os.path.isdir(path):
            raise DataError(f"{where}: expected a file, got a folder") from None
        raise DataError(f"{where}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _similar(path: Path) -> str:
    try:
        return did_you_mean(path.name, os.listdir(path.parent)[:1000], alike=0.75)
    except OSError:
        return f" There is no folder {str(path.parent)!r} either."
