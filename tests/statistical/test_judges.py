"""Prediction-powered intervals cover as often as they say, and cost nothing where the cheap judge is useless."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import gainful as gf
from gainful.stats.prediction import predicted_means

WORLDS = 4000
ROBUST = Path(os.environ.get("GAINFUL_DATA", "/nonexistent")) / "score-matrices" / "robust2003.csv"


def topics(kind: str, rho: float, number: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Good and cheap scores of so many topics, correlated by about rho, and the true mean of the good ones."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((WORLDS, number))
    w = rho * z + np.sqrt(1.0 - rho**2) * rng.standard_normal((WORLDS, number))
    if kind == "shifted":
        return z, w + 1.0, 0.0
    if kind == "shrunk":  # the judge sees half of every difference, and is generous
        return z, 0.5 * w + 2.0, 0.0
    if kind == "very skewed":  # gamma, shape 0.7: most scores are low, a few high; the judge sees them so, too
        place = np.linspace(-6.0, 6.0, 2001)
        value = special.gammaincinv(0.7, special.ndtr(place))
        return np.interp(z, place, value), np.interp(w, place, value) + 0.5, 0.7
    return special.ndtr(z) ** 2, special.ndtr(w) ** 0.7, 1.0 / 3.0  # within [0, 1], skewed, too high


@pytest.mark.parametrize("kind", ["shifted", "shrunk", "skewed", "very skewed"])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95])
@pytest.mark.parametrize(("n", "more"), [(20, 20), (20, 100), (40, 200)])
def test_coverage_and_width(kind, rho, n, more):
    good, cheap, truth = topics(kind, rho, n + more, seed=n)
    found = predicted_means(good[:, :n], cheap[:, :n], cheap[:, n:], confidence=0.95)
    covered = np.mean((found.low <= truth) & (truth <= found.high))
    # Two standard errors of 4,000 worlds are 0.007. Of very skewed scores, 20 topics are not quite enough.
    least = 0.92 if kind == "very skewed" and n < 40 else 0.93
    assert least - 0.007 <= covered <= 0.97 + 0.007
    width = np.mean(found.high - found.low) / np.mean(found.high_alone - found.low_alone)
    assert width <= 1.02
    if rho == 0.95:
        assert width < 0.8
    # A judge that is off by 1 leaves next to no bias; fitting the weight to the same topics leaves one of order 1/n.
    assert abs((found.mean - truth).mean()) <= 0.15 * (found.mean - truth).std(ddof=1)


@pytest.mark.skipif(not ROBUST.is_file(), reason="GAINFUL_DATA is not set to a folder")
@pytest.mark.parametrize("n", [10, 20, 50])
def test_real_scores(n):
    """Topics drawn from those of Robust 2003, judged by a judge that is generous, compresses and errs."""
    rng = np.random.default_rng(n)
    covered, student = [], []
    for scores in gf.read_scores(ROBUST).values[0][::8]:
        cheap = np.clip(0.15 + 0.8 * scores + rng.normal(0.0, 0.15, scores.shape), 0.0, 1.0)
        drawn = rng.integers(0, len(scores), (1000, 6 * n))
        found = predicted_means(scores[drawn[:, :n]], cheap[drawn[:, :n]], cheap[drawn[:, n:]], confidence=0.95)
        truth = scores.mean()
        covered.append((found.low <= truth) & (truth <= found.high))
        student.append(np.abs(found.mean - truth) <= special.stdtrit(n - 1, 0.975) * found.error)
        width = (found.high - found.low).mean() / (found.high_alone - found.low_alone).mean()
        assert width <= 1.02
    assert 0.925 <= np.mean(covered) <= 0.97
    assert np.mean(student) < np.mean(covered)
