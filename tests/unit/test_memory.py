"""What a process may take: sizes as people write them, containers, and files that want more."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

import gainful as gf
from gainful import memory
from gainful.errors import DataError, spoken
from gainful.io.compression import compress
from gainful.io.zstd import most_unpacked


@pytest.fixture(autouse=True)
def afterwards():
    yield
    gf.limit_memory(None)


@pytest.mark.parametrize(
    ("size", "found"),
    [
        ("2GB", 2_000_000_000),
        ("1.5 gib", 3 << 29),
        ("500MiB", 500 << 20),
        ("500m", 500_000_000),
        (123_456_789, 123_456_789),
    ],
)
def test_sizes(size, found):
    gf.limit_memory(size)
    assert memory.memory_limit() == found == memory.given_limit()


@pytest.mark.parametrize("size", ["", "much", "2 GB RAM", "-1GB", "1e9", True, "0x10GB"])
def test_no_sizes(size):
    with pytest.raises(gf.GainfulError, match=r"\Amemory: expected a size such as 2GB or 500MB, got "):
        gf.limit_memory(size)


def test_too_little():
    with pytest.raises(gf.GainfulError, match=r"\Amemory: expected at least 100 MB, got '99MB'\Z"):
        gf.limit_memory("99MB")


def test_the_environment(monkeypatch):
    monkeypatch.setenv("GAINFUL_MEMORY", "3GB")
    memory._default.cache_clear()
    assert memory.memory_limit() == 3_000_000_000
    monkeypatch.setenv("GAINFUL_MEMORY", "some")
    memory._default.cache_clear()
    with pytest.raises(gf.GainfulError, match=r"\AGAINFUL_MEMORY: expected a size such as 2GB"):
        memory.memory_limit()
    monkeypatch.delenv("GAINFUL_MEMORY")
    memory._default.cache_clear()
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 100_000_000 <= memory.memory_limit() <= 0.8 * physical


@pytest.mark.parametrize(
    ("groups", "files", "found"),
    [
        ("0::/user/job\n", {"user/job/memory.max": "max\n", "user/memory.max": "5000\n"}, [5000]),
        ("0::/\n", {"memory.max": "7000\n"}, [7000]),
        (
            "9:name=systemd:/x\n4:cpu,memory:/docker/a\n",
            {"memory/docker/a/memory.limit_in_bytes": "9000\n", "memory/memory.limit_in_bytes": "10000\n"},
            [9000, 10000],
        ),
        ("nonsense", {}, []),
    ],
)
def test_containers(tmp_path: Path, groups, files, found):
    for name, text in files.items():
        (tmp_path / "sys" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys" / name).write_text(text)
    (tmp_path / "cgroup").write_text(groups)
    assert list(memory._containers(tmp_path / "cgroup", tmp_path / "sys")) == found


def test_what_is_refused():
    gf.limit_memory(memory.used_memory() + 200_000_000)
    memory.check_memory("f", 10_000_000)
    with pytest.raises(DataError, match=r"\Af: needs more than the \S+ .B of memory .*; limit_memory allows more\Z"):
        memory.check_memory("f", 300_000_000)
    token = spoken.set("shell")
    with pytest.raises(DataError, match=r"; --memory allows more\Z"):
        memory.check_memory("f", 300_000_000)
    spoken.reset(token)


def test_what_has_no_end():
    gf.limit_memory(memory.used_memory() + 120_000_000)
    with pytest.raises(DataError, match=r"\Aendless: needs more than"):
        memory.read_all(lambda size: b"x" * size, "endless")
    assert memory.read_all(io.BytesIO(b"abc" * 99).read, "f") == b"abc" * 99


def test_files_that_are_read():
    assert memory.read_now() == "this command"
    with memory.reading("a"), memory.reading("b"), memory.reading("a"):
        assert memory.read_now() == "a, b"
    assert memory.read_now() == "this command"


@pytest.mark.parametrize("size", [1, 1000, 131_072, 131_073, 3_000_000])
def test_the_most_that_zstd_becomes(size):
    """Never less than it is, and no more than the last block of each frame too much."""
    text = (b"1 Q0 d%d 1 1 t\n" % size * size)[:size]
    packed = compress(text, ".zst", "")
    assert size <= most_unpacked(packed) <= size + (1 << 17)
    skipped = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
    assert most_unpacked(packed + skipped + packed) == 2 * most_unpacked(packed)


def test_zstd_by_hand():
    """RFC 8878: a frame of one segment with an RLE block of 100,000, a raw one of 3, and a checksum."""
    frame = b"\x28\xb5\x2f\xfd\xa4\x00\x00\x00\x00" + (100_000 << 3 | 1 << 1).to_bytes(3, "little") + b"x"
    frame += (3 << 3 | 1).to_bytes(3, "little") + b"abc" + b"sum!"
    assert most_unpacked(frame) == 100_003
    assert most_unpacked(frame + frame[:-4]) == 200_006
