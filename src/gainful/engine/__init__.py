"""Where it runs: this process, or a Dask cluster.

Work is a function over many small descriptions of what to do. Neither where it runs nor how many share it may change a
result: whatever is random is drawn before, and what comes back is put together in the order of the descriptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from gainful.errors import GainfulError, check_choice
from gainful.stats.resample import Apply, here

__all__ = ["Engine", "Work", "open_engine"]

Engine = Literal["local", "dask"]


class Work(Protocol):
    """What does the work.

    Parameters
    ----------
    at_once
        How many pieces are worked on at the same time.
    """

    @property
    def at_once(self) -> int:
        """How many pieces are worked on at the same time."""

    @property
    def map(self) -> Apply:
        """Go through pieces of work; see `gainful.stats.resample.Apply`."""


@dataclass(frozen=True, slots=True)
class Local:
    """One piece after another, in this process."""

    at_once: int = 1
    map: Apply = here


_Settings = tuple[str | None, int | None]
_opened: ContextVar[tuple[_Settings, Work] | None] = ContextVar("opened", default=None)


@contextmanager
def open_engine(
    engine: Engine = "local", *, scheduler: str | None = None, workers: int | None = None
) -> Iterator[Work]:
    """What does the work inside; an engine that is open already with the same settings is used again.

    Parameters
    ----------
    engine
        Where to compute: local (in this process) or dask (on the workers of a Dask cluster).
    scheduler
        With engine dask: the address of a running scheduler, such as tcp://10.0.0.1:8786; by default workers are
        started on this machine, and ended afterwards.
    workers
        With engine dask: how many workers to start on this machine; one a core by default.

    Examples
    --------
    >>> with open_engine("local") as work:
    ...     list(work.map(pow, [1, 2, 3], shared=10, total=3, label="Powers"))
    [10, 100, 1000]
    """
    check_choice("engine", engine, get_args(Engine))
    if engine == "local":
        for name, value in {"scheduler": scheduler, "workers": workers}.items():
            if value is not None:
                raise GainfulError(f"{name}: expected engine='dask' with it, got engine='local'")
        yield Local()
        return
    if scheduler is not None and workers is not None:
        raise GainfulError(f"workers: expected no number with a scheduler, which has workers already, got {workers}")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise GainfulError(f"workers: expected a whole number of at least 1, got {workers!r}")
    settings, opened = (scheduler, workers), _opened.get()
    if opened is not None and opened[0] == settings:
        yield opened[1]
        return
    from gainful.engine.cluster import open_cluster

    with open_cluster(scheduler, workers) as work:
        token = _opened.set((settings, work))
        try:
            yield work
        finally:
            _opened.reset(token)
