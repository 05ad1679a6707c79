"""A folder of runs with seven broken in seven ways, and three files that are no runs: every command copes."""

import gzip
import os
import shutil
from pathlib import Path

import pytest

import gainful as gf

DATA = Path(os.environ.get("GAINFUL_DATA", "")) / "trec-covid-round1"
SOURCES = [
    "simulated",
    pytest.param("real", marks=pytest.mark.skipif(not (DATA / "runs").is_dir(), reason="no GAINFUL_DATA")),
]
FAULTS = (
    ":17: expected 6 fields",
    ":5: expected a finite score",
    "appears twice in topic",
    ":1: expected text, got a NUL byte",
    "damaged gzip file",
    ":9: expected a number as score",
    "got an empty file",
)


def broken(lines: list[bytes], fault: int) -> bytes:
    """A run with one of the faults."""
    if fault == 0:
        lines[16] = b" ".join(lines[16].split()[:5])
    elif fault == 1:
        fields = lines[4].split()
        lines[4] = b" ".join([*fields[:4], b"nan", fields[5]])
    elif fault == 2:
        lines.insert(3, lines[2])
    elif fault == 5:  # a decimal comma
        fields = lines[8].split()
        lines[8] = b" ".join([*fields[:4], b"0,75", fields[5]])
    whole = b"\n".join(lines) + b"\n"
    if fault == 3:
        return whole.decode().encode("utf-16")
    if fault == 4:
        return gzip.compress(whole)[:-1000]
    return b"" if fault == 6 else whole


@pytest.fixture(params=SOURCES)
def campaign(request, tmp_path, monkeypatch):
    """Judgments, the files in ``runs`` that are broken, in the order of their faults, and the names of the others."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    qrels = str(DATA / "qrels.txt.gz")
    if request.param == "real":
        for path in (DATA / "runs").iterdir():
            shutil.copyfile(path, tmp_path / "runs" / path.name)
    else:
        qrels, made = "qrels.txt", gf.simulate(topics=12, systems=12, depth=60, seed=5)
        gf.write_qrels(made.qrels, qrels)
        for run in made.runs:
            gf.write_run(run, f"runs/{run.name}.gz")
    files = sorted((tmp_path / "runs").iterdir())
    for fault, path in enumerate(files[:7]):
        lines = gzip.decompress(path.read_bytes()).splitlines()
        path.write_bytes(broken(lines, fault))
    (tmp_path / "runs" / "README.md").write_text("# Runs\n\nAll runs of the task.\n")
    (tmp_path / "runs" / "plot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "runs" / "bm25.params.json").write_text('{"params": {"k1": 0.9, "b": 0.4}}')
    return qrels, [f"runs/{path.name}" for path in files[:7]], {path.name.removesuffix(".gz") for path in files[7:]}


def test_check_names_each_fault_its_place_and_a_remedy(campaign):
    qrels, files, others = campaign
    found = gf.check(qrels, "runs")
    assert found.files[0].status == "ok"
    by_file = {file.file: file for file in found.files}
    for file, fault in zip(files, FAULTS, strict=True):
        (one,) = [one for one in by_file[file].findings if one.level == "error"]
        assert fault in one.text
        assert one.remedy
    assert {file.run for file in found.files if file.kind == "run" and file.file not in files} == others
    assert found.errors == 7
    assert {file.file for file in found.files if file.kind == "no run"} == {
        "runs/README.md",
        "runs/plot.png",
        "runs/bm25.params.json",
    }


@pytest.mark.slow
def test_other_commands_go_on_without_them(campaign, gainful, tmp_path):
    qrels, files, others = campaign
    expected = gf.evaluate(qrels, [f"runs/{name}.gz" for name in sorted(others)], "nDCG@10")
    scores = gf.evaluate(qrels, "runs", "nDCG@10", keep_going=True)
    assert dict(scores.mean().rows()) == dict(expected.mean().rows())
    report = ["--resamples", "50", "--trials", "1", "-o", "page.html"]
    for command, more in {"evaluate": [], "compare": [], "robustness": ["--trials", "1"], "report": report}.items():
        status, _, err = gainful(command, qrels, "runs", "-m", "nDCG@10", "--keep-going", *more)
        assert status == 1, command
        assert f"{len(others)} runs" in err
        for file in files:
            assert any(line.startswith(f"failed: {file}") for line in err.splitlines()), (command, file)
        for name in ("README.md", "plot.png", "bm25.params.json"):
            assert f"runs/{name}" in err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(f"{file}" in page for file in files)
    assert "Left out 3 files that are no runs" in page
