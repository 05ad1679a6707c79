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

from gainful.engine.options import Dask
from gainful.errors import GainfulError, check_choice
from gainful.parallel import Apply, here

__all__ = ["Dask", "Engine", "Work", "open_engine"]

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
        """Go through pieces of work; see `gainful.parallel.Apply`."""


@dataclass(frozen=True, slots=True)
class Local:
    """One piece after another, in this process."""

    at_once: int = 1
    map: Apply = here


_opened: ContextVar[tuple[Dask, Work] | None] = ContextVar("opened", default=None)


def engine_of(engine: str | Dask, scheduler: str | None = None, workers: int | None = None) -> Literal["local"] | Dask:
    """The engine that three words stand for."""
    if isinstance(engine, Dask):
        return engine
    check_choice("engine", engine, get_args(Engine))
    if engine == "dask":
        return Dask(address=scheduler, workers=workers)
    for name, value in {"scheduler": scheduler, "workers": workers}.items():
        if value is not None:
            raise GainfulError(f"{name}: expected engine='dask' with it, got engine='local'")
    return "local"


@contextmanager
def open_engine(
    engine: str | Dask = "local", *, scheduler: str | None = None, workers: int | None = None
) -> Iterator[Work]:
    """What does the work inside; an engine that is open already with the same settings is used again.

    Parameters
    ----------
    engine
        Where to compute: local (in this process) or the workers of a Dask cluster; see `Dask`.
    scheduler, workers
        With engine dask: those of `Dask`.

    Examples
    --------
    >>> with open_engine("local") as work:
    ...     list(work.map(pow, [1, 2, 3], shared=10, total=3, label="Powers"))
    [10, 100, 1000]
    """
    chosen = engine_of(engine, scheduler, workers)
    if chosen == "local":
        yield Local()
        return
    opened = _opened.get()
    if opened is not None and opened[0] == chosen:
        yield opened[1]
        return
    from gainful.engine.cluster import open_cluster

    with open_cluster(chosen.address, chosen.workers) as work:
        token = _opened.set((chosen, work))
        try:
            yield work
        finally:
            _opened.reset(token)
