"""Charts of what depends on the number of topics: one line per measure, a dot at the data, a rule at the goal."""

from __future__ import annotations

import polars as pl

from gainful.charts import load_altair, sized, tips
from gainful.results import Chart


def topics_chart(
    curve: pl.DataFrame,
    observed: pl.DataFrame,
    *,
    value: str,
    axis: str,
    short: str,
    legend: str,
    highest: float,
    goal: tuple[float, str],
    title: str,
    interval: tuple[str, str, str] | None = None,
) -> Chart:
    """A quantity against the number of topics.

    `curve` and `observed` have measure, topics and the column `value` (and the ends of its interval): the lines, and
    the topics there are. `highest` is where the axis ends, `goal` what is wanted and how to call it, `interval` the
    columns of both ends and what to call it.
    """
    alt = load_altair()
    x = alt.X("topics:Q", title="topics").scale(domain=[0, max(curve["topics"].to_list())], nice=False)
    y = alt.Y(f"{value}:Q", title=axis).scale(domain=[0, highest])
    colour = alt.Color("measure:N", title=legend, sort=None, legend=alt.Legend(symbolOpacity=1))
    shown = [("measure:N", legend), ("topics:Q", "topics"), (f"{value}:Q", short, ".3f")]
    layers = []
    if interval:
        low, high, name = interval
        shown += [(f"{low}:Q", f"{name} from", ".3f"), (f"{high}:Q", "to", ".3f")]
        layers.append(alt.Chart(curve).mark_area(opacity=0.18).encode(x=x, y=f"{low}:Q", y2=f"{high}:Q", color=colour))
    seen = {"x": x, "y": y, "color": colour, "tooltip": tips(*shown)}
    wanted = alt.Chart(pl.DataFrame({"goal": [goal[0]], "text": [goal[1]]}))
    layers += [
        wanted.mark_rule(strokeDash=[5, 4], color="#555555").encode(y="goal:Q"),
        wanted.mark_text(align="left", baseline="bottom", dx=4, dy=-2, color="#555555").encode(
            x=alt.value(0), y="goal:Q", text="text:N"
        ),
        alt.Chart(curve).mark_line(strokeWidth=2, clip=True).encode(**seen),
        alt.Chart(observed).mark_point(filled=True, size=70, opacity=1).encode(**seen),
    ]
    return sized(alt.layer(*layers), title)
