"""The paired bootstrap of all pairs of systems at once, as a stack of small matrix products."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gainful.progress import Apply, here
from gainful.stats.choices import Variant
from gainful.stats.paired import CLOSE, Extremes, IntArray, arranged, pairs, parts_of, rounding, scaled, t_statistic
from gainful.stats.resample import (
    BLOCK,
    FloatArray,
    block_sizes,
    bootstrap_draws,
    check_resamples,
    counts_of,
    generator,
)

WithoutVariance = Literal["infinite", "zero"]

# Pairs whose resamples are one piece of work, and numbers of a resample that make a block of some hundreds of them.
_PAIRS, _LEAST = 1 << 13, 1 << 10
# Of these, the resamples and the pairs that stay in the cache of a core; so few resamples are counted in a byte.
_COUNTED, _CACHED = 250, 512
# They are multiplied as a stack of small matrices: beyond so many products BLAS starts threads, which cost more than
# they save where the cores have other work.
_ROWS, _COLUMNS, _UNTHREADED = 50, 64, 1 << 18


def bootstrap(
    scores: FloatArray,
    *,
    variant: Variant = "studentized",
    without_variance: WithoutVariance = "infinite",
    resamples: int,
    seed: int,
    against: int | None = None,
    apply: Apply = here,
) -> Extremes:
    """Paired bootstrap (Sakai 2006): topics are drawn with replacement, the same for all pairs.

    ``studentized``: |t(w*)| ≥ |t(z)| for w = z − z̄; ``shifted``: |w̄*| ≥ |z̄|; ``sign``: z̄* is 0 or has the other sign
    than z̄. The t of a resample whose values are all the same is ``infinite`` unless they are all 0, so that a test errs
    no more often than its level says; or ``zero``, by which any two topics that differ, and sparse differences often,
    would be significant.
    """
    check_resamples(resamples)
    systems, topics = scores.shape
    first, second = pairs(systems, against)
    rng = generator(seed)
    sizes, ends = block_sizes(resamples, max(_LEAST, topics)), parts_of(len(first), _PAIRS)
    draws = (bootstrap_draws(rng, size, topics) for size in sizes)
    items = ((drawn, *end) for drawn in draws for end in ends)
    shared = _Resampled(variant=variant, without_variance=without_variance, scores=scores, first=first, second=second)
    found = apply(_Resampled.extreme, items, shared=shared, total=len(sizes) * len(ends), label="Resampling")
    counts = np.zeros(len(first), np.int64)
    for (begin, end), extreme in zip(cycle(ends), found, strict=False):
        counts[begin:end] += extreme
    return Extremes(counts=arranged(counts, systems, resamples, against), resamples=resamples)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Resampled:
    """What the resamples of all pairs share."""

    variant: Variant
    without_variance: WithoutVariance
    scores: FloatArray
    # The systems of each pair.
    first: IntArray
    second: IntArray

    def extreme(self, item: tuple[NDArray[np.unsignedinteger], int, int]) -> IntArray:
        """Per pair from a first to before a last, in how many of the resamples drawn it is as extreme as observed."""
        draws, begin, end = item
        topics = draws.shape[1]
        rows = max(1, min(_ROWS, _UNTHREADED // (_COLUMNS * topics)))
        drawn = [
            stack
            for at in range(0, len(draws), _COUNTED // rows * rows)
            for stack in _stacked(counts_of(draws[at : at + _COUNTED // rows * rows]), rows)
        ]
        held = max(1, min(_CACHED, BLOCK // topics))
        parts = [(begin + first, begin + last) for first, last in parts_of(end - begin, held)]
        # Used again and again: to get memory from the system takes longer than what is computed in it.
        room = np.empty((3, _COUNTED * (held + _COLUMNS)))
        return np.concatenate([self._shifted(*part).extreme(drawn, room) for part in parts])

    def _shifted(self, begin: int, end: int) -> _Shifted:
        first, second = self.first[begin:end], self.second[begin:end]
        z, noise = scaled(self.scores[first] - self.scores[second], rounding(self.scores, first, second))
        topics = z.shape[1]
        mean = z.mean(axis=1)
        mean[np.abs(mean) <= noise] = 0.0
        w = z - mean[:, None]
        w[np.abs(w) <= noise[:, None]] = 0.0
        observed = np.abs(t_statistic(z, noise))
        # |t*| ≥ |t| without roots and quotients: w̄*²·n(n − 1) ≥ t²·(Σw*² − n·w̄*²).
        limit = np.minimum(np.nan_to_num(observed * (1.0 - CLOSE), nan=0.0), 1e150) ** 2 / (topics * (topics - 1.0))
        return _Shifted(
            variant=self.variant,
            least=noise if self.without_variance == "infinite" else None,
            mean=mean,
            noise=noise,
            limit=limit,
            shares=_columns(w / topics),
            squares=_columns(w * w),
        )


def _stacked(rows: FloatArray, height: int) -> Iterator[FloatArray]:
    """Matrices of `height` rows each, and one of those that are left over."""
    whole = len(rows) // height * height
    if whole:
        yield rows[:whole].reshape(-1, 1, height, rows.shape[1])
    if whole < len(rows):
        yield rows[None, None, whole:]


def _columns(rows: FloatArray) -> FloatArray:
    """Matrices with `_COLUMNS` of the rows as their columns each, the last filled up with zeros."""
    filled = np.zeros((-(-len(rows) // _COLUMNS) * _COLUMNS, rows.shape[1]))
    filled[: len(rows)] = rows
    return np.ascontiguousarray(filled.reshape(-1, _COLUMNS, rows.shape[1]).transpose(0, 2, 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shifted:
    """Differences shifted to a mean of 0, and what their resamples are held against.

    One entry per pair; as matrices of `_COLUMNS` pairs each where that is said.
    """

    variant: Variant
    least: FloatArray | None  # beyond what mean a t without variance is infinite; None for never
    mean: FloatArray
    noise: FloatArray
    limit: FloatArray
    # Matrices of topics × pairs: what each topic adds to the mean, and to the sum of squares.
    shares: FloatArray
    squares: FloatArray

    def extreme(self, drawn: Sequence[FloatArray], room: FloatArray) -> IntArray:
        """Per pair, in how many of the resamples (matrices of rows × topics) it is at least as extreme as observed."""
        counts = np.zeros(len(self.shares) * _COLUMNS, np.int64)
        for rows in drawn:
            shape = (len(rows), len(self.shares), rows.shape[2], _COLUMNS)
            extreme = self._extreme(rows, room[:, : math.prod(shape)].reshape(3, *shape)).view(np.uint8)
            # Adding up bytes is quick, and no more rows are added than a byte can count.
            counts += extreme.sum(axis=2, dtype=np.uint8).sum(axis=0, dtype=np.uint8).ravel()
        return counts[: len(self.mean)]

    def _extreme(self, drawn: FloatArray, room: FloatArray) -> NDArray[np.bool_]:
        shifted = np.matmul(drawn, self.shares, out=room[0])
        match self.variant:
            case "sign":
                mean, noise = _rows(self.mean), _rows(self.noise)
                return np.asarray((shifted + mean) * np.sign(mean) <= noise, np.bool_)
            case "shifted":
                limit = np.abs(self.mean) * (1.0 - CLOSE) - self.noise
                return np.asarray(np.abs(shifted) >= _rows(limit), np.bool_)
            case _:
                least = None if self.least is None else _rows(self.least)
                np.matmul(drawn, self.squares, out=room[1])
                return _as_large_t(room, _rows(self.limit), drawn.shape[-1], least)


def _rows(values: FloatArray) -> FloatArray:
    """One value per pair, as the matrices of `_columns` have them."""
    return _columns(values[:, None])


def _as_large_t(room: FloatArray, limit: FloatArray, n: int, least: FloatArray | None) -> NDArray[np.bool_]:
    """Whether the t of a resample reaches the limit; `room` has its mean and Σw², and is written over.

    Without variance it is infinite where the mean exceeds `least`, if that is given, else 0.
    """
    mean, squares, spread = room
    beyond = None if least is None else np.abs(mean, out=spread) > least
    np.multiply(mean, mean, out=mean)
    np.subtract(squares, np.multiply(mean, n, out=spread), out=spread)
    squares *= CLOSE
    constant = spread <= squares
    spread *= limit
    reached: NDArray[np.bool_] = mean >= spread
    if constant.any():
        infinite = limit == 0.0 if beyond is None else beyond | (limit == 0.0)
        np.copyto(reached, infinite, where=constant)
    return reached
