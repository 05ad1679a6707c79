from __future__ import annotations

import json

import pytest

import gainful as gf

SMALL = ("--topics", "3", "--systems", "2", "--depth", "20", "--seed", "5")


class TestFolder:
    def test_has_the_collection(self, gainful, tmp_path):
        folder = tmp_path / "a" / "new"
        status, out, err = gainful("simulate", folder, *SMALL)
        assert (status, out) == (0, "")
        collection = gf.simulate(topics=3, systems=2, depth=20, seed=5)
        assert err == f"{collection}\nwritten to {folder}: qrels.txt, 2 files in runs, collection.json\n"
        assert sorted(path.name for path in folder.iterdir()) == ["collection.json", "qrels.txt", "runs"]
        assert gf.read_qrels(folder / "qrels.txt").frame.equals(collection.qrels.frame)
        assert {path.stem for path in (folder / "runs").iterdir()} == {run.name for run in collection.runs}
        for run in collection.runs:
            assert gf.read_run(folder / "runs" / f"{run.name}.txt").frame.equals(run.frame)

    def test_tells_how_to_make_it_again(self, gainful, tmp_path):
        gainful("simulate", tmp_path / "new", *SMALL)
        settings = json.loads((tmp_path / "new" / "collection.json").read_text())["settings"]
        assert gf.simulate(**settings).qrels.frame.equals(gf.read_qrels(tmp_path / "new" / "qrels.txt").frame)

    def test_empty_one_is_used(self, gainful, tmp_path):
        (tmp_path / "empty").mkdir()
        assert gainful("simulate", tmp_path / "empty", *SMALL).status == 0
        assert (tmp_path / "empty" / "qrels.txt").exists()

    def test_one_with_files_is_refused(self, gainful, tmp_path):
        (tmp_path / "mine").write_text("x")
        message = f"{tmp_path}: expected a new or empty folder, got one with files in it: name another, or remove it"
        assert gainful("simulate", tmp_path, *SMALL) == (1, "", f"gainful: error: {message}\n")
        assert [path.name for path in tmp_path.iterdir()] == ["mine"]

    def test_file_is_refused(self, gainful, tmp_path):
        (tmp_path / "mine").write_text("x")
        message = f"gainful: error: {tmp_path / 'mine'}: expected a new or empty folder, got a file: name another\n"
        assert gainful("simulate", tmp_path / "mine", *SMALL) == (1, "", message)

    def test_folder_one_is_in_is_refused(self, gainful, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        message = ".: expected a folder to be made, got the one you are in: name one inside of it"
        assert gainful("simulate", ".", *SMALL) == (1, "", f"gainful: error: {message}\n")
        assert list(tmp_path.iterdir()) == []

    def test_one_that_cannot_be_made(self, gainful, tmp_path, monkeypatch):
        def full(self, *_, **__):
            raise OSError(28, "No space left on device", str(self))

        monkeypatch.setattr("pathlib.Path.mkdir", lambda self, **named: None if named else full(self))
        outcome = gainful("simulate", tmp_path / "made", "--topics", "2", "--systems", "2", "--depth", "5")
        message = f"{tmp_path / 'made'}: cannot be made: No space left on device"
        assert outcome == (1, "", f"gainful: error: {message}\n")

    def test_never_half_written(self, gainful, tmp_path, monkeypatch):
        written = []

        def fail_at_the_second(run, path):
            written.append(path)
            if len(written) == 2:
                raise OSError(28, "No space left on device", str(path))
            path.write_text("")

        monkeypatch.setattr("gainful.io.write.write_run", fail_at_the_second)
        outcome = gainful("simulate", tmp_path / "new", *SMALL)
        assert outcome.status == 1
        assert outcome.err.endswith("No space left on device\n")
        assert len(written) == 2
        assert list(tmp_path.iterdir()) == []


def test_wrong_settings(gainful, tmp_path):
    outcome = gainful("simulate", tmp_path / "new", "--topics", "0")
    assert outcome.status == 1
    assert outcome.err.startswith("gainful: error: --topics: expected ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flag", ["--pool-depth", "--contributors", "--team-size"])
def test_flags_reach_the_function(gainful, tmp_path, flag):
    gainful("simulate", tmp_path / "new", *SMALL, flag, "1")
    settings = json.loads((tmp_path / "new" / "collection.json").read_text())["settings"]
    assert settings[flag.strip("-").replace("-", "_")] == 1


def test_numbers_are_not_rounded(gainful, tmp_path):
    status, out, err = gainful("simulate", tmp_path / "new", "--seed", "1.5")
    assert (status, out) == (2, "")
    message = "Invalid value for --seed: expected a whole number, got '1.5'. Try 'gainful simulate --help'."
    assert err == f"gainful: error: {message}\n"
    assert not (tmp_path / "new").exists()


def test_one_run_is_one_file(gainful, tmp_path):
    settings = ("--topics", 2, "--systems", 1, "--contributors", 1, "--team-size", 1, "--depth", 20, "--pool-depth", 5)
    status, _, err = gainful("simulate", tmp_path / "one", *settings)
    assert status == 0
    assert err.endswith(f"written to {tmp_path / 'one'}: qrels.txt, 1 file in runs, collection.json\n")
