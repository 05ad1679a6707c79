"""Depletion of judgments, against plain loops over documents."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gainful.analyses.robustness.depletion import (
    DEPTHS,
    SHARES,
    checked_levels,
    deplete,
    judged_only,
    only_contributor,
    stratified,
    to_depth,
    uniform,
    unpool,
)
from gainful.data.rankings import Rankings
from gainful.errors import DataError, GainfulError
from gainful.measures import REGISTRY, parse_measure
from worlds import World, measures, worlds

LABELS = [2.0, 1.0, 0.0, -2.0, None]


def pool_of(size: dict[float | None, int], topics: int = 1) -> Rankings:
    """Topics with so many documents of each label; the run returns something else."""
    labels = [label for label, number in size.items() for _ in range(number)]
    qrels = {f"t{t}": {f"d{i}": label for i, label in enumerate(labels)} for t in range(topics)}
    return World(qrels, {"run": [("t0", "other", 1.0)]}).align()


def kept_labels(rankings: Rankings, kept: np.ndarray, topic: int = 0) -> list[float]:
    """The labels of a topic that are left."""
    grades = rankings.pool_grade[kept & (rankings.pool_topic == topic)]
    return sorted(rankings.grades[grades].tolist())


def same(a: Rankings, b: Rankings) -> None:
    for field in fields(Rankings):
        name = "pool_doc" if field.name == "pool_docs" else field.name  # the names, not what makes them
        x, y = getattr(a, name), getattr(b, name)
        alike = x.equals(y) if isinstance(x, pl.Series) else np.array_equal(x, y, equal_nan=field.name == "tied")
        assert alike if isinstance(x, np.ndarray | pl.Series) else x == y, field.name


def documents(world: World) -> list[tuple[str, str]]:
    """The pool in its order: topic and document."""
    return [(topic, doc) for topic, judged in world.qrels.items() for doc in judged]


def rank_of(world: World, run: str, topic: str, doc: str) -> int | None:
    """By score, then id, both descending; scores of these tests survive float32."""
    ranking = sorted(((s, d.encode()) for t, d, s in world.runs[run] if t == topic), reverse=True)
    return next((at for at, (_, d) in enumerate(ranking, 1) if d == doc.encode()), None)


class TestStratified:
    def test_the_shares_of_the_design(self):
        hundredths = [1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100]
        assert [round(100 * share, 9) for share in SHARES] == hundredths

    @settings(deadline=None, max_examples=60)
    @given(
        st.lists(st.fixed_dictionaries({label: st.integers(0, 40) for label in LABELS}), min_size=1, max_size=3),
        st.sampled_from((1.0, 2.0, 0.0)),
        st.integers(0, 5),
    )
    def test_how_many_are_kept(self, topics, rel, seed):
        """min(|R|, max(1, ⌈f·|R|⌉)) and min(|N|, max(10, ⌈f·|N|⌉)), in exact arithmetic."""
        topics = [size for size in topics if sum(size.values())] or [{1.0: 1}]
        qrels = {
            f"t{t}": {f"{label}-{i}": label for label, n in size.items() for i in range(n)}
            for t, size in enumerate(topics)
        }
        rankings = World(qrels, {"run": []}).align()
        kept = stratified(rankings, SHARES, rel, np.random.default_rng(seed))
        for t, size in enumerate(topics):
            relevant = sum(n for label, n in size.items() if label is not None and label >= rel)
            others = sum(n for label, n in size.items() if label is not None and label < rel)
            for share, mask in zip(SHARES, kept, strict=True):
                labels = kept_labels(rankings, mask, t)
                f = Fraction(str(share))
                assert sum(label >= rel for label in labels) == min(relevant, max(1, math.ceil(f * relevant)))
                assert sum(label < rel for label in labels) == min(others, max(10, math.ceil(f * others)))
        assert not kept[:, rankings.pool_grade < 0].any()
        assert (kept[-1] == (rankings.pool_grade >= 0)).all()

    def test_rounding_keeps_no_document_too_many(self):
        """0.07 · 100 = 7.000000000000001 in floating point."""
        rankings = pool_of({1.0: 100, 0.0: 100})
        (kept,) = stratified(rankings, [0.07], 1.0, np.random.default_rng(0))
        assert kept_labels(rankings, kept) == [0.0] * 10 + [1.0] * 7

    def test_nested(self):
        kept = stratified(pool_of({1.0: 50, 0.0: 80, -2.0: 30}, topics=3), SHARES, 1.0, np.random.default_rng(1))
        assert (kept[:-1] <= kept[1:]).all()
        assert (np.diff(kept.sum(axis=1)) >= 0).all()

    def test_levels_do_not_change_the_draw(self):
        rankings = pool_of({1.0: 50, 0.0: 80})
        every = stratified(rankings, SHARES, 1.0, np.random.default_rng(2))
        (one,) = stratified(rankings, [0.3], 1.0, np.random.default_rng(2))
        assert (every[SHARES.index(0.3)] == one).all()

    def test_every_document_is_as_likely(self):
        rankings = pool_of({1.0: 10, 0.0: 40})
        rng = np.random.default_rng(3)
        share = np.mean([stratified(rankings, [0.3], 1.0, rng)[0] for _ in range(4000)], axis=0)
        assert np.abs(share - 0.3).max() < 5 * math.sqrt(0.3 * 0.7 / 4000)

    def test_topics_are_drawn_on_their_own(self):
        kept = stratified(pool_of({1.0: 30, 0.0: 30}, topics=2), [0.5], 1.0, np.random.default_rng(4))[0]
        assert kept[:60].tolist() != kept[60:].tolist()


class TestUniform:
    def test_nested_and_all_at_1(self):
        rankings = pool_of({1.0: 50, 0.0: 80, None: 20})
        kept = uniform(rankings, SHARES, np.random.default_rng(0))
        assert (kept[:-1] <= kept[1:]).all()
        assert (kept[-1] == (rankings.pool_grade >= 0)).all()
        assert not kept[:, -20:].any()

    def test_the_same_probability_for_each(self):
        rankings = pool_of({1.0: 5, 0.0: 20})
        rng = np.random.default_rng(1)
        share = np.mean([uniform(rankings, [0.2], rng)[0] for _ in range(4000)], axis=0)
        assert np.abs(share - 0.2).max() < 5 * math.sqrt(0.2 * 0.8 / 4000)

    def test_a_topic_may_lose_all(self):
        rankings = pool_of({1.0: 1, 0.0: 2})
        assert not uniform(rankings, [0.01], np.random.default_rng(0)).any()


class TestRuns:
    @settings(deadline=None)
    @given(worlds(scores=(3.0, 2.0, 1.0, 0.5)), st.sampled_from((1, 2, 3, 5)))
    def test_to_depth(self, world, depth):
        (kept,) = to_depth(world.align(), [depth])
        for (topic, doc), found in zip(documents(world), kept, strict=True):
            ranks = [rank_of(world, run, topic, doc) for run in world.runs]
            shown = any(rank is not None and rank <= depth for rank in ranks)
            assert found == shown

    @settings(deadline=None)
    @given(worlds(scores=(3.0, 2.0, 1.0, 0.5)), st.sampled_from((1, 2, 3, 5)))
    def test_only_contributor(self, world, depth):
        owner = only_contributor(world.align(), depth)
        for (topic, doc), found in zip(documents(world), owner.tolist(), strict=True):
            ranks = [rank_of(world, run, topic, doc) for run in world.runs]
            shown = [at for at, rank in enumerate(ranks) if rank is not None and rank <= depth]
            assert found == (shown[0] if len(shown) == 1 else -1)

    @settings(deadline=None)
    @given(worlds(scores=(3.0, 2.0, 1.0, 0.5)), st.sampled_from((1, 2, 3, 5)), st.randoms(use_true_random=False))
    def test_only_contributing_team(self, world, depth, random):
        team = [random.randrange(2) for _ in world.runs]
        owner = only_contributor(world.align(), depth, np.array(team))
        for (topic, doc), found in zip(documents(world), owner.tolist(), strict=True):
            ranks = [rank_of(world, run, topic, doc) for run in world.runs]
            shown = {team[at] for at, rank in enumerate(ranks) if rank is not None and rank <= depth}
            assert found == (shown.pop() if len(shown) == 1 else -1)

    @settings(deadline=None)
    @given(worlds(), st.sampled_from(("trec", "expected")))
    def test_one_system_is_the_run_alone(self, world, ties):
        every = world.align(ties=ties)
        for name, rows in world.runs.items():
            one = every.only([name])
            same(one, World(world.qrels, {name: rows}).align(ties=ties))
            assert (one.tie_first is one.rank) == (ties == "trec")


class TestRankings:
    @settings(deadline=None)
    @given(worlds(), st.randoms(use_true_random=False))
    def test_deplete_is_a_null_label(self, world, random):
        kept = np.array([random.random() < 0.5 for _ in documents(world)])
        thinned = {topic: dict(judged) for topic, judged in world.qrels.items()}
        for (topic, doc), stays in zip(documents(world), kept, strict=True):
            thinned[topic][doc] = world.qrels[topic][doc] if stays else None
        ours, theirs = deplete(world.align(), kept), World(thinned, world.runs).align()
        labels = [[None if g < 0 else r.grades[g] for g in r.pool_grade] for r in (ours, theirs)]
        assert labels[0] == labels[1]
        assert ours.grades.tolist() == world.align().grades.tolist()  # the scale of the labels stays
        for name in ("row", "rank", "document", "pool_topic", "retrieved", "present"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name))

    @settings(deadline=None, max_examples=200)
    @given(
        worlds(), measures(tuple(sorted(REGISTRY.keys() - {"infAP", "xinfAP"}))), st.sampled_from(("trec", "expected"))
    )
    def test_no_measure_but_inferred_ap_sees_what_is_pooled_and_unjudged(self, world, measure, ties):
        rankings = world.align(ties=ties if measure.definition.expected else "trec")
        slim = judged_only(rankings)
        assert (slim.grade >= 0).all()
        assert np.array_equal(measure.compute(rankings), measure.compute(slim), equal_nan=True)

    @pytest.mark.parametrize("name", ["infAP", "xinfAP"])
    def test_inferred_ap_does(self, name):
        qrels = {"q": {"a": 1.0, "b": 0.0, "c": None}}
        rankings = World(qrels, {"run": [("q", d, -i) for i, d in enumerate("cba")]}).align()
        infap = parse_measure(name)
        # At rank 3, with b and c pooled above, c not judged, and no relevant one of the one judged above.
        assert infap.compute(rankings).item() == pytest.approx(1 / 3, abs=1e-4)
        assert infap.compute(judged_only(rankings)).item() < infap.compute(rankings).item()

    @settings(deadline=None, max_examples=200)
    @given(worlds(), measures(), st.sampled_from(("trec", "expected")), st.randoms(use_true_random=False))
    def test_unpool_is_a_document_not_in_the_judgments(self, world, measure, ties, random):
        """Ranks, and every score, as with judgments that do not name it; topics that lose all documents stay."""
        rankings = world.align(ties=ties if measure.definition.expected else "trec")
        pooled = np.array([random.random() < 0.5 for _ in documents(world)])
        left = {topic: dict(judged) for topic, judged in world.qrels.items()}
        for (topic, doc), stays in zip(documents(world), pooled, strict=True):
            if not stays:
                del left[topic][doc]
        ours = unpool(rankings, pooled)
        assert ours.topics == rankings.topics
        assert (ours.tie_first is ours.rank) == (rankings.tie_first is rankings.rank)
        kept = {topic: judged for topic, judged in left.items() if judged}
        if kept:
            theirs = World(kept, world.runs).align(ties=ties if measure.definition.expected else "trec")
            # The scale of the labels stays, on which measures such as ERR depend.
            theirs = replace(
                theirs,
                grades=rankings.grades,
                pool_grade=np.array(
                    [-1 if g < 0 else rankings.grades.tolist().index(theirs.grades[g]) for g in theirs.pool_grade]
                ),
            )
            at = [s * len(left) + list(left).index(t) for s in range(len(world.runs)) for t in kept]
            assert np.array_equal(measure.compute(ours)[at], measure.compute(theirs), equal_nan=True)

    def test_infap_of_what_was_never_pooled(self):
        """Rank 3: c is no more in the pool than any stranger, b is judged nonrelevant."""
        qrels = {"q": {"a": 1.0, "b": 0.0, "c": 1.0}}
        rankings = World(qrels, {"run": [("q", d, -i) for i, d in enumerate("cba")]}).align()
        smaller = unpool(rankings, np.array([True, True, False]))
        epsilon = 1e-5
        expected = 1 / 3 + 2 / 3 * (1 / 2) * epsilon / (1 + 2 * epsilon)
        assert parse_measure("infAP").compute(smaller).item() == pytest.approx(expected, abs=1e-12)


class TestLevels:
    def test_the_usual_ones(self):
        assert checked_levels("stratified", None) == checked_levels("uniform", None) == SHARES
        assert checked_levels("depth", None) == checked_levels("leave-one-out", None) == DEPTHS

    def test_sorted_once_each(self):
        assert checked_levels("uniform", [0.5, 0.1, 0.5, 1]) == (0.1, 0.5, 1.0)
        assert checked_levels("depth", [20, 5.0, 20]) == (5, 20)

    @pytest.mark.parametrize("level", [0.0, 1.5, -1.0, math.nan])
    def test_shares(self, level):
        message = f"levels: expected shares of the judgments, above 0 and at most 1, got {level:g}"
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            checked_levels("stratified", [0.5, level])

    @pytest.mark.parametrize("level", [0, 0.5, -3, math.nan, math.inf])
    def test_depths(self, level):
        message = f"levels: expected depths of a pool, whole numbers of at least 1, got {level:g}"
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            checked_levels("leave-one-out", [10, level])

    @pytest.mark.parametrize(("levels", "got"), [(0.5, "0.5"), ("0.5", "'0.5'"), (["a"], r"['a']"), ([True], "[True]")])
    def test_no_numbers(self, levels, got):
        message = f"levels: expected a list of numbers such as [0.5, 1], got {got}"
        with pytest.raises(GainfulError, match=f"^{re.escape(message)}$"):
            checked_levels("uniform", levels)

    def test_none_at_all(self):
        with pytest.raises(DataError, match=r"^levels: expected at least one, got none$"):
            checked_levels("stratified", [])

    def test_unknown_depletion(self):
        message = "depletion: expected one of stratified, uniform, depth, leave-one-out, got 'random'."
        with pytest.raises(GainfulError, match=f"^{re.escape(message)}$"):
            checked_levels("random", None)
