"""Paired tests of all pairs of systems at once, on a matrix of systems × topics.

A pair (i, j) has differences z = y_i − y_j. All pairs share the same resamples, so that a resample is a matrix product.
Every test is two-sided and gives systems × systems, symmetric, with a diagonal of 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from gainful.stats.resample import FloatArray, all_sign_flips, blocks, bootstrap_counts, check_resamples, sign_flips

IntArray = NDArray[np.int64]
Variant = Literal["studentized", "shifted", "sign"]

# Sums of the same numbers in another order differ by this much, relatively: still equal.
CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Extremes:
    """Of how many resamples the statistic was at least as extreme as observed.

    Parameters
    ----------
    counts
        Systems × systems.
    resamples
        How many there were.
    exact
        Whether they were all there are, the observed one included, and not a random choice.
    """

    counts: IntArray
    resamples: int
    exact: bool = False

    def share(self) -> FloatArray:
        """The share of the resamples: the achieved significance level; may be 0."""
        return self.counts / self.resamples

    def p(self) -> FloatArray:
        """The p-value: of a random choice (b + 1)/(m + 1), which is never 0 and never too small."""
        return self.share() if self.exact else (self.counts + 1) / (self.resamples + 1)


def pairs(systems: int) -> tuple[IntArray, IntArray]:
    """First and second system of each pair, i < j, in rows of the upper triangle."""
    first, second = np.triu_indices(systems, k=1)
    return first, second


def square(values: NDArray[np.generic], systems: int, diagonal: float) -> NDArray[np.generic]:
    """Systems × systems from one value a pair, symmetric."""
    first, second = pairs(systems)
    full = np.full((systems, systems), diagonal, values.dtype)
    full[first, second] = full[second, first] = values
    return full


def t_test(scores: FloatArray) -> FloatArray:
    """Student's paired t-test; p = 1 where all differences are 0, 0 where they are all the same other number."""
    first, second = pairs(len(scores))
    t = _observed_t(scores[first] - scores[second], _noise(scores))
    p = 2.0 * stats.t.sf(np.abs(t), scores.shape[1] - 1)
    return np.asarray(square(np.where(np.isnan(t), 1.0, p), len(scores), 1.0), np.float64)


def wilcoxon(scores: FloatArray) -> FloatArray:
    """Wilcoxon's signed-rank test, zero differences dropped; exact for up to 50 topics without ties, else normal."""
    first, second = pairs(len(scores))
    z = scores[first] - scores[second]
    z[np.abs(z) <= _noise(scores)] = 0.0
    p = np.ones(len(z))
    some = (z != 0).any(axis=1)
    if some.any():
        p[some] = stats.wilcoxon(z[some], axis=1).pvalue
    return np.asarray(square(p, len(scores), 1.0), np.float64)


def randomisation(scores: FloatArray, *, resamples: int, seed: int) -> Extremes:
    """Sign-flip randomisation: each topic's two scores change places with probability 1/2; the statistic is |mean|.

    All 2ᵀ flips are taken instead where they are no more than `resamples`.
    """
    check_resamples(resamples)
    systems, topics = scores.shape
    first, second = pairs(systems)
    observed = np.abs(scores.sum(axis=1)[first] - scores.sum(axis=1)[second])
    limit = observed * (1.0 - CLOSE) - topics * _noise(scores)
    exact = topics < 60 and 1 << topics <= resamples
    total = 1 << topics if exact else resamples
    everything = all_sign_flips(topics) if exact else np.empty((0, topics))
    rng = np.random.default_rng(seed)
    counts = np.zeros(len(first), np.int64)
    done = 0
    for size in blocks(total, len(first), "Randomising"):
        flips = everything[done : done + size] if exact else sign_flips(rng, size, topics)
        sums = flips @ scores.T
        counts += (np.abs(sums[:, first] - sums[:, second]) >= limit).sum(axis=0)
        done += size
    return Extremes(counts=_square_counts(counts, systems, total), resamples=total, exact=exact)


def bootstrap(scores: FloatArray, *, variant: Variant = "studentized", resamples: int, seed: int) -> Extremes:
    """Paired bootstrap (Sakai 2006): topics are drawn with replacement, the same for all pairs.

    Parameters
    ----------
    scores
        Systems × topics.
    variant
        ``studentized``: |t(w*)| ≥ |t(z)| for w = z − z̄, with t = 0 where a resample has no variance; ``shifted``:
        |w̄*| ≥ |z̄|; ``sign``: z̄* is 0 or has the other sign than z̄.
    resamples, seed
        How many draws, and where they start.
    """
    check_resamples(resamples)
    systems, topics = scores.shape
    first, second = pairs(systems)
    z = scores[first] - scores[second]
    mean = z.mean(axis=1)
    noise = _noise(scores)
    mean[np.abs(mean) <= noise] = 0.0
    w = z - mean[:, None]
    squares = w * w
    observed = np.abs(_observed_t(z, noise))
    # |t*| ≥ |t| without roots and quotients: w̄*²·n(n − 1) ≥ t²·(Σw*² − n·w̄*²).
    limit = np.minimum(np.nan_to_num(observed * (1.0 - CLOSE), nan=0.0), 1e150) ** 2 / (topics * (topics - 1.0))
    rng = np.random.default_rng(seed)
    counts = np.zeros(len(first), np.int64)
    for size in blocks(resamples, len(first), "Resampling"):
        drawn = bootstrap_counts(rng, size, topics)
        shifted = drawn @ (w.T / topics)
        match variant:
            case "sign":
                extreme = (shifted + mean) * np.sign(mean) <= noise
            case "shifted":
                extreme = np.abs(shifted) >= np.abs(mean) * (1.0 - CLOSE) - noise
            case _:
                extreme = _as_large_t(shifted, drawn @ squares.T, limit, topics)
        counts += extreme.sum(axis=0)
    return Extremes(counts=_square_counts(counts, systems, resamples), resamples=resamples)


def tukey_hsd(scores: FloatArray, *, resamples: int, seed: int) -> Extremes:
    """Randomised Tukey HSD (Carterette 2012): the scores of each topic are dealt to the systems anew.

    A pair counts where the largest difference of any two means reaches its own, which corrects for all pairs at once.
    """
    check_resamples(resamples)
    systems, topics = scores.shape
    first, second = pairs(systems)
    sums = scores.sum(axis=1)
    limit = np.abs(sums[first] - sums[second]) * (1.0 - CLOSE) - topics * _noise(scores)
    rng = np.random.default_rng(seed)
    ranges = []
    for size in blocks(resamples, systems * topics, "Randomising"):
        dealt = rng.permuted(np.broadcast_to(scores, (size, systems, topics)), axis=1).sum(axis=2)
        ranges.append(dealt.max(axis=1) - dealt.min(axis=1))
    sorted_ranges = np.sort(np.concatenate(ranges))
    counts = resamples - np.searchsorted(sorted_ranges, limit, side="left")
    return Extremes(counts=_square_counts(counts, systems, resamples), resamples=resamples)


def _observed_t(z: FloatArray, noise: float) -> FloatArray:
    """Mean over its standard error; NaN where all differences are 0, infinite where they are equal and not 0."""
    n = z.shape[1]
    mean = z.mean(axis=1)
    spread = ((z - mean[:, None]) ** 2).sum(axis=1)
    mean[np.abs(mean) <= noise] = 0.0
    spread[spread <= n * noise * noise] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(mean / np.sqrt(spread / (n - 1) / n), np.float64)


def _as_large_t(mean: FloatArray, squares: FloatArray, limit: FloatArray, n: int) -> NDArray[np.bool_]:
    """Whether the t of a resample, from its mean and Σw², reaches the limit; it is 0 where there is no variance."""
    np.multiply(mean, mean, out=mean)
    spread = squares - n * mean
    constant = spread <= CLOSE * squares
    spread *= limit
    return np.where(constant, limit == 0.0, mean >= spread)


def _noise(scores: FloatArray) -> float:
    """What rounding alone can make of a difference that is 0, of single scores and of their means."""
    return float(np.abs(scores).max(initial=0.0)) * 1e-14


def _square_counts(counts: IntArray, systems: int, total: int) -> IntArray:
    return np.asarray(square(counts, systems, total), np.int64)
