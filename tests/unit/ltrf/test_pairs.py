"""LambdaRank's gradients from the pairs that count, against all pairs one after another."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gainful.ltrf import pairs
from gainful.ltrf.pairs import Pairs


def discount(rank, cutoff):
    return 1 / math.log2(2 + rank) if cutoff is None or rank < cutoff else 0.0


def plain(gain, scores, sizes, cutoff):
    """From the formula, pair by pair; documents of equal score stand in all their orders, equally often."""
    gradient, hessian, start = np.zeros(len(gain)), np.zeros(len(gain)), 0
    for size in sizes:
        at = range(start, start + size)
        start += size
        tied = [
            list(group) for _, group in itertools.groupby(sorted(at, key=lambda d: -scores[d]), lambda d: scores[d])
        ]
        orders = [list(itertools.chain(*order)) for order in itertools.product(*map(itertools.permutations, tied))]
        best = sum(
            g * discount(r, cutoff) for r, g in enumerate(sorted((gain[d] for d in at if gain[d] > 0), reverse=True))
        )
        worst = sum(g * discount(r, cutoff) for r, g in enumerate(sorted(gain[d] for d in at if gain[d] < 0)))
        for one, other in itertools.permutations(at, 2):
            if gain[one] > gain[other]:
                apart = 0.0
                for order in orders:
                    ranks = {d: r for r, d in enumerate(order)}
                    mean = discount(ranks[one], cutoff) - discount(ranks[other], cutoff)
                    apart += (abs(mean) if scores[one] == scores[other] else mean) / len(orders)
                weight = (gain[one] - gain[other]) * abs(apart) / (best - worst)
                wrong = 1 / (1 + math.exp(scores[one] - scores[other]))
                gradient[one] -= weight * wrong
                gradient[other] += weight * wrong
                hessian[one] += weight * wrong * (1 - wrong)
                hessian[other] += weight * wrong * (1 - wrong)
    return gradient, hessian


@pytest.mark.parametrize("cutoff", [1, 3, 100, None])
@pytest.mark.parametrize("at_once", [1, 40, 1 << 16])
@pytest.mark.parametrize("values", [2, 1000])
def test_all_pairs(monkeypatch, cutoff, at_once, values):
    """Few values of scores, so that many are equal, or hardly any; blocks of one cell, of some queries, of all."""
    monkeypatch.setattr(pairs, "_AT_ONCE", at_once)
    rng = np.random.default_rng(3)
    sizes = np.array([1, 5, 0, 2, 6, 4, 5])
    gain = rng.choice([-10.0, 0.0, 1.0, 3.0], sizes.sum())
    gain[6:8] = 1.0  # a query in which nothing can change
    scores = rng.integers(0, values, sizes.sum()) / 7
    for threads in (1, 3):
        found = Pairs(gain, sizes, cutoff=cutoff, threads=threads)(scores)
        for one, expected in zip(found, plain(gain, scores, sizes, cutoff), strict=True):
            assert one == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_memory_is_that_of_the_documents():
    """1,500 documents of one query have 1.1 million pairs: 9 MB for one number each; what is held is far less."""
    import tracemalloc

    rng = np.random.default_rng(0)
    gain, sizes = rng.choice([-10.0, 0.0, 1.0], 3000), np.array([1500, 1500])
    scores = rng.integers(0, 30, 3000).astype(float)
    tracemalloc.start()
    Pairs(gain, sizes, cutoff=3)(scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6e6
