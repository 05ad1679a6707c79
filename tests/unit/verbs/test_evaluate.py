import inspect
import re
from math import exp, isnan, log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf
from gainful._core import native
from gainful.compat.pytrec_eval import RelevanceEvaluator
from gainful.data.policies import Policies, PolicyOptions
from gainful.engine.scoring import compute
from gainful.errors import DataError, GainfulError, MeasureError, PolicyError
from gainful.measures import measure as register
from gainful.measures import parse_measure, parse_measures, unregister
from gainful.verbs.evaluate import evaluate, score
from gainful.verbs.source import Options
from worlds import World, expected_scores, measures, qrels_of, runs_of, worlds

# Topic 1 has a forbidden document, 2 has nothing relevant, 3 is what the second run has nothing for.
QRELS = {"1": {"a": 2, "b": -1, "c": 1}, "2": {"a": 0}, "3": {"a": 1}}
RUNS = {
    "first": {"1": {"a": 0.9, "b": 0.5}, "2": {"a": 1.0}, "3": {"x": 2.0, "a": 1.0}},
    "second": {"1": {"c": 1.0}, "2": {"b": 1.0}, "9": {"a": 1.0}},
}
RR = {"first": [1, 0, 1 / 2], "second": [1, 0, 0]}


def test_scores():
    scores = evaluate(QRELS, RUNS, ["RR", "AP", "ndcg_cut_2"])
    assert scores.measures == ("RR", "AP", "nDCG@2")
    assert scores.systems == ("first", "second")
    assert scores.topics == ("1", "2", "3")
    assert scores["RR"].values.tolist() == [RR["first"], RR["second"]]
    assert scores["AP"].values.tolist() == [[1 / 2, 0, 1 / 2], [1 / 2, 0, 0]]
    ideal = 2 + 1 / log2(3)
    expected = [[2 / ideal, 0, 1 / log2(3)], [1 / ideal, 0, 0]]
    np.testing.assert_allclose(scores["nDCG@2"].values, expected, rtol=0, atol=1e-15)
    assert scores["ndcg_cut_2"].values.tolist() == scores["nDCG@2"].values.tolist()
    assert scores.missing == (0, 1)
    assert scores.ignored == (0, 1)
    assert scores.higher == ("better", "better", "better")
    assert scores.policies == Policies()


@pytest.mark.skipif(native is None, reason="there is no compiled core")
def test_small_calls_start_no_threads(monkeypatch):
    """Starting one costs as much as all the rest."""
    monkeypatch.setattr("threading.Thread.start", None)
    assert evaluate(QRELS, RUNS, "RR")["RR"].values.tolist() == list(RR.values())
    evaluator = RelevanceEvaluator({"1": {"a": 1}}, {"recip_rank"})
    assert evaluator.evaluate({"1": {"b": 2.0, "a": 1.0}}) == {"1": {"recip_rank": 0.5}}


def test_default_measures():
    assert evaluate(QRELS, RUNS).measures == ("nDCG@10", "AP")


def test_lists_of_measures():
    assert evaluate(QRELS, RUNS, "P@1,2 AP").measures == ("P@1", "P@2", "AP")
    assert evaluate(QRELS, RUNS, parse_measure("P@1")).measures == ("P@1",)
    assert evaluate(QRELS, RUNS, iter(["map", "AP"])).measures == ("AP",)
    scores = evaluate(QRELS, RUNS, ["P@1,2", "precision@3"])
    assert scores["precision@3"].measure == "P@3"
    with pytest.raises(DataError, match=r"^No scores of 'P@1,2'; there are: P@1, P@2, P@3\. Did you mean 'P@"):
        scores["P@1,2"]


@pytest.mark.parametrize(
    ("degenerate", "values", "mean"),
    [
        ("zero", [1 / 2, 0, 1 / 2], 1 / 3),
        ("one", [1 / 2, 1, 1 / 2], 2 / 3),
        ("nan", [1 / 2, np.nan, 1 / 2], np.nan),
        ("skip", [1 / 2, np.nan, 1 / 2], 1 / 2),
    ],
)
def test_undefined_values(degenerate, values, mean):
    scores = evaluate(QRELS, {"first": RUNS["first"]}, "AP", degenerate=degenerate)
    np.testing.assert_array_equal(scores["AP"].values, [values])
    assert scores.mean()["AP"].to_list() == pytest.approx([mean], nan_ok=True)
    assert scores.to_frame().height == (2 if degenerate == "skip" else 3)


@pytest.mark.parametrize(("missing", "mean", "count"), [("empty", 1 / 3, 3), ("skip", 1 / 2, 2)])
def test_missing_topics(missing, mean, count):
    scores = evaluate(QRELS, RUNS, ["RR", "NumQ", "Empty"], missing=missing)
    assert scores.mean()["RR"].to_list() == [1 / 2, mean]
    assert scores.mean()["NumQ"].to_list() == [3, count]
    assert scores.mean()["Empty"].to_list() == [0, 1 / 3 if missing == "empty" else 0]
    assert isnan(scores["RR"].values[1, 2]) == (missing == "skip")


def test_missing_topics_are_not_undefined():
    """A topic that was left out stays left out, whatever becomes of undefined values."""
    for degenerate in ("zero", "one", "nan", "skip"):
        scores = evaluate(QRELS, RUNS, "Judged@3", missing="skip", degenerate=degenerate)
        assert isnan(scores["Judged@3"].values[1, 2])
        assert isnan(scores.values[0, 1, 2])
        assert not scores.counted[0, 1, 2]


def test_missing_topics_may_be_refused():
    message = (
        "run 'second' returns nothing for 1 of 3 judged topics (3): "
        "use missing='empty' or missing='skip' to score it all the same."
    )
    with pytest.raises(PolicyError, match=f"^{re.escape(message)}$"):
        evaluate(QRELS, RUNS, "RR", missing="error")


def test_empty_answer_may_be_right():
    """Nothing but forbidden documents: nDCGf rewards the run that leaves the topic out."""
    scores = evaluate({"1": {"a": -1}, "2": {"a": 1}}, {"1": {}, "2": {"a": 1.0}}, "nDCGf@3")
    assert scores["nDCGf@3"].values.tolist() == [[1.0, 1.0]]


def test_unjudged_documents():
    for unjudged, value in (("zero", 1 / 2), ("condensed", 1)):
        assert evaluate(QRELS, {"first": RUNS["first"]}, "RR", unjudged=unjudged)["RR"].values[0, 2] == value


def test_ties():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    values = {ties: float(evaluate(qrels, run, "P@1", ties=ties)["P@1"].values[0, 0]) for ties in ("trec", "order")}
    assert values == {"trec": 0, "order": 1}
    assert evaluate(qrels, run, "P@1", ties="expected")["P@1"].values.tolist() == [[1 / 2]]


def test_expected_ties_are_for_sums_over_ranks():
    message = "ties='expected' is defined for sums over ranks, which {} not: use ties='trec' or ties='order'."
    with pytest.raises(PolicyError, match=f"^{re.escape(message.format('AP is'))}$"):
        evaluate(QRELS, RUNS, ["AP", "P@5"], ties="expected")
    with pytest.raises(PolicyError, match=f"^{re.escape(message.format('AP, RR@5 are'))}$"):
        evaluate(QRELS, RUNS, ["AP", "RR@5"], ties="expected")


def test_duplicates():
    qrels = qrels_of({"q": {"a": 1, "b": 1}})
    runs = runs_of({"run": [("q", "u", 3.0), ("q", "a", 2.0), ("q", "a", 4.0)]})
    with pytest.raises(DataError, match=r"^run 'run': document 'a' appears twice in topic 'q'"):
        evaluate(qrels, runs, "RR")
    assert evaluate(qrels, runs, "RR", duplicates="first")["RR"].values.tolist() == [[1 / 2]]


def test_bad_policies_and_measures_are_refused_before_anything_is_read():
    with pytest.raises(PolicyError, match=r"^The 'ties' policy must be one of trec, order, expected, got 'tied'"):
        evaluate("no such file", "nor such", "AP", ties="tied")
    with pytest.raises(MeasureError, match=r"^Unknown measure 'nonsense'"):
        evaluate("no such file", "nor such", "nonsense")
    with pytest.raises(PolicyError, match=r"^ties='expected' is defined for sums over ranks"):
        evaluate("no such file", "nor such", "AP", ties="expected")


def test_summaries():
    """Counts are summed, GMAP is a geometric mean with a floor."""
    frame = evaluate(QRELS, RUNS, ["NumRet", "GMAP", "AP"]).mean()
    assert frame["NumRet"].to_list() == [5, 2]
    floor = log(0.00001)
    expected = [exp((2 * log(1 / 2) + floor) / 3), exp((log(1 / 2) + 2 * floor) / 3)]
    assert frame["GMAP"].to_list() == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(
    world=worlds(duplicates=True),
    chosen=st.lists(measures(), min_size=1, max_size=4, unique=True),
    policies=st.fixed_dictionaries(
        {
            "ties": st.sampled_from(("trec", "order")),
            "unjudged": st.sampled_from(("zero", "condensed")),
            "missing": st.sampled_from(("empty", "skip")),
            "degenerate": st.sampled_from(("zero", "nan", "skip", "one")),
        }
    ),
)
def test_all_policies(world, chosen, policies):
    """Against the reference: values, what is counted, and means."""
    scores = evaluate(qrels_of(world.qrels), runs_of(world.runs), chosen, **policies, duplicates="first")
    answered = [[any(t == topic for t, *_ in rows) for topic in world.qrels] for rows in world.runs.values()]
    for i, measure in enumerate(chosen):
        raw = expected_scores(world, measure, policies["ties"], policies["unjudged"]).reshape(np.shape(answered))
        for j, k in np.ndindex(raw.shape):
            left_out = policies["missing"] == "skip" and not answered[j][k]
            left_out |= policies["degenerate"] == "skip" and isnan(raw[j, k])
            filled = {"zero": 0.0, "one": 1.0}.get(policies["degenerate"], np.nan) if isnan(raw[j, k]) else raw[j, k]
            assert scores.counted[i, j, k] == (not left_out)
            shown = scores[str(measure)].values[j, k]
            assert shown == pytest.approx(np.nan if left_out else filled, abs=1e-9, rel=1e-9, nan_ok=True)
        means = scores.summary()[i]
        for j, row in enumerate(scores.values[i]):
            kept = [float(value) for value, counts in zip(row, scores.counted[i, j], strict=True) if counts]
            how = measure.definition.summary
            if how == "gmean":
                wanted = np.exp(sum(np.log(max(value, 1e-5)) for value in kept) / len(kept)) if kept else np.nan
            else:
                wanted = sum(kept) / (len(kept) if how == "mean" else 1) if kept else np.nan
            assert means[j] == pytest.approx(wanted, abs=1e-9, nan_ok=True)
        assert scores.missing == tuple(len(row) - sum(row) for row in answered)


def test_compute_takes_rankings():
    world = World({"q": {"a": 1.0}}, {"run": [("q", "a", 1.0)]})
    scores = compute(world.align(), parse_measures("AP P@2"), Policies())
    assert scores.values.tolist() == [[[1.0]], [[0.5]]]
    assert scores.spellings == {}


# Arrays


def test_score():
    labels = [[2, -1], [2, -1], [2, -1], [2, -1]]
    scores = [[0.9, 0.4], [0.9, -np.inf], [-np.inf, 0.4], [-np.inf, -np.inf]]
    expected = [(3 - 1 / log2(3)) / 3, 1, 0, 1 / 3]
    np.testing.assert_allclose(score("nDCGf@2", labels, scores), expected, rtol=0, atol=1e-15)


def test_score_of_lists():
    assert score("RR", [0, 0, 1]).tolist() == [1 / 3]
    assert score("RR", [[1], [0, 1], []]).tolist() == [1, 1 / 2, 0]
    assert score("RR", [[0, 0, 1]], mask=[[1, 0, 1]]).tolist() == [1 / 2]
    assert score(parse_measure("P@2"), [[0, 1, 1]], [[1, 1, 1]], ties="expected").tolist() == pytest.approx([2 / 3])


@pytest.mark.parametrize(("degenerate", "value"), [("zero", 0), ("one", 1), ("nan", np.nan), ("skip", np.nan)])
def test_score_where_undefined(degenerate, value):
    np.testing.assert_array_equal(score("AP", [[0, 0], [1, 0]], degenerate=degenerate), [value, 1])


def test_score_refuses():
    with pytest.raises(PolicyError, match=r"^ties='expected' is defined for sums over ranks, which AP is not"):
        score("AP", [[1]], ties="expected")
    with pytest.raises(PolicyError, match=r"^The 'ties' policy of arrays, which have no document ids"):
        score("AP", [[1]], ties="trec")
    with pytest.raises(MeasureError, match=r"^expected one measure, got 2: P@1, P@2$"):
        score("P@1,2", [[1]])
    with pytest.raises(PolicyError, match=r"^The 'degenerate' policy must be"):
        score("AP", [[1]], degenerate="two")


def test_policies_are_keyword_only():
    parameters = inspect.signature(score).parameters
    assert all(p.kind is p.KEYWORD_ONLY for name, p in parameters.items() if name in Policies.__slots__)
    assert set(Policies.__slots__) == set(PolicyOptions.__annotations__) <= set(Options.__annotations__)
    with pytest.raises(TypeError, match=r"^unexpected keyword 'tie'; expected a parameter of this function, or ties, "):
        evaluate(QRELS, RUNS, tie="order")


def test_rankings_take_the_place_of_qrels_and_runs():
    rankings = gf.align(QRELS, RUNS, degenerate="one")
    there = evaluate(QRELS, RUNS, ["AP", "RR"], degenerate="one")
    for found in (evaluate(rankings, ["AP", "RR"]), evaluate(rankings, measures=["AP", "RR"])):
        assert found.values.tolist() == there.values.tolist()
        assert (found.policies, found.missing, found.ignored) == (there.policies, there.missing, there.ignored)
    assert evaluate(rankings).measures == ("nDCG@10", "AP")
    # What is undefined or missing is decided afterwards; the order of the documents is not.
    later = evaluate(rankings, "AP", degenerate="nan", missing="skip")
    np.testing.assert_array_equal(later["AP"].values, [[1 / 2, np.nan, 1 / 2], [1 / 2, np.nan, np.nan]])
    with pytest.raises(PolicyError, match=r"^run 'second' returns nothing for 1 of 3 judged topics \(3\)"):
        evaluate(rankings, "AP", missing="error")
    with pytest.raises(PolicyError, match=r"^ties='order': these rankings are joined already, with ties='trec'$"):
        evaluate(rankings, "AP", ties="order")
    with pytest.raises(GainfulError, match=r"^expected either rankings or judgments and runs, got rankings and runs$"):
        evaluate(rankings, RUNS, "AP")
    with pytest.raises(DataError, match=r"^expected judgments and runs, or what `align` returns, got no runs$"):
        evaluate(QRELS)


@pytest.mark.parametrize("wrong", [None, 3])
def test_measures_that_are_none(wrong):
    with pytest.raises(MeasureError, match=f"^expected measures such as 'nDCG@10', got {wrong}$"):
        evaluate(QRELS, RUNS, wrong)


def test_undefined_topics_are_counted():
    assert evaluate(QRELS, RUNS, ["AP", "RR"]).undefined == (1, 0)
    assert evaluate(QRELS, RUNS, ["AP"], degenerate="skip").undefined == (1,)


def test_masked_labels_are_not_looked_at():
    assert score("P@2", [[1, float("inf")]], mask=[[True, False]]).tolist() == [0.5]


def test_a_measure_of_another_shape_is_named():
    @register("Wrong")
    def wrong(rankings):
        """Not one score a row. Never undefined."""
        return np.zeros(rankings.n_rows + 1)

    try:
        with pytest.raises(MeasureError, match=r"^Wrong: expected 6 scores, one per row, got shape \(7,\)$"):
            evaluate(QRELS, RUNS, "Wrong")
    finally:
        unregister("Wrong")


def test_no_runs_are_refused():
    with pytest.raises(DataError, match=r"^expected at least one run, got none$"):
        evaluate({"q": {"a": 1}}, {}, "AP")
