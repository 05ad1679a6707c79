from __future__ import annotations

import csv
import io
import json
import re

import pytest

import gainful as gf

POLICIES = "ties=trec unjudged=zero missing=empty duplicates=error"


@pytest.fixture
def files(tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("1 0 good 2\n1 0 spam -1\n2 0 good 1\n2 0 spam -2\n3 0 good 1\n")
    run.write_text("1 Q0 good 1 9 run\n2 Q0 spam 1 9 run\n3 Q0 good 1 9 run\n")
    return qrels, run


def test_topics_alone(gainful, files):
    """k = 1: -1/2, -2/1 and 1/1."""
    status, out, err = gainful("boundedness", files[0], "--cutoff", "1")
    assert status == 0
    assert out.splitlines()[2:] == ["     1        3              2 (67%)       1 (33%)          -2.0000           0"]
    assert err == f"boundedness: 3 topics; cutoff=1 gains=linear discount=log2 {POLICIES}\n"


def test_runs(gainful, files):
    """At 2, (good) of {2, -1} is over, (spam) of {1, -2} under I and W; (good) of {1} is all there is."""
    status, out, _ = gainful("boundedness", *files, "--cutoff", "2", "5")
    assert status == 0
    topics, runs = (block.splitlines() for block in out.split("\n\n"))
    assert [line.split()[:2] for line in topics[2:]] == [["2", "3"], ["5", "3"]]
    header = ["run", "cutoff", "topics", "nDCGmin > 1", "nDCGmin < 0", "outside [0, 1]", "nDCGorg < 0", "nDCGorg > 1"]
    assert re.split(" {2,}", runs[0]) == header
    assert [line.split()[:6] for line in runs[2:]] == [
        ["run", "2", "3", "1", "1", "66.7%"],
        ["run", "5", "3", "1", "1", "66.7%"],
    ]


def test_gains(gainful, files):
    _, out, err = gainful("boundedness", files[0], "--cutoff", "1", "--gains", "{-2: -10, -3: -20}")
    assert out.splitlines()[2].split()[-2] == "-10.0000"
    assert err.splitlines()[0].startswith("boundedness: 3 topics; cutoff=1 gains={-3: -20, -2: -10} ")
    assert err.splitlines()[1] == "note: gains names labels that no document has: -3; there are: -2, -1, 1, 2"


def test_without_negative_labels_it_says_so(gainful, tmp_path):
    (tmp_path / "q.txt").write_text("1 0 a 1\n1 0 b 0\n")
    status, out, err = gainful("boundedness", tmp_path / "q.txt")
    assert status == 0
    assert out.splitlines()[2].split()[2:4] == ["0", "(0%)"]
    assert err.splitlines()[1] == (
        "No label has a negative gain: nDCGorg is bounded, it lies between 0 and 1 in every topic."
    )


def test_csv_and_json_are_those_of_the_function(gainful, files):
    found = gf.boundedness(*files, cutoff=2)
    rows = list(csv.DictReader(io.StringIO(gainful("boundedness", *files, "--cutoff", "2", "--format", "csv").out)))
    assert [float(row["min_sublists_high"]) for row in rows[:2]] == found.to_frame()["min_sublists_high"].to_list()[:2]
    content = json.loads(gainful("boundedness", *files, "--cutoff", "2", "--format", "json").out)
    assert content["runs"] == found.runs().to_dicts()


def test_a_run_without_any_topic(gainful, files, tmp_path):
    (tmp_path / "none.txt").write_text("9 Q0 good 1 9 none\n")
    _, out, _ = gainful("boundedness", files[0], tmp_path / "none.txt", "--missing", "skip")
    assert out.splitlines()[-1].split() == ["none", "20", "0", "0", "0", "-", "0", "0"]


def test_chart(gainful, files, tmp_path):
    assert gainful("boundedness", *files, "--chart", tmp_path / "c.svg").status == 0
    assert "nDCGorg" in (tmp_path / "c.svg").read_text(encoding="utf-8")


def test_refused(gainful, files):
    status, out, err = gainful("boundedness", *files, "--cutoff", "0")
    assert (status, out) == (1, "")
    assert err == (
        "gainful: error: The 'cutoff' parameter of nDCG must be a whole number of at least 1, got 0 instead.\n"
    )
    assert gainful("boundedness", *files, "--cutoff", "1.5").status == 2


@pytest.mark.parametrize("discount", ["[1, 0.5]", " [1.0,.5] ", "(1, 0.5)"])
def test_discount_as_a_list(gainful, files, discount):
    status, out, err = gainful("boundedness", files[0], "--discount", discount, "--cutoff", "2", "--format", "json")
    assert status == 0, err
    content = json.loads(out)
    assert content["discount"] == "[1, 0.5]"
    expected = gf.boundedness(files[0], discount=[1.0, 0.5], cutoff=2)
    assert [topic["worst"] for topic in content["topics"]] == expected.worst[0].tolist()
    assert expected.worst[0].tolist() != gf.boundedness(files[0], cutoff=2).worst[0].tolist()
