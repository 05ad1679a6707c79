from __future__ import annotations

import shlex
import sys

import pytest

from gainful.cli import demo as command


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(text: str) -> list[list[str]]:
    """The command lines a text shows, as words."""
    lines = text.replace(" \\\n", " ").splitlines()
    return [shlex.split(line)[2:] for line in lines if line.startswith("$ gainful ")]


class TestTour:
    def test_shows_commands_that_give_what_it_shows(self, gainful, here):
        status, out, _ = gainful("demo")
        assert status == 0
        simulate, evaluate, explain, report = commands(out)
        assert [simulate[0], evaluate[0], explain[0], report[0]] == ["simulate", "evaluate", "explain", "report"]
        assert gainful(*evaluate).out in out
        assert gainful(*explain).out in out

    def test_ends_with_a_page(self, gainful, here):
        out = gainful("demo").out
        assert "Open demo/report.html in a browser." in out
        assert "nDCGf@20" in (here / "demo" / "report.html").read_text(encoding="utf-8")

    def test_without_the_packages_for_charts_it_says_which(self, gainful, here, monkeypatch):
        monkeypatch.setitem(sys.modules, "altair", None)
        status, out, _ = gainful("demo")
        assert status == 0
        message = "Not now: a report needs packages that are not installed: pip install '.[plots]' in a clone"
        assert message in " ".join(out.split())
        assert not (here / "demo" / "report.html").exists()

    def test_winners_differ(self, gainful, here):
        assert "The measure decides who wins:" in gainful("demo").out

    def test_is_readable_in_100_columns(self, gainful, here):
        assert max(map(len, gainful("demo").out.splitlines())) <= 100

    def test_second_tour_uses_the_folder_of_the_first(self, gainful, here):
        first = gainful("demo", "there").out
        second = gainful("demo", "there")
        assert second.status == 0
        assert "from an earlier tour" in second.out
        assert commands(second.out) == commands(first)[1:]

    def test_a_folder_whose_name_needs_quotes(self, gainful, here):
        out = gainful("demo", "my -m tour").out
        assert [words[1] for words in commands(out)[1:]] == ["my -m tour/qrels.txt"] * 3
        following = [shlex.split(line) for line in out.splitlines() if line.startswith("  gainful ")]
        assert following[0][:4] == ["gainful", "evaluate", "my -m tour/qrels.txt", "my -m tour/runs"]
        assert following[2][2] == "my -m tour/qrels.txt"

    def test_folder_of_somebody_else_is_refused(self, gainful, here):
        (here / "demo").mkdir()
        (here / "demo" / "thesis.tex").write_text("x")
        status, _, err = gainful("demo")
        assert status == 1
        message = "demo: expected a new or empty folder, got one with files in it: name another, or remove it"
        assert err == f"gainful: error: {message}\n"


def test_same_winner(monkeypatch):
    import gainful as gf

    scores = gf.evaluate({"q": {"a": 1}}, {"r": {"q": {"a": 1.0}}}, ["nDCG@20", "nDCGf@20", "Forbidden@20"])
    text = command._verdict(scores, "r", "r")
    assert text == "r wins under nDCG and under nDCGf. Of the documents that r shows, 0.0% are spam."
