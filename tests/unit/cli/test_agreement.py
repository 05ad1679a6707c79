from __future__ import annotations

import json

import pytest

# By AP a b c, by RR b a c and by P@5 all alike.
SCORES = {
    "AP": ((0.9, 0.7), (0.6, 0.6), (0.1, 0.2)),
    "RR": ((0.5, 0.6), (1.0, 1.0), (0.2, 0.1)),
    "P@5": ((0.4, 0.4),) * 3,
}


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    rows = [
        f"{run},{measure},{topic + 1},{systems[at][topic]}"
        for measure, systems in SCORES.items()
        for at, run in enumerate("abc")
        for topic in range(2)
    ]
    path.write_text("\n".join(["run,measure,query_id,score", *rows]) + "\n", encoding="utf-8")
    return path


def test_table(gainful, scores):
    status, out, err = gainful("agreement", "--scores", scores, "-m", "AP", "-m", "RR", "--spread", "0.9")
    assert status == 0
    assert out.startswith("AP and RR order 3 runs with Kendall's τ_b = 0.33 (")
    lines = [line.split() for line in out.splitlines()]
    assert "resampled 5%   resampled 95%" in out
    # Of three pairs one is reversed: τ = 1/3, ρ = 1 − 6·2/24 = 1/2; a before b, b before a: τ_AP = (0 + 1) − 1.
    (row,) = (line for line in lines if line[:2] == ["AP", "RR"])
    assert (row[2], row[5:8]) == ("0.3333", ["0.3333", "0.0000", "0.5000"])
    assert row[9] == "0.2723"  # differences .8 − .55, .6 − 1, .15 − .15: √(.2225/3)
    moved = lines.index(["run", "rank", "by", "AP", "rank", "by", "RR", "places", "up"])
    assert lines[moved + 2 : moved + 5] == [["a", "1", "2", "-1"], ["b", "2", "1", "1"], []]  # c stays third
    assert lines[-2:] == [["AP", "a"], ["RR", "b"]]
    assert err.splitlines()[-1].startswith("agreement: 3 runs, 2 topics; correlation=tau_b,")


def test_ties_are_said(gainful, scores):
    out, err = gainful("agreement", "--scores", scores, "-m", "AP", "-m", "P@5", "--correlation", "tau_b")[1:]
    rows = [line.split() for line in out.splitlines()]
    assert ["AP", "P@5", "-", "-", "-", "a", "(1", "→", "2)"] in rows
    assert ["a", "1", "2", "-1"] in rows  # all share the rank 2
    assert ["P@5", "a,", "b,", "c", "(tied)"] in rows
    assert "note: By P@5, all runs are tied: it has no order to agree with.\n" in err


def test_many_ties_are_cut_short(gainful, tmp_path):
    path = tmp_path / "scores.csv"
    rows = [f"s{run},{measure},{topic},1" for run in range(8) for measure in ("AP", "RR") for topic in (1, 2)]
    path.write_text("\n".join(["run,measure,query_id,score", *rows]) + "\n", encoding="utf-8")
    assert "AP        s0, s1, s2, s3, s4 and 3 more (tied)\n" in gainful("agreement", "--scores", path).out


def test_undefined_is_null_in_json(gainful, scores):
    words = ("agreement", "--scores", scores, "-m", "AP", "-m", "P@5", "--correlation", "tau_b", "--format", "json")
    assert json.loads(gainful(*words).out)["coefficients"][0]["value"] is None


def test_one_measure_is_refused(gainful, scores):
    ended = gainful("agreement", "--scores", scores, "-m", "AP")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == (
        "gainful: error: expected at least 2 measures to set against each other, got 1: AP; name more, such as "
        "nDCG@10 and AP, or give a table that has several\n"
    )
