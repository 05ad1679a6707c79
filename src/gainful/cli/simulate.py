"""`gainful simulate`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gainful.cli.inputs import Whole, whole
from gainful.cli.output import as_json, note
from gainful.cli.shell import shell_of
from gainful.data.simulate import LABEL_SHARES, Collection
from gainful.data.simulate import simulate as collection_of
from gainful.errors import DataError
from gainful.io.write import write_qrels, write_run


@shell_of(collection_of)
def simulate(
    folder: Path,
    /,
    *,
    topics: Whole = 50,
    systems: Whole = 60,
    depth: Whole = 1000,
    pool_depth: Whole = 20,
    contributors: Annotated[int | None, Parameter(converter=whole)] = None,
    team_size: Whole = 4,
    spam: float = LABEL_SHARES[-2],
    missing: float = 0.0,
    seed: Whole = 0,
) -> None:
    """Make a test collection.

    Parameters
    ----------
    folder
        A new or empty folder: gets qrels.txt, runs/*.txt and collection.json, which has settings and systems.
    """
    refuse_if_occupied(folder)
    collection = collection_of(
        topics=topics,
        systems=systems,
        depth=depth,
        pool_depth=pool_depth,
        contributors=contributors,
        team_size=team_size,
        spam=spam,
        missing=missing,
        seed=seed,
    )
    write_collection(collection, folder)
    note(str(collection))
    files = "1 file" if len(collection.runs) == 1 else f"{len(collection.runs)} files"
    note(f"written to {folder}: qrels.txt, {files} in runs, collection.json")


def refuse_if_occupied(folder: Path) -> None:
    """Raise if there is anything at that place that writing would destroy."""
    if folder.is_dir():
        if os.path.samefile(folder, os.curdir):  # which is renamed in the end, and nobody can stay in what is gone
            raise DataError(f"{folder}: expected a folder to be made, got the one you are in: name one inside of it")
        if any(folder.iterdir()):
            raise DataError(
                f"{folder}: expected a new or empty folder, got one with files in it: name another, or remove it"
            )
    elif folder.exists():
        raise DataError(f"{folder}: expected a new or empty folder, got a file: name another")


def write_collection(collection: Collection, folder: Path) -> None:
    """Write qrels, runs and settings: the folder appears with all of them, or not at all."""
    with _appearing(folder) as draft:
        write_qrels(collection.qrels, draft / "qrels.txt")
        (draft / "runs").mkdir()
        for run in collection.runs:
            write_run(run, draft / "runs" / f"{run.name}.txt")
        (draft / "collection.json").write_text(as_json(collection.to_dict()), encoding="utf-8")


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """A folder beside the wanted one, renamed to it in the end, removed if anything goes wrong."""
    wanted, folder = folder, folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.with_name(f".{folder.name}-{os.getpid()}")
    try:
        draft.mkdir()
    except OSError as error:
        raise DataError(f"{wanted}: cannot be made: {error.strerror}") from None
    try:
        yield draft
        if folder.exists():
            folder.rmdir()  # raises if it has been filled meanwhile
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
