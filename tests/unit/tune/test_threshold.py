"""`gf.threshold.fit` and `gf.threshold.apply`: by hand, by plain loops, and on what people get wrong."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.errors import DataError, GainfulError, MeasureError, PolicyError
from worlds import filterable as world

D = [1.0, 1 / math.log2(3), 1 / math.log2(4)]  # log2 discounts of ranks 1 to 3
QRELS = {"1": {"a": 1, "b": -2}, "2": {"c": -2, "d": 2}, "3": {"e": 1, "f": 0}}
RUN = {"1": {"a": 0.9, "b": 0.3}, "2": {"d": 0.8, "c": 0.4}, "3": {"e": 0.5, "f": 0.1}}


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
    @property
    def cut(self):
        return gf.threshold.fit(QRELS, RUN, measure="nDCGf@3")

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
        kept = gf.threshold.apply(RUN, self.cut)
        assert kept.frame.rows() == [("1", "a", 0.9), ("2", "d", 0.8), ("3", "e", 0.5)]
        assert gf.evaluate(QRELS, kept, "nDCGf@3").values.mean() == pytest.approx(1.0)

    def test_of_equally_good_thresholds_the_one_that_keeps_most(self):
        # x is unjudged and behind the cutoff: keeping it costs nothing, so it is kept; b is not.
        run = {"1": {"a": 0.9, "x": 0.7, "y": 0.6, "z": 0.5, "b": 0.3}}
        assert gf.threshold.fit({"1": {"a": 1, "b": -2}}, run, measure="nDCGf@5").threshold == 0.5

    def test_scores_that_tie_as_floats_of_trec_eval_are_cut_together(self):
        qrels = {"1": {"a": 1, "b": -1}}
        run = {"1": {"a": 1.0 + 1e-9, "b": 1.0}}
        # As float32 both are 1: b, the larger id, is first. Together they score less than nothing.
        together = gf.threshold.fit(qrels, run)
        assert (together.threshold, len(together.curve)) == (math.inf, 2)
        apart = gf.threshold.fit(qrels, run, ties="order")
        assert apart.threshold == 1.0 + 1e-9
        # The lowest raw score stands for the group, so that applying it keeps the group.
        curve = gf.threshold.curve(qrels, run)
        assert curve.thresholds.tolist() == [math.inf, 1.0]
        assert len(gf.threshold.apply(run, threshold=curve.thresholds[1])) == 2

    def test_a_measure_that_is_better_low(self):
        # Only an empty list, or one without b and c, has no forbidden document; of those 0.5 keeps most.
        cut = gf.threshold.fit(QRELS, RUN, measure="Forbidden@3")
        assert (cut.threshold, cut.gain) == (0.5, pytest.approx(1 / 3))
        # Without topic 1 or 2, still 0.5, the lowest score that is safe: from 1/2 to 0 there. Nothing in topic 3.
        assert cut.held_out.gain == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
@pytest.mark.parametrize("separate", [False, True])
class TestPlainLoops:
    def test_limit_on_forbidden(self, seed, separate):
        qrels, run, filters = world(seed)
        given = filters if separate else run
        thresholds, scores = all_scores(qrels, run, given, "nDCGf@3")
        shares = all_scores(qrels, run, given, "Forbidden@3")[1].mean(axis=1)
        for most in (0.0, 0.05, 0.15, 1.0):
            cut = gf.threshold.fit(
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
        cut = gf.threshold.fit(
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
        cut = gf.threshold.fit(
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
        cut = gf.threshold.fit(
            qrels,
            run,
            filter_run=filters if separate else None,
            max_forbidden=0.2,
            folds=4,
            repeats=3,
            seed=seed,
            resamples=9,
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
        # The interval: a topic's gain at the thresholds that 9 resamples choose, its moments averaged over these.
        moments = []
        for topics in np.random.default_rng(seed).integers(12, size=(9, 12)):
            at = last_best(scores[:, topics].mean(axis=1), shares[:, topics].mean(axis=1) <= 0.2 + 1e-12)
            at = as_known(thresholds, at, given, np.unique(topics))
            apart = scores[at] - scores[-1] - (scores[at] - scores[-1]).mean()
            moments.append([(apart**2).mean(), (apart**3).mean()])
        second, third = np.mean(moments, axis=0)
        error, pull = math.sqrt(second / 11), third / second**1.5 / math.sqrt(12)
        for end, quantile in ((cut.held_out.gain_low, 2.200985), (cut.held_out.gain_high, -2.200985)):
            t = (gain.mean() - end) / error  # Hall's polynomial of it is Student's quantile, t(.975, 11) from a table
            assert t + pull * t**2 / 3 + pull**2 * t**3 / 27 + pull / 6 == pytest.approx(quantile, abs=1e-5)


class TestLeftOutTopicsAreUnknown:
    """What would be told on the training topics alone is what the held-out topics are cut at."""

    @pytest.mark.parametrize("limits", [{}, {"max_forbidden": 0.1}, {"risk": 0.2}, {"filtered": True}])
    @pytest.mark.parametrize("seed", range(4))
    def test_held_out_is_refit_apply_evaluate(self, seed, limits):
        qrels, run, filters = world(seed, topics=12, docs=3)
        given = dict(limits)
        filters = filters if given.pop("filtered", False) else None
        cut = gf.threshold.fit(qrels, run, filter_run=filters, folds=4, repeats=2, resamples=1, seed=seed, **given)
        rng, names, measures = np.random.default_rng(seed), list(qrels), ["nDCGf@3", "Forbidden@3"]
        gain, bad = np.zeros(12), np.zeros(12)
        whole = gf.evaluate(qrels, run, measures).values[0, 0]
        for _ in range(2):
            part = rng.permutation(12) % 4
            for fold in range(4):
                known = [name for at, name in enumerate(names) if part[at] != fold]
                some = [{t: scores[t] for t in known} if scores else None for scores in (qrels, run, filters)]
                again = gf.threshold.fit(some[0], some[1], filter_run=some[2], folds=2, repeats=1, resamples=1, **given)
                kept = gf.threshold.apply(run, again, filter_run=filters)
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
        cut = gf.threshold.fit(qrels, run, resamples=2000, confidence=0.999, folds=3)
        # Topic 1 is drawn alone in 1 of 27 resamples, and then 0.9 is the lowest score known to be good.
        assert cut.threshold_interval == (0.7, 0.9)


def test_the_seed_repeats_it():
    qrels, run, _ = world(1)
    first, again, other = (gf.threshold.fit(qrels, run, seed=seed, resamples=40) for seed in (3, 3, 4))
    assert first.to_dict() == again.to_dict()
    assert first.gain_interval != other.gain_interval


def test_filter_scores_only_filter():
    """b ranks first and is filtered out: a moves up to rank 1."""
    qrels = {"1": {"a": 2, "b": -2, "c": 1}}
    run = {"1": {"b": 3, "a": 2, "c": 1}}
    cut = gf.threshold.fit(qrels, run, filter_run={"1": {"a": 0.7, "b": 0.1, "c": 0.2, "other": 9}})
    assert cut.threshold == 0.2
    assert cut.curve.score[cut.number] == pytest.approx(1.0)
    assert cut.verdict().startswith("Cut run at 0.2 by the scores of run: on these topics ")
    kept = gf.threshold.apply(run, cut, filter_run={"1": {"a": 0.7, "b": 0.1, "c": 0.2}})
    assert kept.frame.rows() == [("1", "a", 2.0), ("1", "c", 1.0)]


class TestPolicies:
    def test_missing_topics(self):
        qrels = {**QRELS, "4": {"g": 1}}
        assert gf.threshold.fit(qrels, RUN).curve.score[-1] == pytest.approx(
            gf.threshold.fit(QRELS, RUN).curve.score[-1] * 3 / 4
        )
        skipped = gf.threshold.fit(qrels, RUN, missing="skip")
        assert skipped.curve.topics == 3
        assert skipped.curve.score[-1] == pytest.approx(gf.threshold.fit(QRELS, RUN).curve.score[-1])
        # A topic that a cut empties is not missing.
        assert skipped.curve.score[0] == pytest.approx((2 / 3 + 2 / 4 + 0) / 3)
        with pytest.raises(PolicyError, match=r"run 'run' returns nothing for 1 of 4 judged topics \(4\)"):
            gf.threshold.fit(qrels, RUN, missing="error")

    def test_topics_without_judgments_are_ignored(self):
        run = {**RUN, "9": {"z": 5.0}}
        cut = gf.threshold.fit(QRELS, run)
        assert (cut.threshold, cut.curve.documents) == (0.5, 6)

    def test_duplicates(self):
        rows = [("1", "a", 0.9), ("1", "b", 0.3), ("1", "a", 0.1)]
        frame = pl.DataFrame(rows, {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row")
        with pytest.raises(DataError, match="document 'a' appears twice in topic '1'"):
            gf.threshold.fit({"1": {"a": 1, "b": -2}}, frame)
        curve = gf.threshold.curve({"1": {"a": 1, "b": -2}}, frame, duplicates="first")
        assert curve.thresholds.tolist() == [math.inf, 0.9, 0.3]

    def test_condensed(self):
        qrels = {"1": {"a": 1, "b": -2}}
        run = {"1": {"x": 0.95, "a": 0.9, "b": 0.3}}
        assert gf.threshold.curve(qrels, run, unjudged="condensed").thresholds.tolist() == [math.inf, 0.9, 0.3]
        with pytest.raises(DataError, match="run 'run': expected judged documents, got none; use unjudged='zero'"):
            gf.threshold.curve(qrels, {"1": {"x": 1.0}}, unjudged="condensed")

    def test_refused(self):
        with pytest.raises(PolicyError, match=r"^ties: expected one of trec, order, got 'expected'\.$"):
            gf.threshold.fit(QRELS, RUN, ties="expected")
        with pytest.raises(PolicyError, match=r"^degenerate: expected one of zero, one, skip, got 'nan'\.$"):
            gf.threshold.curve(QRELS, RUN, degenerate="nan")
        with pytest.raises(
            TypeError, match=r"unexpected keyword 'tie'; expected a parameter of this function, or .* ties,"
        ):
            gf.threshold.curve(QRELS, RUN, tie="trec")


class TestUnusualInput:
    def test_nothing_forbidden(self):
        cut = gf.threshold.fit({"1": {"a": 1, "b": 0}}, {"1": {"a": 0.9, "b": 0.3}})
        assert (cut.threshold, cut.gain) == (-math.inf, 0.0)
        assert [note.code for note in cut.notes()] == ["nothing-forbidden"]
        assert cut.verdict().startswith("Keep all of run: no threshold is better than none (nDCGf@3 1.0000). ")

    def test_equal_scores(self):
        cut = gf.threshold.fit(QRELS, {"1": {"a": 0.5, "b": 0.5}, "2": {"d": 0.5, "c": 0.5}})
        assert cut.curve.thresholds.tolist() == [math.inf, 0.5]
        assert [note.code for note in cut.notes()] == ["all-tied", "equal-scores"]

    def test_an_empty_answer_may_be_best(self):
        qrels, run = {"1": {"a": -1, "b": -2}, "2": {"c": -1, "d": 1}}, {"1": {"a": 0.9, "b": 0.3}, "2": {"c": 0.2}}
        cut = gf.threshold.fit(qrels, run)
        assert (cut.threshold, cut.curve.kept[cut.number]) == (math.inf, 0)
        assert cut.verdict().startswith("Show nothing of run: no threshold is better than an empty answer (nDCGf@3 ")
        limited = gf.threshold.fit({"1": {"a": -1, "b": 3}}, {"1": {"a": 0.9, "b": 0.3}}, max_forbidden=0)
        assert limited.threshold == math.inf
        assert "no threshold within the limits is better than an empty answer" in limited.verdict()

    def test_one_topic(self):
        cut = gf.threshold.fit({"1": {"a": 1, "b": -2}}, {"1": {"a": 0.9, "b": 0.3}})
        assert cut.held_out is None
        assert cut.verdict().endswith(" Held out: one topic alone says nothing about others.")
        assert cut.to_frame()["held_out_gain"].to_list() == [None]
        assert cut.threshold_interval == (0.9, 0.9)

    def test_nothing_judged(self):
        qrels = pl.DataFrame(
            {"query_id": ["1"], "doc_id": ["a"], "relevance": [None]}, schema_overrides={"relevance": pl.Float64}
        )
        assert gf.threshold.fit(qrels, {"1": {"a": 1.0}}).gain == 0.0
        with pytest.raises(DataError, match="nDCGf@3 is undefined for all topics, and degenerate='skip'"):
            gf.threshold.fit(qrels, {"1": {"a": 1.0}}, degenerate="skip")

    def test_no_topic_in_common(self):
        with pytest.raises(DataError, match=r"^run 'run': expected documents for judged topics, got none$"):
            gf.threshold.fit(QRELS, {"9": {"a": 1.0}})

    def test_rankings(self):
        joined = gf.align(QRELS, RUN, scores=True)
        assert gf.threshold.curve(joined).to_dict() == gf.threshold.curve(QRELS, RUN).to_dict()
        skipped = gf.threshold.fit(joined, degenerate="skip", resamples=1)
        assert skipped.settings.policies == gf.Policies(degenerate="skip")
        with pytest.raises(DataError, match=r"^expected rankings that know all scores: align\(…, scores=True\)$"):
            gf.threshold.curve(gf.align(QRELS, RUN, documents=2))
        with pytest.raises(DataError, match=r"know their documents: align\(…, documents=inf\)$"):
            gf.threshold.curve(joined, filter_run=RUN)
        listed = gf.align(QRELS, RUN, documents=math.inf)
        assert gf.threshold.curve(listed, filter_run=RUN).score.tolist() == gf.threshold.curve(joined).score.tolist()
        with pytest.raises(DataError, match=r"^expected one run to cut, got 2: a, b$"):
            gf.threshold.curve(gf.align(QRELS, {"a": RUN, "b": RUN}, documents=math.inf))
        expected = gf.align(QRELS, RUN, documents=math.inf, ties="expected")
        with pytest.raises(PolicyError, match=r"^ties: expected one of trec, order, got 'expected'\.$"):
            gf.threshold.fit(expected)

    def test_nan(self):
        with pytest.raises(DataError, match="expected a finite score, got nan"):
            gf.threshold.fit(QRELS, {"1": {"a": math.nan}})
        with pytest.raises(DataError, match="expected a finite score, got nan"):
            gf.threshold.fit(QRELS, RUN, filter_run={"1": {"a": math.nan}})

    def test_filter_run_with_gaps(self):
        message = (
            r"filter run 'run': expected a score for every document of run 'run', got none for 'b' in topic '1' "
            r"\(5 of 6 are missing\): add them, or take those documents out of the run"
        )
        with pytest.raises(DataError, match=message):
            gf.threshold.fit(QRELS, RUN, filter_run={"1": {"a": 1.0}})

    def test_filter_run_with_duplicates(self):
        rows = [("1", "a", 0.9), ("1", "a", 0.1), ("1", "b", 0.5)]
        frame = pl.DataFrame(rows, {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row")
        with pytest.raises(DataError, match="filter run 'run': document 'a' appears twice in topic '1': remove one"):
            gf.threshold.fit({"1": {"a": 1, "b": -2}}, {"1": {"a": 1.0, "b": 0.5}}, filter_run=frame)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            (
                {"risk": 0.05},
                "risk=0.05 cannot be guaranteed from 3 topics, whatever the threshold: it takes 19; the "
                "smallest risk that 3 can guarantee is 0.2500",
            ),
            ({"risk": 1.0}, "risk: expected a share between 0 and 1, got 1.0"),
            ({"max_forbidden": -0.1}, "max_forbidden: expected a share from 0 to 1, got -0.1"),
            ({"confidence": 1.0}, "confidence: expected a number between 0 and 1, both excluded, got 1.0"),
            ({"risk_confidence": 0.9}, "risk_confidence is that of a risk: expected both, got no risk"),
            (
                {"risk": 0.5, "risk_confidence": 1.0},
                "risk_confidence: expected a number between 0 and 1, both excluded, got 1.0",
            ),
            (
                {"risk": 0.5, "risk_confidence": 0.9},  # .5⁴ is the first power of .5 that is at most .1
                "risk=0.5 cannot be guaranteed with confidence 0.9 from 3 topics, whatever the threshold: it takes 4; "
                "the smallest risk that 3 can guarantee is 0.5359",  # 1 - .1^(1/3)
            ),
            ({"risk": "x"}, "risk: expected a share between 0 and 1, got 'x'"),
            ({"max_forbidden": "x"}, "max_forbidden: expected a share from 0 to 1, got 'x'"),
            ({"folds": 1}, "folds: expected a whole number of at least 2, got 1"),
            ({"folds": 2.5}, "folds: expected a whole number of at least 2, got 2.5"),
            ({"repeats": 0}, "repeats: expected a whole number of at least 1, got 0"),
            ({"repeats": 1.5}, "repeats: expected a whole number of at least 1, got 1.5"),
            ({"resamples": 0}, "resamples: expected a whole number of at least 1, got 0"),
            ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ],
    )
    def test_settings(self, settings, message):
        with pytest.raises(GainfulError, match=f"^{message}$"):
            gf.threshold.fit(QRELS, RUN, **settings)

    def test_measures(self):
        with pytest.raises(
            MeasureError, match="Empty is neither better high nor low: expected a measure such as nDCGf@3"
        ):
            gf.threshold.fit(QRELS, RUN, measure="Empty")
        assert gf.threshold.curve(QRELS, RUN, measure="Empty").score == pytest.approx([1, 2 / 3, 1 / 3, 0, 0, 0, 0])
        with pytest.raises(MeasureError, match="GMAP is not averaged over topics: expected a measure such as nDCGf@3"):
            gf.threshold.curve(QRELS, RUN, measure="GMAP")
        with pytest.raises(
            MeasureError, match="risk is about the first k places, and nDCGf has no cutoff: write nDCGf@10, say"
        ):
            gf.threshold.fit(QRELS, RUN, measure="nDCGf", risk=0.5)

    def test_risk_needs_no_more_topics_than_it_says(self):
        qrels = {str(t): {"a": 1, "never shown": -2} for t in range(19)}
        run = {str(t): {"a": 1.0} for t in range(19)}
        cut = gf.threshold.fit(qrels, run, risk=0.05)
        assert cut.safe_from == (-math.inf, pytest.approx(1 / 20))

    def test_the_risk_is_about_k_places_also_where_fewer_are_filled(self):
        qrels = {str(t): {"a": -1 if t == 0 else 1} for t in range(9)}
        run = {str(t): {"a": float(t)} for t in range(9)}
        # One forbidden document in 9 topics of 4 places: (1/4 + 1)/10 where everything is kept.
        cut = gf.threshold.fit(qrels, run, measure="nDCGf@4", risk=0.13)
        assert cut.safe_from == (-math.inf, pytest.approx(1 / 10))


@pytest.mark.parametrize("limit", [{"risk": 0.4}, {"risk": 0.4, "risk_confidence": 0.6}, {"max_forbidden": 0.1}])
def test_no_limit_on_forbidden_documents_where_there_are_none(limit):
    qrels = {topic: {"a": 1, "b": 0} for topic in "123"}
    run = {topic: {"a": 2.0, "b": 1.0} for topic in "123"}
    message = (
        f"^{next(iter(limit))} is about forbidden documents, and no judged document is one: expected labels \\(or "
        "gains\\) below 0, or forbidden_below=1 where a label of 0 is bad$"
    )
    with pytest.raises(GainfulError, match=message):
        gf.threshold.fit(qrels, run, **limit)
    qrels["1"]["never shown"] = -1
    assert gf.threshold.fit(qrels, run, **limit, resamples=1).threshold == -math.inf


def test_the_interval_of_the_held_out_gain_stays_within_what_can_be_gained():
    """Two topics: one loses all that nDCGf has, the other nothing. Student's t with 1 degree of freedom is 12.7."""
    qrels = {"1": {"a": 1}, "2": {"b": -2}}
    cut = gf.threshold.fit(qrels, {"1": {"a": 1.0}, "2": {"b": 2.0}}, measure="nDCGf@1", resamples=50)
    assert (cut.held_out.gain_low, cut.held_out.gain_high) == (-1.0, 1.0)
    unbounded = gf.threshold.fit(qrels, {"1": {"a": 1.0}, "2": {"b": 2.0}}, measure="DCG@1", resamples=50)
    assert unbounded.held_out.gain_high > 1.0


class TestRiskWithConfidence:
    """Thresholds are tested from strict to loose, until one fails; p-values by the published formula, in a loop."""

    @pytest.mark.parametrize("separate", [False, True])
    def test_plain_loop(self, separate):
        qrels, run, filters = world(0, topics=60)
        given = filters if separate else run
        thresholds, scores = all_scores(qrels, run, given, "nDCGf@2")
        loss = all_scores(qrels, run, given, "P(rel=-2)@2")[1] - all_scores(qrels, run, given, "P(rel=0)@2")[1]
        loss = np.maximum.accumulate(loss, axis=0)
        safe = np.zeros(len(thresholds), np.bool_)
        for at in range(len(thresholds)):
            if plain_hoeffding_bentkus(loss[at], 0.13) > 0.3:
                break
            safe[at] = True
        assert 1 < safe.sum() < len(safe)
        cut = gf.threshold.fit(
            qrels,
            run,
            measure="nDCGf@2",
            filter_run=filters if separate else None,
            risk=0.13,
            risk_confidence=0.7,
            resamples=1,
            repeats=1,
        )
        at = last_best(scores.mean(axis=1), safe)
        assert cut.threshold == named(thresholds, at)
        assert cut.safe_from == (
            named(thresholds, int(np.flatnonzero(safe)[-1])),
            pytest.approx((loss[at].sum() + 1) / 61),
        )
        looser = gf.threshold.fit(
            qrels, run, measure="nDCGf@2", filter_run=filters if separate else None, risk=0.13, resamples=1, repeats=1
        )
        assert looser.safe_from[0] < cut.safe_from[0]


def plain_hoeffding_bentkus(losses, alpha):
    """min(exp(−n·h(min(R̂, α), α)), e·P(Bin(n, α) ≤ ⌈nR̂⌉)), of Angelopoulos et al. (2021), term by term."""
    n, mean = len(losses), float(np.mean(losses))
    a = min(mean, alpha)
    h = (a * math.log(a / alpha) if a else 0.0) + (1 - a) * math.log((1 - a) / (1 - alpha))
    most = math.ceil(round(float(np.sum(losses)), 9))
    tail = sum(math.comb(n, i) * alpha**i * (1 - alpha) ** (n - i) for i in range(most + 1))
    return min(math.exp(-n * h), math.e * tail)


@pytest.mark.parametrize("topics", [2, 48, 97, 102])
def test_as_many_topics_as_the_message_asks_for_are_enough(topics):
    """1/(topics + 1) is not exact as a float, and must not be refused for that; less than it must."""
    qrels = {str(t): {"a": 1, "never shown": -2} for t in range(topics)}
    run = {topic: {"a": 1.0} for topic in qrels}
    cut = gf.threshold.fit(qrels, run, risk=1 / (topics + 1), resamples=1, repeats=1)
    assert cut.safe_from == (-math.inf, pytest.approx(1 / (topics + 1)))
    message = rf"^risk=.* cannot be guaranteed from {topics} topics, whatever the threshold: it takes {topics + 1}; "
    with pytest.raises(GainfulError, match=message):
        gf.threshold.fit(qrels, run, risk=1 / (topics + 1) - 1e-6, resamples=1, repeats=1)


def test_a_threshold_that_keeps_only_what_does_not_count_is_noted():
    # x is not judged: to keep it alone scores as much as an empty list, and b costs.
    cut = gf.threshold.fit({"1": {"a": 1, "b": -2}}, {"1": {"x": 0.9, "b": 0.3}}, resamples=1)
    assert cut.threshold == 0.9
    assert [note.text for note in cut.notes()] == ["An empty answer has the same nDCGf@3."]


class TestBetterLow:
    def test_a_measure_that_is_one_of_those_beside_it_comes_first_and_once(self):
        cut = gf.threshold.fit(QRELS, RUN, measure="Forbidden@3", resamples=1)
        assert list(cut.at(0)) == ["Forbidden@3", "FilteredGood", "Empty", "documents"]
        cut = gf.threshold.fit(QRELS, RUN, measure="FilteredGood", resamples=1)
        assert list(cut.at(0)) == ["FilteredGood", "Forbidden", "Empty", "documents"]

    def test_the_best_is_the_lowest(self):
        # Forbidden@3 is 0 down to 0.5, and then 1/6 and 1/3.
        curve = gf.threshold.curve(QRELS, RUN, measure="Forbidden@3")
        assert (curve.best, curve.thresholds[curve.best]) == (3, 0.5)
        assert gf.threshold.curve(QRELS, RUN, measure="nDCGf@3").best == 3


BINARY = {"1": {"a": 1, "b": 0}, "2": {"c": 0, "d": 1}, "3": {"e": 1, "f": 0}}


class TestForbiddenLabels:
    """Labels of 0 and 1: what is forbidden is said by a label, or by a gain of the measure."""

    def test_below(self):
        curve = gf.threshold.curve(BINARY, RUN, measure="nDCGf@2", forbidden_below=1)
        # Uncut, each topic shows one good document and one with label 0: a half; from 0.5 up only good ones.
        assert curve.forbidden[-1] == pytest.approx(0.5)
        assert curve.forbidden[curve.thresholds.tolist().index(0.5)] == 0.0
        assert curve.forbidden_label == "Forbidden(below=1)@2"
        uncut = gf.evaluate(BINARY, RUN, curve.forbidden_label).mean()[curve.forbidden_label].item()
        assert uncut == curve.forbidden[-1]

    def test_by_gain(self):
        found = gf.threshold.fit(BINARY, RUN, measure="nDCGf(gain={0: -1})@2", resamples=10, max_forbidden=0.1)
        assert found.forbidden_judged == 3
        assert found.threshold == 0.5
        assert found.curve.forbidden_label == "Forbidden(below=1)@2"

    def test_a_limit_bites(self):
        free = gf.threshold.fit(BINARY, RUN, measure="nDCGf@2", forbidden_below=1, resamples=10)
        held = gf.threshold.fit(BINARY, RUN, measure="nDCGf@2", forbidden_below=1, resamples=10, max_forbidden=0.1)
        assert free.threshold == -math.inf  # a label of 0 costs nothing by this measure
        assert held.threshold == 0.5

    def test_what_is_no_label(self):
        with pytest.raises(GainfulError, match="forbidden_below: expected a label such as 1, got 'x'"):
            gf.threshold.fit(BINARY, RUN, forbidden_below="x")


def test_a_threshold_of_another_run_is_told():
    cut = gf.threshold.fit(QRELS, gf.read_run(RUN, name="mine"), resamples=1)
    with pytest.warns(gf.GainfulWarning, match="fitted on scores of run 'mine'; those of 'other' may"):
        gf.threshold.apply(gf.read_run(RUN, name="other"), cut)


def test_ranks_are_no_scores():
    """Documents without scores are taken at their ranks: the threshold is a depth."""
    found = gf.threshold.curve({"1": {"a": 1, "b": -2}}, {"1": ["a", "b"]}, measure="nDCGf@3")
    assert found.thresholds.tolist() == [math.inf, -1.0, -2.0]
    assert [note.code for note in found.settings.notes] == ["ranks-as-scores"]
    assert gf.threshold.curve({"1": {"a": 1, "b": -2}}, {"1": {"a": -1.0, "b": -3.0}}).settings.notes == ()
