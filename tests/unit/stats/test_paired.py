"""The tests of all pairs against scipy, one pair at a time, and against plain loops on the same resamples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from gainful.errors import GainfulError
from gainful.progress import tracked_by
from gainful.stats.bootstrap import bootstrap
from gainful.stats.paired import (
    Extremes,
    differing_topics,
    least_p,
    pairs,
    parts_of,
    randomisation,
    sign_flip_p,
    signed_ranks,
    t_test,
    tukey_all,
    tukey_hsd,
    wilcoxon,
)

RESAMPLES = 300
TESTS = {
    "t": t_test,
    "wilcoxon": wilcoxon,
    "randomisation": lambda y, **kw: randomisation(y, resamples=RESAMPLES, seed=1, **kw).p(),
    "studentized": lambda y, **kw: bootstrap(y, resamples=RESAMPLES, seed=1, **kw).p(),
    "shifted": lambda y, **kw: bootstrap(y, variant="shifted", resamples=RESAMPLES, seed=1, **kw).p(),
    "sign": lambda y, **kw: bootstrap(y, variant="sign", resamples=RESAMPLES, seed=1, **kw).p(),
    "tukey": lambda y, **kw: tukey_hsd(y, resamples=RESAMPLES, seed=1, **kw).p(),
}
MONTE_CARLO = sorted(TESTS.keys() - {"t", "wilcoxon"})
# Multiples of 1/64 add up without rounding, so that scipy sees the ties that there are.
dyadic = st.integers(0, 64).map(lambda i: i / 64)
matrices = st.tuples(st.integers(2, 5), st.integers(2, 17)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=dyadic)
)


def normal(systems: int, topics: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=topics) + rng.normal(size=(systems, topics)) + np.linspace(0, 0.6, systems)[:, None]


def each_pair(scores, p_of):
    full = np.ones((len(scores), len(scores)))
    for i, j in itertools.combinations(range(len(scores)), 2):
        full[i, j] = full[j, i] = p_of(scores[i], scores[j])
    return full


class TestT:
    @pytest.mark.parametrize("topics", [2, 3, 50, 700])
    def test_scipy(self, topics):
        scores = normal(6, topics)
        expected = each_pair(scores, lambda x, y: stats.ttest_rel(x, y).pvalue)
        np.testing.assert_allclose(t_test(scores), expected, rtol=1e-9)

    def test_no_variance(self):
        scores = np.array([[0.1, 0.2, 0.7], [0.3, 0.4, 0.9], [0.1, 0.2, 0.7]])
        np.testing.assert_array_equal(t_test(scores), [[1, 1 / 4, 1], [1 / 4, 1, 1 / 4], [1, 1 / 4, 1]])
        np.testing.assert_allclose(t_test(scores), randomisation(scores, resamples=99, seed=0).p())

    def test_no_variance_is_never_0(self):
        assert 0 < t_test(np.array([np.zeros(3000), np.ones(3000)]))[0, 1] < 1e-300


class TestWilcoxon:
    @pytest.mark.parametrize("topics", [5, 13, 14, 50, 51, 200])
    def test_scipy_without_ties(self, topics):
        scores = normal(6, topics)
        expected = each_pair(scores, lambda x, y: stats.wilcoxon(x, y).pvalue)
        np.testing.assert_allclose(wilcoxon(scores), expected, rtol=1e-9)

    @pytest.mark.parametrize(("systems", "topics"), [(6, 4), (4, 8), (2, 12)])
    def test_scipy_with_few_topics_and_ties(self, systems, topics):
        scores = np.random.default_rng(topics).integers(0, 4, (systems, topics)) / 4
        expected = each_pair(scores, lambda x, y: stats.wilcoxon(x, y).pvalue)
        np.testing.assert_allclose(wilcoxon(scores), expected, rtol=1e-9)

    @pytest.mark.parametrize("topics", [40, 120])
    def test_scipy_with_ties(self, topics):
        scores = np.random.default_rng(topics).integers(0, 9, (6, topics)) / 8
        assert min((a != b).sum() for a, b in itertools.combinations(scores, 2)) > 13
        expected = each_pair(scores, lambda x, y: stats.wilcoxon(x, y, method="asymptotic").pvalue)
        np.testing.assert_allclose(wilcoxon(scores), expected, rtol=1e-9)

    @pytest.mark.parametrize("topics", [14, 20, 50])
    def test_one_tie_is_enough_for_the_normal_distribution(self, topics):
        """Two of the differences are the same size, which takes 1/2 from the sum of squared ranks."""
        z = np.arange(1.0, topics + 1) / 64 * np.where(np.arange(topics) % 3, 1, -1)
        untied = np.array([z, np.zeros(topics)])
        z[1] = -z[0]
        tied = np.array([z, np.zeros(topics)])
        approximate = [stats.wilcoxon(scores[0], method="asymptotic").pvalue for scores in (tied, untied)]
        assert wilcoxon(tied)[0, 1] == pytest.approx(approximate[0], rel=1e-12)
        assert wilcoxon(untied)[0, 1] == pytest.approx(stats.wilcoxon(untied[0], method="exact").pvalue, rel=1e-12)
        assert wilcoxon(untied)[0, 1] != pytest.approx(approximate[1], rel=1e-6)

    def test_a_tie_elsewhere_changes_nothing(self):
        """scipy's test of many rows at once takes a tie in one of them as a reason to approximate all of them."""
        scores = normal(2, 30)
        with_ties = np.vstack([scores, np.round(scores[0]), np.round(scores[1])])
        assert wilcoxon(with_ties)[0, 1] == wilcoxon(scores)[0, 1] == pytest.approx(stats.wilcoxon(*scores).pvalue)
        # Nor does a pair that differs on other topics, or fewer: each has the p-value that it has alone.
        several = np.vstack([with_ties, np.where(np.arange(30) < 10, *scores), np.where(np.arange(30) < 17, *scores)])
        np.testing.assert_array_equal(
            wilcoxon(several), each_pair(several, lambda x, y: wilcoxon(np.array([x, y]))[0, 1])
        )

    def test_few_differences_are_enumerated_however_many_topics(self):
        """Four equal differences of one sign among 60 topics: 2 of 16 sign flips are as extreme, not p = 0.046."""
        scores = np.zeros((2, 60))
        scores[0, :4] = 0.5
        assert wilcoxon(scores)[0, 1] == 2 / 16

    def test_flips_in_several_blocks(self, monkeypatch):
        scores = normal(4, 8)
        expected = wilcoxon(scores)
        monkeypatch.setattr("gainful.stats.resample.BLOCK", 50)
        np.testing.assert_array_equal(wilcoxon(scores), expected)

    def test_few_differences_with_ties_by_hand(self):
        z = np.array([0.5, 0.5, -0.25, 0.75, 0.0])  # ranks 2.5, 2.5, 1, 4: |2.5 + 2.5 - 1 + 4| = 8
        ranks = [2.5, 2.5, 1, 4]
        sums = [abs(np.dot(signs, ranks)) for signs in itertools.product((1, -1), repeat=4)]
        assert wilcoxon(np.array([z, np.zeros(5)]))[0, 1] == np.mean([total >= 8 for total in sums])

    def test_rounding_makes_no_order(self):
        """0.3 - 0.2 and 0.2 - 0.1 differ in the last bit: the same rank nevertheless."""
        tenths = np.array([[3, 2, 9, 1, 5, 7, 8, 2], [2, 1, 4, 2, 3, 5, 9, 4]])
        assert (0.3 - 0.2) != (0.2 - 0.1)
        np.testing.assert_array_equal(wilcoxon(tenths / 10), wilcoxon(tenths.astype(float)))

    def test_zeros_are_dropped(self):
        scores = normal(2, 20)
        padded = np.hstack([scores, np.ones((2, 7))])
        assert wilcoxon(padded)[0, 1] == wilcoxon(scores)[0, 1]


class TestRandomisation:
    def test_exact_is_scipys(self):
        scores = normal(4, 8)
        found = randomisation(scores, resamples=10_000, seed=0)
        expected = each_pair(
            scores,
            lambda x, y: stats.permutation_test(
                (x, y), lambda a, b, axis: np.mean(a - b, axis), permutation_type="samples", vectorized=True,
                n_resamples=np.inf,
            ).pvalue,
        )  # fmt: skip
        assert (found.exact, found.resamples) == (True, 256)
        np.testing.assert_allclose(found.p(), expected, rtol=1e-12)

    @pytest.mark.parametrize(("resamples", "exact", "made"), [(255, False, 255), (256, True, 256), (257, True, 256)])
    def test_exact_where_all_flips_are_no_more_than_the_resamples(self, resamples, exact, made):
        found = randomisation(normal(3, 8), resamples=resamples, seed=0)
        assert (found.exact, found.resamples) == (exact, made)

    def test_exact_in_several_blocks(self, monkeypatch):
        scores = normal(4, 8)
        expected = randomisation(scores, resamples=256, seed=0).counts
        monkeypatch.setattr("gainful.stats.resample.BLOCK", 50)
        np.testing.assert_array_equal(randomisation(scores, resamples=256, seed=0).counts, expected)

    @pytest.mark.parametrize("scores", [normal(4, 20), np.random.default_rng(5).integers(0, 3, (4, 20)) / 10])
    def test_plain_loop_on_the_same_flips(self, scores):
        found = randomisation(scores, resamples=200, seed=7)
        flips = np.random.default_rng(7).integers(2, size=(200, 20)) * 2 - 1

        def count(x, y):
            z = x - y
            return sum(abs((sign * z).mean()) >= abs(z.mean()) - 1e-12 for sign in flips)

        expected = each_pair(scores, count)
        np.fill_diagonal(expected, 200)
        np.testing.assert_array_equal(found.counts, expected)
        assert found.counts.dtype == np.int64
        np.testing.assert_allclose(found.p(), (expected + 1) / 201)

    def test_scipy_within_monte_carlo_error(self):
        x, y = normal(2, 25, seed=3)
        ours = randomisation(np.array([x, y]), resamples=20_000, seed=0).p()[0, 1]
        theirs = stats.permutation_test(
            (x, y), lambda a, b, axis: np.mean(a - b, axis), permutation_type="samples", vectorized=True,
            n_resamples=20_000, rng=1,
        ).pvalue  # fmt: skip
        assert abs(ours - theirs) < 5 * np.sqrt(2 * ours * (1 - ours) / 20_000)


class TestTukey:
    @pytest.mark.parametrize("scores", [normal(5, 12), np.random.default_rng(5).integers(0, 3, (5, 6)) / 10])
    def test_plain_loop_on_the_same_deals(self, scores):
        found = tukey_hsd(scores, resamples=200, seed=7)
        rng = np.random.default_rng(7)
        ranges = []
        for _ in range(200):
            means = rng.permuted(scores, axis=0).mean(axis=1)
            ranges.append(means.max() - means.min())

        def count(x, y):
            return sum(largest >= abs(x.mean() - y.mean()) - 1e-12 for largest in ranges)

        expected = each_pair(scores, count)
        np.fill_diagonal(expected, 200)
        np.testing.assert_array_equal(found.counts, expected)

    def test_studentised_range_on_normal_scores(self):
        """With many topics and normal scores it comes to Tukey's own test on the residuals of a two-way ANOVA."""
        systems, topics = 5, 200
        scores = np.random.default_rng(2).normal(size=(systems, topics))
        found = tukey_hsd(scores, resamples=20_000, seed=0).p()
        residuals = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
        df = (systems - 1) * (topics - 1)
        error = np.sqrt((residuals**2).sum() / df / topics)
        gaps = np.abs(scores.mean(axis=1)[:, None] - scores.mean(axis=1)[None, :])
        expected = stats.studentized_range.sf(gaps / error, systems, df)
        assert ((expected > 0.02) & (expected < 0.9)).sum() > 8
        np.testing.assert_allclose(found, np.where(np.eye(systems), 1.0, expected), atol=0.025)


@pytest.mark.parametrize("name", TESTS)
class TestEvery:
    @settings(max_examples=25, deadline=None)
    @given(scores=matrices)
    def test_symmetric_in_range(self, name, scores):
        p = TESTS[name](scores)
        assert p.shape == (len(scores), len(scores))
        np.testing.assert_array_equal(p, p.T)
        np.testing.assert_array_equal(np.diag(p), 1.0)
        assert ((p >= 0) & (p <= 1)).all()

    def test_identical_runs(self, name):
        scores = np.repeat(normal(1, 9), 3, axis=0)
        np.testing.assert_array_equal(TESTS[name](scores), 1.0)

    def test_identical_but_for_rounding(self, name):
        scores = np.random.default_rng(1).integers(1, 9, (1, 9)) / 10
        np.testing.assert_array_equal(TESTS[name](np.vstack([scores, scores * 3 / 3 + 0.1 - 0.1])), 1.0)

    def test_means_equal_but_for_rounding(self, name):
        scores = np.array([[0.3, 0.1, 0.7, 0.5], [0.2, 0.2, 0.6, 0.6]])
        assert (scores[0] - scores[1]).mean() != 0
        np.testing.assert_array_equal(TESTS[name](scores), 1.0)

    def test_what_all_systems_share_has_no_part(self, name):
        scores = np.round(normal(4, 14) * 64) / 64
        np.testing.assert_allclose(TESTS[name](scores + np.arange(14)), TESTS[name](scores), rtol=1e-12)

    def test_scale_has_no_part(self, name):
        scores = normal(4, 14)
        np.testing.assert_allclose(TESTS[name](scores * 2.0**-40), TESTS[name](scores), rtol=1e-12)

    @pytest.mark.parametrize("scale", [1e200, 1e-300])
    def test_huge_and_tiny_scores(self, name, scale):
        """Their squares would be infinite or 0. (Means of small scores, as of large ones, are exact by powers of 2.)"""
        exact = 2.0 ** round(math.log2(scale))
        scores = normal(4, 14)
        np.testing.assert_allclose(TESTS[name](scores * exact), TESTS[name](scores), rtol=1e-12)

    @pytest.mark.parametrize("against", [0, 2, 4])
    def test_against_one_is_its_row(self, name, against):
        scores = normal(5, 14)
        if name in ("t", "wilcoxon"):
            np.testing.assert_allclose(TESTS[name](scores, against=against), TESTS[name](scores)[against], rtol=1e-12)
        else:
            np.testing.assert_array_equal(TESTS[name](scores, against=against), TESTS[name](scores)[against])

    def test_block_size_has_no_part(self, name, monkeypatch):
        scores = normal(5, 14)
        expected = TESTS[name](scores)
        monkeypatch.setattr("gainful.stats.resample.BLOCK", 500)
        np.testing.assert_array_equal(TESTS[name](scores), expected)

    def test_real_differences_are_found(self, name):
        scores = normal(2, 40) + np.array([[0.0], [3.0]])
        assert TESTS[name](scores)[0, 1] < 0.01


@pytest.mark.parametrize("name", ["t", "wilcoxon"])
def test_order_of_topics_has_no_part(name):
    scores = normal(4, 30)
    shuffled = scores[:, np.random.default_rng(0).permutation(30)]
    np.testing.assert_allclose(TESTS[name](shuffled), TESTS[name](scores), rtol=1e-9)


@pytest.mark.parametrize("name", sorted(TESTS.keys() - {"tukey"}))  # which deals the scores of all systems anew
def test_scores_of_other_systems_have_no_part(name):
    """Not even in what counts as rounding: a third run of 10¹⁴ would make all differences of two others none."""
    scores = normal(2, 14)
    with_third = np.vstack([scores, np.full(14, 1e14)])
    assert TESTS[name](with_third)[0, 1] == pytest.approx(TESTS[name](scores)[0, 1], rel=1e-12)


class TestSignedRanks:
    def test_by_hand(self):
        z = np.array([[0.5, -0.25, 0.0, 0.75, -0.75]])  # sizes 2nd, 1st, none, and two that share 3rd and 4th
        scores = np.vstack([z, np.zeros((1, 5))])
        np.testing.assert_array_equal(signed_ranks(scores, *pairs(2)), [[2, -1, 0, 3.5, -3.5]])

    def test_as_scipys_sum(self):
        scores = normal(2, 30)
        found = signed_ranks(scores, *pairs(2))[0]
        positive = stats.wilcoxon(*scores, alternative="greater").statistic  # the sum of the positive ranks
        assert found[found > 0].sum() == positive
        assert -found[found < 0].sum() == 30 * 31 / 2 - positive

    def test_a_difference_just_above_rounding_has_a_rank_of_its_own(self):
        scores = np.array([[1.0 + 1e-13, 1.0, 0.5], [1.0, 1.0, 0.0]])
        np.testing.assert_array_equal(signed_ranks(scores, *pairs(2)), [[1, 0, 2]])


def test_progress(monkeypatch):
    """In blocks of about 100 numbers: pairs or topics, whichever are more; all scores; pairs."""
    monkeypatch.setattr("gainful.stats.resample.BLOCK", 100)
    seen = []

    def tracker(steps, total, label):
        seen.append((total, label))
        return steps

    with tracked_by(tracker):
        randomisation(normal(5, 14), resamples=20, seed=0)  # 7 flips of 14 topics
        randomisation(normal(8, 14), resamples=20, seed=0)  # 3 flips of 28 pairs
        tukey_hsd(normal(5, 14), resamples=20, seed=0)  # 1 deal of 70 scores
        wilcoxon(normal(5, 6))  # 10 flips of 10 pairs, of 64
        tukey_all([normal(2, 3)] * 4, resamples=1, seed=0)
    assert seen == [
        (3, "Randomising"),
        (7, "Randomising"),
        (20, "Randomising"),
        (7, "Ranking"),
        (4, "Randomising"),
        *[(1, "Randomising")] * 4,
    ]


@pytest.mark.parametrize("name", MONTE_CARLO)
def test_never_zero(name):
    scores = np.random.default_rng(0).random((3, 30)) + np.array([[0.0], [10.0], [20.0]])
    np.testing.assert_allclose(TESTS[name](scores)[np.triu_indices(3, 1)], 1 / (RESAMPLES + 1))


class TestExtremes:
    def test_random_choice(self):
        found = Extremes(counts=np.array([[9, 0], [0, 9]]), resamples=9)
        np.testing.assert_allclose(found.p(), [[1.0, 0.1], [0.1, 1.0]])
        np.testing.assert_allclose(found.share(), [[1.0, 0.0], [0.0, 1.0]])

    def test_all_there_are(self):
        np.testing.assert_allclose(Extremes(counts=np.array([2, 8]), resamples=8, exact=True).p(), [0.25, 1.0])


def test_pairs():
    assert [list(side) for side in pairs(3)] == [[0, 0, 1], [1, 2, 2]]
    assert [list(side) for side in pairs(3, 1)] == [[0, 2], [1, 1]]


@pytest.mark.parametrize("test", [randomisation, bootstrap, tukey_hsd])
def test_refused(test):
    with pytest.raises(GainfulError, match=r"^resamples: expected a whole number of at least 1, got 0$"):
        test(normal(2, 5), resamples=0, seed=0)
    with pytest.raises(GainfulError, match=r"^seed: expected a whole number of at least 0, got -1$"):
        test(normal(2, 5), resamples=9, seed=-1)


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_differing_topics(monkeypatch, block):
    """Rounding, as that of 0.1 + 0.2, is no difference; nor is it more of one if scores are larger."""
    monkeypatch.setattr("gainful.stats.paired.BLOCK", block)
    scores = np.array([[0.3, 0.5, 1.0], [0.1 + 0.2, 0.5, 0.9], [0.3, 0.4, 1.0 + 5e-15], [3e9, 5e9, 1e10]])
    assert scores[0, 0] != scores[1, 0]
    assert differing_topics(scores).tolist() == [1, 1, 3, 2, 3, 3]  # pairs 01, 02, 03, 12, 13, 23
    assert differing_topics(np.array([[1e10], [1e10 + 5e-5]])).tolist() == [0]


@pytest.mark.parametrize(
    ("total", "most", "parts"),
    [(10, 4, [(0, 3), (3, 6), (6, 10)]), (4, 4, [(0, 4)]), (5, 4, [(0, 2), (2, 5)]), (0, 3, [])],
)
def test_parts(total, most, parts):
    assert parts_of(total, most) == parts


def test_p_of_equal_differences():
    assert [sign_flip_p(n) for n in (1, 2, 3, 11)] == [1, 1 / 2, 1 / 4, 1 / 1024]
    assert sign_flip_p(5000) == 5e-324  # the smallest number above 0


@pytest.mark.parametrize(
    ("test", "topics", "systems", "resamples", "least"),
    [
        ("t", 5, 3, 9, 0.0),
        ("wilcoxon", 5, 3, 9, 2 / 2**5),
        ("wilcoxon", 2000, 3, 9, 0.0),
        ("randomisation", 5, 3, 32, 2 / 2**5),
        ("randomisation", 5, 3, 99, 2 / 2**5),
        ("randomisation", 10, 3, 99, 1 / 100),
        ("randomisation", 2000, 3, 99, 1 / 100),
        ("bootstrap", 3, 3, 99, 2 / 3**3),
        ("bootstrap", 5, 3, 99, 1 / 100),
        ("bootstrap", 500, 3, 99, 1 / 100),
        ("tukey", 2, 3, 99, 1 / (3 * 2)),
        ("tukey", 3, 3, 99, 1 / (3 * 2) ** 2),
        ("tukey", 4, 3, 99, 1 / 100),
        ("tukey", 2, 30, 99, 1 / 100),
    ],
)
def test_least_p(test, topics, systems, resamples, least):
    assert least_p(test, topics, systems, resamples) == pytest.approx(least, rel=1e-12, abs=0)


@pytest.mark.parametrize("against", [None, 1])
def test_tukey_of_several_matrices(against):
    matrices = [normal(3, 6), normal(3, 9, seed=1)]
    found = tukey_all(matrices, resamples=50, seed=4, against=against)
    assert [one.resamples for one in found] == [50, 50]
    for one, scores in zip(found, matrices, strict=True):
        np.testing.assert_array_equal(one.counts, tukey_hsd(scores, resamples=50, seed=4, against=against).counts)
