from math import isnan

import pytest

from gainful.measures import parse_measure
from worlds import one_topic, worked_example


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SetP", 2 / 6),
        ("SetP(rel=2)", 1 / 6),
        ("SetR", 2 / 3),
        ("SetF", 2 * (2 / 6) * (2 / 3) / (2 / 6 + 2 / 3)),
        ("SetF(beta=2)", 5 * (2 / 6) * (2 / 3) / (4 * (2 / 6) + 2 / 3)),
        ("Judged@1", 1),
        ("Judged@3", 2 / 3),
        ("Judged@6", 4 / 6),  # what is pooled but not judged is not judged
        ("Judged@100", 4 / 6),
        ("NumRet", 6),
        ("NumRet@4", 4),
        ("NumRel", 3),
        ("NumRel(rel=2)", 1),
        ("NumRelRet", 2),
        ("NumRelRet@4", 1),
        ("NumQ", 1),
    ],
)
def test_worked_example(text, expected):
    assert parse_measure(text).compute(worked_example()).tolist() == pytest.approx([expected], abs=1e-15)


def test_condensed():
    """Without the documents that are not judged four are returned: 0, 2, -2, 1."""
    rankings = worked_example(unjudged="condensed")
    values = {text: parse_measure(text).compute(rankings)[0] for text in ("SetP", "NumRet", "Judged@3", "RR", "P@4")}
    assert values == {"SetP": 2 / 4, "NumRet": 4, "Judged@3": 1, "RR": 1 / 2, "P@4": 2 / 4}


def test_empty_ranking():
    empty = one_topic([1, 0], [])
    for text in ("SetP", "SetR", "SetF", "NumRet", "NumRelRet"):
        assert parse_measure(text).compute(empty).tolist() == [0.0], text
    assert isnan(parse_measure("Judged@3").compute(empty)[0])


@pytest.mark.parametrize("text", ["SetR", "SetF"])
def test_undefined_without_relevant_documents(text):
    assert isnan(parse_measure(text).compute(one_topic([0], [0]))[0])
    assert isnan(parse_measure(text).compute(one_topic([0], []))[0])
