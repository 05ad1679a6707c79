from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gainful.cli.output import as_csv, as_json, check_targets, chosen_format, emit, note
from gainful.errors import DataError


def test_csv_quotes_what_needs_it():
    assert as_csv(["a", "b"], [["x,y", 0.1], ['"', None]]) == 'a,b\n"x,y",0.1\n"""",\n'


def test_json_has_no_nan():
    assert json.loads(as_json({"a": [math.nan, (math.inf, -math.inf)], 1: 0.1})) == {
        "a": [None, ["inf", "-inf"]],
        "1": 0.1,
    }


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
