"""Topic-set size: by hand, by statsmodels, and every odd input."""

import json
import math

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.power import FTestAnovaPower, TTestPower

import gainful as gf
from gainful.analyses.topics import topics
from gainful.errors import DataError, GainfulError
from gainful.stats.pooled import variance_interval

# By hand: mean squares 13.5, 6.5 and 1.5; so differences vary by 2·1.5 = 3 (they are 2, 2, 5: mean 3, variance 3), and
# scores within runs by (1 + 1 + 0 + 4 + 1 + 9)/(2·2) = 4.
SCORES = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 8.0]])
MANY = np.random.default_rng(7).random((6, 40))


def several():
    """Two runs by three measures; the last varies a thousand times as much as the first."""
    return pl.concat(
        pl.DataFrame({"query_id": [str(t) for t in range(40)], "run": run, "measure": measure, "score": scores})
        for measure, factor in (("AP", 1.0), ("big", 1000.0), ("P@5", 0.5))
        for run, scores in (("a", MANY[0] * factor), ("b", MANY[1] * factor))
    )


class TestByHand:
    def test_variance_of_differences(self):
        for method in ("t", "interval"):
            assert topics(SCORES, method=method)["score"].variance == pytest.approx(3.0)

    def test_variance_within_runs(self):
        assert topics(SCORES, method="anova")["score"].variance == pytest.approx(4.0)

    def test_medium_effect(self):
        """A difference of half a standard deviation takes 34 pairs (Cohen, G*Power)."""
        assert topics(SCORES, difference=math.sqrt(3) / 2)["score"].needed == 34

    def test_medium_effect_of_two_runs(self):
        """Two groups half a standard deviation (2) apart: 64 each (Cohen's f = .25); the range is all there is."""
        assert topics(SCORES, difference=1.0, method="anova")["score"].needed == 64

    def test_pooled_is_the_mean_of_all_pairs(self):
        result = topics(MANY)
        by_loops = [np.var(MANY[i] - MANY[j], ddof=1) for i in range(6) for j in range(i + 1, 6)]
        assert result["score"].variance == pytest.approx(np.mean(by_loops))
        assert result.pairs()["variance"].to_list() == pytest.approx(by_loops)


class TestAgainstStatsmodels:
    @pytest.mark.parametrize(("difference", "alpha", "power"), [(0.05, 0.05, 0.8), (0.1, 0.01, 0.9), (0.5, 0.2, 0.5)])
    def test_t(self, difference, alpha, power):
        found = topics(MANY, difference=difference, alpha=alpha, power=power)["score"]

        def theirs(n):
            return TTestPower().power(difference / math.sqrt(found.variance), n, alpha)

        assert theirs(found.needed) >= power > theirs(found.needed - 1)
        assert found.attained == pytest.approx(theirs(found.needed), abs=1e-9)
        assert found.now == pytest.approx(theirs(40), abs=1e-9)
        solved = TTestPower().solve_power(nobs=40, alpha=alpha, power=power) * math.sqrt(found.variance)
        assert found.detectable == pytest.approx(solved, rel=1e-4)

    @pytest.mark.parametrize("systems", [2, 3, 10])
    def test_anova(self, systems):
        found = topics(MANY, difference=0.1, method="anova", systems=systems)["score"]
        means = np.zeros(systems)
        means[:2] = 0.05, -0.05  # the others half-way: no arrangement with this range has less power
        f = math.sqrt(np.mean(means**2) / found.variance)

        def theirs(n):
            return FTestAnovaPower().power(f, n * systems, 0.05, k_groups=systems)

        assert theirs(found.needed) >= 0.8 > theirs(found.needed - 1)
        assert found.now == pytest.approx(theirs(40), abs=1e-9)
        again = topics(MANY, difference=found.detectable, method="anova", systems=systems)["score"]
        assert again.now == pytest.approx(0.8, abs=1e-9)

    def test_anova_compares_all_runs_unless_told(self):
        result = topics(MANY, method="anova")
        assert result.plan.systems == 6
        assert result["score"].needed == topics(MANY, method="anova", systems=6)["score"].needed
        assert topics(MANY).plan.systems is None


def test_interval_is_the_full_width():
    """With many topics the interval is ±1.96 standard errors."""
    found = topics(MANY, difference=0.02, method="interval")["score"]
    approximate = (2 * 1.959964 / 0.02) ** 2 * found.variance
    assert found.needed == pytest.approx(approximate, rel=0.001)
    assert found.attained <= 0.02
    assert topics(MANY, difference=found.attained, method="interval")["score"].needed == found.needed
    smaller = topics(MANY, difference=0.02, method="interval").curve([found.needed - 1])
    assert smaller["width"].item() > 0.02
    assert found.detectable == found.now


class TestPairs:
    def test_each_needs_its_own(self):
        result = topics(np.vstack([SCORES, SCORES[0] + [0.1, 0.0, 0.0]]), difference=math.sqrt(3) / 2)
        pairs = result.pairs()
        assert pairs.select("run", "other").rows() == [("1", "2"), ("1", "3"), ("2", "3")]
        assert pairs["needed"][0] == 34
        assert pairs["difference"][0] == pytest.approx(-3.0)
        assert pairs["variance"][1] == pytest.approx(0.01 / 3)
        assert pairs["needed"][1] < 5

    def test_identical_runs(self):
        """Or such that differ by the same on every topic: rounding is not variance."""
        pairs = topics(np.vstack([MANY[:2], MANY[0], MANY[0] + 1 / 3, MANY[0] + 0.1])).pairs()
        alike = pairs.filter(pl.col("run").is_in(["1", "3", "4"]) & pl.col("other").is_in(["3", "4", "5"]))
        assert alike["variance"].to_list() == [0.0] * 6
        assert alike["needed"].to_list() == [2] * 6

    def test_not_of_an_anova(self):
        with pytest.raises(
            GainfulError,
            match=r"^pairs: expected method 't' or 'interval', got 'anova', which compares all runs at once$",
        ):
            topics(SCORES, method="anova").pairs()

    def test_shares_are_quantiles(self):
        """Of 15 pairs, 2 are the first tenth that is one (1.5 pairs), 8 are half, 14 nine tenths."""
        result = topics(MANY, difference=0.1)
        needed = sorted(result.pairs()["needed"].to_list())
        assert result["score"].shares == tuple(needed[number - 1] for number in (2, 4, 8, 12, 14))
        assert topics(MANY, method="anova")["score"].shares == ()


class TestInterval:
    def test_contains_the_number(self):
        for method in ("t", "anova", "interval"):
            found = topics(MANY, method=method)["score"]
            assert found.low < found.needed < found.high

    def test_is_that_of_the_variance(self):
        """The number of topics grows with the variance: the ends are those of the ends of its interval."""
        result = topics(MANY, difference=0.1, seed=3, resamples=500)
        centred = MANY - MANY.mean(axis=0)
        residuals = centred - centred.mean(axis=1, keepdims=True)
        ends = variance_interval(residuals, 2 / 5, confidence=0.95, resamples=500, seed=3)
        assert result.plan.needed(np.array(ends)) == [result["score"].low, result["score"].high]

    def test_wider_with_fewer_topics_and_more_confidence(self):
        def width(*scores, **settings):
            found = topics(*scores, **settings)["score"]
            return found.high / found.low

        assert width(MANY[:, :10]) > width(MANY) > width(MANY, confidence=0.5) > 1


class TestSimulated:
    def test_normal_scores_have_the_power_of_the_formula(self):
        """One normal population, of so many topics that it is known: Monte Carlo error alone is left."""
        scores = np.random.default_rng(0).normal(size=(2, 20_000))
        for settings in ({}, {"method": "anova"}):
            found = topics(scores, difference=0.5, resamples=4000, **settings)["score"]
            assert found.simulated == pytest.approx(found.attained, abs=4 * math.sqrt(0.8 * 0.2 / 4000))
        found = topics(scores, difference=0.5, method="interval", resamples=4000)["score"]
        assert found.simulated == pytest.approx(found.attained, rel=0.01)

    def test_pairs_are_taken_as_they_are(self):
        """Two runs are one, and any difference between them would be found; the third varies, normally, by 1."""
        third = np.random.default_rng(0).normal(size=20_000)
        found = topics(np.vstack([np.zeros((2, 20_000)), third]), difference=0.5, resamples=4000)["score"]
        expected = (1 + 2 * TTestPower().power(0.5 / third.std(ddof=1), found.needed, 0.05)) / 3
        assert found.attained > 0.8
        assert found.simulated == pytest.approx(expected, abs=0.025)

    def test_not_of_huge_numbers(self):
        found = topics(MANY, difference=0.01)["score"]
        assert found.needed > 5000
        assert math.isnan(found.simulated)
        assert found.simulated_now >= 0


class TestOddScores:
    @pytest.mark.parametrize("method", ["t", "interval"])
    @pytest.mark.parametrize("scores", [np.full((3, 4), 1 / 3), np.tile([0.1, 0.2, 0.7], (4, 1))])
    def test_differences_without_variance(self, method, scores):
        result = topics(scores, method=method)
        found = result["score"]
        assert (found.needed, found.variance, found.detectable) == (2, 0.0, 0.0)
        assert found.attained == (1.0 if method == "t" else 0.0)
        (note,) = result.notes()
        assert (note.code, note.subject) == ("no-variance", "score")
        assert note.text == (
            "By score, the differences of runs do not vary with the topic, so that the formula gives 2 topics, the "
            "fewest there can be."
        )
        assert result.verdict() == (
            "By score, the differences of runs do not vary with the topic: there is no variance to plan with."
        )
        result.chart()
        json.dumps(result.to_dict())

    def test_constant_scores(self):
        result = topics(np.full((3, 4), 1 / 3), method="anova")
        assert result["score"].needed == 2
        (note,) = result.notes()
        assert note.text == (
            "By score, the scores do not vary with the topic, so that the formula gives 2 topics, the "
            "fewest there can be."
        )

    @pytest.mark.parametrize("method", ["t", "anova", "interval"])
    def test_out_of_reach(self, method):
        result = topics(MANY, difference=1e-5, method=method)
        found = result["score"]
        assert found.needed is None
        assert math.isnan(found.attained)
        (note,) = result.notes()
        assert (note.code, note.subject) == ("out-of-reach", "score")
        assert note.text == "By score, 1,000,000 topics are not enough: ask for a larger difference."
        assert "more than 1,000,000 topics; " in result.verdict()
        assert (
            topics(MANY, difference=1e-6)
            .verdict()
            .endswith("Half of the pairs of runs need more than 1,000,000 topics, 90% need more than 1,000,000.")
        )
        assert result.to_frame()["needed"].to_list() == [None]
        result.chart()

    def test_power_below_alpha_needs_no_difference(self):
        found = topics(MANY, power=0.04)["score"]
        assert (found.needed, found.detectable) == (2, 0.0)

    def test_gaps(self):
        gappy = MANY.copy()
        gappy[1, 3] = np.nan
        with pytest.raises(DataError, match="score: run '2' has no score for topic '4'"):
            topics(gappy)
        found = topics(gappy, gaps="drop")["score"]
        assert found.topics == 39

    def test_too_few(self):
        with pytest.raises(DataError, match="expected at least 2 runs, got 1"):
            topics([[0.1, 0.2]])
        with pytest.raises(DataError, match="expected at least 2 topics of score, got 1"):
            topics([[0.1], [0.2]])


class TestSettings:
    @pytest.mark.parametrize("value", [0.0, -0.1, math.nan, math.inf])
    def test_difference(self, value):
        with pytest.raises(GainfulError, match=f"^difference: expected a number above 0, got {value}$"):
            topics(SCORES, difference=value)

    @pytest.mark.parametrize("name", ["alpha", "power"])
    @pytest.mark.parametrize("value", [0.0, 1.0, 1.5])
    def test_shares(self, name, value):
        with pytest.raises(GainfulError, match=f"^{name}: expected a number between 0 and 1, both excluded, got"):
            topics(SCORES, **{name: value})

    def test_method(self):
        with pytest.raises(GainfulError, match=r"^method: expected one of t, anova, interval, got 'z'\.$"):
            topics(SCORES, method="z")

    def test_systems(self):
        with pytest.raises(GainfulError, match=r"^systems: expected a whole number of at least 2, got 1$"):
            topics(SCORES, method="anova", systems=1)
        with pytest.raises(GainfulError, match=r"^systems: expected a whole number of at least 2, got 2\.5$"):
            topics(SCORES, method="anova", systems=2.5)

    @pytest.mark.parametrize("method", ["t", "interval"])
    def test_systems_without_anova(self, method):
        message = f"systems: expected none for method='{method}', which compares two at a time, got 7"
        with pytest.raises(GainfulError, match=f"^{message}$"):
            topics(SCORES, method=method, systems=7)

    def test_sizes(self):
        with pytest.raises(GainfulError, match=r"^sizes: expected numbers of topics, whole and at least 2, got 1$"):
            topics(SCORES).curve([5, 1])

    def test_measure(self):
        with pytest.raises(GainfulError, match=r"^no measure 'AP'; there are: score\.$"):
            topics(SCORES)["AP"]


class TestResult:
    def test_public(self):
        assert gf.topics is topics

    def test_curve(self):
        curve = topics(SCORES, difference=math.sqrt(3) / 2).curve([2, 33, 34])
        assert curve.columns == ["measure", "topics", "power"]
        expected = [TTestPower().power(0.5, n, 0.05) for n in (2, 33, 34)]
        assert curve["power"].to_list() == pytest.approx(expected, abs=1e-9)

    def test_default_curve_shows_the_data_and_the_answer(self):
        sizes = topics(SCORES, difference=math.sqrt(3) / 2).curve()["topics"].to_list()
        assert sizes[0] == 2
        assert {3, 34} <= set(sizes)
        assert 34 < sizes[-1] < 50

    def test_text_and_settings(self):
        text = str(topics(SCORES, difference=1.0, method="anova", systems=2))
        assert text.startswith(
            "To find a range of 1 in score with power 0.8 (α = 0.05), a one-way ANOVA of 2 runs needs"
        )
        assert " 64 topics (9 to 514); the 3 topics here have power" in text.replace("\n", " ")
        assert "One-way ANOVA; variance within runs." in text
        assert "note: The variance by score comes from only 3 topics" in text
        assert text.endswith(
            "\ntopics: 2 runs, 3 topics; difference=1 alpha=0.05 power=0.8 method=anova systems=2 "
            "confidence=0.95 resamples=2000 seed=0 gaps=error"
        )
        content = topics(SCORES, method="interval").to_dict()
        assert list(content) == ["verdict", "measures", "curve", "notes", "settings"]
        assert content["settings"]["method"] == "interval"

    def test_verdict_of_an_interval(self):
        result = topics(MANY, difference=0.02, method="interval", alpha=0.1)
        found = result["score"]
        assert result.verdict() == (
            "For the 90% t interval of a difference in score to be at most 0.02 wide on average, it takes "
            f"{found.needed:,} topics ({found.low:,} to {found.high:,}); with the 40 topics here it is {found.now:.3f} "
            f"wide. Half of the pairs of runs need {found.shares[2]:,} topics or fewer, 90% need {found.shares[4]:,}."
        )

    def test_verdict_of_several_measures(self):
        frame = several()
        result = topics(frame)
        assert result.verdict().startswith(
            "To find a difference of 0.05 in AP with power 0.8 (α = 0.05), a paired t-test"
        )
        assert result.verdict().endswith(
            f" The other measures need {result['P@5'].needed} (P@5) to more than 1,000,000 (big)."
        )
        assert topics(frame, None, ["AP", "P@5"]).verdict().endswith(f" P@5 needs {result['P@5'].needed}.")

    def test_html_escapes_names(self):
        html = topics(several().with_columns(pl.col("measure").replace({"AP": "<i>x"})))._repr_html_()
        assert "<i>x" not in html
        assert "in &lt;i&gt;x with power" in html

    def test_pandas(self):
        frame = topics(SCORES, difference=math.sqrt(3) / 2).to_pandas()
        assert frame["needed"].to_list() == [34]

    def test_dict_is_json(self):
        content = json.loads(json.dumps(topics(SCORES, difference=math.sqrt(3) / 2).to_dict()))
        (found,) = content["measures"]
        assert (found["runs"], found["topics"], found["needed"]) == (2, 3, 34)
        assert found["power"] == pytest.approx(TTestPower().power(0.5, 34, 0.05), abs=1e-9)
        assert content["settings"]["power"] == 0.8
        assert set(content["curve"][0]) == {"measure", "topics", "power"}

    @pytest.mark.parametrize(("method", "axis"), [("t", "power"), ("anova", "power"), ("interval", "width")])
    def test_chart(self, method, axis):
        result = topics(several(), None, ["AP", "P@5"], method=method)
        data = [rows for rows in result.chart().to_dict()["datasets"].values() if "measure" in rows[0]]
        curve, dots = sorted((rows for rows in data if "place" not in rows[0]), key=len, reverse=True)
        ranges = {m.measure: np.ptp([np.mean(run) for run in m.scores.values]) for m in result.measures}
        assert {row["measure"] for row in curve} == {
            f"{m.measure}: {m.needed:,} topics ({0.05 / ranges[m.measure]:.0%})" for m in result.measures
        }
        assert [dot["topics"] for dot in dots] == [40, 40]
        assert [dot[axis] for dot in dots] == [m.now for m in result.measures]
