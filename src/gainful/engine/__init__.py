"""Where it runs: this process, or a Dask cluster.

Work is a function over many small descriptions of what to do. Neither where it runs nor how many share it may change a
result: whatever is random is drawn before, and what comes back is put together in the order of the descriptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gainful.engine.options import Dask, Engine
from gainful.errors import GainfulError
from gainful.parallel import Apply, here

if TYPE_CHECKING:
    from gainful.engine.cluster import Cluster

__all__ = ["Dask", "Engine", "Work", "open_engine"]


@dataclass(frozen=True, slots=True)
class Local:
    """One piece after another, in this process."""

    at_once: int = 1  # how many pieces are worked on at the same time
    map: Apply = here


Work: TypeAlias = "Local | Cluster"
_opened: ContextVar[tuple[Dask, Work] | None] = ContextVar("opened", default=None)


@contextmanager
def open_engine(engine: Engine) -> Iterator[Work]:
    """What does the work inside; an engine that is open already with the same settings is used again.

    >>> with open_engine("local") as work:
    ...     list(work.map(pow, [1, 2, 3], shared=10, total=3, label="Powers"))
    [10, 100, 1000]
    """
    if engine == "local":
        yield Local()
        return
    if not isinstance(engine, Dask):
        raise GainfulError(f"engine: expected 'local' or Dask(…), got {engine!r}")
    opened = _opened.get()
    if opened is not None and opened[0] == engine:
        yield opened[1]
        return
    from gainful.engine.cluster import open_cluster

    with open_cluster(engine.address, engine.workers) as work:
        token = _opened.set((engine, work))
        try:
            yield work
        finally:
            _opened.reset(token)
