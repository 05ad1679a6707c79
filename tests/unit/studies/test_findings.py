"""Whether a finding holds is decided by numbers."""

import math

import numpy as np
import pytest

from gainful.studies.findings import decide, each


@pytest.mark.parametrize(
    "numbers",
    [(math.nan,), (1.0, math.nan), ([0.5, math.nan],), ({"a": math.nan},), (np.array([[0.0, math.nan]]),)],
)
def test_undefined_numbers_decide_nothing(numbers):
    assert decide("sea", "it is so", True, "", *numbers).holds is None


@pytest.mark.parametrize("holds", [True, False, np.bool_(True)])
def test_the_others_do(holds):
    """Whatever the evidence says in words."""
    found = decide("sea", "it is so", holds, "banana and nan", 1.0, {"a": math.inf}, (0, 1))
    assert (found.holds, type(found.holds)) == (bool(holds), bool)


def test_numbers_under_their_names():
    assert each({"a": 0.5, "b": math.nan}, ".1%") == "a 50.0%, b undefined"
