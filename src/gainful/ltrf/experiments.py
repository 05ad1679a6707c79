"""Many trainings, each done once: what they give is kept in a folder, and goes on where it was cut off."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from gainful.engine import Engine, open_engine
from gainful.errors import DataError
from gainful.io.atomic import write_atomically
from gainful.ltrf.ranker import FRanker
from gainful.ltrf.resume import claim

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Outcome = dict[str, Any]
SETTINGS = "experiment.json"
# Where an outcome has its f-ranker.
RANKER = "ranker"


class Kept:
    """Outcomes by name, as JSON files in a folder; without a folder nothing is kept.

    A file is written whole or not at all, and the folder belongs to one experiment, that of `settings`.
    """

    def __init__(self, folder: str | Path | None, settings: Mapping[str, Any]) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{self.folder}: expected a folder for the trainings: {error.strerror}") from None
        used = any(not path.name.startswith(".") for path in self.folder.iterdir())
        claim(self.folder, SETTINGS, settings, used=used, what="outcomes of another experiment")

    def load(self, name: str) -> Outcome | None:
        """What is there already."""
        if self.folder is None or not (path := self.folder / f"{name}.json").exists():
            return None
        try:
            found: Outcome = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: cannot be read: {error}; delete it, and it is trained again") from None
        return found

    def store(self, name: str, outcome: Outcome) -> None:
        """Keep it: first its f-ranker, if it has one, in a folder of its own, then the rest, with which it is whole."""
        if self.folder is None:
            return
        if RANKER in outcome:
            self.drop(name)
            outcome[RANKER].save(self.folder / name)
        plain = {key: value for key, value in outcome.items() if key != RANKER}
        write_atomically(self.folder / f"{name}.json", json.dumps(plain) + "\n")

    def ranker(self, name: str) -> FRanker | None:
        """The f-ranker of an outcome, if it is kept."""
        path = None if self.folder is None else self.folder / name
        return FRanker.load(path) if path is not None and path.exists() else None

    def drop(self, name: str) -> None:
        """Forget the f-ranker of an outcome, and what was left when one was cut off."""
        if self.folder is not None:
            for path in (self.folder / name, *self.folder.glob(f".{name}-*.part")):
                shutil.rmtree(path, ignore_errors=True)


def outcomes(
    function: Callable[[Shared, Job], Outcome],
    jobs: Mapping[str, Job],
    kept: Kept,
    *,
    shared: Shared,
    engine: Engine,
    label: str,
) -> Iterator[tuple[str, Outcome]]:
    """The outcome of every job by its name, those that are kept first; the others are kept as they come in."""
    known = {name: outcome for name in jobs if (outcome := kept.load(name)) is not None}
    yield from known.items()
    left = {name: job for name, job in jobs.items() if name not in known}
    if not left:
        return
    with open_engine(engine) as work:
        found = work.map(function, left.values(), shared=shared, total=len(left), label=label)
        for name, outcome in zip(left, found, strict=True):
            kept.store(name, outcome)
            yield name, outcome
