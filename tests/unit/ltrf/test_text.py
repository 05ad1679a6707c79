"""f-rankers on text, with an encoder of one layer and random weights: no network, no pretrained weights."""

from __future__ import annotations

import re
import shutil
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

    def test_folder_holds_weights_json_and_a_card_alone(self, saved):
        files = {path.relative_to(saved).as_posix() for path in saved.rglob("*") if path.is_file()}
        assert {"ranker.json", "model/model.safetensors", "model/config.json"} <= files
        assert {Path(name).suffix for name in files} == {".json", ".safetensors", ".md"}

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

    def test_out_of_memory(self, encoder, monkeypatch):
        """A row of a search, not the end of it: the next batch may be smaller."""

        def trainer(*_, **__):
            raise torch.OutOfMemoryError("CUDA out of memory")

        monkeypatch.setattr("sentence_transformers.cross_encoder.CrossEncoderTrainer.train", trainer)
        settings = world.text_settings(encoder, batch_size=512)
        with pytest.raises(GainfulError, match=r"^all 2 trials failed, the first by: out of memory: loss bce, 512 "):
            gf.ltrf.tune(world.planted_text(20, 5), gains=world.GAINS, loss="bce", trials=2, settings=settings)

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


def test_documents_of_an_epoch():
    """Others in every epoch until all had their turn: 7 documents, 3 at a time, are through after three epochs."""
    from gainful.ltrf.lists import drawn, learnt_pairs

    first, second, third = (drawn("text", 7, max_docs=3, epoch=epoch, seed=0).tolist() for epoch in range(3))
    assert not set(first) & set(second)
    assert set(first) | set(second) | set(third) == set(range(7))
    assert drawn("text", 7, max_docs=3, epoch=0, seed=0).tolist() == first
    firsts = {tuple(drawn("text", 7, max_docs=3, epoch=0, seed=seed).tolist()) for seed in range(5)}
    assert len(firsts) > 1
    assert drawn("text", 3, max_docs=3, epoch=5, seed=0).tolist() == [0, 1, 2]
    assert learnt_pairs(np.array([7, 2]), max_docs=3, epochs=2) == {"all": 9, "per_epoch": 5, "seen": 8}


def test_what_is_left_out_is_told(encoder):
    """Of 1 to 4 documents per query, one per epoch is learnt from, for two epochs."""
    frame = world.planted_text(40, 1)
    found = gf.ltrf.train(
        frame, validation=world.planted_text(20, 2), gains=world.GAINS, settings=settings(encoder, max_docs=1, epochs=2)
    )
    sizes = frame.group_by("query_id").len()["len"]
    (text,) = (note.text for note in found.notes() if note.code == "left-out")
    never = len(frame) - int(sizes.clip(0, 2).sum())
    assert text == f"An epoch learns from 40 of {len(frame)} pairs (max_docs=1); {never} pairs were in no epoch."


class TestStart:
    """Where heads start."""

    def test_constants_of_lowest_loss(self):
        """Two queries, of 1 and 3 documents, count alike; half a document is added on either side."""
        from gainful.ltrf.targets import Scale

        scale, labels, sizes = Scale.of(world.GAINS), [2, -2, -2, 1], [1, 3]
        above = np.array([(1 + 1 / 3) / 2, (1 + 1 / 3) / 2, 1 / 2])  # than -2, 0 and 1
        above = (4 * above + 0.5) / 5
        for loss in ("ordinal", "weighted-ordinal"):
            assert scale.start(loss, labels, sizes) == pytest.approx(np.log(above / (1 - above)))
        for loss in ("bce", "lambdarank+bce"):
            assert scale.start(loss, labels, sizes) == pytest.approx(np.log(above[:1] / (1 - above[:1])))
        assert scale.start("mse", labels, sizes) == pytest.approx([(2 + (1 - 20) / 3) / 2])
        for loss in ("lambdarank", "softmax", "ranknet"):
            assert scale.start(loss, labels, sizes).tolist() == [0.0]
        assert np.isfinite(scale.start("ordinal", [2, 2], [2])).all()

    def test_mean_of_the_outputs(self, encoder):
        from gainful.ltrf.heads import start_heads
        from gainful.ltrf.weights import open_encoder

        ranker = text.Encoder(open_encoder(encoder, heads=3, max_length=24, device="cpu"))
        examples = gf.ltrf.read_examples(world.planted_text(20, 1))
        start_heads(ranker.encoder, ranker.outputs(examples), np.array([2.0, 0.5, -1.0]))
        assert ranker.outputs(examples).mean(axis=0) == pytest.approx([2.0, 0.5, -1.0], abs=1e-5)

    def test_a_reranker_starts_every_head(self, encoder):
        """Heads of a checkpoint with one head: all start at it; without a head, they are drawn."""
        from safetensors.torch import load_file

        from gainful.ltrf.heads import last_layer, warm_heads
        from gainful.ltrf.weights import open_encoder

        known = load_file(encoder / "model.safetensors")["classifier.weight"]
        model = open_encoder(encoder, heads=3, max_length=24, device="cpu")
        drawn = last_layer(model)[1].weight.detach().clone()
        assert not torch.equal(drawn[0], drawn[1])
        warm_heads(model, encoder)
        assert torch.equal(last_layer(model)[1].weight, known.expand(3, -1))


def test_batches_whose_gradients_are_added_up(tmp_path):
    """Two batches of 4 queries per step are one of 8: the loss is a mean over queries."""
    from transformers import AutoConfig

    folder = tmp_path / "still"
    world.make_encoder(folder)
    still = AutoConfig.from_pretrained(folder)
    still.hidden_dropout_prob = still.attention_probs_dropout_prob = 0.0
    still.save_pretrained(folder)
    train, held = world.planted_text(64, 1), world.planted_text(20, 2)
    scores = [
        gf.ltrf.train(
            train,
            validation=held,
            gains=world.GAINS,
            settings=settings(folder, epochs=2, patience=2, batch_size=size, accumulate=times, max_docs=2),
        ).score(held)
        for size, times in ((8, 1), (4, 2), (8, 2))
    ]
    assert scores[1] == pytest.approx(scores[0], abs=1e-4)
    assert np.abs(scores[2] - scores[0]).max() > 1e-3


class TestAdapters:
    def test_whole_weights_come_of_them(self, encoder, tmp_path, monkeypatch, unseen):
        """Trained, cut off after an epoch and resumed: the same scores; saved and loaded: the same, without peft."""
        pytest.importorskip("peft")
        train, held = world.planted_text(60, 1), world.planted_text(20, 2)
        how = {"gains": world.GAINS, "validation": held}
        chosen = settings(encoder, lora=4, epochs=3, learning_rate=1e-2, recompute=True)
        found = gf.ltrf.train(train, settings=chosen, checkpoints=tmp_path / "kept", **how)
        state = {path.name for path in (tmp_path / "kept").glob("checkpoint-*/*.safetensors")}
        assert state == {"trained.safetensors"}
        last = max((tmp_path / "kept").glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
        shutil.rmtree(last)
        again = gf.ltrf.train(train, settings=chosen, checkpoints=tmp_path / "kept", **how)
        assert again.score(unseen) == pytest.approx(found.score(unseen), abs=1e-6)
        found.save(tmp_path / "saved")
        monkeypatch.setitem(sys.modules, "peft", None)
        assert np.array_equal(gf.ltrf.FRanker.load(tmp_path / "saved").score(unseen), found.score(unseen))
        assert "lora" not in (tmp_path / "saved/model/model.safetensors").read_bytes()[:20_000].decode(errors="ignore")

    def test_bfloat16_needs_them(self, encoder):
        pytest.importorskip("peft")
        train = world.planted_text(40, 1)
        with pytest.raises(GainfulError, match=r"^precision bfloat16: needs lora; "):
            gf.ltrf.train(train, settings=settings(encoder, precision="bfloat16"))
        found = gf.ltrf.train(
            train, gains=world.GAINS, settings=settings(encoder, precision="bfloat16", lora=2, epochs=1)
        )
        assert {weight.dtype for weight in found.model.encoder.parameters()} == {torch.float32}

    def test_missing_extra(self, encoder, monkeypatch):
        monkeypatch.setitem(sys.modules, "peft", None)
        with pytest.raises(GainfulError, match=r"^training adapters needs packages .*: pip install '\.\[lora\]'"):
            gf.ltrf.train(world.planted_text(20, 1), settings=settings(encoder, lora=2))


@pytest.mark.parametrize("loss", ["softmax", "ranknet"])
def test_losses_of_text_alone(encoder, loss):
    found = gf.ltrf.train(world.planted_text(60, 1), loss=loss, gains=world.GAINS, settings=settings(encoder, epochs=4))
    assert found.validation["rounds"][-1] > found.validation["rounds"][0] - 0.05
    with pytest.raises(GainfulError, match=rf"^loss {loss}: is for text, and the examples are features$"):
        gf.ltrf.train(world.planted_features(20, 1), loss=loss)


@pytest.mark.parametrize(
    ("queries", "batch", "epochs", "steps"), [(100, 8, 10, 13), (100, 16, 10, 7), (100, 32, 10, 4), (5, 64, 2, 1)]
)
def test_warm_up_is_a_tenth_of_the_steps(queries, batch, epochs, steps):
    """Batches of 8 on one, two and four GPUs: ⌈100/8⌉·10/10 steps, and so on; at least one."""
    from gainful.ltrf.text import warm_up

    assert warm_up(queries, batch, epochs) == steps
