"""The largest, the smallest and the strangest: right, or refused, and never a silent NaN."""

from __future__ import annotations

import re
import sys

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.errors import DataError, GainfulError
from gainful.measures import REGISTRY, parse_measure

LARGEST = sys.float_info.max
# One of every plane of Unicode that has characters at all, and some that text files, terminals or C dislike.
PLANES = [chr((plane << 16) + 0xA00) for plane in range(16)]
STRANGE = ["\u202eleft", "\u2066x\u2069", "\u0085", "\u2028", "\u200b", "\ufeffx", "\uffff", "\x7f", "\x1b[2J", "\xa0"]
# As one would ask for it, cutoff and all.
ALL = [
    f"{name}{'@0.5' if name == 'iP' else '@3' if 'cutoff' in REGISTRY[name].parameters else ''}" for name in REGISTRY
]


class TestSizes:
    def test_many_topics_of_one_document(self):
        n = 10_000
        topics = [f"q{i}" for i in range(n)]
        qrels = pl.DataFrame({"query_id": topics, "doc_id": ["d"] * n, "relevance": [1.0, 0.0] * (n // 2)})
        scores = gf.evaluate(qrels, qrels.select("query_id", "doc_id", score=pl.lit(1.0)), ["AP", "nDCG@10", "RR"])
        assert scores.values.shape == (3, 1, n)
        assert scores.mean().row(0)[1:] == (0.5, 0.5, 0.5)

    def test_one_topic_of_many_documents(self):
        """Every second document is relevant, from the second on: precision is 1/2 at each of them."""
        n = 200_000
        ids = pl.Series("doc_id", [f"d{i}" for i in range(n)])
        qrels = pl.select(doc_id=ids, query_id=pl.lit("1"), relevance=pl.Series(np.arange(n) % 2.0))
        run = pl.select(doc_id=ids, query_id=pl.lit("1"), score=pl.Series(-np.arange(n, dtype=float)))
        scores = gf.evaluate(qrels, run, ["AP", "Rprec", "R@100000", "RR"], ties="order")
        assert scores.mean().row(0)[1:] == pytest.approx((0.5, 0.5, 0.5, 0.5), rel=1e-12)

    def test_many_runs(self):
        runs = {f"r{i}": {"1": {"a": i % 3, "b": 1}} for i in range(600)}
        means = gf.evaluate({"1": {"a": 1, "b": 0}}, runs, "RR").mean()
        assert means["run"].to_list() == list(runs)
        # Equal scores are ordered by descending id: b before a.
        assert means["RR"].to_list() == [0.5, 0.5, 1.0] * 200

    @pytest.mark.parametrize("cutoff", [10**6, 10**12])
    def test_cutoffs_beyond_everything(self, cutoff):
        qrels, run = {"1": {"a": 2, "b": 1, "c": -1}}, {"1": ["b", "a"]}
        found = gf.evaluate(qrels, run, [f"nDCG@{cutoff}", f"P@{cutoff}", f"R@{cutoff}"]).values.ravel()
        ideal, got = 2 + 1 / np.log2(3), 1 + 2 / np.log2(3)
        assert found == pytest.approx([got / ideal, 2 / cutoff, 1.0])

    @pytest.mark.parametrize("cutoff", ["0", "-1", "1e400", "99999999999999999999"])
    def test_cutoffs_that_are_none(self, cutoff):
        with pytest.raises(GainfulError, match="must be a whole number of at least 1"):
            gf.evaluate({"1": {"a": 1}}, {"1": ["a"]}, f"nDCG@{cutoff}")


class TestIds:
    @pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".txt"])
    def test_every_plane(self, tmp_path, suffix):
        strange = [id for id in STRANGE if suffix != ".txt" or id not in ("\ufeffx",)]
        ids = [*PLANES, *strange, "x", "\U0001f600" * 16_000, *([] if suffix == ".txt" else ["\0", "a b", ""])]
        run = {id: {id: 2.0, "other": 1.0} for id in ids}
        qrels = {id: {id: 1} for id in ids}
        gf.write_run(run, tmp_path / f"run{suffix}")
        gf.write_qrels(qrels, tmp_path / f"qrels{suffix}")
        scores = gf.evaluate(tmp_path / f"qrels{suffix}", tmp_path / f"run{suffix}", "RR")
        assert sorted(scores.topics) == sorted(ids)
        assert scores.values.min() == 1

    def test_bytes_that_are_no_text(self, tmp_path, gainful):
        """Every byte but blanks, NUL and #, alone and as an id: kept apart, and written as they came."""
        ids = [bytes([byte]) for byte in range(1, 256) if bytes([byte]) not in b"\t\n\v\f\r #"]
        (tmp_path / "q").write_bytes(b"".join(b"1 0 %s 1\n" % id for id in ids))
        (tmp_path / "r").write_bytes(b"".join(b"1 Q0 %s 1 %d t\n" % (id, number) for number, id in enumerate(ids)))
        assert gf.evaluate(tmp_path / "q", tmp_path / "r", ["AP", "NumRelRet"]).values.ravel().tolist() == [1, len(ids)]
        gainful("threshold", "apply", tmp_path / "r", "--threshold", "0", "-o", tmp_path / "cut")
        assert [line.split(b" ")[2] for line in (tmp_path / "cut").read_bytes().splitlines()] == ids

    def test_a_terminal_does_not_obey_them(self, tmp_path, gainful):
        for name in ("\u202etxt", "a\x1b[2J"):
            (tmp_path / name).write_text("1 Q0 a 1 1 t\n", encoding="utf-8")
        (tmp_path / "q").write_text("1 0 a 1\n")
        outcome = gainful("evaluate", tmp_path / "q", *(tmp_path / name for name in ("\u202etxt", "a\x1b[2J")))
        assert (outcome.status, re.findall(r"\\u202e|\\x1b", outcome.out)) == (0, ["\\u202e", "\\x1b"])
        assert not re.search("[\u202e\x1b]", outcome.out + outcome.err)

    def test_long_ids(self):
        ids = ["x" * 65_536 + end for end in "abc"]
        found = gf.evaluate({ids[0]: {ids[0]: 1, ids[1]: 0}}, {ids[0]: {ids[2]: 3, ids[1]: 2, ids[0]: 1}}, "RR")
        assert found.values.ravel().tolist() == [1 / 3]


class TestNumbers:
    @pytest.mark.filterwarnings("ignore:.* subtopic")
    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("label", [1e308, LARGEST, -1e308, -LARGEST, 5e-324, -5e-324, 2.0**53 + 2])
    @pytest.mark.parametrize("measure", [*ALL, "nDCG(gain='exp')@3", "nDCGf", "nDCGmin@2", "nDCGorg", "CG@2", "DCG@2"])
    def test_labels(self, measure, label):
        qrels = {"1": {"a": label, "b": label, "c": 1, "d": -1}, "2": {"a": label, "b": 0}}
        runs = {"x": {"1": ["a", "b", "c", "d"], "2": ["b", "a"]}, "y": {"1": ["d", "c"], "2": []}}
        chosen = parse_measure(measure)
        try:
            scores = gf.evaluate(qrels, runs, chosen)
        except GainfulError:
            return
        assert np.isfinite(scores.values).all()
        assert np.isfinite(scores.summary()).all()
        low, high = chosen.definition.bounds or (-np.inf, np.inf)
        if chosen.definition.name != "nDCG":  # whose bounds depend on its norm
            assert low <= scores.values.min() <= scores.values.max() <= high

    def test_gains(self):
        """As large as numbers go: the ideal of two such documents is more than a number holds, but not its share."""
        qrels, run = {"1": {"a": 1, "b": 1, "c": -1}}, {"1": ["c", "a", "b"]}
        huge = gf.evaluate(qrels, run, "nDCGf(gain={-1: -1e308, 1: 1e308})@3").values.item()
        assert huge == pytest.approx(gf.evaluate(qrels, run, "nDCGf(gain={-1: -1, 1: 1})@3").values.item(), rel=1e-12)

    @pytest.mark.parametrize("score", [1e308, LARGEST, 1e-310, 5e-324])
    def test_scores(self, score):
        """Compared as float64 where the policy is the run's order, as float32, where these are one, in trec_eval's."""
        qrels, run = {"1": {"a": 1, "z": 0}}, {"1": {"z": -score, "a": score}}
        assert gf.evaluate(qrels, run, "RR", ties="order").values.item() == 1
        near = {"1": {"z": score / 2, "a": score}}
        assert gf.evaluate(qrels, near, "RR", ties="order").values.item() == (1 if score / 2 < score else 0.5)
        assert gf.evaluate(qrels, near, "RR", ties="trec").values.item() == 0.5

    @pytest.mark.filterwarnings("error")
    def test_the_mean_of_what_cannot_be_added(self):
        qrels = {str(topic): {"a": LARGEST} for topic in range(3)}
        assert gf.evaluate(qrels, {topic: ["a"] for topic in qrels}, "CG@1").mean().row(0) == ("run", LARGEST)

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("analysis", [gf.compare, gf.reliability, gf.stability, gf.sensitivity])
    def test_no_analysis_of_what_cannot_be_added(self, analysis):
        message = (
            "score: expected scores of at most 1e+300, since sums of them must be numbers, too; got 1e+305 of run 'b' "
            "for topic '2': take smaller gains, or nDCG"
        )
        table = pl.DataFrame({"query_id": ["1", "2", "3"], "a": [0.5, 0.2, 0.1], "b": [0.25, 1e305, 0.1]})
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            analysis(table)
