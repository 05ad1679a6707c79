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
from gainful.pages import DEFAULTS, analyses, contents, inputs
from gainful.pages.analyses import ANALYSES, said


@pytest.fixture(scope="module")
def made():
    return gf.simulate(topics=8, systems=5, depth=40, pool_depth=10, seed=2)


@pytest.fixture(scope="module")
def found(made):
    measures = ["nDCG@10", "nDCGf@10", "Forbidden@10"]
    return gf.report(made.qrels, made.runs, measures, cutoff=10, resamples=50, trials=2)


def section(report: gf.Report, key: str) -> dict:
    return next(each for each in report.contents["analyses"] if each["id"] == key)


def column(report: gf.Report, key: str, header: str, table: int = 0) -> list:
    """A column of a table of a section."""
    shown = section(report, key)["tables"][table]
    at = [column["name"] for column in shown["columns"]].index(header)
    return [row[at] for row in shown["rows"]]


def notes(report: gf.Report) -> list[str]:
    return [note.text for note in report.notes()]


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
        same = {
            "reliability": gf.reliability(scores),
            "agreement": gf.agreement(scores, correlation=("tau_b", "tau_ap", "rho", "rbo"), resamples=50),
            "sensitivity": gf.sensitivity(scores, resamples=50),
            "topics": gf.topics(scores),
            "stability": gf.stability(scores),
            "robustness": gf.robustness(made.qrels, made.runs, list(scores), trials=2),
            "boundedness": gf.boundedness(made.qrels, made.runs, cutoff=10),
        }
        for key, result in same.items():
            shown = section(found, key)
            assert shown["verdict"] == result.verdict()
            for table, told in zip(result.compact(), shown["tables"], strict=True):
                assert [name["name"] for name in told["columns"]] == [column.header for column in table.columns]
                rows = [list(row) for row in table.frame.select(column.name for column in table.columns).rows()]
                assert repr(told["rows"]) == repr(rows)  # NaN included
        best = made.runs[int(scores["nDCGf@10"].values.mean(axis=1).argmax())]
        curve = gf.threshold.curve(made.qrels, best, measure="nDCGf@10")
        assert section(found, "threshold")["verdict"] == curve.verdict()
        assert column(found, "threshold", "run")[0] == best.name
        assert column(found, "threshold", "nDCGf@10 uncut")[0] == curve.score[-1]
        assert column(found, "threshold", "at the best threshold")[0] == curve.score.max()
        assert len(column(found, "threshold", "run")) == len(section(found, "threshold")["figures"]) == 5

    def test_numbers_on_the_page(self, made, found):
        """By the functions' own accessors, not by their tables."""
        scores = gf.evaluate(made.qrels, made.runs, ["nDCG@10", "nDCGf@10", "Forbidden@10"])
        assert column(found, "reliability", "Φ")[0] == gf.reliability(scores)["nDCG@10"].phi.value
        assert column(found, "topics", "topics needed")[0] == gf.topics(scores)["nDCG@10"].needed
        assert column(found, "stability", "error rate")[0] == gf.stability(scores)["nDCG@10"].error[-1]

    def test_every_section_has_a_figure_and_a_table(self, found):
        assert [each["id"] for each in found.contents["analyses"]] == [each.id for each in ANALYSES]
        for each in found.contents["analyses"]:
            assert each["figures"]
            assert all("vega-lite" in one["spec"]["$schema"] for one in each["figures"])
            assert each["verdict"].endswith(".")
            for table in each["tables"]:
                assert {len(row) for row in table["rows"]} == {len(table["columns"])}

    def test_findings_are_the_verdicts(self, made, found):
        scores = gf.evaluate(made.qrels, made.runs, ["nDCG@10", "nDCGf@10", "Forbidden@10"])
        compared = gf.compare(scores, resamples=50).verdict()
        others = [section(found, key)["verdict"] for key in ("agreement", "reliability", "sensitivity", "threshold")]
        assert found.verdict() == " ".join([compared, *others])

    def test_findings_against_a_baseline(self):
        qrels = {str(topic): {"a": 1} for topic in range(8)}
        places = {"base": [1, 1, 2, 1, 1, 2, 1, 1], "same": [1, 1, 2, 1, 1, 2, 1, 1], "bad": [3, 4, 3, 4, 3, 4, 3, 4]}
        runs = {
            name: {str(topic): [*"xyz"[: rank - 1], "a"] for topic, rank in enumerate(ranks)}
            for name, ranks in places.items()
        }
        found = gf.report(qrels, runs, "RR", baseline="base", resamples=20, trials=2)
        sentence = "In RR, 0 of 2 runs are significantly better than the baseline base, and 1 significantly worse."
        assert found.findings()[0] == sentence

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
        assert found.contents["comparison"]["measures"]["NumRelRet"]["mean"] == [2.0, 1.0]

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
        assert found.contents["comparison"] == {"absent": "This takes at least 2 runs: there is 1 here: run."}
        assert found.findings() == ("run has a mean nDCG@3 of 0.8155 over 2 topics.",)
        assert told["robustness"] == "This takes at least 2 runs, whose order can change: there is 1 here: run."
        assert told["boundedness"].startswith("No label is negative")
        assert told["threshold"].startswith("No label is negative")
        assert found.contents["scores"]["nDCG@3"]["summary"] == [pytest.approx((1 + 1 / math.log2(3)) / 2, abs=1e-6)]

    def test_one_topic(self):
        found = gf.report({"1": {"a": 1}}, {"x": {"1": ["a"]}, "y": {"1": ["b"]}}, "nDCG@3")
        assert found.contents["comparison"] == {"absent": "This takes at least 2 topics of nDCG@3: there is 1 here."}
        assert found.findings() == ("Of 2 runs, x has the best nDCG@3 (1.0000).",)
        assert self.told(found)["reliability"] == "This takes at least 2 topics of nDCG@3: there is 1 here."

    def test_one_measure(self, made):
        found = gf.report(made.qrels, made.runs[:2], "AP", resamples=20, trials=2)
        assert self.told(found)["agreement"].startswith(
            "This takes at least 2 measures to set against each other: there"
        )
        assert self.told(found)["threshold"] is None

    def test_unjudged_documents_left_out(self, made):
        """The one join serves what leaves unjudged documents out and what takes judgments away."""
        found = gf.report(made.qrels, made.runs, "nDCG@5", unjudged="condensed", cutoff=5, resamples=20, trials=2)
        scores = gf.evaluate(made.qrels, made.runs, "nDCG@5", unjudged="condensed")
        assert np.array(found.contents["scores"]["nDCG@5"]["values"]) == pytest.approx(scores["nDCG@5"].values)
        same = gf.robustness(made.qrels, made.runs, "nDCG@5", unjudged="condensed", trials=2)
        assert section(found, "robustness")["verdict"] == same.verdict()
        (first, *_), name = found.results["threshold"], column(found, "threshold", "run")[0]
        run = next(run for run in made.runs if run.name == name)
        curve = gf.threshold.curve(made.qrels, run, measure="nDCGf@5", unjudged="condensed")
        assert first.score == pytest.approx(curve.score)
        why = gf.explain(made.qrels, run, scores.topics[0], "nDCG@5", unjudged="condensed")
        row = found.contents["why"]["rankings"][scores.systems.index(name) * len(scores.topics)]
        documents = found.contents["why"]["documents"][0]
        assert [documents[at] for at in row] == why.steps["doc_id"].to_list()

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
        named = gf.report(qrels, runs, "nDCG@3", degenerate="nan").contents["comparison"]["absent"]
        assert named.startswith("nDCG@3: run 'x'")  # its name as it is
        assert found.contents["scores"]["AP"]["values"][0] == [1.0, None, 1.0]
        assert notes(found)[0] == "AP is undefined for 1 topic and is NaN there."
        dropped = gf.report(qrels, runs, "AP", degenerate="nan", gaps="drop")
        assert dropped.contents["comparison"]["measures"]["AP"]["topics"] == 2
        assert notes(dropped)[1] == "By AP, 1 of 3 topics is left out: some run has no score there."

    def test_no_order_to_keep(self):
        qrels = {"1": {"a": 1}, "2": {"a": 1}}
        runs = {name: {"1": ["a"], "2": ["x", "a"]} for name in ("x", "y")}
        found = gf.report(qrels, runs, "AP", resamples=20, trials=2)
        assert "There is no order that the runs could keep" in section(found, "robustness")["verdict"]

    def test_topics_that_runs_lack_are_told(self):
        runs = {"x": {"1": ["a"]}, "y": {"1": ["b"], "2": ["b"], "9": ["z"]}}
        found = gf.report({"1": {"a": 1}, "2": {"b": 1}}, runs, "AP")
        assert notes(found)[:2] == [
            "Judged topics for which a run returns nothing count as empty rankings (missing=empty): 1 of 'x'.",
            "Topics of a run without judgments are ignored: 1 of 'y'.",
        ]

    @pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
    def test_qrels_of_other_runs(self):
        qrels = {"1": {"a": 1}, "2": {"b": 1}}
        runs = {"x": {"8": ["a"], "9": ["b"]}, "y": {"1": ["a"], "2": ["x", "b"]}}
        said = notes(gf.report(qrels, runs, "AP", resamples=20, trials=2))
        assert said[0].startswith("Run 'x' has none of the judged topics")
        assert len(said) == len(set(said))

    def test_noise_is_no_result(self):
        """On two topics the bootstrap calls this pair significant; a t-test has p > .1."""
        qrels = {"1": {"a": 1}, "2": {"a": 1}}
        runs = {"x": {"1": ["a"], "2": ["a"]}, "y": {"1": ["b", "a"], "2": ["b", "c", "a"]}}
        found = gf.report(qrels, runs, ["RR", "AP"], resamples=200, trials=2)
        assert column(found, "sensitivity", "told apart (α=0.05)")[0] == 1.0
        assert "tells most runs apart" not in found.verdict()
        assert "RR: tests and intervals say little on 2 topics." in notes(found)
        assert any(
            "the bootstrap may call noise significant" in text for text in section(found, "sensitivity")["notes"]
        )

    def test_all_tied_has_no_coefficient(self):
        qrels = {"1": {"a": 1}, "2": {"a": 1}}
        runs = {"x": {"1": ["a"], "2": ["b", "a"]}, "y": {"1": ["b", "a"], "2": ["a"]}}
        found = gf.report(qrels, runs, ["RR", "AP"], resamples=20, trials=2)
        assert math.isnan(column(found, "agreement", "Kendall's τ_b")[0])

    def test_more_rankings_than_a_page_holds(self, made, monkeypatch):
        monkeypatch.setattr(contents, "MOST_RANKINGS", 2 * 16)  # once for the ranking, once for the measure
        found = gf.report(made.qrels, made.runs, "AP", resamples=20, trials=2)
        means = gf.evaluate(made.qrels, made.runs, "AP")["AP"].values.mean(axis=1)
        assert found.contents["why"]["systems"] == sorted(np.argsort(-means)[:2].tolist())
        assert len(found.contents["why"]["rankings"]) == 16
        monkeypatch.setattr(contents, "MOST_RANKINGS", 2 * 7)
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

    def test_objects_beside_files_go_by_the_name_of_the_argument(self, tmp_path):
        (tmp_path / "q.txt").write_text("1 0 a 1\n")
        (tmp_path / "r.txt").write_text("1 Q0 a 1 1.0 x\n")
        found = gf.report(tmp_path / "q.txt", tmp_path / "r.txt", "AP", queries={"1": "what"})
        assert found.contents["command"] is None
        assert found.contents["python"].endswith("['AP'], seed=0, queries=queries)")


class TestJoinedOnce:
    @pytest.fixture
    def joins(self, monkeypatch):
        """How often judgments and runs are joined, and read."""
        from gainful.data import align as kernel
        from gainful.io import read

        counted = {"joins": 0, "qrels": 0, "runs": 0}

        def count(module, name, key):
            function = getattr(module, name)

            def counting(*args, **kwargs):
                counted[key] += 1
                return function(*args, **kwargs)

            monkeypatch.setattr(module, name, counting)

        count(kernel, "_assemble", "joins")  # what every join ends with, whoever asked for it
        count(kernel.Judged, "__init__", "qrels")
        count(read, "iterate_runs", "runs")
        return counted

    def test_report(self, made, joins):
        found = gf.report(made.qrels, made.runs, ["nDCG@5", "nDCGf@5", "AP"], cutoff=5, resamples=20, trials=2)
        assert not any(each.get("absent") for each in found.contents["analyses"])
        assert joins == {"joins": 1, "qrels": 1, "runs": 1}

    def test_rankings(self, made, joins):
        rankings = gf.align(made.qrels, made.runs, documents=5, scores=True)
        found = gf.report(rankings, "AP", cutoff=5, resamples=20, trials=2)
        assert joins["joins"] == 1
        again = gf.report(made.qrels, made.runs, "AP", cutoff=5, resamples=20, trials=2)
        names = ("scores", "why", "comparison", "findings")
        assert all(found.contents[name] == again.contents[name] for name in names)
        assert found.contents["command"] is None

    def test_rankings_without_all_scores_have_no_thresholds(self, made):
        found = gf.report(gf.align(made.qrels, made.runs, documents=5), "AP", cutoff=5, resamples=20, trials=2)
        assert "scores=True" in section(found, "threshold")["absent"]
        with pytest.raises(gf.DataError, match=r"align\(…, documents=6\)"):
            gf.report(gf.align(made.qrels, made.runs, documents=5), "AP", cutoff=6)


class TestResult:
    def test_faces(self, found):
        assert found.verdict() == " ".join(found.contents["findings"])
        assert found.to_frame().height == 5
        assert "nDCGf@10" in found._repr_html_()
        assert str(found.settings).startswith("report: 5 runs, 8 topics, ")
        assert found.results["reliability"][0].verdict() == section(found, "reliability")["verdict"]


def test_large_collections_are_sampled_less_often(monkeypatch):
    made = gf.simulate(systems=3, topics=4, seed=1)
    found = len(gf.align(made.qrels, made.runs).row)
    for most, trials in ((100 * found, 5), (3 * found, 3), (found - 1, 1)):
        monkeypatch.setattr(inputs, "MOST_FOUND", most)
        page = gf.report(made.qrels, made.runs, "AP")
        assert page.settings["trials"] == trials
        assert page.results["robustness"][0].settings["trials"] == trials
        assert ("trials=" in page.contents["python"]) == (trials < 5)
    assert gf.report(made.qrels, made.runs, "AP", trials=2).settings["trials"] == 2


def test_few_runs_are_cut_if_they_are_long(monkeypatch):
    made = gf.simulate(systems=4, topics=4, seed=1)
    returned = len(gf.align(made.qrels, made.runs, scores=True).scores) // 4
    for most, curves in ((returned * 9, 4), (returned * 2, 2), (1, 1)):
        monkeypatch.setattr(analyses, "MOST_DOCUMENTS", most)
        assert len(gf.report(made.qrels, made.runs, "nDCGf@3").results["threshold"]) == curves


class TestFirstScreen:
    def test_leaders_and_how_sure(self):
        """Ranks of the one relevant document: RR is 1, 1/2, 1/3 and so on."""
        places = {"a": [1] * 8, "b": [1] * 7 + [2], "c": [3, 4] * 4}
        runs = {
            run: {str(topic): [*"uvwxyz"[: rank - 1], "d"] for topic, rank in enumerate(ranks)}
            for run, ranks in places.items()
        }
        found = gf.report({str(topic): {"d": 1} for topic in range(8)}, runs, "RR", resamples=200, trials=1)
        told = found.contents["comparison"]["measures"]["RR"]
        assert told["headline"] == "a leads in RR; 1 of 2 others may be best, too."
        assert told["certainty"].startswith("a leads in RR with 1.000 ")
        assert "a is best on " in told["certainty"]
        # Significance and who may be best are not by the same test: each is named.
        assert told["certainty"].endswith(
            "after Holm's correction for the 3 pairs per measure. Who may be best is by intervals of places (95% "
            "confidence for each run by itself), which takes less than to differ among 3 pairs."
        )
        assert (told["tested"], told["significant"]) == (3, 2)
        assert told["groups"] == [1, 1, 2]
        assert found.contents["judged"] == {"name": "Judged@10", "shares": [1.0, 0.9375, 0.2917]}

    def test_all_alike(self):
        runs = {name: {"1": ["a"], "2": ["x", "a"]} for name in "xyz"}
        found = gf.report({"1": {"a": 1}, "2": {"a": 1}}, runs, "AP", resamples=20, trials=1)
        assert found.contents["comparison"]["measures"]["AP"]["headline"] == "All runs have the same mean in AP."

    def test_what_says_all_in_a_sentence(self, made, found):
        dull = {each["id"]: each["dull"] for each in found.contents["analyses"]}
        assert not dull["reliability"]
        best = [one.best == len(one) - 1 for one in found.results["threshold"]]
        assert dull["threshold"] == all(best)
        one_topic = gf.report({"1": {"a": 1}}, {"x": {"1": ["a"]}, "y": {"1": ["b"]}}, "nDCG@3", trials=1)
        assert section(one_topic, "robustness")["dull"]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("expected at least 2 runs, got none", "This takes at least 2 runs: there is none here."),
        ("AP: expected at least 3 topics, got 2", "AP: this takes at least 3 topics: there are 2 here."),
        ("run 'x' has no score", "run 'x' has no score."),
        ("No label is negative.", "No label is negative."),
    ],
)
def test_errors_become_sentences(error, sentence):
    assert said(gf.DataError(error)) == sentence
