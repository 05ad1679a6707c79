"""A file of qrels or of runs: told by its content what it is, and read as a whole."""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeGuard
from weakref import WeakSet

from gainful import _polars as pl
from gainful.data.run import check_unchanged
from gainful.errors import DataError, did_you_mean
from gainful.io.columns import match_columns
from gainful.io.compression import decompress, is_compressed, split_compression
from gainful.io.letor import is_letor, read_letor
from gainful.io.objects import read_object
from gainful.io.remote import RemoteFile
from gainful.io.sampled import is_sampled, read_sampled
from gainful.io.tables import (
    ARROW_FILE,
    ARROW_STREAM,
    PARQUET,
    load_json,
    read_arrow,
    read_jsonl,
    read_parquet,
    read_separated,
)
from gainful.io.text import (
    BOM,
    LARGE,
    RUN,
    WRITE_AGAIN,
    LargeFile,
    Layout,
    has_iterations,
    is_text,
    read_fields,
    read_text,
    shorten,
)
from gainful.memory import check_memory, read_all, reading

ARROW_SUFFIXES = (".arrow", ".arrows", ".feather", ".ipc")
JSONL_SUFFIXES = (".jsonl", ".ndjson")
# How much of a file is looked at to tell what it is.
HEAD = 1 << 16
STDIN = "standard input"

_read_already: WeakSet[Any] = WeakSet()

Format: TypeAlias = Literal["text", "csv", "tsv", "semicolons", "jsonl", "json", "parquet", "arrow"]
SEPARATORS: dict[Format, str] = {"csv": ",", "tsv": "\t", "semicolons": ";"}
# About how many bytes are taken while one of a file is brought into columns; what Parquet and Arrow take, they say.
_TAKES: dict[Format, int] = {
    "text": 3,
    "csv": 4,
    "tsv": 4,
    "semicolons": 4,
    "jsonl": 3,
    "json": 12,
    "parquet": 0,
    "arrow": 0,
}


def detect(head: bytes, tail: bytes, path: Path | RemoteFile) -> Format:
    """What a file holds, by its first `HEAD` bytes (unpacked), its last four, and its name."""
    where = str(path)
    suffix = split_compression(path.path if isinstance(path, RemoteFile) else path)[0].suffix.lower()
    if head[:8] == ARROW_FILE or (suffix in ARROW_SUFFIXES and head[:4] == ARROW_STREAM):
        return "arrow"
    if head[:4] == PARQUET and (suffix == ".parquet" or tail == PARQUET):
        return "parquet"
    if suffix in (".parquet", *ARROW_SUFFIXES):
        raise DataError(f"{where}: expected {'Parquet' if suffix == '.parquet' else 'Arrow'}, got something else")
    line = head.removeprefix(BOM).lstrip().split(b"\n", 1)[0]
    if suffix == ".json":
        return "json"
    # MS MARCO's qrels are TREC text called .tsv, so the first line counts more than the name.
    if not is_text(line):
        if suffix in JSONL_SUFFIXES or re.match(rb'\{\s*"', line):
            return "jsonl"
        if separated := _separated(line, suffix):
            return separated
    return "text"


@dataclass(frozen=True, slots=True)
class Content:
    """What is in a file, unpacked."""

    where: str
    data: bytes | LargeFile  # the latter for text only
    format: Format | None  # None if it is empty

    def frame(self, layout: Layout) -> pl.DataFrame:
        """Its rows."""
        if self.format is None:
            got = "nothing" if self.where == STDIN else "an empty file"
            raise DataError(f"{self.where}: expected {layout.what}, got {got}", remedy=WRITE_AGAIN)
        with reading(self.where):
            return self._frame(self.format, layout)

    def _frame(self, format: Format, layout: Layout) -> pl.DataFrame:
        check_memory(self.where, _TAKES[format] * len(self.data))
        if format == "text" and layout.judged and is_sampled(self.data[:HEAD]):
            return read_sampled(bytes(self.data), self.where)
        if format == "text" and layout.judged and is_letor(bytes(self.data[:HEAD])):
            return read_letor(bytes(self.data), self.where)
        if format == "text" and layout.judged and has_iterations(self.data[:HEAD]):
            return read_fields(bytes(self.data), layout, self.where).select(*layout.kept, "iteration")
        if format == "text":
            return read_text(self.data, layout, self.where)
        data = bytes(self.data)
        if format in SEPARATORS:
            return read_separated(data, SEPARATORS[format], layout, self.where)
        readers = {"arrow": read_arrow, "parquet": read_parquet, "json": _read_json, "jsonl": read_jsonl}
        return readers[format](data, layout, self.where)


def load(path: Path | RemoteFile) -> Content:
    """What is in a file."""
    return unpacked(path.read() if isinstance(path, RemoteFile) else read_bytes(path), path)


def is_standard_input(source: object) -> TypeGuard[str]:
    """Whether this is how one writes standard input; a file of that name is ``./-``."""
    return isinstance(source, str) and source == "-"


def standard_input() -> Content:
    """All that comes from standard input, which can be read but once."""
    stream = getattr(sys.stdin, "buffer", None)  # there may be none
    if stream is None:
        raise DataError(f"{STDIN}: expected data, got a closed one")
    if stream in _read_already:
        raise DataError(f"{STDIN}: read already; give '-' for one of the inputs only, and files for the others")
    _read_already.add(stream)
    try:
        return unpacked(read_all(stream.read, STDIN), Path(STDIN))
    except OSError as error:
        raise DataError(f"{STDIN}: cannot be read: {error.strerror or error}") from None


def unpacked(content: bytes | LargeFile, path: Path | RemoteFile) -> Content:
    """What these bytes of a file are, unpacked."""
    where = str(path)
    if is_compressed(content[:HEAD]):
        content = decompress(bytes(content), where)
    found = detect(content[:HEAD], content[-4:], path) if len(content) else None
    return Content(where, content if found == "text" else bytes(content), found)


def _read_json(data: bytes, layout: Layout, where: str) -> pl.DataFrame:
    """One JSON value: the dict of dicts, or the list of records, that Python would pass."""
    try:
        value = load_json(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: cannot be read as JSON: {error}") from None
    if not isinstance(value, dict | list):
        raise DataError(f"{where}: expected {{topic: {{doc: {layout.value_field}}}}}, got {type(value).__name__}")
    try:
        return read_object(value, layout)
    except DataError as error:
        raise DataError(f"{where}: {error}", remedy=error.remedy) from None


def _separated(header: bytes, suffix: str) -> Format | None:
    """What a table with this first line is; None for TREC text."""
    for form, separator in SEPARATORS.items():
        names = [name.strip().strip('"') for name in header.decode("utf-8", "replace").split(separator)]
        if {"query_id", "doc_id"} <= match_columns(names, RUN).keys():
            return form
    found = {form: header.count(separator.encode()) for form, separator in SEPARATORS.items()}
    if suffix in (".csv", ".tsv"):
        usual: Format = "csv" if suffix == ".csv" else "tsv"
        return max(found, key=lambda form: (found[form], form == usual))
    # Blanks separate the fields of TREC text, if only of a line that is damaged.
    likely: Format = "csv" if found["csv"] >= found["semicolons"] else "semicolons"
    return likely if found[likely] >= max(2, len(header.split()) - 1) else None


def text_file(path: Path) -> bytes | None:
    """The first bytes of a file of TREC text that is too large to be read before it is needed; None for any other."""
    try:
        status = path.stat()  # before it is opened: what is no file can be read but once
        if not stat.S_ISREG(status.st_mode) or status.st_size < LARGE:
            return None
        with path.open("rb") as file:
            head = file.read(HEAD)
            file.seek(status.st_size - 4)
            tail = file.read(4)
    except (OSError, ValueError):
        return None  # the reader of whole files says why
    return None if is_compressed(head) or detect(head, tail, path) != "text" else head


def read_bytes(path: Path) -> bytes | LargeFile:
    """All bytes of a file."""
    where = str(path)
    try:
        with ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            before = os.fstat(file.fileno())
            if stat.S_ISREG(before.st_mode) and before.st_size >= LARGE and hasattr(os, "pread"):
                stack.pop_all()
                return LargeFile(file, where)
            content = file.read() if stat.S_ISREG(before.st_mode) else read_all(file.read, where)
            check_unchanged(before, file.fileno(), where)
            return content
    except DataError:
        raise
    except FileNotFoundError:
        if "\n" in where:
            line = shorten(where.partition("\n")[0].encode("utf-8", "surrogateescape"))
            raise DataError(f"expected a path, got a text of several lines, {line!r}, …: write it to a file") from None
        if os.path.islink(path):
            raise DataError(f"{where}: a link to {os.readlink(path)!r}, where nothing is") from None
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
