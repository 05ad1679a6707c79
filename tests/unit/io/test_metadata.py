"""What is known of runs beside their rankings: read, shown, grouped."""

from __future__ import annotations

import gzip
import zipfile
from math import log2

import pytest

import gainful as gf
from gainful.errors import DataError

QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
LINES = "1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n2 Q0 d 1 2.0 x\n2 Q0 c 2 1.0 x\n"
HEADER = """# ir_metadata.start
# # a comment
# tag: x
# actor:
#   name: somebody
#   team: 'The team'
# method:
#   automatic: false # by hand
#   retrieval:
#     - name: bm25
#       method: lucene
#     - name: rerank
#       reranks: bm25
# ir_metadata.end
"""
TABLE = "run,team,type,description\nx,one,manual,by hand\ny,two,automatic,\nz,one,automatic,dense\n"
KNOWN = {
    "x": {"team": "one", "type": "manual", "description": "by hand"},
    "y": {"team": "two", "type": "automatic", "description": ""},
    "z": {"team": "one", "type": "automatic", "description": "dense"},
}
# The one relevant document of each topic is first and second in x, second and absent in y, and first in z.
RUNS = {
    "x": {"1": ["a", "b"], "2": ["d", "c"]},
    "y": {"1": ["b", "a"], "2": ["d"]},
    "z": {"1": ["a"], "2": ["c"]},
}
X, Y, Z = (1 + 1 / log2(3)) / 2, (1 / log2(3)) / 2, 1.0


@pytest.mark.parametrize(
    "text", [TABLE, TABLE.replace(",", "\t"), "\ufeff" + TABLE, TABLE.replace(",", ";"), TABLE.replace(",", " , ")]
)
def test_a_table_is_shown_beside_the_names(text, tmp_path):
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    scores = gf.evaluate(QRELS, RUNS, "nDCG@10", metadata=tmp_path / "m.csv")
    assert scores.metadata == KNOWN
    table = scores.mean_table()
    assert table.frame.columns == ["run", "team", "type", "nDCG@10", "description"]
    assert table.frame.row(0) == ("z", "one", "automatic", 1.0, "dense")
    assert table.best == {(0, 3)}
    assert scores.to_dict()["metadata"] == KNOWN
    compared = gf.compare(scores)
    assert compared.tables()[0].frame.select("run", "team", "description").row(0) == ("z", "one", "dense")


def test_groups_of_runs():
    scores = gf.evaluate(QRELS, RUNS, ["nDCG@10", "RR"], metadata=KNOWN)
    found = scores.by("team").frame
    assert found.select("team", "runs", "best run").rows() == [("one", 2, "z"), ("two", 1, "y")]
    assert found["best nDCG@10"].to_list() == pytest.approx([Z, Y])
    assert found["mean nDCG@10"].to_list() == pytest.approx([(X + Z) / 2, Y])
    assert found["mean RR"].to_list() == pytest.approx([(0.75 + 1) / 2, 0.25])
    assert gf.compare(scores).by("team").frame.equals(found)
    with pytest.raises(DataError, match=r"^by='teem': .* team, type, description\. Did you mean 'team'"):
        scores.by("teem")


def test_names_that_do_not_match_are_told():
    scores = gf.evaluate(QRELS, RUNS, "RR", metadata={"x": {"team": "one"}, "w": {"team": "two"}})
    texts = {note.code: note.text for note in scores.notes()}
    assert texts["no-metadata"] == "There is no metadata of 'y' and 'z'."
    assert texts["unknown-run"] == "There is metadata of runs that are not here: 'w'."


@pytest.mark.parametrize("kind", ["plain", "gzip", "zip"])
def test_headers_of_runs(kind, tmp_path):
    content = (HEADER + LINES).encode()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "y.txt").write_text(LINES)
    if kind == "zip":
        with zipfile.ZipFile(tmp_path / "runs" / "all.zip", "w") as archive:
            archive.writestr("x.txt", content)
    else:
        name = "x.txt" if kind == "plain" else "x.txt.gz"
        (tmp_path / "runs" / name).write_bytes(content if kind == "plain" else gzip.compress(content))
    scores = gf.evaluate(QRELS, tmp_path / "runs", "RR", metadata="headers")
    assert scores.metadata == {"x": {"team": "The team", "type": "manual", "description": "bm25 + rerank"}}
    assert scores["RR"].values.tolist() == [[1.0, 0.5]] * 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("run\nx\n", "m.csv: expected the column run, and others such as team, type and description, got run"),
        ("run,team\n", "m.csv: expected one row per run, got none"),
        ("run,team\n,one\n", "m.csv:2: expected the name of a run, got ''"),
        ("run,team\nx,one\nx,two\n", "m.csv:3: run 'x' stands here twice, with different values: keep one"),
        (["x"], "metadata: expected a file, a mapping or 'headers', got list"),
        ({"x": "one"}, "metadata: expected {run: {field: value}}, got 'one' for a run"),
        ("headers", "headers: expected runs that begin with '# ir_metadata.start', got none"),
    ],
)
def test_refuses(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if isinstance(given, str) and given != "headers":
        (tmp_path / "m.csv").write_text(given)
        given = "m.csv"
    with pytest.raises(DataError) as error:
        gf.evaluate(QRELS, RUNS, metadata=given)
    assert str(error.value) == message


def test_at_the_shell(tmp_path, monkeypatch, gainful):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.csv").write_text(TABLE)
    (tmp_path / "q.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 c 1\n")
    for name in "xy":
        (tmp_path / f"{name}.txt").write_text(HEADER + LINES)
    words = ("q.txt", "x.txt", "y.txt", "-m", "RR")
    shown = gainful("evaluate", *words, "--metadata", "m.csv", "--by", "team", "--format", "csv").out.splitlines()
    assert shown == ["team,runs,best run,best RR,mean RR", "one,1,x,0.75,0.75", "two,1,y,0.75,0.75"]
    assert "The team" in gainful("compare", *words, "--metadata", "headers").out
    status, _, err = gainful("compare", *words, "--by", "team")
    assert status == 1
    assert "--by team: expected --metadata with it" in err
    status, _, err = gainful("evaluate", *words, "--metadata", "m.csv", "-o", "m.csv")
    assert "is what is read, and would be lost" in err
    report = gf.report("q.txt", ["x.txt", "y.txt"], "RR", metadata="m.csv", resamples=20, trials=1)
    assert report.contents["metadata"] == {
        "team": ["one", "two"],
        "type": ["manual", "automatic"],
        "description": ["by hand", ""],
    }
    assert "--metadata m.csv" in report.contents["command"]
    teams = gf.robustness("q.txt", ["x.txt", "y.txt"], "RR", depletion="leave-one-out", levels=[1], teams="headers")
    assert teams.settings["teams"] == "headers"
