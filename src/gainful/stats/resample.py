"""Seeded resamples, a block at a time: every block can be made again from the seed, whatever the block size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gainful.errors import GainfulError
from gainful.progress import track

FloatArray = NDArray[np.float64]

# Numbers in one block of an intermediate array: large enough for BLAS, small enough for the cache of a laptop.
BLOCK = 1 << 22


def blocks(total: int, width: int, label: str) -> Iterator[int]:
    """The sizes of the blocks that `total` resamples of `width` numbers each are worked off in."""
    size = max(1, min(total, BLOCK // max(1, width)))
    sizes = [size] * (total // size) + ([total % size] if total % size else [])
    yield from track(sizes, len(sizes), label)


def bootstrap_counts(rng: np.random.Generator, number: int, n: int) -> FloatArray:
    """`number` resamples of `n` things with replacement, as how often each was drawn: number × n."""
    drawn = rng.integers(n, size=(number, n))
    drawn += np.arange(number)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=number * n).reshape(number, n).astype(np.float64)


def sign_flips(rng: np.random.Generator, number: int, n: int) -> FloatArray:
    """`number` rows of `n` signs, each 1 or -1 with equal probability."""
    return rng.integers(2, size=(number, n)).astype(np.float64) * 2.0 - 1.0


def all_sign_flips(n: int) -> FloatArray:
    """All 2ⁿ rows of `n` signs; the first one flips nothing."""
    bits = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    return np.where(bits, -1.0, 1.0)


def check_resamples(resamples: int, *, least: int = 1) -> None:
    """Refuse a number of resamples that gives no answer."""
    if resamples < least:
        raise GainfulError(f"resamples: expected at least {least}, got {resamples}")
