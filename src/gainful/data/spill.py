"""Rows that wait on disk, sorted into bins, because they do not fit into memory."""

from __future__ import annotations

import io
import os
import weakref
from collections.abc import Hashable, Iterator

from gainful import _polars as pl
from gainful.errors import DataError


class Spill:
    """Frames in one temporary file that has no name: however the process ends, nothing is left behind.

    The file lies where Python's `tempfile` puts it: in ``TMPDIR`` if that is set. `why` it is needed is said if the
    disk is full.
    """

    def __init__(self, why: str) -> None:
        import tempfile  # not above: few runs need it

        self._why = why
        self._places: dict[Hashable, list[tuple[int, int]]] = {}
        self._end = 0
        try:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (closed with this object)
        except OSError as error:
            raise self._refused(error) from None
        weakref.finalize(self, self._file.close)

    @property
    def bins(self) -> list[Hashable]:
        """In the order in which they were first added to."""
        return list(self._places)

    def add(self, name: Hashable, frame: pl.DataFrame) -> None:
        """Put a frame behind those that are in a bin already."""
        packed = io.BytesIO()
        # The oldest layout copies just the strings of these rows; views would bring the buffers of the whole chunk.
        frame.write_ipc_stream(packed, compat_level=pl.CompatLevel.oldest())
        content = memoryview(packed.getvalue())
        try:
            written = 0
            while written < len(content):
                written += self._file.write(content[written:]) or 0
        except OSError as error:
            raise self._refused(error) from None
        self._places.setdefault(name, []).append((self._end, len(content)))
        self._end += len(content)

    def read(self, name: Hashable) -> Iterator[pl.DataFrame]:
        """The frames of a bin, as they were added."""
        for start, length in self._places.get(name, []):
            yield pl.read_ipc_stream(self._read_at(start, length))

    def _read_at(self, start: int, length: int) -> bytes:
        if hasattr(os, "pread"):  # leaves the place alone at which others read
            return os.pread(self._file.fileno(), length, start)
        self._file.seek(start)
        return self._file.read(length)

    def _refused(self, error: OSError) -> DataError:
        return DataError(
            f"{self._why}, but a temporary file cannot be written: {error.strerror}; "
            "set TMPDIR to a folder with as much room as the run takes"
        )
