from __future__ import annotations

import csv
import io
import json
import re

import pytest

import gainful as gf

LEVELS = ("--levels", "0.2", "1", "--trials", "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Judgments and runs as files."""
    made = gf.simulate(topics=6, systems=4, depth=30, pool_depth=10, seed=3)
    path = tmp_path_factory.mktemp("made")
    gf.write_qrels(made.qrels, path / "qrels.txt")
    (path / "runs").mkdir()
    for run in made.runs:
        gf.write_run(run, path / "runs" / f"{run.name}.txt")
    return path


def test_tables(gainful, folder):
    status, out, err = gainful("robustness", folder / "qrels.txt", folder / "runs", "-m", "AP", "-m", "bpref", *LEVELS)
    found = gf.robustness(folder / "qrels.txt", folder / "runs", ["AP", "bpref"], levels=[0.2, 1], trials=2)
    assert status == 0
    (knees,) = (block.splitlines() for block in out.split("\n\n")[1:])
    for row, measure in zip(knees[2:], ["AP", "bpref"], strict=True):
        ends = (*found.knees()[measure], *found.knees(by="accuracy")[measure])
        tau = found.to_frame().filter(measure=measure, level=0.2)["tau"].item()  # of the levels, the next to 10 %
        assert row.split() == [measure, *("-" if end is None else f"{end:g}" for end in ends), f"{tau:.4f}"]
    share = found.judged[0] / found.judgments
    assert share > 0.22
    assert err.splitlines() == [
        "note: A level is the share of the judgments that is kept; what is taken away stays pooled, but unjudged.",
        "note: A topic keeps at least 1 relevant and 10 other documents, so low levels keep more than they say: "
        f"level 0.2 keeps {share:.0%}.",
        "note: For good: at that level and all higher ones.",
        str(found.settings),
    ]
    assert "AP and bpref keep the order of the runs (τ > 0.9) only with all of the judgments." in " ".join(out.split())


def test_csv_and_json_are_those_of_the_function(gainful, folder):
    words = ("robustness", folder / "qrels.txt", folder / "runs", "-m", "AP", *LEVELS, "--seed", "4")
    found = gf.robustness(folder / "qrels.txt", folder / "runs", "AP", levels=[0.2, 1], trials=2, seed=4)
    rows = list(csv.DictReader(io.StringIO(gainful(*words, "--format", "csv").out)))
    assert [float(row["tau"]) for row in rows] == found.to_frame()["tau"].to_list()
    assert (
        json.loads(gainful(*words, "--format", "json").out)["runs"] == json.loads(json.dumps(found.to_dict()))["runs"]
    )


def test_depth(gainful, folder):
    words = (
        "robustness",
        folder / "qrels.txt",
        folder / "runs",
        "-m",
        "AP",
        "--depletion",
        "depth",
        "--levels",
        "2",
        "5",
    )
    status, out, err = gainful(*words)
    assert status == 0
    found = gf.robustness(folder / "qrels.txt", folder / "runs", "AP", depletion="depth", levels=[2, 5])
    header, _, row = out.split("\n\n")[1].splitlines()
    assert header.endswith("τ at depth 5")
    assert row.split()[-1] == f"{found.taus[0, 1, 0]:.4f}"
    assert "A level is the depth of the pool of these runs" in err
    rows = list(csv.DictReader(io.StringIO(gainful(*words, "--format", "csv").out)))
    assert [(row["level"], row["tau_low"], row["tau_high"]) for row in rows] == [
        ("2.0", "nan", "nan"),  # one trial has no interval
        ("5.0", "nan", "nan"),
    ]


def test_leave_one_out_tells_who_loses(gainful, folder):
    status, out, err = gainful(
        "robustness",
        folder / "qrels.txt",
        folder / "runs",
        "-m",
        "AP",
        "--depletion",
        "leave-one-out",
        "--levels",
        "10",
    )
    found = gf.robustness(folder / "qrels.txt", folder / "runs", "AP", depletion="leave-one-out", levels=[10])
    change = found.scores[0, 0] - found.full[0]
    runs = found.runs()
    places = max(after - before for after, before in runs.select("rank", "full_rank").iter_rows())
    assert status == 0
    assert out.split("\n\n")[-1].splitlines()[2].split() == [
        *("AP", "10", found.systems[change.argmin()], f"{change.min():.4f}", f"{change.mean():.4f}", str(places))
    ]
    assert "Each run is scored without the judgments of documents that it alone has" in err


def test_who_loses_where_lower_is_better(gainful, folder):
    words = ("--depletion", "leave-one-out", "--levels", "10", "-m", "Forbidden@10", "--rel", "1")
    status, out, _ = gainful("robustness", folder / "qrels.txt", folder / "runs", *words)
    found = gf.robustness(folder / "qrels.txt", folder / "runs", "Forbidden@10", depletion="leave-one-out", levels=[10])
    change = found.scores[0, 0] - found.full[0]
    assert change.min() < change.max()  # else the case tests nothing
    assert status == 0
    assert out.split("\n\n")[-1].splitlines()[2].split()[2:4] == [
        found.systems[change.argmax()],
        f"{change.max():.4f}".replace("-0.0000", "0.0000"),
    ]


def test_only_stratified_depletion_has_floors(gainful, folder):
    words = ("robustness", folder / "qrels.txt", folder / "runs", "-m", "AP", "--trials", "2")
    assert "keeps at least" not in gainful(*words, *LEVELS, "--depletion", "uniform").err
    several = gainful(*words, "--levels", "0.01,0.02,0.03,1").err
    assert re.search(r"than they say: level 0.01 keeps \d+% and level 0.03 keeps \d+%\.\n", several)
    assert "keeps at least" not in gainful(*words, "--levels", "1").err


def test_topics_that_a_run_lacks(gainful, folder, tmp_path):
    lines = (folder / "runs" / f"{sorted(folder.glob('runs/*'))[0].name}").read_text().splitlines(keepends=True)
    topic = lines[0].split()[0]
    (tmp_path / "less.txt").write_text("".join(line for line in lines if line.split()[0] == topic))
    err = gainful("robustness", folder / "qrels.txt", folder / "runs", tmp_path / "less.txt", "-m", "AP", *LEVELS).err
    assert re.search(r"count as empty rankings \(missing=empty\): 5 of 'less'\.\n", err)


def test_notes(gainful, folder):
    run = folder / "runs" / "team01-1.txt"
    words = ("robustness", folder / "qrels.txt", run, folder / "runs" / "team01-2.txt", "-m", "AP", *LEVELS)
    err = gainful(*words, "--alpha", "0.001").err
    assert "note: AP: no two runs differ on enough topics for a test at alpha=0.001 to tell them apart" in err


def test_weights(gainful, folder):
    words = ("robustness", folder / "qrels.txt", folder / "runs", "-m", "AP", *LEVELS, "--weights", "1", "10")
    names = {row["measure"] for row in csv.DictReader(io.StringIO(gainful(*words, "--format", "csv").out))}
    assert len(names) == 3


def test_chart(gainful, folder, tmp_path):
    status, _, err = gainful(
        "robustness", folder / "qrels.txt", folder / "runs", "-m", "AP", *LEVELS, "--chart", tmp_path / "c.svg"
    )
    assert status == 0
    assert "Kendall" in (tmp_path / "c.svg").read_text(encoding="utf-8")
    assert err.endswith(f"chart: {tmp_path / 'c.svg'}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--levels", "2"), "--levels: expected shares of the judgments, above 0 and at most 1, got 2"),
        (("--trials", "0"), "--trials: expected a whole number of at least 1, got 0"),
        (("--seed", "-1"), "--seed: expected a whole number of at least 0, got -1"),
        (("--rel", "nan"), "--rel: expected a finite number, got nan"),
    ],
)
def test_refused(gainful, folder, words, message):
    outcome = gainful("robustness", folder / "qrels.txt", folder / "runs", *words)
    assert outcome == (1, "", f"gainful: error: {message}\n")


def test_a_measure_in_the_place_of_a_run(gainful, folder):
    status, _, err = gainful("robustness", folder / "qrels.txt", "AP")
    assert status == 1
    assert err == "gainful: error: AP: no such file; if you mean the measure, write -m AP\n"


def test_unknown_depletion_is_a_wrong_command_line(gainful, folder):
    assert gainful("robustness", folder / "qrels.txt", folder / "runs", "--depletion", "all").status == 2
