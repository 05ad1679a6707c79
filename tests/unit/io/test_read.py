"""Files, folders, patterns, and lists and dicts of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gainful.data.qrels import Qrels
from gainful.data.run import Run, UnreadRun
from gainful.errors import DataError
from gainful.io import files
from gainful.io.read import entries_of, iterate_runs, read_qrels, read_run, read_runs

LINE = "1 Q0 a 1 2.5 t\n"
ROWS = [("1", "a", 2.5)]


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(LINE)


def names_of(source: object) -> list[str]:
    return [run.name for run in read_runs(source)]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("bm25.txt", "bm25"),
        ("bm25", "bm25"),
        ("bm25.run.gz", "bm25"),
        ("bm25.CSV.bz2", "bm25"),
        ("sab20.1.blind.gz", "sab20.1.blind"),
        ("input.bm25", "input.bm25"),
        ("v1.2.trec", "v1.2"),
        ("sub/.run", ".run"),
        ("sub/.gz", ".gz"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_names_of_files(file: str, name: str) -> None:
    make(file)
    assert read_run(file).name == name
    assert read_run(Path(file), name="mine").name == "mine"


@pytest.mark.usefixtures("folder")
def test_qrels_are_called_as_their_file() -> None:
    Path("q.txt").write_text("1 0 a 1\n")
    assert read_qrels("q.txt").name == "q.txt"


def test_what_is_read_already_is_returned() -> None:
    qrels, run = read_qrels({"1": {"a": 1}}), read_run({"1": {"a": 1}}, name="x")
    assert read_qrels(qrels) is qrels
    assert read_run(run) is run
    assert read_runs(run) == [run]
    renamed = read_run(run, name="y")
    assert (renamed.name, renamed.frame) == ("y", run.frame)


@pytest.mark.parametrize("path", ["/dev/null", "empty.txt"])
def test_empty_files(folder: Path, refused, path: str) -> None:
    (folder / "empty.txt").touch()
    with refused(f"{path}: expected qrels, got an empty file"):
        read_qrels(path)
    with refused(f"{path}: expected a run, got an empty file"):
        read_run(path)


def test_a_folder_for_a_file(folder: Path, refused) -> None:
    (folder / "runs").mkdir()
    with refused("runs: expected a file, got a folder"):
        read_run("runs")
    with refused("runs: expected a file, got a folder"):
        read_qrels(Path("runs"))


@pytest.mark.usefixtures("folder")
def test_no_such_file(refused) -> None:
    make("runs/bm25.txt", "runs/dense.txt")
    with refused("runs/bm52.txt: no such file. Did you mean 'bm25.txt'?"):
        read_run("runs/bm52.txt")
    with refused("runs/zzz: no such file."):
        read_run("runs/zzz")
    with refused("rums/bm25.txt: no such file. There is no folder 'rums' either."):
        read_runs("rums/bm25.txt")


def test_no_permission(refused, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def forbid(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    make("r.txt")
    monkeypatch.setattr(Path, "open", forbid)
    with refused("r.txt: cannot be read: Permission denied"):
        read_run("r.txt")


def test_no_permission_for_a_folder(refused, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def forbid(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    make("runs/r.txt")
    monkeypatch.setattr(Path, "iterdir", forbid)
    with refused("runs: cannot be read: Permission denied"):
        read_runs("runs")


@pytest.mark.parametrize(("path", "reason"), [("a" * 300, "File name too long"), ("a\0b", "embedded null byte")])
def test_paths_that_cannot_be(refused, path: str, reason: str) -> None:
    with refused(f"{path}: cannot be read: {reason}"):
        read_run(path)


@pytest.mark.usefixtures("folder")
@pytest.mark.skipif(not hasattr(os, "pread"), reason="read as a whole here")
def test_a_large_file_on_a_disk_that_fails(refused, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(files, "LARGE", 1)
    monkeypatch.setattr(os, "pread", fail)
    make("r.txt")
    with refused("r.txt: cannot be read: Input/output error"):
        read_run("r.txt")


@pytest.mark.usefixtures("folder")
def test_names_that_are_not_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGE", 1)
    name = os.fsdecode(b"caf\xe9.txt")
    make(name)
    assert read_run(name).frame.rows() == ROWS


def test_a_pipe(folder: Path) -> None:
    """As in `gainful evaluate <(zcat qrels.gz) …`: it can be read only once, and not be mapped."""
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_text, args=(LINE * 3,))
    writer.start()
    assert read_run("pipe").frame.rows() == ROWS * 3
    writer.join()


@pytest.mark.usefixtures("folder")
def test_a_pipe_is_not_opened_to_see_what_it_is() -> None:
    # That would wait for a writer, and lose what it writes before the pipe is opened again.
    os.mkfifo("pipe")
    found: list[object] = []
    looking = threading.Thread(target=lambda: found.append(files.text_file(Path("pipe"))), daemon=True)
    looking.start()
    looking.join(60.0)
    stuck = looking.is_alive()
    if stuck:
        Path("pipe").write_text(LINE)
    assert not stuck
    assert found == [None]


@pytest.mark.usefixtures("folder")
def test_runs_of_a_parquet_file_of_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its last bytes tell what it is, not that they are no text.
    monkeypatch.setattr(files, "LARGE", 1)
    frame = pl.DataFrame({"run": ["x", "y"], "query_id": ["1", "1"], "doc_id": ["a", "a"], "score": [1.0, 2.0]})
    frame.write_parquet("table")
    assert [run.name for run in iterate_runs("table", raw=True)] == ["x", "y"]


@pytest.mark.usefixtures("folder")
def test_folders_in_natural_order() -> None:
    make("runs/run10.txt", "runs/Run2", "runs/run1.csv", "runs/.hidden", "runs/deeper/run0")
    Path("runs/run1.csv").write_text("qid,docno,score\n1,a,2.5\n")
    assert names_of("runs") == ["run1", "Run2", "run10"]
    assert names_of(Path("runs")) == ["run1", "Run2", "run10"]


@pytest.mark.usefixtures("folder")
def test_patterns() -> None:
    make("a/x1.txt", "a/x3.gz", "a/x20", "a/y.txt", "a/.x", "a/xx/z")
    assert names_of("a/x*") == ["x1", "x3", "x20"]
    assert names_of("a/x?.*") == ["x1", "x3"]
    assert names_of("a/[xy]*.txt") == ["x1", "y"]
    assert names_of("a/**/z") == ["z"]


@pytest.mark.usefixtures("folder")
def test_a_file_may_be_called_like_a_pattern() -> None:
    make("r[1].txt", "r1.txt")
    assert names_of("r[1].txt") == ["r[1]"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("none", "none: expected a folder of runs, got one without files"),
        ("none/*.gz", "none/*.gz: no file matches"),
        ([], "expected at least one run, got none"),
        (iter([]), "expected at least one run, got none"),
        ({}, "expected at least one run, got none"),
        (
            ["x.txt", 3],
            "expected a path, a dict {topic: {doc: score}} or {topic: [best doc, …]}, a frame, or a list of records "
            "with query_id, doc_id and score as run, got int",
        ),
        (["x.txt", "y.txt"], "y.txt: no such file. Did you mean 'x.txt'?"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_no_runs(refused, source: object, message: str) -> None:
    make("none/.hidden", "x.txt")
    with refused(message):
        read_runs(source)


@pytest.mark.usefixtures("folder")
def test_files_with_the_same_name_are_told_apart_by_their_folders() -> None:
    make("a/x/bm25.txt", "b/x/bm25.gz", "b/y/bm25", "b/dense.txt")
    assert names_of(["a/x/bm25.txt", "b/x/bm25.gz", "b/y/bm25", "b/dense.txt"]) == [
        "a/x/bm25",
        "b/x/bm25",
        "y/bm25",
        "dense",
    ]
    assert names_of("*/x/*") == ["a/x/bm25", "b/x/bm25"]


@pytest.mark.parametrize(
    "source",
    [
        ["x.txt", "x.txt"],
        ["x.txt", "x.run"],
        [Run(pl.DataFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]}), "x"), "x.txt"],
    ],
)
@pytest.mark.usefixtures("folder")
def test_runs_with_the_same_name(refused, source: object) -> None:
    make("x.txt", "x.run")
    with refused("two runs are called 'x'; rename one"):
        read_runs(source)


@pytest.mark.parametrize(
    "source",
    [
        {"1": {"a": 1.0}, "2": {"a": 2.0}},
        {"1": {"a": np.float32(1)}, "2": {}},
        {"1": {}, "2": {"a": 1}},
        {"1": ["a"], "2": ["b", "c"]},
        {"1": [], "2": ("b",)},
        {"1": {}},
    ],
)
def test_a_dict_that_is_one_run(source: object) -> None:
    assert [(run.name, run.frame.height) for run in read_runs(source)] == [("run", read_run(source).frame.height)]


def test_a_dict_of_runs(folder: Path) -> None:
    make("r.txt")
    frame = pl.DataFrame({"qid": [1], "docno": ["a"], "score": [2.5]})
    runs = read_runs(
        {
            "empty": {},
            "dict": {"1": {"a": 2.5}},
            "list": {"1": ["a"]},
            "file": "r.txt",
            "path": Path("r.txt"),
            "frame": frame,
            "run": Run(read_run(frame).frame, "other"),
            7: frame.lazy(),
        }
    )
    assert [(run.name, run.frame["score"].to_list()) for run in runs] == [
        ("empty", []),
        ("dict", [2.5]),
        ("list", [-1.0]),
        ("file", [2.5]),
        ("path", [2.5]),
        ("frame", [2.5]),
        ("run", [2.5]),
        ("7", [2.5]),
    ]


def test_a_dict_of_runs_holds_one_run_a_name(refused) -> None:
    frame = pl.DataFrame({"run": ["a", "b"], "qid": [1, 1], "docno": ["a", "b"], "score": [1, 2]})
    with refused("run DataFrame: expected one run, got 2 ('a', 'b')"):
        read_runs({"x": frame})


def test_lists_of_anything(folder: Path) -> None:
    make("runs/r1.txt", "runs/r2.txt")
    source = ["runs", {"1": {"a": 1}}, {"1": ["a"]}, {"named": {"1": ["a"]}}]
    assert names_of(source) == ["r1", "r2", "run3", "run4", "named"]
    assert names_of(tuple(source)) == names_of(iter(source)) == names_of(source)
    assert names_of([{"1": {"a": 1}}, "runs"]) == ["run", "r1", "r2"]


def test_many_files_come_in_order(folder: Path) -> None:
    for i in range(50):
        (folder / f"r{i}").write_text(f"1 Q0 a 1 {i} t\n")
    assert [run.frame["score"][0] for run in read_runs("r*")] == list(range(50))


def test_runs_are_read_as_they_are_needed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(*(f"r{i}" for i in range(50)))
    loaded = []
    load = files.load
    monkeypatch.setattr(files, "load", lambda path, where: (loaded.append(where), load(path, where))[1])
    runs = iterate_runs("r*")
    assert len(loaded) <= (os.cpu_count() or 1)
    assert next(runs).name == "r0"
    assert len(loaded) <= 2 * (os.cpu_count() or 1) + 1
    runs.close()


def test_an_iterator_of_runs_is_not_consumed_ahead() -> None:
    taken = []

    def several() -> Iterator[Run]:
        for name in "abc":
            taken.append(name)
            yield read_run({"1": {"d": 1.0}}, name=name)

    runs = iterate_runs(several())
    assert (next(runs).name, taken) == ("a", ["a"])
    assert ([run.name for run in runs], taken) == (["b", "c"], ["a", "b", "c"])


def test_types() -> None:
    assert isinstance(read_qrels({"1": {"a": 1}}), Qrels)
    assert isinstance(read_run({"1": {"a": 1}}), Run)


def test_json_of_a_dict(folder: Path, refused) -> None:
    Path("q.json").write_text('{"1": {"a": 2, "b": null}}')
    assert read_qrels("q.json").frame.rows() == [("1", "a", 2.0), ("1", "b", None)]
    Path("r.json").write_text('{\n "1": {"a": 0.5},\n "2": {}\n}')
    assert [(run.name, run.frame.rows()) for run in read_runs("r.json")] == [("r", [("1", "a", 0.5)])]
    Path("x.json").write_text("3")
    with refused("x.json: expected {topic: {doc: score}}, got int"):
        read_run("x.json")
    Path("x.json").write_text('{"1": {"a": "good"}}')
    with refused("x.json: qrels dict, topic '1', doc 'a': expected a number as label, got 'good' (str)"):
        read_qrels("x.json")
    Path("x.json").write_text("[" * 100_000)
    with pytest.raises(DataError, match=r"^x\.json: cannot be read as JSON: "):
        read_run("x.json")


def test_lists_of_records_and_of_frames() -> None:
    records = [{"query_id": "1", "doc_id": "a", "score": 2}, {"query_id": "1", "doc_id": "b", "score": 0.5}]
    rows = [("1", "a", 2.0), ("1", "b", 0.5)]
    assert [run.frame.rows() for run in read_runs(records)] == [rows]
    pandas = pytest.importorskip("pandas")
    assert [run.frame.rows() for run in read_runs([pandas.DataFrame(records), pl.DataFrame(records)])] == [rows, rows]


class TestEntries:
    def test_rows_that_come_but_once_are_kept(self):
        """They can be sent to a worker then, and be read again."""
        rows = [("1", "a", 2.0), ("1", "b", 1.0)]
        (entry,) = entries_of({"mine": iter(rows)})
        assert (entry.source, entry.name) == (rows, "mine")

    def test_files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name in ("run10.txt", "run2.txt.gz"):
            (tmp_path / name).write_text("1 Q0 a 1 2 t\n")
        found = entries_of("*.*")
        assert [str(entry) for entry in found] == ["run2.txt.gz", "run10.txt"]
        assert [entry.default for entry in found] == ["run2", "run10"]
        assert [entry.path for entry in found] == [str(tmp_path / "run2.txt.gz"), str(tmp_path / "run10.txt")]

    def test_where_a_file_is_found(self, tmp_path, monkeypatch):
        """By its own name where that leads to it, else by the whole one, else not at all."""
        (tmp_path / "a.txt").write_text("x")
        monkeypatch.chdir(tmp_path)
        entry = entries_of("a.txt")[0]
        assert str(entry.found()) == "a.txt"
        monkeypatch.chdir("/")
        assert str(entry.found()) == str(tmp_path / "a.txt")
        (tmp_path / "a.txt").unlink()
        with pytest.raises(DataError) as caught:
            entry.found()
        assert str(caught.value).startswith(
            f"{tmp_path / 'a.txt'}: expected every worker to see the files under the same names as this process does, "
            "got one that does not, on "
        )

    def test_what_cannot_be_read_is_passed_on(self, tmp_path):
        (tmp_path / "bad.txt").write_text("1 Q0 a\n")
        (tmp_path / "fine.txt").write_text("1 Q0 a 1 2 t\n")
        found = list(iterate_runs(iterate_runs(tmp_path, keep_going=True), keep_going=True))
        assert [type(run) for run in found] == [UnreadRun, Run]
        assert found[0].source == str(tmp_path / "bad.txt")
        assert found[0].reason.startswith(f"{tmp_path / 'bad.txt'}:1: expected 6 fields")
        assert found[1].source == str(tmp_path / "fine.txt")
        with pytest.raises(DataError, match="expected 6 fields"):
            list(iterate_runs(tmp_path))


@pytest.mark.parametrize("read", [read_qrels, read_run, lambda name: read_runs(["r.txt", name])])
def test_an_empty_name_is_not_the_folder_we_are_in(folder, read):
    (folder / "r.txt").write_text("1 Q0 a 1 2 t\n")
    with pytest.raises(DataError, match=r"^expected the name of a file, got an empty one; is a variable not set"):
        read("")
