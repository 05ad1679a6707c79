"""The optimum against brute force, against another optimiser with finite differences, and against what people use."""

import json
import math
import os
import re
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import gainful as gf
from gainful.data.align import align
from gainful.errors import DataError, GainfulError, MeasureError
from gainful.stats.correlation import kendall
from gainful.tune.optimize.bilinear import bilinear
from gainful.tune.optimize.compute import _halves
from gainful.tune.optimize.fit import Point, Problem, Space
from gainful.tune.optimize.problem import JudgedRuns
from gainful.tune.optimize.result import OPTIMAL

DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent"))
NAMED = ("log2", "zipf", "linear", "jk")


@pytest.fixture(scope="module")
def web():
    return gf.simulate(topics=20, systems=12, depth=60, seed=5)


@pytest.fixture(scope="module")
def best(web):
    return gf.optimize(web.qrels, web.runs, cutoff=10, splits=3, resamples=200)


def phi_of(qrels, runs, measure):
    """Φ of one topic, by the formula, of what `evaluate` gives."""
    y = gf.evaluate(qrels, runs, measure).values[0]
    s, t = y.shape
    system, topic = y.mean(axis=1, keepdims=True), y.mean(axis=0, keepdims=True)
    ms_s = t * ((system - y.mean()) ** 2).sum() / (s - 1)
    ms_t = s * ((topic - y.mean()) ** 2).sum() / (t - 1)
    ms_e = ((y - system - topic + y.mean()) ** 2).sum() / ((s - 1) * (t - 1))
    of_s, of_t = (ms_s - ms_e) / t, max(0.0, (ms_t - ms_e) / s)
    return of_s / (of_s + of_t + ms_e)


def arrays_of(web, cutoff):
    rankings = align(web.qrels, web.runs)
    labels = rankings.grades[rankings.grades > 0]
    return bilinear(rankings, labels, cutoff), labels


class TestSameOptimum:
    def test_brute_force(self):
        """Two grades and three ranks: every gain and discount on a grid."""
        web = gf.simulate(topics=20, systems=12, depth=60, seed=5)
        frame = web.qrels.frame.with_columns(relevance=web.qrels.frame["relevance"].clip(0, 2))
        found = gf.optimize(frame, web.runs, target="both", cutoff=3, splits=0, resamples=50)
        rankings = align(gf.read_qrels(frame), web.runs)
        arrays = bilinear(rankings, np.array([1.0, 2.0]), 3)
        grid = np.linspace(0.0, 1.0, 41)
        tried = {
            (second, third, low): arrays.phi(np.array([1.0, second, third]), np.array([low, 1.0]))
            for second, third, low in product(grid, grid, grid[1:])
            if third <= second
        }
        top = max(tried, key=lambda key: tried[key])
        phi = found.collections[0].reliability[OPTIMAL].at(1).value
        assert max(tried.values()) - 1e-12 <= phi < max(tried.values()) + 1e-3
        gain = found.gain[1.0] / found.gain[2.0]
        at = (*(found.discount[1:] / found.discount[0]), gain)
        assert np.abs(np.array(at) - top).max() < 0.06

    @pytest.mark.parametrize("method", ["slsqp", "cone"])
    @pytest.mark.parametrize("constrained", [True, False])
    def test_finite_differences(self, web, method, constrained):
        """SLSQP with gradients by differences, over mixtures of uniform distributions or the discounts themselves."""
        arrays, labels = arrays_of(web, 6)
        basis = np.triu(np.ones((6, 6))) / np.arange(1, 7) if constrained else np.eye(6)
        ends = [
            minimize(
                lambda x: -arrays.phi(basis @ x, labels),
                np.linalg.solve(basis, start / start.sum()),
                method="SLSQP",
                bounds=[(0.0, 1.0)] * 6,
                constraints=[{"type": "eq", "fun": lambda x: x.sum() - 1.0}],
                options={"ftol": 1e-14, "maxiter": 500},
            )
            for start in (np.ones(6), 1.0 / np.arange(1.0, 7.0), np.arange(6.0, 0.0, -1.0))
        ]
        other = min(ends, key=lambda end: end.fun)
        found = gf.optimize(
            web.qrels, web.runs, cutoff=6, method=method, constrained=constrained, splits=0, resamples=50
        )
        phi = found.collections[0].reliability[OPTIMAL].at(1).value
        assert phi == pytest.approx(-other.fun, abs=2e-6)
        if constrained:
            np.testing.assert_allclose(found.discount, basis @ other.x, atol=1e-3)

    def test_cone_and_slsqp_agree_on_many_ranks(self, web):
        ends = [
            gf.optimize(web.qrels, web.runs, cutoff=50, method=method, starts=2, splits=0, resamples=50).phi
            for method in ("slsqp", "cone")
        ]
        assert ends[0] == pytest.approx(ends[1], abs=1e-6)

    def test_every_start_leads_there(self, web):
        """Φ does not fix the scale of the coordinates: a search that ran off along it would stop too early."""
        reached = gf.optimize(web.qrels, web.runs, cutoff=50, method="cone", splits=0, resamples=50).reached
        assert reached == pytest.approx([max(reached)] * 5, abs=1e-7)


class TestBetterThanPeopleUse:
    @pytest.mark.parametrize("constrained", [True, False])
    @pytest.mark.parametrize("target", ["discount", "gain", "both"])
    def test_simulated(self, web, target, constrained):
        found = gf.optimize(
            web.qrels, web.runs, target=target, cutoff=10, constrained=constrained, splits=0, resamples=50
        )
        self.check(found, web.qrels, web.runs, target)
        discount, gain = found.discount, np.array(list(found.gain.values()))
        if constrained:
            assert (np.diff(discount) <= 0).all()
            assert (np.diff(gain) >= 0).all()
        else:
            assert found.phi >= found.collections[0].phi("constrained") - 1e-9
        if target == "both":
            assert found.phi >= found.collections[0].phi("optimal discount") - 1e-9
            assert found.phi >= found.collections[0].phi("optimal gain") - 1e-9

    def check(self, found, qrels, runs, target):
        ours = phi_of(qrels, runs, found.measure)
        cutoff = found.collections[0].cutoff
        gains = ("linear", "exp") if target != "discount" else ("linear",)
        for gain, discount in product(gains, NAMED if target != "gain" else ("log2",)):
            assert ours >= phi_of(qrels, runs, f"nDCG(gain={gain}, discount={discount})@{cutoff}")
        assert found.collections[0].reliability[OPTIMAL].at(1).value == pytest.approx(ours, rel=1e-9)

    @pytest.mark.skipif(not DATA.is_dir(), reason="GAINFUL_DATA is not set to a folder")
    @pytest.mark.parametrize("target", ["discount", "gain", "both"])
    def test_trec_covid(self, target):
        folder = DATA / "trec-covid-round1"
        qrels, runs = gf.read_qrels(folder / "qrels.txt.gz"), gf.read_runs(folder / "runs")
        found = gf.optimize(qrels, runs, target=target, cutoff=20, splits=0, resamples=50)
        self.check(found, qrels, runs, target)
        collection = found.collections[0]
        assert found.phi == pytest.approx(max(found.phi, *(collection.phi(c) for c in collection.scores)))


class TestSeveral:
    def test_max_min_over_collections(self, web):
        other = gf.simulate(topics=20, systems=10, depth=60, seed=6)
        found = gf.optimize(web.qrels, web.runs, also=[(other.qrels, other.runs)], cutoff=5, splits=2, resamples=50)
        assert [part.collection for part in found.collections] == ["simulated (seed 5)", "simulated (seed 6)"]
        worst = dict(found.to_frame().group_by("candidate").agg(pl.col("phi_one_topic").min()).iter_rows())
        assert max(worst, key=lambda name: worst[name]) == OPTIMAL
        # No single optimum has a larger smallest Φ.
        problems = []
        for one in (web, other):
            rankings = align(one.qrels, one.runs)
            labels = np.array([1.0, 2.0, 3.0, 4.0])
            arrays = bilinear(rankings, labels, 5)
            problems.append(Problem(owner=0, arrays=arrays, cutoff=5, discount=np.ones(5), gain=labels))
        rng = np.random.default_rng(0)
        space = Space(ranks=5, labels=0, constrained=True)
        tried = [space.point(rng.dirichlet(np.full(5, 0.5))).worst(problems) for _ in range(3000)]
        assert max(tried) < worst[OPTIMAL] + 1e-7
        assert worst[OPTIMAL] < max(tried) + 2e-3

    def test_the_methods_agree(self, web):
        ends = [
            gf.optimize(web.qrels, web.runs, cutoff=[5, 10], method=method, starts=2, splits=0, resamples=50)
            for method in ("slsqp", "cone")
        ]
        low = [end.to_frame().filter(candidate=OPTIMAL)["phi_one_topic"].min() for end in ends]
        assert low[0] == pytest.approx(low[1], abs=2e-6)

    def test_what_the_smallest_leaves_open_is_decided_by_the_others(self, web):
        """If cutoff 3 is the smallest, the ranks below 3 must not be left where the search began."""
        found = gf.optimize(web.qrels, web.runs, cutoff=[3, 12], splits=0, resamples=50)
        shallow, deep = found.collections
        assert shallow.phi() < deep.phi()
        arrays, labels = arrays_of(web, 12)
        head = found.discount[:3]
        ends = [
            np.concatenate([head, head[2] * tail])
            for tail in (np.ones(9), np.zeros(9), np.linspace(1, 0, 9), 0.5 ** np.arange(9))
        ]
        assert arrays.phi(found.discount, labels) > max(arrays.phi(d, labels) for d in ends) - 1e-6

    def test_one_discount_for_all_cutoffs(self, web):
        found = gf.optimize(web.qrels, web.runs, cutoff=[10, 5], splits=0, resamples=50)
        assert [part.cutoff for part in found.collections] == [5, 10]
        shallow, deep = (part[OPTIMAL].measure.parameters["discount"] for part in found.collections)
        assert deep[:5] == shallow
        assert found.measure.parameters["cutoff"] == 10


class TestResult:
    def test_scores_are_those_of_evaluate(self, web, best):
        part = best.collections[0]
        for candidate in part.candidates:
            expected = gf.evaluate(web.qrels, web.runs, candidate.measure).values[0]
            np.testing.assert_allclose(part.scores[candidate.name].values, expected, atol=1e-12)

    def test_topics_needed(self, web, best):
        for name in (OPTIMAL, *NAMED):
            phi = phi_of(web.qrels, web.runs, best.collections[0][name].measure)
            assert best.collections[0].topics_needed(name) == math.ceil(0.95 / 0.05 * (1 - phi) / phi)

    def test_discounts_add_up_to_one(self, best):
        assert [c.discount.sum() for c in best.collections[0].candidates] == pytest.approx([1.0] * 5)
        np.testing.assert_allclose(
            best.collections[0]["zipf"].discount * 10, (1 / np.arange(1, 11)) / sum(1 / k for k in range(1, 11)) * 10
        )

    def test_agreement(self, best):
        part = best.collections[0]
        means = part.scores.values.mean(axis=2)
        at = [c.name for c in part.candidates].index("zipf")
        assert part.tau()[0, at] == pytest.approx(float(kendall(means[0], means[at])))
        assert part.rms()[0, at] == pytest.approx(math.sqrt(((means[0] - means[at]) ** 2).mean()))

    def test_held_out(self, web, best):
        """Every half is held out once and used once: what is not fitted has the same numbers in another order."""
        part = best.collections[0]
        for name in NAMED:
            assert len(part[name].held_out) == 6
            assert sorted(part[name].held_out) == pytest.approx(sorted(part[name].fitted))
        assert part[OPTIMAL].fitted.mean() > part["log2"].fitted.mean()
        assert part[OPTIMAL].fitted.mean() > part[OPTIMAL].held_out.mean()

    def test_held_out_phi_is_that_of_the_other_half(self, web):
        """The first split of seed 0, by hand."""
        found = gf.optimize(web.qrels, web.runs, cutoff=10, splits=1, resamples=50)
        order = np.random.default_rng([0, 1]).permutation(20)
        y = found.collections[0].scores["log2"].values
        for at, half in enumerate((order[1::2], order[0::2])):
            expected = gf.reliability(y[:, half])["score"].at(20).value
            assert found.collections[0]["log2"].held_out[at] == pytest.approx(expected)

    def test_gain_ratios(self, web):
        found = gf.optimize(web.qrels, web.runs, target="gain", cutoff=10, splits=0, resamples=50)
        part = found.collections[0]
        assert part["exp"].gain_ratios == {1.0: 1.0, 2.0: 3.0, 3.0: 7.0, 4.0: 15.0}
        assert found.gain[4.0] == 4.0  # the highest label keeps its own value
        assert str(found.measure).startswith("nDCG(gain={1: ")

    def test_saved_measure(self, web, best, tmp_path):
        path = tmp_path / "ndcg opt.json"
        best.measure.save(path)
        again = gf.evaluate(web.qrels, web.runs, f"@{path}")
        np.testing.assert_array_equal(again.values, gf.evaluate(web.qrels, web.runs, best.measure).values)
        assert again.measures == (str(best.measure),)
        assert gf.parse_measure(str(best.measure)) == best.measure

    def test_exports(self, best):
        content = json.loads(json.dumps(best.to_dict()))
        assert content["settings"]["seed"] == 0
        assert content["collections"][0]["candidates"][0]["candidate"] == OPTIMAL
        assert len(content["collections"][0]["candidates"][0]["asl"]) == 12 * 11 / 2
        frame = best.to_frame()
        assert frame["candidate"].to_list() == [OPTIMAL, *NAMED]
        assert frame["phi"][0] == best.phi
        pattern = r"against \w+, the optimum gains \+0\.\d{4} .*, and [+-]0\.\d{4} on topics held out"
        assert re.search(pattern, best._notes()[0].text)
        assert best._notes()[0].code == "held-out"

    def test_printed(self, best):
        lines = str(best).splitlines()
        assert lines[0].startswith(f"The optimal discounts of nDCG reach Φ {best.phi:.4f} on the 20 topics they were")
        assert "constrained=True gain=linear discount=log2 phi=0.95 method=cone starts=5 splits=3 " in lines[-1]
        candidates, discounts = best.compact()
        assert [row[0] for row in candidates.cells()] == [OPTIMAL, *NAMED]
        # Down to rank 10, zipf is 1/rank over the sum of all.
        total = sum(1 / rank for rank in range(1, 11))
        assert discounts.cells()[2] == ["zipf", *(f"{1 / rank / total:.4f}" for rank in (1, 2, 3, 4, 5, 10))]

    def test_html_escapes_names(self, web):
        runs = [gf.Run(run.frame, f"<b>{run.name}") for run in web.runs]
        qrels = gf.Qrels(web.qrels.frame, "<i>&")
        shown = gf.optimize(qrels, runs, cutoff=3, splits=0, resamples=20)._repr_html_()
        assert "&lt;i&gt;&amp;, cutoff 3" in shown
        assert "<i>" not in shown

    def test_pandas(self, best):
        pytest.importorskip("pandas")
        assert best.to_pandas()["candidate"].tolist() == [OPTIMAL, *NAMED]

    def test_rankings(self, web, best):
        joined = gf.align(web.qrels, web.runs)
        again = gf.optimize(joined, cutoff=10, splits=3, resamples=200)
        assert again.to_frame().drop("collection").equals(best.to_frame().drop("collection"))
        both = gf.optimize(joined, also=[joined], cutoff=3, splits=0, resamples=20)
        assert [one.title for one in both.collections] == ["collection (1), cutoff 3", "collection (2), cutoff 3"]

    def test_same_seed_same_result(self, web, best):
        again = gf.optimize(web.qrels, web.runs, cutoff=10, splits=3, resamples=200)
        assert again.to_dict() == best.to_dict()

    def test_all_starts_are_tried(self, web):
        found = gf.optimize(web.qrels, web.runs, cutoff=4, starts=7, splits=0, resamples=50)
        assert len(found.reached) == 7
        assert max(found.reached) == pytest.approx(found.collections[0].reliability[OPTIMAL].at(1).value, abs=1e-6)

    def test_candidates_by_name(self, best):
        with pytest.raises(GainfulError, match=r"^no candidate 'log'; there are: optimal, log2, zipf, linear, jk$"):
            best.collections[0]["log"]

    @pytest.mark.parametrize("figure", ["all", "discount", "reliability", "held_out", "scores", "asl", "gain"])
    def test_charts(self, best, figure):
        content = json.dumps(best.chart(figure).to_dict())
        assert ("linear" if figure == "gain" else "optimal") in content  # all have the one gain that was given
        assert ("hconcat" in content or "concat" in content) == (figure == "all")

    def test_charts_of_several(self, web):
        found = gf.optimize(web.qrels, web.runs, target="both", cutoff=[3, 6], splits=0, resamples=50)
        content = found.chart().to_dict()
        # Figures have different names in their legends: what they look like must not be shared.
        assert content["resolve"]["scale"] == dict.fromkeys(["color", "strokeDash", "shape"], "independent")
        assert len(content["concat"]) == 2 * 5  # discount, gain, reliability, scores, asl of both cutoffs
        with pytest.raises(GainfulError, match=r"^figure: held_out needs splits; there were none \(splits=0\)$"):
            found.chart("held_out")
        with pytest.raises(
            GainfulError, match=r"^figure: expected one of all, .*, got 'discounts'. Did you mean 'discount'\?$"
        ):
            found.chart("discounts")


class TestTopicsWithoutGain:
    QRELS = {str(t): {"a": 1, "b": 2, "c": 0} for t in range(6)} | {"none": {"a": 0, "b": -1}}

    def runs(self):
        a_first, b_first = {"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 2.0, "b": 3.0, "c": 1.0}
        made = {
            "x": dict.fromkeys(self.QRELS, a_first),
            "y": dict.fromkeys(self.QRELS, b_first),
            "z": {t: {"c": 3.0, "b": 2.0} if t < "3" else {"b": 3.0, "c": 2.0} for t in self.QRELS},
        }
        return [gf.read_run(run, name=name) for name, run in made.items()]

    def test_they_count_as_zero(self):
        found = gf.optimize(self.QRELS, self.runs(), cutoff=2, splits=0, resamples=50)
        assert found.collections[0].without_gain == 1
        assert found.collections[0].scores.topics[-1] == "none"
        assert not found.collections[0].scores.values[:, :, -1].any()
        assert [note.text for note in found._notes()] == [
            "qrels, cutoff 2: 1 of 7 topics have no relevant document and count as 0 for every run "
            "(degenerate='skip' leaves them out)."
        ]

    def test_or_are_left_out(self):
        found = gf.optimize(self.QRELS, self.runs(), cutoff=2, splits=0, resamples=50, degenerate="skip")
        assert found.collections[0].scores.topics == tuple("012345")
        expected = gf.evaluate(self.QRELS, self.runs(), found.measure).values[0][:, :6]
        np.testing.assert_allclose(found.collections[0].scores.values[0], expected, atol=1e-12)


class TestFixed:
    def test_gain_while_discounts_are_sought(self, web):
        found = gf.optimize(web.qrels, web.runs, gain={0: 0.1, 1: 2, 2: 5, 4: 0}, cutoff=10, splits=0, resamples=50)
        assert found.gain == {0.0: 0.1, 1.0: 2.0, 2.0: 5.0, 3.0: 3.0}
        expected = gf.evaluate(web.qrels, web.runs, found.measure).values[0]
        np.testing.assert_allclose(found.collections[0].scores.values[0], expected, atol=1e-12)

    def test_text_as_on_the_command_line(self, web):
        settings = {"cutoff": 4, "splits": 0, "resamples": 50}
        text = gf.optimize(web.qrels, web.runs, gain="{1: 1, 2: 5}", **settings)
        assert text.measure == gf.optimize(web.qrels, web.runs, gain={1: 1, 2: 5}, **settings).measure

    def test_discount_while_gains_are_sought(self, web):
        found = gf.optimize(web.qrels, web.runs, target="gain", discount=[1, 0.5], cutoff=4, splits=0, resamples=50)
        assert found.measure.parameters["discount"] == (1.0, 0.5)
        expected = gf.evaluate(web.qrels, web.runs, found.measure).values[0]
        np.testing.assert_allclose(found.collections[0].scores.values[0], expected, atol=1e-12)


def tiny(**changes):
    qrels = {str(t): {"a": 1, "b": 2, "c": 0} for t in range(4)}
    runs = [
        gf.read_run({t: {"a": 3.0, "b": 2.0, "c": 1.0} for t in qrels}, name="x"),
        gf.read_run({t: {"c": 3.0, "b": 2.0, "a": 1.0} for t in qrels}, name="y"),
    ]
    return {"qrels": qrels, "runs": runs, "cutoff": 2, "splits": 0, "resamples": 20, **changes}


ONE = {str(t): {"a": 3.0, "b": 2.0, "c": 1.0} for t in range(4)}
ERRORS = [
    ({"runs": tiny()["runs"][:1]}, DataError, "qrels: expected at least 2 runs to tell apart, got 1: x"),
    (
        {"qrels": {"0": {"a": 0}, "1": {"b": -1}}},
        DataError,
        "no label has a gain above 0; there are: -1, 0",
    ),
    (
        {"qrels": {str(t): {"a": 1, "b": 1} for t in range(4)}, "target": "gain"},
        DataError,
        "target='gain' weighs labels above 0 against each other and needs at least two, got 1: use target='discount'",
    ),
    (
        {"qrels": {str(t): {"a": 0} for t in range(4)}, "target": "both"},
        DataError,
        "target='both' weighs labels above 0 against each other and needs at least two, got none: "
        "use target='discount'",
    ),
    (
        {"also": [({"0": {"a": 0}, "1": {"b": 0}}, tiny()["runs"])]},
        DataError,
        "qrels (2): no topic has a document with a gain (labels 1, 2)",
    ),
    (
        {"cutoff": 20},
        DataError,
        "qrels: no run returns more than 3 documents for a topic, so nothing can be learned about the discounts below: "
        "expected a cutoff of at most 3, got 20",
    ),
    ({"qrels": {"0": {"a": 1}}}, DataError, "qrels: expected at least 2 topics, got 1"),
    (
        {"qrels": {str(t): {"a": 1} for t in range(3)}, "splits": 2},
        DataError,
        "qrels: expected at least 4 topics to be split into halves (splits=0 does without), got 3",
    ),
    (
        {"runs": [tiny()["runs"][0], gf.read_run(tiny()["runs"][0].frame, name="copy")]},
        DataError,
        "no discount tells these runs apart better than chance: Φ is 0 at its best. Are the runs copies of each other?",
    ),
    ({"cutoff": 1}, GainfulError, "cutoff: expected at least 2 ranks to weigh against each other, got 1"),
    ({"cutoff": 0}, GainfulError, "cutoff: expected a whole number of at least 1, got 0"),
    ({"cutoff": []}, GainfulError, "cutoff: expected at least one, got none"),
    ({"cutoff": [5, 2.5]}, GainfulError, "cutoff: expected a whole number of at least 1, got 2.5"),
    (
        {"target": "discounts"},
        GainfulError,
        "target: expected one of discount, gain, both, got 'discounts'. Did you mean 'discount'?",
    ),
    ({"method": "newton"}, GainfulError, "method: expected one of slsqp, cone, got 'newton'."),
    ({"missing": "skip"}, GainfulError, "missing: expected one of empty, error, got 'skip'."),
    ({"degenerate": "nan"}, GainfulError, "degenerate: expected one of zero, skip, got 'nan'."),
    ({"starts": 0}, GainfulError, "starts: expected a whole number of at least 1, got 0"),
    ({"starts": 1.5}, GainfulError, "starts: expected a whole number of at least 1, got 1.5"),
    ({"splits": -1}, GainfulError, "splits: expected a whole number of at least 0, got -1"),
    ({"splits": 1.5}, GainfulError, "splits: expected a whole number of at least 0, got 1.5"),
    ({"also": "x"}, GainfulError, "also: expected a list of pairs, each judgments and runs, got str 'x'"),
    ({"also": [({},)]}, GainfulError, "also: expected a list of pairs, each judgments and runs, got tuple ({},)"),
    ({"cutoff": 2.5}, GainfulError, "cutoff: expected a whole number of at least 1, got 2.5"),
    ({"cutoff": 10**30}, GainfulError, f"cutoff: expected at most 1,000,000,000, got {10**30}"),
    (
        # Two runs that differ in one topic: σ²(runs) is 0 whatever the discount, but for rounding.
        {"runs": [tiny()["runs"][0], gf.read_run({**ONE, "3": {"c": 3.0, "b": 2.0, "a": 1.0}}, name="z")]},
        DataError,
        "no discount tells these runs apart better than chance: Φ is 0 at its best. Are the runs copies of each other?",
    ),
    ({"resamples": 0}, GainfulError, "resamples: expected a whole number of at least 1, got 0"),
    ({"seed": -1}, GainfulError, "seed: expected a whole number of at least 0, got -1"),
    ({"phi": 1.0}, GainfulError, "phi: expected a number between 0 and 1, both excluded, got 1.0"),
    (
        {"gain": {0: 1}, "target": "both"},
        GainfulError,
        "gain: for target='both' only labels above 0 may have a gain, got one for 0",
    ),
    ({"gain": "{1: 1}, norm=f"}, GainfulError, "gain: expected one value, got '{1: 1}, norm=f'"),
    (
        {"gain": "cubic"},
        MeasureError,
        "The 'gain' parameter of nDCG must be linear, exp or a map from label to gain such as {-2: -10, 1: 1}, "
        "got 'cubic' instead.",
    ),
]


@pytest.mark.parametrize(("changes", "kind", "message"), ERRORS, ids=[message[:40] for _, _, message in ERRORS])
def test_errors(changes, kind, message):
    given = tiny(**changes)
    with pytest.raises(kind) as caught:
        gf.optimize(given.pop("qrels"), given.pop("runs"), **given)
    assert str(caught.value) == message


@pytest.fixture(scope="module")
def at_bound():
    rng = np.random.default_rng(5)
    qrels = {str(t): {"a": 2, "b": 2, **{f"c{i}": 1 for i in range(4)}, "z": 0} for t in range(30)}
    runs = []
    for s in range(6):
        # Run s has a and b at rank 1 more often the larger s is; the rest comes as it likes.
        lists = {
            t: sorted(qrels[t], key=lambda d: (-(d in "ab" and rng.random() < s / 5), rng.random())) for t in qrels
        }
        runs.append(gf.read_run(lists, name=f"s{s}"))
    return gf.optimize(qrels, runs, target="gain", cutoff=3, splits=2, resamples=20)


class TestGainAtItsBound:
    """Label 1 only confuses: all runs have it at random places, and only those of label 2 differ."""

    def test_it_is_told(self, at_bound):
        assert at_bound.collections[0][OPTIMAL].bound == (1.0,)
        assert at_bound.collections[0]["linear"].bound == at_bound.collections[0]["exp"].bound == ()
        assert at_bound._notes()[0].text == (
            "Label 1: as little gain as allowed. Φ would be largest with none at all, so how many times more the "
            "others have means nothing."
        )
        assert at_bound.to_dict()["collections"][0]["candidates"][0]["labels_at_bound"] == [1.0]

    def test_the_table_has_no_number_that_means_nothing(self, at_bound):
        rows = at_bound.tables()[1].cells()
        assert rows[0] == [OPTIMAL, "1.0000", "> 1,000"]
        assert rows[2] == ["exp", "1.0000", "3.0000"]
        assert [column.is_text for column in at_bound.tables()[1].columns] == [True, False, False]

    def test_the_chart_can_be_read(self, at_bound):
        points = next(iter(at_bound.chart("gain").to_dict()["datasets"].values()))
        assert {(p["candidate"], p["label"]): p["share"] for p in points} == {
            (OPTIMAL, 1.0): pytest.approx(0.0, abs=1e-5),
            (OPTIMAL, 2.0): 1.0,
            ("linear", 1.0): 0.5,
            ("linear", 2.0): 1.0,
            ("exp", 1.0): pytest.approx(1 / 3),
            ("exp", 2.0): 1.0,
        }


@pytest.fixture(scope="module")
def both(web):
    return gf.optimize(web.qrels, web.runs, target="both", cutoff=5, splits=0, resamples=20)


class TestFigures:
    def test_no_two_lines_look_the_same(self, both):
        encoding = both.chart("reliability").to_dict()["layer"][1]["encoding"]
        colours, dashes = (encoding[channel]["scale"]["range"] for channel in ("color", "strokeDash"))
        assert len({(c, tuple(d)) for c, d in zip(colours, dashes, strict=True)}) == 11
        encoding = both.chart("scores").to_dict()["layer"][1]["encoding"]
        colours, shapes = (encoding[channel]["scale"]["range"] for channel in ("color", "shape"))
        assert len(set(zip(colours, shapes, strict=True))) == 10

    def test_equal_curves_are_drawn_once(self, both):
        spec = both.chart("discount").to_dict()
        names = ["optimal", "optimal discount", "log2", "zipf", "linear", "jk"]
        assert spec["encoding"]["color"]["scale"]["domain"] == names
        assert both.chart("gain").to_dict()["encoding"]["color"]["scale"]["domain"] == [
            "optimal",
            "linear",
            "optimal gain",
            "exp",
        ]
        points = next(iter(spec["datasets"].values()))
        assert len(points) == 6 * 5
        assert points[-1]["candidate"] == OPTIMAL  # drawn last, over the others

    def test_ranks_are_whole(self, both):
        axis = both.chart("discount").to_dict()["encoding"]["x"]["axis"]
        assert (axis["format"], axis["tickMinStep"]) == ("d", 1)


class TestSharedTopics:
    def test_a_topic_is_in_the_same_half_of_all_collections(self):
        first, second = (
            JudgedRuns(name=n, rankings=SimpleNamespace(topics=topics), topics=np.arange(len(topics)))
            for n, topics in (("a", tuple("12345678")), ("b", tuple("87651xyz")))
        )
        for seed in range(20):
            halves = _halves([first, second], np.random.default_rng(seed))
            named = [[{c.names[at] for at in half[i]} for i, c in enumerate((first, second))] for half in halves]
            used, unused = (one | other for one, other in named)
            assert not used & unused
            assert used | unused == set("12345678xyz")
            assert [len(topics) for half in named for topics in half] == [4, 4, 4, 4]

    def test_the_same_collection_twice_is_held_out_as_once(self, web):
        once = gf.optimize(web.qrels, web.runs, cutoff=4, splits=2, resamples=20, method="slsqp").collections[0]
        twice = gf.optimize(
            web.qrels, web.runs, also=[(web.qrels, web.runs)], cutoff=4, splits=2, resamples=20, method="slsqp"
        ).collections[0]
        assert twice["log2"].held_out == pytest.approx(once["log2"].held_out)
        assert twice[OPTIMAL].held_out == pytest.approx(once[OPTIMAL].held_out, abs=2e-3)

    def test_where_that_cannot_be(self):
        names = [("a", "12mn"), ("b", "34mo"), ("c", "1234")]
        collections = [
            JudgedRuns(name=n, rankings=SimpleNamespace(topics=tuple(t)), topics=np.arange(len(t))) for n, t in names
        ]
        halves = _halves(collections, np.random.default_rng(0))
        assert [[len(topics) for topics in half] for half in halves] == [[2, 2, 2], [2, 2, 2]]
        collections = [
            JudgedRuns(name=f"{n}", rankings=SimpleNamespace(topics=tuple(t)), topics=np.arange(4))
            for n, t in enumerate(["3456", "2356", "1346", "2356", "1456"])
        ]
        with pytest.raises(DataError) as refused:
            _halves(collections, np.random.default_rng(0))
        assert str(refused.value)[1:] == (
            ": its topics cannot be split so that both halves have two, because other collections share them: "
            "use splits=0"
        )


def test_a_cutoff_below_all_documents_costs_nothing(web):
    """No list has more than 60 documents, so the scores are those of a list that ends there."""
    settings = {"target": "gain", "splits": 0, "resamples": 20}
    found = gf.optimize(web.qrels, web.runs, cutoff=1_000_000_000, **settings)
    assert found.collections[0].cutoff == 1_000_000_000
    expected = gf.evaluate(web.qrels, web.runs, "nDCG").values[0]
    np.testing.assert_allclose(found.collections[0].scores["linear"].values, expected, atol=1e-12)
    assert str(found.measure).endswith("@1000000000")
    assert json.dumps(found.chart().to_dict())


def test_held_out_phi_that_was_negative_is_told():
    rng = np.random.default_rng(0)
    qrels = {str(t): {f"d{i}": i % 3 for i in range(6)} for t in range(8)}
    # Runs in random order: on many halves they differ less than chance would have it.
    runs = [gf.read_run({t: list(rng.permutation(list(qrels[t]))) for t in qrels}, name=f"s{i}") for i in range(4)]
    found = gf.optimize(qrels, runs, cutoff=3, splits=5, resamples=20)
    zero = {c.name: int((c.held_out == 0).sum()) for c in found.collections[0].candidates}
    assert zero[OPTIMAL] > 0
    listed = ", ".join(f"{name} {n}" for name, n in zero.items() if n)
    assert (
        "qrels, cutoff 3: held-out Φ counts as 0 where a half tells the runs apart worse than chance "
        f"({listed} of 10 halves), so these means are too high."
    ) in [note.text for note in found._notes()]


def test_what_is_not_used_is_told(web):
    for settings, what in (({"discount": "zipf"}, "discount"), ({"target": "gain", "gain": {1: 1, 2: 5}}, "gain")):
        found = gf.optimize(web.qrels, web.runs, cutoff=3, splits=0, resamples=20, **settings)
        assert found._notes()[0].text == f"The {what} that was given is not used: it is what is sought."
    assert gf.optimize(web.qrels, web.runs, cutoff=3, splits=0, resamples=20, gain="exp")._notes() == []


def test_optimal_held_out_phi_is_that_of_a_refit(web):
    """The first half of seed 0, fitted by `optimize` itself on a collection of that half only."""
    found = gf.optimize(web.qrels, web.runs, cutoff=4, splits=1, resamples=20)
    order = np.random.default_rng([0, 1]).permutation(20)
    names = found.collections[0].scores.topics
    for at, (used, unused) in enumerate(((order[0::2], order[1::2]), (order[1::2], order[0::2]))):
        some = gf.Qrels(web.qrels.frame.filter(pl.col("query_id").is_in([names[t] for t in used])))
        again = gf.optimize(some, web.runs, cutoff=4, splits=0, resamples=20)
        y = gf.evaluate(web.qrels, web.runs, again.measure).values[0][:, unused]
        expected = gf.reliability(y)["score"].at(20).value
        assert found.collections[0][OPTIMAL].held_out[at] == pytest.approx(expected, abs=1e-3)


def test_coordinates_are_those_of_every_monotone_point():
    rng = np.random.default_rng(4)
    space = Space(ranks=7, labels=3, constrained=True)
    point = Point(discount=np.sort(rng.random(7))[::-1], gain=np.sort(rng.random(3)))
    x = space.coordinates(point)
    again = space.point(x)
    np.testing.assert_allclose(again.discount, point.discount / point.discount.sum(), atol=1e-12)
    np.testing.assert_allclose(again.gain, point.gain / point.gain.sum(), atol=1e-12)
    assert (x >= 0).all()
