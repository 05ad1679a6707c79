"""Equivalence by two one-sided tests: by statsmodels, and where nothing varies."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

from gainful.errors import GainfulError
from gainful.verbs.compare import compare

RNG = np.random.default_rng(0)
Y = RNG.random((4, 30)) * 0.3 + RNG.random(30) * 0.5


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.2])
def test_statsmodels(margin):
    rows = compare(Y).equivalent(margin)
    theirs = [ttost_paired(Y[i], Y[j], -margin, margin)[0] for i in range(4) for j in range(i + 1, 4)]
    assert rows["p"].to_list() == pytest.approx(theirs, rel=1e-10, abs=1e-300)
    assert rows["p_corrected"].to_list() == pytest.approx(multipletests(theirs, method="holm")[1], rel=1e-10)
    assert rows["equivalent"].to_list() == [p < 0.05 for p in multipletests(theirs, method="holm")[1]]


def test_lower_is_better_or_not():
    """It asks in both directions: a sign changes nothing."""
    assert compare(-Y).equivalent(0.05)["p"].to_list() == pytest.approx(compare(Y).equivalent(0.05)["p"].to_list())


@pytest.mark.parametrize(("topics", "p"), [(3, 1 / 8), (10, 1 / 1024)])
def test_differences_without_variance(topics, p):
    """All signs are the same in one of 2^T cases."""
    base = RNG.random(topics)
    found = compare([base, base + 0.01, base], correction="none").equivalent(0.02)
    assert found["p"].to_list() == pytest.approx([p] * 3)
    assert compare([base, base + 0.05]).equivalent(0.02)["p"].to_list() == [1]


def test_groups():
    """Every group at its own level: within groups the runs are as good as alike."""
    groups = {str(topic): "ab"[topic % 2] for topic in range(1, 31)}
    shift = np.where(np.arange(30) % 2, 0.5, -0.5) + RNG.normal(0, 0.01, 30)
    scores = np.array([Y[0], Y[0] + shift])
    assert compare(scores).equivalent(0.02)["p"][0] > 0.3
    assert compare(scores, groups=groups).equivalent(0.02)["p"][0] < 1e-6


class TestShown:
    def test_table_and_verdict(self):
        found = compare(Y, equivalence=0.2)
        assert found.verdict().endswith(" By TOST, 6 of 6 pairs are shown to differ by less than 0.2.")
        assert "equivalence" in [table.name for table in found.compact()]
        assert len(found.to_dict()["equivalence"]) == 6
        two = compare(Y[:2], equivalence=1e-6)
        assert two.verdict().endswith(" By TOST, it is not shown that the two runs differ by less than 1e-06.")
        assert "equivalence" not in compare(Y).to_dict()

    def test_refused(self):
        with pytest.raises(GainfulError, match=r"^equivalence: expected a number above 0, got 0$"):
            compare(Y, equivalence=0)
        with pytest.raises(GainfulError, match=r"^margin: expected a number above 0, got -1$"):
            compare(Y).equivalent(-1)
