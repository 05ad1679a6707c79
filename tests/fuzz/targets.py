"""What must hold of any bytes, reader by reader: it is read, or refused with an error of ours, and nothing else.

A target is a function from bytes to nothing that raises where something is wrong, and the bytes to start from.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

from gainful.errors import GainfulError, MeasureError
from gainful.io import chunks, text
from gainful.io.compression import compress, decompress
from gainful.io.read import read_qrels, read_run, read_runs
from gainful.io.scores import read_scores, write_scores
from gainful.io.write import write_qrels, write_run
from gainful.ltrf.data import read_examples
from gainful.measures import parse_measures
from gainful.measures.grammar import read_measure

Check = Callable[[bytes], None]

_FOLDER = tempfile.TemporaryDirectory(prefix="gainful-fuzz-")
HOME = Path(_FOLDER.name)

RUN = pl.DataFrame({"query_id": ["1", "1", "é"], "doc_id": ["a", "b", "c"], "score": [1.5, -2.0, 1e-3]})
QRELS = RUN.rename({"score": "relevance"})
SCORES = pl.DataFrame(
    {"run": ["a", "a", "b"], "measure": ["AP"] * 3, "query_id": ["1", "2", "1"], "score": [0.5, None, 1.0]}
)
WIDE = pl.DataFrame({"query_id": ["1", "2"], "a": [0.5, 0.25], "b": [None, 1e-3]})
EXAMPLES = pl.DataFrame(
    {"query_id": ["1", "1"], "doc_id": ["a", "b"], "label": [1, -1], "query": ["x", "x"], "document": ["y", "é"]}
)
FEATURES = EXAMPLES.select("query_id", "doc_id", "label", bm25=pl.lit(0.5), length=pl.lit(3))

# What is worth trying anywhere; libFuzzer puts them together.
WORDS = (
    *(b" ", b"\t", b"\n", b"\r\n", b"\v", b"\f", b"#", b"\xef\xbb\xbf", b"\0", b"nan", b"inf", b"1e999", b"1e308"),
    *(b"-1e308", b"5e-324", b"-0", b"1_0", b"0x1", b'"', b'""', b",", b";", b"{", b"}", b"[", b"]", b":", b"null"),
    *(b"true", b"\xff", b"\xf4\x8f\xbe\x80", b"\xed\xa0\x80", b"\\ud800", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"),
    *(b"query_id", b"doc_id", b"relevance", b"score", b"rank", b"run", b"measure", b"all", b"iteration", b"qid:"),
    *(b"qid", b"docno", b"label", b"corpus-id", b"Q0", b"\x1f\x8b", b"BZh", b"9223372036854775808", b"\xe2\x80\xa8"),
)
GRAMMAR_WORDS = (
    *(b"nDCG", b"AP", b"P", b"iP", b"rbp", b"nDCGf", b"RBP", b"ERR", b"bpref", b"infAP", b"(", b")", b"[", b"]", b"{"),
    *(b"}", b"@", b"=", b",", b".", b"_", b":", b"'", b"gain", b"rel", b"discount", b"dcg", b"norm", b"cutoff", b"p="),
    *(b"exp", b"None", b"True", b"lambda", b"-1", b"1e9", b"0x1f", b"**", b"*", b"\\", b"\n", b"\0", b"1j", b"not "),
    *(b"1_0", b"nan", b"inf", b"\xd9\xa3", b"{1:2}", b"[1,2]", b"ndcg_cut_", b"map", b"'exp-log2'", b"b''", b"f'{1}'"),
)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A property, and where to start looking for bytes without it."""

    check: Check
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = WORDS
    packed: str = ""


def _binary(write: str, *frames: pl.DataFrame) -> tuple[bytes, ...]:
    contents = []
    for frame in frames:
        buffer = io.BytesIO()
        getattr(frame, write)(buffer)
        contents.append(buffer.getvalue())
    return tuple(contents)


def _separated(separator: str, *frames: pl.DataFrame) -> tuple[bytes, ...]:
    return tuple(frame.write_csv(separator=separator).encode() for frame in frames)


def _lines(*frames: pl.DataFrame) -> tuple[bytes, ...]:
    return tuple(frame.write_ndjson().encode() for frame in frames)


def _refused(error: GainfulError, path: Path, instead: str = "\0") -> None:
    """The message begins with the file, or tells something that is wrong in no single one."""
    assert str(error).startswith((str(path), instead)), error


def _collection(suffix: str) -> Check:
    """Judgments and runs; what was read can be written, and is then read the same."""
    path, again = HOME / f"x{suffix}", HOME / "again.arrow"

    def check(data: bytes) -> None:
        path.write_bytes(data)
        _in_chunks(path)
        for read, write in ((read_qrels, write_qrels), (read_run, write_run)):
            try:
                found = read(path)
            except GainfulError as error:
                _refused(error, path)
                continue
            if len(data) % 8 == 0:  # it takes as long as all the rest
                write(found, again)
                assert_frame_equal(read(again).frame, found.frame)
        try:
            read_runs(path)
        except GainfulError as error:
            _refused(error, path, "two runs are called")

    return check


def _in_chunks(path: Path) -> None:
    """A file that is read in chunks holds the same rows, or is refused as well; of several faults, one may be first."""

    def whole() -> list[object]:
        return [(run.name, run.frame.rows()) for run in read_runs(path)]

    def streamed() -> list[object] | None:
        with mock.patch.multiple(chunks, STREAMED=1, CHUNK=100, ROW=32):
            runs = chunks.large_runs(path, "x")
            return None if runs is None else [(run.name, run.read().frame.rows()) for run in runs]

    found = [_attempt(way) for way in (streamed, whole)]
    assert found[0] in (None, found[1]) or {type(way) for way in found} == {str}, found


def _attempt(read: Callable[[], object]) -> object:
    try:
        return read()
    except GainfulError as error:
        return str(error)


def _text(data: bytes) -> None:
    """The quick way, the patient one and a loop over lines agree, on the rows and on the line that is wrong."""
    for layout in (text.QRELS, text.RUN):
        ways = [_outcome(read, data, layout) for read in (text.read_text, _patiently)]
        assert ways[0] == ways[1], ways
    _collection("")(data)


def _patiently(data: bytes, layout: text.Layout, where: str) -> pl.DataFrame:
    frame = text._read_any(data, layout, where)
    return frame if frame.height else text.no_data(layout, where)


def _outcome(read: Callable[..., pl.DataFrame], data: bytes, layout: text.Layout) -> object:
    try:
        return read(data, layout, "f").rows()
    except GainfulError as error:
        return str(error)


def _scores(suffix: str) -> Check:
    path, again = HOME / f"s{suffix}", HOME / "scores.parquet"

    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            found = read_scores(path)
        except GainfulError as error:
            _refused(error, path)
            return
        assert not np.isinf(found.values).any()
        found.mean()
        try:
            write_scores(found, again)
        except GainfulError as error:
            _refused(error, again, "which stands for the mean")
            return
        assert_frame_equal(read_scores(again).to_frame(), found.to_frame())

    return check


def _examples(suffix: str) -> Check:
    path = HOME / f"e{suffix}"

    def check(data: bytes) -> None:
        path.write_bytes(data)
        for labelled in (True, False):
            try:
                read_examples(path, labelled=labelled)
            except GainfulError as error:
                _refused(error, path)

    return check


def _measure_file(data: bytes) -> None:
    path, again = HOME / "m.json", HOME / "again.json"
    path.write_bytes(data)
    try:
        found = read_measure(str(path))
    except MeasureError as error:
        _refused(error, path)
        return
    found.save(again)
    assert read_measure(str(again)) == found
    assert parse_measures(str(found)) == [found]


def _grammar(data: bytes) -> None:
    words = data.decode("utf-8", "replace")
    try:
        found = parse_measures(words)
    except MeasureError:
        return
    assert parse_measures(" ".join(map(str, found))) == found


_TREC = (
    "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in RUN.rows()).encode(),
    "".join(f"{q}\t0\t{d}\t{s}\n" for q, d, s in RUN.rows()).encode(),
    b"\xef\xbb\xbf# c\r\n1 Q0  a 1\t2.5 t\r\n\r\n",
    b"".join(b"%d Q0 document%d 1 %d t\n" % (i, i, i) for i in range(30)),
)
_JSON = (
    b'{"1": {"a": 2, "b": -1.5}, "2": {"a": null}}',
    b'{"1": ["a", "b"]}',
    json.dumps(RUN.to_dicts()).encode(),
)
_LETOR = (b"2 qid:1 1:0.5 3:1e-3 # docid = a\n-1 qid:1 2:0.5 # b\n", b"0 qid:x 0:1\n")

TARGETS = {
    "text": Target(check=_text, seeds=_TREC),
    "csv": Target(check=_collection(".csv"), seeds=_separated(",", RUN, QRELS)),
    "tsv": Target(check=_collection(".tsv"), seeds=_separated("\t", RUN, QRELS)),
    "jsonl": Target(check=_collection(".jsonl"), seeds=_lines(RUN, QRELS)),
    "json": Target(check=_collection(".json"), seeds=_JSON),
    "parquet": Target(check=_collection(".parquet"), seeds=_binary("write_parquet", RUN, QRELS)),
    "arrow": Target(check=_collection(".arrow"), seeds=_binary("write_ipc", RUN, QRELS)),
    "ipc": Target(check=_collection(".ipc"), seeds=_binary("write_ipc_stream", RUN, QRELS)),
    "gz": Target(check=_collection(".gz"), seeds=tuple(map(gzip.compress, _TREC)), packed=".gz"),
    "bz2": Target(check=_collection(".bz2"), seeds=tuple(map(bz2.compress, _TREC)), packed=".bz2"),
    "xz": Target(check=_collection(".xz"), seeds=tuple(map(lzma.compress, _TREC)), packed=".xz"),
    "zst": Target(
        check=_collection(".csv.zst"),
        seeds=tuple(compress(data, ".zst", "x") for data in _separated(",", RUN, QRELS)),
        packed=".zst",
    ),
    "scores-csv": Target(check=_scores(".csv"), seeds=_separated(",", SCORES, WIDE)),
    "scores-jsonl": Target(check=_scores(".jsonl"), seeds=_lines(SCORES, WIDE)),
    "scores-json": Target(
        check=_scores(".json"),
        seeds=(json.dumps(SCORES.to_dicts()).encode(), b'{"scores": {"a": {"AP": {"1": 0.5, "2": null}}}}'),
    ),
    "scores-parquet": Target(check=_scores(".parquet"), seeds=_binary("write_parquet", SCORES, WIDE)),
    "examples-letor": Target(check=_examples(".txt"), seeds=_LETOR),
    "examples-jsonl": Target(check=_examples(".jsonl"), seeds=_lines(EXAMPLES, FEATURES)),
    "examples-csv": Target(check=_examples(".csv"), seeds=_separated(",", EXAMPLES, FEATURES)),
    "measure-file": Target(
        check=_measure_file,
        seeds=(
            b'{"measure": "nDCG", "cutoff": 3, "gain": {"-2": -10, "1": 1.5}, "discount": [1, 0.5, 0.1]}',
            b'{"measure": "RBP", "p": 0.5, "rel": 2}',
            b'{"measure": "nDCGf", "gain": "exp"}',
        ),
        words=(*WORDS, *GRAMMAR_WORDS),
    ),
    "grammar": Target(
        check=_grammar,
        seeds=(
            b"nDCG(gain='exp', discount=[1, 0.5])@5,10 map rbp.95",
            b"ndcg_cut_10 P_5 iP@0.1",
            b"nDCGf(gain={-2: -10})@3",
        ),
        words=GRAMMAR_WORDS,
    ),
}


def short_borders() -> None:
    """Give short texts all the borders that long ones have."""
    text._SLICE, text._BATCH, text.LARGE = 64, 192, 400


def unpack(target: Target, data: bytes) -> bytes:
    """What is inside of a packed file, to be changed there: changed outside, hardly any can be unpacked."""
    return decompress(data, "x") if target.packed else data


def pack(target: Target, data: bytes) -> bytes:
    """The inverse of `unpack`."""
    return compress(data, target.packed, "x") if target.packed else data
