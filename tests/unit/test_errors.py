from __future__ import annotations

import pytest

from gainful.errors import GainfulError, check_choice


def test_a_choice():
    check_choice("by", "mean", ("mean", "topic"))
    check_choice("by", "mean", {"mean": 1, "topic": 2})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("topics", r"by: expected one of mean, topic, got 'topics'. Did you mean 'topic'\?"),
        ("x", r"by: expected one of mean, topic, got 'x'\."),
        (None, r"by: expected one of mean, topic, got None\."),
        (7, r"by: expected one of mean, topic, got 7\."),
    ],
)
def test_no_choice(value, message):
    with pytest.raises(GainfulError, match=f"^{message}$"):
        check_choice("by", value, ("mean", "topic"))
