"""Knees of curves by hand, and scores that only rounding tells apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gainful.analyses.robustness.result import Knee, knee
from gainful.analyses.robustness.verdict import tidy


class TestKnee:
    levels = (0.1, 0.2, 0.3, 0.4)

    @pytest.mark.parametrize(
        ("curve", "expected"),
        [
            ([0.5, 0.6, 0.91, 0.95], Knee(0.3, 0.3)),
            ([0.95, 0.8, 0.92, 0.99], Knee(0.1, 0.3)),
            ([0.95, 0.96, 0.97, 0.98], Knee(0.1, 0.1)),
            ([0.95, 0.96, 0.97, 0.8], Knee(0.1, None)),
            ([0.5, 0.9, 0.9, 0.9], Knee(None, None)),  # not above
            ([0.5, math.nan, 0.95, 0.96], Knee(0.3, 0.3)),
            ([0.5, 0.6, 0.7, 0.91], Knee(0.4, 0.4)),
            ([0.5, 0.6, 0.9 + 2e-16, 0.91], Knee(0.4, 0.4)),  # a mean of exactly .9, but for rounding
        ],
    )
    def test_by_hand(self, curve, expected):
        assert knee(self.levels, np.array(curve), 0.9) == expected

    def test_threshold(self):
        assert knee(self.levels, np.array([0.5, 0.6, 0.7, 0.8]), 0.65) == Knee(0.3, 0.3)


def test_a_mean_of_exactly_the_threshold():
    """τ of 25 systems in ten trials, 300 pairs of which 15 are wrong on average: the mean is 270/300, .9."""
    wrong = [21, 33, 16, 4, 3, 1, 30, 18, 6, 18]
    assert sum(wrong) == 150
    mean = np.mean([(300 - 2 * pairs) / np.sqrt(300.0 * 300.0) for pairs in wrong])
    assert mean > 0.9  # by rounding, else the case tests nothing
    assert knee((1.0,), np.array([mean]), 0.9) == Knee(None, None)


def test_rounding_is_no_order():
    values = np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.5])
    assert values[0] != values[1]
    assert len(set(tidy(values).tolist())) == 2
    assert len(set(tidy(values * 1e-200).tolist())) == 2
    assert len(set(tidy(values * 1e200).tolist())) == 2
    assert tidy(np.zeros(3)).tolist() == [0.0] * 3
