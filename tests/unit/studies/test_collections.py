"""What a study runs on."""

from dataclasses import replace
from functools import partial

import polars as pl
import pytest

from gainful.data.policies import Policies
from gainful.data.qrels import Qrels
from gainful.data.simulate import simulate
from gainful.errors import DataError
from gainful.results import Settings
from gainful.studies.collections import load_collections

QRELS = {"1": {"a": 1, "b": 0, "c": 0, "d": -2}, "2": {"a": 2, "b": 0}}
SETTINGS = Settings(name="study", data="", given={"seed": 0}, policies=Policies())
RUN = {"1": {"a": 2.0}, "2": {"a": 1.0}}


def loaded(qrels, runs, **settings):
    return load_collections({"one": (qrels, runs)}, SETTINGS, **settings)[0]


def test_simulated_if_none_is_given(monkeypatch):
    """A small one here: that of a study has 60 runs and 50 topics."""
    monkeypatch.setattr("gainful.studies.collections.simulate", partial(simulate, topics=3, systems=2, depth=20))
    (found,) = load_collections(None, replace(SETTINGS, given={"seed": 3}))
    made = simulate(topics=3, systems=2, depth=20, seed=3)
    assert found.name == "simulated"
    assert found.qrels.frame.equals(made.qrels.frame)
    assert found.runs == tuple(run.name for run in made.runs)


def test_stand_ins_of_the_papers_tracks(monkeypatch):
    """Small ones here; a note says what they were fitted to, before what is to be said of the runs."""
    small = partial(simulate, topics=3, systems=2, depth=20)
    monkeypatch.setattr("gainful.studies.collections.simulate", small)
    first, second = load_collections(None, replace(SETTINGS, given={"seed": 3}), like=("web2011", "web2014"))
    assert (first.name, second.name) == ("web2011 (simulated)", "web2014 (simulated)")
    assert second.qrels.frame.equals(small(like="web2014", seed=3).qrels.frame)
    note = first.notes()[0]
    assert (note.code, note.subject) == ("stand-in", "web2011 (simulated)")
    assert note.text.startswith("a stand-in for the track, whose runs are not public. Fitted, as means over 20 seeds: ")
    assert note.text.endswith("A finding that rests on what was fitted shows nothing.")
    (given,) = load_collections({"web2011": (QRELS, {"r": RUN})}, SETTINGS, like=("web2011",))
    assert "stand-in" not in [note.code for note in given.notes()]


def test_as_evaluate_takes_them(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n", encoding="utf-8")
    first, second = load_collections({"x": (path, {"r": RUN}), "y": [QRELS, {"r": RUN, "s": RUN}]}, SETTINGS)
    assert (first.name, len(first.qrels), first.runs) == ("x", 1, ("r",))
    assert (second.name, len(second.qrels), second.runs) == ("y", 6, ("r", "s"))


def test_label_ratios_are_over_the_topics_that_have_the_label():
    """1 is a quarter of the first topic, 0 a half of either, -2 a quarter of the first; 2 half of the second."""
    assert loaded(QRELS, {"r": RUN}).label_ratios() == {-2.0: 1 / 4, 0.0: 1 / 2, 1.0: 1 / 4, 2.0: 1 / 2}


def test_label_ratios_leave_out_what_is_not_judged():
    frame = pl.DataFrame({"query_id": ["1"] * 3, "doc_id": ["a", "b", "c"], "relevance": [1.0, 0.0, None]})
    assert loaded(Qrels(frame), {"r": RUN}).label_ratios() == {0.0: 1 / 2, 1.0: 1 / 2}


def test_too_few():
    assert loaded(QRELS, {"r": RUN, "s": RUN}).too_few is None
    assert loaded(QRELS, {"r": RUN}).too_few == "needs at least 2 runs, got 1"
    assert loaded({"1": QRELS["1"]}, {"r": RUN, "s": RUN}).too_few == "needs at least 2 judged topics, got 1"


@pytest.mark.parametrize("none", [(), [], None])
def test_runs_can_be_left_out_where_they_are_not_needed(none):
    assert loaded(QRELS, none, runs_needed=False).runs == ()
    with pytest.raises(DataError, match=r"^collection 'one': expected judgments and runs, got no runs$"):
        loaded(QRELS, none)


@pytest.mark.parametrize(
    ("collections", "message"),
    [
        ([QRELS, RUN], r"^collections: expected \{name: \(qrels, runs\)\}, got list$"),
        ({}, r"^collections: expected at least one \{name: \(qrels, runs\)\}, got none$"),
        ({"x": QRELS}, r"^collection 'x': expected \(qrels, runs\), got dict$"),
        ({"x": ("missing.txt", RUN)}, r"^collection 'x': missing\.txt: "),
    ],
)
def test_what_is_refused(collections, message):
    with pytest.raises(DataError, match=message):
        load_collections(collections, SETTINGS)
