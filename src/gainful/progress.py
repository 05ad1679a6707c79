"""How long work is gone through, here or elsewhere (see `gainful.engine`), and tells how far it is to whoever looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")
Shared = TypeVar("Shared")
Item = TypeVar("Item")
Done = TypeVar("Done")


class Tracker(Protocol):
    """Yields the steps again, and shows how far they are."""

    def __call__(self, steps: Iterable[T], total: int, label: str) -> Iterable[T]:
        """`total` steps of work called `label`."""
        ...


def _unseen(steps: Iterable[T], total: int, label: str) -> Iterable[T]:
    return steps


_tracker: ContextVar[Tracker] = ContextVar("tracker", default=_unseen)


def track(steps: Iterable[T], total: int, label: str) -> Iterable[T]:
    """Go through `total` steps of work called `label`, telling whoever asked by `tracked_by`; nobody by default."""
    return _tracker.get()(steps, total, label)


@contextmanager
def tracked_by(tracker: Tracker) -> Iterator[None]:
    """Hand all that is tracked inside to `tracker(steps, total, label)`, which yields the steps again."""
    token = _tracker.set(tracker)
    try:
        yield
    finally:
        _tracker.reset(token)


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
