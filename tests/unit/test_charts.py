"""Charts as files: nothing half-written, nothing from the data runs, nothing is fetched."""

from __future__ import annotations

import itertools
import json
import re
import sys
from importlib.resources import files

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.charts import COLOURS, load_altair, point_labels, spread, styled, text_width

NASTY = "</script><script>alert(1)</script><!--"


@pytest.fixture
def chart():
    alt = load_altair()
    rows = pl.DataFrame({"x": [1, 2], "run": [NASTY, "b"]})
    return styled(alt.Chart(rows).mark_point().encode(x="x:Q", color="run:N"), f"Title {NASTY}")


def test_page_lets_no_name_end_the_script(chart, tmp_path):
    gf.save_chart(chart, tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert page.count("alert(1)") == 2  # the title and the data, both inside the JSON
    assert page.count("<script") - page.count("<script>alert") >= 1
    assert "</script><script>alert" not in page
    assert "<!--" not in page.partition('vegaEmbed("#chart", ')[2]
    content, _, _ = page.partition('vegaEmbed("#chart", ')[2].partition(", {renderer")
    assert json.loads(content)["title"] == f"Title {NASTY}"


def test_page_needs_no_network(chart, tmp_path):
    gf.save_chart(chart, tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "<script src" not in page
    assert "<link" not in page


def test_json_is_the_specification(chart, tmp_path):
    gf.save_chart(chart, tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["mark"] == {"type": "point"}


def test_unknown_ending(chart, tmp_path):
    with pytest.raises(gf.DataError) as caught:
        gf.save_chart(chart, tmp_path / "c.gif")
    assert str(caught.value) == f"{tmp_path / 'c.gif'}: expected a name that ends in .html, .svg, .png, .pdf, .json"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_missing_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(gf.GainfulError) as caught:
        load_altair()
    assert str(caught.value) == "a chart needs packages that are not installed: pip install '.[plots]' in a clone"


def test_large_data_are_drawn():
    alt = load_altair()
    rows = pl.DataFrame({"x": range(6000)})
    (data,) = alt.Chart(rows).mark_point().encode(x="x:Q").to_dict()["datasets"].values()
    assert len(data) == 6000


# Machado, Oliveira & Fernandes (2009): what is seen of linear red, green and blue without one kind of cones.
SIGHTS = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def linear(colour):
    """Linear red, green and blue of #rrggbb."""
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light):
    """CIELAB, in which distances are about what people see."""
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(matrix) @ np.clip(light, 0, 1) / [0.9505, 1.0, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_are_told_apart(sight):
    """Okabe & Ito's own eight colours are at least 16 apart; so are these."""
    seen = [lab(np.array(SIGHTS[sight]) @ linear(colour)) for colour in COLOURS]
    assert min(np.linalg.norm(one - two) for one, two in itertools.combinations(seen, 2)) > 16


def test_colours_are_seen_on_white():
    """Contrast by WCAG; yellow had 1.3."""
    light = np.array([[0.2126, 0.7152, 0.0722] @ linear(colour) for colour in COLOURS])
    assert (1.05 / (light + 0.05)).min() > 2.2


def test_pages_have_the_same_colours():
    script = files("gainful.pages").joinpath("charts.js").read_text(encoding="utf-8")
    listed = re.search(r"OKABE_ITO = \[(.*?)\]", script, re.DOTALL)
    assert listed is not None
    assert tuple(re.findall(r"#\w{6}", listed[1])) == COLOURS


@pytest.mark.parametrize(
    ("places", "apart"),
    [
        ([10, 50], [10, 50]),  # there is room
        ([50, 50], [45, 55]),  # each moves by half a gap, the first below
        ([52, 50], [56, 46]),
        ([100, 100, 100], [80, 90, 100]),  # down from the end
        ([0, 1], [0, 10]),
        ([0, 50, 52, 54], [0, 42, 52, 62]),
        ([], []),
    ],
)
def test_labels_are_moved_apart_as_little_as_can_be(places, apart):
    assert spread(places, 10, 100) == pytest.approx(apart)


def test_name_of_a_point_covers_no_other():
    """A point right of the first, and one left of the second: their names stand on the other side."""
    points = {"label": ["first", "second", ""], "left": [50.0, 120.0, 70.0], "top": [50.0, 50.0, 50.0]}
    alt = load_altair()
    axes = {"x": alt.X("left:Q"), "y": alt.Y("top:Q")}
    drawn = point_labels(pl.DataFrame(points), **axes, side=(200, 100), most=2).to_dict()
    (names,) = drawn["datasets"].values()
    assert [(name["label"], name["align"], name["dx"]) for name in names] == [
        ("first", "right", -7),
        ("second", "left", 7),
    ]


def test_chinese_letters_are_wider():
    assert text_width("検索", 10) == 20
    assert text_width("ab", 10) == pytest.approx(11)
