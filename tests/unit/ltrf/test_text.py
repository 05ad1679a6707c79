"""f-rankers on text, with an encoder of one layer and random weights: no network, no pretrained weights."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gainful as gf
import planted as world
from gainful.errors import DataError, GainfulError
from gainful.ltrf import text

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")

MEASURE = "nDCGf(gain={-2:-10,0:0,1:1,2:2})@3"


settings = world.text_settings


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

    def test_epochs_are_measured_in_whole_precision(self, encoder, monkeypatch):
        """On a GPU the trainer puts half precision around the forward pass; here, something coarser still.

        Ties of rounded scores must not choose the epoch, nor stay with the f-ranker.
        """

        def rounding(model, **options):
            plain = model.forward

            def forward(*inputs, **rest):
                found = plain(*inputs, **rest)
                return {**found, "scores": 0.0 * found["scores"]}

            model.forward = forward
            return trainer_of(model, **options)

        trainer_of = text._trainer
        monkeypatch.setattr(text, "_trainer", rounding)
        found = gf.ltrf.train(world.planted_text(40, 1), gains=world.GAINS, settings=settings(encoder, epochs=1))
        assert len(set(found.score(world.planted_text(10, 2)).tolist())) > 5
        assert found.validation["rounds"] == pytest.approx([found.validation["nDCGf"]], abs=1e-12)

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


class TestRefused:
    def test_absent_encoder(self, tmp_path, monkeypatch):
        with pytest.raises(DataError) as caught:
            gf.ltrf.train(world.planted_text(20, 1), settings=settings(tmp_path / "none"))
        assert str(caught.value) == f"model '{tmp_path / 'none'}': expected a folder of weights, found none"
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        monkeypatch.chdir(tmp_path)
        (tmp_path / "mini").mkdir()
        with pytest.raises(DataError) as caught:
            gf.ltrf.train(world.planted_text(20, 1), settings=settings("mini-"))
        assert str(caught.value).startswith(
            "model 'mini-': expected a folder of weights, or a name that can be fetched; there is no such folder, and "
            "it cannot be fetched: "
        )
        assert str(caught.value).endswith(" Did you mean 'mini'?")

    @pytest.mark.parametrize(
        ("device", "message"),
        [
            ("cuda:99", r"^device 'cuda:99' cannot be used here: \S.*; say cpu, or nothing$"),
            ("meta", r"^device: expected cpu, cuda, cuda:1 \(a GPU by its number\) or mps, got 'meta'$"),
        ],
    )
    def test_absent_device(self, encoder, saved, unseen, device, message):
        with pytest.raises(GainfulError, match=message):
            gf.ltrf.train(world.planted_text(20, 1), settings=settings(encoder, device=device))
        with pytest.raises(GainfulError, match=message):
            gf.ltrf.score(saved, unseen, device=device)

    def test_one_of_several_gpus(self, monkeypatch):
        """The trainer would spread over all of them, and begin at the first: said, not done behind one's back."""
        from gainful.ltrf.weights import check_device

        monkeypatch.setattr("torch.empty", lambda *_, **__: None)
        monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
        check_device("cuda:1")
        check_device("cuda", training=True)
        with pytest.raises(GainfulError) as caught:
            check_device("cuda:1", training=True)
        assert str(caught.value) == (
            "device 'cuda:1': training takes all GPUs that it sees; to use this one alone, set CUDA_VISIBLE_DEVICES=1 "
            "and say cuda"
        )
        monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
        check_device("cuda:0", training=True)

    @pytest.mark.parametrize("loss", ["mse", "ordinal"])
    def test_diverged(self, encoder, loss):
        """NaN sorts as the best score of all, and such an epoch would win."""
        with pytest.raises(GainfulError) as caught:
            gf.ltrf.train(
                world.planted_text(20, 1),
                loss=loss,
                gains=world.GAINS,
                settings=settings(encoder, learning_rate=1e30, epochs=2),
            )
        assert re.fullmatch(
            rf"training diverged: loss {loss}, epoch 1 of 2: the model gives no finite number for \d+ of \d+ "
            r"documents; lower the learning rate \(1e\+30\)",
            str(caught.value),
        )

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
            "learning from text needs packages that are not installed: pip install '.[ltrf]' in a clone"
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


@pytest.mark.parametrize(
    ("queries", "batch", "epochs", "steps"), [(100, 8, 10, 13), (100, 16, 10, 7), (100, 32, 10, 4), (5, 64, 2, 1)]
)
def test_warm_up_is_a_tenth_of_the_steps(queries, batch, epochs, steps):
    """Batches of 8 on one, two and four GPUs: ⌈100/8⌉·10/10 steps, and so on; at least one."""
    from gainful.ltrf.text import warm_up

    assert warm_up(queries, batch, epochs) == steps
