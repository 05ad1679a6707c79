"""Measures of diversity: against ndeval's numbers, by hand, and against pyndeval where it is installed."""

from __future__ import annotations

import random

import ir_measures
import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.compat.ir_measures import provider
from gainful.compat.trec_eval import trec_eval
from gainful.errors import DataError, DuplicateError

# The example of pyndeval 0.0.8, and what it prints there.
QRELS = "0 a A 1\n0 b B 1\n0 b D 1\n0 c C 1\n"
RUN = {"0": {"A": 9.3, "D": 8.4, "E": 8.1, "B": 7.6}}
PRINTED = {
    "nERR-IA@5": 0.8297,
    "alpha-DCG@5": 0.4052,
    "alpha-DCG@20": 0.3997,
    "alpha-nDCG@5": 0.7868,
    "alpha-nDCG@20": 0.7868,
    "NRBP": 0.3906,
    "MAP-IA": 0.5,
    "P-IA@5": 0.2,
    "P-IA@20": 0.05,
    "strec@5": 0.6666,
}


@pytest.fixture
def file(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    return tmp_path / "qrels"


def test_what_pyndeval_prints(file):
    scores = gf.evaluate(file, RUN, list(PRINTED))
    assert scores.values[:, 0, 0] == pytest.approx(list(PRINTED.values()), abs=1e-4)


def test_by_hand(file):
    """A has subtopic a; D and B have b, which B tells a second time; nobody returns C, of c."""
    novel = 1 + 1 / 2 + 0.5 / 4
    most = 3 * (1 + 0.5 / 2 + 0.25 / 3 + 0.125 / 4)
    found = gf.evaluate(file, RUN, ["ERR_IA@4", "ERR_IA@1", "StRecall", "nNRBP", "nDCG@2"]).values[:, 0, 0]
    ideal = 1 + 0.5 + 0.25 + 0.5 * 0.125  # one document of each subtopic, then another one of b
    expected = [novel / most, 1 / 3, 2 / 3, (1 + 0.5 + 0.5 * 0.125) / ideal, 1.0]
    assert found == pytest.approx(expected)


def test_judgments_as_tables_and_records(file):
    """A column `iteration`, as ir_measures has it; without one, all is one subtopic."""
    rows = [line.split() for line in QRELS.splitlines()]
    names = {"query_id": 0, "iteration": 1, "doc_id": 2, "relevance": 3}
    frame = pl.DataFrame({name: [row[at] for row in rows] for name, at in names.items()})
    frame = frame.with_columns(pl.col("relevance").cast(pl.Int64))
    records = [ir_measures.Qrel(q, d, int(label), s) for q, s, d, label in rows]
    expected = gf.evaluate(file, RUN, "alpha_nDCG@5").values.item()
    for source in (frame, records, gf.read_qrels(file)):
        assert gf.evaluate(source, RUN, "alpha_nDCG@5").values.item() == expected
    with pytest.warns(gf.GainfulWarning, match=r"^StRecall@1 and P_IA@2 look at subtopics, and these .* none"):
        plain = gf.evaluate(frame.drop("iteration"), RUN, ["StRecall@1", "AP", "P_IA@2"])
    assert plain.values[::2, 0, 0].tolist() == [1.0, 1.0]
    one = frame.with_columns(iteration=pl.lit("0"))  # of one topic all the same: no subtopics
    assert [note.code for note in gf.evaluate(gf.align(one, RUN), "NRBP").notes()] == ["no-subtopics"]


def test_a_document_of_several_subtopics(tmp_path):
    """It is no duplicate; other measures see its highest label; a real duplicate is named with its subtopic."""
    (tmp_path / "qrels").write_text("1 a x 1\n1 b x 3\n1 a y 0\n")
    scores = gf.evaluate(tmp_path / "qrels", {"1": ["y", "x"]}, ["DCG", "NumRel", "P_IA@2"])
    assert scores.values[:, 0, 0] == pytest.approx([3 / np.log2(3), 1, 2 / (2 * 2)])
    (tmp_path / "qrels").write_text("1 a x 1\n1 b x 3\n1 b x 0\n")
    with pytest.raises(DuplicateError, match="document 'x' is judged twice for topic '1' and subtopic 'b'"):
        gf.evaluate(tmp_path / "qrels", {"1": ["x"]}, "StRecall")
    kept = gf.evaluate(tmp_path / "qrels", {"1": ["x"]}, "P_IA@1", duplicates="first")
    assert kept.values.item() == 1.0


def test_where_a_document_may_be_judged_once(tmp_path):
    """As in trec_eval; `check` finds nothing wrong but with what is judged twice for a subtopic."""
    path = tmp_path / "qrels"
    path.write_text("1 a x 1\n1 b x 3\n1 a y 0\n")
    with pytest.raises(DataError, match="document 'x' is judged twice for topic '1': remove one, or use"):
        trec_eval(path, {"1": ["x"]}, "map")
    assert gf.check(path).files[0].findings == ()
    path.write_text("1 a x 1\n1 b x 3\n1 b x 0\n")
    assert [finding.code for finding in gf.check(path).files[0].findings] == ["duplicate"]
    path.write_text("1 a x 1\n1 b y 1\n")
    assert trec_eval(path, {"1": ["x", "y"]}, "map").summary == {"map": 1.0}


def test_provider_of_ir_measures():
    qrels = [ir_measures.Qrel(*row) for row in (("0", "A", 1, "a"), ("0", "B", 1, "b"), ("0", "D", 1, "b"))]
    run = {"0": {"A": 2.0, "D": 1.0}, "none": {"A": 1.0}}
    measures = [ir_measures.StRecall @ 1, ir_measures.P_IA @ 2, ir_measures.alpha_nDCG(alpha=0.5) @ 2]
    assert list(provider.calc_aggregate(measures, qrels, run).values()) == pytest.approx([1 / 2, 2 / 4, 1.0])


def test_pyndeval_ranks_the_smaller_of_two_tied_ids_first():
    """Which is the one difference in ties that the page about diversity tells."""
    pyndeval = pytest.importorskip("pyndeval")
    qrels = [("1", "x", "a", 1), ("1", "y", "b", 0)]
    theirs = pyndeval.RelevanceEvaluator(qrels, ["ERR-IA@5"]).evaluate([("1", "a", 1.0), ("1", "b", 1.0)])
    records = [ir_measures.Qrel(q, d, label, s) for q, s, d, label in qrels]
    smaller, larger = (
        gf.evaluate(records, {"1": ranked}, "ERR_IA@5").values.item() for ranked in (["a", "b"], ["b", "a"])
    )
    assert theirs["1"]["ERR-IA@5"] == pytest.approx(smaller)
    assert gf.evaluate(records, {"1": {"a": 1.0, "b": 1.0}}, "ERR_IA@5").values.item() == larger == smaller / 2


@pytest.mark.parametrize("seed", range(6))
def test_pyndeval(seed, tmp_path):
    pyndeval = pytest.importorskip("pyndeval")
    rng = random.Random(seed)
    docs = [f"d{number:02}" for number in range(25)]
    topics = [str(number) for number in range(1, 5)]
    subtopics = {topic: [str(number) for number in range(rng.randint(1, 7))] for topic in topics}
    qrels = [
        (topic, subtopic, doc, rng.choice([-2, 0, 0, 1, 1, 2]))
        for topic in topics
        for doc in rng.sample(docs, rng.randint(2, 20))
        for subtopic in rng.sample(subtopics[topic], rng.randint(1, len(subtopics[topic])))
    ]
    run = {t: {doc: -float(at) for at, doc in enumerate(rng.sample([*docs, "x", "y"], 20))} for t in topics}
    (tmp_path / "qrels").write_text("".join(f"{' '.join(map(str, row))}\n" for row in qrels))
    # At cutoff 1 it forgets to divide ERR-IA and alpha-DCG by the number of subtopics.
    cut = ("ERR-IA", "nERR-IA", "alpha-DCG", "alpha-nDCG", "P-IA", "strec")
    asked = [f"{name}@{cutoff}" for name in cut for cutoff in (2, 10, 20)] + ["NRBP", "nNRBP", "MAP-IA"]
    listed = [(topic, doc, score) for topic, found in run.items() for doc, score in found.items()]
    theirs = pyndeval.RelevanceEvaluator(qrels, asked).evaluate(listed)
    scores = gf.evaluate(tmp_path / "qrels", run, asked)
    for at, topic in enumerate(scores.topics):
        expected = [0.0 if np.isnan(theirs[topic][name]) else theirs[topic][name] for name in asked]
        assert scores.values[:, 0, at] == pytest.approx(expected, abs=1e-6), topic
