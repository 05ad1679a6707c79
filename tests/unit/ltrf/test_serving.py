"""f-rankers in the hands of others: ONNX, sentence-transformers, scikit-learn, files that may be read."""

from __future__ import annotations

import json
import os
import stat

import numpy as np
import polars as pl
import pytest

import gainful as gf
import planted as world
from gainful.errors import DataError, GainfulError

CATEGORIES = {"min_data_per_group": 1, "cat_smooth": 0, "max_cat_to_onehot": 1}
QUICK = gf.ltrf.Settings(rounds=8)


@pytest.fixture(scope="module")
def trees():
    """With missing values, and a threshold among zeros."""
    frame = world.planted_features(60, 1).with_columns(pl.col("other").round(0))
    frame = frame.with_columns(pl.when(pl.col("other") == 2).then(None).otherwise("other").alias("other"))
    return gf.ltrf.train(frame, gains=world.GAINS, settings=QUICK), frame


def run_onnx(path, inputs):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path))
    score, heads = session.run(["score", "heads"], inputs)
    return score, heads, session.get_modelmeta().custom_metadata_map


class TestOnnx:
    @pytest.mark.slow
    @pytest.mark.parametrize("loss", ["ordinal", "weighted-ordinal", "mse"])
    def test_trees(self, tmp_path, loss, trees):
        pytest.importorskip("onnxscript")
        frame = trees[1]
        ranker = gf.ltrf.train(frame, loss=loss, gains=world.GAINS, settings=QUICK)
        gf.ltrf.export(ranker, onnx=tmp_path / "r.onnx")
        examples = gf.ltrf.read_examples(frame)
        score, heads, known = run_onnx(tmp_path / "r.onnx", {"features": examples.features})
        assert np.isnan(examples.features).any()
        assert np.abs(score - ranker.score(examples)).max() < 1e-4
        assert heads.shape == (len(examples), ranker.scale.heads(loss))
        assert json.loads(known["threshold"]) == ranker.threshold
        assert json.loads(known["features"]) == ["signal", "other", "another"]

    @pytest.mark.slow
    def test_values_at_a_split(self, tmp_path):
        """Thresholds are doubles, features float32: a value just above one must not fall below its rounding."""
        pytest.importorskip("onnxscript")
        cells = np.float32(0.1) + np.arange(60, dtype=np.float32) * np.float32(1e-8)
        labels = (np.unique(cells, return_inverse=True)[1] % 3 > 0).astype(int)
        frame = pl.DataFrame({"query_id": np.arange(60) // 2, "doc_id": range(60), "label": labels, "f": cells})
        fine = gf.ltrf.Settings(rounds=20, parameters={"min_data_in_leaf": 1, "min_data_in_bin": 1})
        held = frame.with_columns(pl.col("query_id") + 100)
        ranker = gf.ltrf.train(frame, validation=held, loss="mse", settings=fine)
        gf.ltrf.export(ranker, onnx=tmp_path / "r.onnx")
        score, *_ = run_onnx(tmp_path / "r.onnx", {"features": cells[:, None]})
        assert len(np.unique(score)) > 2
        assert np.abs(score - ranker.score(frame)).max() < 1e-4

    @pytest.mark.slow
    def test_text(self, tmp_path, ranker, unseen):
        """A file for any number of documents and tokens; the tokens are those of the f-ranker's own tokenizer."""
        pytest.importorskip("onnxscript")
        gf.ltrf.export(ranker, onnx=tmp_path / "r.onnx")
        pairs = list(unseen.select("query", "document").iter_rows())
        features = ranker.model.encoder.preprocess(pairs)
        inputs = {name: features[name].numpy() for name in ("input_ids", "attention_mask", "token_type_ids")}
        score, heads, known = run_onnx(tmp_path / "r.onnx", inputs)
        assert len(score) == len(unseen) > 2
        assert np.abs(score - ranker.score(unseen)).max() < 1e-4
        assert heads.shape == (len(unseen), 3)
        assert json.loads(known["calibration"])["slopes"] == list(ranker.calibration.slopes)

    @pytest.mark.slow
    def test_refused(self, tmp_path, monkeypatch):
        pytest.importorskip("onnxscript")
        frame = world.planted_features(60, 1).with_columns(kind=pl.col("label") + 2.0).drop("signal")
        ranker = gf.ltrf.train(frame, settings=gf.ltrf.Settings(rounds=3, categorical=("kind",), parameters=CATEGORIES))
        with pytest.raises(
            GainfulError, match=r"^an export to ONNX: expected numeric features alone, got categorical "
        ):
            gf.ltrf.export(ranker, onnx=tmp_path / "r.onnx")
        monkeypatch.setitem(__import__("sys").modules, "onnx", None)
        with pytest.raises(GainfulError, match=r"^an export to ONNX needs packages .*: pip install '\.\[onnx\]'"):
            gf.ltrf.export(ranker, onnx=tmp_path / "r.onnx")
        assert not list(tmp_path.iterdir())


class TestSaved:
    def test_others_may_read_it(self, trees, tmp_path):
        old = os.umask(0o022)
        try:
            trees[0].save(tmp_path / "r")
        finally:
            os.umask(old)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "r").iterdir()}
        assert modes == {"ranker.json": 0o644, "model.txt": 0o644, "README.md": 0o644}

    @pytest.mark.slow
    def test_others_may_read_weights(self, ranker, tmp_path):
        old = os.umask(0o027)
        try:
            ranker.save(tmp_path / "r")
        finally:
            os.umask(old)
        assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "r").rglob("*.*") if path.is_file()} == {
            0o640
        }

    def test_card(self, trees, tmp_path):
        trees[0].save(tmp_path / "r")
        head, _, text = (tmp_path / "r/README.md").read_text(encoding="utf-8").removeprefix("---\n").partition("---\n")
        assert head == "library_name: lightgbm\ntags: [learning-to-rank, filtering, gainful]\n"
        assert f"| test | nDCGf@3 | {trees[0].test['nDCGf@3']:.4f} |" in text
        assert "What labels are worth: {-2:-10,0:0,1:1,2:2}; must not be shown: -2." in text

    @pytest.mark.slow
    def test_sentence_transformers_ranks_by_the_score(self, saved, ranker, unseen):
        """An ordinal model has several heads, `rank` wants one number: the folder gives the f-ranker's own."""
        package = pytest.importorskip("sentence_transformers")
        encoder = package.CrossEncoder(str(saved / "model"), device="cpu")
        query = unseen["query_id"][0]
        some = unseen.filter(pl.col("query_id") == query)
        found = encoder.rank(some["query"][0], some["document"].to_list())
        expected = ranker.score(some)
        assert [one["corpus_id"] for one in found] == np.argsort(-expected).tolist()
        assert [one["score"] for one in found] == pytest.approx(sorted(expected, reverse=True), abs=1e-5)

    def test_runs_are_sorted(self, trees):
        run = trees[0].rank(trees[1], cut="none").frame
        order = {query: at for at, query in enumerate(trees[1]["query_id"].unique(maintain_order=True))}
        rows = list(run.iter_rows(named=True))
        ascending = sorted(rows, key=lambda row: row["doc_id"], reverse=True)
        assert rows == sorted(ascending, key=lambda row: (order[row["query_id"]], -row["score"]))


class TestEstimator:
    def test_is_the_f_ranker(self):
        """Rows in any order: scores come in theirs."""
        frame = world.planted_features(60, 1)
        shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
        x = shuffled.select("signal", "other", "another")
        model = gf.ltrf.Estimator(gains=world.GAINS, settings=QUICK)
        assert model.fit(x, shuffled["label"], groups=shuffled["query_id"]) is model
        found = model.predict(x)
        by_row = dict(zip(shuffled.select("query_id", "doc_id").rows(), found, strict=True))
        examples = gf.ltrf.read_examples(shuffled)
        rows = examples.frame.select("query_id", "doc_id").rows()
        assert [by_row[row] for row in rows] == model.ranker_.score(examples).tolist()
        assert model.shown(x).tolist() == (found >= model.ranker_.threshold).tolist()
        assert np.corrcoef(found, shuffled["label"])[0, 1] > 0.5

    def test_clones(self):
        base = pytest.importorskip("sklearn.base")
        model = base.clone(gf.ltrf.Estimator(loss="mse", cutoff=5)).set_params(seed=3)
        assert (model.loss, model.cutoff, model.seed) == ("mse", 5, 3)

    def test_refused(self):
        model = gf.ltrf.Estimator(settings=QUICK)
        with pytest.raises(GainfulError, match=r"^the estimator is not fitted yet: call fit first$"):
            model.predict([[1.0]])
        with pytest.raises(GainfulError, match=r"^groups: expected the query of every document, got none$"):
            model.fit([[1.0], [2.0]], [0, 1])
        with pytest.raises(DataError, match=r"^y: expected one per document, 2, got 1$"):
            model.fit([[1.0], [2.0]], [0], groups=[1, 1])
        with pytest.raises(GainfulError, match=r"^parameter: expected one of loss, gains, .*got 'loos'"):
            model.set_params(loos=1)

    @pytest.mark.slow
    def test_text(self, encoder):
        frame = world.planted_text(40, 1)
        model = gf.ltrf.Estimator(gains=world.GAINS, settings=world.text_settings(encoder, epochs=1))
        pairs = frame.select("query", "document").rows()
        found = model.fit(pairs, frame["label"]).predict(pairs)
        assert found == pytest.approx(model.ranker_.score(frame), abs=1e-5)
