"""Where the records of a text end: lines, and for CSV those whose line end is not inside quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.memory import check_memory

# About how many bytes are taken while one of a record is brought into columns.
_TAKES = 6
# Some records of a file, after so many lines and rows of it.
Read: TypeAlias = "Callable[[bytes, int, int], pl.DataFrame]"


def _ends(data: bytes, *, inside: bool) -> npt.NDArray[np.int64]:
    """Where the records end, of a text with quotes that begins inside of them or not."""
    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    quotes = np.searchsorted(np.flatnonzero(text == ord('"')), ends)
    after: npt.NDArray[np.int64] = ends[(quotes + inside) % 2 == 0] + 1
    return after


def first_record(data: bytes) -> int:
    """Where the first record of CSV that is not blank ends; the length of the text if nowhere."""
    blank = re.match(rb"(?:\xef\xbb\xbf)?[\r\n]*", data)
    begin = blank.end() if blank else 0
    end = data.find(b"\n", begin) + 1
    while end and data.count(b'"', begin, end) % 2:
        end = data.find(b"\n", end) + 1
    return end or len(data)


def _last_record(data: bytes, *, quotes: bool, inside: bool) -> int:
    """Where the last complete record ends; 0 if nowhere."""
    if quotes and (inside or b'"' in data):
        ends = _ends(data, inside=inside)
        return int(ends[-1]) if len(ends) else 0
    return data.rfind(b"\n") + 1


def whole_records(blocks: Iterable[bytes], where: str, *, quotes: bool) -> Iterator[bytes]:
    """The same text, cut between records only: a record that a block leaves unfinished waits for the next one."""
    held: list[bytes] = []
    inside = False
    for block in blocks:
        end = _last_record(block, quotes=quotes, inside=inside)
        if end:
            yield b"".join([*held, block[:end]])
            held = []
        rest = block[end:]
        if rest:
            held.append(rest)
        if len(held) > 1:
            check_memory(where, _TAKES * sum(map(len, held)))
        if quotes:
            inside = (inside and not end) != bool(rest.count(b'"') % 2)
        if not end and b"\0" in block:  # no text at all: told now, not when all of it is in memory
            yield b"".join(held)
            return
    if held:
        yield b"".join(held)


def first_error(read: Read, data: bytes, *, lines: int = 0, rows: int = 0, quotes: bool = False) -> DataError | None:
    """The error about the first record that is no good, however many are read at once; None if all are good."""
    try:
        read(data, lines, rows)
    except DataError as error:
        found = error
    else:
        return None
    cut = _middle(data, quotes=quotes)
    if cut == len(data):
        return found
    earlier = first_error(read, data[:cut], lines=lines, rows=rows, quotes=quotes)
    if earlier is not None:
        return earlier
    lines, rows = lines + data.count(b"\n", 0, cut), rows + read(data[:cut], lines, rows).height
    # It may be that only together they are no good.
    return first_error(read, data[cut:], lines=lines, rows=rows, quotes=quotes) or found


def _middle(data: bytes, *, quotes: bool) -> int:
    """A place between two records, about half-way; the length of the text if there is none."""
    if quotes and b'"' in data:
        ends = _ends(data, inside=False)
        ends = ends[ends < len(data)]
        return int(ends[len(ends) // 2]) if len(ends) else len(data)
    cut = data.find(b"\n", len(data) // 2) + 1
    if not 0 < cut < len(data):
        cut = data.rfind(b"\n", 0, len(data) // 2) + 1
    return cut or len(data)
