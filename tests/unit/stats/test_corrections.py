from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from gainful.stats.paired import corrected

THEIRS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}
families = st.lists(st.one_of(st.floats(1e-12, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=30)


@pytest.mark.parametrize("method", THEIRS)
class TestCorrections:
    @settings(max_examples=20, deadline=None)  # statsmodels collects garbage in every call
    @given(p=families)
    def test_statsmodels(self, method, p):
        np.testing.assert_allclose(corrected(p, method), multipletests(p, method=THEIRS[method])[1], rtol=1e-12)

    @given(p=families)
    def test_never_less_never_above_one(self, method, p):
        found = corrected(p, method)
        assert (found >= p).all()
        assert (found <= 1).all()

    def test_one_test_needs_none(self, method):
        assert corrected([0.03], method).tolist() == [0.03]

    def test_families_are_rows(self, method):
        p = np.random.default_rng(0).random((2, 3, 6))
        expected = [[multipletests(family, method=THEIRS[method])[1] for family in block] for block in p]
        np.testing.assert_allclose(corrected(p, method), expected)

    def test_no_test(self, method):
        assert corrected([], method).tolist() == []


def test_by_hand():
    p = [0.04, 0.01, 0.03]
    np.testing.assert_allclose(corrected(p, "bonferroni"), [0.12, 0.03, 0.09])
    np.testing.assert_allclose(corrected(p, "holm"), [0.06, 0.03, 0.06])
    np.testing.assert_allclose(corrected(p, "bh"), [0.04, 0.03, 0.04])


def test_none_is_a_copy():
    p = np.array([0.2, 0.1])
    found = corrected(p, "none")
    assert found.tolist() == [0.2, 0.1]
    assert not np.shares_memory(found, p)
