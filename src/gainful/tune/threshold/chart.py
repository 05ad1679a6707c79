"""The chart of a threshold: the measure above, what it costs below, over the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gainful import _polars as pl
from gainful.charts import COLOURS, GREY, HEIGHT, WIDTH, end_labels, load_altair, styled
from gainful.results import Chart

if TYPE_CHECKING:
    from gainful.tune.threshold.tradeoff import ThresholdCurve

# More points than this on a curve cannot be seen.
_POINTS = 200


def draw(curve: ThresholdCurve, chosen: int | None = None, interval: tuple[float, float] | None = None) -> Chart:
    """Draw the curves, with a threshold marked."""
    alt = load_altair()
    at = curve.thinned(_POINTS, chosen)
    change = curve.changes()
    low, high = (curve.thresholds[change[-1]], curve.thresholds[1]) if len(change) else curve.thresholds[[-1, 1]]
    margin = 0.04 * (high - low) or 1.0
    left, right = float(low - margin), float(high + margin)
    points = curve.to_frame()[at].with_columns(x=pl.Series(np.clip(curve.thresholds[at], left, right)))
    scale = alt.Scale(domain=[left, right], nice=False)
    x = alt.X("x:Q", scale=scale, title=None)
    score = alt.Y("score:Q", title=curve.measure, scale=alt.Scale(zero=False))
    hints = [
        alt.Tooltip("threshold:Q", title="threshold", format=".6~g"),
        alt.Tooltip("kept:Q", title="documents kept", format=","),
        alt.Tooltip("score:Q", title=curve.measure, format=".4f"),
        alt.Tooltip("forbidden:Q", title=curve.forbidden_label, format=".1%"),
        alt.Tooltip("filtered_good:Q", title="FilteredGood", format=".1%"),
        alt.Tooltip("empty:Q", title="Empty", format=".1%"),
    ]
    line = {"interpolate": "step-before", "clip": True}  # the value up to a threshold is the one at it
    above: list[Any] = []
    if interval is not None:
        ends = np.clip(interval, left, right)
        span = pl.DataFrame({"from": [float(ends[0])], "to": [float(ends[1])]})
        band = alt.Chart(span).mark_rect(color=COLOURS[0], opacity=0.12)
        above.append(band.encode(x=alt.X("from:Q", scale=scale), x2=alt.X2("to:Q")))
    measured = alt.Chart(points)
    above.append(measured.mark_line(color=COLOURS[0], **line).encode(x=x, y=score))
    above.append(measured.mark_point(opacity=0, size=60).encode(x=x, y=score, tooltip=hints))
    names = {"forbidden": curve.forbidden_label, "filtered_good": "FilteredGood", "empty": "Empty"}
    long = points.rename(names).unpivot(list(names.values()), index="x", variable_name="what", value_name="share")
    below_x = alt.X("x:Q", scale=scale, title="threshold: documents with at least this score are kept")
    share = alt.Y("share:Q", title="share", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    colours = alt.Scale(domain=list(names.values()), range=COLOURS[1:4])
    colour = alt.Color("what:N", title=None, sort=None, scale=colours, legend=None)
    tooltip = ["what:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("x:Q", title="threshold")]
    last = long.drop_nulls().drop_nans().sort("x", maintain_order=True).group_by("what", maintain_order=True).last()
    below: list[Any] = [
        alt.Chart(long).mark_line(**line).encode(x=below_x, y=share, color=colour, tooltip=tooltip),
        *end_labels(last.select("what", "x", "share"), below_x, share, colour, domain=(0.0, 1.0), height=HEIGHT * 0.5),
    ]
    said = []
    if chosen is not None:
        place = alt.Chart(points.filter(pl.Series(at == chosen)))
        rule = place.mark_rule(strokeDash=[4, 4], color=GREY).encode(x=alt.X("x:Q", scale=scale))
        dot = place.mark_point(filled=True, size=80, color=COLOURS[0], opacity=1)
        above += [rule, dot.encode(x=x, y=score, tooltip=hints)]
        below.append(rule)
        said.append(f"Dashed: the threshold that is best.{' Shaded: its interval.' if interval is not None else ''}")
    both = alt.vconcat(
        alt.layer(*above).properties(width=WIDTH, height=HEIGHT * 0.6),
        alt.layer(*below).properties(width=WIDTH, height=HEIGHT * 0.5),
        spacing=8,
    )
    return styled(both, f"Where to cut {curve.run}", *said)
