"""What all charts share: Altair when there is one, one look, and how a chart becomes a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gainful import _polars as pl
from gainful.errors import DataError, MissingExtraError
from gainful.io.atomic import write_atomically
from gainful.results import Chart, drawable

# Okabe & Ito's colours: told apart by readers who do not see all colours, and in print.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442")
# Beside colours, of which there are eight: 40 lines are all different.
DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [14, 4])
SHAPES = ("circle", "diamond", "square", "triangle-up")
WIDTH, HEIGHT = 560, 320
SUFFIXES = (".html", ".svg", ".png", ".pdf", ".json")


def load_altair() -> Any:
    """The altair package, or an error that names the extra."""
    try:
        import altair
        import vl_convert  # noqa: F401 (writes SVG, PNG and PDF, and the script of an HTML page)
    except ImportError:
        raise MissingExtraError("plots", "a chart") from None
    altair.data_transformers.disable_max_rows()
    return altair


def styled(chart: Any, title: str) -> Chart:
    """The chart in the house's look; `title` says what is seen, in a few words."""
    alt = load_altair()
    done = chart.copy(deep=False)  # each `configure_…` would copy all of it
    done.title = title
    done.config = alt.Config(
        background="white",
        range=alt.RangeConfig(category=list(COLOURS)),
        axis=alt.AxisConfig(grid=True, gridColor="#e5e5e5", domainColor="#888888", tickColor="#888888", labelLimit=240),
        view=alt.ViewConfig(stroke=None),
        title=alt.TitleConfig(anchor="start", fontSize=14),
        legend=alt.LegendConfig(labelLimit=240),
    )
    finished: Chart = done
    return finished


def sized(chart: Any, title: str) -> Chart:
    """A single chart, styled, in the usual size."""
    return styled(chart.properties(width=WIDTH, height=HEIGHT), title)


def level_at(y: float) -> Any:
    """A dashed line across a chart."""
    alt = load_altair()
    return alt.Chart().mark_rule(strokeDash=[4, 4], color="#555555").encode(y=alt.datum(y))


def tips(*columns: str | Sequence[str]) -> list[Any]:
    """Tooltips: a column with its type, as in ``tau:Q``; or that, a title, and perhaps a format."""
    alt, names = load_altair(), ("shorthand", "title", "format")
    given = [[column] if isinstance(column, str) else column for column in columns]
    return [alt.Tooltip(**dict(zip(names, column, strict=False))) for column in given]


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
    """A quantity against the number of topics: one line per measure, a dot at the data, a rule at the goal.

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


def save_chart(chart: Chart, path: str | Path) -> None:
    """Write a chart to a file: .html (opens without a network), .svg, .png, .pdf or .json (Vega-Lite).

    Parameters
    ----------
    chart
        What `chart()` of a result gives.
    path
        Its ending says what is written.
    """
    path = Path(path)
    check_chart_path(path)
    import vl_convert

    specification = drawable(chart.to_dict())
    data: bytes
    match path.suffix.lower():
        case ".html":
            script = vl_convert.javascript_bundle(None)  # type: ignore[arg-type]  # all of Vega, as documented
            data = _page(specification, script).encode()
        case ".svg":
            data = vl_convert.vegalite_to_svg(specification).encode()
        case ".png":
            data = vl_convert.vegalite_to_png(specification, scale=2)
        case ".pdf":
            data = vl_convert.vegalite_to_pdf(specification)
        case _:
            data = chart.to_json().encode()
    write_atomically(path, data)


def _page(specification: object, script: str) -> str:
    """A page of its own. No name from the data can end the script: vl-convert's own page would let it."""
    content = json.dumps(specification).replace("<", "\\u003c")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>gainful</title></head>\n'
        f'<body><div id="chart"></div>\n<script type="module">{script}\n'
        f'window.vegaEmbed("#chart", {content}, {{renderer: "svg"}});</script></body>\n</html>\n'
    )


def check_chart_path(path: str | Path) -> None:
    """Refuse, before any long work, a name that no chart can be written to, and a chart without its packages."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{path}: expected a name that ends in {', '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise DataError(f"{path}: expected a folder that exists, got {str(path.parent)!r}")
    load_altair()
