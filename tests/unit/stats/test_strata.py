"""Groups of columns: by hand, by Welch's test, and without groups the plain tests."""

import numpy as np
import pytest
from scipy import stats

from gainful.stats.bootstrap import bootstrap
from gainful.stats.intervals import mean_interval
from gainful.stats.paired import pairs, t_test
from gainful.stats.strata import Strata
from gainful.stats.stratified import stratified_bootstrap, stratified_t

PLACE = np.array([0, 1, 0, 1, 1, 0, 1, 1])
Y = np.random.default_rng(0).random((3, 8))


def strata(*, macro=False):
    return Strata(names=("x", "y"), place=PLACE, macro=macro)


def test_weights_by_hand():
    assert strata().weights() == pytest.approx([1 / 8] * 8)
    assert strata(macro=True).weights() == pytest.approx(np.where(PLACE == 0, 1 / 6, 1 / 10))
    assert strata().sizes().tolist() == [3, 5]


def test_means():
    x, y = Y[:, PLACE == 0].mean(axis=1), Y[:, PLACE == 1].mean(axis=1)
    np.testing.assert_allclose(strata().group_means(Y), np.stack([x, y], axis=1))
    np.testing.assert_allclose(strata(macro=True).mean(Y), (x + y) / 2)
    np.testing.assert_allclose(strata().mean(Y), Y.mean(axis=1))
    np.testing.assert_allclose(strata(macro=True).weighted(Y).mean(axis=1), (x + y) / 2)


def test_macro_is_welch():
    """The mean of two means is half the difference of the one and the other with its sign turned."""
    for row in Y - 0.5:
        welch = stats.ttest_ind(row[PLACE == 0], -row[PLACE == 1], equal_var=False)
        assert stratified_t(row[None], strata(macro=True))[0] == pytest.approx(welch.pvalue, rel=1e-12)
        _, df = strata(macro=True).errors(row[None])
        assert df[0] == pytest.approx(welch.df, rel=1e-12)
        low, high = mean_interval(row[None], "t", strata=strata(macro=True), confidence=0.9, resamples=1, seed=0)
        ends = welch.confidence_interval(0.9)
        assert (low[0], high[0]) == pytest.approx((ends.low / 2, ends.high / 2))


def test_variance_is_that_within_groups():
    """Groups that differ and do not vary: the mean of all topics is known without an error."""
    row = np.where(PLACE == 0, 1.0, 3.0)[None]
    error, _ = strata().errors(row + 1e-3 * Y[:1])
    by_hand = sum(
        (at == PLACE).sum() ** 2 / 64 * np.var(1e-3 * Y[0, at == PLACE], ddof=1) / (at == PLACE).sum() for at in (0, 1)
    )
    assert error[0] == pytest.approx(np.sqrt(by_hand))
    assert strata().errors(row)[0][0] == 0


class TestOneGroup:
    """All columns in one group are no groups."""

    Z = Y[pairs(3)[0]] - Y[pairs(3)[1]]

    def test_t(self):
        np.testing.assert_allclose(stratified_t(self.Z, Strata.one(8)), t_test(Y)[pairs(3)])

    def test_bootstrap(self):
        found = stratified_bootstrap(self.Z, Strata.one(8), resamples=500, seed=2)
        np.testing.assert_array_equal(found.counts, bootstrap(Y, resamples=500, seed=2).counts[pairs(3)])

    @pytest.mark.parametrize("how", ["t", "bca"])
    def test_intervals(self, how):
        settings = {"confidence": 0.9, "resamples": 300, "seed": 1}
        plain = mean_interval(Y, how, **settings)
        np.testing.assert_allclose(mean_interval(Y, how, strata=Strata.one(8), **settings), plain, rtol=1e-12)


def test_draws_stay_in_their_group():
    drawn = strata().counts(strata().streams(0), 50)
    assert (drawn[:, PLACE == 0].sum(axis=1) == 3).all()
    assert (drawn[:, PLACE == 1].sum(axis=1) == 5).all()
    assert drawn.std(axis=0).min() > 0


def test_bootstrap_in_a_plain_loop():
    z, groups = Y[:1] - Y[1:2], strata(macro=True)
    centred = z[0] - groups.group_means(z)[0, PLACE]

    def t(values):
        parts = [values[at == PLACE] for at in (0, 1)]
        error = sum(part.var(ddof=1) / len(part) / 4 for part in parts)
        return abs(sum(part.mean() / 2 for part in parts)) / np.sqrt(error)

    extreme = 0
    counts = groups.counts(groups.streams(4), 400).astype(int)
    for row in counts:
        drawn = np.concatenate([np.repeat(centred[at == PLACE], row[at == PLACE]) for at in (0, 1)])
        resample = np.empty(8)
        resample[PLACE == 0], resample[PLACE == 1] = drawn[:3], drawn[3:]
        constant = all(np.ptp(resample[at == PLACE]) == 0 for at in (0, 1))
        extreme += constant or t(resample) >= t(z[0])
    assert stratified_bootstrap(z, groups, resamples=400, seed=4).counts[0] == extreme
