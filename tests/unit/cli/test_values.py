"""Several values of one option, in every way people write them."""

from __future__ import annotations

import json

import pytest

import gainful as gf

WAYS = {
    "commas": ("--sizes", "2,3"),
    "blanks": ("--sizes", "2", "3"),
    "commas and blanks": ("--sizes", "2,", "3"),
    "again": ("--sizes", "2", "--sizes", "3"),
    "equals": ("--sizes=2,3",),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = gf.simulate(topics=6, systems=3, depth=20, pool_depth=10, seed=3)
    path = tmp_path_factory.mktemp("made")
    gf.write_qrels(made.qrels, path / "qrels.txt")
    (path / "runs").mkdir()
    for run in made.runs:
        gf.write_run(run, path / "runs" / f"{run.name}.txt")
    return path


@pytest.mark.parametrize("command", ["reliability", "stability"])
@pytest.mark.parametrize("way", WAYS)
def test_whole_numbers(gainful, folder, command, way):
    out = gainful(command, folder / "qrels.txt", folder / "runs", *WAYS[way], "-m", "AP", "--format", "json").out
    assert json.loads(out)["settings"]["sizes"] == [2, 3]


@pytest.mark.parametrize(
    ("words", "key", "expected"),
    [
        (("robustness", "--levels", "0.5,1", "--trials", "1"), "levels", [0.5, 1.0]),
        (("robustness", "--levels", "0.5", "1", "--trials", "1"), "levels", [0.5, 1.0]),
        (("robustness", "--weights", "2,10", "--levels", "1", "--trials", "1"), "weights", [2.0, 10.0]),
        (("boundedness", "--cutoff", "5,10"), "cutoff", [5, 10]),
        (("boundedness", "--cutoff", "5", "10"), "cutoff", [5, 10]),
        (("sensitivity", "--methods", "t,tukey"), "methods", ["t", "tukey"]),
        (("sensitivity", "--methods", "t", "tukey"), "methods", ["t", "tukey"]),
        (("sensitivity", "--methods", "t", "--methods", "tukey"), "methods", ["t", "tukey"]),
        (("agreement", "--correlation", "tau_b,rbo", "-m", "AP", "-m", "RR"), "correlation", ["tau_b", "rbo"]),
        (("agreement", "--correlation", "tau_b", "rbo", "-m", "AP", "-m", "RR"), "correlation", ["tau_b", "rbo"]),
    ],
)
def test_every_command(gainful, folder, words, key, expected):
    command, *options = words
    outcome = gainful(command, folder / "qrels.txt", folder / "runs", *options, "--format", "json")
    assert outcome.status == 0, outcome.err
    assert json.loads(outcome.out)["settings"][key] == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("stability", "--sizes", "1,x"), "--sizes: expected whole numbers such as 5,10, got 'x'."),
        (("stability", "--sizes", "1.5"), "--sizes: expected whole numbers such as 5,10, got '1.5'."),
        (("reliability", "--sizes", ","), "--sizes: expected whole numbers such as 5,10, got none."),
        (("sensitivity", "--methods", "t,turkey"), "got 'turkey'. Did you mean 'tukey'?"),
        (("agreement", "--correlation", "tau"), "--correlation: expected some of tau_b,tau_a,tau_ap,rho,rbo,rms"),
    ],
)
def test_refused(gainful, folder, words, message):
    command, *options = words
    status, out, err = gainful(command, folder / "qrels.txt", folder / "runs", *options)
    assert (status, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").split())


def test_a_file_after_the_option(gainful, folder, monkeypatch):
    monkeypatch.chdir(folder)
    status, _, err = gainful("stability", "--sizes", "2,3", "qrels.txt", "runs")
    assert status == 2
    assert "got 'qrels.txt'. Files go before the option." in " ".join(err.replace("│", " ").split())
