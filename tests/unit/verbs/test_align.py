"""The public join."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf
import reference
from gainful.data.align import align as join
from gainful.data.policies import Policies
from gainful.data.run import LargeRun
from worlds import World, qrels_of, runs_of, worlds


def listed(rankings: gf.Rankings) -> list[list[tuple[str, float]]]:
    """Per row, the listed documents and their scores, checked for everything else."""
    found = [[] for _ in range(rankings.n_rows)]
    some = rankings.listed
    assert len(rankings.scores) == rankings.retrieved.sum()
    scores = np.split(rankings.scores, np.cumsum(rankings.retrieved)[:-1])
    for row, rank, doc, document in zip(some.row, some.rank, some.doc_id, some.document, strict=True):
        found[row].append((doc, scores[row][rank - 1]))
        assert rank == len(found[row])
        if document >= 0:
            assert rankings.pool_doc[int(document)] == doc
            assert rankings.pool_topic[document] == row % len(rankings.topics)
    return found


def expected(world: World, documents: float, ties: str, unjudged: str) -> list[list[tuple[str, float]]]:
    found = []
    for rows in world.runs.values():
        for topic, judged in world.qrels.items():
            scores = dict(reference.documents(rows, topic))
            order = reference.ranked(rows, topic, ties)
            if unjudged == "condensed":
                order = [doc for doc in order if judged.get(doc) is not None]
            found.append([(doc, scores[doc]) for doc in order[: int(min(documents, 1e9))]])
    return found


@settings(max_examples=150, deadline=None)
@given(
    world=worlds(duplicates=True),
    documents=st.sampled_from((1, 2, 5, math.inf)),
    ties=st.sampled_from(("trec", "order")),
    unjudged=st.sampled_from(("zero", "condensed")),
    chunk=st.sampled_from((0, 1, 2, 5)),
)
def test_lists_what_the_reference_ranks(world, documents, ties, unjudged, chunk):
    """Whole runs, and runs in chunks."""
    runs = runs_of(world.runs)
    if chunk:
        runs = [
            LargeRun(run.name, lambda run=run: (f for f in run.frame.iter_slices(chunk) if f.height), 100)
            for run in runs
        ]
    policies = Policies(ties=ties, unjudged=unjudged, duplicates="first")
    rankings = join(qrels_of(world.qrels), runs, policies, documents=documents, scores=True)
    assert listed(rankings) == expected(world, documents, ties, unjudged)
    assert rankings.policies == policies
    assert rankings.documents == documents
    # Every judged document that is listed is a hit of the same rank, and in the pool under its name.
    hits = set(zip(rankings.row.tolist(), rankings.rank.tolist(), rankings.document.tolist(), strict=True))
    some = rankings.listed
    pooled = some.document >= 0
    assert hits >= set(zip(some.row[pooled], some.rank[pooled], some.document[pooled], strict=True))
    assert all(
        rankings.pool_doc[i] == doc for i, doc in enumerate(doc for judged in world.qrels.values() for doc in judged)
    )
    without = join(qrels_of(world.qrels), runs_of(world.runs), policies)
    assert without.listed is None
    assert without.scores is None
    assert without.rank.tolist() == rankings.rank.tolist()


QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}


def test_reads_what_evaluate_reads(tmp_path):
    gf.write_run(gf.read_run({"1": ["b", "c", "a"], "2": ["a"]}), tmp_path / "bm25.txt")
    rankings = gf.align(QRELS, tmp_path / "bm25.txt", documents=2, ties="order")
    assert rankings.systems == ("bm25",)
    assert rankings.listed.doc_id.to_list() == ["b", "c", "a"]
    assert rankings.listed.document.tolist() == [1, -1, 2]
    assert repr(rankings) == "Rankings(1 runs × 2 topics, 3 hits, the first 2 documents listed)"


def test_condensing_lists_the_judged():
    run = {"1": {"c": 3.0, "b": 2.0, "a": 1.5}, "2": {"d": 1.0, "a": 0.5}}
    rankings = gf.align(QRELS, run, documents=1, scores=True)
    assert rankings.scores.tolist() == [3.0, 2.0, 1.5, 1.0, 0.5]
    condensed = rankings.condensed()
    assert condensed.listed.doc_id.to_list() == ["b", "a"]
    assert condensed.listed.document.tolist() == [1, 2]
    assert condensed.scores.tolist() == [2.0, 1.5, 0.5]
    assert condensed.documents == 1


def test_scores_follow_the_topics_of_the_judgments():
    """A run that lists topics in another order, with a topic that nobody judged."""
    rows = [("2", "a", 1.0), ("2", "b", 4.0), ("9", "a", 9.0), ("1", "c", 2.0), ("1", "d", 3.0), ("1", "a", 5.0)]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    rankings = gf.align(QRELS, frame, scores=True)
    assert rankings.scores.tolist() == [5.0, 3.0, 2.0, 4.0, 1.0]
    chunks = LargeRun("run", lambda: frame.iter_slices(1), 100)
    assert gf.align(QRELS, chunks, scores=True).scores.tolist() == [5.0, 3.0, 2.0, 4.0, 1.0]
    assert gf.align(QRELS, frame, documents=math.inf).scores.tolist() == [5.0, 3.0, 2.0, 4.0, 1.0]


def test_keeps_going(tmp_path):
    (tmp_path / "bad.txt").write_text("1 Q0 a\n")
    (tmp_path / "twice.txt").write_text("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n")
    (tmp_path / "fine.txt").write_text("1 Q0 a 1 2 t\n")
    with pytest.raises(gf.DataError, match="expected 6 fields"):
        gf.align(QRELS, tmp_path)
    rankings = gf.align(QRELS, tmp_path, keep_going=True)
    assert rankings.systems == ("fine",)
    assert [source for source, _ in rankings.failed] == [str(tmp_path / "bad.txt"), str(tmp_path / "twice.txt")]
    assert rankings.failed[1][1].startswith("run 'twice': document 'a' appears twice in topic '1'")
    assert gf.evaluate(rankings, "AP").failed == rankings.failed
    with pytest.raises(gf.DataError, match=r"^run 'twice': document 'a' appears twice"):
        gf.align(QRELS, tmp_path / "twice.txt", keep_going=True)
    two = [gf.read_run({"1": ["a"]}, name="same"), gf.read_run({"1": ["b"]}, name="same")]
    again = gf.align(QRELS, two, keep_going=True)
    assert again.failed == (("'same'", "two runs are called 'same'; rename one"),)
    assert again.rank.tolist() == [1]
    assert np.array_equal(again.document, [0])


def test_refused():
    with pytest.raises(gf.PolicyError, match=r"^The 'ties' policy must be one of"):
        gf.align("no such file", "nor such", ties="tied")
    for documents in (-1, math.nan):
        with pytest.raises(gf.GainfulError, match=r"^documents: expected a number of at least 0, got"):
            gf.align(QRELS, {"1": ["a"]}, documents=documents)
