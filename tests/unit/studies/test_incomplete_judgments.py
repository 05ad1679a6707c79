"""The experiments of Bompada et al. (SIGIR 2007) against plain counts and direct calls, and each verdict both ways."""

import numpy as np
import polars as pl
import pytest

from gainful.analyses.robustness import robustness
from gainful.analyses.robustness.decisions import Decisions
from gainful.analyses.robustness.judged import JudgedDocuments
from gainful.analyses.robustness.result import Robustness
from gainful.data.policies import Policies
from gainful.errors import DataError, GainfulError
from gainful.results import Settings
from gainful.studies import incomplete_judgments
from gainful.studies.incomplete_judgments.compute import Depleted
from gainful.studies.incomplete_judgments.findings import of_decisions, of_orders, of_weights

LEVELS, TRIALS, SEED = (0.05, 0.2, 0.5, 1.0), 3, 2
MEASURES = ("bpref", "infAP", "nDCG")


@pytest.fixture(scope="module")
def made(simulated):
    return simulated("incomplete_judgments")


@pytest.fixture(scope="module")
def study(studied):
    return studied("incomplete_judgments")


@pytest.fixture(scope="module")
def kept(made):
    """The runs that returned 95 % of 60 documents for each of 15 topics, counted by hand."""
    return [run for run in made.runs if len(run) >= 0.95 * 60 * 15]


@pytest.fixture(scope="module")
def direct(made, kept):
    """The same numbers asked for one by one; nDCG by the gains that the labels 1 to 4 shall have."""
    gains = {weight: f"nDCG(gain={{1:1,2:{weight},3:{weight},4:{weight}}})@1000" for weight in (1, 2, 10, 100)}
    asked = {"bpref": "bpref", "infAP": "infAP", "nDCG": gains[1]} | {f"weight {w}": gains[w] for w in (2, 10, 100)}
    found = robustness(
        made.qrels, kept, list(asked.values()), levels=LEVELS, trials=TRIALS, pairs=5, seed=SEED
    ).to_frame()
    labels = found["measure"].unique(maintain_order=True)
    return {name: found.filter(pl.col("measure") == label) for name, label in zip(asked, labels, strict=True)}


class TestExhibits:
    def test_all_are_there_in_the_papers_order(self, study):
        names = ["Table 1", "Figure 1", "Table 3", "Figure 2", "Table 4", "Table 5", "Figure 3"]
        assert [exhibit.name for exhibit in study.exhibits] == names
        assert study.absent == {}
        assert [exhibit.name for exhibit in study.exhibits if exhibit.draw] == ["Figure 1", "Figure 2", "Figure 3"]

    def test_properties(self, study, made, kept):
        labels = made.qrels.frame["relevance"].to_list()
        assert 2 <= len(kept) < 8  # some are left out, and some not
        assert study["Table 1"].frame.rows() == [
            (
                "sim",
                15,
                pytest.approx(sum(label > 0 for label in labels) / 15),
                labels.count(1),
                sum(label > 1 for label in labels),
                sum(label < 1 for label in labels),
                8,
                len(kept),
            ),
            ("TREC-14 (published)", None, None, 1441, 2004, 27813, None, None),
        ]

    def test_orders(self, study, direct):
        frame = study["Figure 1"].frame
        assert frame["measure"].unique(maintain_order=True).to_list() == list(MEASURES)
        for measure in MEASURES:
            mine = frame.filter(pl.col("measure") == measure)
            for column, other in {"tau": "tau", "low": "tau_low", "high": "tau_high", "judged": "judged"}.items():
                assert mine[column].to_list() == pytest.approx(direct[measure][other].to_list())

    def test_decisions(self, study, direct):
        frame, matrix = study["Figure 2"].frame, study["Table 4"].frame
        for measure in MEASURES:
            mine = frame.filter(pl.col("measure") == measure)
            columns = {"accuracy": "accuracy", "g-mean": "g_mean", "differences lost": "false_positive"}
            for column, other in columns.items():
                assert mine[column].to_list() == pytest.approx(direct[measure][other].to_list(), nan_ok=True)
            (row,) = matrix.filter(pl.col("measure") == measure).rows()
            at = direct[measure].row(1, named=True)  # of the levels there are, .2 is nearest to .3
            assert row[2:] == (
                0.2,
                at["both_equal"],
                at["lost_equal"],
                at["lost_difference"],
                at["both_different"],
            )
            assert sum(row[3:]) == 5 * TRIALS

    @pytest.mark.parametrize(("name", "curve"), [("Table 3", "tau"), ("Table 5", "accuracy")])
    def test_knees(self, study, direct, name, curve):
        first, sustained = study[name].frame.rows()
        assert (first[1], sustained[1]) == ("at first", "for good")
        for measure, low, high in zip(MEASURES, first[2:], sustained[2:], strict=True):
            above = [value > 0.9 + 1e-12 for value in direct[measure][curve]]
            assert low == next(level for level, is_above in zip(LEVELS, above, strict=True) if is_above)
            assert high == min(level for at, level in enumerate(LEVELS) if all(above[at:]))

    def test_weights(self, study, direct):
        frame = study["Figure 3"].frame
        names = {"binary": "nDCG"} | {f"weight {w}": f"weight {w}" for w in (2, 10, 100)}
        assert frame["measure"].unique(maintain_order=True).to_list() == list(names)
        for mine, other in names.items():
            part = frame.filter(pl.col("measure") == mine)
            assert part["tau"].to_list() == pytest.approx(direct[other]["tau"].to_list())
            assert part["accuracy"].to_list() == pytest.approx(direct[other]["accuracy"].to_list())
        assert "(sim: 1 relevant, 2, 3, 4 highly relevant)" in study["Figure 3"].text

    def test_a_higher_threshold_is_that_of_all_measures(self, made, kept):
        study = incomplete_judgments(
            {"sim": (made.qrels, made.runs)}, levels=[0.5], trials=2, weights=[3], rel=2, pairs=10
        )
        gains = "nDCG(gain={1:0,2:1,3:1,4:1})@1000"
        found = robustness(
            made.qrels, kept, ["bpref(rel=2)", "infAP(rel=2)", gains], levels=[0.5], trials=2, rel=2, pairs=10
        )
        assert study["Figure 1"].frame["tau"].to_list() == pytest.approx(found.taus.mean(axis=2)[:, 0].tolist())
        assert "(sim: 2 relevant, 3, 4 highly relevant)" in study["Figure 3"].text

    def test_screens_show_a_row_a_level(self, study):
        assert study["Figure 1"].brief.columns == ["collection", "level", *MEASURES]
        assert study["Figure 1"].brief["level"].to_list() == list(LEVELS)

    def test_settings_repeat_it(self, study, made, settings):
        more = {"weights": (2.0, 10.0, 100.0), "rel": 1.0, "alpha": 0.05, "least_returned": 0.95}
        assert dict(study.settings) == {**settings["incomplete_judgments"], **more}
        again = incomplete_judgments({"sim": (made.qrels, made.runs)}, **study.settings)
        assert again.to_frame().equals(study.to_frame())


def made_up(
    taus=((0.5, 0.8, 0.9), (0.6, 0.85, 0.91), (0.7, 0.91, 0.95)),
    cells=((10, 10, 10, 10), (14, 6, 6, 14), (18, 2, 2, 18)),
    graded=((0.7, 0.91, 0.95),),
    graded_cells=((18, 2, 2, 18),),
    levels=(0.05, 0.4, 0.7, 1.0),
):
    """A collection on which all findings hold: τ by measure and level, the same decisions at every level."""
    taus = np.array([[*row, 1.0] for row in (*taus, *graded)])
    decisions = []
    for cell in (*cells, *graded_cells):
        some = dict(zip(("both_equal", "lost_equal", "lost_difference", "both_different"), cell, strict=True))
        decisions.append((*[Decisions(**some)] * 3, Decisions(both_equal=20, both_different=20)))
    return Depleted(
        name="made-up",
        found=Robustness(
            measures=("bpref", "infAP", "binary", "graded"),
            levels=levels,
            systems=("r", "s"),
            taus=taus[:, :, None],
            scores=np.zeros((4, 4, 2)),
            full=np.zeros((4, 2)),
            scored=None,
            decisions=tuple(decisions),
            judged=(1.0,) * 4,
            judgments=9,
            pairs=40,
            labels=(0.0, 1.0, 2.0),
            cutoffs=(None,) * 4,
            reach=JudgedDocuments(shares=np.ones((2, 9))),
            settings=Settings(
                name="robustness",
                data="",
                given={"depletion": "stratified", "weights": (1.0, 2.0), "rel": 1.0, "alpha": 0.05, "confidence": 0.95},
                policies=Policies(),
            ),
        ),
    )


ORDERS = {
    "highest": "nDCG has the highest τ at most levels",
    "infAP": "infAP has a higher τ than bpref at every level",
    "knee": "nDCG's τ exceeds 0.9 at a lower level than those of bpref and infAP",
    "flat": "nDCG's curve is the flattest: at the lowest level, 0.05, its τ has fallen least",
    "40": "nDCG has a τ of 0.9 with 40% of the judgments",
    "5": "nDCG has a τ above 0.5 with 5% of the judgments and fewer",
}
DECISIONS = {
    "accuracy": "nDCG decides on pairs of runs at least as accurately as infAP at every level",
    "90": "nDCG decides with an accuracy above 0.9 with 5% of the judgments and fewer",
    "knee": "nDCG's accuracy exceeds 0.9 at a lower level than those of bpref and infAP",
    "lost": "nDCG loses fewer of the differences under all judgments than bpref and infAP",
    "g-mean": "nDCG has at least the g-mean of infAP with 30% of the judgments and fewer",
}
WEIGHTS = {
    "τ": "graded nDCG, weight 2, keeps the order of runs as binary nDCG does: τ differs by about 1% (at most 0.015 on "
    "average)",
    "accuracy": "graded nDCG, weight 2, decides on pairs of runs as binary nDCG does: accuracy differs by about 1% "
    "(at most 0.015 on average)",
}


def failing(found):
    return [finding.claim for finding in found if not finding.holds]


class TestVerdicts:
    @pytest.mark.parametrize(
        ("taus", "names"),
        [
            (((0.5, 0.8, 0.9), (0.6, 0.85, 0.91), (0.7, 0.91, 0.95)), []),
            (((0.5, 0.8, 0.9), (0.6, 0.92, 0.96), (0.7, 0.91, 0.95)), ["highest", "knee"]),
            (((0.5, 0.8, 0.9), (0.6, 0.85, 0.96), (0.7, 0.91, 0.95)), []),  # the highest at two of three
            (((0.5, 0.8, 0.92), (0.6, 0.85, 0.91), (0.7, 0.91, 0.95)), ["infAP"]),
            (((0.5, 0.8, 0.9), (0.6, 0.89, 0.91), (0.7, 0.9, 0.95)), ["knee"]),  # .9 is not above it
            (((0.5, 0.8, 0.9), (0.72, 0.85, 0.91), (0.7, 0.91, 0.95)), ["flat"]),
            (((0.5, 0.8, 0.9), (0.6, 0.85, 0.88), (0.7, 0.91, 0.89)), ["infAP", "40"]),
            (((0.4, 0.8, 0.9), (0.45, 0.85, 0.91), (0.5, 0.91, 0.95)), ["5"]),
        ],
    )
    def test_orders(self, taus, names):
        found = list(of_orders(made_up(taus=taus)))
        assert [finding.claim for finding in found] == list(ORDERS.values())
        assert set(failing(found)) == {ORDERS[name] for name in names}

    def test_half_of_the_levels_are_not_most(self):
        taus = ((0.5, 0.8), (0.6, 0.92), (0.7, 0.91))
        (first, *_) = of_orders(made_up(taus=taus, graded=((0.7, 0.91),), levels=(0.05, 0.4, 1.0)))
        assert (first.holds, first.evidence[:15]) == (False, "at 1 of 2 level")

    @pytest.mark.parametrize(
        ("cells", "names"),
        [
            (((10, 10, 10, 10), (14, 6, 6, 14), (19, 1, 1, 19)), []),
            (((10, 10, 10, 10), (14, 6, 6, 14), (18, 2, 2, 18)), ["90", "knee"]),  # an accuracy of .9, not above
            (((10, 10, 10, 10), (20, 0, 0, 20), (19, 1, 1, 19)), ["accuracy", "knee", "lost", "g-mean"]),
            (((19, 1, 1, 19), (14, 6, 6, 14), (19, 1, 1, 19)), ["knee", "lost"]),
            (((10, 10, 10, 10), (14, 6, 2, 18), (20, 0, 2, 18)), ["lost"]),
            (((10, 10, 10, 10), (9, 1, 1, 29), (0, 1, 1, 38)), ["knee", "g-mean"]),
        ],
    )
    def test_decisions(self, cells, names):
        found = list(of_decisions(made_up(cells=cells)))
        assert [finding.claim for finding in found] == list(DECISIONS.values())
        assert set(failing(found)) == {DECISIONS[name] for name in names}

    @pytest.mark.parametrize(
        ("graded", "cells", "names"),
        [
            (((0.7, 0.91, 0.95),), ((18, 2, 2, 18),), []),
            (((0.68, 0.92, 0.96),), ((18, 2, 2, 18),), []),  # by .02, .01 and .01
            (((0.65, 0.91, 0.95),), ((18, 2, 2, 18),), ["τ"]),  # .05/3 is above .015
            (((0.7, 0.91, 0.95),), ((18, 2, 1, 19),), ["accuracy"]),  # one of 40
        ],
    )
    def test_weights(self, graded, cells, names):
        found = list(of_weights(made_up(graded=graded, graded_cells=cells)))
        assert [finding.claim for finding in found] == list(WEIGHTS.values())
        assert failing(found) == [WEIGHTS[name] for name in names]

    def test_evidence_has_the_numbers(self):
        one = made_up()
        of = {finding.claim: finding.evidence for finding in (*of_orders(one), *of_decisions(one))}
        means = "bpref 0.733, infAP 0.787, nDCG 0.853"
        assert of[ORDERS["highest"]] == f"at 3 of 3 levels; mean τ of the levels: {means}"
        assert of[ORDERS["knee"]] == "bpref 1, infAP 0.7, nDCG 0.4"
        assert of[ORDERS["flat"]] == "by 0.500 (bpref), 0.400 (infAP), 0.300 (nDCG)"
        assert of[DECISIONS["lost"]] == "mean share lost, of the levels: bpref 0.500, infAP 0.300, nDCG 0.100"
        assert of[DECISIONS["accuracy"]] == (
            "mean accuracy of the levels bpref 0.500, infAP 0.700, nDCG 0.900; nDCG is behind infAP by at most 0.000, "
            "at 0 of 3 levels by more than 0.01"
        )
        (first, _) = of_weights(made_up(graded=((0.68, 0.92, 0.96),)))
        assert first.evidence == "by 0.013 on average over the levels, 0.020 at most"

    def test_levels_that_are_not_there_have_no_verdict(self):
        high = made_up(levels=(0.5, 0.6, 0.7, 1.0))
        claims = [finding.claim for finding in (*of_orders(high), *of_decisions(high))]
        assert len(claims) == 8
        assert not {ORDERS["5"], DECISIONS["90"], DECISIONS["g-mean"]} & set(claims)

    def test_nothing_is_decided_on_differences_that_no_judgments_tell(self):
        """All pairs equal in truth: there is no difference to lose; all different: no g-mean."""
        equal = made_up(cells=((10, 2, 0, 0),) * 3)
        assert {finding.claim: finding.holds for finding in of_decisions(equal)}[DECISIONS["lost"]] is None
        different = made_up(cells=((0, 0, 2, 10),) * 3)
        assert {finding.claim: finding.holds for finding in of_decisions(different)}[DECISIONS["g-mean"]] is None


RUNS = {"r": {"1": ["a", "b"], "2": ["c", "d"]}, "s": {"1": ["b", "a"], "2": ["c", "d"]}}
QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 1, "d": 0}}


class TestWhatDataDoNotAllow:
    def test_binary_labels_have_no_graded_ndcg(self):
        study = incomplete_judgments({"c": (QRELS, RUNS)}, levels=[0.5], trials=1)
        assert study.absent["Figure 3"] == "c has one relevant label only: graded nDCG is binary nDCG"
        assert "Figure 1" in [exhibit.name for exhibit in study.exhibits]

    def test_no_weights(self, made):
        study = incomplete_judgments({"c": (made.qrels, made.runs)}, levels=[0.5], trials=1, weights=[])
        assert study.absent == {"Figure 3": "c was given no weights but 1, which is binary"}

    def test_too_few_topics_to_decide_on(self):
        study = incomplete_judgments({"c": (QRELS, RUNS)}, levels=[0.5], trials=1)
        why = "c has no two runs that differ on enough topics for a test at alpha=0.05 to tell them apart"
        assert {name: study.absent[name] for name in ("Figure 2", "Table 4", "Table 5")} == dict.fromkeys(
            ("Figure 2", "Table 4", "Table 5"), why
        )
        assert all("decides" not in finding.claim for finding in study.findings)

    def test_runs_that_score_the_same(self):
        same = {"r": RUNS["r"], "s": RUNS["r"]}
        study = incomplete_judgments({"c": (QRELS, same)}, levels=[0.5], trials=1)
        assert study.absent["Figure 1"] == "c has runs that all score the same under all judgments"
        assert (study.findings, [exhibit.name for exhibit in study.exhibits]) == ((), ["Table 1"])

    def test_runs_that_returned_too_little_are_left_out(self):
        """The longest list has 2 documents: of 4, the short run returned 3."""
        short = {**RUNS, "short": {"1": ["a", "b"], "2": ["c"]}, "other": {"9": ["z"] * 1}}
        kept = incomplete_judgments({"c": (QRELS, short)}, levels=[0.5], trials=1, least_returned=0.75)
        assert kept["Table 1"].frame["runs used"][0] == 3
        assert incomplete_judgments({"c": (QRELS, short)}, levels=[0.5], trials=1)["Table 1"].frame["runs used"][0] == 2
        everything = incomplete_judgments({"c": (QRELS, short)}, levels=[0.5], trials=1, least_returned=0)
        assert everything["Table 1"].frame["runs used"][0] == 4

    def test_only_one_run_is_long_enough(self, made):
        runs = {"r": RUNS["r"], "short": {"1": ["a"], "2": ["c"]}}
        study = incomplete_judgments(
            {"c": (QRELS, runs), "sim": (made.qrels, made.runs)}, levels=[0.5], trials=1, weights=[2]
        )
        why = "needs at least 2 runs, got 1 that returned 95% of what they could"
        assert study.absent["Figure 1 of c"] == why
        assert {finding.collection for finding in study.findings} == {"sim"}

    def test_one_run(self):
        study = incomplete_judgments({"c": (QRELS, {"r": RUNS["r"]})})
        assert study.absent["Table 5"] == "c needs at least 2 runs, got 1"

    def test_one_topic(self):
        """That a run is left out has nothing to do with it."""
        runs = {**RUNS, "short": {"1": ["a"]}}
        study = incomplete_judgments({"c": ({"1": QRELS["1"]}, runs)})
        assert study.absent["Table 5"] == "c needs at least 2 judged topics, got 1"
        assert study["Table 1"].frame["runs used"][0] == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"levels": [1]}, r"^levels: expected at least one below 1, the level of all judgments$"),
        ({"levels": [0]}, r"^levels: expected shares of the judgments, above 0 and at most 1, got 0$"),
        ({"trials": 0}, r"^trials: expected a whole number of at least 1, got 0$"),
        ({"pairs": 0}, r"^pairs: expected a whole number of at least 1, got 0$"),
        ({"alpha": 1}, r"^alpha: expected a number between 0 and 1, both excluded, got 1$"),
        ({"rel": float("nan")}, r"^rel: expected a finite number, got nan$"),
        ({"least_returned": 1.1}, r"^least_returned: expected a share from 0 to 1, got 1\.1$"),
    ],
)
def test_bad_settings_are_refused_before_any_work(settings, message):
    with pytest.raises(GainfulError, match=message):
        incomplete_judgments({"missing": ("nowhere.txt", "nothing.txt")}, **settings)


def test_what_cannot_be_depleted_names_its_collection():
    expected = r"^collection 'c': weights: no document is relevant, the highest label is 1$"
    with pytest.raises(DataError, match=expected):
        incomplete_judgments({"c": (QRELS, RUNS)}, rel=3)


def test_charts_have_a_panel_a_collection(drawn):
    figures = drawn("incomplete_judgments")
    orders, decisions, weights = (figures[name] for name in ("Figure 1", "Figure 2", "Figure 3"))
    assert orders["facet"]["field"] == weights["facet"]["field"] == "collection"
    assert (decisions["facet"]["row"]["field"], decisions["facet"]["column"]["field"]) == ("collection", "what")
    scale = weights["spec"]["layer"][-1]["encoding"]["color"]["scale"]
    assert scale["domain"] == ["binary", "weight 2", "weight 10", "weight 100"]
    rows = figures["whole"]["datasets"][orders["data"]["name"]]
    assert len(rows) == 3 * len(LEVELS)


def test_one_trial_has_no_interval_to_draw(made):
    study = incomplete_judgments({"sim": (made.qrels, made.runs)}, levels=[0.5], trials=1, weights=[2])
    assert len(study["Figure 1"].chart().to_dict(validate=False)["spec"]["layer"]) == 2


def test_trec_covid(web_data):
    """The verdicts that docs/studies/incomplete-judgments.md tells: infAP, not nDCG, keeps the order of runs best."""
    folder = web_data / "trec-covid-round1"
    levels = [0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8]
    study = incomplete_judgments({"covid": (folder / "qrels.txt.gz", folder / "runs")}, levels=levels, weights=[2])
    assert study["Table 1"].frame.row(0) == ("covid", 30, 78.4, 1115, 1237, 6339, 30, 21)
    verdicts = {finding.claim: finding.holds for finding in study.findings}
    assert {name for name, claim in ORDERS.items() if verdicts.get(claim)} == {"infAP", "40", "5"}
    assert {name for name, claim in DECISIONS.items() if verdicts[claim]} == set()
