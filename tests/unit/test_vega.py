from __future__ import annotations

import re

import altair as alt
import polars as pl

from gainful.vega import converted, svg


def test_a_drawing_has_room_for_wider_letters():
    """24 pixels more than was measured, on white; what is drawn stays where it is."""
    chart = alt.Chart(pl.DataFrame({"x": [1], "y": [2]}), background="white").mark_point().encode(x="x:Q", y="y:Q")
    measured, drawn = converted("vegalite_to_svg", chart.to_dict()).decode(), svg(chart.to_dict()).decode()
    sizes = r'width="(\d+)" height="(\d+)" viewBox="0 0 (\d+) (\d+)"><rect width="(\d+)" height="(\d+)"'
    (width, height, *_), found = ([int(n) for n in re.search(sizes, text).groups()] for text in (measured, drawn))
    assert found == [width + 24, height, width + 24, height, width + 24, height]
    assert drawn.split("<rect")[1].split(">", 1)[1] == measured.split("<rect")[1].split(">", 1)[1]
