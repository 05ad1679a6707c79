"""Parquet data sets: a folder of parts is one run, or several that its folders tell apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from gainful import evaluate
from gainful.data.run import LargeRun, Run
from gainful.io import chunks
from gainful.io.dataset import dataset_files
from gainful.io.read import iterate_runs, read_run, read_runs

QRELS = {"1": {"a": 1}, "2": {"b": 1}}
PARTS = [
    {"query_id": ["1", "1"], "doc_id": ["b", "a"], "score": [2.0, 1.0]},
    {"query_id": ["1", "2"], "doc_id": ["c", "b"], "score": [0.5, 3.0]},
]
ROWS = [("1", "b", 2.0), ("1", "a", 1.0), ("1", "c", 0.5), ("2", "b", 3.0)]


def write(path: str, columns: dict[str, list[object]]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_parquet(path)


@pytest.fixture
def parts(folder: Path) -> None:
    """Numbered so that the order of the alphabet would be wrong."""
    for number, part in zip((9, 10), PARTS, strict=True):
        write(f"bm25.parquet/part-{number}.parquet", part)


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_a_folder_with_the_name_of_a_file(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(chunks, "CHUNK", rows)
    monkeypatch.setattr(chunks, "ROW", 1)
    (run,) = iterate_runs("bm25.parquet")
    assert isinstance(run, LargeRun)
    assert max(chunk.height for chunk in run.chunks()) <= rows
    assert run.read().frame.rows() == ROWS
    assert read_run("bm25.parquet").name == "bm25"
    scores = evaluate(QRELS, "bm25.parquet", "RR")
    assert scores.values.tolist() == [[[1 / 2, 1.0]]]


@pytest.mark.parametrize("sign", ["_SUCCESS", "_metadata", "_common_metadata"])
def test_a_folder_with_the_signs_of_a_data_set(folder: Path, sign: str) -> None:
    for number, part in enumerate(PARTS):
        write(f"bm25/part-{number}.snappy.parquet", part)
    assert [run.name for run in read_runs("bm25")] == ["part-0.snappy", "part-1.snappy"]
    Path("bm25", sign).touch()
    assert read_run("bm25").frame.rows() == ROWS


def test_a_folder_a_run(folder: Path) -> None:
    for run, number in (("dense", 0), ("two%20words", 1), ("dense", 1)):
        write(f"all/system={run}/part-{number}.parquet", PARTS[number])
    assert [(run.name, run.frame.rows()) for run in read_runs("all")] == [("dense", ROWS), ("two words", ROWS[2:])]


def test_a_folder_a_topic(folder: Path) -> None:
    write("r.parquet/qid=1/x.parquet", {"docno": ["a"], "score": [1.0]})
    write("r.parquet/qid=2/y.parquet", {"docno": ["b"], "score": [1.0], "rank": [7]})
    assert read_run("r.parquet").frame.rows() == [("1", "a", 1.0), ("2", "b", 1.0)]


def test_what_is_in_the_files_counts_more(folder: Path) -> None:
    write("r/query_id=9/x.parquet", PARTS[0])
    assert read_run("r").frame.rows() == ROWS[:2]


def test_other_folders_mean_nothing(folder: Path) -> None:
    write("r/day=1/x.parquet", PARTS[0])
    write("r/day=2/x.parquet", PARTS[1])
    assert read_run("r").frame.rows() == ROWS


def test_runs_side_by_side(folder: Path) -> None:
    write("r.parquet/1.parquet", {**PARTS[0], "run": ["x", "y"]})
    write("r.parquet/2.parquet", {**PARTS[1], "run": ["y", "x"]})
    found = {run.name: run.frame.rows() for run in read_runs("r.parquet")}
    assert found == {"x": [ROWS[0], ROWS[3]], "y": [ROWS[1], ROWS[2]]}


@pytest.mark.usefixtures("parts")
def test_what_is_hidden_is_no_part() -> None:
    for name in (".part-9.parquet.crc", "_SUCCESS", "_temporary/x.parquet", ".hidden/y.parquet"):
        Path("bm25.parquet", name).parent.mkdir(exist_ok=True)
        Path("bm25.parquet", name).write_text("no Parquet")
    assert [file.name for file in dataset_files(Path("bm25.parquet"))] == ["part-9.parquet", "part-10.parquet"]
    assert read_run("bm25.parquet").frame.rows() == ROWS


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("source", [".", "*", "**"])
def test_among_other_runs(source: str) -> None:
    Path("a.txt").write_text("1 Q0 a 1 1 t\n")
    found = list(iterate_runs(source))
    assert [(run.name, type(run)) for run in found] == [("a", Run), ("bm25", LargeRun)]


@pytest.mark.usefixtures("folder")
def test_an_error_names_the_part(refused: Callable[[str], object]) -> None:
    write("r.parquet/1.parquet", PARTS[0])
    write("r.parquet/2.parquet", {**PARTS[1], "score": [1.0, float("nan")]})
    with refused("r.parquet/2.parquet, row 2: expected a finite score, got nan"):
        evaluate(QRELS, "r.parquet")


@pytest.mark.usefixtures("folder")
def test_a_part_that_is_something_else(refused: Callable[[str], object]) -> None:
    write("r.parquet/1.parquet", PARTS[0])
    Path("r.parquet/2.csv").write_text("1,2,3\n")
    with pytest.raises(ValueError, match=r"\Ar\.parquet/2\.csv: cannot be read as Parquet: "):
        evaluate(QRELS, "r.parquet")


@pytest.mark.usefixtures("folder")
def test_no_part(refused: Callable[[str], object]) -> None:
    Path("r.parquet").mkdir()
    with refused("r.parquet: expected a data set, got a folder without files"):
        evaluate(QRELS, "r.parquet")


@pytest.mark.usefixtures("folder")
def test_a_folder_that_cannot_be_listed(refused: Callable[[str], object], monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    Path("r.parquet").mkdir()
    monkeypatch.setattr("os.scandir", forbid)
    with refused("r.parquet: cannot be read: Permission denied"):
        evaluate(QRELS, "r.parquet")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("named", "wanted"), [(1, "a column run"), (2, "no column run")])
def test_parts_of_which_only_some_name_runs(refused: Callable[[str], object], named: int, wanted: str) -> None:
    for number, part in enumerate(PARTS, 1):
        write(f"r.parquet/{number}.parquet", {**part, "run": ["x", "x"]} if number == named else part)
    message = f"expected {wanted}, as in r.parquet/1.parquet; write all parts of a data set alike"
    with refused(f"r.parquet/2.parquet: {message}"):
        evaluate(QRELS, "r.parquet")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("value", ["__HIVE_DEFAULT_PARTITION__", ""])
def test_a_folder_without_a_topic(refused: Callable[[str], object], value: str) -> None:
    """How Hive, Spark and polars write rows whose topic is null."""
    write("r.parquet/qid=1/x.parquet", {"docno": ["a"], "score": [1.0]})
    write(f"r.parquet/qid={value}/x.parquet", {"docno": ["a"], "score": [1.0]})
    with refused(f"r.parquet/qid={value}/x.parquet: expected a query_id in the name of its folder, got nothing"):
        evaluate(QRELS, "r.parquet")


@pytest.mark.usefixtures("parts")
def test_a_link_that_leads_nowhere(refused: Callable[[str], object]) -> None:
    Path("bm25.parquet/part-11.parquet").symlink_to("nowhere")
    with refused("bm25.parquet/part-11.parquet: cannot be read: No such file or directory"):
        evaluate(QRELS, "bm25.parquet")


@pytest.mark.usefixtures("folder")
def test_nobody_side_by_side(refused: Callable[[str], object]) -> None:
    Path("r.parquet").mkdir()
    pl.DataFrame({**PARTS[0], "run": ["x", "y"]})[:0].write_parquet("r.parquet/1.parquet")
    with refused("r.parquet: expected one run, got none"):
        read_run("r.parquet")
    with refused("r.parquet: expected one run, got none"):
        evaluate(QRELS, {"mine": "r.parquet"})
