"""What a reader might pass over in silence, it refuses: keys and columns that are there twice, what follows an end."""

from __future__ import annotations

import bz2
import gzip
import lzma
from unittest import mock

import polars as pl
import pytest

from gainful import DataError, read_qrels, read_run, read_runs
from gainful.io import chunks
from gainful.io.compression import decompress, decompress_blocks
from gainful.io.scores import read_table

TEXT = b"1 Q0 d 1 2 t\n" * 3
ROW = b'{"query_id": "1", "doc_id": "d", "score": 1}\n'


def told(path, read=read_run) -> str:
    with pytest.raises(DataError) as error:
        read(str(path))
    return str(error.value)


@pytest.mark.parametrize("read", [read_run, read_qrels])
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"1": {"d": 1}, "1": {"e": 2}}', "1"),
        ('{"1": {"d": 1, "e": 2, "d": 3}}', "d"),
        ('[{"query_id": "1", "doc_id": "a", "doc_id": "b", "score": 1, "relevance": 1}]', "doc_id"),
    ],
)
def test_a_key_twice_in_json(tmp_path, text, key, read):
    (tmp_path / "r.json").write_text(text)
    assert (
        told(tmp_path / "r.json", read)
        == f"{tmp_path / 'r.json'}: cannot be read as JSON: the key {key!r} is there twice"
    )


def test_a_key_twice_in_scores(tmp_path):
    (tmp_path / "s.json").write_text('[{"run": "a", "run": "b", "score": 1}]')
    assert told(tmp_path / "s.json", read_table).endswith(
        "s.json: cannot be read as json: the key 'run' is there twice"
    )


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_key_twice_in_jsonl(tmp_path, rows, streamed):
    bad = b'{"query_id": "1", "doc_id": "a", "score": 1, "doc_id": "b"}\n'
    path = tmp_path / "r.jsonl"
    path.write_bytes(ROW.replace(b'"d"', b'"doc_id"') * rows + bad + ROW)
    with mock.patch.multiple(chunks, STREAMED=1 if streamed else 1 << 40, CHUNK=60):
        assert told(path).startswith(f"{path}:{rows + 1}: the key 'doc_id' is there twice: ")


def test_a_value_that_is_called_like_a_key(tmp_path):
    (tmp_path / "r.jsonl").write_bytes(ROW.replace(b'"d"', b'"doc_id"') + ROW)
    assert read_run(str(tmp_path / "r.jsonl")).frame["doc_id"].to_list() == ["doc_id", "d"]


@pytest.mark.parametrize("value", ['{"a": 1}', "[1]", "[]"])
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
def test_an_id_that_is_an_object(tmp_path, column, value):
    ids = {"query_id": '"1"', "doc_id": '"d"', column: value}
    line = f'{{"query_id": {ids["query_id"]}, "doc_id": {ids["doc_id"]}, "score": 1}}\n'
    (tmp_path / "r.jsonl").write_bytes(ROW + line.encode())
    expected = f"r.jsonl:2: expected a string or an integer as {column}, got {value}"
    assert told(tmp_path / "r.jsonl").endswith(expected)


def test_ids_that_look_like_objects(tmp_path):
    (tmp_path / "r.jsonl").write_bytes(ROW.replace(b'"d"', b'"[1]"') + ROW.replace(b'"d"', b'"{}"'))
    assert read_run(str(tmp_path / "r.jsonl")).frame["doc_id"].to_list() == ["[1]", "{}"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("header", "both"),
    [
        ("query_id,doc_id,score,score", "'score' and 'score'"),
        ("query_id,doc_id,doc_id,score", "'doc_id' and 'doc_id'"),
        ('query_id,doc_id,"Doc-ID",score', "'doc_id' and 'Doc-ID'"),
    ],
)
def test_a_column_twice(tmp_path, header, both, streamed):
    path = tmp_path / "r.csv"
    path.write_text(f"{header}\n" + "1,2,3,4\n" * 9)
    with mock.patch.multiple(chunks, STREAMED=1 if streamed else 1 << 40, CHUNK=20):
        assert told(path) == f"{path}: expected each column once, got {both}; rename or remove one"


def test_columns_twice_that_do_not_matter(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("query_id,doc_id,note,note,score,docid\n1,d,x,y,2,e\n")
    assert read_run(str(path)).frame.rows() == [("1", "d", 2.0)]


@pytest.mark.parametrize("tail", [b"garbage", b"\0\0\0\0x", TEXT, b"BZh9"])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_what_follows_the_end(tmp_path, pack, tail):
    data = pack(TEXT) + tail
    (tmp_path / "r").write_bytes(data)
    with pytest.raises(DataError, match=r"\Ar: damaged (gzip|bzip2|xz) file: "):
        decompress(data, "r")
    with pytest.raises(DataError, match=r"\Ar: damaged (gzip|bzip2|xz) file: "):
        list(decompress_blocks(tmp_path / "r", "r", 10))


@pytest.mark.parametrize("tail", [b"", b"\0" * 4, b"\0" * 100_000])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_zeros_that_fill_up_a_block(tmp_path, pack, tail):
    data = pack(TEXT) + tail + pack(TEXT) + tail
    (tmp_path / "r").write_bytes(data)
    assert decompress(data, "r") == b"".join(decompress_blocks(tmp_path / "r", "r", 10)) == 2 * TEXT


def test_arrow_streams(tmp_path):
    frame = pl.DataFrame({"query_id": ["1"], "doc_id": ["d"], "score": [1.0]})
    frame.write_ipc_stream(tmp_path / "r.arrows")
    assert read_run(str(tmp_path / "r.arrows")).frame.rows() == frame.rows()
    assert [run.name for run in read_runs(str(tmp_path))] == ["r"]
