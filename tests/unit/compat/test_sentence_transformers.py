"""The evaluator for sentence-transformers, with models that give known scores; docs/ has it with a real one."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

import gainful as gf
from gainful.compat.sentence_transformers import RankingEvaluator

SAMPLES = [
    {"query": "q", "documents": ["aa", "b"], "labels": [1, 0]},
    {"query": "r", "documents": ["c", "dd", "eee"], "labels": [2, -1, 0]},
]


class CrossEncoder:
    """Scores a pair by the length of its document."""

    def predict(self, pairs, **_):
        return np.array([len(document) for _, document in pairs], np.float32)


def test_means_and_intervals(tmp_path):
    evaluator = RankingEvaluator(SAMPLES, ["RR", "Forbidden@2"], name="dev", ties="order")
    found = evaluator(CrossEncoder(), str(tmp_path), epoch=1, steps=5)
    # First query: the relevant document is first. Second: it is last of three, after one that is forbidden.
    assert found["dev_RR"] == pytest.approx((1 + 1 / 3) / 2)
    assert found["dev_Forbidden_at_2"] == pytest.approx((0 + 1 / 2) / 2)
    # Student's interval of two values is huge, and is kept in the range of the measure.
    assert (found["dev_RR_low"], found["dev_RR_high"]) == (0.0, 1.0)
    assert evaluator.primary_metric == "dev_RR"
    with (tmp_path / "ranking_evaluation_dev_results.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["epoch"], row["steps"], float(row["dev_RR"])) == ("1", "5", found["dev_RR"])


def test_ties_are_averaged():
    equal = [{"query": q, "documents": ["aa", "bb"], "labels": [1, 0]} for q in "xyz"]
    found = RankingEvaluator(equal, "nDCG@2")(CrossEncoder())
    assert found["nDCG_at_2"] == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert found["nDCG_at_2_low"] == pytest.approx(found["nDCG_at_2_high"])


def test_lower_may_be_better():
    assert RankingEvaluator(SAMPLES, "nDCG@2").greater_is_better
    assert not RankingEvaluator(SAMPLES, "Forbidden@2").greater_is_better


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([{"query": "q", "positive": []}], "sample 1: expected query, documents and labels, got query, positive"),
        ([SAMPLES[0] | {"labels": [1]}], "sample 1: expected one label per document, got 1 for 2 documents"),
        (SAMPLES[:1], "expected at least 2 samples, one per query, got 1"),
    ],
)
def test_samples_that_are_wrong(samples, message):
    with pytest.raises(gf.DataError, match=message):
        RankingEvaluator(samples)
