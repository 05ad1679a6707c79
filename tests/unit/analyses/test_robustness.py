"""Robustness, against judgments dropped from a dict and evaluated anew, scipy and pytrec_eval."""

from __future__ import annotations

import json
import math
import os
import re
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from scipy import stats

import gainful as gf
from gainful.analyses.robustness import compute
from gainful.analyses.robustness.depletion import stratified, uniform
from gainful.analyses.robustness.result import Knee
from gainful.data.align import align
from gainful.data.qrels import Qrels
from gainful.data.rankings import nameless
from gainful.data.run import Run
from gainful.errors import DataError, GainfulError, PolicyError
from gainful.progress import tracked_by

MEASURES = ("bpref", "infAP", "AP", "nDCG@20")
LEVELS = (0.1, 0.4, 1.0)

Judgments = dict[str, dict[str, float | None]]


@pytest.fixture(scope="module")
def made() -> gf.Collection:
    return gf.simulate(topics=6, systems=7, depth=40, pool_depth=15, seed=5)


@pytest.fixture(scope="module")
def judged(made) -> Judgments:
    qrels: Judgments = {}
    for topic, doc, label in made.qrels.frame.select("query_id", "doc_id", "relevance").iter_rows():
        qrels.setdefault(topic, {})[doc] = label
    return qrels


def ranked(run: Run) -> dict[str, list[str]]:
    """Documents by topic, best first: as simulated runs are written."""
    found: dict[str, list[str]] = {}
    for topic, doc in run.frame.select("query_id", "doc_id").iter_rows():
        found.setdefault(topic, []).append(doc)
    return found


def without(qrels: Judgments, dropped: set[tuple[str, str]]) -> Judgments:
    """Dropped documents stay pooled: a null label."""
    return {
        topic: {doc: None if (topic, doc) in dropped else label for doc, label in docs.items()}
        for topic, docs in qrels.items()
    }


def outside(qrels: Judgments, dropped: set[tuple[str, str]]) -> Judgments:
    """Dropped documents were never pooled: no label at all."""
    return {
        topic: {doc: label for doc, label in docs.items() if (topic, doc) not in dropped}
        for topic, docs in qrels.items()
    }


def masked(qrels: Judgments, kept: np.ndarray) -> Judgments:
    pool = [(topic, doc) for topic, docs in qrels.items() for doc in docs]
    return without(qrels, {pair for pair, stays in zip(pool, kept, strict=True) if not stays})


def samples(made, judged, depletion, seed, trials):
    """The judgments of every trial and level, drawn as the documentation says: trial by trial from one seed."""
    rankings = align(made.qrels, made.runs)
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        if depletion == "stratified":
            yield [masked(judged, kept) for kept in stratified(rankings, LEVELS, 1.0, rng)]
        else:
            yield [masked(judged, kept) for kept in uniform(rankings, LEVELS, rng)]


def means(qrels: Judgments, runs, **policies) -> np.ndarray:
    return gf.evaluate(qrels, runs, MEASURES, **policies).summary()


class TestEqualsEvaluatingAnew:
    @pytest.mark.parametrize("depletion", ["stratified", "uniform"])
    @pytest.mark.parametrize("unjudged", ["zero", "condensed"])
    def test_scores(self, made, judged, depletion, unjudged):
        found = gf.robustness(
            made.qrels, made.runs, MEASURES, depletion=depletion, levels=LEVELS, trials=2, seed=9, unjudged=unjudged
        )
        expected = np.zeros((len(MEASURES), len(LEVELS), len(made.runs)))
        for trial in samples(made, judged, depletion, 9, 2):
            for at, qrels in enumerate(trial):
                expected[:, at] += means(qrels, made.runs, unjudged=unjudged) / 2
        assert np.array_equal(found.scores, expected)
        assert np.array_equal(found.full, means(judged, made.runs, unjudged=unjudged))

    def test_order_and_decisions(self, made, judged):
        found = gf.robustness(made.qrels, made.runs, MEASURES, levels=LEVELS, trials=2, seed=3, alpha=0.2)
        full = gf.evaluate(judged, made.runs, MEASURES)
        first, second = np.triu_indices(len(made.runs), k=1)

        def different(scores, m):
            z = np.round(scores.values[m][first] - scores.values[m][second], 13)
            return [z_.any() and stats.wilcoxon(z_, method="asymptotic").pvalue < 0.2 for z_ in z]

        counts = np.zeros((len(MEASURES), len(LEVELS), 4), int)
        for trial, levels in enumerate(samples(made, judged, "stratified", 3, 2)):
            for at, qrels in enumerate(levels):
                scores = gf.evaluate(qrels, made.runs, MEASURES)
                for m in range(len(MEASURES)):
                    tau = stats.kendalltau(full.summary()[m], scores.summary()[m]).statistic
                    assert found.taus[m, at, trial] == pytest.approx(tau, abs=1e-12)
                    for before, after in zip(different(full, m), different(scores, m), strict=True):
                        counts[m, at, 2 * bool(before) + bool(after)] += 1
        cells = [
            [(c.both_equal, c.lost_equal, c.lost_difference, c.both_different) for c in r] for r in found.decisions
        ]
        assert np.array_equal(cells, counts)
        assert found.pairs == 21
        assert counts[:, :, 3].sum() > 0
        assert counts[:, 0, 1:3].sum() > 0

    def test_depth(self, made, judged):
        found = gf.robustness(made.qrels, made.runs, MEASURES, depletion="depth", levels=[2, 7])
        rankings = [ranked(run) for run in made.runs]
        for at, depth in enumerate((2, 7)):
            pool = {(topic, doc) for run in rankings for topic, docs in run.items() for doc in docs[:depth]}
            every = {(topic, doc) for topic, docs in judged.items() for doc in docs}
            assert np.array_equal(found.scores[:, at], means(outside(judged, every - pool), made.runs))
            assert found.judged[at] == len(every & pool)
        assert found.settings["trials"] == 1

    def test_leave_one_out(self, made, judged):
        found = gf.robustness(made.qrels, made.runs, MEASURES, depletion="leave-one-out", levels=[3, 15])
        shown = [ranked(run) for run in made.runs]
        for at, depth in enumerate((3, 15)):
            left = []
            for s, run in enumerate(made.runs):
                others = {
                    (topic, doc)
                    for o, ranking in enumerate(shown)
                    for topic, docs in ranking.items()
                    for doc in docs[:depth]
                    if o != s
                }
                own = {(topic, doc) for topic, docs in shown[s].items() for doc in docs[:depth]}
                qrels = outside(judged, own - others)
                assert np.array_equal(found.scores[:, at, s], means(qrels, [run])[:, 0])
                left.append(sum(label is not None for docs in qrels.values() for label in docs.values()))
            assert found.judged[at] == pytest.approx(np.mean(left))
            assert min(left) < found.judgments
        assert found.knees() == dict.fromkeys(MEASURES, Knee(None, None))

    def test_leave_one_team_out(self, made, judged, tmp_path):
        """Two teams: what only runs of its team have among their first is lost to each of them."""
        teams = {run.name: str(at % 2) for at, run in enumerate(made.runs)}
        (tmp_path / "teams.csv").write_text("run,team\n" + "".join(f"{run},{team}\n" for run, team in teams.items()))
        given = {"depletion": "leave-one-out", "levels": [5]}
        found = gf.robustness(made.qrels, made.runs, MEASURES, teams=tmp_path / "teams.csv", **given)
        first = [{(topic, doc) for topic, docs in ranked(run).items() for doc in docs[:5]} for run in made.runs]
        for s, run in enumerate(made.runs):
            mine = set().union(*first[s % 2 :: 2])
            others = set().union(*first[1 - s % 2 :: 2])
            assert np.array_equal(found.scores[:, 0, s], means(outside(judged, mine - others), [run])[:, 0])
        assert "that its team alone" in found.verdict()
        assert any("that its team alone has" in note.text for note in found.notes())
        assert np.array_equal(gf.robustness(made.qrels, made.runs, MEASURES, teams=teams, **given).scores, found.scores)
        with pytest.raises(gf.DataError, match=r"^teams: expected depletion='leave-one-out' with it, got depth$"):
            gf.robustness(made.qrels, made.runs, MEASURES, teams=teams, depletion="depth")

    def test_teams_in_the_headers_of_runs(self, made, tmp_path):
        teams = {run.name: str(at % 2) for at, run in enumerate(made.runs)}
        for run in made.runs:
            gf.write_run(run, path := tmp_path / f"{run.name}.txt")
            header = f"# ir_metadata.start\n# actor:\n#   team: {teams[run.name]}\n# ir_metadata.end\n"
            path.write_text(header + path.read_text())
        given = {"depletion": "leave-one-out", "levels": [5], "seed": 3}
        found = gf.robustness(made.qrels, tmp_path, "AP", teams="headers", **given)
        assert np.array_equal(gf.robustness(made.qrels, made.runs, "AP", teams=teams, **given).scores, found.scores)

    @pytest.mark.parametrize(
        ("given", "name", "threads"),
        [({}, "local", 6), ({"engine": "local"}, "local", 6), ({"engine": "dask"}, "dask", 1)],
    )
    def test_what_the_engine_gets(self, made, monkeypatch, given, name, threads):
        """All workers get the same: no more than they need, and no threads where others have their share of them."""
        asked, sent = [], []
        local = compute.open_engine

        @contextmanager
        def opened(engine):
            asked.append(engine)
            with local("local") as work:
                yield SimpleNamespace(
                    at_once=work.at_once, map=lambda *all, **how: sent.append(how["shared"]) or work.map(*all, **how)
                )

        monkeypatch.setattr(compute, "open_engine", opened)
        monkeypatch.setattr(os, "cpu_count", lambda: 6)
        rankings = gf.align(made.qrels, made.runs, documents=2, scores=True)
        gf.robustness(rankings, "AP", trials=1, levels=[0.5], **given)
        assert asked == [name]
        (experiment,) = sent
        assert experiment.threads == threads
        for held in (experiment.rankings, *experiment.views):
            assert held.pool_docs is nameless
            assert (held.documents, held.listed, held.scores, held.tied) == (0, None, None, None)

    def test_null_labels_within_a_shallower_pool_stay_pooled(self, made, judged):
        some = {
            topic: {doc: None if i % 3 == 0 else label for i, (doc, label) in enumerate(docs.items())}
            for topic, docs in judged.items()
        }
        found = gf.robustness(some, made.runs, MEASURES, depletion="depth", levels=[5])
        pool = {(topic, doc) for run in made.runs for topic, docs in ranked(run).items() for doc in docs[:5]}
        every = {(topic, doc) for topic, docs in some.items() for doc in docs}
        left = outside(some, every - pool)
        assert np.array_equal(found.scores[:, 0], means(left, made.runs))
        assert found.judged[0] == sum(label is not None for docs in left.values() for label in docs.values())

    def test_null_labels_are_no_judgments(self, made, judged):
        """Neither of the whole nor of what is left without a run's own."""
        some = {
            topic: {doc: None if i % 3 == 0 else label for i, (doc, label) in enumerate(docs.items())}
            for topic, docs in judged.items()
        }
        known = {(topic, doc) for topic, docs in some.items() for doc, label in docs.items() if label is not None}
        found = gf.robustness(some, made.runs, "AP", depletion="leave-one-out", levels=[5])
        assert found.judgments == len(known)
        assert f", {len(known)} judgments, " in str(found.settings)
        shown = [{(t, doc) for t, docs in ranked(run).items() for doc in docs[:5]} for run in made.runs]
        own = [shown[s] - set().union(*(shown[:s] + shown[s + 1 :])) for s in range(len(shown))]
        assert any(known & only for only in own)
        assert any(only - known for only in own)
        assert found.judged[0] == pytest.approx(np.mean([len(known - only) for only in own]))
        full = gf.robustness(some, made.runs, "AP", levels=[1], trials=1)
        assert full.judged == (len(known),)

    def test_missing_topics_and_undefined_scores(self, made, judged):
        """A run without a topic, skipped; topics without a relevant document left out of the mean."""
        runs = [*made.runs[1:], replace(made.runs[0], frame=made.runs[0].frame.filter(pl.col("query_id") != "101"))]
        policies = {"missing": "skip", "degenerate": "skip"}
        found = gf.robustness(
            made.qrels, runs, MEASURES, depletion="uniform", levels=LEVELS, trials=1, seed=2, **policies
        )
        ((*_, first, _),) = [[None, *trial] for trial in samples(made, judged, "uniform", 2, 1)]
        assert np.array_equal(found.scores[:, 1], means(first, runs, **policies), equal_nan=True)

    def test_pytrec_eval(self, made, judged):
        """Null labels are left out for it; infAP needs them as -1."""
        clipped = {t: {d: max(label, 0.0) for d, label in docs.items()} for t, docs in judged.items()}
        qrels = Qrels(made.qrels.frame.with_columns(pl.col("relevance").clip(0)))
        names = {"bpref": "bpref", "AP": "map", "nDCG@20": "ndcg_cut_20", "infAP": "infAP"}
        found = gf.robustness(qrels, made.runs, list(names), levels=LEVELS, trials=1, seed=4)
        rng = np.random.default_rng(4)
        masks = stratified(align(qrels, made.runs), LEVELS, 1.0, rng)
        for at, mask in enumerate(masks):
            thin = masked(clipped, mask)
            dropped = {t: {d: int(x) for d, x in docs.items() if x is not None} for t, docs in thin.items()}
            pooled = {t: {d: -1 if x is None else int(x) for d, x in docs.items()} for t, docs in thin.items()}
            for s, run in enumerate(made.runs):
                ranking: dict[str, dict[str, float]] = {}
                for topic, doc, score in run.frame.select("query_id", "doc_id", "score").iter_rows():
                    ranking.setdefault(topic, {})[doc] = score
                plain = pytrec_eval.RelevanceEvaluator(dropped, {"bpref", "map", "ndcg_cut.20"}).evaluate(ranking)
                inferred = pytrec_eval.RelevanceEvaluator(pooled, {"infAP"}).evaluate(ranking)
                for m, theirs in enumerate(names.values()):
                    scores = [(inferred if theirs == "infAP" else plain)[topic][theirs] for topic in judged]
                    assert found.scores[m, at, s] == pytest.approx(np.mean(scores), abs=1e-9), (theirs, at, s)

    def test_all_judgments_change_nothing(self, made):
        found = gf.robustness(made.qrels, made.runs, MEASURES, levels=[1], trials=2)
        assert found.taus.tolist() == [[[1.0, 1.0]]] * 4
        assert np.array_equal(found.scores[:, 0], found.full)
        assert [row[0].accuracy for row in found.decisions] == [1.0] * 4
        assert found.judged == (len(made.qrels),)


class TestRepeatable:
    def test_seed(self, made):
        def taus(**settings):
            return gf.robustness(made.qrels, made.runs, MEASURES, **{"levels": LEVELS, "trials": 2, **settings}).taus

        assert np.array_equal(taus(seed=1), taus(seed=1))
        assert not np.array_equal(taus(seed=1), taus(seed=2))
        assert np.array_equal(taus(seed=1), taus(seed=1, trials=4)[:, :, :2])
        assert np.array_equal(taus(seed=1)[:, 1:2], taus(seed=1, levels=[0.4]))

    def test_measures_see_the_same_samples(self, made):
        both = gf.robustness(made.qrels, made.runs, ["AP", "bpref"], levels=LEVELS, trials=2)
        one = gf.robustness(made.qrels, made.runs, "bpref", levels=LEVELS, trials=2)
        assert np.array_equal(both.scores[1], one.scores[0])

    def test_progress(self, made):
        seen = []

        def tracker(steps, total, label):
            seen.append((total, label))
            return steps

        with tracked_by(tracker):
            gf.robustness(made.qrels, made.runs, "AP", levels=LEVELS, trials=2)
        assert seen == [(2, "Depleting")]  # trials


ONE_GOOD = {"q": {"a": 1.0, **{f"n{i}": 0.0 for i in range(30)}}}


class TestOrder:
    """τ where scores tie."""

    def test_all_runs_tied_by_what_is_left(self):
        """Only the first of each run is judged at depth 1, and none of those is relevant: all score 0."""
        runs = {"x": {"q": ["n0", "a"]}, "y": {"q": ["n1", "n2", "a"]}}
        found = gf.robustness(ONE_GOOD, runs, "AP", depletion="depth", levels=[1, 2, 3])
        assert found.taus.ravel().tolist() == [0.0, 1.0, 1.0]

    def test_all_runs_tied_in_full(self):
        runs = {"x": {"q": ["n0"]}, "y": {"q": ["n1"]}}
        found = gf.robustness(ONE_GOOD, runs, "AP", levels=[0.5, 1], trials=2)
        assert np.isnan(found.taus).all()
        assert found.knees() == {"AP": Knee(None, None)}
        assert found.knees(by="accuracy") == {"AP": Knee(None, None)}

    def test_nan_spreads_without_a_warning(self):
        found = gf.robustness(
            {**ONE_GOOD, "none": {"z": 0.0}},
            {"x": {"q": ["a"]}, "y": {"q": ["n1", "a"]}},
            "AP",
            levels=[0.5],
            trials=2,
            degenerate="nan",
        )
        assert np.isnan(found.taus).all()
        assert json.loads(json.dumps(found.to_dict()))["settings"]["trials"] == 2


class TestKnees:
    def test_of_the_mean_over_trials(self, made):
        found = gf.robustness(made.qrels, made.runs, "AP", levels=[0.5, 1], trials=2)
        taus = np.array([[[0.8, 0.98], [1.0, 1.0]]])  # 0.89 in the mean
        assert replace(found, taus=taus).knees() == {"AP": Knee(1.0, 1.0)}
        assert replace(found, taus=taus).knees(0.85) == {"AP": Knee(0.5, 0.5)}


class TestPairs:
    def test_number_of_pairs(self, made):
        found = gf.robustness(made.qrels, made.runs, "AP", levels=[0.5], trials=3, pairs=5)
        cell = found.decisions[0][0]
        assert found.pairs == 5
        assert cell.both_equal + cell.lost_equal + cell.lost_difference + cell.both_different == 15


class TestWeights:
    def test_measures(self, made):
        found = gf.robustness(made.qrels, made.runs, "AP", weights=[1, 10], levels=[1], trials=1)
        assert found.measures == (
            "AP",
            "nDCG(gain={1: 1, 2: 1, 3: 1})@1000",
            "nDCG(gain={1: 1, 2: 10, 3: 10})@1000",
        )
        assert np.array_equal(found.full, gf.evaluate(made.qrels, made.runs, list(found.measures)).summary())

    def test_labels_below_rel_gain_nothing(self):
        runs = {"x": {"q": ["b", "a"]}, "y": {"q": ["a", "b"]}}
        qrels = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
        found = gf.robustness(qrels, runs, "AP", weights=[5], rel=2, levels=[1], trials=1)
        assert found.measures[1] == "nDCG(gain={1: 0, 2: 1, 3: 5})@1000"

    def test_refused(self):
        runs = {"x": {"q": ["a"]}, "y": {"q": ["b"]}}
        for weight in (-1, 0):
            with pytest.raises(DataError, match=rf"^weights: expected numbers above 0, got {weight}$"):
                gf.robustness({"q": {"a": 1}}, runs, weights=[2, weight])
        with pytest.raises(DataError, match=r"^weights: no document is relevant, the highest label is 0$"):
            gf.robustness({"q": {"a": 0}}, runs, weights=[2])


def by_depth(found: gf.Robustness) -> gf.Robustness:
    return replace(found, settings=replace(found.settings, given={**found.settings, "depletion": "depth"}))


class TestResult:
    def test_interval(self, made):
        found = gf.robustness(made.qrels, made.runs, "AP", levels=[0.1, 1], trials=4, confidence=0.9)
        taus = found.taus[0, 0]
        low, high = stats.t.interval(0.9, 3, loc=taus.mean(), scale=stats.sem(taus))
        row = found.to_frame().row(0, named=True)
        assert (row["tau"], row["tau_low"], row["tau_high"]) == pytest.approx((taus.mean(), low, min(high, 1.0)))
        assert found.tau()[0, 1].tolist() == [1.0, 1.0, 1.0]

    def test_no_interval_of_one_trial(self, made):
        frame = gf.robustness(made.qrels, made.runs, "AP", levels=[0.1], trials=1).to_frame()
        assert math.isnan(frame["tau_low"].item())

    def test_frame(self, made):
        found = gf.robustness(made.qrels, made.runs, ["AP", "bpref"], levels=LEVELS, trials=2)
        frame = found.to_frame()
        assert frame.select("measure", "level").rows() == [(m, level) for m in ("AP", "bpref") for level in LEVELS]
        assert frame["score"].to_list() == pytest.approx(found.scores.mean(axis=2).ravel().tolist())
        assert frame["full_score"].to_list() == pytest.approx([found.full[m].mean() for m in (0, 0, 0, 1, 1, 1)])
        cell = found.decisions[1][0]
        row = frame.row(3, named=True)
        for name in ("both_equal", "lost_difference", "accuracy", "g_mean", "true_positive", "predicted_positive"):
            assert row[name] == pytest.approx(getattr(cell, name), nan_ok=True)

    def test_dict(self, made):
        found = gf.robustness(made.qrels, made.runs, "AP", levels=[0.5, 1], trials=2, seed=7)
        content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert content["knees"]["tau"]["AP"].keys() == {"first", "sustained"}
        assert len(content["runs"]) == 2 * len(made.runs)
        assert list(content) == [
            *("verdict", "depth", "judged", "levels", "knees", "runs", "judgments", "topics", "pairs"),
            *("notes", "settings"),
        ]
        settings = content["settings"]
        assert (settings["seed"], settings["trials"], settings["depletion"]) == (7, 2, "stratified")

    def test_line_of_one_pair(self, made):
        found = gf.robustness(made.qrels, made.runs[:2], "AP", levels=[1], trials=2)
        assert f"robustness: 2 runs, 6 topics, {len(made.qrels)} judgments, 1 pair; depletion" in str(found)

    def test_line(self, made):
        assert str(gf.robustness(made.qrels, made.runs, "AP", levels=[1], trials=2, seed=3).settings) == (
            f"robustness: 7 runs, 6 topics, {len(made.qrels)} judgments, 21 pairs; depletion=stratified levels=1 "
            "trials=2 rel=1 pairs=300 alpha=0.05 confidence=0.95 seed=3 "
            "ties=trec unjudged=zero missing=empty degenerate=zero duplicates=error"
        )

    def test_ranks(self, made):
        """Of leave-one-out, among the full scores of the others."""
        found = gf.robustness(made.qrels, made.runs[:3], "AP", depletion="leave-one-out", levels=[5])
        found = replace(found, full=np.array([[0.5, 0.4, 0.4]]), scores=np.array([[[0.3, 0.35, 0.4]]]))
        runs = found.runs()
        assert runs["full_rank"].to_list() == [1, 2, 2]
        assert runs["rank"].to_list() == [3, 3, 2]
        assert by_depth(found).runs()["rank"].to_list() == [3, 2, 1]

    def test_chart(self, made):
        found = gf.robustness(made.qrels, made.runs, ["AP", "bpref"], levels=LEVELS, trials=2)
        chart = found.chart().to_dict()
        assert chart["layer"][0]["encoding"]["y"]["datum"] == 0.9
        points = next(data for data in chart["datasets"].values() if "tau" in data[0])
        assert [p["tau"] for p in points] == pytest.approx(found.tau()[:, :, 0].ravel().tolist())
        assert [layer["mark"]["type"] for layer in chart["layer"]] == ["rule", "area", "line", "rule", "text"]
        single = gf.robustness(made.qrels, made.runs, "AP", depletion="depth", levels=[1, 5]).chart().to_dict()
        assert [layer["mark"]["type"] for layer in single["layer"]] == ["rule", "line", "rule", "text"]
        assert single["layer"][1]["encoding"]["x"]["title"] == "pool depth (log scale)"

    def test_bands_of_many_measures_do_not_hide_each_other(self, made):
        """One panel per measure, in which the others are lines without bands."""
        found = gf.robustness(made.qrels, made.runs, ["AP", "bpref", "RR"], levels=LEVELS, trials=2)
        chart = found.chart().to_dict()
        assert chart["facet"]["sort"] == ["AP", "bpref", "RR"]
        layers = {layer["mark"]["type"]: layer for layer in chart["spec"]["layer"][1:]}
        assert layers.keys() == {"rule", "area", "line"}
        assert "data" not in layers["area"]  # that of the panel
        assert chart["spec"]["layer"][0]["data"] != chart["data"]


NO_DECISION = (
    "AP: no two runs differ on enough topics for a test at alpha=0.05 to tell them apart, so nothing is said of "
    "decisions."
)
NOTHING_TO_KEEP = (
    "There is no order that the runs could keep: by every measure they score the same, or one has no score."
)
NO_ORDER = "AP: all runs score the same under all judgments, so there is no order to keep."


def texts(found: gf.Robustness) -> list[str]:
    """What is said of the numbers; not of the data, nor of how to read the table."""
    return [note.text for note in found._notes() if note.code not in ("levels", "for-good", "floors")]


class TestNotes:
    """What cannot be decided is not decided rightly."""

    def test_nothing_to_say(self, made):
        found = gf.robustness(made.qrels, made.runs, "AP", levels=[0.5], trials=2)
        assert texts(found) == []

    def test_one_topic(self):
        found = gf.robustness({"q": {"a": 1, "b": 0}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}}, "AP", levels=[1])
        assert math.isnan(found.to_frame()["accuracy"].item())
        few = "2 runs on 1 topic say little of the order of others: it may be kept here by chance."
        assert texts(found) == [few, NO_DECISION]
        assert {"code": "no-decision", "subject": "AP", "text": NO_DECISION, "warn": False} in found.to_dict()["notes"]

    def test_identical_runs(self, made):
        one = made.runs[0]
        found = gf.robustness(made.qrels, [one, replace(one, name="again")], "AP", levels=[0.5, 1], trials=2)
        assert found.to_frame()["accuracy"].is_nan().all()
        assert texts(found) == [NO_ORDER, NO_DECISION]
        assert found.verdict().endswith(NOTHING_TO_KEEP)

    def test_undefined(self):
        runs = {"x": {"q": ["a"]}, "y": {"q": ["b"]}}
        found = gf.robustness({"q": {"a": 0, "b": 0}}, runs, "AP", levels=[1], trials=1, degenerate="nan")
        assert math.isnan(found.to_frame()["accuracy"].item())
        assert texts(found)[1:] == [
            "AP: some run has no score under all judgments, so there is no order to keep.",
            NO_DECISION,
        ]
        assert found.verdict().endswith(NOTHING_TO_KEEP)
        alone = gf.robustness({"q": {"a": 0, "b": 0}}, runs, "AP", depletion="leave-one-out", degenerate="nan")
        assert alone.verdict().endswith(NOTHING_TO_KEEP)

    def test_binary_labels_leave_weights_without_effect(self, made):
        binary = Qrels(made.qrels.frame.with_columns(pl.col("relevance").clip(0, 1)))
        found = gf.robustness(binary, made.runs, "AP", levels=[1], trials=1, weights=[1, 10])
        assert texts(found) == ["Only one label is relevant, so all weights give the same nDCG, the binary one."]
        assert len(found.measures) == 2
        graded = gf.robustness(made.qrels, made.runs, "AP", levels=[1], trials=1, weights=[1, 10])
        assert texts(graded) == []
        assert graded.to_dict()["settings"]["weights"] == [1.0, 10.0]
        assert " weights=1,10 " in str(graded)


class TestLowerIsBetter:
    def test_ranks(self, made):
        found = gf.robustness(made.qrels, made.runs[:3], "Forbidden@10", depletion="leave-one-out", levels=[5])
        assert found.scored.higher == ("worse",)
        found = replace(found, full=np.array([[0.1, 0.3, 0.3]]), scores=np.array([[[0.2, 0.05, 0.3]]]))
        runs = found.runs()
        assert runs["full_rank"].to_list() == [1, 2, 2]
        assert runs["rank"].to_list() == [1, 1, 2]
        assert by_depth(found).runs()["rank"].to_list() == [2, 1, 3]


QRELS = {"q": {"a": 1, "b": 0}}
RUNS = {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}}


class TestRefused:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"trials": 0}, "trials: expected a whole number of at least 1, got 0"),
            ({"trials": 1.5}, "trials: expected a whole number of at least 1, got 1.5"),
            ({"pairs": 0}, "pairs: expected a whole number of at least 1, got 0"),
            ({"rel": math.nan}, "rel: expected a finite number, got nan"),
            ({"rel": math.inf}, "rel: expected a finite number, got inf"),
            ({"weights": 2}, "weights: expected a list of numbers such as [2, 10], got 2"),
            ({"levels": 0.5}, "levels: expected a list of numbers such as [0.5, 1], got 0.5"),
            ({"alpha": 0.0}, "alpha: expected a number between 0 and 1, both excluded, got 0.0"),
            ({"confidence": 1.0}, "confidence: expected a number between 0 and 1, both excluded, got 1.0"),
            ({"levels": [2]}, "levels: expected shares of the judgments, above 0 and at most 1, got 2"),
        ],
    )
    def test_settings(self, settings, message):
        with pytest.raises(GainfulError, match=f"^{re.escape(message)}$"):
            gf.robustness(QRELS, RUNS, **settings)

    def test_seed_before_anything_is_read(self):
        for seed in (-1, 1.5, None):
            with pytest.raises(GainfulError, match=f"^seed: expected a whole number of at least 0, got {seed}$"):
                gf.robustness("no such file", RUNS, seed=seed)

    @pytest.mark.parametrize("runs", [{}, [], ()])
    def test_no_run(self, runs):
        with pytest.raises(DataError, match=r"^expected at least 2 runs, whose order can change, got none$"):
            gf.robustness(QRELS, runs)

    def test_curve(self, made):
        found = gf.robustness(QRELS, RUNS, "AP", levels=[1], trials=1)
        with pytest.raises(GainfulError, match=r"^by: expected one of tau, accuracy, got 'foo'\.$"):
            found.knees(by="foo")

    def test_one_run_is_left(self, tmp_path):
        (tmp_path / "good.txt").write_text("1 Q0 a 1 2 x\n")
        (tmp_path / "bad.txt").write_text("1 Q0 a\n")
        with pytest.raises(DataError, match=r"got 1: good\nLeft out") as error:
            gf.robustness(QRELS, tmp_path, keep_going=True)
        assert error.value.__notes__[0].startswith(f"Left out: {tmp_path}/bad.txt:1: expected 6 fields")

    def test_one_run(self):
        with pytest.raises(DataError, match=r"^expected at least 2 runs, whose order can change, got 1: x$"):
            gf.robustness(QRELS, {"x": RUNS["x"]})

    def test_ties_of_ap(self):
        with pytest.raises(PolicyError, match="ties='expected' is defined for sums over ranks"):
            gf.robustness(QRELS, RUNS, "AP", ties="expected")

    def test_one_topic_is_enough(self):
        found = gf.robustness(QRELS, RUNS, "AP", levels=[0.5], trials=1)
        assert found.taus.item() == 1.0

    def test_foreign_measures_see_the_pool(self):
        """One that counts pooled documents: it must not be handed rankings without them."""
        try:

            @gf.measure("Pooled", bounds=None)
            def pooled(rankings: gf.Rankings) -> np.ndarray:
                """Pooled documents returned, judged or not. Never undefined."""
                return rankings.sum(np.ones(len(rankings.row)))

            qrels = {"q": {f"d{i}": 0.0 for i in range(40)}}
            runs = {"x": {"q": [f"d{i}" for i in range(40)]}, "y": {"q": ["d1"]}}
            found = gf.robustness(qrels, runs, "Pooled", levels=[0.5], trials=1)
            assert found.scores.ravel().tolist() == [40.0, 1.0]
        finally:
            from gainful.measures.registry import unregister

            unregister("Pooled")


def shares(qrels: Judgments, runs: list[Run], depth: int) -> list[float]:
    """Per run, by loops: of the first documents of all its rankings, the share with a label."""
    found = []
    for run in runs:
        first = [(topic, doc) for topic, docs in ranked(run).items() for doc in docs[:depth]]
        found.append(sum(qrels[topic].get(doc) is not None for topic, doc in first) / len(first))
    return found


class TestDepth:
    def test_of_a_pool(self, made, judged):
        """Pooled to depth 15 from all runs: that is how deep they are judged, but for what other runs add by chance."""
        found = gf.robustness(made.qrels, made.runs, "nDCG@20", levels=[1], trials=1)
        depth = found.reach.depth()
        every = [np.median(shares(judged, made.runs, k)) for k in range(1, 41)]
        assert depth >= 15
        assert min(every[:depth]) >= 0.95 > every[depth]
        for k in (1, 10, 15, 33, 40):
            np.testing.assert_allclose(found.reach.shares[:, k - 1], shares(judged, made.runs, k))

    def test_judged_at_ten(self, made):
        """As the measure says that is named so; runs that return less are judged by what they return."""
        some = gf.Qrels(made.qrels.frame.filter(pl.int_range(pl.len()) % 2 == 0))
        found = gf.robustness(some, made.runs, "AP", levels=[1], trials=1)
        expected = gf.evaluate(some, made.runs, "Judged@10").summary()[0]
        np.testing.assert_allclose(found.reach.first(), expected)
        table = next(table for table in found.tables() if table.name == "judged")
        assert table.frame["first_ten"].to_list() == pytest.approx(expected.tolist())
        assert f"and {expected.min():.0%} in the worst, {made.runs[int(np.argmin(expected))].name}." in found.verdict()

    def test_by_hand(self):
        """x: 3 of 3 judged; y: first 2 of its 4, then none; z returns nothing."""
        qrels = {"q": {"a": 1, "b": 0, "c": 0, "d": None}}
        runs = {"x": {"q": ["a", "b", "c"]}, "y": {"q": ["b", "a", "u", "d"]}, "z": {"q": []}}
        reach = gf.robustness(qrels, runs, "AP", levels=[1], trials=1).reach
        np.testing.assert_allclose(reach.shares[:2], [[1, 1, 1, 1], [1, 1, 2 / 3, 1 / 2]])
        assert np.isnan(reach.shares[2]).all()
        assert reach.depths() == [4, 2, 0]
        assert reach.depths(2 / 3) == [4, 3, 0]
        assert reach.depth() == 2  # the median of 1 and 2/3 is below .95
        assert reach.depth(0.75) == 4
        np.testing.assert_allclose(reach.first(3), [1, 2 / 3, np.nan])

    def test_nothing_is_returned(self):
        found = gf.robustness({"q": {"a": 1}}, {"x": {"q": []}, "y": {"q": []}}, "AP", levels=[1], trials=1)
        assert found.reach.depth() == 0
        assert found.verdict().startswith("The judgments do not even cover the first documents: fewer than 95% of ")
        assert np.isnan(found.reach.first()).all()


def curves(found: gf.Robustness, *levels: list[float]) -> gf.Robustness:
    """With these mean τ, per measure and level."""
    return replace(found, taus=np.array(levels)[:, :, None])


class TestVerdict:
    def test_depth_first(self, made):
        verdict = gf.robustness(made.qrels, made.runs, ["nDCG@10", "AP", "nDCG@1000"], levels=[1], trials=1).verdict()
        depth = int(re.match(r"The judgments reach depth (\d+): at least 95% of the first \1 documents", verdict)[1])
        assert 10 <= depth < 40
        assert "of the median run are judged. That is enough for nDCG@10; nDCG@1000 looks deeper. The f" in verdict
        assert verdict.endswith(
            "nDCG@10, AP and nDCG@1000 keep the order of the runs (τ > 0.9) only with all of the judgments."
        )

    def test_all_is_judged(self):
        verdict = gf.robustness(QRELS, RUNS, ["AP", "nDCG@5"], levels=[1], trials=1).verdict()
        assert verdict.startswith(
            "The judgments reach the end of the rankings, depth 2: at least 95% of the first 2 documents of the median "
            "run are judged. The first ten documents of all runs are judged. "
        )

    def test_best_and_worst(self, made):
        found = gf.robustness(made.qrels, made.runs, ["AP", "bpref", "RR"], levels=[0.1, 0.25, 1], trials=1)
        said = curves(found, [0.5, 0.95, 1], [0.91, 0.95, 1], [0.95, 0.8, 1]).verdict()
        assert said.endswith(
            "bpref keeps the order of the runs (τ > 0.9) from 10% of the judgments on; RR only with all of the "
            "judgments."
        )
        never = curves(found, [0.5, 0.5, 0.5], [0.91, 0.95, 1], [0.95, 0.8, 1]).verdict()
        assert never.endswith(" from 10% of the judgments on; AP not even at the highest level.")
        tied = curves(found, [math.nan, 0.95, 1], [math.nan, 0.5, 1], [0.5, math.nan, 1]).verdict()
        assert tied.endswith(
            "AP keeps the order of the runs (τ > 0.9) from 25% of the judgments on; bpref and RR only with all of the "
            "judgments."
        )
        none = curves(found, *[[0.95, 0.95, 0.5]] * 3).verdict()
        assert none.endswith("No measure keeps the order of the runs (τ > 0.9) at the highest of these levels.")

    def test_shallower_pools(self, made):
        found = gf.robustness(made.qrels, made.runs, ["AP", "RR"], depletion="depth", levels=[2, 5])
        assert (
            curves(found, [0.95, 0.95], [0.9, 0.95])
            .verdict()
            .endswith(
                "AP keeps the order of the runs (τ > 0.9) from a pool depth of 2 on; RR only from a pool depth of 5 on."
            )
        )

    def test_leave_one_out(self, made):
        found = gf.robustness(made.qrels, made.runs[:3], "AP", depletion="leave-one-out", levels=[5])
        names = found.systems
        lost = replace(found, full=np.array([[0.5, 0.4, 0.3]]), scores=np.array([[[0.45, 0.2, 0.25]]]))
        assert lost.verdict().endswith(
            f"Scored without the documents that it alone contributed, a run loses at most 1 of 3 places: {names[1]} by "
            "AP at depth 5."
        )
        kept = replace(found, full=np.array([[0.5, 0.4, 0.3]]), scores=np.array([[[0.45, 0.35, 0.25]]]))
        assert kept.verdict().endswith("that it alone contributed, no run loses a place.")


class TestShown:
    def test_one_row_per_measure(self, made):
        found = gf.robustness(made.qrels, made.runs, ["AP", "bpref"], levels=LEVELS, trials=2)
        assert [table.name for table in found.tables()] == ["measures", "levels", "judged"]
        (compact,) = found.compact()
        knees, accuracy = found.knees(), found.knees(by="accuracy")
        assert compact.frame.rows() == [
            (name, *knees[name], *accuracy[name], pytest.approx(found.taus[m, 0].mean()))
            for m, name in enumerate(("AP", "bpref"))
        ]
        assert compact.columns[-1].header == "τ at 10%"
        assert found.tables()[1].frame.equals(found.to_frame())
        assert found.to_pandas()["tau"].to_list() == pytest.approx(found.to_frame()["tau"].to_list())

    def test_leave_one_out(self, made):
        """Who loses most, with what a run with fewer judgments of its own scores less."""
        found = gf.robustness(made.qrels, made.runs, ["AP", "Forbidden@5"], depletion="leave-one-out", levels=[2, 5])
        change = found.scores - found.full[:, None]
        compact, _, every, _ = found.tables()
        assert every.frame.height == 4
        most = every.frame["places"].to_numpy().reshape(2, 2)
        assert compact.frame["level"].to_list() == [(2.0, 5.0)[at] for at in most.argmax(axis=1)]
        assert compact.frame["places"].to_list() == most.max(axis=1).tolist()
        assert compact.frame["measure"].to_list() == ["AP", "Forbidden@5"]
        assert every.frame["change"].to_list() == pytest.approx([*change[0].min(axis=1), *change[1].max(axis=1)])
        assert every.frame["mean_change"].to_list() == pytest.approx(change.mean(axis=2).ravel().tolist())

    def test_text(self, made):
        text = str(gf.robustness(made.qrels, made.runs, "AP", levels=LEVELS, trials=2))
        assert text.startswith("The judgments reach depth ")
        assert "τ > 0.9 for good" in text
        assert "note: For good: at that level and all higher ones." in text
        assert "note: A level is the share of the judgments that is kept;" in text

    def test_floors(self, made):
        """10 other documents of a topic are kept at the least: of small pools more than a hundredth."""
        found = gf.robustness(made.qrels, made.runs, "AP", levels=[0.01, 1], trials=1)
        (note,) = [note.text for note in found.notes() if note.code == "floors"]
        assert note == (
            "A topic keeps at least 1 relevant and 10 other documents, so low levels keep more than they say: level "
            f"0.01 keeps {found.judged[0] / len(made.qrels):.0%}."
        )

    def test_names_are_escaped(self):
        html = gf.robustness(QRELS, {"<i>&": RUNS["y"], "x": {"q": ["u"]}}, "AP", levels=[1], trials=1)._repr_html_()
        assert "<i>&" not in html
        html = gf.robustness(QRELS, {"<i>&": {"q": ["u"]}, "x": RUNS["x"]}, "AP", levels=[1], trials=1)._repr_html_()
        assert "in the worst, &lt;i&gt;&amp;." in html


class TestRankings:
    @pytest.mark.parametrize("unjudged", ["zero", "condensed"])
    def test_are_as_good_as_judgments_and_runs(self, made, unjudged):
        rankings = gf.align(made.qrels, made.runs)
        settings = {"levels": LEVELS, "trials": 2, "unjudged": unjudged, "degenerate": "skip"}
        expected = gf.robustness(made.qrels, made.runs, ["AP", "infAP"], **settings)
        for found in (
            gf.robustness(rankings, ["AP", "infAP"], **settings),
            gf.robustness(rankings, measures=["AP", "infAP"], **settings),
        ):
            assert found.to_dict() == expected.to_dict()

    def test_default_measures(self, made):
        found = gf.robustness(gf.align(made.qrels, made.runs), levels=[1], trials=1)
        assert found.measures == ("bpref", "infAP", "AP", "nDCG@1000")

    def test_condensed_already(self, made):
        message = "^unjudged='zero': these rankings are joined already, with unjudged='condensed'$"
        with pytest.raises(PolicyError, match=message):
            gf.robustness(gf.align(made.qrels, made.runs, unjudged="condensed"), "AP")

    def test_ties_of_ap(self):
        with pytest.raises(PolicyError, match="ties='expected' is defined for sums over ranks"):
            gf.robustness(gf.align(QRELS, RUNS, ties="expected"), "AP")

    def test_options_of_tables(self):
        with pytest.raises(TypeError, match=r"^unexpected keyword 'lower_is_better'; expected a parameter"):
            gf.robustness(QRELS, RUNS, lower_is_better=["AP"])


@pytest.mark.parametrize("ties", ["trec", "expected"])
@pytest.mark.parametrize("depletion", ["stratified", "depth", "leave-one-out"])
def test_hits_below_a_cutoff_change_nothing(ties, depletion, monkeypatch):
    """Scores that are rounded, so that groups of ties reach across the cutoffs."""
    made = gf.simulate(topics=6, systems=5, depth=40, seed=3)
    runs = [gf.Run(run.frame.with_columns(pl.col("score").round(0)), run.name) for run in made.runs]
    measures = ["nDCG@3", "nDCGf@7", "P@7", "RBP@3", "Forbidden@5", *(["infAP", "AP@7"] if ties == "trec" else [])]

    def found() -> bytes:
        return gf.robustness(made.qrels, runs, measures, depletion=depletion, trials=2, ties=ties).scores.tobytes()

    shallow = found()
    monkeypatch.setattr("gainful.analyses.robustness.compute._SHALLOW", 0)
    assert found() == shallow


def test_xinfap_sees_what_is_pooled_but_not_judged():
    """Without strata it is infAP, to within the smoothing."""
    made = gf.simulate(topics=6, systems=5, depth=40, seed=3)
    found = gf.robustness(made.qrels, made.runs, ["infAP", "xinfAP"], depletion="uniform", levels=[0.4], trials=2)
    np.testing.assert_allclose(found.scores[0], found.scores[1], atol=1e-3)


def test_condensed_before_it_is_cut():
    """The first judged documents may stand below the cutoff: x is unjudged, a and b come second and third."""
    judged = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}
    runs = {"p": {t: ["x", "a", "b"] for t in judged}, "q": {t: ["x", "b", "a"] for t in judged}}
    found = gf.robustness(judged, runs, "P@1", levels=[1.0], trials=1, unjudged="condensed")
    assert found.full.tolist() == [[1.0, 0.0]]
