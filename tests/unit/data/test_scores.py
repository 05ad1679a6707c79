import json
import re
from math import exp, isnan, log

import numpy as np
import polars as pl
import pytest

from gainful.data.policies import Policies
from gainful.data.scores import ScoreMatrix, Scores, summarise
from gainful.errors import DataError


@pytest.fixture
def scores() -> Scores:
    """Two measures, two systems, three topics; the second system left out a topic, and one value is undefined."""
    return Scores(
        values=np.array([[[0.5, 1.0, 0.0], [0.25, np.nan, 0.75]], [[2.0, 3.0, np.nan], [1.0, np.nan, 4.0]]]),
        counted=np.array([[[True, True, True], [True, False, True]], [[True, True, True], [True, False, True]]]),
        measures=("nDCG@10", "NumRet"),
        systems=("a", "b"),
        topics=("1", "2", "3"),
        summaries=("mean", "sum"),
        higher=("better", "neither"),
        spellings={"ndcg_cut_10": "nDCG@10"},
        policies=Policies(missing="skip"),
        missing=(0, 1),
        ignored=(2, 0),
    )


def test_means(scores):
    frame = scores.mean()
    assert frame.columns == ["run", "nDCG@10", "NumRet"]
    assert frame["run"].to_list() == ["a", "b"]
    assert frame["nDCG@10"].to_list() == [0.5, 0.5]
    assert isnan(frame["NumRet"][0])  # undefined values spoil the mean unless a policy says otherwise
    assert frame["NumRet"][1] == 5.0


def test_frame(scores):
    frame = scores.to_frame()
    assert frame.columns == ["run", "measure", "query_id", "score"]
    assert frame.schema["query_id"] == pl.String
    assert frame.drop("score").rows() == [
        ("a", "nDCG@10", "1"),
        ("a", "nDCG@10", "2"),
        ("a", "nDCG@10", "3"),
        ("b", "nDCG@10", "1"),
        ("b", "nDCG@10", "3"),
        ("a", "NumRet", "1"),
        ("a", "NumRet", "2"),
        ("a", "NumRet", "3"),
        ("b", "NumRet", "1"),
        ("b", "NumRet", "3"),
    ]
    assert frame["score"].to_list()[:5] == [0.5, 1.0, 0.0, 0.25, 0.75]


def test_dict(scores):
    found = scores.to_dict()
    assert found["mean"]["a"]["nDCG@10"] == 0.5
    assert found["scores"]["b"] == {"nDCG@10": {"1": 0.25, "3": 0.75}, "NumRet": {"1": 1.0, "3": 4.0}}
    assert found["policies"]["missing"] == "skip"
    assert found["missing_topics"] == {"a": 0, "b": 1}
    assert found["ignored_topics"] == {"a": 2, "b": 0}
    assert json.loads(json.dumps(found["scores"]["b"])) == found["scores"]["b"]


@pytest.mark.parametrize("name", ["nDCG@10", "ndcg_cut_10"])
def test_one_measure(scores, name):
    matrix = scores[name]
    assert isinstance(matrix, ScoreMatrix)
    assert matrix.measure == "nDCG@10"
    assert (matrix.systems, matrix.topics) == (("a", "b"), ("1", "2", "3"))
    assert matrix.values.tolist()[0] == [0.5, 1.0, 0.0]
    assert isnan(matrix.values[1, 1])
    assert str(matrix) == "ScoreMatrix of nDCG@10: 2 systems × 3 topics"
    frame = matrix.to_frame()
    assert frame.columns == ["query_id", "a", "b"]
    assert frame.row(2) == ("3", 0.0, 0.75)


def test_left_out_topics_are_nan_even_if_they_have_a_value(scores):
    values = scores.values.copy()
    values[0, 1, 1] = 0.9
    other = Scores(**{name: getattr(scores, name) for name in Scores.__slots__} | {"values": values})
    assert isnan(other["nDCG@10"].values[1, 1])
    assert other.mean()["nDCG@10"].to_list() == [0.5, 0.5]


def test_no_such_measure(scores):
    message = "No scores of 'nDCG@1'; there are: nDCG@10, NumRet. Did you mean 'nDCG@10'?"
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        scores["nDCG@1"]


def test_text(scores):
    expected = "Scores: 2 measures × 2 systems × 3 topics "
    assert str(scores) == expected + "(ties=trec unjudged=zero missing=skip degenerate=zero duplicates=error)"


def test_shape_of_a_matrix():
    message = "expected 1 systems × 2 topics, got an array of (2, 1)"
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        ScoreMatrix(values=np.zeros((2, 1)), systems=("a",), topics=("1", "2"))


ALL = np.array([True, True, True])


@pytest.mark.parametrize(
    ("summary", "values", "counted", "expected"),
    [
        ("mean", [1.0, 2.0, 6.0], ALL, 3),
        ("mean", [1.0, np.nan, 3.0], np.array([True, False, True]), 2),
        ("sum", [1.0, 2.0, 6.0], ALL, 9),
        ("sum", [1.0, np.nan, 6.0], np.array([True, False, True]), 7),
        ("gmean", [0.1, 0.2, 0.4], ALL, (0.1 * 0.2 * 0.4) ** (1 / 3)),
        ("gmean", [0.5, 0.0, np.nan], np.array([True, True, False]), exp((log(0.5) + log(0.00001)) / 2)),
    ],
)
def test_summaries(summary, values, counted, expected):
    assert float(summarise(np.array(values), counted, summary)) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("summary", ["mean", "sum", "gmean"])
def test_summary_of_nothing(summary):
    assert isnan(summarise(np.array([1.0]), np.array([False]), summary))
    assert isnan(summarise(np.array([1.0, np.nan]), np.array([True, True]), summary))


def test_summaries_are_over_the_last_axis():
    values = np.arange(6.0).reshape(2, 3)
    assert summarise(values, np.ones((2, 3), bool), "mean").tolist() == [1, 4]


def test_scores_behave_like_a_mapping_of_measures(scores):
    assert list(scores) == ["nDCG@10", "NumRet"]
    assert len(scores) == 2
    assert "NumRet" in scores
    assert "AP" not in scores
    assert repr(scores) == str(scores)
    assert len(repr(scores["NumRet"])) < 80


def test_a_system_named_as_the_topics_are():
    matrix = ScoreMatrix(values=np.zeros((1, 1)), systems=("query_id",), topics=("1",))
    with pytest.raises(DataError, match=r"^a system is called 'query_id', as is the column of topics: rename it$"):
        matrix.to_frame()
