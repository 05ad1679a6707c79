"""The interval of a pooled variance: in a plain loop, and where it has no width or no end."""

import numpy as np
import pytest
from scipy import stats

from gainful.stats.pooled import variance_interval
from gainful.stats.resample import bootstrap_counts

Y = np.random.default_rng(0).gamma(2.0, size=(4, 15))
RESIDUALS = Y - Y.mean(axis=1, keepdims=True)


def test_plain_loop_on_the_same_draws():
    """log of the variance within rows, by bootstrap-t."""

    def estimate(values):
        each = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=0) / 4 * 15 / 14
        return values.var(axis=1, ddof=1).mean(), each

    variance, each = estimate(Y)
    error = stats.sem(each) / variance
    ts = []
    for row in bootstrap_counts(np.random.default_rng(2), 400, 15).astype(int):
        drawn, squares = np.repeat(Y, row, axis=1), np.repeat(each, row)
        found = drawn.var(axis=1, ddof=1).mean()
        ts.append(np.log(found / (variance * 14 / 15)) / (stats.sem(squares) / found))
    student = stats.t.ppf(0.95, 14)
    low, high = np.quantile(ts, [0.05, 0.95])
    expected = variance * np.exp(-max(high, student) * error), variance * np.exp(-min(low, -student) * error)
    assert variance_interval(RESIDUALS, 1 / 4, confidence=0.9, resamples=400, seed=2) == pytest.approx(expected)


def test_nothing_varies():
    assert variance_interval(np.zeros((3, 5)), 1.0, confidence=0.95, resamples=50, seed=0) == (0, 0)


def test_one_column_varies():
    """Resamples without it know nothing."""
    residuals = np.zeros((2, 6))
    residuals[:, 0] = 1.0, -1.0
    residuals -= residuals.mean(axis=1, keepdims=True)
    low, high = variance_interval(residuals, 1.0, confidence=0.95, resamples=200, seed=0)
    assert low < 0.3 * (residuals**2).sum() / 5
    assert high > 3 * (residuals**2).sum() / 5


def test_two_columns_say_nothing_of_their_spread():
    """Residuals of two columns have the same size, whatever the values."""
    residuals = Y[:, :2] - Y[:, :2].mean(axis=1, keepdims=True)
    assert variance_interval(residuals, 1.0, confidence=0.95, resamples=50, seed=0) == (0, np.inf)


def test_units():
    one = variance_interval(RESIDUALS, 1.0, confidence=0.95, resamples=200, seed=0)
    assert variance_interval(RESIDUALS * 10, 1.0, confidence=0.95, resamples=200, seed=0) == pytest.approx(
        (one[0] * 100, one[1] * 100)
    )
