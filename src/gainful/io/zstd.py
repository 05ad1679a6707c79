"""How large a Zstandard file may become: read from the headers of its blocks, before anything is unpacked."""

from __future__ import annotations

_MAGIC = b"\x28\xb5\x2f\xfd"
# No block becomes larger than this.
_BLOCK = 1 << 17


def most_unpacked(data: bytes) -> int:
    """The most bytes that these can be unpacked to; what is damaged counts as far as it is whole (RFC 8878)."""
    total = at = 0
    while at + 8 < len(data):
        if data[at : at + 4] != _MAGIC:  # a frame to be skipped, or none
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        about = data[at + 4]
        single = about >> 5 & 1
        fields = (not single) + (0, 1, 2, 4)[about & 3] + (single, 2, 4, 8)[about >> 6]
        at += 5 + fields
        last = False
        while not last and at + 3 <= len(data):
            header = int.from_bytes(data[at : at + 3], "little")
            last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
            at += 3 + (1 if kind == 1 else size)
            total += min(size, _BLOCK) if kind < 2 else _BLOCK
        at += 4 * (about >> 2 & 1)
    return total
