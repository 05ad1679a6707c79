"""Small files that become large: each ends in a message that names the file and the limit, with the memory kept.

Every command runs in a process of its own whose address space is limited, whatever becomes of gainful's own limit.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MILLION, GIGA = 1 << 20, 1 << 30
LIMIT = 250_000_000
ZEROS = b"0" * (4 * MILLION)
# The peak of a process counts what the one that started it had: hence a small one in between.
STARTER = """
import os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def zstd() -> bytes:
    """A frame of 16,384 blocks (RFC 8878), each of which says: 128 KiB of a zero."""
    blocks = [((1 << 17) << 3 | 1 << 1 | (at == 16383)).to_bytes(3, "little") + b"0" for at in range(16384)]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(blocks)


def dictionary() -> Any:
    """A table in which one id of 20 MB stands in 400 rows, and in memory once."""
    pa = pytest.importorskip("pyarrow")
    ids = pa.DictionaryArray.from_arrays(pa.array([0] * 400, pa.int32()), pa.array(["x" * 20_000_000]))
    return pa.table({"query_id": ["1"] * 400, "doc_id": ids, "score": [1.0] * 400})


def parquet() -> bytes:
    table, pq = dictionary(), pytest.importorskip("pyarrow.parquet")
    pq.write_table(table, into := io.BytesIO(), compression="zstd", write_statistics=False)
    return into.getvalue()


def arrow() -> bytes:
    table, feather = dictionary(), pytest.importorskip("pyarrow.feather")
    feather.write_feather(table, into := io.BytesIO(), compression="zstd")
    return into.getvalue()


def tar() -> bytes:
    header = tarfile.TarInfo("run.txt")
    header.size = 100 * len(ZEROS)
    return gzip.compress(header.tobuf()) + gzip.compress(ZEROS) * 100 + gzip.compress(b"\0" * 1024)


def zipped() -> bytes:
    with zipfile.ZipFile(into := io.BytesIO(), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("run.txt", b"0" * (300 * MILLION))
    return into.getvalue()


BOMBS: dict[str, Callable[[], bytes]] = {
    "run.gz": lambda: gzip.compress(ZEROS) * 100,
    "run.bz2": lambda: bz2.compress(ZEROS) * 100,
    "run.xz": lambda: lzma.compress(ZEROS, preset=0) * 100,
    "run.zst": zstd,
    "run.csv.gz": lambda: gzip.compress(b"query_id,doc_id,score\n" + b"1,d,1\n" * MILLION) * 20,
    "run.jsonl.xz": lambda: lzma.compress(b'{"query_id": "1", "doc_id": "d", "score": 1}\n' * MILLION, preset=0) * 9,
    "run.json.gz": lambda: gzip.compress(b'{"1": [' + b"[]," * (10 * MILLION) + b"[]]}"),
    "run.json": lambda: b'{"1": [' + b"[]," * (10 * MILLION) + b"[]]}",
    "run.parquet": parquet,
    "run.arrow": arrow,
    "runs.tar.gz": tar,
    "runs.zip": zipped,
    "run.tar.zst": zstd,
    "line.txt": lambda: b"x" * (200 * MILLION),
    "line.csv": lambda: b'query_id,doc_id,score\n1,"' + b"x" * (200 * MILLION) + b'",1\n',
}


def run(folder: Path, *words: str, limit: int = LIMIT, feed: str = "") -> tuple[int, str, int]:
    """The status of a command, what it says, and the most memory it took, in bytes."""
    command = [sys.executable, "-c", STARTER, sys.executable, "-m", "gainful", *words, "--memory", str(limit)]
    with (folder / "said").open("w+") as said, open(feed or os.devnull, "rb") as given:
        ended = subprocess.run(command, cwd=folder, stdin=given, stdout=subprocess.PIPE, stderr=said, check=True)
        status, peak = map(int, ended.stdout.split()[-2:])
        said.seek(0)
        return status, said.read(), peak * 1024


def refused(found: tuple[int, str, int], name: str) -> None:
    status, said, peak = found
    message = (
        f"gainful: error: {name}: needs more than the 250 MB of memory that gainful may take; --memory allows more"
    )
    assert (status, said.splitlines()[0]) == (1, message)
    assert peak < LIMIT + 60_000_000  # what libraries have in files is not counted


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb(tmp_path, name):
    (tmp_path / "qrels.txt").write_text("1 0 d 1\n")
    (tmp_path / name).write_bytes(BOMBS[name]())
    inside = {"runs.tar.gz": "runs.tar.gz/run.txt", "runs.zip": "runs.zip/run.txt", "run.tar.zst": str(tmp_path / name)}
    refused(run(tmp_path, "evaluate", "qrels.txt", name), inside.get(name, name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run.gz", "run.zst", "run.json.gz"])
def test_judgments(tmp_path, name):
    (tmp_path / "run.txt").write_text("1 Q0 d 1 1 t\n")
    (tmp_path / name).write_bytes(BOMBS[name]())
    refused(run(tmp_path, "evaluate", name, "run.txt"), name)


@pytest.mark.slow
def test_what_never_ends(tmp_path):
    (tmp_path / "qrels.txt").write_text("1 0 d 1\n")
    refused(run(tmp_path, "evaluate", "qrels.txt", "/dev/zero"), "/dev/zero")


@pytest.mark.slow
def test_what_is_fed_without_end(tmp_path):
    (tmp_path / "qrels.txt").write_text("1 0 d 1\n")
    refused(run(tmp_path, "evaluate", "qrels.txt", "-", feed="/dev/urandom"), "standard input")


@pytest.mark.slow
def test_what_a_library_takes(tmp_path):
    """Nobody counts what an analysis takes: it is looked at from aside, and old files stay."""
    (tmp_path / "scores.csv").write_text(
        "topic,"
        + ",".join(f"r{run}" for run in range(900))
        + "\n"
        + "".join(f"{topic}," + ",".join(f"{topic * run % 97}" for run in range(900)) + "\n" for topic in range(400))
    )
    (tmp_path / "out.csv").write_text("before")
    words = ("compare", "--scores", "scores.csv", "--test", "bootstrap", "--resamples", "20000", "-o", "out.csv")
    status, said, _ = run(tmp_path, *words, limit=120_000_000)
    assert (status, (tmp_path / "out.csv").read_text()) == (1, "before")
    assert (
        said == "gainful: error: this command: needs more than the 120 MB of memory that gainful may take; "
        "--memory allows more\n"
    )
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "said", "scores.csv"]
