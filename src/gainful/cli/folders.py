"""Folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gainful.cli.output import as_json
from gainful.errors import DataError

if TYPE_CHECKING:
    from gainful.data.simulate.collection import Collection


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
    from gainful.io.write import write_qrels, write_run

    with appearing(folder) as draft:
        write_qrels(collection.qrels, draft / "qrels.txt")
        (draft / "runs").mkdir()
        for run in collection.runs:
            write_run(run, draft / "runs" / f"{run.name}.txt")
        (draft / "collection.json").write_text(as_json(collection.to_dict()), encoding="utf-8")


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
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
