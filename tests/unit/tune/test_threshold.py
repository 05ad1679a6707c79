"""`fit_threshold` and `apply_threshold`: by hand, by plain loops, and on what people get wrong."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.errors import DataError, GainfulError, MeasureError, PolicyError
from gainful.tune.threshold import fit_threshold, threshold_curve
from gainful.tune.threshold.result import apply_threshold

D = [1.0, 1 / math.log2(3), 1 / math.log2(4)]  # log2 discounts of ranks 1 to 3
QRELS = {"1": {"a": 1, "b": -2}, "2": {"c": -2, "d": 2}, "3": {"e": 1, "f": 0}}
RUN = {"1": {"a": 0.9, "b": 0.3}, "2": {"d": 0.8, "c": 0.4}, "3": {"e": 0.5, "f": 0.1}}


def world(seed: int, topics: int = 12, docs: int = 6):
    """Judgments, a run, and filter scores; all values few enough to tie."""
    rng = np.random.default_rng(seed)
    qrels, run, filters = {}, {}, {}
    for topic in map(str, range(topics)):
        labels = rng.choice([-2, 0, 1, 2], docs, p=[0.4, 0.2, 0.2, 0.2])
        qrels[topic] = {f"d{i}": int(label) for i, label in enumerate(labels)}
        run[topic] = {f"d{i}": round(label + rng.normal(0, 2), 1) for i, label in enumerate(labels)}
        filters[topic] = {f"d{i}": round(label + rng.normal(0, 2), 1) for i, label in enumerate(labels)}
    return qrels, run, filters


def scores_at(qrels, run, filters, measure, threshold):
    """The scores of all topics where the documents below a threshold are taken out, by `evaluate`."""
    kept = {
        topic: {doc: score for doc, score in docs.items() if filters[topic][doc] >= threshold}
        for topic, docs in run.items()
    }
    rows = [(topic, doc, float(score)) for topic, docs in kept.items() for doc, score in docs.items()]
    frame = pl.DataFrame(rows, {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row")
    return gf.evaluate(qrels, gf.Run(frame), measure).values[0, 0]


def all_scores(qrels, run, filters, measure):
    """Thresholds, descending from infinity, and thresholds × topics."""
    thresholds = [math.inf, *sorted({score for docs in filters.values() for score in docs.values()}, reverse=True)]
    return thresholds, np.array([scores_at(qrels, run, filters, measure, at) for at in thresholds])


def last_best(means, allowed=None):
    means = np.where(True if allowed is None else allowed, means, -np.inf)
    return int(np.flatnonzero(means >= means.max() - 1e-10)[-1])


def named(thresholds, at):
    return -math.inf if at == len(thresholds) - 1 else thresholds[at]


def as_known(thresholds, at, given, topics):
    """The place of the threshold that those who know the scores of some topics only would tell."""
    known = sorted({score for topic in topics for score in given[str(topic)].values()}, reverse=True)
    kept = [score for score in known if score >= thresholds[at]]
    if len(kept) == len(known):
        return len(thresholds) - 1
    return thresholds.index(kept[-1]) if kept else 0


class TestByHand:
    cut = fit_threshold(QRELS, RUN, measure="nDCGf@3")

    def test_the_threshold_is_the_lowest_score_kept(self):
        assert self.cut.threshold == 0.5

    def test_its_score(self):
        # All three topics are perfect: the forbidden documents are out, the good ones first.
        assert self.cut.curve.score[self.cut.number] == pytest.approx(1.0)

    def test_unfiltered(self):
        # Topic 1: ideal 1, worst -2, DCG 1 - 2·D(2). Topic 2: ideal 2, worst -2, DCG 2 - 2·D(2). Topic 3 is perfect.
        unfiltered = ((3 - 2 * D[1]) / 3 + (4 - 2 * D[1]) / 4 + 1) / 3
        assert self.cut.curve.score[-1] == pytest.approx(unfiltered)
        assert self.cut.gain == pytest.approx(1 - unfiltered)

    def test_nothing(self):
        assert self.cut.curve.score[0] == pytest.approx((2 / 3 + 2 / 4 + 0) / 3)

    def test_the_curve(self):
        curve = self.cut.curve
        assert curve.thresholds.tolist() == [math.inf, 0.9, 0.8, 0.5, 0.4, 0.3, 0.1]
        assert curve.kept.tolist() == [0, 1, 2, 3, 4, 5, 6]
        assert curve.forbidden == pytest.approx([0, 0, 0, 0, 1 / 6, 1 / 3, 1 / 3])
        assert curve.filtered_good == pytest.approx([1, 2 / 3, 1 / 3, 0, 0, 0, 0])
        assert curve.empty == pytest.approx([1, 2 / 3, 1 / 3, 0, 0, 0, 0])

    def test_applied(self):
        kept = apply_threshold(RUN, self.cut)
        assert kept.frame.rows() == [("1", "a", 0.9), ("2", "d", 0.8), ("3", "e", 0.5)]
        assert gf.evaluate(QRELS, kept, "nDCGf@3").values.mean() == pytest.approx(1.0)

    def test_of_equally_good_thresholds_the_one_that_keeps_most(self):
        # x is unjudged and behind the cutoff: keeping it costs nothing, so it is kept; b is not.
        run = {"1": {"a": 0.9, "x": 0.7, "y": 0.6, "z": 0.5, "b": 0.3}}
        assert fit_threshold({"1": {"a": 1, "b": -2}}, run, measure="nDCGf@5").threshold == 0.5

    def test_scores_that_tie_as_floats_of_trec_eval_are_cut_together(self):
        qrels = {"1": {"a": 1, "b": -1}}
        run = {"1": {"a": 1.0 + 1e-9, "b": 1.0}}
        # As float32 both are 1: b, the larger id, is first. Together they score less than nothing.
        together = fit_threshold(qrels, run)
        assert (together.threshold, len(together.curve)) == (math.inf, 2)
        apart = fit_threshold(qrels, run, ties="order")
        assert apart.threshold == 1.0 + 1e-9
        # The lowest raw score stands for the group, so that applying it keeps the group.
        curve = threshold_curve(qrels, run)
        assert curve.thresholds.tolist() == [math.inf, 1.0]
        assert len(apply_threshold(run, threshold=curve.thresholds[1])) == 2

    def test_a_measure_that_is_better_low(self):
        # Only an empty list, or one without b and c, has no forbidden document; of those 0.5 keeps most.
        cut = fit_threshold(QRELS, RUN, measure="Forbidden@3")
        assert (cut.threshold, cut.gain) == (0.5, pytest.approx(1 / 3))
        # Without topic 1 or 2, still 0.5, the lowest score that is safe: from 1/2 to 0 there. Nothing in topic 3.
        assert cut.held_out.gain == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("separate", [False, True])
class TestPlainLoops:
    def test_limit_on_forbidden(self, seed, separate):
        qrels, run, filters = world(seed)
        given = filters if separate else run
        thresholds, scores = all_scores(qrels, run, given, "nDCGf@3")
        shares = all_scores(qrels, run, given, "Forbidden@3")[1].mean(axis=1)
        for most in (0.0, 0.05, 0.15, 1.0):
            cut = fit_threshold(
                qrels, run, filter_run=filters if separate else None, max_forbidden=most, resamples=1, repeats=1
            )
            at = last_best(scores.mean(axis=1), shares <= most + 1e-12)
            assert cut.threshold == named(thresholds, at)
            assert cut.curve.forbidden[cut.number] <= most + 1e-12

    def test_risk(self, seed, separate):
        qrels, run, filters = world(seed, topics=30)
        given = filters if separate else run
        thresholds, scores = all_scores(qrels, run, given, "nDCGf@2")
        loss = all_scores(qrels, run, given, "P(rel=-2)@2")[1] - all_scores(qrels, run, given, "P(rel=0)@2")[1]
        worst_so_far = np.maximum.accumulate(loss, axis=0)
        if not separate:
            assert (worst_so_far == loss).all()
        bound = (worst_so_far.sum(axis=1) + 1) / 31
        cut = fit_threshold(
            qrels,
            run,
            measure="nDCGf@2",
            filter_run=filters if separate else None,
            risk=0.15,
            resamples=1,
            repeats=1,
        )
        safe = bound <= 0.15
        at = last_best(scores.mean(axis=1), safe)
        assert cut.threshold == named(thresholds, at)
        assert cut.safe_from[0] == named(thresholds, int(np.flatnonzero(safe)[-1]))
        assert cut.safe_from[1] == pytest.approx(bound[at])

    def test_intervals(self, seed, separate):
        qrels, run, filters = world(seed)
        given = filters if separate else run
        thresholds, scores = all_scores(qrels, run, given, "nDCGf@3")
        cut = fit_threshold(
            qrels, run, filter_run=filters if separate else None, resamples=50, confidence=0.9, seed=seed, repeats=1
        )
        drawn = np.random.default_rng(seed).integers(12, size=(50, 12))
        best = [as_known(thresholds, last_best(scores[:, topics].mean(axis=1)), given, topics) for topics in drawn]
        chosen = sorted(named(thresholds, at) for at in best)
        # Of 50 in order, the 3rd is the first to reach 5 %, the 48th the first to reach 95 %.
        assert cut.threshold_interval == (chosen[2], chosen[47])
        gain = scores[cut.number] - scores[-1]
        gains = sorted(gain[topics].mean() for topics in drawn)
        assert cut.gain_interval == pytest.approx((gains[2], gains[47]))

    def test_held_out(self, seed, separate):
        qrels, run, filters = world(seed)
        given = filters if separate else run
        thresholds, scores = all_scores(qrels, run, given, "nDCGf@3")
        shares = all_scores(qrels, run, given, "Forbidden@3")[1]
        cut = fit_threshold(
            qrels,
            run,
            filter_run=filters if separate else None,
            max_forbidden=0.2,
            folds=4,
            repeats=3,
            seed=seed,
            resamples=1,
        )
        rng = np.random.default_rng(seed)
        gain, bad = np.zeros(12), np.zeros(12)
        for _ in range(3):
            part = rng.permutation(12) % 4
            for fold in range(4):
                train, test = part != fold, part == fold
                allowed = shares[:, train].mean(axis=1) <= 0.2 + 1e-12
                at = last_best(scores[:, train].mean(axis=1), allowed)
                at = as_known(thresholds, at, given, np.flatnonzero(train))
                gain[test] += (scores[at] - scores[-1])[test] / 3
                bad[test] += shares[at][test] / 3
        assert cut.held_out.gain == pytest.approx(gain.mean())
        assert cut.held_out.forbidden == pytest.approx(bad.mean())
        half = 2.200985 * gain.std(ddof=1) / math.sqrt(12)  # t(.975, 11 degrees of freedom), from a table
        assert (cut.held_out.low, cut.held_out.high) == pytest.approx(
            (gain.mean() - half, gain.mean() + half), abs=1e-6
        )


class TestLeftOutTopicsAreUnknown:
    """What would be told on the training topics alone is what the held-out topics are cut at."""

    @pytest.mark.parametrize("limits", [{}, {"max_forbidden": 0.1}, {"risk": 0.2}, {"filtered": True}])
    @pytest.mark.parametrize("seed", range(4))
    def test_held_out_is_refit_apply_evaluate(self, seed, limits):
        qrels, run, filters = world(seed, topics=12, docs=3)
        given = dict(limits)
        filters = filters if given.pop("filtered", False) else None
        cut = fit_threshold(qrels, run, filter_run=filters, folds=4, repeats=2, resamples=1, seed=seed, **given)
        rng, names, measures = np.random.default_rng(seed), list(qrels), ["nDCGf@3", "Forbidden@3"]
        gain, bad = np.zeros(12), np.zeros(12)
        whole = gf.evaluate(qrels, run, measures).values[0, 0]
        for _ in range(2):
            part = rng.permutation(12) % 4
            for fold in range(4):
                known = [name for at, name in enumerate(names) if part[at] != fold]
                some = [{t: scores[t] for t in known} if scores else None for scores in (qrels, run, filters)]
                again = fit_threshold(some[0], some[1], filter_run=some[2], folds=2, repeats=1, resamples=1, **given)
                kept = apply_threshold(run, again, filter_run=filters)
                score, forbidden = gf.evaluate(qrels, kept, measures).values[:, 0]
                out = part == fold
                gain[out] += (score - whole)[out] / 2
                bad[out] += forbidden[out] / 2
        assert cut.held_out.gain == pytest.approx(gain.mean())
        assert cut.held_out.forbidden == pytest.approx(bad.mean())

    def test_resampled_thresholds_are_scores_of_the_topics_drawn(self):
        # Three topics of a good document above a bad one: drawn alone, topic t is cut at its own good document.
        qrels = {t: {"a": 1, "b": -2} for t in "123"}
        run = {"1": {"a": 0.9, "b": 0.1}, "2": {"a": 0.8, "b": 0.2}, "3": {"a": 0.7, "b": 0.3}}
        cut = fit_threshold(qrels, run, resamples=2000, confidence=0.999, folds=3)
        # Topic 1 is drawn alone in 1 of 27 resamples, and then 0.9 is the lowest score known to be good.
        assert cut.threshold_interval == (0.7, 0.9)


def test_the_seed_repeats_it():
    qrels, run, _ = world(1)
    first, again, other = (fit_threshold(qrels, run, seed=seed, resamples=40) for seed in (3, 3, 4))
    assert first.to_dict() == again.to_dict()
    assert first.gain_interval != other.gain_interval


def test_filter_scores_only_filter():
    """b ranks first and is filtered out: a moves up to rank 1."""
    qrels = {"1": {"a": 2, "b": -2, "c": 1}}
    run = {"1": {"b": 3, "a": 2, "c": 1}}
    cut = fit_threshold(qrels, run, filter_run={"1": {"a": 0.7, "b": 0.1, "c": 0.2, "other": 9}})
    assert cut.threshold == 0.2
    assert cut.curve.score[cut.number] == pytest.approx(1.0)
    kept = apply_threshold(run, cut, filter_run={"1": {"a": 0.7, "b": 0.1, "c": 0.2}})
    assert kept.frame.rows() == [("1", "a", 2.0), ("1", "c", 1.0)]


class TestPolicies:
    def test_missing_topics(self):
        qrels = {**QRELS, "4": {"g": 1}}
        assert fit_threshold(qrels, RUN).curve.score[-1] == pytest.approx(
            fit_threshold(QRELS, RUN).curve.score[-1] * 3 / 4
        )
        skipped = fit_threshold(qrels, RUN, missing="skip")
        assert skipped.curve.topics == 3
        assert skipped.curve.score[-1] == pytest.approx(fit_threshold(QRELS, RUN).curve.score[-1])
        # A topic that a cut empties is not missing.
        assert skipped.curve.score[0] == pytest.approx((2 / 3 + 2 / 4 + 0) / 3)
        with pytest.raises(PolicyError, match=r"run 'run' returns nothing for 1 of 4 judged topics \(4\)"):
            fit_threshold(qrels, RUN, missing="error")

    def test_topics_without_judgments_are_ignored(self):
        run = {**RUN, "9": {"z": 5.0}}
        cut = fit_threshold(QRELS, run)
        assert (cut.threshold, cut.curve.documents) == (0.5, 6)

    def test_duplicates(self):
        rows = [("1", "a", 0.9), ("1", "b", 0.3), ("1", "a", 0.1)]
        frame = pl.DataFrame(rows, {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row")
        with pytest.raises(DataError, match="document 'a' appears twice in topic '1'"):
            fit_threshold({"1": {"a": 1, "b": -2}}, frame)
        curve = threshold_curve({"1": {"a": 1, "b": -2}}, frame, duplicates="first")
        assert curve.thresholds.tolist() == [math.inf, 0.9, 0.3]

    def test_condensed(self):
        qrels = {"1": {"a": 1, "b": -2}}
        run = {"1": {"x": 0.95, "a": 0.9, "b": 0.3}}
        assert threshold_curve(qrels, run, unjudged="condensed").thresholds.tolist() == [math.inf, 0.9, 0.3]
        with pytest.raises(DataError, match="run 'run': expected judged documents, got none; use unjudged='zero'"):
            threshold_curve(qrels, {"1": {"x": 1.0}}, unjudged="condensed")

    def test_refused(self):
        with pytest.raises(
            PolicyError, match="ties='expected' has no one order to cut: use ties='trec' or ties='order'"
        ):
            fit_threshold(QRELS, RUN, ties="expected")
        with pytest.raises(PolicyError, match="degenerate='nan' leaves no mean to compare: use zero, one or skip"):
            threshold_curve(QRELS, RUN, degenerate="nan")


class TestUnusualInput:
    def test_nothing_forbidden(self):
        cut = fit_threshold({"1": {"a": 1, "b": 0}}, {"1": {"a": 0.9, "b": 0.3}})
        assert (cut.threshold, cut.gain) == (-math.inf, 0.0)
        assert "note: no judged document is forbidden (has a negative label)" in cut.remarks()
        assert "note: no threshold is better than none: everything is kept" in cut.remarks()

    def test_equal_scores(self):
        cut = fit_threshold(QRELS, {"1": {"a": 0.5, "b": 0.5}, "2": {"d": 0.5, "c": 0.5}})
        assert cut.curve.thresholds.tolist() == [math.inf, 0.5]
        assert "note: all scores are equal, so that a threshold keeps everything or nothing" in cut.remarks()

    def test_an_empty_answer_may_be_best(self):
        qrels, run = {"1": {"a": -1, "b": -2}, "2": {"c": -1, "d": 1}}, {"1": {"a": 0.9, "b": 0.3}, "2": {"c": 0.2}}
        cut = fit_threshold(qrels, run)
        assert (cut.threshold, cut.curve.kept[cut.number]) == (math.inf, 0)
        assert "note: nothing is better than an empty answer" in cut.remarks()
        limited = fit_threshold({"1": {"a": -1, "b": 3}}, {"1": {"a": 0.9, "b": 0.3}}, max_forbidden=0)
        assert limited.threshold == math.inf
        assert "note: within the limits nothing is better than an empty answer" in limited.remarks()

    def test_one_topic(self):
        cut = fit_threshold({"1": {"a": 1, "b": -2}}, {"1": {"a": 0.9, "b": 0.3}})
        assert cut.held_out is None
        assert cut.held_out_in_words() == "Held out: one topic alone says nothing about others."
        assert cut.to_frame()["held_out_gain"].to_list() == [None]
        assert cut.threshold_interval == (0.9, 0.9)

    def test_nothing_judged(self):
        qrels = pl.DataFrame(
            {"query_id": ["1"], "doc_id": ["a"], "relevance": [None]}, schema_overrides={"relevance": pl.Float64}
        )
        assert fit_threshold(qrels, {"1": {"a": 1.0}}).gain == 0.0
        with pytest.raises(
            DataError, match="nDCGf@3 is undefined for all topics of qrels 'qrels', and degenerate='skip'"
        ):
            fit_threshold(qrels, {"1": {"a": 1.0}}, degenerate="skip")

    def test_no_topic_in_common(self):
        with pytest.raises(
            DataError, match="run 'run': expected documents for topics of qrels 'qrels', got none of them"
        ):
            fit_threshold(QRELS, {"9": {"a": 1.0}})

    def test_nan(self):
        with pytest.raises(DataError, match="expected a finite score, got nan"):
            fit_threshold(QRELS, {"1": {"a": math.nan}})
        with pytest.raises(DataError, match="expected a finite score, got nan"):
            fit_threshold(QRELS, RUN, filter_run={"1": {"a": math.nan}})

    def test_filter_run_with_gaps(self):
        message = (
            r"filter run 'run': expected a score for every document of run 'run', got none for 'b' in topic '1' "
            r"\(5 of 6 are missing\): add them, or take those documents out of the run"
        )
        with pytest.raises(DataError, match=message):
            fit_threshold(QRELS, RUN, filter_run={"1": {"a": 1.0}})

    def test_filter_run_with_duplicates(self):
        rows = [("1", "a", 0.9), ("1", "a", 0.1), ("1", "b", 0.5)]
        frame = pl.DataFrame(rows, {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row")
        with pytest.raises(DataError, match="filter run 'run': document 'a' appears twice in topic '1': remove one"):
            fit_threshold({"1": {"a": 1, "b": -2}}, {"1": {"a": 1.0, "b": 0.5}}, filter_run=frame)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"risk": 0.05}, "risk=0.05 cannot be guaranteed from 3 topics, whatever the threshold: it takes 19"),
            ({"risk": 1.0}, "risk: expected a share between 0 and 1, got 1.0"),
            ({"max_forbidden": -0.1}, "max_forbidden: expected a share from 0 to 1, got -0.1"),
            ({"confidence": 1.0}, "confidence: expected a number between 0 and 1, such as 0.95, got 1.0"),
            ({"risk": "x"}, "risk: expected a share between 0 and 1, got 'x'"),
            ({"max_forbidden": "x"}, "max_forbidden: expected a share from 0 to 1, got 'x'"),
            ({"folds": 1}, "folds: expected a whole number of at least 2, got 1"),
            ({"folds": 2.5}, "folds: expected a whole number of at least 2, got 2.5"),
            ({"repeats": 0}, "repeats: expected a whole number of at least 1, got 0"),
            ({"repeats": 1.5}, "repeats: expected a whole number of at least 1, got 1.5"),
            ({"resamples": 0}, "resamples: expected at least 1, got 0"),
            ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ],
    )
    def test_settings(self, settings, message):
        with pytest.raises(GainfulError, match=f"^{message}$"):
            fit_threshold(QRELS, RUN, **settings)

    def test_measures(self):
        with pytest.raises(
            MeasureError, match="Empty is neither better high nor low: expected a measure such as nDCGf@3"
        ):
            fit_threshold(QRELS, RUN, measure="Empty")
        assert threshold_curve(QRELS, RUN, measure="Empty").score == pytest.approx([1, 2 / 3, 1 / 3, 0, 0, 0, 0])
        with pytest.raises(MeasureError, match="GMAP is not averaged over topics: expected a measure such as nDCGf@3"):
            threshold_curve(QRELS, RUN, measure="GMAP")
        with pytest.raises(
            MeasureError, match="risk is about the first k places, and nDCGf has no cutoff: write nDCGf@10, say"
        ):
            fit_threshold(QRELS, RUN, measure="nDCGf", risk=0.5)

    def test_risk_needs_no_more_topics_than_it_says(self):
        qrels = {str(t): {"a": 1} for t in range(19)}
        run = {str(t): {"a": 1.0} for t in range(19)}
        cut = fit_threshold(qrels, run, risk=0.05)
        assert cut.safe_from == (-math.inf, pytest.approx(1 / 20))

    def test_the_risk_is_about_k_places_also_where_fewer_are_filled(self):
        qrels = {str(t): {"a": -1 if t == 0 else 1} for t in range(9)}
        run = {str(t): {"a": float(t)} for t in range(9)}
        # One forbidden document in 9 topics of 4 places: (1/4 + 1)/10 where everything is kept.
        cut = fit_threshold(qrels, run, measure="nDCGf@4", risk=0.13)
        assert cut.safe_from == (-math.inf, pytest.approx(1 / 10))


@pytest.mark.parametrize("topics", [2, 48, 97, 102])
def test_as_many_topics_as_the_message_asks_for_are_enough(topics):
    """1/(topics + 1) is not exact as a float, and must not be refused for that; less than it must."""
    qrels = {str(t): {"a": 1} for t in range(topics)}
    run = {topic: {"a": 1.0} for topic in qrels}
    cut = fit_threshold(qrels, run, risk=1 / (topics + 1), resamples=1, repeats=1)
    assert cut.safe_from == (-math.inf, pytest.approx(1 / (topics + 1)))
    message = rf"^risk=.* cannot be guaranteed from {topics} topics, whatever the threshold: it takes {topics + 1}$"
    with pytest.raises(GainfulError, match=message):
        fit_threshold(qrels, run, risk=1 / (topics + 1) - 1e-6, resamples=1, repeats=1)


def test_the_guarantee_says_what_becomes_of_unjudged_documents():
    promises = {
        unjudged: fit_threshold(QRELS, RUN, risk=0.5, unjudged=unjudged, resamples=1).guarantee()
        for unjudged in ("zero", "condensed")
    }
    assert promises["zero"].endswith("not for each; documents without a judgment count as not forbidden.")
    assert promises["condensed"].endswith(
        "not for each; documents without a judgment are taken out first, and it says nothing about lists that show "
        "them."
    )


def test_a_cut_that_keeps_only_what_does_not_count_is_told():
    # x is not judged: to keep it alone scores as much as an empty list, and b costs.
    cut = fit_threshold({"1": {"a": 1, "b": -2}}, {"1": {"x": 0.9, "b": 0.3}}, resamples=1)
    assert cut.threshold == 0.9
    assert cut.remarks()[-1] == "note: nothing is better than an empty answer"


class TestBetterLow:
    def test_a_measure_that_is_one_of_those_beside_it_comes_first_and_once(self):
        cut = fit_threshold(QRELS, RUN, measure="Forbidden@3", resamples=1)
        assert list(cut.at(0)) == ["Forbidden@3", "FilteredGood", "Empty", "documents"]
        cut = fit_threshold(QRELS, RUN, measure="FilteredGood", resamples=1)
        assert list(cut.at(0)) == ["FilteredGood", "Forbidden", "Empty", "documents"]

    def test_the_best_is_the_lowest(self):
        # Forbidden@3 is 0 down to 0.5, and then 1/6 and 1/3.
        curve = threshold_curve(QRELS, RUN, measure="Forbidden@3")
        assert (curve.best, curve.thresholds[curve.best]) == (3, 0.5)
        assert threshold_curve(QRELS, RUN, measure="nDCGf@3").best == 3


class TestDrawn:
    """A chart joins the thresholds of `thinned` by steps: the value up to a threshold is the one at it."""

    curves = ("score", "forbidden", "filtered_good", "empty")

    def largest_error(self, curve, at):
        first = np.searchsorted(-curve.thresholds[at], -curve.thresholds, side="right") - 1
        return {name: np.abs(getattr(curve, name)[at][first] - getattr(curve, name)).max() for name in self.curves}

    def test_between_points_the_drawn_value_is_the_true_one(self):
        qrels, run, _ = world(3, topics=8, docs=12)  # most good documents are below rank 3
        curve = threshold_curve(qrels, run, measure="nDCGf@3")
        assert curve.filtered_good[1:-1].min() < curve.filtered_good[np.flatnonzero(np.diff(curve.score))[-1] + 1]
        assert self.largest_error(curve, curve.thinned(200)) == dict.fromkeys(self.curves, 0.0)

    def test_where_points_are_too_many_it_is_near(self):
        qrels, run, _ = world(4, topics=30, docs=40)
        run = {topic: {doc: score + int(topic) / 1000 for doc, score in docs.items()} for topic, docs in run.items()}
        curve = threshold_curve(qrels, run, measure="nDCGf@3")
        assert len(curve) > 800
        assert max(self.largest_error(curve, curve.thinned(200)).values()) < 0.1

    def test_all_curves_are_inside_the_axis(self):
        qrels, run = {"1": {"a": 1, "b": 0, "c": 1}}, {"1": {"a": 9.0, "b": 5.0, "c": 1.0}}
        spec = threshold_curve(qrels, run, measure="nDCGf@1").chart().to_dict()
        domain = spec["vconcat"][1]["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert domain[0] < 1.0 < 9.0 < domain[1]  # c counts in FilteredGood only


class TestResult:
    qrels, run, filters = world(2, topics=25)
    cut = fit_threshold(qrels, run, risk=0.3, max_forbidden=0.4, resamples=50)

    def test_in_words(self):
        lowest, bound = self.cut.safe_from
        assert self.cut.guarantee() == (
            f"Guarantee: on another topic of the same kind, at most 0.3 of the first 3 places are expected to hold a "
            f"forbidden document, here and at any threshold from {lowest:.6g} up (bound here {bound:.4f}, from 25 "
            f"topics). It holds on average over topics exchangeable with these, not for each; documents without a "
            f"judgment count as not forbidden."
        )
        assert self.cut.guarantee() in self.cut.remarks()
        out = self.cut.held_out
        assert self.cut.held_out_in_words() == (
            f"Held out: a threshold chosen on 4 of 5 parts of the topics gains {out.gain:+.4f} on the rest (0.95 "
            f"interval {out.low:+.4f} to {out.high:+.4f}), against {self.cut.gain:+.4f} on the topics it was "
            "chosen from."
        )
        assert str(self.cut).startswith(f"threshold {self.cut.threshold:.6g} for nDCGf@3: ")
        assert fit_threshold(QRELS, RUN).guarantee() is None

    def test_dict(self):
        content = json.loads(json.dumps(self.cut.to_dict(), allow_nan=False))
        assert content["threshold"] == self.cut.threshold
        assert content["risk"] == 0.3
        assert content["policies"]["ties"] == "trec"
        assert content["seed"] == 0
        assert fit_threshold(QRELS, {"1": {"a": 1.0}}).to_dict()["threshold"] == "-inf"

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
        assert str(curve).startswith(
            f"curve of nDCGf@3 for run: {len(curve) - 1} thresholds, 150 documents, 25 topics; "
        )

    def test_thinned(self):
        curve = self.cut.curve
        at = curve.thinned(10, self.cut.number)
        assert len(at) <= 10
        assert {0, len(curve) - 1, self.cut.number} <= set(at.tolist())

    @pytest.mark.parametrize("cut", [cut, fit_threshold(QRELS, {"1": {"a": 1.0}}, resamples=5)])
    def test_chart(self, cut):
        drawn = cut.chart().to_dict()
        above, below = drawn["vconcat"]
        marks = [layer["mark"]["type"] for layer in above["layer"]]
        assert marks == ["rect", "line", "rule", "point"]
        assert [layer["mark"]["type"] for layer in below["layer"]] == ["line", "rule"]
        assert len(cut.curve.chart().to_dict()["vconcat"]) == 2
