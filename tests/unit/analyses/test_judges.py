"""Judges held against each other: labels, conclusions, bias, and estimates with more topics."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.errors import DataError, DuplicateError, GainfulError
from gainful.stats.correlation import kendall, rbo, tau_ap
from gainful.stats.intervals import t_interval
from gainful.stats.prediction import predicted_means

DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent"))
GOOD = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1, "e": 0}}
CHEAP = {"1": {"a": 2, "b": 1, "c": 1}, "2": {"a": 0, "d": 1, "e": 1, "f": 2}}


def relabelled(qrels: gf.Qrels, name: str, seed: int, *, of: float = 0.3) -> gf.Qrels:
    """A judge who gives another label to some documents, too high more often than too low."""
    rng = np.random.default_rng(seed)
    label = qrels.frame["relevance"].to_numpy()
    wrong = rng.random(len(label)) < of
    other = np.where(wrong, np.clip(label + rng.choice([-1, 1, 1, 2], len(label)), 0, 3), label)
    return gf.Qrels(qrels.frame.with_columns(relevance=pl.Series(other)), name)


def of_topics(qrels: gf.Qrels, topics: list[str], name: str) -> gf.Qrels:
    return gf.Qrels(qrels.frame.filter(pl.col("query_id").is_in(topics)), name)


@pytest.fixture(scope="module")
def made():
    return gf.simulate(topics=30, systems=6, depth=50, seed=4)


class TestLabels:
    def test_by_hand(self):
        """Six documents of both: 0-0 once, 0-1 twice, 1-1 twice, 2-2 once."""
        found = gf.judges(GOOD, CHEAP).agreement()
        assert found.counts.tolist() == [[1, 2, 0], [0, 2, 0], [0, 0, 1]]
        assert (found.pairs, found.topics) == (6, 2)
        chance = (3 * 1 + 2 * 4 + 1 * 1) / 36
        assert found.value("agreed") == pytest.approx(4 / 6)
        assert found.value("kappa") == pytest.approx((4 / 6 - chance) / (1 - chance))
        # Products of row and column sums times the difference of the labels, for 0-1, 0-2, 1-0, 1-2, 2-0, 2-1.
        apart = (3 * 4 * 1 + 3 * 1 * 2 + 2 * 1 * 1 + 2 * 1 * 1 + 1 * 1 * 2 + 1 * 4 * 1) / 6
        assert found.value("linear") == pytest.approx(1 - 2 / apart)
        assert (found.value("sensitivity"), found.value("specificity")) == (1.0, 1 / 3)

    def test_a_crowd_shares_out_the_documents(self):
        """Krippendorff's α takes gaps; κ is told of those who have judged the same."""
        found = gf.judges(GOOD, {"1": GOOD["1"]}, {"2": GOOD["2"]})
        assert [(one.first, one.second) for one in found.agreements] == [("judge 1", "judge 2"), ("judge 1", "judge 3")]
        assert found.alphas["nominal"].value == 1

    def test_rel(self):
        found = gf.judges(GOOD, CHEAP, rel=2).agreement()
        assert (found.value("sensitivity"), found.value("specificity")) == (1.0, 1.0)

    def test_null_labels_are_none(self):
        without = {topic: {**docs, "z": None} for topic, docs in CHEAP.items()}
        with_z = {topic: {**docs, "z": 1} for topic, docs in GOOD.items()}
        assert gf.judges(with_z, without).agreement().pairs == 6

    def test_three_judges_with_gaps(self):
        third = {"1": {"a": 1, "x": 1}, "3": {"y": 0}}
        found = gf.judges(GOOD, CHEAP, third)
        assert found.judges == ("judge 1", "judge 2", "judge 3")
        assert found.judged == (6, 7, 3)
        assert [(one.first, one.second, one.pairs) for one in found.agreements] == [
            ("judge 1", "judge 2", 6),
            ("judge 1", "judge 3", 1),
            ("judge 2", "judge 3", 1),
        ]
        # Coincidences: a of topic 1 has three ratings (2, 2, 1), each pair counting 1/2; five documents have two.
        same = 2 * (1 + 2) + 1
        total = 3 + 2 * 5
        number = np.array([2 * 1 + 2 * 1, 2 * 1 + 2 * 2 + 1, 2.0])
        observed = total - same
        expected = (total**2 - (number**2).sum()) / (total - 1)
        assert number.sum() == total
        assert found.alphas["nominal"].value == pytest.approx(1 - observed / expected)
        assert "Krippendorff" in found.verdict()

    def test_intervals_come_from_topics(self, made):
        """Of a judge who errs on whole topics the interval is wide, whatever the number of documents."""
        topics = made.qrels.topics
        frame = made.qrels.frame
        worse = frame.with_columns(
            relevance=pl.when(pl.col("query_id").is_in(topics[::2])).then(0.0).otherwise("relevance")
        )
        spread = frame.with_columns(
            relevance=pl.when(pl.int_range(frame.height) % 2 == 0).then(0.0).otherwise("relevance")
        )
        clustered, even = (
            gf.judges(made.qrels, gf.Qrels(other, "other")).agreement().estimates["agreed"] for other in (worse, spread)
        )
        assert clustered.high - clustered.low > 1.5 * (even.high - even.low)
        for found in (clustered, even):
            assert found.low < found.value < found.high

    def test_seed(self, made):
        other = relabelled(made.qrels, "llm", 1)
        first, same, another = (
            gf.judges(made.qrels, other, seed=seed).agreement().estimates["kappa"] for seed in (1, 1, 2)
        )
        assert first == same
        assert first.value == another.value
        assert first.low != another.low

    def test_one_topic_has_no_interval(self):
        found = gf.judges({"1": GOOD["1"]}, {"1": CHEAP["1"]})
        assert np.isnan(found.agreement().estimates["kappa"].low)
        assert [note.code for note in found.notes()] == ["one-topic"]


class TestConclusions:
    def test_orders_and_bias(self, made):
        other = relabelled(made.qrels, "llm", 1)
        found = gf.judges(made.qrels, other, runs=made.runs, measures="nDCG@10")
        one = found.conclusion()
        good, cheap = (gf.evaluate(q, made.runs, "nDCG@10").values[0] for q in (made.qrels, other))
        assert one.means == pytest.approx(np.stack([good.mean(axis=1), cheap.mean(axis=1)]))
        assert one.tau_b == pytest.approx(kendall(good.mean(axis=1), cheap.mean(axis=1)).item())
        assert one.tau_ap == pytest.approx(tau_ap(good.mean(axis=1), cheap.mean(axis=1), variant="b").item())
        assert one.rbo == pytest.approx(rbo(good.mean(axis=1), cheap.mean(axis=1), p=0.9).item())
        shift = cheap - good
        assert one.bias == pytest.approx(shift.mean(axis=1) - shift.mean(), abs=1e-12)
        assert one.bias_low == pytest.approx(t_interval(shift - shift.mean(axis=0), confidence=0.95)[0], abs=1e-12)
        assert one.tested == 15
        assert one.predicted is None

    def test_significance(self):
        """Runs a and b differ on every topic; the second judge turns half of it round, the third all, alike."""
        runs = {"a": {}, "b": {}, "c": {}}
        good, turned, half = {}, {}, {}
        for topic in map(str, range(12)):
            relevant, other = [f"{topic}-{at}" for at in range(3)], [f"{topic}-{at}" for at in range(3, 6)]
            noise = int(topic) % 2
            runs["a"][topic] = [*relevant, *other][: 5 + noise]
            runs["b"][topic] = [*other, *relevant][: 5 + noise]
            runs["c"][topic] = [*other, *relevant][: 5 + noise]
            good[topic] = {**dict.fromkeys(relevant, 1), **dict.fromkeys(other, 0)}
            turned[topic] = {**dict.fromkeys(relevant, 0), **dict.fromkeys(other, 1)}
            half[topic] = good[topic] if noise else turned[topic]
        found = gf.judges(good, turned, half, good, runs=runs, measures="AP")
        outcomes = [(one.both, one.only_first, one.only_other, one.reversed, one.neither) for one in found.conclusions]
        # Of three pairs, b and c never differ.
        assert outcomes == [(0, 0, 0, 2, 1), (0, 2, 0, 0, 1), (2, 0, 0, 0, 1)]
        alone = {name: runs[name] for name in "ab"}
        assert "Of 1 pair, 1 differs significantly in opposite" in gf.judges(good, turned, runs=alone).verdict()

    def test_a_judge_that_favours_one_run(self, made):
        """Every document that one run alone returned among its first ten gets the best label."""
        first = {
            (topic, doc)
            for topic, doc in made.runs[2].frame.group_by("query_id", maintain_order=True).head(10)
            .select("query_id", "doc_id").iter_rows()
        }  # fmt: skip
        frame = made.qrels.frame
        raised = [
            3.0 if (t, d) in first else label
            for t, d, label in frame.select("query_id", "doc_id", "relevance").iter_rows()
        ]
        other = gf.Qrels(frame.with_columns(relevance=pl.Series(raised)), "fan")
        found = gf.judges(made.qrels, other, runs=made.runs, measures="DCG@10")
        assert found.conclusion().favoured()[0] == made.runs[2].name
        assert f"favours {made.runs[2].name}" in found.verdict()

    def test_lower_may_be_better(self, made):
        """A judge who forbids what one run alone returned is against it, though its score rises."""
        first = made.runs[2].frame.group_by("query_id", maintain_order=True).head(5).select("query_id", "doc_id")
        forbidden = first.with_columns(relevance=pl.lit(-1.0))
        kept = made.qrels.frame.join(first, on=["query_id", "doc_id"], how="anti").select(forbidden.columns)
        other = gf.Qrels(pl.concat([kept, forbidden]), "strict")
        found = gf.judges(made.qrels, other, runs=made.runs, measures="Forbidden@5")
        assert found.conclusion().disfavoured()[0] == made.runs[2].name
        assert f" disfavours {made.runs[2].name}" in found.verdict()

    def test_intervals_stay_in_the_range(self):
        """P@1 of two topics, 1 and 0 by one judge, 0 and 1 by the other: ±12.7 standard errors by Student."""
        runs = {"r": {t: ["a", "b"] for t in "1234"}, "s": {t: ["b", "a"] for t in "1234"}}
        good = {"1": {"a": 1, "b": 0}, "2": {"a": 0, "b": 1}}
        cheap = {"1": {"a": 0, "b": 1}, "2": {"a": 1, "b": 0}, "3": {"a": 1, "b": 0}, "4": {"a": 0, "b": 1}}
        found = gf.judges(good, cheap, runs=runs, measures="P@1").conclusion()
        assert (found.bias_low.tolist(), found.bias_high.tolist()) == ([-1, -1], [1, 1])
        assert (found.predicted.low_alone.tolist(), found.predicted.high.tolist()) == ([0, 0], [1, 1])
        assert (found.differences.low.tolist(), found.differences.high_alone.tolist()) == ([-1], [1])
        assert found.predicted.narrower() == pytest.approx(1)

    def test_only_common_topics_count(self, made):
        topics = made.qrels.topics
        found = gf.judges(of_topics(made.qrels, topics[:20], "good"), of_topics(made.qrels, topics[5:], "cheap"),
                          runs=made.runs, measures="AP").conclusion()  # fmt: skip
        assert (found.topics, found.more) == (15, 10)
        assert found.means[0] == pytest.approx(found.means[1], abs=1e-15)
        assert found.tau_b == pytest.approx(1.0)

    def test_one_run(self, made):
        with pytest.raises(DataError, match="expected at least 2 runs, got 1"):
            gf.judges(made.qrels, made.qrels, runs=made.runs[:1])

    def test_too_few_common_topics(self, made):
        topics = made.qrels.topics
        with pytest.raises(DataError, match="expected at least 2 topics that the first judge has judged, too, got 1"):
            gf.judges(of_topics(made.qrels, topics[:3], "a"), of_topics(made.qrels, topics[2:], "b"), runs=made.runs)

    def test_empty_topics_are_told(self, made):
        runs = [gf.Run(run.frame.filter(pl.col("query_id") != made.qrels.topics[0]), run.name) for run in made.runs]
        found = gf.judges(made.qrels, made.qrels, runs=runs, measures="AP")
        assert found.missing == 1
        assert "empty-topics" in [note.code for note in found.notes()]
        left = gf.judges(made.qrels, made.qrels, runs=runs, measures="AP", missing="skip", gaps="drop")
        assert left.conclusion().topics == 29
        assert "empty-topics" not in [note.code for note in left.notes()]


class TestPrediction:
    def test_means_and_differences(self, made):
        topics = made.qrels.topics
        other = relabelled(made.qrels, "llm", 1)
        found = gf.judges(of_topics(made.qrels, topics[:16], "good"), other, runs=made.runs, measures="AP")
        good = gf.evaluate(made.qrels, made.runs, "AP").values[0]
        cheap = gf.evaluate(other, made.runs, "AP").values[0]
        expected = predicted_means(good[:, :16], cheap[:, :16], cheap[:, 16:], confidence=0.95)
        one = found.conclusion()
        assert (one.topics, one.more) == (16, 14)
        assert one.predicted.mean == pytest.approx(expected.mean, abs=1e-12)
        assert one.predicted.high == pytest.approx(expected.high, abs=1e-12)
        parts = [x[[0]] - x[[1]] for x in (good[:, :16], cheap[:, :16], cheap[:, 16:])]
        pair = predicted_means(*parts, confidence=0.95)
        assert one.differences.mean[0] == pytest.approx(pair.mean.item(), abs=1e-12)
        table = {table.name: table.frame for table in found.tables()}["predicted"]
        assert table.height == 6 + 15
        row = table.filter(pl.col("minus").is_not_null()).row(0, named=True)
        assert (row["run"], row["minus"]) == (made.runs[0].name, made.runs[1].name)
        assert row["low"] == pytest.approx(pair.low.item(), abs=1e-12)
        assert "random-topics" in [note.code for note in found.notes()]

    def test_only_topics_without_any_judgment_are_ignored(self, made):
        """Those of the other judge alone are what the estimates use."""
        few, more = (of_topics(made.qrels, made.qrels.topics[:n], name) for n, name in ((16, "good"), (28, "cheap")))
        for judges in ((few, more), (more, few)):
            told = [note.text for note in gf.judges(*judges, runs=made.runs, measures="AP").notes()]
            ignored = [text for text in told if "without judgments are ignored" in text]
            assert [text.split(": ")[1].split(" of ")[0] for text in ignored] == ["2"]
        told = gf.judges(few, made.qrels, runs=made.runs, measures="AP").notes()
        assert "ignored-topics" not in [note.code for note in told]

    def test_few_topics_are_told(self, made):
        few = of_topics(made.qrels, made.qrels.topics[:5], "good")
        found = gf.judges(few, made.qrels, runs=made.runs, measures="AP")
        assert "few-good-topics" in [note.code for note in found.notes()]

    def test_charts(self, made):
        few = of_topics(made.qrels, made.qrels.topics[:16], "good")
        found = gf.judges(few, relabelled(made.qrels, "llm", 1), runs=made.runs, measures="AP")
        for chart in (found.confusion_chart(), found.order_chart(), found.bias_chart(), found.width_chart()):
            assert chart.to_dict()["title"]
        assert len(found.chart().to_dict()["concat"]) == 4
        assert len(gf.judges(GOOD, CHEAP).chart().to_dict()["concat"]) == 1
        with pytest.raises(GainfulError, match="has judged no more topics"):
            gf.judges(made.qrels, made.qrels, runs=made.runs, measures="AP").width_chart()


class TestInput:
    def test_names_of_files(self, tmp_path, made):
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            gf.write_qrels(made.qrels, tmp_path / folder / "nist.txt")
        gf.write_qrels(made.qrels, tmp_path / "llm.csv.gz")
        assert gf.judges(tmp_path / "a/nist.txt", tmp_path / "llm.csv.gz").judges == ("nist", "llm")
        same = gf.judges(tmp_path / "a/nist.txt", tmp_path / "b/nist.txt").judges
        assert same == (str(tmp_path / "a/nist.txt"), str(tmp_path / "b/nist.txt"))

    @pytest.mark.parametrize(
        ("others", "message"),
        [
            ((), "expected judgments of at least 2 judges, got those of 1"),
            (({"9": {"a": 1}},), "judge 1 and judge 2: expected some pairs of topic and document in both, got none"),
            (
                ({"1": {str(at): at / 100 for at in range(100)}},),
                "expected at most 64 different labels, got 102: round them to grades",
            ),
        ],
    )
    def test_refused(self, others, message):
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            gf.judges(GOOD, *others)

    def test_judged_twice(self):
        twice = pl.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "a"], "relevance": [1, 0]})
        with pytest.raises(DuplicateError, match="document 'a' is judged twice for topic '1'"):
            gf.judges(twice, GOOD)
        assert gf.judges(twice, GOOD, duplicates="first").agreement().counts.sum() == 1

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"rel": np.nan}, "rel: expected a finite number, got nan"),
            ({"alpha": 5}, "alpha: expected a number between 0 and 1, both excluded, got 5"),
            ({"resamples": 0}, "resamples: expected a whole number of at least 1, got 0"),
            ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ],
    )
    def test_wrong_settings(self, given, message):
        with pytest.raises(GainfulError, match=f"^{re.escape(message)}$"):
            gf.judges(GOOD, CHEAP, **given)

    def test_what_there_is_not(self):
        found = gf.judges(GOOD, CHEAP)
        with pytest.raises(GainfulError, match=r"^No two judges"):
            found.agreement("nist")
        with pytest.raises(GainfulError, match="there are: none, without runs"):
            found.conclusion("judge 2")


@pytest.mark.skipif(not DATA.is_dir(), reason="GAINFUL_DATA is not set to a folder")
@pytest.mark.parametrize(
    ("judge", "kappa", "quadratic"), [("llama70b-4prompts", 0.1666, 0.4611), ("flant5-4prompts", 0.2272, 0.4477)]
)
def test_trec_deep_learning(judge, kappa, quadratic):
    """Cohen's κ of two LLM judges with NIST, as scikit-learn computes it."""
    folder = DATA / "llm-judges"
    found = gf.judges(folder / "dl2019.nist.txt", folder / f"dl2019.{judge}.txt", resamples=10).agreement()
    assert found.pairs == 9260
    assert [round(found.value(name), 4) for name in ("kappa", "quadratic")] == [kappa, quadratic]


def test_judges_of_a_dict_have_names():
    good, cheap = {"1": {"a": 2, "b": 0}, "2": {"a": 0, "d": 1}}, {"1": {"a": 2, "b": 1}, "2": {"a": 0, "d": 1}}
    assert gf.judges({"assessor": good, "llm": cheap}).judges == ("assessor", "llm")
    assert gf.judges(good, {"llm": cheap, "crowd": good}).judges == ("judge 1", "llm", "crowd")
    with pytest.raises(DataError, match="two judges are called 'llm'; rename one"):
        gf.judges({"llm": good}, {"llm": cheap})
