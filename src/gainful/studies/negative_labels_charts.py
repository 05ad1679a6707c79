"""The figures of Gienapp et al. (CIKM 2020), of any collections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from gainful.charts import COLOURS, load_altair, styled
from gainful.studies.panels import listed

if TYPE_CHECKING:
    import altair

# The paper's key: a line of its own for each.
_MEASURES = ("nDCGmin", "nDCGorg", "nDCG0")
_DASHES = ([1, 0], [6, 3], [2, 2])
# Four cutoffs stand side by side.
_PANEL = 170
_SQUARE = 260


def ranks_chart(frame: pl.DataFrame) -> altair.TopLevelMixin:
    """A dot a run: rank by nDCG0 against rank by nDCGorg; on the diagonal, both agree. A panel a collection."""
    alt = load_altair()
    most = float(frame.select(pl.max_horizontal("nDCGorg", "nDCG0").max()).item())
    scale = alt.Scale(domain=[1, max(most, 2.0)], reverse=True, nice=False)
    dots = (
        alt.Chart()
        .mark_circle(size=45, color=COLOURS[0], opacity=0.8)
        .encode(
            x=alt.X("nDCG0:Q", title="rank by nDCG0", scale=scale, axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("nDCGorg:Q", title="rank by nDCGorg", scale=scale, axis=alt.Axis(tickMinStep=1)),
            tooltip=[
                "run:N",
                alt.Tooltip("nDCGorg:Q", title="rank by nDCGorg"),
                alt.Tooltip("nDCG0:Q", title="rank by nDCG0"),
                alt.Tooltip("nDCGmin:Q", title="rank by nDCGmin"),
            ],
        )
    )
    same = (
        alt.Chart()
        .mark_line(color="#888888", strokeDash=[4, 4])
        .encode(x=alt.X("nDCGorg:Q", scale=scale), y=alt.Y("nDCGorg:Q", scale=scale))
    )
    layers = alt.layer(same, dots, data=frame).properties(width=_SQUARE, height=_SQUARE)
    chart = layers.facet(facet=alt.Facet("collection:N", title=None, sort=listed(frame, "collection")), columns=3)
    return styled(chart, "Ranks of the runs with negative gains and without, the best at the top right")


def error_chart(frame: pl.DataFrame) -> altair.TopLevelMixin:
    """Error rate against the number of topics, a line a measure; a panel a collection and cutoff."""
    alt = load_altair()
    long = frame.unpivot(
        index=["collection", "cutoff", "topics"], on=list(_MEASURES), variable_name="measure", value_name="error"
    )
    lines = (
        alt.Chart(long)
        .mark_line()
        .encode(
            x=alt.X("topics:Q", title="topics drawn", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("error:Q", title="error rate", axis=alt.Axis(format="%")),
            **_key(alt),
            tooltip=["measure:N", "topics:Q", alt.Tooltip("error:Q", title="error rate", format=".2%")],
        )
    )
    return styled(_panels(alt, frame, lines), "Pairs of runs ordered the wrong way, by number of topics")


def power_chart(frame: pl.DataFrame) -> altair.TopLevelMixin:
    """Share of the pairs that differ against the level of significance; a panel a collection and cutoff."""
    alt = load_altair()
    long = frame.unpivot(
        index=["collection", "cutoff", "level"], on=list(_MEASURES), variable_name="measure", value_name="share"
    )
    lines = (
        alt.Chart(long)
        .mark_line()
        .encode(
            x=alt.X("level:Q", title="significance level", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("share:Q", title="share of the pairs", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            **_key(alt),
            tooltip=["measure:N", "level:Q", alt.Tooltip("share:Q", title="pairs that differ", format=".1%")],
        )
    )
    return styled(_panels(alt, frame, lines), "Pairs of runs that differ at a level of significance")


def _key(alt: Any) -> dict[str, Any]:
    names = list(_MEASURES)
    return {
        "color": alt.Color("measure:N", title="measure", scale=alt.Scale(domain=names, range=list(COLOURS[:3]))),
        "strokeDash": alt.StrokeDash("measure:N", title="measure", scale=alt.Scale(domain=names, range=list(_DASHES))),
    }


def _panels(alt: Any, frame: pl.DataFrame, lines: Any) -> Any:
    row = alt.Row("collection:N", title=None, sort=listed(frame, "collection"))
    return lines.properties(width=_PANEL, height=_PANEL).facet(column=alt.Column("cutoff:O", title="cutoff"), row=row)
