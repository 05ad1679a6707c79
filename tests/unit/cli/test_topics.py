import pytest

import gainful as gf

# Differences 2, 2 and 5 have variance 3; within runs it is 4.
WIDE = "query_id,a,b\n1,1,3\n2,2,4\n3,3,8\n"
HALF = "0.8660254037844386"  # half of √3: 34 pairs, by Cohen's tables


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(WIDE, encoding="utf-8")
    return path


def test_table(gainful, table):
    status, out, err = gainful("topics", "--scores", table, "--difference", HALF)
    assert status == 0
    header, _, row = [line.split() for line in out.splitlines()[-3:]]
    assert " ".join(header) == (
        "measure runs variance topics needed from to power simulated topics here power here simulated "
        "difference found here"
    )
    assert row[:4] == ["score", "2", "3.000000", "34"]
    assert int(row[4]) < 34 < int(row[5])
    assert 0.8 <= float(row[6]) < 0.81
    assert row[8] == "3"
    found = gf.topics(table, difference=float(HALF))
    assert " ".join(out.split()).startswith(found.verdict())
    assert err.splitlines() == [*(f"note: {note}" for note in found.notes()), str(found.settings)]


def test_interval_has_widths(gainful, table):
    _, out, _ = gainful("topics", "--scores", table, "--method", "interval", "--difference", "2")
    header, _, row = [line.split() for line in out.splitlines()[-3:]]
    assert " ".join(header) == (
        "measure runs variance topics needed from to width simulated topics here width here simulated"
    )
    assert float(row[6]) <= 2.0 < float(row[9])


def test_out_of_reach(gainful, table):
    status, out, err = gainful("topics", "--scores", table, "--difference", "0.0001")
    assert status == 0
    assert out.splitlines()[-1].split()[3:5] == ["-", "-"]
    assert "note: By score, 1,000,000 topics are not enough: ask for a larger difference." in err.splitlines()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--difference", "0"), 1, "--difference: expected a number above 0, got 0.0"),
        (("--power", "1"), 1, "--power: expected a number between 0 and 1, both excluded, got 1.0"),
        (("--systems", "2.5"), 2, "Invalid value for --systems: expected a whole number, got '2.5'."),
    ],
)
def test_errors(gainful, table, words, status, message):
    ended = gainful("topics", "--scores", table, *words)
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.startswith(f"gainful: error: {message}")
