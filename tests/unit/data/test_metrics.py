"""Scores under names that trackers take."""

from __future__ import annotations

import re

import pytest

import gainful as gf
from gainful.data.metrics import metric_name

QRELS, RUN = {"1": {"a": 1}}, {"1": ["b", "a"]}


def test_names_are_flat_and_taken_by_mlflow():
    measures = ["nDCG@10", "RR", "RBP(p=0.5)", "nDCGf(gain={-1: -2})@3", "nDCG(discount=[1, 0.5])"]
    found = gf.evaluate(QRELS, RUN, measures).to_metrics()
    assert list(found)[:3] == ["nDCG_at_10", "RR", "RBP_p_0.5"]
    assert found["RR"] == 0.5
    assert all(re.fullmatch(r"[\w.\-/ ]+", name) for name in found)  # what MLflow says it takes


def test_several_runs_stand_apart():
    found = gf.evaluate(QRELS, {"a/b": RUN, "x": {"1": ["a"]}}, "RR").to_metrics()
    assert found == {"a_b/RR": 0.5, "x/RR": 1.0}
    with pytest.raises(gf.DataError, match="two scores would be called 'a_b/RR': rename a run"):
        gf.evaluate(QRELS, {"a/b": RUN, "a b": RUN}, "RR").to_metrics()


def test_no_two_measures_share_a_name():
    assert metric_name("AP") != metric_name("AP@10") != metric_name("AP(rel=10)")
