"""The page of a study in a real Chromium."""

from __future__ import annotations

import altair as alt
import polars as pl

from gainful.pages.study_page import study_page
from gainful.results import Settings
from gainful.studies import Exhibit, Finding, Study

EVIL = "<script>alert(1)</script>"


def test_tables_and_figures(look, tmp_path):
    frame = pl.DataFrame({"run": [EVIL, "b"], "τ": [0.25, 0.75], "n": [3, 2]})
    chart = alt.Chart(frame).mark_point().encode(x="τ:Q", y="n:Q")
    study = Study(
        name="negative-labels",
        paper="Who, what, where",
        collections=("mine",),
        exhibits=(
            Exhibit(name="Table 1", title="Shares", text="Done so.", frame=frame),
            Exhibit(name="Figure 2", title="Drawn", text="Thus.", frame=frame, draw=lambda: chart),
        ),
        findings=(
            Finding(claim="it is so", collection="mine", holds=False, evidence="0.5 > 0.4", paper="Table 1: 0.4"),
        ),
        absent={"Table 9": "no such data"},
        settings=Settings(name="negative_labels", data="mine", given={"seed": 0}),
    )
    path = tmp_path / "study.html"
    path.write_text(study_page(study), encoding="utf-8")
    page = look(path, width=390)
    page.wait_for_selector("#figure-2 svg")
    table = page.locator("#table-1")
    assert table.locator("td").all_inner_texts() == [EVIL, "0.2500", "3", "b", "0.7500", "2"]
    table.get_by_role("button", name="τ").click()
    assert table.locator("td").all_inner_texts()[0] == "b"
    assert page.locator(".tally").inner_text().split("\n")[:2] == ["0 of 1", "finding holds on mine"]
    assert page.locator(".findings tbody").inner_text().split("\n") == [
        "it is so",
        "Table 1: 0.4",
        "does not hold",
        "0.5 > 0.4",
    ]
    assert page.locator(".findings a").get_attribute("href") == "#table-1"
    assert "Table 9: no such data" in page.locator("main").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_published_numbers_stand_below_ours(look, tmp_path):
    frame = pl.DataFrame({"collection": ["mine", "theirs (published)"], "τ": [0.25, 0.75]})
    study = Study(
        name="negative-labels",
        paper="Who, what, where",
        collections=("mine",),
        exhibits=(Exhibit(name="Table 1", title="Shares", text="Done so.", frame=frame),),
        findings=(),
        absent={},
        settings=Settings(name="negative_labels", data="mine", given={"seed": 0}),
    )
    path = tmp_path / "study.html"
    path.write_text(study_page(study), encoding="utf-8")
    cell = look(path).locator("#table-1 td").nth(1)
    assert cell.inner_text().split("\n") == ["0.2500", "paper 0.7500"]
    assert cell.locator(".ends").bounding_box()["y"] > cell.bounding_box()["y"] + 12
