"""Files that lie beside runs and are none: told by their content, and by their names where that is not enough.

What may be a run, broken or not, is never taken for one of these: its reader says what is wrong with it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path, PurePath

from gainful import _polars as pl
from gainful.errors import DataError, setting
from gainful.io.columns import match_columns
from gainful.io.compression import decompress_blocks, is_compressed, is_streamed, split_compression
from gainful.io.dataset import is_dataset
from gainful.io.files import ARROW_SUFFIXES, HEAD, SEPARATORS, detect, is_standard_input
from gainful.io.objects import is_record
from gainful.io.remote import RemoteFile, is_url
from gainful.io.sources import Found
from gainful.io.tables import ARROW_FILE, ARROW_STREAM, PARQUET
from gainful.io.text import BOM, QRELS, RUN, Layout, is_text
from gainful.io.zstd import most_unpacked

_MAGIC = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a zip archive or an Office document",
    b"SQLite format 3": "a database",
    b"\x93NUMPY": "an array of numpy",
    b"\x7fELF": "a program",
    b"\x80\x04\x95": "a pickle",
    b"\x80\x05\x95": "a pickle",
}
# Names of files that speak of runs, or were made from them.
_SUFFIXES = {
    **dict.fromkeys((".md", ".rst", ".tex", ".bib"), "a text"),
    **dict.fromkeys((".html", ".htm", ".xml"), "a page"),
    **dict.fromkeys((".yaml", ".yml", ".toml", ".ini", ".cfg"), "settings"),
    **dict.fromkeys((".py", ".sh", ".ipynb", ".r", ".js"), "a program"),
    **dict.fromkeys((".eval", ".log", ".err"), "the output of a program"),
    **dict.fromkeys((".svg", ".eps"), "an image"),
    ".qrels": "qrels",
}
_STEMS = re.compile(r"(readme|license|licence|makefile|changelog|notes?)\b", re.IGNORECASE)
_SETTINGS = re.compile(
    r"(^|[._-])(params?|parameters|settings?|config|args|options|metadata|collection|package|manifest)([._-]|$)",
    re.IGNORECASE,
)
_EVALUATED = re.compile(rb"(map|gm_map|num_q|num_ret|runid|ndcg\w*|P_\d+|recip_rank|bpref|Rprec)\s+\S+\s+\S+\s*$")
_VALUE = re.compile(rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+|nan|inf(inity)?)", re.IGNORECASE)
_SEPARATORS = bytes.maketrans(b",;|", b"   ")
# How many lines have a say in what a text is, and the share of them that must look like those of a run.
_LINES, _SHARE = 100, 0.25
_FIELDS = range(5, 13)
# How many times its size no text is unpacked to.
_SUSPICIOUS = 1000


def strays_among(found: Sequence[object], layout: Layout, *, named: bool) -> tuple[list[bool], list[str | None]]:
    """Of each source, whether it was found beside others; and what it is, if it is a file that is no run.

    Who gives several files may have let the shell find them, so these count as found; not so with names for their runs.
    """
    files = [one if isinstance(one, Found) and isinstance(one.file, Path) else None for one in found]
    several = not named and sum(one is not None for one in files) > 1
    searched = [
        isinstance(one, Found) and (one.searched or (several and isinstance(one.file, Path) and one.file.exists()))
        for one in found
    ]
    known = [
        None
        if one is None
        else stray_file(one.file, layout, named="no" if one.searched else "among others" if several else "only")  # type: ignore[arg-type]
        for one in files
    ]
    return searched, known


def stray_file(path: Path | RemoteFile, layout: Layout = RUN, *, named: str = "no") -> str | None:
    """What a file is that is no run, such as 'a PNG image'; None for a run, and for what its reader must refuse.

    Of a file that was `named` by somebody, the name tells nothing; if it is the ``only`` one, it is none only if its
    first bytes say so, since its reader says best what is wrong with a text.
    """
    if isinstance(path, Path) and os.path.isdir(path):
        return None if is_dataset(path) else f"a folder: {setting('recursive')} searches it"
    head, place = first_bytes(path), path if isinstance(path, Path) else path.path
    return _by_magic(head) if named == "only" else stray(head, place, layout, by_name=named == "no")


def may_have_columns(source: object) -> bool:
    """Whether the columns of a source may have names: not those of TREC text, nor those of a dict by topics."""
    if isinstance(source, str | os.PathLike) and not is_standard_input(source) and not is_url(source):
        source = Path(source)
    if isinstance(source, Path):
        return not any(map(is_text, _data_lines(first_bytes(source), 1)))
    return not isinstance(source, Mapping) and getattr(source, "format", None) != "text"


def first_bytes(path: Path | RemoteFile) -> bytes:
    """The first `HEAD` bytes of a file, unpacked; none of one that cannot be read, of which its reader will tell."""
    if isinstance(path, Path) and not path.is_file():
        return b""  # a pipe gives what it has but once
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
        if not is_streamed(head) and most_unpacked(head) > _SUSPICIOUS * HEAD:
            return b""  # it would be unpacked up to the end of a line
        return next(decompress_blocks(path, str(path), HEAD), b"")[:HEAD] if is_compressed(head) else head
    except (OSError, ValueError):
        return b""


def stray(head: bytes, path: PurePath, layout: Layout = RUN, *, by_name: bool = True) -> str | None:
    """The same, of the first `HEAD` bytes of a file, or all of a shorter one, unpacked."""
    base = split_compression(path)[0]
    suffix = base.suffix.lower()
    if not head.strip():
        return None
    if head[:4] == ARROW_STREAM and suffix in ARROW_SUFFIXES:
        return None
    if head[:8] == ARROW_FILE or head[:4] == PARQUET:
        return _other_table(path, layout) if head[:4] == PARQUET else None
    if (found := _by_magic(head)) is not None:
        return found
    if any(is_text(line, RUN) for line in _data_lines(head, 1)):
        return None
    lines = _data_lines(head)
    if b"\0" in head:
        return "qrels" if _is_wide(head, QRELS) else None if _is_wide(head, RUN) else "a binary file"
    if by_name and (suffix in _SUFFIXES or _STEMS.match(base.name)):
        return _SUFFIXES.get(suffix, "a text")
    if not lines:
        return None
    try:
        form = detect(head, b"", Path(path))
    except DataError:
        return None
    if form == "json":
        return _other_json(head, base.name)
    if form in SEPARATORS:
        return _other_columns(lines[0].decode("utf-8", "replace").split(SEPARATORS[form]), layout)
    return _other_record(lines[0], layout) if form == "jsonl" else _other_text(lines)


def _by_magic(head: bytes) -> str | None:
    if head.lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):  # a login page, for example
        return "a page of HTML"
    return next((what for magic, what in _MAGIC.items() if head.startswith(magic)), None)


def is_doubtful(path: PurePath) -> bool:
    """Whether settings may be written as a run is: a dict of dicts of numbers, which only its topics tell apart."""
    return split_compression(path)[0].suffix.lower() == ".json"


def _data_lines(head: bytes, most: int = _LINES) -> list[bytes]:
    if len(head) >= HEAD and b"\n" in head:
        head = head[: head.rindex(b"\n")]  # not all of the last line is there
    lines = (line.removesuffix(b"\n") for line in BytesIO(head.removeprefix(BOM)))
    found = (line for line in lines if (text := line.strip()) and not text.startswith(b"#"))
    return list(islice(found, most))


def _is_wide(head: bytes, layout: Layout) -> bool:
    """Whether this is a run, or these are qrels, in UTF-16, which is to be refused as such."""
    for encoding in ("utf-16-le", "utf-16-be"):
        line = head[: len(head) // 2 * 2].decode(encoding, "replace").lstrip("\ufeff").partition("\n")[0]
        if is_text(line.encode("utf-8", "replace"), layout):
            return True
    return False


def _other_text(lines: list[bytes]) -> str | None:
    fields = [line.translate(_SEPARATORS).split() for line in lines]
    judged = [is_text(line, QRELS) and words[1].upper() != b"Q0" for line, words in zip(lines, fields, strict=True)]
    if 2 * sum(judged) > len(lines):  # some may be broken
        return "qrels"
    if sum(_EVALUATED.match(line) is not None for line in lines) > _SHARE * len(lines):
        return "the output of trec_eval"
    return None if sum(map(_like_run, fields)) >= _SHARE * len(lines) else "a text"


def _like_run(fields: list[bytes]) -> bool:
    """Whether a line may have been meant for a run: it says Q0, or has numbers where rank and score are."""
    if len(fields) > 1 and fields[1].upper() == b"Q0":
        return True
    if len(fields) == 3:  # topic, document and rank
        return fields[2].isdigit() and fields[1] != b"all"
    return len(fields) in _FIELDS and all(_VALUE.fullmatch(word) for word in fields[3:5])


def _other_json(head: bytes, name: str) -> str | None:
    if _SETTINGS.search(name):
        return "settings"
    if len(head) >= HEAD:
        return None
    try:
        value = json.loads(head)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return None if value and is_record(value[0]) else "JSON of something else"
    inside = list(value.values()) if isinstance(value, dict) else []
    ranked = [one for one in inside if isinstance(one, dict | list)]
    return None if inside and 2 * len(ranked) > len(inside) else "settings"


def _other_record(line: bytes, layout: Layout) -> str | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return _other_columns(list(record), layout) if isinstance(record, dict) else "JSON of something else"


def _other_table(path: PurePath, layout: Layout) -> str | None:
    try:
        return _other_columns(list(pl.read_parquet_schema(Path(path))), layout)
    except (pl.exceptions.PolarsError, OSError):
        return None


def _other_columns(names: list[str], layout: Layout) -> str | None:
    known = match_columns([name.strip().strip('"') for name in names], layout)
    if {"query_id", "doc_id"} <= known.keys():
        qrels = match_columns([name.strip().strip('"') for name in names], QRELS)
        return "qrels" if "score" not in known and "rank" not in known and "relevance" in qrels else None
    # Without a header line, the first row of a run is one of numbers and ids.
    return None if _like_run([name.strip().encode() for name in names]) else "a table without topics and documents"
