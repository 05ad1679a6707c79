"""All losses and baselines on one data set: the table, with tests between all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful import results
from gainful.charts import COLOURS, HEIGHT, WIDTH, load_altair, styled
from gainful.data.scores import Scores
from gainful.ltrf.ranker import FRanker, threshold_layers, without_forbidden
from gainful.ltrf.targets import Scale
from gainful.results import Chart, Note, Result
from gainful.tables import Table
from gainful.tune.threshold.tradeoff import ThresholdCurve
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
        The test queries: measures × models × queries; the mean over the splits that a query was tested in.
    tests
        Paired t-tests between all models; over several splits, corrected for the training queries that they share.
    splits
        One row per split and model: seed, fold (0 if there are none), model, its means, its threshold, its validation
        nDCGf, and how it is degenerate, if it is.
    rankers, curves, seconds
        By loss, if there is one split: the f-ranker, what every threshold would have given on the test queries, and how
        long training took (None if it was there already).
    queries
        How many there were to learn from, to validate and to test, in the first split.
    left_out
        What was not learnt from, and what could not be compared.
    scale
        Labels and gains.
    settings
        What repeats it.
    """

    models: tuple[str, ...]
    scores: Scores
    tests: Comparison
    splits: pl.DataFrame
    rankers: Mapping[str, FRanker]
    curves: Mapping[str, ThresholdCurve]
    seconds: Mapping[str, float | None]
    queries: tuple[int, int, int]
    left_out: tuple[Note, ...]
    scale: Scale
    settings: results.Settings

    @property
    def measure(self) -> str:
        """What models are trained, cut and compared for."""
        return f"nDCGf@{self.settings['cutoff']}"

    @property
    def repeats(self) -> int:
        """How many splits of the queries there are."""
        return self.splits.height // len(self.models)

    def threshold(self, model: str) -> float | None:
        """Where a model cuts, the median over the splits; None for baselines and cuts by query."""
        found = self.to_frame().filter(pl.col("model") == model)["threshold"]
        return float(found[0]) if len(found) and found[0] is not None else None

    def verdict(self) -> str:
        """The model with the highest nDCGf, and how many others it is significantly better than."""
        rows = self.to_frame()
        means = rows[self.measure].to_numpy()
        best = int(np.argmax(means))
        where, spread = f"on the {self.queries[2]} test queries", ""
        if self.repeats > 1:
            where = f"over {self.repeats} splits of the queries"
            spread = f" ± {rows['spread'][best]:.4f}, is the best in {rows['best'][best]} of them,"
        beaten = int(self._better()[best].sum())
        return (
            f"{self.models[best]} has the highest {self.measure} {where}, {means[best]:.4f}{spread or ','} and is "
            f"significantly better than {beaten} of {len(self.models) - 1} other models."
        )

    def _better(self) -> Any:
        return self.tests[self.measure].better(self.settings["alpha"])

    def tables(self) -> tuple[Table, ...]:
        """One row per model; after nDCGf, the models that it is significantly better than. Then one row per split."""
        letters = [chr(ord("a") + at) for at in range(len(self.models))]
        beaten = ["".join(letter for letter, won in zip(letters, row, strict=True) if won) for row in self._better()]
        first, *others = self.scores.measures
        frame = self.to_frame().with_columns(letter=pl.Series(letters), beaten=pl.Series(beaten))
        headers = {"letter": "", "model": "model", first: first}
        headers |= {"spread": "±", "best": "best"} if self.repeats > 1 else {}
        headers |= {"beaten": "", **{name: name for name in (*others, "threshold")}}
        headers |= {"degenerate": ""} if frame["degenerate"].null_count() < frame.height else {}
        means = self.scores.summary()[0]
        best = frozenset((int(at), 2) for at in np.flatnonzero(means == means.max()))
        models = Table.of("models", frame.select(list(headers)), headers, best=best)
        return (models, Table.of("splits", self.splits)) if self.repeats > 1 else (models,)

    def compact(self) -> tuple[Table, ...]:
        """The models."""
        return self.tables()[:1]

    def _notes(self) -> list[Note]:
        correction = self.settings["correction"]
        corrected = "" if correction == "none" else f" after the correction {correction}"
        # Test queries that were given are the same in every split, and the tests are over them.
        drawn = self.repeats > 1 and len(self.scores.topics) > self.queries[2]
        shared = ", corrected for the training queries that splits share" if drawn else " over the test queries"
        text = (
            f"The letters after {self.measure} name the models it is significantly better than (paired t-test{shared}, "
            f"p < {self.settings['alpha']:g}{corrected}); JSON and to_dict() have all tests."
        )
        notes = [Note("letters", self.measure, text)]
        if self.repeats > 1:
            text = (
                f"± is the standard deviation over the {self.repeats} splits, best in how many of them a model has the "
                "highest mean; thresholds are medians."
            )
            notes.append(Note("splits", self.measure, text))
        else:
            text = (
                "This is one split and one seed; others may give another order: compare over several seeds and folds."
            )
            notes.append(Note("one-split", self.measure, text))
        marked = self.splits.drop_nulls("degenerate").group_by("model", "degenerate", maintain_order=True).len()
        for how in marked["degenerate"].unique(maintain_order=True):
            rows = marked.filter(pl.col("degenerate") == how)
            often = f", in so many of {self.repeats} splits" if self.repeats > 1 else ""
            names = [f"{model} {n}" if self.repeats > 1 else model for model, n in rows.select("model", "len").rows()]
            notes.append(Note("degenerate", how, f"A model that {how}{often}: {', '.join(names)}."))
        return [*notes, *self.left_out, *without_forbidden(self.scale)]

    def to_frame(self) -> pl.DataFrame:
        """One row per model: its means on the test queries, its threshold, its validation nDCGf.

        Over several splits also the spread of nDCGf (standard deviation), in how many splits it is the best, and in how
        many it is degenerate, and how.
        """
        each = self.splits.with_columns(
            won=pl.col(self.measure) == pl.col(self.measure).max().over("seed", "fold"),
            how=pl.when(pl.col("degenerate").is_not_null()).then(
                pl.format("{} ({})", "degenerate", pl.len().over("model", "degenerate"))
                if self.repeats > 1
                else pl.col("degenerate")
            ),
        )
        rows = each.group_by("model", maintain_order=True).agg(
            pl.col(self.measure).std().alias("spread"),
            pl.col("won").sum().cast(pl.Int64).alias("best"),
            pl.col("threshold").median(),
            pl.col("validation").mean(),
            pl.col("how").drop_nulls().unique(maintain_order=True).str.join(", ").alias("degenerate"),
        )
        means = dict(zip(self.scores.measures, self.scores.summary(), strict=True))
        return rows.select(
            "model",
            *(pl.Series(name, values) for name, values in means.items()),
            *("threshold", "validation", "spread", "best"),
            pl.col("degenerate").replace("", None),
        )

    def _content(self) -> dict[str, Any]:
        return {
            "models": self.to_frame().to_dicts(),
            "splits": self.splits.to_dicts(),
            "tests": self.tests.to_frame().to_dicts(),
            "seconds": dict(self.seconds),
            "queries": dict(zip(("training", "validation", "test"), self.queries, strict=True)),
            "gains": self.scale.to_dict(),
        }

    def chart(self) -> Chart:
        """Draw nDCGf against the threshold, one panel per loss, as their scores have nothing in common.

        Below, forbidden shown against good filtered. Of several splits, draw the nDCGf of every model in each.
        """
        if self.repeats > 1:
            return _spread(self.splits, self.models, self.measure)
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
        alt.Chart(lines)
        .mark_line(opacity=0.6)
        .encode(x=x, y=y, color=colour, order=alt.Order("kept:Q"), tooltip=hints),
        trained.mark_point(filled=True, size=90, opacity=1).encode(color=colour),
        baselines.mark_point(size=60, color="#333333", shape="diamond", opacity=1),
        baselines.mark_text(align="left", dx=8, dy=-6, color="#333333").encode(text=alt.Text("model:N")),
    ).properties(width=WIDTH, height=HEIGHT)


def _points(loss: str, curve: ThresholdCurve) -> pl.DataFrame:
    at = curve.thinned(_POINTS)
    columns = ("threshold", "kept", "score", "forbidden", "filtered_good")
    return curve.to_frame()[np.asarray(at)].select(pl.lit(loss).alias("model"), *columns)


def _spread(splits: pl.DataFrame, models: tuple[str, ...], measure: str) -> Chart:
    """One dot per split and model, and a tick at the mean."""
    alt = load_altair()
    frame = splits.select("seed", "fold", "model", pl.col(measure).alias("value"))
    y = alt.Y("model:N", title=None, sort=list(models))
    x = alt.X("value:Q", title=measure, scale=alt.Scale(zero=False))
    hints = ["model:N", "seed:O", "fold:O", alt.Tooltip("value:Q", title=measure, format=".4f")]
    dots = alt.Chart(frame).mark_circle(size=40, opacity=0.5, color=COLOURS[0]).encode(x=x, y=y, tooltip=hints)
    mean = alt.X("mean(value):Q", title=measure, scale=alt.Scale(zero=False))
    means = alt.Chart(frame).mark_tick(thickness=3, size=18, color="#333333").encode(x=mean, y=y)
    size = {"width": WIDTH, "height": 24 * len(models)}
    return styled(alt.layer(dots, means).properties(**size), f"{measure} on the test queries of every split")
