"""Against scipy, against ircor (R) by the authors of τ_AP,b, and against plain loops over all orders of the tied."""

from __future__ import annotations

from itertools import permutations, product
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gainful.stats.correlation import kendall, mid_ranks, rbo, rms, spearman, tau_ap

# The data and the results of the tests of ircor 1.0, https://github.com/julian-urbano/ircor: there x is the reference.
SETS = (
    (
        (0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992),
        (0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988),
        (0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1),
        (0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1),
    ),
    (
        (0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38),
        (0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644),
        (0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4),
        (0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6),
    ),
    (
        (0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445),
        (0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25),
        (0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4),
        (0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2),
    ),
)
# Few different numbers, so that there are ties; few things, for all of their orders are gone through.
TIED = st.integers(2, 4).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)))
)
UNTIED = st.integers(2, 9).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))


def orders(scores):
    """Every order, best first, that the scores allow: groups of ties in all of their orders."""
    groups = [[i for i, score in enumerate(scores) if score == value] for value in sorted(set(scores), reverse=True)]
    for choice in product(*(permutations(group) for group in groups)):
        yield [i for group in choice for i in group]


def plain_tau_ap(order, truth):
    """Yilmaz et al. 2008, equation 4, without ties; `truth` is an order, too."""
    n = len(order)
    shares = [
        sum(truth.index(above) < truth.index(order[i]) for above in order[:i]) / i  # C(i)/(i − 1), ranks from 0 here
        for i in range(1, n)
    ]
    return 2 / (n - 1) * sum(shares) - 1


def plain_tau_ap_b(x, y):
    """The mean of both directions; above a thing stands only what is strictly better."""

    def down(order, other):
        shares = []
        for i in range(len(order)):
            above = [j for j in range(len(order)) if order[j] > order[i]]
            if above:
                shares.append(sum(other[j] > other[i] for j in above) / len(above))
        return 2 * fmean(shares) - 1 if shares else float("nan")

    return (down(x, y) + down(y, x)) / 2


def overlaps(x, y):
    """At each depth the mean overlap, in documents, over all orders of what is tied on both sides."""
    found = [
        [len(set(a[:depth]) & set(b[:depth])) for depth in range(1, len(x) + 1)] for a in orders(x) for b in orders(y)
    ]
    return np.mean(found, axis=0)


def plain_rbo(agreement, p):
    """RBO_ext: Webber et al. 2010, equation 23."""
    n = len(agreement)
    return (1 - p) / p * sum(agreement[d - 1] * p**d for d in range(1, n + 1)) + agreement[-1] * p**n


class TestKendall:
    @given(TIED)
    def test_is_scipys(self, both):
        x, y = both
        assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, nan_ok=True)

    @given(TIED)
    def test_a_divides_by_all_pairs(self, both):
        x, y = both
        n = len(x)
        signs = [np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i in range(n) for j in range(i)]
        assert kendall(x, y, variant="a") == pytest.approx(sum(signs) / (n * (n - 1) / 2))

    @pytest.mark.parametrize(
        ("number", "without", "a", "b"),
        [(0, 0.9111, 0.8889, 0.9398), (1, 0.2889, 0.3333, 0.3765), (2, -0.6889, -0.6222, -0.6510)],
    )
    def test_ircor(self, number, without, a, b):
        x, y, x_ties, y_ties = SETS[number]
        assert kendall(x, y) == pytest.approx(without, abs=5e-5)
        assert kendall(x, y_ties, variant="a") == pytest.approx(a, abs=5e-5)
        assert kendall(x_ties, y_ties) == pytest.approx(b, abs=5e-5)


class TestTauAp:
    @given(UNTIED)
    def test_without_ties(self, both):
        x, y = both
        order, truth = next(orders(x)), next(orders(y))
        assert tau_ap(x, y) == pytest.approx(plain_tau_ap(order, truth))
        assert tau_ap(x, y, variant="b") == pytest.approx((plain_tau_ap(order, truth) + plain_tau_ap(truth, order)) / 2)

    @given(TIED)
    def test_a_is_the_mean_over_all_orders(self, both):
        x, y = both
        expected = fmean(plain_tau_ap(order, truth) for order in orders(x) for truth in orders(y))
        assert tau_ap(x, y) == pytest.approx(expected)

    @given(TIED)
    def test_b_goes_down_both_orders(self, both):
        x, y = both
        assert tau_ap(x, y, variant="b") == pytest.approx(plain_tau_ap_b(x, y), nan_ok=True)

    @pytest.mark.parametrize(
        ("number", "without", "a", "symmetric", "b"),
        [
            (0, 0.8519, 0.7454, 0.8333, 0.7321),
            (1, 0.2504, 0.2692, 0.2880, 0.297),
            (2, -0.6971, -0.5558, -0.668, -0.7047),
        ],
    )
    def test_ircor(self, number, without, a, symmetric, b):
        x, y, x_ties, y_ties = SETS[number]
        assert tau_ap(y, x) == pytest.approx(without, abs=5e-5)
        assert tau_ap(y_ties, x) == pytest.approx(a, abs=5e-5)
        assert tau_ap(x, y, variant="b") == pytest.approx(symmetric, abs=5e-5)
        assert tau_ap(x_ties, y_ties, variant="b") == pytest.approx(b, abs=5e-5)

    def test_errors_that_are_spread_evenly_make_it_tau(self):
        # Yilmaz et al. 2008, section 4: over all orders, that is, with errors anywhere, the means are the same: 0.
        everything = np.array(list(permutations(range(5))))
        assert tau_ap(everything, np.arange(5)).mean() == pytest.approx(0.0, abs=1e-12)

    def test_by_hand(self):
        # c a b d for a b c d: of what is above a, b, d, y puts 0/1, 1/2, 3/3 above, too.
        assert tau_ap([2, 1, 3, 0], [3, 2, 1, 0]) == pytest.approx(2 / 3 * (0 + 1 / 2 + 1) - 1)

    def test_the_top_counts_more(self):
        truth = [4, 3, 2, 1, 0]
        top, bottom = tau_ap([[3, 4, 2, 1, 0], [4, 3, 2, 0, 1]], truth)
        assert (top, bottom) == (pytest.approx(2 / 4 * 3 - 1), pytest.approx(2 / 4 * (3 + 3 / 4) - 1))
        assert kendall([3, 4, 2, 1, 0], truth) == kendall([4, 3, 2, 0, 1], truth)


class TestSpearman:
    @given(TIED)
    def test_is_the_correlation_of_ranks(self, both):
        x, y = both
        if len(set(x)) == 1 or len(set(y)) == 1:
            assert np.isnan(spearman(x, y))
        else:
            assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)

    def test_mid_ranks_begin_with_the_highest(self):
        assert mid_ranks([0.2, 0.9, 0.2, 0.5]).tolist() == [3.5, 1.0, 3.5, 2.0]


class TestRbo:
    @given(TIED, st.sampled_from([0.5, 0.9]))
    def test_ties_are_relative_to_the_overlap_of_each_with_itself(self, both, p):
        x, y = both
        agreement = overlaps(x, y) / np.sqrt(overlaps(x, x) * overlaps(y, y))
        assert rbo(x, y, p=p) == pytest.approx(plain_rbo(agreement, p))

    @given(UNTIED)
    def test_without_ties(self, both):
        x, y = both
        assert rbo(x, y) == pytest.approx(plain_rbo(overlaps(x, y) / np.arange(1, len(x) + 1), 0.9))

    def test_by_hand(self):
        # Overlap 0, 2, 3 of 1, 2, 3: (1 − p)/p · (0·p + 1·p² + 1·p³) + p³ at p = .9.
        assert rbo([3, 2, 1], [2, 3, 1], p=0.9) == pytest.approx(0.1 / 0.9 * (0.81 + 0.729) + 0.729)


def test_rms():
    assert rms([1.0, 0.0, 0.5], [0.0, 0.0, 0.0]) == pytest.approx((1.25 / 3) ** 0.5)
    for scale in (1e300, 1e-300):  # whose squares no number holds
        assert rms([scale, 0.0, 0.5 * scale], [0.0, 0.0, 0.0]) == pytest.approx(scale * (1.25 / 3) ** 0.5)
    assert rms([0.5, 0.5], [0.5, 0.5]) == 0.0


COEFFICIENTS = {
    "tau_a": lambda x, y: kendall(x, y, variant="a"),
    "tau_b": kendall,
    "tau_ap": tau_ap,
    "tau_ap_b": lambda x, y: tau_ap(x, y, variant="b"),
    "rho": spearman,
    "rbo": rbo,
    "rms": rms,
}


@pytest.mark.parametrize("name", COEFFICIENTS)
class TestAll:
    def test_leading_axes_are_broadcast(self, name):
        coefficient, rng = COEFFICIENTS[name], np.random.default_rng(0)
        x, y = rng.integers(4, size=(3, 1, 5)), rng.random((2, 5))
        found = coefficient(x, y)
        assert found.shape == (3, 2)
        assert found.tolist() == [[pytest.approx(coefficient(a, b).item()) for b in y] for a in x[:, 0]]

    def test_same_and_reversed(self, name):
        coefficient, x = COEFFICIENTS[name], np.arange(6.0)
        assert coefficient(x, x) == pytest.approx(0.0 if name == "rms" else 1.0)
        if name.startswith(("tau", "rho")):
            assert coefficient(-x, x) == pytest.approx(-1.0)

    def test_an_order_with_ties_agrees_with_itself(self, name):
        if name in ("tau_b", "tau_ap_b", "rho", "rbo"):
            assert COEFFICIENTS[name]([2, 1, 1, 0], [2, 1, 1, 0]) == pytest.approx(1.0)

    def test_all_tied(self, name):
        found = COEFFICIENTS[name]([1.0, 1.0, 1.0], [3.0, 2.0, 1.0])
        if name in ("tau_b", "tau_ap_b", "rho"):
            assert np.isnan(found)
        elif name in ("tau_a", "tau_ap"):
            assert found == pytest.approx(0.0)
        else:
            assert np.isfinite(found)

    def test_nan_makes_nan(self, name):
        found = COEFFICIENTS[name]([[1.0, np.nan, 3.0], [1.0, 2.0, 3.0]], [1.0, 2.0, 3.0])
        assert np.isnan(found).tolist() == [True, False]
