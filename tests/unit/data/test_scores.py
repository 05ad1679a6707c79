import json
import re
from dataclasses import replace
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
    assert found["verdict"] == "Of 2 runs, both have the same nDCG@10 (0.5000)."
    assert [note["code"] for note in found["notes"]] == ["missing-topics", "ignored-topics"]
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
    assert repr(matrix) == "ScoreMatrix of nDCG@10: 2 runs × 3 topics; means a 0.5000, b 0.5000"
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


TEXT = """\
Of 2 runs, both have the same nDCG@10 (0.5000).

run   nDCG@10   NumRet
──────────────────────
a      0.5000        -
b      0.5000        5

note: Judged topics for which a run returns nothing are left out of its mean (missing=skip): 1 of
'b'.
note: Topics of a run without judgments are ignored: 2 of 'a'.
evaluate: 2 runs, 3 topics; ties=trec unjudged=zero missing=skip degenerate=zero duplicates=error"""


def test_text(scores):
    assert str(scores) == TEXT
    assert repr(scores) == TEXT
    assert scores._repr_html_().startswith('<div class="gainful"><p><b>Of 2 runs, both have')


def test_verdict(scores):
    values = scores.values.copy()
    values[0, 0, 0] = 1.0
    other = replace(scores, values=values, higher=("better", "worse"), failed=(("x.txt", "x.txt: no"), ("'y'", "bad")))
    assert other.verdict() == "Of 2 runs, a has the best nDCG@10 (0.6667); b has the best NumRet (5)."
    assert replace(other, higher=("neither", "neither")).verdict() == ""
    assert [str(note) for note in other.notes()[:2]] == ["x.txt: no", "'y': bad"]
    assert [note.code for note in other.notes()] == ["failed", "failed", "missing-topics", "ignored-topics"]
    assert str(other.settings).startswith("evaluate: 2 runs (2 left out), 3 topics; ")
    alone = Scores(
        values=np.array([[[0.5, 1.0]], [[2.0, 3.0]], [[0.5, 0.5]], [[0.0, 1.0]]]),
        counted=np.ones((4, 1, 2), bool),
        measures=("AP", "NumRet", "GMAP", "RR"),
        systems=("a",),
        topics=("1", "2"),
        summaries=("mean", "sum", "gmean", "mean"),
        higher=("better", "neither", "better", "better"),
        spellings={},
        policies=None,
        missing=(0,),
        ignored=(0,),
    )
    assert alone.verdict() == (
        "a has a mean AP of 0.7500, a total NumRet of 5, GMAP of 0.5000 and a mean RR of 0.5000 over 2 topics."
    )
    assert alone.only(["AP", "RR"]).verdict() == "a has a mean AP of 0.7500 and a mean RR of 0.5000 over 2 topics."
    some = replace(alone, counted=np.array([[[True, False]], [[True, True]], [[True, False]], [[True, False]]]))
    assert some.only(["AP", "RR"]).verdict() == "a has a mean AP of 0.5000 and a mean RR of 0.0000 over 1 topic."
    assert (
        some.only(["AP", "NumRet"]).verdict() == "a has a mean AP of 0.5000 and a total NumRet of 5 over 1 to 2 topics."
    )
    undefined = replace(alone, values=np.where(alone.values == 0.5, np.nan, alone.values))
    assert undefined.only(["AP", "RR"]).verdict() == "a has an undefined AP and a mean RR of 0.5000 over 2 topics."
    assert alone.notes() == ()
    assert str(alone.settings) == "scores: 1 run, 2 topics"
    assert alone.tables()[1].text().splitlines()[2].split() == ["1", "a", "0.5000", "2", "0.5000", "0.0000"]


def test_tables(scores):
    means, topics = scores.tables()
    assert means.best == {(0, 1), (1, 1)}
    assert topics.cells() == [
        ["1", "a", "0.5000", "2"],
        ["2", "a", "1.0000", "3"],
        ["3", "a", "0.0000", "-"],
        ["all", "a", "0.5000", "-"],
        ["1", "b", "0.2500", "1"],
        ["2", "b", "-", "-"],
        ["3", "b", "0.7500", "4"],
        ["all", "b", "0.5000", "5"],
    ]
    one = replace(scores, higher=("worse", "neither"), values=scores.values * [[[1.0], [0.5]]]).only(["nDCG@10"])
    assert [column.header for column in one.topic_table().columns] == ["topic", "b", "a"]  # the best first
    assert one.topic_table().cells()[1] == ["2", "-", "1.0000"]
    assert one.mean_table().best == {(0, 1)}
    assert one.worst_topics().frame.rows() == [("2", 1.0), ("1", 0.5), ("3", 0.0)]
    assert scores.only(["nDCG@10"]).worst_topics().head(1).cells() == [["3", "0.0000"]]
    query_id = replace(one, systems=("query_id", "b"))
    assert query_id.topic_table().frame.columns == ["query_id", "run", "nDCG@10"]
    rows = list(one.long_rows(per_topic=True))
    assert rows[:4] == [("a", "nDCG@10", "1", 0.5), ("a", "nDCG@10", "2", 1.0), ("a", "nDCG@10", "3", 0.0), rows[3]]
    assert rows[3][2:] == ("all", 0.5)
    assert len(rows) == 7
    assert [row[2] for row in one.long_rows(per_topic=False)] == ["all", "all"]


def test_undefined_and_missing_topics_are_noted(scores):
    many = Scores(
        values=np.zeros((1, 6, 2)),
        counted=np.ones((1, 6, 2), bool),
        measures=("AP",),
        systems=tuple("abcdef"),
        topics=("1", "2"),
        summaries=("mean",),
        higher=("better",),
        spellings={},
        policies=Policies(),
        missing=(1, 1, 1, 1, 1, 1),
        ignored=(0,) * 6,
        undefined=(2,),
    )
    assert [str(note) for note in many.notes()] == [
        "Judged topics for which a run returns nothing count as empty rankings (missing=empty): 1 of 'a', 1 of 'b', "
        "1 of 'c', 1 of 'd' and 2 of 2 other runs.",
        "AP is undefined for 2 topics and counts as 0 there.",
    ]
    assert many.verdict() == "Of 6 runs, all have the same AP (0.0000)."


def test_chart(scores):
    specification = scores.chart().to_dict()
    drawn = specification["data"]["values"]
    assert {(cell["run"], cell["measure"], cell["mean"]) for cell in drawn} == {
        ("a", "nDCG@10", 0.5),
        ("b", "nDCG@10", 0.5),
        ("a", "NumRet", None),
        ("b", "NumRet", 5.0),
    }


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
    assert len(repr(scores["NumRet"])) < 80


def test_a_system_named_as_the_topics_are():
    matrix = ScoreMatrix(values=np.zeros((1, 1)), systems=("query_id",), topics=("1",))
    with pytest.raises(DataError, match=r"^a system is called 'query_id', as is the column of topics: rename it$"):
        matrix.to_frame()
