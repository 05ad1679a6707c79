"""What the agreement of measures looks like: ranks by two measures, and a map of many."""

from __future__ import annotations

from collections.abc import Sequence

from gainful import _polars as pl
from gainful.charts import COLOURS, DIVERGING, HEIGHT, SEQUENTIAL, WIDTH, load_altair, point_labels, styled, tips
from gainful.results import Chart

# How many of the runs that moved most are named.
_NAMED = 5


def ranks_chart(first: str, second: str, moves: Sequence[tuple[str, float, float]], *, title: str) -> Chart:
    """The rank of each run by two measures; `moves` are runs and their two ranks, those that moved most first."""
    alt = load_altair()
    labels = [system if at < _NAMED and one != other else "" for at, (system, one, other) in enumerate(moves)]
    systems, ones, others = zip(*moves, strict=True)
    last, side = len(moves), HEIGHT * 1.3
    frame = pl.DataFrame({"system": systems, "first": ones, "second": others, "label": labels}).with_columns(
        pl.col("first", "second").cast(pl.Float64)
    )
    low, high = 0.5 - last / 50, 0.5 + last * 1.02
    scale = {"domain": [low, high], "nice": False}
    step = next(step for step in (1, 5, 10, 50, 100, last) if last <= 12 * step)
    axis = alt.Axis(values=[1, *range(step, last + 1, step)], format="d")
    titles = {"first": f"rank by {first}", "second": f"rank by {second}"}
    axes = {
        "x": alt.X("first:Q", title=titles["first"], scale=alt.Scale(**scale), axis=axis),
        "y": alt.Y("second:Q", title=titles["second"], scale=alt.Scale(**scale, reverse=True), axis=axis),
    }
    tooltip = tips("system:N", *((f"{name}:Q", title) for name, title in titles.items()))
    points = alt.Chart(frame).mark_circle(size=45, opacity=0.8, color=COLOURS[0]).encode(**axes, tooltip=tooltip)
    # Names keep off the diagonal, as they keep off points.
    along = pl.Series(range(4 * last), dtype=pl.Float64) / 4
    places = pl.concat([frame.drop("system"), pl.DataFrame({"first": along, "second": along, "label": ""})])
    left, top = ((pl.col(name) - low) / (high - low) * side for name in ("first", "second"))
    names = point_labels(places.with_columns(left=left, top=top), **axes, side=(side, side), most=_NAMED)
    ends = pl.DataFrame({"first": [1, last], "second": [1, last]})
    same = alt.Chart(ends).mark_line(strokeDash=[4, 4], color="#888888").encode(**axes)
    return styled(alt.layer(same, points, names).properties(width=side, height=side), title)


def map_chart(frame: pl.DataFrame, *, what: str, high_is_far: bool, ends: tuple[str, str], title: str) -> Chart:
    """One cell with its number per pair of measures: measure, other, value, low, high; `ends` names the last two."""
    alt = load_altair()
    defined = frame["value"].fill_nan(None).drop_nulls()
    ends_of = (float(defined.min()), float(defined.max())) if len(defined) else (0.0, 1.0)  # type: ignore[arg-type]
    # The same colours say the same in every chart: small differences shall not look large.
    top = max(ends_of[1], 1e-12) if high_is_far else 1.0
    if ends_of[0] < 0.0:  # blue where orders agree, orange where they are reversed
        scale, dark = alt.Scale(scheme=DIVERGING, domain=[-1.0, 1.0], reverse=True), alt.expr.abs(alt.datum.value) > 0.8
    else:
        scale, dark = alt.Scale(scheme=SEQUENTIAL, domain=[0.0, top]), alt.datum.value > 0.6 * top
    order = frame["measure"].unique(maintain_order=True).to_list()
    axes = {
        "x": alt.X("measure:N", title=None, sort=order, axis=alt.Axis(labelAngle=-30, grid=False)),
        "y": alt.Y("other:N", title=None, sort=order, axis=alt.Axis(grid=False)),
    }
    base, numbers = alt.Chart(frame), {"value": what, "low": ends[0], "high": ends[1]}
    cells = base.mark_rect().encode(
        **axes,
        color=alt.Color("value:Q", title=what, scale=scale),
        tooltip=tips("measure:N", ("other:N", "with"), *((f"{n}:Q", title, ".4f") for n, title in numbers.items())),
    )
    text = base.mark_text(fontSize=12).encode(
        **axes,
        text=alt.Text("value:Q", format=".3f"),
        color=alt.condition(dark, alt.value("white"), alt.value("black")),
    )
    side = max(WIDTH * 0.75, 44.0 * len(order))
    return styled(alt.layer(cells, text).properties(width=side, height=side * 0.75), title)
