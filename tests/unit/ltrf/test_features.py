"""f-rankers on features: they learn, repeat, save, load, and refuse what they cannot read."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl
import pytest

import gainful as gf
import planted as world
from gainful.errors import DataError, GainfulError
from gainful.ltrf.features import train_features
from gainful.ltrf.settings import SHARED_LOSSES, Loss

pytest.importorskip("lightgbm")

QUICK = gf.ltrf.Settings(rounds=30, patience=30)
MEASURE = "nDCGf(gain={-2:-10,0:0,1:1,2:2})@3"


@pytest.fixture(scope="module")
def frames():
    return world.planted_features(150, 1), world.planted_features(80, 2), world.planted_features(150, 3)


@pytest.fixture(scope="module")
def ranker(frames):
    train, validation, test = frames
    return gf.ltrf.train(train, validation=validation, test=test, gains=world.GAINS, settings=QUICK)


def judgments(frame):
    return frame.select("query_id", "doc_id", relevance=pl.col("label"))


class TestLearns:
    def test_filtering_beats_ranking_alone(self, ranker, frames):
        """Forbidden documents cost 10: showing them costs far more than a filter does."""
        runs = [ranker.rank(frames[2]), ranker.rank(frames[2], cut="none", name="rank-only")]
        filtered, unfiltered = gf.evaluate(judgments(frames[2]), runs, MEASURE).summary()[0]
        assert filtered > unfiltered + 0.1
        assert ranker.test["nDCGf@3"] == pytest.approx(filtered, abs=1e-12)

    @pytest.mark.parametrize("loss", SHARED_LOSSES)
    def test_every_loss_beats_chance(self, frames, loss):
        train, validation, test = frames
        found = gf.ltrf.train(train, validation=validation, test=test, loss=loss, gains=world.GAINS, settings=QUICK)
        shuffled = test.select("query_id", "doc_id", score=pl.Series(np.random.default_rng(0).random(test.height)))
        chance = gf.evaluate(judgments(test), [shuffled], MEASURE).summary()[0, 0]
        assert found.test["nDCGf@3"] > chance + 0.1

    @pytest.mark.parametrize("loss", ["bce", "mse", "ordinal"])
    def test_starts_at_the_best_constant(self, frames, loss):
        """Trees that hardly learn give the log-odds or the mean, in which every query counts alike."""
        settings = gf.ltrf.Settings(rounds=1, learning_rate=1e-9)
        found = gf.ltrf.train(frames[0], validation=frames[1], loss=loss, gains=world.GAINS, settings=settings)
        weight = (
            1 / frames[0].group_by("query_id").len().height / frames[0].select(pl.len().over("query_id")).to_series()
        )
        gain = frames[0]["label"].replace_strict(world.GAINS)
        odds = [np.average(gain > worth, weights=weight) for worth in ([-10, 0, 1] if loss == "ordinal" else [0])]
        expected = [np.average(gain, weights=weight)] if loss == "mse" else [math.log(p / (1 - p)) for p in odds]
        outputs = found.model.outputs(gf.ltrf.read_examples(frames[2])).reshape(frames[2].height, -1)
        assert outputs[0].tolist() == pytest.approx(expected, rel=0.01)
        assert outputs[-1].tolist() == pytest.approx(outputs[0].tolist(), abs=1e-6)

    def test_lightgbm_is_open(self, frames, tmp_path):
        """Parameters reach it, threads change nothing, categories are asked for equality, names are in its file."""
        train = frames[0].rename({"other": "a, b"}).with_columns(kind=pl.col("label").replace({-2: 3, 0: 1, 1: 0}))
        validation = frames[1].rename({"other": "a, b"}).with_columns(kind=pl.col("label").replace({-2: 3, 0: 1, 1: 0}))
        given = {"categorical": ["kind"], "parameters": "lambda_l2=2.5,min_data_per_group=1,cat_smooth=0"}
        rankers = [
            gf.ltrf.train(train, validation=validation, settings=gf.ltrf.Settings(rounds=5, threads=threads, **given))
            for threads in (1, 2)
        ]
        rankers[0].save(tmp_path / "saved")
        text = (tmp_path / "saved" / "model.txt").read_text()
        assert "feature_names=signal a__b another kind\n" in text
        assert "[lambda_l2: 2.5]" in text
        assert "num_cat=1" in text
        assert np.array_equal(*(ranker.score(validation) for ranker in rankers))
        loaded = gf.ltrf.FRanker.load(tmp_path / "saved")
        assert np.array_equal(loaded.score(validation), rankers[0].score(validation))

    @pytest.mark.parametrize("loss", ["ordinal", "lightgbm-binary"])
    def test_documents_of_weight_0_are_not_learnt_from(self, frames, loss):
        """Labels of every second training query are drawn anew; without weight, these queries do no harm."""
        odd = pl.col("query_id").rank("dense") % 2 == 1
        noise = pl.when(odd).then(pl.col("label").shuffle(1)).otherwise("label").alias("label")
        train = frames[0].with_columns(noise, certainty=pl.when(odd).then(0.0).otherwise(3.0))
        clean = train.filter(~odd).drop("certainty")
        how = {"gains": world.GAINS, "loss": loss, "validation": frames[1].with_columns(certainty=1.0)}
        settings = gf.ltrf.Settings(rounds=3, weight="certainty")
        weighted = gf.ltrf.train(train, settings=settings, **how)
        assert weighted.model.names == ("signal", "other", "another")
        plain = gf.ltrf.train(clean, settings=gf.ltrf.Settings(rounds=3), **how)
        scores = [np.corrcoef(one.score(frames[2]), frames[2]["signal"])[0, 1] for one in (weighted, plain)]
        assert scores[0] == pytest.approx(scores[1], abs=0.05)

    def test_fractional_labels_are_their_own_gains(self):
        """A step of 1 takes MSE to the mean label of each leaf; nDCGf counts the fractions: (DCG − W) / (I − W)."""
        labels = [0.5, -4.0, 2.5, -1.0] * 50
        rows = pl.DataFrame(
            {"query_id": [n // 2 for n in range(200)], "doc_id": range(200), "label": labels, "good": [1.0, 0.0] * 100}
        )
        settings = gf.ltrf.Settings(rounds=1, learning_rate=1.0)
        held = {"validation": rows[80:160], "test": rows[160:]}
        found = gf.ltrf.train(rows[:80], loss="mse", settings=settings, **held)
        assert found.scale.to_dict() == {"-4": -4.0, "-1": -1.0, "0.5": 0.5, "2.5": 2.5}
        assert found.score(rows)[:4] == pytest.approx([1.5, -2.5, 1.5, -2.5])
        assert found.test["nDCGf@3"] == 1.0  # the bad half is cut off
        second = 1 / math.log2(3)
        whole = gf.evaluate(rows, found.rank(rows, cut="none"), ["nDCGf@3"])["nDCGf@3"].values[0, :2]
        assert whole == pytest.approx([(0.5 - 4 * second + 4) / (0.5 + 4), (2.5 - second + 1) / (2.5 + 1)])

    def test_validation_value_is_what_evaluate_gives(self, ranker, frames):
        value = gf.evaluate(judgments(frames[1]), [ranker.rank(frames[1])], MEASURE).summary()[0, 0]
        assert ranker.validation["nDCGf"] == pytest.approx(value, abs=1e-12)
        assert max(ranker.validation["rounds"]) == pytest.approx(value, abs=1e-12)
        assert max(ranker.validation["curve"]["nDCGf"]) <= value + 1e-12

    def test_repeats(self, ranker, frames):
        train, validation, test = frames
        again = gf.ltrf.train(train, validation=validation, test=test, gains=world.GAINS, settings=QUICK)
        assert np.array_equal(ranker.score(test), again.score(test))
        assert again.to_dict() == ranker.to_dict()

    def test_order_of_columns_and_rows_does_not_matter(self, ranker, frames):
        test = frames[2]
        mixed = test.select("another", "label", "doc_id", "signal", "query_id", "other").sample(
            fraction=1.0, shuffle=True, seed=1
        )
        scores = [ranker.rank(frame, cut="none").frame.sort("query_id", "doc_id") for frame in (test, mixed)]
        assert scores[0].equals(scores[1])

    def test_gains_from_labels(self, frames):
        found = gf.ltrf.train(frames[0], validation=frames[1], settings=QUICK)
        assert found.scale.to_dict() == {"-2": -2.0, "0": 0.0, "1": 1.0, "2": 2.0}
        assert found.test is None
        assert found.notes() == ()

    def test_split(self, frames):
        """150 queries: 96 to learn from, 24 to validate, 30 to test."""
        examples = gf.ltrf.read_examples(frames[0])
        parts = examples.split(seed=5)
        found = gf.ltrf.train(frames[0], gains=world.GAINS, settings=QUICK, seed=5)
        given = gf.ltrf.train(parts[0], validation=parts[1], test=parts[2], gains=world.GAINS, settings=QUICK, seed=5)
        assert found.to_dict() == given.to_dict()
        held = gf.ltrf.train(frames[0], test=frames[1], gains=world.GAINS, settings=QUICK)
        assert held.settings["training_data"] == examples.split((0.8, 0.2))[0].fingerprint()

    def test_risk(self, ranker, frames, monkeypatch):
        """The estimate is (n·R̂ + 1)/(n + 1), R̂ the forbidden in the first 3 places over 3, on n = 40 of 80 queries.

        The other 40 choose the round: what both chose and promised on the same queries would promise too much.
        """
        chosen_on = []

        def spy(train, validation, *rest, **options):
            chosen_on.extend(validation.queries)
            return train_features(train, validation, *rest, **options)

        monkeypatch.setattr("gainful.ltrf.features.train_features", spy)
        options = {"gains": world.GAINS, "risk": 0.04, "settings": QUICK}
        found = gf.ltrf.train(frames[0], validation=frames[1], **options)
        assert len(set(chosen_on)) == 40
        kept = frames[1].filter(~pl.col("query_id").is_in(chosen_on))
        shown = found.rank(kept).frame.join(kept.select("query_id", "doc_id", "label"), on=["query_id", "doc_id"])
        first = shown.sort("score", descending=True).group_by("query_id").head(3)
        mean = (first["label"] < 0).sum() / 3 / 40
        risk = dict(found.validation["risk"])
        promise = risk.pop("guarantee")
        assert risk == {
            "at most": 0.04,
            "confidence": None,
            "estimate": pytest.approx((40 * mean + 1) / 41),
            "queries": 40,
        }
        assert risk["estimate"] <= 0.04
        assert promise.startswith("Guarantee in expectation: on average over the topics that a threshold is fitted on ")
        assert promise in [note.text for note in found.notes()]
        assert found.threshold > ranker.threshold
        assert (found.settings["risk"], ranker.settings["risk"]) == (0.04, None)
        value = gf.evaluate(judgments(kept), [found.rank(kept)], MEASURE).summary()[0, 0]
        assert found.validation["nDCGf"] == pytest.approx(value, abs=1e-12)

    def test_risk_with_confidence(self, frames):
        """A third of the queries that choose the threshold could be lost by chance: it cuts more than the other."""
        options = {"gains": world.GAINS, "risk": 0.1, "settings": QUICK}
        weak, strong = (
            gf.ltrf.train(frames[0], validation=frames[1], **options, **more) for more in ({}, {"risk_confidence": 0.9})
        )
        assert strong.threshold > weak.threshold
        assert (strong.validation["risk"]["confidence"], strong.settings["risk_confidence"]) == (0.9, 0.9)
        promise = strong.validation["risk"]["guarantee"]
        assert promise.startswith(
            "Guarantee with confidence 0.9: with probability 0.9 over the topics it was fitted on"
        )

    def test_cut_by_query(self, ranker, frames):
        run = ranker.rank(frames[2], cut="bayes")
        assert (run.frame["score"] > 0).all()
        value = gf.evaluate(judgments(frames[2]), [run], MEASURE).summary()[0, 0]
        assert value > ranker.test["nDCGf@3"] - 0.05
        some = frames[2].filter(pl.col("query_id").is_in(frames[2]["query_id"].unique().sort()[:20].to_list()))
        alone = ranker.rank(some, cut="bayes").frame
        assert alone.equals(run.frame.filter(pl.col("query_id").is_in(some["query_id"].unique().to_list())))
        mse = gf.ltrf.train(frames[0], validation=frames[1], loss="mse", gains=world.GAINS, settings=QUICK)
        with pytest.raises(GainfulError) as caught:
            mse.rank(frames[2], cut="bayes")
        assert str(caught.value) == "cut='bayes' needs an ordinal loss (ordinal, weighted-ordinal), got mse"


class TestResult:
    def test_printed(self, ranker):
        assert ranker.verdict() == (
            f"The f-ranker (loss ordinal, features) shows documents from score {ranker.threshold:.4g} up: nDCGf@3 "
            f"{ranker.validation['nDCGf']:.4f} on the validation queries, {ranker.test['nDCGf@3']:.4f} on the test "
            "queries."
        )
        assert str(ranker).splitlines()[-1].startswith("ltrf train: features, loss ordinal; learning_rate=0.05 ")
        cells = ranker.compact()[0].cells()
        assert cells[0] == ["validation", "nDCGf@3", f"{ranker.validation['nDCGf']:.4f}"]
        assert [row[:2] for row in cells[1:]] == [["test", name] for name in ranker.test]
        assert "<td>validation</td>" in ranker._repr_html_()

    def test_exports(self, ranker):
        json.dumps(ranker.to_dict(), allow_nan=False)
        frame = ranker.to_frame()
        assert frame.columns == ["round", "nDCGf"]
        assert frame["nDCGf"].to_list() == ranker.validation["rounds"]
        assert "Where the f-ranker (ordinal) cuts" in ranker.chart().to_json()

    def test_notes(self):
        frame = pl.DataFrame({"qid": range(60), "docno": range(60), "label": [0, 1] * 30, "f": [0.0, 1.0] * 30})
        found = gf.ltrf.train(frame, settings=QUICK)
        assert [note.text for note in found.notes()] == [
            "No label has a negative gain: nothing is forbidden, and a threshold can only cost; say what labels are "
            "worth, such as gains {0:-1,1:1}."
        ]
        useless = frame.with_columns(f=pl.Series([1.0] * 2 + [0.0] * 58), label=pl.Series([-5, -5, 1] * 20))
        found = gf.ltrf.train(useless, settings=QUICK)
        assert found.threshold == math.inf
        assert [note.text for note in found.notes()] == ["Showing nothing at all was best on the validation queries."]
        assert "shows nothing" in found.verdict()


def test_within_the_risk_everything_may_be_shown():
    """A third of the places hold a forbidden document that no feature tells from the good ones of its query."""
    queries = [number // 3 for number in range(180)]
    columns = {"qid": queries, "docno": range(180), "label": [1, 1, -1] * 60, "f": [query % 2 for query in queries]}
    frame = pl.DataFrame(columns)
    found = gf.ltrf.train(frame, gains={-1: -0.1, 1: 1}, risk=0.5, settings=QUICK)
    assert len(found.rank(frame)) == 180
    assert found.threshold == found.score(frame).min()


class TestFolder:
    def test_saved_and_loaded(self, ranker, frames, tmp_path):
        ranker.save(tmp_path / "r")
        assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["README.md", "model.txt", "ranker.json"]
        assert [path.name for path in tmp_path.iterdir()] == ["r"]
        loaded = gf.ltrf.FRanker.load(tmp_path / "r")
        assert loaded.to_dict() == ranker.to_dict()
        for cut in ("threshold", "none", "bayes"):
            run = gf.ltrf.score(tmp_path / "r", frames[2].drop("label"), cut=cut, name="x")
            assert run.name == "x"
            assert run.frame.equals(ranker.rank(frames[2], cut=cut).frame)

    def test_labels_survive_whole(self, frames, tmp_path):
        """Labels that differ in the seventh digit only."""
        gains = {-2: -10.0, 0: 0.0, 0.1234567: 1.0, 0.1234568: 2.0}
        train, validation = (
            frame.with_columns(pl.col("label").cast(pl.Float64).replace({1.0: 0.1234567, 2.0: 0.1234568}))
            for frame in frames[:2]
        )
        found = gf.ltrf.train(train, validation=validation, gains=gains, settings=QUICK)
        found.save(tmp_path / "r")
        assert gf.ltrf.FRanker.load(tmp_path / "r").scale == found.scale
        assert np.array_equal(gf.ltrf.FRanker.load(tmp_path / "r").score(frames[2]), found.score(frames[2]))

    def test_nothing_shown_survives(self, ranker, frames, tmp_path):
        replace(ranker, threshold=math.inf).save(tmp_path / "r")
        assert len(gf.ltrf.score(tmp_path / "r", frames[2])) == 0

    def test_saved_whole_or_not_at_all(self, ranker, tmp_path):
        class Full:
            names = ()

            def save(self, folder, weights):
                (folder / "half").write_text("")
                raise OSError("No space left on device")

        with pytest.raises(OSError, match="No space left"):
            replace(ranker, model=Full()).save(tmp_path / "r")
        assert list(tmp_path.iterdir()) == []

    def test_existing_folder_is_kept(self, ranker, tmp_path):
        (tmp_path / "r").mkdir()
        with pytest.raises(DataError) as caught:
            ranker.save(tmp_path / "r")
        assert str(caught.value) == f"{tmp_path / 'r'}: expected a new folder, got one that exists"

    def refused(self, folder, message):
        with pytest.raises(DataError) as caught:
            gf.ltrf.FRanker.load(folder)
        assert str(caught.value) == message

    def test_refused(self, ranker, tmp_path):
        folder = tmp_path / "r"
        missing = f"{folder}: expected a saved f-ranker (a folder with ranker.json), found none"
        self.refused(folder, missing)
        ranker.save(folder)
        path, good = folder / "ranker.json", json.loads((folder / "ranker.json").read_text())
        path.write_text(json.dumps({**good, "format": 2}))
        self.refused(folder, f"{path}: expected format 1, got 2: made by another version of gainful")
        path.write_text(json.dumps({**good, "loss": "os.system"}))
        self.refused(folder, f"{path}: unknown kind 'features' or loss 'os.system'")
        path.write_text(json.dumps({**good, "gains": 3}))
        self.refused(folder, f"{path}: expected the settings of an f-ranker, got something else")
        path.write_text("{}")
        self.refused(
            folder,
            f"{path}: expected the settings of an f-ranker (format, kind, loss, gains, cutoff, threshold, validation, "
            "test, calibration, features, settings)",
        )
        path.write_text(json.dumps({**good, "features": ["x"]}))
        self.refused(folder, f"{folder / 'model.txt'}: expected 1 features, got a model of 3")
        path.write_text(json.dumps({**good, "loss": "mse", "calibration": None}))
        self.refused(folder, f"{folder}: heads: expected 1 for the loss mse and its gains, got a model with 3")
        path.write_text(json.dumps({**good, "calibration": {"slopes": [1.0], "intercepts": [0.0]}}))
        self.refused(folder, f"{path}: heads: expected 3, got a calibration for 1")
        path.write_text(json.dumps({**good, "threshold": math.nan}))
        self.refused(folder, f"{path}: threshold: expected a number, or inf to show nothing, got nan")
        path.write_text(json.dumps(good))
        (folder / "model.py").write_text("")
        allowed = ".json, .txt, .safetensors, .model, .jinja, .md"
        self.refused(folder, f"{folder / 'model.py'}: expected only {allowed} in a folder of weights")
        (folder / "model.py").unlink()
        model = folder / "model.txt"
        model.write_text(model.read_text()[:500])
        self.refused(folder, f"{model}: expected LightGBM's text, whole, got something else")
        model.unlink()
        with pytest.raises(DataError, match=r"model\.txt: cannot be read: "):
            gf.ltrf.FRanker.load(folder)
        path.write_text("{")
        with pytest.raises(DataError, match=r"ranker\.json: cannot be read: "):
            gf.ltrf.FRanker.load(folder)


class TestRefused:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"loss": "ordnal"}, f"loss: expected one of {', '.join(get_args(Loss))}, got 'ordnal'. Did you mean "
             "'ordinal'?"),
            ({"settings": gf.ltrf.Settings(parameters="max_binn=63")}, "parameters: LightGBM knows none called "
             "'max_binn'. Did you mean 'max_bin'?"),
            ({"settings": gf.ltrf.Settings(parameters={"eta": 0.1})}, "parameters: eta cannot be set here: say "
             "learning_rate"),
            ({"settings": gf.ltrf.Settings(parameters="max_bin")}, "parameters: expected name=value pairs such as "
             "lambda_l2=1, got 'max_bin'"),
            ({"settings": gf.ltrf.Settings(categorical=["colour"])}, "categorical: expected one of signal, other, "
             "another, got 'colour'."),
            ({"gains": {0: 0, 1: 1}}, "examples: expected labels 0, 1, got -2, 2: give every label a gain"),
            ({"gains": "1=2"}, "gains: expected label:gain pairs such as {-2:-10,0:0,1:1}, got '1=2'"),
            ({"gains": "1:2,1.0:3"}, "gains: expected every label once, got 1 twice in '1:2,1.0:3'"),
            ({"cutoff": 0}, "cutoff: expected at least 1, got 0"),
            ({"seed": -1}, "seed: expected a number of at least 0, got -1"),
            ({"risk": 2.0}, "risk: expected a share between 0 and 1, got 2.0"),
            ({"risk_confidence": 0.9}, "risk_confidence is that of a risk: expected both, got no risk"),
            ({"risk": 0.01}, "risk=0.01 cannot be guaranteed from 40 queries, half of those to validate, whatever the "
             "threshold: it takes 99, and 198 to validate"),
            ({"checkpoints": "x"}, "checkpoints: is for text; training on features takes seconds, and starts anew"),
            ({"settings": gf.ltrf.Settings(epochs=3)}, "epochs: is for text, and the examples are features"),
            ({"settings": gf.ltrf.Settings(rounds=0)}, "rounds: expected at least 1, got 0"),
            ({"settings": gf.ltrf.Settings(leaves=1)}, "leaves: expected at least 2, got 1"),
            ({"settings": gf.ltrf.Settings(learning_rate=0.0)}, "learning_rate: expected a number above 0, got 0.0"),
            ({"settings": gf.ltrf.Settings(gamma=math.nan)}, "gamma: expected at least 0, got nan"),
        ],
    )  # fmt: skip
    def test_options(self, frames, options, message):
        with pytest.raises(GainfulError) as caught:
            gf.ltrf.train(frames[0], validation=frames[1], **{"settings": QUICK, **options})
        assert str(caught.value) == message

    def test_risk_where_nothing_is_forbidden(self, frames):
        good = [frame.with_columns(label=pl.col("label").abs()) for frame in frames[:2]]
        with pytest.raises(GainfulError) as caught:
            gf.ltrf.train(good[0], validation=good[1], risk=0.2, settings=QUICK)
        assert str(caught.value) == (
            "risk is about forbidden documents, and no judged document is one: expected labels (or gains) below 0"
        )

    def test_one_label(self, frames):
        with pytest.raises(DataError) as caught:
            gf.ltrf.train(frames[0].with_columns(label=1), settings=QUICK)
        assert str(caught.value) == "expected documents of at least 2 labels to learn from, got only label 1"

    @pytest.mark.parametrize("loss", ["mse", "ordinal", "lambdarank"])
    def test_diverged(self, frames, loss):
        """Such a round is never the best one, whatever its nDCGf looks like."""
        with pytest.raises(GainfulError) as caught:
            gf.ltrf.train(
                frames[0], validation=frames[1], loss=loss, settings=gf.ltrf.Settings(learning_rate=1e200, rounds=9)
            )
        number = len(gf.ltrf.read_examples(frames[1]))
        assert re.fullmatch(
            rf"training diverged: loss {loss}, round 1 of 9: the model gives no finite number for \d+ of {number} "
            r"documents; lower the learning rate \(1e\+200\)",
            str(caught.value),
        )

    @pytest.mark.parametrize("cut", ["threshold", "none", "bayes"])
    def test_no_numbers(self, ranker, frames, cut):
        """Documents without a score must not be left out as if they had been filtered."""

        class Broken:
            names, heads = (), 3

            def outputs(self, examples):
                return np.where(np.arange(len(examples)) == 1, math.nan, 0.5)[:, None] * np.ones(3)

        with pytest.raises(DataError) as caught:
            replace(ranker, model=Broken()).rank(frames[2], cut=cut)
        assert str(caught.value) == (
            f"examples: the model gives no finite number for 1 of {frames[2].height} documents: this f-ranker cannot "
            "be used, train another one"
        )

    @pytest.mark.parametrize("threshold", [math.nan, -math.inf])
    def test_no_threshold(self, ranker, threshold):
        with pytest.raises(DataError) as caught:
            replace(ranker, threshold=threshold)
        assert str(caught.value) == f"threshold: expected a number, or inf to show nothing, got {threshold}"

    def test_queries_in_two_parts(self, frames, tmp_path):
        """A model tested on what it has learnt from looks better than it is."""
        train, validation, test = frames
        some = train.filter(pl.col("query_id").is_in([f"q1-{n}" for n in range(5)]))
        one = train.filter(pl.col("query_id") == "q1-7")
        paths = [tmp_path / "train.csv", tmp_path / "more.csv"]
        train.write_csv(paths[0])
        pl.concat([validation, some]).write_csv(paths[1])
        for options, message in [
            ({"validation": paths[1]}, f"data ({paths[0]}) and validation ({paths[1]}) share 5 of the queries, by "
             "their ids: q1-0, q1-1, q1-2, …; give every query to one of them"),
            ({"test": one}, f"data ({paths[0]}) and test (examples) share 1 of the queries, by their ids: q1-7; give "
             "every query to one of them"),
            ({"validation": test, "test": test.filter(pl.col("query_id").is_in(["q3-4", "q3-2"]))},
             "validation (examples) and test (examples) share 2 of the queries, by their ids: q3-2, q3-4; give every "
             "query to one of them"),
        ]:  # fmt: skip
            for call in (gf.ltrf.train, gf.ltrf.compare, gf.ltrf.tune):
                with pytest.raises(DataError) as caught:
                    call(paths[0], gains=world.GAINS, settings=QUICK, **options)
                assert str(caught.value) == message

    def test_constant_features(self, frames):
        with pytest.raises(DataError) as caught:
            gf.ltrf.train(frames[0].with_columns(signal=1, other=2, another=3), settings=QUICK)
        assert str(caught.value) == (
            "examples: expected features that differ between documents, got constant ones only"
        )

    def test_text_and_features(self, ranker, frames):
        text = world.planted_text(5, 1)
        with pytest.raises(DataError) as caught:
            gf.ltrf.train(frames[0], validation=text, settings=QUICK)
        assert str(caught.value) == "examples: expected features, as in examples, got text"
        with pytest.raises(DataError) as caught:
            ranker.rank(text)
        assert str(caught.value) == "examples: this f-ranker reads features, got text"

    def test_cut_and_device(self, ranker, frames, tmp_path):
        with pytest.raises(GainfulError, match=r"^cut: expected one of threshold, none, bayes, got 'nome'\. Did you "):
            ranker.rank(frames[2], cut="nome")
        with pytest.raises(GainfulError, match=r"^device: is chosen where an f-ranker is loaded; give its folder, or "):
            gf.ltrf.score(ranker, frames[2], device="cpu")
        ranker.save(tmp_path / "r")
        with pytest.raises(GainfulError) as caught:
            gf.ltrf.score(tmp_path / "r", frames[2], device="cpu")
        assert str(caught.value) == f"device: is for text, and {tmp_path / 'r'} is an f-ranker on features"

    def test_missing_extra(self, frames, monkeypatch):
        monkeypatch.setitem(sys.modules, "lightgbm", None)
        with pytest.raises(GainfulError) as caught:
            gf.ltrf.train(frames[0], validation=frames[1], gains=world.GAINS)
        assert str(caught.value) == (
            "learning from features needs packages that are not installed: pip install '.[ltrf]' in a clone"
        )
