"""All losses and baselines on one data set: the table, with tests between all of them."""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful import results
from gainful.charts import COLOURS, HEIGHT, WIDTH, load_altair, styled
from gainful.data.run import Run
from gainful.data.scores import Scores
from gainful.errors import DataError, GainfulError, check_choice, check_share
from gainful.ltrf.data import Examples
from gainful.ltrf.functions import compare
from gainful.ltrf.ranker import SETTINGS, FRanker, threshold_layers
from gainful.ltrf.settings import LOSSES, Loss, Settings, differing
from gainful.ltrf.targets import Scale
from gainful.ltrf.training import Splits, evaluate_examples, prepare, repeated_by, settings_of, train_on
from gainful.results import Chart, Note, Result
from gainful.tables import Table
from gainful.tune import threshold as thresholds
from gainful.tune.threshold.tradeoff import ThresholdCurve
from gainful.verbs.compare import compare as compare_runs
from gainful.verbs.compare.result import Comparison

# Points of a curve that are drawn, and panels side by side.
_POINTS, _COLUMNS = 200, 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LossComparison(Result):
    """How good each loss and each baseline is on queries that none of them has seen.

    Parameters
    ----------
    models
        Baselines, then losses.
    scores
        The test queries: measures × models × queries.
    tests
        Paired t-tests between all models.
    rankers, curves, seconds
        By loss: the f-ranker, what every threshold would have given on the test queries, and how long training took
        (None if it was there already).
    queries
        How many there were to learn from, to validate and to test.
    scale
        Labels and gains.
    settings
        What repeats it.
    """

    models: tuple[str, ...]
    scores: Scores
    tests: Comparison
    rankers: Mapping[str, FRanker]
    curves: Mapping[str, ThresholdCurve]
    seconds: Mapping[str, float | None]
    queries: tuple[int, int, int]
    scale: Scale
    settings: results.Settings

    @property
    def measure(self) -> str:
        """What models are trained, cut and compared for."""
        return f"nDCGf@{self.settings['cutoff']}"

    def threshold(self, model: str) -> float | None:
        """Where a model cuts; None for baselines and cuts by query."""
        return self.rankers[model].threshold if model in self.rankers else None

    def verdict(self) -> str:
        """The model with the highest nDCGf, and how many others it is significantly better than."""
        means = self.scores.summary()[0]
        best = int(np.argmax(means))
        beaten = int(self._better()[best].sum())
        return (
            f"{self.models[best]} has the highest {self.measure} on the {self.queries[2]} test queries, "
            f"{means[best]:.4f}, and is significantly better than {beaten} of {len(self.models) - 1} other models."
        )

    def _better(self) -> Any:
        return self.tests[self.measure].better(self.settings["alpha"])

    def tables(self) -> tuple[Table, ...]:
        """One row per model; after nDCGf, the models that it is significantly better than."""
        letters = [chr(ord("a") + at) for at in range(len(self.models))]
        beaten = ["".join(letter for letter, won in zip(letters, row, strict=True) if won) for row in self._better()]
        first, *others = self.scores.measures
        frame = self.to_frame().with_columns(letter=pl.Series(letters), beaten=pl.Series(beaten))
        headers = {"letter": "", "model": "model", first: first, "beaten": ""}
        headers |= {name: name for name in (*others, "threshold")}
        means = self.scores.summary()[0]
        best = frozenset((int(at), 2) for at in np.flatnonzero(means == means.max()))
        return (Table.of("models", frame.select(list(headers)), headers, best=best),)

    def _notes(self) -> list[Note]:
        correction = self.settings["correction"]
        corrected = "" if correction == "none" else f" after the correction {correction}"
        text = (
            f"The letters after {self.measure} name the models it is significantly better than (paired t-test, p < "
            f"{self.settings['alpha']:g}{corrected}); JSON and to_dict() have all tests."
        )
        ranker = next(iter(self.rankers.values()))
        return [Note("letters", self.measure, text), *ranker.without_forbidden()]

    def to_frame(self) -> pl.DataFrame:
        """One row per model: its means on the test queries, its threshold, its validation nDCGf."""
        rankers = [self.rankers.get(model) for model in self.models]
        return pl.DataFrame(
            {
                "model": list(self.models),
                **dict(zip(self.scores.measures, self.scores.summary(), strict=True)),
                "threshold": [None if ranker is None else ranker.threshold for ranker in rankers],
                "validation": [None if ranker is None else ranker.validation["nDCGf"] for ranker in rankers],
            },
            schema_overrides={"threshold": pl.Float64, "validation": pl.Float64},
        )

    def _content(self) -> dict[str, Any]:
        return {
            "models": self.to_frame().to_dicts(),
            "tests": self.tests.to_frame().to_dicts(),
            "seconds": dict(self.seconds),
            "queries": dict(zip(("training", "validation", "test"), self.queries, strict=True)),
            "gains": self.scale.to_dict(),
        }

    def chart(self) -> Chart:
        """Draw nDCGf against the threshold, one panel per loss, as their scores have nothing in common.

        Below, forbidden shown against good filtered.
        """
        alt, losses = load_altair(), list(self.curves)
        colours = alt.Scale(domain=losses, range=COLOURS[: len(losses)])
        colour = alt.Color("model:N", title=None, sort=losses, scale=colours)
        panels = [
            _panel(self.rankers[loss], curve, COLOURS[at], self.measure)
            for at, (loss, curve) in enumerate(self.curves.items())
        ]
        rows = [alt.hconcat(*panels[at : at + _COLUMNS]) for at in range(0, len(panels), _COLUMNS)]
        below = _trade_off(self.curves, self.scores, self.measure, colour)
        return styled(
            alt.vconcat(*rows, below, spacing=20), f"{self.measure} on test queries, and what filtering costs"
        )


def compare_losses(data: Any, validation: Any, test: Any, given: Mapping[str, Any]) -> LossComparison:
    """What `compare` returns."""
    losses, cutoff, seed = given["losses"], given["cutoff"], given["seed"]
    check_share("alpha", given["alpha"])
    if not losses:
        raise GainfulError("losses: expected at least one, got none")
    for loss in losses:
        check_choice("loss", loss, LOSSES)
    splits = prepare(data, validation, test, given, need_test=True)
    unseen = splits.test
    if unseen is None:
        raise DataError("expected test queries, got none")
    rankers: dict[str, FRanker] = {}
    seconds: dict[str, float | None] = {}
    for loss in dict.fromkeys(losses):
        rankers[loss], seconds[loss] = _trained(splits, loss, cutoff, given["folder"], seed, given["settings"])
    every = {loss: ranker.rank(unseen, cut="none") for loss, ranker in rankers.items()}
    runs = _baselines(rankers, every, unseen, seed) + [
        ranker.rank(unseen, name=loss) for loss, ranker in rankers.items()
    ]
    if given["bayes"]:
        runs += [
            ranker.rank(unseen, cut="bayes", name=f"{loss}, by query")
            for loss, ranker in rankers.items()
            if ranker.calibration is not None
        ]
    scores = evaluate_examples(unseen, runs, splits.scale, cutoff)
    qrels = unseen.qrels(splits.scale)
    return LossComparison(
        models=tuple(run.name for run in runs),
        scores=scores,
        tests=compare_runs(scores, correction=given["correction"]),
        rankers=rankers,
        curves={loss: thresholds.curve(qrels, run, measure=f"nDCGf@{cutoff}") for loss, run in every.items()},
        seconds=seconds,
        queries=(len(splits.train.sizes), len(splits.validation.sizes), len(unseen.sizes)),
        scale=splits.scale,
        settings=settings_of(compare, given, splits),
    )


def _trained(
    splits: Splits, loss: Loss, cutoff: int, folder: str | os.PathLike[str] | None, seed: int, settings: Settings
) -> tuple[FRanker, float | None]:
    """The f-ranker, and the seconds that it took; from the folder if it is there."""
    kept = None if folder is None else Path(folder) / loss
    if kept is not None and (kept / SETTINGS).exists():
        ranker = FRanker.load(kept)
        known = {"loss": ranker.loss, "gains": str(ranker.scale), "cutoff": ranker.cutoff, **ranker.settings}
        wanted = {"loss": loss, "gains": str(splits.scale), "cutoff": cutoff, **repeated_by(splits, seed, settings)}
        if known != wanted:
            raise DataError(f"{kept}: has another f-ranker ({differing(known, wanted)}): choose another folder")
        return ranker, None
    started = time.perf_counter()
    checkpoints = kept.with_name(f"{loss}.training") if kept is not None and splits.train.kind == "text" else None
    ranker = train_on(
        splits._replace(test=None), loss, cutoff=cutoff, checkpoints=checkpoints, seed=seed, settings=settings
    )
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        ranker.save(kept)
        if checkpoints is not None:
            shutil.rmtree(checkpoints)  # states of optimizers, several times as large as the f-ranker
    return ranker, time.perf_counter() - started


def _baselines(rankers: Mapping[str, FRanker], every: Mapping[str, Run], test: Examples, seed: int) -> list[Run]:
    chance = np.random.default_rng(seed).random(len(test))
    found = [test.run(np.full(len(test), math.nan), "filter-all"), test.run(chance, "filter-none")]
    if "ordinal" in rankers:
        found.append(Run(every["ordinal"].frame, "rank-only"))
    if "bce" in rankers:
        kept = every["bce"].frame["score"].to_numpy() >= rankers["bce"].threshold
        found.append(test.run(np.where(kept, chance, math.nan), "filter-only"))
    return found


def _panel(ranker: FRanker, curve: ThresholdCurve, colour: str, measure: str) -> Any:
    alt = load_altair()
    points = _points(ranker.loss, curve).filter(pl.col("threshold").is_finite())
    x = alt.X("threshold:Q", title="threshold", scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(tickCount=5))
    y = alt.Y("score:Q", title=measure, scale=alt.Scale(zero=False))
    layers = threshold_layers(points, ranker.threshold, x=x, y=y, measure=measure, colour=colour)
    size = {"width": WIDTH * 0.38, "height": HEIGHT * 0.45}
    return alt.layer(*layers).properties(title=ranker.loss, **size)


def _trade_off(curves: Mapping[str, ThresholdCurve], scores: Scores, measure: str, colour: Any) -> Any:
    alt = load_altair()
    lines = pl.concat([_points(loss, curve) for loss, curve in curves.items()])
    means = dict(zip(scores.measures, scores.summary(), strict=True))
    forbidden = next(name for name in scores.measures if name.startswith("Forbidden"))
    models = pl.DataFrame(
        {
            "model": list(scores.systems),
            "filtered_good": means["FilteredGood"],
            "forbidden": means[forbidden],
            "score": means[measure],
        }
    )
    x = alt.X("filtered_good:Q", title="good documents filtered (FilteredGood)", axis=alt.Axis(format="%"))
    y = alt.Y("forbidden:Q", title=f"forbidden among those shown ({forbidden})", axis=alt.Axis(format="%"))
    hints = [
        alt.Tooltip("model:N"),
        alt.Tooltip("score:Q", title=measure, format=".4f"),
        alt.Tooltip("forbidden:Q", title=forbidden, format=".1%"),
        alt.Tooltip("filtered_good:Q", title="FilteredGood", format=".1%"),
    ]
    base = alt.Chart(models).encode(x=x, y=y, tooltip=hints)
    trained = base.transform_filter(alt.FieldOneOfPredicate("model", list(curves)))
    baselines = base.transform_filter({"not": {"field": "model", "oneOf": list(curves)}})
    return alt.layer(
        alt.Chart(lines).mark_line(opacity=0.6).encode(x=x, y=y, color=colour, order="kept:Q", tooltip=hints),
        trained.mark_point(filled=True, size=90, opacity=1).encode(color=colour),
        baselines.mark_point(size=60, color="#333333", shape="diamond", opacity=1),
        baselines.mark_text(align="left", dx=8, dy=-6, color="#333333").encode(text="model:N"),
    ).properties(width=WIDTH, height=HEIGHT)


def _points(loss: str, curve: ThresholdCurve) -> pl.DataFrame:
    at = curve.thinned(_POINTS)
    columns = ("threshold", "kept", "score", "forbidden", "filtered_good")
    return curve.to_frame()[np.asarray(at)].select(pl.lit(loss).alias("model"), *columns)
