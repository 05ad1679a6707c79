"""Sums that no order of summing changes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gainful.stats.resample import weighted_sums

rng = np.random.default_rng(0)


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e290, 1e-12])
@pytest.mark.parametrize("n", [1, 2, 50, 1000])
def test_nearest_float_to_the_exact_sum(n, scale):
    values = rng.normal(size=(3, n)) * scale * 10.0 ** rng.integers(-9, 1, size=(3, n))
    counts = rng.multinomial(n, np.full(n, 1 / n), size=4).astype(np.float64)
    found = weighted_sums(counts, values)
    for i, row in enumerate(counts):
        for j, of in enumerate(values):
            exact = sum(
                (Fraction(count) * Fraction(value) for count, value in zip(row.tolist(), of.tolist(), strict=True)),
                Fraction(),
            )
            assert abs(Fraction(found[i, j]) - exact) <= abs(Fraction(np.spacing(found[i, j]))) * Fraction(51, 100)


def test_no_order_and_no_block_changes_a_bit():
    values = rng.normal(size=(200, 301))
    counts = rng.multinomial(301, np.full(301, 1 / 301), size=100).astype(np.float64)
    whole = weighted_sums(counts, values)
    order = rng.permutation(301)
    assert weighted_sums(counts[:, order], values[:, order]).tobytes() == whole.tobytes()
    assert (
        np.concatenate([weighted_sums(counts[:1], values), weighted_sums(counts[1:], values)]).tobytes()
        == whole.tobytes()
    )
    assert weighted_sums(counts, values[7:8]).tobytes() == np.ascontiguousarray(whole[:, 7:8]).tobytes()


def test_nothing():
    assert weighted_sums(np.zeros((2, 3)), np.ones((1, 3))).tolist() == [[0.0], [0.0]]
    assert weighted_sums(np.ones((1, 2)), np.zeros((1, 2))).tolist() == [[0.0]]
