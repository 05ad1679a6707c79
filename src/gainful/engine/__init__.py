"""Where it runs: this process, or a Dask cluster.

Work is a function over many small descriptions of what to do. Neither where it runs nor how many share it may change a
result: whatever is random is drawn before, and what comes back is put together in the order of the descriptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from gainful.errors import GainfulError, check_count
from gainful.progress import Apply, here

if TYPE_CHECKING:
    from gainful.engine.cluster import Cluster

__all__ = ["Dask", "Engine", "EngineOptions", "Work", "open_engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dask:
    """Compute on the workers of a Dask cluster; results are the same to the last bit.

    Parameters
    ----------
    address
        The address of a running scheduler, such as tcp://10.0.0.1:8786; by default workers are started on this machine,
        and ended afterwards.
    workers
        How many workers to start on this machine; one per core by default.
    """

    address: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.address is not None and self.workers is not None:
            raise GainfulError(
                f"workers: expected no number with a scheduler, which has workers already, got {self.workers}"
            )
        if self.workers is not None:
            check_count("workers", self.workers)


Engine: TypeAlias = Literal["local"] | Dask


class EngineOptions(TypedDict, total=False):
    """Where work is done: keywords of functions that do much of it.

    Parameters
    ----------
    engine
        See `Dask`; ``local``, the default, is this process.
    """

    engine: Engine


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
