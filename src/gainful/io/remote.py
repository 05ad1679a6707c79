"""Files in object stores and on the web (``s3://``, ``gs://``, ``hf://`` …), through fsspec."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, TypeGuard

from gainful.errors import DataError, MissingExtraError, setting
from gainful.memory import check_memory, read_all

# Two letters and more: C:// would be a folder of Windows.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_MAGIC = re.compile(r"[*?[]")


def is_url(source: object) -> TypeGuard[str]:
    """Whether this names something in an object store or on the web."""
    return isinstance(source, str) and _URL.match(source) is not None


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that is read through fsspec; what a `Path` is for files on disk."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def path(self) -> PurePosixPath:
        """Whose name and suffixes are those of the file; memory:///x and memory://x are the same."""
        return PurePosixPath(self.url.split("://", 1)[1].lstrip("/"))

    def stat(self) -> os.stat_result:
        """Its size, as of any file."""
        return os.stat_result((stat.S_IFREG, 0, 0, 0, 0, 0, int(self._info()["size"]), 0, 0, 0))

    def state(self) -> tuple[object, ...]:
        """What tells whether it was written anew: its size, and what its store knows of versions."""
        found = self._info()
        return tuple(found.get(name) for name in ("size", "ETag", "mtime", "LastModified", "updated", "last_commit"))

    def _info(self) -> dict[str, Any]:
        with _explained(self.url):
            system, path = _opened(self.url)
            system.invalidate_cache()  # who asks again wants to know what is there now
            found: dict[str, Any] = system.info(path)
        if found["type"] != "file":
            raise DataError(f"{self.url}: expected a file, got a folder")
        return found

    @contextmanager
    def open(self, mode: str = "rb") -> Iterator[IO[bytes]]:
        """The file, for reading."""
        with _explained(self.url):
            system, path = _opened(self.url)
            with system.open(path, mode) as file:
                yield file

    def read(self) -> bytes:
        """All of it."""
        check_memory(self.url, self.stat().st_size)  # and a folder is told
        with self.open() as file:
            return read_all(file.read, self.url)

    def blocks(self, size: int) -> Iterator[bytes]:
        """All of it, in pieces of so many bytes."""
        with self.open() as file:
            while block := file.read(size):
                yield block


def remote_files(url: str, *, recursive: bool = False) -> list[RemoteFile]:
    """The file of this name, or those of a folder (and, if `recursive`, of the folders in it) or a pattern."""
    with _explained(url):
        system, path = _opened(url)
        system.invalidate_cache()  # who asks again wants to know what is there now
        if _MAGIC.search(path):
            found = system.glob(path, detail=True)
            if not found:
                raise DataError(f"{url}: no file matches")
        elif system.isdir(path):
            inside = system.find(path, detail=True).values() if recursive else system.ls(path, detail=True)
            found = {one["name"]: one for one in inside}
        else:
            return [RemoteFile(url)]
        files = [name for name, one in found.items() if one["type"] == "file" and not _hidden(name, path)]
        if not files:
            hint = f"; {setting('recursive')} searches the folders in it" if found and not recursive else ""
            raise DataError(f"{url}: expected a folder of runs, got one without files{hint}")
        return [RemoteFile(system.unstrip_protocol(name)) for name in files]


def _hidden(name: str, root: str) -> bool:
    inside = name.removeprefix(root) if name.startswith(root) else name.rsplit("/", 1)[-1]
    return name.endswith("/") or any(part.startswith(".") for part in inside.split("/"))


def _opened(url: str) -> tuple[Any, str]:
    """What reads this kind of address, and the address as it wants it."""
    kind = url.split("://", 1)[0]
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(url)
    except ImportError as error:
        if kind in ("s3", "s3a") or (error.name or "").startswith("fsspec"):
            raise MissingExtraError("cloud", f"reading {kind}://") from None
        raise DataError(f"{url}: cannot be read: {error}") from None
    return system, str(path)


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Errors of all the packages below, as ours."""
    try:
        yield
    except (DataError, MissingExtraError, GeneratorExit):
        raise
    except FileNotFoundError:
        raise DataError(f"{url}: no such file or bucket") from None
    except PermissionError as error:
        raise DataError(f"{url}: cannot be read: {error or 'no permission'}; check the credentials") from None
    except Exception as error:
        raise DataError(f"{url}: cannot be read: {type(error).__name__}: {error}") from None
