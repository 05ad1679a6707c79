"""Ranks that contradict the scores are noticed, whatever the format; ranks that say nothing are not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import gainful as gf
from gainful.data.run import Run
from gainful.io import chunks, ranks
from gainful.io.read import iterate_runs, read_run, read_runs

# Scores of which a lower one is better.
DISTANCES = [("1", "a", 1, 0.1), ("1", "b", 2, 0.5), ("2", "a", 1, 0.2), ("2", "c", 2, 0.3), ("2", "d", 3, 0.4)]
REST = (
    " Documents are ranked by score, the highest first, and the rank column is not used. If a lower score is better, "
    "negate the scores; if columns are swapped, swap them back."
)


def text(rows) -> str:
    return "".join(f"{topic} Q0 {document} {rank} {score} tag\n" for topic, document, rank, score in rows)


def noted(rows) -> list[str]:
    Path("x.txt").write_text(text(rows))
    return [str(note) for note in read_run("x.txt").notes]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_text():
    Path("r.txt").write_text(text(DISTANCES))
    (note,) = read_run("r.txt").notes
    assert (note.code, note.subject, note.warn) == ("rank-contradicts-score", "r", True)
    assert note.text == (
        "The ranks of run 'r' contradict its scores in 2 of the first 2 topics: rank and score grow together, for "
        "example from line 1 (1 Q0 a 1 0.1 tag) to line 2 (1 Q0 b 2 0.5 tag)." + REST
    )


def test_python_is_warned():
    Path("r.txt").write_text(text(DISTANCES))
    with pytest.warns(gf.GainfulWarning, match="The ranks of run 'r' contradict its scores in 2 of the first 2 topics"):
        gf.evaluate({"1": {"a": 1, "b": 0}, "2": {"a": 1, "c": 0}}, "r.txt", "AP")


def test_line_numbers_count_what_is_skipped():
    Path("r.txt").write_text("\ufeff# comment\n\n" + text(DISTANCES[:2]))
    assert (
        "in the first topic: rank and score grow together, for example from line 3 (" in read_run("r.txt").notes[0].text
    )


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow", "frame"])
def test_tables(form):
    frame = pl.DataFrame(DISTANCES, schema=["query_id", "doc_id", "rank", "score"], orient="row")
    source: object = f"r.{form}"
    match form:
        case "csv":
            frame.write_csv("r.csv")
        case "jsonl":
            frame.write_ndjson("r.jsonl")
        case "parquet":
            frame.write_parquet("r.parquet")
        case "arrow":
            frame.write_ipc("r.arrow")
        case _:
            source = frame
    (note,) = read_run(source, name="r").notes
    assert note.text == (
        "The ranks of run 'r' contradict its scores in 2 of the first 2 topics: rank and score grow together, for "
        "example from row 1 (1 a, rank 1, score 0.1) to row 2 (1 b, rank 2, score 0.5)." + REST
    )
    assert note.subject == "r"


def test_each_run_of_a_table_has_its_own():
    frame = pl.DataFrame(DISTANCES, schema=["query_id", "doc_id", "rank", "score"], orient="row")
    good = frame.with_columns(pl.col("rank") * -1, run=pl.lit("good"))
    found = read_runs(pl.concat([good, frame.with_columns(run=pl.lit("bad"))]))
    assert {run.name: [note.subject for note in run.notes] for run in found} == {"good": [], "bad": ["bad"]}


def test_a_run_that_is_renamed():
    frame = pl.DataFrame(DISTANCES, schema=["query_id", "doc_id", "rank", "score"], orient="row")
    assert [note.subject for note in read_run(frame.with_columns(run=pl.lit("old")), name="new").notes] == ["new"]


@pytest.mark.parametrize("form", ["txt", "txt.gz", "csv", "jsonl", "parquet", "folder"])
@pytest.mark.parametrize("several", [False, True])
def test_large_runs(form, several, monkeypatch):
    monkeypatch.setattr(chunks, "STREAMED", 0)
    frame = pl.DataFrame(DISTANCES, schema=["query_id", "doc_id", "rank", "score"], orient="row")
    if several and not form.startswith("txt"):
        frame = frame.with_columns(run=pl.lit("r"))
    match form:
        case "txt":
            Path("r.txt").write_text(text(DISTANCES))
        case "txt.gz":
            Path("r.txt.gz").write_bytes(gzip.compress(text(DISTANCES).encode()))
        case "csv":
            frame.write_csv("r.csv")
        case "jsonl":
            frame.write_ndjson("r.jsonl")
        case "parquet":
            frame.write_parquet("r.parquet")
        case _:
            Path("run=r").mkdir()
            frame.drop("run", strict=False).write_parquet("run=r/part.parquet")
    source = "." if form == "folder" else f"r.{form}"
    (run,) = iterate_runs(source)
    assert not isinstance(run, Run)
    assert [note.subject for note in run.notes] == ["r"]
    assert run.read().notes == run.notes


def test_a_large_file_that_is_no_good_says_so_when_it_is_read(monkeypatch):
    monkeypatch.setattr(chunks, "STREAMED", 0)
    Path("r.txt").write_text("1 Q0 a 1 x tag\n")
    (run,) = iterate_runs("r.txt")
    assert run.notes == ()
    Path("r.csv").write_text("query_id,doc_id,rank,score\n1,a,1,x\n")
    (run,) = iterate_runs("r.csv")
    assert run.notes == ()


def test_ranks_and_scores_that_are_swapped():
    assert noted([("1", "a", 14.5, 1), ("1", "b", 13.25, 2), ("1", "c", 12, 3)]) == [
        "The rank column of run 'x' holds no whole numbers, for example in line 1 (1 Q0 a 14.5 1 tag). Documents are "
        "ranked by score, the highest first, and the rank column is not used. If columns are swapped, swap them back."
    ]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([("1", "a", 1, 0.9), ("1", "b", 2, 0.5)], id="agree"),
        pytest.param([("1", "b", 2, 0.5), ("1", "a", 1, 0.9)], id="agree, last first"),
        pytest.param([("1", "a", 0, 0.1), ("1", "b", 0, 0.5)], id="all the same"),
        pytest.param([("1", "a", "-", 0.1), ("1", "b", "-", 0.5)], id="all the same, and no numbers"),
        pytest.param([("1", "a", 1, 0.5), ("1", "b", 2, 0.5), ("1", "c", 3, 0.5)], id="tied scores"),
        pytest.param([("1", "a", 1, 0.5), ("2", "b", 2, 0.9)], id="one document per topic"),
        pytest.param([("1", "a", 1.0, 0.9), ("1", "b", 2.0, 0.5)], id="whole numbers with a point"),
        pytest.param([*DISTANCES[:2], ("2", "a", 1, 0.9), ("2", "c", 2, 0.3)], id="half of the topics"),
        pytest.param([("1", "a", 1, 3.0), ("1", "b", 2, 2.0), ("1", "c", 3, 2.5), ("1", "d", 4, 1.0)], id="one slip"),
        pytest.param([("1", "a", 1, 3.0), ("1", "b", "x", 2.0), ("1", "c", 3, 1.5)], id="one that is no number"),
    ],
)
def test_no_contradiction(rows):
    assert noted(rows) == []


def test_most_of_the_topics():
    assert "in 2 of the first 3 topics" in noted([*DISTANCES, ("3", "a", 1, 0.9), ("3", "c", 2, 0.3)])[0]


def test_only_the_beginning_is_looked_at(monkeypatch):
    good = text([("1", "a", 1, 0.9), ("1", "b", 2, 0.5)])
    Path("r.txt").write_text(good + text(DISTANCES))
    assert read_run("r.txt").notes != ()
    # The first topic, and a part of the next line.
    monkeypatch.setattr(ranks, "LOOKED_AT", len(good) + 3)
    assert ranks.rank_notes("r", None, Path("r.txt").read_bytes()) == ()


def test_no_ranks_at_all():
    assert read_run({"1": {"a": 0.1}}).notes == ()
    Path("r.json").write_text(json.dumps({"1": {"a": 0.1, "b": 0.2}}))
    assert read_run("r.json").notes == ()
    # Scores made from the ranks agree with them.
    assert read_run(pl.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "rank": [1, 2]})).notes == ()
