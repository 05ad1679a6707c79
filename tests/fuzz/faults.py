"""What may happen to a command and to its files: the faults of the soak test."""

from __future__ import annotations

import ctypes
import gzip
import os
import random
import select
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

LIBC = ctypes.CDLL(None, use_errno=True)


def damage(dice: random.Random, path: Path) -> None:
    """Some bytes of a file changed, lost or added."""
    data = bytearray(path.read_bytes())
    kind = dice.choice(["bytes", "bytes", "letters", "letters", "cut", "garbage", "empty"])
    if kind in ("bytes", "letters"):
        for _ in range(dice.choice([1, 1, 2, 20])):
            data[dice.randrange(len(data))] = (
                dice.choice(b"0123456789 dQ.-e\n\t#") if kind[0] == "l" else dice.randrange(256)
            )
    elif kind == "cut":
        del data[dice.randrange(len(data)) :]
    elif kind == "garbage":
        at = dice.randrange(len(data))
        data[at:at] = dice.randbytes(dice.randint(1, 200))
    else:
        data.clear()
    path.write_bytes(data)


def bomb(dice: random.Random, path: Path) -> Path:
    """A small file that becomes larger than the limit; it gets a name that fits."""
    kind = dice.choice([".txt.gz", ".csv.gz", ".jsonl.gz", ".json", ".txt", ".tar.gz"])
    base = path.with_name(path.name.partition(".")[0] + "-bomb")
    line, record = b"1 Q0 d 1 1 t\n", b'{"query_id": "1", "doc_id": "d", "score": 1}\n'
    # What is unpacked, all of it or a part that comes forty times: a long line, or more rows than there is room for.
    parts = {
        ".txt.gz": (line, b"x" * 8_000_000),
        ".tar.gz": (line, b"x" * 8_000_000),
        ".csv.gz": (b"query_id,doc_id,score\n", b"1,d,1\n" * 200_000),
        ".jsonl.gz": (b"", record * 100_000),
    }
    if kind in parts:
        head, part = parts[kind]
        if kind == ".tar.gz":
            member = tarfile.TarInfo("run.txt")
            member.size = len(head) + 40 * len(part)
            head = member.tobuf() + head
        end = b"\0" * 2048 if kind == ".tar.gz" else b""
        content = gzip.compress(head) + gzip.compress(part, compresslevel=1) * 40 + gzip.compress(end)
    else:
        content = b'{"1": [' + b"[]," * 6_000_000 + b"[]]}" if kind == ".json" else line + b"x" * 90_000_000
    found = base.with_suffix(kind)
    found.write_bytes(content)
    return found


def at(moment: float, act: Callable[[int], None]) -> Callable[[int, Event], None]:
    """Do something to a process after so many seconds, if it is still there."""

    def later(process: int, over: Event) -> None:
        if not over.wait(moment):
            act(process)

    return later


def when_read(victim: Path, act: Callable[[int], None]) -> Callable[[int, Event], None]:
    """Do something as soon as somebody reads of a file."""
    events = LIBC.inotify_init()
    LIBC.inotify_add_watch(events, os.fsencode(victim), 0x20 | 0x1)  # it is opened, it is read

    def then(process: int, over: Event) -> None:
        while not over.is_set():
            if select.select([events], [], [], 0.05)[0]:
                act(process)
                break
        os.close(events)

    return then


def signalled(number: int, process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


@contextmanager
def full_disk(place: Path, pages: int) -> Iterator[None]:
    """A file system of a few pages, all but so many in use, with the old output on another; as root only."""
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "none", place], capture_output=True
    ).returncode
    (place / "filler").write_bytes(b"x" * (4096 * (3 - pages)))
    try:
        yield
    finally:
        (place / "filler").unlink()
        if mounted:
            subprocess.run(["umount", place], check=True)
