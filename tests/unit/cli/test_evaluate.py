from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest
import pytrec_eval

import gainful as gf

TINY = Path(__file__).parents[2] / "golden" / "tiny"
QRELS, A, B = TINY / "qrels.txt", TINY / "a.txt", TINY / "b.txt"
TREC = {"nDCG@3": "ndcg_cut_3", "AP": "map", "P@2": "P_2"}
POLICIES = "ties=trec unjudged=zero missing=empty degenerate=zero duplicates=error"


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def pretend_terminal(monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    """To be called in the test itself: pytest changes the streams between fixtures and test."""
    monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture(scope="module")
def trec() -> dict[tuple[str, str, str], float]:
    """Scores of pytrec_eval by run, measure and topic; a topic that a run misses counts as 0 in the mean."""
    with QRELS.open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    found = {}
    for path in (A, B):
        with path.open() as file:
            scores = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.3", "P.2"}).evaluate(
                pytrec_eval.parse_run(file)
            )
        for ours, theirs in TREC.items():
            values = {topic: scores.get(topic, {}).get(theirs, 0.0) for topic in qrels}
            found |= {(path.stem, ours, topic): value for topic, value in values.items()}
            found[path.stem, ours, "all"] = sum(values.values()) / len(values)
    return found


class TestTable:
    def test_means(self, gainful, golden):
        # b first on the command line, a first in the table: rows are sorted by the first measure.
        status, out, err = gainful("evaluate", QRELS, B, A, "-m", "nDCG@3", "-m", "AP", "-m", "P@2")
        assert status == 0
        golden(out, "evaluate.txt")
        assert err == (
            "note: Judged topics for which a run returns nothing count as empty rankings (missing=empty): 1 of 'b'.\n"
            "note: Topics of a run without judgments are ignored: 1 of 'b'.\n"
            f"evaluate: 2 runs, 3 topics; {POLICIES}\n"
        )

    def test_one_option_may_hold_several_measures(self, gainful):
        one = gainful("evaluate", QRELS, A, "-m", "nDCG@3 AP")
        assert one.out == gainful("evaluate", QRELS, A, "--measures", "nDCG@3", "--measures", "AP").out

    def test_default_measures(self, gainful):
        assert gainful("evaluate", QRELS, A).out.splitlines()[2].split() == ["run", "nDCG@10", "AP"]

    def test_lower_is_better_sorts_upwards(self, gainful):
        # b has d6 (label -1) at rank 1 of q2, a at rank 2.
        out = gainful("evaluate", QRELS, B, A, "-m", "Forbidden@1").out
        assert [line.split() for line in out.splitlines()[4:]] == [["a", "0.0000"], ["b", "0.3333"]]

    def test_neither_keeps_the_order_given(self, gainful):
        out = gainful("evaluate", QRELS, B, A, "-m", "Judged@2").out
        assert [line.split()[0] for line in out.splitlines()[2:]] == ["b", "a"]

    def test_counts_are_whole(self, gainful):
        out = gainful("evaluate", QRELS, A, "-m", "NumRelRet", "-m", "NumQ").out
        assert out.splitlines()[-1].split() == ["a", "4", "3"]

    def test_undefined_is_a_dash(self, gainful, tmp_path):
        qrels = tmp_path / "qrels"
        qrels.write_text("q1 0 d1 0\n")
        out = gainful("evaluate", qrels, A, "-m", "AP", "--degenerate", "nan").out
        assert out.splitlines()[-1].split() == ["a", "-"]

    def test_best_of_each_column_stands_out_on_a_terminal(self, gainful, monkeypatch):
        pretend_terminal(monkeypatch, "stdout")
        out = gainful("evaluate", QRELS, A, B, "-m", "nDCG@3").out
        marked = [line for line in out.splitlines() if "\x1b[1;32m0.8098" in line]
        assert len(marked) == 1
        assert "\x1b[1;32m0.3447" not in out

    def test_names_are_shown_not_obeyed(self, gainful, tmp_path):
        run = tmp_path / "[red]\x1b[31m.txt"
        run.write_bytes(A.read_bytes())
        out = gainful("evaluate", QRELS, run, "-m", "AP").out
        assert "[red]\\x1b[31m" in out
        assert "\x1b" not in out

    def test_long_names_are_not_cut(self, gainful, tmp_path):
        name = "x" * 150
        (tmp_path / name).write_bytes(A.read_bytes())
        assert name in gainful("evaluate", QRELS, tmp_path / name).out


class TestPerTopic:
    def test_several_measures(self, gainful, golden):
        golden(gainful("evaluate", QRELS, A, B, "-m", "nDCG@3 AP", "--per-topic").out, "evaluate-per-topic.txt")

    def test_one_measure_puts_runs_side_by_side(self, gainful, golden):
        outcome = gainful("evaluate", QRELS, A, B, "-m", "nDCG@3", "--per-topic", "--missing", "skip")
        golden(outcome.out, "evaluate-per-topic-one-measure.txt")
        assert "are left out of its mean (missing=skip): 1 of 'b'" in outcome.err

    def test_many_runs_do_not_fit_side_by_side(self, gainful, tmp_path):
        for number in range(9):
            (tmp_path / f"run{number}").write_bytes(A.read_bytes())
        out = gainful("evaluate", QRELS, tmp_path, "-m", "AP", "--per-topic").out
        assert out.splitlines()[0].split() == ["topic", "run", "AP"]
        assert len(out.splitlines()) == 2 + 9 * 4


class TestCsv:
    def test_agrees_with_trec_eval(self, gainful, trec):
        out = gainful("evaluate", QRELS, A, B, "-m", "nDCG@3 AP P@2", "--per-topic", "--format", "csv").out
        found = {(row["run"], row["measure"], row["query_id"]): float(row["score"]) for row in rows(out)}
        assert found == pytest.approx(trec)

    def test_means_only(self, gainful, trec):
        out = gainful("evaluate", QRELS, A, B, "-m", "nDCG@3 AP", "--format", "csv").out
        assert out.splitlines()[0] == "run,measure,query_id,score"
        assert [row["query_id"] for row in rows(out)] == ["all"] * 4

    def test_numbers_in_full(self, gainful):
        out = gainful("evaluate", QRELS, A, "-m", "nDCG@3", "--per-topic", "--format", "csv").out
        value = gf.evaluate(QRELS, A, "nDCG@3").values[0, 0, 0]
        assert rows(out)[0]["score"] == repr(float(value))

    def test_skipped_topics_have_no_row(self, gainful):
        out = gainful("evaluate", QRELS, B, "-m", "AP", "--per-topic", "--missing", "skip", "--format", "csv").out
        assert [row["query_id"] for row in rows(out)] == ["q1", "q2", "all"]

    def test_can_be_read_back(self, gainful, tmp_path):
        gainful("evaluate", QRELS, A, B, "-m", "nDCG@3 AP", "--per-topic", "-o", tmp_path / "scores.csv")
        scores = gf.read_scores(tmp_path / "scores.csv")
        expected = gf.evaluate(QRELS, [A, B], ["nDCG@3", "AP"])
        assert scores.measures == expected.measures
        assert scores.values.tolist() == expected.values.tolist()


class TestJson:
    def test_means(self, gainful, trec):
        content = json.loads(gainful("evaluate", QRELS, A, B, "-m", "nDCG@3 AP", "--format", "json").out)
        assert content["mean"]["a"] == pytest.approx({m: trec["a", m, "all"] for m in ("nDCG@3", "AP")})
        assert content["policies"]["missing"] == "empty"
        assert content["missing_topics"] == {"a": 0, "b": 1}
        assert content["ignored_topics"] == {"a": 0, "b": 1}
        assert "scores" not in content

    def test_per_topic(self, gainful, trec):
        content = json.loads(gainful("evaluate", QRELS, A, "-m", "AP", "--format", "json", "--per-topic").out)
        assert content["scores"]["a"]["AP"] == pytest.approx({t: trec["a", "AP", t] for t in ("q1", "q2", "q3")})

    def test_no_nan(self, gainful, tmp_path):
        qrels = tmp_path / "qrels"
        qrels.write_text("q1 0 d1 0\n")
        content = json.loads(gainful("evaluate", qrels, A, "-m", "AP", "--degenerate", "nan", "--format", "json").out)
        assert content["mean"]["a"]["AP"] is None


class TestLatex:
    def test_booktabs(self, gainful, golden):
        golden(gainful("evaluate", QRELS, B, A, "-m", "nDCG@3 AP", "--format", "latex").out, "evaluate.tex")

    def test_structure(self, gainful, tmp_path):
        run = tmp_path / "50%_of #1 & {b}.txt"
        run.write_bytes(A.read_bytes())
        out = gainful("evaluate", QRELS, run, "-m", "nDCG(gain={-1:-10})@3 nDCGorg@3", "--format", "latex").out
        lines = out.splitlines()
        assert lines[0] == r"\begin{tabular}{lrr}"
        assert [line for line in lines if line.startswith("\\") and " & " not in line] == [
            *(lines[0], r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}")
        ]
        assert lines[2] == r"run & nDCG(gain=\{-1: -10\})@3 & nDCGorg@3 \\"
        assert lines[4].startswith(r"50\%\_of \#1 \& \{b\} & ")
        assert out.count("{") - out.count(r"\{") == out.count("}") - out.count(r"\}")

    def test_minus_sign(self, gainful):
        # q1 and q2 of b: 2·D(2)/I = .403 and (-1 + D(2))/(1 - D(3)) = -.738; q3 is missing.
        out = gainful("evaluate", QRELS, B, "-m", "nDCGorg@3", "--format", "latex", "--per-topic").out
        expected = (-1 + 1 / math.log2(3)) / (1 - 1 / 2)
        assert f"q2 & b & $-${-expected:.4f} \\\\" in out


class TestOutput:
    @pytest.mark.parametrize(
        ("name", "begins"),
        [("x.csv", "run,measure"), ("x.json", "{"), ("x.tex", r"\begin"), ("x.txt", "a has "), ("x", "a has ")],
    )
    def test_suffix_decides(self, gainful, tmp_path, name, begins):
        status, out, _ = gainful("evaluate", QRELS, A, "--output", tmp_path / name)
        assert (status, out) == (0, "")
        assert (tmp_path / name).read_text().startswith(begins)

    def test_format_comes_first(self, gainful, tmp_path):
        gainful("evaluate", QRELS, A, "--output", tmp_path / "x.csv", "--format", "json")
        assert json.loads((tmp_path / "x.csv").read_text())

    def test_nothing_is_left_beside_it(self, gainful, tmp_path):
        gainful("evaluate", QRELS, A, "--output", tmp_path / "x.csv")
        assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


class TestRemarks:
    def test_run_of_another_collection(self, gainful, tmp_path):
        run = tmp_path / "other.txt"
        run.write_text("t1 Q0 d1 1 1.0 x\n")
        err = gainful("evaluate", QRELS, run).err
        assert (
            "note: Run 'other' has none of the judged topics: a topic of it is 't1', one of the judgments 'q1'." in err
        )

    def test_all_runs_of_another_collection(self, gainful, tmp_path):
        runs = [tmp_path / f"{name}.txt" for name in "xyz"]
        for run in runs:
            run.write_text("t1 Q0 d1 1 1.0 x\n")
        for words in (runs, [A, *runs]):
            err = gainful("evaluate", QRELS, *words).err
            assert "note: Runs 'x', 'y' and 'z' have none of the judged topics: a topic of them is 't1'" in err

    def test_many_runs_are_summed_up(self, gainful, tmp_path):
        for number in range(6):
            (tmp_path / f"run{number}").write_bytes(B.read_bytes())
        err = gainful("evaluate", QRELS, tmp_path).err
        assert "ignored: 1 of 'run0', 1 of 'run1', 1 of 'run2', 1 of 'run3' and 2 of 2 other runs.\n" in err


def test_policies_are_handed_on(gainful):
    words = ("--ties", "order", "--unjudged", "condensed", "--degenerate", "skip", "--duplicates", "first")
    status, out, err = gainful("evaluate", QRELS, A, "-m", "AP", "--format", "csv", *words)
    assert status == 0
    # Without the unjudged x1, d7 is the first document of q3.
    assert float(rows(out)[0]["score"]) == pytest.approx((5 / 9 + 1 + 1) / 3)
    assert "ties=order unjudged=condensed missing=empty degenerate=skip duplicates=first" in err


class TestProgress:
    @pytest.fixture
    def paths(self, tmp_path):
        paths = [tmp_path / f"run{number}" for number in range(25)]
        for path in paths:
            path.write_bytes(A.read_bytes())
        return paths

    def test_silent_without_a_terminal(self, gainful, paths):
        assert "Reading" not in gainful("evaluate", QRELS, *paths).err

    def test_bar_on_a_terminal(self, gainful, paths, monkeypatch):
        pretend_terminal(monkeypatch, "stderr")
        outcome = gainful("evaluate", QRELS, *paths, "--format", "csv")
        assert len(rows(outcome.out)) == 2 * 25
        assert "Reading" in outcome.err
        assert "25/25" in outcome.err

    def test_folder_on_a_terminal(self, gainful, paths, monkeypatch):
        pretend_terminal(monkeypatch, "stderr")
        outcome = gainful("evaluate", QRELS, paths[0].parent, "--format", "csv")
        assert len(rows(outcome.out)) == 2 * 25
        assert "25/?" in outcome.err

    def test_silent_for_a_few(self, gainful, paths, monkeypatch):
        pretend_terminal(monkeypatch, "stderr")
        assert "Reading" not in gainful("evaluate", QRELS, *paths[:3]).err


class TestKindness:
    def test_a_measure_among_the_runs(self, gainful):
        status, out, err = gainful("evaluate", QRELS, A, "AP@5", "-m", "nDCG@3")
        assert (status, out) == (1, "")
        assert err == "gainful: error: AP@5: no such file; if you mean the measure, write -m AP@5\n"

    def test_a_measure_before_the_judgments(self, gainful):
        status, _, err = gainful("evaluate", "-m", "nDCG@3", "AP@5", QRELS, A)
        assert (status, err) == (1, "gainful: error: AP@5: no such file; if you mean the measure, write -m AP@5\n")

    @pytest.mark.parametrize("command", ["evaluate", "compare", "check"])
    def test_options_between_files(self, gainful, command):
        option = ("--format", "json")
        last = gainful(command, QRELS, A, B, *option)
        assert last.status == 0
        assert gainful(command, QRELS, *option, A, B) == gainful(command, QRELS, A, *option, B) == last

    @pytest.mark.parametrize(("command", "words"), [("evaluate", "QRELS RUN..."), ("compare", "[QRELS RUN...]")])
    def test_files_in_the_usage_line(self, gainful, command, words):
        assert gainful(command, "--help").out.partition("\n")[0] == f"Usage: gainful {command} [OPTIONS] {words}"

    def test_either_spelling_of_the_flag(self, gainful):
        assert gainful("evaluate", QRELS, A, "--measure", "AP") == gainful("evaluate", QRELS, A, "--measures", "AP")

    def test_a_name_that_says_nothing_is_refused(self, gainful, tmp_path):
        path = tmp_path / "x.parquet"
        status, _, err = gainful("evaluate", QRELS, A, "-o", path)
        expected = "expected a name that ends in .txt, .csv, .json, .tex, .md, .html, or --format to say what to write"
        assert (status, err) == (1, f"gainful: error: {path}: {expected}\n")
        assert not path.exists()

    @pytest.mark.parametrize("name", ["-", "/dev/stdout"])
    def test_output_may_be_the_screen(self, gainful, name):
        assert (
            gainful("evaluate", QRELS, A, "--format", "csv", f"--output={name}").out
            == gainful("evaluate", QRELS, A, "--format", "csv").out
        )

    def test_undefined_topics_are_told(self, gainful, tmp_path):
        qrels, run = tmp_path / "q", tmp_path / "r"
        qrels.write_text("1 0 a 1\n2 0 b 0\n3 0 c 0\n")
        run.write_text("1 Q0 a 1 1 t\n2 Q0 b 1 1 t\n3 Q0 c 1 1 t\n")
        notes = gainful("evaluate", qrels, run, "-m", "AP", "-m", "P@5").err.splitlines()
        assert notes[:-1] == ["note: AP is undefined for 2 topics and counts as 0 there."]
        notes = gainful("evaluate", qrels, run, "-m", "AP", "--degenerate", "skip").err.splitlines()
        assert notes[:-1] == ["note: AP is undefined for 2 topics and is left out of the mean there."]


def test_a_hyphen_is_standard_input(gainful, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(A.read_bytes())))
    named = gainful("evaluate", QRELS, A, "-m", "AP", "--format", "csv").out
    assert gainful("evaluate", QRELS, "-", "-m", "AP", "--format", "csv").out == named.replace("\na,", "\nstdin,")


def test_other_words_for_every_topic(gainful):
    asked = [gainful("evaluate", QRELS, A, word).out for word in ("--per-topic", "--per-query", "-q")]
    assert asked[0] == asked[1] == asked[2]
    assert "q2" in asked[0]


class TestGroups:
    """By hand from the scores of the topics."""

    @pytest.fixture
    def files(self, tmp_path):
        qrels = "".join(f"{topic} 0 a 1\n" for topic in (1, 2, 3))
        (tmp_path / "qrels.txt").write_text(qrels)
        (tmp_path / "run.txt").write_text("1 Q0 a 1 9 x\n2 Q0 b 1 9 x\n2 Q0 a 2 8 x\n3 Q0 b 1 9 x\n")
        (tmp_path / "groups.csv").write_text("topic,group\n1,en\n2,en\n3,de\n")
        return tmp_path / "qrels.txt", tmp_path / "run.txt", tmp_path / "groups.csv"

    def test_csv(self, gainful, files):
        """RR is 1, 1/2 and 0."""
        qrels, run, groups = files
        out = gainful("evaluate", qrels, run, "-m", "RR", "--groups", groups, "--format", "csv").out
        assert [(row["group"], row["topics"], float(row["score"])) for row in rows(out)] == [
            ("de", "1", 0.0),
            ("en", "2", 0.75),
            ("macro", "3", 0.375),
        ]

    def test_table(self, gainful, files):
        qrels, run, groups = files
        out = gainful("evaluate", qrels, run, "-m", "RR", "--groups", groups).out
        assert out.split()[-5:] == ["RR", "run", "0.0000", "0.7500", "0.3750"]

    def test_a_topic_without_group(self, gainful, files):
        qrels, run, groups = files
        groups.write_text("topic,group\n1,en\n2,en\n")
        status, _, err = gainful("evaluate", qrels, run, "-m", "RR", "--groups", groups)
        assert status == 1
        assert "groups: expected a group for every topic, got none for '3'" in err


class TestWideAndHtml:
    def test_one_column_per_measure(self, gainful, trec):
        found = rows(gainful("evaluate", QRELS, A, B, "-m", "P@2", "-m", "AP", "--format", "csv", "--wide").out)
        assert [row.keys() for row in found] == [{"run", "P@2", "AP"}] * 2
        for row in found:
            for measure in ("P@2", "AP"):
                assert float(row[measure]) == pytest.approx(trec[row["run"], measure, "all"])

    def test_one_column_per_run_is_a_table_of_scores(self, gainful, tmp_path):
        words = ("evaluate", QRELS, A, B, "-m", "P@2", "--per-topic", "--wide")
        assert gainful(*words, "-o", tmp_path / "wide.csv").status == 0
        read = gf.read_scores(tmp_path / "wide.csv")
        scores = gf.evaluate(QRELS, [A, B], "P@2")
        assert dict(zip(read.systems, read.summary()[0].tolist(), strict=True)) == pytest.approx(
            dict(zip(scores.systems, scores.summary()[0].tolist(), strict=True))
        )

    def test_wide_is_of_csv(self, gainful):
        found = gainful("evaluate", QRELS, A, "--wide")
        assert found.status == 1
        assert "--wide: expected --format csv with it" in found.err

    def test_html_is_escaped(self, gainful, tmp_path):
        (tmp_path / "a<b>.txt").write_bytes(A.read_bytes())
        found = gainful("evaluate", QRELS, tmp_path / "a<b>.txt", "-m", "AP", "--format", "html").out
        assert found.startswith("<p>a&lt;b&gt; has a mean AP of ")
        assert "<td>a&lt;b&gt;</td>" in found
        assert "<b>" not in found
