"""Agreement of raters against statsmodels, published values, and values of other programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from gainful.stats.raters import agreed, cohen, coincidences_of, counts_of, krippendorff, rates

GRADES = np.arange(4.0)


def random_ratings() -> np.ndarray:
    """60 things, 4 raters who often agree, a quarter missing."""
    rng = np.random.default_rng(5)
    truth = rng.integers(4, size=60)
    codes = np.where(rng.random((60, 4)) < 0.6, truth[:, None], rng.integers(4, size=(60, 4)))
    return np.where(rng.random((60, 4)) < 0.25, -1, codes)


def counted(codes: np.ndarray, labels: int = 4) -> np.ndarray:
    topic = np.arange(len(codes)) % 3
    return counts_of(codes[:, 0], codes[:, 1], topic, topics=3, labels=labels).sum(axis=0)


def coincidences(codes: np.ndarray, labels: int = 4) -> np.ndarray:
    return coincidences_of(codes, np.arange(len(codes)) % 3, topics=3, labels=labels).sum(axis=0)


@pytest.mark.parametrize(
    ("level", "expected"),
    # Of krippendorff 0.9.0, alpha(value_domain=[0, 1, 2, 3]); on 200 other data sets the largest difference is 4e-16.
    [("nominal", 0.39670209866448636), ("ordinal", 0.4651165839059651), ("interval", 0.4616376211606634)],
)
def test_alpha_of_another_program(level, expected):
    assert krippendorff(coincidences(random_ratings()), GRADES, level) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("weights", "expected"),
    # Of scikit-learn 1.9.1, cohen_kappa_score.
    [("none", 0.49306759098786834), ("linear", 0.515527950310559), ("quadratic", 0.5162790697674418)],
)
def test_kappa_of_another_program(weights, expected):
    assert cohen(counted(random_ratings()), GRADES, weights) == pytest.approx(expected, abs=1e-12)


def test_rates_of_another_program():
    """Of scikit-learn's recall_score, of labels from 1 on and of those below."""
    found = rates(counted(random_ratings()), [False, True, True, True])
    assert found == pytest.approx((0.9642857142857143, 0.5454545454545454), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(cells=st.lists(st.integers(0, 30), min_size=9, max_size=9), weights=st.sampled_from(("linear", "quadratic")))
def test_kappa_of_statsmodels(cells, weights):
    table = np.array(cells, np.float64).reshape(3, 3)
    if table[:, 0].sum() + table[0].sum() in (0.0, 2 * table.sum()) or np.count_nonzero(table) < 2:
        return
    theirs = {name: cohens_kappa(table, wt=name, return_results=False) for name in (weights,)}
    plain = cohens_kappa(table, return_results=False)
    if math.isfinite(plain) and math.isfinite(theirs[weights]):
        assert cohen(table, np.arange(3.0)) == pytest.approx(plain, abs=1e-12)
        assert cohen(table, np.arange(3.0), weights) == pytest.approx(theirs[weights], abs=1e-12)


def test_alpha_of_the_textbook():
    """Krippendorff's example of four observers and twelve units: .743 nominal, .815 ordinal, .849 interval."""
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
    found = coincidences(np.array(table).T - 1, labels=5)
    values = np.arange(1.0, 6.0)
    levels = [float(krippendorff(found, values, level)) for level in ("nominal", "ordinal", "interval")]
    assert [round(level, 3) for level in levels] == [0.743, 0.815, 0.849]


def test_weights_are_differences_of_labels():
    """Labels 0, 1 and 3: a slip from 1 to 3 weighs twice as much as one from 0 to 1."""
    counts = np.array([[5.0, 1.0, 0.0], [0.0, 5.0, 1.0], [0.0, 0.0, 5.0]])
    row, column = counts.sum(axis=1), counts.sum(axis=0)
    weight = np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]])
    expected = 1 - (1 * 1 + 1 * 2) / ((np.outer(row, column) / 17) * weight).sum()
    assert cohen(counts, np.array([0.0, 1.0, 3.0]), "linear") == pytest.approx(expected, abs=1e-15)


def test_one_label_only():
    counts = np.array([[7.0, 0.0], [0.0, 0.0]])
    assert np.isnan(cohen(counts, np.array([0.0, 1.0])))
    assert np.isnan(krippendorff(2 * counts, np.array([0.0, 1.0])))
    assert agreed(counts) == 1.0
    sensitivity, specificity = rates(counts, [False, True])
    assert np.isnan(sensitivity)
    assert specificity == 1.0


def test_many_at_once():
    """Leading axes are tables of their own."""
    tables = np.stack([counted(random_ratings()), counted(random_ratings()[::2])])
    both = cohen(tables, GRADES, "quadratic")
    assert both.tolist() == [float(cohen(table, GRADES, "quadratic")) for table in tables]
    ordinal = krippendorff(tables, GRADES, "ordinal")
    assert ordinal == pytest.approx([float(krippendorff(table, GRADES, "ordinal")) for table in tables], abs=1e-15)
