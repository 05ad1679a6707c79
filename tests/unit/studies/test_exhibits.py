"""Exhibits: how they are printed, and the paper's numbers below ours."""

import json
from pathlib import Path

import polars as pl
import pytest

import gainful.studies.exhibits
from gainful.studies.exhibits import Exhibit, Paper, absences, nearest, read_paper

STUDIES = ("forbidden_documents", "gain_discount", "incomplete_judgments", "negative_labels")


def below(ours, rows, columns):
    theirs = pl.DataFrame(rows, schema=columns, orient="row")
    paper = Paper(citation="", about={"T": {"title": "{phi:g} topics", "text": ""}}, published={"T": theirs})
    made = paper.exhibit("T", ours, {"phi": 0.5})
    assert made.title == "0.5 topics"
    return made.frame


def test_published_rows_stand_below_ours():
    ours = [{"collection": "mine", "runs": 3, "phi": 0.5, "topics": 9}]
    frame = below(ours, [("TREC 2010", 56, 1), ("TREC 2011", None, None)], ["collection", "runs", "phi"])
    assert frame.columns == ["collection", "runs", "phi", "topics"]
    assert frame.rows() == [
        ("mine", 3, 0.5, 9),
        ("TREC 2010 (published)", 56, 1.0, None),
        ("TREC 2011 (published)", None, None, None),
    ]


def test_published_numbers_give_a_column_that_we_have_nothing_in_its_type():
    frame = below([{"collection": "mine", "deviation": None}], [("TREC 2010", 57.4)], ["collection", "deviation"])
    assert frame.rows() == [("mine", None), ("TREC 2010 (published)", 57.4)]


def test_without_rows_of_ours_there_is_no_exhibit():
    assert below([], [("TREC 2010", 57.4)], ["collection", "deviation"]).is_empty()


@pytest.mark.parametrize("study", STUDIES)
def test_every_row_of_the_papers_is_whole(study):
    """A row too short or long would be filled up or cut."""
    path = Path(gainful.studies.exhibits.__file__).parent / study / "paper.json"
    tables = {
        name: exhibit
        for name, exhibit in json.loads(path.read_text(encoding="utf-8"))["exhibits"].items()
        if "rows" in exhibit
    }
    assert read_paper(study).published.keys() == tables.keys() != set()
    for table in tables.values():
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}


def test_long_exhibits_are_cut_and_say_so():
    long = Exhibit(name="Figure 1", title="Lines", text="Drawn.", frame=pl.DataFrame({"x": range(30)})).table()
    assert (long.frame.height, long.title) == (
        24,
        "Figure 1: Lines. Drawn. (30 rows in all: CSV, JSON and the page have them.)",
    )


def test_ranks_have_no_decimals():
    frame = pl.DataFrame({"run": ["a", "b"], "rank": [1.0, 2.0], "tied": [1.5, 3.0], "share": [0.0, 1.0]})
    cells = Exhibit(name="T", title="", text="", frame=frame).table().cells()
    assert cells == [["a", "1", "1.5000", "0.0000"], ["b", "2", "3.0000", "1.0000"]]


def test_the_nearest_places_of_a_curve():
    frame = pl.DataFrame({"collection": "c", "rank": [1, 4, 9], "of": "x", "y": [0.1, 0.4, 0.9]})
    found = nearest(frame, "rank", (1, 5, 20), ["of"], "y")
    assert found.to_dicts() == [{"collection": "c", "of": "x", "rank 1": 0.1, "rank 4": 0.4, "rank 9": 0.9}]


def test_absences_name_the_collection_where_others_have_the_exhibit():
    lacking = {"a": {"Table 1": "has no runs", "Table 9": "has no runs"}, "b": {"Table 9": "is empty"}}
    table = Exhibit(name="Table 1", title="", text="", frame=pl.DataFrame())
    assert absences(lacking, [table]) == {"Table 1 of a": "has no runs", "Table 9": "a has no runs; b is empty"}
