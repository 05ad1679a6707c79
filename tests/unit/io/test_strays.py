"""Files beside runs that are none, and broken runs, which are never taken for those."""

import gzip
import json
from functools import partial

import pytest

import gainful as gf
from gainful.errors import DataError
from gainful.io.read import entries_of, iterate_runs
from gainful.io.strays import stray_file

RUN = "301 Q0 a 1 2.5 tag\n301 Q0 b 2 1.5 tag\n"
QRELS = {"301": {"a": 1, "b": 0}}

STRAYS = {
    "plot.png": (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
    "paper.pdf": (b"%PDF-1.4\n\0", "a PDF document"),
    "login.txt": (b"\n<!DOCTYPE html>\n<html><body>Please sign in</body></html>\n", "a page of HTML"),
    "README": (b"Runs of team X.\nThey were made in 2020.\n", "a text"),
    "about.txt": (b"All of these runs use BM25.\n\nThey were made in a hurry, sorry.\n", "a text"),
    "settings.yaml": (b"k1: 0.9\n", "settings"),
    "bm25.params.json": (b'{"params": {"k1": 0.9, "b": 0.4}}', "settings"),
    "model.json": (b'{"name": "x", "k1": 0.9}', "settings"),
    "bm25.eval": (b"map \tall\t0.25\n", "the output of a program"),
    "bm25.results": (b"runid all bm25\nmap all 0.25\nP_10 all 0.5\n", "the output of trec_eval"),
    "judged.txt": (b"301 0 a 1\n301 0 b 0\n", "qrels"),
    "teams.csv": (b"run,team\nbm25,X\n", "a table without topics and documents"),
    "queries.jsonl": (b'{"id": 1, "text": "x"}\n', "a table without topics and documents"),
    "weights.bin": (bytes(range(256)), "a binary file"),
}
BROKEN = {
    "no-tag.txt": b"301 Q0 a 1 2.5\n301 Q0 b 2 1.5\n",
    "no-score.txt": b"301 Q0 a 1\n301 Q0 b 2\n",
    "commas.txt": b"301,Q0,a,1,2.5\n301,Q0,b,2,1.5\n",
    "nan.txt": b"301 Q0 a 1 nan tag\n",
    "wide.txt": RUN.encode("utf-16"),
    "no-header.csv": b"301,a,1\n",
    "empty.txt": b"",
    "blank.txt": b" \n\n",
    "half.txt": b"301 Q0 a 1 2.5 tag\nsome words\n",
    "three.txt": b"301 7187158 1\n301 7187159 2\n",
    "broken.json": b'{"301": {"a": 2.5,',
    "short.gz": gzip.compress(RUN.encode() * 50)[:-20],
}


@pytest.mark.parametrize("name", STRAYS)
def test_no_run(tmp_path, name):
    data, what = STRAYS[name]
    (tmp_path / name).write_bytes(data)
    assert stray_file(tmp_path / name) == what


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_run_is_refused_not_left_out(tmp_path, name):
    (tmp_path / name).write_bytes(BROKEN[name])
    (tmp_path / "good.txt").write_text(RUN)
    assert stray_file(tmp_path / name) is None
    with pytest.raises(DataError):
        gf.evaluate(QRELS, tmp_path, "AP")
    assert gf.evaluate(QRELS, tmp_path, "AP", keep_going=True).systems == ("good",)


@pytest.mark.parametrize(
    ("name", "text"),
    {
        "bm25.eval": RUN,
        "README.run": RUN,
        "run.json": json.dumps({"301": {"a": 2.5}}),
        "run.csv": "query_id,doc_id,score\n301,a,2.5\n",
        "head.txt": "# ir_metadata.start\n# tag: x\n# ir_metadata.end\n" + RUN,
    }.items(),
)
def test_a_run_is_told_by_its_content(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert stray_file(tmp_path / name) is None
    assert gf.evaluate(QRELS, tmp_path, "RR").mean()["RR"].to_list() == [1.0]


def test_what_is_left_out_is_named(tmp_path):
    for name, (data, _) in STRAYS.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "good.txt").write_text(RUN)
    scores = gf.evaluate(QRELS, tmp_path, "AP")
    assert scores.systems == ("good",)
    (note,) = [note for note in scores.notes() if note.code == "no-run"]
    assert note.text.startswith(f"Left out {len(STRAYS)} files that are no runs: ")
    assert f"{tmp_path / 'bm25.eval'} (the output of a program)" in note.text
    assert [run.name for run in gf.read_runs(tmp_path)] == ["good"]
    assert gf.evaluate(QRELS, str(tmp_path / "*"), "AP").systems == ("good",)


def test_numbers_that_only_their_topics_tell_from_a_run(tmp_path):
    (tmp_path / "bm25.json").write_text('{"first": {"k1": 0.9}, "second": {"fb_docs": 10}}')
    (tmp_path / "good.txt").write_text(RUN)
    scores = gf.evaluate(QRELS, tmp_path, "AP")
    assert scores.systems == ("good",)
    assert [note.subject for note in scores.notes() if note.code == "no-run"] == [str(tmp_path / "bm25.json")]
    # One that is named is what it is said to be.
    assert gf.evaluate(QRELS, tmp_path / "bm25.json", "AP").systems == ("bm25",)


def test_a_file_that_is_named(tmp_path):
    """Among others it is left out, as the shell may have found it; alone it is refused. Names alone decide nothing."""
    (tmp_path / "plot.png").write_bytes(STRAYS["plot.png"][0])
    (tmp_path / "README").write_text("All runs of the task.")
    (tmp_path / "good.txt").write_text(RUN)
    (tmp_path / "notes.csv").write_text("query_id,doc_id,score\n1,a,2\n")
    names = ("plot.png", "README", "good.txt", "notes.csv")
    found = gf.evaluate(QRELS, [tmp_path / name for name in names], "AP")
    assert found.systems == ("good", "notes")
    (note,) = [note.text for note in found.notes() if note.code == "no-run"]
    left = f"{tmp_path}/plot.png (a PNG image) and {tmp_path}/README (a text)"
    assert note == f"Left out 2 files that are no runs: {left}."
    with pytest.raises(DataError, match=r"plot.png: expected a run, got a PNG image$"):
        gf.evaluate(QRELS, tmp_path / "plot.png", "AP")
    with pytest.raises(DataError, match=r"README:1: expected 6 fields"):
        gf.evaluate(QRELS, tmp_path / "README", "AP")


def test_nothing_but_strays(tmp_path):
    (tmp_path / "plot.png").write_bytes(STRAYS["plot.png"][0])
    (tmp_path / "README").write_text("x")
    with pytest.raises(DataError, match=r"plot.png: expected a run, got a PNG image; none of the 2 files is one"):
        entries_of(tmp_path)
    (tmp_path / "README").unlink()
    (tmp_path / "plot.png").rename(tmp_path / "x.json")
    (tmp_path / "x.json").write_text('{"first": {"k1": 0.9}}')
    with pytest.raises(DataError, match="Left out 1 file that is no run"):
        gf.evaluate(QRELS, tmp_path, "AP")


def test_names_do_not_depend_on_what_is_left_out(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bm25.txt").write_text(RUN)
    (tmp_path / "b" / "bm25.params.json").write_text("{}")
    (tmp_path / "b" / "bm25").write_text("About this run.")
    assert [run.name for run in gf.read_runs(str(tmp_path / "*" / "*"))] == ["a/bm25", "b/bm25"]


def test_the_error_of_a_run_among_others_mentions_how_to_go_on(tmp_path):
    (tmp_path / "bad.txt").write_text("301 Q0 a 1 2.5\n")
    (tmp_path / "good.txt").write_text(RUN)
    with pytest.raises(DataError) as caught:
        list(iterate_runs(tmp_path))
    assert caught.value.__notes__ == ["keep_going leaves out such runs, and goes on with the others."]
    with pytest.raises(DataError) as caught:
        list(iterate_runs(tmp_path / "bad.txt"))
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("command", [partial(gf.evaluate, measures="AP"), gf.align, gf.pool])
def test_all_runs_are_broken(command, tmp_path):
    for name in ("nan.txt", "no-tag.txt"):
        (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(DataError, match=r"nan.txt:1: expected a finite score") as caught:
        command(QRELS, tmp_path, keep_going=True)
    said = "None of the 2 runs can be read; gainful check says what is wrong with each."
    assert caught.value.__notes__ == [said]
