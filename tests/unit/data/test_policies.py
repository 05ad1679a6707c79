import re

import pytest

from gainful.data.policies import Policies
from gainful.errors import PolicyError


def test_defaults():
    assert str(Policies()) == "ties=trec unjudged=zero missing=empty degenerate=zero duplicates=error"
    assert Policies() == Policies(ties="trec", missing="empty")
    assert Policies(ties="order").to_dict() == {
        "ties": "order",
        "unjudged": "zero",
        "missing": "empty",
        "degenerate": "zero",
        "duplicates": "error",
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"ties": "expect"},
            "The 'ties' policy must be one of trec, order, expected, got 'expect' instead. Did you mean 'expected'?",
        ),
        ({"unjudged": "one"}, "The 'unjudged' policy must be one of zero, condensed, got 'one' instead."),
        ({"missing": None}, "The 'missing' policy must be one of empty, skip, error, got None instead."),
        (
            {"degenerate": "Zero"},
            "The 'degenerate' policy must be one of zero, nan, skip, one, got 'Zero' instead. Did you mean 'zero'?",
        ),
        ({"duplicates": 1}, "The 'duplicates' policy must be one of error, first, got 1 instead."),
    ],
)
def test_errors(given, message):
    with pytest.raises(PolicyError, match=f"^{re.escape(message)}$"):
        Policies(**given)
