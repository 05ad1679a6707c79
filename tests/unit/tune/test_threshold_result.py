"""What a threshold and its curve say, print, draw and write."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import gainful as gf
from worlds import filterable as world

QRELS = {"1": {"a": 1, "b": -2}, "2": {"c": -2, "d": 2}, "3": {"e": 1, "f": 0}}
RUN = {"1": {"a": 0.9, "b": 0.3}, "2": {"d": 0.8, "c": 0.4}, "3": {"e": 0.5, "f": 0.1}}


def test_the_guarantee_says_what_becomes_of_unjudged_documents():
    promises = {
        unjudged: gf.threshold.fit(QRELS, RUN, risk=0.5, unjudged=unjudged, resamples=1).guarantee()
        for unjudged in ("zero", "condensed")
    }
    assert promises["zero"].endswith("In all this, documents without a judgment count as not forbidden.")
    assert promises["condensed"].endswith(
        "In all this, documents without a judgment are taken out first, and it says nothing about lists that show them."
    )


@pytest.mark.parametrize(("low", "doubt"), [(-0.01, True), (0.0, True), (0.01, False)])
def test_a_gain_that_may_be_none_is_in_doubt(low, doubt):
    """By the interval of the gain held out, whatever its mean."""
    qrels, run, _ = world(3, topics=8, docs=12)
    found = gf.threshold.fit(qrels, run, measure="nDCGf@3", resamples=20)
    held_out = replace(found.held_out, gain=0.02, gain_low=low, gain_high=0.05)
    verdict = replace(found, gain=0.03, held_out=held_out).verdict()
    assert (" It is not shown to improve nDCGf@3 on other topics. " in verdict) == doubt


class TestDrawn:
    """A chart joins the thresholds of `thinned` by steps: the value up to a threshold is the one at it."""

    curves = ("score", "forbidden", "filtered_good", "empty")

    def largest_error(self, curve, at):
        first = np.searchsorted(-curve.thresholds[at], -curve.thresholds, side="right") - 1
        return {name: np.abs(getattr(curve, name)[at][first] - getattr(curve, name)).max() for name in self.curves}

    def test_between_points_the_drawn_value_is_the_true_one(self):
        qrels, run, _ = world(3, topics=8, docs=12)  # most good documents are below rank 3
        curve = gf.threshold.curve(qrels, run, measure="nDCGf@3")
        assert curve.filtered_good[1:-1].min() < curve.filtered_good[np.flatnonzero(np.diff(curve.score))[-1] + 1]
        assert self.largest_error(curve, curve.thinned(200)) == dict.fromkeys(self.curves, 0.0)

    def test_where_points_are_too_many_it_is_near(self):
        qrels, run, _ = world(4, topics=30, docs=40)
        run = {topic: {doc: score + int(topic) / 1000 for doc, score in docs.items()} for topic, docs in run.items()}
        curve = gf.threshold.curve(qrels, run, measure="nDCGf@3")
        assert len(curve) > 800
        assert max(self.largest_error(curve, curve.thinned(200)).values()) < 0.1

    def test_all_curves_are_inside_the_axis(self):
        qrels, run = {"1": {"a": 1, "b": 0, "c": 1}}, {"1": {"a": 9.0, "b": 5.0, "c": 1.0}}
        spec = gf.threshold.curve(qrels, run, measure="nDCGf@1").chart().to_dict()
        domain = spec["vconcat"][1]["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert domain[0] < 1.0 < 9.0 < domain[1]  # c counts in FilteredGood only


class TestResult:
    qrels, run, filters = world(2, topics=25)
    cut = gf.threshold.fit(qrels, run, risk=0.3, max_forbidden=0.4, resamples=50)

    def test_in_words(self):
        lowest, estimate = self.cut.safe_from
        assert self.cut.guarantee() == (
            f"Guarantee in expectation: on average over the topics that a threshold is fitted on and new topics like "
            f"them, at most 0.3 of the first 3 places hold a forbidden document, here and at any threshold from "
            f"{lowest:.6g} up. Fitted on these topics alone it may be more. The share to expect on one more topic "
            f"is estimated as {estimate:.4f}: the mean of the 25 topics here and of one that has nothing but forbidden "
            f"documents; no risk below 0.0385 can be guaranteed from so many. In all this, documents without a "
            f"judgment count as not forbidden."
        )
        assert [note.text for note in self.cut.notes()] == [self.cut.guarantee()]
        out, curve, (low, high) = self.cut.held_out, self.cut.curve, self.cut.threshold_interval
        at = self.cut.number
        assert self.cut.verdict() == (
            f"Cut run at {self.cut.threshold:.6g} (95% interval {low:.6g} to {high:.6g}): on these topics nDCGf@3 "
            f"goes from {curve.score[-1]:.4f} to {curve.score[at]:.4f}, Forbidden@3 from {curve.forbidden[-1]:.4f} to "
            f"{curve.forbidden[at]:.4f}. It is not shown to improve nDCGf@3 on other topics. "
            f"Held out: a threshold chosen on 4 of 5 folds of the topics gains "
            f"{out.gain:+.4f} on the rest (95% interval of the gain expected on new topics {out.gain_low:+.4f} to "
            f"{out.gain_high:+.4f}), against {self.cut.gain:+.4f} on the topics it was chosen from."
        )
        assert gf.threshold.fit(QRELS, RUN).guarantee() is None

    def test_with_confidence(self):
        cut = gf.threshold.fit(self.qrels, self.run, risk=0.3, risk_confidence=0.8, resamples=1)
        lowest, estimate = cut.safe_from
        assert cut.guarantee() == (
            f"Guarantee with confidence 0.8: with probability 0.8 over the topics it was fitted on, at most 0.3 of the "
            f"first 3 places hold a forbidden document on average over new topics like them, here and at any threshold "
            f"from {lowest:.6g} up. The share to expect on one more topic is estimated as {estimate:.4f}: the mean of "
            f"the 25 topics here and of one that has nothing but forbidden documents; no risk below 0.0624 can be "
            f"guaranteed from so many. In all this, documents without a judgment count as not forbidden."
        )
        assert (cut.to_dict()["risk_estimate"], cut.to_dict()["settings"]["risk_confidence"]) == (estimate, 0.8)

    def test_an_interval_without_width_is_noted(self):
        good = {topic: {"a": 1, "b": 1} for topic in "123"}
        cut = gf.threshold.fit(good, {topic: {"a": 2.0, "b": 1.0} for topic in good}, resamples=20)
        assert (cut.held_out.gain_low, cut.held_out.gain_high) == (0.0, 0.0)
        assert [note.code for note in cut.notes()] == ["nothing-forbidden", "nothing-to-gain"]
        assert "nothing-to-gain" not in [note.code for note in self.cut.notes()]

    def test_dict(self):
        content = json.loads(json.dumps(self.cut.to_dict(), allow_nan=False))
        assert content["threshold"] == self.cut.threshold
        assert content["chosen"]["nDCGf@3"] == self.cut.curve.score[self.cut.number]
        assert content["settings"]["risk"] == 0.3
        assert content["settings"]["policies"]["ties"] == "trec"
        assert content["settings"]["seed"] == 0
        assert gf.threshold.fit(QRELS, {"1": {"a": 1.0}}).to_dict()["threshold"] == "-inf"

    def test_frame(self):
        row = self.cut.to_frame().row(0, named=True)
        assert row["gain"] == pytest.approx(row["score"] - row["unfiltered"])
        assert row["threshold_low"] <= row["threshold"] <= row["threshold_high"]

    def test_curve(self):
        curve = self.cut.curve
        assert curve.to_frame().columns == ["threshold", "kept", "score", "forbidden", "filtered_good", "empty"]
        content = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
        assert content["curve"]["threshold"][0] == "inf"
        assert content["curve"]["score"] == curve.score.tolist()
        assert [note.code for note in curve.notes()] == ["in-sample", "shortened"]
        assert len(curve.compact()[0].frame) <= 20

    def test_thinned(self):
        curve = self.cut.curve
        at = curve.thinned(10, self.cut.number)
        assert len(at) <= 10
        assert {0, len(curve) - 1, self.cut.number} <= set(at.tolist())

    @pytest.mark.parametrize("cut", [cut, gf.threshold.fit(QRELS, {"1": {"a": 1.0}}, resamples=5)])
    def test_chart(self, cut):
        drawn = cut.chart().to_dict()
        above, below = drawn["vconcat"]
        marks = [layer["mark"]["type"] for layer in above["layer"]]
        assert marks == ["rect", "line", "point", "rule", "point"]
        assert [layer["mark"]["type"] for layer in below["layer"]] == ["line", "rule", "text", "rule"]
        assert len(cut.curve.chart().to_dict()["vconcat"]) == 2


class TestByHand:
    """Three topics of one good document each, 0.5 the lowest of their scores; see test_threshold."""

    fitted, curve = gf.threshold.fit(QRELS, RUN, resamples=20), gf.threshold.curve(QRELS, RUN)

    def test_tables(self):
        outcome, gains = self.fitted.tables()
        assert [row[:3] for row in outcome.cells()] == [
            ["everything", "0.1", "0.7546"],
            ["from the threshold", "0.5", "1.0000"],
            ["nothing", "inf", "0.3889"],
        ]
        assert [row[-1] for row in outcome.cells()] == ["6", "3", "0"]
        assert gains.cells()[0][:2] == ["on these topics", "+0.2454"]

    def test_best(self):
        curve, best = self.curve.tables()
        assert curve.best == {(3, 2)}
        assert best.cells() == [["run", "0.7546", "1.0000", "0.5", "0.5000", "0.3333", "0.0000"]]
        assert self.curve.verdict() == (
            "Cut run at 0.5: on these topics nDCGf@3 goes from 0.7546 to 1.0000, Forbidden@3 from 0.3333 to 0.0000."
        )

    def test_neither_better_high_nor_low(self):
        empty = gf.threshold.curve(QRELS, RUN, measure="Empty")
        assert empty.verdict() == "Empty of run is 0.0000 where everything is kept, 1.0000 where nothing is."
        assert [(table.name, table.best) for table in empty.tables()] == [("curve", frozenset())]
        assert [layer["mark"]["type"] for layer in empty.chart().to_dict()["vconcat"][0]["layer"]] == ["line", "point"]

    def test_printed(self):
        lines = str(self.fitted).splitlines()
        assert lines[0].startswith("Cut run at 0.5 (95% interval ")
        assert lines[-1] == (
            "threshold fit: run, 3 topics; measure=nDCGf@3 resamples=20 confidence=0.95 folds=5 repeats=20 seed=0 "
            "ties=trec unjudged=zero missing=empty degenerate=zero duplicates=error"
        )
        assert str(self.curve).splitlines()[-1].startswith("threshold curve: run, 3 topics; measure=nDCGf@3 ties=trec")

    def test_html_escapes_names(self):
        run = gf.Run(gf.read_run(RUN).frame, "<b>&")
        for found in (gf.threshold.curve(QRELS, run), gf.threshold.fit(QRELS, run, resamples=5)):
            assert "Cut &lt;b&gt;&amp; at 0.5" in found._repr_html_()
            assert "<b>&" not in found._repr_html_()

    def test_pandas(self):
        pytest.importorskip("pandas")
        assert self.fitted.to_pandas()["threshold"].tolist() == [0.5]
        assert self.curve.to_pandas()["kept"].tolist() == [0, 1, 2, 3, 4, 5, 6]
