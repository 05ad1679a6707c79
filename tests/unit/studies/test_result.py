"""What a study gives: exhibits, findings, and how they leave it."""

import json
from dataclasses import replace

import polars as pl
import pytest

from gainful.charts import load_altair, styled
from gainful.errors import DataError, GainfulError
from gainful.results import Note, Settings
from gainful.studies import Exhibit, Finding, Study


def bars():
    alt = load_altair()
    frame = pl.DataFrame({"x": ["a", "b"], "y": [1.0, 2.0]})
    return styled(alt.Chart(frame).mark_bar().encode(x="x:N", y="y:Q"), "its own title")


TABLE = Exhibit(
    name="Table 1", title="Sizes", text="Counted.", frame=pl.DataFrame({"name": ["a", "b"], "n": [1, None]})
)
FIGURE = Exhibit(name="Figure 2", title="Bars", text="Drawn.", frame=pl.DataFrame({"y": [0.25]}), draw=bars)
HOLDS = Finding(claim="water is wet", collection="sea", holds=True, evidence="2 of 2")
OPEN = Finding(claim="water is deep", collection="sea", holds=None, evidence="depth undefined")
FAILS = Finding(claim="water is dry", collection="sea", holds=False, evidence="0 of 2", paper="Fish 1")
STUDY = Study(
    name="water",
    paper="Fish, 2020",
    collections=("sea",),
    exhibits=(TABLE, FIGURE),
    findings=(HOLDS, FAILS),
    absent={"Table 3": "sea needs runs"},
    settings=Settings(
        name="water",
        data="sea (2 topics, 3 runs)",
        given={"depth": 3, "seed": 7},
        notes=(Note("few-topics-or-runs", "sea", "sea has 2 topics."),),
    ),
)


def test_verdict_counts_and_names_what_does_not_hold():
    assert STUDY.verdict() == "1 of 2 findings holds on sea. What does not hold: water is dry."
    both = replace(STUDY, findings=(HOLDS, HOLDS, OPEN))
    assert both.verdict() == "2 of 3 findings hold on sea, 1 cannot be decided."
    assert replace(STUDY, findings=()).verdict() == "None of the paper's findings can be looked for on sea."


def test_a_verdict_names_three_of_many():
    many = [replace(FAILS, claim=f"claim {at}") for at in range(5)]
    elsewhere = replace(HOLDS, collection="lake")
    assert replace(STUDY, findings=(*many, elsewhere)).verdict() == (
        "0 of 5 findings hold on sea. What does not hold: claim 0; claim 1; claim 2; and 2 more. "
        "1 of 1 finding holds on lake."
    )


def test_print_has_everything():
    text = str(STUDY)
    assert text.startswith("1 of 2 findings holds on sea.")
    assert "Table 1: Sizes. Counted.\n\nname   n\n────────\na      1\nb      -\n" in text
    assert "sea          no      water is dry   Fish 1   0 of 2" in text
    notes = ["note: sea has 2 topics.", "note: Table 3 could not be made: sea needs runs."]
    assert text.splitlines()[-3:] == [*notes, "water: sea (2 topics, 3 runs); depth=3 seed=7"]
    assert "<b>1 of 2 findings holds on sea." in STUDY._repr_html_()


def test_undecided_is_neither():
    rows = replace(STUDY, findings=(HOLDS, FAILS, OPEN)).tables()[-1].cells()
    assert [row[1] for row in rows] == ["yes", "no", "undecided"]


def test_findings_say_plainly_what_does_not_hold():
    assert str(HOLDS) == "sea: holds: water is wet (2 of 2)"
    assert str(FAILS) == "sea: DOES NOT HOLD: water is dry (0 of 2)"
    assert str(OPEN) == "sea: not decided: water is deep (depth undefined)"


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
        "paper": "Fish 1",
    }
    assert content["absent"] == {"Table 3": "sea needs runs"}
    assert content["settings"] == {"depth": 3, "seed": 7, "policies": None}
    assert [note["code"] for note in content["notes"]] == ["few-topics-or-runs", "not-made"]


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
    assert whole["title"] == "Fish, 2020, reproduced"
    assert [part["title"] for part in whole["vconcat"]] == ["Figure 2: Bars"]
    assert whole["resolve"]["scale"]["color"] == "independent"


def test_long_titles_stand_in_lines():
    """Of 72 letters at most: a browser whose letters are wider cuts what goes beyond the figures."""
    long = replace(STUDY, paper=" ".join(["Fish"] * 20)).chart().to_dict()["title"]
    assert [len(line) for line in long] == [5 * 14 - 1, 5 * 6 + len(", reproduced") - 1]


def test_a_table_has_no_chart():
    with pytest.raises(DataError, match=r"^Table 1 is a table: expected an exhibit that is a figure$"):
        TABLE.chart()
    without = replace(STUDY, exhibits=(TABLE,))
    with pytest.raises(DataError, match=r"^study water: no figure could be made of these data$"):
        without.chart()
    assert "<svg" not in without._repr_html_()
