"""What a study runs on: collections with names, or a simulated one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.data.simulate import simulate
from gainful.errors import DataError, GainfulError
from gainful.io.read import read_qrels, read_runs

Collections = Mapping[str, tuple[Any, Any]]
# Built like a Web Track, and as large: simulate's own topics and systems.
SIMULATED = "simulated"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyCollection:
    """Judgments and runs that belong together, under a name."""

    name: str
    qrels: Qrels
    runs: list[Run]


def load_collections(collections: Collections | None, *, seed: int) -> list[StudyCollection]:
    """The collections, read; a simulated one if none is given.

    Parameters
    ----------
    collections
        By name, the judgments and the runs: whatever `evaluate` takes.
    seed
        Of the simulated collection.
    """
    if collections is None:
        made = simulate(seed=seed)
        return [StudyCollection(name=SIMULATED, qrels=made.qrels, runs=made.runs)]
    if not isinstance(collections, Mapping):
        raise DataError(f"collections: expected {{name: (qrels, runs)}}, got {type(collections).__name__}")
    if not collections:
        raise DataError("collections: expected at least one {name: (qrels, runs)}, got none")
    loaded = []
    for name, pair in collections.items():
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise DataError(f"collection {name!r}: expected (qrels, runs), got {type(pair).__name__}")
        try:
            loaded.append(StudyCollection(name=str(name), qrels=read_qrels(pair[0]), runs=read_runs(pair[1])))
        except GainfulError as error:
            raise type(error)(f"collection {name!r}: {error}") from None
    return loaded
