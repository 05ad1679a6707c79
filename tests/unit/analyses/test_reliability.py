"""Reliability: the published example, a hand calculation, and every odd input."""

import json
import math
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.analyses.reliability import reliability
from gainful.errors import DataError, GainfulError

DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent"))

# By hand: MS 13.5, 6.5, 1.5, so variances (13.5−1.5)/3 = 4, (6.5−1.5)/2 = 2.5 and 1.5.
SCORES = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 8.0]])
# Rows differ less than chance would make them.
CROSSED = np.array([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.02]])


def two_measures():
    """AP on three topics, P on two: run b has no P for topic 3."""
    rows = [("AP", "ab"[i], str(j + 1), SCORES[i, j]) for i in range(2) for j in range(3)]
    rows += [("P", "ab"[i], str(j + 1), SCORES[i, j]) for i in range(2) for j in range(3) if (i, j) != (1, 2)]
    return pl.DataFrame(rows, schema=["measure", "run", "query_id", "score"], orient="row")


class TestByHand:
    def test_variances(self):
        found = reliability(SCORES)["score"]
        assert (found.runs, found.topics) == (2, 3)
        parts = (found.mean_squares, found.raw, found.variances, found.shares)
        expected = [(13.5, 6.5, 1.5), (4.0, 2.5, 1.5), (4.0, 2.5, 1.5), (0.5, 0.3125, 0.1875)]
        for part, numbers in zip(parts, expected, strict=True):
            assert (part.run, part.topic, part.rest) == pytest.approx(numbers)

    def test_coefficients(self):
        found = reliability(SCORES)["score"]
        assert found.phi.value == pytest.approx(4 / (4 + (2.5 + 1.5) / 3))
        assert found.erho2.value == pytest.approx(4 / (4 + 1.5 / 3))
        assert found.at(1).value == pytest.approx(0.5)
        assert found.at(10, "erho2").value == pytest.approx(4 / 4.15)

    def test_topics_needed(self):
        found = reliability(SCORES)["score"]
        assert found.topics_needed(0.95).value == 19  # .95·4/(4·.05) = 19 exactly, which rounding must not make 20
        assert found.topics_needed(0.95, "erho2").value == 8  # .95·1.5/(4·.05) = 7.125
        assert found.topics_needed(0.4).value == 1
        assert reliability(SCORES, target=0.9).topics_needed()["score"].value == 9

    @pytest.mark.parametrize("coefficient", ["phi", "erho2"])
    @pytest.mark.parametrize("target", [0.5, 0.9, 0.95, 0.99])
    def test_topics_needed_are_the_fewest(self, coefficient, target):
        y = np.random.default_rng(1).random((8, 20)) + np.linspace(0, 0.5, 8)[:, None]
        found = reliability(y)["score"]
        needed = found.topics_needed(target, coefficient)
        for n, end in ((needed.value, "value"), (needed.low, "high"), (needed.high, "low")):
            assert getattr(found.at(n, coefficient), end) >= target
            assert n == 1 or getattr(found.at(n - 1, coefficient), end) < target


@pytest.mark.skipif(not DATA.is_dir(), reason="GAINFUL_DATA is not set to a folder")
class TestPublished:
    def test_brennan(self):
        """Brennan 2001, synthetic data set 4: 10 persons and 12 items; intervals of 80 %."""
        found = reliability(DATA / "score-matrices" / "brennan-synthetic4.csv", confidence=0.8)["score"]
        assert (found.runs, found.topics) == (10, 12)
        parts = found.variances
        assert [round(part, 4) for part in (parts.run, parts.topic, parts.rest)] == [0.6258, 0.8840, 2.7872]
        for estimate, expected in ((found.erho2, (0.729, 0.541, 0.876)), (found.phi, (0.672, 0.457, 0.845))):
            assert (estimate.value, estimate.low, estimate.high) == pytest.approx(expected, abs=0.0005)

    def test_web_track_2011(self):
        found = reliability(DATA / "score-matrices" / "web2011_ndcg20.csv")["score"]
        assert found.at(50, "phi").value == pytest.approx(0.782, abs=0.0005)


def test_a_verdict_does_not_round_up_to_the_target():
    """Φ is 4 / (4 + 4/3); 0.754 / 0.246 topics are 3.07."""
    assert reliability(SCORES, target=0.754).verdict().startswith("Φ of score is 0.750 with 3 topics (")
    assert reliability(SCORES, target=0.754).verdict().endswith("; 4 would reach 0.754.")


class TestOddScores:
    def test_negative_variance_of_runs(self):
        result = reliability(CROSSED)
        found = result["score"]
        assert found.raw.run < 0
        assert found.variances.run == 0.0
        assert (found.phi.value, found.phi.low, found.phi.high) == (0.0, 0.0, 0.0)
        assert found.erho2.value == 0.0
        needed = found.topics_needed(0.5)
        assert (needed.value, needed.low, needed.high) == (None, None, None)
        runs, topics, none = result.notes()
        assert runs == gf.Note(
            "clipped-variance",
            "score",
            f"By score, the variance of runs came out negative ({found.raw.run:.3g}) and is taken as 0: runs differ "
            "less than chance alone would make them.",
        )
        assert topics.text.startswith("By score, the variance of topics came out negative (")
        assert (none.code, none.text) == (
            "no-variance",
            "By score, the runs cannot be told apart: with these variances, no number of topics makes their scores "
            "reliable.",
        )
        assert result.verdict() == (
            "Φ of score is 0.00 with 4 topics (0.00 to 0.00): the runs cannot be told apart; no number of topics would "
            "reach 0.95."
        )

    def test_negative_variance_but_an_upper_end(self):
        result = reliability(np.random.default_rng(3).random((4, 10)))
        found = result["score"]
        assert found.variances.run == 0.0
        assert found.phi.high > 0.0
        assert result.verdict().endswith(
            ": the runs cannot be told apart; at the upper end of its interval, "
            f"{found.topics_needed().low} topics would reach 0.95."
        )

    def test_negative_variance_of_topics(self):
        result = reliability([[1.0, 2.0, 1.5], [4.0, 3.0, 3.6]])
        found = result["score"]
        assert found.raw.topic < 0
        assert found.variances.topic == 0.0
        assert found.phi.value == found.erho2.value
        assert [note.text.partition(" (")[0] for note in result.notes()] == [
            "By score, the variance of topics came out negative"
        ]

    def test_variance_that_is_zero_but_for_rounding(self):
        """Where one run always scores 0, both mean squares are (a - b)²/4, and topics vary by their difference: 0."""
        result = reliability([[(1 + 2 / 3) / 2, 1.0], [0.0, 0.0]])
        assert 0.0 < abs(result["score"].raw.topic) < 1e-15
        assert list(result.notes()) == []

    def test_variance_that_is_little_below_zero(self):
        """The mean squares of topics and of the rest are (1 - 0.002)²/4 and (1 + 0.002)²/4: half their difference."""
        result = reliability([[6.0, 5.0], [0.0, 0.002]])
        assert result["score"].raw.topic == pytest.approx(-0.001)
        assert [note.code for note in result.notes()] == ["clipped-variance"]

    def test_interval_that_allows_no_lower_end(self):
        """Told apart, but not surely: the fewest topics are known, the most are not."""
        found = reliability([[0.1, 0.5, 0.3], [0.4, 0.5, 0.6], [0.3, 0.9, 0.5]])["score"]
        assert found.variances.run > 0
        assert found.phi.low == 0.0
        needed = found.topics_needed()
        assert needed.high is None
        assert needed.low <= needed.value

    def test_identical_runs(self):
        result = reliability(np.tile([0.1, 0.2, 0.7], (4, 1)))
        found = result["score"]
        assert (found.phi.value, found.phi.low, found.phi.high) == (0.0, 0.0, 0.0)
        assert math.isnan(found.erho2.value)
        assert found.shares.topic == 1.0
        (note,) = result.notes()
        assert note.text.startswith(
            "By score, all runs have the same scores: with these variances, no number of topics"
        )

    def test_constant_scores(self):
        result = reliability(np.full((3, 4), 0.3))
        found = result["score"]
        assert math.isnan(found.phi.value)
        assert math.isnan(found.erho2.value)
        assert math.isnan(found.shares.run)
        assert found.topics_needed().value is None
        assert json.loads(json.dumps(result.to_dict()))["variances"][0]["variance_run"] == 0.0
        assert result.verdict() == "Φ of score is undefined: no two scores differ."
        assert result.to_frame()["topics_for_phi"].to_list() == [None]
        result.chart()

    def test_topics_that_all_agree(self):
        found = reliability(np.tile([[0.1], [0.4]], (1, 5)))["score"]
        assert (found.phi.value, found.phi.low, found.erho2.value) == (1.0, 1.0, 1.0)
        assert found.topics_needed(0.99).value == 1

    def test_gaps(self):
        with pytest.raises(DataError, match=r"P: run 'b' has no score for topic '3'"):
            reliability(two_measures())
        result = reliability(two_measures(), gaps="drop")
        assert [m.topics for m in result.measures] == [3, 2]
        (note,) = result.notes()
        assert (note.code, note.subject) == ("dropped-topics", "P")
        assert note.text == "By P, 1 of 3 topics is left out: some run has no score there."
        assert result["AP"].phi.value == pytest.approx(0.75)

    def test_too_few(self):
        with pytest.raises(DataError, match="expected at least 2 runs, got 1"):
            reliability([[0.1, 0.2]])
        with pytest.raises(DataError, match="expected at least 2 topics of score, got 1"):
            reliability([[0.1], [0.2]])


class TestSettings:
    @pytest.mark.parametrize("name", ["target", "confidence"])
    @pytest.mark.parametrize("value", [0.0, 1.0, -0.5, math.nan])
    def test_shares(self, name, value):
        message = f"^{name}: expected a number between 0 and 1, both excluded, got {value}$"
        with pytest.raises(GainfulError, match=message):
            reliability(SCORES, **{name: value})

    @pytest.mark.parametrize(("sizes", "got"), [([5, 0], "0"), ([2.5], "2.5"), ([], "none")])
    def test_sizes(self, sizes, got):
        with pytest.raises(GainfulError, match=f"^sizes: expected numbers of topics, whole and at least 1, got {got}$"):
            reliability(SCORES, sizes=sizes)

    def test_coefficient(self):
        for call in (lambda r: r["score"].at(5, "rho"), lambda r: r["score"].topics_needed(0.9, "rho"), chart_of_rho):
            with pytest.raises(
                GainfulError, match=r"^coefficient: expected one of phi, erho2, got 'rho'. Did you mean 'erho2'\?$"
            ):
                call(reliability(SCORES))

    def test_measure(self):
        with pytest.raises(GainfulError, match=r"^no measure 'AP'; there are: score\.$"):
            reliability(SCORES)["AP"]

    def test_more_confidence_is_wider(self):
        y = np.random.default_rng(1).random((8, 20)) + np.linspace(0, 0.5, 8)[:, None]
        narrow, wide = (reliability(y, confidence=c)["score"].phi for c in (0.5, 0.95))
        assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def chart_of_rho(result):
    result.chart("rho")


class TestResult:
    def test_public(self):
        assert gf.reliability is reliability

    def test_curve(self):
        curve = reliability(SCORES, sizes=[1, 3, 1000])
        frame = curve.curve()
        assert frame.columns == [
            *("measure", "topics", "erho2", "erho2_low", "erho2_high"),
            *("phi", "phi_low", "phi_high"),
        ]
        assert frame["topics"].to_list() == [1, 3, 1000]
        assert frame["phi"].to_list() == pytest.approx([4 / 8, 0.75, 4 / 4.004])
        assert frame["phi_high"][1] == curve["score"].phi.high

    def test_default_sizes_show_the_data_and_the_target(self):
        result = reliability(SCORES)
        assert result.sizes[0] == 1
        assert 3 in result.sizes
        assert result.sizes[-1] >= 19
        assert list(result.sizes) == sorted(set(result.sizes))
        # 300 times as many topics as there are would be needed: the curve stops before.
        assert reliability(SCORES, target=0.999).sizes[-1] == 20 * 3

    def test_frame(self):
        frame = reliability(SCORES).to_frame()
        assert frame.height == 1
        row = frame.row(0, named=True)
        assert {name: row[name] for name in ("measure", "runs", "topics", "topics_for_phi", "topics_for_erho2")} == {
            "measure": "score",
            "runs": 2,
            "topics": 3,
            "topics_for_phi": 19,
            "topics_for_erho2": 8,
        }
        assert (row["ms_run"], row["variance_topic"], row["share_rest"]) == pytest.approx((13.5, 2.5, 0.1875))

    def test_dict_is_json_and_ends_with_the_settings(self):
        content = json.loads(json.dumps(reliability(SCORES, sizes=[5], target=0.9).to_dict()))
        (found,) = content["coefficients"]
        assert found["phi"] == pytest.approx(0.75)
        assert found["topics_for_phi"] == 9
        assert [point["topics"] for point in content["curve"]] == [5]
        (parts,) = content["variances"]
        assert (parts["ms_run"], parts["raw_run"], parts["share_run"]) == pytest.approx((13.5, 4.0, 0.5))
        assert content["settings"] == {
            "sizes": [5],
            "target": 0.9,
            "confidence": 0.95,
            "gaps": "error",
            "policies": None,
        }

    def test_text(self):
        text = str(reliability(SCORES))
        assert text.startswith("Φ of score is 0.75 with 3 topics (")
        assert "); 19 would reach 0.95.\n" in text
        assert "Intervals: Φ by Arteaga et al., Eρ² by Feldt." in text.replace("\n", " ")
        assert "variance: runs" in text
        assert text.endswith("\nreliability: 2 runs, 3 topics; target=0.95 confidence=0.95 gaps=error")
        assert "With other numbers of topics" not in text
        assert "With other numbers of topics" in str(reliability(SCORES, sizes=[5]))

    def test_verdict_of_enough_topics(self):
        assert "; 1 of them reaches 0.4." in reliability(SCORES, target=0.4).verdict()

    def test_verdict_of_several_measures(self):
        frame = pl.concat(
            two_measures().filter(pl.col("measure") == "AP").with_columns(measure=pl.lit(name), score=score)
            for name, score in {
                "A": pl.col("score"),
                "B": pl.col("score") + pl.when(pl.col("run") == "b").then(4.0).otherwise(0.0),
                "C": pl.col("score") - pl.when(pl.col("run") == "b").then(1.0).otherwise(0.0),
            }.items()
        )
        # Means 3 apart, 7 apart, 2 apart: MS of runs 13.5, 73.5 and 6, so variances 4, 24 and 1.5; Φ = σ²/(σ² + 4/3).
        assert (
            reliability(frame)
            .verdict()
            .endswith(f" Φ of the other measures is {1.5 / (1.5 + 4 / 3):.2f} (C) to {24 / (24 + 4 / 3):.2f} (B).")
        )
        assert reliability(frame, None, ["A", "C"]).verdict().endswith(f" Φ of C is {1.5 / (1.5 + 4 / 3):.2f}.")

    def test_html_escapes_names(self):
        html = reliability(
            two_measures().with_columns(measure=pl.lit("<b>AP</b>")).unique(["run", "query_id"])
        )._repr_html_()
        assert "<b>AP</b>" not in html.replace("&lt;b&gt;", "")
        assert "Φ of &lt;b&gt;AP&lt;/b&gt; is" in html

    def test_pandas(self):
        frame = reliability(SCORES).to_pandas()
        assert frame["phi"].to_list() == pytest.approx([0.75])
        assert frame["topics_for_phi"].to_list() == [19]

    @pytest.mark.parametrize("coefficient", ["phi", "erho2"])
    def test_chart(self, coefficient):
        specification = reliability(two_measures(), gaps="drop").chart(coefficient).to_dict()
        data = [rows for rows in specification["datasets"].values() if "measure" in rows[0]]
        curve, dots = sorted((rows for rows in data if "place" not in rows[0]), key=len, reverse=True)
        assert {row["measure"] for row in curve} == {"AP", "P"}
        encodings = [layer["encoding"] for layer in specification["layer"]]
        (legend,) = {encoding["color"]["title"] for encoding in encodings if "color" in encoding}
        (names,) = (rows for rows in data if "place" in rows[0])
        assert {(name["measure"], name["topics"]) for name in names} == {
            (measure, max(row["topics"] for row in curve)) for measure in ("AP", "P")
        }
        assert legend == "measure"  # in small letters, as in the charts of all other analyses
        assert [(dot["measure"], dot["topics"]) for dot in dots] == [("AP", 3), ("P", 2)]
        assert all(0 <= row[coefficient] <= 1 for row in curve)
