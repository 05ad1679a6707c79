from __future__ import annotations

import csv
import io
import json
import re

import pytest

import gainful as gf

POLICIES = "ties=trec unjudged=zero missing=empty degenerate=nan duplicates=error"


@pytest.fixture
def files(tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("1 0 good 2\n1 0 spam -1\n2 0 good 1\n2 0 spam -2\n3 0 good 1\n")
    run.write_text("1 Q0 good 1 9 run\n2 Q0 spam 1 9 run\n3 Q0 good 1 9 run\n")
    return qrels, run


def tables(out: str) -> list[list[list[str]]]:
    """Per table its header, and the words of each row."""
    found = [table.splitlines() for table in out.split("\n\n")[1:]]
    return [[re.split(" {2,}", header.strip()), *(row.split() for row in rows)] for header, _, *rows in found]


def test_topics_alone(gainful, files):
    """k = 1: -1/2, -2/1 and 1/1."""
    status, out, err = gainful("boundedness", files[0], "--cutoff", "1")
    assert status == 0
    assert " ".join(out.split("\n\n")[0].split()) == (
        "nDCGorg@1 of the worst ordering is below 0 in 2 of 3 topics, and at or below -1 in 1. "
        "nDCGf never leaves [0, 1]."
    )
    assert tables(out) == [
        [
            ["cutoff", "topics", "nDCGorg can be < 0", "share", "can be ≤ -1", "share", "lowest nDCGorg", "undefined"],
            ["1", "3", "2", "0.6667", "1", "0.3333", "-2.0000", "0"],
        ]
    ]
    assert err == f"boundedness: 3 topics; cutoff=1 gains=linear discount=log2 {POLICIES}\n"


def test_runs(gainful, files):
    """At 2, (good) of {2, -1} is over, (spam) of {1, -2} under I and W; (good) of {1} is all there is."""
    status, out, _ = gainful("boundedness", *files, "--cutoff", "2", "5")
    assert status == 0
    topics, runs = tables(out)
    assert [row[:2] for row in topics[1:]] == [["2", "3"], ["5", "3"]]
    header = ["run", "cutoff", "topics", "nDCGmin > 1", "nDCGmin < 0", "outside [0, 1]", "nDCGorg < 0", "nDCGorg > 1"]
    assert runs[0] == header
    assert [row[:6] for row in runs[1:]] == [
        ["run", "2", "3", "1", "1", "0.6667"],
        ["run", "5", "3", "1", "1", "0.6667"],
    ]


def test_gains(gainful, files):
    _, out, err = gainful("boundedness", files[0], "--cutoff", "1", "--gains", "{-2: -10, -3: -20}")
    assert tables(out)[0][1][-2] == "-10.0000"
    remark, settings = err.splitlines()
    assert remark == "note: The gains name labels that no document has: -3. There are: -2, -1, 1, 2."
    assert settings.startswith("boundedness: 3 topics; cutoff=1 gains={-3: -20, -2: -10} ")


def test_without_negative_labels_it_says_so(gainful, tmp_path):
    (tmp_path / "q.txt").write_text("1 0 a 1\n1 0 b 0\n")
    status, out, _ = gainful("boundedness", tmp_path / "q.txt")
    assert status == 0
    assert tables(out)[0][1][2:4] == ["0", "0.0000"]
    assert out.startswith("No label has a negative gain: nDCGorg lies between 0 and 1 in every topic.\n")


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
    assert content["settings"]["discount"] == "[1, 0.5]"
    expected = gf.boundedness(files[0], discount=[1.0, 0.5], cutoff=2)
    assert [topic["worst"] for topic in content["topics"]] == expected.worst[0].tolist()
    assert expected.worst[0].tolist() != gf.boundedness(files[0], cutoff=2).worst[0].tolist()
