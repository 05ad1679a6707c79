"""Comparisons of topics in groups, and who may be best."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import gainful as gf
from gainful.errors import DataError, GainfulError
from gainful.io.groups import read_groups
from gainful.verbs.compare import compare

RNG = np.random.default_rng(0)
Y = RNG.random((4, 20))
PLACE = np.array([0] * 6 + [1] * 14)
GROUPS = {str(topic + 1): "xy"[group] for topic, group in enumerate(PLACE)}


class TestGroups:
    def test_macro_is_the_mean_of_means(self):
        found = compare(Y, groups=GROUPS, macro=True)
        expected = (Y[:, PLACE == 0].mean(axis=1) + Y[:, PLACE == 1].mean(axis=1)) / 2
        assert found["score"].mean == pytest.approx(expected)
        table = next(table for table in found.tables() if table.name == "groups")
        assert table.frame.columns == ["measure", "run", "mean: x", "mean: y", "mean: macro", "mean: topics"]
        assert sorted(table.frame["mean: macro"].to_list()) == pytest.approx(sorted(expected))
        assert [column.header for column in table.columns][2:4] == ["x (6)", "y (14)"]

    def test_macro_is_tested_by_welch(self):
        z = Y[0] - Y[1]
        found = compare(Y[:2], groups=GROUPS, macro=True).to_frame().row(0, named=True)
        welch = stats.ttest_ind(z[PLACE == 0], -z[PLACE == 1], equal_var=False)
        assert found["p"] == pytest.approx(welch.pvalue)
        assert (found["low"], found["high"]) == pytest.approx([end / 2 for end in welch.confidence_interval()])

    def test_without_macro_the_means_stay(self):
        plain, grouped = compare(Y), compare(Y, groups=GROUPS)
        assert grouped["score"].mean == pytest.approx(plain["score"].mean)
        assert grouped.to_frame()["difference"].to_list() == pytest.approx(plain.to_frame()["difference"].to_list())
        assert grouped.to_frame()["p"].to_list() != pytest.approx(plain.to_frame()["p"].to_list(), rel=1e-3)

    @pytest.mark.parametrize("test", ["randomisation", "tukey", "wilcoxon"])
    def test_signs_are_flipped_within_topics_anyway(self, test):
        """Topics keep their group then: without macro, groups change nothing."""
        settings = {"test": test, "resamples": 200}
        expected = compare(Y, **settings).to_frame()["p"].to_list()
        assert compare(Y, groups=GROUPS, **settings).to_frame()["p"].to_list() == pytest.approx(expected)

    def test_randomisation_of_macro(self):
        """By all 2⁶ flips, the statistic being the mean of two means."""
        y, place = Y[:2, [0, 1, 6, 7, 8, 9]], np.array([0, 0, 1, 1, 1, 1])
        z = (y[0] - y[1]) / np.where(place == 0, 4, 8)
        flips = 1 - 2 * ((np.arange(64)[:, None] >> np.arange(6)) & 1)
        expected = (np.abs(flips @ z) >= abs(z.sum()) - 1e-12).mean()
        groups = {str(topic + 1): str(group) for topic, group in enumerate(place)}
        found = compare(y, groups=groups, macro=True, test="randomisation")
        assert found.to_frame()["p"][0] == pytest.approx(expected)

    @pytest.mark.parametrize("test", ["t", "bootstrap"])
    def test_what_only_groups_tell_apart(self, test):
        """Equal within each group: no variance; by the signs of the topics, all or half of which agree."""
        base = RNG.random(20)
        same, opposite = base + np.where(PLACE == 0, 0.1, 0.2), base + np.where(PLACE == 0, 0.7, -0.3)
        found = compare([base, same, opposite], groups=GROUPS, test=test, resamples=500, correction="none")
        one = found["score"]
        assert one.equal[:2].all()
        assert np.isnan(one.effect[:2]).all()
        assert one.p[0] == pytest.approx(1 / 501)
        assert one.p[1] > 0.5
        assert "in each group and have no variance" in next(n.text for n in found.notes() if n.code == "no-variance")

    def test_bca(self):
        found = compare(Y, groups=GROUPS, macro=True, interval="bca", resamples=300)
        assert (found["score"].low < found["score"].mean).all()
        assert (found["score"].high > found["score"].mean).all()

    def test_settings(self):
        assert " groups=2 groups macro=True " in str(compare(Y, groups=GROUPS, macro=True).settings)
        assert "macro" not in str(compare(Y).settings)

    def test_refused(self):
        with pytest.raises(GainfulError, match=r"^macro: expected groups of topics with it: groups$"):
            compare(Y, macro=True)
        with pytest.raises(GainfulError, match=r"^macro: expected a test of means with it, got wilcoxon"):
            compare(Y, macro=True, groups=GROUPS, test="wilcoxon")
        with pytest.raises(DataError, match=r"^groups: expected a group for every topic, got none for '7'$"):
            compare(Y, groups={topic: group for topic, group in GROUPS.items() if topic != "7"})
        with pytest.raises(
            DataError, match=r"^groups: expected at least 2 topics in each group.* got fewer in 'z': join"
        ):
            compare(Y, groups={**GROUPS, "3": "z"})


class TestReading:
    def test_files(self, tmp_path):
        expected = {"101": "en", "102": "de"}
        for name, text in {
            "g.csv": "topic,group\n101,en\n102,de\n",
            "g.tsv": "query_id\tlanguage\n101\ten\n102\tde\n",
        }.items():
            (tmp_path / name).write_text(text)
            assert read_groups(tmp_path / name) == expected
        assert read_groups(pl.DataFrame({"qid": [101, 102], "group": ["en", "de"]})) == expected
        assert read_groups({101: "en", 102: "de"}) == expected

    def test_a_column_of_scores(self, tmp_path):
        rows = [(run, str(t), RNG.random(), "ab"[t % 2]) for run in ("x", "y") for t in range(8)]
        frame = pl.DataFrame(rows, schema=["run", "query_id", "score", "language"], orient="row")
        frame.write_csv(tmp_path / "scores.csv")
        expected = compare(frame, groups={str(t): "ab"[t % 2] for t in range(8)}).to_frame()
        assert compare(frame, groups="language").to_frame().equals(expected)
        found = compare(str(tmp_path / "scores.csv"), groups="language")
        assert found.to_frame().equals(expected)
        assert " groups=language " in str(found.settings)
        with pytest.raises(DataError, match=r"^groups: no file 'tongue', and no such column in scores, which has: run"):
            compare(frame, groups="tongue")

    def test_refused(self, tmp_path):
        (tmp_path / "g.csv").write_text("topic,group\n1,a\n1,b\n")
        with pytest.raises(DataError, match=r"topic '1' is in two groups, 'a' and 'b': keep one$"):
            read_groups(tmp_path / "g.csv")
        with pytest.raises(DataError, match=r"expected the columns topic and group, got a, b$"):
            read_groups(pl.DataFrame({"a": ["1"], "b": ["2"]}))
        with pytest.raises(DataError, match=r"expected a column topic or query_id, got a, group$"):
            read_groups(pl.DataFrame({"a": ["1"], "group": ["2"]}))
        with pytest.raises(DataError, match=r"expected a topic and its group in every row, got '1' and None$"):
            read_groups(pl.DataFrame({"topic": ["1"], "group": [None]}))


class TestStanding:
    """Three runs apart by far, and a fourth that is the first with some noise."""

    SCORES = np.array([[0.9], [0.6], [0.3], [0.9]]) + RNG.normal(0, 0.02, (4, 25))

    def test_places(self):
        rows = compare(self.SCORES).standing()
        assert rows["place_low"].to_list() == [1, 1, 3, 4]
        assert rows["place_high"].to_list() == [2, 2, 3, 4]
        assert set(rows["run"][:2]) == {"1", "4"}
        assert rows["may_be_best"].to_list() == [True, True, False, False]
        assert rows["best"][:2].sum() == pytest.approx(1)
        assert rows["optimism"].null_count() == 3

    def test_lower_is_better(self):
        """The same numbers with the other sign, and another direction."""
        found = compare(pl.DataFrame({str(i): row for i, row in enumerate(self.SCORES)}), lower_is_better=["score"])
        assert found.standing()["run"].to_list()[0] == "2"
        assert found.standing()["place_low"].to_list() == [1, 2, 3, 3]
        assert found["score"].optimism == pytest.approx(compare(-self.SCORES)["score"].optimism)

    def test_all_pairs_contain_each_by_itself(self):
        frame = compare(Y).to_frame()
        assert (frame["all_low"] < frame["low"]).all()
        assert (frame["all_high"] > frame["high"]).all()

    def test_only_pairs_with_the_baseline(self):
        """Fewer pairs have to hold together: narrower."""
        everything = compare(Y).to_frame().filter(run="1")
        some = compare(Y, baseline="1").to_frame()
        assert ((some["all_high"] - some["all_low"]) < (everything["all_high"] - everything["all_low"])).all()


class TestWithoutVarianceInGroups:
    GROUPS = dict(zip("123456", "xxxyyy", strict=True))  # noqa: RUF012 (never changed)

    @pytest.mark.parametrize("step", [0.25, 1e-4, 1e-8])
    def test_what_rounding_leaves_is_no_variance(self, step):
        """Of 6 equal signs 2 in 2⁶ flips are as large, however small the step."""
        y = Y[0, :6]
        found = compare([y + step, y], groups=self.GROUPS).to_frame().row(0, named=True)
        assert found["p"] == 2 / 2**6
        assert np.isnan(found["effect"])
        assert (found["low"], found["high"]) == pytest.approx((step, step), rel=1e-6)

    def test_groups_that_differ(self):
        """Σ of ±0.3 three times and ±0.1 three times is 0.6 or more in 22 of 64 cases: 0.1 is not shown to be so."""
        found = compare([[0.4, 0.4, 0.4, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2, 0.2, 0.2]], groups=self.GROUPS)
        row = found.to_frame().row(0, named=True)
        assert row["p"] == 22 / 64
        assert (row["low"], row["high"], row["all_low"]) == (-np.inf, np.inf, -np.inf)
        assert found.equivalent(0.2)["p"].to_list() == [1.0]
        assert found.equivalent(0.35)["p"].to_list() == [2**-6]

    def test_small_groups_are_told(self):
        few = {str(topic + 1): "x" if topic < 3 else "y" for topic in range(20)}
        told = [str(note) for note in compare(Y, groups=few, macro=True).notes() if note.code == "small-groups"]
        assert told[0].startswith("Few topics in x, and as much weight as larger groups: ")
        for settings in ({"groups": few}, {"groups": GROUPS | dict.fromkeys(("7", "8"), "x"), "macro": True}):
            assert "small-groups" not in {note.code for note in compare(Y, **settings).notes()}


class TestRange:
    def test_no_interval_leaves_it(self):
        values = np.array([[1.0, 1, 1, 1, 0.9], [0, 0, 0, 0, 0.1], [0, 1, 0, 1, 0]])
        names = {"run": np.repeat(["a", "b", "c"], 5), "query_id": np.tile(list("12345"), 3)}
        scores = pl.DataFrame({**names, "measure": "nDCG@10", "score": values.ravel()})
        found = compare(scores)
        assert found.means()["high"].max() == 1
        assert found.means()["low"].min() == 0
        assert found.to_frame()["high"].max() <= 1
        assert found.to_frame()["all_low"].min() >= -1
        free = compare(scores.with_columns(measure=pl.lit("nDCGorg@10")))
        assert free.means()["high"].max() > 1
        percent = compare(scores.with_columns(pl.col("score") * 100))
        assert percent.means()["high"].max() > 100

    def test_bounds_of_measures(self):
        def bounds(text):
            return gf.parse_measure(text).bounds

        assert bounds("nDCGf@3") == bounds("nDCG") == bounds("AP") == (0, 1)
        assert bounds("nDCGmin@3") is bounds("nDCGorg") is bounds("DCG@3") is None


class TestNothingFromNothing:
    @pytest.mark.parametrize("test", ["t", "bootstrap"])
    @pytest.mark.parametrize("topics", [2, 3, 5, 8])
    def test_p_is_that_of_the_signs(self, test, topics):
        """2 of 2^T flips of equal signs are as large."""
        found = compare([np.zeros(topics), np.ones(topics)], test=test, resamples=99)
        assert found.to_frame()["p"].to_list() == [2 / 2**topics]
        assert [note.subject for note in found.notes() if note.code == "no-variance"] == ["score"]

    def test_no_build_fails_on_three_topics(self):
        found = compare([[1, 1, 1], [0, 0, 0]], baseline="1", test="bootstrap")
        assert found.worse().height == 0
        assert found.worse(0.5)["bound"].to_list() == [-np.inf]
        assert compare([np.ones(8), np.zeros(8)], baseline="1", test="bootstrap").worse().height == 1

    @pytest.mark.parametrize(
        ("settings", "topics", "text"),
        [
            ({"test": "randomisation"}, 5, "the smallest p of the randomisation test on 5 topics is 0.0625; it takes"),
            ({"test": "wilcoxon"}, 4, "the smallest p of the Wilcoxon signed-rank test on 4 topics is 0.125; it"),
            ({"test": "bootstrap"}, 3, "the smallest p of the studentised bootstrap on 3 topics is 0.0741; it"),
            ({"test": "bootstrap", "resamples": 9}, 8, "on 8 topics is 0.1; take more resamples."),
        ],
    )
    def test_never_significant(self, settings, topics, text):
        found = compare(RNG.random((2, topics)), **settings)
        (note,) = [note.text for note in found.notes() if note.code == "never-significant"]
        assert text in note

    @pytest.mark.parametrize(
        "settings", [{}, {"test": "randomisation"}, {"test": "bootstrap"}, {"test": "tukey"}, {"test": "wilcoxon"}]
    )
    def test_possible(self, settings):
        assert "never-significant" not in [note.code for note in compare(RNG.random((2, 8)), **settings).notes()]

    def test_correction_counts(self):
        """20 pairs·1/1001 is below .05, 55 are not."""
        for runs, expected in ((5, []), (11, ["score"])):
            found = compare(RNG.random((runs, 30)), test="randomisation", resamples=1000)
            assert [note.subject for note in found.notes() if note.code == "never-significant"] == expected
