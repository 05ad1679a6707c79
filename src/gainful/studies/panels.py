"""Figures of several panels, a row of them a collection: lines and dots that are told apart by colour and shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from gainful.charts import COLOURS, load_altair, styled

if TYPE_CHECKING:
    import altair

# Of a panel; of one that stands alone, more.
_SIZE, _ALONE = (240, 190), (440, 280)
_DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [14, 4])
_SHAPES = ("circle", "diamond", "square", "triangle-up")


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One axis of all panels.

    Parameters
    ----------
    field, title
        The column, and what people call it.
    domain
        From where to where; as the data have it if not given.
    format
        How numbers are written.
    zero
        Whether it begins at 0.
    tight
        Whether it ends where the data do.
    own
        Whether every panel has its own scale.
    """

    field: str
    title: str
    domain: tuple[float, float] | None = None
    format: str = ""
    zero: bool = False
    tight: bool = False
    own: bool = False

    def encode(self, alt: Any, channel: str) -> Any:
        """As Altair says it."""
        settings: dict[str, Any] = {"zero": self.zero, "nice": not self.tight}
        if self.domain is not None:
            settings["domain"] = list(self.domain)
        axis = alt.Axis(format=self.format) if self.format else alt.Axis()
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
    tooltip: Sequence[str] = (),
) -> altair.TopLevelMixin:
    """Draw lines or dots: a row of panels a collection, a column of panels each value of `column`.

    Parameters
    ----------
    frame
        Long, with a column 'collection'.
    title
        What is seen, in a few words.
    x, y
        The axes.
    by
        What colours and dashes tell apart.
    column
        What stands side by side.
    titled
        Whether the values of `column` are titles, of the collection too, that say what a legend would.
    mark
        Lines, dots, or lines that go in steps.
    level
        Where to draw a level line.
    diagonal
        Whether to draw the line x = y.
    names
        What there is in `by`, in the order of the legend; as it comes in the frame if not given.
    tooltip
        Further columns to tell when pointed at.
    """
    alt = load_altair()
    names = list(dict.fromkeys(frame[by])) if names is None else list(names)
    rows = frame["collection"].n_unique()
    columns = frame[column].n_unique() if column else 1
    width, height = _ALONE if rows == columns == 1 else _SIZE
    legend = {"legend": None} if titled else {}
    color = _key(alt, "Color", by, names, **legend)
    base = alt.Chart(frame).encode(x=x.encode(alt, "X"), y=y.encode(alt, "Y"), color=color)
    told = [alt.Tooltip(f"{name}:N") for name in dict.fromkeys([by, *tooltip])]
    told += [alt.Tooltip(f"{axis.field}:Q", title=axis.title, format=axis.format or ".4~g") for axis in (x, y)]
    if mark == "dots":
        drawn = base.mark_point(filled=True, size=32, opacity=0.75).encode(
            shape=_key(alt, "Shape", by, names, **legend)
        )
    else:
        drawn = base.mark_line(strokeWidth=2, interpolate="step-before" if mark == "steps" else "linear").encode(
            strokeDash=_key(alt, "StrokeDash", by, names, **legend)
        )
    layers = [drawn.encode(tooltip=told)]
    faint = {"strokeDash": [4, 4], "color": "#777777", "strokeWidth": 1}
    # One row a panel: a rule a row of the frame would be drawn hundreds of times.
    once = alt.Chart(frame).transform_aggregate(rows="count()", groupby=["collection", *([column] if column else [])])
    if level is not None:
        layers.insert(0, once.mark_rule(**faint).encode(y=alt.datum(level)))
    if diagonal:
        values = pl.concat([frame[x.field], frame[y.field]])
        low, high = alt.datum(values.min()), alt.datum(values.max())
        layers.insert(0, once.mark_rule(**faint).encode(x=low, y=low, x2=high, y2=high))
    whole = alt.layer(*layers).properties(width=width, height=height)
    if titled and column:
        order = list(dict.fromkeys(frame[column]))
        whole = whole.facet(alt.Facet(f"{column}:N", title=None, sort=order), columns=columns // rows)
    elif rows > 1 or columns > 1:
        places = {"row": ("collection", alt.Row, rows), "column": (column, alt.Column, columns)}
        whole = whole.facet(
            **{
                name: kind(f"{field}:N", title=None, sort=list(dict.fromkeys(frame[field])))
                for name, (field, kind, number) in places.items()
                if field and number > 1
            }
        )
    if titled or rows > 1 or columns > 1:
        whole = whole.resolve_scale(**{name: "independent" for name, axis in (("x", x), ("y", y)) if axis.own})
    return styled(whole, title)


def _key(alt: Any, channel: str, field: str, names: list[str], **further: Any) -> Any:
    values: dict[str, Sequence[Any]] = {"Color": COLOURS, "StrokeDash": _DASHES, "Shape": _SHAPES}
    marks = [values[channel][at % len(values[channel])] for at in range(len(names))]
    scale = alt.Scale(domain=names, range=marks)
    return getattr(alt, channel)(f"{field}:N", title=None, sort=names, scale=scale, **further)
