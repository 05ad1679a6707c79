"""What becomes of the order of runs as judgments are taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gainful import _polars as pl
from gainful.charts import BANDS, bands, direct, end_labels, level_at, load_altair, sized, styled, tips
from gainful.results import Chart

if TYPE_CHECKING:
    from gainful.analyses.robustness.result import Robustness

_TITLE = "How far runs keep their order when judgments are taken away"
_TAU = "Kendall's τ with the full order"


def draw(found: Robustness) -> Chart:
    """One line per measure, with the band of its interval if there is one; bands of many get panels of their own."""
    alt = load_altair()
    frame = found.to_frame().select("measure", "level", "judged", "tau", "tau_low", "tau_high")
    names, sampled = frame["measure"].unique(maintain_order=True).to_list(), found.taus.shape[2] > 1
    confidence = f"{found.settings['confidence']:.0%} interval"
    said = f"Dashed: τ = 0.9.{f' Band: {confidence}.' if sampled else ''}"
    depth = found.by_depth()
    x = alt.X(
        "level:Q",
        title="pool depth (log scale)" if depth else "judgments kept",
        axis=alt.Axis() if depth else alt.Axis(format="%", tickCount=5),
        scale=alt.Scale(type="log") if depth else alt.Scale(domain=[0, 1]),
    )
    tooltip = tips(
        "measure:N",
        ("level:Q", x["title"], "" if depth else ".0%"),
        ("judged:Q", "judgments left", ",.0f"),
        ("tau:Q", "τ", ".3f"),
        ("tau_low:Q", f"{confidence} from", ".3f"),
        ("tau_high:Q", "to", ".3f"),
    )
    key = None if direct(len(names)) else alt.Legend(symbolOpacity=1)
    colour = alt.Color("measure:N", title="measure", sort=None, scale=alt.Scale(domain=names), legend=key)
    y = alt.Y("tau:Q", title=_TAU, scale=alt.Scale(zero=False))
    if sampled and len(names) > BANDS:
        y["title"], colour["legend"] = "Kendall's τ", None
        layers = _layers(alt.Chart(), x, y, colour, tooltip, banded=True)
        return styled(bands(frame, x, y, layers), _TITLE, said + " Grey: the other measures.", _TAU)
    ends = frame.group_by("measure", maintain_order=True).last().select("measure", "level", "tau")
    low = frame.select(pl.min_horizontal(pl.col("tau", "tau_low").min())).item()
    labels = end_labels(ends.drop_nulls().drop_nans(), x, y, colour, domain=(low or 0.0, 1.0))
    layers = _layers(alt.Chart(frame), x, y, colour, tooltip, banded=sampled)
    return sized(alt.layer(*layers, *labels), _TITLE, said)


def _layers(base: Any, x: Any, y: Any, colour: Any, tooltip: list[Any], *, banded: bool) -> list[Any]:
    alt = load_altair()
    ends = {"y": alt.Y("tau_low:Q", title=y["title"]), "y2": "tau_high:Q"}
    band = base.mark_area(opacity=0.2).encode(x=x, color=colour, **ends)
    lines = base.mark_line(point=alt.OverlayMarkDef(size=22)).encode(x=x, y=y, color=colour, tooltip=tooltip)
    return [level_at(0.9), *([band] if banded else []), lines]
