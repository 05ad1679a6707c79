"""Hoeffding-Bentkus p-values, against their published formula written out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gainful.stats.risk import hoeffding_bentkus, largest_loss, topics_needed


def published(mean: float, n: int, alpha: float) -> float:
    """min(exp(−n·h₁(min(R̂, α), α)), e·P(Bin(n, α) ≤ ⌈nR̂⌉)), Angelopoulos et al. (2021), Proposition 1."""
    a = min(mean, alpha)
    h = (a * math.log(a / alpha) if a > 0 else 0.0) + (1 - a) * math.log((1 - a) / (1 - alpha))
    tail = sum(math.comb(n, i) * alpha**i * (1 - alpha) ** (n - i) for i in range(math.ceil(n * mean - 1e-12) + 1))
    return min(1.0, math.exp(-n * h), math.e * tail)


@pytest.mark.parametrize("n", [5, 40, 200])
@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.5])
def test_p_values(n, alpha):
    sums = np.array([0.0, 1 / 3, 1.0, alpha * n / 2, alpha * n, n / 2, n])
    expected = [published(total / n, n, alpha) for total in sums]
    assert hoeffding_bentkus(sums / n, n, alpha) == pytest.approx(expected, rel=1e-9)


def test_either_part_can_be_the_smaller():
    """By hand: none lost gives (1 − α)ⁿ by Hoeffding; near α Bentkus is below, where Hoeffding nears 1."""
    assert hoeffding_bentkus(0.0, 30, 0.1) == pytest.approx(0.9**30)
    tail = sum(math.comb(100, i) * 0.1**i * 0.9 ** (100 - i) for i in range(5))  # 4 of 100 lost
    assert hoeffding_bentkus(0.04, 100, 0.1) == pytest.approx(min(math.e * tail, published(0.04, 100, 0.1)))
    assert math.e * tail < math.exp(-100 * (0.04 * math.log(0.4) + 0.96 * math.log(0.96 / 0.9)))


@pytest.mark.parametrize(
    ("n", "alpha", "confidence", "steps"), [(200, 0.05, 0.9, 3), (60, 0.2, 0.7, 10), (45, 0.05, 0.9, 3)]
)
def test_the_largest_loss_that_passes(n, alpha, confidence, steps):
    passing = [m for m in range(n * steps + 1) if published(m / steps / n, n, alpha) <= 1 - confidence]
    assert passing == list(range(len(passing)))  # from strict to loose, none behind the first that fails
    assert largest_loss(n, alpha, confidence, steps) == passing[-1] / steps


@pytest.mark.parametrize(("alpha", "confidence", "needed"), [(0.05, 0.9, 45), (0.1, 0.9, 22), (0.5, 0.75, 2)])
def test_topics_needed(alpha, confidence, needed):
    """(1 − α)ⁿ ≤ δ: .95⁴⁵ = .0994, .9²² = .0985, .5² = .25."""
    assert topics_needed(alpha, confidence) == needed
    assert largest_loss(needed, alpha, confidence, 3) >= 0.0
    assert largest_loss(needed - 1, alpha, confidence, 3) == -1.0
