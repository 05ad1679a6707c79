"""Intervals of reliability cover the truth as often as they say, on scores with known variances."""

import numpy as np
import pytest
from scipy import stats

from gainful.stats.anova import absolute_ratios, components, relative_ratios, two_way

RUNS, TOPICS, REPLICATIONS = 12, 25, 2000
# Of runs, topics and the rest; the second is what TREC collections are like.
KNOWN = [(0.5, 0.2, 0.3), (0.07, 0.47, 0.46), (0.01, 0.3, 0.69), (0.3, 0.699, 0.001), (0.3, 0.0, 0.7)]


def simulated(run, topic, rest, *, seed=20):
    rng = np.random.default_rng(seed)
    shapes = [(run, (RUNS, 1)), (topic, (1, TOPICS)), (rest, (RUNS, TOPICS))]
    return two_way(sum(rng.normal(0, np.sqrt(variance), (REPLICATIONS, *shape)) for variance, shape in shapes))


def expected_counts(probability):
    """What chance allows, once in a hundred thousand."""
    return stats.binom.ppf([0.5e-5, 1 - 0.5e-5], REPLICATIONS, probability)


@pytest.mark.parametrize("variances", KNOWN)
def test_components_are_unbiased(variances):
    for found, true in zip(components(simulated(*variances)), variances, strict=True):
        assert abs(found.mean() - true) < 4.5 * found.std() / np.sqrt(REPLICATIONS)


@pytest.mark.parametrize("confidence", [0.95, 0.8])
@pytest.mark.parametrize("variances", KNOWN)
class TestCoverage:
    def test_relative_is_exact(self, variances, confidence):
        """Feldt's interval misses on either side as often as it should."""
        run, _, rest = variances
        _, low, high = relative_ratios(simulated(*variances), confidence)
        fewest, most = expected_counts((1 - confidence) / 2)
        assert fewest <= (low > run / rest).sum() <= most
        assert fewest <= (high < run / rest).sum() <= most

    def test_absolute_is_no_less_than_it_says(self, variances, confidence):
        """Arteaga's is approximate, and errs on the safe side by at most about a third of the misses."""
        run, topic, rest = variances
        _, low, high = absolute_ratios(simulated(*variances), confidence)
        true = run / (topic + rest)
        covered = ((low <= true) & (true <= high)).sum()
        assert covered >= expected_counts(confidence)[0]
        assert covered <= expected_counts(1 - (1 - confidence) / 2)[1]


class TestRunsThatDoNotDiffer:
    """True variance 0: the estimate is negative more often than not, and is taken as 0."""

    squares = simulated(0.0, 0.4, 0.6)

    def test_negative_as_often_as_f_is_below_1(self):
        fewest, most = expected_counts(stats.f.cdf(1.0, RUNS - 1, (RUNS - 1) * (TOPICS - 1)))
        assert fewest <= (components(self.squares)[0] < 0).sum() <= most

    @pytest.mark.parametrize("ratios", [relative_ratios, absolute_ratios])
    def test_interval_holds_0_unless_its_lower_end_is_wrong(self, ratios):
        """No upper end can be too low, so half of the misses are gone: 97.5 % coverage by a 95 % interval."""
        value, low, high = ratios(self.squares, 0.95)
        fewest, most = expected_counts(0.025)
        assert fewest <= (low > 0).sum() <= most
        assert (value >= 0).all()
        assert ((low <= value) & (value <= high)).all()
