from math import isnan, log2

import pytest

from gainful.measures import parse_measure
from worlds import World, one_topic, worked_example

IDEAL = 1 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5)  # three relevant documents and the terminal one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Forbidden", 1 / 6),
        ("Forbidden@3", 0),
        ("Forbidden@4", 1 / 4),
        ("Forbidden@100", 1 / 6),
        ("FilteredGood", 1 / 3),
        ("FilteredGood(rel=2)", 0),
        ("Empty", 0),
        # Relevant at ranks 2 and 5 of 6; the terminal document at rank 7 is worth 2/3.
        ("QWA", (1 / log2(3) + 1 / log2(6) + 2 / 3 / log2(8)) / IDEAL),
    ],
)
def test_worked_example(text, expected):
    assert parse_measure(text).compute(worked_example()).tolist() == pytest.approx([expected], abs=1e-15)


def test_empty_ranking():
    values = {t: parse_measure(t).compute(one_topic([1, -1], []))[0] for t in ("Empty", "Forbidden@3", "FilteredGood")}
    assert values == {"Empty": 1, "Forbidden@3": 0, "FilteredGood": 1}


def test_filtered_good_is_undefined_without_good_documents():
    assert isnan(parse_measure("FilteredGood").compute(one_topic([0, -1], [0]))[0])


def test_quit_while_ahead_rewards_stopping():
    qwa = parse_measure("QWA")
    stopped, went_on = qwa.compute(one_topic([1, 0, 0], [0])), qwa.compute(one_topic([1, 0, 0], [0, 1, 2]))
    assert stopped.tolist() == [1.0]
    assert went_on.tolist() == pytest.approx([(1 + 1 / log2(5)) / (1 + 1 / log2(3))])


def test_quit_while_ahead_without_relevant_documents():
    """Nothing returned is then perfect, and every document returned pushes the terminal one down."""
    assert parse_measure("QWA").compute(one_topic([0], [])).tolist() == [1.0]
    assert parse_measure("QWA").compute(one_topic([0, -1], [None, 1, 0])).tolist() == [1 / log2(5)]


def test_quit_while_ahead_with_a_long_unjudged_tail():
    """The terminal document stands behind all that was returned, far below the last judged one."""
    rows = [("q", "a", 1e6)] + [("q", f"u{i}", float(-i)) for i in range(998)]
    rankings = World({"q": {"a": 1}}, {"run": rows}).align()
    expected = (1 + 1 / log2(1001)) / (1 + 1 / log2(3))
    assert parse_measure("QWA").compute(rankings).tolist() == pytest.approx([expected])
