"""Paired tests of all pairs of systems at once, on a matrix of systems × topics.

A pair (i, j) has differences z = y_i − y_j. All pairs share the same resamples, so that a resample is a matrix product.
Every test is two-sided and gives systems × systems, symmetric, with a diagonal of 1; with `against` one system, only
the pairs with that one are tested, and the result is its row of that matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from gainful.progress import Apply, here
from gainful.stats.choices import Correction, Test
from gainful.stats.correlation import mid_ranks
from gainful.stats.resample import (
    BLOCK,
    FloatArray,
    all_sign_flips,
    block_sizes,
    blocks,
    check_resamples,
    exponents,
    generator,
    largest_of,
    sign_flips,
)

IntArray = NDArray[np.int64]
Number = TypeVar("Number", np.float64, np.int64)

# Sums of the same numbers in another order differ by this much, relatively: still equal.
CLOSE = 1e-9
# Up to so many differences, all 2ⁿ sign flips are gone through; up to so many, there is a table without ties.
_ENUMERATED, _TABULATED = 13, 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Extremes:
    """Of how many resamples the statistic was at least as extreme as observed."""

    counts: IntArray  # systems × systems, or one row of that
    resamples: int
    exact: bool = False  # they were all there are, the observed one included, and not a random choice

    def share(self) -> FloatArray:
        """The share of the resamples: the achieved significance level; may be 0."""
        return self.counts / self.resamples

    def p(self) -> FloatArray:
        """The p-value: of a random choice (b + 1)/(m + 1), which is never 0 and never too small."""
        return self.share() if self.exact else (self.counts + 1) / (self.resamples + 1)


def pairs(systems: int, against: int | None = None) -> tuple[IntArray, IntArray]:
    """First and second system of each pair, i < j, in rows of the upper triangle; or all others and `against`."""
    if against is None:
        first, second = np.triu_indices(systems, k=1)
        return first, second
    others = np.delete(np.arange(systems), against)
    return others, np.full(systems - 1, against)


def square(values: NDArray[Number], systems: int, diagonal: float) -> NDArray[Number]:
    """Systems × systems from one value per pair, symmetric."""
    first, second = pairs(systems)
    full = np.full((systems, systems), diagonal, values.dtype)
    full[first, second] = full[second, first] = values
    return full


def differing_topics(scores: FloatArray) -> IntArray:
    """Of each pair, on how many topics more than rounding tells the two apart."""
    first, second = pairs(len(scores))
    noise = rounding(scores, first, second)[:, None]
    counts = np.empty(len(first), np.int64)
    for begin, end in parts_of(len(first), max(1, BLOCK // scores.shape[1])):
        difference = np.abs(scores[first[begin:end]] - scores[second[begin:end]])
        counts[begin:end] = (difference > noise[begin:end]).sum(axis=1)
    return counts


def parts_of(total: int, most: int) -> list[tuple[int, int]]:
    """Where parts of about the same size begin and end, none larger than `most`."""
    parts = -(-total // most)
    return [(total * at // parts, total * (at + 1) // parts) for at in range(parts)]


def t_test(scores: FloatArray, *, against: int | None = None) -> FloatArray:
    """Student's paired t-test; p = 1 where all differences are 0.

    Where they are all the same other number, they have no variance, and p is that of the exact `randomisation`.
    """
    first, second = pairs(len(scores), against)
    t = t_statistic(scores[first] - scores[second], rounding(scores, first, second))
    p = 2.0 * special.stdtr(scores.shape[1] - 1, -np.abs(t))
    p[np.isinf(t)] = sign_flip_p(scores.shape[1])
    return arranged(np.where(np.isnan(t), 1.0, p), len(scores), 1.0, against)


def sign_flip_p(n: int) -> float:
    """P of n equal differences, not 0, by the exact `randomisation`: 2^(1 − n), since all signs agree or do not."""
    return max(float(np.ldexp(1.0, 1 - n)), float(np.finfo(np.float64).smallest_subnormal))


def least_p(test: Test, topics: int, systems: int, resamples: int) -> float:
    """No p-value of a test can be smaller, whatever the scores; of the t-test any can.

    All signs alike are one of 2^(T − 1) cases. Of T^T bootstrap samples at least two, of one topic alone, have no
    variance and count as extreme. Tukey deals the same two scores of every topic to the same two systems.
    """
    with np.errstate(over="ignore"):
        cases = {
            "t": np.inf,
            "wilcoxon": np.ldexp(1.0, topics - 1),
            "randomisation": np.ldexp(1.0, topics - 1),
            "bootstrap": np.float64(topics) ** topics / 2.0,
            "tukey": np.float64(systems * (systems - 1.0)) ** (topics - 1),
        }[test]
    # All flips, if they are no more than the resamples, are exact, too; but then 1/cases is the larger anyway.
    return float(max(1.0 / cases, 0.0 if test in ("t", "wilcoxon") else 1.0 / (resamples + 1.0)))


def wilcoxon(scores: FloatArray, *, against: int | None = None) -> FloatArray:
    """Wilcoxon's signed-rank test, zero differences dropped.

    Exact where 13 or fewer differences are left, or 50 or fewer without ties; else by the normal distribution, with the
    variance that ties leave and no continuity correction. Each pair is decided on its own, which scipy's test of many
    pairs at once does not do: one tie in one pair makes all of its p-values approximate.
    """
    signed = signed_ranks(scores, *pairs(len(scores), against))
    ranks, number = np.abs(signed), np.count_nonzero(signed, axis=1)
    observed = np.abs(signed.sum(axis=1))
    squares = (ranks * ranks).sum(axis=1)
    p = 2.0 * special.ndtr(-observed / np.sqrt(np.maximum(squares, 1.0)))
    few = number <= _ENUMERATED
    p[few] = _enumerated(ranks[few], observed[few])
    untied = squares > number * (number + 1) * (2 * number + 1) / 6 - 0.25  # a tie of two ranks takes 0.5 away
    for n in np.unique(number[~few & untied & (number <= _TABULATED)]):
        rows = untied & (number == n)
        p[rows] = _signed_rank_tail(int(n))[np.round(observed[rows]).astype(np.int64)]
    return arranged(p, len(scores), 1.0, against)


def signed_ranks(scores: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Pairs × topics: the ranks of the differences by size, with their signs; 0 for no difference, which has no rank.

    The sign of their sum is the direction in which Wilcoxon's test finds a difference; the mean may have the other one.
    """
    z, noise = scaled(scores[first] - scores[second], rounding(scores, first, second))
    size = np.abs(z)
    size[size <= noise[:, None]] = 0.0
    # Differences that only rounding tells apart are tied.
    unit = np.maximum(noise * 100.0, np.finfo(np.float64).tiny)
    steps = np.where(size > 0.0, np.maximum(np.round(size / unit[:, None]), 1.0), 0.0)
    ranks = mid_ranks(-steps) - np.count_nonzero(size == 0.0, axis=1)[:, None]
    return np.where(size > 0.0, np.sign(z) * ranks, 0.0)


def randomisation(
    scores: FloatArray, *, resamples: int, seed: int, against: int | None = None, apply: Apply = here
) -> Extremes:
    """Sign-flip randomisation: each topic's two scores change places with probability 1/2; the statistic is |mean|.

    All 2ᵀ flips are taken instead where they are no more than `resamples`.
    """
    check_resamples(resamples)
    systems, topics = scores.shape
    first, second = pairs(systems, against)
    observed = np.abs(scores.sum(axis=1)[first] - scores.sum(axis=1)[second])
    limit = observed * (1.0 - CLOSE) - topics * rounding(scores, first, second)
    exact = topics < 60 and 1 << topics <= resamples
    total = 1 << topics if exact else resamples
    sizes = block_sizes(total, max(len(first), topics))
    flips: Iterable[_Flips]
    if exact:
        flips = ((at * sizes.size, at * sizes.size + size) for at, size in enumerate(sizes))
    else:
        rng = generator(seed)
        flips = (sign_flips(rng, size, topics).astype(np.int8) for size in sizes)
    counts = np.zeros(len(first), np.int64)
    for found in apply(_flipped, flips, shared=(scores, first, second, limit), total=len(sizes), label="Randomising"):
        counts += found
    return Extremes(counts=arranged(counts, systems, total, against), resamples=total, exact=exact)


# Signs, or which of all rows of signs there are.
_Flips: TypeAlias = "NDArray[np.int8] | tuple[int, int]"


def _flipped(shared: tuple[FloatArray, IntArray, IntArray, FloatArray], flips: _Flips) -> IntArray:
    """Per pair, how often the difference of the sums reaches its limit."""
    scores, first, second, limit = shared
    signs = all_sign_flips(scores.shape[1], *flips) if isinstance(flips, tuple) else flips.astype(np.float64)
    sums = signs @ scores.T
    return np.asarray((np.abs(sums[:, first] - sums[:, second]) >= limit).sum(axis=0))


def tukey_hsd(scores: FloatArray, *, resamples: int, seed: int, against: int | None = None) -> Extremes:
    """Randomised Tukey HSD (Carterette 2012): the scores of each topic are dealt to the systems anew.

    A pair counts where the largest difference of any two means reaches its own, which corrects for all pairs at once,
    those that are not asked for included.
    """
    check_resamples(resamples)
    systems, topics = scores.shape
    first, second = pairs(systems, against)
    sums = scores.sum(axis=1)
    # Dealt anew, the scores of all systems take part in every sum, and so does their rounding.
    noise = topics * float(rounding(scores, first, second).max(initial=0.0))
    limit = np.abs(sums[first] - sums[second]) * (1.0 - CLOSE) - noise
    rng = generator(seed)
    ranges = []
    for size in blocks(resamples, systems * topics, "Randomising"):
        dealt = rng.permuted(np.broadcast_to(scores, (size, systems, topics)), axis=1).sum(axis=2)
        ranges.append(dealt.max(axis=1) - dealt.min(axis=1))
    sorted_ranges = np.sort(np.concatenate(ranges))
    counts = resamples - np.searchsorted(sorted_ranges, limit, side="left")
    return Extremes(counts=arranged(counts, systems, resamples, against), resamples=resamples)


def tukey_all(
    matrices: Sequence[FloatArray], *, resamples: int, seed: int, against: int | None = None, apply: Apply = here
) -> list[Extremes]:
    """`tukey_hsd` of several matrices, each as a whole: dealing the scores is the work, and one stream of numbers."""
    shared = (resamples, seed, against)
    return list(apply(_tukey, matrices, shared=shared, total=len(matrices), label="Randomising"))


def _tukey(shared: tuple[int, int, int | None], scores: FloatArray) -> Extremes:
    resamples, seed, against = shared
    return tukey_hsd(scores, resamples=resamples, seed=seed, against=against)


def t_statistic(z: FloatArray, noise: FloatArray) -> FloatArray:
    """Mean over its standard error; NaN where all differences are 0, infinite where they are equal and not 0."""
    n = z.shape[1]
    z, noise = scaled(z, noise)
    mean = z.mean(axis=1)
    spread = ((z - mean[:, None]) ** 2).sum(axis=1)
    mean[np.abs(mean) <= noise] = 0.0
    spread[spread <= n * noise * noise] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(mean / np.sqrt(spread / (n - 1) / n))


def rounding(scores: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Of each pair, what rounding alone can make of a difference that is 0, of single scores and of their means."""
    largest = largest_of(scores) * 1e-14
    return np.maximum(largest[first], largest[second])


def scaled(z: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The differences of each pair and what rounding makes of them, near 1."""
    power = exponents(np.maximum(largest_of(z), noise))
    return np.ldexp(z, power[:, None]), np.ldexp(noise, power)


def _enumerated(ranks: FloatArray, observed: FloatArray) -> FloatArray:
    """The share of all sign flips whose |sum of signed ranks| reaches the observed; rows have ≤ 13 ranks above 0."""
    ranks = -np.sort(-ranks, axis=1)[:, :_ENUMERATED]
    n = ranks.shape[1]
    counts, done = np.zeros(len(ranks), np.int64), 0
    for size in blocks(1 << n, len(ranks), "Ranking"):
        sums = np.abs(all_sign_flips(n, done, done + size) @ ranks.T)
        counts += (sums >= observed - 0.25).sum(axis=0)  # sums of ranks are multiples of 1/2
        done += size
    return np.asarray(counts / (1 << n))


def _signed_rank_tail(n: int) -> FloatArray:
    """P(|sum of the signed ranks 1 … n| ≥ w) for w = 0 … n(n + 1)/2, where there is no tie."""
    largest = n * (n + 1) // 2
    ways = np.ones(1)  # by the sum of the positive ranks, each way with its probability
    for rank in range(1, n + 1):
        ways = (np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))) / 2.0
    sums = np.abs(2 * np.arange(largest + 1) - largest)
    by_size = np.bincount(sums, weights=ways, minlength=largest + 1)
    return np.minimum(np.cumsum(by_size[::-1])[::-1], 1.0)


def arranged(values: NDArray[Number], systems: int, diagonal: float, against: int | None) -> NDArray[Number]:
    """One value per pair as a result has it: systems × systems, or one row of that."""
    return square(values, systems, diagonal) if against is None else np.insert(values, against, diagonal)


def corrected(p: ArrayLike, method: Correction) -> FloatArray:
    """What p-values become (the last axis is the family) to be compared with one level; never less than they were.

    ``bonferroni``: m·p. ``holm``: (m − i + 1)·p of the i-th smallest, and no less than for a smaller p. Both keep the
    chance of any false finding below the level. ``bh`` (Benjamini and Hochberg): m·p/i, and no more than for a larger
    p; keeps the expected share of false ones among the findings below it. ``none``: p.
    """
    values = np.asarray(p, np.float64)
    m = values.shape[-1]
    if method == "none" or m == 0:
        return values.copy()
    if method == "bonferroni":
        return np.asarray(np.minimum(values * m, 1.0))
    order = np.argsort(values, axis=-1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=-1)
    place = np.arange(1, m + 1)
    if method == "holm":
        ascending = np.maximum.accumulate(ascending * (m - place + 1), axis=-1)
    else:
        ascending = np.minimum.accumulate((ascending * (m / place))[..., ::-1], axis=-1)[..., ::-1]
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.minimum(ascending, 1.0), axis=-1)
    return result
