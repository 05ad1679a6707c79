"""Whatever holds a run: if it changes while it is read, that is the error, and never a score."""

import io
import os
import shutil
import tarfile
import zipfile
from unittest import mock

import polars as pl
import pytest

from gainful.data.policies import Policies
from gainful.data.pool import Judged
from gainful.engine.evaluation import groups_of, score_group
from gainful.engine.scoring import Job
from gainful.errors import DataError
from gainful.io import chunks
from gainful.io.compression import compress
from gainful.io.files import load
from gainful.io.read import entries_of, read_qrels
from gainful.measures import parse_measures

ROWS = 4000
TABLE = pl.DataFrame(
    {
        "query_id": [str(at // 100) for at in range(ROWS)],
        "doc_id": [f"d{at * 7919 % 100_003}" for at in range(ROWS)],
        "score": [float(ROWS - at) for at in range(ROWS)],
    }
)


def parquet() -> bytes:
    TABLE.write_parquet(into := io.BytesIO(), row_group_size=50)
    return into.getvalue()


def text() -> bytes:
    return "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in TABLE.iter_rows()).encode()


FILES = {
    "run.txt": text,
    "run.csv": lambda: TABLE.write_csv().encode(),
    "run.tsv": lambda: TABLE.write_csv(separator="\t").encode(),
    "run.jsonl": lambda: TABLE.write_ndjson().encode(),
    "run.parquet": parquet,
    **{f"run.txt{end}": lambda end=end: compress(text(), end, "") for end in (".gz", ".zst", ".bz2", ".xz")},
}
CHANGES = {
    "shrinks": lambda path: os.truncate(path, os.path.getsize(path) // 3),
    "is emptied": lambda path: os.truncate(path, 0),
    "grows": lambda path: path.write_bytes(path.read_bytes() + b"1 Q0 more 1 1 t\n"),
    "is replaced": lambda path: os.replace(shutil.copy2(path, path.with_suffix(".new")), path),
    "is removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", FILES)
def test_in_chunks(tmp_path, name, change):
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    with mock.patch.multiple(chunks, STREAMED=1, CHUNK=2000):
        (run,) = chunks.large_runs(path, "run")
        rows = run.chunks()
        next(rows)
        CHANGES[change](path)
        with pytest.raises(DataError) as told:
            list(rows)
    assert str(told.value) == f"{path}: changed while it was read; wait until it is complete"


@pytest.mark.parametrize("name", FILES)
def test_no_change(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    with mock.patch.multiple(chunks, STREAMED=1, CHUNK=2000):
        (run,) = chunks.large_runs(path, "run")
        assert run.read().frame.select(TABLE.columns).equals(TABLE)


@pytest.mark.parametrize("name", ["run.txt", "run.json", "run.arrow", "run.csv.xz"])
def test_as_a_whole(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"1 Q0 d 1 1 t\n" * 3)
    taken = os.fstat

    def later(file):
        found = taken(file)
        os.utime(path, ns=(0, found.st_mtime_ns + 10**9))
        return found

    with mock.patch("os.fstat", later), pytest.raises(DataError, match="changed while it was read"):
        load(path)


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_an_archive(tmp_path, kind):
    path = tmp_path / f"runs.{kind}"
    (tmp_path / "a.txt").write_bytes(text())
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(tmp_path / "a.txt", "a.txt")
    else:
        with tarfile.open(path, f"w:{kind[4:]}") as archive:
            archive.add(tmp_path / "a.txt", "a.txt")
    (entry,) = entries_of(str(path))
    kept = entry.source.read()
    assert kept == text()
    place = "zipfile.ZipExtFile.read" if kind == "zip" else "gainful.io.archives._Tar.read"

    left = [kept]

    def grown(*_, **__):
        with path.open("ab") as file:
            file.write(b"more")
        return left.pop() if left else b""

    with mock.patch(place, grown), pytest.raises(DataError, match=r"runs\.\S+: changed while it was read"):
        entry.source.read()


def test_a_group_of_a_data_set(tmp_path):
    """What a worker of a cluster is given."""
    root = tmp_path / "run.parquet"
    root.mkdir()
    for part in range(2):
        (root / f"part-{part}.parquet").write_bytes(parquet())
    (entry,) = entries_of(str(root))
    job = Job(
        judged=Judged(read_qrels({"1": {"d1": 1}}), "error"), measures=tuple(parse_measures("AP")), policies=Policies()
    )
    group = groups_of(entry, 1)[0]
    found = chunks.to_columns

    def shrinking(*words):
        os.truncate(root / "part-1.parquet", 100)
        return found(*words)

    with (
        mock.patch.object(chunks, "to_columns", shrinking),
        mock.patch.object(chunks, "CHUNK", 2000),
        pytest.raises(DataError, match=r"part-1\.parquet: "),
    ):
        score_group(job, group)
