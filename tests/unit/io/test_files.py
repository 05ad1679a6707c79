"""Standard input is a file like any other, but for its name, and that it can be read but once."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import polars as pl
import pytest

import gainful as gf
from gainful.errors import DataError
from gainful.io.read import read_qrels, read_run, read_runs
from gainful.io.scores import read_scores

RUN = b"1 Q0 a 1 0.9 tag\n1 Q0 b 2 0.5 tag\n"
QRELS = b"1 0 a 1\n1 0 b 0\n"


class _Input:
    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


@pytest.fixture
def give(monkeypatch):
    return lambda content: monkeypatch.setattr("sys.stdin", _Input(content))


def packed(frame: pl.DataFrame, form: str) -> bytes:
    buffer = io.BytesIO()
    getattr(frame, f"write_{form}")(buffer)
    return buffer.getvalue()


def test_judgments(give):
    give(QRELS)
    qrels = read_qrels("-")
    assert qrels.name == "standard input"
    assert qrels.frame.rows() == [("1", "a", 1.0), ("1", "b", 0.0)]


@pytest.mark.parametrize("form", ["text", "gzip", "csv", "ndjson", "parquet", "ipc", "json"])
def test_a_run_in_any_format(give, form):
    frame = pl.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [0.9, 0.5]})
    contents = {"text": RUN, "gzip": gzip.compress(RUN), "json": b'{"query_id": "1", "doc_id": "a", "score": 0.9}'}
    give(contents[form] if form in contents else packed(frame, form))
    run = read_run("-")
    assert run.name == "stdin"
    assert run.frame.rows() == [("1", "a", 0.9), ("1", "b", 0.5)][: 1 if form == "json" else 2]


def test_among_other_runs(give, tmp_path):
    (tmp_path / "bm25.txt").write_bytes(RUN)
    give(RUN)
    assert [run.name for run in read_runs([tmp_path / "bm25.txt", "-", {"1": ["a"]}])] == ["bm25", "stdin", "run"]
    give(RUN)
    assert [run.name for run in read_runs({"mine": "-"})] == ["mine"]


def test_evaluate(give):
    give(RUN)
    assert gf.evaluate({"1": {"b": 1}}, "-", "RR").mean()["RR"].to_list() == [0.5]


@pytest.mark.parametrize(
    "content",
    [
        b"query_id,a,b\n1,0.5,0.25\n2,0.75,1.0\n",
        b"query_id\ta\tb\n1\t0.5\t0.25\n2\t0.75\t1.0\n",
        b'\xef\xbb\xbf{"query_id": "1", "a": 0.5, "b": 0.25}\n{"query_id": "2", "a": 0.75, "b": 1.0}\n',
        b'[{"query_id": "1", "a": 0.5, "b": 0.25},\n{"query_id": "2", "a": 0.75, "b": 1.0}]\n',
        b'{"scores": {"a": {"x": {"1": 0.5, "2": 0.75}}, "b": {"x": {"1": 0.25, "2": 1.0}}}}',
        b'{\n"scores": {"a": {"x": {"1": 0.5, "2": 0.75}}, "b": {"x": {"1": 0.25, "2": 1.0}}}}',
        packed(pl.DataFrame({"query_id": ["1", "2"], "a": [0.5, 0.75], "b": [0.25, 1.0]}), "parquet"),
    ],
    ids=["csv", "tsv", "jsonl", "json", "ours", "ours, indented", "parquet"],
)
def test_scores(give, content):
    give(content)
    found = read_scores("-")
    assert found.values.tolist() == [[[0.5, 0.75], [0.25, 1.0]]]
    give(gzip.compress(content))
    assert gf.read_scores("-").systems == ("a", "b")


def test_it_can_be_read_but_once(give):
    give(RUN)
    message = r"^standard input: read already; give '-' for one of the inputs only, and files for the others$"
    with pytest.raises(DataError, match=message):
        gf.evaluate("-", "-", "RR")
    give(RUN)
    with pytest.raises(DataError, match=message):
        read_runs(["-", "-"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"1 Q0 a 1 0.9 tag\n1 Q0 a\n",
            "standard input:2: expected 6 fields (topic Q0 doc rank score tag), got 3: '1 Q0 a'",
        ),
        (b"", "standard input: expected a run, got nothing"),
        (b"\x1f\x8bxx", "standard input: damaged gzip file: the end is missing"),
    ],
)
def test_errors_name_it(give, content, message):
    give(content)
    with pytest.raises(DataError) as caught:
        read_run("-")
    assert str(caught.value) == message


def test_scores_from_nothing(give):
    give(b"")
    with pytest.raises(DataError, match=r"^standard input: expected scores, got an empty table$"):
        read_scores("-")


def test_there_may_be_none(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(DataError, match=r"^standard input: expected data, got a closed one$"):
        read_run("-")


def test_it_may_fail(monkeypatch):
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    stdin = _Input(b"")
    stdin.buffer = Broken()
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(DataError, match=r"^standard input: cannot be read: Input/output error$"):
        read_run("-")


def test_a_file_may_have_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-").write_bytes(RUN)
    assert read_run("./-").name == "-"
    assert read_run(Path("-")).name == "-"
