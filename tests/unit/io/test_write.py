"""What is written is read back as it was, or nothing is written."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.data.simulate import simulate
from gainful.errors import DataError
from gainful.io.atomic import write_atomically
from gainful.io.encoding import decode
from gainful.io.read import read_qrels, read_run
from gainful.io.write import write_collection, write_qrels, write_run

TABLES = [".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".ipc"]
TEXTS = ["", ".txt", ".run"]

RUN = Run(
    pl.DataFrame(
        {
            "query_id": ["2", "1", "1", "1", "1"],
            "doc_id": ["x", "a", "b", "c", "d"],
            "score": [1e-7, 0.1, 3.0, 0.1, 1e22],
        }
    ),
    "my run",
)
QRELS = Qrels(
    pl.DataFrame({"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "c"], "relevance": [2.0, -1.0, 0.5]}), "q"
)


def test_run_as_text(folder: Path) -> None:
    write_run(RUN, "r.txt")
    assert (folder / "r.txt").read_text() == (
        "2 Q0 x 1 1e-7 my_run\n1 Q0 a 4 0.1 my_run\n1 Q0 b 2 3.0 my_run\n1 Q0 c 3 0.1 my_run\n1 Q0 d 1 1e+22 my_run\n"
    )


@pytest.mark.parametrize(
    ("name", "tag"),
    [(" ", b"run"), ("a\0b\xa0c", b"a_b_c"), ("caf\udce9", b"caf\xed\xb3\xa9"), ("caf\U0010ffe9", b"caf\xe9")],
)
def test_tags_of_odd_names(folder: Path, name: str, tag: bytes) -> None:
    write_run(Run(RUN.frame.head(1), name), "r.txt")
    assert (folder / "r.txt").read_bytes() == b"2 Q0 x 1 1e-7 " + tag + b"\n"
    assert read_run("r.txt").frame.rows() == RUN.frame.head(1).rows()


def test_qrels_as_text(folder: Path) -> None:
    write_qrels(QRELS, "q")
    assert (folder / "q").read_text() == "1 0 a 2\n1 0 b -1\n2 0 c 0.5\n"
    large = QRELS.frame.with_columns(relevance=pl.Series([2.0**53, 1e300, -0.0]), iteration=pl.Series(["x", None, "7"]))
    write_qrels(Qrels(large), "q")
    assert (folder / "q").read_text() == "1 x a 9007199254740992\n1 0 b 1e+300\n2 7 c 0\n"


def test_tables(folder: Path) -> None:
    write_run(Run(RUN.frame.head(2).with_columns(rank=pl.Series([1, 4]), more=pl.lit("x"))), "r.csv")
    assert (folder / "r.csv").read_text() == "query_id,doc_id,score,rank\n2,x,1e-7,1\n1,a,0.1,4\n"
    write_qrels(Qrels(QRELS.frame.with_columns(iteration=pl.lit("0"))), "q.tsv")
    header = "query_id\tdoc_id\trelevance\titeration\n"
    assert (folder / "q.tsv").read_text() == header + "1\ta\t2.0\t0\n1\tb\t-1.0\t0\n2\tc\t0.5\t0\n"
    write_qrels(Qrels(QRELS.frame.head(2)), "q.jsonl")
    assert (folder / "q.jsonl").read_text() == (
        '{"query_id":"1","doc_id":"a","relevance":2}\n{"query_id":"1","doc_id":"b","relevance":-1}\n'
    )


@pytest.mark.parametrize("packing", ["", ".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("suffix", [*TEXTS, *TABLES])
def test_all_formats_come_back(folder: Path, refused, suffix: str, packing: str) -> None:
    for x, write, read in ((RUN, write_run, read_run), (QRELS, write_qrels, read_qrels)):
        path = f"x{suffix}{packing}"
        if packing == ".zst" and suffix in (".parquet", ".arrow", ".feather", ".ipc"):
            with refused(f"{path}: only UTF-8 text can be written as zstd; choose .gz, .bz2 or .xz"):
                write(x, path)
        else:
            write(x, path)
            assert_frame_equal(read(path).frame, x.frame)
    assert len(os.listdir()) <= 1


scores = st.floats(allow_nan=False, allow_infinity=False)
labels = st.integers(-5, 5).map(float) | scores
any_ids = st.text() | st.binary().map(decode)
blanks = "\0 \t\n\v\f\r"
words = st.text(st.characters(exclude_characters=blanks, codec="utf-8"), min_size=1)
bytes_words = st.binary(min_size=1).map(lambda data: decode(data.translate(None, blanks.encode()) or b"x"))
text_ids = (words | bytes_words).map(lambda word: "x" + word if word[0] in "#\ufeff\x1f(B\U0010fffd" else word)


def comes_back(x: Run | Qrels, suffix: str, write: Callable, read: Callable) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        write(x, path)
        assert_frame_equal(read(path).frame, x.frame)


def rows(ids: st.SearchStrategy[str], values: st.SearchStrategy[float | None]) -> st.SearchStrategy[list]:
    # A character that stands for a byte is one only if it came from bytes.
    clean = ids.filter(lambda text: decode(b"".join(to_bytes(text))) == text)
    return st.lists(st.tuples(clean, clean, values), min_size=1, max_size=5)


def to_bytes(text: str) -> list[bytes]:
    return [bytes([ord(c) - 0x10FF00]) if ord(c) >= 0x10FF80 else c.encode() for c in text]


def run_of(rows: list[tuple[str, str, float]]) -> Run:
    return Run(pl.DataFrame(rows, {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row"))


def qrels_of(rows: list[tuple[str, str, float | None]]) -> Qrels:
    return Qrels(
        pl.DataFrame(rows, {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}, orient="row")
    )


@settings(max_examples=300, deadline=None)
@given(rows(text_ids, scores), st.sampled_from([".txt", ".gz"]))
@example([("\x85", "\u3000", 5e-324), ("\xa0", '"', -0.0)], ".txt")
def test_any_run_comes_back_from_text(rows: list, suffix: str) -> None:
    comes_back(run_of(rows), suffix, write_run, read_run)


@settings(max_examples=300, deadline=None)
@given(rows(text_ids, labels), st.sampled_from([".txt", ".xz"]))
def test_any_qrels_come_back_from_text(rows: list, suffix: str) -> None:
    comes_back(qrels_of(rows), suffix, write_qrels, read_qrels)


@pytest.mark.parametrize("suffix", TABLES)
@settings(max_examples=100, deadline=None)
@given(rows(any_ids, scores))
@example([("\r", "\n", 0.1), (" a", '"', 0.2), ("#", ",", 1.7e308), ("\ufeff", "null", 5e-324), ("\\", "'", -0.0)])
def test_any_run_comes_back_from_tables(suffix: str, rows: list) -> None:
    comes_back(run_of(rows), suffix, write_run, read_run)


@pytest.mark.parametrize("suffix", TABLES)
@settings(max_examples=100, deadline=None)
@given(rows(any_ids, labels | st.none()))
def test_any_qrels_come_back_from_tables(suffix: str, rows: list) -> None:
    comes_back(qrels_of(rows), suffix, write_qrels, read_qrels)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".arrow", ".csv.zst"])
@pytest.mark.usefixtures("folder")
def test_empty_runs_come_back_from_tables(suffix: str) -> None:
    write_run(run_of([]), f"r{suffix}")
    assert read_run(f"r{suffix}").frame.is_empty()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("query_id", "a b"),
        ("query_id", "#a"),
        ("query_id", "\ufeffa"),
        ("query_id", ""),
        ("doc_id", "a\tb"),
        ("doc_id", "a\n"),
        ("doc_id", "\r"),
        ("doc_id", "a\0"),
        ("doc_id", ""),
    ],
)
def test_ids_that_text_cannot_hold(folder: Path, refused, column: str, value: str) -> None:
    ids = {"query_id": ["1", "1"], "doc_id": ["a", "b"], column: ["1", value]}
    problem = f"TREC text cannot hold the {column} {value!r}; write .csv or .parquet"
    with refused(f"r.txt: {problem}"):
        write_run(Run(pl.DataFrame({**ids, "score": [1.0, 2.0]})), "r.txt")
    with refused(f"q.gz: {problem}"):
        write_qrels(Qrels(pl.DataFrame({**ids, "relevance": [1.0, 2.0]})), "q.gz")
    assert os.listdir() == []


@pytest.mark.parametrize("name", ["r.txt", "r.xz"])
def test_a_topic_that_looks_like_a_compressed_file(folder: Path, refused, name: str) -> None:
    run = run_of([(decode(b"\x1f\x8b"), "a", 1.0)])
    with refused(f"{name}: the first topic looks like the start of a compressed file; write .csv or .parquet"):
        write_run(run, name)
    write_run(run, "r.csv")
    assert_frame_equal(read_run("r.csv").frame, run.frame)


@pytest.mark.parametrize("topic", ["qid,docno,x", '{"a":1}', "PAR1", "BZh91AY&S", "ARROW1"])
def test_topics_that_look_like_another_format_come_back(topic: str) -> None:
    comes_back(run_of([(topic, "a", 1.0)]), ".txt", write_run, read_run)
    comes_back(qrels_of([(topic, "a", 1.0)]), "", write_qrels, read_qrels)


def test_iterations_that_text_cannot_hold(refused) -> None:
    with refused("q: TREC text cannot hold the iteration 'a b'; write .csv or .parquet"):
        write_qrels(Qrels(QRELS.frame.with_columns(iteration=pl.lit("a b"))), "q")


def test_null_labels_that_text_cannot_hold(refused) -> None:
    with refused("q: TREC text has no way to say 'pooled but not judged' (null); write .csv or .parquet"):
        write_qrels(qrels_of([("1", "a", None)]), "q")


@pytest.mark.parametrize("name", ["x.json", "x.XLSX", "x.json.gz"])
def test_what_a_name_promises(folder: Path, refused, name: str) -> None:
    got = name.split(".")[1].lower()
    with refused(f"{folder / name}: expected .txt, .csv, .tsv, .jsonl, .parquet or .arrow, got .{got}"):
        write_run(run_of([("1", "a", 1.0)]), folder / name)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("suffix", ["", ".jsonl"])
def test_nothing_cannot_be_written_as_lines(refused, suffix: str) -> None:
    kind = "JSONL" if suffix else "TREC text"
    with refused(f"x{suffix}: {kind} cannot hold an empty run; write .csv or .parquet"):
        write_run(run_of([]), f"x{suffix}")
    with refused(f"x{suffix}: {kind} cannot hold empty qrels; write .csv or .parquet"):
        write_qrels(qrels_of([]), f"x{suffix}")


@pytest.mark.parametrize(("content", "expected"), [("é\n", "é\n".encode()), (b"\xff", b"\xff")])
def test_write_atomically(folder: Path, content: str | bytes, expected: bytes) -> None:
    (folder / "f").write_text("before")
    write_atomically("f", content)
    assert (folder / "f").read_bytes() == expected
    assert os.listdir() == ["f"]


@pytest.mark.parametrize("step", ["write_bytes", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_everything_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    (folder / "r.txt").write_text("before")

    def fail(path: Path, *_: object) -> None:
        with path.open("wb") as file:
            file.write(b"half")
        raise error

    monkeypatch.setattr(Path, step, fail)
    with pytest.raises((ValueError, KeyboardInterrupt)) as caught:
        write_run(RUN, "r.txt")
    if isinstance(error, OSError):
        assert str(caught.value) == "r.txt: cannot be written: No space left on device"
    assert os.listdir() == ["r.txt"]
    assert (folder / "r.txt").read_text() == "before"


@pytest.mark.parametrize(
    ("path", "reason"),
    [("no/r.txt", "No such file or directory"), ("folder", "Is a directory"), ("a\0b", "embedded null byte")],
)
def test_places_that_cannot_be_written_to(folder: Path, refused, path: str, reason: str) -> None:
    (folder / "folder").mkdir()
    with refused(f"{path}: cannot be written: {reason}"):
        write_run(RUN, path)


def test_a_new_file_has_the_usual_permissions(folder: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically("f", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "f").stat().st_mode) == 0o640


def test_a_link_is_followed(folder: Path) -> None:
    (folder / "there").mkdir()
    (folder / "there/file").write_text("before")
    (folder / "link").symlink_to("there/file")
    write_atomically("link", "after")
    assert (folder / "link").is_symlink()
    assert (folder / "there/file").read_text() == "after"
    assert os.listdir("there") == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_stay(folder: Path, mode: int) -> None:
    """What only its owner may read is not opened to all."""
    Path("f").write_text("before")
    Path("f").chmod(mode)
    write_atomically("f", "after")
    assert (Path("f").read_text(), Path("f").stat().st_mode & 0o777) == ("after", mode)


def test_a_pipe_is_written_to_and_not_replaced(folder: Path) -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically("pipe", "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)


def test_whatever_can_be_read_can_be_written(folder: Path, refused) -> None:
    write_run({"1": {"a": 0.5}}, "r.txt")
    write_qrels({"1": {"a": 2}}, "q.txt")
    assert Path("r.txt").read_text() == "1 Q0 a 1 0.5 run\n"
    assert Path("q.txt").read_text() == "1 0 a 2\n"
    with pytest.raises(DataError, match=r"^expected a path, a dict .* as run, got int$"):
        write_run(3, "x.txt")
    assert not Path("x.txt").exists()


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="needs /dev/fd")
def test_write_into_a_pipe() -> None:
    """What /dev/stdout is in a pipe: resolved, it is no name of a file."""
    read, write = os.pipe()
    try:
        write_atomically(f"/dev/fd/{write}", "content")
        assert os.read(read, 100) == b"content"
    finally:
        os.close(read)
        os.close(write)


class TestCollection:
    @pytest.fixture
    def made(self):
        return simulate(topics=2, systems=2, contributors=1, depth=5, seed=3)

    def test_is_read_back(self, made, tmp_path):
        write_collection(made, tmp_path / "c")
        assert sorted(path.name for path in (tmp_path / "c").iterdir()) == ["collection.json", "qrels.txt", "runs"]
        assert_frame_equal(read_qrels(tmp_path / "c" / "qrels.txt").frame, made.qrels.frame, check_row_order=False)
        for run in made.runs:
            read = read_run(tmp_path / "c" / "runs" / f"{run.name}.txt").frame
            assert_frame_equal(read, run.frame.select(read.columns), check_row_order=False)

    def test_nothing_is_lost_or_half_written(self, made, tmp_path, monkeypatch):
        (tmp_path / "c").mkdir()
        (tmp_path / "c" / "mine").touch()
        with pytest.raises(DataError, match=r"c: expected a new or empty folder, got one with files in it"):
            write_collection(made, tmp_path / "c")
        monkeypatch.setattr("gainful.io.write.json.dumps", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_collection(made, tmp_path / "d")
        assert [path.name for path in tmp_path.iterdir()] == ["c"]
