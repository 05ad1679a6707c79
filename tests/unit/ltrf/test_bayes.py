"""The cut by query: calibrated probabilities, and expected gains against summing over all labels."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from gainful.ltrf.bayes import Calibration, _uniform, expected_gains, streams
from gainful.ltrf.targets import Scale

SCALE = Scale.of({-1: -10.0, 0: 0.0, 1: 1.0, 2: 2.0})


def exact(chances, cutoff):
    """E[g_d/Z] of one query's documents: all labellings, each with its probability."""
    found = np.zeros(len(chances))
    for grades in itertools.product(range(4), repeat=len(chances)):
        gains = [SCALE.gains[grade] for grade in grades]
        best = sum(
            g / math.log2(2 + r) for r, g in enumerate(sorted((g for g in gains if g > 0), reverse=True)[:cutoff])
        )
        worst = sum(g / math.log2(2 + r) for r, g in enumerate(sorted(g for g in gains if g < 0)[:cutoff]))
        chance = math.prod(chances[d][grade] for d, grade in enumerate(grades))
        if best > worst:
            found += chance * np.array(gains) / (best - worst)
    return found


@pytest.mark.parametrize("cutoff", [1, 3])
def test_expected_gains(cutoff):
    rng = np.random.default_rng(1)
    sizes = np.array([1, 4, 3])
    chances = rng.dirichlet(np.ones(4), 8)
    own = streams([f"q{n}" for n in np.repeat(range(3), sizes)], [f"d{n}" for n in range(8)], seed=2)
    found = expected_gains(SCALE, chances, sizes, cutoff=cutoff, streams=own, draws=40_000)
    expected = np.concatenate([exact(part.tolist(), cutoff) for part in np.split(chances, [1, 5])])
    assert found == pytest.approx(expected, abs=0.015)  # 5 standard errors of a number within ±1 are 0.025


@pytest.mark.parametrize("cutoff", [1, 3, 20])
@pytest.mark.parametrize("block", [1, 4_000_000])
def test_other_queries_change_nothing(cutoff, block, monkeypatch):
    """A query alone, among others, in another place or with its documents in another order: the same to the bit."""
    monkeypatch.setattr("gainful.ltrf.bayes._BLOCK", block)
    rng = np.random.default_rng(1)
    sizes = np.array([1, 4, 30, 2])
    chances = rng.dirichlet(np.ones(4), 37)
    queries, docs = np.repeat(["a", "b", "c", "d"], sizes).tolist(), [f"d{n}" for n in range(37)]

    def found(rows, lengths, seed=0):
        own = streams([queries[row] for row in rows], [docs[row] for row in rows], seed=seed)
        return expected_gains(SCALE, chances[rows], np.array(lengths), cutoff=cutoff, streams=own, draws=150)

    whole = found(range(37), sizes)
    assert found([1, 2, 3, 4], [4]).tolist() == whole[1:5].tolist()
    assert found([35, 36, 0, 4, 2, 3, 1], [2, 1, 4]).tolist() == whole[[35, 36, 0, 4, 2, 3, 1]].tolist()
    assert found(range(37), sizes, seed=1).tolist() != whole.tolist()


def test_random_numbers_are_those_of_splitmix64():
    """Vigna's reference: from the seed 1234567 its first numbers are these; a stream steps by the golden ratio."""
    step = 0x9E3779B97F4A7C15
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    states = np.array([(1234567 + n * step) % 2**64 for n in (1, 2, 3)], np.uint64)
    assert _uniform(states).tolist() == [(value >> 11) / 2**53 for value in expected]


def test_certain_labels_need_no_draws():
    """Pool {2, -10} at cutoff 3: Z = 12."""
    chances = np.array([[0.0, 0, 0, 1], [1, 0, 0, 0]])
    found = expected_gains(SCALE, chances, np.array([2]), cutoff=3, streams=streams("qq", "ab", seed=0), draws=3)
    assert found.tolist() == pytest.approx([2 / 12, -10 / 12])


def test_calibration_finds_the_curve_that_made_the_labels():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(20_000, 2)) * 2
    truth = 1 / (1 + np.exp(-(logits * [0.5, 2.0] + [0.3, -1.0])))
    targets = (rng.random(truth.shape) < truth).astype(float)
    found = Calibration.fit(logits, targets)
    assert found.slopes == pytest.approx((0.5, 2.0), rel=0.1)
    assert found.intercepts == pytest.approx((0.3, -1.0), abs=0.1)
    assert Calibration.of(json.loads(json.dumps(asdict(found)))) == found


def test_calibration_stays_finite_where_labels_can_be_told_apart():
    found = Calibration.fit(np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.array([[0.0], [0.0], [1.0], [1.0]]))
    assert 0 < found.slopes[0] < 100
    assert np.isfinite(Calibration.fit(np.zeros((4, 1)), np.ones((4, 1))).intercepts[0])


def test_chances_add_up_and_never_fall_below_0():
    found = Calibration(slopes=(1.0, 1.0), intercepts=(0.0, 0.0)).chances(np.array([[0.0, 3.0], [2.0, -1.0]]))
    # The second head cannot be surer than the first: 1/2, 0, 1/2.
    assert found[0].tolist() == pytest.approx([0.5, 0.0, 0.5])
    first, second = 1 / (1 + math.exp(-2)), 1 / (1 + math.exp(1))
    assert found[1].tolist() == pytest.approx([1 - first, first - second, second])
