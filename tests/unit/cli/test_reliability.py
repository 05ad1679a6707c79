import pytest

import gainful as gf

# Variances 4, 2.5 and 1.5 by hand: Φ = .75, Eρ² = 8/9 with 3 topics; 19 topics for Φ = .95.
WIDE = "query_id,a,b\n1,1,3\n2,2,4\n3,3,8\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(WIDE, encoding="utf-8")
    return path


def test_tables(gainful, table):
    status, out, err = gainful("reliability", "--scores", table)
    assert status == 0
    assert out.startswith("Φ of score is 0.75 with 3 topics (")
    header, row, parts = (line.split() for line in out.splitlines() if line.startswith(("measure   topics", "score")))
    assert " ".join(header) == "measure topics Φ from to Eρ² from to topics for Φ 0.95 from to topics for Eρ² 0.95"
    low, high = row[6:8]
    assert (row[:3], row[5]) == (["score", "3", "0.7500"], "0.8889")
    assert float(low) < 0.8889 < float(high)
    assert row[8] == "19"
    assert " ".join(parts) == "score 4.000000 2.500000 1.500000 0.5000 0.3125 0.1875"
    assert err == f"{gf.reliability(table).settings}\n"


def test_sizes_get_a_table_of_their_own(gainful, table):
    _, out, _ = gainful("reliability", "--scores", table, "--sizes", "1", "12")
    header, _, *rows = (line.split() for line in out.partition("With other numbers of topics:\n\n")[2].splitlines())
    assert " ".join(header) == "measure topics Φ from to Eρ² from to"
    assert [row[:3] for row in rows] == [["score", "1", "0.5000"], ["score", "12", f"{4 / (4 + 4 / 12):.4f}"]]


def test_notes_and_dashes(gainful, tmp_path):
    path = tmp_path / "same.csv"
    path.write_text("query_id,a,b\n1,.5,.5\n2,.25,.25\n", encoding="utf-8")
    status, out, err = gainful("reliability", "--scores", path)
    assert status == 0
    (row, _) = (line.split() for line in out.splitlines() if line.startswith("score"))
    assert row == ["score", "2", "0.0000", "0.0000", "0.0000", *"-------"]
    assert "note: By score, all runs have the same scores: " in err


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--target", "1"), 1, "--target: expected a number between 0 and 1, both excluded, got 1.0"),
        (("--sizes", "0"), 1, "--sizes: expected numbers of topics, whole and at least 1, got 0"),
        (("--sizes", "1.5"), 2, "Invalid value for --sizes: expected whole numbers such as 5,10, got '1.5'."),
    ],
)
def test_errors(gainful, table, words, status, message):
    ended = gainful("reliability", "--scores", table, *words)
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.startswith(f"gainful: error: {message}")
