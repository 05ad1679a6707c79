"""What every result has for nothing: print, notebook, frames, JSON."""

from __future__ import annotations

import builtins
import json
import warnings
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.data.policies import Policies
from gainful.errors import GainfulWarning
from gainful.results import Note, Result, Settings, as_pandas, listed, percent, plural, warn
from gainful.tables import Table


def table(rows, headers=None, **more):
    return Table.of("t", pl.DataFrame(rows), headers, **more)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Small(Result):
    name: str
    settings: Settings

    def verdict(self):
        return f"{self.name} wins."

    def tables(self):
        return (table({"run": [self.name], "x": [0.5]}), table({"run": [self.name, "b"]}))

    def _notes(self):
        return (Note("few-topics", "x", "Only 2 topics."),)


def small_function(source, *, alpha=0.05, sizes=(), seed=0, **options):
    """Make one."""


def small(name="a"):
    settings = Settings.of(
        small_function,
        {"source": 1, "alpha": 0.1, "sizes": (5, 10), "seed": 3, "other": 4},
        data="2 runs",
        policies=Policies(ties="order"),
        notes=(Note("missing", "a", "A topic is missing."),),
    )
    return Small(name=name, settings=settings)


class TestResult:
    def test_settings_are_the_parameters(self):
        settings = small().settings
        assert dict(settings) == {"alpha": 0.1, "sizes": (5, 10), "seed": 3}
        assert str(settings).startswith("small_function: 2 runs; alpha=0.1 sizes=5,10 seed=3 ties=order unjudged=zero")
        assert settings.to_dict()["policies"]["ties"] == "order"

    def test_numbers_of_numpy_are_settings(self):
        given = {"alpha": np.float64(0.25), "sizes": (), "seed": np.int64(3)}
        settings = Settings.of(small_function, given, data="2 runs")
        assert str(settings) == "small_function: 2 runs; alpha=0.25 seed=3"
        assert json.loads(json.dumps(settings.to_dict())) == {"alpha": 0.25, "sizes": [], "seed": 3, "policies": None}

    def test_arrays_are_settings(self):
        settings = Settings.of(small_function, {"alpha": 0.25, "sizes": np.array([1, 0.5]), "seed": 3}, data="2 runs")
        assert "sizes=1,0.5" in str(settings)
        assert settings.to_dict()["sizes"] == [1.0, 0.5]

    def test_print(self):
        lines = str(small()).splitlines()
        assert lines[:5] == ["a wins.", "", "run        x", "────────────", "a     0.5000"]
        assert lines[-3:-1] == ["note: A topic is missing.", "note: Only 2 topics."]
        assert lines[-1] == str(small().settings)
        assert repr(small()) == str(small())

    def test_a_long_list_of_numbers_is_told_by_its_ends(self):
        name, shown = f"nDCG(discount={[1.0, 0.5, *[0.25] * 98]})@100", "nDCG(discount=[1.0, 0.5, …, 0.25])@100 wins."
        assert str(small(name)).startswith(shown)
        assert shown in small(name)._repr_html_()
        assert small(name).to_dict()["verdict"] == f"{name} wins."

    def test_json(self):
        content = json.loads(json.dumps(small().to_dict()))
        assert content["verdict"] == "a wins."
        assert content["t"] == [{"run": "a"}, {"run": "b"}]
        assert [note["code"] for note in content["notes"]] == ["missing", "few-topics"]
        assert content["settings"]["sizes"] == [5, 10]

    def test_a_notebook_shows_the_same_and_obeys_nothing(self):
        shown = small("<script>alert(1)</script>")._repr_html_()
        assert "<script>" not in shown
        assert "&lt;script&gt;alert(1)&lt;/script&gt; wins." in shown
        assert "Only 2 topics." in shown
        assert "seed=3" in shown
        assert shown.count("<table>") == 1

    def test_a_chart_with_signs_that_xml_lacks(self):
        """A name of a run is enough to have them."""
        qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}
        runs = {"x\x1b\0\uffff": {"1": ["a", "b"], "2": ["b"]}, "<y>\n": {"1": ["b"], "2": ["a"]}}
        shown = gf.evaluate(qrels, runs, "AP")._repr_html_()
        assert "<svg" in shown
        assert not set(shown) & set("\x1b\0\uffff")
        assert "<y>" not in shown

    def test_pandas_without_pyarrow(self, monkeypatch):
        real = builtins.__import__
        monkeypatch.setattr(builtins, "__import__", lambda name, *rest: real(_no_pyarrow(name), *rest))
        frame = as_pandas(pl.DataFrame({"a": ["x", None], "b": [1, 2], "c": [0.5, None]}))
        assert frame["a"].tolist()[0] == "x"
        assert frame["b"].tolist() == [1, 2]
        assert frame["c"].isna().tolist() == [False, True]
        assert small().to_pandas()["x"].tolist() == [0.5]


def _no_pyarrow(name):
    if name.partition(".")[0] == "pyarrow":
        raise ImportError(name)
    return name


def test_only_what_changes_a_number_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn([Note("a", "", "Not this.")])
    with pytest.warns(GainfulWarning, match="But this"):
        warn([Note("a", "", "Not this."), Note("b", "", "But this.", warn=True)])


def test_words():
    shares = (0.0, 0.004, 0.006, 0.5, 0.994, 0.996, 1.0)
    assert [percent(share) for share in shares[:4]] == ["0%", "less than 1%", "1%", "50%"]
    assert [percent(share) for share in shares[4:]] == ["99%", "more than 99%", "100%"]
    assert [plural(n, "run") for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert [listed(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_public():
    assert (gf.Result, gf.Table, gf.Note) == (Result, Table, Note)
