"""Runs in parts: topics stay whole, scattered ones are brought together on disk, and disks may be full."""

from __future__ import annotations

import errno
import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from gainful.data import chunks as parts
from gainful.data.align import align
from gainful.data.chunks import TopicsWithoutJudgments, whole_topics
from gainful.data.policies import Policies
from gainful.data.qrels import Qrels
from gainful.data.run import LargeRun
from gainful.data.spill import Spill
from gainful.errors import DataError

TEMPORARY = tempfile.TemporaryFile
JUDGED = Qrels(pl.DataFrame({"query_id": ["a", "b"], "doc_id": ["0", "1"], "relevance": [1.0, 1.0]}))


def frame(topics: str) -> pl.DataFrame:
    """A row a letter, its document and score the number of the row."""
    numbers = range(len(topics))
    return pl.DataFrame(
        {"query_id": list(topics), "doc_id": [str(i) for i in numbers], "score": [-float(i) for i in numbers]},
        schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64},
    )


def large(topics: str, size: int) -> LargeRun:
    whole = frame(topics)
    return LargeRun("r", lambda: (whole[at : at + size] for at in range(0, whole.height, size)), 10 * len(topics))


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (["aab", "bbc", "c"], ["aa", "bbb", "cc"]),
        (["a", "a", "a"], ["aaa"]),
        (["a", "b", "b"], ["a", "bb"]),
        (["ab", "", "ba"], ["a", "bb", "a"]),
        (["aba", "a"], ["ab", "aa"]),
        (["", ""], []),
        ([], []),
    ],
)
def test_whole_topics(chunks: list[str], expected: list[str]) -> None:
    found = whole_topics(frame(chunk) for chunk in chunks)
    assert ["".join(part["query_id"]) for part in found] == expected


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_scattered_topics_keep_their_order(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    added: list[object] = []
    add = Spill.add
    monkeypatch.setattr(Spill, "add", lambda self, name, rows: (added.append(name), add(self, name, rows))[1])
    monkeypatch.setattr(parts, "BIN", 60)
    monkeypatch.setattr(parts, "_BLOCK", block)
    judged = Qrels(pl.DataFrame({"query_id": ["a", "b"], "doc_id": ["4", "3"], "relevance": [1.0, 1.0]}))
    rankings = align(judged, [large("axbxabzba", 2)], Policies(ties="order"))
    # a: 0, 4, 8; b: 2, 5, 7; x: 1, 3; z: 6
    assert rankings.rank.tolist() == [2]
    assert rankings.retrieved.tolist() == [3, 3]
    assert rankings.ignored == (2,)
    assert set(added) == {0, 1}  # two bins of 60 bytes for 90
    assert len(added) == {1: 6, 2: 5, 3: 4, 100: 2}[block]  # as many as a and b are in ax bx ab zb a


def test_sorted_runs_need_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "Spill", None)
    rankings = align(JUDGED, [large("aaaxxbbxz", 2)])
    assert rankings.retrieved.tolist() == [3, 2]
    assert rankings.ignored == (2,)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_first_duplicate_in_the_order_of_the_judgments(size: int) -> None:
    twice = pl.concat([frame("bb"), frame("xxx"), frame("aab"), frame("aa")])
    run = LargeRun("r", lambda: (twice[at : at + size] for at in range(0, twice.height, size)), 1)
    with pytest.raises(DataError, match=r"\Arun 'r': document '0' appears twice in topic 'a': remove one"):
        align(JUDGED, [run])


def test_errors_of_reading_come_before_duplicates() -> None:
    def chunks() -> Iterator[pl.DataFrame]:
        yield from [frame("a"), frame("a"), frame("b")] * 2
        raise DataError("r.txt:7: no good")

    with pytest.raises(DataError, match=r"\Ar\.txt:7: no good\Z"):
        align(JUDGED, [LargeRun("r", chunks, 1)])


def test_unjudged_topics_are_counted_once() -> None:
    unjudged = TopicsWithoutJudgments()
    for start in range(0, 6000, 500):
        unjudged.add(pl.Series([str(i) for i in range(start, start + 1000)]))
    unjudged.add(pl.Series([], dtype=pl.String))
    assert len(unjudged) == 6500


def test_a_run_without_rows() -> None:
    empty = LargeRun("r", lambda: iter([]), 0)
    assert empty.read().frame.rows() == []
    assert align(JUDGED, [empty]).retrieved.tolist() == [0, 0]


class Full:
    """A disk with room for some bytes, of which it takes a few at a time."""

    def __init__(self, room: int) -> None:
        self.file = TEMPORARY(buffering=0)
        self.room = room
        self.close, self.fileno = self.file.close, self.file.fileno

    def write(self, content: memoryview) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self.file.write(content[: min(self.room, 100)])
        self.room -= written
        return written


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full(3000))
    with pytest.raises(DataError) as caught:
        align(JUDGED, [large("ab" * 1000, 100)])
    assert str(caught.value) == (
        "run 'r' does not list its topics one after another and is sorted on disk, but a temporary file cannot be "
        "written: No space left on device; set TMPDIR to a folder with as much room as the run takes"
    )


def test_a_disk_that_takes_a_little_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full(10**9))
    spill = Spill("why")
    for part in ("abc", "bb"):
        spill.add("x", frame(part))
    assert ["".join(rows["query_id"]) for rows in spill.read("x")] == ["abc", "bb"]
    assert list(spill.read("y")) == []


def test_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(**_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", forbid)
    with pytest.raises(
        DataError, match=r"\Awhy, but a temporary file cannot be written: Permission denied; set TMPDIR"
    ):
        Spill("why")


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    spill = Spill("why")
    spill.add(1, frame("ab"))
    assert list(tmp_path.iterdir()) == []  # not even now: whatever ends the process, the space is free again
    assert os.fstat(spill._file.fileno()).st_size > 0
    del spill
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_strings_of_other_rows_are_not_written() -> None:
    chunk = pl.DataFrame({"doc_id": [f"a-long-name-of-document-{i}" for i in range(10_000)]})
    spill = Spill("why")
    spill.add(1, chunk[[5, 7]])
    assert os.fstat(spill._file.fileno()).st_size < 2000
