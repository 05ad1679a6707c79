"""Analyses tell what evaluate tells: of topics that a run lacks, that have no judgments, that were dropped."""

from __future__ import annotations

import pytest

ANALYSES = ["compare", "reliability", "stability", "sensitivity", "agreement", "topics"]
TOPICS = range(1, 9)


def write(path, topics, first):
    """A run that has the relevant document at rank 1 in some topics, else at rank 3."""
    places = {t: 1 if t in first else 3 for t in topics}
    lines = [f"{t} Q0 {'d' if r == rank else f'x{r}'} {r} {-r} x\n" for t, rank in places.items() for r in (1, 2, 3)]
    path.write_text("".join(lines))
    return path


@pytest.fixture
def files(tmp_path):
    """Of the judged topics 1 to 8, one run has all, one has 5 and one topic more, and one has none."""
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{t} 0 d 1\n" for t in TOPICS))
    return [
        qrels,
        write(tmp_path / "whole", TOPICS, (1, 2, 4)),
        write(tmp_path / "partial", [1, 2, 3, 4, 5, 90], (2, 5)),
        write(tmp_path / "stranger", [91, 92], ()),
    ]


@pytest.mark.parametrize("analysis", ANALYSES)
def test_topics_that_a_run_lacks_or_that_have_no_judgments(gainful, files, analysis):
    status, _, err = gainful(analysis, *files, "-m", "RR", "-m", "P@1")
    assert status == 0
    assert err.splitlines()[:3] == [
        "note: Run 'stranger' has none of the judged topics: a topic of it is '91', one of the judgments '1'. Do these "
        "judgments belong to it?",
        "note: Judged topics for which a run returns nothing count as empty rankings (missing=empty): 3 of 'partial'.",
        "note: Topics of a run without judgments are ignored: 1 of 'partial', 2 of 'stranger'.",
    ]


@pytest.mark.parametrize("analysis", ANALYSES)
def test_topics_that_were_dropped(gainful, files, analysis):
    status, _, err = gainful(analysis, *files[:3], "-m", "RR", "-m", "P@1", "--missing", "skip", "--gaps", "drop")
    assert status == 0
    assert "note: By RR, 3 of 8 topics are left out: some run has no score there." in err.splitlines()
    assert "note: By P@1, 3 of 8 topics are left out: some run has no score there." in err.splitlines()


def test_a_table_tells_of_what_was_dropped_only(gainful, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("query_id,a,b\n1,0.1,0.2\n2,,0.3\n3,0.4,0.1\n4,0.2,0.3\n")
    status, _, err = gainful("topics", "--scores", table, "--gaps", "drop")
    assert status == 0
    assert err.splitlines()[0] == "note: By score, 1 of 4 topics is left out: some run has no score there."
    assert "judged" not in err


def test_a_failing_run_says_how_many_of_its_topics_were_empty(gainful, files):
    status, _, err = gainful(
        "compare", *files[:3], "-m", "P@3", "--baseline", "whole", "--fail-if-worse", "--alpha", "0.2"
    )
    assert status == 3
    assert "(missing=empty): 3 of 'partial'" in err


@pytest.mark.parametrize("shape", ["table", "csv"])
def test_few_topics(gainful, tmp_path, shape):
    (tmp_path / "s.csv").write_text("query_id,a,b\n1,0.1,0.2\n2,0.2,0.5\n3,0.3,0.5\n4,0.6,0.5\n")
    err = gainful("compare", "--scores", tmp_path / "s.csv", "--format", shape).err
    assert "note: score: tests and intervals say little on 4 topics." in err.splitlines()
