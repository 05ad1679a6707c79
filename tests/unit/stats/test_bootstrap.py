"""The bootstrap of all pairs against plain loops on the same resamples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gainful.stats import bootstrap as module
from gainful.stats.bootstrap import bootstrap


def normal(systems: int, topics: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=topics) + rng.normal(size=(systems, topics)) + np.linspace(0, 0.6, systems)[:, None]


@pytest.mark.parametrize("scores", [normal(4, 12), np.random.default_rng(5).integers(0, 3, (4, 6)) / 10])
@pytest.mark.parametrize(
    ("variant", "without_variance"),
    [("studentized", "infinite"), ("studentized", "zero"), ("shifted", "infinite"), ("sign", "infinite")],
)
def test_plain_loop_on_the_same_draws(scores, variant, without_variance):
    topics = scores.shape[1]
    found = bootstrap(scores, variant=variant, without_variance=without_variance, resamples=300, seed=7)
    draws = np.random.default_rng(7).integers(topics, size=(300, topics))

    def t(z):
        spread = z.std(ddof=1)
        if spread < 1e-12:
            return math.inf if without_variance == "infinite" and abs(z.mean()) > 1e-12 else 0.0
        return abs(z.mean()) / (spread / np.sqrt(topics))

    def extreme(z, drawn):
        w = (z - z.mean())[drawn]
        if variant == "studentized":
            return t(w) >= t(z) - 1e-9
        if variant == "shifted":
            return abs(w.mean()) >= abs(z.mean()) - 1e-12
        return z[drawn].mean() * np.sign(z.mean()) <= 1e-12

    def count(x, y):
        return sum(extreme(x - y, drawn) for drawn in draws)

    for i, j in itertools.combinations(range(len(scores)), 2):
        assert found.counts[i, j] == found.counts[j, i] == count(scores[i], scores[j])
    assert (np.diag(found.counts) == 300).all()


def test_two_topics():
    """Half of the draws take one topic twice: no variance, and no reason to call any two topics significant."""
    scores = np.array([[0.9, 0.7], [0.1, 0.2]])
    draws = np.random.default_rng(3).integers(2, size=(999, 2))
    twice = int((draws[:, 0] == draws[:, 1]).sum())
    assert bootstrap(scores, resamples=999, seed=3).counts[0, 1] == twice
    assert bootstrap(scores, without_variance="zero", resamples=999, seed=3).counts[0, 1] == 0


def test_all_differences_the_same():
    found = bootstrap(np.array([[0.1, 0.2, 0.7], [0.3, 0.4, 0.9]]), resamples=99, seed=0)
    assert found.p()[0, 1] == 1 / 100


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"_LEAST": 1 << 14},  # 64 resamples at a time
        {"_PAIRS": 10},
        {"_CACHED": 7},
        {"_COLUMNS": 4},
        {"_COUNTED": 31, "_ROWS": 7},
        {"_UNTHREADED": 1},
        {"BLOCK": 50},
    ],
    ids=str,
)
def test_however_the_work_is_divided(sizes, monkeypatch):
    """66 pairs are more than a matrix has columns, 1,033 resamples more than a block has, and than a byte can count."""
    scores = normal(12, 9)
    draws = np.random.default_rng(7).integers(9, size=(1033, 9))
    for name, size in sizes.items():
        monkeypatch.setattr(module, name, size)
    found = bootstrap(scores, resamples=1033, seed=7).counts
    for i, j in itertools.combinations(range(12), 2):
        z = scores[i] - scores[j]
        drawn = (z - z.mean())[draws]
        t = np.abs(drawn.mean(axis=1)) / drawn.std(axis=1, ddof=1)
        assert found[i, j] == found[j, i] == (t >= abs(z.mean()) / z.std(ddof=1)).sum()
    assert (np.diag(found) == 1033).all()
    assert bootstrap(scores, resamples=1033, seed=7, against=4).counts.tolist() == found[4].tolist()


@pytest.mark.parametrize("variant", ["studentized", "shifted", "sign"])
def test_nearly_all_resamples_extreme(variant):
    """More than a byte can count: runs that differ by next to nothing."""
    scores = np.vstack([np.tile([0.5, 0.7], 10), np.tile([0.7, 0.5], 10)]) + np.array([[0.0], [1e-6]])
    assert bootstrap(scores, variant=variant, resamples=1000, seed=0).counts[0, 1] > 0.4 * 1000
