from __future__ import annotations

import itertools
import json
import math

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import gainful as gf
from gainful.errors import DataError, GainfulError
from gainful.stats.bootstrap import bootstrap
from gainful.stats.paired import randomisation, tukey_hsd
from gainful.verbs.compare import compare
from gainful.verbs.evaluate import read_scores

RNG = np.random.default_rng(8)
Y = RNG.random(20) * 0.5 + RNG.normal(0, 0.08, (4, 20)) + np.array([[0.0], [0.02], [0.1], [0.1]])
TESTS = ["t", "wilcoxon", "randomisation", "bootstrap", "tukey"]


def table(**measures: np.ndarray) -> pl.DataFrame:
    """Long scores of systems a, b, c … on topics q1, q2, q3 …"""
    rows = [
        (chr(ord("a") + i), measure, f"q{t + 1}", float(value))
        for measure, values in measures.items()
        for (i, t), value in np.ndenumerate(np.asarray(values, float))
    ]
    return pl.DataFrame(rows, ["run", "measure", "query_id", "score"], orient="row")


class TestNumbers:
    def test_one_pair_by_hand(self):
        """z = (-.2, -.3, -.1, -.2, 0): mean -.16, variance .013, so d = -.16/√.013 and t = d·√5."""
        found = compare([[0.1, 0.2, 0.3, 0.4, 0.5], [0.3, 0.5, 0.4, 0.6, 0.5]])
        row = found.to_frame().row(0, named=True)
        effect = -0.16 / math.sqrt(0.013)
        assert (row["run"], row["other"], row["wins"], row["ties"], row["losses"]) == ("1", "2", 0, 1, 4)
        assert row["difference"] == pytest.approx(-0.16)
        assert (row["mean"], row["mean_other"]) == pytest.approx((0.3, 0.46))
        assert row["effect"] == pytest.approx(effect)
        assert row["p"] == row["p_corrected"] == pytest.approx(2 * stats.t.sf(-effect * math.sqrt(5), 4))
        half = stats.t.ppf(0.975, 4) * math.sqrt(0.013 / 5)
        assert (row["low"], row["high"]) == pytest.approx((-0.16 - half, -0.16 + half))

    @pytest.mark.parametrize(
        ("correction", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")]
    )
    def test_all_pairs(self, correction, theirs):
        frame = compare(Y, correction=correction).to_frame()
        names = list(itertools.combinations("1234", 2))
        assert frame.select("run", "other").rows() == names
        p = [stats.ttest_rel(Y[int(i) - 1], Y[int(j) - 1]).pvalue for i, j in names]
        np.testing.assert_allclose(frame["p"], p)
        np.testing.assert_allclose(frame["p_corrected"], multipletests(p, method=theirs)[1])
        np.testing.assert_allclose(frame["difference"], [Y[int(i) - 1].mean() - Y[int(j) - 1].mean() for i, j in names])

    def test_baseline(self):
        """Only the pairs with it are tested, and only they are the family that is corrected for."""
        frame = compare(Y, baseline="2").to_frame()
        assert frame.select("run", "other").rows() == [("1", "2"), ("3", "2"), ("4", "2")]
        p = [stats.ttest_rel(Y[i], Y[1]).pvalue for i in (0, 2, 3)]
        np.testing.assert_allclose(frame["p"], p)
        np.testing.assert_allclose(frame["p_corrected"], multipletests(p, method="holm")[1])
        np.testing.assert_allclose(frame["difference"], (Y - Y[1]).mean(axis=1)[[0, 2, 3]])

    @pytest.mark.parametrize(
        ("test", "p"),
        [
            ("wilcoxon", stats.wilcoxon(Y[0], Y[2]).pvalue),
            ("randomisation", randomisation(Y, resamples=500, seed=3).p()[0, 2]),
            ("bootstrap", bootstrap(Y, variant="studentized", resamples=500, seed=3).p()[0, 2]),
            ("tukey", tukey_hsd(Y, resamples=500, seed=3).p()[0, 2]),
        ],
    )
    @pytest.mark.parametrize("baseline", [None, "3"])
    def test_the_test_is_the_one_asked_for(self, test, p, baseline):
        found = compare(Y, test=test, resamples=500, seed=3, baseline=baseline)
        assert found.p("score")[0, 2] == found.p("score")[2, 0] == pytest.approx(p, rel=1e-12)

    def test_tukey_corrects_itself(self):
        found = compare(Y, test="tukey", correction="bonferroni", resamples=200)
        assert found.settings["correction"] == found.to_dict()["settings"]["correction"] == "tukey"
        (note,) = [note for note in found.notes() if note.code == "correction-not-used"]
        assert note.text == "Tukey's test corrects for all pairs by itself: correction='bonferroni' is not used."
        assert "correction-not-used" not in {note.code for note in compare(Y, test="tukey", resamples=9).notes()}
        assert found.to_frame()["p"].to_list() == found.to_frame()["p_corrected"].to_list()

    def test_intervals_of_means(self):
        found = compare(Y, confidence=0.9).means()
        assert found.columns == ["measure", "run", "mean", "low", "high"]
        for row, y in zip(found.iter_rows(named=True), Y, strict=True):
            expected = stats.ttest_1samp(y, 0).confidence_interval(0.9)
            assert (row["mean"], row["low"], row["high"]) == pytest.approx((y.mean(), expected.low, expected.high))

    def test_bca(self):
        found = compare(Y, interval="bca", resamples=999, seed=4)

        def scipys(values):
            ends = stats.bootstrap((values,), np.mean, method="BCa", n_resamples=999, rng=np.random.default_rng(4))
            return ends.confidence_interval.low, ends.confidence_interval.high

        assert found.means().row(2)[3:] == pytest.approx(scipys(Y[2]))
        assert found.to_frame().select("low", "high").row(1) == pytest.approx(scipys(Y[0] - Y[2]))

    @pytest.mark.parametrize("test", TESTS)
    def test_identical_runs(self, test):
        row = compare([Y[0], Y[0]], test=test, resamples=50).to_frame().row(0, named=True)
        assert (row["p"], row["p_corrected"], row["effect"], row["difference"]) == (1, 1, 0, 0)
        assert (row["wins"], row["ties"], row["losses"]) == (0, 20, 0)
        assert (row["low"], row["high"]) == (0, 0)

    def test_rounding_is_no_win(self):
        row = compare([[0.1 + 0.2, 0.5], [0.3, 0.5]]).to_frame().row(0, named=True)
        assert (row["wins"], row["ties"], row["losses"], row["p"]) == (0, 2, 0, 1)

    def test_a_third_run_of_huge_scores_changes_nothing(self):
        """Rounding of its scores is larger than all scores of the others."""
        expected = compare(Y[:2]).to_frame().row(0)[3:-2]  # without the names, and what holds for all pairs
        found = compare(np.vstack([Y[:2], np.full(20, 1e15)]), correction="none").to_frame().row(0)[3:-2]
        assert found == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("power", [660, -1000])
    def test_huge_and_tiny_scores(self, power):
        columns = ["effect", "wins", "losses", "direction", "p"]
        found = compare(np.ldexp(Y, power)).to_frame().select(columns)
        assert found.rows() == [pytest.approx(row, rel=1e-12) for row in compare(Y).to_frame().select(columns).rows()]

    def test_all_differences_the_same(self):
        frame = compare([[0.5, 0.75, 1.0], [0.25, 0.5, 0.75], [0.5, 0.75, 1.0]]).to_frame()
        assert frame["effect"].to_list() == pytest.approx([math.nan, 0, math.nan], nan_ok=True)
        assert frame["p"].to_list() == [1 / 4, 1, 1 / 4]

    def test_constant_scores(self):
        found = compare([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], interval="bca", test="bootstrap", resamples=20)
        assert found.to_frame().row(0)[3:] == (1, 1, 0, 0, 0, 0, 0, 3, 0, 0, 1, 1, 0, 0)

    def test_every_measure_is_its_own_family(self):
        found = compare(table(x=Y, y=Y[:, :20] ** 2))
        assert [one.measure for one in found.contrasts] == ["x", "y"]
        assert found.to_frame()["measure"].to_list() == ["x"] * 6 + ["y"] * 6
        np.testing.assert_allclose(found.p("x", corrected=True), compare(table(x=Y)).p("x", corrected=True))

    def test_same_topics_only(self):
        values = Y.copy()
        values[1, 4] = np.nan
        found = compare(values, gaps="drop")
        kept = np.delete(Y, 4, axis=1)
        assert len(found["score"].topics) == 19
        assert [note.code for note in found.notes()] == ["dropped-topics", "marks", "places"]
        assert found.p("score")[0, 2] == pytest.approx(stats.ttest_rel(kept[0], kept[2]).pvalue)

    def test_counts_are_compared_by_their_mean(self):
        values = np.array([[10, 20, 60], [10, 10, 10]])
        frame = compare(table(NumRet=values)).to_frame()
        assert frame.select("mean", "mean_other", "difference").row(0) == pytest.approx((30, 10, 20))


class TestLowerIsBetter:
    SCORES = table(**{"Forbidden@3": [[0.5, 0.6, 0.9, 0.6], [0.0, 0.1, 0.2, 0.6]]})

    def test_wins(self):
        row = compare(self.SCORES).to_frame().row(0, named=True)
        assert (row["wins"], row["ties"], row["losses"]) == (0, 1, 3)
        assert row["difference"] == pytest.approx(0.425)

    def test_better(self):
        one = compare(self.SCORES)["Forbidden@3"]
        assert one.p[0] == pytest.approx(stats.ttest_rel([0.5, 0.6, 0.9, 0.6], [0.0, 0.1, 0.2, 0.6]).pvalue)
        assert one.better(0.2).tolist() == [[False, False], [True, False]]
        assert not one.better(0.01).any()

    def test_worse(self):
        assert compare(self.SCORES, baseline="b").worse(alpha=0.2)["run"].to_list() == ["a"]
        assert compare(self.SCORES, baseline="a").worse(alpha=0.2).height == 0

    def test_margin(self):
        z = np.array([0.5, 0.5, 0.7, 0.0])
        bound = z.mean() + stats.t.ppf(0.95, 3) * z.std(ddof=1) / 2
        found = compare(self.SCORES, baseline="b")
        assert found.worse(bound - 1e-6)["bound"].to_list() == pytest.approx([bound])
        assert found.worse(bound + 1e-6).height == 0


class TestAsked:
    FOUND = compare(Y, baseline="3")

    def test_p_of_pairs_that_were_not_tested(self):
        p = self.FOUND.p("score")
        assert np.isnan(p[0, 1])
        assert np.isnan(p).sum() == 6
        assert np.diag(p).tolist() == [1, 1, 1, 1]
        np.testing.assert_array_equal(p, p.T)

    def test_significant(self):
        frame = self.FOUND.to_frame()
        p = frame["p_corrected"].sort().to_list()
        found = self.FOUND.significant(p[1])
        assert found["p_corrected"].to_list() == p[:1]  # below, not equal
        assert found.columns == frame.columns

    def test_movers(self):
        found = compare(table(x=[[0.1, 0.9, 0.5, 0.5], [0.2, 0.2, 0.9, 0.5]]))
        top = found.movers("a", "b", "x", most=2)
        assert top.columns == ["query_id", "score", "score_other", "difference"]
        assert [row[0] for row in top.rows()] == ["q2", "q3"]
        assert top.row(0)[1:] == pytest.approx((0.9, 0.2, 0.7))
        assert found.movers("b", "a", most=None)["difference"].to_list() == pytest.approx([-0.7, 0.4, 0.1, 0.0])
        assert found.movers("a", "b").height == 4

    def test_line(self):
        assert str(self.FOUND.settings) == (
            "compare: 4 runs, 20 topics; baseline=3 test=t correction=holm alpha=0.05 interval=t confidence=0.95 "
            "resamples=10000 seed=0 gaps=error"
        )

    def test_dict_is_ready_for_json(self):
        content = json.loads(json.dumps(self.FOUND.to_dict()))
        assert list(content) == ["verdict", "means", "pairs", "standing", "topics", "notes", "settings"]
        assert content["settings"]["policies"] is None  # an array does not tell them
        assert content["topics"] == {"score": 20}
        assert content["settings"]["baseline"] == "3"
        assert [row["run"] for row in content["pairs"]] == ["1", "2", "4"]
        assert content["means"][2]["mean"] == pytest.approx(Y[2].mean())

    def test_same_seed_same_numbers(self):
        first, again, other = (
            compare(Y, test="bootstrap", interval="bca", resamples=200, seed=seed).to_frame() for seed in (1, 1, 2)
        )
        assert first.equals(again)
        assert not first.equals(other)

    def test_public(self):
        assert gf.compare is compare
        assert isinstance(self.FOUND, gf.Comparison)

    def test_evaluated_scores(self):
        qrels = {f"q{i}": {"d": 1} for i in range(4)}
        runs = {"good": {f"q{i}": ["d"] for i in range(4)}, "bad": {f"q{i}": ["x", "d"] for i in range(4)}}
        found = gf.compare(gf.evaluate(qrels, runs, "RR", ties="order"))
        assert found.to_dict()["settings"]["policies"]["ties"] == "order"
        assert str(found.settings).endswith(
            "gaps=error ties=order unjudged=zero missing=empty degenerate=zero duplicates=error"
        )
        row = found.to_frame().row(0, named=True)
        assert (row["run"], row["mean"], row["mean_other"], row["wins"]) == ("good", 1.0, 0.5, 4)


class TestChart:
    def test_means(self):
        chart = compare(table(x=Y, y=-Y)).chart().to_dict()
        rows, places = chart["datasets"].values()
        best_first = [chr(ord("a") + int(i)) for i in np.argsort(-Y.mean(axis=1))]
        assert [row["run"] for row in rows if row["measure"] == "y"] == best_first
        assert rows[0]["value"] == pytest.approx(Y.mean(axis=1).max())
        assert [row["value"] for row in places if row["measure"] == "x"] == [1, 2, 3, 4]
        assert "datum" not in json.dumps(chart["hconcat"])

    def test_differences(self):
        chart = compare(Y, baseline="1").chart().to_dict()
        (rows,) = chart["datasets"].values()
        assert {row["run"]: row["value"] for row in rows} == pytest.approx(
            {str(i + 1): (Y[i] - Y[0]).mean() for i in (1, 2, 3)}
        )
        assert '{"datum": 0}' in json.dumps(chart["spec"])


class TestRefused:
    def test_one_run(self):
        with pytest.raises(DataError, match=r"^expected at least 2 runs, got 1: 1$"):
            compare(Y[:1])

    def test_one_topic(self):
        with pytest.raises(DataError, match=r"^expected at least 2 topics of score, got 1$"):
            compare(Y[:, :1])

    def test_different_topics(self):
        frame = table(AP=Y[:2]).filter(~((pl.col("run") == "b") & (pl.col("query_id") == "q7")))
        with pytest.raises(
            DataError, match=r"^AP: run 'b' has no score for topic 'q7', but runs are compared on the same"
        ):
            compare(frame)

    def test_no_topic_in_common(self):
        values = np.where(np.eye(2, 20) > 0, 0.5, np.nan)
        values[0, 2:], values[1, 2:] = 0.1, np.nan
        with pytest.raises(
            DataError, match=r"^expected at least 2 topics left that have a score for every run, got 0$"
        ):
            compare(values, gaps="drop")

    def test_unknown_baseline(self):
        message = r"^baseline: expected one of the runs bm25, dense, got 'bm52'. Did you mean 'bm25'\?$"
        with pytest.raises(DataError, match=message):
            compare(pl.DataFrame({"bm25": [0.1, 0.2], "dense": [0.3, 0.4]}), baseline="bm52")

    def test_unknown_run_or_measure(self):
        found = compare(Y)
        with pytest.raises(DataError, match=r"^run: expected one of the runs 1, 2, 3, 4, got 'x'\.$"):
            found.movers("x", "1")
        with pytest.raises(DataError, match=r"^baseline: expected one of the runs 1, 2, 3, 4, 5, …, got 'x'\.$"):
            compare(np.arange(18.0).reshape(6, 3), baseline="x")
        with pytest.raises(DataError, match=r"^against: expected one of the runs 1, 2, 3, 4, got 'x'\.$"):
            found.movers("1", "x")
        with pytest.raises(DataError, match=r"^no measure 'scores'; there are: score\. Did you mean 'score'\?$"):
            found.p("scores")
        with pytest.raises(GainfulError, match=r"^most: expected a number of topics of at least 0, got -1$"):
            found.movers("1", "2", most=-1)

    def test_geometric_mean(self):
        message = (
            r"^GMAP: expected a measure that is averaged over topics, got a geometric mean, which this analysis is not "
            r"about: take AP instead$"
        )
        with pytest.raises(DataError, match=message):
            compare(read_scores(table(AP=Y, GMAP=Y)))

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            (
                {"test": "wilcoxen"},
                "test: expected one of t, wilcoxon, randomisation, bootstrap, tukey, got 'wilcoxen'",
            ),
            ({"correction": "fdr"}, "correction: expected one of holm, bonferroni, bh, none, got 'fdr'"),
            ({"interval": "percentile"}, "interval: expected one of t, bca, got 'percentile'"),
            ({"gaps": "skip"}, "gaps: expected one of error, drop, got 'skip'"),
            ({"confidence": 95}, "confidence: expected a number between 0 and 1, both excluded, got 95"),
            ({"resamples": 0}, "resamples: expected a whole number of at least 1, got 0"),
            ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ],
    )
    def test_settings(self, settings, message):
        with pytest.raises(GainfulError, match=f"^{message}"):
            compare(Y, **settings)

    @pytest.mark.parametrize("alpha", [0, 1, 5])
    def test_alpha(self, alpha):
        for ask in (compare(Y).significant, compare(Y)["score"].better, lambda level: compare(Y, alpha=level)):
            with pytest.raises(GainfulError, match=f"^alpha: expected a number between 0 and 1, got {alpha}$"):
                ask(alpha)
