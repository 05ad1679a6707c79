"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gainful.errors import DataError


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file under a temporary name in its folder, then rename it: nobody ever sees half of it.

    One that exists is replaced by one with the same permissions, a link is followed, and a device such as
    ``/dev/stdout`` is written to directly. Where it cannot be written, what was there before is still there.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        target = Path(path)
        if target.exists() and not target.is_file():  # before it is resolved: a pipe then has no name
            target.write_bytes(data)
            return
        target = target.resolve()
        temporary = target.with_name(f".gainful-{os.urandom(8).hex()}.part")
        try:
            temporary.write_bytes(data)
            if target.exists():
                with suppress(OSError):  # not every file system has permissions
                    shutil.copymode(target, temporary)
                _sync(temporary)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        # The only ValueError of a name; every Python has its own words for it.
        why = error.strerror or error if isinstance(error, OSError) else "embedded null byte"
        raise DataError(f"{path}: cannot be written: {why}") from None


def _sync(path: Path) -> None:
    """Wait until a file is on the disk, lest a power failure takes both it and what it replaces."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)  # it may be read-only by now
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
