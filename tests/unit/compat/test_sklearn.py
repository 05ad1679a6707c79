"""The metric for scikit-learn; docs/ has it beside scikit-learn's own, and in a cross-validation."""

from __future__ import annotations

import math

import pytest

import gainful as gf
from gainful.compat.sklearn import ranking_score


def test_topics_may_come_in_any_order():
    # Topic a: label 2 is first, of 2 and 0. Topic b: label 1 is second.
    labels, scores, topics = [2, 1, 0, 0], [0.9, 0.1, 0.2, 0.5], ["a", "b", "a", "b"]
    assert ranking_score(labels, scores, groups=topics, measure="nDCG@2") == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert ranking_score(labels, scores, measure="RR", ties="order") == 1.0  # all of one topic


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1, 0], [0.5]), r"expected one score per label, got shapes \(2,\) and \(1,\)"),
        (([1, 0], [0.5, 0.1], [1]), "groups: expected one topic per label, got 1 for 2"),
    ],
)
def test_lengths_that_differ(given, message):
    labels, scores, *groups = given
    with pytest.raises(gf.DataError, match=message):
        ranking_score(labels, scores, groups=groups[0] if groups else None)
