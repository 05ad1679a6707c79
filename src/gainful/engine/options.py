"""Where it runs, as callers say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


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


Engine: TypeAlias = Literal["local"] | Dask
