"""Complete matrices: what is left out, and what is refused (the messages for gaps are in test_sensitivity.py)."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.data.complete import CompleteScores, complete_matrices, complete_scores
from gainful.data.policies import Gaps


def scores_with_gap():
    first = gf.ScoreMatrix(
        values=np.array([[0.1, math.nan, 0.3], [0.2, 0.5, 0.6]]),
        systems=("a", "b"),
        topics=("1", "2", "3"),
        measure="AP",
    )
    return gf.read_scores(first)


def test_drop_leaves_out_the_topic_for_all():
    (matrix,) = complete_matrices(scores_with_gap(), gaps="drop")
    assert matrix.topics == ("1", "3")
    assert matrix.values.tolist() == [[0.1, 0.3], [0.2, 0.6]]
    assert (matrix.measure, matrix.systems) == ("AP", ("a", "b"))


def test_each_measure_keeps_its_own_topics():
    qrels = {"1": {"a": 1}, "2": {"a": 0}, "3": {"a": 1}}  # AP is undefined without a relevant document
    runs = {"x": {t: {"a": 1.0} for t in qrels}, "y": {t: {"b": 1.0} for t in qrels}}
    scores = gf.evaluate(qrels, runs, ["AP", "P@1"], degenerate="skip")
    assert [matrix.topics for matrix in complete_matrices(scores, gaps="drop")] == [("1", "3"), ("1", "2", "3")]


def test_unknown_way():
    with pytest.raises(gf.GainfulError) as caught:
        complete_matrices(scores_with_gap(), gaps="ignore")
    assert str(caught.value) == "gaps: expected one of error, drop, got 'ignore'."


DROP = "leave out topics that some run lacks (gaps='drop')"


@pytest.mark.parametrize(
    ("policies", "remedy"),
    [
        ({"missing": "skip"}, "score missing topics as empty rankings (missing='empty'), or " + DROP),
        ({"degenerate": "skip"}, "give a value to measures that are undefined (degenerate='zero'), or " + DROP),
        ({"degenerate": "nan"}, "give a value to measures that are undefined (degenerate='zero'), or " + DROP),
    ],
)
def test_what_to_do_about_gaps_that_policies_left(policies, remedy):
    qrels = {"1": {"a": 1}, "2": {"a": int("missing" in policies)}, "3": {"a": 1}}
    runs = {"x": {t: ["a"] for t in qrels}, "y": {t: ["a"] for t in qrels if t != "2" or "missing" not in policies}}
    run = "y" if "missing" in policies else "x"
    more = "" if "missing" in policies else " (and 1 more)"
    with pytest.raises(gf.DataError) as caught:
        complete_matrices(gf.evaluate(qrels, runs, "AP", **policies))
    assert str(caught.value) == (
        f"AP: run '{run}' has no score for topic '2'{more}, but runs are compared on the same topics: {remedy}"
    )


def test_a_table_has_no_policies_to_change():
    with pytest.raises(gf.DataError) as caught:
        complete_matrices(scores_with_gap())
    assert str(caught.value) == (
        f"AP: run 'a' has no score for topic '2', but runs are compared on the same topics: {DROP}"
    )


ROWS = [(run, measure, topic, 0.5) for measure in ("AP", "GMAP") for run in "ab" for topic in "312"]


def complete(rows, gaps: Gaps = "error") -> CompleteScores:
    return complete_scores(
        gf.read_scores(pl.DataFrame(rows, schema=["run", "measure", "query_id", "score"], orient="row")), gaps=gaps
    )


def test_axes():
    found = complete(ROWS)
    assert found.values.shape == (2, 2, 3)
    assert (found.measures, found.systems, found.geometric) == (("AP", "GMAP"), ("a", "b"), (False, True))


def test_topics_that_one_measure_lacks_are_left_out_of_all_in_the_order_of_the_scores():
    given = [
        (run, measure, topic, float(topic))
        for run, measure, topic, _ in ROWS
        if (run, measure, topic) not in {("b", "AP", "1")}
    ]
    found = complete(given, gaps="drop")
    kept = [float(topic) for topic in found.topics]
    assert set(kept) == {2.0, 3.0}
    assert found.values.tolist() == [[kept, kept]] * 2


def test_weighted_means():
    values = np.array([[[0.2, 0.4, 0.9]], [[0.1, 0.1, 0.4]]])
    found = CompleteScores(
        values=values, measures=("AP", "GMAP"), systems=("a",), topics=("1", "2", "3"), geometric=(False, True)
    )
    means = found.means(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]]))
    assert means.shape == (2, 2, 1)
    assert means[:, 0, 0] == pytest.approx([0.3, 2.2 / 3])
    assert means[:, 1, 0] == pytest.approx([0.1, (0.1 * 0.4**2) ** (1 / 3)])
