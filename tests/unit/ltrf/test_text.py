"""f-rankers on text, with an encoder of one layer and random weights: no network, no pretrained weights."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gainful as gf
import planted as world
from gainful.errors import DataError, GainfulError
from gainful.progress import tracked_by

torch = pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")

MEASURE = "nDCGf(gain={-2:-10,0:0,1:1,2:2})@3"


def settings(encoder, **other):
    return gf.ltrf.Settings(**{**world.SETTINGS, "model": str(encoder), **other})


@pytest.fixture(scope="module")
def unseen():
    return world.planted_text(100, 2)


@pytest.fixture(scope="module")
def ranker(encoder):
    return gf.ltrf.train(world.planted_text(150, 1), gains=world.GAINS, settings=settings(encoder))


@pytest.fixture(scope="module")
def saved(ranker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "ranker"
    ranker.save(folder)
    return folder


class TestEndToEnd:
    def test_learns_the_planted_rule(self, saved, unseen):
        """Train, save, load, score, evaluate: a word decides the label; without the filter, spam is shown."""
        runs = [gf.ltrf.score(saved, unseen, cut=cut, name=cut) for cut in ("threshold", "none")]
        qrels = unseen.select("query_id", "doc_id", relevance=pl.col("label"))
        scores = gf.evaluate(qrels, runs, [MEASURE, "Forbidden@3", "FilteredGood"])
        (filtered, unfiltered), (forbidden, _), (lost, kept) = scores.summary()
        assert filtered > unfiltered + 0.15
        assert forbidden < 0.05
        assert lost < 0.3
        assert kept == 0.0

    def test_the_best_epoch_is_kept(self, ranker):
        rounds = ranker.validation["rounds"]
        assert len(rounds) == world.SETTINGS["epochs"]
        assert ranker.validation["nDCGf"] == pytest.approx(max(rounds), abs=1e-12)

    def test_loading_changes_no_score(self, ranker, saved, unseen):
        loaded = gf.ltrf.FRanker.load(saved, device="cpu")
        assert np.array_equal(loaded.score(unseen), ranker.score(unseen))
        assert loaded.to_dict() == ranker.to_dict()

    def test_folder_holds_weights_and_json_alone(self, saved):
        files = {path.relative_to(saved).as_posix() for path in saved.rglob("*") if path.is_file()}
        assert {"ranker.json", "model/model.safetensors", "model/config.json"} <= files
        assert {Path(name).suffix for name in files} == {".json", ".safetensors"}

    def test_quiet_and_without_a_network(self, encoder, tmp_path, monkeypatch, capfd):
        """Nothing on stdout or stderr, no connection, nothing left behind."""

        def refuse(*_):
            raise AssertionError("a connection was tried")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.chdir(tmp_path)
        capfd.readouterr()
        found = gf.ltrf.train(
            world.planted_text(20, 1), gains=world.GAINS, loss="lambdarank+bce", settings=settings(encoder, epochs=2)
        )
        found.save("r")
        gf.ltrf.score("r", world.planted_text(5, 3))
        assert capfd.readouterr() == ("", "")
        assert [path.name for path in tmp_path.iterdir()] == ["r"]

    def test_compare(self, encoder, tmp_path):
        """On text, too; the states of training are gone when the f-ranker is there."""
        known = settings(encoder, epochs=1)
        options = {"losses": ["mse"], "gains": world.GAINS, "folder": tmp_path / "kept", "settings": known}
        found = gf.ltrf.compare(world.planted_text(30, 1), **options)
        assert found.models == ("filter-all", "filter-none", "mse")
        assert [path.name for path in (tmp_path / "kept").iterdir()] == ["mse"]
        assert gf.ltrf.compare(world.planted_text(30, 1), **options).to_frame().equals(found.to_frame())

    def test_tune(self, encoder):
        found = gf.ltrf.tune(world.planted_text(30, 1), trials=2, batch_sizes=[4], settings=settings(encoder, epochs=1))
        assert found.to_frame()["batch_size"].to_list() == [8, 4]
        assert found.to_frame()["learning_rate"].is_between(5e-6, 3e-3).all()

    def test_two_labels(self, encoder):
        frame = world.planted_text(20, 1).with_columns(label=pl.when(pl.col("label") > 0).then(1).otherwise(-1))
        found = gf.ltrf.train(frame, settings=settings(encoder, epochs=1))
        assert np.isfinite(found.score(frame)).all()
        assert len(found.rank(frame, cut="bayes").frame.columns) == 3


SCRIPT = "import sys, torch; torch.set_num_threads(1); import planted; planted.train_in_epochs(*sys.argv[1:])"


def whole_json(path):
    try:
        return bool(json.loads(path.read_bytes()))
    except ValueError:
        return False


class TestResume:
    def test_killed_and_resumed_is_the_same_as_unbroken(self, encoder, tmp_path):
        """Killed (SIGKILL) as soon as the first epoch is on disk, then started again: equal to the last bit."""
        steps = []

        def count(iterable, total, label):
            steps.append((label, total))
            return iterable

        with tracked_by(count):
            expected = world.train_in_epochs(encoder, tmp_path / "a")
        with subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(encoder), str(tmp_path / "b")],
            env={**os.environ, "PYTHONPATH": str(Path(world.__file__).parent)},
            stderr=subprocess.PIPE,
            text=True,
        ) as broken:
            limit = time.monotonic() + 200
            while not any(whole_json(path) for path in (tmp_path / "b").glob("checkpoint-*/trainer_state.json")):
                assert broken.poll() is None, broken.stderr.read()
                assert time.monotonic() < limit
                time.sleep(0.002)
            broken.send_signal(signal.SIGKILL)
        assert broken.returncode == -signal.SIGKILL
        # A kill may also leave a state half-written: it is not what training goes on from.
        (tmp_path / "b" / "checkpoint-999").mkdir()
        with tracked_by(count):
            assert world.train_in_epochs(encoder, tmp_path / "b") == expected
        assert not (tmp_path / "b" / "checkpoint-999").exists()
        whole, rest = (total for label, total in steps if label == "Training ordinal")
        assert rest < whole  # it did go on, and not begin again

    def test_other_settings_are_refused(self, encoder, tmp_path):
        folder = tmp_path / "work"
        folder.mkdir()
        (folder / "training.json").write_text("{}")
        with pytest.raises(DataError) as caught:
            gf.ltrf.train(world.planted_text(20, 1), checkpoints=folder, settings=settings(encoder))
        assert str(caught.value) == (
            f"{folder}: has checkpoints of a training with other settings or data: choose another folder"
        )


class TestNothingIsExecuted:
    """A folder from somebody else: whatever asks for code is refused before anything is loaded."""

    @pytest.fixture
    def folder(self, saved, tmp_path):
        shutil.copytree(saved, tmp_path / "r")
        return tmp_path / "r"

    def refused(self, folder, message):
        with pytest.raises(DataError) as caught:
            gf.ltrf.FRanker.load(folder)
        assert str(caught.value) == message

    def edit(self, path, **entries):
        path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))

    def test_modules_of_another_package(self, folder):
        path = folder / "model" / "modules.json"
        path.write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "evil.Module"}]))
        self.refused(folder, f"{path}: asks for code of its own (evil.Module), which is never run")

    def test_auto_map(self, folder):
        path = folder / "model" / "config.json"
        self.edit(path, auto_map={"AutoModel": "evil.Model"})
        self.refused(folder, f"{path}: asks for code of its own (auto_map), which is never run")

    def test_activation(self, folder):
        path = folder / "model" / "config_sentence_transformers.json"
        self.edit(path, deep={"activation_fn": "torch.hub.load"})
        self.refused(folder, f"{path}: asks for code of its own (torch.hub.load), which is never run")

    @pytest.mark.parametrize("name", ["pytorch_model.bin", "optimizer.pt", "model.pkl", "modeling_evil.py"])
    def test_pickles_and_code(self, folder, name):
        path = folder / "model" / name
        path.write_bytes(pickle.dumps(print))
        self.refused(
            folder,
            f"{path}: expected only .json, .txt, .safetensors, .model, .md, .jinja in a folder of weights",
        )

    def test_no_weights(self, folder):
        shutil.rmtree(folder / "model")
        self.refused(folder, f"{folder / 'model'}: expected a folder of weights, found none")

    def test_broken_json(self, folder):
        (folder / "model" / "modules.json").write_text("[")
        with pytest.raises(DataError, match=r"modules\.json: cannot be read: "):
            gf.ltrf.FRanker.load(folder)

    def test_broken_weights(self, folder):
        path = folder / "model" / "model.safetensors"
        path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(
            DataError, match=r"^model '.*': expected a folder of weights \(safetensors\) or a name that"
        ):
            gf.ltrf.FRanker.load(folder)

    def test_a_pickled_encoder_is_not_started_from(self, encoder, tmp_path):
        shutil.copytree(encoder, tmp_path / "old")
        (tmp_path / "old" / "model.safetensors").rename(tmp_path / "old" / "pytorch_model.bin")
        with pytest.raises(DataError, match=r"^model '.*old': expected a folder of weights \(safetensors\) or a name"):
            gf.ltrf.train(world.planted_text(20, 1), settings=settings(tmp_path / "old"))


class TestRefused:
    def test_absent_encoder(self, tmp_path, monkeypatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(DataError) as caught:
            gf.ltrf.train(world.planted_text(20, 1), settings=settings(tmp_path / "none"))
        assert str(caught.value).startswith(
            f"model '{tmp_path / 'none'}': expected a folder of weights (safetensors) or a name that can be fetched, "
        )

    def test_absent_device(self, encoder, saved, unseen):
        for device in ("cuda:99", "nonsense"):
            with pytest.raises(GainfulError, match=rf"^device '{device}' cannot be used here: \S"):
                gf.ltrf.train(world.planted_text(20, 1), settings=settings(encoder, device=device))
            with pytest.raises(GainfulError, match=rf"^device '{device}' cannot be used here: \S"):
                gf.ltrf.score(saved, unseen, device=device)

    def test_features_for_text(self, ranker):
        with pytest.raises(DataError) as caught:
            ranker.rank(world.planted_features(3, 1))
        assert str(caught.value) == "examples: this f-ranker reads text, got features"

    def test_options(self, encoder):
        with pytest.raises(GainfulError, match=r"^leaves: is for features, and the examples are text$"):
            gf.ltrf.train(world.planted_text(20, 1), settings=settings(encoder, leaves=3))
        with pytest.raises(GainfulError, match=r"^max_docs: expected at least 1, got 0$"):
            gf.ltrf.train(world.planted_text(20, 1), settings=settings(encoder, max_docs=0))

    @pytest.mark.parametrize("package", ["torch", "sentence_transformers", "datasets", "accelerate"])
    def test_missing_extra(self, encoder, monkeypatch, package):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(GainfulError) as caught:
            gf.ltrf.train(world.planted_text(20, 1), settings=settings(encoder))
        assert str(caught.value) == (
            "learning from text needs packages that are not installed: pip install 'gainful[ltrf]'"
        )


def test_sampled_documents(encoder):
    """At most `max_docs` of a query, drawn anew by every seed; grades go with them."""
    from gainful.ltrf.targets import Scale
    from gainful.ltrf.text import _lists

    examples = gf.ltrf.read_examples(world.planted_text(40, 1))
    scale = Scale.of(world.GAINS)
    lists = _lists(examples, scale, 2, 0)
    assert [len(docs) for docs in lists["docs"]] == np.minimum(examples.sizes, 2).tolist()
    grade = dict(zip(examples.frame["document"], scale.grade(examples.labels).tolist(), strict=True))
    assert all(
        grade[d] == g
        for docs, grades in zip(lists["docs"], lists["label"], strict=True)
        for d, g in zip(docs, grades, strict=True)
    )
    assert lists["docs"] == _lists(examples, scale, 2, 0)["docs"]
    assert lists["docs"] != _lists(examples, scale, 2, 1)["docs"]
