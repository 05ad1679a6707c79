"""What holds for all pairs: in a plain loop, by Tukey's test of statsmodels, and where nothing varies."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.libqsturng import qsturng

from gainful.stats import maxt
from gainful.stats.maxt import MaxT, max_t
from gainful.stats.paired import pairs
from gainful.stats.resample import sign_flips
from gainful.stats.strata import Strata

SETTINGS = {"confidence": 0.95, "resamples": 2000, "seed": 0}
Y = np.random.default_rng(1).random((5, 12))


def errors(values):
    return np.array([[stats.sem(a - b) for b in values] for a in values])


def test_plain_loop_on_the_same_signs():
    """t of every pair, whose deviations get the signs; the 95th of 100 largest, counted as if there were one more."""
    found = max_t(Y, confidence=0.95, resamples=99, seed=3)
    signs = sign_flips(np.random.default_rng([3, 1]), 99, 12)
    largest = []
    for row in signs:
        ts = [
            stats.ttest_1samp((a - b - (a - b).mean()) * row, 0).statistic
            for a, b in zip(*map(Y.__getitem__, pairs(5)), strict=True)
        ]
        largest.append(np.abs(ts).max())
    critical = np.sort(largest)[94]
    np.testing.assert_allclose(found.all_pairs, critical * errors(Y), rtol=1e-9)


def test_tukey_on_normal_columns():
    """Independent normal rows and many columns: the studentised range, up to Monte Carlo error."""
    values = np.random.default_rng(2).normal(size=(6, 1500))
    found = max_t(values, confidence=0.95, resamples=10_000, seed=0).all_pairs / errors(values).clip(1e-300)
    critical = found[pairs(6)]
    assert critical == pytest.approx(float(qsturng(0.95, 6, np.inf)) / np.sqrt(2), rel=0.015)
    assert np.ptp(critical) < 1e-9


def test_of_one_row_is_dunnetts():
    """All rows against one: Dunnett's critical value for equal rows, two-sided, many columns: 2.51 for five."""
    values = np.random.default_rng(2).normal(size=(6, 1500))
    of_row = max_t(values, confidence=0.95, resamples=10_000, seed=0).of_row / errors(values).clip(1e-300)
    assert of_row[0, 1:] == pytest.approx(2.51, rel=0.02)


def test_two_rows_are_students():
    values = np.random.default_rng(5).normal(size=(2, 400))
    half = max_t(values, **SETTINGS).all_pairs[0, 1]
    ends = stats.ttest_rel(*values).confidence_interval()
    assert half == pytest.approx((ends.high - ends.low) / 2, rel=0.04)
    assert half >= (ends.high - ends.low) / 2 * (1 - 1e-9)


def test_few_columns_take_bonferroni():
    """Of 2⁴ signs none is rare enough for .95."""
    found = max_t(Y[:, :5], **SETTINGS)
    expected = stats.t.isf(0.025 / 10, 4) * errors(Y[:, :5])
    np.testing.assert_allclose(found.all_pairs, expected, rtol=1e-9)


@pytest.mark.parametrize(("columns", "half"), [(3, np.inf), (6, np.inf), (12, 0.0)])
def test_differences_that_never_vary(columns, half):
    """Three pairs: 3·2^(1 − T) must be below .05."""
    found = max_t(np.array([[0.5], [0.25], [0.125]]) + Y[:1, :columns], **SETTINGS)
    assert found.all_pairs[0, 1] == half
    assert found.all_pairs[0, 0] == 0
    assert found.places()[0].tolist() == ([1, 2, 3] if half == 0 else [1, 1, 1])


def test_constant_rows():
    """The mean of three times 0.4 is not 0.4 in floats, which is no variance."""
    found = max_t(np.array([[0.4] * 3, [0.1] * 3]), **SETTINGS)
    assert found.all_pairs[0, 1] == np.inf
    assert found.places()[0].tolist() == [1, 1]


def test_places_by_hand():
    """a is above c alone, which is below a and b; b is above c."""
    half = np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]]) * 1.0
    found = MaxT(mean=np.array([4.0, 3.0, 1.0]), all_pairs=half, of_row=half, best=np.zeros(3), optimism=0.0)
    low, high = found.places()
    assert low.tolist() == [1, 1, 3]
    assert high.tolist() == [2, 2, 3]


class TestBest:
    def test_shares_in_a_plain_loop(self):
        found = max_t(Y[:3], confidence=0.95, resamples=300, seed=7)
        counts = Strata.one(12).counts([np.random.default_rng(7)], 300)
        first = [np.argmax(Y[:3] @ row) for row in counts]
        np.testing.assert_allclose(found.best, np.bincount(first, minlength=3) / 300)

    def test_identical_rows_share(self):
        found = max_t(np.vstack([Y[0] + 1, Y[0] + 1, Y[1]]), **SETTINGS)
        np.testing.assert_allclose(found.best, [0.5, 0.5, 0])

    def test_adds_up_to_one(self):
        assert max_t(Y, **SETTINGS).best.sum() == pytest.approx(1)


class TestOptimism:
    def test_none_for_a_clear_leader(self):
        assert max_t(Y + np.array([[5.0], [0], [0], [0], [0]]), **SETTINGS).optimism == pytest.approx(0, abs=0.01)

    def test_equal_rows_of_known_noise(self):
        """The largest of 10 normal means is 1.5388 standard errors too high (its expected value, by integration)."""
        noise = np.random.default_rng(3).normal(size=(10, 4000))
        noise -= noise.mean(axis=1, keepdims=True)
        found = max_t(noise, confidence=0.95, resamples=4000, seed=0)
        assert found.optimism * np.sqrt(4000) == pytest.approx(1.5388, rel=0.04)


def test_scale_has_no_part():
    one, other = max_t(Y, **SETTINGS), max_t(np.ldexp(Y, 900), **SETTINGS)
    np.testing.assert_allclose(np.ldexp(other.all_pairs, -900), one.all_pairs)
    np.testing.assert_array_equal(one.best, other.best)
    assert np.ldexp(other.optimism, -900) == pytest.approx(one.optimism)


def test_blocks_have_no_part(monkeypatch):
    groups = Strata(names=("a", "b"), place=np.repeat([0, 1], 6))
    one = max_t(Y, strata=groups, **SETTINGS)
    monkeypatch.setattr(maxt, "block_sizes", lambda total, width: [700, 700, 600])
    other = max_t(Y, strata=groups, **SETTINGS)
    np.testing.assert_array_equal(other.all_pairs, one.all_pairs)
    np.testing.assert_array_equal(other.best, one.best)
    assert other.optimism == one.optimism


def test_groups_use_the_variance_within():
    """Rows that differ by another number in each group: without groups that is noise, with groups it is none."""
    place = np.repeat([0, 1], 6)
    values = Y.copy()
    values[0] += np.where(place == 0, 2.0, 4.0)
    groups = Strata(names=("a", "b"), place=place)
    assert max_t(values, strata=groups, **SETTINGS).all_pairs[0, 1] < max_t(values, **SETTINGS).all_pairs[0, 1] / 2


def test_small_groups_take_bonferroni():
    """The two columns of x have most of the variance: a t with about 1 degree of freedom (Satterthwaite)."""
    groups = Strata(names=("x", "y"), place=np.repeat([0, 1], [2, 10]), macro=True)
    values = np.where(groups.place == 0, 10.0, 0.01) * Y
    z = values[0] - values[1]
    parts = [z[groups.place == at].var(ddof=1) / size / 4 for at, size in ((0, 2), (1, 10))]
    df = sum(parts) ** 2 / (parts[0] ** 2 / 1 + parts[1] ** 2 / 9)
    assert df < 1.01
    found = max_t(values, strata=groups, **SETTINGS).all_pairs[0, 1]
    assert found == pytest.approx(stats.t.isf(0.025 / 10, df) * np.sqrt(sum(parts)), rel=1e-6)


def test_groups_that_differ_without_variance():
    """0.3 in one group and -0.1 in the other have a mean of 0.1, which no test of signs shows (p = 0.34)."""
    groups = Strata(names=("x", "y"), place=np.repeat([0, 1], 3))
    values = np.stack([np.where(groups.place == 0, 0.3, -0.1), np.zeros(6)])
    assert max_t(values, strata=groups, **SETTINGS).all_pairs[0, 1] == np.inf
