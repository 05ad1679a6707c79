"""Ids are bytes: what is not UTF-8 in a text file survives being read and written.

Old collections have ids in Latin-1 or worse. A byte that cannot be decoded becomes one character of the private-use
range U+10FF80 to U+10FFFF (its last eight bits are the byte) when a text file is read, and that byte again when it is
written as text. So two ids are equal if and only if their bytes are (such a character sorts after all others, though,
not where its byte would). A text file that itself holds (valid UTF-8 for) one of these 128 characters is refused,
because it could not be written back. Parquet and Arrow hold Unicode only: there the private-use characters are stored
as they are.
"""

from __future__ import annotations

import codecs
import re

from gainful.errors import DataError

_FIRST = 0x10FF00
_RESERVED = re.compile(rb"\xf4\x8f[\xbe\xbf][\x80-\xbf]")
_HANDLER = "gainful.escape"


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(_FIRST + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_HANDLER, _escape)


def decode(data: bytes) -> str:
    """Text of bytes, each undecodable byte as a private-use character."""
    return data.decode("utf-8", _HANDLER)


def to_utf8(data: bytes, where: str, before: int = 0) -> bytes:
    """Valid UTF-8 for the content of a text file, or for what comes after `before` lines of it; other bytes escaped."""
    if data.isascii():
        return data
    if found := _RESERVED.search(data):
        line = before + data.count(b"\n", 0, found.start()) + 1
        character = ord(found[0].decode())
        raise DataError(
            f"{where}:{line}: character U+{character:X} is kept for bytes that are not UTF-8; remove it from the file"
        )
    try:
        data.decode()
    except UnicodeDecodeError:
        return decode(data).encode()
    return data


def from_utf8(data: bytes) -> bytes:
    """Inverse of `to_utf8`: private-use characters become the bytes they stand for."""
    return data if data.isascii() else _RESERVED.sub(lambda found: bytes([ord(found[0].decode()) - _FIRST]), data)


def id_text(value: str) -> str:
    """An id from Python as text that polars can hold; bytes kept by ``surrogateescape`` are escaped as in files."""
    return decode(value.encode("utf-8", "surrogateescape"))
