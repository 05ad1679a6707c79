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
from gainful.io import chunks, files, records
from gainful.io.compression import compress
from gainful.io.read import iterate_runs, read_qrels, read_run, read_runs

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 2, "é": -1}, "7": {"a": 1}}
WHOLE = 1 << 40


@contextmanager
def chunks_of(size: int) -> Iterator[None]:
    """Every file counts as large, and is read so many bytes (or rows) at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "STREAMED", 0)
        patch.setattr(chunks, "CHUNK", size)
        patch.setattr(chunks, "ROW", 1)
        yield


def joined(path: Path, policies: Policies) -> object:
    """All that the join keeps, or what it refuses with."""
    try:
        rankings = align(read_qrels(QRELS), iterate_runs(path), policies)
    except GainfulError as error:
        return str(error)
    fields = [getattr(rankings, name) for name in Rankings.__dataclass_fields__]
    fields = [field() if callable(field) else field for field in fields]  # names that are made when asked for
    return [np.asarray(field).tolist() if isinstance(field, np.ndarray | pl.Series) else field for field in fields]


def same(name: str, content: bytes, size: int, policies: Policies) -> object:
    """The outcome, which is the same in chunks as from the whole."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        whole = joined(path, policies)
        with chunks_of(size):
            assert isinstance(chunks.large_runs(path, "x") if isinstance(whole, list) else [], list)
            assert repr(joined(path, policies)) == repr(whole)  # NaN differs from itself
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
    b"| |# a comment|1 Q0 a 1 2|1 Q0 a 1 nan t|1 Q0 a 1 x t|1 Q0 \xff 1 2 t|\0|1\tQ0\tc\t1\t7\tt|2  Q0 a 1 2 t |"
    b"\xef\xbb\xbf1 Q0 a 1 2 t|1 Q0 \xf4\x8f\xbe\x80 1 2 t|#\0".split(b"|")
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
@example(b"\n\xef\xbb\xbf1 Q0 a 1 2 t\n1 Q0 a 1 1 t\n", 1, Policies())
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
    bad = st.sampled_from(
        [("1", "", "1"), ("", "a", "1"), ("1", "d3", "x"), ("1", "d3", "inf"), ("1", "d3", ""), ("", "", "")]
    )
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
    begin = draw(st.sampled_from(["", "", "\ufeff", end, "\ufeff" + end]))
    return name, (begin + end.join(separator.join(line) for line in lines) + draw(st.sampled_from([end, ""]))).encode()


@settings(max_examples=examples(300), deadline=None)
@given(tables(), SIZES, POLICIES)
@example(("r.csv", b"qid,docno,score\n1,a,x\n1,,2\n"), 1, Policies())
@example(("r.csv", b"qid,docno,score\n1,a,x\n1,b,2,3,4\n"), 1, Policies())
@example(("r.csv", b"\xef\xbb\xbf\nqid,docno,score\n1,a,2\n"), 1, Policies())
def test_tables(table: tuple[str, bytes], size: int, policies: Policies) -> None:
    same(*table, size, policies)


@st.composite
def objects(draw: st.DrawFn) -> bytes:
    found: list[object] = [{"qid": q, "docno": d, "score": float(s)} for q, d, s in draw(rows())]
    bad = [
        {"qid": "1", "docno": "d3"},
        {"qid": None, "docno": "d3", "score": 1},
        {"qid": "1", "docno": "d3", "score": "x"},
    ]
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


LINES = b"".join(b"%d Q0 d%d 1 %d t\n" % (topic, doc, -doc) for topic in range(1, 9) for doc in range(30))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: compress(data, ".zst", "x"),
}
CSV = b"query_id,doc_id,score\n" + b"".join(
    b'%s,"%s",%s\n' % tuple(line.split()[i] for i in (0, 2, 4)) for line in LINES.splitlines()
)


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize(("name", "content"), [("r.txt", LINES), ("r.csv", CSV)])
@pytest.mark.parametrize("size", [1, 100, 100_000])
def test_compressed(name: str, content: bytes, suffix: str, size: int) -> None:
    found = same(name + suffix, PACKERS[suffix](content), size, Policies())
    assert isinstance(found, list)
    assert found[2][:2] == [30, 30]


@pytest.mark.parametrize("suffix", PACKERS)
def test_an_archive_that_ends_early(suffix: str) -> None:
    # What it unpacks to until then has a line that is no good, too: that the archive is damaged is told first.
    packed = PACKERS[suffix](b"1 Q0 a 1\n" + LINES * 300)
    found = same(f"r.txt{suffix}", packed[: len(packed) - 20], 1000, Policies())
    assert "damaged" in str(found)


def test_members_of_an_archive() -> None:
    found = same("r.txt.gz", gzip.compress(LINES[:500]) + gzip.compress(LINES[500:]), 100, Policies())
    assert repr(found) == repr(same("r.txt", LINES, 100, Policies()))


def test_compressed_twice() -> None:
    assert "compressed twice" in str(same("r.gz", gzip.compress(gzip.compress(LINES)), 100, Policies()))


@pytest.mark.parametrize("size", [1, 90, 10_000])
def test_lines_are_counted_over_all_chunks(folder: Path, refused, size: int) -> None:
    (folder / "r.txt").write_bytes(b"\xef\xbb\xbf# made by hand\r\n\r\n" + LINES + b"9 Q0 x 1 2\n" + LINES)
    with chunks_of(size), refused("r.txt:243: expected 6 fields (topic Q0 doc rank score tag), got 5: '9 Q0 x 1 2'"):
        evaluate(QRELS, "r.txt")


@pytest.mark.parametrize("size", [1, 90, 10_000])
def test_rows_are_counted_over_all_chunks(folder: Path, refused, size: int) -> None:
    (folder / "r.csv").write_bytes(CSV + b"\n1,,3\n")
    with chunks_of(size), refused("r.csv, row 241: expected a doc_id, got nothing"):
        evaluate(QRELS, "r.csv")


def test_only_large_files_are_read_in_chunks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "r.txt").write_bytes(LINES)
    (folder / "r.txt.gz").write_bytes(gzip.compress(LINES))
    monkeypatch.setattr(chunks, "STREAMED", len(LINES) + 1)
    assert [type(run) for run in iterate_runs("r.txt")] == [Run]
    monkeypatch.setattr(chunks, "STREAMED", len(LINES))
    assert [type(run) for run in iterate_runs(["r.txt"])] == [LargeRun]
    monkeypatch.setattr(chunks, "STREAMED", (folder / "r.txt.gz").stat().st_size * 4)
    assert [type(run) for run in iterate_runs(["r.txt.gz"])] == [LargeRun]
    monkeypatch.setattr(chunks, "STREAMED", (folder / "r.txt.gz").stat().st_size * 4 + 4)
    assert [type(run) for run in iterate_runs(["r.txt.gz"])] == [Run]


def test_what_is_one_value_is_read_as_a_whole(folder: Path) -> None:
    (folder / "r.json").write_text('{"1": ["a", "b"]}')
    read_run(CSV_FRAME).frame.write_ipc(folder / "s.arrow")
    with chunks_of(1):
        assert [type(run) for run in iterate_runs(["r.json", "s.arrow"])] == [Run, Run]


CSV_FRAME = pl.DataFrame({"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "a"], "score": [2.0, 1.0, 0.5]})


def test_who_wants_a_whole_run_gets_it(folder: Path) -> None:
    (folder / "r.csv").write_bytes(CSV.replace(b"score\n", b"score,rank\n").replace(b"\n1,", b",7\n1,")[:400] + b"\n")
    (folder / "s.csv").write_bytes(CSV)
    whole = read_runs(["s.csv"])[0].frame
    with chunks_of(50):
        assert read_run("s.csv").frame.equals(whole)
        assert read_run("s.csv", name="mine").name == "mine"
        assert [run.name for run in read_runs({"x": "s.csv"})] == ["x"]
        assert evaluate(QRELS, {"x": "s.csv"}, "AP").systems == ("x",)
        # A large run can be handed on like any other.
        (run,) = iterate_runs("s.csv")
        assert evaluate(QRELS, run, "AP").systems == ("s",)
        assert evaluate(QRELS, iter([run]), "AP").systems == ("s",)


@pytest.mark.parametrize("order", [["run"], ["query_id", "run"], ["doc_id"]], ids=lambda order: "-".join(order))
@pytest.mark.parametrize("write", ["write_csv", "write_parquet", "write_ndjson"])
def test_runs_side_by_side(folder: Path, order: list[str], write: str) -> None:
    frame = read_run(CSV_FRAME).frame
    both = pl.concat(
        frame.with_columns(score=pl.col("score") * by, run=pl.lit(run)) for run, by in (("up", 1), ("down", -1))
    )
    path = folder / {"write_csv": "r.csv", "write_parquet": "r.parquet", "write_ndjson": "r.jsonl"}[write]
    getattr(both.sort(order, maintain_order=True), write)(path)
    expected = evaluate({"1": {"a": 1}}, path, "RR")
    for size in (1, 40, 10_000):
        with chunks_of(size):
            found = evaluate({"1": {"a": 1}}, path, "RR")
            assert found.systems == expected.systems
            assert found.values.tolist() == expected.values.tolist()
            with pytest.raises(DataError, match="expected one run, got 2"):
                read_run(path)
    assert dict(zip(found.systems, found.values[0, :, 0].tolist(), strict=True)) == {"up": 1.0, "down": 0.5}


@pytest.mark.parametrize("quotes", [False, True])
def test_records_stay_whole(quotes: bool) -> None:
    text = b'a,"1\n2",b\nc,"say ""\n"" twice",d\n\n"\n",e'
    records_of = [b'a,"1\n2",b\n', b'c,"say ""\n"" twice",d\n', b"\n", b'"\n",e'] if quotes else text.splitlines(True)
    for size in range(1, len(text) + 1):
        blocks = [text[at : at + size] for at in range(0, len(text), size)]
        found = list(records.whole_records(blocks, "f", quotes=quotes))
        assert b"".join(found) == text
        ends = np.cumsum([len(part) for part in found]).tolist()
        assert set(ends) <= set(np.cumsum([len(record) for record in records_of]).tolist())
        assert size > 1 or len(found) == len(records_of)


def test_a_binary_file_is_refused_before_all_of_it_is_in_memory(folder: Path, refused) -> None:
    (folder / "r.txt").write_bytes(b"1 Q0 a 1 2 t\n" + b"\0" * 5000)
    taken: list[int] = []
    with pytest.MonkeyPatch.context() as patch, chunks_of(100):
        read = chunks._blocks
        patch.setattr(chunks, "_blocks", lambda *args: (taken.append(1) or block for block in read(*args)))
        with refused("r.txt:2: expected text, got a NUL byte (is this UTF-16, or a binary file?): write it in UTF-8"):
            evaluate(QRELS, "r.txt")
    assert len(taken) < 10


def test_a_file_that_can_no_longer_be_read(folder: Path, refused) -> None:
    (folder / "r.txt").write_bytes(LINES)
    with chunks_of(100):
        runs = iterate_runs("r.txt")
        run = next(runs)
        (folder / "r.txt").unlink()
        with refused("r.txt: cannot be read: No such file or directory"):
            list(run.chunks())


def test_the_head_of_a_file_tells_what_it_is(folder: Path) -> None:
    """Blank lines before the header or the first object may fill the first chunks."""
    (folder / "r.jsonl").write_bytes(b"\xef\xbb\xbf\n\n" + read_run(CSV_FRAME).frame.write_ndjson().encode())
    with chunks_of(1):
        assert read_run("r.jsonl").frame.rows() == CSV_FRAME.rows()
    assert files.detect(b'{"a": 1', b"", Path("x")) == "jsonl"
