"""What analyses refuse, in the same words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

from gainful.errors import GainfulError


def check_share(name: str, value: Any) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not (is_number(value) and 0.0 < value < 1.0):
        raise GainfulError(f"{name}: expected a number between 0 and 1, both excluded, got {value}")


def check_count(name: str, value: Any, *, least: int = 1, why: str = "") -> None:
    """Refuse what is not a whole number from `least` on, and tell why it has to be, if there is more to say."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise GainfulError(f"{name}: expected a whole number of at least {least}{why}, got {value}")


def check_finite(name: str, value: Any) -> None:
    """Refuse what is not a finite number."""
    if not (is_number(value) and math.isfinite(value)):
        raise GainfulError(f"{name}: expected a finite number, got {value}")


def check_sizes(sizes: Sequence[int], *, least: int = 1, most: int | None = None) -> tuple[int, ...]:
    """The numbers of topics as integers; refuses none, and any that is not whole or beyond `least` and `most`."""
    wanted = f"at least {least}" if most is None else f"from {least} to the {most} there are"
    given = check_numbers("sizes", sizes, "5, 10")
    wrong = [size for size in given if not (float(size).is_integer() and least <= size <= (most or size))]
    if wrong or not given:
        got = wrong[0] if wrong else "none"
        raise GainfulError(f"sizes: expected numbers of topics, whole and {wanted}, got {got}")
    return tuple(int(size) for size in given)


def check_numbers(name: str, values: Any, example: str) -> list[float]:
    """The numbers as a list; refuses a single one, and what is none."""
    given = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else None
    if given is None or not all(is_number(value) for value in given):
        raise GainfulError(f"{name}: expected a list of numbers such as [{example}], got {values!r}")
    return given


def check_cutoffs(name: str, cutoffs: Any, *, least: int = 1) -> tuple[int, ...]:
    """The cutoffs, each once and in order; refuses none, and any that is not a whole number from `least` on."""
    given = check_numbers(name, cutoffs, "10, 20")
    if not given:
        raise GainfulError(f"{name}: expected at least one, got none")
    for cutoff in given:
        check_count(name, cutoff, least=least)
    return tuple(sorted({int(cutoff) for cutoff in given}))


def is_number(value: object) -> bool:
    """Whether it is one; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)
