"""Dicts, frames of other libraries and named tuples."""

from __future__ import annotations

import datetime
import math
import subprocess
import sys
import warnings
from collections import OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gainful as gf
from gainful.io.read import read_qrels, read_run, read_runs

Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "iteration"], defaults=["0"])
ScoredDoc = namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])

ROWS = [("1", "a", 2.0), ("1", "b", -1.0), ("2", "a", 0.5)]
DICT = {"1": {"a": 2, "b": -1.0}, "2": {"a": 0.5}}


@pytest.mark.parametrize(
    "source",
    [
        DICT,
        OrderedDict(DICT),
        MappingProxyType(DICT),
        {1: {"a": 2, "b": -1.0}, 2: {"a": 0.5}},
        {np.int64(1): {"a": np.float32(2), "b": np.int8(-1)}, "2": {"a": np.float64(0.5)}},
        {b"1": {b"a": 2, "b": -1}, "2": {"a": 0.5}},
        DICT | {"3": {}},
    ],
    ids=["dict", "OrderedDict", "proxy", "int topics", "numpy scalars", "bytes", "a topic without documents"],
)
def test_dicts(source: object) -> None:
    for read in (read_qrels, read_run):
        frame = read(source).frame
        assert frame.rows() == ROWS
        assert frame.dtypes == [pl.String, pl.String, pl.Float64]


def test_integer_docs_become_strings() -> None:
    assert read_qrels({1: {7: 1, "x": 0}}).frame.rows() == [("1", "7", 1.0), ("1", "x", 0.0)]


def test_names() -> None:
    assert read_run(DICT).name == "run"
    assert read_run(DICT, name="bm25").name == "bm25"
    assert read_qrels(DICT).name == "qrels"


@pytest.mark.parametrize("kind", [list, tuple])
def test_ranked_lists(kind: type) -> None:
    run = read_run({"1": kind(["b", "a", 7]), "2": kind(["a"]), "3": kind([])})
    assert run.frame.rows() == [("1", "b", -1.0), ("1", "a", -2.0), ("1", "7", -3.0), ("2", "a", -1.0)]


def test_nothing_returned_is_a_run() -> None:
    for source in ({}, {"1": {}}, {"1": []}, []):
        run = read_run(source)
        assert run.frame.is_empty()
        assert run.frame.dtypes == [pl.String, pl.String, pl.Float64]


def test_bytes_kept_by_surrogateescape() -> None:
    doc = b"caf\xe9".decode("utf-8", "surrogateescape")
    assert read_run({"1": {doc: 1.0}}).frame["doc_id"].to_list() == ["caf\U0010ffe9"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("2", "'2' (str)"),
        (Decimal(2), "Decimal('2') (Decimal)"),
        (Fraction(1, 2), "Fraction(1, 2) (Fraction)"),
        ([1], "[1] (list)"),
    ],
)
def test_values_that_are_no_numbers(refused, value: object, shown: str) -> None:
    source = {"1": {"a": 1}, "2": {"b": 1.0, "c": value}}
    with refused(f"qrels dict, topic '2', doc 'c': expected a number as label, got {shown}"):
        read_qrels(source)
    with refused(f"run dict, topic '2', doc 'c': expected a number as score, got {shown}"):
        read_run(source)


def test_no_label_is_pooled_but_unjudged(refused) -> None:
    assert read_qrels({"1": {"a": 1, "b": None}, "2": {"c": None}}).frame["relevance"].to_list() == [1.0, None, None]
    with refused("run dict, topic '1', doc 'a': expected a number as score, got None (NoneType)"):
        read_run({"1": {"a": None}})


@pytest.mark.parametrize(("value", "shown"), [(math.nan, "nan"), (-math.inf, "-inf"), (10**400, "inf")])
def test_values_that_are_not_finite(refused, value: float, shown: str) -> None:
    with refused(f"run dict, topic '2', doc 'b': expected a finite score, got {shown}"):
        read_run({"1": {"a": 1.0}, "2": {"b": value, "c": 1}})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({1.5: {"a": 1}}, "run dict: expected a string or an integer as topic, got 1.5 (float)"),
        ({None: {"a": 1}}, "run dict: expected a string or an integer as topic, got None (NoneType)"),
        ({"1": {True: 1}}, "run dict, topic '1': expected a string or an integer as doc, got True (bool)"),
        (
            {"1": {"a": 1}, "2": {None: 1}},
            "run dict, topic '2': expected a string or an integer as doc, got None (NoneType)",
        ),
        (
            {"1": {"\ud800": 1}},
            "run dict, topic '1': expected a string or an integer as doc, got '\\ud800' (str)",
        ),
        ({"1": ["a", 2.5]}, "run dict, topic '1': expected a string or an integer as doc, got 2.5 (float)"),
        ({"1": "abc"}, "run dict, topic '1': expected {doc: score} or a list of docs, the best first, got str"),
        (
            {"1": {"a": 1}, "2": 3},
            "run dict, topic '2': expected {doc: score} or a list of docs, the best first, got 3 (int). "
            "The whole is {topic: {doc: score}}: the level of topics may be missing",
        ),
        ({"1": {"a", "b"}}, "run dict, topic '1': expected a list of docs, the best first, got set, without an order"),
        (
            {"1": {"2": {"a": 1}}},
            "run dict, topic '1', doc '2': expected a number as score, got {'a': 1} (dict). The whole is "
            "{topic: {doc: score}}, and several are {name: {topic: {doc: score}}}: there may be a level too many",
        ),
        (
            {"1": [{"document_title": "a", "score": 1}]},
            "run dict, topic '1': expected a doc with one of the keys doc_id, docno, corpus_id, document, document_id, "
            "docid, doc, passage_id, pid, passage, chunk_id, chunk, node_id, id, _id, got document_title, score",
        ),
        (
            {"1": [("a", 1), "b"]},
            "run dict, topic '1': expected a score with every doc or with none, got it with some",
        ),
        ({"1": ["a"], "2": {"a": 1}}, "run dict, topic '2': expected a list of docs as for other topics, got dict"),
    ],
)
def test_dicts_that_are_no_runs(refused, source: object, message: str) -> None:
    with refused(message):
        read_run(source)


@pytest.mark.parametrize("kind", [list, set, tuple, frozenset, np.array])
def test_the_relevant_documents_alone_have_label_1(kind) -> None:
    found = read_qrels({"1": kind(["a", "b"]), "2": kind(["c"])})
    assert sorted(found.frame.rows()) == [("1", "a", 1.0), ("1", "b", 1.0), ("2", "c", 1.0)]


def test_labels_may_be_true_or_false(refused) -> None:
    assert read_qrels({"1": {"a": True, "b": np.False_, "c": 2}}).frame["relevance"].to_list() == [1.0, 0.0, 2.0]
    assert read_qrels(pl.DataFrame({"qid": ["1"], "docno": ["a"], "label": [True]})).frame.rows() == [("1", "a", 1.0)]
    with refused("run dict, topic '1', doc 'a': expected a number as score, got True (bool)"):
        read_run({"1": {"a": True}})


Hit = namedtuple("Hit", ["node_id", "score"])


@pytest.mark.parametrize(
    "hits",
    [
        [{"corpus_id": "a", "score": 2.0}, {"corpus_id": "b", "score": -1.0}],
        [{"id": "a", "text": "x", "score": 2.0}, {"id": "b", "text": "y", "score": -1.0}],
        [("a", 2.0), ("b", -1.0)],
        [["a", 2.0], ["b", -1.0]],
        [Hit("a", 2.0), Hit("b", -1.0)],
    ],
    ids=["sentence-transformers", "id", "pairs", "lists", "objects"],
)
def test_results_of_a_topic_with_their_scores(hits) -> None:
    assert read_run({"1": hits, "2": []}).frame.rows() == ROWS[:2]
    assert [run.name for run in read_runs({"mine": {"1": hits}})] == ["mine"]


def test_results_without_scores_are_ranked_as_given() -> None:
    run = read_run({"1": [{"id": "a"}, {"id": "b"}], "2": [("c", 7.0)]})
    assert run.frame["score"].to_list() == [-1.0, -2.0, 7.0]


@pytest.mark.parametrize(
    "source",
    [
        [{"qid": q, "docno": d, "score": s} for q, d, s in ROWS],
        list(ROWS),
        {"query": [q for q, _, _ in ROWS], "passage_id": [d for _, d, _ in ROWS], "score": [s for _, _, s in ROWS]},
        np.array(ROWS, dtype=[("query_id", "U3"), ("doc_id", "U3"), ("score", "f8")]),
        np.array(ROWS, dtype=[("query_id", "U3"), ("doc_id", "U3"), ("score", "f8")]).view(np.recarray),
        pd.DataFrame(ROWS, columns=["query_id", "doc_id", "score"]).set_index(["query_id", "doc_id"]),
        pd.DataFrame(ROWS, columns=["query_id", "doc_id", "s"]).set_index(["query_id", "doc_id"])["s"],
    ],
    ids=["records", "tuples", "columns", "array", "recarray", "index", "series"],
)
def test_shapes_of_a_run(source) -> None:
    assert read_run(source).frame.rows() == ROWS
    assert [run.frame.rows() for run in read_runs(source)] == [ROWS]
    assert [run.name for run in read_runs({"mine": source})] == ["mine"]


def test_judgments_and_runs_that_seem_swapped() -> None:
    labels, scores = {"1": {"a": 1, "b": 0}}, {"1": {"a": 0.75, "b": 0.5}}
    with pytest.warns(gf.GainfulWarning, match="give judgments first, then runs"):
        gf.evaluate(scores, labels, "AP")
    with pytest.warns(gf.GainfulWarning, match="give judgments first, then runs"):
        gf.align(scores, {"mine": labels})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gf.evaluate(labels, scores, "AP")
        gf.evaluate(scores, scores, "AP")  # labels may be fractions
        gf.evaluate(labels, labels, "AP")


@pytest.mark.parametrize(
    "source",
    [
        [Qrel(*row) for row in ROWS],
        (Qrel(*row) for row in ROWS),
        tuple(SimpleNamespace(query_id=int(q), doc_id=d, relevance=r) for q, d, r in ROWS),
    ],
    ids=["list", "generator", "objects"],
)
def test_records_of_qrels(source: object) -> None:
    assert read_qrels(source).frame.rows() == ROWS


def test_records_of_runs() -> None:
    records = [ScoredDoc(*row) for row in ROWS]
    assert read_run(records).frame.rows() == ROWS
    assert [run.frame.rows() for run in read_runs(iter(records))] == [ROWS]


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        (
            [ScoredDoc("1", "a", 1), SimpleNamespace(query_id="1", doc_id="a", relevance=1)],
            "expected an object with query_id, doc_id and score, or a tuple of them, got SimpleNamespace",
        ),
        (
            [ScoredDoc("1", "a", 1), ("1", "a")],
            "expected an object with query_id, doc_id and score, or a tuple of them, got tuple",
        ),
        ([ScoredDoc("1", "a", 1), ScoredDoc("1", "a", None)], "expected a number as score, got None (NoneType)"),
        (
            [ScoredDoc("1", "a", 1), ScoredDoc(None, "a", 1)],
            "expected a string or an integer as topic, got None (NoneType)",
        ),
        ([ScoredDoc("1", "a", 1), ScoredDoc("1", 0.5, 1)], "expected a string or an integer as doc, got 0.5 (float)"),
        ([ScoredDoc("1", "a", 1), ScoredDoc("1", "a", math.nan)], "expected a finite score, got nan"),
        (
            [{"query_id": "1", "doc_id": "a", "score": 1}, ("1", "b", 0.5)],
            "expected a dict like the items before it, got tuple",
        ),
        ([("1", "b", 0.5), {"query_id": "1", "doc_id": "a"}], "expected a tuple like the items before it, got dict"),
    ],
)
def test_bad_records(refused, records: list[object], problem: str) -> None:
    with refused(f"run list, item 2: {problem}"):
        read_run(records)


def test_texts_and_lists_of_documents_are_no_files(refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words in a list of lists are names of files only if one of them is there."""
    with refused("expected a path, got a text of several lines, '1 0 a 1', …: write it to a file"):
        read_qrels("1 0 a 1\n1 0 b 0\n")
    with refused(
        "runs, item 1: expected a path, {topic: {doc: score}} or {topic: [best doc, …]}, a frame or records, got a "
        "list of words that are no files, 'a', …: of which topic are these documents?"
    ):
        read_runs([["a", "b"], ["c"]])
    monkeypatch.chdir(tmp_path)
    Path("a").write_text("1 Q0 a 1 0.5 me\n")
    assert [run.name for run in read_runs([["a"]])] == ["a"]


@pytest.mark.parametrize(
    ("source", "name"), [(3, "int"), (None, "NoneType"), (b"r.txt", "bytes"), (bytearray(b"r"), "bytearray")]
)
def test_unsupported_objects(refused, source: object, name: str) -> None:
    expected = (
        "expected a path, a dict {{topic: {{doc: {}}}}} or {{topic: [{} doc, …]}}, a frame, or a list of records with"
    )
    with refused(f"{expected.format('label', 'relevant')} query_id, doc_id and relevance as qrels, got {name}"):
        read_qrels(source)
    with refused(f"{expected.format('score', 'best')} query_id, doc_id and score as run, got {name}"):
        read_run(source)
    with refused(f"{expected.format('score', 'best')} query_id, doc_id and score as run, got {name}"):
        read_runs(source)


COLUMNS = {"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "score": [2.0, -1.0, 0.5], "other": [[1], [], [2]]}


@pytest.mark.parametrize(
    "make",
    [
        pl.DataFrame,
        lambda columns: pl.DataFrame(columns).lazy(),
        pd.DataFrame,
        pa.table,
        lambda columns: pa.table(columns).to_reader(),
        lambda columns: pd.DataFrame(columns).astype({"qid": "category", "docno": object}),
        lambda columns: pd.DataFrame(columns | {"qid": [1, 1, 2]}).convert_dtypes(),
        lambda columns: pd.DataFrame(columns).astype({"qid": "string[python]", "score": "Float64"}),
    ],
    ids=["polars", "lazy", "pandas", "pyarrow", "stream", "categories and objects", "nullable", "pandas strings"],
)
def test_frames(make) -> None:
    assert read_run(make(COLUMNS)).frame.rows() == ROWS


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA])
def test_missing_labels_of_pandas(missing: object) -> None:
    for dtype in (object, "Float64"):
        labels = pd.Series([1, missing], dtype=dtype) if dtype is object else pd.array([1, None], dtype=dtype)
        frame = pd.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": labels})
        assert read_qrels(frame).frame["relevance"].to_list() == [1.0, None]


def test_pandas_makes_missing_integers_floats() -> None:
    frame = pd.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [1, None]})
    assert read_qrels(frame).frame["relevance"].to_list() == [1.0, None]


def test_missing_pandas_scores(refused) -> None:
    frame = pd.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "score": [1, None]})
    with refused("run frame, row 2: expected a number as score, got nothing"):
        read_run(frame)


@pytest.mark.parametrize("column", ["qid", "docno"])
def test_missing_pandas_ids(refused, column: str) -> None:
    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, 2.0]})
    frame.loc[1, column] = None
    with refused(f"run frame, row 2: expected a {'query_id' if column == 'qid' else 'doc_id'}, got nothing"):
        read_run(frame)


def test_pandas_columns_with_odd_names(refused) -> None:
    frame = pd.DataFrame({0: ["1"], ("a", "b"): ["a"]})
    with pytest.raises(
        gf.DataError, match=r"^run frame: expected columns query_id, doc_id, score, got 0, \('a', 'b'\)\. "
    ):
        read_run(frame)


def test_pandas_columns_of_the_wrong_type(refused) -> None:
    frame = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [datetime.datetime(2024, 1, 1)]})
    with refused("run frame: expected numbers in column 'score', got Datetime(time_unit='us', time_zone=None)"):
        read_run(frame)


def test_mixed_pandas_columns(refused) -> None:
    frame = pd.DataFrame({"qid": pd.Series(["x", 1], dtype=object), "docno": ["a", "b"], "score": [1, 2]})
    assert read_run(frame).topics == ["x", "1"]
    frame["qid"] = pd.Series(["x", 1.5], dtype=object)
    with refused("run frame, row 2: expected a string or an integer as qid, got 1.5 (float)"):
        read_run(frame)
    frame["qid"] = pd.Series([None, object()], dtype=object)
    with refused("run frame: expected strings or integers in column 'query_id', got Object"):
        read_run(frame)


def test_lazy_frames_that_fail() -> None:
    broken = pl.LazyFrame({"qid": ["1"]}).select(pl.col("nothing"))
    with pytest.raises(ValueError, match=r"\Arun frame: cannot be read: .+\Z"):
        read_run(broken)


def test_pandas_without_pyarrow() -> None:
    """In a process where pyarrow cannot be imported."""
    code = """
import sys
sys.modules["pyarrow"] = None
import pandas as pd
import gainful as gf
from gainful.io.read import read_run
frame = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "score": [1.5, 2.5]})
print(read_run(frame).frame.rows())
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[('1', 'a', 1.5), ('2', 'b', 2.5)]\n"


def test_pandas_and_pyarrow_are_not_imported() -> None:
    code = "import sys, gainful.io; print(sorted({'pandas', 'pyarrow'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
