from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess

import numpy as np
import polars as pl
import pytest

import gainful as gf

# a is clearly better than c, b lies between and is told from neither.
DIFFERENCES = np.array([0.11, 0.09, 0.12, 0.10, 0.08, 0.10])
BASE = np.array([0.2, 0.5, 0.3, 0.6, 0.1, 0.4])
NOISE = np.array([0.3, -0.2, 0.2, -0.3, 0.2, -0.2])
RUNS = {"c": BASE, "a": BASE + DIFFERENCES, "b": BASE + 0.05 + NOISE}
SPECIAL = r"""a&b%c$d#e_f{g}h~i^j\k<l>m|n"o'p`q--r[s]*"""


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    topics = [f"q{i}" for i in range(1, 7)]
    pl.DataFrame({"query_id": topics, **RUNS}).write_csv(path)
    return path


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.csv"
    pl.DataFrame({"query_id": [f"q{i}" for i in range(1, 7)], "old": RUNS["a"], "new": RUNS["c"]}).write_csv(path)
    return path


@pytest.fixture
def files(tmp_path):
    """Judgments, and runs of which the second finds the relevant document later in most topics."""
    (tmp_path / "qrels").write_text("".join(f"t{i} 0 d 1\n" for i in range(1, 9)))
    places = {"bm25.txt": [1] * 8, "dense.txt": [2, 3, 4, 2, 3, 4, 2, 1]}
    for name, ranks in places.items():
        lines = [
            f"t{i} Q0 {'d' if rank == r else f'x{r}'} {r} {-r} x\n"
            for i, rank in enumerate(ranks, 1)
            for r in range(1, 6)
        ]
        (tmp_path / name).write_text("".join(lines))
    return tmp_path / "qrels", tmp_path / "bm25.txt", tmp_path / "dense.txt"


def cells(line: str) -> list[str]:
    return line.split()


def blocks(out: str) -> list[list[list[str]]]:
    """What is printed, as words: the verdict, then per table its header and rows."""
    verdict, *tables = out.rstrip("\n").split("\n\n")
    rows = [[cells(line) for line in table.splitlines() if "───" not in line] for table in tables]
    return [[verdict.split()], *rows]


class TestTable:
    def test_letters_of_the_runs_it_beats(self, gainful, scores):
        status, out, err = gainful("compare", "--scores", scores)
        verdict, means, _ = blocks(out)
        assert status == 0
        assert means == [
            ["run", "score", "better", "than", "place"],
            ["a", "a", "0.4500", "c", "1-2"],
            ["b", "b", "0.4000", "1-3"],
            ["c", "c", "0.3500", "2-3"],
        ]
        # .45 ± t(.975; 5)·√(.0356/6), as scipy.stats.t.interval has it
        assert " ".join(verdict[0]) == (
            "a leads in score with 0.450 (0.252 to 0.648; about 0.044 too good, as the best of 3), significantly "
            "better than 1 of 2 others; 2 runs may be best. Significance is by paired t-test, p < 0.05 after Holm's "
            "correction for the 3 pairs per measure."
        )
        assert err.splitlines() == [
            "note: The letters name the runs that a run is significantly better than.",
            "note: Places are intervals, at 95% confidence for each run by itself. A run whose place begins with 1 may "
            "be best: no other is shown to be better.",
            "compare: 3 runs, 6 topics; test=t correction=holm alpha=0.05 interval=t confidence=0.95 resamples=10000 "
            "seed=0 gaps=error",
        ]

    def test_pairs(self, gainful, scores):
        header, *rows = blocks(gainful("compare", "--scores", scores).out)[2]
        assert header == [
            *("measure", "run", "other", "difference", "low", "high", "low", "(all)", "high", "(all)"),
            *("effect", "win/tie/loss", "p", "p", "(holm)"),
        ]
        # d = .1/sd, sd of (.01, -.01, .02, 0, -.02, 0) = √.0002
        assert rows[0][:4] == ["score", "c", "a", "-0.1000"]
        assert rows[0][8:] == ["-7.0711", "0/0/6", "<0.0001", "<0.0001"]
        assert len(rows) == 3

    def test_alpha_decides(self, gainful, scores):
        verdict, means, _ = blocks(gainful("compare", "--scores", scores, "--alpha", "0.00001").out)
        assert means[1] == ["a", "a", "0.4500", "1-2"]
        assert "significantly better than none of 2 others" in " ".join(verdict[0])

    def test_baseline(self, gainful, scores):
        _, out, err = gainful("compare", "--scores", scores, "--baseline", "c")
        verdict, means, pairs = blocks(out)
        assert means[1:] == [["c", "0.3500"], ["a", "0.4500", "†"], ["b", "0.4000"]]
        assert pairs[0][2] == "baseline"
        assert [row[1:3] for row in pairs[1:]] == [["a", "c"], ["b", "c"]]
        assert "after Holm's correction for the 2 pairs per measure" in " ".join(verdict[0])
        assert "note: † is significantly better, ‡ significantly worse than 'c'.\n" in err

    def test_worse_than_the_baseline(self, gainful, scores):
        means = blocks(gainful("compare", "--scores", scores, "--baseline", "a").out)[1]
        assert means[1:] == [["a", "0.4500"], ["b", "0.4000"], ["c", "0.3500", "‡"]]

    def test_two_runs_show_who_moved(self, gainful, two):
        verdict, _, pairs, moved = blocks(gainful("compare", "--scores", two).out)
        assert pairs[0][-1] == "p"  # one pair: nothing to correct
        assert " ".join(verdict[0]).endswith("Significance is by paired t-test, p < 0.05.")
        assert moved[0] == ["score", "of", "topic", "old", "new", "difference"]
        assert moved[1] == ["q3", "0.4200", "0.3000", "0.1200"]
        assert len(moved) == 6

    def test_movers_of_every_pair(self, gainful, scores, two):
        tables = blocks(gainful("compare", "--scores", scores, "--movers", "1").out)[3:]
        assert [table[1][0] for table in tables] == ["q3", "q1", "q4"]
        assert "of topic" not in gainful("compare", "--scores", two, "--movers", "0").out

    def test_lower_is_better(self, gainful, tmp_path):
        frame = pl.DataFrame({"run": ["x"] * 6 + ["y"] * 6, "query_id": [f"q{i}" for i in range(6)] * 2})
        values = [*BASE, *(BASE + DIFFERENCES)]
        frame = frame.with_columns(measure=pl.lit("Forbidden@3"), score=pl.Series(values))
        frame.write_csv(tmp_path / "s.csv")
        means = blocks(gainful("compare", "--scores", tmp_path / "s.csv").out)[1]
        assert means[1:] == [["a", "x", "0.3500", "b"], ["b", "y", "0.4500"]]

    def test_neither_is_better(self, gainful, tmp_path):
        frame = pl.DataFrame({"run": ["x"] * 6 + ["y"] * 6, "query_id": [f"q{i}" for i in range(6)] * 2})
        frame = frame.with_columns(measure=pl.lit("NumRet"), score=pl.Series([*BASE, *(BASE + DIFFERENCES)]))
        frame.write_csv(tmp_path / "s.csv")
        words = ("compare", "--scores", tmp_path / "s.csv")
        assert (
            "note: Neither higher nor lower is better for NumRet: better means higher there.\n" in gainful(*words).err
        )
        status, out, err = gainful(*words, "--baseline", "x", "--fail-if-worse")
        assert (status, out) == (1, "")
        assert err.endswith("so no run can be worse by it\n")

    def test_many_runs(self, gainful, tmp_path):
        """More than letters can name: how many each beats, and groups."""
        names = [f"r{i:02d}" for i in range(30)]
        rng = np.random.default_rng(0)
        shift = np.linspace(3, 0, 30)  # r00 is the best
        frame = pl.DataFrame({name: rng.random(9) + up for name, up in zip(names, shift, strict=True)})
        frame.write_csv(tmp_path / "many.csv")
        _, out, err = gainful("compare", "--scores", tmp_path / "many.csv")
        (_, means), found = blocks(out), gf.compare(tmp_path / "many.csv")
        assert means[0] == ["run", "score", "beats", "group", "place"]
        assert len(means) == 31
        beaten = found.significant().filter(pl.col("run") == "r00", pl.col("direction") > 0).height
        assert means[1] == ["r00", f"{frame['r00'].mean():.4f}", str(beaten), "of", "29", "1", "1-5"]
        assert means[30][0] == "r29"
        assert "note: The table of all 435 pairs is not printed: CSV and JSON have it.\n" in err

    @pytest.mark.parametrize(
        ("words", "how"),
        [
            (
                ("--test", "bootstrap", "--correction", "bh", "--alpha", "0.1", "--resamples", "99"),
                "studentised bootstrap, p < 0.1 after Benjamini-Hochberg's correction for the 3 pairs per measure.",
            ),
            (("--test", "wilcoxon", "--correction", "none"), "Wilcoxon signed-rank test, p < 0.05."),
            (("--test", "tukey", "--resamples", "99"), "randomised Tukey HSD, p < 0.05."),
        ],
    )
    def test_the_verdict_names_test_and_correction(self, gainful, scores, words, how):
        verdict = blocks(gainful("compare", "--scores", scores, *words).out)[0]
        assert " ".join(verdict[0]).endswith(f"Significance is by {how}")

    def test_tukey_corrects_itself(self, gainful, scores):
        _, out, err = gainful("compare", "--scores", scores, "--test", "tukey", "--resamples", "99")
        assert "correction=tukey" in err
        assert "p (" not in out


class TestFormats:
    def test_csv_of_movers_is_the_difference_per_topic(self, gainful, two):
        out = gainful("compare", "--scores", two, "--format", "csv", "--movers", "99").out
        rows = list(csv.DictReader(io.StringIO(out)))
        assert list(rows[0]) == ["measure", "run", "other", "query_id", "score", "score_other", "difference"]
        assert {row["query_id"]: float(row["difference"]) for row in rows} == pytest.approx(
            {f"q{i}": difference for i, difference in enumerate(DIFFERENCES, 1)}
        )

    def test_no_effect_size(self, gainful, tmp_path):
        """All differences are the same: there is no variance to divide by, and JSON says null."""
        pl.DataFrame({"x": [0.5, 0.75, 1.0], "y": [0.25, 0.5, 0.75], "z": [0.75, 1.0, 1.25]}).write_csv(
            tmp_path / "s.csv"
        )
        content = json.loads(gainful("compare", "--scores", tmp_path / "s.csv", "--format", "json").out)
        assert [row["effect"] for row in content["pairs"]] == [None] * 3
        assert {(row["low"], row["high"]) for row in content["pairs"]} == {("-inf", "inf")}

    def test_json_of_movers(self, gainful, two):
        content = json.loads(gainful("compare", "--scores", two, "--format", "json", "--movers", "2").out)
        assert [row["query_id"] for row in content["movers"]] == ["q3", "q1"]
        assert {key: content[key] for key in content if key != "movers"} == gf.compare(two).to_dict()

    def test_chart_beside_movers(self, gainful, scores, tmp_path):
        status, _, err = gainful("compare", "--scores", scores, "--chart", tmp_path / "c.svg", "--movers", "1")
        assert status == 0
        assert (tmp_path / "c.svg").read_text().startswith("<svg")
        assert err.endswith(f"chart: {tmp_path / 'c.svg'}\n")


class TestLatex:
    def test_superscripts(self, gainful, scores):
        out = gainful("compare", "--scores", scores, "--format", "latex").out
        means, pairs = out.split("\n\n")
        assert means.splitlines() == [
            r"\begin{tabular}{llrl}",
            r"\toprule",
            r" & run & score & place \\",
            r"\midrule",
            r"a & a & \textbf{0.4500$^{c}$} & 1-2 \\",
            r"b & b & 0.4000 & 1-3 \\",
            r"c & c & 0.3500 & 2-3 \\",
            r"\bottomrule",
            r"\end{tabular}",
        ]
        assert r"0/0/6 & $<$0.0001 & $<$0.0001 \\" in pairs

    def test_movers_are_the_last_table(self, gainful, two):
        words = ("compare", "--scores", two, "--format", "latex")
        *first, last = gainful(*words, "--movers", "1").out.split("\n\n")
        assert first == gainful(*words).out.split("\n\n")[:2]  # means and pairs
        assert last.splitlines()[2:6] == [
            r"score of topic & old & new & difference \\",
            r"\midrule",
            r"q3 & 0.4200 & 0.3000 & 0.1200 \\",
            r"\bottomrule",
        ]

    def test_baseline(self, gainful, scores):
        out = gainful("compare", "--scores", scores, "--format", "latex", "--baseline", "c").out
        assert r"a & \textbf{0.4500$^{\dagger}$} \\" in out
        out = gainful("compare", "--scores", scores, "--format", "latex", "--baseline", "a").out
        assert r"c & 0.3500$^{\ddagger}$ \\" in out

    @pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
    def test_compiles(self, gainful, tmp_path):
        topics = [f"q{i}" for i in range(1, 7)]
        table = tmp_path / "s.csv"
        runs = {SPECIAL: BASE - 0.35, "[x]": BASE + DIFFERENCES, "*y": BASE}
        pl.DataFrame({"query_id": topics, **runs}).write_csv(table)
        (tmp_path / "qrels").write_text("q1 0 d 1\n")
        for name in ("run_1&%.txt", "[2].txt"):
            (tmp_path / name).write_text("q1 Q0 d 1 1 x\n")
        given = [
            gainful("compare", "--scores", table, "--format", "latex").out,
            gainful("compare", "--scores", table, "--format", "latex", "--baseline", "*y").out,
            gainful("evaluate", tmp_path / "qrels", tmp_path / "run_1&%.txt", tmp_path / "[2].txt", "--format", "latex",
                    "-m", "nDCG(gain={-1:-10})@3 AP").out,
        ]  # fmt: skip
        assert all(r"\begin{tabular}" in text for text in given)
        assert "$^{" in given[0]
        assert r"$^{\ddagger}$" in given[1]
        body = "\n\n".join(given)
        start = r"\documentclass{article} \usepackage{booktabs} \begin{document}"
        document = f"{start}\n{body}\n\\end{{document}}\n"
        (tmp_path / "page.tex").write_text(document, encoding="utf-8")
        ended = subprocess.run(
            ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "page.tex"],
            cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stdout[-2000:]
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


class TestPipeline:
    """More in test_compare_worse.py."""

    def test_baseline_may_be_its_file(self, gainful, files):
        status, _, err = gainful("compare", *files, "-m", "RR", "--baseline", files[1], "--fail-if-worse")
        assert status == 3
        assert "'dense' is worse than 'bm25': 0.4583 and 1.0000" in err  # (1/2·3 + 1/3·2 + 1/4·2 + 1)/8 = 0.4583

    @pytest.mark.parametrize("given", ["runs", "runs/*.txt", "runs/../runs"])
    def test_baseline_may_be_a_file_of_a_folder_or_pattern(self, gainful, files, given, tmp_path):
        (tmp_path / "runs").mkdir()
        for file in files[1:]:
            file.rename(tmp_path / "runs" / file.name)
        words = ("compare", files[0], tmp_path / given, "-m", "RR", "--baseline", tmp_path / "runs" / "bm25.txt")
        _, out, err = gainful(*words)
        assert blocks(out)[1][1:] == [["bm25", "1.0000"], ["dense", "0.4583", "‡"]]
        assert "significantly worse than 'bm25'." in err

    def test_baseline_of_several_folders(self, gainful, files, tmp_path):
        for folder, file in (("old", files[1]), ("new", files[2])):
            (tmp_path / folder).mkdir()
            file.rename(tmp_path / folder / "run.txt.x")
        runs = (tmp_path / "old", tmp_path / "new" / "run.txt.x")
        for words in (runs, (tmp_path / "*" / "run.*",)):
            err = gainful("compare", files[0], *words, "-m", "RR", "--baseline", tmp_path / "old" / "run.txt.x").err
            assert "significantly worse than 'old/run.txt.x'." in err

    def test_a_baseline_that_was_not_read_is_refused(self, gainful, files, tmp_path):
        (tmp_path / "other").mkdir()
        other = tmp_path / "other" / "bm25.txt"
        other.write_bytes(files[1].read_bytes())
        status, _, err = gainful("compare", *files, "-m", "RR", "--baseline", other)
        assert status == 1
        assert f"baseline: expected one of the runs bm25, dense, got '{other}'." in err

    @pytest.mark.parametrize("test", ["t", "bootstrap"])
    def test_three_equal_differences_fail_no_build(self, gainful, tmp_path, test):
        """p is 2/2³ by their signs, not 0; eight topics are enough."""
        for topics, expected in ((3, 0), (8, 3)):
            pl.DataFrame({"old": [0.9] * topics, "new": [0.1] * topics}).write_csv(tmp_path / "s.csv")
            words = ("compare", "--scores", tmp_path / "s.csv", "--baseline", "old", "--fail-if-worse", "--test", test)
            assert gainful(*words).status == expected

    def test_tukey_takes_no_correction(self, gainful, scores):
        words = ("compare", "--scores", scores, "--test", "tukey", "--resamples", "9")
        told = "note: Tukey's test corrects for all pairs by itself: --correction bonferroni is not used."
        assert told in gainful(*words, "--correction", "bonferroni").err.splitlines()
        for allowed in ((), ("--correction", "none")):
            assert "Tukey's test" not in gainful(*words, *allowed).err

    def test_known_measures_need_no_note(self, gainful, files):
        err = gainful("compare", *files, "-m", "RR", "--baseline", "bm25", "--fail-if-worse").err
        assert "gainful does not know" not in err


class TestRefused:
    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (
                ("--fail-if-worse",),
                "--fail-if-worse: expected --baseline RUN, the run that the others must not be worse than",
            ),
            (("--baseline", "a", "--margin", "0.1"), "--margin 0.1: expected --fail-if-worse with it"),
            (("--movers", "-1"), "--movers: expected a number of topics of at least 0, got -1"),
            (("--baseline", "d"), "--baseline: expected one of the runs c, a, b, got 'd'."),
            (("--alpha", "5"), "--alpha: expected a number between 0 and 1, got 5.0"),
            (("--seed", "-1"), "--seed: expected a whole number of at least 0, got -1"),
            (("--resamples", "0"), "--resamples: expected a whole number of at least 1, got 0"),
        ],
    )
    def test_settings(self, gainful, scores, words, message):
        status, out, err = gainful("compare", "--scores", scores, *words)
        assert (status, out) == (1, "")
        assert err == f"gainful: error: {message}\n"

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            *(("ties", "order"), ("unjudged", "condensed"), ("missing", "skip"), ("degenerate", "nan")),
            ("duplicates", "first"),
        ],
    )
    def test_policies_of_scores_that_are_computed_already(self, gainful, scores, option, value):
        status, _, err = gainful("compare", "--scores", scores, f"--{option}", value)
        message = f"--{option} {value}: expected judgments and runs with it, got scores that are computed already"
        assert (status, err) == (1, f"gainful: error: {message}\n")

    def test_lower_is_better(self, gainful, files, scores):
        status, _, err = gainful("compare", *files, "--lower-is-better", "AP")
        assert status == 1
        assert err.startswith("gainful: error: --lower-is-better: expected a table of scores with it; ")
        status, _, err = gainful("compare", "--scores", scores, "--lower-is-better", "scores")
        message = "--lower-is-better: expected one of score, got 'scores'. Did you mean 'score'?"
        assert (status, err) == (1, f"gainful: error: {message}\n")

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--margin", "-1"), "--margin: expected a number of at least 0, got -1.0"),
            (("--margin", "0.1", "--alpha", "0.6"), "--alpha: expected a number below 0.5 for a margin, got 0.6"),
            (("--alpha", "1"), "--alpha: expected a number between 0 and 1, got 1.0"),
        ],
    )
    def test_before_anything_is_read(self, gainful, words, message):
        words = ("--scores", "nosuch.csv", "--baseline", "a", "--fail-if-worse", *words)
        assert gainful("compare", *words) == (1, "", f"gainful: error: {message}\n")

    def test_one_run(self, gainful, files):
        status, _, err = gainful("compare", files[0], files[1])
        assert (status, err) == (1, "gainful: error: expected at least 2 runs, got 1: bm25\n")

    def test_one_run_and_what_was_left_out(self, gainful, files, tmp_path):
        broken = tmp_path / "broken.txt"
        broken.write_text("1 Q0 a 1 nan t\n")
        status, _, err = gainful("compare", *files[:2], files[0], broken, "--keep-going")
        assert (status, err.splitlines()) == (
            1,
            [
                "gainful: error: expected at least 2 runs, got 1: bm25",
                f"Left out: {broken}:1: expected a finite score, got 'nan': '1 Q0 a 1 nan t'",
                f"Left out 1 file that is no run: {files[0]} (qrels).",
            ],
        )

    @pytest.mark.parametrize("words", [("--resamples", "1.5"), ("--movers", "x"), ("--test", "z")])
    def test_usage(self, gainful, scores, words):
        assert gainful("compare", "--scores", scores, *words).status == 2
