from math import isnan

import pytest

from gainful.measures import parse_measure
from worlds import one_topic, worked_example

E = 0.00001


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # R = 3 and N = 2: one nonrelevant above the first relevant, two above the second.
        ("bpref", (1 - 1 / 2 + 1 - 2 / 2) / 3),
        # Without the negative label N = 1.
        ("bpref(negatives=unjudged)", (1 - 1 / 1 + 1 - 1 / 1) / 3),
        ("bpref(rel=2)", 1 - 1 / 1),
        ("bpref(rel=0)", (1 + 1 + (1 - 1 / 1)) / 4),
        # Rank 2 with one pooled above, nonrelevant; rank 5 with three pooled above, one relevant and two not.
        ("infAP", (1 / 2 + 1 / 2 * 1 / 1 * E / (1 + 2 * E) + 1 / 5 + 4 / 5 * 3 / 4 * (1 + E) / (3 + 2 * E)) / 3),
        (
            "infAP(negatives=unjudged)",
            (1 / 2 + 1 / 2 * 1 / 1 * E / (1 + 2 * E) + 1 / 5 + 4 / 5 * 3 / 4 * (1 + E) / (2 + 2 * E)) / 3,
        ),
        ("infAP(rel=2)", 1 / 2 + 1 / 2 * 1 / 1 * E / (1 + 2 * E)),
    ],
)
def test_worked_example(text, expected):
    assert parse_measure(text).compute(worked_example()).tolist() == pytest.approx([expected], abs=1e-15)


def test_bpref_counts_at_most_r_nonrelevant():
    """Three nonrelevant above the only relevant one: no worse than one above it."""
    assert parse_measure("bpref").compute(one_topic([1, 0, 0, 0], [1, 2, 3, 0])).tolist() == [0.0]
    assert parse_measure("bpref").compute(one_topic([1, 1, 0, 0, 0], [0, 2, 1])).tolist() == [(1 + 1 - 1 / 2) / 2]


def test_bpref_ignores_unjudged_documents():
    plain = parse_measure("bpref").compute(one_topic([1, 1, 0], [2, 0, 1]))
    gaps = parse_measure("bpref").compute(one_topic([1, 1, 0, None], [None, 2, 3, 0, None, 1]))
    assert plain.tolist() == gaps.tolist() == [0.0]


def test_bpref_without_nonrelevant_documents():
    assert parse_measure("bpref").compute(one_topic([1, 1], [None, 0])).tolist() == [1 / 2]


def test_inferred_ap_tells_pooled_from_outside():
    """Above a relevant document at rank 2: one that is pooled is relevant with probability 1/2, one outside never."""
    pooled = parse_measure("infAP").compute(one_topic([1, None], [1, 0]))
    outside = parse_measure("infAP").compute(one_topic([1, None], [None, 0]))
    assert pooled.tolist() == pytest.approx([1 / 2 + 1 / 2 * 1 / 2])
    assert outside.tolist() == [1 / 2]


def test_inferred_ap_is_ap_where_all_is_judged():
    """To within the smoothing."""
    rankings = one_topic([1, 0, 1, 0, 2, 1], [1, 0, 2, 3, 4])
    assert parse_measure("infAP").compute(rankings) == pytest.approx(parse_measure("AP").compute(rankings), abs=1e-4)


@pytest.mark.parametrize("text", ["bpref", "infAP"])
def test_undefined_without_relevant_documents(text):
    assert isnan(parse_measure(text).compute(one_topic([0, None, -1], [0, 1]))[0])
