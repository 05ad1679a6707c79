"""Attainable ranges of nDCG, against all orderings and sublists of small pools; real qrels by plain loops."""

from __future__ import annotations

import gzip
import json
import math
import os
import re
from itertools import chain, combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gainful as gf
from gainful.errors import DataError, MeasureError

DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent"))
real = pytest.mark.skipif(not DATA.is_dir(), reason="GAINFUL_DATA is not set to a folder")


def dcg(gains, k):
    return math.fsum(g / math.log2(1 + i) for i, g in enumerate(gains[:k], 1))


def ratio(above, below):
    return above / below if abs(below) > 1e-9 else None


def by_brute_force(pool, k):
    """(lowest, highest) of every norm over all orderings and over all sublists in all orders; None if undefined."""
    orderings = [dcg(order, k) for order in permutations(pool)]
    sublists = [
        dcg(order, k)
        for some in chain.from_iterable(combinations(range(len(pool)), n) for n in range(len(pool) + 1))
        for order in permutations([pool[i] for i in some])
    ]
    ideal, worst, ideal_f, worst_f = max(orderings), min(orderings), max(sublists), min(sublists)
    found = {}
    for lists, values in {"orderings": orderings, "sublists": sublists}.items():
        norms = {
            "org": [ratio(v, ideal) for v in values],
            "min": [ratio(v - worst, ideal - worst) for v in values],
            "f": [ratio(v - worst_f, ideal_f - worst_f) for v in values],
        }
        for norm, scores in norms.items():
            found[norm, lists] = None if None in scores else (min(scores), max(scores))
    return found


def ranges(found, at=0, topic=0):
    both = {
        (norm, lists): found.attainable(norm, lists)[:, at, topic]
        for norm in ("org", "min", "f")
        for lists in ("orderings", "sublists")
    }
    return {key: None if np.isnan(pair).any() else tuple(pair.tolist()) for key, pair in both.items()}


class TestRanges:
    @settings(deadline=None, max_examples=80)
    @given(st.lists(st.sampled_from((-10.0, -2.0, -1.0, 0.0, 1.0, 2.0)), min_size=1, max_size=5), st.integers(1, 6))
    @example([-1.0, 2.0], 2)
    @example([-2.0, -1.0], 2)  # even the best ordering is below 0: org begins at 1
    @example([1.0, 1.0], 2)  # every ordering the same
    @example([0.0], 1)
    def test_brute_force(self, pool, k):
        found = ranges(gf.boundedness({"q": {f"d{i}": label for i, label in enumerate(pool)}}, cutoff=k))
        expected = by_brute_force(pool, k)
        for key, pair in expected.items():
            assert found[key] == (None if pair is None else pytest.approx(pair, abs=1e-9)), key

    def test_worked_values(self):
        """The design's table: pool {-1, 2}, k = 2; the worst and best sublist are (-1) and (2)."""
        found = ranges(gf.boundedness({"q": {"a": -1, "b": 2}}, cutoff=2))
        assert found["org", "sublists"] == pytest.approx((-0.730, 1.461), abs=5e-4)
        assert found["min", "sublists"] == pytest.approx((-1.140, 1.570), abs=5e-4)
        assert found["f", "sublists"] == (0.0, 1.0)
        # (-1, 2) has DCG 2/log2(3) above that of (-1), out of 3.
        assert found["f", "orderings"] == pytest.approx((2 / math.log2(3) / 3, 0.790), abs=5e-4)

    def test_pooled_and_unjudged_documents_are_no_part_of_the_pool(self):
        with_null = gf.boundedness({"q": {"a": -1, "b": 2, "c": None}}, cutoff=3)
        assert ranges(with_null) == ranges(gf.boundedness({"q": {"a": -1, "b": 2}}, cutoff=3))

    def test_a_topic_without_judgments_is_undefined(self):
        found = gf.boundedness({"q": {"a": None}, "r": {"a": -1, "b": 2}}, {"q": ["a"], "r": ["b"]}, cutoff=1)
        assert set(ranges(found).values()) == {None}
        assert found.shares().row(0, named=True) == {
            "cutoff": 1,
            "topics": 2,
            "below_0": 1,
            "at_most_minus_1": 0,
            "share_below_0": 0.5,
            "share_at_most_minus_1": 0.0,
            "lowest": -0.5,
            "undefined": 1,
        }

    def test_no_judgment_at_all(self):
        found = gf.boundedness({"q": {"a": None}}, {"q": ["a"]})
        row = found.shares().row(0, named=True)
        assert math.isnan(row["lowest"])
        assert (row["below_0"], row["undefined"]) == (0, 1)
        assert not found.negative

    def test_shares(self):
        """k = 1: lowest label over highest. -2/1, -1/1, -1/2, 0/1, and one without any gain."""
        qrels = {
            "deep": {"a": -2, "b": 1},
            "at": {"a": -1, "b": 1},
            "below": {"a": -1, "b": 2},
            "never": {"a": 0, "b": 1},
            "undefined": {"a": 0},
        }
        row = gf.boundedness(qrels, cutoff=1).shares().row(0, named=True)
        assert (row["below_0"], row["at_most_minus_1"], row["undefined"], row["lowest"]) == (3, 2, 1, -2.0)
        assert (row["share_below_0"], row["share_at_most_minus_1"]) == (0.6, 0.4)

    def test_exactly_minus_one_though_sums_are_rounded(self):
        """0.2 + 0.1 is a little more than 0.15 + 0.15 in floating point."""
        assert 0.2 + 0.1 > 0.15 + 0.15
        qrels = {"q": {"a": 0.1, "b": 0.2, "c": -0.15, "d": -0.15}}
        shares = gf.boundedness(qrels, cutoff=2, discount="none").shares()
        assert shares["at_most_minus_1"].item() == 1

    def test_several_cutoffs(self):
        qrels = {"q": {"a": -1, "b": 2, "c": 1}}
        found = gf.boundedness(qrels, cutoff=[3, 1, 3])
        assert found.cutoffs == (1, 3)
        assert ranges(found, 0) == ranges(gf.boundedness(qrels, cutoff=1))
        assert ranges(found, 1) == ranges(gf.boundedness(qrels, cutoff=3))

    @pytest.mark.parametrize("gains", [{-1: -10}, "{-1: -10}", " {-1:-10.0} "])
    def test_gains(self, gains):
        found = gf.boundedness({"q": {"a": -1, "b": 2}}, cutoff=1, gains=gains)
        assert found.attainable()[0].item() == -5.0
        assert found.settings["gains"] == "{-1: -10}"
        assert found.label_gains == {-1.0: -10.0, 2.0: 2.0}

    def test_exp(self):
        found = gf.boundedness({"q": {"a": -1, "b": 2}}, cutoff=1, gains="exp")
        assert found.attainable()[0].item() == pytest.approx(-0.5 / 3)

    def test_discount(self):
        found = gf.boundedness({"q": {"a": -1, "b": 2}}, cutoff=2, discount=[1, 0.25])
        assert found.ideal.item() == 2 - 0.25
        assert found.worst.item() == -1 + 0.5
        assert gf.boundedness({"q": {"a": -1, "b": 2}}, cutoff=2, discount="none").ideal.item() == 1.0

    def test_no_negative_label(self):
        found = gf.boundedness({"q": {"a": 1, "b": 2, "c": 0}}, cutoff=2)
        assert not found.negative
        assert found.attainable("org", "sublists").ravel().tolist() == [0.0, 1.0]

    def test_labels_that_are_not_there(self):
        found = gf.boundedness({"q": {"a": -2, "b": 2}}, gains={-1: -10, -2: -5, 7: 7})
        assert found.unused == (-1.0, 7.0)
        assert gf.boundedness({"q": {"a": -2}}, gains="exp").unused == ()


class TestRuns:
    qrels = {"q": {"good": 2, "spam": -1}}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("ranking", "over", "under"),
        [
            (["good"], 1, 0),  # 2 > I = 2 - .63
            (["spam"], 0, 1),  # -1 < W = -1 + 1.26
            ([], 0, 1),  # 0 < W
            (["good", "spam"], 0, 0),
            (["spam", "good"], 0, 0),
            (["other", "good"], 0, 0),
            (["good", "other", "spam"], 1, 0),
        ],
    )
    def test_by_hand(self, ranking, over, under):
        row = gf.boundedness(self.qrels, {"x": {"q": ranking}}, cutoff=2).runs().row(0, named=True)
        assert (row["over"], row["under"]) == (over, under)
        assert row["share"] == over + under

    def test_condensed(self):
        """(good, other, spam) without the other one is an ordering of the pool."""
        run = {"x": {"q": ["good", "other", "spam"]}}
        assert gf.boundedness(self.qrels, run, cutoff=2, unjudged="condensed").runs()["over"].item() == 0

    def test_skipped_topics_do_not_count(self):
        runs = {"x": {"q": ["good"]}, "y": {"other": ["good"]}}
        counted = gf.boundedness(self.qrels, runs, cutoff=2).runs()
        assert counted.select("run", "topics", "under").rows() == [("x", 1, 0), ("y", 1, 1)]
        skipped = gf.boundedness(self.qrels, runs, cutoff=2, missing="skip").runs()
        assert skipped.select("run", "topics", "under").rows() == [("x", 1, 0), ("y", 0, 0)]
        assert math.isnan(skipped["share"][1])

    def test_skipped_topics_without_anything_good(self):
        """An empty ranking beats the best ordering of spam alone; one that is skipped beats nothing."""
        runs = {"x": {"q": ["spam"]}, "y": {"other": ["spam"]}}
        assert gf.boundedness({"q": {"spam": -1}}, runs).runs()["over"].to_list() == [0, 1]
        assert gf.boundedness({"q": {"spam": -1}}, runs, missing="skip").runs()["over"].to_list() == [0, 0]

    def test_org(self):
        """Below 0, above 1, and above 1 because both are negative."""
        qrels = {"a": {"good": 2, "spam": -1}, "b": {"good": 2, "spam": -1}, "c": {"bad": -1, "spam": -2}}
        run = {"x": {"a": ["spam"], "b": ["good"], "c": ["spam", "bad"]}}
        row = gf.boundedness(qrels, run, cutoff=2).runs().row(0, named=True)
        assert (row["org_below_0"], row["org_above_1"]) == (1, 2)

    @settings(deadline=None, max_examples=40)
    @given(st.data())
    def test_random_sublists(self, data):
        """Against a loop; and where a ranking is bounded, nDCGmin is in [0, 1]."""
        labels = data.draw(st.lists(st.sampled_from((-10, -2, -1, 0, 1, 2)), min_size=1, max_size=6))
        pool = {f"d{i}": label for i, label in enumerate(labels)}
        some = data.draw(st.lists(st.sampled_from([*pool, "u", "v"]), unique=True))
        k = data.draw(st.integers(1, 7))
        row = gf.boundedness({"q": pool}, {"x": {"q": some}}, cutoff=k).runs().row(0, named=True)
        achieved = dcg([pool.get(doc, 0) for doc in some], k)
        orders = [dcg(order, k) for order in permutations(labels)]
        assert row["over"] == (achieved > max(orders) + 1e-9)
        assert row["under"] == (achieved < min(orders) - 1e-9)
        score = gf.evaluate({"q": pool}, {"x": {"q": some}}, f"nDCGmin@{k}", degenerate="nan").values.item()
        assert math.isnan(score) or (-1e-9 <= score <= 1 + 1e-9) == (not row["over"] + row["under"])

    @pytest.mark.parametrize("runs", [(), [], None])
    def test_none(self, runs):
        found = gf.boundedness(self.qrels, runs, missing="error")
        assert found.systems == ()
        assert found.runs().height == 0
        assert found.achieved.shape == (1, 0, 1)


class TestResult:
    qrels = {"q": {"good": 2, "spam": -1}, "r": {"good": 1, "spam": -2, "bad": -2}}  # noqa: RUF012
    runs = {"x": {"q": ["good"], "r": ["good", "bad"]}}  # noqa: RUF012

    def test_frame(self):
        frame = gf.boundedness(self.qrels, self.runs, cutoff=[1, 2]).to_frame()
        assert frame.select("cutoff", "query_id").rows() == [(1, "q"), (1, "r"), (2, "q"), (2, "r")]
        row = frame.row(2, named=True)
        half = 1 / math.log2(3)
        assert (row["ideal"], row["worst"]) == pytest.approx((2 - half, -1 + 2 * half))
        assert (row["ideal_sublist"], row["worst_sublist"]) == (2.0, -1.0)
        assert row["org_orderings_low"] == pytest.approx((-1 + 2 * half) / (2 - half))
        assert row["min_sublists_high"] == pytest.approx(1.570, abs=5e-4)

    def test_dict(self):
        content = json.loads(json.dumps(gf.boundedness(self.qrels, self.runs, gains={-2: -10, 5: 5}).to_dict()))
        assert content["shares"][0]["topics"] == 2
        assert content["label_gains"] == {"-2": -10.0, "-1": -1.0, "1": 1.0, "2": 2.0}
        assert content["unused_labels"] == [5.0]
        assert content["runs"][0]["run"] == "x"
        assert list(content["settings"]) == ["cutoff", "gains", "discount", "policies"]
        assert content["settings"]["gains"] == "{-2: -10, 5: 5}"
        assert content["settings"]["policies"]["degenerate"] == "nan"  # what is undefined stays so
        assert content["notes"] == [
            {
                "code": "unused-labels",
                "subject": "5",
                "text": "The gains name labels that no document has: 5. There are: -2, -1, 1, 2.",
                "warn": False,
            }
        ]

    def test_line(self):
        policies = "ties=trec unjudged=zero missing=empty degenerate=nan duplicates=error"
        assert str(gf.boundedness(self.qrels, self.runs, cutoff=[5, 10]).settings) == (
            f"boundedness: 1 run, 2 topics; cutoff=5,10 gains=linear discount=log2 {policies}"
        )
        assert str(gf.boundedness({"q": {"a": 1}}).settings).startswith("boundedness: 1 topic; ")
        assert str(gf.boundedness(self.qrels).settings) == (
            f"boundedness: 2 topics; cutoff=20 gains=linear discount=log2 {policies}"
        )

    def test_verdict(self):
        """q: worst ordering above 0 at 2, (-1)/2 at 1; r: -2/1 at 1. At 2 both topics return what is too good."""
        assert gf.boundedness(self.qrels, self.runs, cutoff=1).verdict() == (
            "nDCGorg@1 of the worst ordering is below 0 in 2 of 2 topics, and at or below -1 in 1. "
            "nDCGmin@1 leaves [0, 1] in 0 of 2 rankings of the runs. nDCGf never leaves [0, 1]."
        )
        assert (
            gf.boundedness(self.qrels, self.runs, cutoff=[2, 5, 9]).verdict().count("nDCGmin@2 leaves [0, 1] in 1 of")
            == 1
        )
        assert "@9" not in gf.boundedness(self.qrels, self.runs, cutoff=[2, 5, 9]).verdict()
        assert (
            gf.boundedness(self.qrels, cutoff=1).verdict().endswith("at or below -1 in 1. nDCGf never leaves [0, 1].")
        )

    def test_verdict_without_negative_gains(self):
        """nDCGmin may leave [0, 1] even so: nothing is returned where every ordering gains something."""
        qrels = {"q": {"a": 1, "b": 2}}
        said = "No label has a negative gain: nDCGorg lies between 0 and 1 in every topic."
        assert gf.boundedness(qrels).verdict() == said
        assert gf.boundedness(qrels, {"x": {"q": []}}, cutoff=1).verdict() == (
            f"{said} nDCGmin@1 leaves [0, 1] in 1 of 1 ranking of the runs. nDCGf never leaves [0, 1]."
        )

    def test_text(self):
        found = gf.boundedness(self.qrels, self.runs, cutoff=[1, 2])
        text = str(found)
        assert text.startswith("nDCGorg@1 of the worst ordering")
        assert "nDCGorg can be < 0" in text
        assert "outside [0, 1]" in text
        assert [table.name for table in found.tables()] == ["shares", "runs", "topics"]
        assert [table.name for table in found.compact()] == ["shares", "runs"]
        assert [table.name for table in gf.boundedness(self.qrels).compact()] == ["shares"]
        assert found.to_pandas()["ideal"].to_list() == found.to_frame()["ideal"].to_list()

    def test_names_are_escaped(self):
        html = gf.boundedness(self.qrels, {"<i>&": self.runs["x"]})._repr_html_()
        assert "<i>&" not in html
        assert "&lt;i&gt;&amp;" in html

    def test_rankings(self):
        joined = gf.boundedness(gf.align(self.qrels, self.runs), cutoff=[1, 2])
        given = gf.boundedness(self.qrels, self.runs, cutoff=[1, 2])
        assert joined.to_dict() == given.to_dict()
        with pytest.raises(gf.GainfulError, match=r"^expected either rankings or judgments and runs, got rankings and"):
            gf.boundedness(gf.align(self.qrels, self.runs), self.runs)

    def test_chart_crosses_0_where_the_table_says(self):
        chart = gf.boundedness({**self.qrels, "s": {"good": 1}}, cutoff=1).chart().to_dict()
        points = next(data for data in chart["datasets"].values() if "lowest" in data[0])
        assert [(p["query_id"], p["share"], p["lowest"]) for p in points] == [
            ("r", pytest.approx(1 / 3), -2.0),
            ("q", pytest.approx(2 / 3), -0.5),
            ("s", 1.0, 1.0),
        ]
        assert [layer["encoding"]["y"]["datum"] for layer in chart["layer"][:2]] == [0, -1]
        assert chart["layer"][2]["encoding"]["y"]["scale"] == {"clamp": True, "domain": [-2.0, 1.0]}

    def test_chart_of_deep_topics_is_cut(self):
        chart = gf.boundedness(self.qrels, cutoff=1, gains={-2: -100}).chart().to_dict()
        assert chart["layer"][2]["encoding"]["y"]["title"] == "lowest attainable nDCGorg (cut at -5)"
        assert chart["layer"][2]["encoding"]["y"]["scale"]["domain"] == [-5, 1.0]

    def test_chart_of_nothing(self):
        assert gf.boundedness({"q": {"a": 0}}).chart().to_dict()["layer"]


class TestRefused:
    def test_a_policy_of_what_is_undefined(self):
        with pytest.raises(
            TypeError, match=r"^unexpected keyword 'degenerate'; expected a parameter of this function, or"
        ):
            gf.boundedness({"q": {"good": 2}}, degenerate="one")

    def test_ranges_that_there_are_not(self):
        found = gf.boundedness({"q": {"good": 2, "spam": -1}})
        with pytest.raises(gf.GainfulError, match=r"^norm: expected one of org, min, f, got 'zero'\.$"):
            found.attainable("zero")
        with pytest.raises(gf.GainfulError, match=r"^lists: expected one of orderings, sublists, got 'x'\.$"):
            found.attainable("org", "x")

    @pytest.mark.parametrize(
        ("settings", "error", "message"),
        [
            (
                {"cutoff": 0},
                MeasureError,
                "The 'cutoff' parameter of nDCG must be a whole number of at least 1, got 0 instead.",
            ),
            (
                {"cutoff": [5, 1.5]},
                MeasureError,
                "The 'cutoff' parameter of nDCG must be a whole number of at least 1, got 1.5 instead.",
            ),
            ({"cutoff": []}, DataError, "cutoff: expected at least one, got none"),
            ({"cutoff": None}, DataError, "cutoff: expected a whole number of at least 1, got None"),
            (
                {"gains": "steep"},
                MeasureError,
                "The 'gain' parameter of nDCG must be linear, exp or a map from label to gain such as "
                "{-2: -10, 1: 1}, got 'steep' instead.",
            ),
            (
                {"gains": "{-2: spam}"},
                MeasureError,
                "gain: expected linear, exp or a map from label to gain such as {-2: -10, 1: 1}, got '{-2: spam}'",
            ),
            (
                {"discount": "[1, half]"},
                MeasureError,
                "discount: expected one of log2, jk, zipf, linear, none, or a list of non-negative numbers such as "
                "[1, 0.5, 0.2], got '[1, half]'",
            ),
            ({"gains": "{1: 1}, norm=f"}, MeasureError, "gain: expected one value, got '{1: 1}, norm=f'"),
            (
                {"discount": [0.5, 1]},
                MeasureError,
                "norm='min' is over orderings of the pool and needs discounts that never rise",
            ),
            (
                {"gains": {-2: -1e308, 1: 1e308}, "discount": "none"},
                MeasureError,
                "these gains and discounts add up to more than a number can hold: use smaller ones",
            ),
        ],
    )
    def test_message(self, settings, error, message):
        qrels = {"q": {"a": 1, "b": 1.0, "c": -2, "d": -2}}
        with pytest.raises(error, match=f"^{re.escape(message)}$"):
            gf.boundedness(qrels, **settings)


def lines(path):
    with gzip.open(path, "rt") as file:
        yield from map(str.split, file)


def web_qrels(year):
    qrels = {}
    for topic, _, doc, label in lines(DATA / "web-track" / f"qrels.web.{year}.txt.gz"):
        qrels.setdefault(topic, {})[doc] = int(label)
    return qrels


# Gienapp et al., CIKM 2020, Table 2a: topics that can fall below 0, and to -1 or lower, in per cent.
PUBLISHED = {2010: (100, 44), 2011: (94, 68), 2012: (96, 8), 2013: (74, 18), 2014: (70, 12)}


@real
@pytest.mark.parametrize("year", PUBLISHED)
def test_web_track_topics(year):
    """The share below 0 is as published, at any cutoff; that at or below -1 is at cutoff 10, but for 2010."""
    qrels = web_qrels(year)
    cutoffs = (5, 10, 15, 20)
    shares = gf.boundedness(DATA / "web-track" / f"qrels.web.{year}.txt.gz", cutoff=cutoffs).shares()
    for at, k in enumerate(cutoffs):
        lowest = [dcg(sorted(p.values()), k) / dcg(sorted(p.values(), reverse=True), k) for p in qrels.values()]
        assert shares["below_0"][at] == sum(value < 0 for value in lowest)
        assert shares["at_most_minus_1"][at] == sum(value <= -1 for value in lowest)
        assert round(100 * shares["share_below_0"][at]) == PUBLISHED[year][0]
    if year != 2010:
        assert round(100 * shares["share_at_most_minus_1"][1]) == PUBLISHED[year][1]


@real
@pytest.mark.parametrize("unjudged", ["zero", "condensed"])
def test_web_track_runs(unjudged):
    """Unbounded rankings of four runs with gain -10 for spam, by a loop."""
    qrels = web_qrels(2012)
    folder = DATA / "web-2012-runs"
    cutoffs = (20, 100, 300)
    found = gf.boundedness(
        DATA / "web-track" / "qrels.web.2012.txt.gz", folder, cutoff=cutoffs, gains={-2: -10}, unjudged=unjudged
    )
    expected = {}
    for path in sorted(folder.iterdir()):
        ranking = {}
        for topic, _, doc, _, score, _ in lines(path):
            ranking.setdefault(topic, []).append((np.float32(score), doc))
        for k in cutoffs:
            over = under = 0
            for topic, pool in qrels.items():
                gain = {doc: -10 if label == -2 else label for doc, label in pool.items()}
                docs = [doc for _, doc in sorted(ranking.get(topic, []), reverse=True)]
                if unjudged == "condensed":
                    docs = [doc for doc in docs if doc in gain]
                achieved = dcg([gain.get(doc, 0) for doc in docs], k)
                over += achieved > dcg(sorted(gain.values(), reverse=True), k) + 1e-9
                under += achieved < dcg(sorted(gain.values()), k) - 1e-9
            expected[path.name.partition(".")[0], k] = (over, under)
    rows = found.runs().select("run", "cutoff", "over", "under").rows()
    assert {(run, k): counts for run, k, *counts in map(list, rows)} == {k: [*v] for k, v in expected.items()}
