"""Seeded resamples, a block at a time, each made again from the seed whatever its size; sums over what was drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.errors import GainfulError, check_count
from gainful.progress import track

FloatArray = NDArray[np.float64]

# Numbers in one block of an intermediate array: large enough for BLAS, small enough for the cache of a laptop.
BLOCK = 1 << 20
# Products of two numbers in one call, beyond which BLAS starts threads.
_UNTHREADED = 1 << 18
# More change no digit that is shown, and quantiles must hold all of them at once.
MOST = 10_000_000


@dataclass(frozen=True, slots=True)
class Blocks:
    """The sizes of the blocks that `total` things are worked off in, the last maybe smaller; not a list: many."""

    total: int
    size: int

    def __len__(self) -> int:
        return -(-self.total // self.size)

    def __iter__(self) -> Iterator[int]:
        return (min(self.size, self.total - at * self.size) for at in range(len(self)))


def block_sizes(total: int, width: int) -> Blocks:
    """The blocks that `total` resamples of `width` numbers each are worked off in."""
    return Blocks(total, max(1, min(total, BLOCK // max(1, width))))


def blocks(total: int, width: int, label: str) -> Iterator[int]:
    """The sizes of the blocks, with a progress bar."""
    sizes = block_sizes(total, width)
    yield from track(sizes, len(sizes), label)


def generator(seed: int) -> np.random.Generator:
    """The random numbers that a seed starts; numpy's own error for a bad one would be a traceback."""
    check_count("seed", seed, least=0)
    return np.random.default_rng(seed)


def bootstrap_counts(rng: np.random.Generator, number: int, n: int) -> FloatArray:
    """`number` resamples of `n` things with replacement, as how often each was drawn: number × n."""
    return counts_of(bootstrap_draws(rng, number, n))


def bootstrap_draws(rng: np.random.Generator, number: int, n: int) -> NDArray[np.unsignedinteger]:
    """`number` resamples of `n` things with replacement, as which were drawn, in few bytes: number × n."""
    return rng.integers(n, size=(number, n)).astype(np.min_scalar_type(n))


def counts_of(draws: NDArray[np.unsignedinteger]) -> FloatArray:
    """How often each thing was drawn."""
    number, n = draws.shape
    places = draws.astype(np.int64)
    places += np.arange(number)[:, None] * n
    return np.bincount(places.ravel(), minlength=number * n).reshape(number, n).astype(np.float64)


def sign_flips(rng: np.random.Generator, number: int, n: int) -> FloatArray:
    """`number` rows of `n` signs, each 1 or -1 with equal probability."""
    return rng.integers(2, size=(number, n)).astype(np.float64) * 2.0 - 1.0


def all_sign_flips(n: int, start: int = 0, stop: int | None = None) -> FloatArray:
    """All 2ⁿ rows of `n` signs, or those from `start` to before `stop`; the very first one flips nothing."""
    bits = (np.arange(start, 1 << n if stop is None else stop)[:, None] >> np.arange(n)) & 1
    return np.where(bits, -1.0, 1.0)


def check_resamples(resamples: int) -> None:
    """Refuse a number of resamples that gives no answer, or none in a lifetime."""
    check_count("resamples", resamples)
    if resamples > MOST:
        raise GainfulError(f"resamples: expected at most {MOST:,}, got {resamples:,}")


def exponents(largest: FloatArray) -> NDArray[np.int32]:
    """The powers of two, for `np.ldexp`, by which these come near 1; such a product is exact. 0 for a 0."""
    return -np.frexp(largest)[1]


def largest_of(rows: FloatArray) -> FloatArray:
    """The largest absolute value of each row."""
    return np.asarray(np.abs(rows).max(axis=1, initial=0.0), np.float64)


def weighted_sums(counts: FloatArray, values: FloatArray) -> FloatArray:
    """`counts` @ `values`.T, the same to the last bit on any number of threads, which BLAS alone does not give.

    Counts, … × n, are whole numbers of at least 0. The values, rows × n, are taken apart into whole numbers so small
    that all of their sums are exact; what is left after two such parts is less than a sum of floats could hold.

    >>> weighted_sums(np.array([[1.0, 2.0]]), np.array([[0.1, 0.2], [3.0, 4.0]])).tolist()
    [[0.5, 11.0]]
    """
    most = float(counts.sum(axis=-1).max(initial=1.0))
    bits = 53 - int(np.ceil(np.log2(max(2.0, most))))
    power = bits + exponents(largest_of(values))
    scaled = np.ldexp(values, power[:, None])
    high = np.rint(scaled)
    low = np.rint(np.ldexp(scaled - high, bits))
    total = np.ldexp(_product(counts, high.T), -power) + np.ldexp(_product(counts, low.T), -power - bits)
    return np.asarray(total, np.float64)


def _product(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """`rows` @ `columns`, in pieces too small for BLAS to start threads, which wait for each other in busy loops."""
    flat = rows.reshape(-1, rows.shape[-1])
    found = np.empty((len(flat), columns.shape[1]))
    step = max(1, _UNTHREADED // max(1, columns.size))
    for at in range(0, len(flat), step):
        np.matmul(flat[at : at + step], columns, out=found[at : at + step])
    return found.reshape(*rows.shape[:-1], columns.shape[1])
