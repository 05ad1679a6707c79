"""How much memory this process may take: a file that wants more ends in a message, not in the kernel's hands."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from time import sleep

from gainful.errors import GainfulError, TooLargeError

# What is taken of a machine or a container if nobody says how much; others live there, too.
_SHARE = 0.8
# Less than this is not worth asking the system for; and less than this no command can do with.
_SMALL, LEAST = 1 << 20, 100_000_000
_BLOCK = 1 << 22
# Bytes per second that a process takes at most: how soon to look again.
_FASTEST = 16e9
_SIZE = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)

_given: int | None = None
# Files that are being read just now: what is named if memory runs out where nobody counts.
_read_now: list[str] = []


def limit_memory(size: int | str | None) -> None:
    """Set how much memory this process may take while it reads files; a file that needs more is refused by name.

    Parameters
    ----------
    size
        Bytes, or a text such as ``2GB`` or ``500MiB``; None for the default: what the environment variable
        ``GAINFUL_MEMORY`` says, else 80 % of what the machine or the container (cgroup) has.

    Raises
    ------
    GainfulError
        This is no size, or less than 100 MB.

    Examples
    --------
    >>> limit_memory("2GB")
    >>> limit_memory(None)
    """
    global _given
    _given = None if size is None else _bytes(size, "memory")


def memory_limit() -> int:
    """The bytes that this process may take."""
    return _default() if _given is None else _given


def given_limit() -> int | None:
    """The same as far as somebody has said it, for processes that others start."""
    return _given


def check_memory(where: str, more: float = 0) -> None:
    """Refuse a file that wants so many `more` bytes than this process has, where they are more than it may have."""
    if more < _SMALL:
        return
    if used_memory() + more > memory_limit():
        raise TooLargeError(where, _shown(memory_limit()))


def read_all(read: Callable[[int], bytes], where: str) -> bytes:
    """All that comes from something of unknown size."""
    import io

    content = io.BytesIO()
    while block := read(_BLOCK):
        # What holds them grows by an eighth more than it must.
        check_memory(where, content.tell() / 4 + 2 * _BLOCK)
        content.write(block)
    return content.getvalue()


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Inside, this file is named if memory runs out."""
    _read_now.append(where)
    try:
        yield
    finally:
        _read_now.remove(where)


def read_now() -> str:
    """The files that are being read, or that none is."""
    return ", ".join(dict.fromkeys(_read_now)) or "this command"


def watch(end: Callable[[Exception, Callable[[], bool]], None]) -> None:
    """From now on, look how much memory this process takes, in a thread of its own; `end` it if that is too much.

    It gets an error, and what tells whether still more is taken. Libraries that take memory tell nobody before.
    """
    from _thread import start_new_thread  # threading is not needed for it

    start_new_thread(_watch, (end,))


def _watch(end: Callable[[Exception, Callable[[], bool]], None]) -> None:
    with suppress(GainfulError):  # a limit that is none: whoever asks next says so
        while (left := memory_limit() - used_memory()) > 0:
            sleep(min(max(left / _FASTEST, 0.005), 1.0))
        end(TooLargeError(read_now(), _shown(memory_limit())), lambda: used_memory() > 1.05 * memory_limit())


def used_memory() -> int:
    """The bytes of this process in memory that are its own, and not those of files; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * _page()


@cache
def _page() -> int:
    return os.sysconf("SC_PAGE_SIZE")


@cache
def _default() -> int:
    told = os.environ.get("GAINFUL_MEMORY")
    if told:
        return _bytes(told, "GAINFUL_MEMORY")
    found = [1 << 62]
    with suppress(ValueError, OSError, AttributeError):  # Windows knows no such names
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    found += _containers(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    return max(int(_SHARE * min(found)), LEAST)


def _containers(groups: Path, root: Path) -> Iterator[int]:
    """The limits of the container this process is in, and of those around it; version 2 of cgroups, and 1."""
    with suppress(OSError, ValueError):
        for line in groups.read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            base, name = (root, "memory.max") if not kinds else (root / "memory", "memory.limit_in_bytes")
            if kinds and "memory" not in kinds.split(","):
                continue
            place = base / path.lstrip("/")
            for folder in (place, *place.parents):
                with suppress(OSError, ValueError):  # "max", or none
                    yield int((folder / name).read_text())
                if folder == base:
                    break


def _bytes(size: int | str, name: str) -> int:
    found = _SIZE.fullmatch(str(size))
    if found is None or isinstance(size, bool):
        raise GainfulError(f"{name}: expected a size such as 2GB or 500MB, got {size!r}")
    number, unit, binary = found.groups()
    value = int(float(number) * (1024 if binary else 1000) ** " kmgt".index(unit.lower() or " "))
    if value < LEAST:
        raise GainfulError(f"{name}: expected at least {_shown(LEAST)}, got {size!r}")
    return value


def _shown(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"
