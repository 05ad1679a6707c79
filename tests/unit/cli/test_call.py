"""What a command checks before it works, and how its result is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

TINY = Path(__file__).parents[2] / "golden" / "tiny"


class TestInputsAreKept:
    """Commands of every kind: with options of their own, with `Source` and `Shown`, with files in other options."""

    @pytest.fixture
    def here(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name in ("qrels.txt", "a.txt", "b.txt"):
            Path(name).write_bytes((TINY / name).read_bytes())
        Path("w.csv").write_text("query_id,a,b\n1,0.5,0.25\n2,0.25,0.125\n3,0.75,1.0\n", encoding="utf-8")
        Path("m.json").write_text('{"measure": "nDCG"}', encoding="utf-8")
        Path("q.svg").write_bytes((TINY / "qrels.txt").read_bytes())

    @pytest.mark.parametrize(
        "words",
        [
            "evaluate qrels.txt a.txt b.txt -o qrels.txt",
            "evaluate qrels.txt a.txt b.txt -o ./b.txt",
            "evaluate qrels.txt . -o a.txt",
            "evaluate qrels.txt [ab].txt -o a.txt",
            "evaluate qrels.txt a.txt -m @m.json -o m.json",
            "explain qrels.txt a.txt -o a.txt",
            "compare --scores w.csv -o w.csv",
            "compare q.svg a.txt b.txt --chart q.svg",
            "reliability qrels.txt a.txt b.txt --output a.txt",
            "robustness qrels.txt a.txt b.txt -o b.txt",
            "threshold fit qrels.txt a.txt --save qrels.txt",
            "threshold curve qrels.txt a.txt --filter-run b.txt -o b.txt",
        ],
    )
    def test_refused_before_any_work(self, gainful, here, words):
        before = {path.name: path.read_bytes() for path in Path().iterdir()}
        status, out, err = gainful(*words.split())
        assert (status, out) == (1, "")
        target = words.split()[-1].removeprefix("./")
        assert err == f"gainful: error: {target}: is what is read, and would be lost: write to another file\n"
        assert {path.name: path.read_bytes() for path in Path().iterdir()} == before

    @pytest.mark.parametrize("command", ["evaluate", "compare", "explain"])
    def test_no_folder(self, gainful, here, command):
        status, _, err = gainful(command, "nosuch.txt", "a.txt", "-o", "nodir/x.csv")
        assert (status, err) == (1, "gainful: error: nodir/x.csv: expected a folder that exists, got 'nodir'\n")

    def test_a_word_is_no_file(self, gainful, here):
        Path("AP").write_text("", encoding="utf-8")
        assert gainful("evaluate", "qrels.txt", "a.txt", "-m", "AP", "-o", "AP").status == 0
        Path("t").write_text("", encoding="utf-8")
        assert gainful("compare", "--scores", "w.csv", "--test", "t", "-o", "t").status == 0

    def test_the_format_is_refused_before_any_work(self, gainful, here):
        _, _, err = gainful("evaluate", "nosuch.txt", "a.txt", "-o", "x.doc")
        assert err.startswith(
            "gainful: error: x.doc: expected a name that ends in .txt, .csv, .json, .tex, .md, .html, or --format"
        )
