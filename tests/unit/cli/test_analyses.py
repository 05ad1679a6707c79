"""What all analyses of scores have in common at the shell: their settings, formats and charts."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest

import gainful as gf

# Settings that are not the usual ones.
SETTINGS = {
    "compare": {"test": "bootstrap", "correction": "bh", "interval": "bca", "confidence": 0.9, "resamples": 50,
                "seed": 4, "alpha": 0.1},
    "reliability": {"sizes": [2], "target": 0.9, "confidence": 0.5},
    "stability": {"by": "topic", "fuzzy": "absolute", "fuzziness": 0.1, "draws": 20, "sizes": [2, 3], "seed": 9},
    "sensitivity": {"methods": ["t", "wilcoxon"], "alpha": 0.1, "seed": 3},
    "agreement": {"correlation": ["rbo", "rms"], "p": 0.5, "resamples": 20, "seed": 4, "spread": 0.8},
    "topics": {"difference": 0.5, "alpha": 0.1, "power": 0.7, "method": "anova", "systems": 3},
}  # fmt: skip


@pytest.fixture
def table(tmp_path):
    """Three runs by two measures, which order them differently."""
    scores = {"AP": {"a": (3, 5, 4, 6, 2), "b": (4, 5, 6, 8, 3), "c": (1, 4, 2, 6, 1)}}
    scores["RR"] = {"a": (9, 5, 8, 6, 2), "b": (4, 5, 6, 5, 3), "c": (2, 5, 3, 6, 1)}
    rows = [
        f"{run},{measure},{topic},{value / 10}"
        for measure, runs in scores.items()
        for run, values in runs.items()
        for topic, value in enumerate(values)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["run,measure,query_id,score", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Judgments, runs and measures, as words."""
    folder = tmp_path_factory.mktemp("made")
    made = gf.simulate(topics=8, systems=4, depth=30, seed=2)
    gf.write_qrels(made.qrels, folder / "qrels.txt")
    (folder / "runs").mkdir()
    for run in made.runs:
        gf.write_run(run, folder / "runs" / f"{run.name}.txt")
    return folder / "qrels.txt", folder / "runs", "-m", "AP", "-m", "P@5"


def words_of(settings: dict) -> list[str]:
    """As options, several values with commas between."""
    words = []
    for name, value in settings.items():
        words += [f"--{name}", ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    return words


@pytest.mark.parametrize(("analysis", "settings"), SETTINGS.items(), ids=SETTINGS)
class TestEvery:
    def test_json_is_that_of_the_function(self, gainful, table, analysis, settings):
        words = ("--scores", table, *words_of(settings), "--gaps", "drop", "--format", "json")
        status, out, _ = gainful(analysis, *words)
        expected = getattr(gf, analysis)(table, **settings, gaps="drop").to_dict()
        assert status == 0
        found = json.loads(out)
        assert found == json.loads(json.dumps(expected))
        assert {**found["settings"], **settings, "gaps": "drop"} == found["settings"]

    def test_csv_is_the_frame(self, gainful, table, analysis, settings):
        out = gainful(analysis, "--scores", table, *words_of(settings), "--format", "csv").out
        frame = getattr(gf, analysis)(table, **settings).to_frame()
        header, *rows = csv.reader(io.StringIO(out))
        assert header == frame.columns
        assert rows == [["" if value is None else str(value) for value in row] for row in frame.iter_rows()]
        assert any(isinstance(value, float) and math.isfinite(value) for value in frame.row(0))

    def test_table_notes_and_settings(self, gainful, table, analysis, settings):
        status, out, err = gainful(analysis, "--scores", table, *words_of(settings))
        found = getattr(gf, analysis)(table, **settings)
        assert status == 0
        assert " ".join(out.split()).startswith(found.verdict())
        assert all(part.text() in out for part in found.compact())
        assert err.splitlines() == [*(f"note: {note}" for note in found.notes()), str(found.settings)]

    def test_chart(self, gainful, table, tmp_path, analysis, settings):
        path = tmp_path / "chart.svg"
        status, _, err = gainful(analysis, "--scores", table, *words_of(settings), "--chart", path)
        assert (status, err.splitlines()[-1]) == (0, f"chart: {path}")
        assert path.read_text(encoding="utf-8").startswith("<svg")

    def test_from_judgments_and_runs(self, gainful, files, tmp_path, analysis, settings):
        words = (*words_of(settings), "--format", "csv")
        out = gainful(analysis, *files, *words).out
        gainful("evaluate", *files, "--per-topic", "-o", tmp_path / "scores.csv")
        assert gainful(analysis, "--scores", tmp_path / "scores.csv", *words).out == out != ""


@pytest.mark.parametrize("analysis", [name for name in SETTINGS if name != "agreement"])
def test_one_measure_of_a_table(gainful, table, analysis):
    found = json.loads(gainful(analysis, "--scores", table, "-m", "RR", "--format", "json").out)
    assert found == json.loads(json.dumps(getattr(gf, analysis)(table, measures="RR").to_dict()))
