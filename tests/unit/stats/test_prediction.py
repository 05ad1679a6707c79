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
    weight = np.cov(GOOD[0], CHEAP[0])[0, 1] / ((1 + n / extra) * np.var(CHEAP[0], ddof=1))
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


def test_skewed_values():
    """Both ends solve Hall's polynomial with the third moments of good and cheap values (k-statistics)."""
    good = np.array([[0.1, 0.1, 0.2, 0.3, 0.9]])
    cheap, more = np.array([[0.3, 0.2, 0.3, 0.6, 0.9]]), np.array([[0.2, 0.2, 0.9, 0.4]])
    found = predicted_means(good, cheap, more, confidence=0.9)
    weight = found.weight.item()
    assert 0.0 < weight < 1.0
    third = stats.kstat((good - weight * cheap)[0], 3) / 5**2 + weight**3 * stats.kstat(more[0], 3) / 4**2
    ends = {
        "both": (found.mean, found.low, found.high, found.error, third),
        "alone": (found.mean_alone, found.low_alone, found.high_alone, found.error_alone, stats.kstat(good[0], 3) / 25),
    }
    for name, (mean, low, high, error, moment) in ends.items():
        pull = moment / error**3
        assert pull > 0.1, name
        for end, level in ((low, 0.95), (high, 0.05)):
            t = (mean - end) / error
            assert t + pull * t**2 / 3 + pull**2 * t**3 / 27 + pull / 6 == pytest.approx(stats.t.ppf(level, 4)), name
        assert high - mean > mean - low, name
    assert found.error_alone.item() == pytest.approx(stats.sem(good[0]))


def test_two_topics_have_no_skewness():
    found = predicted_means(GOOD[:, :2], CHEAP[:, :2], MORE[:, :2], confidence=0.9)
    assert found.high - found.mean == pytest.approx(found.mean - found.low)


def test_no_spread_no_width():
    same = np.full((1, 5), 0.25)
    found = predicted_means(same, same, same, confidence=0.9)
    assert [found.low.item(), found.high.item(), found.low_alone.item()] == [0.25, 0.25, 0.25]


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
