"""Against scipy, plain loops over ranked lists, and a plain bootstrap."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import gainful as gf
from gainful.analyses.agreement import CORRELATIONS
from gainful.analyses.agreement.chart import ranks_chart
from gainful.errors import DataError, GainfulError


def table(values, measures=None) -> pl.DataFrame:
    """Long scores of an array of measures × systems × topics; systems are a, b, c …"""
    values = np.asarray(values, float)
    measures = measures or [f"m{at}" for at in range(len(values))]
    rows = [(chr(97 + s), measures[m], str(t + 1), float(values[m, s, t])) for m, s, t in np.ndindex(*values.shape)]
    return pl.DataFrame(rows, schema=["run", "measure", "query_id", "score"], orient="row")


def alike(systems=7, topics=12, measures=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((1, systems, 1)) + rng.random((1, systems, topics)) + rng.random((measures, systems, topics))


def tau_a_by_pairs(x, y):
    """Pairs ordered alike less pairs ordered differently, of all pairs."""
    signs = [np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i, j in itertools.combinations(range(len(x)), 2)]
    return sum(signs) / len(signs)


def tau_ap_by_lists(estimate, reference):
    """Yilmaz et al. (2008): 2/(n - 1)·Σ over i = 2 … n of C(i)/(i - 1), less 1; C(i) rightly above the i-th."""
    order = sorted(range(len(estimate)), key=lambda system: -estimate[system])
    shares = [sum(reference[above] > reference[order[at]] for above in order[:at]) / at for at in range(1, len(order))]
    return 2 * sum(shares) / (len(order) - 1) - 1


def rbo_by_lists(x, y, p):
    """Webber et al. (2010), RBO_ext of two lists of the same n: (1 - p)/p·Σ A(d)·p^d + A(n)·p^n, with A(n) = 1."""
    one, other = (sorted(range(len(v)), key=lambda system, v=v: -v[system]) for v in (x, y))
    n = len(one)
    agreed = [len({*one[:d]} & {*other[:d]}) / d for d in range(1, n + 1)]
    return (1 - p) / p * sum(a * p**d for d, a in enumerate(agreed, 1)) + agreed[-1] * p**n


class TestValues:
    y = alike()
    found = gf.agreement(table(y), resamples=20, p=0.7)
    means = y.mean(axis=2)

    @pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 2), (1, 2)])
    def test_are_those_of_the_means(self, first, second):
        x, y = self.means[first], self.means[second]
        expected = {
            "tau_b": stats.kendalltau(x, y).statistic,
            "tau_a": tau_a_by_pairs(x, y),
            "tau_ap": (tau_ap_by_lists(x, y) + tau_ap_by_lists(y, x)) / 2,
            "rho": stats.spearmanr(x, y).statistic,
            "rbo": rbo_by_lists(x, y, 0.7),
            "rms": math.sqrt(np.mean((x - y) ** 2)),
        }
        for name, value in expected.items():
            assert self.found.between(f"m{first}", f"m{second}", name).value == pytest.approx(float(value)), name

    def test_every_pair_has_every_coefficient(self):
        names = [(pair.first, pair.second) for pair in self.found.pairs if pair.correlation == "rms"]
        assert names == [("m0", "m1"), ("m0", "m2"), ("m1", "m2")]
        assert [pair.correlation for pair in self.found.pairs[:6]] == list(CORRELATIONS)

    def test_matrix(self):
        matrix = self.found.matrix("rho")
        assert matrix.columns == ["measure", "m0", "m1", "m2"]
        values = matrix.drop("measure").to_numpy()
        assert np.diag(values).tolist() == [1.0, 1.0, 1.0]
        assert values[2, 1] == values[1, 2] == self.found.between("m2", "m1", "rho").value
        assert np.diag(self.found.matrix("rms").drop("measure").to_numpy()).tolist() == [0.0, 0.0, 0.0]


def test_ends_are_percentiles_over_resampled_topics():
    y = alike(topics=9, measures=2)
    found = gf.agreement(table(y), correlation=("tau_b", "rms"), spread=0.8, resamples=60, seed=5)
    rng = np.random.default_rng(5)
    taus, distances = [], []
    for _ in range(60):
        drawn = rng.integers(9, size=9)
        one, other = (y[measure][:, drawn].mean(axis=1) for measure in range(2))
        taus.append(stats.kendalltau(one, other).statistic)
        distances.append(math.sqrt(np.mean((one - other) ** 2)))
    for pair, values in zip(found.pairs, (taus, distances), strict=True):
        assert (pair.resampled_low, pair.resampled_high) == pytest.approx(tuple(np.quantile(values, [0.1, 0.9])))


def test_ends_are_no_confidence_interval():
    """Orders that agree well agree less on resampled topics: the value lies beyond the upper end, and says its name."""
    rng = np.random.default_rng(2)
    shared = np.linspace(0, 1, 24)[:, None] + 0.3 * rng.normal(size=(24, 25))
    y = [shared + 0.3 * rng.normal(size=(24, 25)) for _ in range(2)]
    found = gf.agreement(table(y), correlation="tau_b", spread=0.9, resamples=300)
    assert found.pairs[0].value > found.pairs[0].resampled_high
    assert found.ends() == ("resampled 5%", "resampled 95%")
    assert gf.agreement(table(alike()), resamples=5).ends() == ("resampled 2.5%", "resampled 97.5%")
    chart = gf.agreement(table(alike()), resamples=5).chart().to_dict()
    tips = [tip.get("title") for tip in chart["layer"][0]["encoding"]["tooltip"]]
    assert tips[-2:] == ["resampled 2.5%", "resampled 97.5%"]


def test_blocks_do_not_matter(monkeypatch):
    scores = table(alike())
    whole = gf.agreement(scores, resamples=50)
    monkeypatch.setattr("gainful.stats.resample.BLOCK", 1000)
    again = gf.agreement(scores, resamples=50)
    assert again.to_frame()["resampled_low"].to_list() == pytest.approx(whole.to_frame()["resampled_low"].to_list())
    assert again.to_frame()["resampled_high"].to_list() == pytest.approx(whole.to_frame()["resampled_high"].to_list())


def test_a_measure_agrees_with_itself_on_any_topics():
    y = alike(measures=1)[0]
    for pair in gf.agreement(table([y, y]), resamples=50).pairs:
        expected = 0.0 if pair.correlation == "rms" else 1.0
        assert (pair.value, pair.resampled_low, pair.resampled_high) == pytest.approx((expected,) * 3), pair.correlation


def test_less_is_better_where_the_measure_says_so():
    forbidden = np.array([[0.0, 0.1], [0.2, 0.3], [0.5, 0.4]])
    found = gf.agreement(table([1 - forbidden, forbidden], ["P@10", "Forbidden@10"]), resamples=10)
    assert found.between("P@10", "Forbidden@10", "tau_b").value == pytest.approx(1.0)
    assert found.best("Forbidden@10") == ("a",)
    assert found.ranks.tolist() == [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]
    # The scores themselves are not turned round: .95 − .05, .75 − .25, .55 − .45.
    expected = math.sqrt((0.9**2 + 0.5**2 + 0.1**2) / 3)
    assert found.between("P@10", "Forbidden@10", "rms").value == pytest.approx(expected)


def test_geometric_means_order_where_they_are_the_summary():
    ap = np.array([[0.9, 0.0], [0.3, 0.3]])
    found = gf.agreement(table([ap, ap], ["AP", "GMAP"]), resamples=10)
    assert (found.best("AP"), found.best("GMAP")) == (("a",), ("b",))
    assert found.scores[1] == pytest.approx([math.sqrt(0.9 * 1e-5), 0.3])


def test_means_that_only_rounding_tells_apart_are_tied():
    tied = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.0, 0.0, 0.1]])
    found = gf.agreement(table([tied, alike(3, 3, 1)[0]]), resamples=10)
    assert found.ranks[0].tolist() == [1.5, 1.5, 3.0]
    assert found.best("m0") == ("a", "b")


class TestWhoMoved:
    # Ranks by the first a b c d e, by the second c a b e d (d and e change places), by the third as by the first.
    y = np.array([[5, 4, 3, 2, 1], [4, 3, 5, 1, 2], [5, 4, 3, 2, 1]])[:, :, None] * np.ones(2) / 10
    found = gf.agreement(table(y), resamples=10)

    def test_the_farthest_first_then_by_rank(self):
        moves = self.found.moved("m0", "m1")
        assert [(move.system, move.first, move.second, move.places) for move in moves] == [
            ("c", 3.0, 1.0, 2.0),
            ("a", 1.0, 2.0, -1.0),
            ("b", 2.0, 3.0, -1.0),
            ("d", 4.0, 5.0, -1.0),
            ("e", 5.0, 4.0, 1.0),
        ]

    def test_least_agreement(self):
        assert self.found.least() == ("m0", "m1")
        # m0 and m2 differ by 5 everywhere; m1 and m2 by 5 on average, and √(mean square) is above the mean.
        far = self.y + np.array([0.0, 0.0, 5.0])[:, None, None]
        assert gf.agreement(table(far), correlation="rms", resamples=5).least() == ("m1", "m2")

    def test_unknown_names(self):
        with pytest.raises(GainfulError, match=r"^No ranks by 'AP'; there are: m0, m1, m2$"):
            self.found.moved("m0", "AP")
        message = (
            r"^No tau_b of 'm0' and 'AP'; there are tau_b, tau_a, tau_ap, rho, rbo, rms of any two of: m0, m1, m2$"
        )
        with pytest.raises(GainfulError, match=message):
            self.found.between("m0", "AP")


class TestUndefined:
    y = np.stack([np.full((3, 4), 0.5), alike(3, 4, 1)[0], np.zeros((3, 4))])
    found = gf.agreement(table(y), resamples=20)

    @pytest.mark.parametrize("name", ["tau_b", "tau_ap", "rho"])
    def test_nan_where_all_are_tied(self, name):
        pair = self.found.between("m0", "m1", name)
        assert np.isnan([pair.value, pair.resampled_low, pair.resampled_high]).all()

    def test_others_are_defined(self):
        assert self.found.between("m0", "m1", "tau_a").value == 0.0
        assert 0.0 < self.found.between("m0", "m1", "rbo").value < 1.0
        assert self.found.between("m0", "m2", "rms").value == pytest.approx(0.5)

    def test_the_least_is_one_that_is_defined(self):
        values = [*self.y[:2], alike(3, 4, 1, seed=1)[0]]
        assert gf.agreement(table(values), resamples=5).least() == ("m1", "m2")

    def test_resamples_without_a_value_are_left_out(self):
        # Systems differ on the first topic only: a resample without it ties them all.
        one = np.array([[0.9, 0.5, 0.5], [0.1, 0.5, 0.5]])
        pair = gf.agreement(table([one, one]), correlation="tau_b", resamples=100).pairs[0]
        assert (pair.value, pair.resampled_low, pair.resampled_high) == (1.0, 1.0, 1.0)

    def test_chart(self):
        assert self.found.chart().to_dict()["layer"]

    def test_says_so(self):
        assert self.found.verdict() == (
            "How far the measures agree cannot be told: of every two, one ties all runs or does not say which run is "
            "better."
        )
        notes = [(note.code, note.subject) for note in self.found.notes()]
        assert notes == [("all-tied", "m0"), ("all-tied", "m2"), ("few-runs", "")]

    def test_nothing_is_found_by_a_measure_that_ties_all(self):
        found = gf.agreement(table([*self.y[:2], alike(3, 4, 1, seed=1)[0]]), correlation="tau_a", resamples=5)
        assert found.least()[0] == "m0"  # of which τ_a is 0, or below the other's
        assert found.verdict().startswith("m1 and m2 agree least on the order of 3 runs: Kendall's τ_a = ")
        assert "m0" not in found.verdict()


class TestVerdict:
    # Ranks by the first a b c d e, by the second c a b e d, by the third as by the first: see TestWhoMoved.
    y = np.array([[5, 4, 3, 2, 1], [4, 3, 5, 1, 2], [5, 4, 3, 2, 1]])[:, :, None] * np.ones(2) / 10

    def test_many_measures(self):
        # Of the ten pairs a–c, b–c and d–e are ordered differently: (7 − 3)/10.
        assert gf.agreement(table(self.y), resamples=5).verdict() == (
            "m0 and m1 agree least on the order of 5 runs: Kendall's τ_b = 0.40 (0.40 to 0.40 on resampled topics); "
            "c (3 → 1) moves most. First: a by m0 and m2; c by m1."
        )

    def test_two_measures(self):
        assert gf.agreement(table(self.y[:2]), resamples=5).verdict().startswith("m0 and m1 order 5 runs with Kendall")
        same = gf.agreement(table(self.y[[0, 2]]), resamples=5).verdict()
        assert same.endswith("Kendall's τ_b = 1.00 (1.00 to 1.00 on resampled topics). First by all of them: a.")

    def test_scores(self):
        # Differences .1, .1, -.2, .1, -.1: the mean of their squares is .08/5.
        found = gf.agreement(table(self.y), correlation="rms", resamples=5)
        assert found.verdict().startswith(
            f"m0 and m1 differ most in the mean scores of 5 runs: the RMS difference is {math.sqrt(0.08 / 5):.2f} ("
        )

    def test_measures_without_a_better_end_are_no_finding(self):
        found = gf.agreement(table(self.y, ["AP", "NumRet", "P@5"]), resamples=5)
        assert found.least() == ("AP", "NumRet")
        assert found.verdict().startswith("AP and P@5 agree least on the order of 5 runs: Kendall's τ_b = 1.00 (")
        assert [(note.code, note.subject) for note in found.notes()] == [("no-direction", "NumRet")]
        assert found.tables()[2].title == "Runs that move most between AP and P@5:"

    def test_ties_at_the_top(self):
        y = np.ones((2, 8, 2))
        y[0, 0], y[1, 1] = 0.0, 0.0
        first = gf.agreement(table(y), resamples=5).verdict().partition(" First: ")[2]
        assert first == "b, c, d, e, f and 2 more (tied) by m0; a, c, d, e, f and 2 more (tied) by m1."

    def test_many_that_are_first(self):
        y = (np.eye(6) + np.linspace(0, 0.1, 6))[:, :, None] * np.ones(2)
        assert gf.agreement(table(y), resamples=5).verdict().endswith(". The measures put 6 different runs first.")


def test_a_topic_that_one_measure_lacks_is_dropped_for_all():
    y = alike(systems=4, topics=6, measures=2)
    scores = table(y).filter(~((pl.col("run") == "b") & (pl.col("measure") == "m1") & (pl.col("query_id") == "3")))
    kept = [0, 1, 3, 4, 5]
    found = gf.agreement(scores, gaps="drop", resamples=5)
    assert found.topics == 5
    assert found.scores == pytest.approx(y[:, :, kept].mean(axis=2))
    with pytest.raises(DataError, match=r"^m1: run 'b' has no score for topic '3', but runs are compared"):
        gf.agreement(scores)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"correlation": ()}, r"correlation: expected some of tau_b, tau_a, tau_ap, rho, rbo, rms, got none"),
        (
            {"correlation": "tau"},
            r"correlation: expected one of tau_b, tau_a, tau_ap, rho, rbo, rms, got 'tau'. Did you mean 'tau_[ab]'\?",
        ),
        ({"spread": 95}, r"spread: expected a number between 0 and 1, both excluded, got 95"),
        ({"spread": 1.0}, r"spread: expected a number between 0 and 1, both excluded, got 1.0"),
        ({"p": 1}, r"p: expected a number between 0 and 1, both excluded, got 1"),
        ({"resamples": 0}, r"resamples: expected a whole number of at least 1, got 0"),
        ({"seed": -1}, r"seed: expected a whole number of at least 0, got -1"),
        ({"gaps": "dropp"}, r"gaps: expected one of error, drop, got 'dropp'. Did you mean 'drop'\?"),
    ],
)
def test_refused_settings(settings, message):
    with pytest.raises(GainfulError, match=f"^{message}$"):
        gf.agreement(table(alike()), **settings)


def test_one_measure_is_refused():
    message = (
        r"^expected at least 2 measures to set against each other, got 1: score; name more, such as nDCG@10 and AP, "
        r"or give a table that has several$"
    )
    with pytest.raises(DataError, match=message):
        gf.agreement([[0.1, 0.2], [0.3, 0.4]])


def test_one_system_is_refused():
    with pytest.raises(DataError, match=r"^expected at least 2 runs, got 1: a$"):
        gf.agreement(table(alike(systems=1)))


def test_one_topic_is_refused():
    with pytest.raises(DataError, match=r"^expected at least 2 topics of m0, got 1$"):
        gf.agreement(table(alike(topics=1)))


class TestResult:
    scores = table(alike(systems=4, topics=5, measures=3))
    found = gf.agreement(scores, correlation=["rho", "rho", "rbo"], resamples=25, seed=3)

    def test_text(self):
        text = str(self.found)
        assert text.startswith(self.found.verdict()[:60])
        assert "who moved most" in text
        assert "places up" not in text  # nobody moves
        assert "note: Orders of only 4 runs easily agree, or disagree, by chance.\n" in text
        assert text.endswith(
            "\nagreement: 4 runs, 5 topics; correlation=rho,rbo spread=0.95 resamples=25 p=0.9 seed=3 gaps=error"
        )

    def test_tables(self):
        every, coefficients, moved, best, runs = self.found.tables()
        assert every.frame.columns == [
            *("measure", "other", "rho", "rbo", "resampled_low", "resampled_high", "moved"),
        ]
        pair = self.found.between("m0", "m2", "rbo")
        assert every.frame["rbo"][1] == pair.value
        assert [column.header for column in every.columns] == [
            *("measure", "with", "Spearman's ρ", "resampled 2.5%", "resampled 97.5%", "RBO", "who moved most"),
        ]
        assert coefficients.frame.equals(self.found.to_frame())
        assert moved.frame.is_empty()
        assert best.frame.rows() == [(name, *self.found.best(name)) for name in ("m0", "m1", "m2")]
        assert runs.frame["rank"].to_list() == self.found.ranks.ravel().tolist()

    def test_html_escapes_names(self):
        html = gf.agreement(table(alike(measures=2), ["<s>AP", "RR"]), resamples=5)._repr_html_()
        assert "<s>AP" not in html
        assert "<b>&lt;s&gt;AP and RR order 7 runs with Kendall" in html

    def test_pandas(self):
        frame = self.found.to_pandas()
        assert frame["value"].to_list() == [pair.value for pair in self.found.pairs]

    def test_frame(self):
        frame = self.found.to_frame()
        assert frame.columns == ["measure", "other", "correlation", "value", "resampled_low", "resampled_high"]
        assert frame["correlation"].to_list() == ["rho", "rbo"] * 3
        assert (frame["resampled_low"] <= frame["resampled_high"]).all()

    def test_dict_is_ready_for_json_and_repeats_it(self):
        content = json.loads(json.dumps(self.found.to_dict()))
        assert {row["rank"] for row in content["runs"] if row["measure"] == "m0"} == {1.0, 2.0, 3.0, 4.0}
        assert content["topics"] == self.found.topics
        settings = content["settings"]
        assert settings.pop("policies") is None
        assert gf.agreement(self.scores, **settings).to_dict() == self.found.to_dict()
        other = gf.agreement(self.scores, **settings | {"seed": 4})
        assert other.to_dict()["coefficients"] != self.found.to_dict()["coefficients"]

    def test_chart_of_many_measures_is_a_map(self):
        chart = self.found.chart().to_dict()
        (cells,) = chart["datasets"].values()
        assert len(cells) == 6
        assert {(c["measure"], c["other"]): c["value"] for c in cells}["m2", "m0"] == self.found.between(
            "m0", "m2"
        ).value
        assert [layer["mark"]["type"] for layer in chart["layer"]] == ["rect", "text"]

    def test_colours_of_a_map_do_not_depend_on_its_values(self):
        y = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.5], [1.5, 2.0, 3.0]])[:, :, None] + [0.0, 0.0]
        domains = {}
        for name, of in (("like", y), ("unlike", y * [[[1.0]], [[1.0]], [[-1.0]]])):
            for correlation in ("tau_b", "rms"):
                chart = gf.agreement(table(of), correlation=correlation, resamples=5).chart().to_dict()
                domains[name, correlation] = chart["layer"][0]["encoding"]["color"]["scale"]["domain"]
        assert domains["like", "tau_b"] == [0.0, 1.0]
        assert domains["unlike", "tau_b"] == [-1.0, 1.0]
        assert domains["like", "rms"] == [0.0, pytest.approx(np.sqrt(0.5**2 * 2 / 3))]  # measures 2 and 3

    def test_names_stand_on_their_side_of_the_diagonal(self):
        """Both axes begin at the top left: who moves down lies below the diagonal, and its long name ends there."""
        others = [(str(rank), rank, rank) for rank in (1, 2, 3, 4, 7, 8, 9, 10)]
        chart = ranks_chart("A", "B", [("down" * 5, 5, 6), ("up" * 10, 6, 5), *others], title="moved").to_dict()
        names = next(data for data in chart["datasets"].values() if "align" in data[0])
        assert [(name["label"][:2], name["align"]) for name in names if name["label"]] == [
            ("do", "right"),
            ("up", "left"),
        ]

    def test_chart_of_two_measures_shows_the_ranks(self):
        y = TestWhoMoved.y[:2]
        chart = gf.agreement(table(y), resamples=5).chart().to_dict()
        points = next(data for data in chart["datasets"].values() if "system" in data[0])
        assert {point["system"]: (point["first"], point["second"]) for point in points}["c"] == (3.0, 1.0)
        assert chart["title"] == "Who moved, the best at the top left: Kendall's τ_b 0.400"
