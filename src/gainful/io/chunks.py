"""Runs that are larger than memory: files in chunks of whole records, Parquet in slices, data sets of many files.

Chunks are parsed in some threads while those before them are joined with the judgments. How a file is cut changes
neither its rows nor what is said about the first of them that is no good: lines and rows are counted from its start.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from gainful import _polars as pl
from gainful.data.run import LargeRun, TextBlocks, TextFile
from gainful.data.spill import Spill
from gainful.errors import DataError
from gainful.io.changes import unchanged, unmapped
from gainful.io.columns import needed_columns
from gainful.io.compression import decompress_blocks, is_compressed, is_streamed
from gainful.io.damage import Paged, check_parquet
from gainful.io.files import HEAD, SEPARATORS, Format, detect
from gainful.io.ranks import ROWS, rank_notes
from gainful.io.records import Read, first_error, whole_records
from gainful.io.remote import RemoteFile
from gainful.io.tables import json_lines, parse, separated, to_columns
from gainful.io.text import BOM, RUN, Layout, no_data, read_lines
from gainful.memory import check_memory
from gainful.results import Note

# Bytes of text that are read at once, and about how many a row of a run has.
CHUNK = 1 << 23
ROW = 32
# Text from this size on is read in chunks.
STREAMED = 1 << 27
# By how much files are smaller than the text they hold.
PACKED = 4
_THREADS = min(os.cpu_count() or 1, 8)

T = TypeVar("T")
U = TypeVar("U")


def large_runs(path: Path | RemoteFile, name: str, layout: Layout = RUN) -> list[LargeRun] | None:
    """The runs of a large file, to be read in chunks; None for a file that is small or must be read as a whole."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size < STREAMED // PACKED:
            return None
        with path.open("rb") as file:
            head = file.read(HEAD)
            file.seek(max(status.st_size - 4, 0))
            tail = file.read(4)
    except (OSError, ValueError):
        return None  # the reader of whole files says why
    packed = is_compressed(head)
    if isinstance(path, RemoteFile) and not is_streamed(head):
        return None
    if packed:
        head, tail = next(decompress_blocks(path, str(path), HEAD), b""), b""
    if not head:
        return None
    form = detect(head, tail, path)
    size = status.st_size * (PACKED if packed or form == "parquet" else 1)
    if size < STREAMED or form in ("json", "arrow") or (packed and form == "parquet"):
        return None
    if form == "parquet":
        if isinstance(path, RemoteFile):
            return None
        return runs_of(partial(parquet_chunks, path, {}, layout), parquet_head(path, {}, layout), size, name, str(path))
    text = _Text(path, form, packed, layout)
    if form == "text":
        raw = TextBlocks(text.blocks) if packed or isinstance(path, RemoteFile) else TextFile(path)
        return [LargeRun(name, text.chunks, size, notes=rank_notes(name, None, head), raw=raw)]
    return runs_of(text.chunks, text.head(), size, name, str(path))


def runs_of(
    chunks: Callable[[], Iterator[pl.DataFrame]], head: pl.DataFrame, size: int, name: str, where: str
) -> list[LargeRun]:
    """The run that these chunks hold, or the runs that their column ``run`` tells apart, sorted on disk.

    The head tells the columns, and has some of the first rows, if they are known; `size` is about how many bytes of
    text all rows are; `name` is for a run without a column ``run``.
    """
    if "run" not in head.columns:
        return [LargeRun(name, chunks, size, notes=rank_notes(name, head))]
    spill = Spill(f"{where} holds runs side by side and is sorted on disk")
    rows: dict[str, int] = {}
    notes: dict[str, tuple[Note, ...]] = {}
    for chunk in chunks():
        for (run,), part in chunk.partition_by("run", maintain_order=True, include_key=False, as_dict=True).items():
            if run not in rows:
                notes[run] = rank_notes(run, part)
            spill.add(run, part)
            rows[run] = rows.get(run, 0) + part.height
    total = sum(rows.values())
    return [
        LargeRun(run, partial(spill.read, run), size * count // total, notes=notes[run]) for run, count in rows.items()
    ]


@dataclass(frozen=True, slots=True)
class _Text:
    """A file of lines, CSV or JSONL."""

    path: Path | RemoteFile
    form: Format
    packed: bool
    layout: Layout

    def head(self) -> pl.DataFrame:
        """The first rows; none if they are no good, which is said when they are read in their turn."""
        read, records = self._begin(HEAD)
        try:
            return read(next(records, b""), 1, 0)
        except DataError:
            return read(b"", 1, 0)

    def chunks(self) -> Iterator[pl.DataFrame]:
        """The rows, in order."""
        with unchanged(self.path):
            yield from self._chunks()

    def _chunks(self) -> Iterator[pl.DataFrame]:
        read, records = self._begin(CHUNK)
        rows = 0
        # Whether it is the first is all that matters about a chunk's place unless it is no good.
        for (number, data), result in ahead(enumerate(records), lambda chunk: read(chunk[1], min(chunk[0], 1), 0)):
            try:
                frame = result.result()
            except DataError as error:
                if self.packed:
                    deque(records, maxlen=0)  # an archive that is damaged further on is reported first
                lines = sum(before.count(b"\n") for before in islice(self._begin(CHUNK)[1], number))
                raise first_error(read, data, lines=lines, rows=rows, quotes=self.form in SEPARATORS) or error from None
            rows += frame.height
            yield frame
        if not rows and self.form == "text":
            no_data(RUN, str(self.path))

    def blocks(self) -> Iterator[bytes]:
        """The text, unpacked."""
        return self._blocks(CHUNK)

    def _blocks(self, size: int) -> Iterator[bytes]:
        if self.packed:
            return decompress_blocks(self.path, str(self.path), size)
        return self.path.blocks(size) if isinstance(self.path, RemoteFile) else _blocks(self.path, size)

    def _begin(self, size: int) -> tuple[Read, Iterator[bytes]]:
        """What reads the records, and these, in pieces of about so many bytes."""
        where = str(self.path)
        records = whole_records(self._blocks(size), where, quotes=self.form in SEPARATORS)
        if self.form == "text":
            return lambda data, lines, _: read_lines(data, RUN, where, lines), records
        first = b""
        for data in records:
            first += data
            if first.removeprefix(BOM).strip():
                break
        if self.form == "jsonl":
            first = first.removeprefix(BOM)
            return json_lines(first, self.layout, where), chain([first], records)
        read, begin = separated(first, SEPARATORS[self.form], self.layout, where)
        return read, chain([first[begin:]], records)


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    """The content in pieces of about so many bytes, which end with a line as far as lines do not take as many again."""
    try:
        with path.open("rb") as file:
            end = 0
            while True:
                # A line end looked up beforehand saves copying what was read.
                start = end
                file.seek(start + size)
                file.readline(size)
                end = file.tell()
                file.seek(start)
                if not (block := file.read(end - start)):
                    return
                yield block
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def ahead(items: Iterable[T], work: Callable[[T], U], number: int = _THREADS) -> Iterator[tuple[T, Future[U]]]:
    """Each item with the work on it, done; that on the first `number` of them begins at once, on others in turn."""
    threads = ThreadPoolExecutor(number)
    waiting = iter(items)
    started = deque((item, threads.submit(work, item)) for item in islice(waiting, number))

    def in_order() -> Iterator[tuple[T, Future[U]]]:
        try:
            while started:
                item, result = started.popleft()
                wait([result])
                started.extend((item, threads.submit(work, item)) for item in islice(waiting, 1))
                yield item, result
        finally:
            # Not waited for: after Ctrl-C one may still be reading from a pipe that nobody writes to.
            threads.shutdown(wait=False, cancel_futures=True)

    return in_order()


def parquet_columns(path: Path, constants: Mapping[str, str], layout: Layout) -> dict[str, str]:
    """Which columns of a Parquet file hold what; those in `constants` need not be in it."""
    names = list(parse(_scan_parquet(path).collect_schema, "Parquet", str(path)))
    return needed_columns([*(name for name in constants if name not in names), *names], layout, str(path))


def parquet_head(path: Path, constants: Mapping[str, str], layout: Layout) -> pl.DataFrame:
    """The first rows of a Parquet file; none of one without ranks, as there is nothing to learn from them."""
    columns = parquet_columns(path, constants, layout)
    if "rank" not in columns:
        return pl.DataFrame(schema=list(columns))
    read, _ = _open_parquet(path, constants, layout)
    return read(0, ROWS)


def parquet_chunks(path: Path, constants: Mapping[str, str], layout: Layout) -> Iterator[pl.DataFrame]:
    """The rows of a Parquet file, in slices: polars' own iteration over a file reads ahead of whoever is slower."""
    with unchanged(path):
        read, total = _open_parquet(path, constants, layout)
        step = max(CHUNK // ROW, 1)
        for _, frame in ahead(range(0, total, step), lambda start: read(start, step)):
            yield frame.result()


def _scan_parquet(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(unmapped(path), glob=False, hive_partitioning=False)


def _open_parquet(
    path: Path, constants: Mapping[str, str], layout: Layout
) -> tuple[Callable[[int, int], pl.DataFrame], int]:
    """What reads so many rows of a Parquet file from a row on, and how many there are."""
    where = str(path)
    try:
        with path.open("rb") as file:
            groups = check_parquet(Paged(file), where)
    except OSError as error:
        raise DataError(f"{where}: cannot be read: {error.strerror}") from None
    wanted = list(parquet_columns(path, constants, layout).values())
    check_memory(where, max((sum(group.get(name, 0) for name in wanted) for group in groups), default=0))
    scan = _scan_parquet(path)
    inside = parse(scan.collect_schema, "Parquet", where).names()
    outside = [pl.lit(constants[name]).alias(name) for name in wanted if name not in inside]
    rows = scan.select(name for name in wanted if name in inside)

    def read(start: int, number: int) -> pl.DataFrame:
        some = parse(rows.slice(start, number).collect, "Parquet", where)
        return to_columns(some.with_columns(outside), layout, where, start)

    return read, parse(lambda: scan.select(pl.len()).collect().item(), "Parquet", where)
