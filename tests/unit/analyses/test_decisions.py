"""Decisions on pairs of runs, by hand and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gainful.analyses.robustness.decisions import Decisions, _p, can_differ, compared, draw_pairs, rejected
from gainful.stats.paired import wilcoxon


class TestDecisions:
    def test_by_hand(self):
        cell = Decisions(both_equal=40, lost_equal=10, lost_difference=20, both_different=30)
        assert cell.accuracy == 0.7
        assert cell.true_positive == 40 / 50
        assert cell.predicted_positive == 40 / 60
        assert cell.g_mean == pytest.approx(math.sqrt(40 / 50 * 40 / 60))
        assert cell.false_positive == 20 / 50

    def test_nothing_to_divide_by(self):
        nothing = Decisions()
        assert [math.isnan(v) for v in (nothing.accuracy, nothing.g_mean, nothing.false_positive)] == [True] * 3
        assert math.isnan(Decisions(both_different=3).true_positive)
        assert Decisions(both_different=3).accuracy == 1.0

    def test_counts_and_sums(self):
        truth = np.array([False, False, False, True, True, True, True, True, True, True])
        found = np.array([False, True, True, False, False, False, True, True, True, True])
        cell = compared(truth, found)
        assert cell == Decisions(both_equal=1, lost_equal=2, lost_difference=3, both_different=4)
        twice = Decisions(both_equal=2, lost_equal=4, lost_difference=6, both_different=8)
        assert cell + cell == twice

    def test_agrees_with_the_test_of_all_pairs(self):
        """On 60 topics both are the normal approximation."""
        scores = np.random.default_rng(0).normal(size=(8, 60)) + np.linspace(0, 0.8, 8)[:, None]
        first, second = np.triu_indices(8, k=1)
        p = wilcoxon(scores)[first, second]
        for alpha in (0.01, 0.05, 0.3):
            assert rejected(scores, first, second, alpha).tolist() == (p < alpha).tolist()

    @pytest.mark.parametrize("topics", [1, 4, 30, 200])
    def test_p_is_scipys(self, topics):
        """Also with ties, zeros and pairs that do not differ at all."""
        rng = np.random.default_rng(topics)
        z = np.vstack([rng.integers(-4, 5, (40, topics)) / 8, rng.normal(0.2, 1, (40, topics)), np.zeros((1, topics))])
        expected = [stats.wilcoxon(row, method="asymptotic").pvalue if row.any() else 1.0 for row in z]
        np.testing.assert_allclose(_p(z), expected, rtol=1e-12)

    def test_topics_without_a_score_are_left_out(self):
        rng = np.random.default_rng(1)
        scores = rng.normal(size=(2, 40)) + np.array([[0.0], [0.45]])
        gap = scores.copy()
        gap[0, :15] = np.nan
        at = np.array([0]), np.array([1])
        p = stats.wilcoxon(scores[0, 15:], scores[1, 15:], method="asymptotic").pvalue
        assert rejected(gap, *at, p * 1.01).tolist() == [True]
        assert rejected(gap, *at, p * 0.99).tolist() == [False]
        assert rejected(np.full((2, 5), np.nan), *at, 0.05).tolist() == [False]

    def test_the_same_runs_do_not_differ(self):
        scores = np.array([[0.1 + 0.2, 0.5, 0.7], [0.3, 0.5, 0.7]])
        assert rejected(scores, np.array([0]), np.array([1]), 0.999).tolist() == [False]

    @pytest.mark.parametrize(("topics", "expected"), [(1, False), (3, False), (4, False), (5, True), (30, True)])
    def test_testable(self, topics, expected):
        """With n different wins, none lost, p is 2·Φ(-√(3n(n + 1)/(2(2n + 1)))): .0679 for 4, .0431 for 5."""
        wins = np.stack([np.zeros(topics), np.linspace(0.1, 0.5, topics)])
        at = np.array([0]), np.array([1])
        assert can_differ(wins, *at, 0.05) == expected
        wins[1, ::2] *= -1  # the test finds no difference, but could have
        assert can_differ(wins, *at, 0.05) == expected
        assert can_differ(wins, *at, 0.32) == rejected(np.abs(wins), *at, 0.32).item()

    def test_nothing_is_testable(self):
        at = np.array([0]), np.array([1])
        assert not can_differ(np.full((2, 30), 0.5), *at, 0.5)
        assert not can_differ(np.full((2, 30), np.nan), *at, 0.5)

    def test_pairs(self):
        first, second = draw_pairs(5, 10, np.random.default_rng(0))
        assert list(zip(first, second, strict=True)) == [(i, j) for i in range(5) for j in range(i + 1, 5)]
        first, second = draw_pairs(30, 40, np.random.default_rng(0))
        assert len({*zip(first.tolist(), second.tolist(), strict=True)}) == 40
        assert (first < second).all()
