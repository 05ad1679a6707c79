"""gainful's measures inside ir_measures: the same numbers, beside ir_measures' own."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from functools import partial

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import Qrel, ScoredDoc

import gainful as gf
import gainful.compat.ir_measures as compat
from gainful.compat.ir_measures import (
    GMAP,
    Empty,
    F,
    Forbidden,
    GainfulMeasure,
    GainfulProvider,
    RBPres,
    gf_AP,
    gf_infAP,
    gf_nDCG,
    gf_NumRet,
    gf_P,
    iP,
    nDCG0,
    nDCGf,
    nDCGmin,
    nDCGorg,
    parse_measure,
    provider,
)
from gainful.measures import PRESETS, REGISTRY, unregister
from worlds import measures, worlds

# Topics 2 and 3 are missing from the run, topic 4 from the qrels.
QRELS = {"1": {"a": 2, "b": 1, "c": 0, "s": -2}, "2": {"a": 1, "s": -1}, "3": {"s": -1}}
RUN = {"1": {"a": 3.0, "s": 2.0, "x": 1.5, "b": 1.0}, "4": {"a": 1.0}}


def tuples(run=RUN):
    return [ScoredDoc(topic, doc, score) for topic, docs in run.items() for doc, score in docs.items()]


def judgments(qrels=QRELS):
    return [Qrel(topic, doc, label) for topic, docs in qrels.items() for doc, label in docs.items()]


def per_topic(metrics):
    return {(str(metric.measure), metric.query_id): metric.value for metric in metrics}


@settings(max_examples=80, deadline=None)
@given(worlds(systems=1), st.lists(measures(), min_size=1, max_size=3))
def test_every_measure_gives_what_evaluate_gives(world, chosen):
    """To the last bit, topic by topic and over topics."""
    (rows,) = world.runs.values()
    scores = gf.evaluate(
        {topic: dict(docs) for topic, docs in world.qrels.items()}, [gf.read_run([ScoredDoc(*r) for r in rows])], chosen
    )
    ours = [parse_measure(str(measure)) for measure in chosen]
    found = ir_measures.calc(ours, judgments(world.qrels), [ScoredDoc(*row) for row in rows])
    values = {(str(metric.measure.gainful), metric.query_id): metric.value for metric in found.per_query}
    expected = {(row[1], row[2]): row[3] for row in scores.to_frame().iter_rows()}
    assert values == expected
    means = scores.mean().row(0, named=True)
    assert {str(m.gainful): value for m, value in found.aggregated.items()} == {str(m): means[str(m)] for m in chosen}


def test_every_measure_is_there_and_computes():
    found = 0
    for name in (*REGISTRY, *PRESETS):
        measure = getattr(compat, name if hasattr(compat, name) else f"gf_{name}")
        target, _ = PRESETS.get(name, (name, {}))
        if REGISTRY[target].parameters.get("cutoff") is not None:
            measure = measure @ (0.5 if name == "iP" else 2)
        value = gf.evaluate(QRELS, RUN, str(measure).removeprefix("gf_")).summary().item()
        assert ir_measures.calc_aggregate([measure], QRELS, RUN) == {measure: value}
        assert measure.NAME in dir(compat)
        found += 1
    assert found >= 34


# Pool, cutoff, labels of the run by rank (None: unjudged), nDCGorg, nDCGmin, nDCGf.
WORKED = [
    ([-1, 2], 2, [-1], -0.730, -1.140, 0.0),
    ([-1, 2], 2, [2], 1.461, 1.570, 1.0),
    ([-1, 2], 2, [], 0.0, -0.237, 0.333),
    ([-1, 2], 2, [2, -1], 1.0, 1.0, 0.790),
    ([2, 1, 0, -2], 4, [-2, None, 2, None, 1], -0.565, -0.150, 0.216),
    ([1, 1], 2, [1, 1], 1.0, 0.0, 1.0),
]


@pytest.mark.parametrize(("pool", "cutoff", "ranked", "org", "least", "f"), WORKED)
def test_worked_values(pool, cutoff, ranked, org, least, f):
    left = {label: [f"d{i}" for i, other in enumerate(pool) if other == label] for label in pool}
    docs = [left[label].pop() if label is not None else f"u{rank}" for rank, label in enumerate(ranked)]
    qrels = {"q": {f"d{i}": label for i, label in enumerate(pool)}}
    run = {"q": {doc: -float(rank) for rank, doc in enumerate(docs)}}
    found = ir_measures.calc_aggregate([nDCGorg @ cutoff, nDCGmin @ cutoff, nDCGf @ cutoff], qrels, run)
    assert found[nDCGorg @ cutoff] == pytest.approx(org, abs=6e-4)
    assert found[nDCGmin @ cutoff] == pytest.approx(least, abs=6e-4)
    assert found[nDCGf @ cutoff] == pytest.approx(f, abs=6e-4)


def test_condensed():
    qrels = {"q": {"two": 2, "one": 1, "zero": 0, "spam": -2}}
    run = {"q": {"spam": 5.0, "x": 4.0, "two": 3.0, "y": 2.0, "one": 1.0}}
    found = GainfulProvider(unjudged="condensed").calc_aggregate([nDCGorg @ 4, nDCGmin @ 4, nDCGf @ 4], qrels, run)
    assert [round(found[measure @ 4], 3) for measure in (nDCGorg, nDCGmin, nDCGf)] == [-0.135, 0.166, 0.380]


def test_beside_measures_of_ir_measures():
    """One call, both kinds; a missing topic is 0 to ir_measures and an empty ranking to gainful."""
    theirs = [ir_measures.nDCG @ 3, ir_measures.P @ 2, ir_measures.AP, ir_measures.RR]
    ours = [nDCGf @ 3, Forbidden @ 2, gf_AP, Empty]
    together = per_topic(ir_measures.iter_calc([*theirs, *ours], QRELS, RUN))
    assert together == {
        **per_topic(ir_measures.pytrec_eval.iter_calc(theirs, QRELS, RUN)),
        **per_topic(provider.iter_calc(ours, QRELS, RUN)),
    }
    assert len(together) == 8 * 3
    ideal, worst = 2 + 1 / math.log2(3), -2.0
    assert together["nDCGf@3", "1"] == pytest.approx((2 - 2 / math.log2(3) - worst) / (ideal - worst), abs=1e-12)
    assert together["nDCGf@3", "2"] == pytest.approx(1 / 2, abs=1e-12)
    assert together["nDCGf@3", "3"] == 1.0
    assert together["nDCG@3", "3"] == 0.0
    assert [together["Forbidden@2", topic] for topic in "123"] == [0.5, 0.0, 0.0]
    assert [together["Empty", topic] for topic in "123"] == [0.0, 1.0, 1.0]


def test_names_of_ir_measures_stay_its_own():
    found = ir_measures.calc_aggregate([ir_measures.nDCG @ 3, gf_nDCG @ 3], QRELS, RUN)
    assert sorted(map(str, found)) == ["nDCG0@3", "nDCG@3"]
    assert ir_measures.nDCG @ 3 != gf_nDCG @ 3
    assert gf_nDCG @ 3 == nDCG0 @ 3
    assert gf_nDCG(norm="f") @ 3 == nDCGf @ 3
    assert str(gf_AP(rel=2) @ 5) == "gf_AP(rel=2)@5"
    with pytest.raises(AttributeError, match="AP is ir_measures' own: gainful's is gf_AP"):
        _ = compat.AP
    with pytest.raises(AttributeError, match=r"module 'gainful\.compat\.ir_measures' has no attribute 'nothing'"):
        _ = compat.nothing


def test_negative_labels_are_judged_nonrelevant_to_us_and_unjudged_to_trec_eval():
    """Pool above: one relevant, one negative; ranked negative first. bpref: 1 - 1/1 = 0, or 1 if it is not judged."""
    qrels, run = {"q": {"a": 1, "s": -1}}, {"q": {"s": 2.0, "a": 1.0}}
    found = ir_measures.calc_aggregate(
        [ir_measures.Bpref, compat.bpref, compat.bpref(negatives="unjudged"), gf_infAP], qrels, run
    )
    assert {str(measure): value for measure, value in found.items()} == {
        "Bpref": 1.0,
        "bpref": 0.0,
        "bpref(negatives='unjudged')": 1.0,
        # 1/2 + (1/2)·(1/1)·(0 + ε)/(0 + 1 + 2ε)
        "gf_infAP": pytest.approx(0.5 + 0.5 * 1e-5 / (1 + 2e-5), abs=1e-12),
    }


@pytest.mark.parametrize("beside", [[], [ir_measures.AP]], ids=["alone", "beside"])
@pytest.mark.parametrize("kind", ["dict", "list", "generator", "pandas"])
def test_inputs(kind, beside):
    qrels = {
        "dict": QRELS,
        "list": judgments(),
        "generator": iter(judgments()),
        "pandas": pd.DataFrame(judgments()),
    }[kind]
    run = {"dict": RUN, "list": tuples(), "generator": iter(tuples()), "pandas": pd.DataFrame(tuples())}[kind]
    found = ir_measures.calc_aggregate([nDCGf @ 3, Forbidden @ 3, *beside], qrels, run)
    ideal = 2 + 1 / math.log2(3)
    first = (2 - 2 / math.log2(3) + 2) / (ideal + 2)
    assert found[nDCGf @ 3] == pytest.approx((first + 1 / 2 + 1) / 3, abs=1e-12)
    assert found[Forbidden @ 3] == pytest.approx(1 / 9, abs=1e-12)
    assert len(found) == 2 + len(beside)


def test_evaluator_takes_one_run_after_another():
    for make in (ir_measures.evaluator, provider.evaluator):
        evaluator = make([nDCGf @ 2, RBPres(p=0.5)], iter(judgments({"q": {"a": 2, "s": -1}})))
        assert evaluator.qrel_qids == {"q"}
        assert evaluator.calc_aggregate({"q": {"a": 1.0}}) == {nDCGf @ 2: 1.0, RBPres(p=0.5): 0.5}
        assert evaluator.calc_aggregate(iter([ScoredDoc("q", "s", 1.0)])) == {nDCGf @ 2: 0.0, RBPres(p=0.5): 0.5}
        empty = evaluator.calc_aggregate([])
        assert empty == {nDCGf @ 2: pytest.approx(1 / 3, abs=1e-12), RBPres(p=0.5): 1.0}


def test_measure_methods():
    measure = nDCGf @ 2
    assert measure.calc_aggregate({"q": {"a": 2, "s": -1}}, {"q": {"a": 1.0}}) == 1.0
    assert [metric.value for metric in measure.iter_calc({"q": {"a": 2, "s": -1}}, {"q": {"s": 1.0}})] == [0.0]
    assert measure.calc({"q": {"a": 1}}, {"q": {"a": 1.0}}).aggregated == 1.0
    assert measure["cutoff"] == 2
    assert measure["gain"] == "linear"
    assert measure.SHORT_DESC.startswith("Discounted gain of the ranking")


def test_summaries_over_topics():
    """Counts are added up; GMAP of 1, 0 and 0 is the cube root of 1·0.00001², trec_eval's floor."""
    found = ir_measures.calc_aggregate([GMAP, gf_NumRet, F @ 2], {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}, RUN)
    assert found[GMAP] == pytest.approx(1e-10 ** (1 / 3), rel=1e-12)
    assert found[gf_NumRet] == 4
    assert found[F @ 2] == pytest.approx((2 / 3 + 0 + 0) / 3, abs=1e-12)
    assert math.isnan(GMAP.aggregator().result())


def test_duplicates_are_refused():
    run = [ScoredDoc("1", "a", 2.0), ScoredDoc("1", "a", 1.0)]
    with pytest.raises(gf.DataError, match="'a'"):
        ir_measures.calc_aggregate([nDCGf @ 2], QRELS, run)
    first = GainfulProvider(duplicates="first")
    assert first.calc_aggregate([gf_NumRet], {"1": {"a": 1}}, run) == {gf_NumRet: 1.0}


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="ir_measures' parser uses what Python 3.14 took away")
@pytest.mark.filterwarnings("ignore:ast:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own, since Python 3.12
def test_texts_that_ir_measures_parses():
    for text in ("nDCGf@3", "nDCGf(gain='exp')@3", "gf_AP(rel=2)@10", "Forbidden@5", "iP@0.1", "Empty"):
        measure = ir_measures.parse_measure(text)
        assert isinstance(measure, GainfulMeasure)
        assert str(measure) == text
        assert parse_measure(text) == measure
    assert not isinstance(ir_measures.parse_measure("nDCG@3"), GainfulMeasure)


def test_texts_that_gainful_parses():
    assert str(parse_measure("nDCG(norm=f, gain={-2: -10}, discount=[1, 0.5])@3")) == (
        "nDCGf(gain={-2: -10}, discount=[1, 0.5])@3"
    )
    assert parse_measure("nDCGf(gain={-2: -10})@3") == nDCGf(gain={-2: -10}) @ 3
    assert parse_measure("ndcg_cut_3") == gf_nDCG @ 3
    assert parse_measure("nDCGf@3") @ 5 == nDCGf @ 5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nDCGf(norm="min"), "nDCGf sets norm itself: leave it out."),
        (lambda: nDCGf(gian="exp"), "nDCG has no parameter 'gian' .* Did you mean 'gain'?"),
        (lambda: nDCGf @ 0, "The 'cutoff' parameter of nDCG must be a whole number of at least 1, got 0 instead."),
        (lambda: Empty @ 3, "Empty has no parameter 'cutoff'"),
        (lambda: iP @ 7, "The 'cutoff' parameter of iP must be a recall level between 0 and 1, got 7 instead."),
        (lambda: GainfulMeasure("nothing"), "no measure named 'nothing' is registered"),
        (
            lambda: ir_measures.calc_aggregate([gf_P(rel=2)], QRELS, RUN),
            "P needs a cutoff, a whole number of at least 1: write P@10",
        ),
        (lambda: provider.supports(gf_P), "P needs a cutoff, a whole number of at least 1: write P@10"),
        (
            lambda: GainfulProvider(unjudged="condensed").calc_aggregate([ir_measures.AP, nDCGf @ 3], QRELS, RUN),
            "expected measures of gainful such as nDCGf@3, got AP: ir_measures.calc_aggregate takes both kinds at once",
        ),
    ],
)
def test_wrong_measures(make, message):
    with pytest.raises(gf.MeasureError, match=message):
        make()


@pytest.mark.parametrize("policy", ["missing", "degenerate"])
def test_skip_is_refused(policy):
    message = f"{policy}='skip' cannot be honoured here: ir_measures gives every topic of the qrels a score. Use gainf"
    with pytest.raises(gf.PolicyError, match=message):
        GainfulProvider(**{policy: "skip"})


def test_undefined_values_follow_the_policy():
    nan = GainfulProvider(degenerate="nan").calc_aggregate([gf_AP], {"1": {"a": 0}}, RUN)
    assert math.isnan(nan[gf_AP])
    assert GainfulProvider(degenerate="one").calc_aggregate([gf_AP], {"1": {"a": 0}}, RUN) == {gf_AP: 1.0}


def test_measures_travel_to_other_processes():
    for measure in (nDCGf(gain={-2: -10}) @ 3, gf_P, gf_P(rel=2)):
        again = pickle.loads(pickle.dumps(measure))
        assert again == measure
        assert str(again) == str(measure)
    assert str(gf_P(rel=2)) == "gf_P(rel=2)"


def test_registering_again_adds_what_is_new():
    before = len(ir_measures.DefaultPipeline.providers)
    assert ir_measures.providers.registry["gainful"] is provider

    @gf.measure("Shown", bounds=None)
    def shown(rankings: gf.Rankings) -> np.ndarray:
        """The number of documents shown. Never undefined."""
        return rankings.retrieved.astype(np.float64)

    try:
        compat.register()
        assert len(ir_measures.DefaultPipeline.providers) == before
        found = ir_measures.calc_aggregate([compat.Shown], {"1": {"a": 1}}, RUN)
        assert list(found.values()) == [4.0]
        assert ir_measures.measures.registry["Shown"] == compat.Shown
    finally:
        del ir_measures.measures.registry["Shown"]
        unregister("Shown")


def test_without_ir_measures():
    script = "import sys; sys.modules['ir_measures'] = None; import gainful.compat.ir_measures"
    run = partial(subprocess.run, capture_output=True, text=True)
    last = run([sys.executable, "-c", script]).stderr.splitlines()[-1]
    message = "gainful.compat.ir_measures needs ir_measures, which is not installed: pip install ir_measures"
    assert last == f"gainful.errors.GainfulError: {message}"


OWN = [
    *(ir_measures.nDCG, ir_measures.nDCG @ 2, ir_measures.AP(rel=2), ir_measures.P(judged_only=True) @ 1),
    *(ir_measures.RR(judged_only=True), ir_measures.RR @ 2, ir_measures.Rprec, ir_measures.Bpref, ir_measures.infAP),
    *(ir_measures.SetAP, ir_measures.SetRelP, ir_measures.SetF(beta=2.0), ir_measures.IPrec @ 0.5, ir_measures.R @ 2),
    *(ir_measures.Judged, ir_measures.Judged @ 2, ir_measures.NumRet(rel=1), ir_measures.NumQ, ir_measures.Success @ 1),
]


@pytest.mark.parametrize("alone", [True, False])
def test_measures_of_ir_measures_itself(alone):
    """The provider gives what the default pipeline gives, for each measure and for all at once, ours among them."""
    qrels = {"1": {"a": 1, "b": 2, "c": 0, "d": 1}, "2": {"a": 1}, "3": {"c": 2}}
    run = {"1": {"x": 9.0, "c": 8.0, "b": 7.0, "a": 6.0}, "2": {"b": 2.0, "a": 1.0}, "none": {"a": 1.0}}
    expected = ir_measures.calc(OWN, qrels, run)
    asked = [[measure] for measure in OWN] if alone else [[*OWN, nDCGf @ 2]]
    found = [provider.calc(measures, qrels, run) for measures in asked]
    values = {(m.query_id, m.measure): m.value for one in found for m in one.per_query if m.measure != nDCGf @ 2}
    assert values == pytest.approx({(m.query_id, m.measure): m.value for m in expected.per_query})
    assert {m: v for one in found for m, v in one.aggregated.items() if m != nDCGf @ 2} == expected.aggregated
    other = ir_measures.nDCG(gains={1: 5}) @ 2  # alone: else others may be given its gains
    assert provider.calc_aggregate([other], qrels, run) == ir_measures.calc_aggregate([other], qrels, run)


@pytest.mark.parametrize("measure", [ir_measures.Judged @ 5, ir_measures.P @ 5, nDCGf @ 5], ids=str)
def test_no_judgments_are_no_topics(measure):
    assert list(provider.iter_calc([measure], [], [ScoredDoc("q", "a", 1.0)])) == []


def test_graded_rank_biased_precision_of_ir_measures():
    """Without `rel` it is graded, which no other provider computes; here by label / 2."""
    qrels, run = {"1": {"a": 1, "b": 2}}, {"1": {"a": 2.0, "b": 1.0}}
    measure = ir_measures.RBP(p=0.5)
    assert ir_measures.calc_aggregate([measure], qrels, run) == {measure: 0.5 * (0.5 + 0.5 * 1.0)}
    assert provider.calc_aggregate([ir_measures.RBP(p=0.5, rel=2)], qrels, run) == {ir_measures.RBP(p=0.5, rel=2): 0.25}


def test_gainful_computes_first_if_asked(monkeypatch):
    pipeline = ir_measures.DefaultPipeline
    monkeypatch.setattr(pipeline, "providers", list(pipeline.providers))
    others = pipeline.providers[:-1]
    compat.register(first=True)
    assert pipeline.providers == [provider, *others]
    assert ir_measures.calc_aggregate([ir_measures.AP], {"1": {"a": 1}}, {"1": {"a": 1.0}}) == {ir_measures.AP: 1.0}
