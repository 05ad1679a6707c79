"""`gainful study …`: what it reads, prints and refuses, whichever the study."""

import json
import sys

import pytest

from gainful.data.simulate import simulate
from gainful.io.write import write_qrels, write_run
from gainful.studies.negative_labels import negative_labels

FAST = ("--cutoffs", "5", "--draws", "5", "--resamples", "20")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = simulate(topics=8, systems=4, depth=30, pool_depth=8, spam=0.2, seed=2)
    write_qrels(made.qrels, tmp_path / "qrels.web.txt.gz")
    (tmp_path / "runs").mkdir()
    for run in made.runs:
        write_run(run, tmp_path / f"runs/{run.name}.txt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study(**collections):
    return negative_labels(collections, cutoffs=[5], draws=5, resamples=20)


def test_files_are_a_collection_named_after_the_judgments(folder, gainful):
    status, out, _ = gainful("study", "negative-labels", "qrels.web.txt.gz", "runs", *FAST, "--format", "json")
    assert status == 0
    found = json.loads(out)
    assert found["collections"] == ["qrels.web"]
    expected = study(**{"qrels.web": ("qrels.web.txt.gz", "runs")})
    assert found["findings"] == [finding.to_dict() for finding in expected.findings]
    assert found["exhibits"][2]["rows"] == expected["Table 2b"].frame.to_dicts()


def test_a_plain_name_gives_way_to_that_of_the_folder(folder, gainful):
    (folder / "qrels.txt").write_bytes((folder / "qrels.web.txt.gz").read_bytes())
    (folder / "track").mkdir()
    (folder / "track/qrels.txt").write_bytes((folder / "qrels.web.txt.gz").read_bytes())
    for path, name in {"track/qrels.txt": "track", "qrels.txt": "qrels"}.items():
        _, out, _ = gainful("study", "negative-labels", path, "--format", "json")
        assert json.loads(out)["collections"] == [name]


def test_collections_by_name(folder, gainful):
    words = ("--collection", "a=qrels.web.txt.gz:runs/*.txt", "--collection", "b=qrels.web.txt.gz")
    status, out, err = gainful("study", "negative-labels", *words, *FAST, "--format", "json")
    assert (status, json.loads(out)["collections"]) == (0, ["a", "b"])
    exhibits = "Table 2b of b, Figure 2c of b, Table 2d of b, Figure 2e of b, Figure 2f of b"
    assert f"note: {exhibits} could not be made: needs at least 2 runs, got 0." in " ".join(err.split())


def test_colons_in_names(folder, gainful):
    (folder / "a:b.txt").write_bytes((folder / "qrels.web.txt.gz").read_bytes())
    words = ("--collection", "x=a:b.txt:runs", "--collection", "y=a:b.txt")
    status, out, _ = gainful("study", "negative-labels", *words, *FAST, "--format", "json")
    assert (status, [row["runs"] for row in json.loads(out)["exhibits"][0]["rows"][:2]]) == (0, [4, 0])


def test_tables_findings_and_settings(folder, gainful):
    status, out, err = gainful("study", "negative-labels", "qrels.web.txt.gz", "runs", *FAST)
    assert status == 0
    assert "Table 2b: Spearman's ρ between the orders of runs. Runs ordered by" in out
    assert "TREC 2010 (published)       20            0.8700              1.0000            0.8800" in out
    assert "(99 rows in all: CSV, JSON and the page have them.)" in " ".join(out.split())
    expected = study(**{"qrels.web": ("qrels.web.txt.gz", "runs")})
    few = "note: qrels.web has 8 topics and 4 runs: too few for its findings to mean much."
    assert err.splitlines() == [few, str(expected.settings)]
    assert " ".join(out.split()).startswith(expected.verdict())
    assert out.split("\n\n")[-2].startswith("Findings: what the paper found")
    table = " ".join(out.split("\n\n")[-1].split())
    assert table.startswith("collection holds finding paper here")
    assert table.count("qrels.web yes") == sum(finding.holds is True for finding in expected.findings)
    assert table.count("qrels.web no") == sum(finding.holds is False for finding in expected.findings)


def test_ranks_have_no_decimals(folder, gainful):
    _, out, _ = gainful("study", "negative-labels", "qrels.web.txt.gz", "runs", *FAST)
    first = next(line.split() for line in out.splitlines() if "team01-1" in line)
    assert all(cell.lstrip("-").isdigit() for cell in first[2:])


def test_csv_has_every_number(folder, gainful):
    _, out, _ = gainful("study", "negative-labels", "qrels.web.txt.gz", "runs", *FAST, "--format", "csv")
    frame = study(**{"qrels.web": ("qrels.web.txt.gz", "runs")}).to_frame()
    assert out.splitlines()[0] == "exhibit,row,column,value"
    assert len(out.splitlines()) == frame.height + 1


def test_chart(folder, gainful):
    words = ("--chart", "study.svg", "-o", "study.txt")
    status, out, err = gainful("study", "negative-labels", "qrels.web.txt.gz", "runs", *FAST, *words)
    assert (status, out, err.splitlines()[-1]) == (0, "", "chart: study.svg")
    assert "Figure 2f" in (folder / "study.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["negative-labels", "incomplete-judgments"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--collection", "web"], "--collection web: expected NAME=QRELS:RUNS, such as web=qrels.txt:runs/, or NAME="),
        (["--collection", "=q:r"], "--collection =q:r: expected NAME=QRELS:RUNS"),
        (["--collection", "web=:"], "--collection web=:: expected NAME=QRELS:RUNS"),
        (["--collection", "a=q", "--collection", "a=r"], "--collection a=r: there is a collection 'a' already; give"),
        (["--page", "study.txt"], "study.txt: expected a name that ends in .html"),
        (["nothing.txt", "runs"], "collection 'nothing': nothing.txt: "),
        (["qrels.web.txt.gz", "nDCG@10"], "nDCG@10: no such file; if you mean the measure, write -m nDCG@10"),
        (
            ["--collection", "a=qrels.web.txt.gz:runs", "-o", "qrels.web.txt.gz", "--format", "csv"],
            "qrels.web.txt.gz: is what is read, and would be lost: write to another file",
        ),
    ],
)
def test_what_is_refused(folder, gainful, command, words, message):
    status, out, err = gainful("study", command, *words)
    assert (status, out) == (1, "")
    assert err.startswith(f"gainful: error: {message}")


def test_a_page_without_its_packages_is_refused_before_any_work(folder, gainful, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setattr("gainful.studies.collections.load_collections", lambda *_, **__: pytest.fail("worked already"))
    status, _, err = gainful("study", "negative-labels", "qrels.web.txt.gz", "runs", "--page", "study.html")
    message = "a page needs packages that are not installed: pip install '.[plots]' in a clone"
    assert (status, err) == (1, f"gainful: error: {message}\n")


def test_runs_are_needed_to_deplete(folder, gainful):
    status, _, err = gainful("study", "incomplete-judgments", "qrels.web.txt.gz")
    assert (status, err) == (
        1,
        "gainful: error: collection 'qrels.web': expected judgments and runs, got no runs\n",
    )


def test_incomplete_judgments(folder, gainful):
    words = ("--levels", "0.2,0.5", "--trials", "2", "--weights", "2", "--least-returned", "0")
    status, out, err = gainful("study", "incomplete-judgments", "qrels.web.txt.gz", "runs", *words)
    assert status == 0
    assert "Table 3: Knee of the curves of τ." in out
    assert "levels=0.2,0.5 trials=2 weights=2 rel=1 pairs=300 alpha=0.05 least_returned=0 " in err
