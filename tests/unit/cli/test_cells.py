"""What names may not do: be computed by a spreadsheet, or be obeyed by a terminal."""

from __future__ import annotations

import csv
import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from gainful.cli.main import main
from gainful.io.scores import read_table
from gainful.tables import as_cell, for_terminal, from_cell

EVIL = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "'=x", "''@y"]
HARMLESS = ["bm25", "-5", "+0.5", "1e-3", "'quoted'", "a=b", "ü", ""]


@pytest.mark.parametrize("text", EVIL)
def test_formulas(text):
    assert as_cell(text) == f"'{text}"
    assert from_cell(as_cell(text)) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts(text):
    assert as_cell(text) == text == from_cell(text)


@pytest.mark.parametrize("value", [-1.5, -3, None, True])
def test_what_is_no_text(value):
    assert as_cell(value) is value


def test_control_characters():
    assert as_cell("a\x1b[31mb\r\n\x9b") == r"a\x1b[31mb\r\n\x9b"
    assert as_cell("\t=1") == r"\t=1"


def test_a_terminal_is_told_colours_only():
    assert for_terminal("\x1b[1;31mbest\x1b[0m\n\t.") == "\x1b[1;31mbest\x1b[0m\n\t."
    assert for_terminal("\x1b]0;title\x07 \x1b[2J \x9b1m \r") == r"\x1b]0;title\x07 \x1b[2J \x9b1m \r"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    topics = ("=1", "@2", "e\x1b[2Jf")
    Path("qrels.txt").write_text("".join(f"{topic} 0 d 1\n" for topic in topics))
    Path("=r.txt").write_text("".join(f"{topic} Q0 d 1 1 t\n" for topic in topics))
    return tmp_path


def test_csv(folder, capsysbinary):
    words = ["evaluate", "qrels.txt", "=r.txt", "-m", "P@1", "--per-topic", "--format", "csv"]
    assert main(words) == 0
    rows = list(csv.reader(io.StringIO(capsysbinary.readouterr().out.decode())))
    assert [row[0] for row in rows[1:]] == ["'=r"] * 4
    assert [row[2] for row in rows] == ["query_id", "'=1", "'@2", r"e\x1b[2Jf", "all"]
    assert main([*words, "--raw"]) == 0
    rows = list(csv.reader(io.StringIO(capsysbinary.readouterr().out.decode())))
    assert [row[2] for row in rows] == ["query_id", "=1", "@2", "e\x1b[2Jf", "all"]


def test_scores_are_read_back_as_they_were(folder):
    words = ["evaluate", "qrels.txt", "=r.txt", "-m", "P@1", "--per-topic", "-o", "scores.csv"]
    assert main(words) == 0
    _, table = read_table("scores.csv")
    assert table["run"].unique().to_list() == ["=r"]
    assert table["query_id"].to_list() == ["=1", "@2", r"e\x1b[2Jf", "all"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["trec_eval", "-q", "qrels.txt", "=r.txt"],
        *(
            ["evaluate", "qrels.txt", "=r.txt", "--per-topic", "--raw", "--format", shape]
            for shape in ("table", "csv", "json", "latex", "markdown")
        ),
    ],
    ids=lambda words: words[-1],
)
def test_a_terminal(folder, words):
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "gainful", *words], stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        shown = b""
        try:
            while some := os.read(ours, 1 << 16):
                shown += some
        except OSError:  # how Linux says that nobody writes any more
            pass
    os.close(ours)
    assert running.returncode == 0
    assert b"1b" in shown
    assert b"\x1b[2J" not in shown
