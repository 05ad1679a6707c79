from __future__ import annotations

import json
import math
import re
import shlex

import numpy as np
import pytest
from scipy import stats

import gainful as gf
from gainful.data.policies import Policies
from gainful.pages import DEFAULTS, contents
from gainful.pages.analyses import ANALYSES


@pytest.fixture(scope="module")
def made():
    return gf.simulate(topics=8, systems=5, depth=40, pool_depth=10, seed=2)


@pytest.fixture(scope="module")
def found(made):
    measures = ["nDCG@10", "nDCGf@10", "Forbidden@10"]
    return gf.report(made.qrels, made.runs, measures, cutoff=10, resamples=50, trials=2)


def section(report: gf.Report, key: str) -> dict:
    return next(each for each in report.contents["analyses"] if each["id"] == key)


class TestNumbers:
    def test_scores_and_their_summaries(self, made, found):
        scores = gf.evaluate(made.qrels, made.runs, ["nDCG@10", "nDCGf@10", "Forbidden@10"])
        for name in scores:
            told = found.contents["scores"][name]
            assert np.array(told["values"]) == pytest.approx(scores[name].values, abs=1e-6)
            assert told["summary"] == pytest.approx(scores.mean()[name].to_list(), abs=1e-6)
            assert told["topic_means"] == pytest.approx(scores[name].values.mean(axis=0), abs=1e-6)

    def test_pairs_are_those_of_scipy(self, made, found):
        values = gf.evaluate(made.qrels, made.runs, "nDCG@10")["nDCG@10"].values
        told = found.contents["comparison"]["measures"]["nDCG@10"]
        assert len(told["p"]) == 10
        for first, second, p, difference in zip(
            *(told[name] for name in ("first", "second", "p", "difference")), strict=True
        ):
            assert p == pytest.approx(stats.ttest_rel(values[first], values[second]).pvalue, rel=1e-3)
            assert difference == pytest.approx(values[first].mean() - values[second].mean(), abs=1e-6)
        low, high = stats.t.interval(0.95, 7, values.mean(axis=1), stats.sem(values, axis=1))
        assert told["low"] == pytest.approx(low, abs=1e-6)
        assert told["high"] == pytest.approx(high, abs=1e-6)

    def test_direction_is_that_of_the_better(self, made, found):
        """Fewer forbidden documents are better: the sign of a pair is turned."""
        told = found.contents["comparison"]["measures"]["Forbidden@10"]
        for difference, direction in zip(told["difference"], told["direction"], strict=True):
            assert direction == -np.sign(difference)

    def test_sections_come_from_their_functions(self, made, found):
        scores = gf.evaluate(made.qrels, made.runs, ["nDCG@10", "nDCGf@10", "Forbidden@10"])
        phi = gf.reliability(scores)["nDCG@10"].phi
        assert section(found, "reliability")["table"]["rows"][0][1:4] == [phi.value, phi.low, phi.high]
        tau = gf.agreement(scores).between("nDCG@10", "nDCGf@10", "tau_b").value
        assert section(found, "agreement")["table"]["rows"][0][2] == tau
        power = gf.sensitivity(scores, resamples=50)["nDCG@10", "studentized"].discriminative_power(0.05)
        assert section(found, "sensitivity")["table"]["rows"][0][1] == power
        needed = gf.topics(scores)["nDCG@10"].needed
        assert section(found, "topics")["table"]["rows"][0][1] == needed
        error = gf.stability(scores)["nDCG@10"].error[-1]
        assert section(found, "stability")["table"]["rows"][0][2] == error
        knee = gf.robustness(made.qrels, made.runs, list(scores), trials=2).knees()["nDCG@10"]
        assert section(found, "robustness")["table"]["rows"][0][1:3] == [knee.first, knee.sustained]
        over = gf.boundedness(made.qrels, made.runs, cutoff=10).runs()["over"].to_list()
        assert [row[2] for row in section(found, "boundedness")["table"]["rows"]] == over
        best = made.runs[int(scores["nDCGf@10"].values.mean(axis=1).argmax())]
        curve = gf.threshold.curve(made.qrels, best, measure="nDCGf@10")
        assert section(found, "threshold")["table"]["rows"][0][:3] == [best.name, curve.score[-1], curve.score.max()]

    def test_every_section_has_a_figure_and_a_table(self, found):
        assert [each["id"] for each in found.contents["analyses"]] == [key for key, *_ in ANALYSES]
        for each in found.contents["analyses"]:
            assert each["figures"]
            assert all("vega-lite" in one["spec"]["$schema"] for one in each["figures"])
            assert {len(row) for row in each["table"]["rows"]} == {len(each["table"]["columns"])}

    def test_findings_name_the_leaders(self, made, found):
        means = gf.evaluate(made.qrels, made.runs, "Forbidden@10").mean()
        least = means.sort("Forbidden@10")["run"][0]
        assert any(
            text.startswith(f"{least} leads in Forbidden@10 (lower is better)") for text in found.contents["findings"]
        )

    def test_findings_against_a_baseline(self):
        qrels = {str(topic): {"a": 1} for topic in range(8)}
        places = {"base": [1, 1, 2, 1, 1, 2, 1, 1], "same": [1, 1, 2, 1, 1, 2, 1, 1], "bad": [3, 4, 3, 4, 3, 4, 3, 4]}
        runs = {
            name: {str(topic): [*"xyz"[: rank - 1], "a"] for topic, rank in enumerate(ranks)}
            for name, ranks in places.items()
        }
        found = gf.report(qrels, runs, "RR", baseline="base", resamples=20, trials=2)
        sentence = "In RR, 0 of 2 are significantly better than the baseline base, and 1 worse."
        assert found.contents["findings"][1] == sentence

    def test_who_leads_together(self):
        qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}
        first, second = ["a"], ["x", "a"]
        runs = {
            "one": {"1": first, "2": second, "3": first},
            "two": {"1": second, "2": first, "3": first},
            "bad": {"1": second, "2": second, "3": second},
        }
        found = gf.report(qrels, runs, "RR", resamples=20, trials=2)
        assert found.contents["findings"][0].startswith("one (and 1 other alike) leads in RR with 0.833 (")
        del runs["bad"]
        found = gf.report(qrels, runs, ["RR", "AP"], resamples=20, trials=2)
        assert found.contents["findings"][0] == "All runs have the same mean in RR, 0.833."
        assert "No measure tells any two runs apart at α = 0.05." in found.contents["findings"]

    def test_several_measures_tell_most_apart(self):
        qrels = {str(topic): {"a": 1} for topic in range(9)}
        runs = {"good": {topic: ["a"] for topic in qrels}, "bad": {topic: ["x", "a"] for topic in qrels}}
        found = gf.report(qrels, runs, ["RR", "AP", "P@1"], resamples=200, trials=2)
        assert "RR, AP and P@1 tell most runs apart: 100% of the pairs at α = 0.05." in found.contents["findings"]

    def test_p_values_keep_their_side_of_alpha(self):
        assert contents._significant_digits([0.04999996, 1.23456789e-30]) == [0.04999996, 1.2345679e-30]

    def test_counts_are_not_for_or_against_a_run(self, made):
        found = gf.report(made.qrels, made.runs, ["nDCG@5", "NumRet", "AP"], resamples=20, trials=2)
        assert not any("NumRet" in text for text in found.contents["findings"])

    def test_sums_are_compared_by_their_means(self):
        qrels = {str(topic): {"a": 1, "b": 1} for topic in range(4)}
        runs = {"two": {topic: ["a", "b"] for topic in qrels}, "one": {topic: ["a"] for topic in qrels}}
        found = gf.report(qrels, runs, "NumRelRet", resamples=20, trials=2)
        assert found.contents["scores"]["NumRelRet"]["summary"] == [8.0, 4.0]
        assert found.contents["findings"][0].startswith("two leads in NumRelRet with a mean of 2.000 (2.000 to 2.000)")

    def test_is_json(self, found):
        json.dumps(found.to_dict(), allow_nan=True)

    def test_same_seed_same_report(self, made, found):
        measures = ["nDCG@10", "nDCGf@10", "Forbidden@10"]
        again = gf.report(made.qrels, made.runs, measures, cutoff=10, resamples=50, trials=2)
        assert json.dumps(again.to_dict()) == json.dumps(found.to_dict())


class TestWhatTheDataDoNotAllow:
    def told(self, report: gf.Report) -> dict[str, str | None]:
        return {each["id"]: each.get("absent") for each in report.contents["analyses"]}

    def test_one_run(self):
        found = gf.report({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x", "b"]}, "nDCG@3")
        told = self.told(found)
        assert found.contents["comparison"] == {"absent": "Expected at least 2 runs, got 1: run"}
        assert found.contents["findings"] == ["run scores 0.815 in nDCG@3 on 2 topics."]
        assert told["robustness"] == "Expected at least 2 runs, whose order can change, got 1: run"
        assert told["boundedness"].startswith("No label is negative")
        assert told["threshold"].startswith("No label is negative")
        assert found.contents["scores"]["nDCG@3"]["summary"] == [pytest.approx((1 + 1 / math.log2(3)) / 2, abs=1e-6)]

    def test_one_topic(self):
        found = gf.report({"1": {"a": 1}}, {"x": {"1": ["a"]}, "y": {"1": ["b"]}}, "nDCG@3")
        assert found.contents["comparison"] == {"absent": "Expected at least 2 topics of nDCG@3, got 1"}
        assert found.contents["findings"] == ["x scores best in nDCG@3, 1.000, on the one topic."]
        assert self.told(found)["reliability"] == "Expected at least 2 topics of nDCG@3, got 1"

    def test_one_measure(self, made):
        found = gf.report(made.qrels, made.runs[:2], "AP", resamples=20, trials=2)
        assert self.told(found)["agreement"].startswith("Expected at least 2 measures to set against each other, got 1")
        assert self.told(found)["threshold"] is None

    def test_expected_ties_have_no_ranking(self, made):
        found = gf.report(made.qrels, made.runs[:2], "nDCG@5", ties="expected", resamples=20, trials=2)
        assert found.contents["why"]["absent"].startswith("Under ties: expected there is no one ranking")
        assert "no one order to cut" in self.told(found)["threshold"]

    def test_a_geometric_mean_is_shown_and_not_compared(self, made):
        found = gf.report(made.qrels, made.runs[:3], ["GMAP", "AP"], resamples=20, trials=2)
        assert list(found.contents["comparison"]["measures"]) == ["AP"]
        assert set(found.contents["scores"]) == {"GMAP", "AP"}

    def test_gaps(self):
        qrels = {"1": {"a": 1}, "2": {"b": 0}, "3": {"c": 1}}
        runs = {"x": {"1": ["a"], "2": ["b"], "3": ["c"]}, "y": {"1": ["b"], "2": ["b"], "3": ["c"]}}
        found = gf.report(qrels, runs, "AP", degenerate="nan")
        assert "run 'x' has no score for topic '2'" in found.contents["comparison"]["absent"]
        assert found.contents["scores"]["AP"]["values"][0] == [1.0, None, 1.0]
        assert found.contents["notes"] == ["AP is undefined in 1 of 3 topics (degenerate: nan)."]
        dropped = gf.report(qrels, runs, "AP", degenerate="nan", gaps="drop")
        assert dropped.contents["comparison"]["measures"]["AP"]["topics"] == 2
        assert dropped.contents["notes"][1].startswith("AP: intervals, tests and leaders are of the 2 of 3 topics")

    def test_no_order_to_keep(self):
        qrels = {"1": {"a": 1}, "2": {"a": 1}}
        runs = {name: {"1": ["a"], "2": ["x", "a"]} for name in ("x", "y")}
        found = gf.report(qrels, runs, "AP", resamples=20, trials=2)
        assert self.told(found)["robustness"] == (
            "The runs score alike by every measure: there is no order that they could keep."
        )

    def test_topics_that_runs_lack_are_told(self):
        runs = {"x": {"1": ["a"]}, "y": {"1": ["b"], "2": ["b"], "9": ["z"]}}
        found = gf.report({"1": {"a": 1}, "2": {"b": 1}}, runs, "AP")
        assert found.contents["notes"][:2] == [
            "1 of 2 runs lacks some judged topics, which are scored as empty rankings.",
            "1 topic of a run has no judgments and is not scored.",
        ]

    def test_qrels_of_other_runs(self):
        qrels = {"1": {"a": 1}, "2": {"b": 1}}
        strange, known = {"8": ["a"], "9": ["b"]}, {"1": ["a"], "2": ["x", "b"]}
        notes = gf.report(qrels, {"x": strange, "y": known}, "AP", resamples=20, trials=2).contents["notes"]
        assert notes[0] == "Run 'x' has none of the judged topics: do these qrels belong to it?"
        assert not any("lack some" in text for text in notes)
        notes = gf.report(qrels, {"x": strange, "y": strange}, "AP", resamples=20, trials=2).contents["notes"]
        assert notes[0] == "None of the 2 runs has any of the judged topics: do these qrels belong to them?"

    def test_noise_is_no_result(self):
        """On two topics the bootstrap calls this pair significant; a t-test has p > .1."""
        qrels = {"1": {"a": 1}, "2": {"a": 1}}
        runs = {"x": {"1": ["a"], "2": ["a"]}, "y": {"1": ["b", "a"], "2": ["b", "c", "a"]}}
        found = gf.report(qrels, runs, ["RR", "AP"], resamples=200, trials=2)
        assert section(found, "sensitivity")["table"]["rows"][0][1] == 1.0
        assert not any("apart" in text for text in found.contents["findings"])
        assert "RR: only 2 topics, too few for tests and intervals to say much." in found.contents["notes"]
        assert any("the bootstrap may call mere noise significant" in text for text in found.contents["notes"])

    def test_all_tied_has_no_coefficient(self):
        qrels = {"1": {"a": 1}, "2": {"a": 1}}
        runs = {"x": {"1": ["a"], "2": ["b", "a"]}, "y": {"1": ["b", "a"], "2": ["a"]}}
        found = section(gf.report(qrels, runs, ["RR", "AP"], resamples=20, trials=2), "agreement")
        assert found["figures"][0]["spec"]["title"].endswith("Kendall's τ_b is undefined, all systems are tied")
        assert found["table"]["rows"][0][6:8] == [None, None]

    def test_more_rankings_than_a_page_holds(self, made, monkeypatch):
        monkeypatch.setattr(contents, "MOST_RANKINGS", 16)
        found = gf.report(made.qrels, made.runs, "AP", resamples=20, trials=2)
        means = gf.evaluate(made.qrels, made.runs, "AP")["AP"].values.mean(axis=1)
        assert found.contents["why"]["systems"] == sorted(np.argsort(-means)[:2].tolist())
        assert len(found.contents["why"]["rankings"]) == 16
        monkeypatch.setattr(contents, "MOST_RANKINGS", 7)
        found = gf.report(made.qrels, made.runs, "AP", resamples=20, trials=2)
        assert found.contents["why"]["absent"].startswith("With 8 topics the rankings are too many")


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"test": "z"}, "test: expected one of t, wilcoxon, randomisation, bootstrap, tukey, got 'z'."),
            ({"correction": "no"}, "correction: expected one of "),
            ({"gaps": "keep"}, "gaps: expected one of error, drop, got 'keep'."),
            ({"confidence": 1.0}, "confidence: expected a number between 0 and 1, both excluded, got 1.0"),
            ({"alpha": 0}, "alpha: expected a number between 0 and 1, both excluded, got 0"),
            ({"cutoff": 0}, "cutoff: expected a whole number of at least 1, got 0"),
            ({"trials": 0}, "trials: expected a whole number of at least 1, got 0"),
            ({"resamples": 0}, "resamples: expected "),
            ({"baseline": "zz"}, "baseline: expected one of the runs run, got 'zz'."),
            ({"ties": "no"}, "The 'ties' policy must be one of trec, order, expected, got 'no' instead."),
        ],
    )
    def test_wrong_ones_are_refused(self, settings, message):
        with pytest.raises(gf.GainfulError) as error:
            gf.report({"1": {"a": 1}}, {"1": ["a"]}, "AP", **settings)
        assert str(error.value).startswith(message)

    def test_defaults_include_all_policies(self):
        assert DEFAULTS.items() >= Policies().to_dict().items()


class TestCommand:
    def test_repeats_what_is_not_usual(self, made, tmp_path):
        gf.write_qrels(made.qrels, tmp_path / "q rels.txt")
        gf.write_run(made.runs[0], tmp_path / "a.txt")
        gf.write_run(made.runs[1], tmp_path / "b.txt")
        found = gf.report(
            tmp_path / "q rels.txt",
            [str(tmp_path / "a.txt"), tmp_path / "b.txt"],
            ["AP", "nDCG(gain='exp')@5"],
            seed=3,
            alpha=0.01,
            baseline="a",
            unjudged="condensed",
            resamples=20,
            trials=2,
        )
        assert found.contents["command"] == (
            f"gainful report '{tmp_path}/q rels.txt' {tmp_path}/a.txt {tmp_path}/b.txt -m AP "
            """-m 'nDCG(gain='"'"'exp'"'"')@5' --baseline a --alpha 0.01 --resamples 20 --trials 2 --seed 3 """
            "--unjudged condensed"
        )
        assert "seed=3, unjudged='condensed')" in found.contents["python"]

    def test_repeats_the_page_byte_for_byte_elsewhere(self, made, tmp_path, monkeypatch, gainful):
        """Numbers with many digits, and names with spaces, quotes and dashes in front."""
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            gf.write_qrels(made.qrels, tmp_path / folder / "it's q.txt")
            for run, name in zip(made.runs[:2], ("-a", "$(b)"), strict=True):
                gf.write_run(run, tmp_path / folder / f"{name}.txt")
        monkeypatch.chdir(tmp_path / "one")
        gf.report(
            *("it's q.txt", ["-a.txt", "$(b).txt"], "AP"),
            baseline="-a",
            confidence=0.912345678,
            alpha=0.0123456789,
            resamples=20,
            trials=2,
        ).save("-o.html")
        page = (tmp_path / "one" / "-o.html").read_bytes()
        command = json.loads(re.search(rb'id="contents">(.*?)</script>', page)[1])["command"]
        assert command == (
            "gainful report -o=-o.html -m AP --baseline=-a --confidence 0.912345678 --alpha 0.0123456789 "
            """--resamples 20 --trials 2 --seed 0 -- 'it'"'"'s q.txt' -a.txt '$(b).txt'"""
        )
        monkeypatch.chdir(tmp_path / "two")
        gainful(*shlex.split(command)[1:])
        assert (tmp_path / "two" / "-o.html").read_bytes() == page

    def test_there_is_none_for_objects(self):
        found = gf.report({"1": {"a": 1}}, {"1": ["a"]}, "AP")
        assert found.contents["command"] is None
        assert found.contents["python"] == "gf.report(qrels, runs, ['AP'], seed=0)"
