from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.measures import unregister
from gainful.measures.contributions import Contributions, counting, ranks_of
from gainful.pages.why import reasons

MEASURES = [
    *("nDCG@5", "nDCG", "nDCGf@5", "nDCGmin@5", "nDCGorg@5", "nDCG(gain='exp', discount='zipf')@10"),
    *("nDCGf(discount=[1, 0.5, 0.7])@3", "nDCG(gain={-2: -10})@5", "DCG@5", "CG@3", "DCG(discount='jk')"),
    *("AP", "AP(rel=2)@10", "P@5", "R@10", "RR", "RR(rel=2)@3"),
]


@pytest.fixture(scope="module")
def made():
    return gf.simulate(topics=6, systems=3, depth=40, pool_depth=8, contributors=2, missing=0.1, seed=3)


def told(qrels, runs, measures, *, ranks, **policies):
    rankings = align(gf.read_qrels(qrels), gf.read_runs(runs), Policies(**policies), documents=ranks)
    return reasons(rankings, [gf.parse_measure(measure) for measure in measures], ranks=ranks)


def losses(of, shown, row):
    """Document, rank, won and best of each loss; a negative number is the rank of a document that is shown."""
    cells = iter(of["lost"][row])
    for cell in cells:
        if cell >= 0:
            yield cell, next(cells), next(cells), next(cells)
        else:
            yield shown["rankings"][row][-cell - 1], -cell, of["adds"][row][-cell - 1], next(cells)


@pytest.mark.parametrize("unjudged", ["zero", "condensed"])
@pytest.mark.parametrize("measure", MEASURES)
def test_every_ranking_as_explain_tells_it(made, measure, unjudged):
    """The oracle is `gainful.explain`, one ranking at a time."""
    rankings = align(made.qrels, made.runs, Policies(unjudged=unjudged), documents=12)
    chosen = gf.parse_measure(measure)
    found = chosen.contributions(rankings)
    names = rankings.pool_doc
    shown = reasons(rankings, [chosen], ranks=12)
    of = shown["measures"][str(chosen)]
    for s, run in enumerate(made.runs):
        for t, topic in enumerate(rankings.topics):
            row = s * len(rankings.topics) + t
            why = gf.explain(made.qrels, run, topic, measure, unjudged=unjudged)
            mine = np.flatnonzero(rankings.pool_topic[found.document] == t)
            ours = {names[int(found.document[at])]: (found.won[s, at], found.best[s, at]) for at in mine}
            theirs = {line["doc_id"]: (line["won"], line["best"]) for line in why.lost.iter_rows(named=True)}
            assert ours.keys() == theirs.keys()
            for doc in theirs:
                assert ours[doc] == pytest.approx(theirs[doc], abs=1e-12)
            assert found.empty[t] == pytest.approx(why.empty, nan_ok=True)
            assert found.top[t] == pytest.approx(why.best, nan_ok=True)
            steps = why.steps.drop_nulls("doc_id").head(12)
            ranking = shown["rankings"][row][: steps.height]  # explain stops at the cutoff
            assert [shown["documents"][t][at] for at in ranking] == steps["doc_id"].to_list()
            assert [shown["labels"][t][at] for at in ranking] == steps["label"].to_list()
            if not math.isnan(why.best):
                last = why.steps.height
                there = (why.lost["rank"] <= last).fill_null(False)
                within = of["misplaced"][row] + of["forbidden"][row]
                assert within == pytest.approx(why.lost["lost"].filter(there).sum(), abs=2e-8)
                assert of["forbidden"][row] == pytest.approx(why.forbidden, abs=2e-8)
                assert of["not_shown"][row] == pytest.approx(why.lost["lost"].filter(~there).sum(), abs=2e-8)
                total = of["empty"][t] + sum(of["adds"][row]) / of["scale"]
                if of["cutoff"] is not None and of["cutoff"] <= 12:
                    assert total == pytest.approx(why.score, abs=2e-7)
            lost = why.lost.filter((why.lost["won"] != 0) | (why.lost["best"] != 0)).head(10)
            listed = np.array(list(losses(of, shown, row))).reshape(-1, 4)
            assert listed[:, 3] - listed[:, 2] == pytest.approx(lost["lost"].to_numpy() * 1e8, abs=1.01)
            assert listed[:, 1].tolist() == lost["rank"].fill_null(0).to_list()
            assert [shown["documents"][t][at] for at in listed[:, 0]] == lost["doc_id"].to_list()


def test_only_what_explain_explains():
    assert [gf.parse_measure(m).explained for m in ("nDCGf@3", "CG", "AP", "RR", "bpref", "Forbidden@3")] == [
        *(True, True, True, True),
        *(False, False),
    ]


def test_scores_that_trec_eval_takes_for_tied():
    """Equal as float32: the higher id comes first."""
    found = told({"q": {"z": 1}}, {"q": {"a": 1.0, "b": 1.0 + 1e-9, "c": 0.5}}, [], ranks=1)
    assert [found["documents"][0][at] for at in found["rankings"][0]] == ["b"]


def test_duplicates_that_are_dropped_hold_no_rank():
    """The second and third u1 are gone: all of the first three have a name."""
    lines = {
        "query_id": ["q"] * 6,
        "doc_id": ["u1", "u1", "u1", "u2", "u3", "z"],
        "score": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
    }
    found = told({"q": {"z": 1}}, pl.DataFrame(lines), [], ranks=3, duplicates="first")
    assert [found["documents"][0][at] for at in found["rankings"][0]] == ["u1", "u2", "u3"]


def test_an_undefined_measure_has_no_contributions():
    found = told({"q": {"z": 0}}, {"q": {"z": 1.0}}, ["AP", "nDCG@3"], ranks=3)
    for of in found["measures"].values():
        assert (of["adds"], of["lost"], of["empty"], of["best"]) == ([None], [[]], [None], [None])


def test_gains_beyond_what_whole_numbers_hold():
    """Each of them, and what they add up to, to the digits that are shown."""
    measures = ["DCG(gain={1: 1e30, 2: 3e30}, discount='zipf')@3"]
    found = told({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, measures, ranks=3)
    (of,) = found["measures"].values()
    assert [value / of["scale"] for value in of["adds"][0]] == pytest.approx([1e30, 1.5e30])


def test_gains_go_by_the_label_whatever_it_looks_like():
    qrels = {"q": {"a": 0.5, "b": 1234567.0, "c": -2}}
    found = told(qrels, {"q": ["a", "b", "c"]}, ["nDCGf(gain={-2: -10})@3"], ranks=3)
    (of,) = found["measures"].values()
    assert dict(map(tuple, of["gains"])) == {0.5: 0.5, 1234567.0: 1234567.0, -2.0: -10.0}
    assert set(found["labels"][0]) == {0.5, 1234567.0, -2.0}


def test_discounts_reach_as_far_as_what_is_shown():
    """One document is judged, the third: the discounts of the others are shown, too."""
    found = told({"q": {"c": 1}}, {"q": ["a", "b", "c", "d"]}, ["nDCG"], ranks=4)
    assert found["measures"]["nDCG"]["discounts"] == pytest.approx(
        [1 / math.log2(1 + r) for r in range(1, 5)], abs=1e-6
    )


def test_some_of_the_runs(made):
    rankings = align(made.qrels, made.runs, documents=12)
    alone = align(made.qrels, [made.runs[0], made.runs[2]], documents=12)
    measures = [gf.parse_measure(measure) for measure in MEASURES]
    assert reasons(rankings.only([made.runs[0].name, made.runs[2].name]), measures, ranks=12) == reasons(
        alone, measures, ranks=12
    )


def test_a_measure_of_one_s_own():
    """It has neither gains nor discounts to show, only what each document adds."""

    def contributions(rankings):
        documents = counting(rankings, rankings.grades >= 1)
        return Contributions.of(rankings, documents, ranks_of(rankings, documents) < math.inf, 1.0)

    @gf.measure("Found", bounds=None, contributions=contributions)
    def found(rankings: gf.Rankings) -> np.ndarray:
        """How many relevant documents were returned."""
        return rankings.sum(rankings.relevant(1.0))

    of = told({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, ["Found"], ranks=2)["measures"]["Found"]
    unregister("Found")
    assert (of["family"], of["gains"], of["discounts"], of["cutoff"]) == ("other", [], None, None)
    assert (of["adds"], of["empty"], of["best"], of["not_shown"]) == ([[0, 10**8]], [0.0], [2.0], [1.0])
