"""Every point of every curve against plain loops: filter the rows, rank what is left, score it by the reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import gainful as gf
import reference
from gainful.measures import REGISTRY, Measure, parse_measure
from gainful.progress import tracked_by
from gainful.tune.threshold.sweep import Steps
from worlds import DOC_IDS, SCORES, World, measures, qrels_of, run_of, worlds

AVERAGED = tuple(name for name, definition in REGISTRY.items() if definition.summary == "mean")
BETTER = tuple(name for name in AVERAGED if REGISTRY[name].higher != "neither")


def brute(world: World, measure: Measure, filters=None, ties="trec", unjudged="zero", degenerate="zero"):
    """[(threshold, documents kept, mean)], from infinity down; `filters` by topic and document."""
    rows = [row for row in world.runs["run0"] if row[0] in world.qrels]
    if unjudged == "condensed":
        rows = [row for row in rows if world.qrels[row[0]].get(row[1]) is not None]

    def score(row):
        return filters[row[0], row[1]] if filters else row[2]

    def level(row):
        with np.errstate(over="ignore"):
            return float(np.float32(score(row))) if ties == "trec" and not filters else score(row)

    top = reference.top_label(world.qrels)
    found = []
    for lowest in [math.inf, *sorted({level(row) for row in rows}, reverse=True)]:
        # An infinite level is one that float32 cannot hold: its documents are kept by the second threshold.
        kept = [row for row in rows if level(row) >= lowest] if found else []
        values = []
        for topic, judged in world.qrels.items():
            ranking = reference.labels(reference.ranked(kept, topic, ties), judged, unjudged)
            pool = reference.pool_of(judged)
            value = reference.score(measure.definition.name, measure.parameters, ranking, pool, top)
            values.append(value if not math.isnan(value) else {"zero": 0.0, "one": 1.0, "skip": math.nan}[degenerate])
        mean = np.nanmean(values) if not np.isnan(values).all() else math.nan
        found.append((min(map(score, kept), default=math.inf), len(kept), mean))
    return found


def usable(world: World) -> None:
    assume(any(topic in world.qrels for topic, _, _ in world.runs["run0"]))


def filter_rows(data, world: World):
    filters = {
        (topic, doc): data.draw(st.sampled_from((0.0, 0.1, 0.2, 0.5, -3.0, 7.0)))
        for topic, doc, _ in world.runs["run0"]
    }
    return filters, run_of([(topic, doc, score) for (topic, doc), score in filters.items()], "filter")


class TestCurves:
    @settings(max_examples=200, deadline=None)
    @given(worlds(systems=1), measures(AVERAGED), st.sampled_from(("trec", "order")))
    def test_one_score(self, world, measure, ties):
        usable(world)
        curve = gf.threshold.curve(qrels_of(world.qrels), run_of(world.runs["run0"]), measure=measure, ties=ties)
        expected = brute(world, measure, ties=ties)
        assert curve.thresholds.tolist() == [threshold for threshold, _, _ in expected]
        assert curve.kept.tolist() == [kept for _, kept, _ in expected]
        assert curve.score == pytest.approx([mean for _, _, mean in expected], rel=1e-9, abs=1e-9)

    @settings(max_examples=200, deadline=None)
    @given(st.data(), worlds(systems=1), measures(AVERAGED), st.sampled_from(("trec", "order")))
    def test_separate_scores(self, data, world, measure, ties):
        usable(world)
        filters, run = filter_rows(data, world)
        curve = gf.threshold.curve(
            qrels_of(world.qrels), run_of(world.runs["run0"]), measure=measure, filter_run=run, ties=ties
        )
        expected = brute(world, measure, filters, ties=ties)
        assert curve.thresholds.tolist() == [threshold for threshold, _, _ in expected]
        assert curve.kept.tolist() == [kept for _, kept, _ in expected]
        assert curve.score == pytest.approx([mean for _, _, mean in expected], rel=1e-9, abs=1e-9)

    @settings(max_examples=60, deadline=None)
    @given(st.data(), worlds(systems=1), st.booleans(), st.sampled_from(("zero", "condensed")), st.integers(1, 4))
    def test_what_it_costs(self, data, world, separate, unjudged, cutoff):
        rows = [row for row in world.runs["run0"] if row[0] in world.qrels]
        judged = [row for row in rows if world.qrels[row[0]].get(row[1]) is not None]
        assume(judged if unjudged == "condensed" else rows)
        filters, run = filter_rows(data, world) if separate else (None, None)
        curve = gf.threshold.curve(
            qrels_of(world.qrels),
            run_of(world.runs["run0"]),
            measure=f"nDCGf@{cutoff}",
            filter_run=run,
            unjudged=unjudged,
        )
        for found, text in (
            (curve.score, f"nDCGf@{cutoff}"),
            (curve.forbidden, f"Forbidden@{cutoff}"),
            (curve.filtered_good, "FilteredGood"),
            (curve.empty, "Empty"),
        ):
            expected = brute(world, parse_measure(text), filters, unjudged=unjudged)
            assert found == pytest.approx([mean for _, _, mean in expected], abs=1e-9), text

    @settings(max_examples=60, deadline=None)
    @given(worlds(systems=1), measures(AVERAGED), st.sampled_from(("one", "skip")))
    def test_undefined(self, world, measure, degenerate):
        usable(world)
        expected = brute(world, measure, degenerate=degenerate)
        assume(not any(math.isnan(mean) for _, _, mean in expected))
        curve = gf.threshold.curve(
            qrels_of(world.qrels), run_of(world.runs["run0"]), measure=measure, degenerate=degenerate
        )
        assert curve.score == pytest.approx([mean for _, _, mean in expected], rel=1e-9, abs=1e-9)


def brute_best(points, lower: bool):
    """The best mean, and of equally good thresholds the one that keeps most; -inf if that is everything."""
    sign = -1.0 if lower else 1.0
    best = max(sign * mean for _, _, mean in points)
    at = max(i for i, (_, _, mean) in enumerate(points) if sign * mean >= best - 1e-9 * max(1.0, abs(best)))
    return sign * best, points[at][0] if at < len(points) - 1 else -math.inf


class TestBest:
    @settings(max_examples=200, deadline=None)
    @given(st.data(), worlds(systems=1), measures(BETTER), st.booleans())
    def test_is_that_of_brute_force(self, data, world, measure, separate):
        usable(world)
        filters, run = filter_rows(data, world) if separate else (None, None)
        cut = gf.threshold.fit(
            qrels_of(world.qrels),
            run_of(world.runs["run0"]),
            measure=measure,
            filter_run=run,
            resamples=1,
            repeats=1,
        )
        best, threshold = brute_best(brute(world, measure, filters), measure.definition.higher == "worse")
        assert cut.curve.score[cut.number] == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert cut.threshold == threshold


@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 100))])
def test_hundreds_of_larger_problems_with_ties(seed):
    """40 topics of up to 25 documents, scores of one or two digits: nDCGf@3 by a loop over all thresholds."""
    rng = np.random.default_rng(seed)
    qrels, rows, filters = {}, [], {}
    for topic in map(str, range(40)):
        docs = [f"d{i}" for i in range(rng.integers(1, 25))]
        labels = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], len(docs), p=[0.3, 0.1, 0.2, 0.2, 0.2])
        qrels[topic] = {doc: float(label) for doc, label in zip(docs, labels, strict=True) if rng.random() < 0.7}
        qrels[topic] = qrels[topic] or {"d0": 1.0}
        for doc, label in zip(docs, labels, strict=True):
            rows.append((topic, doc, round(float(label + rng.normal(0, 2)), int(rng.integers(0, 2)))))
            filters[topic, doc] = round(float(label + rng.normal(0, 1)), 1)
    measure = parse_measure("nDCGf@3")
    world = World(qrels, {"run0": rows})
    other = run_of([(topic, doc, score) for (topic, doc), score in filters.items()], "filter")
    for given_filters, run in ((None, None), (filters, other)):
        cut = gf.threshold.fit(qrels_of(qrels), run_of(rows), filter_run=run, resamples=1, repeats=1)
        best, threshold = brute_best(brute(world, measure, given_filters), False)
        assert cut.curve.score[cut.number] == pytest.approx(best, abs=1e-12)
        assert cut.threshold == threshold


class TestGrid:
    WORLD = World(
        {str(t): {doc: float((i * 7 + t) % 4 - 1) for i, doc in enumerate(DOC_IDS)} for t in range(5)},
        {"run0": [(str(t), doc, float((i * 5 + t * 3) % 16)) for t in range(5) for i, doc in enumerate(DOC_IDS)]},
    )

    @pytest.mark.parametrize("separate", [False, True])
    def test_a_grid_where_there_is_too_much(self, monkeypatch, separate):
        filters = {(t, doc): score + SCORES[3] * (int(t) % 2) for t, doc, score in self.WORLD.runs["run0"]}
        run = run_of([(t, doc, score) for (t, doc), score in filters.items()], "filter") if separate else None
        settings = {"measure": "RBP", "filter_run": run}
        qrels, rows = qrels_of(self.WORLD.qrels), run_of(self.WORLD.runs["run0"])
        monkeypatch.setattr("gainful.tune.threshold.sweep.MOST_CELLS", 80 * 6)
        curve = gf.threshold.curve(qrels, rows, **settings)
        assert not curve.exact
        expected = brute(self.WORLD, parse_measure("RBP"), filters if separate else None)
        means = [mean for _, _, mean in expected]
        at = np.unique(np.linspace(0, len(means) - 1, 6).astype(int))
        assert curve.score[at] == pytest.approx([means[i] for i in at])
        # Between two points of the grid the curve stays where it was.
        assert len(set(curve.score.tolist())) <= len(at)
        note = f"RBP was computed on a grid of the {len(means) - 1} thresholds."
        for found in (curve, gf.threshold.fit(qrels, rows, **settings, resamples=1, repeats=1)):
            assert [each.text for each in found.notes() if each.code == "grid"] == [note]

    @pytest.mark.parametrize(("lists", "exact"), [(16, False), (17, True)])
    def test_every_list_is_scored_while_there_is_room_for_all(self, monkeypatch, lists, exact):
        # 80 documents, and topics of 16: each can show 0 to 16 of them, which are 17 lists.
        monkeypatch.setattr("gainful.tune.threshold.sweep.MOST_CELLS", 80 * lists)
        curve = gf.threshold.curve(qrels_of(self.WORLD.qrels), run_of(self.WORLD.runs["run0"]), measure="RBP")
        assert curve.exact is exact

    def test_small_blocks_change_nothing(self, monkeypatch):
        qrels, rows = qrels_of(self.WORLD.qrels), run_of(self.WORLD.runs["run0"])
        whole = gf.threshold.curve(qrels, rows, measure="AP")
        monkeypatch.setattr("gainful.tune.threshold.sweep._BLOCK", 100)
        assert gf.threshold.curve(qrels, rows, measure="AP").score.tolist() == whole.score.tolist()
        assert whole.exact

    def test_progress(self, monkeypatch):
        """17 lists of 80 documents, 2 at a time; and 16 documents one after another, of all topics at once."""
        monkeypatch.setattr("gainful.tune.threshold.sweep._BLOCK", 160)
        seen = []

        def tracker(steps, total, label):
            seen.append((total, label))
            return steps

        qrels, rows = qrels_of(self.WORLD.qrels), run_of(self.WORLD.runs["run0"])
        with tracked_by(tracker):
            gf.threshold.curve(qrels, rows, measure="AP")
            gf.threshold.curve(qrels, rows, measure="nDCGf@3", filter_run=run_of(self.WORLD.runs["run0"], "filter"))
        assert seen == [(9, "Sweeping"), (16, "Sweeping")]


def test_what_one_topic_loses_does_not_count_in_the_next():
    """The first topic shows as many forbidden documents as there are places; the second never shows any."""
    qrels = {"1": {"a": -1, "b": -1, "c": 1}, "2": {"a": 1, "b": 1, "c": 1}}
    filters = {topic: {"a": 3.0, "b": 2.0, "c": 1.0} for topic in qrels}
    fitted = gf.threshold.fit(
        qrels, filters, filter_run=filters, measure="nDCGf@2", risk=0.99, resamples=1, folds=2, repeats=1
    )
    # Where everything is kept: losses 2/2 and 0, bound (2·(1 + 0)/2 + 1)/(2 + 1).
    assert fitted.safe_from[1] == pytest.approx((1 + 0 + 1) / 3)


def test_weighted_sums_by_hand():
    """Two topics that start from 1/2 and 1/4 and rise by 1/8 and 1/2 at the first and the third threshold."""
    number, height = np.array([1, 3]), np.array([0.125, 0.5])
    steps = Steps(base=np.array([0.5, 0.25]), topic=np.array([0, 1]), number=number, height=height, size=4)
    weights = np.array([[1.0, 1.0], [2.0, 0.0]])
    assert steps.sums(weights, np.arange(5)).tolist() == [
        [0.75, 0.875, 0.875, 1.375, 1.375],
        [1, 1.25, 1.25, 1.25, 1.25],
    ]
    assert steps.sums(weights, np.array([0, 1, 3])).tolist() == [[0.75, 0.875, 1.375], [1, 1.25, 1.25]]


def test_the_base_of_a_discount():
    """Everything kept is the run itself: relevant documents at ranks 1 and 4, of which 1/log₃ 4 counts."""
    qrels, run = {"1": {"a": 1, "d": 1}}, {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    curve = gf.threshold.curve(qrels, run, measure="DCG(discount=jk, base=3)")
    assert curve.score == pytest.approx([0, 1, 1, 1, 1 + math.log(3) / math.log(4)])
