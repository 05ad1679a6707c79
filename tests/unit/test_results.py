"""What every result has for nothing: print, notebook, frames, JSON; and how tables are printed."""

from __future__ import annotations

import builtins
import json
import math
import warnings
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.data.policies import Policies
from gainful.errors import GainfulWarning
from gainful.results import Column, Note, Result, Settings, Table, as_pandas, listed, number, percent, plural, warn


def table(rows, headers=None, **more):
    return Table.of("t", pl.DataFrame(rows), headers, **more)


class TestNumber:
    @pytest.mark.parametrize(
        ("value", "text"),
        [(0.12345, "0.1235"), (1, "1.0000"), (-0.00001, "0.0000"), (-0.5, "-0.5000"), (math.nan, "-"), (None, "-")],
    )
    def test_four_decimals(self, value, text):
        assert number(value) == text

    def test_counts(self):
        assert number(1234.0, whole=True) == "1234"
        assert number(0.5, whole=True) == "0.5000"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("text", "a", "a"),
        ("text", None, ""),
        ("text", True, "yes"),
        ("score", 0.5, "0.5000"),
        ("score", math.nan, "-"),
        ("count", 12, "12"),
        ("count", None, "-"),
        ("level", 0.05, "0.05"),
        ("p", 0.00004, "<0.0001"),
        ("p", 0.03, "0.0300"),
        ("signed", 0.25, "+0.2500"),
        ("signed", -0.00001, "+0.0000"),
        ("variance", 0.0012346, "0.001235"),
        ("number", 1234567.0, "1.23457e+06"),
        ("ratio", "> 1,000", "> 1,000"),
    ],
)
def test_cells(kind, value, text):
    assert Column("x", "x", kind).cell(value) == text


class TestTable:
    def test_columns_by_type(self):
        made = table({"run": ["a"], "n": [3], "x": [0.5]})
        assert [column.kind for column in made.columns] == ["text", "count", "score"]
        assert made.cells() == [["a", "3", "0.5000"]]

    def test_headers_choose_and_order(self):
        made = table({"run": ["a"], "n": [3], "x": [0.5]}, {"x": ("share of it", "level"), "run": "name"})
        assert made.text().splitlines() == ["share of it   name", "──────────────────", "        0.5   a"]

    def test_numbers_to_the_right(self):
        made = table({"run": ["a", "bb"], "x": [1, 10]})
        assert made.text().splitlines() == ["run    x", "────────", "a      1", "bb    10"]

    def test_no_colours_without_a_terminal(self, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        made = table({"run": ["a"], "x": [1]}, best=frozenset({(0, 1)}))
        assert "\x1b" not in made.text()
        assert "\x1b" in made.text(terminal=True)

    def test_prose_is_folded(self):
        lines = table({"name": ["a"], "text": ["word " * 100]}, prose=True).text().splitlines()
        assert len(lines) > 5
        assert max(map(len, lines)) <= 100

    def test_bytes_of_another_encoding_are_visible(self):
        assert "\\U0010ffe9" in table({"run": ["\U0010ffe9"]}).text()

    def test_html_is_escaped(self):
        made = table({"<i>": ["<script>&"]}, title="a<b").html()
        assert "<script>" not in made
        assert "<i>" not in made
        assert "&lt;script&gt;&amp;" in made
        assert "<caption>a&lt;b</caption>" in made


class TestLatex:
    def test_every_special_character(self):
        text = table({"run": [r"a&b%c$d#e_f{g}h~i^j\k"]}).latex()
        expected = r"a\&b\%c\$d\#e\_f\{g\}h\textasciitilde{}i\textasciicircum{}j\textbackslash{}k \\"
        assert text.splitlines()[4] == expected

    def test_latex_has_letters_of_formulas_as_formulas(self):
        text = table({"run": ["Φ ≤ 1 → †"]}, {"run": "Eρ² (α=0.05)"}).latex()
        assert r"E$\rho$$^2$ ($\alpha$=0.05) \\" in text
        assert r"$\Phi$ $\leq$ 1 $\to$ $\dagger$ \\" in text

    def test_characters_that_print_as_others(self):
        text = table({"run": ["a<b>c|d--e---f-g"]}).latex()
        assert text.splitlines()[4] == r"a\textless{}b\textgreater{}c\textbar{}d-{}-e-{}-{}-f-g \\"

    @pytest.mark.parametrize("name", ["[1]", "*x"])
    def test_no_name_becomes_an_argument(self, name):
        lines = table({name: [name], "x": [1]}).latex().splitlines()
        assert lines[2] == rf"{{}}{name} & x \\"
        assert lines[4] == rf"{{}}{name} & 1 \\"

    def test_marks_are_superscripts(self):
        rows = {"run": ["a", "b", "c"], "x": [0.5, 0.25, 0.1], "marks": ["bc", "‡", ""], "y": [1, 2, 3]}
        shown = table(rows, {"run": "run", "x": "x", "marks": ("better than", "marks"), "y": "y"})
        assert shown.latex().splitlines()[2:7] == [
            r"run & x & y \\",
            r"\midrule",
            r"a & 0.5000$^{bc}$ & 1 \\",
            r"b & 0.2500$^{\ddagger}$ & 2 \\",
            r"c & 0.1000 & 3 \\",
        ]
        assert "better than" in shown.text()

    def test_columns_and_numbers(self):
        rows = {"rank": [1, 2], "document": ["-d", "e"], "x": [-0.5, None]}
        lines = table(rows, {"rank": "rank", "document": "document", "x": ("x", "level")}).latex().splitlines()
        assert lines[0] == r"\begin{tabular}{rlr}"
        assert lines[4:6] == [r"1 & -d & $-$0.5 \\", r"2 & e & - \\"]


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
