"""Power and sample size, against statsmodels, published tables and formulas."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from statsmodels.stats.power import FTestAnovaPower, TTestPower

from gainful.stats.power import anova_power, detectable_effect, expected_width, smallest, t_power


@pytest.mark.parametrize("n", [2, 3, 10, 50, 400])
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.2])
class TestTPower:
    @pytest.mark.parametrize("d", [0.05, 0.3])
    def test_is_that_of_statsmodels(self, n, d, alpha):
        assert t_power(d**2, n, alpha) == pytest.approx(TTestPower().power(d, n, alpha), abs=1e-9)

    @pytest.mark.parametrize("d", [0.05, 0.3, 1.0, 3.0])
    def test_is_what_integration_gives(self, n, d, alpha):
        """Given the standard deviation s, the mean is beyond ±t·s with a normal probability; s is chi-distributed."""
        t, shift, chi = stats.t.ppf(1 - alpha / 2, n - 1), d * math.sqrt(n), stats.chi(n - 1)

        def beyond(c):
            limit = t * c / math.sqrt(n - 1)
            return (stats.norm.cdf(shift - limit) + stats.norm.cdf(-shift - limit)) * chi.pdf(c)

        expected = integrate.quad(beyond, *chi.ppf([1e-14, 1 - 1e-14]), limit=200)[0]
        assert t_power(d**2, n, alpha) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("n", [2, 10, 100])
@pytest.mark.parametrize("groups", [2, 3, 20])
@pytest.mark.parametrize("spread", [0.1, 0.5, 2.0])
def test_anova_power_is_that_of_statsmodels(n, groups, spread):
    """Cohen's f² is the mean square of the groups' means, and n there counts all values."""
    expected = FTestAnovaPower().power(math.sqrt(spread / groups), n * groups, 0.05, k_groups=groups)
    assert anova_power(spread, n, groups, 0.05) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [2, 5, 1_000_000])
def test_power_at_the_ends(n):
    assert t_power(0.0, n, 0.05) == pytest.approx(0.05, abs=1e-9)
    assert t_power(np.inf, n, 0.05) == 1.0
    assert anova_power(np.inf, n, 5, 1e-6) == 1.0
    assert t_power(np.inf, n, 1e-6) == 1.0


def test_width_is_that_of_the_mean_standard_deviation():
    """E[s] by integration over the distribution of the sample variance."""
    n, variance, alpha = 7, 0.04, 0.1
    mean_s = integrate.quad(lambda c: math.sqrt(variance * c / (n - 1)) * stats.chi2.pdf(c, n - 1), 0, np.inf)[0]
    expected = 2 * stats.t.ppf(1 - alpha / 2, n - 1) * mean_s / math.sqrt(n)
    assert expected_width(variance, n, alpha) == pytest.approx(expected, rel=1e-7)
    large = 2 * stats.norm.ppf(1 - alpha / 2) * math.sqrt(variance / 1_000_000)
    assert expected_width(variance, 1_000_000, alpha) == pytest.approx(large, rel=1e-5)


def test_smallest_is_the_boundary():
    wanted = np.array([2, 3, 4, 5, 17, 1024, 1025, 99_999, 100_000, 100_001])
    found = smallest(lambda n: n >= wanted, len(wanted), largest=100_000)
    assert found.tolist() == [2, 3, 4, 5, 17, 1024, 1025, 99_999, 100_000, 0]
    assert smallest(lambda n: np.zeros(1, bool), 1, largest=50).tolist() == [0]


@pytest.mark.parametrize(("d", "pairs"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_cohens_small_medium_and_large_paired_differences(d, pairs):
    """What G*Power gives for α = .05, two-sided, power .8."""
    assert smallest(lambda n: t_power(d**2, n, 0.05) >= 0.8, 1, largest=1000).tolist() == [pairs]


@pytest.mark.parametrize(("groups", "each"), [(2, 64), (3, 53), (4, 45)])
def test_cohens_medium_effect_of_groups(groups, each):
    """f = .25, α = .05, power .8: 64, 53 and 45 a group (G*Power: 128, 159 and 180 in all)."""
    effect = groups * 0.25**2
    assert smallest(lambda n: anova_power(effect, n, groups, 0.05) >= 0.8, 1, largest=1000).tolist() == [each]


def test_detectable_effect_reaches_the_power():
    effect = detectable_effect(lambda effect: float(t_power(effect, 34, 0.05)), 0.8)
    assert t_power(effect, 34, 0.05) == pytest.approx(0.8, abs=1e-9)
    assert math.sqrt(effect) == pytest.approx(TTestPower().solve_power(nobs=34, alpha=0.05, power=0.8), rel=1e-5)
    assert detectable_effect(lambda effect: float(t_power(effect, 34, 0.05)), 0.04) == 0.0


@pytest.mark.parametrize(("n", "groups", "power"), [(2, None, 0.99), (34, None, 0.8), (50, 143, 0.8), (9999, 3, 0.5)])
def test_detectable_effect_is_the_smallest(n, groups, power):
    """A little less does not reach the power; and it is what scipy finds."""

    def attained(effect):
        return float(t_power(effect, n, 0.05) if groups is None else anova_power(effect, n, groups, 0.05))

    effect = detectable_effect(attained, power)
    assert attained(effect) >= power
    assert attained(effect * (1 - 1e-11)) < power
    found = optimize.brentq(lambda effect: attained(effect) - power, 0.0, 2 * effect, xtol=1e-15, rtol=1e-12)
    assert effect == pytest.approx(found, rel=1e-11)
