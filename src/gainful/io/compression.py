"""Gzip, bzip2, xz and Zstandard, told by a file's first bytes; Zstandard by polars, which unpacks UTF-8 text alone."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePath
from typing import IO, Any

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.io.changes import unchanged, unmapped
from gainful.io.remote import RemoteFile
from gainful.io.zstd import most_unpacked
from gainful.memory import check_memory, memory_limit, read_all, reading

COMPRESSIONS = (".gz", ".zst", ".bz2", ".xz")
PACK_AGAIN = "Pack or copy the file again."


def _unpack_zstd(data: bytes) -> bytes:
    return str(pl.read_lines(data)["line"].str.join("\n").item()).encode()


def _pack_zstd(data: bytes) -> bytes:
    packed = io.BytesIO()
    # One "row" that holds all lines: the CSV writer puts the last line end back.
    frame = pl.DataFrame({"text": [data.decode().removesuffix("\n")]})
    frame.write_csv(packed, include_header=False, quote_style="never", compression="zstd")
    return packed.getvalue()


def _gunzipped(packed: IO[bytes], size: int) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=packed) as file:
        while block := file.read(size):
            yield block


def _streams(new: Callable[[], Any], packed: IO[bytes], size: int) -> Iterator[bytes]:
    """The content of one stream after another; between them, and at the end, may be zeros, which fill up blocks."""
    data = packed.read(_READ)
    first = True
    while data:
        stream, begun = new(), False
        while not stream.eof:
            if stream.needs_input and not data and not (data := packed.read(_READ)):
                raise EOFError
            try:
                block = stream.decompress(data, size)
            except (OSError, lzma.LZMAError):
                if first or begun:
                    raise
                raise ValueError("something else follows its end") from None
            data, begun = b"", True
            if block:
                yield block
        data, first = stream.unused_data.lstrip(b"\0"), False
        while not data and (more := packed.read(_READ)):
            data = more.lstrip(b"\0")


_NAMES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2"}
# Content in blocks of at most so many bytes.
_STREAMED: dict[str, Callable[[IO[bytes], int], Iterator[bytes]]] = {
    "gzip": _gunzipped,
    "xz": partial(_streams, lzma.LZMADecompressor),
    "bzip2": partial(_streams, bz2.BZ2Decompressor),
}
# Bytes that are read and unpacked at once; by how much deflate makes them fewer, at most.
_READ, _BLOCK, _DEFLATED = 1 << 16, 1 << 20, 1032
# Bytes that polars takes for one that it unpacks to lines and puts together again.
_TAKES = 4
# About as long as a line of a run is, where only lines can be counted.
_LINE = 40
_PACK: dict[str, Callable[[bytes], bytes]] = {
    # A fixed time makes the same run the same file.
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".zst": _pack_zstd,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def _packer(head: bytes) -> str | None:
    for magic, name in _NAMES.items():
        # A topic may be called "BZh1"; only a bzip2 file goes on with the digits of pi (or, if empty, of its root).
        if head.startswith(magic) and (magic != b"BZh" or head[4:10] in (b"1AY&SY", b"\x17rE8P\x90")):
            return name
    return None


def is_streamed(head: bytes) -> bool:
    """Whether a file that begins so can be unpacked as it comes; polars unpacks Zstandard from a file on disk only."""
    return _packer(head) != "zstd"


def is_compressed(head: bytes) -> bool:
    """Whether these first bytes are those of a compressed file."""
    return _packer(head) is not None


def decompress(data: bytes, where: str) -> bytes:
    """Unpacked content of a compressed file."""
    name = _packer(data)
    if name is None:
        return data
    with reading(where), _refusing_damage(name, where):
        if name == "zstd":
            check_memory(where, _TAKES * most_unpacked(data))
            content = _unpack_zstd(data)
        elif name == "gzip" and _DEFLATED * len(data) < memory_limit() // 4:
            content = gzip.decompress(data)  # a fifth faster than in blocks
        else:
            blocks = _STREAMED[name](io.BytesIO(data), _BLOCK)
            content = read_all(lambda _: next(blocks, b""), where)
    return _unpacked_once(content, where)


def decompress_blocks(path: Path | RemoteFile, where: str, size: int) -> Iterator[bytes]:
    """Unpacked content of a compressed file, in blocks of about so many bytes; only a few of them are in memory."""
    with path.open("rb") as file:
        name = _packer(file.read(16)) or ""
    with unchanged(path), _refusing_damage(name, where):
        first = True
        for block in _zstd_blocks(path, size) if name == "zstd" else _blocks(path, name, size):
            yield _unpacked_once(block, where) if first else block
            first = False


def _blocks(path: Path | RemoteFile, name: str, size: int) -> Iterator[bytes]:
    with path.open("rb") as packed:
        yield from _STREAMED[name](packed, size)


def _zstd_blocks(path: Path | RemoteFile, size: int) -> Iterator[bytes]:
    lines = pl.scan_lines(unmapped(path), glob=False).collect_batches(chunk_size=size // _LINE + 1, lazy=True)
    for batch in lines:
        yield (batch["line"].str.join("\n").item() + "\n").encode()


@contextmanager
def _refusing_damage(name: str, where: str) -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PolarsError:
        raise DataError(
            f"{where}: cannot unpack this zstd file: it is damaged, or not UTF-8 text; unpack it first (zstd -d)"
        ) from None
    except DataError:
        raise
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, pl.exceptions.PanicException) as error:
        reason = str(error).strip().rstrip(".")
        if not reason or "end-of-stream" in reason:  # what is said about it depends on how much was read at once
            reason = "the end is missing"
        raise DataError(f"{where}: damaged {name} file: {reason}", remedy=PACK_AGAIN) from None


def _unpacked_once(content: bytes, where: str) -> bytes:
    if is_compressed(content):
        raise DataError(f"{where}: compressed twice; unpack it once", remedy="Unpack the file once.")
    return content


def compress(data: bytes, suffix: str, where: str) -> bytes:
    """Content packed as the last suffix of a file name asks for."""
    try:
        return _PACK[suffix](data) if suffix in _PACK else data
    except UnicodeDecodeError:
        raise DataError(f"{where}: only UTF-8 text can be written as zstd; choose .gz, .bz2 or .xz") from None


def split_compression(path: PurePath) -> tuple[PurePath, str]:
    """``runs/a.csv`` and ``.gz`` for ``runs/a.csv.gz``; nothing as suffix where there is none."""
    suffix = path.suffix.lower()
    return (path.with_suffix(""), suffix) if suffix in COMPRESSIONS else (path, "")
