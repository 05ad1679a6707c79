"""The figures of Bompada et al. (SIGIR 2007), of any collections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from gainful.charts import COLOURS, load_altair, styled
from gainful.studies.panels import listed

if TYPE_CHECKING:
    import altair

_WIDTH, _HEIGHT = 330, 230
_KNEE = 0.9


def tau_chart(frame: pl.DataFrame, *, title: str, names: list[str]) -> altair.TopLevelMixin:
    """τ against the level, a line a measure with its interval, and a rule at .9; a panel a collection."""
    alt = load_altair()
    y = alt.Y("tau:Q", title="Kendall's τ", scale=alt.Scale(zero=False))
    lines = (
        alt.Chart()
        .mark_line(point=alt.OverlayMarkDef(size=22))
        .encode(
            x=_level(alt),
            y=y,
            color=_colour(alt, names),
            tooltip=[
                "measure:N",
                alt.Tooltip("level:Q", title="share of the judgments", format=".0%"),
                alt.Tooltip("judged:Q", title="judgments left", format=",.0f"),
                alt.Tooltip("tau:Q", title="τ", format=".3f"),
                alt.Tooltip("low:Q", title="low (95%)", format=".3f"),
                alt.Tooltip("high:Q", title="high", format=".3f"),
            ],
        )
    )
    band = (
        alt.Chart()
        .mark_area(opacity=0.15)
        .encode(x=_level(alt), y=alt.Y("low:Q"), y2="high:Q", color=_colour(alt, names))
    )
    rule = alt.Chart().mark_rule(strokeDash=[4, 4], color="#555555").encode(y=alt.datum(_KNEE))
    some = frame["low"].is_not_nan().any()
    layers = alt.layer(*((rule, band, lines) if some else (rule, lines)), data=frame.fill_nan(None))
    chart = layers.properties(width=_WIDTH, height=_HEIGHT).facet(
        facet=alt.Facet("collection:N", title=None, sort=listed(frame, "collection")), columns=2
    )
    return styled(chart, title)


def decisions_chart(frame: pl.DataFrame, *, names: list[str]) -> altair.TopLevelMixin:
    """Accuracy and g-mean against the level, a line a measure; a row of two panels a collection."""
    alt = load_altair()
    long = frame.unpivot(
        index=["collection", "measure", "level"], on=["accuracy", "g-mean"], variable_name="what", value_name="share"
    ).fill_nan(None)
    lines = (
        alt.Chart()
        .mark_line(point=alt.OverlayMarkDef(size=22))
        .encode(
            x=_level(alt),
            y=alt.Y("share:Q", title=None, scale=alt.Scale(zero=False)),
            color=_colour(alt, names),
            tooltip=[
                "measure:N",
                alt.Tooltip("level:Q", title="share of the judgments", format=".0%"),
                alt.Tooltip("what:N", title=" "),
                alt.Tooltip("share:Q", title="value", format=".3f"),
            ],
        )
    )
    rule = alt.Chart().mark_rule(strokeDash=[4, 4], color="#555555").encode(y=alt.datum(_KNEE))
    chart = (
        alt.layer(rule, lines, data=long)
        .properties(width=_WIDTH, height=_HEIGHT)
        .facet(
            column=alt.Column("what:N", title=None),
            row=alt.Row("collection:N", title=None, sort=listed(frame, "collection")),
        )
    )
    return styled(chart, "How far pairs of runs are decided as under all judgments")


def _level(alt: Any) -> Any:
    return alt.X(
        "level:Q",
        title="share of the judgments that is kept",
        axis=alt.Axis(format="%"),
        scale=alt.Scale(domain=[0, 1]),
    )


def _colour(alt: Any, names: list[str]) -> Any:
    scale = alt.Scale(domain=names, range=[COLOURS[at % len(COLOURS)] for at in range(len(names))])
    return alt.Color("measure:N", scale=scale, legend=alt.Legend(title="measure", symbolOpacity=1))
