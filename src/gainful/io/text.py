"""TREC text: six fields per line for runs, four for qrels.

Fields are separated by any mix of spaces and tabs; blank lines and lines that start with ``#`` are skipped, as
trec_eval 10 does; CRLF and a byte order mark are taken in stride. Bytes that are not UTF-8 stay what they are (see
`gainful.io.encoding`); a NUL byte is refused, since it means UTF-16 or a binary file. The rank, ``Q0``, iteration and
tag are not looked at.

Nearly all files are plain: one separator throughout, nothing to skip. Those go straight to polars, while a look at the
bytes makes sure that they are (`_count_blanks`). All others are put into that form first. Both ways accept the same
files and give the same frame.
"""

from __future__ import annotations

import os
import re
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import BinaryIO, NoReturn

import numpy as np
import numpy.typing as npt

from gainful import _polars as pl
from gainful.data.run import BOM as BOM
from gainful.data.run import check_unchanged
from gainful.errors import DataError
from gainful.io.encoding import to_utf8
from gainful.memory import check_memory

# From this size on it pays to parse a text in parts.
LARGE = 1 << 23
# About how many bytes are taken while one of an unusual text is brought into columns.
TAKES = 6
WRITE_NUMBER = "Write a finite number in this field."
WRITE_AGAIN = "Write the file again, or leave it out."

_SLICE = 1 << 18
_SLICES = 4
_BATCH = _SLICE * _SLICES
_SHIFTS = np.array([1, 2, 4, 8, 16, 32], np.uint64)
_TOP_BIT = np.uint64(63)
# What polars takes for the start of zlib, gzip or zstd, whatever follows: a topic may be called x^2.
_PACKED = (b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x1f\x8b", b"(\xb5")
# The first byte of the characters that gainful.io.encoding keeps for itself.
_RESERVED_LEAD = 0xF4
_BLANKS_TO_SPACE = bytes.maketrans(b"\t\v\f\r", b"    ")
_WRITE = {False: "Write each line as: {}, with no blank inside a field.", True: WRITE_NUMBER}
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NOT_FINITE = re.compile(rb"[+-]?(inf|infinity|nan)", re.IGNORECASE)


class LargeFile:
    """The bytes of a large file, read when they are asked for: parts are parsed side by side, none of them twice.

    Mapping the file would do the same, but a file that shrinks meanwhile would end the process.
    """

    def __init__(self, file: BinaryIO, where: str) -> None:
        self._file, self._where = file, where
        self._status = os.fstat(file.fileno())
        weakref.finalize(self, file.close)

    def __len__(self) -> int:
        return self._status.st_size

    def __getitem__(self, part: slice) -> bytes:
        start, end, _ = part.indices(len(self))
        found = []
        try:
            while start < end and (data := os.pread(self._file.fileno(), end - start, start)):
                found.append(data)
                start += len(data)
        except OSError as error:
            raise DataError(f"{self._where}: cannot be read: {error.strerror}") from None
        check_unchanged(self._status, self._file.fileno(), self._where)
        return found[0] if len(found) == 1 else b"".join(found)

    def __bytes__(self) -> bytes:
        check_memory(self._where, len(self))
        return self[:]

    def find(self, what: bytes, start: int) -> int:
        """Where this byte comes next; -1 if nowhere."""
        for begin in range(start, len(self), _SLICE):
            at = self[begin : begin + _SLICE].find(what)
            if at >= 0:
                return begin + at
        return -1


@dataclass(frozen=True, slots=True)
class Layout:
    """What a line of TREC text holds."""

    what: str
    fields: tuple[str, ...]
    columns: tuple[str, ...]
    value: str
    named: tuple[tuple[str, str], ...] = ()  # what the reader calls columns of a table, by gainful's name for them

    @property
    def judged(self) -> bool:
        """Whether these are judgments; else it is a run."""
        return self.value == "relevance"

    @property
    def kept(self) -> tuple[str, str, str]:
        """Columns of the frame."""
        return "query_id", "doc_id", self.value

    @property
    def value_field(self) -> str:
        """The value as users know it: label or score."""
        return self.fields[self.columns.index(self.value)]


QRELS = Layout(
    what="qrels",
    fields=("topic", "iteration", "doc", "label"),
    columns=("query_id", "iteration", "doc_id", "relevance"),
    value="relevance",
)
RUN = Layout(
    what="a run",
    fields=("topic", "Q0", "doc", "rank", "score", "tag"),
    columns=("query_id", "q0", "doc_id", "rank", "score", "tag"),
    value="score",
)


def read_text(content: bytes | LargeFile, layout: Layout, where: str) -> pl.DataFrame:
    """Frame of the topic, the document and the value of each line of a whole text."""
    frame = _read_plain(content, layout)
    if frame is None:
        frame = _read_any(bytes(content), layout, where)
    return frame if frame.height else no_data(layout, where)


def no_data(layout: Layout, where: str) -> NoReturn:
    """Refuse a text of nothing but blank lines and comments."""
    raise DataError(f"{where}: expected {layout.what}, got no line with data", remedy=WRITE_AGAIN)


def read_lines(data: bytes, layout: Layout, where: str, before: int = 0) -> pl.DataFrame:
    """Frame of some lines of a text, maybe empty; `before` lines come before them."""
    if before and data.startswith(BOM):  # part of an id here, but not to polars
        return read_lines(_filler(" ", layout) + data, layout, where, before - 1)[1:]
    plain = _read_part(data, _separator(data), layout)
    return _read_any(data, layout, where, before) if plain is None else plain


def _separator(content: bytes | LargeFile) -> str:
    return "\t" if b"\t" in content[:_SLICE].split(b"\n", 1)[0] else " "


def _scan(source: bytes, separator: str, layout: Layout) -> pl.LazyFrame:
    schema = {column: _dtype(column, layout) for column in layout.columns}
    guarded = source.startswith(_PACKED)
    source = _filler(separator, layout) + source if guarded else source
    scan = pl.scan_csv(source, separator=separator, schema=schema, has_header=False, quote_char=None)
    return scan.slice(1) if guarded else scan


def _filler(separator: str, layout: Layout) -> bytes:
    """A line to put before others that polars would misunderstand at the start of a text."""
    return separator.join("0" for _ in layout.fields).encode() + b"\n"


def _dtype(column: str, layout: Layout) -> pl.DataType:
    return pl.Float64() if column == layout.value else pl.String()


def _read_plain(content: bytes | LargeFile, layout: Layout) -> pl.DataFrame | None:
    """Frame of a plain file, or None for any other, and for one that polars does not like."""
    separator = _separator(content)
    if len(content) < LARGE:
        return _read_part(bytes(content), separator, layout)
    # Parts of whole lines keep all cores busy: polars alone leaves them idle at the start and the end of a file.
    workers = os.cpu_count() or 1
    ends = [content.find(b"\n", len(content) * i // (2 * workers)) + 1 for i in range(1, 2 * workers)]
    cuts = sorted({0, len(content), *(end for end in ends if content[end : end + len(BOM)] != BOM)})
    with ThreadPoolExecutor(workers) as threads:
        parts = threads.map(lambda ab: _read_part(content[ab[0] : ab[1]], separator, layout), pairwise(cuts))
        frames = [frame for frame in parts if frame is not None]
    return pl.concat(frames) if len(frames) == len(cuts) - 1 else None


def _read_part(part: bytes, separator: str, layout: Layout) -> pl.DataFrame | None:
    try:
        # Faster than read_csv(columns=...); neither of them complains about superfluous fields.
        frame = _scan(part, separator, layout).select(layout.kept).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    if frame.is_empty() or any(frame.null_count().row(0)) or not frame[layout.value].is_finite().all():
        return None

    def regular(counts: tuple[int, int] | None) -> bool:
        if counts is None:
            return False
        blanks, ends = counts
        lines = ends + (part[-1:] != b"\n")
        # Each line has a value, so a run line has five fields at least, and not five since their number is even: with
        # the right number of separators in all, each has six. (The same holds for the four fields of qrels.)
        return frame.height == lines and blanks - ends == (len(layout.fields) - 1) * lines

    text = np.frombuffer(part, np.uint8)
    # As int8 what is not ASCII is negative, hence a blank, and so is "#" here: a file without them needs one look.
    if not regular(_count_blanks(text.view(np.int8), separator, "#")):
        refused = text.max() >= _RESERVED_LEAD or frame["query_id"].str.starts_with("#").any()
        if refused or not regular(_count_blanks(text, separator, " ")):
            return None
    return frame


def _count_blanks(text: npt.NDArray[np.int8 | np.uint8], separator: str, last: str) -> tuple[int, int] | None:
    """Number of blanks, and how many of them are not the separator; None for a text that is not plain.

    Blanks are the bytes up to `last`. In a plain text no two of them touch, and the number of blanks up to each one
    that is not the separator, hence in each line, is even.
    """
    blanks = ends = 0
    touching, odd = np.uint64(1), np.uint64(0)
    flags = np.empty(_SLICE, bool)
    size = min(_BATCH, len(text) // 64 * 64 + 64)
    # One bit a byte, in words of 64: most of the work is on an eighth of the data, in the cache.
    is_blank, is_end, bits, carry = np.zeros((4, size // 64), "<u8")
    for start in range(0, len(text), size):
        batch = text[start : start + size]
        if len(batch) < size:
            is_blank[:] = is_end[:] = 0
        for offset in range(0, len(batch), _SLICE):
            part = batch[offset : offset + _SLICE]
            packed = slice(offset // 8, offset // 8 + (len(part) + 7) // 8)
            found = flags[: len(part)]
            np.less_equal(part, ord(last), out=found)
            is_blank.view(np.uint8)[packed] = np.packbits(found, bitorder="little")
            np.equal(part, ord(separator), out=found)
            is_end.view(np.uint8)[packed] = np.packbits(found, bitorder="little")
        np.bitwise_xor(is_end, is_blank, out=is_end)

        np.left_shift(is_blank, _SHIFTS[0], out=bits)
        np.right_shift(is_blank, _TOP_BIT, out=carry)
        bits[1:] |= carry[:-1]
        bits[0] |= touching
        touching = carry[-1]
        if np.bitwise_and(bits, is_blank, out=bits).any():
            return None

        # Prefix xor: a bit becomes the parity of all bits up to it, first within its word, then from the batch's start.
        bits[:] = is_blank
        for shift in _SHIFTS:
            bits ^= np.left_shift(bits, shift, out=carry)
        np.right_shift(bits, _TOP_BIT, out=carry)
        carry[0] ^= odd
        np.bitwise_xor.accumulate(carry, out=carry)
        np.negative(carry, out=carry)
        bits[1:] ^= carry[:-1]
        if odd:
            bits[0] = ~bits[0]
        odd = carry[-1] & np.uint64(1)
        if np.bitwise_and(bits, is_end, out=bits).any():
            return None

        blanks += int(np.bitwise_count(is_blank).sum())
        ends += int(np.bitwise_count(is_end).sum())
    return blanks, ends


def has_iterations(head: bytes) -> bool:
    """Whether the first lines of qrels differ in their second field, which then names subtopics."""
    fields = (line.split() for line in head.removeprefix(BOM).split(b"\n"))
    return len({found[1] for found in fields if len(found) == 4 and not found[0].startswith(b"#")}) > 1


def read_fields(data: bytes, layout: Layout, where: str) -> pl.DataFrame:
    """Frame of all fields of each line of a whole text, the value as a number and the others as they are written."""
    return _read_any(data, layout, where, columns=layout.columns)


def _read_any(data: bytes, layout: Layout, where: str, before: int = 0, columns: tuple[str, ...] = ()) -> pl.DataFrame:
    """Frame of lines with anything unusual in them, or the error that says what is wrong; with these columns."""
    check_memory(where, TAKES * len(data))
    columns = columns or layout.kept
    if b"\0" in data:
        raise _first_bad_line(data, layout, where, "NUL bytes", before)
    try:
        plain = _to_plain(to_utf8(data, where))
    except DataError as error:
        raise _first_bad_line(data, layout, where, str(error), before) from None
    if not plain:
        return pl.DataFrame(schema={column: _dtype(column, layout) for column in columns})
    try:
        # With all columns read, polars does complain about superfluous fields; missing ones are null.
        # A mark that comes after blank lines is part of an id, but not to polars.
        marked = plain.startswith(BOM)
        frame = _scan(_filler(" ", layout) + plain if marked else plain, " ", layout).collect()[int(marked) :]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _first_bad_line(data, layout, where, str(error), before) from None
    if any(frame.null_count().row(0)) or not frame[layout.value].is_finite().all():
        raise _first_bad_line(data, layout, where, "missing values", before)
    return frame.select(columns)


def _to_plain(data: bytes) -> bytes:
    """The lines with data, their fields separated by one space."""
    text = b"\n" + data.removeprefix(BOM).translate(_BLANKS_TO_SPACE) + b"\n"
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b"\n ", b"\n").replace(b" \n", b"\n")
    if b"\n#" in text:
        text = re.sub(rb"\n#[^\n]*", b"", text)
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text[1:]


def _first_bad_line(data: bytes, layout: Layout, where: str, reason: str, before: int) -> DataError:
    """The error for the first line that is no good; Python speed, but only once."""
    first = not before  # of the lines with data
    for number, line in enumerate(data.removeprefix(b"" if before else BOM).split(b"\n"), before + 1):
        if b"\0" in line:
            got = "a NUL byte (is this UTF-16, or a binary file?): write it in UTF-8"
            return DataError(f"{where}:{number}: expected text, got {got}", remedy="Write the file as text in UTF-8.")
        try:
            to_utf8(line, where, number - 1)
        except DataError as error:
            return error
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if problem := _problem(fields, layout):
            hint = (_swapped(fields, layout) if first else "") or _comma(fields, layout)
            remedy = _WRITE[len(fields) == len(layout.fields)].format(" ".join(layout.fields))
            if first and _is_header(fields, layout):
                hint, remedy = ". It looks like the names of columns", "Remove this line: TREC text has no header."
            return DataError(f"{where}:{number}: expected {problem}: {shorten(line)!r}{hint}", remedy=remedy)
        first = False
    return DataError(f"{where}: cannot be read as {layout.what}: {reason}")


def _problem(fields: list[bytes], layout: Layout) -> str | None:
    """What was expected of a line and what was got, or None for a good one."""
    if len(fields) != len(layout.fields):
        return f"{len(layout.fields)} fields ({' '.join(layout.fields)}), got {len(fields)}"
    value = fields[layout.columns.index(layout.value)]
    if _NUMBER.fullmatch(value) and isfinite(float(value)):
        return None
    numeric = _NUMBER.fullmatch(value) or _NOT_FINITE.fullmatch(value)
    wanted = f"a finite {layout.value_field}" if numeric else f"a number as {layout.value_field}"
    return f"{wanted}, got {shorten(value)!r}"


def is_text(line: bytes, *layouts: Layout) -> bool:
    """Whether a line is one of TREC text, be it of a run or of qrels, or of one of these layouts."""
    return any(_problem(line.split(), layout) is None for layout in layouts or (QRELS, RUN))


def _is_header(fields: list[bytes], layout: Layout) -> bool:
    """Whether a line has words alone where topics and numbers are, not just one bad number."""
    if len(fields) != len(layout.fields):
        return False
    words = [
        fields[layout.columns.index(name)] for name in ("query_id", "rank", layout.value) if name in layout.columns
    ]
    return not _NOT_FINITE.fullmatch(words[-1]) and not re.search(rb"\d", b" ".join(words))


def _swapped(fields: list[bytes], layout: Layout) -> str:
    for other in (QRELS, RUN) if layout.what in (QRELS.what, RUN.what) else ():
        if other.what != layout.what and _problem(fields, other) is None:
            return f". It looks like {other.what}; qrels come before runs"
    return ""


def _comma(fields: list[bytes], layout: Layout) -> str:
    value = fields[layout.columns.index(layout.value)] if len(fields) == len(layout.fields) else b""
    return ". Write a decimal point" if b"," in value and _NUMBER.fullmatch(value.replace(b",", b".")) else ""


def shorten(line: bytes) -> str:
    """A line of a file as an error message shows it."""
    text = line.strip().decode("utf-8", "backslashreplace")
    return text if len(text) <= 80 else f"{text[:77]}..."
