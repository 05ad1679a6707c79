"""Where it runs, as callers say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from gainful.checks import check_count
from gainful.errors import GainfulError


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
