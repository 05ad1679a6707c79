"""A training that was cut off goes on where it was; a folder of states belongs to one training."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import gainful as gf
import planted as world
from gainful.errors import DataError
from gainful.progress import tracked_by

pytestmark = pytest.mark.slow

pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")


def whole_json(path):
    try:
        return bool(json.loads(path.read_bytes()))
    except ValueError:
        return False


class Steps:
    """Counts what a training tells of."""

    def __init__(self):
        self.totals = []

    def __call__(self, iterable, total, label):
        if label.startswith("Training"):
            self.totals.append(total)
        return iterable


# A process that calls a function of `planted` with the other words, and sleeps in the second call of a method of the
# trainer: where it is killed must not depend on who is faster.
HELD = """
import sys, time, torch, transformers
torch.set_num_threads(1)
import planted
method, function, *words = sys.argv[1:]
called, calls = getattr(transformers.Trainer, method), []
def held(*given, **more):
    calls.append(1)
    if len(calls) == 2:
        time.sleep(600)
    return called(*given, **more)
setattr(transformers.Trainer, method, held)
getattr(planted, function)(*words)
"""


@contextmanager
def killed(method, function, encoder, folder):
    """A process that calls `planted.function`, held in a method; it dies (SIGKILL) when the block ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HELD, method, function, str(encoder), str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(world.__file__).parent), *sys.path])},
        stderr=subprocess.PIPE,
        text=True,
    ) as broken:
        yield broken
        broken.send_signal(signal.SIGKILL)
    assert broken.returncode == -signal.SIGKILL


def wait_for(there, broken):
    """Wait until something is there; the process has to live that long."""
    limit = time.monotonic() + 400
    while not there():
        assert broken.poll() is None, broken.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_killed_moved_and_resumed_is_the_same_as_unbroken(encoder, tmp_path, monkeypatch):
    """Killed as soon as the first epoch is on disk, moved, then started again: equal to the last bit."""
    steps = Steps()
    with tracked_by(steps):
        expected = world.train_in_epochs(encoder, tmp_path / "a")
    with killed("_save_checkpoint", "train_in_epochs", encoder, tmp_path / "b") as broken:
        states = "checkpoint-*/trainer_state.json"
        wait_for(lambda: any(whole_json(path) for path in (tmp_path / "b").glob(states)), broken)
    # A kill may also leave a state half-written: it is not what training goes on from.
    (tmp_path / "b" / "checkpoint-999").mkdir()
    (tmp_path / "b").rename(tmp_path / "c")
    monkeypatch.chdir(tmp_path)
    with tracked_by(steps):
        assert world.train_in_epochs(encoder, "c") == expected
    assert not (tmp_path / "c" / "checkpoint-999").exists()
    whole, rest = steps.totals
    assert rest < whole  # it did go on, and not begin again


def test_a_comparison_killed_in_a_training_is_the_same_as_unbroken(encoder, tmp_path):
    """Killed when the first of three trainings is kept and the second begins: that one is done again, all alike."""
    expected = world.compare_in_folder(encoder, tmp_path / "a")
    first = tmp_path / "b" / "seed-0-fold-1-bce.json"
    with killed("train", "compare_in_folder", encoder, tmp_path / "b") as broken:
        wait_for(first.exists, broken)
    kept = first.stat().st_mtime_ns
    assert len(list((tmp_path / "b").glob("seed-*.json"))) < 3
    assert json.dumps(world.compare_in_folder(encoder, tmp_path / "b")) == json.dumps(expected)
    assert first.stat().st_mtime_ns == kept


@pytest.fixture(scope="module")
def stopped(encoder, tmp_path_factory):
    """A training whose first epoch is the best, with a patience of one: it ends after the second of six."""
    folder = tmp_path_factory.mktemp("stopped") / "work"
    return folder, early(encoder, folder)


def early(encoder, folder, **other):
    settings = world.text_settings(encoder, **{"epochs": 6, "patience": 1, "learning_rate": 1e-12, **other})
    found = gf.ltrf.train(world.planted_text(20, 5), gains=world.GAINS, checkpoints=folder, settings=settings)
    return found.score(world.planted_text(10, 6)).tolist(), found.validation["rounds"]


class TestEarlyStop:
    def test_called_again_it_does_not_train_on(self, encoder, stopped):
        folder, expected = stopped
        assert len(expected[1]) == 2
        steps = Steps()
        with tracked_by(steps):
            assert early(encoder, folder) == expected
        assert steps.totals == []

    def test_the_best_epoch_is_found_where_the_folder_was_moved_to(self, encoder, stopped, tmp_path, monkeypatch):
        folder, expected = stopped
        shutil.copytree(folder, tmp_path / "elsewhere")
        state = json.loads((tmp_path / "elsewhere" / "checkpoint-4" / "trainer_state.json").read_text())
        assert state["best_model_checkpoint"] == str(folder / "checkpoint-2")
        monkeypatch.chdir(tmp_path)
        assert early(encoder, "elsewhere") == expected
        state = json.loads((tmp_path / "elsewhere" / "checkpoint-4" / "trainer_state.json").read_text())
        assert state["best_model_checkpoint"] == str(tmp_path / "elsewhere" / "checkpoint-2")
        shutil.rmtree(tmp_path / "elsewhere" / "checkpoint-2")
        with pytest.raises(DataError) as caught:
            early(encoder, tmp_path / "elsewhere")
        assert str(caught.value) == (
            f"{tmp_path / 'elsewhere'}: the state of the best epoch, checkpoint-2, is gone: choose another folder"
        )


class TestWhoseFolder:
    """What the result depends on is written down once, and what differs is named."""

    def refused(self, encoder, folder, message, **other):
        with pytest.raises(DataError) as caught:
            early(encoder, folder, **other)
        assert str(caught.value) == message

    def test_other_settings(self, encoder, stopped):
        folder, _ = stopped
        self.refused(
            encoder,
            folder,
            f"{folder}: has checkpoints of another training (learning_rate 1e-12 there, 0.001 here; batch_size 8 "
            "there, 4 here): choose another folder",
            learning_rate=1e-3,
            batch_size=4,
        )

    def test_another_encoder_of_the_same_name(self, encoder, stopped, tmp_path):
        """Weights that were replaced start another training."""
        folder, _ = stopped
        shutil.copytree(encoder, tmp_path / "tiny")
        shutil.copytree(folder, tmp_path / "work")
        claim = tmp_path / "work" / "training.json"
        claim.write_text(claim.read_text().replace(str(encoder), str(tmp_path / "tiny")))
        assert early(tmp_path / "tiny", tmp_path / "work") == stopped[1]
        weights = tmp_path / "tiny" / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
        with pytest.raises(DataError, match=r"another training \(encoder '\w{16}' there, '\w{16}' here\): choose"):
            early(tmp_path / "tiny", tmp_path / "work")

    def test_other_packages_and_device(self, encoder, stopped, tmp_path):
        folder, _ = stopped
        shutil.copytree(folder, tmp_path / "work")
        claim = tmp_path / "work" / "training.json"
        known = json.loads(claim.read_text())
        assert known["device"] == "cpu"
        claim.write_text(json.dumps({**known, "device": "cuda", "torch": "1.0"}))
        with pytest.raises(DataError, match=r"\(device 'cuda' there, 'cpu' here; torch '1\.0' there, '\S+' here\)"):
            early(encoder, tmp_path / "work")

    def test_written_once_and_whole(self, encoder, stopped):
        folder, _ = stopped
        claim = folder / "training.json"
        before = claim.stat()
        early(encoder, folder)
        assert (claim.stat().st_mtime_ns, claim.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
        text = claim.read_text()
        try:
            claim.write_text(text[:50])
            with pytest.raises(DataError, match=rf"^{re.escape(str(claim))}: cannot be read: "):
                early(encoder, folder)
        finally:
            claim.write_text(text)

    def test_what_is_not_ours_is_left_alone(self, encoder, tmp_path):
        (tmp_path / "work" / "checkpoint-3").mkdir(parents=True)
        (tmp_path / "work" / "checkpoint-best").mkdir()
        message = f"{tmp_path / 'work'}: has checkpoints, but no training.json: choose another folder"
        self.refused(encoder, tmp_path / "work", message)
        assert (tmp_path / "work" / "checkpoint-3").is_dir()
        (tmp_path / "file").write_text("")
        self.refused(encoder, tmp_path / "file", f"{tmp_path / 'file'}: expected a folder for checkpoints: File exists")
