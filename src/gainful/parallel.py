"""How work is gone through piece by piece, here or elsewhere; see `gainful.engine`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from gainful.progress import track

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Done = TypeVar("Done")


class Apply(Protocol):
    """Goes through pieces of work.

    The function is at the top of a module, where another process can find it; the `total` items are small. What all of
    them share is sent once to where the work is done. A progress bar shows the label.
    """

    def __call__(
        self, function: Callable[[Shared, Item], Done], items: Iterable[Item], *, shared: Shared, total: int, label: str
    ) -> Iterator[Done]:
        """`function(shared, item)` of every item, in their order."""
        ...


def here(
    function: Callable[[Shared, Item], Done], items: Iterable[Item], *, shared: Shared, total: int, label: str
) -> Iterator[Done]:
    """One after another, in this process."""
    for item in track(items, total, label):
        yield function(shared, item)
