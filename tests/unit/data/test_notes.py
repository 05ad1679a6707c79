"""Runs that look wrong, as whole files, as streams and wherever they are read."""

import warnings

import numpy as np
import pytest

import gainful as gf
from gainful.data.align import align
from gainful.data.notes import notes_of
from gainful.data.policies import Policies
from gainful.data.pool import Judged
from gainful.data.run import LargeRun, Run
from gainful.engine import Local
from gainful.engine.evaluation import score_all
from gainful.engine.scoring import Job, finished
from gainful.measures import parse_measures
from gainful.results import Note
from worlds import qrels_of, run_of

JUDGED = {str(t): {f"d{i}": float(i % 3) for i in range(20)} for t in range(4)}
FINE = [(topic, f"d{i}", float(-i)) for topic in JUDGED for i in range(12)]


def codes(rows, judged=JUDGED, name="x", **policies) -> list[str]:
    """Of the notes, the same whether the run is whole or in chunks."""
    run = run_of(rows, name)
    large = LargeRun(name, lambda: iter(list(run.frame.iter_slices(3)) or [run.frame]), 100)
    found = [notes_of(align(qrels_of(judged), [one], Policies(**policies))) for one in (run, large)]
    assert found[0] == found[1]
    assert all(note.warn and note.subject == name for note in found[0])
    return [note.code for note in found[0]]


def test_nothing_to_note():
    assert codes(FINE) == []
    assert codes([("9", "d1", 1.0), *FINE]) == []


class TestTopics:
    def test_none_matches(self):
        rows = [("t" + topic, doc, score) for topic, doc, score in FINE]
        assert codes(rows) == ["no-topic-matches"]
        with pytest.warns(gf.GainfulWarning) as caught:
            gf.align(qrels_of(JUDGED), run_of(rows, "x"))
        assert [str(warning.message) for warning in caught] == [
            "Run 'x' has none of the judged topics: a topic of it is 't0', one of the judgments '0'. Do these "
            "judgments belong to it?"
        ]
        assert caught[0].filename == __file__

    def test_no_topics(self):
        assert codes([]) == ["no-topic-matches"]

    def test_a_forgotten_level(self):
        with pytest.warns(gf.GainfulWarning, match=r"If 'bm25' is a run, write \{'bm25': \{topic: \{document: score"):
            gf.evaluate({"1": {"a": 1, "b": 0}}, {"bm25": {"a": 1.0}}, "AP")

    def test_several_runs(self):
        runs = {name: {"9": ["d1"]} for name in "abcde"}
        with pytest.warns(gf.GainfulWarning) as caught:
            scores = gf.evaluate(qrels_of(JUDGED), {**runs, "fine": {"1": ["d1", "d2"]}}, "AP")
        assert len(caught) == 1
        text = "Runs 'a', 'b', 'c' and 2 others have none of the judged topics: a topic of them is '9', one of the "
        assert str(caught[0].message).startswith(text)
        assert scores.notes()[0] == Note("no-topic-matches", "a", str(caught[0].message), warn=True)


class TestTies:
    def test_all_tied(self):
        rows = [(topic, doc, 1.0) for topic, doc, _ in FINE]
        assert codes(rows) == ["all-tied"]
        assert codes(rows, ties="expected") == ["all-tied"]
        with pytest.warns(gf.GainfulWarning) as caught:
            gf.evaluate(qrels_of(JUDGED), run_of(rows, "x"), "AP")
        assert [str(warning.message) for warning in caught] == [
            "Run 'x' gives all documents of a topic the same score, in every topic: the ids of the documents decide on "
            "their order (ties=trec). Take ties='order' if the best document comes first in the file."
        ]
        assert codes(rows, ties="order") == []
        assert codes(rows, unjudged="condensed") == ["all-tied"]

    def test_equal_as_float32(self):
        rows = [(topic, doc, 1.0 + score * 1e-12) for topic, doc, score in FINE]
        assert codes(rows) == ["all-tied"]
        assert codes(rows, ties="expected") == []

    def test_one_topic_that_differs_will_do(self):
        rows = [(topic, doc, 1.0 if topic != "2" else score) for topic, doc, score in FINE]
        assert codes(rows) == []

    def test_topics_of_one_document_say_nothing(self):
        assert codes([(topic, "d1", 1.0) for topic in JUDGED]) == []
        assert codes([("0", "d1", 1.0), ("0", "d2", 1.0), ("1", "d1", 1.0)]) == ["all-tied"]


class TestUnjudged:
    @staticmethod
    def rows(judged: int, others: int) -> list:
        """Others first."""
        docs = [f"u{i}" for i in range(others)] + [f"d{i}" for i in range(judged)]
        return [(topic, doc, float(-i)) for topic in JUDGED for i, doc in enumerate(docs)]

    def test_shares(self):
        assert codes(self.rows(12, 5)) == []  # 5 of the first 10
        assert codes(self.rows(12, 6)) == ["mostly-unjudged"]  # 4 of the first 10
        assert codes(self.rows(12, 6), unjudged="condensed") == []
        assert codes(self.rows(1, 1)) == []  # 1 of the 2 there are
        assert codes(self.rows(1, 2)) == ["mostly-unjudged"]

    def test_what_is_attainable(self):
        """A pool of 2 documents, of which 1 or none is among the first 10."""
        judged = {topic: {"d0": 1.0, "d1": 0.0} for topic in JUDGED}
        assert codes(self.rows(1, 5), judged) == []
        assert codes(self.rows(1, 10), judged) == ["mostly-unjudged"]

    def test_share_of_what_is_attainable(self):
        """A pool of 5 documents, of which 2 are among the first 10."""
        judged = {topic: {f"d{i}": 0.0 for i in range(5)} for topic in JUDGED}
        with pytest.warns(gf.GainfulWarning, match=": on average 40% in run 'run'"):
            gf.evaluate(qrels_of(judged), run_of(self.rows(2, 8)), "P@1")

    def test_positive_judgments_alone_are_never_complete(self):
        judged = {topic: {"d0": 1.0, "d1": 2.0} for topic in JUDGED}
        assert codes(self.rows(1, 10), judged) == []

    def test_pooled_documents_are_not_judged(self):
        judged = {topic: {f"d{i}": None if i < 9 else 0.0 for i in range(20)} for topic in JUDGED}
        assert codes(FINE, judged) == ["mostly-unjudged"]  # 1 of the first 10

    def test_estimators_reckon_with_pooled_documents(self):
        """What they take for nonrelevant is outside of the pool: none of the first 10 here, and 6 of them there."""
        judged = {topic: {f"d{i}": None if i < 9 else 0.0 for i in range(20)} for topic in JUDGED}
        for rows, measures, few in (
            (FINE, ["statAP", "infNDCG@10"], False),
            (FINE, ["statAP", "AP"], True),
            (self.rows(12, 6), ["statAP", "infNDCG@10"], True),
        ):
            with warnings.catch_warnings(record=True):
                notes = gf.evaluate(qrels_of(judged), run_of(rows), measures).run_notes
            assert ("mostly-unjudged" in {note.code for note in notes}) == few

    def test_text(self):
        runs = {f"r{i}": run_of(self.rows(i, 10 - i), f"r{i}").frame for i in (3, 1, 4, 0, 2)}  # the worst come first
        with pytest.warns(gf.GainfulWarning) as caught:
            gf.evaluate(qrels_of(JUDGED), runs, "AP")
        assert [str(warning.message) for warning in caught] == [
            "Run 'r0' returns no document that has a judgment, in any topic: are its documents called as in the "
            "judgments?",
            "Few of the first 10 documents (or of as many as the topic has judgments) are judged: on average 10% in "
            "run 'r1', 20% in run 'r2' and 30% in run 'r3' (and few in 1 other run). Documents without a judgment "
            "count as not relevant, so that such a run may be better than its scores say.",
        ]

    def test_no_document_of_positive_judgments(self):
        """Of which no share is known; a topic without documents says nothing."""
        judged = {topic: {"x": 1.0} for topic in JUDGED}
        assert codes(self.rows(1, 10), judged) == ["no-document-matches"]
        first, *_ = JUDGED
        assert codes([*self.rows(1, 1), (first, "x", -9.0)], judged) == []


def test_what_the_reader_noticed_is_handed_on():
    note = Note("rank-contradicts-score", "x", "The ranks contradict the scores.", warn=True)
    run = Run(run_of(FINE).frame, "x", notes=(note,))
    with pytest.warns(gf.GainfulWarning, match=r"^The ranks contradict the scores\.$"):
        scores = gf.evaluate(qrels_of(JUDGED), run, "AP")
    assert scores.run_notes == (note,)
    rankings = align(qrels_of(JUDGED), [LargeRun("x", lambda: iter([run.frame]), 1, notes=(note,))])
    assert gf.evaluate(rankings, "AP").run_notes == (note,)  # and no second warning


def test_wherever_it_is_computed(tmp_path):
    """In groups of files of a data set, too: no group alone has enough to see it."""
    rows = [(topic, f"u{i}", 1.0) for topic in JUDGED for i in range(11)]
    frames = {"tied": rows, "strange": [("t" + topic, doc, -at) for at, (topic, doc, _) in enumerate(FINE)]}
    for name, run in frames.items():
        (tmp_path / "set" / f"run={name}").mkdir(parents=True)
        frame = run_of(run).frame
        for at in range(0, frame.height, 5):
            frame[at : at + 5].write_parquet(tmp_path / "set" / f"run={name}" / f"{at}.parquet")
    measures = tuple(parse_measures("AP"))
    job = Job(judged=Judged(qrels_of(JUDGED), "error"), measures=measures, policies=Policies())
    part = score_all(Local(at_once=5), job, tmp_path / "set")
    with pytest.warns(gf.GainfulWarning):
        here = gf.evaluate(qrels_of(JUDGED), tmp_path / "set", "AP")
    assert [note.code for note in here.run_notes] == ["no-topic-matches", "no-document-matches", "all-tied"]
    there = finished(part, measures, job.policies, spellings={})
    assert there.notes() == here.notes()
    assert np.array_equal(there.values, here.values)
    assert there.ignored == here.ignored
