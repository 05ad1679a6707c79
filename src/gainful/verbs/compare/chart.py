"""The chart of a comparison: means and places of the runs with their intervals, or differences from a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gainful import _polars as pl
from gainful.charts import COLOURS, GREY, WIDTH, load_altair, row_height, styled, tips
from gainful.results import Chart
from gainful.verbs.compare.verdict import few_topics

if TYPE_CHECKING:
    from gainful.verbs.compare.result import Comparison


def comparison_chart(found: Comparison) -> Chart:
    """One panel per measure, the best run by the first one on top; with the places, if there are more than two runs."""
    alt = load_altair()
    order = found.contrasts[0].order()
    rows = pl.DataFrame({"run": [found.systems[at] for at in order], "row": np.arange(len(order))})
    confidence = f"{100 * found.settings['confidence']:.6g}% confidence interval"
    title = "mean" if found.baseline is None else "difference"
    frame = found.means() if found.baseline is None else found.to_frame()
    frame = _ordered(frame.select("measure", "run", pl.col(title).alias("value"), "low", "high"), rows)
    scale = alt.Scale(zero=found.baseline is not None)
    axis = alt.X("low:Q", title=f"{title}, {confidence} ({found.settings['interval']})", scale=scale)
    layers = _intervals(frame, axis, alt.ColorValue(COLOURS[0]), ".4f")
    if found.baseline is not None:
        layers.insert(0, alt.Chart(frame).mark_rule(strokeDash=[4, 4], color=GREY).encode(x=alt.XDatum(0)))
    heading = "Runs and their means" if found.baseline is None else f"Runs against the baseline {found.baseline}"
    about = "of each run by itself" if found.baseline is None else "of each pair by itself"
    several = [f"Intervals are {about}, not corrected for many."] if len(found.systems) > 2 else []
    panels = _panels(found, layers, WIDTH)
    if found.baseline is None and len(found.systems) > 2:
        panels = alt.hconcat(panels, _places(found, rows, confidence))
    return styled(panels, alt.Title(heading, subtitle=[*several, *map(str, few_topics(found))]))


def _places(found: Comparison, rows: pl.DataFrame, confidence: str) -> Any:
    """The place of each run with its interval; in another colour where it may be the best."""
    alt = load_altair()
    columns = {"place": "value", "place_low": "low", "place_high": "high"}
    frame = found.standing().select("measure", "run", "best", "may_be_best", *columns).rename(columns)
    said = pl.when("may_be_best").then(pl.lit("may be best")).otherwise(pl.lit("shown not to be best"))
    frame = _ordered(frame.with_columns(standing=said), rows)
    domain = ["may be best", "shown not to be best"]
    colour = alt.Color("standing:N", title=None, scale=alt.Scale(domain=domain, range=[COLOURS[0], "#888888"]))
    axis = alt.X("low:Q", title=f"place, {confidence}", scale=alt.Scale(zero=False), axis=alt.Axis(tickMinStep=1))
    return _panels(found, _intervals(frame, axis, colour, ".0f", ("best:Q", "best in", ".2f"), named=False), WIDTH // 2)


def _intervals(
    frame: pl.DataFrame, axis: Any, colour: Any, digits: str, *more: tuple[str, str, str], named: bool = True
) -> list[Any]:
    """A dot and a line per run; `named`: with their names, which need not stand twice in a row."""
    alt = load_altair()
    numbers = ((f"{name}:Q", name, digits) for name in ("value", "low", "high"))
    tooltip = tips("measure:N", "run:N", *numbers, *more)
    y = alt.Y("run:N", title=None, sort=None, axis=alt.Axis() if named else alt.Axis(labels=False, ticks=False))
    points = alt.Chart(frame).encode(y=y, color=colour, tooltip=tooltip)
    return [
        points.mark_rule(strokeWidth=2).encode(x=axis, x2=alt.X2("high:Q")),
        points.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X("value:Q")),
    ]


def _panels(found: Comparison, layers: list[Any], width: int) -> Any:
    alt = load_altair()
    measures = [one.measure for one in found.contrasts]
    return (
        alt.layer(*layers)
        .properties(width=width, height=alt.Step(row_height(len(found.systems))))
        .facet(facet=alt.Facet("measure:N", title=None, sort=measures), columns=1)
        .resolve_scale(x="independent", y="independent")
    )


def _ordered(frame: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The best run by the first measure first; an end that is no number is left out."""
    ends = [pl.when(pl.col(name).is_finite()).then(pl.col(name)) for name in ("low", "high")]
    joined = frame.with_columns(pl.col("low", "high").cast(pl.Float64)).with_columns(ends)
    return joined.join(rows, on="run", maintain_order="left").sort("row", maintain_order=True)
