"""Who may be best, what holds for all pairs, groups and the number of topics: simulated with a known truth, seeded.

Bounds are those of a binomial share around the nominal rate that chance crosses once in a thousand.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gainful.analyses.topics import topics
from gainful.stats.maxt import max_t
from gainful.stats.strata import Strata
from gainful.stats.stratified import stratified_bootstrap, stratified_t
from gainful.verbs.evaluate import read_scores

NUMBER = 400
ROBUST = Path(os.environ.get("GAINFUL_DATA", "/nonexistent")) / "score-matrices" / "robust2003.csv"
LEAST = stats.binom.ppf(0.001, NUMBER, 0.95) / NUMBER


def noise(kind, rng, runs, count):
    if kind == "normal":
        return rng.normal(0, 0.2, count) + rng.normal(0, 0.15, (runs, count))
    if kind == "skewed":
        return rng.gamma(0.5, 0.3, (runs, count)) - 0.15
    pairs = np.repeat(rng.normal(0, 0.15, (runs // 2, count)), 2, axis=0)
    return pairs + (rng.random((runs, count)) < 0.1) * rng.normal(0, 0.1, (runs, count))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "skewed", "twins"])
@pytest.mark.parametrize(("runs", "count", "spread"), [(4, 4, 0.0), (10, 10, 0.0), (10, 25, 0.1), (20, 50, 0.1)])
def test_pairs_places_and_the_best(kind, runs, count, spread):
    rng, mean = np.random.default_rng(runs + count), np.linspace(spread, 0, runs)
    true = mean[:, None] - mean
    held = np.zeros(3)
    for seed in range(NUMBER):
        found = max_t(noise(kind, rng, runs, count) + mean[:, None], confidence=0.95, resamples=499, seed=seed)
        low, high = found.places()
        first, last = 1 + (true < 0).sum(axis=1), runs - (true > 0).sum(axis=1)
        within = np.abs(found.mean[:, None] - found.mean - true) <= found.all_pairs + 1e-12
        held += within.all(), ((low <= first) & (high >= last)).mean(), low[0] == 1
    assert (held / NUMBER >= LEAST).all()


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "spread"), [(3, 0.0), (20, 0.0), (20, 0.2), (80, 0.3)])
def test_the_leader_is_as_much_too_good_as_is_said(runs, spread):
    """On average, within a tenth and chance."""
    rng, mean, found, real = np.random.default_rng(runs), np.linspace(spread, 0, runs), [], []
    for seed in range(NUMBER):
        values = noise("normal", rng, runs, 50) + mean[:, None]
        found.append(max_t(values, confidence=0.95, resamples=200, seed=seed).optimism)
        leader = int(np.argmax(values.mean(axis=1)))
        real.append(values[leader].mean() - mean[leader])
    assert abs(np.mean(found) - np.mean(real)) <= 0.1 * np.mean(real) + 3.3 * np.std(real) / np.sqrt(NUMBER)


@pytest.mark.slow
@pytest.mark.skipif(not ROBUST.is_file(), reason="GAINFUL_DATA is not set to a folder")
def test_the_leader_of_a_real_track():
    """50 topics drawn from Robust 2003, whose 100 topics are the truth."""
    scores = read_scores(ROBUST).values[0]
    rng, found, real = np.random.default_rng(0), [], []
    for seed in range(300):
        values = scores[:, rng.integers(scores.shape[1], size=50)]
        found.append(max_t(values, confidence=0.95, resamples=200, seed=seed).optimism)
        leader = int(np.argmax(values.mean(axis=1)))
        real.append(values[leader].mean() - scores[leader].mean())
    assert np.mean(found) == pytest.approx(np.mean(real), abs=3.3 * np.std(real) / np.sqrt(300))
    assert np.mean(found) > 0.005


class TestGroups:
    """Groups of other levels, which add up to no difference: found at the level, not far below it."""

    PLACE = np.arange(30) % 3

    def differences(self, number):
        level = np.array([0.3, -0.3, 0.0])[self.PLACE]
        return np.random.default_rng(9).normal(0, 0.2, (number, 30)) + level

    @pytest.mark.parametrize("macro", [False, True])
    def test_t(self, macro):
        strata = Strata(names=("a", "b", "c"), place=self.PLACE, macro=macro)
        low, high = stats.binom.ppf([0.0005, 0.9995], 4000, 0.05) / 4000
        assert low <= (stratified_t(self.differences(4000), strata) < 0.05).mean() <= high
        assert (stratified_t(self.differences(4000), Strata.one(30)) < 0.05).mean() < low / 5

    @pytest.mark.slow
    def test_bootstrap(self):
        strata = Strata(names=("a", "b", "c"), place=self.PLACE)
        p = stratified_bootstrap(self.differences(2000), strata, resamples=1999, seed=1).p()
        low, high = stats.binom.ppf([0.0005, 0.9995], 1000, 0.05) / 1000  # draws are shared: as if there were fewer
        assert low <= (p < 0.05).mean() <= high


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "runs", "count", "least"), [("normal", 10, 25, 0.92), ("skewed", 10, 50, 0.87)])
def test_the_interval_of_the_number_of_topics(kind, runs, count, least):
    """Skewed scores vary on few topics, which few topics do not show: less is held there, as the docs say."""
    variance = {"normal": 2 * 0.15**2, "skewed": 2 * 0.5 * 0.3**2}[kind]
    rng, held = np.random.default_rng(3), 0
    for seed in range(NUMBER):
        result = topics(noise(kind, rng, runs, count), resamples=300, seed=seed)
        (true,) = result.plan.needed(np.array([variance]))
        held += result["score"].low <= true <= result["score"].high
    assert held / NUMBER >= stats.binom.ppf(0.001, NUMBER, least) / NUMBER
