"""How long work tells how far it is, without knowing who looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


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
