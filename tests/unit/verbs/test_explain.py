from __future__ import annotations

import json
import math
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf
from gainful.measures import parse_measure, unregister
from gainful.measures.contributions import Contributions, counting, places, ranks_of
from gainful.measures.parameters import Depth
from worlds import World, expected_scores, measures, qrels_of, run_of, worlds

# Of generated worlds, many look odd; here that does not matter.
pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

GAIN_FAMILY = ("nDCG", "DCG", "CG")
BINARY = ("AP", "P", "R", "RR")

# The lecture's example (papers/002, "NDCG: Example"): judgments 3, 2 and 1, everything else is not relevant.
LECTURE_POOL = {"d3": 3, "d5": 3, "d9": 3, "d25": 2, "d39": 2, "d44": 2, "d56": 1, "d71": 1, "d89": 1, "d123": 1}
LECTURE_RANKING = [
    *("d123", "d84", "d56", "d6", "d8", "d9", "d511", "d129", "d187", "d25"),
    *("d38", "d48", "d250", "d113", "d3"),
]


def ranked(documents: list[str]) -> dict[str, float]:
    return {doc: -float(at) for at, doc in enumerate(documents)}


@pytest.fixture
def lecture() -> gf.Explanation:
    return gf.explain({"7": LECTURE_POOL}, {"7": ranked(LECTURE_RANKING)}, "7", "nDCG(discount='jk')@15")


class TestLecture:
    """Every column of the slides; they print one decimal."""

    @pytest.mark.parametrize(
        ("column", "slides"),
        [
            ("rank", list(range(1, 16))),
            ("gain", [1, 0, 1, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 3]),
            ("cg", [1, 1, 2, 2, 2, 5, 5, 5, 5, 7, 7, 7, 7, 7, 10]),
            ("dcg", [1.0, 1.0, 1.6, 1.6, 1.6, 2.8, 2.8, 2.8, 2.8, 3.4, 3.4, 3.4, 3.4, 3.4, 4.2]),
            ("ideal", [3.0, 6.0, 7.9, 8.9, 9.8, 10.5, 10.9, 11.2, 11.5, 11.8, 11.8, 11.8, 11.8, 11.8, 11.8]),
            ("worst", [0] * 15),
        ],
    )
    def test_columns(self, lecture, column, slides):
        assert lecture.steps[column].round(1).to_list() == slides

    def test_ndcg(self, lecture):
        # The design's values: the slides divide rounded DCGs and so differ in the second decimal at 3, 5 and 15.
        expected = [0.33, 0.17, 0.21, 0.18, 0.17, 0.27, 0.26, 0.25, 0.24, 0.29, 0.29, 0.29, 0.29, 0.29, 0.35]
        assert lecture.steps["ndcg"].round(2).to_list() == expected

    def test_unjudged_documents_have_a_name_and_no_label(self, lecture):
        assert lecture.steps["doc_id"].to_list() == LECTURE_RANKING
        assert lecture.steps["label"].to_list() == [1, None, 1, None, None, 3, *[None] * 3, 2, *[None] * 4, 3]

    def test_cutoff_ten_is_the_lecture_s_final_answer(self):
        why = gf.explain({"7": LECTURE_POOL}, {"7": ranked(LECTURE_RANKING)}, "7", "nDCG(discount='jk')@10")
        assert why.steps.height == 10
        assert round(why.score, 2) == 0.29

    def test_lost_by_hand(self, lecture):
        # I = 3 + 3/1 + 3/log2(3) + 2/2 + … = 11.8339 (the slides' 11.8). d5 was not returned; of the three documents
        # of gain 3 it is the last, so it costs the 3/log2(3) of rank 3. d123 stands at rank 1 instead of rank 7.
        ideal = 11.833883
        rows = {row["doc_id"]: row for row in lecture.lost.iter_rows(named=True)}
        assert rows["d5"]["rank"] is None
        assert rows["d5"]["lost"] == pytest.approx(3 / math.log2(3) / ideal, rel=1e-6)
        assert rows["d123"]["won"] == pytest.approx(1 / ideal, rel=1e-6)
        assert rows["d123"]["lost"] == pytest.approx((1 / math.log2(7) - 1) / ideal, rel=1e-6)
        assert lecture.lost["doc_id"].to_list() == ["d3", "d5", "d9", "d39", "d44", "d25", "d71", "d89", "d56", "d123"]


class TestNorms:
    """The design's table of worked values: pool {-1, 2}, k = 2, discount log2."""

    # D(1) = 1, D(2) = 1/log2(3); I = 2 - D(2), W = -1 + 2·D(2); I_f = 2, W_f = -1.
    D2 = 1 / math.log2(3)

    @pytest.mark.parametrize(
        ("norm", "score", "empty"),
        [
            ("org", 1.461, 0.0),
            ("min", 1.570, -0.237),
            ("f", 1.0, 1 / 3),
            ("zero", 1.0, 0.0),
        ],
    )
    def test_good_document_alone(self, norm, score, empty):
        why = gf.explain({"q": {"bad": -1, "good": 2}}, {"q": {"good": 1.0}}, "q", f"nDCG(norm={norm!r})@2")
        assert why.score == pytest.approx(score, abs=5e-4)
        assert why.empty == pytest.approx(empty, abs=5e-4)
        assert why.best == pytest.approx(1.0)

    def test_f_of_both(self):
        why = gf.explain({"q": {"bad": -1, "good": 2}}, {"q": {"good": 2.0, "bad": 1.0}}, "q", "nDCGf@2")
        assert why.score == pytest.approx(0.790, abs=5e-4)
        # Under norm f nothing is expected of a forbidden document, so showing it loses all of its D(2)/3.
        assert why.lost.select("doc_id", "lost").row(0) == ("bad", pytest.approx(self.D2 / 3))
        assert why.steps["ideal"].to_list() == [2.0, 2.0]
        assert why.steps["worst"].to_list() == [-1.0, -1.0]

    def test_zero_counts_no_harm(self):
        why = gf.explain({"q": {"bad": -1, "good": 2}}, {"q": {"bad": 2.0, "good": 1.0}}, "q", "nDCG@2")
        assert why.steps.select("label", "gain").rows() == [(-1.0, 0.0), (2.0, 2.0)]
        assert why.lost["doc_id"].to_list() == ["good"]

    def test_dcg_s_best_leaves_harm_out(self):
        why = gf.explain({"q": {"bad": -1, "good": 2}}, {"q": {"bad": 2.0, "good": 1.0}}, "q", "DCG@2")
        assert why.score == pytest.approx(-1 + 2 * self.D2)
        assert why.best == pytest.approx(2.0)
        assert why.steps.columns[-6:] == ["gain", "cg", "discount", "dcg", "ideal", "worst"]

    def test_undefined(self):
        why = gf.explain({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, "q", "nDCGmin@2")
        assert math.isnan(why.score)
        assert why.steps["ndcg"].to_list() == [None, None]
        assert why.lost["lost"].to_list() == [None, None]
        undefined = "nDCGmin@2 of topic q in run 'run' is undefined: the pool leaves nothing to gain or lose."
        assert why.verdict() == undefined
        assert (why.absent, why.misplaced, why.forbidden) == (0.0, 0.0, 0.0)


# a and c are relevant, e too but not returned: AP = (1/1 + 2/3)/3, P@2 = 1/2, R@3 = 2/3, RR = 1.
QRELS = {"q": {"a": 1, "b": 0, "c": 2, "e": 1}}
RUN = {"q": ranked(["a", "b", "c"])}


class TestBinary:
    @pytest.mark.parametrize(
        ("measure", "score", "best", "last"),
        [
            ("AP", 5 / 9, 1.0, "ap"),
            ("P@2", 1 / 2, 1.0, "precision"),
            ("P@5", 2 / 5, 3 / 5, "precision"),
            ("R@3", 2 / 3, 1.0, "recall"),
            ("R@1", 1 / 3, 1 / 3, "recall"),
            ("RR", 1.0, 1.0, "rr"),
            ("AP(rel=2)", 1 / 3, 1.0, "ap"),
            ("RR(rel=2)", 1 / 3, 1.0, "rr"),
        ],
    )
    def test_by_hand(self, measure, score, best, last):
        why = gf.explain(QRELS, RUN, "q", measure)
        assert why.score == pytest.approx(score)
        assert why.best == pytest.approx(best)
        if measure != "P@5":  # P divides by the cutoff, its last step by the ranks there are
            assert why.steps[last][-1] == pytest.approx(score)

    def test_steps(self):
        steps = gf.explain(QRELS, RUN, "q", "AP").steps
        assert steps.columns == ["rank", "doc_id", "label", "relevant", "found", "precision", "recall", "ap"]
        assert steps["found"].to_list() == [1, 1, 2]
        assert steps["precision"].to_list() == pytest.approx([1, 1 / 2, 2 / 3])
        assert steps["recall"].to_list() == pytest.approx([1 / 3, 1 / 3, 2 / 3])
        assert steps["ap"].to_list() == pytest.approx([1 / 3, 1 / 3, 5 / 9])

    def test_lost(self):
        lost = gf.explain(QRELS, RUN, "q", "AP").lost
        assert lost.select("doc_id", "rank").rows() == [("e", None), ("c", 3), ("a", 1)]
        assert lost["lost"].to_list() == pytest.approx([1 / 3, 1 / 9, 0])

    @pytest.mark.parametrize(("measure", "best"), [("AP", 1.0), ("AP@7", 7 / 49), ("R@7", 7 / 49), ("P@70", 49 / 70)])
    def test_best_to_the_last_bit(self, measure, best):
        why = gf.explain({"q": {f"d{i}": 1 for i in range(49)}}, {"q": {"d1": 1.0}}, "q", measure)
        assert why.best == best

    def test_the_best_ordering_begins_with_what_was_found(self):
        # The pool names e first, but a was found: a stands at rank 2 and could stand at rank 1.
        lost = gf.explain({"q": {"e": 1, "a": 1}}, {"q": ranked(["x", "a"])}, "q", "RR").lost
        assert lost.select("doc_id", "won", "best").rows() == [("a", 0.5, 1.0), ("e", 0.0, 0.0)]

    def test_nothing_relevant(self):
        why = gf.explain({"q": {"a": 0}}, {"q": {"a": 1.0}}, "q", "AP")
        assert math.isnan(why.score)
        assert why.steps["ap"].to_list() == [None]
        assert gf.explain({"q": {"a": 0}}, {"q": {"a": 1.0}}, "q", "RR").best == 0.0


def explanations(world: World, text: str, **policies: str):
    """All topics of all runs of a world, explained, with the row of the reference they belong to."""
    row = 0
    for name, rows in world.runs.items():
        for topic in world.qrels:
            yield row, gf.explain(qrels_of(world.qrels), run_of(rows, name), topic, text, **policies)
            row += 1


@settings(max_examples=60, deadline=None)
@given(
    worlds(systems=1),
    measures(GAIN_FAMILY + BINARY),
    st.sampled_from(["trec", "order"]),
    st.sampled_from(["zero", "condensed"]),
)
def test_sums_reconcile_and_agree_with_the_reference(world, measure, ties, unjudged):
    expected = expected_scores(world, measure, ties, unjudged)
    for row, why in explanations(world, str(measure), ties=ties, unjudged=unjudged):
        assert why.score == pytest.approx(expected[row], nan_ok=True)
        if not math.isnan(why.score):
            assert why.empty + why.lost["won"].sum() == pytest.approx(why.score)
            assert why.score + why.lost["lost"].sum() == pytest.approx(why.best)
            assert why.score + why.absent + why.misplaced + why.forbidden == pytest.approx(why.best)


@settings(max_examples=60, deadline=None)
@given(worlds(systems=1), measures(("nDCG",)))
def test_last_step_is_the_score_that_evaluate_gives(world, measure):
    (name, rows), *_ = world.runs.items()
    scores = gf.evaluate(qrels_of(world.qrels), run_of(rows, name), measure, degenerate="nan")
    for row, why in explanations(world, str(measure)):
        value = scores.values[0, 0, row]
        if why.steps.height:
            last = why.steps["ndcg"][-1]
            assert (math.nan if last is None else last) == pytest.approx(value, nan_ok=True)
        assert why.score == pytest.approx(value, nan_ok=True)
        if not math.isnan(value):
            assert why.best == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(
    worlds(systems=1),
    st.sampled_from(["zero", "f"]),
    st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=8).filter(any),
    st.none() | st.integers(1, 9),
)
def test_discounts_in_any_order(world, norm, discount, cutoff):
    (name, rows), *_ = world.runs.items()
    text = f"nDCG(norm={norm!r}, discount={discount})" + (f"@{cutoff}" if cutoff else "")
    scores = gf.evaluate(qrels_of(world.qrels), run_of(rows, name), text, degenerate="nan")
    for row, why in explanations(world, text):
        last = why.steps["ndcg"][-1] if why.steps.height else None
        assert (math.nan if last is None else last) == pytest.approx(scores.values[0, 0, row], nan_ok=True)
        if last is not None:
            assert why.score + why.lost["lost"].sum() == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(worlds(systems=1), st.sampled_from(["zero", "org", "min", "f"]))
def test_every_step_is_the_measure_at_that_cutoff(world, norm):
    (name, rows), *_ = world.runs.items()
    for _, why in explanations(world, f"nDCG(norm={norm!r})"):
        cuts = [f"nDCG(norm={norm!r})@{rank}" for rank in why.steps["rank"]]
        if cuts:
            scores = gf.evaluate(qrels_of(world.qrels), run_of(rows, name), cuts, degenerate="nan")
            topic = scores.topics.index(why.topic)
            expected = scores.values[:, 0, topic]
            assert why.steps["ndcg"].fill_null(math.nan).to_list() == pytest.approx(expected.tolist(), nan_ok=True)


class TestShape:
    def test_cutoff_beyond_all_documents_adds_no_rows(self):
        why = gf.explain({"q": {"a": 1, "b": 2}}, {"q": {"a": 1.0}}, "q", "nDCG@1000")
        assert why.steps["doc_id"].to_list() == ["a", None]

    def test_topic_without_documents(self):
        why = gf.explain({"q": {"a": 1}}, {"other": {"a": 1.0}}, "q")
        assert why.score == 0.0
        assert why.steps["doc_id"].to_list() == [None]
        assert why.lost["rank"].to_list() == [None]
        (note,) = why.notes()
        assert note.text == "Run 'run' returns nothing for topic 'q': this is the score of an empty ranking."

    def test_pool_without_labels(self):
        frame = pl.DataFrame(
            {"query_id": ["q"], "doc_id": ["a"], "relevance": [None]}, schema_overrides={"relevance": pl.Float64}
        )
        why = gf.explain(gf.Qrels(frame), {"other": {"a": 1.0}}, "q")
        assert math.isnan(why.score)
        assert why.steps.height == 0

    def test_condensed_leaves_the_unjudged_out(self):
        why = gf.explain({"q": {"a": 1}}, {"q": ranked(["x", "a"])}, "q", unjudged="condensed")
        assert why.steps["doc_id"].to_list() == ["a"]
        assert why.score == 1.0

    def test_discount_that_rises(self):
        # The best order puts the gain of 2 at the rank of weight 1: I = 2·1 + 1·0.5.
        why = gf.explain({"q": {"a": 2, "b": 1}}, {"q": ranked(["a", "b"])}, "q", "nDCG(discount=[0.5, 1])")
        assert why.steps["ideal"].to_list() == pytest.approx([1.0, 2.5])
        assert why.steps["ndcg"].to_list() == pytest.approx([1.0, 2 / 2.5])

    def test_duplicates_first(self):
        run = run_of([("q", "a", 3.0), ("q", "x", 2.0), ("q", "a", 1.0), ("q", "x", 0.0)])
        why = gf.explain({"q": {"a": 1}}, run, "q", duplicates="first")
        assert why.steps["doc_id"].to_list() == ["a", "x"]

    def test_topic_may_be_a_number(self):
        assert gf.explain({"7": {"a": 1}}, {"7": {"a": 1.0}}, 7).topic == "7"

    def test_to_dict_is_json(self):
        why = gf.explain({"q": {"a": 0}}, {"q": ranked(["a", "x"])}, "q", "nDCG@2")
        content = json.loads(json.dumps(why.to_dict(), allow_nan=False))
        assert content["score"] is None
        assert content["settings"]["policies"]["ties"] == "trec"
        assert content["steps"][1]["doc_id"] == "x"
        assert content["lost"] == []

    def test_frame(self):
        why = gf.explain({"q": {"a": 1}}, {"q": {"a": 1.0}}, "q")
        assert why.to_frame() is why.steps

    def test_python_floats(self):
        why = gf.explain({"q": {"a": 1}}, {"q": {"a": 1.0}}, "q")
        assert not any(isinstance(value, np.generic) for value in (why.score, why.empty, why.best))


class TestRefused:
    @pytest.mark.parametrize(
        ("topic", "measure", "policies", "error", "message"),
        [
            (
                "q",
                "nDCG@10",
                {"ties": "expected"},
                gf.PolicyError,
                "ties='expected' averages over all orders of tied documents, so there is no one ranking to explain: "
                "use ties='trec' or ties='order'.",
            ),
            (
                "q",
                "bpref",
                {},
                gf.MeasureError,
                "expected a measure that can be explained (P, R, RR, AP, CG, DCG, nDCG), got 'bpref'",
            ),
            (
                "q9",
                "nDCG@10",
                {},
                gf.DataError,
                "topic 'q9' is neither in the qrels nor in the run. Did you mean 'q'? "
                "Judged topics: q, r1, r2, r3, r4, …",
            ),
            (
                "unjudged",
                "nDCG@10",
                {},
                gf.DataError,
                "topic 'unjudged' has no judgments. Judged topics: q, r1, r2, r3, r4, …",
            ),
        ],
    )
    def test_message(self, topic, measure, policies, error, message):
        qrels = {name: {"a": 1} for name in ("q", "r1", "r2", "r3", "r4", "r5")}
        with pytest.raises(error, match=f"^{re.escape(message)}$"):
            gf.explain(qrels, {"q": {"a": 1.0}, "unjudged": {"a": 1.0}}, topic, measure, **policies)


def test_measure_object_is_accepted():
    assert gf.explain({"q": {"a": 1}}, {"q": {"a": 1.0}}, "q", parse_measure("AP")).measure == "AP"


class TestVerdict:
    def test_nothing_is_lost(self):
        why = gf.explain({"q": {"a": 1}}, {"q": {"a": 1.0}}, "q")
        assert why.verdict() == (
            "nDCG@10 of topic q in run 'run' is 1.0000; the best ordering scores 1.0000. Nothing is lost."
        )

    def test_what_is_missing_and_what_stands_too_low(self):
        # AP = (1/1 + 2/3)/3: e is missing, which costs 1/3, and c stands at rank 3, which costs 1/9.
        assert gf.explain(QRELS, RUN, "q", "AP").verdict() == (
            "AP of topic q in run 'run' is 0.5556; the best ordering scores 1.0000. "
            "Lost: 0.3333 because documents are not among the first 3 and 0.1111 because documents are ranked too low."
        )

    def test_a_negative_loss_is_a_gain(self):
        # The best ordering is a (2), b (1): b alone wins 1 instead of 1/log2(3), of an ideal of 2 + 1/log2(3).
        ideal = 2 + 1 / math.log2(3)
        why = gf.explain({"q": {"a": 2, "b": 1}}, {"q": {"b": 1.0}}, "q", "nDCG@2")
        assert (why.absent, why.misplaced) == pytest.approx((2 / ideal, (1 / math.log2(3) - 1) / ideal))
        assert why.verdict().endswith(
            "Lost: 0.7602 because documents are not among the first 2. "
            "Gained over the best ordering: 0.1403 because documents are ranked higher, where others are missing."
        )

    def test_forbidden_documents(self):
        why = gf.explain({"q": {"bad": -1, "good": 2}}, {"q": {"bad": 2.0, "good": 1.0}}, "q", "nDCGf@2")
        assert (why.misplaced, why.forbidden) == pytest.approx((2 / 3 * (1 - 1 / math.log2(3)), 1 / 3))
        assert "An empty ranking scores 0.3333; what is shown adds 0.0873." in why.verdict()
        assert why.verdict().endswith("0.3333 because forbidden documents are shown, or ranked too high.")

    def test_forbidden_documents_left_out(self):
        # Under norm min the best ordering has the forbidden document at rank 2: leaving it out gains 1/log2(3)/(I - W).
        why = gf.explain({"q": {"bad": -1, "good": 2}}, {"q": {"good": 1.0}}, "q", "nDCGmin@2")
        d2 = 1 / math.log2(3)
        assert why.absent == pytest.approx(-d2 / ((2 - d2) - (-1 + 2 * d2)))
        assert why.verdict().endswith(
            "Gained over the best ordering: 0.5698 because forbidden documents are not among the first 2."
        )


class TestPrinted:
    def test_ranks_and_losses(self):
        text = str(gf.explain(QRELS, RUN, "q", "AP"))
        assert [line.split() for line in text.splitlines() if line.startswith("   3")] == [
            ["3", "c", "2", "yes", "2", "0.6667", "0.6667", "0.5556"]
        ]
        assert any(line.split() == ["e", "1", "1", "-", "0.0000", "0.3333", "0.3333"] for line in text.splitlines())

    def test_long_rankings(self):
        relevant = (5, 60, 70, 400)
        qrels = {"q": {f"d{rank}": 1 for rank in relevant}}
        why = gf.explain(qrels, {"q": ranked([f"d{rank}" for rank in range(1, 501)])}, "q", "nDCG")
        steps, lost = why.compact()
        assert steps.frame["rank"].to_list() == [*range(1, 21), 60, 70, 400, 500]
        assert lost.frame.height == 4
        assert [note.code for note in why.notes()] == ["ranks-left-out"]
        assert why.tables()[0].frame.height == 500

    def test_many_losses(self):
        why = gf.explain({"q": {f"d{at}": 1 for at in range(12)}}, {"q": {"d1": 1.0}}, "q", "nDCG")
        assert why.compact()[1].frame.height == 10
        assert [note.text for note in why.notes()] == ["The table has the 10 largest losses of 12; JSON has them all."]

    def test_documents_beyond_the_cutoff_are_no_losses(self):
        why = gf.explain(QRELS, RUN, "q", "nDCG@1")
        assert why.compact()[1].frame["doc_id"].to_list() == ["c", "a"]

    def test_chart(self):
        pytest.importorskip("altair")
        spec = gf.explain(QRELS, RUN, "q", "AP").chart().to_dict()
        assert spec["title"]["text"] == "AP of topic q: what documents add"


class TestRankings:
    @pytest.fixture
    def rankings(self):
        runs = {"x": RUN, "y": {"q": ranked(["z", "e"])}}
        return gf.align(QRELS, runs, documents=math.inf)

    def test_one_of_them(self, rankings):
        why = gf.explain(rankings, "y", "q", "AP")
        alone = gf.explain(QRELS, {"q": ranked(["z", "e"])}, "q", "AP")
        assert why.run == "y"
        assert why.steps.equals(alone.steps)
        assert why.lost.equals(alone.lost)

    def test_refused(self, rankings):
        with pytest.raises(gf.DataError, match="expected one of the runs x, y, got 'yy'"):
            gf.explain(rankings, "yy", "q")
        with pytest.raises(gf.DataError, match="topic '7' is neither in the qrels nor in the run"):
            gf.explain(rankings, "x", "7")
        with pytest.raises(gf.DataError, match=r"align\(…, documents=inf\)"):
            gf.explain(gf.align(QRELS, RUN), "run", "q")
        with pytest.raises(gf.PolicyError, match="no one ranking to explain"):
            gf.explain(gf.align(QRELS, RUN, ties="expected", documents=math.inf), "run", "q")


class TestOneSOwn:
    """A measure of a third party: half a point for each relevant document on the first two ranks."""

    @pytest.fixture
    def halves(self):
        def contributions(rankings, *, cutoff):
            documents = counting(rankings, rankings.grades >= 1)
            rank = ranks_of(rankings, documents)
            place = places(rankings, documents, rank)
            return Contributions.of(rankings, documents, (rank <= cutoff) / 2, (place < cutoff) / 2)

        @gf.measure("Halves", bounds=None, contributions=contributions)
        def halves(rankings: gf.Rankings, *, cutoff: Depth) -> np.ndarray:
            """Half a point for each relevant document among the first k."""
            return rankings.sum(rankings.relevant(1.0) & (rankings.rank <= cutoff)) / 2

        yield "Halves@2"
        unregister("Halves")

    def test_explained(self, halves):
        why = gf.explain(QRELS, RUN, "q", halves)
        assert (why.score, why.empty, why.best) == (0.5, 0.0, 1.0)
        assert why.steps.columns == ["rank", "doc_id", "label", "adds", "score"]
        assert why.steps["adds"].to_list() == [0.5, 0.0]
        assert why.lost.select("doc_id", "rank", "won", "best").rows() == [
            *(("c", 3, 0.0, 0.5), ("a", 1, 0.5, 0.5), ("e", None, 0.0, 0.0)),
        ]
        assert why.verdict().endswith("Lost: 0.5000 because documents are not among the first 2.")
        gf.check_measure(halves)

    def test_contributions_that_do_not_add_up(self):
        def contributions(rankings):
            documents = counting(rankings, rankings.grades >= 1)
            return Contributions.of(rankings, documents, 1.0, 1.0)

        @gf.measure("Odd", bounds=None, contributions=contributions)
        def odd(rankings: gf.Rankings) -> np.ndarray:
            """How many relevant documents were returned."""
            return rankings.sum(rankings.relevant(1.0))

        with pytest.raises(gf.MeasureError, match="expected its contributions to add up to the score"):
            gf.check_measure("Odd")
        unregister("Odd")

    def test_contributions_of_the_wrong_shape(self):
        rankings = gf.align(QRELS, RUN)
        with pytest.raises(gf.MeasureError, match=r"expected contributions of 1 runs × 3 documents, got \(2,\)"):
            Contributions.of(rankings, counting(rankings, rankings.grades >= 1), np.ones(2), 1.0)
