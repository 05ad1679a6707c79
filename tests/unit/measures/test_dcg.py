import re
from itertools import permutations
from math import isnan, log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gainful.data.arrays import rankings_from_arrays
from gainful.errors import MeasureError
from gainful.measures import parse_measure
from worlds import FLOATS, GRADED, one_topic, worked_example

D2, D3, D4, D5 = 1 / log2(3), 1 / log2(4), 1 / log2(5), 1 / log2(6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CG", 0 + 2 - 2 + 1),
        ("CG@4", 0 + 2 - 2),
        ("CG(gain={-2: -10, 1: 5})", 2 - 10 + 5),
        ("CG(gain=exp)", 3 + (1 / 4 - 1) + 1),
        ("DCG", 2 * D2 - 2 * D4 + D5),
        ("DCG@4", 2 * D2 - 2 * D4),
        ("DCG@1", 0),
        ("DCG(gain=exp)@2", 3 * D2),
        ("DCG(discount=zipf)", 2 / 2 - 2 / 4 + 1 / 5),
        ("DCG(discount=none)", 2 - 2 + 1),
        ("DCG(discount=linear)@4", 2 * 3 / 4 - 2 * 1 / 4),
        ("DCG(discount=linear)@100", 2 * 99 / 100 - 2 * 97 / 100 + 96 / 100),
        ("DCG(discount=jk)", 2 / log2(2) - 2 / log2(4) + 1 / log2(5)),
        ("DCG(discount=jk, base=3)", 2 * 1 - 2 * log(3) / log(4) + log(3) / log(5)),
        ("DCG(discount=jk, base=10)", 2 - 2 + 1),
        ("DCG(discount=[1, 0.5])", 2 * 0.5),
        ("DCG(discount=[1, 0.5, 0.4, 0.3, 0.2])@4", 2 * 0.5 - 2 * 0.3),
        ("DCG(discount=[4, 0.5])@10", 2 * 0.5),
    ],
)
def test_worked_example(text, expected):
    assert parse_measure(text).compute(worked_example()).tolist() == pytest.approx([expected], abs=1e-14)


# The design's table: pool, cutoff, run (document numbers, None for unjudged), exact org, min and f, as printed.
TWO = [-1, 2]
FOUR = [2, 1, 0, -2]


def norms_of_four(dcg: float) -> tuple[float, float, float]:
    ideal, worst = 2 + D2 - 2 * D4, -2 + D3 + 2 * D4
    return dcg / ideal, (dcg - worst) / (ideal - worst), (dcg + 2) / (2 + D2 + 2)


WORKED = [
    (TWO, 2, [0], (-1 / (2 - D2), -2 * D2 / (3 - 3 * D2), 0), (-0.730, -1.140, 0)),
    (TWO, 2, [1], (2 / (2 - D2), (3 - 2 * D2) / (3 - 3 * D2), 1), (1.461, 1.570, 1)),
    (TWO, 2, [], (0, (1 - 2 * D2) / (3 - 3 * D2), 1 / 3), (0, -0.237, 0.333)),
    (TWO, 2, [1, 0], (1, 1, (3 - D2) / 3), (1, 1, 0.790)),
    (FOUR, 4, [3, None, 0, None, 1], norms_of_four(-2 + 2 * D3), (-0.565, -0.150, 0.216)),
    (FOUR, 4, [3, 0, 1], norms_of_four(-2 + 2 * D2 + D3), (-0.135, 0.166, 0.380)),
    ([1, 1], 2, [0, 1], (1, None, 1), (1, None, 1)),
]


@pytest.mark.parametrize(("pool", "cutoff", "run", "exact", "printed"), WORKED)
def test_norms(pool, cutoff, run, exact, printed):
    rankings = one_topic(pool, run)
    for norm, value, rounded in zip(("org", "min", "f"), exact, printed, strict=True):
        score = parse_measure(f"nDCG{norm}@{cutoff}").compute(rankings)[0]
        if value is None:
            assert isnan(score)
        else:
            assert score == pytest.approx(value, abs=1e-14)
            assert round(score, 3) == pytest.approx(rounded, abs=5.1e-4)


def test_lecture():
    """Ten relevant documents (three 3s, three 2s, four 1s), of which five are found in fifteen; J&K's discount."""
    gains = [1, 0, 1, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 3]
    pool = [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]
    left = {3: [0, 1], 2: [3], 1: [6, 7]}  # by label, the pool documents that the ranking takes
    rankings = one_topic(pool, [left[gain].pop(0) if gain else None for gain in gains])
    ndcg = [float(parse_measure(f"nDCG(discount=jk)@{k}").compute(rankings)[0]) for k in range(1, 16)]
    printed = [0.33, 0.17, 0.21, 0.18, 0.17, 0.27, 0.26, 0.25, 0.24, 0.29, 0.29, 0.29, 0.29, 0.29, 0.35]
    assert [round(value, 2) for value in ndcg] == printed
    dcg = [1 + sum(g / log2(i) for i, g in enumerate(gains[1:k], start=2)) for k in range(1, 16)]
    ideal = [3 + sum(g / log2(i) for i, g in enumerate(pool[1:k], start=2)) for k in range(1, 16)]
    assert ndcg == pytest.approx([d / i for d, i in zip(dcg, ideal, strict=True)], abs=1e-14)


def test_zero_takes_negative_gains_for_nothing():
    rankings = worked_example()
    assert parse_measure("nDCG@5").compute(rankings).tolist() == pytest.approx([(2 * D2 + D5) / (2 + D2 + D3)])
    assert parse_measure("nDCG0@5") == parse_measure("nDCG@5")


@pytest.mark.parametrize("norm", ["zero", "org", "min", "f"])
def test_undefined_where_nothing_can_be_gained_or_lost(norm):
    measure = parse_measure(f"nDCG(norm={norm})@3")
    assert isnan(measure.compute(one_topic([0, 0], [0]))[0])
    assert isnan(measure.compute(one_topic([None], [0]))[0])


def test_only_negative_labels():
    """Nothing to be found: undefined for zero, but for f an empty answer is right."""
    shown, empty = one_topic([-1, -2], [1]), one_topic([-1, -2], [])
    assert isnan(parse_measure("nDCG@2").compute(empty)[0])
    assert parse_measure("nDCGf@2").compute(empty).tolist() == [1.0]
    assert parse_measure("nDCGf@2").compute(shown).tolist() == pytest.approx([1 - 2 / (2 + D2)])


@pytest.mark.parametrize("labels", [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.7, 0.1, 0.6, 0.3]])
def test_rounding_is_not_a_span(labels):
    """Every order of the pool has the same gain, though floating point sums differ in their last bits."""
    assert isnan(parse_measure("nDCGmin(discount=none)").compute(rankings_from_arrays(labels))[0])


def test_rounding_is_not_an_ideal():
    """0.1 + 0.2 - 0.3 is 0, though not in floating point."""
    assert isnan(parse_measure("nDCGorg(discount=none)").compute(rankings_from_arrays([0.1, 0.2, -0.3]))[0])


def test_labels_too_large_for_exponential_gain_are_refused():
    message = "gain='exp', 2^label - 1, takes labels of at most 1000, got 1001: use a map."
    with pytest.raises(MeasureError, match=f"^{re.escape(message)}$"):
        parse_measure("nDCG(gain=exp)").compute(one_topic([1001, 1], [0]))
    assert parse_measure("nDCG(gain=exp)").compute(one_topic([1000, 1], [0, 1])).tolist() == [1.0]


def test_linear_discount_needs_a_cutoff():
    message = "discount='linear' falls to 0 at the cutoff and so needs one: add @10, say"
    for name in ("DCG", "nDCG", "nDCGf"):
        with pytest.raises(MeasureError, match=f"^{re.escape(message)}$"):
            parse_measure(f"{name}(discount=linear)")


def test_rising_discounts_meet_the_largest_gains():
    """It is then best to leave the first place to an unjudged document, whatever other rankings there are."""
    measure = parse_measure("nDCG(discount=[0.5, 1])@2")
    assert measure.compute(one_topic([1], [None, 0])).tolist() == [1.0]
    assert measure.compute(one_topic([1], [0])).tolist() == [0.5]
    assert measure.compute(one_topic([1, 3], [0, 1])).tolist() == [1.0]


lists = st.lists(st.sampled_from(GRADED + FLOATS), min_size=1, max_size=6)
discounts = st.sampled_from(("log2", "jk", "zipf", "linear", "none", "[1, 0.5, 0.5, 0.1]"))


@settings(max_examples=60, deadline=None)
@given(pool=lists, cutoff=st.integers(1, 8), discount=discounts, gain=st.sampled_from(("linear", "exp")))
def test_ideal_and_worst_are_those_of_all_orderings(pool, cutoff, discount, gain):
    """The norms' own definition: over every ordering of the pool, and for f over every sublist."""
    orders = list(permutations(range(len(pool))))
    labels, scores = np.tile(pool, (len(orders), 1)), np.zeros((len(orders), len(pool)))
    for row, order in enumerate(orders):
        scores[row, list(order)] = -np.arange(len(pool))
    settings = f"gain={gain}, discount={discount}"
    dcg = parse_measure(f"DCG({settings})@{cutoff}").compute(rankings_from_arrays(labels, scores))
    tied = dcg.max() - dcg.min() < 1e-12
    if abs(dcg.max()) > 1e-9:
        org = parse_measure(f"nDCGorg({settings})@{cutoff}").compute(rankings_from_arrays(labels, scores))
        np.testing.assert_allclose(org, dcg / dcg.max(), rtol=0, atol=1e-9)
    least = parse_measure(f"nDCGmin({settings})@{cutoff}").compute(rankings_from_arrays(labels, scores))
    expected = np.full(len(dcg), np.nan) if tied else (dcg - dcg.min()) / (dcg.max() - dcg.min())
    np.testing.assert_allclose(least, expected, rtol=0, atol=1e-9)
    # Every sublist, its documents the best first or the worst first.
    best = sorted(range(len(pool)), key=lambda doc: -pool[doc])
    sublists = [[doc for doc in way if kept >> doc & 1] for kept in range(2 ** len(pool)) for way in (best, best[::-1])]
    scores = np.full((len(sublists), len(pool)), -np.inf)
    for row, order in enumerate(sublists):
        scores[row, order] = -np.arange(len(order))
    every = rankings_from_arrays(np.tile(pool, (len(sublists), 1)), scores)
    dcg = parse_measure(f"DCG({settings})@{cutoff}").compute(every)
    filtered = parse_measure(f"nDCGf({settings})@{cutoff}").compute(every)
    tied = dcg.max() - dcg.min() < 1e-12
    expected = np.full(len(dcg), np.nan) if tied else (dcg - dcg.min()) / (dcg.max() - dcg.min())
    np.testing.assert_allclose(filtered, expected, rtol=0, atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(pool=lists, cutoff=st.integers(1, 8), discount=discounts, data=st.data())
def test_f_is_min_on_a_pool_padded_by_zeros(pool, cutoff, discount, data):
    """nDCG_f@k equals nDCG_min@k with k zeros added to the pool, whatever is returned."""
    gaps = [None] * data.draw(st.integers(0, 2))
    order = data.draw(st.permutations([*range(len(pool)), *gaps]))
    order = order[: data.draw(st.integers(0, len(order)))]
    f = parse_measure(f"nDCGf(discount={discount})@{cutoff}").compute(one_topic(pool, order))
    least = parse_measure(f"nDCGmin(discount={discount})@{cutoff}").compute(one_topic(pool + [0] * cutoff, order))
    np.testing.assert_allclose(f, least, rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(pool=lists, factor=st.sampled_from((0.5, 3.0, 100.0)), norm=st.sampled_from(("zero", "org", "min", "f")))
def test_ndcg_does_not_depend_on_the_unit_of_gain(pool, factor, norm):
    scaled = {label: factor * label for label in pool}
    order = list(range(len(pool)))[::2]
    one = parse_measure(f"nDCG(norm={norm})@4").compute(one_topic(pool, order))
    other = parse_measure(f"nDCG(norm={norm}, gain={scaled})@4").compute(one_topic(pool, order))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_gain_map_may_name_some_labels_only():
    """The others keep their own value."""
    partial = parse_measure("nDCGf(gain={-2: -10})@3")
    full = parse_measure("nDCGf(gain={-2: -10, -1: -1, 0: 0, 1: 1, 2: 2})@3")
    rankings = one_topic([2, 1, 0, -1, -2], [1, 4, 0])
    assert partial.compute(rankings).tolist() == full.compute(rankings).tolist()
    assert partial.compute(rankings).tolist() == pytest.approx([(1 - 10 * D2 + 2 * D3 + 10 + D2) / (2 + D2 + 10 + D2)])


def test_gain_of_label_zero_is_not_that_of_unjudged_documents():
    """An unjudged document has gain 0, also where a judged 0 is given another."""
    measure = parse_measure("CG(gain={0: -1})")
    assert measure.compute(one_topic([1, 0, None], [0, 1, 2, None])).tolist() == [0.0]


@pytest.mark.parametrize("norm", ["zero", "org", "min", "f"])
@pytest.mark.parametrize("scale", [1e100, 1e308])
def test_huge_gains_and_discounts(norm, scale):
    """nDCG is a ratio: a pool of (1, 1, -1) times any number gives the same."""
    for order in ([0, 1, 2], [2, 0], [1], []):
        small = parse_measure(f"nDCG(norm={norm})@3").compute(one_topic([1, 1, -1], order))
        huge = parse_measure(f"nDCG(norm={norm})@3").compute(one_topic([scale, scale, -scale], order))
        np.testing.assert_allclose(huge, small, rtol=1e-12)
        weights = parse_measure(f"nDCG(norm={norm}, discount={[scale, scale * D2, scale * D3]})@3")
        np.testing.assert_allclose(weights.compute(one_topic([1, 1, -1], order)), small, rtol=1e-12)


def test_a_sum_that_no_number_can_hold_is_refused():
    message = "these gains and discounts add up to more than a number can hold: use smaller ones, or nDCG"
    for text in ("CG", "DCG"):
        with pytest.raises(MeasureError, match=f"^{message}$"):
            parse_measure(text).compute(one_topic([1.7e308, 1.7e308], [0, 1]))
    for pool in ([1.7e308], [1.7e308, -1.7e308]):
        with pytest.raises(MeasureError, match=f"^{message}$"):
            parse_measure("DCG(discount=[10, 10])").compute(one_topic(pool, list(range(len(pool)))))


@pytest.mark.parametrize("norm", ["org", "min"])
def test_orderings_need_discounts_that_never_rise(norm):
    message = f"norm='{norm}' is over orderings of the pool and needs discounts that never rise"
    with pytest.raises(MeasureError, match=f"^{message}$"):
        parse_measure(f"nDCG(norm={norm}, discount=[0.2, 0.5])")
    parse_measure(f"nDCG(norm={norm}, discount=[0.5, 0.5, 0.2])")


def test_quit_while_ahead():
    """One of two relevant documents, at rank 2: the terminal one, at rank 3, gains 1/2."""
    measure = parse_measure("QWA")
    assert measure.compute(one_topic([1, 1, 0], [None, 0])).tolist() == pytest.approx([(D2 + D3 / 2) / (1 + D2 + D3)])
    assert measure.compute(one_topic([0], [])).tolist() == [1.0]  # nothing to find, and nothing shown
    assert measure.compute(one_topic([0], [0])).tolist() == pytest.approx([D2])
