"""A bar on stderr while many runs are read; nothing where nobody would see it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gainful.data.run import Run
from gainful.io.read import iterate_runs

# Fewer files are read before a bar would have been noticed.
_MANY = 20


@contextmanager
def reading(runs: list[str]) -> Iterator[Iterable[str] | Iterable[Run]]:
    """The runs to hand on: as given, or counted by a bar while they are consumed."""
    countable = all(Path(run).is_file() for run in runs)  # a folder or a pattern may hold any number
    if (countable and len(runs) < _MANY) or not sys.stderr.isatty():
        yield runs
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield bar.track(iterate_runs(runs), total=len(runs) if countable else None, description="Reading runs")
