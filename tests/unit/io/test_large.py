"""Files read in chunks: whatever the chunks, the same rankings and the same complaints as from the whole file."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from effort import examples
from gainful import evaluate
from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.data.rankings import Rankings
from gainful.data.run import LargeRun, Run
from gainful.errors import DataError, GainfulError
from gainful.io import files, iterate_runs, large, read_qrels, read_run, read_runs, records
from gainful.io.compression import compress

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 2, "é": -1}, "7": {"a": 1}}
WHOLE = 1 << 40


@contextmanager
def chunks_of(size: int) -> Iterator[None]:
    """Every file counts as large, and is read so many bytes (or rows) at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "STREAMED", 0)
        patch.setattr(large, "CHUNK", size)
        patch.setattr(large, "ROW", 1)
        yield


def joined(path: Path, policies: Policies) -> object:
    """All that the join keeps, or what it refuses with."""
    try:
        rankings = align(read_qrels(QRELS), iterate_runs(path), policies)
    except GainfulError as error:
        return str(error)
    fields = (getattr(rankings, name) for name in Rankings.__dataclass_fields__)
    return [field.tolist() if isinstance(field, np.ndarray) else field for field in fields]


def same(name: str, content: bytes, size: int, policies: Policies) -> object:
    """The outcome, which is the same in chunks as from the whole."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        whole = joined(path, policies)
        with chunks_of(size):
            assert isinstance(large.large_runs(path, "x") if isinstance(whole, list) else [], list)
            assert joined(path, policies) == whole
    return whole


POLICIES = st.builds(
    Policies,
    ties=st.sampled_from(["trec", "order", "expected"]),
    duplicates=st.sampled_from(["error", "first"]),
    missing=st.sampled_from(["empty", "error"]),
    unjudged=st.sampled_from(["zero", "condensed"]),
)
SIZES = st.integers(1, 400)
TOPICS = st.sampled_from(["1", "2", "2", "7", "nobody", "none", "x" * 20])
DOCS = st.sampled_from(["a", "b", "c", "é", "d1", "d2", "a-long-name-of-a-document", "𝔡"])
SCORES = st.sampled_from(["1", "0.5", "0.50000000001", "-2", "3e2"])
ROWS = st.tuples(TOPICS, DOCS, SCORES)


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[str, str, str]]:
    """Rows of a run, mostly with its topics one after another."""
    found = draw(st.lists(ROWS, min_size=1, max_size=30, unique_by=draw(st.sampled_from([None, lambda row: row[:2]]))))
    return sorted(found, key=lambda row: row[0]) if draw(st.booleans()) else found


ODD = st.sampled_from(
    [b"", b" ", b"# a comment", b"1 Q0 a 1 2", b"1 Q0 a 1 nan t", b"1 Q0 a 1 x t", b"1 Q0 \xff 1 2 t", b"\0"]
    + [b"1\tQ0\tc\t1\t7\tt", b"2  Q0 a 1 2 t ", b"\xef\xbb\xbf1 Q0 a 1 2 t", b"1 Q0 \xf4\x8f\xbe\x80 1 2 t", b"#\0"]
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    lines = [f"{topic} Q0 {doc} 1 {score} t".encode() for topic, doc, score in draw(rows())]
    for odd in draw(st.lists(ODD, max_size=3)):
        lines.insert(draw(st.integers(0, len(lines))), odd)
    bom, end = draw(st.sampled_from([b"", b"\xef\xbb\xbf"])), draw(st.sampled_from([b"\n", b"\r\n"]))
    return bom + end.join(lines) + draw(st.sampled_from([end, b""]))


@settings(max_examples=examples(300), deadline=None)
@given(texts(), SIZES, POLICIES)
@example(b"1 Q0 a 1 nan t\n\0\n", 1000, Policies())
@example(b"1 Q0 a 1 2 t\n\xef\xbb\xbf1 Q0 a 1 2 t\n", 1, Policies())
@example(b"1 Q0 b 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 1 2 t\n", 1, Policies())
@example(b"2 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 1 2 t\n1 Q0 a 1 2 t\n", 1, Policies())
@example(b"1 Q0 a 1 2 t\n1 Q0 a 1 2 t\n1 Q0 a 1 2\n", 1, Policies())
@example(b"#\n\n", 1, Policies())
def test_text(content: bytes, size: int, policies: Policies) -> None:
    same("r.txt", content, size, policies)


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, bytes]:
    separator, name = draw(st.sampled_from([(",", "r.csv"), ("\t", "r.tsv")]))
    quote = draw(st.booleans())
    found = draw(rows())
    bad = st.sampled_from([("1", "", "1"), ("", "a", "1"), ("1", "d3", "x"), ("1", "d3", "inf"), ("1", "d3", ""), ("", "", "")])
    for row in draw(st.lists(bad, max_size=2)):
        found.insert(draw(st.integers(0, len(found))), row)
    run = draw(st.booleans())
    lines = [["qid", "docno", "score", *(["run"] if run else [])]]
    lines += [[*row, *([draw(st.sampled_from("xy"))] if run else [])] for row in found]
    if quote:
        lines = [[f'"{cell}"' if cell else "" for cell in line] for line in lines]
        for line in lines[1:]:
            if draw(st.integers(0, 9)) == 0:
                line[1] = '"two\nlines ""of"" an id"'
    if draw(st.integers(0, 9)) == 0:
        lines.insert(draw(st.integers(1, len(lines))), ["1"] * 7)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return name, end.join(separator.join(line) for line in lines).encode() + draw(st.sampled_from([end, ""])).encode()


@settings(max_examples=examples(300), deadline=None)
@given(tables(), SIZES, POLICIES)
@example(("r.csv", b"qid,docno,score\n1,a,x\n1,,2\n"), 1, Policies())
@example(("r.csv", b"qid,docno,score\n1,a,x\n1,b,2,3,4\n"), 1, Policies())
def test_tables(table: tuple[str, bytes], size: int, policies: Policies) -> None:
    same(*table, size, policies)


@st.composite
def objects(draw: st.DrawFn) -> bytes:
    found: list[object] = [{"qid": q, "docno": d, "score": float(s)} for q, d, s in draw(rows())]
    bad = [{"qid": "1", "docno": "d3"}, {"qid": None, "docno": "d3", "score": 1}, {"qid": "1", "docno": "d3", "score": "x"}]
    for odd in draw(st.lists(st.sampled_from([*bad, [], ""]), max_size=2)):
        found.insert(draw(st.integers(1, len(found))), odd)
    lines = ["" if line == "" else json.dumps(line, ensure_ascii=draw(st.booleans())) for line in found]
    return draw(st.sampled_from(["", "\ufeff", "\n"])).encode() + "\n".join(lines).encode()


@settings(max_examples=examples(200), deadline=None)
@given(objects(), SIZES, POLICIES)
def test_objects(content: bytes, size: int, policies: Policies) -> None:
    same("r.jsonl", content, size, policies)


@settings(max_examples=examples(100), deadline=None)
@given(rows(), st.integers(1, 30), st.integers(1, 40), POLICIES)
def test_parquet(found: list[tuple[str, str, str]], size: int, group: int, policies: Policies) -> None:
    frame = pl.DataFrame(found, schema=["query_id", "doc_id", "score"], orient="row").cast({"score": pl.Float64})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.parquet"
        frame.write_parquet(path, row_group_size=group)
        same("r.parquet", path.read_bytes(), size, policies)
