import re
from math import isnan

import numpy as np
import pytest

from gainful.data.arrays import rankings_from_arrays
from gainful.errors import MeasureError
from gainful.measures import parse_measure
from worlds import one_topic, worked_example

# The top of the scale is 2: a label 2 satisfies with probability 3/4, a 1 with 1/4.
IDEAL = 3 / 4 + 1 / 2 * 1 / 4 * 1 / 4 + 1 / 3 * 1 / 4 * 3 / 4 * 1 / 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ERR(max_label=None)", 1 / 2 * 3 / 4 + 1 / 5 * 1 / 4 * 1 / 4),
        ("ERR(max_label=None)@4", 1 / 2 * 3 / 4),
        ("ERR", 1 / 2 * 3 / 16 + 1 / 5 * 13 / 16 * 1 / 16),
        ("nERR(max_label=None)", (1 / 2 * 3 / 4 + 1 / 5 * 1 / 4 * 1 / 4) / IDEAL),
        ("nERR(max_label=None)@2", 1 / 2 * 3 / 4 / (3 / 4 + 1 / 2 * 1 / 4 * 1 / 4)),
        ("nERR@1", 0),
        ("RBP", 0.2 * (0.8**1 + 0.8**4)),
        ("RBP@4", 0.2 * 0.8**1),
        ("RBP(p=0.5)", 0.5 * (0.5**1 + 0.5**4)),
        ("RBP(rel=2)", 0.2 * 0.8**1),
        ("RBPres", 1 - 0.2 * (1 + 0.8 + 0.8**3 + 0.8**4)),
        ("RBPres@4", 1 - 0.2 * (1 + 0.8 + 0.8**3)),
        ("RBPres(p=0.5)@1", 1 / 2),
    ],
)
def test_worked_example(text, expected):
    assert parse_measure(text).compute(worked_example()).tolist() == pytest.approx([expected], abs=1e-15)


def test_residual_is_the_rest_of_the_interval():
    """If the unjudged were relevant, RBP would rise by the residual, less the tail beyond the end of the ranking."""
    shown = one_topic([1, 0], [0, None, 1, None])
    full = one_topic([1, 0, 1, 1], [0, 2, 1, 3])
    rbp, residual = parse_measure("RBP"), parse_measure("RBPres")
    assert rbp.compute(full) == pytest.approx(rbp.compute(shown) + residual.compute(shown) - 0.8**4)


def test_top_of_the_scale_is_the_largest_label_of_the_qrels():
    """Also where another topic has it."""
    rankings = rankings_from_arrays([[1, 0], [4, 0]])
    assert parse_measure("ERR(max_label=None)").compute(rankings).tolist() == [1 / 16, 15 / 16]


def test_negative_labels_satisfy_nobody():
    assert parse_measure("ERR(max_label=None)").compute(one_topic([-3, 1], [0, 1])).tolist() == [1 / 2 * 1 / 2]
    assert parse_measure("ERR(max_label=None)").compute(one_topic([-3, -1], [0, 1])).tolist() == [0.0]


def test_label_above_the_scale_is_refused():
    message = "The 'max_label' parameter of ERR must be at least the largest label of the qrels, 4, got 3 instead."
    with pytest.raises(MeasureError, match=f"^{re.escape(message)}$"):
        parse_measure("ERR(max_label=3)").compute(one_topic([4, 1], [0]))


@pytest.mark.parametrize("top", [54, 100, 1000, 5000])
def test_wide_scales_do_not_overflow(top):
    """From label 54 on, (2^label - 1)/2^label is 1 in floating point: everyone stops there."""
    rankings = rankings_from_arrays([[top, top, 1], [top - 1, top, 0], [0, top - 1, top - 1]])
    expected = [1, 1 / 2 + 1 / 2 * 1 / 2, 1 / 2 * 1 / 2 + 1 / 3 * 1 / 2 * 1 / 2]
    assert parse_measure("ERR(max_label=None)").compute(rankings).tolist() == pytest.approx(expected)
    ideal = [1, 1, 1 / 2 + 1 / 2 * 1 / 2 * 1 / 2]
    assert parse_measure("nERR(max_label=None)").compute(rankings).tolist() == pytest.approx(
        np.divide(expected, ideal).tolist()
    )


def test_long_rankings_do_not_drift():
    """Many long lists at once: each is exact on its own."""
    rng = np.random.default_rng(0)
    labels = rng.choice([0, 1, 2, 3, 4], size=(3000, 60))
    stop = (2.0**labels - 1) / 16
    reached = np.cumprod(np.hstack([np.ones((3000, 1)), 1 - stop[:, :-1]]), axis=1)
    expected = (stop * reached / np.arange(1, 61)).sum(axis=1)
    assert abs(parse_measure("ERR(max_label=None)").compute(rankings_from_arrays(labels)) - expected).max() < 1e-14


def test_nerr_is_undefined_without_a_positive_label():
    assert isnan(parse_measure("nERR(max_label=None)").compute(one_topic([0, -1], [0]))[0])
    assert isnan(parse_measure("nERR(max_label=None)").compute(one_topic([None], [0]))[0])
