"""A run that is too large to hold, as parts that can be joined with the judgments one by one: whole topics each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from gainful import _polars as pl
from gainful.data.pool import Pool, runs_of_equal, topic_numbers
from gainful.data.run import LargeRun
from gainful.data.spill import Spill

# Bytes of text in one bin of a run whose topics are scattered.
BIN = 1 << 26
_MOST_BINS = 1 << 10
# Rows that are worth a place of their own on the disk.
_BLOCK = 1 << 9


class TopicsWithoutJudgments:
    """Which topics of a run have no judgments: each is kept once, whatever is kept of its documents."""

    def __init__(self) -> None:
        self.first: str | None = None
        self._known = pl.Series(dtype=pl.String)
        self._new: list[pl.Series] = []
        self._waiting = 0

    def add(self, topics: pl.Series) -> None:
        """Topics that may have been added before."""
        if len(topics):
            self.first = topics[0] if self.first is None else self.first
            self._new.append(topics.unique())
            self._waiting += len(self._new[-1])
        # Seldom enough that all of it costs no more than sorting out as many topics once or twice.
        if self._waiting > len(self._known) + 1000:
            self._settle()

    def __len__(self) -> int:
        self._settle()
        return len(self._known)

    def _settle(self) -> None:
        if not self._new:
            return
        self._known = pl.concat([self._known, *self._new]).unique()
        self._new, self._waiting = [], 0


def whole_topics(chunks: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in the same order, cut between topics only: the last topic of a chunk waits for the next chunk."""
    held: list[pl.DataFrame] = []
    waiting = None
    for chunk in chunks:
        if chunk.is_empty():
            continue
        topic = chunk["query_id"]
        last = topic[-1]
        others = np.flatnonzero((topic != last).to_numpy())
        begin = int(others[-1]) + 1 if len(others) else 0
        if begin or last != waiting:
            if begin:
                held.append(chunk[:begin])
            if held:
                yield pl.concat(held, rechunk=True)
            held = []
        held.append(chunk[begin:] if begin else chunk)
        waiting = last
    if held:
        yield pl.concat(held, rechunk=True)


def gathered(run: LargeRun, pool: Pool, unknown: TopicsWithoutJudgments) -> Iterator[pl.DataFrame]:
    """The judged topics of a run that scatters them: brought together on disk, some at a time, rows in order."""
    bins = min(run.size // BIN + 1, _MOST_BINS)
    spill = Spill(f"run {run.name!r} does not list its topics one after another and is sorted on disk")
    for chunk in _at_least(bins * _BLOCK, run.chunks()):
        values, start = runs_of_equal(chunk["query_id"])
        topic = topic_numbers(values, pool.codes)
        unknown.add(values.filter(pl.Series(topic < 0)))
        at = np.repeat(np.where(topic < 0, -1, topic % bins), np.diff(start))
        order = np.argsort(at, kind="stable")
        edges = np.searchsorted(at[order], np.arange(bins + 1))
        for number, (begin, end) in enumerate(pairwise(edges.tolist())):
            if begin < end:
                spill.add(number, chunk[order[begin:end]])
    for name in spill.bins:
        yield pl.concat(spill.read(name), rechunk=True)


def _at_least(rows: int, chunks: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Chunks of so many rows or more, but for the last."""
    held: list[pl.DataFrame] = []
    height = 0
    for chunk in chunks:
        held.append(chunk)
        height += chunk.height
        if height >= rows:
            yield pl.concat(held, rechunk=True)
            held, height = [], 0
    if height:
        yield pl.concat(held, rechunk=True)
