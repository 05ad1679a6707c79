"""Compressed files are told by their first bytes, and damaged ones refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path, PurePath

import polars as pl
import pytest

from gainful.io.compression import compress, decompress, is_compressed, split_compression
from gainful.io.read import read_run

TEXT = b"".join(b"%d Q0 d%d 1 %d.5 t\n" % (i, i * i, i) for i in range(500))


def zstd(data: bytes) -> bytes:
    packed = io.BytesIO()
    pl.DataFrame({"": [data.decode()]}).write_csv(packed, include_header=False, quote_style="never", compression="zstd")
    return packed.getvalue()


PACK = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
@pytest.mark.parametrize("name", ["r.txt", "r.txt.gz", "r.zst", "r"])
def test_the_content_counts_and_not_the_name(folder: Path, name: str, pack) -> None:
    (folder / name).write_bytes(pack(TEXT))
    run = read_run(name)
    assert run.frame.rows() == [(str(i), f"d{i * i}", i + 0.5) for i in range(500)]
    assert run.name == "r"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst", ""])
def test_plain_content_under_any_name(folder: Path, suffix: str) -> None:
    (folder / f"r{suffix}").write_bytes(TEXT)
    assert read_run(f"r{suffix}").frame.height == 500


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_files_in_several_parts(pack) -> None:
    assert decompress(pack(b"a\n") + pack(b"b\n"), "f").split() == [b"a", b"b"]


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
def test_nothing_compressed_is_an_empty_file(folder: Path, refused, pack) -> None:
    (folder / "r.txt").write_bytes(pack(b""))
    with refused("r.txt: expected a run, got an empty file"):
        read_run("r.txt")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("gzip", "the end is missing"),
        ("bzip2", "the end is missing"),
        ("xz", "the end is missing"),
        ("zstd", "incomplete frame"),
    ],
)
def test_truncated_files(folder: Path, refused, kind: str, reason: str) -> None:
    (folder / "r.gz").write_bytes(PACK[kind](TEXT)[:-9])
    with refused(f"r.gz: damaged {kind} file: {reason}"):
        read_run("r.gz")


def test_corrupt_gzip(folder: Path) -> None:
    packed = bytearray(gzip.compress(TEXT, mtime=0))
    packed[-6] ^= 0xFF
    (folder / "r.gz").write_bytes(packed)
    with pytest.raises(ValueError, match=r"\Ar\.gz: damaged gzip file: CRC check failed.*\Z"):
        read_run("r.gz")


def test_zstd_holds_utf_8_only(folder: Path, refused) -> None:
    # A zstd frame with one uncompressed block: b"\xe9\n".
    (folder / "r.zst").write_bytes(b"\x28\xb5\x2f\xfd\x20\x02\x11\x00\x00\xe9\n")
    reason = "it is damaged, or not UTF-8 text; unpack it first (zstd -d)"
    with refused(f"r.zst: cannot unpack this zstd file: {reason}"):
        read_run("r.zst")
    with refused("r.zst: only UTF-8 text can be written as zstd; choose .gz, .bz2 or .xz"):
        compress(b"\xe9", ".zst", "r.zst")


def test_what_is_not_compressed_is_left_alone() -> None:
    assert decompress(TEXT, "f") is TEXT
    assert compress(TEXT, "", "f") is TEXT


def test_compressed_twice(folder: Path, refused) -> None:
    (folder / "r.gz").write_bytes(gzip.compress(gzip.compress(TEXT)))
    with refused("r.gz: compressed twice; unpack it once"):
        read_run("r.gz")


@pytest.mark.parametrize("topic", [b"BZh9", b"BZh", b"PAR1", b"ARROW1"])
def test_topics_that_look_like_another_format(folder: Path, topic: bytes) -> None:
    (folder / "r").write_bytes(topic + b" Q0 d 1 2 t\n")
    assert read_run("r").topics == [topic.decode()]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_what_is_packed_is_unpacked(suffix: str) -> None:
    packed = compress(TEXT, suffix, "f")
    assert is_compressed(packed)
    assert len(packed) < len(TEXT) / 2
    assert decompress(packed, "f").removesuffix(b"\n") == TEXT.removesuffix(b"\n")


def test_packing_gzip_does_not_depend_on_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compress(TEXT, ".gz", "f")
    monkeypatch.setattr("time.time", lambda: 1.0)
    assert compress(TEXT, ".gz", "f") == before


@pytest.mark.parametrize(
    ("name", "parts"), [("a/r.csv.GZ", ("a/r.csv", ".gz")), ("r.zst", ("r", ".zst")), ("r.csv", ("r.csv", ""))]
)
def test_split_compression(name: str, parts: tuple[str, str]) -> None:
    base, suffix = split_compression(PurePath(name))
    assert (str(base), suffix) == parts
