"""Figures of one panel per collection, or a row of them: lines and dots told apart by colour and by shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gainful import _polars as pl
from gainful.charts import BANDS, COLOURS, DASHES, SHAPES, load_altair, styled
from gainful.results import Chart

# Of a panel; of one that stands alone, more.
_SIZE, _ALONE = (240, 190), (440, 280)
# Panels side by side, where nothing but the collection tells them apart.
_ACROSS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One axis of all panels."""

    field: str
    title: str
    domain: tuple[float, float] | None = None  # from where to where; as the data have it if not given
    format: str = ""  # how numbers are written
    zero: bool = False  # whether it begins at 0
    whole: bool = False  # whether there are whole numbers only
    tight: bool = False  # whether it ends where the data do
    own: bool = False  # whether every panel has its own scale
    reverse: bool = False  # whether it runs from the highest to the lowest

    def encode(self, alt: Any, channel: str) -> Any:
        """As Altair says it."""
        settings: dict[str, Any] = {"zero": self.zero, "nice": not self.tight, "reverse": self.reverse}
        if self.domain is not None:
            settings["domain"] = list(self.domain)
        axis = alt.Axis(format="d", tickMinStep=1) if self.whole else alt.Axis(format=self.format)
        return getattr(alt, channel)(f"{self.field}:Q", title=self.title, scale=alt.Scale(**settings), axis=axis)


def panels(
    frame: pl.DataFrame,
    *,
    title: str,
    x: Axis,
    y: Axis,
    by: str,
    column: str | None = None,
    titled: bool = False,
    mark: Literal["line", "dots", "steps"] = "line",
    level: float | None = None,
    diagonal: bool = False,
    names: Sequence[str] | None = None,
    band: tuple[str, str] | None = None,
    tooltip: Sequence[str] = (),
) -> Chart:
    """Draw lines or dots of a long frame: one panel per collection, with `column` a row of them, one per value of it.

    Colours and dashes tell apart what is in `by`, in the order of `names`. Where `titled`, titles say what a legend
    would. A `level` line, the line x = y (`diagonal`) and a `band` between two columns stand behind; `tooltip` has more
    columns to tell when pointed at.
    """
    alt = load_altair()
    frame = frame.fill_nan(None)  # NaN is no place on an axis
    names = listed(frame, by) if names is None else list(names)
    rows = frame["collection"].n_unique()
    columns = frame[column].n_unique() if column else 1
    width, height = _ALONE if rows == columns == 1 else _SIZE
    legend = {"legend": None} if titled else {}
    solid = {"legend": alt.Legend(symbolOpacity=1, symbolType="stroke")} if band else {}  # not that of the band
    color = _key(alt, "Color", by, names, **{**solid, **legend})
    base = alt.Chart(frame).encode(x=x.encode(alt, "X"), y=y.encode(alt, "Y"), color=color)
    tips = [
        alt.Tooltip(f"{name}:N" if frame[name].dtype == pl.String else name) for name in dict.fromkeys([by, *tooltip])
    ]
    tips += [alt.Tooltip(f"{axis.field}:Q", title=axis.title, format=axis.format or ".4~g") for axis in (x, y)]
    if mark == "dots":
        drawn = base.mark_point(filled=True, size=32, opacity=0.75).encode(
            shape=_key(alt, "Shape", by, names, **legend)
        )
    else:
        drawn = base.mark_line(strokeWidth=2, interpolate="step-before" if mark == "steps" else "linear").encode(
            strokeDash=_key(alt, "StrokeDash", by, names, **legend)
        )
    layers = [drawn.encode(tooltip=tips)]
    faint = {"strokeDash": [4, 4], "color": "#777777", "strokeWidth": 1}
    # One row per panel: a rule per row of the frame would be drawn hundreds of times.
    once = alt.Chart(frame).transform_aggregate(rows="count()", groupby=["collection", *([column] if column else [])])
    if band is not None and frame[band[0]].is_not_null().any():
        edges = {"y": alt.Y(f"{band[0]}:Q", title=y.title), "y2": alt.Y2(f"{band[1]}:Q")}
        if len(names) <= BANDS:
            layers.insert(0, base.mark_area(opacity=0.15).encode(**edges))
        else:  # bands would hide each other: lines side by side
            for at, name in enumerate(names):
                bar, beside = base.transform_filter(alt.datum[by] == name), 3 * (at - (len(names) - 1) / 2)
                layers.insert(0, bar.mark_rule(strokeWidth=1.5, opacity=0.6, xOffset=beside).encode(**edges))
    if level is not None:
        layers.insert(0, once.mark_rule(**faint).encode(y=alt.datum(level)))
    if diagonal:
        values = pl.concat([frame[x.field], frame[y.field]])
        low, high = alt.datum(values.min()), alt.datum(values.max())
        layers.insert(0, once.mark_rule(**faint).encode(x=low, y=low, x2=high, y2=high))
    whole = alt.layer(*layers).properties(width=width, height=height)
    # Also of one collection: others of the study may not allow the figure.
    if titled or columns == 1:
        wrapped, across = (column, columns // rows) if titled and column else ("collection", _ACROSS)
        facet = alt.Facet(f"{wrapped}:N", title=None, sort=listed(frame, wrapped), header=alt.Header(labelLimit=width))
        whole = whole.facet(facet, columns=across)
    else:
        across, down = alt.Header(labelLimit=width), alt.Header(labelLimit=height)
        row = alt.Row("collection:N", title=None, sort=listed(frame, "collection"), header=down)
        named = alt.Column(f"{column}:N", title=None, sort=listed(frame, str(column)), header=across)
        whole = whole.facet(row=row, column=named)
    whole = whole.resolve_scale(**{name: "independent" for name, axis in (("x", x), ("y", y)) if axis.own})
    return styled(whole, title)


def listed(frame: pl.DataFrame, column: str) -> list[str]:
    """What there is in a column, as it comes: without it, panels would stand in the order of the alphabet."""
    return list(dict.fromkeys(frame[column]))


def _key(alt: Any, channel: str, field: str, names: list[str], **further: Any) -> Any:
    values: dict[str, Sequence[Any]] = {"Color": COLOURS, "StrokeDash": DASHES, "Shape": SHAPES}
    marks = [values[channel][at % len(values[channel])] for at in range(len(names))]
    scale = alt.Scale(domain=names, range=marks)
    return getattr(alt, channel)(f"{field}:N", title=None, sort=names, scale=scale, **further)
