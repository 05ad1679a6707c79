"""What to judge: depth pools by run and team, costs, lists, samples, and judgments that come back."""

from __future__ import annotations

import os
import re
from math import ceil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.errors import DataError, DuplicateError, GainfulError

DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent"))
# Topic 1: by depth 1 a and b enter, by depth 2 c (both runs of team x) and d, by depth 3 e, f and g.
RUNS = {
    "x1": {"1": ["a", "c", "e"], "2": ["p", "q"]},
    "x2": {"1": ["b", "c", "f"], "2": ["q", "p"]},
    "y1": {"1": ["a", "d", "g"]},
}
QRELS = {"1": {"a": 1, "d": 0, "z": 2}, "2": {"p": 2}}
TEAMS = {"x1": "x", "x2": "x", "y1": "y"}


def listed(found) -> list[tuple[str, str]]:
    return found.to_judge.select("query_id", "doc_id").rows()


class TestDepth:
    def test_by_run(self):
        found = gf.pool(QRELS, RUNS, depth=2, depths=[1, 2, 3])
        assert listed(found) == [("1", "b"), ("1", "c"), ("2", "q")]
        costs = found.costs.rows(named=True)
        assert [row["documents"] for row in costs] == [2 + 2, 4 + 2, 7 + 2]
        assert [row["judged"] for row in costs] == [1 + 1, 2 + 1, 2 + 1]
        assert [row["to_judge"] for row in costs] == [1 + 1, 2 + 1, 5 + 1]
        assert [row["per_topic"] for row in costs] == [1.0, 1.5, 3.0]
        assert [row["most"] for row in costs] == [1, 2, 5]
        # Of a and p both are relevant, of d it is not, and of those from depth 3 none is judged.
        assert [row["relevant"] for row in costs[:2]] == [1.0, 0.0]
        assert np.isnan(costs[2]["relevant"])

    def test_contributors(self):
        found = gf.pool(QRELS, RUNS, depth=2)
        rows = {row["contributor"]: row for row in found.contributors.rows(named=True)}
        assert rows["x1"] == {"contributor": "x1", "documents": 4, "alone": 0, "to_judge": 2}
        assert rows["y1"] == {"contributor": "y1", "documents": 2, "alone": 1, "to_judge": 0}

    def test_by_team(self):
        """Team x gives a (rank 1), b (rank 1), c: to depth 2 only a and b; team y gives a and d."""
        found = gf.pool(QRELS, RUNS, depth=2, depths=[1, 2], teams=TEAMS)
        assert listed(found) == [("1", "b"), ("2", "q")]
        assert found.costs["documents"].to_list() == [1 + 1, 3 + 2]
        assert found.by == "team"
        assert {*found.contributors["contributor"]} == {"x", "y"}

    def test_more(self):
        """Next: b at depth 1, then c, which two runs have, at depth 2."""
        assert listed(gf.pool(QRELS, RUNS, more=1, topics="judged")) == [("1", "b"), ("2", "q")]
        assert listed(gf.pool(QRELS, RUNS, more=2)) == [("1", "b"), ("1", "c"), ("2", "q")]

    def test_ties(self):
        runs = {"r": {"1": {"a": 1.0, "b": 1.0, "c": 0.5}}}
        assert listed(gf.pool(None, runs, depth=1)) == [("1", "b")]  # as trec_eval: the higher id first
        assert listed(gf.pool(None, runs, depth=1, ties="order")) == [("1", "a")]

    def test_nothing_judged(self):
        found = gf.pool("none", RUNS, depth=1)
        assert listed(found) == [("1", "a"), ("1", "b"), ("2", "p"), ("2", "q")]
        assert found.effects is None
        assert found.qrels is None
        assert found.verdict() == "Judging to depth 1 needs 4 more judgments, 2 per topic."

    def test_topics(self):
        only = {"1": QRELS["1"]}
        assert {topic for topic, _ in listed(gf.pool(only, RUNS))} == {"1"}
        assert {topic for topic, _ in listed(gf.pool(only, RUNS, topics="all"))} == {"1", "2"}

    def test_all_judged(self):
        found = gf.pool({"1": {"a": 1}}, {"r": {"1": ["a"]}}, depth=5)
        assert found.verdict() == "Nothing is left to judge: to depth 5 all is judged."
        assert found.to_judge.is_empty()

    def test_the_same_as_what_a_pool_had_held(self):
        """Of a simulated collection, judged to depth 10 of all its runs, nothing is left to there."""
        made = gf.simulate(topics=6, systems=6, contributors=6, depth=60, pool_depth=10, seed=1)
        found = gf.pool(made.qrels, made.runs, depth=10, depths=[10, 11])
        assert found.costs["to_judge"][0] == 0
        assert found.costs["to_judge"][1] > 0


class TestEffects:
    def test_bounds(self):
        """Run b of one topic: x is judged, y and z are not; the best label is 2."""
        qrels, runs = {"1": {"x": 2, "w": 2}}, {"r": {"1": ["y", "x", "z"]}, "s": {"1": ["w"]}}
        found = gf.pool(qrels, runs, depth=1, measures=["nDCG@2", "P@2"])
        rows = {(row["measure"], row["run"]): row for row in found.effects.rows(named=True)}
        discount = 1 / np.log2(3)
        one = rows["nDCG@2", "r"]
        assert (one["judged"], one["judged_then"]) == (1 / 3, 2 / 3)
        assert one["score"] == pytest.approx(2 * discount / (2 + 2 * discount))
        assert one["if_none"] == pytest.approx(one["score"])
        assert one["if_all"] == pytest.approx(1.0)
        other = rows["nDCG@2", "s"]
        # Nothing of s is in the list, and a third relevant document makes no longer ideal at 2.
        assert other["if_all"] == pytest.approx(2 / (2 + 2 * discount))
        assert rows["P@2", "r"]["if_all"] == 1.0

    def test_verdict(self):
        found = gf.pool(QRELS, RUNS, more=1)
        assert found.verdict().startswith("Judging 1 further document per topic needs 2 more judgments. ")

    def test_none_relevant_yet(self):
        """The best label there is says nothing of what would be relevant."""
        found = gf.pool({"1": {"x": 0}}, {"r": {"1": ["y", "x"]}}, measures="P@2")
        assert found.effects["if_all"].to_list() == [0.5]

    def test_nothing_rises(self):
        """The relevant document is first already."""
        found = gf.pool({"1": {"x": 1}}, {"r": {"1": ["x", "y"]}}, measures="P@1")
        assert found.verdict().endswith("If all of the list were relevant, no run would rise in P@1.")


class TestLists:
    def test_round_trip(self, tmp_path):
        """A list is written, filled in, and comes back in parts."""
        found = gf.pool(QRELS, RUNS, depth=2)
        found.save(tmp_path / "list.csv")
        blank = pl.read_csv(tmp_path / "list.csv")
        assert blank.columns == ["query_id", "doc_id", "relevance"]
        assert blank["relevance"].null_count() == 3
        half = blank.with_columns(relevance=pl.Series([1, None, None]))
        half.write_csv(tmp_path / "half.csv")
        after = gf.pool(QRELS, RUNS, depth=2, judged=tmp_path / "half.csv")
        assert listed(after) == [("1", "c"), ("2", "q")]
        assert ("1", "b", 1.0) in after.qrels.frame.rows()
        assert len(after.qrels) == 4 + 1

    def test_text_lines_become_qrels(self, tmp_path):
        gf.pool(QRELS, RUNS, depth=2).save(tmp_path / "list.txt")
        lines = (tmp_path / "list.txt").read_text(encoding="utf-8").splitlines()
        assert lines == ["1 0 b", "1 0 c", "2 0 q"]
        (tmp_path / "filled.txt").write_text("".join(f"{line} 1\n" for line in lines), encoding="utf-8")
        assert gf.pool(QRELS, RUNS, depth=2, judged=tmp_path / "filled.txt").to_judge.is_empty()

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("docs.tsv", "b\tabout b\nq\tabout q\nzz\tother\n"),
            ("docs.tsv", "docno\ttitle\ttext\nb\tB\tabout b\nq\tQ\tabout q\n"),
            ("docs.jsonl", '{"id": "b", "contents": "about b"}\n{"id": "q", "contents": "about q"}\n'),
        ],
    )
    def test_texts(self, name, content, tmp_path):
        (tmp_path / name).write_text(content, encoding="utf-8")
        found = gf.pool(QRELS, RUNS, depth=1, docs=tmp_path / name)
        assert found.to_judge.rows() == [("1", "b", "about b"), ("2", "q", "about q")]
        found.save(tmp_path / "list.jsonl")
        assert '"text":"about b"' in (tmp_path / "list.jsonl").read_text(encoding="utf-8")
        with pytest.raises(DataError, match="TREC text has no place for the texts of documents"):
            found.save(tmp_path / "list.txt")

    def test_titles(self, tmp_path):
        (tmp_path / "d.jsonl").write_text('{"_id": "b", "title": "B", "text": "about b"}\n', encoding="utf-8")
        assert gf.pool(QRELS, RUNS, depth=1, docs=tmp_path / "d.jsonl").to_judge["text"].to_list() == [
            "B\nabout b",
            None,
        ]

    def test_no_texts(self, tmp_path):
        with pytest.raises(DataError, match="no such file"):
            gf.pool(QRELS, RUNS, depth=1, docs=tmp_path / "docs.tsv")
        (tmp_path / "docs.jsonl").write_text('{"name": "b"}\n', encoding="utf-8")
        with pytest.raises(DataError, match="expected keys such as doc_id and text, got name"):
            gf.pool(QRELS, RUNS, depth=1, docs=tmp_path / "docs.jsonl")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("zz\tother\n", "expected texts of documents in the list, got none of them"),
            ("no tab\n", "expected two columns, document and text, separated by a tab, got 1"),
        ],
    )
    def test_wrong_texts(self, content, message, tmp_path):
        (tmp_path / "docs.tsv").write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=re.escape(message)):
            gf.pool(QRELS, RUNS, depth=1, docs=tmp_path / "docs.tsv")


@pytest.fixture(scope="module")
def made():
    return gf.simulate(topics=5, systems=6, contributors=6, depth=80, pool_depth=60, seed=3)


class TestSample:
    SETTINGS = {"strata": (10, 60), "rates": (1.0, 0.1)}  # noqa: RUF012 (never changed)

    def test_sizes_and_probabilities(self, made):
        found = gf.pool(None, made.runs, depths=[10, 60], **self.SETTINGS)
        groups = found.sample.group_by("query_id", "stratum").agg(
            pl.len(), pl.col("drawn").sum(), pl.col("inclusion").unique()
        )
        for _, stratum, size, drawn, inclusion in groups.rows():
            wanted = size if stratum == "to 10" else max(2, ceil(0.1 * size - 1e-9))
            assert (drawn, inclusion) == (wanted, [wanted / size])
        assert found.sample["depth"].max() <= 60
        assert found.to_judge.height == found.sample["drawn"].sum()

    def test_seed(self, made):
        first, same, other = (listed(gf.pool(None, made.runs, **self.SETTINGS, seed=seed)) for seed in (1, 1, 2))
        assert first == same != other

    @pytest.mark.parametrize("given", [SETTINGS, {**SETTINGS, "rates": (0.5, 0.2)}, {"more": 7}, {"depth": 12}])
    @pytest.mark.parametrize("by_team", [False, True])
    def test_depths_whose_costs_are_told_change_no_list(self, made, given, by_team):
        """Or a sample would not be known again when it comes back; what decides among equals are runs at any rank."""
        teams = {run.name: run.name[:6] for run in made.runs} if by_team else None
        lists = [listed(gf.pool(None, made.runs, teams=teams, depths=depths, **given)) for depths in ([12], [60], [80])]
        assert lists[0] == lists[1] == lists[2]

    def test_judgments_come_back(self, made):
        """All that was drawn is judged: what `evaluate` gets has strata, probabilities, and null for all else."""
        start = gf.pool(None, made.runs, **self.SETTINGS)
        truth = made.qrels.frame
        back = start.to_judge.join(truth, on=["query_id", "doc_id"], how="left").with_columns(
            pl.col("relevance").fill_null(0.0)
        )
        after = gf.pool(None, made.runs, **self.SETTINGS, judged=back)
        assert after.to_judge.is_empty()
        assert after.verdict() == "Nothing is left to judge: all of this sample of the pool to depth 60 is judged."
        frame = after.qrels.frame
        assert frame.columns == ["query_id", "doc_id", "relevance", "stratum", "inclusion"]
        assert frame["relevance"].is_not_null().sum() == back.height
        assert frame.height == start.sample.height
        scores = gf.evaluate(after.qrels, made.runs, ["statAP", "xinfAP", "infNDCG@20"])
        assert np.isfinite(scores.values).all()
        assert "sample" in [note.code for note in after.notes()]

    def test_judgments_of_one_topic_come_back(self, made):
        """The others are still to judge, and the sample of that topic is what it was."""
        start = gf.pool(None, made.runs, **self.SETTINGS)
        last = start.to_judge["query_id"].max()
        back = start.to_judge.filter(pl.col("query_id") == last).with_columns(relevance=pl.lit(1.0))
        after = gf.pool(None, made.runs, **self.SETTINGS, judged=back)
        assert listed(after) == [row for row in listed(start) if row[0] != last]
        incomplete = [note for note in after.notes() if note.code == "sample-incomplete"]
        assert str(incomplete[0]).startswith(f"{after.to_judge.height} drawn documents without a judgment yet: ")
        assert "sample-incomplete" not in {note.code for note in start.notes()}

    def test_strata_are_told_from_the_top(self):
        runs = {"r": {"1": [f"d{at}" for at in range(30)]}}
        found = gf.pool({"1": {"d3": 1}}, runs, strata=[5, 30], rates=[1, 0.5])
        assert next(t for t in found.tables() if t.name == "strata").frame["stratum"].to_list() == [
            "to 5",
            "to 30",
            "judged",
        ]

    def test_what_was_judged_before_is_certain(self, made):
        before = {topic: {} for topic in made.qrels.topics}
        for topic, doc, label in made.qrels.frame.group_by("query_id", maintain_order=True).head(4).rows():
            before[topic][doc] = label
        found = gf.pool(before, made.runs, **self.SETTINGS)
        sure = found.sample.filter(pl.col("stratum") == "judged")
        assert sure.height > 0
        assert sure["inclusion"].unique().to_list() == [1.0]
        assert sure["relevance"].null_count() == 0

    def test_judgments_from_outside_of_the_pool_are_kept(self):
        """With all judged, estimates are what the measures are: AP of the run is (1/1 + 2/3)/3, as z counts for R."""
        found = gf.pool(
            QRELS, {"x": {"1": ["a", "b", "c"]}}, strata=(2, 3), rates=(1, 1), judged={"1": {"c": 1, "b": 0}}
        )
        kept = found.qrels.frame.filter(doc_id="z").rows()
        assert kept == [("1", "z", 2.0, "judged", 1.0)]
        scores = gf.evaluate(found.qrels, {"x": {"1": ["a", "b", "c"]}}, ["statAP", "xinfAP"])
        assert scores["statAP"].values[0, 0] == pytest.approx((1 + 2 / 3) / 3, abs=1e-15)
        assert scores["xinfAP"].values[0, 0] == pytest.approx((1 + 2 / 3) / 3, abs=1e-15)

    def test_judgments_that_were_not_asked_for_are_told(self, made):
        start = gf.pool(None, made.runs, **self.SETTINGS)
        undrawn = start.sample.filter(~pl.col("drawn")).select("query_id", "doc_id").row(0)
        back = {undrawn[0]: {undrawn[1]: 1.0, "misspelt": 1.0}}
        after = gf.pool(None, made.runs, **self.SETTINGS, judged=back)
        (note,) = [note for note in after.notes() if note.code == "judged-elsewhere"]
        assert str(note).startswith(
            f"2 judgments that came back are of no document that was drawn, such as document {undrawn[1]!r} of topic "
            f"{undrawn[0]!r}, and left out: check the ids"
        )
        assert after.qrels.frame["relevance"].is_not_null().sum() == 0
        after = gf.pool(None, made.runs, judged=back)
        (note,) = [note for note in after.notes() if note.code == "judged-elsewhere"]
        assert str(note) == (
            "1 judgment that came back is of no document of the pool to depth 100, such as document 'misspelt' of "
            f"topic {undrawn[0]!r}: check the ids."
        )

    @pytest.mark.parametrize(("labels", "told"), [((0.0, 1.0), ()), ((17.0, -3.0), ("-3, 17",))])
    def test_labels_of_another_scale_are_told(self, labels, told):
        runs = {"r": {"1": ["a", "b", "c", "d"]}}
        found = gf.pool({"1": {"a": 1, "b": 0}}, runs, judged={"1": dict(zip("cd", labels, strict=True))})
        start = "Labels that came back and that no judgment had before: "
        notes = [note.text for note in found.notes() if note.code == "new-labels"]
        assert notes == [f"{start}{which}. Check that the scale is the same." for which in told]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"strata": (10,)}, "strata: expected rates beside it, a number for each, got none"),
            ({"rates": (1,)}, "rates: expected strata beside it, a number for each, got none"),
            (
                {"strata": (10,), "rates": (1, 0.5)},
                "strata: expected as many depths, ascending, as rates, got 10",
            ),
            ({"strata": (20, 10), "rates": (1, 0.5)}, "strata: expected as many depths, ascending, as rates"),
            ({"strata": (10,), "rates": (1.5,)}, "rates: expected shares above 0 and at most 1, got 1.5"),
            ({"strata": (10,), "rates": (1,), "more": 3}, "more: expected either this or strata and rates, got both"),
        ],
    )
    def test_refused(self, given, message):
        with pytest.raises(GainfulError, match=f"^{re.escape(message)}"):
            gf.pool(QRELS, RUNS, **given)


class TestInput:
    def test_teams_of_a_file(self, tmp_path):
        (tmp_path / "teams.csv").write_text(
            "run,team\n" + "".join(f"{r},{t}\n" for r, t in TEAMS.items()), encoding="utf-8"
        )
        found = gf.pool(QRELS, RUNS, depth=2, teams=tmp_path / "teams.csv")
        assert listed(found) == [("1", "b"), ("2", "q")]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("run,group\nx1,x\n", "expected the columns run and team, got none that is called team"),
            ("run,team\nx1,x\nx1,y\n", ":3: run 'x1' stands here twice, with different values: keep one"),
            ("run,team\nx1,\n", "teams: expected a team for every run, got none for 'x1', 'x2'"),
            (
                "run,team\nx1,x\nx2.txt,x\ny1,y\n",
                "teams: expected a team for every run, got none for 'x2'; it has one for 'x2.txt'",
            ),
            ("run,team\nx1,x\n", "teams: expected a team for every run, got none for 'x2'"),
        ],
    )
    def test_wrong_teams(self, content, message, tmp_path):
        (tmp_path / "teams.csv").write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=re.escape(message)):
            gf.pool(QRELS, RUNS, teams=tmp_path / "teams.csv")

    def test_teams_of_neither(self):
        with pytest.raises(DataError, match="expected a file or a mapping from runs to teams, got list"):
            gf.pool(QRELS, RUNS, teams=["x"])

    def test_nothing_can_be_read(self, tmp_path):
        (tmp_path / "bad.txt").write_text("1 Q0 a 1\n", encoding="utf-8")
        with pytest.raises(DataError, match="expected 6 fields"):
            gf.pool(QRELS, tmp_path / "bad.txt", keep_going=True)

    def test_empty_lists(self, tmp_path):
        found = gf.pool({"1": {"a": 1}}, {"r": {"1": ["a"]}}, depth=5)
        with pytest.raises(DataError, match="TREC text cannot hold an empty list"):
            found.save(tmp_path / "list.txt")
        found.save(tmp_path / "list.csv")
        assert (tmp_path / "list.csv").read_text(encoding="utf-8") == "query_id,doc_id,relevance\n"

    def test_duplicates(self):
        twice = {"r": pl.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "a"], "score": [2.0, 1.0]})}
        with pytest.raises(DuplicateError, match="run 'r': document 'a' appears twice for topic '1'"):
            gf.pool(None, twice)
        assert listed(gf.pool(None, twice, duplicates="first")) == [("1", "a")]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"depth": 0}, "depth: expected a whole number of at least 1, got 0"),
            ({"depths": []}, "depths: expected at least one, got none"),
            ({"more": 0}, "more: expected a whole number of at least 1, got 0"),
            ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ],
    )
    def test_wrong_settings(self, given, message):
        with pytest.raises(GainfulError, match=f"^{re.escape(message)}$"):
            gf.pool(QRELS, RUNS, **given)

    def test_no_common_topic(self):
        with pytest.raises(DataError, match="expected runs with topics that have judgments, got none: topics='all'"):
            gf.pool({"9": {"a": 1}}, RUNS)

    def test_topics_without_judgments_are_told(self):
        found = gf.pool({"2": {"p": 2, "q": 0}}, RUNS)
        assert found.verdict() == "Nothing is left to judge in the 1 topic with judgments: to depth 20 all is judged."
        (note,) = found.notes()
        assert note.text == (
            "1 topic of the runs has no judgments and has no part in this: 1. topics='all' pools all topics."
        )
        assert gf.pool({"2": {"p": 2, "q": 0}}, RUNS, topics="all").notes() == ()

    def test_what_is_no_run_is_told(self, tmp_path):
        for run, topics in RUNS.items():
            lines = [f"{t} Q0 {d} {-i} {-i} x\n" for t, docs in topics.items() for i, d in enumerate(docs)]
            (tmp_path / f"{run}.txt").write_text("".join(lines))
        (tmp_path / "k.json").write_text('{"bm25": {"k1": 0.9}}')
        (tmp_path / "plot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        found = gf.pool(QRELS, tmp_path)
        assert found.settings.data == "3 runs, 2 topics"
        (note,) = found.notes()
        assert "k.json (settings, since none of its topics is judged)" in note.text
        assert "plot.png (a PNG image)" in note.text

    def test_a_run_with_a_document_twice_is_left_out(self, tmp_path):
        (tmp_path / "good.txt").write_text("1 Q0 a 1 2 x\n")
        (tmp_path / "twice.txt").write_text("1 Q0 a 1 2 x\n1 Q0 a 2 1 x\n")
        found = gf.pool(QRELS, tmp_path, keep_going=True)
        assert found.settings.data == "1 run, 1 topic"
        assert found.notes()[0].text.startswith(f"{tmp_path}/twice.txt: run 'twice': document 'a' appears twice")
        with pytest.raises(DuplicateError):
            gf.pool(QRELS, tmp_path)

    def test_a_second_run_of_a_name_is_left_out(self, tmp_path):
        (tmp_path / "one.csv").write_text("query_id,doc_id,score\n1,a,2\n")
        (tmp_path / "one.txt").write_text("1 Q0 b 1 2 x\n")
        found = gf.pool(QRELS, tmp_path, keep_going=True)
        assert found.settings.data == "1 run, 1 topic"
        assert found.notes()[0].text == f"{tmp_path}/one.txt: two runs are called 'one'; rename one"
        with pytest.raises(DataError, match=r"^two runs are called 'one'; rename one$"):
            gf.pool(QRELS, tmp_path)

    def test_rows_that_are_not_printed_are_told(self):
        runs = {f"r{i}": {"1": ["a", f"n{i}"]} for i in range(11)}
        (note,) = gf.pool({"1": {"a": 1}}, runs, depth=2).notes()
        assert note.text == "10 of 11 rows are printed, those that could rise most: JSON has them all."

    def test_chart(self):
        assert gf.pool(QRELS, RUNS).chart().to_dict()["title"] == "What a pool by run costs"


@pytest.mark.skipif(not DATA.is_dir(), reason="GAINFUL_DATA is not set to a folder")
def test_trec_covid():
    """Five more per topic of round 1: 30 topics, and each document is one that no judgment is there for."""
    folder = DATA / "trec-covid-round1"
    found = gf.pool(folder / "qrels.txt.gz", folder / "runs", more=5)
    assert found.to_judge.height == 150
    judged = gf.read_qrels(folder / "qrels.txt.gz").frame
    assert found.to_judge.join(judged, on=["query_id", "doc_id"]).is_empty()
    now = gf.evaluate(folder / "qrels.txt.gz", folder / "runs", "nDCG@10").summary()[0]
    scores = dict(found.effects.select("run", "score").rows())
    assert sorted(scores.values()) == pytest.approx(sorted(now), abs=1e-12)
