"""`gainful sensitivity`, with all that analyses share: where scores come from and where results go."""

from __future__ import annotations

import json

import pytest

SCORES = "query_id,a,b,c\n1,.1,.3,.3\n2,.2,.5,.5\n3,.3,.4,.4\n4,.4,.6,.6\n5,.5,.7,.7\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES, encoding="utf-8")
    return path


def test_table(gainful, table):
    status, out, err = gainful("sensitivity", "--scores", table, "--methods", "t", "--methods", "tukey")
    assert status == 0
    verdict, tests = out.split("\n\n")
    assert verdict.startswith("score tells 67% of the 3 pairs of runs apart (paired t-test, α = 0.05, not corrected ")
    lines = tests.splitlines()
    assert lines[0].split() == ["measure", "method", "pairs", "told", "apart", "(α=0.05)", "detectable", "difference"]
    # a differs from b and c by .2 in the mean, sd .0707: t = 6.32, p = .0032; b and c are the same.
    assert lines[2].split() == ["score", "t", "3", "0.6667", "0.2000"]
    assert err == "sensitivity: 3 runs, 5 topics; methods=t,tukey alpha=0.05 resamples=1000 seed=0 gaps=error\n"


def test_notes(gainful, table):
    table.write_text("query_id,a,b\n1,.1,.3\n2,.2,.5\n", encoding="utf-8")
    assert "note: score: 1 of 1 pairs differ on fewer than 5 topics" in gainful("sensitivity", "--scores", table).err


def test_json_and_latex(gainful, table):
    content = json.loads(gainful("sensitivity", "--scores", table, "--format", "json", "--seed", "3").out)
    assert content["settings"]["seed"] == 3
    assert content["tests"][0]["discriminative_power"]["0.05"] == pytest.approx(2 / 3)
    latex = gainful("sensitivity", "--scores", table, "--format", "latex").out
    assert latex.startswith("\\begin{tabular}{llrrr}\n\\toprule\n")


@pytest.mark.parametrize(
    ("ending", "start"), [(".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF"), (".html", b"<!DOCTYPE html>")]
)
def test_chart(gainful, table, tmp_path, ending, start):
    path = tmp_path / f"chart{ending}"
    status, _, err = gainful("sensitivity", "--scores", table, "--methods", "t", "--chart", path)
    assert status == 0
    assert path.read_bytes().startswith(start)
    assert f"chart: {path}\n" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected judgments and runs, or --scores FILE, got none"),
        (["qrels.txt"], "expected judgments and runs, or --scores FILE, got only 'qrels.txt'"),
        (["q", "r", "--scores", "s.csv"], "expected either judgments and runs or --scores FILE, got both: q r"),
        (["--scores", "no.csv"], "no.csv: no such file."),
        (
            ["--scores", "s.csv", "--chart", "c.gif"],
            "c.gif: expected a name that ends in .html, .svg, .png, .pdf, .json",
        ),
        (["--scores", "s.csv", "-m", "AP"], "No scores of 'AP'; there are: score."),
        (["--scores", "s.csv", "--alpha", "5"], "--alpha: expected a number between 0 and 1, both excluded, got 5.0"),
        (["q", "AP"], "AP: no such file; if you mean the measure, write -m AP"),
    ],
)
def test_refused(gainful, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text(SCORES, encoding="utf-8")
    assert gainful("sensitivity", *words) == (1, "", f"gainful: error: {message}\n")


def test_unwritable_chart_is_refused_before_the_work(gainful, tmp_path):
    path = tmp_path / "no" / "c.svg"
    message = f"gainful: error: {path}: expected a folder that exists, got {str(path.parent)!r}\n"
    assert gainful("sensitivity", "--scores", "nosuch.csv", "--chart", path) == (1, "", message)
