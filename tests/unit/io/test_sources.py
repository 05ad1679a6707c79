"""Which files are taken: folders in folders, patterns, archives."""

import gzip
import io
import os
import re
import sys
import tarfile
import zipfile
from importlib.util import find_spec

import pytest

import gainful as gf
from gainful.errors import DataError, GainfulError
from gainful.io import archives

RUN = b"301 Q0 a 1 2.5 tag\n301 Q0 b 2 1.5 tag\n"
BAD = b"301 Q0 b 1 2.5 tag\n301 Q0 a 2 1.5\n"
QRELS = {"301": {"a": 1, "b": 0}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.txt", "deep/two.txt.gz", "deep/er/three.run", "deep/.hidden/four.txt"):
        place = tmp_path / "runs" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(gzip.compress(RUN) if name.endswith(".gz") else RUN)
    return tmp_path


def systems(runs="runs", **options):
    return gf.evaluate(QRELS, runs, "AP", **options).systems


def packed(path, files, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


@pytest.mark.usefixtures("folder")
def test_folders_in_folders():
    assert systems() == ("one",)
    notes = [note.text for note in gf.evaluate(QRELS, "runs", "AP").notes() if note.code == "no-run"]
    assert notes == ["Left out 1 file that is no run: runs/deep (a folder: recursive searches it)."]
    assert not [note for note in gf.evaluate(QRELS, "runs", "AP", include=["one*"]).notes() if note.code == "no-run"]
    assert systems(recursive=True) == ("three", "two", "one")
    with pytest.raises(DataError, match=r"runs/deep/er/x: no such file"):
        systems("runs/deep/er/x", recursive=True)


def test_a_folder_of_folders_says_how_to_search_them(folder):
    (folder / "runs" / "one.txt").unlink()
    with pytest.raises(DataError, match="got one without files; recursive searches the folders in it"):
        systems()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"include": ["*.run"]}, ("three",)),
        ({"include": ["deep/*"]}, ("three", "two")),
        ({"exclude": ["t*"]}, ("one",)),
        ({"include": ["*.txt*"], "exclude": ["deep/two*"]}, ("one",)),
    ],
)
@pytest.mark.usefixtures("folder")
def test_patterns(options, expected):
    assert systems(recursive=True, **options) == expected


@pytest.mark.usefixtures("folder")
def test_patterns_hold_for_files_that_are_named_as_shells_do_it():
    assert systems(["runs/one.txt", "runs/deep/two.txt.gz"], exclude=["two*"]) == ("one",)
    with pytest.raises(DataError, match="got none that the patterns admit"):
        systems(exclude=["*"])
    with pytest.raises(GainfulError, match="include: expected a list of patterns"):
        systems(include="*.txt")


@pytest.mark.usefixtures("folder")
def test_every_function_that_reads_runs_takes_them():
    runs = {"runs": "runs", "recursive": True, "exclude": ["one*"]}
    rankings = gf.align(QRELS, **runs)
    assert rankings.systems == ("three", "two")
    for function in (gf.boundedness, gf.pool):
        assert "2 runs" in str(function(QRELS, **runs).settings)


@pytest.mark.parametrize("name", ["all.tar", "all.tar.gz", "all.tgz", "all.tar.bz2", "all.tar.xz", "all.zip"])
def test_archives(folder, name):
    files = {"all/two.txt": RUN, "all/README.md": b"# Runs", "all/sub/one.gz": gzip.compress(RUN), "all/.x": b"x"}
    if name.endswith(".zip"):
        zipped(folder / name, files)
    else:
        modes = {"tar": "w", "gz": "w:gz", "tgz": "w:gz", "bz2": "w:bz2", "xz": "w:xz"}
        packed(folder / name, files, modes[name.rsplit(".")[-1]])
    scores = gf.evaluate(QRELS, name, "RR")
    assert scores.systems == ("one", "two")
    assert scores.mean()["RR"].to_list() == [1.0, 1.0]
    (note,) = [note for note in scores.notes() if note.code == "no-run"]
    assert note.text == f"Left out 1 file that is no run: {name}/all/README.md (a text)."
    assert gf.evaluate(QRELS, name, "RR", include=["all/sub/*"]).systems == ("one",)


def test_archives_of_zstandard(folder):
    """By polars, which unpacks text alone and loses carriage returns: what it cannot unpack is refused, never cut."""
    for name, files in {
        "good": {"two.txt": RUN, "one.txt": RUN},
        "returns": {"one.txt": RUN, "two.txt": RUN.replace(b"\n", b"\r\n"), "three.txt": RUN},
        "bytes": {"one.gz": gzip.compress(RUN)},
    }.items():
        packed(folder / "all.tar", files, "w")
        content = (folder / "all.tar").read_bytes()
        # One raw block in one frame (RFC 8878): magic, a descriptor with the size in 4 bytes, a last block as it is.
        block = (len(content) << 3 | 1).to_bytes(3, "little")
        frame = b"\x28\xb5\x2f\xfd\xa0" + len(content).to_bytes(4, "little") + block + content
        (folder / f"{name}.tar.zst").write_bytes(frame)
    assert systems("good.tar.zst") == ("one", "two")
    if sys.version_info < (3, 14) and find_spec("zstandard") is None:
        for name in ("returns", "bytes"):
            with pytest.raises(DataError, match=rf"{name}.tar.zst: this archive is damaged, or holds more than UTF-8"):
                systems(f"{name}.tar.zst")


def test_one_run_of_a_folder(folder, gainful):
    """Commands that take one run choose it as all others do."""
    (folder / "q.txt").write_text("301 0 a 1\n301 0 b 0\n")
    for command in (("explain",), ("threshold", "fit"), ("threshold", "curve")):
        assert gainful(*command, "q.txt", "runs", "--recursive", "--include", "two.*").status == 0, command
    assert gainful("explain", "q.txt", "runs", "-q", "301").status == 0  # there is but one
    words = ("runs", "--recursive", "--threshold", "0.5", "-o", "cut.txt")
    assert gainful("threshold", "apply", *words, "--exclude", "t*").status == 0
    assert gf.read_run("cut.txt").topics == gf.read_run("runs/one.txt").topics
    status, _, err = gainful("threshold", "apply", *words)
    assert status == 1
    assert "runs: expected one run, got 3: 'three', 'two' and 'one'; --include chooses one" in err
    (folder / "runs" / "bad.txt").write_bytes(BAD)
    status, _, err = gainful("study", "negative-labels", "q.txt", "runs", "--keep-going", "--resamples", "20")
    assert status == 1
    assert "failed: q: runs/bad.txt:2: expected 6 fields" in err


def test_an_archive_beside_runs_and_what_is_wrong_inside(folder):
    packed(folder / "runs" / "more.tgz", {"bad.txt": BAD, "one.txt": RUN})
    with pytest.raises(DataError, match=r"^runs/more.tgz/bad.txt:2: expected 6 fields"):
        systems()
    scores = gf.evaluate(QRELS, "runs", "AP", keep_going=True)
    assert scores.systems == ("more.tgz/one", "runs/one")
    assert [source for source, _ in scores.failed] == ["runs/more.tgz/bad.txt"]


def test_members_of_a_compressed_archive_in_any_order(folder):
    names = [f"r{number}.txt" for number in range(20)]
    packed(folder / "many.tgz", {name: RUN.replace(b"a", name.encode()) for name in names})
    members = archives.members_of(folder / "many.tgz")
    for member in [*members[::3], *members[1::3], *members[2::3], *reversed(members)]:
        assert member.read().split()[2] == member.name.encode()


def test_damaged_and_large_archives(folder, monkeypatch):
    packed(folder / "all.tgz", {"one.txt": RUN * 1000})
    data = (folder / "all.tgz").read_bytes()
    zipped(folder / "all.zip", {"one.txt": RUN})
    monkeypatch.setattr(archives, "LARGEST", 20)
    for name in ("all.tgz", "all.zip"):
        with pytest.raises(DataError, match=rf"{name}/one.txt: expected at most 0 GiB per file"):
            systems(name)
    (folder / "short.tgz").write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match=r"short.tgz/one.txt: expected at most 0 GiB per file"):
        systems("short.tgz")  # the rest of it is not looked at
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    with pytest.raises(DataError, match=r"short.tgz: damaged"):
        systems("short.tgz")


@pytest.mark.parametrize("name", ["all.tar", "all.tgz", "all.zip", "all.tar.zst"])
def test_a_damaged_archive_stops_nobody(folder, name, gainful):
    if name == "all.zip":
        zipped(folder / name, {"two.txt": RUN, "three.txt": RUN})
    else:
        packed(folder / name, {"two.txt": RUN * 500, "three.txt": RUN * 500}, "w:gz" if name == "all.tgz" else "w")
    place, data = f"runs/{name}", (folder / name).read_bytes()
    (folder / place).write_bytes((b"\x28\xb5\x2f\xfd" if name == "all.tar.zst" else b"") + data[: len(data) * 2 // 3])
    scores = gf.evaluate(QRELS, "runs", "AP", keep_going=True)
    assert scores.systems == ("one",)
    ((source, reason),) = scores.failed
    assert source == place
    assert re.match(rf"{place}: (this archive is )?damaged", reason)
    (found,) = [file for file in gf.check(QRELS, "runs").files if file.status == "1 error"]
    assert (found.file, found.findings[0].text) == (place, reason)
    assert "pack" in found.findings[0].remedy.lower()
    assert systems(exclude=["all*"]) == ("one",)
    (folder / "q.txt").write_text("301 0 a 1\n301 0 b 0\n")
    status, _, err = gainful("evaluate", "q.txt", "runs")
    assert (status, "--keep-going leaves out such runs" in err) == (1, True)
    header = b"# ir_metadata.start\n# team: ours\n# ir_metadata.end\n"
    (folder / "runs" / "one.txt").write_bytes(header + RUN)
    assert gf.evaluate(QRELS, "runs", "AP", keep_going=True, metadata="headers").systems == ("one",)


def test_links_to_nothing_are_named_and_pipes_are_not_waited_for(folder):
    (folder / "runs" / "lost.txt").symlink_to("gone.txt")
    os.mkfifo(folder / "runs" / "deep" / "pipe")
    for recursive in (False, True):
        scores = gf.evaluate(QRELS, "runs", "AP", keep_going=True, recursive=recursive)
        assert scores.failed == (("runs/lost.txt", "runs/lost.txt: a link to 'gone.txt', where nothing is"),)
        found = gf.check(QRELS, "runs", recursive=recursive)
        assert [file.file for file in found.files if "error" in file.status] == ["runs/lost.txt"]
    with pytest.raises(DataError, match=r"^runs/gone.txt: no such file"):
        gf.check(QRELS, "runs/gone.txt")


def test_names_of_members_do_not_lead_out_of_an_archive(folder):
    """Nothing is written, so that such a name is just a name."""
    packed(folder / "evil.tgz", {"../../one.txt": RUN})
    before = sorted(folder.rglob("*"))
    assert gf.evaluate(QRELS, "evil.tgz", "RR").mean()["RR"].to_list() == [1.0]
    assert sorted(folder.rglob("*")) == before
