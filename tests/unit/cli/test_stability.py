from __future__ import annotations

import pytest

import gainful as gf

SCORES = "query_id,a,b,c\n1,.1,.3,.3\n2,.2,.5,.5\n3,.9,.4,.4\n4,.4,.6,.6\n5,.5,.7,.7\n6,.2,.3,.3\n"


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES, encoding="utf-8")
    return path


def test_table(gainful, scores):
    status, out, err = gainful("stability", "--scores", scores, "--draws", "50")
    assert status == 0
    found = gf.stability(scores, draws=50)
    curve = found["score"]
    assert out.startswith("With 3 of 6 topics drawn, score orders two runs the other way round in ")
    lines = [line.split() for line in out.splitlines()]
    (row,) = (line for line in lines if line[:1] == ["score"])
    assert row[1:4] == ["3", f"{curve.error[-1]:.4f}", f"{curve.ties[-1]:.4f}"]
    assert lines[-5] == ["topics", "error", "of", "score"]
    assert lines[-3:] == [[str(size), f"{error:.4f}"] for size, error in zip(curve.sizes, curve.error, strict=True)]
    assert err == f"{found.settings}\n"


def test_sizes_and_what_they_need(gainful, scores):
    out = gainful("stability", "--scores", scores, "--sizes", "3,1", "--sizes", "2", "--fuzziness", "0").out
    assert [line.split()[0] for line in out.splitlines()[-3:]] == ["1", "2", "3"]
    assert "topics: error ≤ 0.1" in out
    # One topic of six says that a is better than b and c: the error is above .1 at any size up to 3.
    (row,) = (line.split() for line in out.splitlines() if line.startswith("score"))
    assert row[-3:] == ["-", "-", "-"]


def test_more_than_half_of_the_topics_is_remarked(gainful, scores):
    status, _, err = gainful("stability", "--scores", scores, "--sizes", "3,6", "--draws", "5")
    assert status == 0
    assert "note: Draws of more than half of the 6 topics share so many " in err
    assert "note" not in gainful("stability", "--scores", scores, "--sizes", "3", "--draws", "5").err
    assert "note" not in gainful("stability", "--scores", scores, "--sizes", "6", "--by", "topic", "--draws", "5").err


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--sizes", "1,x"), 2, "Invalid value for --sizes: expected whole numbers such as 5,10, got 'x'."),
        (("--sizes", "1.5"), 2, "Invalid value for --sizes: expected whole numbers such as 5,10, got '1.5'."),
        (("--sizes", "7"), 1, "--sizes: expected numbers of topics, whole and from 1 to the 6 there are, got 7"),
        (
            ("--draws", "0"),
            1,
            "--draws: expected a whole number of at least 2, for one draw contradicts no other, got 0",
        ),
    ],
)
def test_refused(gainful, scores, words, status, message):
    ended = gainful("stability", "--scores", scores, *words)
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.startswith(f"gainful: error: {message}")
