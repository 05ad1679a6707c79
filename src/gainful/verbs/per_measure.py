"""What results that have an entry per measure share: how one is looked up, and how a verdict speaks of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from gainful.errors import DataError, did_you_mean


class OfMeasure(Protocol):
    """An entry that knows its measure."""

    @property
    def measure(self) -> str:
        """Its name."""


Entry = TypeVar("Entry", bound=OfMeasure)


def of_measure(entries: Sequence[Entry], measure: str) -> Entry:
    """The entry of a measure, or an error that names those there are."""
    for entry in entries:
        if entry.measure == measure:
            return entry
    names = [entry.measure for entry in entries]
    raise DataError(f"no measure {measure!r}; there are: {', '.join(names)}.{did_you_mean(str(measure), names)}")


def of_others(values: Mapping[str, float], text: Callable[[float], str], one: str, many: str) -> str:
    """The end of a verdict that is about the first measure; nothing if there are no others.

    `one` is the sentence for one other, with gaps for measure and value; `many` that for several, with gaps for the
    lowest and the highest value, each with its measure.

    Examples
    --------
    >>> of_others({"AP": 0.25, "RR": 0.5}, "{:.2f}".format, "Φ of {} is {}.", "Φ of the others is {} to {}.")
    ' Φ of the others is 0.25 (AP) to 0.50 (RR).'
    """
    ordered = sorted(values.items(), key=lambda item: item[1])
    if len(ordered) > 1:
        return " " + many.format(*(f"{text(value)} ({measure})" for measure, value in (ordered[0], ordered[-1])))
    return "".join(f" {one.format(measure, text(value))}" for measure, value in ordered)
