"""The experiments of Gienapp et al. (CIKM 2020) against plain formulas, and each verdict both ways."""

from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import reference
from gainful.analyses.boundedness import boundedness
from gainful.analyses.sensitivity import sensitivity
from gainful.data.simulate import simulate
from gainful.errors import DataError, GainfulError
from gainful.studies import negative_labels
from gainful.studies.negative_labels.findings import of_judgments, of_runs

NORMS = {"nDCGorg": "org", "nDCG0": "zero", "nDCGmin": "min"}
CUTOFFS, DEPTH, DRAWS, SEED = (3, 8), 10, 20, 4


@pytest.fixture(scope="module")
def made(simulated):
    return simulated("negative_labels")


@pytest.fixture(scope="module")
def study(studied):
    return studied("negative_labels")


@pytest.fixture(scope="module")
def judged(made, plain):
    return plain(made).judged


@pytest.fixture(scope="module")
def scored(made, plain):
    """By norm and cutoff, systems × topics, one rank at a time."""
    found = plain(made)
    pools = [reference.pool_of(pool) for pool in found.judged.values()]

    def score(ranking, pool, norm, cutoff):
        setting = {"cutoff": cutoff, "gain": "linear", "discount": "log2", "base": 2, "norm": norm}
        return reference.ndcg(ranking, pool, **setting) or 0.0

    return {
        (name, cutoff): np.array(
            [[score(r, pool, norm, cutoff) for r, pool in zip(run, pools, strict=True)] for run in found.lists]
        )
        for name, norm in NORMS.items()
        for cutoff in (*CUTOFFS, DEPTH)
    }


class TestExhibits:
    def test_all_are_there_in_the_papers_order(self, study):
        names = ["Table 1", "Table 2a", "Table 2b", "Figure 2c", "Table 2d", "Figure 2e", "Figure 2f"]
        assert [exhibit.name for exhibit in study.exhibits] == names
        assert study.absent == {}
        assert [exhibit.name for exhibit in study.exhibits if exhibit.draw] == ["Figure 2c", "Figure 2e", "Figure 2f"]

    def test_labels(self, study, judged, ours):
        row = ours(study, "Table 1").row(0, named=True)
        assert (row["collection"], row["runs"], row["topics"]) == ("sim", 6, 12)
        for label in (-2, 0, 1, 2, 3, 4):
            shares = [list(pool.values()).count(label) / len(pool) for pool in judged.values()]
            having = [share for share in shares if share]
            assert row[str(label)] == pytest.approx(sum(having) / len(having) if having else 0.0)

    def test_bounds(self, study, judged, ours):
        lowest = []
        for pool in judged.values():
            worst = sorted(pool.values())
            setting = {"gain": "linear", "discount": "log2", "base": 2, "norm": "org"}
            lowest.append(reference.ndcg(worst, worst, cutoff=DEPTH, **setting))
        assert 0 < sum(low <= -1 for low in lowest) < sum(low < 0 for low in lowest) < 12  # all three kinds of topics
        below, deep = (sum(low < 0 for low in lowest) / 12, sum(low <= -1 for low in lowest) / 12)
        expected = ("sim", DEPTH, 12, pytest.approx(below), pytest.approx(deep), pytest.approx(min(lowest)))
        assert ours(study, "Table 2a").row(0) == expected

    def test_orders(self, study, scored, ours):
        means = {name: scored[name, DEPTH].mean(axis=1) for name in NORMS}
        row = ours(study, "Table 2b").row(0, named=True)
        for one, other in combinations(NORMS, 2):
            rho = stats.spearmanr(means[one], means[other]).statistic
            assert row[f"{one} ~ {other}"] == pytest.approx(rho)
        assert row["cutoff"] == DEPTH

    def test_ranks(self, study, made, scored):
        expected = {name: stats.rankdata(-scored[name, DEPTH].mean(axis=1)) for name in NORMS}
        found = {row["run"]: row for row in study["Figure 2c"].frame.to_dicts()}
        for at, run in enumerate(made.runs):
            assert [found[run.name][name] for name in NORMS] == [expected[name][at] for name in NORMS]
        places = study["Figure 2c"].brief["places"].abs().to_list()
        assert places == sorted((abs(row["nDCGorg"] - row["nDCG0"]) for row in found.values()), reverse=True)[:5]

    def test_reliability(self, study, scored, ours):
        """Φ and Eρ² from the mean squares of a two-way analysis of variance without replication."""
        found = {row["coefficient"] + row["measure"]: row for row in ours(study, "Table 2d").to_dicts()}
        for (name, cutoff), y in scored.items():
            if cutoff not in CUTOFFS:
                continue
            s, t = y.shape
            rest = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
            ms_e = (rest**2).sum() / ((s - 1) * (t - 1))
            var_s = max(0.0, (y.mean(axis=1).var(ddof=1) * t - ms_e) / t)
            var_t = max(0.0, (y.mean(axis=0).var(ddof=1) * s - ms_e) / s)
            assert found["Φ" + name][f"@{cutoff}"] == pytest.approx(var_s / (var_s + (var_t + ms_e) / t))
            assert found["Eρ²" + name][f"@{cutoff}"] == pytest.approx(var_s / (var_s + ms_e / t))
        columns = study["Table 2d"].frame.columns
        assert columns == ["collection", "coefficient", "measure", "@3", "@5", "@8", "@10", "@15", "@20"]
        assert found["Φ" + name]["@5"] is None

    def test_error_rates(self, study, scored):
        """Draws as documented: orders of the topics, of which each size takes the first."""
        rng = np.random.default_rng(SEED)
        orders = [rng.permutation(12) for _ in range(DRAWS)]
        frame = study["Figure 2e"].frame
        assert frame["topics"].unique().sort().to_list() == [1, 2, 3, 4, 5, 6]
        for row in frame.iter_rows(named=True):
            for name in NORMS:
                y = scored[name, row["cutoff"]]
                means = np.array([y[:, order[: row["topics"]]].mean(axis=1) for order in orders])
                wrong = ties = 0
                for one, other in combinations(range(6), 2):
                    x, z = means[:, one], means[:, other]
                    equal = np.abs(x - z) <= 0.05 * np.maximum(np.abs(x), np.abs(z)) + 1e-12
                    wrong += min((~equal & (x > z)).sum(), (~equal & (x < z)).sum())
                    ties += equal.sum()
                assert row[name] == pytest.approx(wrong / (15 * DRAWS))
                assert row[f"{name} ties"] == pytest.approx(ties / (15 * DRAWS))

    def test_error_rates_without_fuzziness(self, study, scored):
        """Half of the topics at the deepest cutoff, as the evidence of the finding has it."""
        rng = np.random.default_rng(SEED)
        orders = [rng.permutation(12) for _ in range(DRAWS)]
        told = []
        for name in NORMS:
            means = np.array([scored[name, 8][:, order[:6]].mean(axis=1) for order in orders])
            signs = [np.sign(means[:, one] - means[:, other]) for one, other in combinations(range(6), 2)]
            wrong = sum(min((sign > 0).sum(), (sign < 0).sum()) for sign in signs)
            told.append(f"{name} {wrong / (15 * DRAWS):.1%}")
        (evidence,) = [finding.evidence for finding in study.findings if "fuzziness 0" in finding.claim]
        assert evidence.endswith("with 6 topics " + ", ".join(told))

    def test_sensitivity(self, study, scored):
        frame = study["Figure 2f"].frame
        assert frame.height == 99 * len(CUTOFFS)
        for name in NORMS:
            levels = sensitivity(scored[name, 8], resamples=50, seed=SEED).to_frame()["asl"].to_numpy()
            for level in (0.05, 0.5):
                found = frame.filter((pl.col("cutoff") == 8) & (pl.col("level") == level))[name].item()
                assert found == pytest.approx((levels < level).mean())

    def test_published_numbers_are_the_papers(self, study, published):
        of = "TREC 2012"
        assert published(study, "Table 1", of)[0][1:] == (32, None, 0.05, 0.73, 0.14, 0.04, 0.02, 0.06)
        assert published(study, "Table 2a", of)[0][1:] == (20, None, 0.96, 0.08, None)
        assert published(study, "Table 2b", of)[0][1:] == (20, 0.91, 0.99, 0.93)
        assert published(study, "Table 2a", "TREC 2013")[0][1] == 15
        assert [row[2:] for row in published(study, "Table 2d", of)] == [
            ("nDCGorg", None, 0.969, None, 0.930, 0.942, 0.967),
            ("nDCG0", None, 0.958, None, 0.975, 0.959, 0.940),
            ("nDCGmin", None, 0.994, None, 0.995, 0.996, 0.996),
        ]

    def test_settings_repeat_it(self, study, made, settings):
        assert dict(study.settings) == {**settings["negative_labels"], "fuzziness": 0.05}
        again = negative_labels({"sim": (made.qrels, made.runs)}, **study.settings)
        assert again.to_frame().equals(study.to_frame())


@dataclass(frozen=True)
class Numbers:
    """What the findings read of a collection, made up so that all of them hold."""

    lowest_mean: float = 0.0
    rhos: dict = field(default_factory=lambda: {"nDCG0": 0.9, "nDCGmin": 0.95})
    phis: dict = field(default_factory=lambda: {"nDCGorg": 0.7, "nDCG0": 0.8, "nDCGmin": 0.7994})
    erhos: dict = field(default_factory=lambda: {"nDCGorg": 0.7, "nDCG0": 0.8, "nDCGmin": 0.7994})
    errors: dict = field(
        default_factory=lambda: {
            (norm, k): (0.3, 0.1 + (0.01 * (k == 20) if norm != "nDCGmin" else 0)) for norm in NORMS for k in (5, 20)
        }
    )
    exacts: dict = field(default_factory=lambda: dict.fromkeys(NORMS, (0.3, 0.1)))
    powers: dict = field(
        default_factory=lambda: {
            (norm, k): {"nDCGorg": 0.52, "nDCG0": 0.49, "nDCGmin": 0.5}[norm] for norm in NORMS for k in (5, 20)
        }
    )
    name: str = "made-up"
    negative_rankings: int = 3
    cutoffs: tuple = (5, 20)
    sizes: tuple = (1, 25)
    pool_depth: int = 20

    def rho(self, first, second):
        return self.rhos[second] if first == "nDCGorg" else 0.5

    def phi(self, norm, cutoff):
        return self.phis.get((norm, cutoff), self.phis[norm])

    def erho2(self, norm, cutoff):
        return self.erhos.get((norm, cutoff), self.erhos[norm])

    def error(self, norm, cutoff):
        return self.errors[norm, cutoff]

    def exact_error(self, norm):
        return self.exacts[norm]

    def ties(self, norm, cutoff):
        return (0.0, 0.1)

    def power(self, norm, cutoff):
        return self.powers[norm, cutoff]


CLAIMS = {
    "mean": "no run has a negative mean nDCGorg",
    "same order": "nDCGmin reproduces the order of runs by nDCGorg (ρ of at least 0.95)",
    "departs": "nDCG0 departs further from the order of runs by nDCGorg than nDCGmin",
    "phi": "nDCGmin is at least as reliable as nDCG0 at every cutoff, by Φ",
    "erho2": "nDCGmin is at least as reliable as nDCG0 at every cutoff, by Eρ², which the paper does not give",
    "org": "nDCGorg is less reliable than nDCG0 and nDCGmin at every cutoff, by Φ, as on one of the paper's two tracks",
    "topics": "more topics mean a lower error rate, by all three",
    "error": "nDCGmin has the lowest error rate at every number of topics, @20",
    "exact": "nDCGmin has the lowest error rate, @20, even if no two means count as equal (fuzziness 0), which the "
    "paper does not give",
    "deeper": "deeper cutoffs raise the error rate of nDCGorg and nDCG0, not that of nDCGmin",
    "as many": "nDCGmin tells at least as many pairs of runs apart as nDCGorg at every cutoff (at 0.05; up to 2 points "
    "fewer are as many)",
    "fewer": "nDCG0 tells fewer pairs of runs apart than nDCGmin at every cutoff (at 0.05)",
}


def changed(what, **entries):
    """Made-up numbers, some entries of one of their tables changed; keys as nDCGmin_5 for a cutoff."""
    base = Numbers()
    table = dict(getattr(base, what))
    for key, value in entries.items():
        norm, _, cutoff = key.partition("_")
        table[(norm, int(cutoff)) if cutoff else norm] = value
    return replace(base, **{what: table})


class TestVerdicts:
    def test_all_hold(self):
        found = list(of_runs(Numbers()))
        assert [finding.claim for finding in found] == list(CLAIMS.values())
        assert [finding.claim for finding in found if not finding.holds] == []
        assert {finding.collection for finding in found} == {"made-up"}

    @pytest.mark.parametrize(
        ("numbers", "failing"),
        [
            (replace(Numbers(), lowest_mean=-0.001), ["mean"]),
            (changed("rhos", nDCGmin=0.949), ["same order"]),
            (changed("rhos", nDCG0=0.9495), ["departs"]),  # as far from nDCGorg, to the digit that is printed
            (changed("phis", nDCGmin=0.798), ["phi"]),
            (changed("phis", nDCGmin_5=0.798), ["phi"]),  # one cutoff is enough
            (changed("erhos", nDCGmin_20=0.798), ["erho2"]),
            (changed("phis", nDCGorg_20=0.799), ["org"]),
            (changed("errors", nDCGorg_5=(0.1, 0.1)), ["topics"]),
            (changed("errors", nDCGmin_20=(0.31, 0.1)), ["error"]),
            (changed("exacts", nDCGmin=(0.3, 0.11)), ["exact"]),
            (changed("exacts", nDCGorg=(0.29, 0.1)), ["exact"]),
            (changed("errors", nDCG0_20=(0.3, 0.1)), ["deeper"]),
            (changed("errors", nDCGmin_5=(0.3, 0.09)), ["deeper"]),
            (changed("powers", nDCGorg_5=0.53), ["as many"]),
            (changed("powers", nDCG0_20=0.5), ["fewer"]),
        ],
    )
    def test_each_fails_by_itself(self, numbers, failing):
        found = list(of_runs(numbers))
        assert [finding.claim for finding in found if not finding.holds] == [CLAIMS[name] for name in failing]

    def test_evidence_has_the_numbers(self):
        evidence = {finding.claim: finding.evidence for finding in of_runs(changed("phis", nDCGmin_5=0.5))}
        assert evidence[CLAIMS["phi"]] == "@5 nDCG0 0.800, nDCGmin 0.500; @20 nDCG0 0.800, nDCGmin 0.799"
        assert evidence[CLAIMS["mean"]] == "lowest mean 0.0000; of single topics, 3 rankings are below 0"
        assert evidence[CLAIMS["fewer"]] == "@5 nDCG0 49.0%, nDCGmin 50.0%; @20 nDCG0 49.0%, nDCGmin 50.0%"
        error = "at 2 of 2 numbers of topics; with 25 topics ties are nDCGorg 10%, nDCG0 10%, nDCGmin 10%"
        assert evidence[CLAIMS["error"]] == error

    def test_more_pairs_are_as_many(self):
        """One-sided: telling more apart than nDCGorg is nothing against nDCGmin."""
        found = {finding.claim: finding.holds for finding in of_runs(changed("powers", nDCGorg_5=0.1, nDCGorg_20=0.1))}
        assert found[CLAIMS["as many"]]

    def test_one_number_of_topics_cannot_tell_what_more_do(self):
        one = {key: rates[-1:] for key, rates in Numbers().errors.items()}
        exact = {key: rates[-1:] for key, rates in Numbers().exacts.items()}
        claims = [finding.claim for finding in of_runs(replace(Numbers(), sizes=(25,), errors=one, exacts=exact))]
        assert CLAIMS["topics"] not in claims
        assert CLAIMS["error"] in claims

    def test_one_cutoff_cannot_tell_what_deeper_ones_do(self):
        claims = [finding.claim for finding in of_runs(replace(Numbers(), cutoffs=(20,)))]
        assert claims == [claim for name, claim in CLAIMS.items() if name != "deeper"]

    def test_most_topics_below_0(self):
        spam = {"a": 1, "b": -1}  # best 1 - 1/log2(3), worst the negative of it: nDCGorg -1
        half = boundedness({"1": spam, "2": {"a": 1}}, cutoff=5)
        most = boundedness({"1": spam, "2": {"a": 1}, "3": spam}, cutoff=5)
        assert not of_judgments("c", half).holds
        assert of_judgments("c", most).holds
        assert of_judgments("c", most).evidence == "67% of the topics below 0, 67% at most -1"
        assert of_judgments("c", most).paper == "Table 2a: below 0 70% to 100%, at most -1 8% to 68%"

    def test_reliability_has_what_the_paper_prints(self):
        """Table 2d: the lowest and the highest of two tracks at four cutoffs."""
        (least,) = (found for found in of_runs(Numbers()) if found.claim.startswith("nDCGorg is less reliable"))
        values = "nDCGorg 0.903 to 0.969, nDCG0 0.940 to 0.978, nDCGmin 0.984 to 0.996"
        assert least.paper == f"Table 2d: {values}"


class TestWhatDataDoNotAllow:
    def test_judgments_alone_have_their_tables(self):
        study = negative_labels({"q": ({"1": {"a": 1, "b": -2}}, ())})
        assert [exhibit.name for exhibit in study.exhibits] == ["Table 1", "Table 2a"]
        assert study.absent == dict.fromkeys(
            ("Table 2b", "Figure 2c", "Table 2d", "Figure 2e", "Figure 2f"), "q needs at least 2 runs, got 0"
        )
        assert len(study.findings) == 1

    def test_one_run_and_one_topic(self):
        one = {"1": {"a": 2.0}}
        study = negative_labels(
            {
                "one run": ({"1": {"a": 1, "b": -1}, "2": {"a": 1}}, {"r": one}),
                "one topic": ({"1": {"a": 1, "b": -1}}, {"r": one, "s": one}),
            }
        )
        why = "one run needs at least 2 runs, got 1; one topic needs at least 2 judged topics, got 1"
        assert study.absent["Table 2b"] == why

    def test_other_collections_keep_theirs(self, made):
        study = negative_labels(
            {"sim": (made.qrels, made.runs), "q": ({"1": {"a": 1, "b": -1}}, ())}, cutoffs=[5], draws=2, resamples=5
        )
        assert study.collections == ("sim", "q")
        assert study.absent["Table 2b of q"] == "needs at least 2 runs, got 0"
        assert study["Table 2b"].frame["collection"][0] == "sim"
        assert study["Table 1"].frame["collection"][:2].to_list() == ["sim", "q"]
        assert [finding.collection for finding in study.findings][-1] == "q"

    def test_without_negative_labels_there_is_nothing_to_find(self):
        made = simulate(topics=6, systems=4, depth=20, pool_depth=5, spam=0.0, seed=1)
        study = negative_labels({"clean": (made.qrels, made.runs)}, cutoffs=[5], draws=5, resamples=20)
        assert (study.findings, study.settings.notes) == ((), ())
        assert [exhibit.name for exhibit in study.exhibits] == ["Table 1"]
        assert study.absent == dict.fromkeys(
            ("Table 2a", "Table 2b", "Figure 2c", "Table 2d", "Figure 2e", "Figure 2f"),
            "clean has no label below 0: nDCG0 is nDCGorg, and there is nothing to find",
        )

    def test_few_topics_and_runs_are_told(self):
        made = simulate(topics=10, systems=5, depth=20, pool_depth=5, spam=0.3, seed=1)
        found = [
            [
                note.text
                for note in negative_labels({"c": (made.qrels, runs)}, cutoffs=[5], draws=5, resamples=20).notes()
            ]
            for runs in (made.runs, made.runs[:4])
        ]
        assert found == [[], ["c has 10 topics and 4 runs: too few for its findings to mean much."]]

    def test_identical_runs(self):
        """Nothing is undefined so that it breaks: coefficients are missing, and what they would decide."""
        runs = {"r": {"1": ["a"], "2": ["b"]}, "s": {"1": ["a"], "2": ["b"]}}
        study = negative_labels({"c": ({"1": {"a": 1, "x": -1}, "2": {"b": 1, "y": -1}}, runs)}, resamples=10)
        assert np.isnan(study["Table 2b"].frame["nDCGorg ~ nDCGmin"][0])
        undecided = [finding for finding in study.findings if finding.holds is None]
        assert {"order of runs" in finding.claim or "reliable" in finding.claim for finding in undecided} == {True}
        assert not any("order of runs" in finding.claim for finding in study.findings if finding.holds is not None)
        assert "5 of 12 findings hold on c, 5 cannot be decided." in study.verdict()
        study.chart().to_dict(validate=False)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cutoffs": []}, r"^cutoffs: expected at least one, got none$"),
        ({"cutoffs": [5, 0]}, r"^cutoffs: expected a whole number of at least 1, got 0$"),
        ({"cutoffs": 5}, r"^cutoffs: expected a list of numbers such as \[10, 20\], got 5$"),
        ({"pool_depth": 0}, r"^pool_depth: expected a whole number of at least 1, got 0$"),
        ({"draws": 1}, r"^draws: expected a whole number of at least 2, for one draw contradicts no other, got 1$"),
        ({"resamples": 0}, r"resamples"),
    ],
)
def test_bad_settings_are_refused_before_any_work(settings, message):
    with pytest.raises(GainfulError, match=message):
        negative_labels({"missing": ("nowhere.txt", ())}, **settings)


def test_what_cannot_be_scored_names_its_collection():
    twice = pl.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "a"], "score": [2.0, 1.0]})
    with pytest.raises(DataError, match=r"^collection 'c': "):
        negative_labels({"c": ({"1": {"a": 1}, "2": {"a": 1}}, {"r": twice, "s": twice})})


def test_charts_have_a_panel_a_collection_and_cutoff(drawn):
    figures = drawn("negative_labels")
    ranks, errors, powers = (figures[name] for name in ("Figure 2c", "Figure 2e", "Figure 2f"))
    assert ranks["facet"]["field"] == "collection"
    dots = ranks["spec"]["layer"][-1]["encoding"]
    assert [dots[axis]["scale"]["domain"] for axis in ("x", "y")] == [
        [pytest.approx(0.82), pytest.approx(6.18)]
    ] * 2  # 3 % of 6 ranks around them
    for chart in (errors, powers):
        assert (chart["facet"]["row"]["field"], chart["facet"]["column"]["field"]) == ("collection", "at")
        assert chart["spec"]["layer"][-1]["encoding"]["color"]["scale"]["domain"] == ["nDCGmin", "nDCGorg", "nDCG0"]
    rows = figures["whole"]["datasets"][powers["data"]["name"]]
    assert len(rows) == 99 * len(CUTOFFS) * 3


def test_collections_stand_as_they_are_given(made):
    collections = dict.fromkeys(("z", "a"), (made.qrels, made.runs))
    study = negative_labels(collections, cutoffs=[5, 6], draws=2, resamples=5)
    ranks, errors = (study[name].chart().to_dict(validate=False)["facet"] for name in ("Figure 2c", "Figure 2e"))
    assert ranks["sort"] == errors["row"]["sort"] == ["z", "a"]
    assert [study["Figure 2c"].brief["collection"][at] for at in (0, 5)] == ["z", "a"]


def test_web_tracks(web_data, published):
    """Tables 1 and 2a as published; with four runs of 2012, the verdicts that docs/studies/negative-labels.md tells."""
    runs = sorted((web_data / "web-2012-runs").glob("*.gz"))
    qrels = {year: web_data / f"web-track/qrels.web.{year}.txt.gz" for year in range(2010, 2015)}
    study = negative_labels({f"TREC {year}": (qrels[year], runs if year == 2012 else ()) for year in qrels})
    for year in qrels:
        (mine,) = study["Table 1"].frame.filter(pl.col("collection") == f"TREC {year}").rows()
        (theirs,) = published(study, "Table 1", f"TREC {year}")
        # To the two digits that are printed.
        assert mine[3:] == pytest.approx(theirs[3:], abs=0.00501)
        (mine,) = study["Table 2a"].frame.filter(pl.col("collection") == f"TREC {year}").rows()
        assert mine[3] == pytest.approx(published(study, "Table 2a", f"TREC {year}")[0][3], abs=1e-9)
    verdicts = {finding.claim: finding.holds for finding in study.findings if finding.collection == "TREC 2012"}
    failing = {"mean", "departs", "org", "exact", "deeper"}
    assert {name: verdicts[claim] for name, claim in CLAIMS.items()} == {name: name not in failing for name in CLAIMS}
