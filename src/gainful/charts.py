"""What all charts share: Altair when there is one, one look, and how a chart becomes a file."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gainful import _polars as pl
from gainful.errors import DataError, GainfulError, MissingExtraError
from gainful.io.atomic import write_atomically
from gainful.results import Chart, drawable
from gainful.vega import converted, svg

# Okabe & Ito's colours: told apart by readers who do not see all colours, and in print. In place of their yellow, which
# cannot be seen on white, a wine red, no nearer to the others for any kind of sight. pages/charts.js has the same.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#882255")
# From little to much; and from below to above zero.
SEQUENTIAL, DIVERGING = "blues", "blueorange"
GREY, PALE = "#555555", "#bbbbbb"
# Beside colours, of which there are eight: 40 lines are all different.
DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [14, 4])
SHAPES = ("circle", "diamond", "square", "triangle-up")
WIDTH, HEIGHT = 560, 320
# Height of a label, and labels that find room at the ends of lines; of more lines there is a legend.
_LABEL, _LABELS = 16, 18
# Lines whose bands can still be told apart where they overlap.
BANDS = 2
SUFFIXES = (".html", ".svg", ".png", ".pdf", ".json")


def load_altair() -> Any:
    """The altair package, or an error that names the extra."""
    if sys.flags.optimize > 1:
        raise GainfulError("charts are drawn by altair, which needs docstrings: run Python without -OO; -O will do")
    try:
        import altair
        import vl_convert  # noqa: F401 (writes SVG, PNG and PDF, and the script of an HTML page)
    except ImportError:
        raise MissingExtraError("plots", "a chart") from None
    altair.data_transformers.disable_max_rows()
    return altair


def styled(chart: Any, title: Any, *subtitle: str) -> Chart:
    """The chart in the house's look; `title` says what is seen, in a few words, `subtitle` how to read it."""
    alt = load_altair()
    # Set and not configured: `configure_…`, `properties` and `copy` copy all of it, and charts are made to be styled.
    chart.title = alt.Title(title, subtitle=list(subtitle)) if subtitle else title
    chart.config = alt.Config(
        background="white",
        range=alt.RangeConfig(category=list(COLOURS)),
        axis=alt.AxisConfig(
            **{"grid": True, "gridColor": "#e5e5e5", "domainColor": "#888888", "tickColor": "#888888"},
            **{"labelLimit": 240, "labelSeparation": 6, "titleFontWeight": 500, "titleLimit": 400},
        ),
        header=alt.HeaderConfig(labelFontWeight=600, labelLimit=400),
        view=alt.ViewConfig(stroke=None),
        title=alt.TitleConfig(anchor="start", fontSize=14, subtitleColor=GREY, subtitlePadding=4),
        legend=alt.LegendConfig(labelLimit=240, titleFontWeight=500),
    )
    finished: Chart = chart
    return finished


def sized(chart: Any, title: str, *subtitle: str) -> Chart:
    """A single chart, styled, in the usual size."""
    chart.width, chart.height = WIDTH, HEIGHT
    return styled(chart, title, *subtitle)


def row_height(rows: int) -> int:
    """Of a chart with one row per run."""
    return 22 if rows <= 20 else 15 if rows <= 60 else 12


def level_at(y: float) -> Any:
    """A dashed line across a chart."""
    alt = load_altair()
    return alt.Chart().mark_rule(strokeDash=[4, 4], color=GREY).encode(y=alt.YDatum(y))


def tips(*columns: str | Sequence[str]) -> list[Any]:
    """Tooltips: a column with its type, as in ``tau:Q``; or that, a title, and perhaps a format."""
    alt, names = load_altair(), ("shorthand", "title", "format")
    given = [[column] if isinstance(column, str) else column for column in columns]
    return [alt.Tooltip(**dict(zip(names, column, strict=False))) for column in given]


def end_labels(
    ends: pl.DataFrame, x: Any, y: Any, colour: Any, *, domain: tuple[float, float], height: float = HEIGHT
) -> list[Any]:
    """The name of each line right of its end, moved apart where they would collide; nothing if there are too many.

    `ends` has one row per line: its name, then where it ends (x, y), under the names that `colour`, `x` and `y` have;
    `domain` is from where to where the axis runs. Pages that are too narrow for labels show the legend instead.
    """
    alt, (name, at, value) = load_altair(), ends.columns
    if not direct(ends.height):
        return []
    low, high = domain
    per_pixel = (high - low) / height or 1.0
    places = spread([round((place - low) / per_pixel) for place in ends[value]], _LABEL, height)
    frame = ends.with_columns(place=low + pl.Series(places, dtype=pl.Float64) * per_pixel)
    # Not clipped, also where a page lets people zoom.
    base, beside = alt.Chart(frame), {"style": "ends", "clip": False}
    return [
        base.mark_rule(strokeWidth=2, xOffset=2, x2Offset=12, **beside).encode(
            x=x, x2=alt.X2(at), y=y, y2=alt.Y2("place"), color=colour
        ),
        base.mark_text(align="left", baseline="middle", dx=16, limit=240, **beside).encode(
            x=x, y=alt.Y("place:Q", title=y["title"]), text=alt.Text(f"{name}:N")
        ),
    ]


def direct(lines: int) -> bool:
    """Whether so many lines are named at their ends; a legend names more."""
    return lines <= _LABELS


def spread(places: Sequence[float], gap: float, room: float) -> list[float]:
    """The places, moved as little as can be, so that they are `gap` apart and between 0 and `room`."""
    order = sorted(range(len(places)), key=lambda at: places[at])
    # Without the gaps, a place must not be below the one before: neighbours that would are put together at their mean.
    blocks: list[tuple[float, int]] = []
    for number, at in enumerate(order):
        mean, size = places[at] - number * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, more = blocks.pop()
            mean, size = (before * more + mean * size) / (more + size), more + size
        blocks.append((mean, size))
    last = max(room - (len(places) - 1) * gap, 0.0)
    apart = [min(max(mean, 0.0), last) for mean, size in blocks for _ in range(size)]
    found = dict(zip(order, apart, strict=True))
    return [found[at] + gap * order.index(at) for at in range(len(places))]


def point_labels(frame: pl.DataFrame, x: Any, y: Any, *, side: tuple[float, float], most: int) -> Any:
    """The first `most` names of points, each where it covers fewest points and names.

    `frame` has the `label` of every point, or none, and where it is in pixels: from the `left`, from the `top` of a
    chart that is `side` large; its other columns are those that `x` and `y` name.
    """
    names, lefts, tops = (frame[column].to_list() for column in ("label", "left", "top"))
    boxes: list[tuple[float, float, float, float]] = []
    chosen: list[tuple[str, str, int, int]] = []
    for name, left, top in list(zip(names, lefts, tops, strict=True))[:most]:
        wide = text_width(name, 10)
        options = {
            ("left", "middle", 7, 0): (left + 7, top - 6),
            ("right", "middle", -7, 0): (left - 7 - wide, top - 6),
            ("center", "bottom", 0, -6): (left - wide / 2, top - 18),
            ("center", "top", 0, 6): (left - wide / 2, top + 6),
        }

        def covered(corner: tuple[float, float], wide: float = wide) -> float:
            x0, y0, x1, y1 = corner[0], corner[1], corner[0] + wide, corner[1] + 12
            points = sum(x0 - 4 < a < x1 + 4 and y0 - 4 < b < y1 + 4 for a, b in zip(lefts, tops, strict=True))
            others = sum(x0 < d and a < x1 and y0 < e and b < y1 for a, b, d, e in boxes)
            outside = max(0.0, -x0) + max(0.0, x1 - side[0]) + max(0.0, -y0) + max(0.0, y1 - side[1])
            return float(points + 2 * others + outside / 20)

        best = min(options, key=lambda option: covered(options[option]))
        corner = options[best]
        boxes.append((*corner, corner[0] + wide, corner[1] + 12))
        chosen.append(best)
    rows = frame.head(most).with_columns(
        pl.Series(column, [one[at] for one in chosen], dtype=dtype)
        for at, (column, dtype) in enumerate(
            {"align": pl.String, "baseline": pl.String, "dx": pl.Int64, "dy": pl.Int64}.items()
        )
    )
    alt = load_altair()
    placed = {name: alt.expr(f"datum.{name}") for name in ("align", "baseline", "dx", "dy")}
    return alt.Chart(rows).mark_text(fontSize=10, limit=200, **placed).encode(x=x, y=y, text=alt.Text("label:N"))


def text_width(text: str, size: float) -> float:
    """About how wide a text is; letters of Chinese, Japanese and Korean are twice as wide as others."""
    return size * sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.55 for letter in text)


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
    more: str = "",
) -> Chart:
    """A quantity against the number of topics: one line per measure, a dot at the data, a rule at the goal.

    `curve` and `observed` have measure, topics and the column `value` (and the ends of its interval): the lines, and
    the topics there are. `highest` is where the axis ends, `goal` what is wanted and how to call it, `interval` the
    columns of both ends and what to call it: a band. Bands of many measures have panels of their own. `more` is said
    below the title.
    """
    alt = load_altair()
    first, last = min(curve["topics"].to_list()), max(curve["topics"].to_list())
    # The steps from 10 to 20 and from 100 to 200 topics matter alike.
    scale = alt.Scale(type="log", domain=[first, max(last, first + 1)], nice=False)
    ticks = [tens * by for tens in (1, 10, 100, 1000, 10_000, 100_000) for by in (1, 2, 5) if tens * by <= last]
    x = alt.X("topics:Q", title="topics (log scale)", scale=scale, axis=alt.Axis(format=",d", values=ticks))
    y = alt.Y(f"{value}:Q", title=axis, scale=alt.Scale(domain=[0, highest]))
    ends = curve.drop_nulls(value).group_by("measure", maintain_order=True).last()
    key = None if direct(ends.height) else alt.Legend(symbolOpacity=1)
    colour = alt.Color("measure:N", title=legend, sort=None, legend=key)
    shown = [("measure:N", legend), ("topics:Q", "topics"), (f"{value}:Q", short, ".3f")]
    said = f"Dot: the topics here. Dashed: {goal[1]}.{more and f' {more}'}"
    if interval is not None:
        low, high, name = interval
        shown += [(f"{low}:Q", f"{name} from", ".3f"), (f"{high}:Q", "to", ".3f")]
        said += f" Band: {name}.{' Grey: the other measures.' if ends.height > BANDS else ''}"
    seen = {"x": x, "y": y, "color": colour, "tooltip": tips(*shown)}

    def layers(lines: Any, dots: Any) -> list[Any]:
        drawn = [level_at(goal[0])]
        if interval is not None:
            ends_of = {"y": alt.Y(f"{low}:Q", title=axis), "y2": alt.Y2(f"{high}:Q")}
            drawn.append(lines.mark_area(opacity=0.18).encode(x=x, color=colour, **ends_of))
        drawn.append(lines.mark_line(strokeWidth=2, clip=True).encode(**seen))
        return [*drawn, dots.mark_point(filled=True, size=60, opacity=1).encode(**seen)]

    if interval is not None and ends.height > BANDS:
        both = pl.concat([curve, observed.select(curve.columns).with_columns(dot=True)], how="diagonal")
        only = alt.Chart().transform_filter("datum.dot")
        colour["legend"] = None
        whole = bands(both, x, y, layers(alt.Chart(), only))
        return styled(whole, title, said)
    labels = end_labels(_ordered(ends, curve, value), x, y, colour, domain=(0.0, highest))
    return sized(alt.layer(*layers(alt.Chart(curve), alt.Chart(observed)), *labels), title, said)


def _ordered(ends: pl.DataFrame, curve: pl.DataFrame, value: str) -> pl.DataFrame:
    """The ends of lines, those of lower lines first: lines that end at the same place are named in their order."""
    heights = curve.group_by("measure").agg(mean=pl.col(value).mean())
    return ends.join(heights, on="measure").sort("mean", maintain_order=True).select("measure", "topics", value)


def bands(frame: pl.DataFrame, x: Any, y: Any, layers: Sequence[Any]) -> Any:
    """One panel per measure, with the lines of the others behind: bands in one panel would hide each other."""
    alt = load_altair()
    behind = frame.select(*(axis["shorthand"].partition(":")[0] for axis in (x, y)), "measure")
    others = alt.Chart(behind).mark_line(strokeWidth=1, color=PALE).encode(x=x, y=y, detail=alt.Detail("measure:N"))
    one = alt.layer(others, *layers, width=WIDTH // 3, height=HEIGHT // 2)
    names = frame["measure"].unique(maintain_order=True).to_list()
    across = next((columns for columns in (3, 4, 2) if len(names) % columns == 0), 3)
    return one.facet(alt.Facet("measure:N", title=None, sort=names), data=frame, columns=across)


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
    specification = drawable(chart.to_dict())
    data: bytes
    match path.suffix.lower():
        case ".html":
            script = converted("javascript_bundle", None).decode()  # all of Vega, as documented
            data = _page(specification, script).encode()
        case ".svg":
            data = svg(specification)
        case ".png":
            data = converted("vegalite_to_png", specification, scale=2)
        case ".pdf":
            data = converted("vegalite_to_pdf", specification)
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
