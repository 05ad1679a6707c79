"""The bilinear form against nDCG itself, and its gradient against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gainful.analyses.reliability import reliability
from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.data.simulate import simulate
from gainful.io.read import read_qrels, read_run
from gainful.measures import parse_measure
from gainful.tune.optimize.bilinear import bilinear
from gainful.verbs.evaluate import evaluate
from worlds import worlds


@pytest.fixture(scope="module")
def web():
    return simulate(topics=15, systems=9, depth=30, seed=2)


def made(web, cutoff, **policies):
    rankings = align(web.qrels, web.runs, Policies(**policies))
    labels = rankings.grades[rankings.grades > 0]
    return bilinear(rankings, labels, cutoff), labels


def text(labels, gain, discount, cutoff):
    pairs = ", ".join(f"{label:g}: {float(g)!r}" for label, g in zip(labels, gain, strict=True))
    return f"nDCG(gain={{{pairs}}}, discount={[float(d) for d in discount]})@{cutoff}"


@pytest.mark.parametrize("ties", ["trec", "order", "expected"])
@pytest.mark.parametrize("unjudged", ["zero", "condensed"])
def test_scores_are_ndcg(web, ties, unjudged):
    rng = np.random.default_rng(1)
    arrays, labels = made(web, 12, ties=ties, unjudged=unjudged)
    for order in (np.sort, np.array):  # falling, and in any order: the ideal then sorts by the discount
        gain, discount = order(rng.random(len(labels))), order(rng.random(12))[::-1]
        measure = text(labels, gain, discount, 12)
        expected = evaluate(web.qrels, web.runs, measure, ties=ties, unjudged=unjudged).values[0]
        np.testing.assert_allclose(arrays.scores(discount, gain), expected, atol=1e-13)


@settings(max_examples=60, deadline=None)
@given(world=worlds(), cutoff=st.integers(1, 12), ties=st.sampled_from(["trec", "expected"]))
def test_scores_of_any_world(world, cutoff, ties):
    rankings = world.align(ties=ties)
    labels = np.array([1.0, 2.0, 3.0])
    discount = 1.0 / np.arange(1, cutoff + 1)
    scores = bilinear(rankings, labels, cutoff).scores(discount, labels)
    expected = np.nan_to_num(parse_measure(f"nDCG(discount=zipf)@{cutoff}").compute(rankings))
    np.testing.assert_allclose(scores.ravel(), expected, atol=1e-13)


def test_phi_is_that_of_reliability(web):
    arrays, labels = made(web, 10)
    discount = 1.0 / np.log2(np.arange(2, 12))
    expected = reliability(evaluate(web.qrels, web.runs, "nDCG@10"))["nDCG@10"].at(1).value
    assert arrays.phi(discount, labels) == pytest.approx(expected, rel=1e-12)


def differences(function, at):
    """Central differences, in steps relative to each coordinate."""
    found = []
    for i, value in enumerate(at):
        step = np.zeros_like(at)
        step[i] = 1e-5 * value
        found.append((function(at + step) - function(at - step)) / (2e-5 * value))
    return np.array(found)


@pytest.mark.parametrize("ties", ["trec", "expected"])
@pytest.mark.parametrize("falling", [True, False])
def test_gradient_is_exact(web, ties, falling):
    rng = np.random.default_rng(3)
    arrays, labels = made(web, 15, ties=ties)
    discount, gain = rng.uniform(0.2, 1.0, 15), rng.uniform(0.2, 1.0, len(labels))
    if falling:
        discount, gain = np.sort(discount)[::-1], np.sort(gain)
    phi, by_discount, by_gain = arrays.gradient(discount, gain)
    assert phi == arrays.phi(discount, gain)
    for exact, near in (
        (by_discount, differences(lambda d: arrays.phi(d, gain), discount)),
        (by_gain, differences(lambda g: arrays.phi(discount, g), gain)),
    ):
        assert np.abs(exact - near).max() < 1e-6 * np.abs(exact).max()


def test_phi_does_not_change_with_the_scale(web):
    arrays, labels = made(web, 8)
    discount = np.linspace(1.0, 0.2, 8)
    phi, by_discount, by_gain = arrays.gradient(discount, labels)
    assert arrays.phi(discount * 7, labels / 3) == pytest.approx(phi, rel=1e-12)
    assert by_discount @ discount == pytest.approx(0.0, abs=1e-12)  # Euler, for a function of degree 0
    assert by_gain @ labels == pytest.approx(0.0, abs=1e-12)


def test_some_topics(web):
    arrays, labels = made(web, 8)
    chosen = np.array([1, 4, 9])
    discount = np.linspace(1.0, 0.2, 8)
    expected = arrays.scores(discount, labels)[:, chosen]
    np.testing.assert_array_equal(arrays.of_topics(chosen).scores(discount, labels), expected)


def test_no_variance_at_all():
    """Every system is perfect: Φ and its gradient are 0, and nothing is divided by it."""
    runs = [read_run({"1": {"a": 1.0}, "2": {"b": 1.0}}, name=name) for name in ("x", "y")]
    rankings = align(read_qrels({"1": {"a": 1}, "2": {"b": 1}}), runs)
    arrays = bilinear(rankings, np.array([1.0]), 2)
    phi, by_discount, by_gain = arrays.gradient(np.array([1.0, 0.5]), np.array([1.0]))
    assert (phi, by_discount.tolist(), by_gain.tolist()) == (0.0, [0.0, 0.0], [0.0])
