"""How scores were made is told with every result of them: in its line, in its dict."""

from __future__ import annotations

import pytest

import gainful as gf

ANALYSES = {
    "reliability": gf.reliability,
    "stability": gf.stability,
    "sensitivity": lambda scores: gf.sensitivity(scores, methods="t"),
    "compare": gf.compare,
    "agreement": lambda scores: gf.agreement(scores, resamples=10),
    "topics": gf.topics,
}


@pytest.fixture(scope="module")
def scores():
    made = gf.simulate(topics=8, systems=4, depth=20, seed=1)
    return gf.evaluate(made.qrels, made.runs, ["AP", "nDCG@10"], ties="order", unjudged="condensed")


@pytest.mark.parametrize("name", ANALYSES)
def test_of_evaluate(scores, name):
    found = ANALYSES[name](scores)
    words = "ties=order unjudged=condensed missing=empty degenerate=zero duplicates=error"
    assert str(found).endswith(f" {words}")
    assert found.to_dict()["settings"]["policies"] == dict(word.split("=") for word in words.split())


@pytest.mark.parametrize("name", ANALYSES)
def test_a_table_does_not_tell(scores, name):
    found = ANALYSES[name](scores.to_frame())
    assert "ties=" not in str(found)
    assert found.to_dict()["settings"]["policies"] is None


def test_scores_of_a_table(scores):
    table = gf.read_scores(scores.to_frame())
    assert table.policies is None
    assert "ties=" not in str(table)
    assert table.to_dict()["policies"] is None
