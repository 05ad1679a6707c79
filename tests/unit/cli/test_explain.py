from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

import gainful as gf

TINY = Path(__file__).parents[2] / "golden" / "tiny"
QRELS, A = TINY / "qrels.txt", TINY / "a.txt"


class TestOneTopic:
    def test_table(self, gainful, golden):
        status, out, err = gainful("explain", QRELS, A, "--query", "q1", "-m", "nDCG@3")
        policies = "ties=trec unjudged=zero missing=empty degenerate=zero duplicates=error"
        assert (status, err) == (0, f"explain: nDCG@3, topic q1, run a; {policies}\n")
        golden(out, "explain.txt")

    @pytest.mark.parametrize("option", ["--topic", "--query", "-q"])
    def test_the_topic_is_also_called_query(self, gainful, option):
        ended = gainful("explain", QRELS, A, option, "q3", "-m", "AP", "--format", "json")
        assert json.loads(ended.out) == gf.explain(QRELS, A, "q3", "AP").to_dict()
        assert "topic q3" in ended.err

    def test_one_topic_at_a_time(self, gainful):
        status, out, _ = gainful("explain", QRELS, A, "--topic", "q1", "-q", "q2")
        assert (status, out) == (2, "")

    def test_unjudged_documents_are_named(self, gainful):
        out = gainful("explain", QRELS, A, "-q", "q3").out
        assert any(line.split()[:4] == ["1", "x1", "-", "0"] for line in out.splitlines())

    def test_csv_has_every_rank(self, gainful):
        out = gainful("explain", QRELS, A, "--query", "q3", "--format", "csv").out
        rows = list(csv.DictReader(io.StringIO(out)))
        assert list(rows[0]) == ["rank", "doc_id", "label", "gain", "cg", "discount", "dcg", "ideal", "worst", "ndcg"]
        assert [row["doc_id"] for row in rows] == ["x1", "d7"]
        assert [row["label"] for row in rows] == ["", "1.0"]
        assert float(rows[1]["ndcg"]) == gf.explain(QRELS, A, "q3").steps["ndcg"][1]

    def test_json_is_the_dict(self, gainful):
        out = gainful("explain", QRELS, A, "--query", "q1", "-m", "nDCGf@3", "--format", "json").out
        assert json.loads(out) == gf.explain(QRELS, A, "q1", "nDCGf@3").to_dict()

    def test_other_measures(self, gainful):
        out = gainful("explain", QRELS, A, "--query", "q1", "-m", "AP").out
        header = ["rank", "document", "label", "relevant", "found", "precision", "recall", "ap"]
        assert any(line.split() == header for line in out.splitlines())
        assert "yes" in out

    def test_policies_are_handed_on(self, gainful):
        _, out, err = gainful("explain", QRELS, A, "--query", "q3", "--unjudged", "condensed", "--ties", "order")
        assert "is 1.0000; the best ordering scores 1.0000. Nothing is lost." in out
        assert "ties=order unjudged=condensed" in err
        assert "x1" not in out

    def test_undefined(self, gainful, tmp_path):
        (tmp_path / "qrels").write_text("q1 0 d1 1\nq1 0 d3 1\n")
        status, out, _ = gainful("explain", tmp_path / "qrels", A, "--query", "q1", "-m", "nDCGmin@2")
        assert status == 0
        assert "is undefined" in out
        assert "Lost" not in out


class TestLongRankings:
    @pytest.fixture
    def long(self, tmp_path):
        relevant = (5, 60, 70, 400)
        (tmp_path / "qrels").write_text("".join(f"q 0 d{rank} 1\n" for rank in relevant))
        (tmp_path / "run").write_text("".join(f"q Q0 d{rank} {rank} {-rank} x\n" for rank in range(1, 501)))
        return tmp_path / "qrels", tmp_path / "run"

    def test_ranks_that_gain_nothing_are_left_out(self, gainful, long):
        out = gainful("explain", *long, "--query", "q", "-m", "nDCG").out
        ranks = [int(line.split()[0]) for line in out.splitlines() if re.match(r" *\d+ ", line)]
        assert ranks == [*range(1, 21), 60, 70, 400, 500]

    def test_binary_measures_likewise(self, gainful, long):
        _, out, err = gainful("explain", *long, "--query", "q", "-m", "AP")
        assert len(out.splitlines()) < 60
        text = "note: Ranks that gain nothing are left out of the table; CSV and JSON have all 500."
        assert err.splitlines()[0] == text

    def test_documents_beyond_every_cutoff_are_no_losses(self, gainful, long):
        out = gainful("explain", *long, "--query", "q", "-m", "nDCG@1").out
        # One place: it should be d5's, the first of the relevant.
        assert [line.split()[0] for line in out.splitlines()[-3:]][-1] == "d5"
        assert "d60" not in out

    def test_csv_has_them_all(self, gainful, long):
        assert len(gainful("explain", *long, "-q", "q", "-m", "nDCG", "--format", "csv").out.splitlines()) == 501

    def test_losses_are_cut_with_a_note(self, gainful, tmp_path):
        (tmp_path / "qrels").write_text("".join(f"q 0 d{number} 1\n" for number in range(12)))
        (tmp_path / "run").write_text("q Q0 d1 1 1 x\n")
        _, _, err = gainful("explain", tmp_path / "qrels", tmp_path / "run", "-q", "q", "-m", "nDCG")
        assert err.splitlines()[0] == "note: The table has the 10 largest losses of 12; JSON has them all."


class TestWithoutQuery:
    def test_topics_worst_first(self, gainful):
        status, out, err = gainful("explain", QRELS, A, "-m", "nDCG@3")
        assert status == 0
        assert [line.split() for line in out.splitlines()[2:]] == [["q3", "0.6309"], ["q1", "0.7985"], ["q2", "1.0000"]]
        assert err == "To explain one of these topics, add --topic, such as: --topic q3\n"

    def test_worst_is_highest_where_lower_is_better(self, gainful):
        # b shows the forbidden d6 first on q2.
        out = gainful("explain", QRELS, TINY / "b.txt", "-m", "Forbidden@1").out
        assert out.splitlines()[2].split() == ["q2", "1.0000"]

    def test_formats(self, gainful):
        table = gainful("explain", QRELS, A, "--format", "csv", "-m", "AP").out
        assert table == "query_id,score\nq3,0.5\nq1,0.5555555555555555\nq2,1.0\n"
        content = json.loads(gainful("explain", QRELS, A, "--format", "json", "-m", "AP").out)
        assert content == {"measure": "AP", "run": "a", "topics": {"q3": 0.5, "q1": pytest.approx(5 / 9), "q2": 1.0}}

    def test_only_the_worst_of_many(self, gainful, tmp_path):
        (tmp_path / "qrels").write_text("".join(f"q{number} 0 d 1\n" for number in range(30)))
        out = gainful("explain", tmp_path / "qrels", A).out
        assert len(out.splitlines()) == 2 + 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--chart", "x.svg"], "--chart x.svg: expected --topic with it, the topic to draw"),
        (
            ["--query", "q4"],
            "topic 'q4' is neither in the qrels nor in the run. Judged topics: q1, q2, q3",
        ),
        (
            ["--query", "q1", "-m", "bpref"],
            "expected a measure that can be explained (P, R, RR, AP, CG, DCG, nDCG), got 'bpref'",
        ),
    ],
)
def test_refused(gainful, words, message):
    assert gainful("explain", QRELS, A, *words) == (1, "", f"gainful: error: {message}\n")


def test_averaged_ties_cannot_be_explained(gainful):
    status, _, err = gainful("explain", QRELS, A, "--query", "q1", "--ties", "expected")
    assert status == 2
    assert 'Invalid value "expected" for --ties. Choose from: "trec", "order".' in err
