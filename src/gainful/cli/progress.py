"""Bars on stderr while something takes long; nothing where nobody would see them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gainful.progress import tracked_by

if TYPE_CHECKING:
    from rich.progress import Progress

    from gainful.data.run import LargeRun, RawRun, Run

T = TypeVar("T")

# Fewer files are read before a bar would have been noticed.
_MANY = 20


@contextmanager
def reading(runs: list[str], *, here: bool) -> Iterator[Iterable[str] | Iterable[Run | RawRun | LargeRun]]:
    """The runs to hand on: as given, or counted by a bar while they are read `here`."""
    countable = all(Path(run).is_file() for run in runs)  # a folder or a pattern may hold any number
    if not here or (countable and len(runs) < _MANY) or not sys.stderr.isatty():
        yield runs
        return
    from gainful.io.read import iterate_runs

    with _bar() as bar:
        yield bar.track(
            iterate_runs(runs, raw=True), total=len(runs) if countable else None, description="Reading runs"
        )


@contextmanager
def bars() -> Iterator[None]:
    """Show how far the work inside is, for all that `gainful.progress.track` is told."""
    if not sys.stderr.isatty():
        yield
        return

    active: list[str] = []

    def shown(steps: Iterable[T], total: int, label: str) -> Iterable[T]:
        if total < 2 or active:  # work within work has no bar of its own
            yield from steps
            return
        active.append(label)
        try:
            with _bar() as bar:
                yield from bar.track(steps, total=total, description=label)
        finally:
            active.pop()

    with tracked_by(shown):
        yield


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
