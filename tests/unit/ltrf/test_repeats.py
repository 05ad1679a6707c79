"""Losses over seeds and folds, and searches: what is compared, what is kept, and what survives kill -9."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from scipy import stats

import gainful as gf
import planted as world
from gainful.engine import open_engine
from gainful.errors import DataError, GainfulError, MissingExtraError
from gainful.ltrf.outcomes import f1_threshold
from gainful.ltrf.search import _rungs

pytest.importorskip("lightgbm")

QUICK = gf.ltrf.Settings(rounds=5, leaves=4)
GAIN = "{-2:-10,0:0,1:1,2:2}"
FOLDED = {"gains": GAIN, "losses": ["bce", "mse"], "seeds": 2, "folds": 3, "settings": QUICK}


def exact(found):
    """All of a result, to the last bit; NaN equals itself."""
    return json.dumps(found.to_dict())


@pytest.fixture(scope="module")
def frame():
    return world.planted_features(60, 4)


@pytest.fixture(scope="module")
def found(frame):
    return gf.ltrf.compare(frame, **FOLDED, f1=True)


class TestFolds:
    def test_every_query_is_tested_once_per_seed_by_models_that_have_not_seen_it(self, frame):
        parts = gf.ltrf.read_examples(frame)
        from gainful.ltrf.training import Parts

        for seed in range(2):
            splits = [Parts(parts, None, None, None).fold(seed, fold, 4) for fold in range(4)]
            assert sorted(query for split in splits for query in split.test.queries) == sorted(parts.queries)
            for split in splits:
                kinds = [set(part.queries) for part in split[:3]]
                assert sum(map(len, kinds)) == len(set.union(*kinds)) == 60
                assert len(kinds[1]) == 9  # a fifth of the 45 that are not tested

    def test_tests_are_nadeau_and_bengios(self, found):
        """t of the differences of the 6 splits, their variance times 1/6 + test/(training + validation)."""
        assert found.models == ("filter-all", "filter-none", "filter-only", "bce, F1 threshold", "bce", "mse")
        rows = found.splits.filter(pl.col("model") == "mse")["nDCGf@3"].to_numpy()
        others = found.splits.filter(pl.col("model") == "filter-none")["nDCGf@3"].to_numpy()
        apart = rows - others
        assert found.splits.height == 6 * 6
        error = math.sqrt((1 / 6 + 20 / 40) * np.var(apart, ddof=1))
        expected = 2 * stats.t.sf(abs(apart.mean() / error), 5)
        assert found.tests.p("nDCGf@3")[5, 1] == pytest.approx(expected, rel=1e-9)
        row = found.to_frame().row(5, named=True)
        assert row["spread"] == pytest.approx(np.std(rows, ddof=1))
        assert row["nDCGf@3"] == pytest.approx(rows.mean())  # folds of 20 queries each
        assert found.to_frame()["best"].sum() >= 6

    def test_printed(self, found):
        assert " splits of the queries, " in found.verdict()
        header, *_ = str(found).split("──")
        assert "±" in header
        assert {"splits", "letters"} <= {note.code for note in found.notes()}
        assert "(paired t-test, corrected for the training queries that splits share, p < " in found.notes()[0].text
        assert "every split" in found.chart().to_json()
        json.dumps(found.to_dict())

    def test_folder_goes_on_and_belongs_to_one_experiment(self, frame, found, tmp_path):
        folder = tmp_path / "kept"
        gf.ltrf.compare(frame, **{**FOLDED, "seeds": 1, "losses": ["bce"]}, f1=True, folder=folder)
        lost = folder / "seed-0-fold-2-bce.json"
        before = lost.read_bytes()
        lost.unlink()
        again = gf.ltrf.compare(frame, **FOLDED, f1=True, folder=folder)
        assert lost.read_bytes() == before
        assert exact(again) == exact(found)
        with pytest.raises(DataError, match=r"has outcomes of another experiment \(cutoff 3 there, 5 here\)"):
            gf.ltrf.compare(frame, **FOLDED, f1=True, folder=folder, cutoff=5)

    def test_degenerate_models_are_marked(self, frame):
        rows = frame.with_columns(label=pl.when(pl.col("doc_id") == "d0").then(2).otherwise(-2))
        found = gf.ltrf.compare(rows, gains="{-2:-10,2:1}", losses=["mse"], seeds=2, settings=QUICK)
        assert found.to_frame().row(-1, named=True)["degenerate"] == "shows nothing (2)"
        (note,) = (note for note in found.notes() if note.code == "degenerate")
        assert note.text == "A model that shows nothing, in so many of 2 splits: mse 2."

    def test_a_loss_that_fails_is_left_out(self, frame):
        settings = gf.ltrf.Settings(rounds=60, learning_rate=1e30)
        found = gf.ltrf.compare(frame, gains=GAIN, losses=["mse", "ordinal"], seeds=2, settings=settings)
        assert "mse" not in found.models
        assert "ordinal" in found.models
        (note,) = (note for note in found.notes() if note.code == "diverged")
        assert note.text.startswith("mse is left out: 2 of 2 trainings failed, the first by: training diverged: ")

    def test_what_other_losses_would_fail_by_is_no_outcome(self, frame, monkeypatch, tmp_path):
        """Such as a package that is not installed: nothing is kept, and the same command goes on when it is there."""

        def absent():
            raise MissingExtraError("lightgbm", "ltrf")

        monkeypatch.setattr("gainful.ltrf.features.load_lightgbm", absent)
        for call, how in ((gf.ltrf.compare, {"losses": ["mse"], "seeds": 2}), (gf.ltrf.tune, {"trials": 2})):
            folder = tmp_path / call.__name__
            with pytest.raises(MissingExtraError):
                call(frame, gains=GAIN, **how, settings=QUICK, folder=folder)
            assert [path.name for path in folder.iterdir()] == ["experiment.json"]

    def test_seeds_on_given_test_queries_are_paired_over_queries(self, frame):
        given = {"validation": world.planted_features(20, 5), "test": world.planted_features(30, 6)}
        found = gf.ltrf.compare(frame, gains=GAIN, losses=["mse"], seeds=2, settings=QUICK, **given)
        values = found.scores["nDCGf@3"].values
        assert values.shape == (3, 30)
        expected = stats.ttest_rel(values[2], values[1]).pvalue
        assert found.tests.p("nDCGf@3")[2, 1] == pytest.approx(expected)
        assert "(paired t-test over the test queries, p < 0.05 after" in found.notes()[0].text

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"folds": 31}, "folds: expected at most half of the 60 queries, got 31"),
            ({"f1": True, "losses": ["mse"]}, "f1: cuts the BCE model: expected bce among the losses, got mse"),
            ({"losses": ["mse", "softmax"], "seeds": 2}, "loss softmax: is for text, and the examples are features"),
            ({"seeds": 0}, "seeds: expected a whole number of at least 1, got 0"),
            (
                {"folds": 2, "test": world.planted_features(5, 9)},
                "folds=2: takes all queries in turn for the test; give them all as the data, and none to validate or "
                "to test",
            ),
        ],
    )
    def test_refused(self, frame, options, message):
        with pytest.raises(GainfulError) as caught:
            gf.ltrf.compare(frame, gains=GAIN, **options)
        assert str(caught.value) == message


def test_own_objectives(frame):
    """LightGBM's own, with our threshold: its ranker needs no label below 0."""
    own = ["lightgbm-binary", "lightgbm-regression", "lightgbm-lambdarank", "lightgbm-xendcg"]
    data = world.planted_features(150, 7)
    found = gf.ltrf.compare(data, gains=GAIN, losses=own, settings=gf.ltrf.Settings(rounds=30))
    value = dict(zip(found.models, found.scores.summary()[0], strict=True))
    assert all(value[loss] > value["filter-none"] + 0.05 for loss in own)


def test_f1_threshold():
    """By hand: F1 is 2/3 at 4 (1 hit of 1 shown, 2 good), 1/2 at 3, 4/5 at 2 (2 hits of 3 shown), 2/3 at 1."""
    assert f1_threshold(np.array([1.0, 4.0, 3.0, 2.0]), np.array([False, True, False, True])) == 2.0


class TestTrials:
    def test_a_failed_trial_is_a_row(self, frame):
        settings = gf.ltrf.Settings(rounds=40, leaves=4)
        options = {"gains": GAIN, "loss": "mse", "trials": 3, "learning_rates": (1e30, 1e30)}
        found = gf.ltrf.tune(frame, **options, settings=settings)
        assert found.best == 0
        assert [row["nDCGf"] is None for row in found.trials] == [False, True, True]
        assert found.to_frame()["failed"][1].startswith("training diverged: loss mse, round ")
        assert found.notes()[0].code == "failed-trials"
        with pytest.raises(GainfulError, match=r"^all 1 trials failed, the first by: training diverged"):
            gf.ltrf.tune(frame, gains=GAIN, loss="mse", trials=1, settings=gf.ltrf.Settings(learning_rate=1e30))

    def test_rungs(self):
        """9 trials by 3: 9 of them for 500/9 rounds, 3 for 500/3, 1 for 500; never less than 1 epoch."""
        assert _rungs(9, 500, 3) == [(55, 9), (166, 3), (500, 1)]
        assert _rungs(10, 3, 2) == [(1, 10), (3, 5)]
        assert _rungs(4, 500, None) == [(500, 4)]

    def test_halving(self, frame):
        options = {"gains": GAIN, "loss": "mse", "trials": 4, "settings": gf.ltrf.Settings(rounds=8, leaves=4)}
        found = gf.ltrf.tune(frame, **options, halving=2)
        rows = found.to_frame()
        assert sorted(rows["rounds"]) == [2, 2, 4, 8]
        assert rows["rounds"][found.best] == 8
        plain = gf.ltrf.tune(frame, **options).to_frame()
        assert rows["learning_rate"].equals(plain["learning_rate"])
        assert rows["nDCGf"][found.best] == plain["nDCGf"][found.best]

    def test_folder(self, frame, tmp_path):
        options = {"gains": GAIN, "loss": "mse", "trials": 3, "settings": QUICK}
        fresh = gf.ltrf.tune(frame, **options)
        gf.ltrf.tune(frame, **{**options, "trials": 2}, folder=tmp_path)
        again = gf.ltrf.tune(frame, **options, folder=tmp_path)
        assert exact(again) == exact(fresh)
        best = f"trial-{fresh.best + 1}-rounds-5"
        assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == [best]
        assert gf.ltrf.FRanker.load(tmp_path / best).threshold == fresh.ranker.threshold
        with pytest.raises(DataError, match=r"has outcomes of another experiment \(loss 'mse' there, 'bce' here\)"):
            gf.ltrf.tune(frame, **{**options, "loss": "bce"}, folder=tmp_path)


SCRIPT = """
import json, os, pathlib, signal, sys
import gainful as gf
import planted as world
what, folder, at, when = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
left = [at]
def dying(function):
    def call(*args):
        left[0] -= 1
        if left[0] == 0 and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = function(*args)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    return call
pathlib.Path.replace, pathlib.Path.rename = dying(pathlib.Path.replace), dying(pathlib.Path.rename)
settings = gf.ltrf.Settings(rounds=5, leaves=4)
frame = world.planted_features(40, 4)
gains = "{-2:-10,0:0,1:1,2:2}"
if what == "compare":
    found = gf.ltrf.compare(frame, gains=gains, losses=["mse"], seeds=1, folds=3, settings=settings, folder=folder)
else:
    found = gf.ltrf.tune(frame, gains=gains, loss="mse", trials=3, halving=2, settings=settings, folder=folder)
print(json.dumps(found.to_dict()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["compare", "tune"])
def test_kill_9_at_any_point(what, tmp_path):
    """Killed before and after every rename in turn, and started again each time: the same table as at one go."""
    import os

    paths = [path for path in sys.path if path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(world.__file__), *paths])}

    def run(folder, at, when):
        words = [sys.executable, "-c", SCRIPT, what, str(folder), str(at), when]
        return subprocess.run(words, capture_output=True, text=True, env=environment, check=False)

    whole = run(tmp_path / "whole", 0, "never")
    assert whole.returncode == 0, whole.stderr
    killed = 0
    for at, when in [(1, "before"), (1, "after"), (2, "after"), (1, "before"), (2, "before"), (1, "after")]:
        done = run(tmp_path / "cut", at, when)
        if done.returncode == 0:
            break
        assert done.returncode == -9, done.stderr
        killed += 1
    assert killed >= 4
    last = run(tmp_path / "cut", 0, "never")
    assert last.stdout == whole.stdout
    names = sorted(path.name for path in (tmp_path / "whole").rglob("*"))
    assert sorted(path.name for path in (tmp_path / "cut").rglob("*") if path.suffix != ".part") == names


@pytest.mark.slow
def test_dask_gives_the_same(frame, found):
    pytest.importorskip("distributed")
    options = {"gains": GAIN, "loss": "mse", "trials": 3, "halving": 2, "settings": QUICK}
    here = gf.ltrf.tune(frame, **options)
    engine = gf.Dask(workers=2)
    with open_engine(engine):
        assert exact(gf.ltrf.compare(frame, **FOLDED, f1=True, engine=engine)) == exact(found)
        assert exact(gf.ltrf.tune(frame, **options, engine=engine)) == exact(here)
