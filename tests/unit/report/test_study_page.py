from __future__ import annotations

import json
import re

import altair as alt
import polars as pl

from gainful.report.study_page import study_page
from gainful.studies.result import Exhibit, Finding, Study


def test_holds_all_of_a_study():
    frame = pl.DataFrame({"run": ["<b>a</b>"], "τ": [0.5], "τ (published)": [None]})
    chart = alt.Chart(frame).mark_point().encode(x="τ:Q")
    study = Study(
        name="negative-labels",
        paper="Who, what, where",
        collections=("mine",),
        exhibits=(
            Exhibit(name="Table 2a", title="Shares", text="Done so.", frame=frame),
            Exhibit(name="Figure 2", title="Drawn", text="", frame=frame, draw=lambda: chart),
        ),
        findings=(Finding(claim="it is so", collection="mine", holds=True, evidence="0.5 > 0.4"),),
        absent={"Table 9": "no such data"},
        settings={"seed": 0, "cutoffs": (5, 10)},
    )
    page = study_page(study)
    told = json.loads(re.search(r'id="contents">(.*?)</script>', page, re.DOTALL)[1])
    assert "<b>a</b>" not in page
    assert told["exhibits"][0] == {
        "id": "table-2a",
        "name": "Table 2a",
        "title": "Shares",
        "text": "Done so.",
        "columns": ["run", "τ", "τ (published)"],
        "rows": [["<b>a</b>", 0.5, None]],
        "figure": None,
    }
    assert told["exhibits"][1]["figure"]["spec"]["mark"]["type"] == "point"
    assert told["findings"] == [{"claim": "it is so", "collection": "mine", "holds": True, "evidence": "0.5 > 0.4"}]
    assert told["absent"] == {"Table 9": "no such data"}
    assert told["command"] == "gainful study negative-labels --collection mine=QRELS:RUNS --seed 0"
    assert told["settings"] == {"seed": "0", "cutoffs": "[5, 10]"}
