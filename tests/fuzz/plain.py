"""What a strict reader in plain Python makes of a file, and one measure from it: the soak test's second opinion.

Nothing of gainful is used: `tests/reference.py` ranks and scores one document at a time.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import reference

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# Characters that stand for bytes that are no UTF-8: a file must not have them itself.
KEPT = re.compile("[\U0010ff80-\U0010ffff]")
Rows = list[tuple[str, str, float]]


@dataclass
class Refused(Exception):
    """No good file: from this line on, if it has lines."""

    line: int | None = None


class Unsure(Exception):
    """Nothing that a few lines of Python can decide."""


def rows(path: Path) -> Rows:
    """The topic, the document and the value of each line."""
    found = _rows(path)
    if not found or len({row[:2] for row in found}) < len(found):
        raise Refused
    return found


def _rows(path: Path) -> Rows:
    data = path.read_bytes()
    if path.suffix == ".gz":
        try:
            return text(gzip.decompress(data), judged=False)
        except (OSError, EOFError, zlib.error):
            raise Refused from None
    if path.suffix == ".txt":
        return text(data, judged=path.name == "qrels.txt")
    if path.suffix == ".csv":
        return table(data)
    return objects(data) if path.suffix == ".jsonl" else columns(path, data)


def value(word: str, line: int) -> float:
    if not NUMBER.fullmatch(word) or not math.isfinite(float(word)):
        raise Refused(line)
    return float(word)


def text(data: bytes, *, judged: bool) -> Rows:
    """TREC text: blanks between fields, comments, a byte order mark; no NUL."""
    found, iterations = [], set()
    doc, number, fields = (2, 3, 4) if judged else (2, 4, 6)
    for at, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if b"\0" in line or KEPT.search(line.decode(errors="replace")):
            raise Refused(at)
        words = line.split()
        if not words or words[0].startswith(b"#"):
            continue
        if len(words) != fields:
            raise Refused(at)
        topic, name = (_id(words[field]) for field in (0, doc))
        found.append((topic, name, value(words[number].decode(errors="replace"), at)))
        iterations.add(words[1])
    if judged and len(iterations) > 1:  # which may be subtopics
        raise Unsure
    return found


def _id(word: bytes) -> str:
    found = word.decode(errors="surrogateescape")
    return "".join(chr(ord(one) - 0xDC00 + 0x10FF00) if 0xDC80 <= ord(one) <= 0xDCFF else one for one in found)


def table(data: bytes) -> Rows:
    """CSV, as far as it is plain: neither quotes nor other ends of lines, nor another header."""
    head, _, rest = data.partition(b"\n")
    if head != b"query_id,doc_id,score" or re.search(rb'["\r\0\x80-\xff#]|\n\n| ,|, |\t', b"\n" + rest):
        raise Unsure
    found = []
    for at, row in enumerate(csv.reader(io.StringIO(rest.decode())), 1):  # rows are counted, not lines
        if len(row) != 3 or "" in row:
            raise Refused(None)
        found.append((row[0], row[1], value(row[2], at)))
    return found


def objects(data: bytes) -> Rows:
    """JSON lines, with keys as gainful writes them."""
    found = []
    for at, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            one = json.loads(line.decode())
        except UnicodeDecodeError:  # ids are bytes: what is no UTF-8 stays what it is
            raise Unsure from None
        except ValueError:
            raise Refused(at) from None
        if not isinstance(one, dict) or list(one) != ["query_id", "doc_id", "score"]:
            raise Unsure
        topic, doc, score = one.values()
        if not isinstance(topic, str) or not isinstance(doc, str) or type(score) not in (int, float) or not doc:
            raise Unsure
        found.append((topic, doc, value(str(score), at)))
    return found


def columns(path: Path, data: bytes) -> Rows:
    """Parquet, Arrow and Zstandard, of which pyarrow knows."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    try:
        if path.suffix == ".zst":
            return text(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read(), judged=False)
        read = parquet.read_table if path.suffix == ".parquet" else feather.read_table
        found = read(pa.BufferReader(data))
        found.validate(full=True)
        rows = list(zip(*(found[name].to_pylist() for name in ("query_id", "doc_id", "score")), strict=True))
    except (pa.ArrowException, OSError, ValueError, KeyError):
        raise Unsure from None
    if any(None in row or not math.isfinite(row[2]) for row in rows):
        raise Refused
    return rows


def average_precision(qrels: Rows, run: Rows) -> dict[str, float]:
    """AP per judged topic; 0 where it is undefined, as trec_eval has it."""
    judged: dict[str, dict[str, float | None]] = {}
    for topic, doc, label in qrels:
        judged.setdefault(topic, {})[doc] = label
    return {
        topic: reference.ap(
            reference.labels(reference.ranked(run, topic), known), reference.pool_of(known), cutoff=None, rel=1
        )
        or 0.0
        for topic, known in judged.items()
    }
