"""What a command may write to: checked before any long work."""

from __future__ import annotations

import os
from collections.abc import Iterable
from glob import glob
from pathlib import Path

from gainful.errors import DataError


def check_written(written: Iterable[Path | None], read: Iterable[str | Path | None]) -> None:
    """Refuse names that cannot be written to, that are read as well, or that are there twice.

    Parameters
    ----------
    written
        What the command is to write; None for what it is not.
    read
        What it reads: files, folders or globs; None for what is not given.
    """
    inputs = [path for name in read if name is not None for path in _files(str(name))]
    seen: set[Path] = set()
    for path in written:
        if path is None or str(path) == "-":
            continue
        if not path.parent.is_dir():
            raise DataError(f"{path}: expected a folder that exists, got {str(path.parent)!r}")
        if path.is_dir():
            raise DataError(f"{path}: expected the name of a file, got a folder")
        if path.exists() and not path.is_file():  # a device or a pipe loses nothing
            continue
        if path.exists() and any(os.path.samefile(path, other) for other in inputs):
            raise DataError(f"{path}: is what is read, and would be lost: write to another file")
        if path.resolve() in seen:
            raise DataError(f"{path}: is to be written twice: give each its own name")
        seen.add(path.resolve())


def _files(name: str) -> list[str]:
    """The files behind a file, folder or glob, as far as there are any."""
    try:
        if os.path.isdir(name):
            return [entry.path for entry in os.scandir(name) if entry.is_file()]
        return [name] if os.path.exists(name) else glob(name, recursive=True)
    except (OSError, ValueError):  # whoever reads it will say what is wrong
        return []
