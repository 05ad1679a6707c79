"""The topics that are said to be needed do give the power, and the width, on simulated experiments."""

import numpy as np
import pytest
from scipy import stats

from gainful.analyses.topics import topics

EXPERIMENTS = 20_000
PILOT = np.random.default_rng(3).normal(0.5, 0.2, (8, 50)) + np.random.default_rng(4).normal(0, 0.1, 50)


def within(probability):
    """What chance allows, once in a hundred thousand."""
    return stats.binom.ppf([0.5e-5, 1 - 0.5e-5], EXPERIMENTS, probability) / EXPERIMENTS


@pytest.mark.parametrize(("difference", "alpha", "power"), [(0.15, 0.05, 0.8), (0.3, 0.01, 0.9), (0.6, 0.1, 0.95)])
def test_t(difference, alpha, power):
    result = topics(PILOT, difference=difference, alpha=alpha, power=power)
    found = result["score"]
    rng = np.random.default_rng(5)
    differences = rng.normal(difference, np.sqrt(found.variance), (EXPERIMENTS, found.needed))
    seen = (stats.ttest_1samp(differences, 0, axis=1).pvalue <= alpha).mean()
    low, high = within(found.attained)
    assert found.attained >= power > result.curve([found.needed - 1])["power"].item()
    assert low <= seen <= high


@pytest.mark.parametrize("systems", [2, 4, 9])
def test_anova(systems):
    found = topics(PILOT, difference=0.25, method="anova", systems=systems)["score"]
    means = np.zeros(systems)
    means[:2] = 0.125, -0.125
    rng = np.random.default_rng(6)
    scores = rng.normal(means[:, None, None], np.sqrt(found.variance), (systems, EXPERIMENTS, found.needed))
    seen = (stats.f_oneway(*scores, axis=1).pvalue <= 0.05).mean()
    low, high = within(found.attained)
    assert found.attained >= 0.8
    assert low <= seen <= high


def test_any_other_means_of_that_range_have_more_power():
    found = topics(PILOT, difference=0.25, method="anova", systems=4)["score"]
    means = np.array([0.125, 0.125, -0.125, -0.125])
    scores = np.random.default_rng(7).normal(
        means[:, None, None], np.sqrt(found.variance), (4, EXPERIMENTS, found.needed)
    )
    assert (stats.f_oneway(*scores, axis=1).pvalue <= 0.05).mean() > within(found.attained)[1]


def test_interval():
    found = topics(PILOT, difference=0.2, alpha=0.1, method="interval")["score"]
    differences = np.random.default_rng(8).normal(0.1, np.sqrt(found.variance), (EXPERIMENTS, found.needed))
    ends = stats.ttest_1samp(differences, 0, axis=1).confidence_interval(0.9)
    widths = ends.high - ends.low
    assert abs(widths.mean() - found.attained) < 4.5 * widths.std() / np.sqrt(EXPERIMENTS)
    assert found.attained <= 0.2
