from math import log

import numpy as np
import pytest

from gainful.data.arrays import rankings_from_arrays
from gainful.measures.gains import best_ordering, depth, discounts, gains
from worlds import World, one_topic


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        ("linear", [-2, 0, 0.5, 3]),
        ("exp", [1 / 4 - 1, 0, 2**0.5 - 1, 7]),
        (((-2.0, -10.0), (3.0, 1.0)), [-10, 0, 0.5, 1]),
    ],
)
def test_gains(gain, expected):
    assert gains(np.array([-2, 0, 0.5, 3]), gain).tolist() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("discount", "expected"),
    [
        ("log2", [1, log(2) / log(3), 1 / 2, log(2) / log(5)]),
        ("zipf", [1, 1 / 2, 1 / 3, 1 / 4]),
        ("linear", [1, 3 / 4, 2 / 4, 1 / 4]),
        ("none", [1, 1, 1, 1]),
        ("jk", [1, 1, log(2) / log(3), 1 / 2]),
        ((3.0, 1.0, 0.5, 0.25, 0.1), [3, 1, 0.5, 0.25]),
        ((3.0, 1.0), [3, 1]),
    ],
)
def test_discounts(discount, expected):
    assert discounts(discount, 100, 4).tolist() == pytest.approx(expected, abs=1e-15)


def test_discounts_end_with_the_deepest_rank():
    assert discounts("none", 2, 4).tolist() == [1, 1]
    assert discounts("linear", 2, 4).tolist() == [1, 3 / 4]
    assert discounts("log2", 3).shape == (3,)


def test_discount_vectors_end_with_the_cutoff_alone():
    assert discounts((1.0, 0.5, 0.2), 1).tolist() == [1, 0.5, 0.2]
    assert discounts((1.0, 0.5, 0.2), 1, 2).tolist() == [1, 0.5]


@pytest.mark.parametrize(
    ("base", "expected"),
    [(2.5, [1, 1, log(2.5) / log(3)]), (3, [1, 1, 1]), (1.5, [1, log(1.5) / log(2)])],
)
def test_base_of_the_discount(base, expected):
    assert discounts("jk", len(expected), None, base).tolist() == pytest.approx(expected, abs=1e-15)


def test_depth_is_that_of_the_deepest_hit_or_the_largest_pool():
    assert depth(one_topic([1, 0], [None] * 7 + [0, None])) == 8
    assert depth(one_topic([1, 0, 0], [0])) == 3
    tied = World({"q": {"a": 1}}, {"run": [("q", doc, 1.0) for doc in "abcd"]}).align(ties="expected")
    assert depth(tied) == 4


def test_best_ordering_is_per_topic():
    rankings = rankings_from_arrays([[1, 3, -2], [2, np.nan, 2]])
    discount = np.array([1, 0.5, 0.1])
    assert best_ordering(rankings, rankings.grades, discount).tolist() == pytest.approx([3 + 0.5 - 0.2, 2 + 1])
    assert (-best_ordering(rankings, -rankings.grades, discount)).tolist() == pytest.approx([-2 + 0.5 + 0.3, 2 + 1])
    assert best_ordering(rankings, rankings.grades, discount[:1]).tolist() == [3, 2]


def test_discounts_are_kept_and_cannot_be_changed():
    kept = discounts("log2", 3)
    assert discounts("log2", 3) is kept
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 2.0
    assert len(discounts("log2", 10**6)) == 10**6  # not kept
    assert discounts("log2", 10**6).flags.writeable
