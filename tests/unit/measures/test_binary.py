from math import isnan

import pytest

from gainful.measures import parse_measure
from worlds import World, one_topic, worked_example


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P@1", 0),
        ("P@2", 1 / 2),
        ("P@5", 2 / 5),
        ("P@10", 2 / 10),  # also where fewer were returned
        ("P(rel=2)@5", 1 / 5),
        ("P(rel=0)@5", 3 / 5),  # unjudged documents are not relevant, whatever the threshold
        ("R@4", 1 / 3),
        ("R@100", 2 / 3),
        ("R(rel=2)@2", 1),
        ("F@5", 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)),
        ("F(beta=2)@5", 5 * (2 / 5) * (2 / 3) / (4 * (2 / 5) + 2 / 3)),
        ("F(beta=0.5)@5", 1.25 * (2 / 5) * (2 / 3) / (0.25 * (2 / 5) + 2 / 3)),
        ("F@1", 0),
        ("Rprec", 1 / 3),
        ("Rprec(rel=0)", 2 / 4),
        ("RR", 1 / 2),
        ("RR@1", 0),
        ("RR(rel=3)", 0),
        ("Success@1", 0),
        ("Success@2", 1),
        ("AP", (1 / 2 + 2 / 5) / 3),
        ("AP@4", (1 / 2) / 3),
        ("AP(rel=2)", 1 / 2),
        ("GMAP", (1 / 2 + 2 / 5) / 3),
        ("iP@0", 1 / 2),
        ("iP@0.3", 1 / 2),
        ("iP@0.5", 2 / 5),
        ("iP@1", 0),
    ],
)
def test_worked_example(text, expected):
    assert parse_measure(text).compute(worked_example()).tolist() == pytest.approx([expected], abs=1e-15)


@pytest.mark.parametrize("text", ["R@3", "F@3", "Rprec", "AP", "GMAP", "iP@0.1"])
def test_undefined_without_relevant_documents(text):
    assert isnan(parse_measure(text).compute(one_topic([0, 0, -1], [0, 1]))[0])


@pytest.mark.parametrize("text", ["P@3", "RR", "Success@3"])
def test_zero_without_relevant_documents(text):
    assert parse_measure(text).compute(one_topic([0, 0, -1], [0, 1])).tolist() == [0.0]


def test_perfect_ranking():
    perfect = one_topic([1, 2, 1, 0], [1, 0, 2])
    for text in ("P@3", "R@3", "F@3", "Rprec", "RR", "Success@1", "AP", "iP@1"):
        assert parse_measure(text).compute(perfect).tolist() == [1.0], text


def test_recall_levels_are_decimals():
    """0.28 · 25 is 7.000000000000001 in floating point, and still means seven documents."""
    rankings = one_topic([1] * 25, list(range(7)))
    assert parse_measure("iP@0.28").compute(rankings).tolist() == [1.0]
    assert parse_measure("iP@0.281").compute(rankings).tolist() == [0.0]


def test_interpolation_takes_the_highest_precision_further_down():
    rankings = one_topic([1, 1, 1], [None, 0, 1, 2])
    assert parse_measure("iP@0.1").compute(rankings).tolist() == [3 / 4]


def test_r_precision_splits_a_tied_group_at_r():
    """R = 2: of three tied documents, one relevant, at ranks 2 to 4, one place is within the first two."""
    rows = [("q", "a", 2.0), ("q", "b", 1.0), ("q", "u", 1.0), ("q", "v", 1.0)]
    rankings = World({"q": {"a": 1, "b": 1}}, {"run": rows}).align(ties="expected")
    assert parse_measure("Rprec").compute(rankings).tolist() == pytest.approx([(1 + 1 / 3) / 2])
