"""A text in stretches gives what it gives as one, wherever it is cut."""

from __future__ import annotations

import os

import pytest

import gainful as gf
from gainful._core import native
from gainful.data.policies import Policies
from gainful.data.pool import Judged
from gainful.engine import Local
from gainful.engine import stretches as module
from gainful.engine.evaluation import score_all
from gainful.engine.scoring import Job
from gainful.engine.stretches import score_stretch, stretches_of
from gainful.errors import DataError, PolicyError
from gainful.io.read import entries_of
from gainful.measures import parse_measures

pytestmark = pytest.mark.skipif(native is None, reason="stretches are for the compiled core")

MADE = gf.simulate(topics=9, systems=1, depth=12, seed=6)
MEASURES = ("nDCG@5", "AP", "NumRet")


def job(*, keep_going: bool = False, **policies) -> Job:
    measures = tuple(parse_measures(MEASURES))
    return Job(
        judged=Judged(MADE.qrels, "error"), measures=measures, policies=Policies(**policies), keep_going=keep_going
    )


def lines(*, stranger: bool = False) -> list[str]:
    rows = MADE.runs[0].frame.select("query_id", "doc_id", "score").rows()
    found = [f"{topic} Q0 {doc} 0 {score:.2f} made\n" for topic, doc, score in rows]
    if stranger:
        found[36:36] = ["stranger Q0 a 0 1 made\n", "# a comment\n", "stranger Q0 b 0 2 made\n"]
    return found


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LEAST", 40)
    return tmp_path / "made.txt"


def equal(part, scores) -> bool:
    return (
        part.systems == scores.systems
        and part.values.tobytes() == scores.values.tobytes()
        and part.ignored == scores.ignored
        and tuple((~part.present).sum(axis=1)) == scores.missing
        and tuple(part.failed) == scores.failed
    )


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("at_once", [1, 2, 5, 20])
def test_however_it_is_cut(path, at_once, mark):
    """From 4 to 80 stretches of 111 lines: cut in lines, between them, and in the midst of topics."""
    path.write_text(mark + "".join(lines(stranger=True)))
    (entry,) = entries_of(path)
    assert len(stretches_of(entry, 4 * at_once)) == 4 * at_once
    assert equal(score_all(Local(at_once=at_once), job(), path), gf.evaluate(MADE.qrels, path, MEASURES))


def test_each_topic_is_in_one_stretch(path):
    path.write_text("".join(lines()))
    (entry,) = entries_of(path)
    parts = [score_stretch(job(), stretch).part for stretch in stretches_of(entry, 7)]
    assert sum(part.present.astype(int) for part in parts).tolist() == [[1] * 9]
    assert max(part.present.sum() for part in parts) < 9


@pytest.mark.parametrize("broken", ["scattered", "twice", "bad line"])
def test_what_the_core_does_not_take_is_read_as_one(path, broken):
    text = lines()
    text = {
        "scattered": text[6:] + text[:6],
        "twice": [*text, text[-1]],
        "bad line": [*text[:70], "101 Q0 d 0 much made\n", *text[70:]],
    }[broken]
    path.write_text("".join(text))
    if broken == "scattered":
        assert equal(score_all(Local(), job(), path), gf.evaluate(MADE.qrels, path, MEASURES))
        return
    with pytest.raises(DataError) as expected:
        gf.evaluate(MADE.qrels, path, MEASURES)
    with pytest.raises(DataError) as found:
        score_all(Local(), job(), path)
    assert str(found.value) == str(expected.value)
    (failed,) = score_all(Local(), job(keep_going=True), path).failed
    assert failed == (str(path), str(expected.value))


def test_a_missing_topic_is_missing_in_all_stretches(path):
    path.write_text("".join(lines()[12:]))
    assert equal(score_all(Local(), job(), path), gf.evaluate(MADE.qrels, path, MEASURES))
    with pytest.raises(PolicyError, match="returns nothing for 1 of 9 judged topics"):
        score_all(Local(), job(missing="error"), path)
    ((source, reason),) = score_all(Local(), job(missing="error", keep_going=True), path).failed
    assert (source, "1 of 9" in reason) == (str(path), True)


def test_ranks_that_contradict_are_noted_once(path):
    text = [line.replace(" 0 ", f" {100 - at} ", 1) for at, line in enumerate(lines())]
    path.write_text("".join(text))
    notes = score_all(Local(), job(), path).notes
    assert [note.code for note in notes] == ["rank-contradicts-score"]


def test_a_file_that_changes_is_refused(path):
    path.write_text("".join(lines()))
    (entry,) = entries_of(path)
    stretch = stretches_of(entry, 3)[1]
    os.utime(path, (1, 1))
    with pytest.raises(DataError, match=r"made\.txt: changed while it was read"):
        score_stretch(job(), stretch)


@pytest.mark.parametrize("text", ["", "few", "run,query_id,doc_id,score\n" * 99, "\x1f\x8b" + "x" * 9999])
def test_what_is_small_or_no_text_is_not_cut(path, text):
    path.write_text(text, encoding="latin-1")
    (entry,) = entries_of(path)
    assert stretches_of(entry, 4) == []
    assert stretches_of(entries_of({"a": {"1": ["d"]}})[0], 4) == []
