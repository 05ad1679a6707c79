"""Files that must stay what they are while they are read: of one that does not, half may have been seen."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gainful.errors import DataError
from gainful.io.remote import RemoteFile
from gainful.memory import reading


@contextmanager
def unchanged(path: Path | RemoteFile) -> Iterator[None]:
    """Refuse a file whose size, time or identity changes inside, whatever else is said of what was read of it."""
    try:
        before = _state(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        with reading(str(path)):
            yield
    except Exception:  # a line cut in two, the end of an archive that is missing: all of them follow from the change
        _compare(path, before)
        raise
    _compare(path, before)


def unmapped(path: Path | RemoteFile) -> str:
    """How polars is told of a file: by an address, it reads; by a name, it maps, and a file that shrinks is its end."""
    return path.absolute().as_uri() if isinstance(path, Path) and os.name == "posix" else str(path)


def _compare(path: Path | RemoteFile, before: tuple[object, ...]) -> None:
    try:
        same = _state(path) == before
    except (OSError, DataError):  # removed
        same = False
    if not same:
        raise DataError(f"{path}: changed while it was read; wait until it is complete") from None


def _state(path: Path | RemoteFile) -> tuple[object, ...]:
    if isinstance(path, RemoteFile):
        return path.state()
    status = os.stat(path)
    # A pipe that is written to while it is read is as it should be.
    return (status.st_size, status.st_mtime_ns, status.st_ino) if stat.S_ISREG(status.st_mode) else ()
