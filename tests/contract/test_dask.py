"""A Dask cluster gives what this process gives, to the last bit: whatever is killed, broken or cut into pieces."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful._core import native
from gainful.errors import DataError, GainfulError, PolicyError
from gainful.measures import unregister
from gainful.progress import tracked_by

distributed = pytest.importorskip("distributed")

from gainful.engine import cluster, open_engine  # noqa: E402

MEASURES = ["nDCG@10", "nDCGf@5", "AP", "bpref", "infAP", "ERR@20", "RBP", "GMAP", "NumRet", "Judged@10"]


def exact(value):
    """All of a result as something that is equal only if every bit is."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if dataclasses.is_dataclass(value):
        return tuple((field.name, exact(getattr(value, field.name))) for field in dataclasses.fields(value))
    if isinstance(value, dict):
        return tuple((key, exact(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return tuple(exact(inner) for inner in value)
    return value.hex() if isinstance(value, float) else value


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """What starts `dask …` as a process of its own, in a folder that is not this one."""
    folder = tmp_path_factory.mktemp("dask")
    running = []

    def start(*words):
        with (folder / f"{len(running)}.log").open("w") as log:
            command = [sys.executable, "-m", "dask", *map(str, words)]
            running.append(subprocess.Popen(command, cwd=folder, stdout=log, stderr=log))
        return running[-1]

    yield start
    for process in reversed(running):
        process.terminate()
    for process in running:
        try:
            process.wait(90)
        except subprocess.TimeoutExpired:  # nothing depends on it any more
            process.kill()
            process.wait()


def begin(started, file: Path) -> str:
    """Start a scheduler; its address."""
    process = started("scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)
    for _ in range(1800):
        if file.exists() and file.stat().st_size:
            return json.loads(file.read_text())["address"]
        assert process.poll() is None, "the scheduler ended"
        time.sleep(0.1)
    raise AssertionError("the scheduler did not start")


@pytest.fixture(scope="module")
def scheduler(started, tmp_path_factory):
    """The address of a scheduler with two workers, three processes of their own."""
    folder = tmp_path_factory.mktemp("scheduler")
    address = begin(started, folder / "scheduler.json")
    started("worker", address, "--nworkers", 2, "--nthreads", 1, "--no-dashboard", "--local-directory", folder)
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=180)
    return address


@pytest.fixture
def on_dask(scheduler):
    return {"engine": gf.Dask(address=scheduler)}


@pytest.fixture(scope="module")
def made():
    return gf.simulate(topics=18, systems=12, depth=60, seed=3)


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    """The runs as files of several kinds: one topic is missing somewhere, one is not judged, scores are tied."""
    folder = tmp_path_factory.mktemp("collection")
    gf.write_qrels(made.qrels, folder / "qrels.txt")
    (folder / "runs").mkdir()
    for at, run in enumerate(made.runs):
        frame = run.frame.with_columns(pl.col("score").round(1) if at % 3 == 0 else pl.col("score"))
        if at == 1:
            frame = frame.filter(pl.col("query_id") != run.topics[2])
        if at == 2:
            stranger = frame.filter(pl.col("query_id") == run.topics[0]).with_columns(query_id=pl.lit("stranger"))
            frame = pl.concat([frame, stranger])
        if at % 4 == 3:
            frame.with_columns(run=pl.lit(run.name)).write_parquet(folder / "runs" / f"part{at}.parquet")
        else:
            gf.write_run(gf.Run(frame, run.name), folder / "runs" / f"{run.name}.txt")
    text = folder / "runs" / f"{made.runs[0].name}.txt"
    (folder / "runs" / f"{made.runs[0].name}.txt.gz").write_bytes(gzip.compress(text.read_bytes()))
    text.unlink()
    return folder


@pytest.mark.slow
class TestEvaluate:
    @pytest.mark.parametrize(
        "policies",
        [
            {},
            {"ties": "order", "unjudged": "condensed"},
            {"missing": "skip", "degenerate": "nan"},
            {"degenerate": "skip"},
        ],
        ids=str,
    )
    def test_glob(self, folder, on_dask, policies):
        here = gf.evaluate(folder / "qrels.txt", folder / "runs" / "*", MEASURES, **policies)
        there = gf.evaluate(folder / "qrels.txt", folder / "runs" / "*", MEASURES, **policies, **on_dask)
        assert here.ignored.count(1) == 1
        assert here.missing.count(1) == 1
        assert exact(there) == exact(here)

    def test_expected_ties(self, folder, on_dask):
        runs = folder / "runs"
        here = gf.evaluate(folder / "qrels.txt", runs, ["nDCG@10", "P@5"], ties="expected")
        assert exact(gf.evaluate(folder / "qrels.txt", runs, ["nDCG@10", "P@5"], ties="expected", **on_dask)) == exact(
            here
        )

    def test_subtopics(self, made, folder, on_dask, tmp_path):
        """Those of the judgments, and the note where there are none, are the same on workers."""
        rows = made.qrels.frame.sort("query_id", "doc_id").with_row_index("at").iter_rows(named=True)
        lines = [f"{row['query_id']} s{row['at'] % 3} {row['doc_id']} {row['relevance']:.0f}\n" for row in rows]
        (tmp_path / "subtopics.txt").write_text("".join(lines))
        names = ["alpha_nDCG@10", "ERR_IA@20", "NRBP", "StRecall@5", "AP_IA", "AP"]
        for qrels, notes in ((tmp_path / "subtopics.txt", 0), (folder / "qrels.txt", 1)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", gf.GainfulWarning)
                here, there = (gf.evaluate(qrels, folder / "runs" / "*", names, **where) for where in ({}, on_dask))
            assert exact(there) == exact(here)
            assert [note.code for note in there.notes()].count("no-subtopics") == notes

    def test_objects(self, made, on_dask):
        """Runs of this process go to the workers; unnamed ones are numbered as here."""
        runs = [made.runs[0], {"1": {"a": 1.0}}, made.runs[1].frame.to_pandas(), {"2": ["b"]}]
        assert exact(gf.evaluate(made.qrels, runs, **on_dask)) == exact(gf.evaluate(made.qrels, runs))
        named = {"one": made.runs[3].frame, "other": made.runs[2]}
        assert gf.evaluate(made.qrels, named, **on_dask).systems == ("one", "other")

    def test_measure_of_ones_own(self, made, on_dask):
        @gf.measure("Mine", higher="better")
        def mine(rankings):
            """The share of the ranking that is judged, halved."""
            return rankings.sum(np.ones(len(rankings.row))) / 2.0

        try:
            here, there = (gf.evaluate(made.qrels, made.runs, "Mine", **where) for where in ({}, on_dask))
        finally:
            unregister("Mine")
        assert exact(there) == exact(here)

    def test_files_of_one_name_are_told_apart_by_their_folders(self, made, on_dask, tmp_path):
        for name in ("b", "a"):
            (tmp_path / name).mkdir()
            gf.write_run(made.runs[0], tmp_path / name / "same.txt")
        scores = gf.evaluate(made.qrels, [tmp_path / "b", tmp_path / "a"], **on_dask)
        assert scores.systems == ("b/same", "a/same")

    def test_relative_paths(self, folder, on_dask, monkeypatch):
        """The workers run in another folder."""
        monkeypatch.chdir(folder)
        assert len(gf.evaluate("qrels.txt", "runs/*.txt", **on_dask).systems) == 8

    def test_runs_of_one_name_are_refused(self, made, on_dask):
        with pytest.raises(DataError, match=r"^two runs are called '.*'; rename one$"):
            gf.evaluate(made.qrels, [made.runs[0], made.runs[0]], **on_dask)

    def test_no_runs(self, made, on_dask):
        with pytest.raises(DataError, match=r"^expected at least one run, got none$"):
            gf.evaluate(made.qrels, {}, **on_dask)

    def test_missing_topics_may_be_refused(self, folder, on_dask):
        with pytest.raises(PolicyError, match=r"returns nothing for 1 of 18 judged topics"):
            gf.evaluate(folder / "qrels.txt", folder / "runs" / "*", missing="error", **on_dask)


def table(made) -> pl.DataFrame:
    """Three runs side by side, one without a topic, with topics that are not judged."""
    frames = [
        run.frame.select(pl.lit(run.name).alias("run"), "query_id", "doc_id", pl.col("score").round(1))
        for run in made.runs[:3]
    ]
    frames[1] = frames[1].filter(pl.col("query_id") != made.runs[1].topics[3])
    strangers = [frame.filter(pl.col("query_id") == frame["query_id"][0]) for frame in frames[:2]]
    return pl.concat([*frames, *(frame.with_columns(query_id=pl.lit("stranger")) for frame in strangers)])


def write_parts(frame: pl.DataFrame, folder: Path, rows: int) -> Path:
    folder.mkdir(parents=True)
    for at, start in enumerate(range(0, frame.height, rows)):
        frame[start : start + rows].write_parquet(folder / f"part-{at}.parquet")
    return folder


LAYOUTS = {
    "by run, then topic": lambda frame: frame.sort("run", "query_id", maintain_order=True),
    "by topic, then run": lambda frame: frame.sort("query_id", "run", maintain_order=True),
    "scattered": lambda frame: frame.sample(fraction=1.0, shuffle=True, seed=1),
    "by document": lambda frame: frame.sort("doc_id", maintain_order=True),
}


@pytest.mark.slow
class TestDataSet:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("rows", [7, 150])
    def test_column_of_runs(self, made, on_dask, tmp_path, layout, rows):
        parts = write_parts(LAYOUTS[layout](table(made)), tmp_path / "runs.parquet", rows if rows > 7 else 47)
        for ties in ("trec", "order"):
            here = gf.evaluate(made.qrels, parts, MEASURES, ties=ties)
            assert here.ignored == tuple(1 if name != made.runs[2].name else 0 for name in here.systems)
            assert exact(gf.evaluate(made.qrels, parts, MEASURES, ties=ties, **on_dask)) == exact(here)

    @pytest.mark.parametrize("rows", [1, 60, 61, 100_000])
    def test_one_run(self, made, on_dask, tmp_path, rows):
        frame = made.runs[0].frame.filter(pl.col("query_id").is_in(made.runs[0].topics[: 2 if rows == 1 else 18]))
        parts = write_parts(frame, tmp_path / "bm25.parquet", rows)
        here = gf.evaluate(made.qrels, parts, MEASURES)
        assert here.systems == ("bm25",)
        assert exact(gf.evaluate(made.qrels, parts, MEASURES, **on_dask)) == exact(here)

    def test_folder_a_run(self, made, on_dask, tmp_path):
        for name in ("b", "a"):
            frame = made.runs[0 if name == "a" else 1].frame
            write_parts(frame, tmp_path / "set" / f"run={name}", 100)
        frame[:0].write_parquet(tmp_path / "set" / "run=a" / "part-99.parquet")
        (tmp_path / "set" / "run=empty").mkdir()
        frame[:0].write_parquet(tmp_path / "set" / "run=empty" / "part-0.parquet")
        here = gf.evaluate(made.qrels, tmp_path / "set")
        assert here.systems == ("a", "b", "empty")
        assert exact(gf.evaluate(made.qrels, tmp_path / "set", **on_dask)) == exact(here)

    def test_among_files(self, made, folder, on_dask, tmp_path):
        """Results come in the order in which runs are given."""
        parts = write_parts(made.runs[0].frame, tmp_path / "middle.parquet", 100)
        runs = [folder / "runs" / f"{made.runs[1].name}.txt", parts, folder / "runs" / f"{made.runs[2].name}.txt"]
        here = gf.evaluate(made.qrels, runs)
        assert here.systems[1] == "middle"
        assert exact(gf.evaluate(made.qrels, runs, **on_dask)) == exact(here)

    def test_refused(self, made, on_dask, tmp_path):
        frame = table(made).sort("query_id", maintain_order=True)
        parts = write_parts(frame, tmp_path / "runs.parquet", 100)
        for where in ({}, on_dask):
            with pytest.raises(PolicyError, match="returns nothing for 1 of 18 judged topics"):
                gf.evaluate(made.qrels, parts, missing="error", **where)
        twice = write_parts(
            pl.concat([frame, frame[:1]]).sort("query_id", maintain_order=True), tmp_path / "2.parquet", 7
        )
        for where in ({}, on_dask):
            with pytest.raises(DataError, match=r"appears twice in topic '.*': remove one, or use duplicates='first'"):
                gf.evaluate(made.qrels, twice, **where)
        (parts / "part-3.parquet").write_bytes(b"PAR1 no more")
        for where in ({}, on_dask):
            with pytest.raises(DataError, match=r"part-3\.parquet: "):
                gf.evaluate(made.qrels, parts, **where)
            going_on = gf.evaluate(made.qrels, [parts, made.runs[4]], keep_going=True, **where)
            assert going_on.systems == (made.runs[4].name,)
            assert [name for name, _ in going_on.failed] == [str(parts)]


@pytest.mark.slow
@pytest.mark.skipif(native is None, reason="stretches are for the compiled core")
def test_one_large_text_is_shared_out(made, on_dask, tmp_path, monkeypatch):
    """Several stretches of one file, on two workers, none of which reads all of it."""
    run = made.runs[0]
    gf.write_run(run, tmp_path / "large.txt")
    expected = gf.evaluate(made.qrels, tmp_path / "large.txt", MEASURES)
    monkeypatch.setattr("gainful.engine.stretches.LEAST", 1000)
    steps = []

    def seen(items, total, label):
        steps.append((label, total))
        return items

    with tracked_by(seen):
        found = gf.evaluate(made.qrels, tmp_path / "large.txt", MEASURES, **on_dask)
    assert ("Scoring runs", 8) in steps
    assert exact(found.values) == exact(expected.values)
    assert (found.ignored, found.missing, found.run_notes) == (expected.ignored, expected.missing, expected.run_notes)


def shrinking(name):
    """What makes a worker cut a file in two as soon as gainful has looked what it is like before it is read."""

    def patch():
        from gainful.io import changes

        seen, look = os.fstat, changes._state

        def cut(path):
            if str(path).endswith(name):
                os.fstat, changes._state = seen, look
                os.truncate(path, os.path.getsize(path) // 2)

        def of_file(file):
            found = seen(file)
            cut(os.readlink(f"/proc/self/fd/{file}"))
            return found

        def of_path(path):
            found = look(path)
            cut(path)
            return found

        os.fstat, changes._state = of_file, of_path

    return patch


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the name of a file")
@pytest.mark.parametrize("name", ["cut.txt", "cut.txt.gz", "cut.txt.zst", "cut.csv", "cut.jsonl", "cut.parquet",
                                  "cut.arrow", "cut-stretches.txt", "cut-part.parquet"])  # fmt: skip
def test_a_file_that_shrinks_while_a_worker_reads_it(made, scheduler, on_dask, tmp_path, monkeypatch, name):
    path = tmp_path / name
    if "stretches" in name:
        if native is None:
            pytest.skip("stretches are for the compiled core")
        monkeypatch.setattr("gainful.engine.stretches.LEAST", 1000)
    if "part" in name:  # one of the files of a data set
        path = tmp_path / "set.parquet" / name
        path.parent.mkdir()
        for topics, file in (
            (made.runs[0].topics[:9], path),
            (made.runs[0].topics[9:], path.with_name("other.parquet")),
        ):
            made.runs[0].frame.filter(pl.col("query_id").is_in(topics)).write_parquet(file)
    else:
        gf.write_run(made.runs[0], path)
    with distributed.Client(scheduler, set_as_default=False) as client:
        client.run(shrinking(name))
        with pytest.raises(DataError) as told:
            gf.evaluate(made.qrels, path.parent if "part" in name else path, "AP", **on_dask)
    assert str(told.value) == f"{path}: changed while it was read; wait until it is complete"


@pytest.fixture(scope="module")
def scores(made):
    return gf.evaluate(made.qrels, made.runs, ["nDCG@10", "AP", "RR", "GMAP"])


@pytest.mark.slow
class TestAnalyses:
    @pytest.mark.parametrize("depletion", ["stratified", "uniform", "depth", "leave-one-out"])
    def test_robustness(self, made, on_dask, depletion):
        def found(**where):
            return gf.robustness(
                made.qrels, made.runs, ["infAP", "AP", "nDCG@20"], depletion=depletion, trials=3, pairs=20, **where
            )

        assert exact(found(**on_dask)) == exact(found())

    def test_robustness_reads_files(self, folder, on_dask):
        def found(**where):
            return gf.robustness(folder / "qrels.txt", folder / "runs", "AP", trials=2, unjudged="condensed", **where)

        assert exact(found(**on_dask)) == exact(found())

    @pytest.mark.parametrize("by", ["mean", "topic"])
    def test_stability(self, scores, scheduler, by):
        there = gf.stability(scores, by=by, engine=gf.Dask(address=scheduler))
        assert exact(there) == exact(gf.stability(scores, by=by))

    def test_sensitivity(self, scores, on_dask):
        methods = ["studentized", "tukey", "shifted", "t", "sign", "wilcoxon"]
        given = scores.only(["nDCG@10", "AP"])
        here = gf.sensitivity(given, methods=methods)
        assert exact(gf.sensitivity(given, methods=methods, **on_dask)) == exact(here)

    @pytest.mark.parametrize("test", ["t", "wilcoxon", "randomisation", "bootstrap", "tukey"])
    def test_compare(self, scores, on_dask, test):
        def found(**where):
            given = scores.only(["nDCG@10", "AP"])
            return gf.compare(given, test=test, interval="bca", resamples=3000, **where)

        assert exact(found(**on_dask)) == exact(found())

    def test_exact_randomisation(self, made, on_dask):
        """All 2ⁿ flips, in several blocks."""
        y = np.random.default_rng(0).random((40, 12))
        assert exact(gf.compare(y, test="randomisation", **on_dask)) == exact(gf.compare(y, test="randomisation"))

    def test_agreement(self, scores, scheduler):
        assert exact(gf.agreement(scores, engine=gf.Dask(address=scheduler))) == exact(gf.agreement(scores))


def gone(process: int) -> bool:
    """Whether a process has ended, and whoever started it knows, within three minutes."""
    for _ in range(1800):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
class TestKilled:
    def test_worker_killed_half_way(self, made, scheduler, on_dask):
        """SIGKILL, while it has work: that costs time, not results."""
        with distributed.Client(scheduler, set_as_default=False) as client:
            before = client.run(os.getpid)
            died = []

            def killing(steps, total, label):
                for at, step in enumerate(steps):
                    if at == total // 2:
                        busy = [worker for worker, tasks in client.processing().items() if tasks]
                        died.append(before[busy[0] if busy else min(before)])  # a fast one still has results
                        os.kill(died[0], signal.SIGKILL)
                    yield step

            def found(**where):
                return gf.robustness(made.qrels, made.runs, ["infAP", "AP", "bpref"], trials=12, seed=5, **where)

            with tracked_by(killing):
                there = found(**on_dask)
            assert len(died) == 1
            assert gone(died[0])
            client.wait_for_workers(2, timeout=180)
            assert died[0] not in client.run(os.getpid, on_error="ignore").values()
        assert exact(there) == exact(found())

    def test_what_kills_every_worker_ends(self, scheduler):
        """A piece of work that no worker survives is not tried for ever."""

        def end_process(_, number):
            os.kill(os.getpid(), number)

        with (
            open_engine(gf.Dask(address=scheduler)) as work,
            pytest.raises(GainfulError, match=r"^tcp://.*: 4 workers died over the same piece of work, lastly tcp://"),
        ):
            list(work.map(end_process, [signal.SIGKILL], shared=None, total=1, label="Ending"))
        with distributed.Client(scheduler, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=180)


@pytest.mark.slow
class TestMalformed:
    @pytest.fixture
    def broken(self, folder, tmp_path):
        runs = tmp_path / "runs"
        runs.mkdir()
        for file in (folder / "runs").iterdir():
            (runs / file.name).symlink_to(file)
        (runs / "bad.txt").write_text("1 Q0 a 1 2.5 tag\n1 Q0 b\n")
        (runs / "empty.txt").write_text("")
        return runs

    @pytest.mark.parametrize("where", ["local", "dask"])
    def test_rest_goes_on(self, folder, broken, gainful, on_dask, where):
        words = ["--engine", "dask", "--scheduler", on_dask["engine"].address] if where == "dask" else []
        status, out, err = gainful("evaluate", folder / "qrels.txt", broken / "*", "--keep-going", *words)
        fine = gainful("evaluate", folder / "qrels.txt", folder / "runs" / "*")
        assert (status, out) == (1, fine.out)
        assert fine.status == 0
        assert "12 runs (2 left out), 18 topics" in err
        failed = [line for line in err.splitlines() if line.startswith("failed: ")]
        assert failed == [
            f"failed: {broken / 'bad.txt'}:2: expected 6 fields (topic Q0 doc rank score tag), got 3: '1 Q0 b'",
            f"failed: {broken / 'empty.txt'}: expected a run, got an empty file",
        ]

    @pytest.mark.parametrize("where", ["local", "dask"])
    def test_named(self, folder, broken, on_dask, where):
        settings = on_dask if where == "dask" else {}
        scores = gf.evaluate(folder / "qrels.txt", broken, keep_going=True, **settings)
        here = gf.evaluate(folder / "qrels.txt", folder / "runs")
        assert exact(dataclasses.replace(scores, failed=())) == exact(here)
        assert [name for name, _ in scores.failed] == [str(broken / "bad.txt"), str(broken / "empty.txt")]
        assert list(scores.to_dict()["failed_runs"]) == [name for name, _ in scores.failed]
        with pytest.raises(DataError, match=r"bad\.txt:2: expected 6 fields"):
            gf.evaluate(folder / "qrels.txt", broken, **settings)

    @pytest.mark.parametrize("where", ["local", "dask"])
    def test_nothing_left(self, folder, broken, on_dask, where):
        settings = on_dask if where == "dask" else {}
        bad = [broken / "bad.txt", broken / "empty.txt"]
        with pytest.raises(DataError, match=r"bad\.txt:2: expected 6 fields"):
            gf.evaluate(folder / "qrels.txt", bad, keep_going=True, **settings)

    @pytest.mark.parametrize("where", ["local", "dask"])
    def test_second_of_a_name(self, made, on_dask, where):
        runs, settings = [made.runs[0], made.runs[1], made.runs[0]], on_dask if where == "dask" else {}
        scores = gf.evaluate(made.qrels, runs, keep_going=True, **settings)
        name = made.runs[0].name
        assert scores.systems == (name, made.runs[1].name)
        message = f"two runs are called {name!r}; rename one"
        assert scores.failed == ((repr(name), message),)
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            gf.evaluate(made.qrels, runs, **settings)

    def test_bad_judgments_are_no_fault_of_the_runs(self, made, on_dask):
        twice = pl.concat([made.qrels.frame, made.qrels.frame[:1]])
        with pytest.raises(DataError, match="is judged twice for topic"):
            gf.evaluate(twice, made.runs, keep_going=True, **on_dask)


@pytest.mark.slow
class TestScheduler:
    def test_nobody_answers(self, made, gainful, folder, monkeypatch):
        monkeypatch.setattr(cluster, "ANSWER", 1)
        begun = time.monotonic()
        status, out, err = gainful(
            "evaluate", folder / "qrels.txt", folder / "runs", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"
        )
        assert time.monotonic() - begun < 20
        assert (status, out) == (1, "")
        assert err.startswith(
            "gainful: error: scheduler tcp://127.0.0.1:9: expected a Dask scheduler that answers within 1 seconds, "
            "got none"
        )
        assert "start one with 'dask scheduler', which prints its address" in err

    def test_no_address(self, made):
        with pytest.raises(GainfulError, match=r"^scheduler nonsense:::: expected a Dask scheduler that answers"):
            gf.evaluate(made.qrels, made.runs, engine=gf.Dask(address="nonsense:::"))

    def test_no_workers(self, made, started, tmp_path, monkeypatch):
        address = begin(started, tmp_path / "scheduler.json")
        monkeypatch.setattr(cluster, "FIRST_WORKER", 0.2)
        with pytest.raises(
            GainfulError,
            match=rf"^scheduler {address}: expected at least one worker, got none within 0.2 seconds; start",
        ):
            gf.stability(np.random.default_rng(0).random((3, 10)), engine=gf.Dask(address=address))

    def test_other_versions(self, made, on_dask, monkeypatch):
        version = gf.__version__
        monkeypatch.setattr(cluster, "__version__", "99.0")
        cluster.versions.cache_clear()
        try:
            with pytest.raises(
                GainfulError,
                match=rf"^worker tcp://.*: expected the versions of this process, gainful 99.0, got gainful {version}; "
                "install the same ones, for results equal to the last bit$",
            ):
                gf.evaluate(made.qrels, made.runs, **on_dask)
        finally:
            monkeypatch.undo()
            cluster.versions.cache_clear()

    def test_worker_of_another_version_that_came_later(self, scheduler):
        with (
            open_engine(gf.Dask(address=scheduler)) as work,
            pytest.raises(GainfulError, match=r"^worker tcp://.*polars"),
        ):
            work.client.submit(cluster._perform, {**cluster.versions(), "polars": "0"}, None, pow, 2, [3]).result()

    def test_the_first_error_is_told_whichever_comes_first(self, scheduler, monkeypatch):
        """As in one process: the message must not depend on who is faster."""
        monkeypatch.setattr(cluster, "_EACH", 100)

        def fail(_, seconds):
            time.sleep(seconds)
            raise DataError(f"after {seconds} s")

        with open_engine(gf.Dask(address=scheduler)) as work, pytest.raises(DataError, match=r"^after 0\.5 s$"):
            list(work.map(fail, [0.5, 0, 0], shared=None, total=3, label="Failing"))

    def test_errors_of_a_piece_of_work_come_back(self, scheduler):
        with open_engine(gf.Dask(address=scheduler)) as work, pytest.raises(ZeroDivisionError):
            list(work.map(pow, [-1], shared=0, total=1, label="Powers"))


class TestPieces:
    """Worker counts and sizes of pieces change nothing but the time."""

    @pytest.mark.slow
    @pytest.mark.parametrize("each", [1, 3, 100])
    def test_order_and_progress(self, scheduler, monkeypatch, each):
        monkeypatch.setattr(cluster, "_EACH", each)
        seen = []

        def tracker(steps, total, label):
            steps = list(steps)
            seen.append((len(steps), total, label))
            return steps

        with open_engine(gf.Dask(address=scheduler)) as work:
            assert work.at_once == 2
            assert list(work.map(pow, range(50), shared=2, total=50, label="Powers")) == [2**n for n in range(50)]
            with tracked_by(tracker):
                list(work.map(pow, range(6), shared=2, total=6, label="Powers"))
            number = {1: 2, 3: 6, 100: 6}[each]
            assert seen == [(number, number, "Powers")]
            assert list(work.map(pow, [], shared=2, total=0, label="Powers")) == []

    @pytest.mark.slow
    def test_work_ahead_is_bounded(self, scheduler):
        taken = []

        def items():
            for n in range(200):
                taken.append(n)
                yield n

        with open_engine(gf.Dask(address=scheduler)) as work:
            results = work.map(pow, items(), shared=2, total=16, label="Powers")
            assert next(results) == 1
            assert len(taken) < 20
            results.close()

    @pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
    def test_local_cluster(self, folder, workers, tmp_path):
        """Workers are started for a command, and none is left; their number changes nothing."""
        words = ["evaluate", folder / "qrels.txt", folder / "runs", "--per-topic", "--output", tmp_path / "there.csv"]
        command = [sys.executable, "-m", "gainful", *words, "--engine", "dask", "--workers", workers]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "")
        assert "12 runs, 18 topics; " in done.stderr
        here = gf.evaluate(folder / "qrels.txt", folder / "runs")
        there = pl.read_csv(tmp_path / "there.csv").filter(pl.col("query_id") != "all")["score"]
        assert there.to_numpy().tobytes() == here.values.transpose(1, 0, 2).tobytes()

    @pytest.mark.slow
    def test_script_without_guard(self, tmp_path):
        script = tmp_path / "script.py"
        script.write_text("import gainful as gf\ngf.stability([[1, 2, 3], [2, 3, 1]], engine=gf.Dask(workers=1))\n")
        done = subprocess.run([sys.executable, script], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith(
            "gainful.errors.GainfulError: engine='dask': no workers could be started"
        )
        assert "put what it does under if __name__ == '__main__'" in done.stderr.splitlines()[-1]
