"""Dicts, frames of other libraries and named tuples."""

from __future__ import annotations

import datetime
import math
import subprocess
import sys
from collections import OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

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
        (True, "True (bool)"),
        (np.True_, "np.True_ (bool)"),
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
        ({"1": "abc"}, "run dict, topic '1': expected {doc: score}, got str"),
        ({"1": {"a": 1}, "2": 3}, "run dict, topic '2': expected {doc: score}, got int"),
        ({"1": ["a"], "2": {"a": 1}}, "run dict, topic '2': expected a list of docs as for other topics, got dict"),
    ],
)
def test_dicts_that_are_no_runs(refused, source: object, message: str) -> None:
    with refused(message):
        read_run(source)


def test_ranked_lists_are_no_qrels(refused) -> None:
    with refused("qrels dict, topic '1': expected {doc: label}, got list"):
        read_qrels({"1": ["a", "b"]})


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
        ([ScoredDoc("1", "a", 1), Qrel("1", "a", 1)], "expected an object with query_id, doc_id and score, got Qrel"),
        ([ScoredDoc("1", "a", 1), ("1", "a", 1)], "expected an object with query_id, doc_id and score, got tuple"),
        ([ScoredDoc("1", "a", 1), ScoredDoc("1", "a", None)], "expected a number as score, got None (NoneType)"),
        (
            [ScoredDoc("1", "a", 1), ScoredDoc(None, "a", 1)],
            "expected a string or an integer as topic, got None (NoneType)",
        ),
        ([ScoredDoc("1", "a", 1), ScoredDoc("1", 0.5, 1)], "expected a string or an integer as doc, got 0.5 (float)"),
        ([ScoredDoc("1", "a", 1), ScoredDoc("1", "a", math.nan)], "expected a finite score, got nan"),
    ],
)
def test_bad_records(refused, records: list[object], problem: str) -> None:
    with refused(f"run list, item 2: {problem}"):
        read_run(records)


@pytest.mark.parametrize(
    ("source", "name"), [(3, "int"), (None, "NoneType"), (b"r.txt", "bytes"), (bytearray(b"r"), "bytearray")]
)
def test_unsupported_objects(refused, source: object, name: str) -> None:
    expected = "expected a path, a dict of dicts, a frame or a list of named tuples as"
    with refused(f"{expected} qrels, got {name}"):
        read_qrels(source)
    with refused(f"{expected} run, got {name}"):
        read_run(source)
    with refused(f"{expected} run, got {name}"):
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
    with refused("run frame: expected columns query_id, doc_id, score (or their other spellings), got 0, ('a', 'b')"):
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
