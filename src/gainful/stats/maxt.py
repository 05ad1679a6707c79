"""Means of rows that share their columns, all pairs at once: which differences hold together, and which row is best.

The deviations of each column from the means get a random sign, the same for all rows (wild bootstrap). How large the
largest t of many pairs becomes in this way (max-t) is what differences must exceed to hold all at the same time. On
columns drawn with replacement, the same for all rows, it is counted which row is best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from gainful.stats.paired import IntArray, sign_flip_p
from gainful.stats.resample import (
    FloatArray,
    block_sizes,
    check_resamples,
    exponents,
    generator,
    largest_of,
    sign_flips,
    weighted_sums,
)
from gainful.stats.strata import Strata

# More resamples than this change no place and no digit of a critical value that is shown; of many rows fewer do.
_MOST, _LEAST = 10_000, 1000
_PAIRS = 300_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaxT:
    """What holds for all pairs, and for all pairs with one row, at a confidence."""

    mean: FloatArray
    # Rows × rows: half the width of the intervals of all differences, which hold together; and of those of each row.
    all_pairs: FloatArray
    of_row: FloatArray
    best: FloatArray  # of each row, the share of the resamples in which its mean is the highest; ties share
    optimism: float  # how much the highest mean is too high because it was chosen as the highest

    def places(self) -> tuple[IntArray, IntArray]:
        """Of each row the best and the worst place it may have: the interval of each row by itself.

        A row that is shown to be below k others has at best place k + 1 (Mogstad et al. 2024).
        """
        difference = self.mean[:, None] - self.mean
        below, above = (difference < -self.of_row).sum(axis=1), (difference > self.of_row).sum(axis=1)
        return 1 + below, len(self.mean) - above


def max_t(values: FloatArray, *, strata: Strata | None = None, confidence: float, resamples: int, seed: int) -> MaxT:
    """Compare all rows with each other; higher is better."""
    check_resamples(resamples)
    rows, n = values.shape
    number = min(resamples, _MOST, max(_LEAST, _PAIRS // (rows * rows)))
    power = exponents(largest_of(values).max(keepdims=True))
    values = np.ldexp(values, power)
    strata = Strata.one(n) if strata is None else strata
    rounding = float(np.abs(values).max(initial=0.0)) * 1e-14
    mean, deviations = strata.mean(values), strata.centred(values)
    deviations[np.abs(deviations) <= rounding * strata.weights()] = 0.0
    plain, error, df = _errors(deviations, strata)
    inverse = np.divide(1.0, plain, out=np.zeros_like(plain), where=plain > 0.0)
    likely, larger = _likely(mean, error), np.sqrt(_ratio(error, plain))
    highest, either = np.empty(number), np.empty((rows, number))
    best, luck = np.empty((rows, number)), np.empty(number)
    generator(seed)  # refuses a bad one
    streams, signs, done = strata.streams(seed), np.random.default_rng([seed, len(strata.names)]), 0
    for size in block_sizes(number, max(rows, n) * 8):
        part = slice(done, done + size)
        # Σ±w, the same to the last bit on any machine: twice what has a plus, less all.
        plus = weighted_sums((sign_flips(signs, size, n) + 1.0) / 2.0, deviations).T
        flipped = 2.0 * plus - deviations.sum(axis=1)[:, None]
        for at in range(rows):
            u = flipped[at] - flipped
            u *= inverse[at][:, None]
            np.abs(u, out=u)
            u.max(axis=0, out=either[at, part])
        either[:, part].max(axis=0, out=highest[part])
        noise = weighted_sums(strata.counts(streams, size), deviations).T
        means = mean[:, None] + noise
        first = means >= means.max(axis=0) - rounding
        best[:, part] = first / first.sum(axis=0)
        noise = noise * larger
        luck[part] = noise[np.argmax(likely[:, None] + noise, axis=0), np.arange(size)]
        done += size
    same = (plain == 0.0) & (np.abs(mean[:, None] - mean) <= rounding)
    groups = strata.group_means(values)
    other = np.ptp(groups[:, None] - groups, axis=2) > 100.0 * rounding
    found = []
    for drawn, family in ((highest[None], rows * (rows - 1) // 2), (either, rows - 1)):
        critical = _critical(_quantile(drawn, confidence)[:, None], df, n, 1.0 - confidence, family)
        # What never varies is shown by an exact test of signs alone, or not at all: nor where groups differ.
        never = np.where(other | (sign_flip_p(n) * family >= 1.0 - confidence), np.inf, 0.0)
        found.append(np.where(plain > 0.0, error * critical, np.where(same & ~other, 0.0, never)))
    mean, all_pairs, of_row, luck = (np.ldexp(one, -power) for one in (mean, *found, luck))
    return MaxT(mean=mean, all_pairs=all_pairs, of_row=of_row, best=best.mean(axis=1), optimism=float(luck.mean()))


def _errors(deviations: FloatArray, strata: Strata) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows × rows, of the difference of two means: the root of its sum of squares, its standard error, and the df.

    What is mere rounding is 0.
    """
    plain, error, below = (np.zeros((len(deviations), len(deviations))) for _ in range(3))
    for columns, size in zip(strata.members(), strata.sizes().tolist(), strict=True):
        # Not by BLAS, whose last digits depend on the machine.
        products = np.einsum("ik,jk->ij", deviations[:, columns], deviations[:, columns])
        own = products.diagonal()
        squares = own[:, None] + own - 2.0 * products
        squares[squares <= 1e-13 * (own[:, None] + own)] = 0.0
        plain += squares
        squares *= size / (size - 1.0)
        error += squares
        below += squares**2 / (size - 1.0)
    df = np.divide(error**2, below, out=np.ones_like(error), where=below > 0.0)
    return np.sqrt(plain), np.sqrt(error), df


def _likely(mean: FloatArray, error: FloatArray) -> FloatArray:
    """Means as far apart as the true ones are likely to be: those of a sample are further apart by chance."""
    spread = (mean[:, None] - mean) ** 2
    kept = np.sqrt(max(0.0, 1.0 - _ratio(error, np.sqrt(spread)))) if spread.any() else 0.0
    return np.asarray(mean.mean() + kept * (mean - mean.mean()), np.float64)


def _ratio(above: FloatArray, below: FloatArray) -> float:
    """Of two sums of squares."""
    total = float((below**2).sum())
    return float((above**2).sum()) / total if total else 1.0


def _critical(u: FloatArray, df: FloatArray, n: int, alpha: float, family: int) -> FloatArray:
    """The t that belongs to the largest u = Σ±w/√Σw²; never less than that of one pair by itself.

    t = u·√(df/(df + 1 − u²)), since signs leave the sum of squares as it is. Where all signs of a few columns are not
    rare enough, Bonferroni's value is taken; and where it is lower in groups, whose df only estimate the variance that
    signs leave.
    """
    bonferroni = -special.stdtrit(df, alpha / family / 2.0)
    t = u * np.sqrt(df / np.maximum(df + 1.0 - u * u, 1e-9))
    t = np.maximum(t, -special.stdtrit(df, alpha / 2.0))
    t = np.where(df < n - 1.5, np.minimum(t, bonferroni), t)
    return np.asarray(np.where(np.exp2(-df) >= alpha, bonferroni, t), np.float64)


def _quantile(drawn: FloatArray, confidence: float) -> FloatArray:
    """Of each row, the order statistic that so large a share of further draws stays below."""
    number = drawn.shape[1]
    at = min(number, int(np.ceil((number + 1) * confidence))) - 1
    return np.asarray(np.partition(drawn, at, axis=1)[:, at], np.float64)
