"""Prediction-powered means: the formula by hand, and what becomes of it at its ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gainful.stats.prediction import predicted_means

GOOD = np.array([[0.2, 0.6, 0.4, 0.8]])
CHEAP = np.array([[0.3, 0.6, 0.6, 0.9]])
MORE = np.array([[0.5, 0.7, 0.1, 0.5, 0.9, 0.3]])


def test_by_hand():
    n, extra = 4, 6
    spread = np.var(np.concatenate([CHEAP[0], MORE[0]]), ddof=1)
    weight = np.cov(GOOD[0], CHEAP[0])[0, 1] / ((1 + n / extra) * spread)
    assert 0 < weight < 1
    rest = GOOD[0] - weight * CHEAP[0]
    r2 = np.corrcoef(GOOD[0], CHEAP[0])[0, 1] ** 2
    variance = weight**2 * np.var(MORE[0], ddof=1) / extra + ((rest - rest.mean()) ** 2).sum() / (n - 1 - r2) / n
    half = stats.t.ppf(0.95, n - 1) * np.sqrt(variance)
    found = predicted_means(GOOD, CHEAP, MORE, confidence=0.9)
    mean = weight * MORE[0].mean() + rest.mean()
    assert [found.weight.item(), found.mean.item()] == pytest.approx([weight, mean], abs=1e-12)
    assert [found.low.item(), found.high.item()] == pytest.approx([mean - half, mean + half], abs=1e-12)
    assert found.correlation.item() == pytest.approx(np.sqrt(r2), abs=1e-12)
    alone = stats.t.interval(0.9, n - 1, GOOD[0].mean(), stats.sem(GOOD[0]))
    assert [found.low_alone.item(), found.high_alone.item()] == pytest.approx(alone, abs=1e-12)
    assert found.narrower().item() == pytest.approx(2 * half / (alone[1] - alone[0]), abs=1e-12)


@pytest.mark.parametrize("cheap", [np.full((1, 4), 0.5), 1.0 - CHEAP])
def test_a_judge_that_says_nothing_or_the_contrary_does_not_count(cheap):
    more = np.full((1, 6), 0.5) if cheap[0, 0] == cheap[0, 1] else MORE
    found = predicted_means(GOOD, cheap, more, confidence=0.95)
    assert found.weight.item() == 0.0
    assert found.mean.item() == pytest.approx(GOOD.mean(), abs=1e-15)
    assert found.high == pytest.approx(found.high_alone, abs=1e-12)


def test_a_perfect_judge_of_many_topics_decides():
    more = np.tile(MORE, 1000)
    found = predicted_means(GOOD, GOOD.copy(), more, confidence=0.95)
    assert found.weight.item() == pytest.approx(1.0, abs=0.1)
    assert found.narrower().item() < 0.2


def test_a_shifted_judge_changes_nothing():
    """Whatever is added to all cheap scores cancels."""
    plain = predicted_means(GOOD, CHEAP, MORE, confidence=0.95)
    shifted = predicted_means(GOOD, CHEAP + 0.3, MORE + 0.3, confidence=0.95)
    assert shifted.mean == pytest.approx(plain.mean, abs=1e-12)
    assert shifted.high - shifted.low == pytest.approx(plain.high - plain.low, abs=1e-12)
