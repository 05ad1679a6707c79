"""How often the tests find what is not there, and how often intervals hold what is: simulated, seeded.

Bounds are the central 99.9 % of the binomial distribution around the nominal rate, so a seed that fails by bad luck is
rare, and a test that rejects twice as often as it should is not missed.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import stats

from gainful.stats.bootstrap import bootstrap
from gainful.stats.intervals import bca_interval, t_interval
from gainful.stats.paired import corrected, pairs, randomisation, t_test, tukey_hsd, wilcoxon
from gainful.verbs.compare import compare

REPLICATIONS, RESAMPLES = 2000, 4999
TOPICS = 25
ALPHA = 0.05


def bounds(replications: float = REPLICATIONS, rate: float = ALPHA) -> tuple[float, float]:
    low, high = stats.binom.ppf((0.0005, 0.9995), int(replications), rate)
    return low / int(replications), high / int(replications)


def normal(rng, shape):
    return rng.normal(size=shape)


def heavy(rng, shape):
    return rng.standard_t(3, size=shape)


def skewed(rng, shape):
    """As AP: many low scores, few high ones."""
    return rng.beta(0.6, 2.0, size=shape)


def graded(rng, shape):
    """As P@10: few values, so that many differences are tied or 0."""
    return rng.integers(0, 11, size=shape) / 10


def sparse(rng, shape):
    """As success at 1 of two similar runs: most differences are 0."""
    return (rng.random(shape) < 0.15).astype(float)


NULLS = {kind.__name__: kind for kind in (normal, heavy, skewed, graded, sparse)}
TESTS = {
    "t": t_test,
    "wilcoxon": wilcoxon,
    "randomisation": lambda y, **kw: randomisation(y, resamples=RESAMPLES, seed=1, **kw).p(),
    "bootstrap": lambda y, **kw: bootstrap(y, resamples=RESAMPLES, seed=1, **kw).p(),
}
# All replications share their resamples, which makes the rate vary as if there were fewer.
BOUNDS = {
    name: bounds() if name in ("t", "wilcoxon") else bounds(1 / (1 / REPLICATIONS + 1 / RESAMPLES)) for name in TESTS
}


def rejected(name: str, differences: np.ndarray) -> float:
    """The share of the replications, a row each, that the test calls different from 0."""
    with_zeros = np.vstack([np.zeros(differences.shape[1]), differences])
    return float((TESTS[name](with_zeros, against=0)[1:] < ALPHA).mean())


@functools.cache
def null_rate(name: str, kind: str, topics: int) -> float:
    """How often a test rejects where the two scores of a topic are exchangeable."""
    mine, other = NULLS[kind](np.random.default_rng(0), (2, REPLICATIONS, topics))
    return rejected(name, mine - other)


@pytest.mark.parametrize("topics", [10, 50])
class TestTypeOneError:
    @pytest.mark.parametrize("kind", NULLS)
    @pytest.mark.parametrize("name", ["t", "wilcoxon", "randomisation"])
    def test_at_most_the_level(self, name, kind, topics):
        assert null_rate(name, kind, topics) <= BOUNDS[name][1]

    @pytest.mark.parametrize("kind", ["normal", "skewed"])
    @pytest.mark.parametrize("name", ["t", "wilcoxon", "randomisation"])
    def test_not_far_below_it(self, name, kind, topics):
        """Scores of few values have few p-values, none of which may be near the level: they are left out here."""
        assert null_rate(name, kind, topics) >= BOUNDS[name][0]

    @pytest.mark.parametrize("kind", ["normal", "heavy", "skewed", "graded"])
    def test_studentised_bootstrap(self, kind, topics):
        """At the level for many topics, below it for few."""
        rate = null_rate("bootstrap", kind, topics)
        assert rate <= BOUNDS["bootstrap"][1]
        assert rate >= (0.015 if topics == 10 or kind == "heavy" else BOUNDS["bootstrap"][0])


class TestResamplesWithoutVariance:
    """Their t is infinite; were it 0, two topics would always be significant, ten sparse ones in .14 of the cases."""

    @pytest.mark.parametrize("topics", [2, 3, 5, 10, 50])
    def test_few_topics_differ(self, topics):
        assert null_rate("bootstrap", "sparse", topics) <= BOUNDS["bootstrap"][1]

    @pytest.mark.parametrize("kind", ["normal", "heavy", "skewed"])
    @pytest.mark.parametrize("topics", [2, 3])
    def test_few_topics(self, kind, topics):
        assert null_rate("bootstrap", kind, topics) == 0

    def test_what_zero_would_do(self):
        """As in `sensitivity`, by definition: the reason why the two differ."""
        mine, other = sparse(np.random.default_rng(0), (2, 300, 10))
        with_zeros = np.vstack([np.zeros(10), mine - other])
        rates = [
            (bootstrap(with_zeros, without_variance=how, resamples=999, seed=1, against=0).p()[1:] < ALPHA).mean()
            for how in ("infinite", "zero")
        ]
        assert rates[0] < 0.03
        assert rates[1] > 0.1


class TestFamilies:
    SYSTEMS, NUMBER = 5, 800

    def findings(self, family_p):
        rng = np.random.default_rng(3)
        topic = rng.normal(size=(self.NUMBER, 1, TOPICS))
        draws = topic + rng.normal(size=(self.NUMBER, self.SYSTEMS, TOPICS))
        return float(np.mean([(family_p(y) < ALPHA).any() for y in draws]))

    def test_holm(self):
        rate = self.findings(lambda y: corrected(t_test(y)[pairs(self.SYSTEMS)], "holm"))
        assert rate <= bounds(self.NUMBER)[1]
        assert rate > 0.01

    def test_tukey(self):
        rate = self.findings(lambda y: tukey_hsd(y, resamples=199, seed=0).p()[pairs(self.SYSTEMS)])
        assert bounds(self.NUMBER)[0] <= rate <= bounds(self.NUMBER)[1]

    def test_without_correction_it_would_be_far_more(self):
        assert self.findings(lambda y: t_test(y)[pairs(self.SYSTEMS)]) > 0.2

    def test_false_discoveries(self):
        """Half of 20 tests are null: their share among the findings is at most half the level, in the mean."""
        rng = np.random.default_rng(4)
        p = 2 * stats.norm.sf(np.abs(rng.normal(size=(4000, 20)) + np.repeat([0.0, 3.0], 10)))
        found = corrected(p, "bh") < ALPHA
        shares = found[:, :10].sum(axis=1) / np.maximum(found.sum(axis=1), 1)
        assert shares.mean() == pytest.approx(ALPHA / 2, abs=4 * shares.std() / np.sqrt(4000))


@pytest.mark.parametrize("name", TESTS)
def test_power(name):
    """Differences of mean .5 and deviation 1 over 40 topics: the t-test finds .87 of them (noncentral t)."""
    differences = np.random.default_rng(6).normal(0.5, 1.0, (REPLICATIONS, 40))
    critical, shift = stats.t.ppf(0.975, 39), 0.5 * np.sqrt(40)
    power = stats.nct.sf(critical, 39, shift) + stats.nct.cdf(-critical, 39, shift)
    assert rejected(name, differences) == pytest.approx(power, abs=0.04)


class TestCoverage:
    @pytest.mark.parametrize(("kind", "mean"), [("normal", 0.0), ("skewed", 0.6 / 2.6)])
    def test_intervals_of_means(self, kind, mean):
        values = NULLS[kind](np.random.default_rng(5), (REPLICATIONS, 50))
        cover = {}
        for name, (low, high) in {
            "t": t_interval(values, confidence=0.95),
            "bca": bca_interval(values, confidence=0.95, resamples=1000, seed=0),
        }.items():
            cover[name] = float(((low <= mean) & (mean <= high)).mean())
        assert abs(cover["t"] - 0.95) < 0.02
        assert abs(cover["bca"] - 0.95) < 0.025


@pytest.mark.slow
class TestPipeline:
    """How often a build that is all right is stopped, and how often one that is not gets through."""

    @staticmethod
    def passes(shift: float, margin: float | None, replications: int = 400) -> float:
        rng = np.random.default_rng(7)
        old = rng.random((replications, 50))
        new = old + rng.normal(shift, 0.1, (replications, 50))
        builds = zip(old, new, strict=True)
        found = (compare(np.array(build), baseline="1").worse(margin) for build in builds)
        return float(np.mean([frame.height == 0 for frame in found]))

    def test_same_quality_passes_without_margin(self):
        """Two-sided at .05: worse in .025."""
        low, high = bounds(400, 0.025)
        assert low <= 1 - self.passes(0.0, None) <= high

    def test_worse_by_the_margin_hardly_passes(self):
        low, high = bounds(400, 0.05)
        assert low <= self.passes(-0.04, 0.04) <= high

    def test_same_quality_passes_a_wide_margin(self):
        """.05 is 3.5 standard errors of the mean difference: power about .97."""
        assert self.passes(0.0, 0.05) > 0.93
