"""How work is gone through piece by piece, here or elsewhere; see `gainful.engine`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from gainful.progress import track

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")


class Apply(Protocol):
    """Goes through pieces of work."""

    def __call__(
        self,
        function: Callable[[Shared, Item], Result],
        items: Iterable[Item],
        *,
        shared: Shared,
        total: int,
        label: str,
    ) -> Iterator[Result]:
        """`function(shared, item)` of every item, in their order.

        Parameters
        ----------
        function
            Defined at the top of a module, so that another process can find it.
        items
            What differs from one piece of work to the next, small.
        shared
            What is the same for all, sent to where the work is done once.
        total
            How many items there are.
        label
            What is being done, for a progress bar.
        """
        ...


def here(
    function: Callable[[Shared, Item], Result], items: Iterable[Item], *, shared: Shared, total: int, label: str
) -> Iterator[Result]:
    """One after another, in this process."""
    for item in track(items, total, label):
        yield function(shared, item)
