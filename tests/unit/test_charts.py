"""Charts as files: nothing half-written, nothing from the data runs, nothing is fetched."""

from __future__ import annotations

import json
import sys

import polars as pl
import pytest

import gainful as gf
from gainful.charts import load_altair, styled

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
