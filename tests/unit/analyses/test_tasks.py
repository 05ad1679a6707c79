"""Runs over several tasks: by hand, and what tasks drawn anew or left out change."""

from __future__ import annotations

import numpy as np
import pytest

import gainful as gf


def collection(ranks: dict[str, list[int]]):
    """Judgments and runs: one relevant document per topic, at these ranks."""
    topics = range(len(next(iter(ranks.values()))))
    qrels = {f"q{at}": {"good": 1} for at in topics}
    runs = {
        name: {f"q{at}": [*(f"x{i}" for i in range(rank - 1)), "good"] for at, rank in zip(topics, places, strict=True)}
        for name, places in ranks.items()
    }
    return qrels, runs


# Means of RR: web A 1, B 1/2, C 1/4; news A 1/2, B 1, C 1/4; law A 1, B 1/2, C 1/2.
TASKS = {
    "web": collection({"A": [1, 1], "B": [2, 2], "C": [4, 4]}),
    "news": collection({"A": [2], "B": [1], "C": [4]}),
    "law": collection({"A": [1, 1, 1], "B": [2, 2, 2], "C": [2, 2, 2]}),
}


class TestByHand:
    found = gf.tasks(TASKS, "RR")

    def test_every_task_counts_the_same(self):
        rows = self.found.to_frame().select("run", "macro", "place", "mean_place", "wins").rows()
        assert rows == [
            ("A", pytest.approx(2.5 / 3), 1, pytest.approx(4 / 3), 2),
            ("B", pytest.approx(2 / 3), 2, pytest.approx(5 / 3), 1),
            ("C", pytest.approx(1 / 3), 3, pytest.approx(8 / 3), 0),
        ]

    def test_what_each_task_does(self):
        one = self.found["RR"]
        # The order of news, B A C, reverses one of three pairs; law ties B and C: 2 of √(3·2) pairs.
        assert one.agrees.tolist() == pytest.approx([1.0, 1 / 3, 2 / np.sqrt(6)])
        # Without web or law A and B have the same mean, 3/4; without news A leads alone.
        assert one.without.tolist() == pytest.approx([2 / np.sqrt(6), 1.0, 2 / np.sqrt(6)])
        assert self.found.verdict().startswith("By RR, A has the best mean over 3 tasks (0.8333); it is first on 2 of")

    def test_resampled_tasks(self):
        # A is first but where news is drawn at least twice of three times: 1 − (3·(1/9)·(2/3) + 1/27) = 20/27.
        found = gf.tasks(TASKS, "RR", resamples=20_000)
        assert found["RR"].best[0] == pytest.approx(20 / 27, abs=0.01)
        # Of C, too: where law alone is drawn, 1/27 of the times, it shares the second place with B.
        assert (found["RR"].low.tolist(), found["RR"].high.tolist()) == ([1, 1, 2], [2, 2, 3])

    def test_few_tasks_are_told(self):
        assert [note.code for note in self.found.notes()] == ["few-tasks"]


def test_groups_of_one_collection_are_tasks():
    qrels, runs, groups = {}, {}, {}
    for task, (judged, returned) in TASKS.items():
        qrels |= {f"{task} {topic}": documents for topic, documents in judged.items()}
        groups |= {f"{task} {topic}": task for topic in judged}
        for run, lists in returned.items():
            runs.setdefault(run, {}).update({f"{task} {topic}": documents for topic, documents in lists.items()})
    found = gf.tasks((qrels, runs), "RR", groups=groups)
    expected = gf.tasks(TASKS, "RR").to_frame().select("run", "macro", "place", "wins")
    assert found.to_frame().select("run", "macro", "place", "wins").rows() == expected.rows()
    assert found.sizes == (3, 1, 2)  # law, news, web
    assert gf.tasks(gf.evaluate(qrels, runs, "RR"), groups=groups).to_frame().equals(found.to_frame())


def test_lower_may_be_better():
    forbidden = {"a": ({"q": {"x": -1, "y": 1}}, {"A": {"q": ["y"]}, "B": {"q": ["x"]}})}
    forbidden["b"] = forbidden["a"]
    assert gf.tasks(forbidden, "Forbidden@1").to_frame()["run"].to_list() == ["A", "B"]


def test_runs_that_some_task_lacks_are_left_out():
    qrels, runs = TASKS["news"]
    found = gf.tasks({**TASKS, "news": (qrels, {"A": runs["A"], "B": runs["B"]})}, "RR")
    assert found.systems == ("A", "B")
    assert "Left out, since not all tasks have them: C." in [note.text for note in found.notes()]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (({"web": TASKS["web"]},), "expected at least 2 tasks, got 1: give each collection a name, or groups"),
        ((TASKS["web"],), r"expected the collections of tasks by name, \{task: \(qrels, runs\)\}, or one .* got tuple"),
        (({"a": 1},), "got a task that is int"),
        ((TASKS, "NumRet"), "NumRet is neither better high nor low: expected a measure such as nDCG@10"),
        (
            ({"a": TASKS["web"], "b": ({"q": {"d": 1}}, {"Z": {"q": ["d"]}})}, "RR"),
            "expected runs of the same names in all tasks, got none that all of them have",
        ),
    ],
)
def test_refused(given, message):
    with pytest.raises(gf.GainfulError, match=message):
        gf.tasks(*given)


def test_at_the_shell(gainful, tmp_path):
    words = []
    for name, (qrels, runs) in TASKS.items():
        (tmp_path / name).mkdir()
        gf.write_qrels(qrels, tmp_path / f"{name}.txt")
        for run, lists in runs.items():
            gf.write_run(lists, tmp_path / name / f"{run}.txt")
        words += ["--collection", f"{name}={tmp_path / name}.txt:{tmp_path / name}"]
    found = gainful("tasks", *words, "-m", "RR", "--format", "csv")
    assert found.out.splitlines()[1].startswith("RR,A,0.8333333333333334,1,")
    refused = gainful("tasks", *words, "--groups", "x.csv")
    assert "--groups: expected QRELS RUN... or --scores FILE with it, one collection, got 3 collections" in refused.err


def test_a_table_of_scores_at_the_shell(gainful, tmp_path):
    """A leads one task by .9, B the other by .3."""
    scores, groups = tmp_path / "scores.csv", tmp_path / "groups.csv"
    scores.write_text("query_id,A,B\n1,1.0,0.1\n2,0.2,0.5\n")
    groups.write_text("topic,group\n1,web\n2,news\n")
    words = ("tasks", "--scores", str(scores))
    found = gainful(*words, "--groups", str(groups), "--format", "csv")
    assert [line.split(",")[1:4] for line in found.out.splitlines()[1:3]] == [["A", "0.6", "1"], ["B", "0.3", "2"]]
    assert "--scores: expected --groups with it, which says of each topic its task, got none" in gainful(*words).err
    both = gainful(*words, "--groups", str(groups), "q.txt", "r.txt")
    assert "expected either judgments and runs or --scores FILE, got both" in both.err
