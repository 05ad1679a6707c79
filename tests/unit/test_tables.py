"""How tables are printed."""

from __future__ import annotations

import math

import polars as pl
import pytest

from gainful.tables import Column, Table, number


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

    def test_columns_need_no_frame(self):
        rows = {"run": ["a", "b"], "n": [None, 3], "x": [math.nan, 0.5], "y": [None, None]}
        made = Table.of("t", rows, best=frozenset({(0, 1), (1, 2)}))
        assert [column.kind for column in made.columns] == ["text", "count", "score", "text"]
        assert made.cells() == [["a", "-", "-", ""], ["b", "3", "0.5000", ""]]
        assert made.frame.rows() == [("a", None, pytest.approx(math.nan, nan_ok=True), None), ("b", 3, 0.5, None)]
        assert made.head(1).cells() == [["a", "-", "-", ""]]
        assert made.head(1).best == {(0, 1)}

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
        assert "caf\\xe9" in table({"run": ["caf\U0010ffe9"]}).text()
        assert "\\U0010ff7e" in table({"run": ["\U0010ff7e"]}).text()

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
