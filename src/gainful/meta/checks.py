"""What analyses refuse, in the same words."""

from __future__ import annotations

from collections.abc import Sequence

from gainful.errors import GainfulError


def check_share(name: str, value: float) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise GainfulError(f"{name}: expected a number between 0 and 1, both excluded, got {value}")


def check_sizes(sizes: Sequence[int], *, least: int = 1) -> tuple[int, ...]:
    """The numbers of topics as integers; refuses none, and any that is not a whole number from `least`."""
    wrong = [size for size in sizes if not (float(size).is_integer() and size >= least)]
    if wrong or not len(sizes):
        got = wrong[0] if wrong else "none"
        raise GainfulError(f"sizes: expected numbers of topics, whole and at least {least}, got {got}")
    return tuple(int(size) for size in sizes)
