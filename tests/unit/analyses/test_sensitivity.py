"""Sensitivity against plain loops, and on runs whose answer is known."""

from __future__ import annotations

import itertools
import json
import math
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import gainful as gf
from gainful.analyses.sensitivity.result import PairTests

DATA = os.environ.get("GAINFUL_DATA")


def t_of(values):
    """Mean over standard error, 0 without variance, as the definition says."""
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return 0.0 if variance <= 1e-18 else mean / math.sqrt(variance / n)


def asl_by_loops(scores, method, resamples, seed):
    """One pair and one resample after another, drawing as numpy's generator does: n integers a resample."""
    systems, topics = len(scores), len(scores[0])
    rng = np.random.default_rng(seed)
    draws = [[int(i) for i in rng.integers(topics, size=topics)] for _ in range(resamples)]
    levels = np.ones((systems, systems))
    for i, j in itertools.combinations(range(systems), 2):
        z = [float(a - b) for a, b in zip(scores[i], scores[j], strict=True)]
        mean = math.fsum(z) / topics
        w = [value - mean for value in z]
        count = 0
        for draw in draws:
            if method == "studentized":
                count += abs(t_of([w[k] for k in draw])) >= abs(t_of(z)) - 1e-9
            elif method == "shifted":
                count += abs(math.fsum(w[k] for k in draw) / topics) >= abs(mean) - 1e-12
            else:
                count += math.fsum(z[k] for k in draw) * np.sign(mean) <= 1e-12
        levels[i, j] = levels[j, i] = count / resamples
    return levels


@pytest.mark.parametrize("method", ["studentized", "shifted", "sign"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equals_plain_loops(method, seed):
    rng = np.random.default_rng(100 + seed)
    scores = rng.random((5, 9)).round(1)  # ties, and resamples without variance
    scores[4] = scores[0]
    scores[3] = scores[0]
    scores[3, 2] += 0.25  # differs in one topic: resamples without it have no variance
    found = gf.sensitivity(scores, methods=method, resamples=200, seed=seed)
    assert found["score", method].asl.tolist() == asl_by_loops(scores, method, 200, seed).tolist()


@pytest.mark.parametrize("method", ["studentized", "shifted", "sign", "t", "wilcoxon", "tukey"])
def test_identical_runs_have_level_one(method):
    scores = np.tile(np.random.default_rng(1).random(12), (3, 1))
    test = gf.sensitivity(scores, methods=method, resamples=100)["score", method]
    assert (test.asl == 1.0).all()
    assert test.discriminative_power(0.05) == 0.0
    assert test.detectable_difference(0.05) is None


@pytest.mark.parametrize("method", ["studentized", "shifted", "sign", "t", "wilcoxon", "tukey"])
def test_constant_scores_are_defined(method):
    found = gf.sensitivity(np.zeros((2, 4)), methods=method, resamples=50)
    assert found["score", method].asl.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_t_is_scipys():
    scores = np.random.default_rng(3).random((4, 20))
    asl = gf.sensitivity(scores, methods="t")["score", "t"].asl
    for i, j in itertools.combinations(range(4), 2):
        assert asl[i, j] == pytest.approx(stats.ttest_rel(scores[i], scores[j]).pvalue, rel=1e-12)


def test_summaries_by_hand():
    asl = np.ones((3, 3))
    asl[0, 1] = asl[1, 0] = 0.01
    asl[0, 2] = asl[2, 0] = 0.04
    asl[1, 2] = asl[2, 1] = 0.30
    means = np.array([0.1, 0.6, 0.4])
    test = PairTests(
        measure="AP",
        higher="better",
        method="t",
        topics=9,
        systems=("a", "b", "c"),
        asl=asl,
        difference=means[:, None] - means[None, :],
        differing=np.full((3, 3), 9),
    )
    assert test.curve().tolist() == [0.01, 0.04, 0.30]
    assert test.discriminative_power(0.05) == pytest.approx(2 / 3)
    assert test.discriminative_power(0.04) == pytest.approx(1 / 3)  # below, not at
    assert test.detectable_difference(0.05) == pytest.approx(0.3)  # a-c; b-c differ by 0.2 and are not told apart
    assert test.detectable_difference(0.04) == pytest.approx(0.5)
    assert test.detectable_difference(0.005) is None


def test_measures_and_methods_side_by_side():
    collection = gf.simulate(topics=12, systems=5, depth=50, seed=1)
    scores = gf.evaluate(collection.qrels, collection.runs, ["nDCG@10", "AP"])
    found = gf.sensitivity(scores, methods=["shifted", "tukey"], resamples=99, seed=5)
    assert [(test.measure, test.method) for test in found.tests] == [
        ("nDCG@10", "shifted"),
        ("nDCG@10", "tukey"),
        ("AP", "shifted"),
        ("AP", "tukey"),
    ]
    frame = found.to_frame()
    assert frame.columns == ["measure", "method", "run", "other", "difference", "asl"]
    assert frame.height == 4 * 10
    means = scores["AP"].values.mean(axis=1)
    row = frame.filter(measure="AP", method="tukey", run=scores.systems[0], other=scores.systems[3])
    assert row["difference"].item() == pytest.approx(means[0] - means[3])
    content = found.to_dict()
    assert [test["topics"] for test in content["tests"]] == [12] * 4
    assert str(found.settings) == (
        "sensitivity: 5 runs, 12 topics; methods=shifted,tukey alpha=0.05 resamples=99 seed=5 gaps=error "
        "ties=trec unjudged=zero missing=empty degenerate=zero duplicates=error"
    )
    assert content["settings"]["policies"] == scores.policies.to_dict()
    assert gf.sensitivity(scores["AP"], methods="t").to_dict()["settings"]["policies"] is None


def test_block_size_changes_nothing(monkeypatch):
    scores = np.random.default_rng(8).random((6, 10))
    wanted = {m: gf.sensitivity(scores, methods=m, resamples=150).tests[0].asl for m in ("studentized", "tukey")}
    monkeypatch.setattr("gainful.stats.resample.BLOCK", 100)
    for method, asl in wanted.items():
        assert (gf.sensitivity(scores, methods=method, resamples=150).tests[0].asl == asl).all()


def test_chart_shows_every_curve():
    scores = np.random.default_rng(2).random((8, 10))
    chart = gf.sensitivity(scores, methods=["t", "sign"], resamples=50).chart().to_dict()
    rows = max(chart["datasets"].values(), key=len)
    assert {(row["measure"], row["method"]) for row in rows} == {("score", "t"), ("score", "sign")}
    assert len(rows) == 2 * 29
    assert [row["share"] for row in rows if row["method"] == "t"] == pytest.approx([k / 28 for k in range(29)])


def drawn(chart, share):
    """What the line shows at a share: of step-before, the value of the next point."""
    layers = [layer for layer in chart["layer"] if layer["mark"]["type"] == "line"]
    assert [layer["mark"]["interpolate"] for layer in layers] == ["step-before"]
    points = max(chart["datasets"].values(), key=len)
    return next(point["asl"] for point in points if point["share"] >= share)


def test_chart_crosses_alpha_at_the_discriminative_power():
    """a and b differ clearly from c and d, 4 of 6 pairs; no other pair differs at all."""
    low = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.3])
    high = low + np.array([0.5, 0.4, 0.5, 0.4, 0.5, 0.45])
    found = gf.sensitivity([low, low, high, high], methods="t")
    chart = found.chart().to_dict()
    assert found.tests[0].discriminative_power(0.05) == pytest.approx(4 / 6)
    assert drawn(chart, 0.0) < 0.05
    assert drawn(chart, 0.66) < 0.05
    assert drawn(chart, 0.67) == 1.0
    assert drawn(chart, 1.0) == 1.0
    line = next(layer for layer in chart["layer"] if layer["mark"]["type"] == "line")
    assert line["encoding"]["x"]["scale"] == {"domain": [0, 1]}
    assert {layer["mark"]["type"] for layer in chart["layer"]} == {"rule", "line", "point"}


def test_chart_of_two_systems_is_a_line():
    found = gf.sensitivity([[0.1, 0.2, 0.3], [0.2, 0.5, 0.4]], methods="t")
    (points,) = (rows for rows in found.chart().to_dict()["datasets"].values() if len(rows) > 1)
    level = found.tests[0].asl[0, 1]
    assert [(point["share"], point["asl"]) for point in points] == [(0.0, level), (1.0, level)]


def test_chart_of_many_pairs_has_no_dots():
    chart = gf.sensitivity(np.random.default_rng(2).random((9, 10)), methods="t").chart().to_dict()
    assert {layer["mark"]["type"] for layer in chart["layer"]} == {"rule", "line"}


class TestNotes:
    """Resampling so few topics calls noise significant: two topics always do."""

    note = (
        "score: {} differ on fewer than 5 topics. On so few most resamples are identical, and the bootstrap may call "
        "noise significant; the methods t and wilcoxon do not."
    )

    def test_two_topics(self):
        found = gf.sensitivity([[0.1, 0.2], [0.3, 0.6], [0.1, 0.2]])
        assert found.tests[0].asl[0, 1] < 0.05
        # The third pair is the same run.
        assert found.notes() == (gf.Note("few-differences", "score", self.note.format("2 of 3 pairs")),)
        assert found.verdict().startswith("Many pairs of runs differ on fewer than 5 topics, too few for the ")

    @pytest.mark.parametrize(("differing", "noted"), [(0, False), (1, True), (4, True), (5, False)])
    def test_few_differences_among_many_topics(self, differing, noted):
        scores = np.full((2, 30), 0.5)
        scores[1, :differing] += 0.1
        found = gf.sensitivity(scores, methods=["sign", "shifted"])
        assert [note.text for note in found.notes()] == ([self.note.format("1 of 1 pairs")] if noted else [])
        assert found.tests[0].differing.tolist() == [[0, differing], [differing, 0]]

    def test_other_methods_need_none(self):
        assert gf.sensitivity([[0.1, 0.2], [0.3, 0.6]], methods=["t", "wilcoxon", "tukey"]).notes() == ()


def test_geometric_means_are_refused():
    rows = [(run, "GMAP", topic, 0.1) for run in "ab" for topic in "12"]
    frame = pl.DataFrame(rows, schema=["run", "measure", "query_id", "score"], orient="row")
    message = (
        "GMAP: expected a measure that is averaged over topics, got a geometric mean, which this analysis is not "
        "about: take AP instead"
    )
    for analysis in (gf.sensitivity, gf.reliability, gf.topics):
        with pytest.raises(gf.DataError) as caught:
            analysis(frame)
        assert str(caught.value) == message
    assert gf.stability(frame).curves[0].measure == "GMAP"


def separated(*steps: float) -> np.ndarray:
    """Runs whose means are so far apart, with differences that vary little."""
    rng = np.random.default_rng(1)
    return rng.random(12) + np.array(steps)[:, None] + rng.normal(0, 0.01, (len(steps), 12))


def long(**measures: np.ndarray) -> pl.DataFrame:
    rows = [
        (f"run{i}", measure, str(t), float(value))
        for measure, values in measures.items()
        for (i, t), value in np.ndenumerate(values)
    ]
    return pl.DataFrame(rows, ["run", "measure", "query_id", "score"], orient="row")


class TestVerdict:
    """Of runs at 0, 0 and 1 two of three pairs are told apart; at 0, 1 and 2 all."""

    def test_the_measure_that_tells_most(self):
        scores = long(AP=separated(0, 1, 2), RR=separated(0, 0, 1), NumRet=separated(0, 1, 2))
        assert gf.sensitivity(scores, methods="t").verdict() == (
            "AP tells most runs apart, 100% of the 3 pairs; RR the fewest, 67% (paired t-test, α = 0.05, not corrected "
            "for the number of pairs)."
        )

    def test_as_many(self):
        found = gf.sensitivity(long(AP=separated(0, 1, 2), RR=separated(0, 1, 2)), methods=["wilcoxon", "tukey"])
        assert found.verdict() == (
            "AP and RR each tell 100% of the 3 pairs of runs apart (Wilcoxon signed-rank test, α = 0.05, not corrected "
            "for the number of pairs). Most by the other methods: AP and RR 100% (tukey)."
        )
        three = long(AP=separated(0, 1, 2), RR=separated(0, 1, 2), GMR=separated(0, 0, 1))
        assert gf.sensitivity(three, methods="t").verdict().startswith("AP and RR tell most runs apart, 100% of the 3")

    def test_one_measure(self):
        assert gf.sensitivity(separated(0, 0, 1)).verdict() == (
            "score tells 67% of the 3 pairs of runs apart (studentised paired bootstrap, α = 0.05, not corrected for "
            "the number of pairs)."
        )

    def test_one_measure_by_several_methods(self):
        found = gf.sensitivity(separated(0, 0, 1), methods=["t", "sign", "wilcoxon"])
        assert found.verdict().endswith("number of pairs). By the other methods: 67% (sign), 67% (wilcoxon).")

    def test_pairs_that_differ_on_few_topics_are_left_to_the_note(self):
        found = gf.sensitivity([[0.1, 0.2], [0.3, 0.6], [0.1, 0.2]], methods=["t", "sign"])
        assert "sign" not in found.verdict()
        assert [note.code for note in found.notes()] == ["few-differences"]

    def test_none(self):
        same = np.tile(np.arange(6) / 10, (2, 1))
        assert gf.sensitivity(same).verdict().startswith("score does not tell any two of the runs apart (studentised")
        assert gf.sensitivity(long(AP=same, RR=same)).verdict().startswith("No measure tells any two of the runs apart")

    def test_alpha(self):
        levels = gf.sensitivity(separated(0, 0.004, 1), methods="t")["score", "t"].curve()
        alpha = float(levels[:2].mean())
        found = gf.sensitivity(separated(0, 0.004, 1), methods="t", alpha=alpha)
        assert found.verdict().startswith("score tells 33% of the 3 pairs")
        assert found.tables()[0].frame["told_apart"].to_list() == pytest.approx([1 / 3])


class TestShown:
    FOUND = gf.sensitivity(long(AP=separated(0, 1, 2), RR=separated(0, 0, 1)), methods=["t", "sign"])

    def test_text(self):
        text = str(self.FOUND)
        assert text.startswith("AP tells most runs apart")
        assert "told apart (α=0.05)" in text
        assert ["AP", "sign", "3", "1.0000"] in [line.split()[:4] for line in text.splitlines()]
        assert repr(self.FOUND) == text

    def test_frames(self):
        assert [table.name for table in self.FOUND.tables()] == ["tests", "pairs"]
        assert self.FOUND.tables()[0].frame.columns == [
            *("measure", "method", "pairs", "told_apart", "detectable_difference"),
        ]
        assert self.FOUND.to_pandas().to_dict("list") == self.FOUND.to_frame().to_dict(as_series=False)
        content = json.loads(json.dumps(self.FOUND.to_dict()))
        assert list(content) == ["verdict", "tests", "pairs", "notes", "settings"]
        assert content["settings"]["methods"] == ["t", "sign"]

    def test_names_are_escaped(self):
        html = gf.sensitivity(long(**{"<i>&": separated(0, 1)}))._repr_html_()
        assert "<i>&" not in html
        assert "&lt;i&gt;&amp;" in html


def test_all_forms_agree():
    made = gf.simulate(topics=8, systems=4, depth=20, seed=1)
    names = ["AP", "nDCG@10"]
    scores = gf.evaluate(made.qrels, made.runs, names)
    expected = gf.sensitivity(scores, resamples=50)
    for found in (
        gf.sensitivity(made.qrels, made.runs, names, resamples=50),
        gf.sensitivity(gf.align(made.qrels, made.runs), names, resamples=50),
        gf.sensitivity(scores.to_frame(), resamples=50),
    ):
        assert found.to_frame().equals(expected.to_frame())
        assert found.verdict() == expected.verdict()
    matrix = gf.sensitivity(scores["AP"].values, resamples=50)
    assert matrix.to_frame()["asl"].to_list() == expected.to_frame().filter(measure="AP")["asl"].to_list()


class TestRefused:
    def test_one_system(self):
        with pytest.raises(gf.DataError) as caught:
            gf.sensitivity([[0.1, 0.2]])
        assert str(caught.value) == "expected at least 2 runs, got 1: 1"

    def test_one_topic(self):
        with pytest.raises(gf.DataError) as caught:
            gf.sensitivity([[0.1], [0.2]])
        assert str(caught.value) == "expected at least 2 topics of score, got 1"

    def test_gap(self):
        with pytest.raises(gf.DataError) as caught:
            gf.sensitivity([[0.1, math.nan, 0.3], [0.2, 0.3, math.nan]])
        assert str(caught.value) == (
            "score: run '1' has no score for topic '2' (and 1 more), but runs are compared on the same topics: leave "
            "out topics that some run lacks (gaps='drop')"
        )

    def test_gap_dropped(self):
        with_gap = gf.sensitivity([[0.1, math.nan, 0.3, 0.5], [0.2, 0.3, 0.7, 0.5]], methods="t", gaps="drop")
        without = gf.sensitivity([[0.1, 0.3, 0.5], [0.2, 0.7, 0.5]], methods="t")
        assert with_gap.tests[0].asl.tolist() == without.tests[0].asl.tolist()
        assert with_gap.tests[0].topics == 3
        assert [note.code for note in with_gap.notes()] == ["dropped-topics"]

    def test_too_few_topics_left(self):
        with pytest.raises(gf.DataError) as caught:
            gf.sensitivity([[0.1, math.nan, 0.3], [0.2, 0.3, math.nan]], gaps="drop")
        assert str(caught.value) == "expected at least 2 topics left that have a score for every run, got 1"

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            (
                {"methods": "students"},
                "methods: expected one of studentized, shifted, sign, t, wilcoxon, tukey, got 'students'. "
                "Did you mean 'studentized'?",
            ),
            ({"methods": []}, "methods: expected some of studentized, shifted, sign, t, wilcoxon, tukey, got none"),
            ({"resamples": 0}, "resamples: expected a whole number of at least 1, got 0"),
            ({"alpha": 0}, "alpha: expected a number between 0 and 1, both excluded, got 0"),
        ],
    )
    def test_settings(self, settings, message):
        with pytest.raises(gf.GainfulError) as caught:
            gf.sensitivity([[0.1, 0.2], [0.2, 0.3]], **settings)
        assert str(caught.value) == message

    def test_alpha(self):
        test = gf.sensitivity([[0.1, 0.2], [0.2, 0.5]], methods="t").tests[0]
        with pytest.raises(
            gf.GainfulError, match=r"^alpha: expected a number between 0 and 1, both excluded, got 1\.5$"
        ):
            test.discriminative_power(1.5)

    def test_unknown_test(self):
        found = gf.sensitivity([[0.1, 0.2], [0.2, 0.5]], methods="t")
        with pytest.raises(gf.GainfulError) as caught:
            found["AP", "t"]
        assert str(caught.value) == "No tests of ('AP', 't'); there are: ('score', 't')"


@pytest.mark.skipif(not DATA, reason="GAINFUL_DATA is not set")
def test_discriminative_power_on_web_2011():
    """Figures of the design: near .53 studentised, .54 shifted, .62 sign, .12 Tukey HSD."""
    table = pl.read_csv(Path(DATA) / "score-matrices" / "web2011_ndcg20.csv")
    found = gf.sensitivity(table, methods=["studentized", "shifted", "sign", "tukey"], resamples=2000)
    powers = [test.discriminative_power(0.05) for test in found.tests]
    assert powers == pytest.approx([0.53, 0.54, 0.62, 0.12], abs=0.012)
