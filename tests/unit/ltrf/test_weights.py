"""A folder of weights from somebody else: whatever asks for code is refused, and what is not asked for is not read."""

from __future__ import annotations

import json
import os
import pickle
import shutil

import numpy as np
import pytest

import gainful as gf
import planted as world
from gainful.errors import DataError
from gainful.ltrf.weights import check_encoder, check_saved, encoder_folder, fingerprint

# Runs where it is unpickled or imported, and leaves a trace.
EVIL = "import pathlib, os\npathlib.Path(os.environ['GAINFUL_TRACE']).write_text('executed')\nclass Model: pass\n"
NEVER = "which is never run"


class Bomb:
    def __reduce__(self):
        return exec, (EVIL,)


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """Nothing that lies in a folder was executed."""
    path = tmp_path / "trace"
    monkeypatch.setenv("GAINFUL_TRACE", str(path))
    monkeypatch.chdir(tmp_path)
    yield path
    assert not path.exists()


def edit(path, **entries):
    path.write_text(json.dumps({**(json.loads(path.read_text()) if path.exists() else {}), **entries}))


@pytest.fixture
def bare(tmp_path):
    """What an encoder's folder looks like, without weights that could be loaded."""
    folder = tmp_path / "bare"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"")
    edit(folder / "config.json", model_type="xlm-roberta", architectures=["XLMRobertaModel"], activation="gelu")
    edit(folder / "tokenizer_config.json", tokenizer_class="XLMRobertaTokenizerFast")
    edit(folder / "config_sentence_transformers.json", activation_fn="torch.nn.modules.activation.Sigmoid", prompts={})
    pooling = {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
    modules = [{"path": "", "type": "sentence_transformers.models.Transformer"}, pooling]
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


class TestEncoder:
    def refused(self, folder, message):
        with pytest.raises(DataError) as caught:
            check_encoder(folder)
        assert str(caught.value) == message

    def test_ordinary_folders_pass(self, bare):
        """As they lie on the hub: weights of other frameworks and a pooling beside, of which nothing is read."""
        (bare / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
        (bare / "onnx").mkdir()
        (bare / "1_Pooling").mkdir()
        (bare / "README.md").write_text("")
        check_encoder(bare)

    @pytest.mark.parametrize(
        ("name", "entries", "asked"),
        [
            ("config.json", {"auto_map": {"AutoModel": "evil.Model"}}, "auto_map"),
            ("config.json", {"text_config": {"deep": [{"auto_map": {"AutoConfig": "evil.Model"}}]}}, "auto_map"),
            ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.Model", None]}}, "auto_map"),
            ("processor_config.json", {"auto_map": {"AutoProcessor": "evil.Model"}}, "auto_map"),
            ("tokenizer_config.json", {"tokenizer_class": "evil.Tokenizer"}, "evil.Tokenizer"),
            ("preprocessor_config.json", {"image": {"processor_class": "a/repo--evil.Model"}}, "a/repo--evil.Model"),
            ("config.json", {"architectures": ["Fine", "evil.Model"]}, "evil.Model"),
            ("config.json", {"model_type": "../evil"}, "../evil"),
            ("config.json", {"sentence_transformers": {"activation_fn": "torch.hub.load"}}, "torch.hub.load"),
            ("config.json", {"activation_function": "os.abort"}, "os.abort"),
            ("config.json", {"sbert_ce_default_activation_function": "builtins.input"}, "builtins.input"),
            ("config_sentence_transformers.json", {"activation_fn": "torch.nn.modules.os.abort"},
             "torch.nn.modules.os.abort"),
        ],
    )  # fmt: skip
    def test_asks_for_code(self, bare, name, entries, asked):
        edit(bare / name, **entries)
        self.refused(bare, f"{bare / name}: asks for code of its own ({asked}), {NEVER}")

    def test_modules_of_another_package(self, bare):
        path = bare / "modules.json"
        path.write_text(json.dumps([{"path": "", "type": "evil.Module"}]))
        self.refused(bare, f"{path}: asks for code of its own (evil.Module), {NEVER}")

    def test_adapter(self, bare):
        """It would load another model, from a place of its choice."""
        edit(bare / "adapter_config.json", base_model_name_or_path="/evil")
        path = bare / "adapter_config.json"
        self.refused(bare, f"{path}: expected whole weights, got an adapter for those of another model")

    def test_links(self, bare, tmp_path):
        (tmp_path / "secret.json").write_text("{}")
        (bare / "vocab.json").symlink_to(tmp_path / "secret.json")
        self.refused(bare, f"{bare / 'vocab.json'}: expected no links in a folder of weights")

    def test_no_safetensors(self, bare):
        (bare / "model.safetensors").rename(bare / "pytorch_model.bin")
        self.refused(
            bare, f"{bare}: expected a folder of weights (config.json and .safetensors), found no .safetensors"
        )

    def test_broken_json(self, bare):
        (bare / "modules.json").write_text("[")
        with pytest.raises(DataError, match=r"modules\.json: cannot be read: "):
            check_encoder(bare)

    def test_from_the_hub(self, bare, tmp_path, monkeypatch):
        """By name: the snapshot in the cache, whose links lead to the blobs beside it, gets the same check."""
        pytest.importorskip("huggingface_hub")
        cache, number = tmp_path / "hub", "a" * 40
        repository = cache / "models--somebody--encoder"
        snapshot = repository / "snapshots" / number
        snapshot.mkdir(parents=True)
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text(number)
        (repository / "blobs").mkdir()
        for path in bare.iterdir():
            shutil.copy(path, repository / "blobs" / path.name)
            (snapshot / path.name).symlink_to(os.path.join("..", "..", "blobs", path.name))
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
        assert encoder_folder("somebody/encoder") == snapshot
        assert fingerprint(snapshot) == fingerprint(bare)
        (snapshot / "vocab.txt").symlink_to("/etc/hostname")
        with pytest.raises(DataError, match=r"vocab\.txt: expected no links in a folder of weights$"):
            encoder_folder("somebody/encoder")
        (snapshot / "vocab.txt").unlink()
        edit(repository / "blobs" / "config.json", auto_map={"AutoModel": "evil.Model"})
        with pytest.raises(DataError, match=r"config\.json: asks for code of its own \(auto_map\)"):
            encoder_folder("somebody/encoder")

    def test_fingerprint_is_of_what_is_read(self, bare):
        first = fingerprint(bare)
        (bare / "notes.py").write_text("")
        assert fingerprint(bare) == first
        (bare / "vocab.txt").write_text("word")
        second = fingerprint(bare)
        (bare / "vocab.txt").write_text("ward")
        assert len({first, second, fingerprint(bare)}) == 3


class TestSaved:
    """The folder of an f-ranker holds settings, words and numbers, and nothing else at all."""

    @pytest.fixture
    def folder(self, bare, tmp_path):
        (tmp_path / "r").mkdir()
        (tmp_path / "r" / "ranker.json").write_text("{}")
        bare.rename(tmp_path / "r" / "model")
        kind = "sentence_transformers.base.modules.transformer.Transformer"
        (tmp_path / "r" / "model" / "modules.json").write_text(json.dumps([{"path": "", "type": kind}]))
        return tmp_path / "r"

    def refused(self, folder, message):
        with pytest.raises(DataError) as caught:
            check_saved(folder)
        assert str(caught.value) == message

    @pytest.mark.parametrize("place", [".", "model"])
    @pytest.mark.parametrize("name", ["pytorch_model.bin", "optimizer.pt", "model.pkl", "modeling_evil.py", "LICENSE"])
    def test_other_files(self, folder, place, name):
        check_saved(folder)
        path = folder / place / name
        path.write_bytes(pickle.dumps(Bomb()))
        self.refused(
            folder, f"{path}: expected only .json, .txt, .safetensors, .model, .jinja, .md in a folder of weights"
        )

    def test_folders_and_links(self, folder, tmp_path):
        (folder / "model" / "more").mkdir()
        self.refused(folder, f"{folder / 'model' / 'more'}: expected no folders in a folder of weights")
        (folder / "model" / "more").rmdir()
        (folder / "model").rename(tmp_path / "elsewhere")
        (folder / "model").symlink_to(tmp_path / "elsewhere")
        self.refused(folder, f"{folder / 'model'}: expected no links in a folder of weights")

    def test_layers_that_ask_for_code(self, folder):
        """The layers that make one score of an ordinal model's heads: nothing but numbers and torch's activations."""
        layer = folder / "model" / "1_Dense"
        layer.mkdir()
        edit(layer / "config.json", activation_function="evil.Activation")
        self.refused(folder, f"{layer / 'config.json'}: asks for code of its own (evil.Activation), {NEVER}")
        edit(layer / "config.json", activation_function="torch.nn.modules.activation.Sigmoid")
        check_saved(folder)
        (layer / "deeper").mkdir()
        self.refused(folder, f"{layer / 'deeper'}: expected no folders in a folder of weights")

    @pytest.mark.parametrize(
        ("modules", "got"),
        [
            ([], "nothing"),
            ([{"path": "..", "type": "sentence_transformers.base.modules.transformer.Transformer"}],
             "sentence_transformers.base.modules.transformer.Transformer in '..'"),
            ([{"path": "", "type": "sentence_transformers.base.modules.Router"}],
             "sentence_transformers.base.modules.Router in ''"),
        ],
    )  # fmt: skip
    def test_other_modules(self, folder, modules, got):
        path = folder / "model" / "modules.json"
        path.write_text(json.dumps(modules))
        wanted = "sentence_transformers.base.modules.transformer.Transformer in '', and at most two layers"
        self.refused(folder, f"{path}: expected {wanted}, got {got}")


class TestNothingIsExecuted:
    """With the packages that would do it: refused before anything is loaded, or loaded without a look at it."""

    @pytest.fixture
    def folder(self, saved, tmp_path):
        shutil.copytree(saved, tmp_path / "r")
        return tmp_path / "r"

    def refused(self, folder, message):
        with pytest.raises(DataError) as caught:
            gf.ltrf.FRanker.load(folder, device="cpu")
        assert str(caught.value) == message

    def test_saved_ranker(self, folder, trace):
        config = folder / "model" / "config.json"
        edit(config, auto_map={"AutoModelForSequenceClassification": "evil.Model", "AutoConfig": "evil.Model"})
        self.refused(folder, f"{config}: asks for code of its own (auto_map), {NEVER}")
        (folder / "model" / "evil.py").write_text(EVIL)
        with pytest.raises(DataError, match=r"(evil\.py: expected only|auto_map)"):
            gf.ltrf.FRanker.load(folder)

    def test_methods_and_prompts_of_a_saved_ranker_are_not_read(self, folder, saved, unseen, trace):
        """Packages below call methods that a folder names; here nobody asks it."""
        method = {"text": {"method": "save_pretrained", "method_output_name": "x"}}
        edit(folder / "model" / "sentence_bert_config.json", modality_config=method)
        edit(
            folder / "model" / "config_sentence_transformers.json", prompts={"x": "good good"}, default_prompt_name="x"
        )
        scores = [gf.ltrf.FRanker.load(path, device="cpu").score(unseen) for path in (folder, saved)]
        assert np.array_equal(*scores)

    def test_encoder(self, encoder, tmp_path, trace):
        """Code and pickles beside the weights of an encoder are never opened; asking for them is refused."""
        folder = tmp_path / "enc"
        shutil.copytree(encoder, folder)
        (folder / "evil.py").write_text(EVIL)
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
        (folder / "optimizer.pt").write_bytes(pickle.dumps(Bomb()))
        known = world.text_settings(folder, epochs=1)
        gf.ltrf.train(world.planted_text(20, 1), gains=world.GAINS, settings=known)
        edit(folder / "config.json", auto_map={"AutoModelForSequenceClassification": "evil.Model"})
        with pytest.raises(DataError, match=r"auto_map"):
            gf.ltrf.train(world.planted_text(20, 1), gains=world.GAINS, settings=known)
        shutil.copy(encoder / "config.json", folder / "config.json")
        (folder / "model.safetensors").unlink()
        with pytest.raises(DataError, match=r"found no \.safetensors$"):
            gf.ltrf.train(world.planted_text(20, 1), gains=world.GAINS, settings=known)

    def test_no_weights(self, folder):
        shutil.rmtree(folder / "model")
        self.refused(folder, f"{folder / 'model'}: expected a folder of weights, found none")

    def test_broken_weights(self, folder):
        path = folder / "model" / "model.safetensors"
        path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(
            DataError, match=r"model: expected an encoder \(config\.json, words and \.safetensors\), got: \S"
        ):
            gf.ltrf.FRanker.load(folder)

    def test_heads(self, folder):
        """Four labels want three heads; two labels want one."""
        edit(folder / "ranker.json", gains={"-2": -10.0, "2": 2.0}, calibration=None)
        self.refused(folder, f"{folder}: heads: expected 1 for the loss ordinal and its gains, got a model with 3")
