from __future__ import annotations

import json
import re

import altair as alt
import polars as pl

from gainful.data.policies import Policies
from gainful.pages.study_page import study_page
from gainful.results import Settings
from gainful.studies import Exhibit, Finding, Study


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
        findings=(
            Finding(claim="it is so", collection="mine", holds=True, evidence="0.5 > 0.4", paper="Table 2a: τ 0.5"),
        ),
        absent={"Table 9": "no such data"},
        settings=Settings(name="negative_labels", data="mine", given={"seed": 0, "cutoffs": (5, 10)}),
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
        "published": [],
        "beside": [],
        "figure": None,
    }
    assert told["exhibits"][1]["figure"]["spec"]["mark"]["type"] == "point"
    said = {
        "claim": "it is so",
        "collection": "mine",
        "holds": True,
        "evidence": "0.5 > 0.4",
        "paper": "Table 2a: τ 0.5",
    }
    assert told["findings"] == [said]
    assert told["absent"] == {"Table 9": "no such data"}
    assert told["command"] == "gainful study negative-labels --collection mine=QRELS:RUNS --seed 0 --cutoffs 5,10"
    assert told["placeholders"]
    assert told["settings"] == {"seed": "0", "cutoffs": "[5, 10]", "policies": "null"}


def test_the_command_repeats_the_study():
    """All that differs from the defaults; policies are none of the command's options."""
    study = Study(
        name="forbidden-documents",
        paper="",
        collections=("simulated", "answers.csv"),
        exhibits=(),
        findings=(),
        absent={},
        settings=Settings(
            name="forbidden_documents",
            data="simulated; answers.csv",
            policies=Policies(unjudged="condensed"),
            given={
                "forbidden": -10.0,
                "cutoff": 200,
                "bound_cutoffs": [50, 300],
                "seed": 7,
                "examples": "answers.csv",
                "gains": {"-2": -10.0, "1": 1.0},
                "losses": ["bce", "ordinal"],
                "training": {"rounds": 10, "learning_rate": 0.05, "device": None},
            },
        ),
    )
    told = json.loads(re.search(r'id="contents">(.*?)</script>', study_page(study), re.DOTALL)[1])
    assert told["command"] == (
        "gainful study forbidden-documents --examples EXAMPLES --cutoff 200 --seed 7 --gains '{-2:-10.0,1:1.0}' "
        "--losses bce,ordinal --rounds 10 --learning-rate 0.05"
    )


def contents(study):
    return json.loads(re.search(r'id="contents">(.*?)</script>', study_page(study), re.DOTALL)[1])


def study_of(collections, files=None, exhibits=()):
    settings = Settings(name="negative_labels", data="", given={"seed": 0})
    named = {"name": "negative-labels", "paper": "", "findings": (), "absent": {}, "settings": settings}
    return Study(collections=collections, files=files or {}, exhibits=exhibits, **named)


def test_the_command_has_the_files_of_the_collections():
    files = {"web": ("qrels.txt", "my runs"), "judged": ("judged.txt",)}
    told = contents(study_of(("web", "judged"), files))
    named = "--collection 'web=qrels.txt:my runs' --collection judged=judged.txt"
    assert told["command"] == f"gainful study negative-labels {named} --seed 0"
    assert not told["placeholders"]
    several = contents(study_of(("web",), {"web": ("qrels.txt", "a.run", "b.run")}))
    assert several["command"] == "gainful study negative-labels qrels.txt a.run b.run --seed 0"


def test_numbers_of_the_paper_stand_beside_ours():
    """Those of the same measure and track; of any track, where the paper lacks ours."""
    rows = [
        ("web2011 (simulated)", "nDCG", 0.5),
        ("mine", "nDCG", 0.25),
        ("mine", "AP", 0.125),
        ("TREC 2011 (published)", "nDCG", 0.75),
        ("TREC 2012 (published)", "nDCG", 1.0),
    ]
    frame = pl.DataFrame(rows, schema=["collection", "measure", "ρ"], orient="row")
    (shown,) = contents(study_of(("mine",), exhibits=(Exhibit(name="T", title="", text="", frame=frame),)))["exhibits"]
    assert shown["rows"] == [list(row) for row in rows[:3]]
    assert shown["published"] == [list(row) for row in rows[3:]]
    assert shown["beside"] == [[None, None, [0.75, 0.75]], [None, None, [0.75, 1.0]], [None, None, None]]
