"""`gainful compare --fail-if-worse`: what stops a build."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

# c is clearly worse than a, b is told from neither.
BASE = np.array([0.2, 0.5, 0.3, 0.6, 0.1, 0.4])
BETTER = BASE + np.array([0.11, 0.09, 0.12, 0.10, 0.08, 0.10])
NOISY = BASE + 0.05 + np.array([0.3, -0.2, 0.2, -0.3, 0.2, -0.2])
LATENCY = (
    "note: gainful does not know 'latency', and takes a higher score for better; --lower-is-better says otherwise.\n"
)


@pytest.fixture
def scores(tmp_path):
    pl.DataFrame({"c": BASE, "a": BETTER, "b": NOISY}).write_csv(tmp_path / "scores.csv")
    return tmp_path / "scores.csv"


@pytest.fixture
def two(tmp_path):
    pl.DataFrame({"old": BETTER, "new": BASE}).write_csv(tmp_path / "two.csv")
    return tmp_path / "two.csv"


def rows(out: str) -> dict[str, list[str]]:
    """The first table: what stands after each run."""
    return {line.split()[0]: line.split()[1:] for line in out.split("\n\n")[1].splitlines()[2:]}


def test_worse(gainful, two):
    status, out, err = gainful("compare", "--scores", two, "--baseline", "old", "--fail-if-worse")
    assert status == 3
    assert "0.3500" in out
    assert err.splitlines()[-1].startswith("fail: score: 'new' is worse than 'old': 0.3500 and 0.4500, p = ")


def test_not_worse(gainful, two):
    status, _, err = gainful("compare", "--scores", two, "--baseline", "new", "--fail-if-worse")
    assert status == 0
    assert err.splitlines()[-1] == "pass: no run is significantly worse than 'new' in score (alpha=0.05)"


def test_worse_without_being_asked(gainful, two):
    status, _, err = gainful("compare", "--scores", two, "--baseline", "old")
    assert status == 0
    assert "fail" not in err


def test_not_shown_to_be_within_the_margin(gainful, scores):
    """b is better in the mean, but with six topics that differ much it may as well be a lot worse."""
    status, _, err = gainful("compare", "--scores", scores, "--baseline", "c", "--fail-if-worse", "--margin", "0.05")
    assert status == 3
    # .05 - t(.95; 5)·√(.068/6) = -.1645
    fail = [line for line in err.splitlines() if line.startswith("fail")]
    assert len(fail) == 1
    assert fail[0].startswith("fail: score: 'b' could be worse than 'c' by up to 0.1645; 0.05 is allowed")


def test_within_the_margin(gainful, two):
    """The lower bound of the difference is -.1 - t(.95; 5)·√(.0002/6) = -.1116."""
    words = ("compare", "--scores", two, "--baseline", "old", "--fail-if-worse", "--margin")
    assert gainful(*words, "0.1116").status == 3
    status, _, err = gainful(*words, "0.1117")
    assert status == 0
    passed = "pass: no run could be worse than 'old' by more than 0.1117 in score (0.95 confidence)"
    assert err.splitlines()[-1] == passed


def test_no_more_than_0_worse(gainful, tmp_path):
    pl.DataFrame({"old": BASE, "new": BASE}).write_csv(tmp_path / "same.csv")
    words = ("compare", "--scores", tmp_path / "same.csv", "--baseline", "old", "--fail-if-worse", "--margin", "0")
    assert gainful(*words).status == 0


def test_ranks_and_mean_disagree(gainful, tmp_path):
    """19 small wins and one large loss: better by Wilcoxon's test, which is told, and not worse."""
    new = 0.9 + np.array([*(0.01 + 0.0005 * np.arange(19)), -0.9])
    pl.DataFrame({"old": np.full(20, 0.9), "new": new}).write_csv(tmp_path / "s.csv")
    words = ("compare", "--scores", tmp_path / "s.csv", "--test", "wilcoxon", "--fail-if-worse", "--baseline")
    status, out, err = gainful(*words, "old")
    note = "note: score: 'new' is significantly better than 'old' by signed ranks, but not by its mean.\n"
    assert status == 0
    assert rows(out)["new"] == ["0.8688", "†"]
    assert note in err
    assert note in gainful(*words, "old", "--format", "csv").err
    status, out, err = gainful(*words, "new")
    assert status == 3
    assert rows(out)["old"] == ["0.9000", "‡"]
    assert "note: score: 'old' is significantly worse than 'new' by signed ranks, but not by its mean.\n" in err


def test_many_disagreements_are_counted(gainful, tmp_path):
    runs = {f"r{i}": 0.9 + np.array([*(0.01 + 0.0005 * np.arange(19)), -0.9]) * i for i in range(5)}
    pl.DataFrame(runs).write_csv(tmp_path / "s.csv")
    err = gainful("compare", "--scores", tmp_path / "s.csv", "--test", "wilcoxon").err
    assert err.count("by signed ranks") == 5
    assert "note: The same holds for 5 more pairs.\n" in err  # of 10


@pytest.fixture
def latency(tmp_path):
    rows = {"run": ["old"] * 6 + ["new"] * 6, "query_id": [f"q{i}" for i in range(6)] * 2}
    frame = pl.DataFrame(rows).with_columns(measure=pl.lit("latency"), score=pl.Series([*BASE, *BETTER]))
    frame.write_csv(tmp_path / "latency.csv")
    return tmp_path / "latency.csv"


def test_measures_that_are_not_known(gainful, latency):
    words = ("compare", "--scores", latency, "--baseline", "old")
    status, _, err = gainful(*words, "--fail-if-worse")
    assert status == 0
    assert LATENCY in err
    assert LATENCY not in gainful(*words).err


def test_lower_is_better(gainful, latency):
    words = ("compare", "--scores", latency, "--baseline", "old", "--lower-is-better", "latency")
    status, out, err = gainful(*words, "--fail-if-worse")
    assert status == 3
    assert rows(out)["new"] == ["0.4500", "‡"]
    assert "gainful does not know" not in err
    assert "fail: latency: 'new' is worse than 'old': 0.4500 and 0.3500" in err


def test_level(gainful, two):
    words = ("compare", "--scores", two, "--baseline", "old", "--fail-if-worse", "--alpha", "0.00001")
    assert gainful(*words).status == 0


def test_junit(gainful, two, tmp_path):
    words = ("compare", "--scores", two, "--baseline", "old", "--junit", tmp_path / "j.xml")
    assert gainful(*words, "--fail-if-worse").status == 3
    (case,) = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (case.get("classname"), case.get("name")) == ("score", "new against old")
    assert case.find("failure").text.startswith("score: 'new' is worse than 'old': 0.3500 and 0.4500")
    refused = gainful(*words)
    assert refused.status == 1
    assert "expected --fail-if-worse with it" in refused.err
