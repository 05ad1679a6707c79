from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gainful.cli.output import (
    Table,
    as_csv,
    as_json,
    as_latex,
    as_table,
    check_targets,
    chosen_format,
    emit,
    note,
    number,
)
from gainful.errors import DataError


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


class TestTable:
    def test_numbers_to_the_right(self):
        table = Table(header=["run", "x"], rows=[["a", "1"], ["bb", "10"]])
        assert as_table(table, terminal=False).splitlines() == ["run    x", "────────", "a      1", "bb    10"]

    def test_no_colours_without_a_terminal(self, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        table = Table(header=["run", "x"], rows=[["a", "1"]], best=frozenset({(0, 1)}))
        assert "\x1b" not in as_table(table, terminal=False)

    def test_prose_is_folded(self):
        table = Table(header=["name", "text"], rows=[["a", "word " * 100]], names=(0, 1), prose=True)
        lines = as_table(table, terminal=False).splitlines()
        assert len(lines) > 5
        assert max(map(len, lines)) <= 100

    def test_bytes_of_another_encoding_are_visible(self):
        assert "\\U0010ffe9" in as_table(Table(header=["run"], rows=[["\U0010ffe9"]]), terminal=False)


def test_csv_quotes_what_needs_it():
    assert as_csv(["a", "b"], [["x,y", 0.1], ['"', None]]) == 'a,b\n"x,y",0.1\n"""",\n'


def test_json_has_no_nan():
    assert json.loads(as_json({"a": [math.nan, (math.inf, -math.inf)], 1: 0.1})) == {
        "a": [None, ["inf", "-inf"]],
        "1": 0.1,
    }


class TestLatex:
    def test_every_special_character(self):
        text = as_latex(Table(header=["run"], rows=[[r"a&b%c$d#e_f{g}h~i^j\k"]]))
        expected = r"a\&b\%c\$d\#e\_f\{g\}h\textasciitilde{}i\textasciicircum{}j\textbackslash{}k \\"
        assert text.splitlines()[4] == expected

    def test_characters_that_print_as_others(self):
        text = as_latex(Table(header=["run"], rows=[["a<b>c|d--e---f-g"]]))
        assert text.splitlines()[4] == r"a\textless{}b\textgreater{}c\textbar{}d-{}-e-{}-{}-f-g \\"

    @pytest.mark.parametrize("name", ["[1]", "*x"])
    def test_no_name_becomes_an_argument(self, name):
        lines = as_latex(Table(header=[name, "x"], rows=[[name, "1"]])).splitlines()
        assert lines[2] == rf"{{}}{name} & x \\"
        assert lines[4] == rf"{{}}{name} & 1 \\"

    def test_columns_and_numbers(self):
        table = Table(header=["rank", "document", "x"], rows=[["1", "-d", "-0.5"], ["2", "e", "-"]], names=(1,))
        lines = as_latex(table).splitlines()
        assert lines[0] == r"\begin{tabular}{rlr}"
        assert lines[4:6] == [r"1 & -d & $-$0.5 \\", r"2 & e & - \\"]


def test_notes_do_not_obey_the_names_in_them(capsys):
    note("run 'a\x1b[2Jb'\nnext")
    assert capsys.readouterr().err == "run 'a\\x1b[2Jb'\nnext\n"


class TestEmit:
    def test_bytes_of_an_id_survive(self, capfdbinary):
        # U+10FFE9 stands for the byte E9, an é in Latin-1.
        emit("caf\U0010ffe9\n")
        assert capfdbinary.readouterr().out == b"caf\xe9\n"

    def test_file_has_the_same_bytes(self, tmp_path):
        emit("caf\U0010ffe9 é\n", tmp_path / "x")
        assert (tmp_path / "x").read_bytes() == b"caf\xe9 \xc3\xa9\n"


@pytest.mark.parametrize(("name", "format"), [("x.CSV", "csv"), ("x.tex", "latex"), ("x.json", "json"), ("x", "table")])
def test_format_by_suffix(tmp_path, name, format):
    assert chosen_format(None, tmp_path / name) == format
    assert chosen_format("csv", tmp_path / name) == "csv"


class TestTargets:
    @pytest.mark.parametrize("source", ["x.csv", "sub/../x.csv", ".", "*.csv", "link.csv"])
    def test_what_is_read_is_not_written(self, tmp_path, monkeypatch, source):
        monkeypatch.chdir(tmp_path)
        Path("sub").mkdir()
        Path("x.csv").write_text("a", encoding="utf-8")
        Path("link.csv").symlink_to("x.csv")
        with pytest.raises(DataError, match=r"^x\.csv: is what is read, and would be lost: write to another file$"):
            check_targets([Path("x.csv")], ["other", source])

    def test_other_files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("x.csv").write_text("a", encoding="utf-8")
        Path("y.csv").write_text("a", encoding="utf-8")
        check_targets([Path("y.csv"), Path("new.csv"), Path("-"), Path("/dev/stdout")], ["x.csv", "-", "new.csv"])

    def test_no_folder(self):
        with pytest.raises(DataError, match=r"^nodir/x\.csv: expected a folder that exists, got 'nodir'$"):
            check_targets([Path("nodir/x.csv")], [])
