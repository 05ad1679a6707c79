"""Every measure equals its plain-Python reference, whatever the data, the parameters and the policies."""

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference
from gainful.measures import REGISTRY, Measure, parse_measure
from worlds import FLOATS, GRADED, World, expected_scores, measures, worlds

ATOL = 1e-12
SUMS_OVER_RANKS = tuple(sorted(name for name, definition in REGISTRY.items() if definition.expected))

relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def compare(world: World, measures: list[Measure], **policies: str) -> None:
    rankings = world.align(**policies, duplicates="first")
    for measure in measures:
        found = measure.compute(rankings)
        expected = expected_scores(world, measure, policies.get("ties", "trec"), policies.get("unjudged", "zero"))
        scale = max(1.0, np.nanmax(abs(expected), initial=0))
        np.testing.assert_allclose(found, expected, rtol=0, atol=ATOL * scale, err_msg=str(measure))


def test_every_measure_has_a_reference():
    assert set(reference.REFERENCE) == set(REGISTRY)


@pytest.mark.parametrize("labels", [(*GRADED, None), FLOATS, (0.0, 1.0), (None,), (-1.0, None)], ids=str)
@settings(relaxed)
@given(data=st.data(), ties=st.sampled_from(("trec", "order")), unjudged=st.sampled_from(("zero", "condensed")))
def test_scores(labels, data, ties, unjudged):
    world = data.draw(worlds(labels=labels, duplicates=True))
    compare(world, data.draw(st.lists(measures(), min_size=12, max_size=12)), ties=ties, unjudged=unjudged)


NORMS = ("zero", "org", "min", "f")
GAINS = ("linear", "exp", "{-2: -10, 0: 0, 1: 1, 2: 2}", "{-1: 0.5, 3: -1}")
DISCOUNTS = ("log2", "jk", "zipf", "linear", "none", "[1, 0.5, 0.5, 0.1]")


@settings(relaxed, max_examples=40)
@given(world=worlds(systems=2), cutoff=st.integers(1, 15), base=st.sampled_from((2, 3, 2.5)))
def test_ndcg(world, cutoff, base):
    texts = [
        f"nDCG(norm={norm}, gain={gain}, discount={discount}, base={base})@{cutoff}"
        for norm, gain, discount in product(NORMS, GAINS, DISCOUNTS)
    ]
    compare(world, [parse_measure(text) for text in texts])


@settings(relaxed)
@given(data=st.data(), unjudged=st.sampled_from(("zero", "condensed")))
def test_expected_over_ties(data, unjudged):
    """ties='expected' is the mean over all orders of tied documents, each scored by the reference."""
    world = data.draw(worlds(scores=(1.0, 0.5, 1.0 + 1e-9), documents=6, systems=2, duplicates=True))
    chosen = data.draw(st.lists(measures(SUMS_OVER_RANKS), min_size=5, max_size=5))
    compare(world, chosen, ties="expected", unjudged=unjudged)
