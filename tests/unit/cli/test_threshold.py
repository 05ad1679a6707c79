"""`gainful threshold fit`, `apply` and `curve`."""

from __future__ import annotations

import csv
import io
import json

import pytest

import gainful as gf

QRELS = "1 0 a 1\n1 0 b -2\n2 0 c -2\n2 0 d 2\n3 0 e 1\n3 0 f 0\n"
RUN = "1 Q0 a 1 0.9 t\n1 Q0 b 2 0.3 t\n2 Q0 d 1 0.8 t\n2 Q0 c 2 0.4 t\n3 Q0 e 1 0.5 t\n3 Q0 f 2 0.1 t\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (tmp_path / "run.txt").write_text(RUN, encoding="utf-8")
    return tmp_path / "qrels.txt", tmp_path / "run.txt"


class TestFit:
    def test_tables(self, gainful, files):
        status, out, err = gainful("threshold", "fit", *files, "-m", "nDCGf@3")
        assert status == 0
        found = gf.threshold.fit(*files, measure="nDCGf@3")
        assert " ".join(out.split()).startswith(found.verdict())
        assert all(table.text() in out for table in found.tables())
        # Unfiltered: ((3 - 2·.6309)/3 + (4 - 2·.6309)/4 + 1)/3; nothing: (2/3 + 2/4)/3.
        for row in ("everything 0.1 0.7546 0.3333 0.0000 0.0000 6", "nothing inf 0.3889 0.0000 1.0000 1.0000 0"):
            assert row.split() in [line.split() for line in out.splitlines()]
        assert err == f"{found.settings}\n"

    def test_json_is_what_the_function_returns(self, gainful, files):
        words = ("threshold", "fit", *files, "--max-forbidden", ".1", "--seed", "3", "--resamples", "50")
        content = json.loads(gainful(*words, "--format", "json").out)
        found = gf.threshold.fit(*files, max_forbidden=0.1, seed=3, resamples=50)
        assert content == json.loads(json.dumps(found.to_dict()))

    def test_csv(self, gainful, files):
        rows = list(csv.DictReader(io.StringIO(gainful("threshold", "fit", *files, "--format", "csv").out)))
        assert [row["threshold"] for row in rows] == ["0.5"]

    def test_guarantee(self, gainful, files):
        err = gainful("threshold", "fit", *files, "--risk", "0.4").err
        assert "Guarantee in expectation: on average over the topics that a threshold is fitted on and new " in err
        err = gainful("threshold", "fit", *files, "--risk", "0.6", "--risk-confidence", "0.9").err
        assert "with probability 0.9 over the topics it was fitted on, at most 0.6 of the first 3 places hold " in err

    def test_chart(self, gainful, files, tmp_path):
        status, _, err = gainful("threshold", "fit", *files, "--chart", tmp_path / "chart.svg")
        assert status == 0
        assert err.endswith(f"chart: {tmp_path / 'chart.svg'}\n")
        assert "Where to cut run" in (tmp_path / "chart.svg").read_text(encoding="utf-8")

    @pytest.mark.parametrize("option", ["--save", "--output"])
    def test_never_over_its_input(self, gainful, files, tmp_path, option):
        before = [file.read_bytes() for file in files]
        for file in files:
            status, out, err = gainful("threshold", "fit", *files, option, file)
            assert (status, out) == (1, "")
            assert err == f"gainful: error: {file}: is what is read, and would be lost: write to another file\n"
        assert [file.read_bytes() for file in files] == before

    def test_each_output_has_a_name_of_its_own(self, gainful, files, tmp_path):
        for one, other in (("--save", "--output"), ("--save", "--chart"), ("--output", "--chart")):
            status, _, err = gainful("threshold", "fit", *files, one, tmp_path / "x.json", other, tmp_path / "x.json")
            message = f"{tmp_path / 'x.json'}: is to be written twice: give each its own name"
            assert (status, err) == (1, f"gainful: error: {message}\n")
        assert not (tmp_path / "x.json").exists()
        status, _, err = gainful("threshold", "fit", *files, "--save", tmp_path / "no" / "x.json")
        assert err.endswith(f"x.json: expected a folder that exists, got '{tmp_path / 'no'}'\n")
        status, _, err = gainful("threshold", "fit", *files, "--save", tmp_path)
        assert err.endswith(": expected the name of a file, got a folder\n")
        assert gainful("threshold", "fit", *files, "--save", "/dev/null", "--output", "/dev/null").status == 0

    def test_bad_input(self, gainful, files, tmp_path):
        status, out, err = gainful("threshold", "fit", *files, "--risk", "0.01")
        assert (status, out) == (1, "")
        message = (
            "--risk 0.01 cannot be guaranteed from 3 topics, whatever the threshold: it takes 99; the smallest risk "
            "that 3 can guarantee is 0.2500"
        )
        assert err == f"gainful: error: {message}\n"
        (tmp_path / "nan.txt").write_text("1 Q0 a 1 nan t\n", encoding="utf-8")
        status, _, err = gainful("threshold", "fit", files[0], tmp_path / "nan.txt")
        assert status == 1
        assert "nan.txt" in err


class TestApply:
    def test_a_threshold(self, gainful, files, tmp_path):
        status, out, err = gainful("threshold", "apply", files[1], "--threshold", "0.6", "-o", tmp_path / "cut.txt")
        assert (status, out) == (0, "")
        assert err == f"{tmp_path / 'cut.txt'}: 2 of 6 documents; nothing left for 1 of 3 topics (3)\n"
        assert (tmp_path / "cut.txt").read_text(encoding="utf-8") == "1 Q0 a 1 0.9 run\n2 Q0 d 1 0.8 run\n"

    def test_a_saved_cut(self, gainful, files, tmp_path):
        _, _, err = gainful("threshold", "fit", *files, "--save", tmp_path / "cut.json")
        assert err.endswith(f"saved to: {tmp_path / 'cut.json'}\n")
        words = ("threshold", "apply", files[1], "--cut", tmp_path / "cut.json", "-o", tmp_path / "cut.csv")
        status, _, err = gainful(*words)
        assert (status, err) == (0, f"{tmp_path / 'cut.csv'}: 3 of 6 documents\n")
        assert (tmp_path / "cut.csv").read_text(
            encoding="utf-8"
        ) == "query_id,doc_id,score\n1,a,0.9\n2,d,0.8\n3,e,0.5\n"

    def test_with_filter_scores(self, gainful, files, tmp_path):
        (tmp_path / "spam.txt").write_text(RUN.replace("0.3", "7"), encoding="utf-8")
        filters = ("--filter-run", tmp_path / "spam.txt")
        gainful("threshold", "fit", *files, *filters, "--save", tmp_path / "cut.json")
        words = ("threshold", "apply", files[1], "--cut", tmp_path / "cut.json", "-o", tmp_path / "out.txt")
        assert gainful(*words, *filters).status == 0
        expected = gf.threshold.apply(files[1], tmp_path / "cut.json", filter_run=tmp_path / "spam.txt")
        assert gf.read_run(tmp_path / "out.txt").frame["doc_id"].equals(expected.frame["doc_id"])
        status, _, err = gainful(*words)
        assert (status, err) == (
            1,
            "gainful: error: the threshold is for the scores of filter run 'spam': give a filter run here, too\n",
        )

    def test_never_over_its_input(self, gainful, files, tmp_path):
        (tmp_path / "link.txt").symlink_to(files[1])
        gainful("threshold", "fit", *files, "--save", tmp_path / "cut.json")
        words = ("threshold", "apply", files[1], "--cut", tmp_path / "cut.json", "-o", tmp_path / "cut.json")
        assert gainful(*words).err.endswith("cut.json: is what is read, and would be lost: write to another file\n")
        for output in (files[1], tmp_path / "link.txt"):
            status, _, err = gainful("threshold", "apply", files[1], "--threshold", "0.6", "-o", output)
            message = f"{output}: is what is read, and would be lost: write to another file"
            assert (status, err) == (1, f"gainful: error: {message}\n")
        assert files[1].read_text(encoding="utf-8") == RUN

    def test_many_empty_topics_are_not_all_named(self, gainful, tmp_path):
        (tmp_path / "run.txt").write_text("".join(f"{t} Q0 a 1 {t / 10} x\n" for t in range(9)), encoding="utf-8")
        words = ("threshold", "apply", tmp_path / "run.txt", "--threshold", "0.7", "-o", tmp_path / "cut.txt")
        assert gainful(*words).err.endswith("nothing left for 7 of 9 topics (0, 1, 2, 3, 4, …)\n")

    def test_nothing_left(self, gainful, files, tmp_path):
        status, _, err = gainful("threshold", "apply", files[1], "--threshold", "9", "-o", tmp_path / "cut.txt")
        assert (status, err.partition("cut.txt: ")[2]) == (
            1,
            "TREC text cannot hold an empty run; write .csv or .parquet. Nothing is left of it: no score of run 'run' "
            "reaches the threshold; the highest is 0.9\n",
        )
        assert not (tmp_path / "cut.txt").exists()

    def test_nothing_left_by_the_scores_of_another_run(self, gainful, files, tmp_path):
        """The highest score is that of a document that the run has."""
        scores = {"1": {"a": 1, "b": 2, "x": 9}, "2": {"c": 1, "d": 1}, "3": {"e": 1, "f": 1}}
        gf.write_run(gf.read_run(scores), tmp_path / "spam.txt")
        words = ("threshold", "apply", files[1], "--filter-run", tmp_path / "spam.txt", "--threshold", "3")
        status, _, err = gainful(*words, "-o", tmp_path / "cut.txt")
        assert status == 1
        assert err.endswith("no score of run 'spam' reaches the threshold; the highest is 2.0\n")

    def test_neither_cut_nor_threshold(self, gainful, files, tmp_path):
        message = "expected either --cut or --threshold, got neither"
        words = ("threshold", "apply", files[1], "-o", tmp_path / "cut.txt")
        assert gainful(*words) == (1, "", f"gainful: error: {message}\n")

    def test_needs_an_output(self, gainful, files):
        status, _, err = gainful("threshold", "apply", files[1], "--threshold", "1")
        assert status == 2
        assert "--output" in err
        assert err.endswith("Try 'gainful threshold apply --help'.\n")


class TestCurve:
    def test_table(self, gainful, files):
        status, out, err = gainful("threshold", "curve", *files)
        assert status == 0
        assert out.startswith("Cut run at 0.5: on these topics nDCGf@3 goes from 0.7546 to 1.0000, ")
        lines = [line.split() for line in out.splitlines()]
        assert ["threshold", "documents", "nDCGf@3", "Forbidden@3", "FilteredGood", "Empty"] in lines
        assert ["inf", "0", "0.3889", "0.0000", "1.0000", "1.0000"] in lines
        assert ["0.1", "6", "0.7546", "0.3333", "0.0000", "0.0000"] in lines
        assert "threshold curve: run, 3 topics; measure=nDCGf@3 ties=trec " in err

    def test_a_long_one_is_thinned(self, gainful, tmp_path):
        gainful("simulate", tmp_path / "c", "--topics", "8", "--systems", "4", "--depth", "60")
        run = sorted((tmp_path / "c/runs").iterdir())[0]
        status, out, err = gainful("threshold", "curve", tmp_path / "c/qrels.txt", run, "-m", "nDCGf@10")
        assert status == 0
        curve = gf.threshold.curve(tmp_path / "c/qrels.txt", run, measure="nDCGf@10")
        table = curve.compact()[0]
        assert table.text() in out
        assert len(table.frame) <= 20 < len(curve)
        assert f"note: {len(table.frame)} of {len(curve)} thresholds are shown; " in " ".join(err.split())
        rows = gainful("threshold", "curve", tmp_path / "c/qrels.txt", run, "-m", "nDCGf@10", "--format", "csv").out
        assert len(rows.splitlines()) == len(curve) + 1

    def test_chart(self, gainful, files, tmp_path):
        assert gainful("threshold", "curve", *files, "--chart", tmp_path / "curve.html").status == 0
        assert (tmp_path / "curve.html").read_bytes().startswith(b"<!DOCTYPE html>")


def test_the_group_shows_its_commands(gainful):
    status, out, _ = gainful("threshold", "--help")
    assert status == 0
    for name in ("fit", "apply", "curve"):
        assert f"\n  {name} " in out or f" {name} " in out
    assert gainful("threshold", "fit").status == 2
    assert gainful("threshold", "nope").err.endswith("Try 'gainful threshold --help'.\n")


@pytest.mark.parametrize("command", ["fit", "curve"])
def test_the_help_offers_nothing_that_is_refused(gainful, command):
    text = " ".join(gainful("threshold", command, "--help").out.replace("│", " ").split())
    assert "[choices: trec, order]" in text
    assert "[choices: zero, one, skip]" in text
    assert "expected value" not in text
    assert " nan" not in text
