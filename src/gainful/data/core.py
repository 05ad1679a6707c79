"""The join by the compiled core: a run as it was given in, hits out.

The core says what it found, or that a run is not for it; then the reader in Python takes the run, or says what is wrong
with it. A text is matched in blocks side by side, each of them read where it is needed: memory holds a few at a time.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, suppress
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gainful import _polars as pl
from gainful._core import native
from gainful.data.match import Hits, Joined, Rules, by_topic, first_ranks
from gainful.data.pool import MAPPINGS, NUMBERS
from gainful.data.rankings import IntArray, ListedDocuments
from gainful.data.run import BOM, Raw, TextBlocks, TextFile, after_mark, check_unchanged
from gainful.memory import memory_limit, reading

if TYPE_CHECKING:
    from gainful._core.native import Matched

# Bytes that one thread takes at a time, at least and at most, and how many more are looked at for the end of the last
# topic at first.
SMALL, LARGE, MARGIN = 1 << 18, 1 << 21, 1 << 16
# A topic of more bytes is not for the core, however much memory there is.
_MOST = 1 << 28
_CORES = os.cpu_count() or 1
_lock = Lock()
_MORE = 1  # what the core says to a block that ends too early; any other number: topics are scattered

Buffer: TypeAlias = "bytes | bytearray | memoryview"
# Gives threads, which are started when somebody asks for them: that costs more than a small run.
Threads: TypeAlias = "Callable[[], ThreadPoolExecutor]"


def join_raw(raw: Raw, name: str, rules: Rules, threads: Threads) -> Joined | None:
    """What is kept of a run; None if it is not for the core, or if something is wrong with it."""
    if native is None or rules.judged.core is None:
        return None
    if isinstance(raw, dict):
        one = native.match_dict(rules.judged.core, raw, _ties(rules), *_wanted(rules), NUMBERS, MAPPINGS)
        return None if one is None else _collected([one], name, rules)
    if isinstance(raw, bytes):
        return _text(raw, name, rules, threads)
    if isinstance(raw, TextBlocks):
        parts = _parts(raw.blocks())
        found = _ahead(lambda part: None if part is None else _match(part, rules), parts, threads)
        return _collected(found, name, rules, text=True)
    return _file(raw, name, rules, threads)


def _most() -> int:
    """Bytes of a topic from which on it is not for the core, which holds a few of them at a time."""
    return min(_MOST, memory_limit() // (16 * _CORES))


def _ties(rules: Rules) -> int:
    if rules.policies.ties == "trec":
        return 0 if rules.single else 1
    return 2 if rules.policies.ties == "order" else 3


def _wanted(rules: Rules) -> tuple[int, bool]:
    """How many documents of each topic to list, and whether to tell all scores."""
    # Condensed, only documents of the pool are listed: their names are known.
    return int(rules.documents) if rules.policies.unjudged == "zero" else 0, rules.scores


def _match(data: Buffer, rules: Rules, own: int | None = None, *, begins: bool = True, ends: bool = True) -> Any:
    own = len(data) if own is None else own
    keep_first = rules.policies.duplicates == "first"
    index: Any = rules.judged.core
    return native.match_text(index, data, own, begins, ends, _ties(rules), keep_first, *_wanted(rules))


def _text(data: bytes, name: str, rules: Rules, threads: Threads) -> Joined | None:
    view = after_mark(data)
    if len(view) <= 2 * SMALL:
        return _collected([_match(view, rules)], name, rules, text=True)

    def read(start: int, length: int) -> memoryview:
        return view[start : start + length]

    return _collected(_blocks(read, range(len(view)), len(view), rules, threads), name, rules, text=True)


def _file(raw: TextFile, name: str, rules: Rules, threads: Threads) -> Joined | None:
    with reading(str(raw.path)), suppress(OSError), raw.path.open("rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        start = len(BOM) if file.read(len(BOM)) == BOM else 0
        spare: list[bytearray] = []  # memory that was used once is faster than new memory

        def read(start: int, length: int) -> memoryview:
            length = min(length, before.st_size - start)
            try:
                room = spare.pop()
            except IndexError:
                room = bytearray()
            view = memoryview(room if len(room) >= length else bytearray(length))[:length]
            if _read_at(file, view, start) < length:
                check_unchanged(before, file.fileno(), str(raw.path))
                raise OSError("cannot be read to its end")
            return view

        def done(view: Buffer) -> None:
            spare.append(view.obj)  # type: ignore[union-attr, arg-type]

        own = range(max(start, raw.first), before.st_size if raw.last is None else raw.last)
        # Closed before the file is: threads may still be reading from it.
        with closing(_blocks(read, own, before.st_size, rules, threads, done, begins=own.start == start)) as blocks:
            found = _collected(blocks, name, rules, text=raw.last is None)
        check_unchanged(before, file.fileno(), str(raw.path))
        return found
    return None


def _read_at(file: io.FileIO, view: memoryview, start: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(file.fileno(), [view], start)
    with _lock:
        file.seek(start)
        return file.readinto(view) or 0


def _blocks(
    read: Callable[[int, int], Buffer],
    own: range,
    size: int,
    rules: Rules,
    threads: Threads,
    done: Callable[[Buffer], None] = lambda _: None,
    *,
    begins: bool = True,
) -> Generator[Any, None, None]:
    """What is found in each block of the text that has so many bytes, of the topics that begin in its `own`."""
    block = min(max(-(-len(own) // _CORES), SMALL), LARGE)
    margins = [MARGIN]  # the last is the largest that was needed

    def match(at: int) -> Any:
        margin = margins[-1]
        while True:
            mine = min(block, own.stop - at)
            data = read(at, mine + margin)
            found = _match(data, rules, mine, begins=begins and at == own.start, ends=at + len(data) >= size)
            done(data)
            if found != _MORE:
                margins[-1] = max(margins[-1], margin)
                return found
            margin *= 2
            if margin > _most():
                return None

    return _ahead(match, own[::block], threads)


def _parts(blocks: Iterable[bytes]) -> Iterator[Buffer | None]:
    """The same text, cut at changes of topic; None in the place of a topic that is not for the core."""
    held: Buffer = b""
    for block in blocks:
        data = bytes(held) + block if held else block.removeprefix(BOM)
        margin, cut = MARGIN, -1
        while cut < 0 and margin < 8 * len(data):
            cut = native.cut_text(data, max(len(data) - margin, 0))
            margin *= 8
        if cut >= 0:
            yield memoryview(data)[:cut]
            held = data[cut:]
        elif len(data) > _most():
            yield None
            return
        else:
            held = data
    if held:
        yield held


def _ahead(match: Callable[[Any], Any], items: Iterable[Any], threads: Threads) -> Generator[Any, None, None]:
    """What is found in each of the items, of which a few are under way."""
    waiting = iter(items)
    started = [threads().submit(match, item) for item in islice(waiting, 2 * _CORES)]
    try:
        while started:
            yield started.pop(0).result()
            started += [threads().submit(match, item) for item in islice(waiting, 1)]
    finally:
        # Whoever wants no more may close the file that these read.
        wait([future for future in started if not future.cancel()])


def _collected(found: Iterable[Matched | int | None], name: str, rules: Rules, *, text: bool = False) -> Joined | None:
    """All of a run; None if it is not for the core, or its topics are scattered over it."""
    topics = rules.judged.topics
    counts, tied = np.zeros(len(topics), np.int64), np.full(len(topics), np.nan)
    hits: list[Hits] = []
    found_topics: list[IntArray] = []
    unknown: dict[str, None] = {}
    rows = 0
    for part in found:
        if part is None or isinstance(part, int):
            return None
        topic, count, all_tied, hit_topic, rank, document, first, last, number, score, listed, strange, height = part
        numbers, lengths = _ints(topic), _ints(count)
        if counts[numbers].any():
            return None
        counts[numbers] = lengths
        tied[numbers] = np.frombuffer(all_tied)
        ranks = _ints(rank)
        firsts, lasts = (_ints(first), _ints(last)) if rules.policies.ties == "expected" else (ranks, ranks)
        names = _listed(numbers, lengths, listed, _ints(number), rules) if rules.documents else None
        scores = np.frombuffer(score) if rules.scores else None
        hits.append(Hits(_ints(hit_topic), ranks, _ints(document), firsts, lasts, tied[numbers], names, scores))
        found_topics.append(numbers)
        unknown |= dict.fromkeys(strange)
        rows += height
    if text and not rows:
        return None
    return Joined(counts, tied, hits, by_topic(found_topics, hits, counts), len(unknown), next(iter(unknown), None))


def _listed(
    topic: IntArray, lengths: IntArray, names: list[str], number: IntArray, rules: Rules
) -> ListedDocuments | None:
    most, _ = _wanted(rules)
    if not most:
        return None
    row, rank = first_ranks(topic, lengths, most)
    return ListedDocuments(row=row, rank=rank, doc_id=pl.Series("doc_id", names, dtype=pl.String), document=number)


def _ints(data: bytes) -> IntArray:
    return np.frombuffer(data, np.int64)
