from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 2}, "q3": {"c": 0}}
RUNS = {
    "x": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}, "q3": {"c": 1.0}},
    "y": {"q1": {"b": 2.0, "a": 1.0}},
}
SUFFIXES = [".csv", ".tsv", ".jsonl", ".json", ".parquet", ".csv.gz", ".tsv.bz2", ".jsonl.xz", ".json.zst"]


def scores(**policies) -> gf.Scores:
    return gf.evaluate(QRELS, RUNS, ["AP", "nDCG@2"], **policies)


class TestRoundTrip:
    @pytest.mark.parametrize("suffix", SUFFIXES)
    @pytest.mark.parametrize("missing", ["empty", "skip"])
    def test_every_format(self, tmp_path, suffix, missing):
        written = scores(missing=missing)
        path = tmp_path / f"scores{suffix}"
        gf.write_scores(written, path)
        found = gf.read_scores(path)
        assert (found.measures, found.systems, found.topics) == (written.measures, written.systems, written.topics)
        np.testing.assert_array_equal(found.values, written.values)
        np.testing.assert_array_equal(found.counted, written.counted)
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]

    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_undefined_counts(self, tmp_path, suffix):
        # AP of q3, which has no relevant document, is NaN and makes the mean NaN.
        gf.write_scores(scores(degenerate="nan"), tmp_path / f"x{suffix}")
        found = gf.read_scores(tmp_path / f"x{suffix}")
        assert found.counted.all()
        assert math.isnan(found.mean()["AP"][0])

    @pytest.mark.parametrize("suffix", [".json", ".jsonl"])
    def test_json_has_no_undefined(self, tmp_path, suffix):
        gf.write_scores(scores(degenerate="nan"), tmp_path / f"x{suffix}")
        found = gf.read_scores(tmp_path / f"x{suffix}")
        assert not found.counted[0, 0, 2]
        assert found.mean()["AP"][0] == pytest.approx((1 + 1 / 2) / 2)

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
    def test_every_bit(self, tmp_path_factory, values):
        path = tmp_path_factory.mktemp("scores") / "x.csv"
        gf.write_scores(gf.read_scores(pl.DataFrame({"s": values}, schema={"s": pl.Float64})), path)
        assert gf.read_scores(path).values.ravel().tolist() == values

    def test_file_is_the_long_table(self, tmp_path):
        gf.write_scores(gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP"), tmp_path / "x.csv")
        assert (tmp_path / "x.csv").read_text() == "run,measure,query_id,score\nrun,AP,q,1.0\n"

    def test_bytes_of_names_survive(self, tmp_path):
        (tmp_path / "x.csv").write_bytes(b"run,measure,query_id,score\ncaf\xe9,AP,q,1.0\n")
        gf.write_scores(gf.read_scores(tmp_path / "x.csv"), tmp_path / "y.csv")
        assert (tmp_path / "y.csv").read_bytes() == (tmp_path / "x.csv").read_bytes()


class TestLong:
    def test_rows_of_means_are_not_read(self, tmp_path):
        (tmp_path / "x.csv").write_text("run,measure,query_id,score\na,AP,1,0.5\na,AP,all,0.9\nb,AP,1,0.25\n")
        found = gf.read_scores(tmp_path / "x.csv")
        assert found.topics == ("1",)
        assert found.mean()["AP"].to_list() == [0.5, 0.25]

    @pytest.mark.parametrize(
        "columns",
        [
            ("system", "measure", "topic", "value"),
            ("name", "measure", "qid", "value"),
            ("run", "measure", "q_id", "score"),
            ("run", "metric", "query", "score"),
            ("Run", "Metric", "Query", "Score"),
        ],
    )
    def test_other_spellings(self, columns):
        frame = pl.DataFrame([["a", "b"], ["AP", "AP"], ["1", "1"], [0.5, 0.75]], schema=columns)
        assert gf.read_scores(frame).systems == ("a", "b")

    def test_without_measure(self):
        found = gf.read_scores(pl.DataFrame({"run": ["a"], "query_id": [7], "score": [1]}))
        assert (found.measures, found.topics, found.values.tolist()) == (("score",), ("7",), [[[1.0]]])

    def test_absent_rows_do_not_count(self):
        frame = pl.DataFrame({"run": ["a", "a", "b"], "query_id": ["1", "2", "1"], "score": [1.0, 0.0, 0.5]})
        found = gf.read_scores(frame)
        assert found.counted.tolist() == [[[True, True], [True, False]]]
        assert found.mean()["score"].to_list() == [0.5, 0.5]
        assert found.missing == (0, 1)

    def test_nested_json_of_the_command_line(self, tmp_path):
        content = {"mean": {}, "scores": {"a": {"AP": {"1": 0.5, "2": None}}}}
        (tmp_path / "x.json").write_text(json.dumps(content))
        found = gf.read_scores(tmp_path / "x.json")
        assert found.topics == ("1", "2")
        assert found.mean()["AP"].to_list() == [0.5]


class TestWide:
    def test_with_topics(self, tmp_path):
        (tmp_path / "x.csv").write_text("query_id,a,b\n301,0.5,0.25\n302,NA,1\n303,,\n")
        found = gf.read_scores(tmp_path / "x.csv")
        assert (found.measures, found.systems, found.topics) == (("score",), ("a", "b"), ("301", "302", "303"))
        assert found.counted.tolist() == [[[True, False, False], [True, True, False]]]

    def test_without_topics(self, tmp_path):
        (tmp_path / "x.tsv").write_text('"a"\t"b"\n1\t2\n3\t4\n')
        found = gf.read_scores(tmp_path / "x.tsv")
        assert found.topics == ("1", "2")
        assert found["score"].values.tolist() == [[1.0, 3.0], [2.0, 4.0]]

    def test_quoted_names(self, tmp_path):
        (tmp_path / "x.csv").write_text('\ufeff"query_id","best, ""run""",b\n301,0.5,0.25\n', encoding="utf-8")
        found = gf.read_scores(tmp_path / "x.csv")
        assert (found.systems, found.topics) == (('best, "run"', "b"), ("301",))

    def test_a_name_with_a_semicolon(self, tmp_path):
        (tmp_path / "x.csv").write_text("query_id,a;b\n301,0.5\n")
        assert gf.read_scores(tmp_path / "x.csv").systems == ("a;b",)

    def test_first_column_without_name(self, tmp_path):
        (tmp_path / "x.csv").write_text(",a\n301,0.5\n")
        assert gf.read_scores(tmp_path / "x.csv").topics == ("301",)

    @pytest.mark.parametrize("header", ["Query", "QID", "id", "tid", "Topic No", "topic_id", "Query ID"])
    def test_other_spellings_of_the_topic(self, tmp_path, header):
        (tmp_path / "x.csv").write_text(f"{header},a,b\n301,0.5,0.25\n302,1,0\n")
        found = gf.read_scores(tmp_path / "x.csv")
        assert (found.systems, found.topics) == (("a", "b"), ("301", "302"))

    def test_a_run_called_query(self):
        assert gf.read_scores(pl.DataFrame({"plain": [0.5], "query": [0.25]})).systems == ("plain", "query")

    @pytest.mark.parametrize("first", [[1.0, 2.0], [0, 1], [3, 3], [2, None]])
    def test_a_run_of_whole_numbers_that_are_no_ids(self, first):
        assert gf.read_scores(pl.DataFrame({"a": first, "b": [0.5, 0.25]})).systems == ("a", "b")

    def test_counts_are_scores(self, tmp_path):
        (tmp_path / "x.csv").write_text("a,b\n3,4\n5,6\n")
        assert gf.read_scores(tmp_path / "x.csv").systems == ("a", "b")

    def test_ids_under_another_name(self):
        message = (
            "scores: column 'Aufgabe' looks like topic ids, not scores: call it query_id, or, if it is a run, write "
            "its scores with a decimal point, such as 3.0"
        )
        with pytest.raises(gf.DataError) as error:
            gf.read_scores(pl.DataFrame({"Aufgabe": [301, 302], "a": [0.5, 1.0], "b": [0.25, 0.0]}))
        assert str(error.value) == message

    def test_row_of_means_is_not_read(self):
        assert gf.read_scores(pl.DataFrame({"topic": ["1", "all"], "a": [0.5, 0.5]})).topics == ("1",)

    def test_nan_is_absent(self):
        assert gf.read_scores(pl.DataFrame({"a": [0.5, math.nan]})).counted.tolist() == [[[True, False]]]

    def test_system_called_score(self):
        assert gf.read_scores(pl.DataFrame({"score": [0.5], "b": [1.0]})).systems == ("score", "b")


class TestSources:
    def test_scores(self):
        given = scores()
        assert gf.read_scores(given) is given

    def test_matrix(self):
        found = gf.read_scores(scores(missing="skip")["AP"])
        assert found.measures == ("AP",)
        assert found.counted.tolist() == [[[True, True, True], [True, False, False]]]

    def test_pandas(self):
        frame = pd.DataFrame({"a": [0.5, math.nan], "b": [1.0, 0.0]}, index=["301", "302"])
        found = gf.read_scores(frame)
        assert found.topics == ("301", "302")
        assert found.counted.tolist() == [[[True, False], [True, True]]]
        assert gf.read_scores(frame.reset_index(drop=True)).topics == ("1", "2")

    def test_lazy_and_arrow(self):
        frame = pl.DataFrame({"a": [0.5]})
        assert gf.read_scores(frame.lazy()).systems == ("a",)
        assert gf.read_scores(frame.to_arrow()).systems == ("a",)

    def test_summaries_and_directions(self):
        frame = pl.DataFrame(
            {"run": ["a", "a"], "measure": ["NumRel", "AP"], "query_id": ["1", "1"], "score": [3.0, 0.5]}
        )
        found = gf.read_scores(frame.vstack(frame.with_columns(measure=pl.Series(["Forbidden@5", "homemade"]))))
        assert found.measures == ("NumRel", "AP", "Forbidden@5", "homemade")
        assert found.summaries == ("sum", "mean", "mean", "mean")
        assert found.higher == ("neither", "better", "worse", "better")


class TestLowerIsBetter:
    FRAME = pl.DataFrame(
        {"run": ["a"] * 3, "measure": ["latency", "AP", "cost"], "query_id": ["1"] * 3, "score": [3.0, 0.5, 2.0]}
    )

    def test_named(self):
        assert gf.read_scores(self.FRAME).higher == ("better", "better", "better")
        assert gf.read_scores(self.FRAME, lower_is_better=["latency", "cost"]).higher == ("worse", "better", "worse")

    def test_of_scores(self):
        given = scores()
        assert gf.read_scores(given, lower_is_better=["nDCG@2"]).higher[1] == "worse"
        assert gf.read_scores(given).higher[1] == "better"

    def test_of_a_wide_table(self):
        assert gf.read_scores([[1.0, 2.0], [3.0, 4.0]], lower_is_better=("score",)).higher == ("worse",)

    def test_refused(self):
        message = r"^lower_is_better: expected one of latency, AP, cost, got 'latencies'\. Did you mean 'latency'\?$"
        with pytest.raises(gf.GainfulError, match=message):
            gf.read_scores(self.FRAME, lower_is_better=["latencies"])
        with pytest.raises(
            gf.GainfulError, match=r"^lower_is_better: expected a list of measures, got 'cost': write \['cost'\]$"
        ):
            gf.read_scores(self.FRAME, lower_is_better="cost")


LONG = "run,measure,query_id,score\n"
BAD_FILES = {
    "empty file": ("x.csv", "", "{path}: expected scores, got an empty table"),
    "header only": ("x.csv", LONG, "{path}: expected scores, got an empty table"),
    "no rows": ("x.json", "[]", "{path}: expected scores, got an empty table"),
    "means only": (
        "x.csv",
        LONG + "a,AP,all,0.5\n",
        "{path}: expected scores of topics, got only means (query_id 'all'): "
        "write the file with gainful evaluate --per-topic",
    ),
    "missing column": (
        "x.csv",
        "run,measure,score\na,AP,0.5\n",
        "{path}: expected columns run, measure, query_id, score, got run, measure, score",
    ),
    "duplicate": (
        "x.csv",
        LONG + "a,AP,1,0.5\nb,AP,1,0.5\na,AP,1,0.6\n",
        "{path}, row 3: run 'a' has a second score of 'AP' for topic '1': keep one",
    ),
    "not a number": (
        "x.csv",
        LONG + "a,AP,1,0.5\na,AP,2,half\n",
        "{path}, row 2: expected a finite number as score, got 'half'",
    ),
    "infinite": ("x.csv", LONG + "a,AP,1,inf\n", "{path}, row 1: expected a finite number as score, got 'inf'"),
    "no topic": ("x.csv", LONG + "a,AP,,1\n", "{path}, row 1: expected a query_id, got nothing"),
    "wide, not a number": (
        "x.csv",
        "query_id,a,b\n1,0.5,0.5\n2,0.5,good\n",
        "{path}, row 2: expected a finite number in column 'b', got 'good'",
    ),
    "wide, ids of another name": (
        "x.csv",
        "Frage,a,b\n301,1,0\n302,0.5,0\n",
        "{path}: column 'Frage' looks like topic ids, not scores: call it query_id, or, if it is a run, write its "
        "scores with a decimal point, such as 3.0",
    ),
    "semicolons": (
        "x.csv",
        "query_id;a;b\n301;0,5;0,25\n",
        "{path}: expected commas between columns, got semicolons: write it with commas, and decimals with a point",
    ),
    "tabs in csv": (
        "x.csv",
        "query_id\ta\n301\t0.5\n",
        "{path}: expected commas between columns, got tabs: call the file .tsv",
    ),
    "commas in tsv": (
        "x.tsv",
        "query_id,a\n301,0.5\n",
        "{path}: expected tabs between columns, got commas: call the file .csv",
    ),
    "transposed": (
        "x.csv",
        "run,301,302\nbm25,0.5,0.25\n",
        "{path}: expected one row per topic and one column per run, got names in column 'run': transpose the table if "
        "it has one row per run, or remove that column",
    ),
    "topics of another name": (
        "x.csv",
        "Frage,a\nq1,0.5\n",
        "{path}: expected numbers in column 'Frage', got 'q1' and no number: call it query_id if it holds topics, or "
        "remove it",
    ),
    "column of text": (
        "x.csv",
        "query_id,a,remark\n1,0.5,-\n2,0.5,hard\n",
        "{path}: expected numbers in column 'remark', got 'hard' and no number: remove it",
    ),
    "wide, topic twice": ("x.csv", "topic,a\n1,0.5\n1,0.6\n", "{path}, row 2: a second row of topic '1': keep one"),
    "wide, no system": ("x.csv", "topic\n1\n", "{path}: expected one column per run beside query_id, got none"),
    "wide, system twice": ("x.csv", "a,a\n1,2\n", "{path}: two columns are named 'a': give each its own name"),
    "nothing but gaps": ("x.csv", "a,b\n,NA\n", "{path}: expected scores, got none: every cell is empty"),
    "suffix": (
        "x.xls",
        "",
        "{path}: expected a name that ends in .csv, .tsv, .jsonl, .json, .parquet, got 'x.xls'",
    ),
    "not parquet": ("x.parquet", "run,score", "{path}: cannot be read as parquet: *"),
    "not json": ("x.json", "{", "{path}: cannot be read as json: *"),
    "json of something else": ("x.json", '{"a": 1}', "{path}: cannot be read as json: expected a list of rows"),
    "not jsonl": ("x.jsonl", "run,score\n", "{path}: cannot be read as jsonl: *"),
}


class TestRefused:
    @pytest.mark.parametrize("case", BAD_FILES)
    def test_file(self, tmp_path, case):
        name, content, message = BAD_FILES[case]
        path = tmp_path / name
        path.write_text(content)
        # The reason that another library gives is its own affair; all else is matched.
        pattern = re.escape(message.format(path=path)).replace(r"\*", ".+")
        with pytest.raises(gf.DataError, match=f"^{pattern}$"):
            gf.read_scores(path)

    def test_no_file(self, tmp_path):
        with pytest.raises(gf.DataError, match=f"^{re.escape(str(tmp_path / 'x.csv'))}: no such file\\.$"):
            gf.read_scores(tmp_path / "x.csv")

    def test_folder(self, tmp_path):
        (tmp_path / "x.csv").mkdir()
        with pytest.raises(
            gf.DataError, match=f"^{re.escape(str(tmp_path / 'x.csv'))}: expected a file, got a folder$"
        ):
            gf.read_scores(tmp_path / "x.csv")

    def test_frame_of_other_things(self):
        with pytest.raises(gf.DataError, match=r"^scores: expected numbers in column 'a', got Boolean$"):
            gf.read_scores(pl.DataFrame({"a": [True]}))

    def test_topics_that_are_no_text(self):
        with pytest.raises(gf.DataError, match=r"^scores: expected text as query_id, got List\(Int64\)$"):
            gf.read_scores(pl.DataFrame({"query_id": [[1]], "a": [1.0]}))

    def test_other_objects(self):
        with pytest.raises(gf.DataError, match=r"^expected a file, a frame or Scores, got int$"):
            gf.read_scores(7)

    def test_write_to_unknown_suffix(self, tmp_path):
        with pytest.raises(gf.DataError, match=r"expected a name that ends in .*, got 'x\.txt'$"):
            gf.write_scores(scores(), tmp_path / "x.txt")
        assert list(tmp_path.iterdir()) == []


def test_a_matrix_is_taken_as_it_is_whatever_its_systems_are_called():
    matrix = gf.ScoreMatrix(values=np.array([[0.1, 0.2], [0.3, np.nan]]), systems=("run", "score"), topics=("1", "all"))
    found = gf.read_scores(matrix)
    assert found.systems == ("run", "score")
    assert found.topics == ("1", "all")
    assert found.counted.tolist() == [[[True, True], [True, False]]]


def test_a_wide_table_may_have_systems_called_as_columns_are():
    found = gf.read_scores(pl.DataFrame({"qid": ["1", "2"], "name": [0.1, 0.2], "mine": [0.3, 0.4]}))
    assert found.systems == ("name", "mine")
    assert found.topics == ("1", "2")


def test_undefined_scores_first(tmp_path):
    qrels = {f"q{i:03}": {"d": int(i >= 150)} for i in range(200)}
    found = gf.evaluate(qrels, {topic: ["d"] for topic in qrels}, "R@5", degenerate="nan")
    gf.write_scores(found, tmp_path / "x.jsonl")
    assert np.nansum(gf.read_scores(tmp_path / "x.jsonl").values) == 50


def test_a_topic_called_all_cannot_be_written(tmp_path):
    found = gf.evaluate({"all": {"d": 1}}, {"all": ["d"]}, "AP")
    path = tmp_path / "x.csv"
    with pytest.raises(gf.DataError) as error:
        gf.write_scores(found, path)
    assert (
        str(error.value) == f"{path}: a topic is called 'all', which stands for the mean in tables of scores: rename it"
    )
    assert not path.exists()


def test_deep_json_is_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("[" * 100_000)
    with pytest.raises(gf.DataError, match="cannot be read as json"):
        gf.read_scores(path)
