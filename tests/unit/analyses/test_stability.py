"""Against plain loops that draw the same topics, and against shares that can be counted by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations
from statistics import fmean

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.analyses.stability import compute
from gainful.analyses.stability.result import StabilityCurve
from gainful.data.scores import ScoreMatrix
from gainful.errors import DataError, GainfulError


def plain(scores, sizes, *, draws, fuzziness=0.05, fuzzy="relative", by="mean", seed=0, mean=fmean):
    """Design §5 word by word: error rate and share of ties, by size."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(scores[0])) for _ in range(draws)]

    def sign(x, y):
        limit = fuzziness * max(abs(x), abs(y)) if fuzzy == "relative" else fuzziness
        return 0 if abs(x - y) <= limit + 1e-12 else 1 if x > y else -1

    found = []
    for size in sizes:
        wrong = ties = total = 0
        for a, b in combinations(scores, 2):
            signs = []
            for order in orders:
                x, y = ([row[t] for t in order[:size]] for row in (a, b))
                if by == "topic":
                    of_topics = [sign(p, q) for p, q in zip(x, y, strict=True)]
                    wrong += min(of_topics.count(1), of_topics.count(-1))
                    ties += of_topics.count(0)
                    total += size
                else:
                    signs.append(sign(mean(x), mean(y)))
            if by == "mean":
                wrong += min(signs.count(1), signs.count(-1))
                ties += signs.count(0)
                total += draws
        found.append((wrong / total, ties / total))
    return found


def curve(found: gf.Stability, measure: str = "score"):
    return list(zip(found[measure].error, found[measure].ties, strict=True))


@pytest.mark.parametrize("by", ["mean", "topic"])
@pytest.mark.parametrize(
    ("fuzzy", "fuzziness"), [("relative", 0.05), ("relative", 0.3), ("absolute", 0.1), ("absolute", 0)]
)
@pytest.mark.parametrize("lowest", [0.0, -0.6])
def test_is_the_plain_loop(by, fuzzy, fuzziness, lowest):
    # Tenths, so that there are ties and differences right at the fuzziness.
    y = np.random.default_rng(5).integers(0, 11, size=(5, 9)) / 10 + lowest
    settings = {"draws": 30, "fuzziness": fuzziness, "fuzzy": fuzzy, "by": by, "seed": 4}
    found = gf.stability(y, sizes=[1, 2, 4, 8, 9], **settings)
    assert curve(found) == plain(y.tolist(), [1, 2, 4, 8, 9], **settings)


def test_more_draws_than_a_byte_counts():
    y = [[0.9, 0.8, 0.9, 0.1], [0.1, 0.2, 0.3, 0.8], [0.5, 0.5, 0.4, 0.5]]
    assert curve(gf.stability(y, sizes=[1, 2], draws=700)) == plain(y, [1, 2], draws=700)


@pytest.mark.parametrize("by", ["mean", "topic"])
def test_blocks_do_not_matter(by, monkeypatch):
    y = np.random.default_rng(0).random((6, 8))
    whole = gf.stability(y, by=by, draws=50)
    monkeypatch.setattr(compute, "BLOCK", 36 * 7)  # seven draws at a time, of 50
    if by == "topic":
        monkeypatch.setattr(compute, "BLOCK", 50 * 4)  # four pairs at a time, of 15
    assert curve(gf.stability(y, by=by, draws=50)) == curve(whole)


def test_topics_are_drawn_without_replacement():
    # The first is better by 1, 1 and −1.5: of the three pairs of topics, one says so and two the contrary.
    y = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.5]]
    found = gf.stability(y, sizes=[1, 2, 3], draws=6000)["score"]
    assert found.error[:2] == (pytest.approx(1 / 3, abs=0.02), pytest.approx(1 / 3, abs=0.02))
    assert found.error[2] == 0.0  # there is but one set of all topics


def test_by_topic_counts_within_a_draw():
    # Better on 4 of 6 topics, worse on 2: of all topics that is 2/6, of one topic there is no contradiction.
    y = [[1.0, 1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]]
    found = gf.stability(y, sizes=[1, 6], by="topic", draws=20)["score"]
    assert found.error == (0.0, pytest.approx(2 / 6))


@pytest.mark.parametrize("by", ["mean", "topic"])
@pytest.mark.parametrize("fuzziness", [0.0, 0.05])
def test_identical_systems_are_always_equal(by, fuzziness):
    row = np.random.default_rng(2).random(7)
    found = gf.stability([row, row, row], by=by, fuzziness=fuzziness, draws=20)["score"]
    assert set(found.error) == {0.0}
    assert set(found.ties) == {1.0}


@pytest.mark.parametrize("value", [0.0, 0.3, -2.0])
def test_constant_scores_are_equal(value):
    assert set(gf.stability(np.full((3, 4), value), draws=5)["score"].ties) == {1.0}


def test_rounding_decides_nothing():
    # The same sum in another order: .1 + .2 + .3 is not .3 + .2 + .1 to the last bit.
    found = gf.stability([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]], sizes=[3], fuzziness=0.0, draws=10)["score"]
    assert (found.error, found.ties) == ((0.0,), (1.0,))


@pytest.mark.parametrize(
    ("other", "fuzzy", "ties"),
    [(0.95, "relative", 1.0), (0.949, "relative", 0.0), (0.95, "absolute", 1.0), (0.949, "absolute", 0.0)],
)
def test_equal_up_to_the_fuzziness_itself(other, fuzzy, ties):
    found = gf.stability([[1.0, 1.0], [other, other]], sizes=[1], fuzzy=fuzzy, draws=2)["score"]
    assert found.ties == (ties,)


def test_relative_to_the_larger_absolute_value():
    # Of −2 and −1.9 the first is the larger without its sign: .1 ≤ .05·2, though not ≤ .05·1.9.
    def ties(x, y):
        return gf.stability([[x, x], [y, y]], sizes=[1], fuzziness=0.05, draws=2)["score"].ties[0]

    assert ties(-2.0, -1.9) == 1.0
    assert ties(-2.0, -1.89) == 0.0
    assert ties(-0.01, 0.01) == 0.0


def test_every_measure_sees_the_same_draws():
    y = np.random.default_rng(3).random((4, 8))
    rows = [
        (f"s{s}", measure, str(t), y[s, t] * factor)
        for measure, factor in (("one", 1.0), ("ten", 10.0))
        for s in range(4)
        for t in range(8)
    ]
    found = gf.stability(pl.DataFrame(rows, schema=["run", "measure", "query_id", "score"], orient="row"))
    assert curve(found, "one") == curve(found, "ten")


def test_geometric_means_are_compared_where_they_are_the_summary():
    y = [[0.9, 0.0, 0.8, 0.7], [0.3, 0.4, 0.35, 0.4], [0.2, 0.9, 0.1, 0.5]]
    matrix = ScoreMatrix(values=np.array(y), systems=("a", "b", "c"), topics=("1", "2", "3", "4"), measure="GMAP")

    def gmean(values):
        return math.exp(fmean(math.log(max(value, 1e-5)) for value in values))

    found = gf.stability(matrix, sizes=[1, 2, 3], draws=40)
    assert curve(found, "GMAP") == plain(y, [1, 2, 3], draws=40, mean=gmean)
    assert curve(found, "GMAP") != plain(y, [1, 2, 3], draws=40)


@pytest.mark.parametrize(
    ("topics", "sizes"),
    [(2, [1]), (5, [1, 2]), (50, list(range(1, 26))), (100, list(range(2, 51, 2))), (104, list(range(1, 53, 3)))],
)
def test_sizes_by_default_end_at_the_half(topics, sizes):
    y = np.random.default_rng(0).random((2, topics))
    # 52 in steps of ⌈52/25⌉ = 3, counted down from the half.
    assert list(gf.stability(y, draws=2)["score"].sizes) == sizes


def test_sizes_are_sorted_and_taken_once():
    assert gf.stability([[1, 2, 3], [3, 2, 1]], sizes=np.array([3, 1, 3]), draws=2)["score"].sizes == (1, 3)


def test_size_needed():
    found = StabilityCurve(measure="AP", sizes=(1, 2, 5, 10), error=(0.3, 0.1, 0.2, 0.04), ties=(0.0, 0.0, 0.0, 0.0))
    assert found.size_for(0.3) == 1
    assert found.size_for(0.2) == 2
    assert found.size_for(0.1) == 10  # at 2 it is .1 as well, but not from 2 on
    assert found.size_for(0.03) is None
    with pytest.raises(GainfulError, match=r"^error: expected a share from 0 to 1, got 5$"):
        found.size_for(5)


GAPPY = [
    *(("a", m, t, s) for m, t, s in [("AP", "1", 0.1), ("AP", "2", 0.2), ("AP", "3", 0.3), ("AP", "4", 0.5)]),
    *(("b", m, t, s) for m, t, s in [("AP", "1", 0.3), ("AP", "2", 0.1), ("AP", "3", 0.4), ("AP", "4", 0.4)]),
    *(("a", m, t, s) for m, t, s in [("RR", "1", 1.0), ("RR", "2", 0.5), ("RR", "3", 1.0), ("RR", "4", 0.5)]),
    *(("b", m, t, s) for m, t, s in [("RR", "1", 0.5), ("RR", "2", 1.0), ("RR", "4", 1.0)]),
]


def test_a_topic_that_one_measure_lacks_is_dropped_for_all():
    scores = pl.DataFrame(GAPPY, schema=["run", "measure", "query_id", "score"], orient="row")
    found = gf.stability(scores, gaps="drop", sizes=[1, 2], draws=30)
    assert found.topics == 3
    assert curve(found, "AP") == plain([[0.1, 0.2, 0.5], [0.3, 0.1, 0.4]], [1, 2], draws=30)
    with pytest.raises(DataError, match=r"^RR: run 'b' has no score for topic '3', but runs are compared"):
        gf.stability(scores)


def test_no_topic_that_all_measures_have():
    rows = [
        (run, measure, topic, 0.5)
        for run in "ab"
        for measure, topics in (("AP", "12"), ("RR", "34"))
        for topic in topics
    ]
    scores = pl.DataFrame(rows, schema=["run", "measure", "query_id", "score"], orient="row")
    message = r"^expected at least 2 topics that have a score of every measure for every run, got 0$"
    with pytest.raises(DataError, match=message):
        gf.stability(scores, gaps="drop")


Y = [[0.1, 0.2, 0.3, 0.4], [0.3, 0.1, 0.4, 0.2]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sizes": []}, r"sizes: expected numbers of topics, whole and at least 1, got none"),
        ({"sizes": [5]}, r"sizes: expected numbers of topics, whole and from 1 to the 4 there are, got 5"),
        ({"sizes": [0]}, r"sizes: expected numbers of topics, whole and at least 1, got 0"),
        ({"sizes": [1.5]}, r"sizes: expected numbers of topics, whole and at least 1, got 1.5"),
        ({"sizes": [True]}, r"sizes: expected a list of numbers such as \[5, 10\], got \[True\]"),
        ({"sizes": ["a"]}, r"sizes: expected a list of numbers such as \[5, 10\], got \['a'\]"),
        ({"sizes": 3}, r"sizes: expected a list of numbers such as \[5, 10\], got 3"),
        ({"sizes": [float("nan")]}, r"sizes: expected numbers of topics, whole and at least 1, got nan"),
        ({"draws": 2.5}, r"draws: expected a whole number of at least 2, for one draw contradicts no other, got 2.5"),
        ({"draws": 1}, r"draws: expected a whole number of at least 2, for one draw contradicts no other, got 1"),
        ({"fuzziness": -0.1}, r"fuzziness: expected a number that is not negative, such as 0.05, got -0.1"),
        (
            {"fuzziness": float("nan")},
            r"fuzziness: expected a number that is not negative, such as 0.05, got nan",
        ),
        ({"fuzziness": 5}, r"fuzziness: expected a share of the larger score, less than 1, such as 0.05, got 5"),
        ({"fuzzy": "relativ"}, r"fuzzy: expected one of relative, absolute, got 'relativ'. Did you mean 'relative'\?"),
        ({"by": "median"}, r"by: expected one of mean, topic, got 'median'. Did you mean 'mean'\?"),
        ({"seed": -1}, r"seed: expected a whole number of at least 0, got -1"),
        ({"gaps": "skip"}, r"gaps: expected one of error, drop, got 'skip'."),
    ],
)
def test_refused_settings(settings, message):
    with pytest.raises(GainfulError, match=f"^{message}$"):
        gf.stability(Y, **settings)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0.1, 0.2]], "expected at least 2 runs, got 1: 1"),
        ([[0.1], [0.2]], "expected at least 2 topics of score, got 1"),
    ],
)
def test_refused_scores(y, message):
    with pytest.raises(DataError, match=f"^{message}$"):
        gf.stability(y)


class TestNotes:
    note = gf.Note(
        "all-tied",
        "score",
        "By score, no draw tells any two runs apart, as all scores are the same within the fuzziness: an error rate of "
        "0 says nothing here.",
    )

    @pytest.mark.parametrize("by", ["mean", "topic"])
    @pytest.mark.parametrize("y", [np.full((3, 6), 0.4), np.tile([0.1, 0.5, 0.3, 0.7, 0.2, 0.9], (2, 1))])
    def test_systems_that_are_the_same(self, y, by):
        found = gf.stability(y, by=by)
        assert found.curves[0].error == (0.0, 0.0, 0.0)
        assert found.notes() == (self.note,)
        assert [note["text"] for note in found.to_dict()["notes"]] == [self.note.text]
        assert found.verdict() == "By score, no draw of topics tells any two runs apart: there is no order to reverse."

    def test_one_that_differs(self):
        assert gf.stability([[0.1, 0.5, 0.3, 0.7], [0.1, 0.5, 0.3, 0.7], [0.1, 0.5, 0.3, 0.9]], draws=50).notes() == ()

    def test_draws_that_share_their_topics(self):
        found = gf.stability(Y, sizes=[3, 4], draws=10)
        assert [note.code for note in found.notes()] == ["shared-topics"]
        assert found.verdict().startswith("No draw is of at most half of the 4 topics: ")
        # A topic never contradicts itself, however many there are: by topic, all sizes say something.
        assert gf.stability(Y, sizes=[3, 4], draws=10, by="topic").notes() == ()


class TestVerdict:
    def test_an_error_rate_is_not_rounded_down_to_the_limit(self):
        found = gf.stability(self.y, draws=50)
        (curve,) = found.curves
        said = replace(found, curves=(replace(curve, error=(0.0502,) * len(curve.sizes)),)).verdict()
        assert "the other way round in 5.02% of the comparisons" in said
        assert said.endswith(" keeps that error rate at 5% or below.")

    # The first run is better on two topics of three; half of three topics is one.
    y = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.5]])

    def test_one_measure(self):
        found = gf.stability(self.y, draws=50)
        error = found["score"].error[0]
        assert found.verdict() == (
            f"With 1 of 3 topics drawn, score orders two runs the other way round in {error:.1%} of the comparisons "
            "and ties them in 0.0% (Buckley & Voorhees' error rate). No number of topics up to 1 keeps that error rate "
            "at 5% or below."
        )

    def test_says_nothing_of_draws_beyond_the_half(self):
        found = gf.stability(self.y, sizes=[1, 3], draws=50)
        assert found["score"].error[1] == 0.0
        assert found["score"].size_for(0.05) == 3
        assert found.verdict() == gf.stability(self.y, draws=50).verdict()

    def test_topics_that_are_enough(self):
        assert gf.stability([[0.1] * 4, [0.9] * 4]).verdict().endswith("The error rate is at most 5% from 1 topic on.")

    def test_by_topic(self):
        found = gf.stability(self.y, sizes=[3], by="topic")
        assert found.verdict() == (
            "By score, with 3 of 3 topics drawn, the run that is worse on most of them wins on 33.3% of them; 0.0% are "
            "ties."
        )

    def test_several_measures(self):
        scores = {"one": self.y, "two": self.y, "three": np.array([[1.0] * 3, [0.0] * 3]), "tied": np.ones((2, 3))}
        rows = [
            ("ab"[run], measure, str(topic), float(values[run, topic]))
            for measure, values in scores.items()
            for run, topic in np.ndindex(2, 3)
        ]
        frame = pl.DataFrame(rows, schema=["run", "measure", "query_id", "score"], orient="row")
        error = gf.stability(frame)["two"].error[0]
        assert (
            gf.stability(frame)
            .verdict()
            .endswith(f" By the other measures the error rate is 0.0% (three) to {error:.1%} (two).")
        )
        assert gf.stability(frame, None, ["one", "three"]).verdict().endswith(" By three the error rate is 0.0%.")
        assert gf.stability(frame, None, ["one", "tied"]).verdict().endswith("at 5% or below.")


class TestResult:
    found = gf.stability(Y, sizes=[1, 2], draws=10, seed=7)

    def test_text(self):
        text = str(self.found)
        assert text.startswith("With 2 of 4 topics drawn, score orders two runs the other way round in ")
        assert "topics: error ≤ 0.05" in text
        assert "error of score" in text
        assert text.endswith(
            "\nstability: 2 runs, 4 topics; sizes=1,2 draws=10 fuzziness=0.05 fuzzy=relative by=mean seed=7 gaps=error"
        )

    def test_tables(self):
        measures, sizes = self.found.tables()
        assert measures.frame.row(0, named=True) == {
            "measure": "score",
            "topics": 2,
            "error": self.found["score"].error[-1],
            "ties": self.found["score"].ties[-1],
            **{f"topics_for_{rate}": self.found["score"].size_for(rate) for rate in (0.1, 0.05, 0.02)},
        }
        assert sizes.frame["error of score"].to_list() == list(self.found["score"].error)

    def test_html_escapes_names(self):
        rows = [(run, "<u>AP", topic, 0.5) for run in "ab" for topic in "12"]
        html = gf.stability(
            pl.DataFrame(rows, schema=["run", "measure", "query_id", "score"], orient="row")
        )._repr_html_()
        assert "<u>AP" not in html
        assert "<b>By &lt;u&gt;AP, no draw" in html

    def test_pandas(self):
        assert self.found.to_pandas()["error"].to_list() == list(self.found["score"].error)

    def test_frame(self):
        frame = self.found.to_frame()
        assert frame.columns == ["measure", "topics", "error", "ties"]
        assert frame["error"].to_list() == list(self.found["score"].error)
        assert frame["topics"].to_list() == [1, 2]

    def test_dict_is_ready_for_json_and_repeats_it(self):
        content = json.loads(json.dumps(self.found.to_dict()))
        assert [row["error"] for row in content["curves"]] == list(self.found["score"].error)
        assert (content["systems"], content["topics"]) == np.shape(Y)
        assert content["settings"].pop("policies") is None
        again = gf.stability(Y, **content["settings"])
        assert curve(again) == curve(self.found)
        assert curve(gf.stability(Y, sizes=[1, 2], draws=10, seed=8)) != curve(self.found)

    def test_sizes_for(self):
        assert self.found.sizes_for(1.0) == {"score": 1}

    def test_unknown_measure(self):
        with pytest.raises(GainfulError, match=r"^no measure 'AP'; there are: score\.$"):
            self.found["AP"]

    def test_chart_has_a_point_a_size(self):
        chart = self.found.chart().to_dict()
        points, names = sorted(chart["datasets"].values(), key=len, reverse=True)
        assert [(point["topics"], point["error"]) for point in points] == list(
            zip(self.found["score"].sizes, self.found["score"].error, strict=True)
        )
        assert chart["layer"][0]["encoding"]["y"]["title"] == "error rate (share of pairs)"
        assert [(name["measure"], name["topics"]) for name in names] == [("score", points[-1]["topics"])]
