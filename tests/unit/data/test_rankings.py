import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from gainful.data.rankings import Rankings
from gainful.data.run import Run
from gainful.data.simulate import simulate
from gainful.verbs.source import align
from worlds import World, worlds


@pytest.fixture
def rankings() -> Rankings:
    """Two systems on two topics; b is pooled but not judged, d and the u are not in the pool."""
    qrels = {"q": {"a": 2.0, "b": None, "c": -1.0}, "r": {"a": 0.5, "d": 2.0}}
    rows = [("q", "u", 9.0), ("q", "c", 8.0), ("q", "b", 7.0), ("q", "a", 6.0), ("r", "d", 1.0)]
    return World(qrels, {"one": rows, "two": [("r", "a", 3.0), ("r", "u", 2.0), ("r", "d", 1.0)]}).align()


def test_rows(rankings):
    assert rankings.n_rows == 4
    assert rankings.row.tolist() == [0, 0, 0, 1, 3, 3]
    assert rankings.rank.tolist() == [2, 3, 4, 1, 1, 3]
    assert rankings.grades.tolist() == [-1, 0.5, 2]
    assert rankings.grade.tolist() == [0, -1, 2, 2, 1, 2]


def test_values_of_grades(rankings):
    assert rankings.of_grade(np.array([10.0, 20.0, 30.0])).tolist() == [10, 0, 30, 30, 20, 30]
    assert rankings.of_grade(np.array([True, True, True])).tolist() == [True, False, True, True, True, True]


def test_relevant(rankings):
    assert rankings.relevant(1).tolist() == [False, False, True, True, False, True]
    assert rankings.relevant(0.5).tolist() == [False, False, True, True, True, True]
    assert rankings.relevant(-5).tolist() == [True, False, True, True, True, True]


def test_sums(rankings):
    assert rankings.sum(np.arange(1.0, 7.0)).tolist() == [6, 4, 0, 11]
    assert rankings.pool_sum(np.array([1.0, 10.0, 100.0])).tolist() == [101, 110, 101, 110]
    assert rankings.per_row(np.array([5.0, 6.0])).tolist() == [5, 6, 5, 6]


def test_weights(rankings):
    assert rankings.weights(np.array([1.0, 0.5, 0.25, 0.1])).tolist() == [0.5, 0.25, 0.1, 1, 1, 0.25]
    assert rankings.weights(np.array([1.0, 0.5])).tolist() == [0.5, 0, 0, 1, 1, 0]
    assert rankings.weights(np.zeros(0)).tolist() == [0] * 6


def test_weights_of_ties():
    """Ranks 1 to 2 and 3 to 5 are tied; each takes the mean weight of its group's ranks."""
    rows = [("q", "a", 2.0), ("q", "u", 2.0), ("q", "b", 1.0), ("q", "c", 1.0), ("q", "v", 1.0)]
    rankings = World({"q": {"a": 1.0, "b": 1.0, "c": 0.0}}, {"run": rows}).align(ties="expected")
    assert rankings.weights(np.array([8.0, 4.0, 3.0, 2.0, 1.0])).tolist() == pytest.approx([6, 2, 2])
    assert rankings.weights(np.array([8.0, 4.0, 3.0])).tolist() == pytest.approx([6, 1, 1])
    assert rankings.weights(np.array([8.0])).tolist() == [4, 0, 0]


def test_count_before(rankings):
    everything = np.ones(6, bool)
    assert rankings.count_before(everything).tolist() == [0, 1, 2, 0, 0, 1]
    assert rankings.count_before(rankings.grade >= 0).tolist() == [0, 1, 1, 0, 0, 1]
    empty = World({"q": {"a": 1.0}}, {"run": []}).align()
    assert empty.count_before(np.zeros(0, bool)).tolist() == []


@settings(max_examples=50, deadline=None)
@given(world=worlds())
def test_condensing_is_what_align_does_without_the_unjudged(world):
    """The same as removing the rows of unjudged documents from the runs before they are ranked."""
    judged = {(topic, doc) for topic, pool in world.qrels.items() for doc, label in pool.items() if label is not None}
    kept = {name: [row for row in rows if row[:2] in judged] for name, rows in world.runs.items()}
    for ties in ("trec", "expected"):
        condensed, expected = world.align(ties=ties).condensed(), World(world.qrels, kept).align(ties=ties)
        for name in ("retrieved", "row", "rank", "document", "tie_first", "tie_last"):
            np.testing.assert_array_equal(getattr(condensed, name), getattr(expected, name), err_msg=name)


@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_only_some_systems_are_what_align_makes_of_their_runs(ties):
    made = simulate(topics=4, systems=3, depth=15, seed=2)
    rounded = [Run(run.frame.with_columns(pl.col("score").round(0)), name=run.name) for run in made.runs]
    first, _, last = rounded
    found = align(made.qrels, rounded, documents=5, scores=True, ties=ties).only([last.name, first.name])
    expected = align(made.qrels, [first, last], documents=5, scores=True, ties=ties)
    assert found.systems == expected.systems == (first.name, last.name)
    for name in ("retrieved", "present", "row", "rank", "document", "tie_first", "tie_last", "tied", "scores"):
        assert np.array_equal(getattr(found, name), getattr(expected, name), equal_nan=name == "tied"), name
    for name in ("row", "rank", "doc_id", "document"):
        assert list(getattr(found.listed, name)) == list(getattr(expected.listed, name))
    assert (found.ignored, found.stranger) == (expected.ignored, expected.stranger)
    assert (found.tie_first is found.rank) == (ties == "trec")
    assert found.only([]).systems == ()
