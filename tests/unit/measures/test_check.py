"""A measure that breaks a rule is told which."""

import itertools
import re

import numpy as np
import pytest

from gainful.errors import MeasureError
from gainful.measures import measure, parse_measure, unregister
from gainful.measures.binary import average_precision
from gainful.measures.check import check_measure
from gainful.measures.parameters import Rel


def failure(function, **declared) -> str:
    """What `check_measure` says of a function."""
    function.__doc__ = "A measure."
    function.__annotations__ = {"rel": Rel}
    measure("Mine", **declared)(function)
    try:
        with pytest.raises(MeasureError) as caught:
            check_measure("Mine")
        return str(caught.value)
    finally:
        unregister("Mine")


def test_good_measures_pass():
    check_measure("nDCG@10")
    check_measure(parse_measure("AP"), seed=7)


def test_measures_that_refuse_some_inputs_pass():
    """Labels up to 3 are above this scale, but not all inputs have them."""
    check_measure("ERR(max_label=2)")


def test_unknown_measure():
    with pytest.raises(MeasureError, match=r"^Unknown measure 'nonsense'"):
        check_measure("nonsense")


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda rankings: [0.5] * rankings.n_rows, "list of objects, shape (12,)"),
        (lambda rankings: np.zeros(rankings.n_rows, np.float32), "ndarray of float32, shape (12,)"),
        (lambda rankings: np.zeros(len(rankings.topics)), "ndarray of float64, shape (4,)"),
        (lambda rankings: np.zeros((3, 4)), "ndarray of float64, shape (3, 4)"),
        (lambda rankings: 0.5, "float of objects, shape ()"),
    ],
)
def test_shape_and_type(wrong, kind):
    expected = f"Mine: expected an ndarray of float64, shape (12,), got {kind} (on graded labels)"
    assert failure(lambda rankings: wrong(rankings)) == expected


def test_infinite_scores():
    message = failure(lambda rankings: np.where(rankings.present, 1.0, np.inf), bounds=None)
    assert re.fullmatch(
        r"Mine: expected a finite score from -inf to inf, or NaN where undefined, got inf "
        r"\(on the ranking \(\) with the pool \{.*\}, graded labels\)",
        message,
    )


@pytest.mark.parametrize("value", [1.5, -0.5])
def test_bounds(value):
    message = failure(lambda rankings: np.full(rankings.n_rows, value))
    assert message.startswith(f"Mine: expected a finite score from 0 to 1, or NaN where undefined, got {value} (on the")


def test_bounds_without_unjudged_documents():
    """The condensed ranking is tried, too."""

    def full(rankings):
        return (rankings.retrieved == np.bincount(rankings.row, minlength=rankings.n_rows)) * 1.5 * rankings.present

    assert "from 0 to 1" in failure(full)


def test_ranking_is_shown():
    message = failure(lambda rankings: 2.0 * (rankings.sum(rankings.relevant(3)) > 0))
    ranking, pool = re.search(r"ranking \((.*)\) with the pool \{(.*)\}", message).groups()
    assert "3" in ranking.split(", ")
    assert set(ranking.split(", ")) <= {"0", "1", "2", "3", "?"}
    assert set(pool.split(", ")) <= {"0", "1", "2", "3"}


def test_input_is_left_alone():
    def changes(rankings):
        rankings.rank[:] = 1
        return np.zeros(rankings.n_rows)

    message = failure(changes)
    assert message == (
        "Mine: expected scores, and its input unchanged, got ValueError: assignment destination is read-only "
        "(on graded labels)"
    )


def test_errors_of_the_measure():
    message = failure(lambda rankings: rankings.nonsense)
    assert message.startswith("Mine: expected scores, and its input unchanged, got AttributeError: ")


def test_refusal_of_everything():
    def refuses(rankings):
        raise MeasureError("not today")

    assert failure(refuses) == "Mine: expected scores, got a refusal of every input: not today"


def test_deterministic():
    count = itertools.count()
    message = failure(lambda rankings: np.full(rankings.n_rows, next(count)) / 1e6)
    assert message.startswith("Mine: expected the same score when computed again, got ")


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda rankings: rankings.sum(rankings.rank) / rankings.rank.sum(), "whatever the other systems are"),
        (lambda rankings: np.arange(rankings.n_rows) % len(rankings.topics) / 9, "in whatever order the topics come"),
        (
            lambda rankings: np.array([t.startswith("x") for t in rankings.topics] * len(rankings.systems), float),
            "whatever ids are called",
        ),
    ],
)
def test_invariance(wrong, what):
    message = failure(lambda rankings: np.nan_to_num(wrong(rankings)))
    assert message.startswith(f"Mine: expected the same score {what}, got ")


def test_ties():
    """Average precision is not a sum over ranks."""
    message = failure(lambda rankings, *, rel=1.0: average_precision(rankings, rel=rel), expected=True)
    wanted = r"Mine: expected [\d.]+ under ties='expected', the mean over all orders of \[\[.*\]\], got [\d.]+ "
    assert re.match(wanted, message)


def test_text(monkeypatch):
    monkeypatch.setattr("gainful.measures.registry._label", lambda measure: "P@1")
    message = r"^P@1: expected its text to read back as the same measure, got Measure\('.*'\)$"
    with pytest.raises(MeasureError, match=message):
        check_measure("P@5")
