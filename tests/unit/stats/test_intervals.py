from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gainful.errors import GainfulError
from gainful.stats import intervals
from gainful.stats.intervals import bca_interval, mean_interval, t_interval

SKEWED = np.random.default_rng(4).gamma(0.7, size=(7, 23))


class TestT:
    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
    def test_scipy(self, confidence):
        low, high = t_interval(SKEWED, confidence=confidence)
        for row, a, b in zip(SKEWED, low, high, strict=True):
            expected = stats.ttest_1samp(row, 0).confidence_interval(confidence)
            assert (a, b) == pytest.approx((expected.low, expected.high), rel=1e-9)


class TestBca:
    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    def test_scipy_on_the_same_draws(self, confidence):
        """scipy draws as we do, so that even the resamples are the same."""
        low, high = bca_interval(SKEWED, confidence=confidence, resamples=999, seed=5)
        for row, a, b in zip(SKEWED, low, high, strict=True):
            expected = stats.bootstrap(
                (row,),
                np.mean,
                method="BCa",
                confidence_level=confidence,
                n_resamples=999,
                rng=np.random.default_rng(5),
            ).confidence_interval
            assert (a, b) == pytest.approx((expected.low, expected.high), rel=1e-9)

    def test_plain_loop_on_the_same_draws(self):
        row = np.random.default_rng(0).integers(0, 4, 9) / 10  # few values: resampled means equal the mean often
        low, high = bca_interval(row[None], confidence=0.9, resamples=500, seed=3)
        means = np.array([np.mean(row[drawn]) for drawn in np.random.default_rng(3).integers(9, size=(500, 9))])
        equal = np.abs(means - row.mean()) < 1e-12
        assert equal.sum() > 20
        bias = stats.norm.ppf(((means < row.mean()) & ~equal).mean() + equal.mean() / 2)
        left_out = np.array([np.delete(row, i).mean() for i in range(9)])
        away = left_out.mean() - left_out
        pull = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
        for tail, found in ((0.05, low[0]), (0.95, high[0])):
            z = bias + stats.norm.ppf(tail)
            level = stats.norm.cdf(bias + z / (1 - pull * z))
            assert found == pytest.approx(np.quantile(means, level), abs=1e-12)

    @pytest.mark.parametrize("side", [-1, 1])
    def test_all_resamples_on_one_side(self, side):
        """None of m below the mean counts as half a one, all of m as half a one less: 0 and 1 have no z."""
        row = SKEWED[0] - SKEWED[0].mean()

        def draws(seed):
            drawn = np.random.default_rng(seed).integers(len(row), size=(5, len(row)))
            return np.array([row[places].mean() for places in drawn])

        seed = next(seed for seed in range(1000) if (side * draws(seed) > 0).all())
        bias = stats.norm.ppf(0.5 / 5 if side > 0 else 1 - 0.5 / 5)
        pull = (row**3).sum() / (6 * (row**2).sum() ** 1.5)
        found = bca_interval(row[None], confidence=0.5, resamples=5, seed=seed)
        for tail, end in zip((0.25, 0.75), found, strict=True):
            z = bias + stats.norm.ppf(tail)
            level = stats.norm.cdf(bias + z / (1 - pull * z))
            assert end[0] == pytest.approx(np.quantile(draws(seed), level), rel=1e-9)

    def test_within_monte_carlo_error_of_other_draws(self):
        low, high = bca_interval(SKEWED, confidence=0.95, resamples=20_000, seed=5)
        again_low, again_high = bca_interval(SKEWED, confidence=0.95, resamples=20_000, seed=6)
        error = SKEWED.std(axis=1) / np.sqrt(SKEWED.shape[1])
        np.testing.assert_array_less(np.abs(low - again_low), 0.1 * error)
        np.testing.assert_array_less(np.abs(high - again_high), 0.1 * error)
        assert (low != again_low).all()

    def test_blocks_of_rows_and_of_resamples_have_no_part(self, monkeypatch):
        whole = bca_interval(SKEWED, confidence=0.95, resamples=400, seed=5)
        monkeypatch.setattr(intervals, "_HELD", 900)
        monkeypatch.setattr(intervals, "BLOCK", 100)
        monkeypatch.setattr("gainful.stats.resample.BLOCK", 100)
        np.testing.assert_allclose(bca_interval(SKEWED, confidence=0.95, resamples=400, seed=5), whole, rtol=1e-12)

    @pytest.mark.parametrize("value", [0.0, 0.1, -3.0])
    def test_no_variance_no_width(self, value):
        low, high = bca_interval(np.full((2, 7), value), confidence=0.95, resamples=99, seed=0)
        np.testing.assert_allclose([low, high], value, rtol=1e-15)

    def test_skewness_moves_it(self):
        """A long right tail: the interval reaches farther to the right than to the left, unlike Student's."""
        low, high = bca_interval(SKEWED, confidence=0.95, resamples=4_000, seed=5)
        mean = SKEWED.mean(axis=1)
        assert ((high - mean) > (mean - low)).all()

    @pytest.mark.parametrize("resamples", [1, 2])
    def test_hardly_any_resamples(self, resamples):
        low, high = bca_interval(SKEWED, confidence=0.95, resamples=resamples, seed=0)
        assert np.isfinite(low).all()
        assert (low <= high).all()

    def test_one_value_off(self):
        """As skewed as data can be; every number stays finite at a very high confidence."""
        values = np.zeros((1, 1000))
        values[0, 0] = 1.0
        low, high = bca_interval(values, confidence=0.9999999, resamples=200, seed=0)
        assert np.isfinite([low[0], high[0]]).all()


@pytest.mark.parametrize("how", ["t", "bca"])
@pytest.mark.parametrize("power", [660, -1000])
def test_huge_and_tiny_values(how, power):
    """Squares of 2⁶⁶⁰ are infinite, and those of 2⁻¹⁰⁰⁰ are 0."""
    settings = {"confidence": 0.9, "resamples": 99, "seed": 2}
    expected = np.ldexp(mean_interval(SKEWED, how, **settings), power)
    np.testing.assert_allclose(mean_interval(np.ldexp(SKEWED, power), how, **settings), expected, rtol=1e-12)


def test_beyond_all_floats():
    low, high = t_interval(np.array([[1.7e308, -1.7e308]]), confidence=0.99)
    assert (low[0], high[0]) == (-np.inf, np.inf)


def test_either_by_name():
    settings = {"confidence": 0.9, "resamples": 99, "seed": 2}
    np.testing.assert_array_equal(mean_interval(SKEWED, "t", **settings), t_interval(SKEWED, confidence=0.9))
    np.testing.assert_array_equal(mean_interval(SKEWED, "bca", **settings), bca_interval(SKEWED, **settings))


class TestRefused:
    @pytest.mark.parametrize("confidence", [0.0, 1.0, 95, float("nan")])
    def test_confidence(self, confidence):
        message = f"^confidence: expected a number between 0 and 1, both excluded, got {confidence}$"
        with pytest.raises(GainfulError, match=message):
            t_interval(SKEWED, confidence=confidence)
        with pytest.raises(GainfulError, match=message):
            bca_interval(SKEWED, confidence=confidence, resamples=9, seed=0)

    def test_resamples_and_seed(self):
        with pytest.raises(GainfulError, match=r"^resamples: expected a whole number of at least 1, got 0$"):
            bca_interval(SKEWED, confidence=0.9, resamples=0, seed=0)
        with pytest.raises(GainfulError, match=r"^seed: expected a whole number of at least 0, got -1$"):
            bca_interval(SKEWED, confidence=0.9, resamples=9, seed=-1)
