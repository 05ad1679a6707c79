"""`gainful judges` and `gainful pool`: what the shell adds to the functions."""

from __future__ import annotations

import json

import pytest

import gainful as gf


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = gf.simulate(topics=6, systems=4, contributors=4, depth=30, pool_depth=5, seed=2)
    monkeypatch.chdir(tmp_path)
    gf.write_qrels(made.qrels, "good.txt")
    rows = [
        (t, d, max(label, 1.0) if at % 4 == 0 else label) for at, (t, d, label) in enumerate(made.qrels.frame.rows())
    ]
    with open("llm.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{topic} 0 {doc} {label:g}\n" for topic, doc, label in rows)
    (tmp_path / "runs").mkdir()
    for run in made.runs:
        gf.write_run(run, tmp_path / "runs" / f"{run.name}.txt")
    return tmp_path


class TestJudges:
    def test_json_is_what_python_gives(self, folder, gainful):
        status, out, _ = gainful("judges", "good.txt", "llm.txt", "-m", "AP", "--runs", "runs", "--format", "json")
        assert status == 0
        found = gf.judges("good.txt", "llm.txt", runs="runs", measures="AP").to_dict()
        assert json.loads(out)["bias"] == json.loads(json.dumps(found["bias"]))
        assert [one["judge"] for one in json.loads(out)["judges"]] == ["good", "llm"]

    def test_runs_are_files_one_after_another(self, folder, gainful):
        files = sorted(map(str, (folder / "runs").glob("*.txt")))
        several = gainful("judges", "good.txt", "llm.txt", "--runs", *files, "-m", "AP", "--format", "json").out
        assert json.loads(several)["orders"][0]["runs"] == 4

    def test_without_runs(self, folder, gainful):
        status, out, err = gainful("judges", "good.txt", "llm.txt", "good.txt", "--resamples", "50")
        assert status == 0
        assert "3 judges" in err
        assert "Krippendorff" in out

    def test_measures_without_runs(self, folder, gainful):
        status, _, err = gainful("judges", "good.txt", "llm.txt", "-m", "AP")
        assert (status, err) == (1, "gainful: error: --measures: expected --runs with it, what is to be scored\n")

    def test_one_judge(self, folder, gainful):
        assert gainful("judges", "good.txt").status == 2

    def test_a_run_is_not_written_over(self, folder, gainful):
        first = next((folder / "runs").glob("*.txt"))
        words = ("judges", "good.txt", "llm.txt", "--runs", str(first), "runs", "-o", str(first))
        status, _, err = gainful(*words)
        assert status == 1
        assert "is what is read, and would be lost" in err


class TestPool:
    def test_save_and_read_back(self, folder, gainful):
        words = ("pool", "good.txt", "runs", "--depth", "8", "--depths", "5,8")
        assert gainful(*words, "--save", "list.csv").status == 0
        lines = (folder / "list.csv").read_text(encoding="utf-8").splitlines()
        (folder / "back.csv").write_text("\n".join([lines[0], *(f"{line}1" for line in lines[1:])]), encoding="utf-8")
        status, out, err = gainful(*words, "--judged", "back.csv", "--merged", "all.txt")
        assert status == 0
        assert out.startswith("Nothing is left to judge")
        assert "judgments: all.txt" in err
        assert len(gf.read_qrels("all.txt")) == len(gf.read_qrels("good.txt")) + len(lines) - 1

    def test_nothing_judged_yet(self, folder, gainful):
        status, out, _ = gainful("pool", "none", "runs", "--depth", "5", "--format", "csv")
        assert status == 0
        assert out.splitlines()[1].startswith("5,")
        status, _, err = gainful("pool", "none", "runs", "--merged", "all.csv")
        assert (status, "expected judgments to write, got none" in err) == (1, True)

    def test_a_sample_for_the_estimators(self, folder, gainful):
        words = ("pool", "good.txt", "runs", "--strata", "3,20", "--rates", "1,0.5", "--merged", "s.csv")
        assert gainful(*words).status == 0
        assert gf.read_qrels("s.csv").sample == ("stratum", "inclusion")
        assert gainful("evaluate", "s.csv", "runs", "-m", "xinfAP", "-m", "statAP").status == 0

    def test_a_run_that_cannot_be_read(self, folder, gainful):
        (folder / "runs/bad.txt").write_text("1 Q0 a 1\n", encoding="utf-8")
        assert gainful("pool", "good.txt", "runs").status == 1
        status, out, err = gainful("pool", "good.txt", "runs", "--keep-going")
        assert (status, "failed: " in err) == (1, True)
        assert "more judgments" in out
