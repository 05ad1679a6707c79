"""`gainful ltrf train`, `score`, `compare` and `tune`."""

from __future__ import annotations

import csv
import io
import json
import sys

import pytest

import gainful as gf
import planted as world

pytest.importorskip("lightgbm")

GAINS = "{-2:-10,0:0,1:1,2:2}"
QUICK = ("--gains", GAINS, "--rounds", "20", "--patience", "20")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    world.planted_features(200, 1).write_csv(folder / "train.csv")
    world.planted_features(40, 2).write_csv(folder / "test.csv")
    world.planted_text(20, 1).write_ndjson(folder / "text.jsonl")
    return folder


@pytest.fixture(scope="module")
def expected(files):
    return gf.ltrf.train(files / "train.csv", gains=GAINS, settings=gf.ltrf.Settings(rounds=20, patience=20))


class TestTrain:
    def test_table(self, gainful, files, expected, tmp_path):
        status, out, err = gainful("ltrf", "train", files / "train.csv", *QUICK, "--save", tmp_path / "r")
        assert status == 0
        assert " ".join(out.split()).startswith(expected.verdict())
        assert expected.compact()[0].text() in out
        assert err == f"{expected.settings}\nsaved to: {tmp_path / 'r'}\n"
        assert gf.ltrf.FRanker.load(tmp_path / "r").to_dict() == expected.to_dict()

    def test_json_and_csv(self, gainful, files, expected):
        out = gainful("ltrf", "train", files / "train.csv", *QUICK, "--format", "json").out
        assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
        out = gainful("ltrf", "train", files / "train.csv", *QUICK, "--format", "csv").out
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [float(row["nDCGf"]) for row in rows] == expected.validation["rounds"]

    def test_chart(self, gainful, files, tmp_path):
        chart = tmp_path / "c.svg"
        status, _, err = gainful("ltrf", "train", files / "train.csv", *QUICK, "--chart", chart)
        assert status == 0
        assert err.endswith(f"chart: {chart}\n")
        assert "Where the f-ranker (ordinal) cuts" in chart.read_text(encoding="utf-8")

    @pytest.mark.slow
    def test_text(self, gainful, files, encoder_folder, tmp_path):
        words = ("ltrf", "train", files / "text.jsonl", "--gains", GAINS, "--model", encoder_folder, "--epochs", "1")
        words += ("--max-length", "24", "--device", "cpu")
        status, out, err = gainful(*words, "--save", tmp_path / "r", "--checkpoints", tmp_path / "work")
        assert (status, out[:37]) == (0, "The f-ranker (loss ordinal, text) sho")
        assert err.startswith("note: An epoch learns from 33 of 38 pairs (--max-docs 3); 5 pairs were in no epoch.\n")
        assert "\nltrf train: text, loss ordinal; " in err
        assert err.endswith(f"saved to: {tmp_path / 'r'}\n")
        assert list((tmp_path / "work").glob("checkpoint-*"))
        assert gainful("ltrf", "score", tmp_path / "r", files / "text.jsonl", "-o", tmp_path / "run.csv").status == 0


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    world.make_encoder(folder)
    return folder


class TestScore:
    @pytest.mark.parametrize("cut", ["threshold", "none", "bayes"])
    def test_run(self, gainful, files, expected, tmp_path, cut):
        expected.save(tmp_path / "r")
        words = ("ltrf", "score", tmp_path / "r", files / "test.csv", "--cut", cut, "--name", "mine")
        status, out, err = gainful(*words, "-o", tmp_path / "run.txt")
        run = expected.rank(files / "test.csv", cut=cut, name="mine")
        empty = 40 - len(run.topics)
        total = len(gf.ltrf.read_examples(files / "test.csv"))
        assert (status, out) == (0, "")
        assert err == f"{tmp_path / 'run.txt'}: {len(run)} of {total} documents; nothing for {empty} of 40 topics\n"
        assert gf.read_run(tmp_path / "run.txt").frame.select("query_id", "doc_id", "score").equals(run.frame)
        assert (tmp_path / "run.txt").read_text().splitlines()[0].endswith(" mine")

    def test_refused(self, gainful, files, expected, tmp_path):
        status, _, err = gainful("ltrf", "score", tmp_path / "r", files / "test.csv", "-o", tmp_path / "run.txt")
        assert status == 1
        assert err == (
            f"gainful: error: {tmp_path / 'r'}: expected a saved f-ranker (a folder with ranker.json), found none\n"
        )
        expected.save(tmp_path / "r")
        status, _, err = gainful("ltrf", "score", tmp_path / "r", files / "text.jsonl", "-o", tmp_path / "run.txt")
        assert (status, err) == (
            1,
            f"gainful: error: {files / 'text.jsonl'}: this f-ranker reads features, got text\n",
        )
        status, _, err = gainful("ltrf", "score", tmp_path / "r", files / "test.csv", "-o", files / "test.csv")
        message = f"{files / 'test.csv'}: is what is read, and would be lost: write to another file"
        assert (status, err) == (1, f"gainful: error: {message}\n")


class TestCompare:
    def test_table(self, gainful, files):
        words = ("ltrf", "compare", files / "train.csv", *QUICK, "--losses", "ordinal,bce")
        status, out, err = gainful(*words, "--bayes")
        assert status == 0
        found = gf.ltrf.compare(
            files / "train.csv",
            losses=["ordinal", "bce"],
            gains=GAINS,
            bayes=True,
            settings=gf.ltrf.Settings(rounds=20, patience=20),
        )
        assert " ".join(out.split()).startswith(found.verdict())
        assert found.compact()[0].text() in out
        rows = {row[1]: row for row in found.compact()[0].cells()}
        assert tuple(rows) == found.models
        assert rows["ordinal"][-1] == f"{found.threshold('ordinal'):.4f}"
        assert rows["rank-only"][-1] == "-"
        better = found.tests["nDCGf@3"].better(0.05)[found.models.index("ordinal")]
        letters = "".join(letter for letter, won in zip("abcdefg", better, strict=True) if won)
        assert letters
        assert rows["ordinal"][3] == letters
        assert "ltrf compare: 128 queries to learn from, 32 to validate, 40 to test; " in err
        assert (
            "note: The letters after nDCGf@3 name the models it is significantly better than (paired t-test over the "
            "test queries, p < 0.05 after the correction holm); JSON and to_dict() have all tests."
        ) in " ".join(err.split())

    def test_chart(self, gainful, files, tmp_path):
        words = ("ltrf", "compare", files / "train.csv", *QUICK, "--losses", "mse", "--chart", tmp_path / "c.svg")
        assert gainful(*words).status == 0
        assert "good documents filtered" in (tmp_path / "c.svg").read_text(encoding="utf-8")


class TestTune:
    def test_table(self, gainful, files, tmp_path):
        words = ("ltrf", "tune", files / "train.csv", *QUICK, "--trials", "3", "--learning-rates", "0.1", "0.2")
        status, out, err = gainful(*words, "--leaf-counts", "7,7", "--save", tmp_path / "r")
        assert status == 0
        lines = [line.split() for line in out.splitlines()]
        first = lines.index(["trial", "learning_rate", "leaves", "validation", "nDCGf@3"]) + 2
        rows = [row for row in lines[first:] if row]
        assert rows[0][:3] == ["1", "0.05", "31"]
        assert all(0.1 <= float(row[1]) <= 0.2 and row[2] == "7" for row in rows[1:])
        best = max(float(row[3]) for row in rows)
        assert f"nDCGf@3 {best:.4f} on the validation queries, " in " ".join(out.split())
        assert "ltrf tune: 128 queries to learn from, 32 to validate, 40 to test; loss=ordinal " in err
        assert gf.ltrf.FRanker.load(tmp_path / "r").validation["nDCGf"] == pytest.approx(best, abs=5e-5)


class TestErrors:
    """One line, no traceback, status 1, and before any training."""

    def refused(self, gainful, words, message):
        status, out, err = gainful("ltrf", *words)
        assert (status, out, err) == (1, "", f"gainful: error: {message}\n")

    @pytest.mark.parametrize("command", ["train", "compare", "tune"])
    def test_bad_line(self, gainful, tmp_path, command):
        path = tmp_path / "a.jsonl"
        good = '{"query_id": 1, "query": "q", "doc_id": "d", "document": "t", "label": 1}'
        path.write_text(f"{good}\n{good[:29]}\n")
        self.refused(gainful, (command, path), f"{path}:2: expected a JSON object, got {good[:29]!r}")

    @pytest.mark.parametrize("command", ["train", "tune"])
    def test_existing_folder(self, gainful, files, tmp_path, command):
        message = f"{tmp_path}: expected a new folder, got one that exists"
        self.refused(gainful, (command, files / "train.csv", "--save", tmp_path), message)

    def test_labels_without_gains(self, gainful, files):
        path = files / "train.csv"
        self.refused(
            gainful,
            ("train", path, "--gains", "{1:1,2:2}"),
            f"{path}: expected labels 1, 2, got -2, 0: give every label a gain",
        )

    def test_missing_extra(self, gainful, files, monkeypatch):
        monkeypatch.setitem(sys.modules, "lightgbm", None)
        message = "learning from features needs packages that are not installed: pip install '.[ltrf]' in a clone"
        self.refused(gainful, ("train", files / "train.csv"), message)
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        message = "learning from text needs packages that are not installed: pip install '.[ltrf]' in a clone"
        self.refused(gainful, ("train", files / "text.jsonl"), message)

    def test_absent_device(self, gainful, files, encoder_folder):
        words = ("ltrf", "train", files / "text.jsonl", "--model", encoder_folder, "--device", "cuda:99")
        status, out, err = gainful(*words)
        assert (status, out) == (1, "")
        assert err.startswith("gainful: error: device 'cuda:99' cannot be used here: ")
        assert err.count("\n") == 1

    def test_whole_numbers(self, gainful, files):
        status, _, err = gainful("ltrf", "train", files / "train.csv", "--rounds", "1.5")
        assert status == 2
        assert "expected a whole number, got '1.5'" in err
