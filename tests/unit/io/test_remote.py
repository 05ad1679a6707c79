"""Files behind addresses: those in memory, which fsspec has for tests; and a real S3 server in this process."""

from __future__ import annotations

import gzip
import sys

import pytest

import gainful as gf
from gainful.errors import DataError, MissingExtraError
from gainful.io import chunks

fsspec = pytest.importorskip("fsspec")

MADE = gf.simulate(topics=6, systems=3, depth=20, seed=4)
MEASURES = ["nDCG@10", "AP"]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    """Names and contents: judgments, three runs in three forms, and what is not a run."""
    folder = tmp_path_factory.mktemp("made")
    gf.write_qrels(MADE.qrels, folder / "qrels.txt")
    for run, suffix in zip(MADE.runs, (".txt", ".csv", ".txt"), strict=True):
        gf.write_run(run, folder / f"{run.name}{suffix}")
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    first, second, third = (run.name for run in MADE.runs)
    return {
        "qrels.txt": found["qrels.txt"],
        f"runs/{first}.txt": found[f"{first}.txt"],
        f"runs/{second}.csv": found[f"{second}.csv"],
        f"runs/{third}.txt.gz": gzip.compress(found[f"{third}.txt"]),
        "runs/.hidden": b"no run",
    }


@pytest.fixture
def memory(files):
    """The address of a bucket in memory."""
    system = fsspec.filesystem("memory")
    for name, content in files.items():
        system.pipe(f"/bucket/{name}", content)
    yield "memory://bucket"
    system.rm("/bucket", recursive=True)


def scores(qrels, runs, **options) -> tuple[object, ...]:
    found = gf.evaluate(qrels, runs, MEASURES, **options)
    return found.systems, found.values.tobytes()


EXPECTED = scores(MADE.qrels, MADE.runs)


class TestMemory:
    @pytest.mark.parametrize("runs", ["runs", "runs/", "runs/team*", "runs/*.[tc]*"])
    def test_folders_and_patterns(self, memory, runs):
        assert scores(f"{memory}/qrels.txt", f"{memory}/{runs}") == EXPECTED

    def test_folders_in_folders(self, memory):
        name, system = MADE.runs[0].name, fsspec.filesystem("memory")
        for path in ("deep/er/one.txt", "deep/two.txt", "deep/.x/three.txt"):
            system.pipe(f"/bucket/{path}", system.cat(f"/bucket/runs/{name}.txt"))
        found = gf.evaluate(MADE.qrels, f"{memory}/deep", MEASURES, recursive=True)
        assert found.systems == ("one", "two")
        assert gf.evaluate(MADE.qrels, f"{memory}/deep", MEASURES).systems == ("two",)
        only = gf.evaluate(MADE.qrels, f"{memory}/deep", MEASURES, recursive=True, include=["er/*"])
        assert only.systems == ("one",)

    def test_one_file(self, memory):
        name = MADE.runs[0].name
        assert scores(MADE.qrels, f"{memory}/runs/{name}.txt") == scores(MADE.qrels, MADE.runs[0])
        assert len(gf.read_qrels(f"{memory}/qrels.txt")) == len(MADE.qrels)
        assert gf.read_run(f"{memory}/runs/{name}.txt").frame.equals(MADE.runs[0].frame)
        named = gf.evaluate(MADE.qrels, {"mine": f"{memory}/runs/{name}.txt"}, MEASURES)
        assert named.systems == ("mine",)

    def test_in_chunks(self, memory, monkeypatch):
        """Lines and topics are cut, and chunks come as the core and as polars read them."""
        monkeypatch.setattr(chunks, "STREAMED", 1)
        monkeypatch.setattr(chunks, "CHUNK", 300)
        assert scores(f"{memory}/qrels.txt", f"{memory}/runs") == EXPECTED
        read = gf.read_runs(f"{memory}/runs")
        assert [run.frame["doc_id"].to_list() for run in read] == [run.frame["doc_id"].to_list() for run in MADE.runs]

    def test_files_that_are_not_there(self, memory):
        with pytest.raises(DataError, match=r"^memory://bucket/none\.txt: no such file or bucket$"):
            gf.read_qrels(f"{memory}/none.txt")
        with pytest.raises(DataError, match=r"^memory://bucket/none\.txt: no such file or bucket$"):
            gf.evaluate(MADE.qrels, f"{memory}/none.txt", MEASURES)
        with pytest.raises(DataError, match=r"^memory://bucket/x\*: no file matches$"):
            gf.evaluate(MADE.qrels, f"{memory}/x*", MEASURES)
        with pytest.raises(DataError, match=r"^memory://bucket: expected a file, got a folder$"):
            gf.read_run(memory)
        found = gf.evaluate(MADE.qrels, [f"{memory}/runs", f"{memory}/none.txt"], MEASURES, keep_going=True)
        assert found.failed == (("memory://bucket/none.txt", "memory://bucket/none.txt: no such file or bucket"),)

    def test_bad_line(self, memory):
        fsspec.filesystem("memory").pipe("/bucket/bad.txt", b"1 Q0 a 1 2 t\n1 Q0 b\n")
        with pytest.raises(DataError, match=r"^memory://bucket/bad\.txt:2: expected 6 fields"):
            gf.read_run(f"{memory}/bad.txt")


def test_unknown_kinds_of_addresses():
    with pytest.raises(DataError, match=r"^nowhere://a/b: cannot be read: ValueError: Protocol not known: nowhere"):
        gf.read_qrels("nowhere://a/b")


@pytest.mark.parametrize("missing", ["fsspec", "s3fs"])
def test_without_the_extra(missing, monkeypatch):
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)  # it was here before
    for name in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=r"^reading s3:// needs packages that are not installed: .*\[cloud\]"):
        gf.evaluate("s3://bucket/qrels.txt", "s3://bucket/runs", MEASURES)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestS3:
    """Against moto's server, over HTTP, with s3fs: where both are installed (pip install 'moto[server]' s3fs)."""

    @pytest.fixture(scope="class")
    def bucket(self, files):
        pytest.importorskip("s3fs")
        moto = pytest.importorskip("moto.server")
        import boto3

        patch = pytest.MonkeyPatch()
        server = moto.ThreadedMotoServer(port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        client = boto3.client("s3")
        client.create_bucket(Bucket="collection")
        for name, content in files.items():
            client.put_object(Bucket="collection", Key=name, Body=content)
        yield "s3://collection"
        server.stop()
        patch.undo()

    @pytest.mark.parametrize("streamed", [False, True])
    @pytest.mark.parametrize("runs", ["runs", "runs/*"])
    def test_evaluate(self, bucket, runs, streamed, monkeypatch):
        if streamed:
            monkeypatch.setattr(chunks, "STREAMED", 1)
            monkeypatch.setattr(chunks, "CHUNK", 500)
        assert scores(f"{bucket}/qrels.txt", f"{bucket}/{runs}") == EXPECTED

    def test_keys_and_buckets_that_are_not_there(self, bucket):
        with pytest.raises(DataError, match=r"^s3://collection/none\.txt: no such file or bucket$"):
            gf.read_qrels(f"{bucket}/none.txt")
        with pytest.raises(DataError, match=r"^s3://elsewhere/qrels\.txt: no such file or bucket$"):
            gf.read_qrels("s3://elsewhere/qrels.txt")

    def test_command(self, bucket, capsys):
        from gainful.cli.main import main

        assert main(["evaluate", f"{bucket}/qrels.txt", f"{bucket}/runs", "-m", "AP", "--format", "csv"]) in (0, None)
        assert len(capsys.readouterr().out.splitlines()) == 4
