"""What a comparison says of runs that are better or worse."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from gainful.errors import DataError, GainfulError
from gainful.verbs.compare import compare

RNG = np.random.default_rng(8)


def table(**measures: np.ndarray) -> pl.DataFrame:
    """Long scores of systems a, b, c … on topics q1, q2, q3 …"""
    rows = [
        (chr(ord("a") + i), measure, f"q{t + 1}", float(value))
        for measure, values in measures.items()
        for (i, t), value in np.ndenumerate(np.asarray(values, float))
    ]
    return pl.DataFrame(rows, ["run", "measure", "query_id", "score"], orient="row")


class TestWorse:
    # b is 0.1 below a in the mean, d about the same, c better.
    Z = (
        np.array([[0, 0, 0, 0, 0, 0], [-5, -15, -10, -12, -8, -10], [5, 15, 10, 12, 8, 10], [1, -1, 2, -2, 1, -1]])
        / 100
    )
    FOUND = compare(table(x=Z + 0.5), baseline="a")

    def test_significantly(self):
        found = self.FOUND.worse()
        p = multipletests([stats.ttest_1samp(z, 0).pvalue for z in self.Z[1:]], method="holm")[1][0]
        assert found["run"].to_list() == ["b"]
        assert found["p_corrected"].to_list() == pytest.approx([p])
        assert found["bound"].to_list() == [None]
        assert found["reason"].to_list() == [
            f"x: 'b' is worse than 'a': 0.4000 and 0.5000, p = {p:.2g} < 0.05 (test=t, correction=holm)"
        ]

    def test_not_at_a_stricter_level(self):
        found = self.FOUND.worse(alpha=1e-9)
        assert found.height == 0
        assert found.columns == ["measure", "run", "difference", "bound", "p_corrected", "reason"]

    def test_after_correction(self):
        """p of b is .03 by itself, and not below .05 as the smallest of three."""
        z = np.array([-0.1, -0.04, 0.01, -0.02, -0.06, -0.06, 0.0, -0.01])
        values = np.array([np.zeros(8), z, 0.1 * z[::-1] ** 2, np.abs(z) - 0.04])
        found = compare(table(x=values), baseline="a")
        p = [stats.ttest_1samp(row, 0).pvalue for row in values[1:]]
        assert p[0] < 0.05 < multipletests(p, method="holm")[1][0]
        assert found.worse().height == 0
        assert not found["x"].better().any()
        uncorrected = compare(table(x=values), baseline="a", correction="none")
        assert uncorrected.worse()["run"].to_list() == ["b"]
        assert uncorrected["x"].better()[0].tolist() == [False, True, False, False]

    def test_without_correction(self):
        found = compare(table(x=self.Z + 0.5), baseline="a", correction="none").worse()
        assert found["reason"][0].endswith("< 0.05 (test=t)")

    @pytest.mark.parametrize("alpha", [0.05, 0.01])
    def test_margin_is_the_one_sided_bound(self, alpha):
        z = self.Z[3]
        bound = stats.ttest_1samp(z, 0, alternative="greater").confidence_interval(1 - alpha).low
        assert "d" not in self.FOUND.worse(-bound + 1e-6, alpha)["run"]
        rows = self.FOUND.worse(-bound - 1e-6, alpha).filter(run="d")
        assert rows["bound"].to_list() == pytest.approx([bound])
        assert rows["reason"].to_list() == [
            f"x: 'd' is not shown to be no more than {-bound - 1e-6:g} worse than 'a': 0.5000 and 0.5000, at "
            f"{1 - alpha:g} confidence it may be worse by {-bound:.4f} (interval=t)"
        ]

    def test_margin_asks_nothing_of_better_runs(self):
        assert self.FOUND.worse(0.0)["run"].to_list() == ["b", "d"]

    def test_margin_by_bca(self):
        found = compare(table(x=self.Z + 0.5), baseline="a", interval="bca", resamples=999, seed=2)
        expected = stats.bootstrap(
            (self.Z[3],), np.mean, method="BCa", confidence_level=0.9, n_resamples=999, rng=np.random.default_rng(2)
        ).confidence_interval.low
        assert found.worse(0.001).filter(run="d")["bound"].to_list() == pytest.approx([expected])

    @pytest.mark.parametrize("interval", ["t", "bca"])
    def test_identical_runs_pass_at_margin_0(self, interval):
        tenths = np.array([3, 1, 7, 5]) / 10
        found = compare(np.array([tenths, tenths * 3 / 3 + 0.1 - 0.1]), baseline="1", interval=interval, resamples=50)
        assert found["score"].differences().any()  # but for rounding
        assert found.worse(0.0).height == 0

    @pytest.mark.parametrize("higher", ["better", "worse"])
    def test_a_bound_at_the_margin_passes(self, higher):
        """All differences are .1, but for rounding, and so is the bound: no more than .1 worse."""
        scores = table(**{"AP" if higher == "better" else "Forbidden@3": np.array([[0.3, 0.5, 0.8], [0.2, 0.4, 0.7]])})
        found = compare(scores, baseline="a" if higher == "better" else "b")
        assert found.worse(0.1).height == 0
        assert found.worse(0.1 - 1e-6).height == 1

    def test_refused(self):
        with pytest.raises(GainfulError, match=r"^worse: expected a comparison with a baseline, got one of all pairs"):
            compare(RNG.random((3, 9))).worse()
        with pytest.raises(GainfulError, match=r"^margin: expected a number of at least 0, got -0.1$"):
            self.FOUND.worse(-0.1)
        with pytest.raises(GainfulError, match=r"^margin: expected a number of at least 0, got nan$"):
            self.FOUND.worse(math.nan)
        with pytest.raises(GainfulError, match=r"^alpha: expected a number below 0.5 for a margin, got 0.5$"):
            self.FOUND.worse(0.1, 0.5)
        message = r"^NumRet: neither a higher nor a lower score is better, so no run can be worse by it$"
        with pytest.raises(GainfulError, match=message):
            compare(table(NumRet=RNG.random((3, 9))), baseline="a").worse()


class TestDirection:
    """One large loss outweighs 19 small wins in the mean, but not in the ranks."""

    Z = np.array([*(0.01 + 0.0005 * np.arange(19)), -0.9])
    SCORES = np.array([np.full(20, 0.9), 0.9 + Z])

    def found(self, test="wilcoxon", measure="AP", **settings):
        return compare(table(**{measure: self.SCORES}), test=test, **settings)

    def test_wilcoxon_asks_the_ranks(self):
        one = self.found()["AP"]
        assert one.difference[0] > 0  # a − b
        assert stats.wilcoxon(-self.Z, alternative="less").pvalue < 0.001
        assert one.direction.tolist() == [-1]
        assert one.better().tolist() == [[False, False], [True, False]]
        assert one.against_the_mean().tolist() == [True]
        assert one.against_the_mean(1e-9).tolist() == [False]

    def test_lower_is_better(self):
        one = self.found(measure="Forbidden@3")["Forbidden@3"]
        assert one.direction.tolist() == [-1]
        assert one.better().tolist() == [[False, True], [False, False]]

    def test_worse(self):
        assert self.found(baseline="a").worse().height == 0
        p = stats.wilcoxon(self.Z).pvalue
        assert self.found(baseline="b").worse()["reason"].to_list() == [
            "AP: 'a' is worse than 'b': 0.9000 and 0.8688, worse by signed ranks, not by the mean, "
            f"p = {p:.2g} < 0.05 (test=wilcoxon, correction=holm)"
        ]

    @pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap", "tukey"])
    def test_the_others_ask_the_mean(self, test):
        one = self.found(test, resamples=50)["AP"]
        assert one.direction.tolist() == [1]
        assert not one.better(0.9999)[1, 0]
        assert not one.against_the_mean(0.9999).any()

    def test_columns(self):
        row = self.found().to_frame().row(0, named=True)
        assert (row["difference"] > 0, row["wins"], row["losses"], row["direction"]) == (True, 1, 19, -1)

    def test_a_baseline_is_named(self):
        message = r"^baseline: expected the name of a run, such as '1', got 0$"
        with pytest.raises(DataError, match=message):
            compare(np.array(self.SCORES), baseline=0)

    def test_no_difference_no_direction(self):
        one = compare(np.array([self.SCORES[0], self.SCORES[0]]), test="wilcoxon")["score"]
        assert one.direction.tolist() == [0]
        assert not one.against_the_mean(0.99).any()


class TestTold:
    SCORES = np.random.default_rng(5).random((3, 5))

    @pytest.mark.parametrize("settings", [{"test": "t"}, {"test": "wilcoxon"}])
    def test_random_numbers_that_were_not_used_are_not_told(self, settings):
        assert str(compare(self.SCORES, **settings)).endswith(" interval=t confidence=0.95 gaps=error")

    @pytest.mark.parametrize(
        "settings", [{"test": "randomisation"}, {"test": "bootstrap"}, {"test": "tukey"}, {"interval": "bca"}]
    )
    def test_random_numbers_that_were_used_are(self, settings):
        assert str(compare(self.SCORES, resamples=9, seed=3, **settings)).endswith(" resamples=9 seed=3 gaps=error")

    def test_few_topics(self):
        assert compare(self.SCORES).notes == ()
        few = compare(self.SCORES[:, :4])
        assert few.notes == ("score: only 4 topics, too few for tests and intervals to say much",)
        assert few.to_dict()["notes"] == list(few.notes)
        assert few.notes[0] in few.chart().to_dict()["title"]["subtitle"]

    @pytest.mark.parametrize(("baseline", "of"), [(None, "run"), ("1", "pair")])
    def test_the_chart_says_that_intervals_are_not_corrected(self, baseline, of):
        told = [f"Intervals are of each {of} by itself, not corrected for many."]
        assert compare(self.SCORES, baseline=baseline).chart().to_dict()["title"]["subtitle"] == told
        assert compare(self.SCORES[:2], baseline=baseline).chart().to_dict()["title"]["subtitle"] == []
