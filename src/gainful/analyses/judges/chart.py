"""What judges look like beside each other: labels, orders of runs, bias, and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.judges.conclusions import Conclusion
from gainful.analyses.judges.labels import Agreement
from gainful.charts import COLOURS, SEQUENTIAL, load_altair, point_labels, styled, tips
from gainful.results import Chart

_SIDE = 260
# Height of a run's row, and runs that are drawn: of more, those at either end.
_ROW, _MOST = 14, 40
# Runs named that change places most.
_NAMED = 3


def together(parts: Sequence[Any], title: str) -> Chart:
    """Some charts in one, two in a row."""
    alt = load_altair()
    return styled(alt.concat(*parts, columns=2).resolve_scale(color="independent"), title)


def alone(part: Any) -> Chart:
    """One of the charts, in the house's look."""
    return styled(part, part.title)


def confusion(found: Agreement, labels: Sequence[float]) -> Any:
    """How often the second judge gave a label (columns) where the first gave another (rows), as shares of a row."""
    alt = load_altair()
    rows = found.counts.sum(axis=1, keepdims=True)
    share = found.counts / np.maximum(rows, 1.0)
    cells = [
        {"first": f"{one:g}", "second": f"{other:g}", "documents": int(found.counts[i, j]), "share": share[i, j]}
        for i, one in enumerate(labels)
        for j, other in enumerate(labels)
    ]
    order = [f"{label:g}" for label in labels]
    axes = {
        "x": alt.X("second:N", title=f"label of {found.second}", sort=order, axis=alt.Axis(labelAngle=0, grid=False)),
        "y": alt.Y("first:N", title=f"label of {found.first}", sort=order[::-1], axis=alt.Axis(grid=False)),
    }
    base = alt.Chart(pl.DataFrame(cells))
    squares = base.mark_rect().encode(
        **axes,
        color=alt.Color("share:Q", title="share of row", scale=alt.Scale(scheme=SEQUENTIAL, domain=[0, 1])),
        tooltip=tips(
            ("first:N", found.first), ("second:N", found.second), "documents:Q", ("share:Q", "share of row", ".3f")
        ),
    )
    text = base.mark_text(fontSize=11).encode(
        **axes,
        text=alt.Text("documents:Q"),
        color=alt.condition("datum.share > 0.6", alt.value("white"), alt.value("black")),
    )
    return alt.layer(squares, text).properties(width=_SIDE, height=_SIDE, title="Labels of documents judged by both")


def order(found: Conclusion, first: str) -> Any:
    """The mean of each run under both judges, named where it changes places; points rise where the orders agree."""
    alt = load_altair()
    columns = {"first": found.means[0], "second": found.means[1], "rank": found.ranks[0], "other": found.ranks[1]}
    frame = pl.DataFrame({"run": found.systems, **columns})
    axes = {
        "x": alt.X("first:Q", title=f"{found.measure} by {first}", scale=alt.Scale(zero=False)),
        "y": alt.Y("second:Q", title=f"{found.measure} by {found.judge}", scale=alt.Scale(zero=False)),
    }
    shown = tips("run:N", ("rank:Q", f"rank by {first}"), ("other:Q", f"rank by {found.judge}"))
    points = alt.Chart(frame).mark_circle(size=60, color=COLOURS[0]).encode(**axes, tooltip=shown)
    places = (frame["rank"] - frame["other"]).abs()
    moved = frame.filter(places >= 1).sort(places.filter(places >= 1), descending=True).head(_NAMED)
    frame = pl.concat([moved, frame.join(moved, on="run", how="anti", maintain_order="left")])
    wide = {name: pl.col(name) - pl.col(name).min() for name in ("first", "second")}
    left, up = (_SIDE * each / pl.max_horizontal(each.max(), 1e-12) for each in wide.values())
    placed = frame.with_columns(left=left, top=_SIDE - up)
    names = point_labels(placed.rename({"run": "label"}), **axes, side=(_SIDE, _SIDE), most=moved.height)
    title = f"Runs under both judges, τ_b {found.tau_b:.2f}"
    return alt.layer(points, names).properties(width=_SIDE, height=_SIDE, title=title)


def bias(found: Conclusion) -> Any:
    """The bias of each run with its interval, the most favoured at the top."""
    alt = load_altair()
    frame = pl.DataFrame({"run": found.systems, "bias": found.bias, "low": found.bias_low, "high": found.bias_high})
    frame = _ends(frame.sort("bias", descending=True))
    y = alt.Y("run:N", title=None, sort=frame["run"].to_list())
    base = alt.Chart(frame)
    shown = tips("run:N", *((f"{name}:Q", name, "+.4f") for name in ("bias", "low", "high")))
    x = alt.X("low:Q", title=f"bias in {found.measure}, with its interval")
    lines = base.mark_rule(strokeWidth=2, color=COLOURS[0]).encode(y=y, x=x, x2=alt.X2("high:Q"))
    points = base.mark_circle(size=45, opacity=1, color=COLOURS[0]).encode(y=y, x=alt.X("bias:Q"), tooltip=shown)
    zero = alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(strokeDash=[4, 4], color="#888888").encode(x=alt.X("x:Q"))
    title = f"Whom {found.judge} favours, by {found.measure}"
    return alt.layer(zero, lines, points).properties(width=_SIDE, height=max(_SIDE, _ROW * frame.height), title=title)


def widths(found: Conclusion, first: str) -> Any:
    """The interval of each run's mean from the first judge's topics alone, and with the other judge's."""
    alt, powered = load_altair(), found.predicted
    assert powered is not None
    alone, both = f"{first} alone", f"with {found.judge}"
    parts = [
        pl.DataFrame({"run": found.systems, "labels": labels, "mean": mean, "low": low, "high": high})
        for labels, mean, low, high in (
            (alone, powered.mean_alone, powered.low_alone, powered.high_alone),
            (both, powered.mean, powered.low, powered.high),
        )
    ]
    order = _ends(parts[1].sort("mean", descending=True))["run"].to_list()
    frame = pl.concat(parts).filter(pl.col("run").is_in(order))
    y = alt.Y("run:N", title=None, sort=order)
    colour = alt.Color("labels:N", title="labels", sort=[alone, both], scale=alt.Scale(range=list(COLOURS[1::-1])))
    offset = alt.YOffset("labels:N", sort=[alone, both])
    base = alt.Chart(frame)
    shown = tips("run:N", "labels:N", *((f"{name}:Q", name, ".4f") for name in ("mean", "low", "high")))
    x = alt.X("low:Q", title=f"mean {found.measure}, with its interval", scale=alt.Scale(zero=False))
    lines = base.mark_rule(strokeWidth=2).encode(y=y, yOffset=offset, color=colour, x=x, x2=alt.X2("high:Q"))
    points = base.mark_circle(size=45, opacity=1).encode(
        y=y, yOffset=offset, color=colour, x=alt.X("mean:Q"), tooltip=shown
    )
    height = max(_SIDE, 2 * _ROW * len(order))
    return alt.layer(lines, points).properties(width=_SIDE, height=height, title="Intervals of means")


def _ends(frame: pl.DataFrame) -> pl.DataFrame:
    """At most so many rows: those at either end."""
    return frame if frame.height <= _MOST else pl.concat([frame.head(_MOST // 2), frame.tail(_MOST // 2)])
