"""What a comparison says of runs that are better or worse."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import gainful as gf
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
            f"x: 'd' could be worse than 'a' by up to {-bound:.4g}; {-bound - 1e-6:g} is allowed (0.5000 and 0.5000, "
            f"{1 - alpha:g} confidence, interval=t)"
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
        values = np.array([[0.3, 0.5, 0.8, 0.6, 0.9], [0.2, 0.4, 0.7, 0.5, 0.8]])
        scores = table(**{"AP" if higher == "better" else "Forbidden@3": values})
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

    @pytest.mark.parametrize("settings", [{"test": "t"}, {"test": "bootstrap"}, {"test": "tukey"}, {"interval": "bca"}])
    def test_random_numbers_are_told(self, settings):
        assert str(compare(self.SCORES, resamples=9, seed=3, **settings).settings).endswith(
            " resamples=9 seed=3 gaps=error"
        )

    def test_few_topics(self):
        assert [note.code for note in compare(self.SCORES).notes()] == ["marks", "places"]
        few = compare(self.SCORES[:, :4])
        (note,) = [note for note in few.notes() if note.code == "few-topics"]
        assert note == gf.Note("few-topics", "score", "score: tests and intervals say little on 4 topics.")
        assert asdict(note) in few.to_dict()["notes"]
        assert note.text in few.chart().to_dict()["title"]["subtitle"]

    @pytest.mark.parametrize(("baseline", "of"), [(None, "run"), ("1", "pair")])
    def test_the_chart_says_that_intervals_are_not_corrected(self, baseline, of):
        told = [f"Intervals are of each {of} by itself, not corrected for many."]
        assert compare(self.SCORES, baseline=baseline).chart().to_dict()["title"]["subtitle"] == told
        assert compare(self.SCORES[:2], baseline=baseline).chart().to_dict()["title"]["subtitle"] == []


def leading(*wins: int, topics: int = 10) -> np.ndarray:
    """Runs of which each beats the next clearly or not at all; 0 are equal means that differ by topic."""
    rng = np.random.default_rng(1)
    base = rng.random(topics)
    steps = np.cumsum([0, *wins])[:, None] * 0.3
    return base - steps + rng.normal(0, 0.01, (len(steps), topics))


class TestVerdict:
    def test_who_leads(self):
        found = compare(table(AP=leading(0, 1)))
        one = found["AP"]
        at = int(np.argmax(one.mean))
        assert one.better()[at].sum() == 1
        assert found.verdict() == (
            f"{'ab'[at]} leads in AP with {one.mean[at]:.3f} ({one.low[at]:.3f} to {one.high[at]:.3f}; about "
            f"{one.optimism:.3f} too good, as the best of 3), significantly better than 1 of 2 others; 2 runs may be "
            "best. Significance is by paired t-test, p < 0.05 after Holm's correction for the 3 "
            "pairs per measure."
        )

    def test_noise_is_no_lead(self):
        found = compare(np.random.default_rng(0).random((4, 12)), test="randomisation", correction="none")
        assert not found["score"].better().any()
        assert re.fullmatch(
            r"\d has the best mean in score, 0\.\d{3} \(0\.\d{3} to 0\.\d{3}; about 0\.\d{3} too good, as the best of "
            r"4\), but is significantly better than none of 3 others; all runs may be best\. Significance is by "
            r"randomisation test, p < 0\.05\.",
            found.verdict(),
        )

    def test_lower_is_better(self):
        assert (
            compare(table(**{"Forbidden@3": leading(1, 1)})).verdict().startswith("c leads in Forbidden@3 (lower is b")
        )

    def test_all_the_same(self):
        """Means that only rounding tells apart are the same."""
        rows = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]])
        assert compare(rows).verdict().startswith("All runs have the same mean in score, 0.200. ")
        assert compare(table(AP=np.vstack([rows, rows[:1] - 0.1]))).verdict().startswith("a (and 2 others alike) ")

    def test_alpha(self):
        """p of the one pair is .0053: significant at .05, not at .001."""
        rng = np.random.default_rng(8)
        y = rng.random(20) * 0.5 + rng.normal(0, 0.08, (4, 20)) + np.array([[0.0], [0.02], [0.1], [0.1]])
        p = stats.ttest_rel(y[1], y[2]).pvalue
        ends = stats.ttest_rel(y[2], y[1]).confidence_interval()
        assert 0.001 < p < 0.05
        assert compare(y[1:3]).verdict() == (
            f"2 is significantly better than 1 in score: {y[2].mean():.3f} against {y[1].mean():.3f}, a difference of "
            f"{y[2].mean() - y[1].mean():.3f} ({ends.low:.3f} to {ends.high:.3f}; p = {p:.4f}). Significance is by "
            "paired t-test, p < 0.05."
        )
        near = re.search(r"; p = ([\d.]+)\)", compare(y[1:3], alpha=p * (1 + 1e-5)).verdict())[1]
        assert float(near) == pytest.approx(p, abs=1e-6) != round(p, 4)  # not rounded to the level it is below
        strict = compare(y[1:3], alpha=0.001)
        assert strict.verdict().startswith(f"1 and 2 do not differ significantly in score: {y[1].mean():.3f} and ")
        assert not strict["score"].better().any()
        assert strict.significant().height == 0
        assert strict.tables()[0].cells()[0][-1] == ""

    def test_baseline(self):
        scores = leading(0, 1, 1)
        means = scores.mean(axis=1)
        found = compare(table(AP=scores), baseline="c")
        most = f"{'ab'[means[:2].argmax()]} most: {means[:2].max():.3f} against"
        assert found.verdict().startswith(
            f"In AP, 2 of 3 runs are significantly better than the baseline c ({most} {means[2]:.3f}), and 1 "
            "significantly worse. Significance"
        )
        last = compare(table(AP=scores), baseline="d")
        assert f"than the baseline d ({most} {means[3]:.3f}), and none significantly worse. " in last.verdict()
        none = compare(table(AP=leading(0, 1, 1)), baseline="c", alpha=1e-300)
        assert none.verdict().startswith("In AP, none of 3 runs is significantly better or worse than the baseline c. ")
        two = compare(table(AP=leading(1)), baseline="a")
        assert two.verdict().startswith("The baseline a is significantly better than b in AP: ")

    def test_two_runs_that_are_one(self):
        same = np.tile(np.arange(6) / 10, (2, 1))
        assert compare(same).verdict().startswith("1 and 2 have the same score on all 6 topics. ")

    def test_signed_ranks(self):
        verdict = compare(TestDirection.SCORES, test="wilcoxon").verdict()
        assert verdict.startswith("2 is significantly better than 1 in score by signed ranks, though not by its mean: ")
        assert verdict.endswith("Significance is by Wilcoxon signed-rank test, p < 0.05.")

    def test_no_direction(self):
        found = compare(table(NumRet=leading(1, 1)))
        assert found.verdict().startswith("In NumRet, 3 of 3 pairs of runs differ significantly. ")
        assert "no-direction" in {note.code for note in found.notes()}
        assert compare(table(NumRet=leading(1))).verdict().startswith("a is significantly higher than b in NumRet: ")

    def test_many_measures(self):
        found = compare(table(**{f"P@{k}": leading(1, 1) for k in range(1, 7)}))
        assert found.verdict().count(" leads in ") == 4
        assert "The table has 2 more measures." in found.verdict()


class TestNotes:
    def test_test_against_mean(self):
        (note,) = [
            note for note in compare(TestDirection.SCORES, test="wilcoxon").notes() if note.code == "test-against-mean"
        ]
        assert note.text == "score: '1' is significantly worse than '2' by signed ranks, but not by its mean."
        many = compare(np.vstack([TestDirection.SCORES[:1]] * 4 + [TestDirection.SCORES[1:]] * 2), test="wilcoxon")
        texts = [note.text for note in many.notes() if note.code == "test-against-mean"]
        assert len(texts) == 6  # 8 pairs
        assert texts[-1] == "The same holds for 3 more pairs."

    def test_directions_that_were_assumed(self):
        found = compare(table(AP=leading(1), latency=leading(1)), baseline="a")
        assert [note.subject for note in found.assumed()] == ["latency"]
        lower = compare(table(AP=leading(1), latency=leading(1)), lower_is_better=["latency"])
        assert lower.assumed() == ()
        assert lower["latency"].higher == "worse"

    def test_passed(self):
        found = compare(table(AP=leading(1)), baseline="b")
        assert found.passed() == "no run is significantly worse than 'b' in AP (alpha=0.05)"
        assert found.passed(0.02) == "no run could be worse than 'b' by more than 0.02 in AP (0.95 confidence)"


class TestShown:
    FOUND = compare(table(AP=leading(0, 1)))

    def test_text(self):
        text = str(self.FOUND)
        assert text.startswith(self.FOUND.verdict()[:40])
        assert "better than" in text
        assert "win/tie/loss" in text
        assert "note: The letters name the runs that a run is significantly better than." in text
        assert repr(self.FOUND) == text

    def test_letters(self):
        frame = self.FOUND.tables()[0].frame
        assert frame["AP: better than"].to_list() == ["c", "c", ""]
        assert frame["letter"].to_list() == ["a", "b", "c"]

    def test_marks(self):
        means = compare(table(AP=leading(1, 1)), baseline="b").tables()[0]
        assert [row[:1] + row[2:] for row in means.cells()] == [["b", ""], ["a", "†"], ["c", "‡"]]

    def test_latex(self):
        """Marks are superscripts, as papers have them."""
        lines = self.FOUND.tables()[0].latex().splitlines()
        assert lines[0] == r"\begin{tabular}{llrl}"
        assert lines[2] == r" & run & AP & place \\"
        assert lines[4].endswith(r"$^{c}$} & 1-2 \\")
        assert "^" not in lines[6]
        marked = compare(table(AP=leading(1, 1)), baseline="b").tables()[0].latex()
        assert marked.count(r"$^{\dagger}$} \\") == 1
        assert marked.count(r"$^{\ddagger}$ \\") == 1

    def test_names_are_escaped(self):
        frame = pl.DataFrame({"<b>&": [0.1, 0.2, 0.3], "other": [0.2, 0.4, 0.3]})
        html = compare(frame)._repr_html_()
        assert "<b>&" not in html.replace("<b>&lt;", "")
        assert "&lt;b&gt;&amp;" in html
        assert "<table>" in html

    def test_two_runs_show_the_topics_that_moved(self):
        found = compare(table(x=[[0.1, 0.9, 0.5, 0.5], [0.2, 0.2, 0.9, 0.5]]))
        *_, movers = found.compact()
        assert movers.name == "movers"
        assert [column.header for column in movers.columns] == ["x of topic", "a", "b", "difference"]
        assert movers.cells()[0] == ["q2", "0.9000", "0.2000", "0.7000"]
        assert movers.frame.columns == ["measure", "run", "other", "query_id", "score", "score_other", "difference"]

    def test_movers_of_every_pair(self):
        tables = compare(table(x=leading(1, 1), y=leading(1, 1))).movers_tables(2)
        assert len(tables) == 6
        assert {len(one.frame) for one in tables} == {2}
        assert compare(table(x=leading(1, 1)), baseline="a").movers_tables(0)[1].frame.height == 0

    def test_frames(self):
        assert self.FOUND.to_pandas().to_dict("list") == self.FOUND.to_frame().to_dict(as_series=False)
        content = json.loads(json.dumps(self.FOUND.to_dict()))
        assert content["verdict"] == self.FOUND.verdict()
        assert content["notes"][0]["code"] == "marks"


class TestManyRuns:
    """Three clear groups of 20, and one run between the first two that the best does not beat."""

    SCORES = np.random.default_rng(3).normal(0, 0.02, (60, 40)) - np.repeat([0, 0.3, 0.6], 20)[:, None]
    FOUND = compare(SCORES)

    def test_lines_can_be_read(self):
        text = str(self.FOUND)
        assert max(map(len, text.splitlines())) <= 125
        assert max(map(len, self.FOUND.tables()[0].latex().splitlines())) <= 120
        assert "^" not in self.FOUND.tables()[0].latex()

    def test_beats_and_groups(self):
        frame = self.FOUND.tables()[0].frame
        assert frame.columns == ["run", "score", "score: beats", "score: group", "score: place"]
        for row in frame.iter_rows(named=True):
            third = (int(row["run"]) - 1) // 20
            assert row["score: group"] == third + 1
            assert row["score: beats"] == f"{(2 - third) * 20} of 59"
            low, high = map(int, row["score: place"].split("-"))
            assert third * 20 < low <= high <= third * 20 + 20

    def test_the_pairs_are_not_printed(self):
        assert [one.name for one in self.FOUND.compact()] == ["means"]
        assert [one.name for one in self.FOUND.tables()] == ["means", "pairs", "standing"]
        assert self.FOUND.notes()[-1].text.startswith("The table of all 1,770 pairs is not printed")

    def test_fifteen_have_letters(self):
        assert "letter" in compare(self.SCORES[:15]).tables()[0].frame.columns
        assert "letter" not in compare(self.SCORES[:16]).tables()[0].frame.columns

    def test_a_group_is_what_its_best_does_not_beat(self):
        """b is worse than a, c is not, though its mean is lower: it varies far more."""
        rng = np.random.default_rng(1)
        a = rng.random(20)
        scores = np.array([a, a - 0.1 + rng.normal(0, 0.01, 20), a - 0.15 + rng.normal(0, 1.5, 20)])
        one = compare(scores)["score"]
        assert one.mean[2] < one.mean[1]
        assert one.groups().tolist() == [1, 2, 1]


def test_all_forms_agree():
    made = gf.simulate(topics=8, systems=4, depth=20, seed=1)
    scores = gf.evaluate(made.qrels, made.runs, ["AP", "nDCG@10"])
    expected = compare(scores)
    forms = [
        compare(made.qrels, made.runs, ["AP", "nDCG@10"]),
        compare(gf.align(made.qrels, made.runs), ["AP", "nDCG@10"]),
        compare(gf.align(made.qrels, made.runs), measures=["AP", "nDCG@10"]),
        compare(scores.to_frame()),
    ]
    for found in forms:
        assert found.to_frame().equals(expected.to_frame())
        assert found.verdict() == expected.verdict()
    assert forms[0].settings.to_dict() == expected.settings.to_dict()
    matrix = compare(scores["AP"].values)
    assert matrix.to_frame()["p"].to_list() == expected.to_frame().filter(measure="AP")["p"].to_list()
    assert compare(scores, "AP").to_frame().equals(expected.to_frame().filter(measure="AP"))


def test_runs_of_another_collection():
    """They are not called alike: nothing was compared."""
    with pytest.warns(gf.GainfulWarning, match="return no document that has a judgment"):
        found = gf.compare({"1": {"a": 1}, "2": {"b": 1}}, {n: {"1": ["x"], "2": ["y"]} for n in "pq"}, "AP")
    assert found.verdict() == "There is nothing to compare: no run returns any document that is judged."


def test_junit():
    """One test per run and measure, the failed ones with their reason; what comes from data is escaped."""
    base = np.array([0.2, 0.5, 0.3, 0.6, 0.1, 0.4])
    up = base + np.array([0.11, 0.09, 0.12, 0.10, 0.08, 0.10])
    runs = pl.DataFrame({"base": up, "<&>\x1b": base, "same": up})
    suite = ElementTree.fromstring(compare(runs, baseline="base").to_junit())
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["<&>\\x1b against base", "same against base"]
    assert [len(case) for case in suite] == [1, 0]
    suite = ElementTree.fromstring(compare(runs, baseline="base").to_junit(margin=0.2))
    assert suite.get("failures") == "0"
