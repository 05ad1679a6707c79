"""The charts of `ltrf compare`: where each model cuts, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from gainful.charts import COLOURS, HEIGHT, WIDTH, load_altair, styled
from gainful.data.scores import Scores
from gainful.tune.threshold.tradeoff import ThresholdCurve

if TYPE_CHECKING:
    import altair

_POINTS = 200
_COLUMNS = 3


def draw(
    curves: Mapping[str, ThresholdCurve], thresholds: Mapping[str, float], scores: Scores, measure: str
) -> altair.TopLevelMixin:
    """Draw nDCGf against the threshold, one panel per loss, as scores have nothing in common; below, the trade-off."""
    alt = load_altair()
    losses = list(curves)
    colour = alt.Color("model:N", title=None, sort=losses, scale=alt.Scale(domain=losses, range=COLOURS[: len(losses)]))
    panels = [_panel(loss, curves[loss], thresholds[loss], measure, COLOURS[at]) for at, loss in enumerate(losses)]
    rows = [alt.hconcat(*panels[at : at + _COLUMNS]) for at in range(0, len(panels), _COLUMNS)]
    below = _trade_off(curves, scores, measure, colour)
    return styled(alt.vconcat(*rows, below, spacing=20), f"{measure} on test queries, and what filtering costs")


def _panel(loss: str, curve: ThresholdCurve, threshold: float, measure: str, colour: str) -> altair.LayerChart:
    alt = load_altair()
    points = _points(loss, curve).filter(pl.col("threshold").is_finite())
    x = alt.X("threshold:Q", title="threshold", scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(tickCount=5))
    layers = [
        alt.Chart(points)
        .mark_line(interpolate="step-before", color=colour)
        .encode(
            x=x,
            y=alt.Y("score:Q", title=measure, scale=alt.Scale(zero=False)),
            tooltip=[
                alt.Tooltip("threshold:Q", format=".4~g"),
                alt.Tooltip("score:Q", title=measure, format=".4f"),
            ],
        )
    ]
    if math.isfinite(threshold):
        place = alt.Chart(pl.DataFrame({"threshold": [threshold]}))
        layers.append(place.mark_rule(strokeDash=[4, 4], color="#555555").encode(x=x))
    size = {"width": WIDTH * 0.38, "height": HEIGHT * 0.45}
    panel: altair.LayerChart = alt.layer(*layers).properties(title=loss, **size)
    return panel


def _trade_off(
    curves: Mapping[str, ThresholdCurve], scores: Scores, measure: str, colour: altair.Color
) -> altair.LayerChart:
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
    chart: altair.LayerChart = alt.layer(
        alt.Chart(lines).mark_line(opacity=0.6).encode(x=x, y=y, color=colour, order="kept:Q", tooltip=hints),
        trained.mark_point(filled=True, size=90, opacity=1).encode(color=colour),
        baselines.mark_point(size=60, color="#333333", shape="diamond", opacity=1),
        baselines.mark_text(align="left", dx=8, dy=-6, color="#333333").encode(text="model:N"),
    ).properties(width=WIDTH, height=HEIGHT)
    return chart


def _points(loss: str, curve: ThresholdCurve) -> pl.DataFrame:
    at = curve.thinned(_POINTS)
    columns = ("threshold", "kept", "score", "forbidden", "filtered_good")
    return curve.to_frame()[np.asarray(at)].select(pl.lit(loss).alias("model"), *columns)
