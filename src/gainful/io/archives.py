"""Tar and zip archives of runs: members are read one at a time, and nothing is unpacked to disk."""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from io import BytesIO
from pathlib import Path, PurePosixPath
from threading import Lock

from gainful.errors import DataError, TooLargeError
from gainful.io.changes import unchanged
from gainful.io.compression import PACK_AGAIN, decompress
from gainful.memory import check_memory, read_all

# What an archive may hold: bytes of a member, unpacked, and members.
LARGEST, MOST = 1 << 31, 100_000
# Bytes of members that are kept because one further on was asked for first.
_KEPT = 1 << 26
_TAR_SUFFIXES = (".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz")
_ZSTD_SUFFIXES = (".tar.zst", ".tzst")
# Blocks that a tar archive is made of.
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive; without a name, an archive that cannot be listed: who reads it is told why."""

    archive: Path
    name: str

    def __str__(self) -> str:
        return str(self.place)

    @property
    def place(self) -> Path:
        """Where it would be if the archive were a folder."""
        return self.archive / self.name

    def read(self) -> bytes:
        """All of it."""
        if not self.name:
            _names(self.archive)
        with _refusing_damage(self.archive), unchanged(self.archive):
            if _is_zip(self.archive):
                import zipfile

                with zipfile.ZipFile(self.archive) as archive, archive.open(self.name) as file:
                    content = read_all(file.read, str(self.place))
                    if len(content) > LARGEST:
                        raise _too_large(self.place)
                    return content
            status = self.archive.stat()
            tar = _tar(os.path.abspath(self.archive), status.st_size, status.st_mtime_ns)
            return tar.read(self.name, str(self.place))


def is_archive(path: Path) -> bool:
    """Whether this is a tar or zip archive, by its name and its content."""
    if path.name.lower().endswith(_ZSTD_SUFFIXES):
        return path.is_file()
    if not path.name.lower().endswith(_TAR_SUFFIXES) or not path.is_file():
        return _is_zip(path)
    import tarfile

    try:
        return tarfile.is_tarfile(path)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
        return False


def members_of(path: Path) -> list[Member]:
    """The files in an archive; hidden ones, folders, links and all else are left alone."""
    try:
        return [Member(path, name) for name in _names(path) if not _is_hidden(name)]
    except DataError:
        return [Member(path, "")]


def _names(path: Path) -> list[str]:
    with _refusing_damage(path):
        if _is_zip(path):
            import zipfile

            with zipfile.ZipFile(path) as archive:
                sizes = {one.filename: one.file_size for one in archive.infolist() if not one.is_dir()}
        else:
            status = path.stat()
            sizes = _tar(os.path.abspath(path), status.st_size, status.st_mtime_ns).sizes()
        if len(sizes) > MOST:
            raise DataError(f"{path}: expected at most {MOST} files in an archive, got {len(sizes)}; unpack it first")
        for name, size in sizes.items():
            if size > LARGEST:
                raise _too_large(path / name)
    return list(sizes)


def _is_hidden(name: str) -> bool:
    return any(
        part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts if part not in (".", "..")
    )


def _is_zip(path: Path) -> bool:
    if path.suffix.lower() != ".zip":
        return False
    import zipfile

    try:
        with path.open("rb") as file:
            begins = file.read(4) == b"PK\x03\x04"
    except OSError:
        return False
    return begins or zipfile.is_zipfile(path)  # one that begins as a zip file and has no end is damaged


def _too_large(place: Path) -> DataError:
    return DataError(f"{place}: expected at most {LARGEST >> 30} GiB per file in an archive, got more; unpack it first")


class _Tar:
    """An open tar archive; one that is compressed can only be gone through from its start."""

    def __init__(self, path: str) -> None:
        import tarfile

        packed = path.lower().endswith(_ZSTD_SUFFIXES)
        content = _of_zstd(Path(path)) if packed else None
        # Open as long as members are asked for.
        self._file = tarfile.open(path, "r:*") if content is None else tarfile.open(fileobj=BytesIO(content))  # noqa: SIM115
        self._members = {}
        for one in self._file:
            if one.isreg():
                self._members[one.name] = one
            if one.size > LARGEST:  # it is refused, and nobody waits until all of it is unpacked
                break
        # tarfile takes a header that it cannot read for the end; where line ends were lost, it is none.
        if content is not None and content[self._file.offset : self._file.offset + _BLOCK].strip(b"\0"):
            raise _NotTextError
        self._order = list(self._members)
        self._place = {name: at for at, name in enumerate(self._order)}
        self._next = 0
        self._kept: dict[str, bytes] = {}
        self._lock = Lock()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def sizes(self) -> dict[str, int]:
        return {name: one.size for name, one in self._members.items()}

    def read(self, name: str, where: str) -> bytes:
        with self._lock:
            check_memory(where, self._members[name].size)
            if name in self._kept:
                return self._kept.pop(name)
            # Threads ask for members in about their order; to go back would be to begin anew.
            at = self._place[name]
            for passed in self._order[self._next : at]:
                if self._members[passed].size + sum(map(len, self._kept.values())) <= _KEPT:
                    self._kept[passed] = self._extract(passed)
            self._next = max(self._next, at + 1)
            return self._extract(name)

    def _extract(self, name: str) -> bytes:
        file = self._file.extractfile(self._members[name])
        return b"" if file is None else file.read()


def _of_zstd(path: Path) -> bytes:
    """An archive, unpacked: by a package that can, else by polars, for which it must be text with plain line ends."""
    for name in ("compression.zstd", "zstandard"):
        with suppress(ImportError):
            with import_module(name).open(path, "rb") as file:
                content = read_all(file.read, str(path))
            break
    else:
        try:
            content = decompress(path.read_bytes(), str(path))
        except TooLargeError:
            raise
        except DataError:
            raise _NotTextError from None
    if len(content) > LARGEST:
        raise _too_large(path)
    return content


class _NotTextError(Exception):
    """An archive that polars cannot unpack."""


@lru_cache(maxsize=4)
def _tar(path: str, size: int, changed: int) -> _Tar:
    """The archive, as long as it stays what it is."""
    return _Tar(path)


@contextmanager
def _refusing_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except _NotTextError:
        raise DataError(
            f"{path}: this archive is damaged, or holds more than UTF-8 text with plain line ends: unpack it first "
            "(zstd -d), or install the package zstandard",
            remedy="Unpack the archive, or pack it again.",
        ) from None
    except (RuntimeError, NotImplementedError) as error:  # encrypted, or packed in a way that Python does not know
        raise DataError(f"{path}: cannot be read: {error}; unpack it first", remedy="Unpack the archive.") from None
    except Exception as error:  # tarfile and zipfile let through whatever their parts raise
        reason = str(error).strip()
        if not reason or any(words in reason for words in _NO_END):
            reason = "the end is missing"
        raise DataError(f"{path}: damaged archive: {reason}", remedy=PACK_AGAIN) from None


# What is said of an archive that breaks off; a zip file is known by its end alone.
_NO_END = ("end-of-stream", "end of data", "not a zip file")
