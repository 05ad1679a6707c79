"""LambdaRank's gradients on features: the pairs that count, some queries at a time.

A pair counts if one of the two is within the cutoff: elsewhere, changing places changes nothing. Documents of one query
that share score and gain act alike, so those within the cutoff are put together in cells, and each cell meets all
documents of its query. Early rounds, in which thousands share a score, thus cost no more than late ones.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gainful.ltrf.targets import FloatArray, IntArray, discounts, pair_weight, running, sigmoid, tied

# Numbers of one array that are computed at once: few enough for the cache of a core.
_AT_ONCE = 1 << 16


class _Block(NamedTuple):
    """Queries of similar length, padded: queries × documents."""

    rows: IntArray  # where a document stands among all
    mask: NDArray[np.bool_]
    gain: FloatArray
    spread: FloatArray  # per query, the distance between its best and its worst list


class Pairs:
    """The pairs of fixed documents, those of a query side by side, as a function of their scores.

    Queries in which nothing can change, as all gains are equal, are left out. Any number of threads gives the same
    numbers.
    """

    def __init__(self, gain: FloatArray, sizes: IntArray, *, cutoff: int | None, threads: int = 1) -> None:
        longest = int(sizes.max(initial=0))
        self._cutoff, self._threads = min(cutoff or longest, longest), threads
        self._tables = running(longest, cutoff)
        self._discount = discounts(longest, cutoff)
        self._number = len(gain)
        self._blocks = [block for block in self._padded(gain, sizes) if len(block.rows)]

    def __call__(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and diagonal of the Hessian of the sum over all queries."""
        gradient, hessian = np.zeros(self._number), np.zeros(self._number)

        def add(block: _Block) -> None:
            at = block.rows[block.mask]
            slope, curve = self._slopes(block, np.where(block.mask, scores[block.rows], -np.inf))
            gradient[at], hessian[at] = slope[block.mask], curve[block.mask]

        _each(add, self._blocks, self._threads)
        return gradient, hessian

    def _padded(self, gain: FloatArray, sizes: IntArray) -> list[_Block]:
        order = np.argsort(sizes, kind="stable")
        order = order[sizes[order] > 1]
        starts = np.cumsum(sizes) - sizes
        width = np.maximum(sizes[order] * max(1, self._cutoff), 1)
        edges = np.flatnonzero(np.diff(np.cumsum(width) // _AT_ONCE, prepend=-1))
        return [self._block(gain, starts[some], sizes[some]) for some in np.split(order, edges[1:]) if len(some)]

    def _block(self, gain: FloatArray, starts: IntArray, sizes: IntArray) -> _Block:
        place = np.arange(int(sizes.max()))
        mask = place < sizes[:, None]
        rows = np.where(mask, starts[:, None] + place, 0)
        padded = np.where(mask, gain[rows], 0.0)
        discount = self._discount[: len(place)]
        falling = np.sort(padded, axis=1)
        spread = np.maximum(falling[:, ::-1], 0.0) @ discount - np.minimum(falling, 0.0) @ discount
        varied = (spread > 0) & (np.ptp(np.where(mask, padded, padded[:, :1]), axis=1) > 0)
        return _Block(rows[varied], mask[varied], padded[varied], spread[varied])

    def _slopes(self, block: _Block, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both, queries × documents; padding scores -∞."""
        top = block.mask
        if self._cutoff < scores.shape[1]:
            top = top & (scores >= -np.partition(-scores, self._cutoff - 1, axis=1)[:, self._cutoff - 1, None])
        query, place = np.nonzero(top)
        order = np.lexsort((block.gain[top], -scores[top], query))
        query, place = query[order], place[order]
        score, gain = scores[query, place], block.gain[query, place]
        new_query = np.diff(query, prepend=-1) != 0
        new_score = new_query | (np.diff(score, prepend=np.nan) != 0)
        new_cell = new_score | (np.diff(gain, prepend=np.nan) != 0)
        # Documents of one score share their ranks, from `first`.
        count = np.arange(len(query))
        begins = np.flatnonzero(new_score)
        first = (count - np.maximum.accumulate(np.where(new_query, count, 0)))[begins]
        shared = tied(first, _lengths(begins, len(query)), *self._tables)
        at, within = (each[np.cumsum(new_score) - 1] for each in shared)
        discount = np.zeros(scores.shape)
        discount[query, place] = at
        starts = np.flatnonzero(new_cell)
        counts = _lengths(starts, len(query))
        found, own = np.zeros((2, *scores.shape)), np.zeros((2, len(starts)))
        step = max(1, _AT_ONCE // scores.shape[1])
        for begin in range(0, len(starts), step):
            some = slice(begin, begin + step)
            of, cell = query[starts[some]], starts[some]
            ahead = scores[of] - score[cell, None]
            apart = np.where(ahead == 0.0, within[cell, None], np.abs(discount[of] - at[cell, None]))
            weight = pair_weight(block.gain[of], gain[cell, None], apart, block.spread[of, None]) * block.mask[of]
            chance = sigmoid(ahead)
            both = np.stack([weight * (chance - (block.gain[of] > gain[cell, None])), weight * chance * (1.0 - chance)])
            # What a cell owes to documents within the cutoff, they owe to it: those meet it as cells of their own.
            own[:, some] = np.einsum("scd,cd->sc", both, ~top[of])
            parts = np.flatnonzero(np.diff(of, prepend=-1))
            found[:, of[parts]] += np.add.reduceat(both * counts[some, None], parts, axis=1)
        own[0] *= -1.0
        found[:, query, place] += np.repeat(own, counts, axis=1)
        return found[0], found[1]


def _lengths(starts: IntArray, end: int) -> IntArray:
    return np.diff(starts, append=end)


def _each(function: Callable[[_Block], None], blocks: list[_Block], threads: int) -> None:
    if threads == 1:
        for block in blocks:
            function(block)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(function, blocks))
