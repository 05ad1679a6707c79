"""Prediction-powered intervals cover as often as they say, and cost nothing where the cheap judge is useless."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from gainful.stats.prediction import predicted_means

WORLDS = 4000


def topics(kind: str, rho: float, number: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Good and cheap scores of so many topics, correlated by about rho, and the true mean of the good ones."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((WORLDS, number))
    w = rho * z + np.sqrt(1.0 - rho**2) * rng.standard_normal((WORLDS, number))
    if kind == "shifted":
        return z, w + 1.0, 0.0
    if kind == "shrunk":  # the judge sees half of every difference, and is generous
        return z, 0.5 * w + 2.0, 0.0
    return special.ndtr(z) ** 2, special.ndtr(w) ** 0.7, 1.0 / 3.0  # within [0, 1], skewed, too high


@pytest.mark.parametrize("kind", ["shifted", "shrunk", "skewed"])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95])
@pytest.mark.parametrize(("n", "more"), [(20, 20), (20, 100), (40, 200)])
def test_coverage_and_width(kind, rho, n, more):
    good, cheap, truth = topics(kind, rho, n + more, seed=n)
    found = predicted_means(good[:, :n], cheap[:, :n], cheap[:, n:], confidence=0.95)
    covered = np.mean((found.low <= truth) & (truth <= found.high))
    # Two standard errors of 4,000 worlds are 0.007.
    assert 0.93 - 0.007 <= covered <= 0.97 + 0.007
    width = np.mean(found.high - found.low) / np.mean(found.high_alone - found.low_alone)
    assert width <= 1.02
    if rho == 0.95:
        assert width < 0.8
    # A judge that is off by 1 leaves next to no bias; fitting the weight to the same topics leaves one of order 1/n.
    assert abs((found.mean - truth).mean()) <= 0.1 * (found.mean - truth).std(ddof=1)
