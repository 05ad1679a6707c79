"""`gainful optimize`: what it prints is what the function gives, and what it saves is what `evaluate` takes."""

import json

import pytest

import gainful as gf


@pytest.fixture
def web(gainful, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in ("3", "4"):
        assert (
            gainful("simulate", f"web{seed}", "--topics", "12", "--systems", "8", "--depth", "20", "--seed", seed)[0]
            == 0
        )
    return "web3/qrels.txt", "web3/runs"


QUICK = ("--cutoff", "5", "--splits", "1", "--resamples", "20")


def test_table(gainful, web):
    status, out, err = gainful("optimize", *web, *QUICK, "--save", "opt.json")
    best = gf.optimize(*web, cutoff=5, splits=1, resamples=20)
    assert status == 0
    assert " ".join(out.split()).startswith(best.verdict())
    assert all(table.text() in out for table in best.tables())
    assert str(best.settings) in err
    assert all(note.text in " ".join(err.split()) for note in best.notes())
    assert err.endswith("saved to: opt.json\n")
    status, out, _ = gainful("evaluate", *web, "-m", "@opt.json", "--format", "csv")
    assert status == 0
    means = gf.evaluate(*web, best.measure).mean()
    assert f'{means["run"][0]},"{best.measure}",all,{means[str(best.measure)][0]!r}' in out


def test_long_names_are_short_in_tables(gainful, web):
    label = "nDCG(discount=[1, 0.9, 0.8, 0.7, 0.6, 0.5])@6"
    for style in ("table", "latex"):
        out = gainful("evaluate", *web, "-m", label, "--format", style).out
        assert "nDCG(discount=[1, 0.9, …, 0.5])@6" in out
    assert label in gainful("evaluate", *web, "-m", label, "--format", "csv").out
    kept = "nDCG(discount=[1, 0.9, 0.8, 0.7, 0.6])@6"
    assert kept in gainful("evaluate", *web, "-m", kept).out


def test_both_of_several(gainful, web):
    words = (
        "--target",
        "both",
        "--cutoff",
        "3",
        "--cutoff",
        "5",
        "--starts",
        "1",
        "--also",
        "web4/qrels.txt",
        "web4/runs",
    )
    status, out, _ = gainful("optimize", *web, *words, "--splits", "0", "--resamples", "20", "--format", "json")
    assert status == 0
    content = json.loads(out)
    assert [(part["collection"], part["cutoff"]) for part in content["collections"]] == [
        ("qrels.txt (1)", 3),
        ("qrels.txt (1)", 5),
        ("qrels.txt (2)", 3),
        ("qrels.txt (2)", 5),
    ]
    assert content["collections"][0]["candidates"][0]["held_out_phi"] is None
    out = gainful("optimize", *web, *words, "--splits", "0", "--resamples", "20").out
    assert "\ncollection      cutoff   candidate " in out
    assert "gain, relative" in out
    assert "label 4" in out


def test_chart(gainful, web, tmp_path):
    status, _, err = gainful("optimize", *web, *QUICK, "--chart", "found.svg")
    assert status == 0
    assert "Mean scores against those of the optimum" in (tmp_path / "found.svg").read_text(encoding="utf-8")
    assert err.endswith("chart: found.svg\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--save", "opt.txt"), "opt.txt: expected a name that ends in .json"),
        (("--save", "no/opt.json"), "no/opt.json: expected a folder that exists, got 'no'"),
        (("--save", "x.json", "--chart", "x.json"), "x.json: is to be written twice: give each its own name"),
        (
            ("--output", "web3/qrels.txt"),
            "web3/qrels.txt: is what is read, and would be lost: write to another file",
        ),
        (("--cutoff", "1"), "--cutoff: expected at least 2 ranks to weigh against each other, got 1"),
        (("--splits", "-1"), "--splits: expected a whole number of at least 0, got -1"),
    ],
)
def test_errors(gainful, web, words, message):
    assert gainful("optimize", *web, *words) == (1, "", f"gainful: error: {message}\n")


def test_wrong_files(gainful, web, tmp_path):
    assert gainful("optimize", *web, "-m", "@none.json").status == 2
    status, _, err = gainful("evaluate", *web, "-m", "@none.json")
    assert (status, err) == (1, "gainful: error: none.json: no such file\n")
    (tmp_path / "opt.json").write_text('{"measure": "AP"}')
    status, _, err = gainful("evaluate", *web, "@opt.json")
    assert (status, err) == (
        1,
        "gainful: error: @opt.json: no such file; if you mean the measure, write -m @opt.json\n",
    )
