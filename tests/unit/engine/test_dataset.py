"""A data set in groups of files gives what it gives as a whole, wherever it is cut."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.data.policies import Policies
from gainful.data.pool import Judged
from gainful.engine import Local, cluster
from gainful.engine.evaluation import Group, groups_of, put_together, score_all, score_group
from gainful.engine.scoring import Job
from gainful.errors import DataError, GainfulError, PolicyError
from gainful.io.read import entries_of
from gainful.measures import parse_measures

MADE = gf.simulate(topics=5, systems=3, depth=6, seed=6)
MEASURES = ("nDCG@5", "AP", "NumRet")


def job(**settings) -> Job:
    going_on = settings.pop("keep_going", False)
    policies = Policies(**settings)
    return Job(
        judged=Judged(MADE.qrels, "error"),
        measures=tuple(parse_measures(MEASURES)),
        policies=policies,
        keep_going=going_on,
    )


def table() -> pl.DataFrame:
    frames = [run.frame.select(pl.lit(run.name).alias("run"), "query_id", "doc_id", "score") for run in MADE.runs]
    stranger = frames[0][:5].with_columns(query_id=pl.lit("stranger"))
    return pl.concat([frames[0], stranger, frames[1].filter(pl.col("query_id") != MADE.runs[1].topics[2]), frames[2]])


def write(frame: pl.DataFrame, folder, rows: int):
    folder.mkdir(parents=True)
    for at, start in enumerate(range(0, frame.height, rows)):
        frame[start : start + rows].write_parquet(folder / f"{at}.parquet")
    return folder


def equal(part, scores) -> bool:
    """Whether a part has the scores that were computed in one go."""
    return (
        part.systems == scores.systems
        and part.values.tobytes() == scores.values.tobytes()
        and part.ignored == scores.ignored
        and tuple((~part.present).sum(axis=1)) == scores.missing
    )


LAYOUTS = {
    "run, topic": ["run", "query_id"],
    "topic, run": ["query_id", "run"],
    "topic": ["query_id"],
    "as it comes": [],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("rows", "number"), [(1, 50), (4, 99), (6, 3), (7, 4), (40, 2), (1000, 1)])
def test_wherever_it_is_cut(layout, rows, number, tmp_path):
    frame = table().sort(LAYOUTS[layout], maintain_order=True) if LAYOUTS[layout] else table()
    parts = write(frame, tmp_path / "runs.parquet", rows)
    here = gf.evaluate(MADE.qrels, parts, MEASURES, degenerate="nan")
    entry = entries_of(parts)[0]
    groups = groups_of(entry, number)
    assert [name for group in groups for name in group.files] == [
        f"{n}.parquet" for n in range(-(-frame.height // rows))
    ]
    assert len(groups) <= number
    found = put_together(job(), entry, [score_group(job(), group) for group in groups])
    assert found is not None
    assert equal(found, here)


def test_rows_of_a_topic_that_is_cut_keep_their_order(tmp_path):
    """ties='order' and duplicates='first' depend on it."""
    frame = MADE.runs[0].frame.with_columns(score=pl.lit(1.0)).select("query_id", "doc_id", "score")
    frame = pl.concat([frame[:10], frame[8:9].with_columns(score=pl.lit(9.0)), frame[10:]])
    parts = write(frame, tmp_path / "one.parquet", 4)
    here = gf.evaluate(MADE.qrels, parts, MEASURES, ties="order", duplicates="first", degenerate="nan")
    settings = job(ties="order", duplicates="first")
    entry = entries_of(parts)[0]
    found = put_together(settings, entry, [score_group(settings, group) for group in groups_of(entry, 99)])
    assert equal(found, here)
    assert found.systems == ("one",)


def test_scattered_topics_are_noticed(tmp_path):
    frame = MADE.runs[0].frame.select("query_id", "doc_id", "score").sample(fraction=1.0, shuffle=True, seed=1)
    parts = write(frame, tmp_path / "one.parquet", 10)
    entry = entries_of(parts)[0]
    groups = groups_of(entry, 3)
    assert put_together(job(), entry, [score_group(job(), group) for group in groups]) is None
    here = gf.evaluate(MADE.qrels, parts, MEASURES, degenerate="nan")
    assert equal(score_all(Local(), job(), parts), here)


def test_empty_parts_and_runs(tmp_path):
    frame = MADE.runs[0].frame.select("query_id", "doc_id", "score")
    for name, some in {"a": frame, "b": frame[:0]}.items():
        write(some, tmp_path / "set" / f"run={name}", 30)
        some[:0].write_parquet(tmp_path / "set" / f"run={name}" / "99.parquet")
    here = gf.evaluate(MADE.qrels, tmp_path / "set", MEASURES, degenerate="nan")
    assert here.systems == ("a", "b")
    assert equal(score_all(Local(), job(), tmp_path / "set"), here)
    with_column = table()[:0]
    (tmp_path / "none.parquet").mkdir()
    with_column.write_parquet(tmp_path / "none.parquet" / "0.parquet")
    with pytest.raises(DataError, match=r"^expected at least one run, got none$"):
        score_all(Local(), job(), tmp_path / "none.parquet")


def test_refused(tmp_path):
    parts = write(table().sort("query_id", maintain_order=True), tmp_path / "runs.parquet", 10)
    with pytest.raises(PolicyError, match="returns nothing for 1 of 5 judged topics"):
        score_all(Local(), job(missing="error"), parts)
    names = [run.name for run in MADE.runs]
    going_on = score_all(Local(), job(missing="error", keep_going=True), [parts, MADE.runs[0]])
    assert going_on.systems == (names[0], names[2])
    assert [name for name, _ in going_on.failed] == [repr(names[1]), repr(names[0])]
    here = gf.evaluate(MADE.qrels, [parts, MADE.runs[0]], MEASURES, missing="error", degenerate="nan", keep_going=True)
    assert going_on.failed == here.failed
    assert equal(going_on, here)
    (parts / "2.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"2\.parquet: "):
        score_all(Local(), job(), parts)
    going_on = score_all(Local(), job(keep_going=True), [MADE.runs[0], parts])
    assert going_on.systems == (MADE.runs[0].name,)
    assert "2.parquet: " in going_on.failed[0][1]


def test_data_sets_that_cannot_be_shared_out_are_named(tmp_path):
    """As they are in this process; the others go on."""
    for name in ("none", "nothing", "nowhere"):
        (tmp_path / f"{name}.parquet").mkdir()
    (tmp_path / "nothing.parquet" / "0.parquet").touch()
    (tmp_path / "nowhere.parquet" / "0.parquet").symlink_to("nowhere")
    runs = [tmp_path, MADE.runs[0]]
    here = gf.evaluate(MADE.qrels, runs, MEASURES, keep_going=True)
    assert [name.removeprefix(f"{tmp_path}/") for name, _ in here.failed] == [
        "none.parquet",
        "nothing.parquet",
        "nowhere.parquet",
    ]
    there = score_all(Local(), job(keep_going=True), runs)
    assert (there.systems, there.failed) == (here.systems, here.failed)


def test_parts_of_which_only_some_name_runs(tmp_path):
    """Wherever it is cut: it is the first part that tells."""
    parts = write(table(), tmp_path / "runs.parquet", 10)
    pl.read_parquet(parts / "3.parquet").drop("run").write_parquet(parts / "3.parquet")
    for number in (1, 99):
        groups = groups_of(entries_of(parts)[0], number)
        with pytest.raises(DataError, match=r"/3\.parquet: expected a column run, as in .*/0\.parquet; write"):
            list(map(score_group, [job()] * len(groups), groups))


def test_a_data_set_that_was_given_a_name_is_read_by_one(tmp_path):
    parts = write(MADE.runs[0].frame.select("query_id", "doc_id", "score"), tmp_path / "one.parquet", 30)
    entry = entries_of({"mine": parts})[0]
    assert groups_of(entry, 4) == []
    assert groups_of(dataclasses.replace(entry, name=None), 4) != []
    assert score_all(Local(), job(), {"mine": parts}).systems == ("mine",)


def test_files_are_no_data_set(tmp_path):
    gf.write_run(MADE.runs[0], tmp_path / "a.txt")
    assert groups_of(entries_of(tmp_path / "a.txt")[0], 4) == []
    assert groups_of(entries_of(MADE.runs[0])[0], 4) == []


def test_groups_are_small_descriptions(tmp_path):
    import pickle

    parts = write(table(), tmp_path / "runs.parquet", 10)
    group = groups_of(entries_of(parts)[0], 2)[0]
    assert isinstance(group, Group)
    assert len(pickle.dumps(group)) < 2000


class TestWorker:
    """What runs in a worker, run here."""

    def test_performs(self):
        assert cluster._perform(cluster.versions(), None, pow, cluster._held(2), [1, 2, 3]) == [2, 4, 8]
        assert list(cluster._batches(iter(range(5)), 2)) == [[0, 1], [2, 3], [4]]

    def test_versions(self):
        ours = cluster.versions()
        assert ours["numpy"] == np.__version__
        assert ours["gainful"] == gf.__version__
        cluster._check_versions("w", ours, ours)
        theirs = {name: text for name, text in ours.items() if name != "scipy"} | {"polars": "0.1"}
        with pytest.raises(GainfulError) as caught:
            cluster._check_versions("tcp://w", theirs, ours)
        assert str(caught.value) == (
            f"worker tcp://w: expected the versions of this process, polars {ours['polars']}, scipy {ours['scipy']}, "
            "got polars 0.1, scipy none; install the same ones, for results equal to the last bit"
        )


def test_a_run_of_several_in_folders_is_refused_alone(tmp_path):
    """Here and in groups of files: a file that cannot be read, a document twice, and a run that is fine."""
    frame = MADE.runs[0].frame.select("query_id", "doc_id", "score")
    for name in ("broken", "fine", "twice"):
        write(pl.concat([frame, frame[:1]]) if name == "twice" else frame, tmp_path / "set" / f"run={name}", 10)
    (tmp_path / "set" / "run=broken" / "1.parquet").write_bytes(b"PAR1")
    here = gf.evaluate(MADE.qrels, tmp_path / "set", MEASURES, degenerate="nan", keep_going=True)
    assert here.systems == ("fine",)
    assert [name for name, _ in here.failed] == ["'broken'", "'twice'"]
    there = score_all(Local(at_once=3), job(keep_going=True), tmp_path / "set")
    assert equal(there, here)
    assert there.failed == here.failed
