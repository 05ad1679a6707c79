import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from effort import examples
from gainful.errors import MeasureError
from gainful.measures import REGISTRY, Measure, grammar, measure, parse_measure, parse_measures, unregister
from gainful.measures.grammar import parse_value
from worlds import measures


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        # trec_eval
        ("map", "AP"),
        ("map_cut_10", "AP@10"),
        ("map_cut.10", "AP@10"),
        ("gm_map", "GMAP"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("P_5", "P@5"),
        ("recall_1000", "R@1000"),
        ("recip_rank", "RR"),
        ("iprec_at_recall_0.10", "iP@0.1"),
        ("iprec_at_recall_0.00", "iP@0"),
        ("iprec_at_recall_.5", "iP@0.5"),
        ("set_P", "SetP"),
        ("set_recall", "SetR"),
        ("set_F", "SetF"),
        ("num_q", "NumQ"),
        ("num_ret", "NumRet"),
        ("num_rel", "NumRel"),
        ("num_rel_ret", "NumRelRet"),
        ("Rprec", "Rprec"),
        ("bpref", "bpref"),
        ("infAP", "infAP"),
        ("success_1", "Success@1"),
        ("rbp_resid", "RBPres(p=0.9)"),  # trec_eval's default
        # ir_measures
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain='exp')@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("IPrec@0.1", "iP@0.1"),
        ("Bpref(rel=2)", "bpref(rel=2)"),
        ("MRR@10", "RR@10"),
        ("Judged@10", "Judged@10"),
        ("RBP(p=0.95,rel=1)", "RBP(p=0.95)"),
        ("ERR@20", "ERR@20"),
        # ranx
        ("precision@5", "P@5"),
        ("recall@5", "R@5"),
        ("hit_rate@5", "Success@5"),
        ("rbp", "RBP(p=0.9)"),
        ("Rbp", "RBP"),
        ("r-precision", "Rprec"),
        ("dcg_burges@10", "DCG(gain='exp')@10"),
        ("f1@5", "F@5"),
        ("r_precision", "Rprec"),
        ("ndcg_burges@10", "nDCG(gain='exp')@10"),
        ("rbp.95", "RBP(p=0.95)"),
        ("rbp_0.5", "RBP(p=0.5)"),
        ("map@100", "AP@100"),
        # BEIR and MTEB
        ("R_cap@10", "Rcap@10"),
        ("r_cap_at_10", "Rcap@10"),
        ("accuracy@1", "Success@1"),
        ("accuracy_at_1", "Success@1"),
        ("ndcg_at_10", "nDCG@10"),
        ("map_at_100", "AP@100"),
        ("recall_at_5", "R@5"),
        ("precision_at_5", "P@5"),
        ("mrr_at_10", "RR@10"),
        ("hit_rate_at_3", "Success@3"),
        ("Hole@10", "Hole@10"),
        ("set_map", "SetAP"),
        ("set_relative_P", "SetP(relative=True)"),
        ("SetRelP", "SetP(relative=True)"),
        ("alpha-nDCG@20", "alpha_nDCG@20"),
        ("MAP-IA", "AP_IA"),
        ("map_ia", "AP_IA"),
        ("strec@10", "StRecall@10"),
        # presets
        ("nDCG0@5", "nDCG@5"),
        ("nDCGorg@5", "nDCGorg@5"),
        ("nDCG(norm=org)@5", "nDCGorg@5"),
        ("nDCG(norm='min')", "nDCGmin"),
        ("ndcgf(gain={-2:-10})@3", "nDCGf(gain={-2: -10})@3"),
        # ours
        ("AP(rel=1)", "AP"),
        ("AP(rel=2.0)", "AP(rel=2)"),
        ("AP(rel=0.5)", "AP(rel=0.5)"),
        ("ap", "AP"),
        ("P(cutoff=5)", "P@5"),
        ("AP()", "AP"),
        ("nDCG(discount=(1, .5))", "nDCG(discount=[1, 0.5])"),
        ("nDCG(gain={2: 3, -1: -2.5})", "nDCG(gain={-1: -2.5, 2: 3})"),
        (" nDCG ( gain = exp , discount = 'zipf' ) @ 10 ", "nDCG(gain='exp', discount='zipf')@10"),
        ("nDCG@1000000000000001", "nDCG@1000000000000001"),
        ("iP@1e-1", "iP@0.1"),
        ("AP(rel=1e300)", "AP(rel=1e+300)"),
    ],
)
def test_spellings(text, canonical):
    measure = parse_measure(text)
    assert str(measure) == canonical
    assert parse_measure(canonical) == measure


def test_every_alias_is_tested():
    tested = next(m for m in test_spellings.pytestmark if m.name == "parametrize").args[1]
    texts = {text.casefold() for text, _ in tested}
    assert not [alias for alias in grammar._ALIASES if not any(text.startswith(alias) for text in texts)]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ("nDCG@5,10", ["nDCG@5", "nDCG@10"]),
        ("nDCG@5, 10", ["nDCG@5", "nDCG@10"]),
        ("P_5,10", ["P@5", "P@10"]),
        ("ndcg_cut.5,10", ["nDCG@5", "nDCG@10"]),
        ("iprec_at_recall_.1,.2", ["iP@0.1", "iP@0.2"]),
        ("AP nDCG@5,10\tP@1", ["AP", "nDCG@5", "nDCG@10", "P@1"]),
        ("nDCG(gain='exp') @ 5 , 10 AP", ["nDCG(gain='exp')@5", "nDCG(gain='exp')@10", "AP"]),
        (["AP", "map", "AP(rel=1)", "P@5,5"], ["AP", "P@5"]),
        (["AP", REGISTRY["P"].bind({"cutoff": 3})], ["AP", "P@3"]),
        (REGISTRY["AP"].bind({}), ["AP"]),
    ],
)
def test_lists(texts, found):
    assert [str(measure) for measure in parse_measures(texts)] == found


LONG = "[" * 100

ERRORS = [
    ("nDGC@10", "Unknown measure 'nDGC@10'. Did you mean 'nDCG@10'? 'gainful measures' lists them all."),
    ("ndgc_cut_10", "Unknown measure 'ndgc_cut_10'. Did you mean 'ndcg_cut_10'? 'gainful measures' lists them all."),
    ("nDCG10", "Unknown measure 'nDCG10'. Did you mean 'nDCG@10'? 'gainful measures' lists them all."),
    ("mrr10", "Unknown measure 'mrr10'. Did you mean 'RR@10'? 'gainful measures' lists them all."),
    ("nDCGf3", "Unknown measure 'nDCGf3'. Did you mean 'nDCGf@3'? 'gainful measures' lists them all."),
    (
        "hits@3",
        "Unknown measure 'hits@3'. Did you mean 'Success@3' (at least one hit; also hit_rate) or 'NumRelRet@3' (their "
        "number)? 'gainful measures' lists them all.",
    ),
    ("xyzzy", "Unknown measure 'xyzzy'. 'gainful measures' lists them all."),
    ("AP,nDCG", "Unknown measure 'AP,nDCG'. Did you mean 'nDCG'? 'gainful measures' lists them all."),
    ("@10", "expected Name(parameter=value, …)@cutoff, got '@10'"),
    ("nDCG@5@10", "expected Name(parameter=value, …)@cutoff, got 'nDCG@5@10'"),
    ("nDCG@(5)", "expected Name(parameter=value, …)@cutoff, got 'nDCG@(5)'"),
    ("", "expected at least one measure such as 'nDCG@10', got none"),
    (" \t ", "expected at least one measure such as 'nDCG@10', got none"),
    ("nDCG@", "expected a number after '@', got '' in 'nDCG@' (blanks, not commas, between measures)"),
    ("nDCG@ten", "expected a number after '@', got 'ten' in 'nDCG@ten' (blanks, not commas, between measures)"),
    ("nDCGf(norm=min)@3", "nDCGf sets norm itself: leave it out, or write nDCG"),
    ("nDCG@5,", "expected a number after '@', got '' in 'nDCG@5,' (blanks, not commas, between measures)"),
    ("nDCG@0", "The 'cutoff' parameter of nDCG must be a whole number of at least 1, got 0 instead."),
    ("nDCG@-3", "The 'cutoff' parameter of nDCG must be a whole number of at least 1, got -3 instead."),
    ("ndcg_cut.10,23.4", "The 'cutoff' parameter of nDCG must be a whole number of at least 1, got 23.4 instead."),
    ("nDCG@nan", "The 'cutoff' parameter of nDCG must be a whole number of at least 1, got nan instead."),
    ("P(cutoff=True)", "The 'cutoff' parameter of P must be a whole number of at least 1, got True instead."),
    ("P", "P needs a cutoff, a whole number of at least 1: write P@10"),
    ("iP", "iP needs a cutoff, a recall level between 0 and 1: write iP@0.1"),
    ("iP@1.5", "The 'cutoff' parameter of iP must be a recall level between 0 and 1, got 1.5 instead."),
    ("Rprec@5", "Rprec takes no cutoff, got 'Rprec@5'"),
    ("set_F_0.5", "SetF takes no cutoff, got 'set_F_0.5'"),
    ("nDCG(cutoff=5)@10", "'nDCG(cutoff=5)@10' gives the cutoff twice"),
    ("AP(rell=2)", "AP has no parameter 'rell' (it has: cutoff, rel). Did you mean 'rel'?"),
    ("AP(threshold=2)", "AP has no parameter 'threshold' (it has: cutoff, rel)."),
    ("NumQ(rel=2)", "NumQ has no parameter 'rel' (it has: none)."),
    ("AP(rel=high)", "The 'rel' parameter of AP must be a finite number, got 'high' instead."),
    ("AP(rel=1e999)", "The 'rel' parameter of AP must be a finite number, got inf instead."),
    ("AP(rel=None)", "The 'rel' parameter of AP must be a finite number, got None instead."),
    ("AP(rel=1j)", "The 'rel' parameter of AP must be a finite number, got 1j instead."),
    (
        f"AP(rel=0x{'f' * 5000})",
        "The 'rel' parameter of AP must be a finite number, got a number of thousands of digits instead.",
    ),
    ("RBP(p=1)", "The 'p' parameter of RBP must be a number between 0 and 1, both excluded, got 1 instead."),
    ("F(beta=0)@5", "The 'beta' parameter of F must be a number between 0.000001 and 1000000, got 0 instead."),
    ("DCG(base=1)", "The 'base' parameter of DCG must be a finite number greater than 1, got 1 instead."),
    (
        "ERR(max_label=-1)",
        "The 'max_label' parameter of ERR must be a number between 0 and 1000, or None, got -1 instead.",
    ),
    ("nDCG(norm=max)", "The 'norm' parameter of nDCG must be one of zero, org, min, f, got 'max' instead."),
    ("nDCG(norm=1)", "The 'norm' parameter of nDCG must be one of zero, org, min, f, got 1 instead."),
    ("nDCG(dcg='burges')", "The 'dcg' parameter of nDCG must be one of log2, exp-log2, got 'burges' instead."),
    ("nDCG(dcg=[1])", "The 'dcg' parameter of nDCG must be one of log2, exp-log2, got [1] instead."),
    (
        "bpref(negatives=forbidden)",
        "The 'negatives' parameter of bpref must be one of nonrelevant, unjudged, got 'forbidden' instead.",
    ),
    *(
        (
            f"nDCG(gain={gain})",
            "The 'gain' parameter of nDCG must be linear, exp or a map from label to gain such as {-2: -10, 1: 1}, "
            f"got {shown} instead.",
        )
        for gain, shown in [("cubic", "'cubic'"), ("{}", "{}"), ("{'a': 1}", "{'a': 1}"), ("{1: 'a'}", "{1: 'a'}")]
    ),
    *(
        (
            f"nDCG(discount={discount})",
            "The 'discount' parameter of nDCG must be one of log2, jk, zipf, linear, none, or a list of non-negative "
            f"numbers such as [1, 0.5, 0.2], got {shown} instead.",
        )
        for discount, shown in [
            ("log", "'log'"),
            ("[]", "[]"),
            ("[1, -1]", "[1, -1]"),
            ("[0, 0]", "[0, 0]"),
            ("['a']", "['a']"),
            ("2", "2"),
            ("b'1'", "b'1'"),
        ]
    ),
    *(
        (text, f"expected parameters such as (rel=2, gain='exp'), got {text!r}")
        for text in [
            "AP(2)",
            "AP(rel)",
            "AP(rel=)",
            "AP(rel=1)(rel=2)",
            "AP(rel=1,rel=2)",
            "AP(rel=1).x(rel=2)",
            "AP(**{'rel':2})",
            "AP(*[1])",
            "AP(rel=f(1))",
            "AP(rel=1+1)",
            "AP(rel='\\d' 1)",
            "nDCG(gain={[1]:2})",
            "nDCG(gain={**{1:2}})",
            "AP(rel=\x00)",
        ]
    ),
    (f"AP(rel={LONG})", f"expected parameters such as (rel=2, gain='exp'), got '{('AP(rel=' + LONG)[:79]}…'"),
    ("x" * 200_001, "expected a measure of at most 200000 characters, got 200001"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=[text[:30] for text, _ in ERRORS])
def test_errors(text, message):
    with pytest.raises(MeasureError) as caught:
        parse_measures(text)
    assert str(caught.value) == message


def test_one_measure_is_not_several():
    with pytest.raises(MeasureError, match=r"^expected one measure, got 2: nDCG@5, nDCG@10$"):
        parse_measure("nDCG@5,10")


@pytest.mark.parametrize("thing", [5, None, b"AP", ["AP"]])
def test_not_a_text(thing):
    with pytest.raises(MeasureError, match=f"^expected a measure such as 'nDCG@10', got {re.escape(repr(thing))}$"):
        parse_measures([thing])


@settings(max_examples=examples(1000), deadline=None)
@given(measure=measures())
def test_round_trip(measure):
    assert parse_measure(str(measure)) == measure
    assert hash(parse_measure(str(measure))) == hash(measure)
    assert parse_measure(measure) is measure


PIECES = [
    *("nDCG", "AP", "P", "iP", "rbp", "f", "(", ")", "[", "]", "{", "}", "@", "=", ",", ".", "_", ":", " ", "'", '"'),
    *("gain", "rel", "discount", "dcg", "p", "cutoff", "exp", "None", "True", "lambda", "1", "0", "-1", "1e9", "0x1f"),
    *("**", "*", "\\", "\n", "\t", "\x00", "é", "٣", "1_0", "nan", "inf", "not ", "#", "\\d", "1or", "{1:2}", "[1,2]"),
]


@settings(max_examples=examples(5000), deadline=None)
@given(text=st.text(max_size=30) | st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example("P(rel=" + "-" * 90_000 + "1)@5")
@example("P(rel=" + "1+" * 90_000 + "1)@5")
@example("P(rel=a" + ".a" * 90_000 + ")@5")
@example("P(rel=" + "[" * 90_000 + ")@5")
@example("P_" + "1" * 190_000 + "x")
@example("a" + " " * 190_000 + "b")
@example("P@" + "9" * 190_000)
def test_nothing_but_measure_errors(text):
    try:
        found = parse_measures(text)
    except MeasureError:
        return
    assert all(isinstance(measure, Measure) for measure in found)
    assert parse_measures(" ".join(map(str, found))) == found


class TestValue:
    """One parameter alone, as it would stand in the text of a measure."""

    def test_read(self):
        assert parse_value("nDCG", "discount", "[1, 0.5]") == (1.0, 0.5)
        assert parse_value("nDCG", "gain", "{-2: -10}") == ((-2.0, -10.0),)
        assert parse_value("nDCG", "gain", "exp") == "exp"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{1: 1}, norm=f", "gain: expected one value, got '{1: 1}, norm=f'"),
            (
                "{1: x}",
                "gain: expected linear, exp or a map from label to gain such as {-2: -10, 1: 1}, got '{1: x}'",
            ),
            (
                "steep",
                "The 'gain' parameter of nDCG must be linear, exp or a map from label to gain such as {-2: -10, 1: 1}, "
                "got 'steep' instead.",
            ),
        ],
    )
    def test_refused(self, text, message):
        with pytest.raises(MeasureError) as caught:
            parse_value("nDCG", "gain", text)
        assert str(caught.value) == message


def test_a_text_means_what_is_registered_now():
    """Texts are kept with what they stood for, which may change."""
    assert str(parse_measure("Mrr")) == "RR"
    try:

        @measure("MRR")
        def other(rankings):
            """Another."""

        assert str(parse_measure("Mrr")) == "MRR"
    finally:
        unregister("MRR")
    assert str(parse_measure("Mrr")) == "RR"
