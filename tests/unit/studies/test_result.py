"""What a study gives: exhibits, findings, and how they leave it."""

import json
from dataclasses import replace

import polars as pl
import pytest

from gainful.charts import load_altair, styled
from gainful.errors import DataError, GainfulError
from gainful.studies.result import Exhibit, Finding, Study, absences, decided, with_published


def bars():
    alt = load_altair()
    frame = pl.DataFrame({"x": ["a", "b"], "y": [1.0, 2.0]})
    return styled(alt.Chart(frame).mark_bar().encode(x="x:N", y="y:Q"), "its own title")


TABLE = Exhibit(
    name="Table 1", title="Sizes", text="Counted.", frame=pl.DataFrame({"name": ["a", "b"], "n": [1, None]})
)
FIGURE = Exhibit(name="Figure 2", title="Bars", text="Drawn.", frame=pl.DataFrame({"y": [0.25]}), draw=bars)
HOLDS = Finding(claim="water is wet", collection="sea", holds=True, evidence="2 of 2")
FAILS = Finding(claim="water is dry", collection="sea", holds=False, evidence="0 of 2")
STUDY = Study(
    name="water",
    paper="Fish, 2020",
    collections=("sea",),
    exhibits=(TABLE, FIGURE),
    findings=(HOLDS, FAILS),
    absent={"Table 3": "sea needs runs"},
    settings={"depth": 3, "seed": 7},
)


def test_one_line():
    assert str(STUDY) == "study water on sea: 2 exhibits, 1 of 2 findings hold; depth=3 seed=7"


def test_one_line_counts_ones_and_nothing():
    one = replace(STUDY, exhibits=(TABLE,), findings=(HOLDS,))
    assert str(one) == "study water on sea: 1 exhibit, 1 of 1 finding holds; depth=3 seed=7"
    assert str(replace(one, findings=())) == "study water on sea: 1 exhibit, no findings; depth=3 seed=7"


def test_undefined_numbers_decide_nothing():
    undefined = replace(FAILS, evidence="Φ nan, banana 0.5")
    assert decided([HOLDS, undefined, replace(FAILS, evidence="banana 0.5")]) == (
        HOLDS,
        replace(FAILS, evidence="banana 0.5"),
    )


def test_findings_say_plainly_what_does_not_hold():
    assert str(HOLDS) == "sea: holds: water is wet (2 of 2)"
    assert str(FAILS) == "sea: DOES NOT HOLD: water is dry (0 of 2)"


def test_exhibits_are_found_by_name():
    assert STUDY["Figure 2"] is FIGURE
    with pytest.raises(DataError, match=r"^Table 3 could not be made: sea needs runs$"):
        STUDY["Table 3"]
    expected = r"^exhibit: expected one of Table 1, Figure 2, got 'Tabel 1'\. Did you mean 'Table 1'\?$"
    with pytest.raises(GainfulError, match=expected):
        STUDY["Tabel 1"]


def test_to_dict_is_json():
    content = json.loads(json.dumps(STUDY.to_dict()))
    assert content["study"] == "water"
    assert content["exhibits"][0] == {
        "name": "Table 1",
        "title": "Sizes",
        "text": "Counted.",
        "rows": [{"name": "a", "n": 1}, {"name": "b", "n": None}],
    }
    assert content["findings"][1] == {
        "claim": "water is dry",
        "collection": "sea",
        "holds": False,
        "evidence": "0 of 2",
    }
    assert (content["absent"], content["settings"]) == ({"Table 3": "sea needs runs"}, {"depth": 3, "seed": 7})


def test_to_frame_has_every_number_once():
    assert STUDY.to_frame().rows() == [
        ("Table 1", 1, "name", "a"),
        ("Table 1", 1, "n", "1"),
        ("Table 1", 2, "name", "b"),
        ("Table 1", 2, "n", None),
        ("Figure 2", 1, "y", "0.25"),
    ]


def test_chart_has_all_figures_under_their_names():
    whole = STUDY.chart().to_dict()
    assert whole["title"] == "Fish, 2020, made anew"
    assert [part["title"] for part in whole["vconcat"]] == ["Figure 2: Bars"]
    assert whole["resolve"]["scale"]["color"] == "independent"


def test_a_table_has_no_chart():
    with pytest.raises(DataError, match=r"^Table 1 is a table: expected an exhibit that is a figure$"):
        TABLE.chart()
    without = Study(
        name="dry", paper="", collections=(), exhibits=(TABLE,), findings=(), absent={}, settings={"seed": 0}
    )
    with pytest.raises(DataError, match=r"^study dry: no figure could be made of these data$"):
        without.chart()


def test_published_rows_stand_below_ours():
    ours = pl.DataFrame({"collection": ["mine"], "runs": [3], "phi": [0.5], "topics": [9]})
    frame = with_published(ours, [{"collection": "TREC 2010", "runs": 56, "phi": 1}, {"collection": "TREC 2011"}])
    assert frame.columns == ["collection", "runs", "phi", "topics"]
    assert frame.rows() == [
        ("mine", 3, 0.5, 9),
        ("TREC 2010 (published)", 56, 1.0, None),
        ("TREC 2011 (published)", None, None, None),
    ]


def test_published_numbers_give_a_column_that_we_have_nothing_in_its_type():
    ours = pl.DataFrame({"collection": ["mine"], "deviation": [None]})
    frame = with_published(ours, [{"collection": "TREC 2010", "deviation": 57.4}])
    assert frame.rows() == [("mine", None), ("TREC 2010 (published)", 57.4)]


def test_absences_name_the_collection_where_others_have_the_exhibit():
    lacking = {"a": {"Table 1": "has no runs", "Table 9": "has no runs"}, "b": {"Table 9": "is empty"}}
    assert absences(lacking, [TABLE]) == {
        "Table 1 of a": "has no runs",
        "Table 9": "a has no runs; b is empty",
    }
