"""The table of all losses and baselines."""

from __future__ import annotations

import html
import json
import math
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from scipy import stats

import gainful as gf
import planted as world
from gainful.errors import DataError, GainfulError
from gainful.ltrf.targets import Scale
from gainful.ltrf.training import evaluate_examples

pytest.importorskip("lightgbm")

QUICK = gf.ltrf.Settings(rounds=20, patience=20)
GAIN = "{-2:-10,0:0,1:1,2:2}"


@pytest.fixture(scope="module")
def frame():
    return world.planted_features(250, 4)


@pytest.fixture(scope="module")
def found(frame):
    return gf.ltrf.compare(frame, gains=GAIN, bayes=True, settings=QUICK)


def test_models(found):
    assert found.models == (
        *("filter-all", "filter-none", "rank-only", "filter-only"),
        *("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce"),
        *("ordinal, by query", "weighted-ordinal, by query"),
    )
    assert found.queries == (160, 40, 50)
    assert found.scores.measures == ("nDCGf@3", "nDCG0@3", "nDCGmin@3", "Forbidden@3", "FilteredGood", "Empty")


def test_the_table_is_what_evaluate_gives_on_labels(frame, found):
    """The table is computed on gains: by labels and a gain map, with other measures' spellings, it must be the same."""
    test = gf.ltrf.read_examples(frame).split()[2]
    qrels = test.frame.select("query_id", "doc_id", relevance=pl.col("label"))
    measures = [f"nDCGf(gain={GAIN})@3", f"nDCG(gain={GAIN})@3", f"nDCGmin(gain={GAIN})@3"]
    measures += ["Forbidden@3", "FilteredGood", "Empty"]
    rankers = found.rankers
    runs = {
        "ordinal": rankers["ordinal"].rank(test),
        "rank-only": rankers["ordinal"].rank(test, cut="none", name="rank-only"),
        "lambdarank+bce": rankers["lambdarank+bce"].rank(test),
        "ordinal, by query": rankers["ordinal"].rank(test, cut="bayes", name="x"),
    }
    means = found.scores.summary()
    for name, run in runs.items():
        expected = gf.evaluate(qrels, [run], measures).summary()[:, 0]
        assert means[:, found.models.index(name)] == pytest.approx(expected, abs=1e-12)


def test_baselines(found):
    rows = {row["model"]: row for row in found.to_frame().iter_rows(named=True)}
    nothing, everything = rows["filter-all"], rows["filter-none"]
    assert (nothing["nDCG0@3"], nothing["Forbidden@3"], nothing["Empty"]) == (0.0, 0.0, 1.0)
    assert (everything["FilteredGood"], everything["Empty"]) == (0.0, 0.0)
    assert rows["rank-only"]["FilteredGood"] == 0.0
    # The same documents as BCE, in another order.
    assert rows["filter-only"]["FilteredGood"] == rows["bce"]["FilteredGood"]
    assert rows["filter-only"]["Empty"] == rows["bce"]["Empty"]
    assert rows["filter-only"]["nDCG0@3"] < rows["bce"]["nDCG0@3"]
    assert rows["bce"]["threshold"] == found.threshold("bce") == found.rankers["bce"].threshold
    assert rows["rank-only"]["threshold"] is None


def test_every_loss_but_lambdarank_beats_the_baselines(found):
    value = dict(zip(found.models, found.scores.summary()[0], strict=True))
    baselines = max(value[name] for name in ("filter-all", "filter-none", "rank-only"))
    assert all(value[loss] > baselines + 0.03 for loss in found.rankers if loss != "lambdarank")


def test_tests_are_scipys(found):
    values = found.scores["nDCGf@3"].values
    one, other = found.models.index("ordinal"), found.models.index("rank-only")
    expected = stats.ttest_rel(values[one], values[other]).pvalue
    assert found.tests.p("nDCGf@3")[one, other] == pytest.approx(expected)
    assert found.tests.settings["correction"] == "holm"


def test_curves_pass_through_the_table(found):
    for loss, ranker in found.rankers.items():
        curve = found.curves[loss]
        at = int((curve.thresholds >= ranker.threshold).sum()) - 1
        assert curve.score[at] == pytest.approx(found.scores.summary()[0, found.models.index(loss)], abs=1e-12)


def test_printed(found):
    means = found.scores.summary()[0]
    best = int(means.argmax())
    assert found.verdict().startswith(f"{found.models[best]} has the highest nDCGf@3 on the 50 test queries, ")
    (table,) = found.compact()
    assert [row[1] for row in table.cells()] == list(found.models)
    assert [row[0] for row in table.cells()] == [chr(ord("a") + at) for at in range(len(found.models))]
    better = found.tests["nDCGf@3"].better(0.05)
    assert [len(row[3]) for row in table.cells()] == better.sum(axis=1).tolist()
    assert (best, 2) in table.best
    assert found.notes()[0].code == "letters"
    assert "p &lt; 0.05 after the correction holm" in found._repr_html_()
    assert found.to_pandas()["model"].tolist() == list(found.models)


def test_exports(found):
    content = json.loads(json.dumps(found.to_dict()))
    assert [row["model"] for row in content["models"]] == list(found.models)
    assert content["gains"] == {"-2": -10.0, "0": 0.0, "1": 1.0, "2": 2.0}
    assert content["settings"]["seed"] == 0
    line = str(found).splitlines()[-1]
    assert line.startswith("ltrf compare: 160 queries to learn from, 40 to validate, 50 to test; losses=bce,")
    chart = found.chart().to_json()
    assert all(name in chart for name in ("lambdarank+bce", "filter-only", "good documents filtered"))


def test_folder(frame, tmp_path):
    options = {"gains": GAIN, "losses": ["mse", "bce"], "settings": QUICK, "folder": tmp_path / "kept"}
    first = gf.ltrf.compare(frame, **options)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["bce", "mse"]
    assert first.models == ("filter-all", "filter-none", "filter-only", "mse", "bce")
    again = gf.ltrf.compare(frame, **options)
    assert again.seconds == {"mse": None, "bce": None}
    assert again.to_frame().equals(first.to_frame())
    with pytest.raises(DataError) as caught:
        gf.ltrf.compare(frame, **{**options, "seed": 1})
    kept = tmp_path / "kept" / "mse"
    assert re.fullmatch(
        rf"{re.escape(str(kept))}: has another f-ranker \(training_data '\w+' there, '\w+' here; validation_data '\w+' "
        r"there, '\w+' here; seed 0 there, 1 here\): choose another folder",
        str(caught.value),
    )
    with pytest.raises(DataError) as caught:
        gf.ltrf.compare(frame, **{**options, "gains": "{-2:-9,0:0,1:1,2:2}", "cutoff": 5})
    assert str(caught.value) == (
        f"{kept}: has another f-ranker (gains '{{-2:-10,0:0,1:1,2:2}}' there, '{{-2:-9,0:0,1:1,2:2}}' here; cutoff 3 "
        "there, 5 here): choose another folder"
    )


def test_given_parts(frame):
    """Validation given, no test: a fifth of the data is kept for the test."""
    found = gf.ltrf.compare(frame, validation=world.planted_features(50, 5), losses=["mse"], settings=QUICK)
    assert found.queries == (200, 50, 50)


def test_refused(frame):
    with pytest.raises(GainfulError, match=r"^losses: expected at least one, got none$"):
        gf.ltrf.compare(frame, losses=[])
    with pytest.raises(GainfulError, match=r"^loss: expected one of bce, .* got 'hinge'\.$"):
        gf.ltrf.compare(frame, losses=["hinge"])


class TestSearch:
    def test_seeded_and_never_worse_than_the_defaults(self, frame):
        options = {"gains": GAIN, "trials": 4, "settings": QUICK, "loss": "lambdarank+bce", "seed": 3}
        found = gf.ltrf.tune(frame, **options)
        rows = found.to_frame()
        assert rows.columns == ["trial", "learning_rate", "leaves", "gamma", "nDCGf"]
        assert rows.row(0)[1:4] == (0.05, 31, 1.0)
        assert rows["nDCGf"][found.best] == rows["nDCGf"].max() == found.ranker.validation["nDCGf"]
        drawn = rows[1:]
        assert drawn["learning_rate"].is_between(0.01, 0.3).all()
        assert drawn["gamma"].is_between(0.1, 10).all()
        assert set(drawn["leaves"]) <= {7, 15, 31, 63, 127}
        assert drawn["learning_rate"].n_unique() == 3
        assert found.ranker.settings["learning_rate"] == rows["learning_rate"][found.best]
        assert gf.ltrf.tune(frame, **options).to_dict() == found.to_dict()
        assert "test" in str(found)
        assert found.ranker.test is not None
        (table,) = found.compact()
        assert table.best == {(found.best, 4)}
        assert [column.header for column in table.columns][-1] == "validation nDCGf@3"
        assert found.verdict().startswith(f"Trial {found.best + 1} of 4 is the best: learning_rate ")
        assert str(found).splitlines()[-1].startswith("ltrf tune: ")
        assert found.verdict() in html.unescape(found._repr_html_())
        assert "4 trials of lambdarank+bce" in found.chart().to_json()
        json.dumps(found.to_dict())

    def test_ranges(self, frame):
        found = gf.ltrf.tune(
            frame, gains=GAIN, trials=3, learning_rates=(0.2, 0.2), leaf_counts=[5], settings=QUICK, loss="mse"
        )
        assert found.to_frame()["learning_rate"].to_list() == pytest.approx([0.05, 0.2, 0.2])
        assert found.to_frame()["leaves"].to_list() == [31, 5, 5]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"trials": 0}, "trials: expected at least 1, got 0"),
            ({"gammas": (0.0, 1.0)}, "gammas: expected two numbers above 0, the lower one first, got (0.0, 1.0)"),
            (
                {"learning_rates": (2, 1)},
                "learning_rates: expected two numbers above 0, the lower one first, got (2, 1)",
            ),
            ({"leaf_counts": []}, "leaf_counts: expected at least one, got none"),
        ],
    )
    def test_refused(self, frame, options, message):
        with pytest.raises(GainfulError) as caught:
            gf.ltrf.tune(frame, **options)
        assert str(caught.value) == message


def test_nothing_is_imported_before_it_is_used():
    code = (
        "import sys, gainful as gf; gf.ltrf.train, gf.ltrf.compare, gf.ltrf.tune, gf.ltrf.score, gf.ltrf.FRanker;"
        "print([name for name in ('torch', 'lightgbm', 'transformers', 'altair') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_public_names():
    assert set(gf.ltrf.__all__) == set(dir(gf.ltrf))
    for name in gf.ltrf.__all__:
        assert (getattr(gf.ltrf, name).__doc__ or "").strip(), name
    with pytest.raises(AttributeError, match=r"No gainful\.ltrf attribute nothing"):
        gf.ltrf.nothing  # noqa: B018
    assert "ltrf" in dir(gf)


def test_good_and_forbidden_are_said_by_the_gains():
    """Labels 0 to 3 with gains -4, -1, 0.25, 1: the first two are forbidden, the others good, whatever labels say."""
    scale = Scale.of({0: -4.0, 1: -1.0, 2: 0.25, 3: 1.0})
    frame = pl.DataFrame({"qid": ["q"] * 4, "docno": list("abcd"), "label": [0, 1, 2, 3], "f": [0.0] * 4})
    examples = gf.ltrf.read_examples(frame)
    run = examples.run(np.array([0.1, 0.9, math.nan, 0.5]), "x")  # b, d, a; c is filtered
    scores = evaluate_examples(examples, [run], scale, 3)
    log = math.log2
    gained, best, worst = -1 + 1 / log(3) - 4 / log(4), 1 + 0.25 / log(3), -4 - 1 / log(3)
    low = -4 - 1 / log(3) + 0.25 / log(4)  # the worst three of the pool, in the worst order
    expected = [
        (gained - worst) / (best - worst),
        (1 / log(3)) / best,
        (gained - low) / (best - 1 / log(4) - low),
        2 / 3,
        1 / 2,
        0.0,
    ]
    assert scores.summary()[:, 0].tolist() == pytest.approx(expected)
