"""`gainful trec_eval`: trec_eval's options, in all the ways getopt takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gainful import __version__

GOLDEN = Path(__file__).parents[2] / "golden" / "trec_eval"
COMMANDS = json.loads((GOLDEN / "commands.json").read_text(encoding="utf-8"))


@pytest.fixture
def files(tmp_path):
    """Topic 1: the relevant document comes second, unjudged ones around it; topic 2 is missing from the run."""
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 2\n1 0 c -1\n")
    (tmp_path / "more").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 u 1 9 t\n1 Q0 a 2 8 t\n1 Q0 c 3 7 t\n1 Q0 b 4 6 t\n")
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_what_trec_eval_prints(name, gainful, monkeypatch):
    monkeypatch.chdir(GOLDEN)
    status, out, err = gainful("trec_eval", *COMMANDS[name])
    assert (status, err) == (0, "")
    assert out == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["-q", "-m", "map"], ["map\t1\t0.5000", "map\tall\t0.5000"]),
        (["-qmmap"], ["map\t1\t0.5000", "map\tall\t0.5000"]),
        (["-qnmmap"], ["map\t1\t0.5000"]),
        (["-nmmap"], []),
        (["-l2", "-mmap"], ["map\tall\t0.2500"]),
        (["-l", "2", "-M3", "-mmap"], ["map\tall\t0.0000"]),
        (["-J", "-mmap"], ["map\tall\t1.0000"]),
        (["-N", "10", "-m", "utility.0,0,0,1"], ["utility_0,0,0,1\tall\t6.0000"]),
        (["-R", "qrels", "-Ttrec_results", "-o", "-mnum_ret"], ["num_ret\tall\t4"]),
        (["--query_eval_wanted", "--nosummary", "--measure=map"], ["map\t1\t0.5000"]),
        (["--level_for_rel", "2", "--Max_retrieved_per_topic=4", "--measure", "map"], ["map\tall\t0.2500"]),
    ],
)
def test_options(words, lines, files, gainful):
    status, out, err = gainful("trec_eval", *words, files / "qrels", files / "run")
    assert (status, err) == (0, "")
    assert [line.replace(" ", "") for line in out.splitlines()] == lines


def test_options_may_follow_the_files(files, gainful):
    assert gainful("trec_eval", files / "qrels", files / "run", "-mnum_rel").out == "num_rel               \tall\t2\n"


def test_complete(files, gainful):
    status, out, err = gainful("trec_eval", "-mmap", files / "more", files / "run")
    assert (status, out) == (1, "")
    assert err == (
        "gainful: error: run 'run' returns nothing for 1 of 2 judged topics (2): "
        "use -c (complete=True) to count them as empty rankings.\n"
    )
    assert gainful("trec_eval", "-cmmap", files / "more", files / "run").out == "map                   \tall\t0.2500\n"


def test_a_run_of_other_topics(files, gainful):
    (files / "other").write_text("9 0 a 1\n")
    status, out, err = gainful("trec_eval", "-cmmap", files / "other", files / "run")
    assert (status, out) == (0, "map                   \tall\t0.0000\n")
    assert err == f"note: {files / 'run'} has none of the judged topics: do these qrels belong to it?\n"


def test_comments_are_skipped(files, gainful):
    for name in ("qrels", "run"):
        text = (files / name).read_text()
        (files / name).write_text(f"# first\n{text}# last\n")
    assert gainful("trec_eval", "-mmap", files / "qrels", files / "run").out == "map                   \tall\t0.5000\n"


def test_bytes_of_ids_stay(files, capfdbinary):
    from gainful.cli.main import main

    (files / "qrels").write_bytes(b"\xe9 0 a 1\n")
    (files / "run").write_bytes(b"\xe9 Q0 a 1 1 \xff\n")
    assert main(["trec_eval", "-qmmap", "-mrunid", str(files / "qrels"), str(files / "run")]) == 0
    assert capfdbinary.readouterr().out == (
        b"map                   \t\xe9\t1.0000\n"
        b"runid                 \tall\t\xff\n"
        b"map                   \tall\t1.0000\n"
    )


def test_version(gainful):
    assert gainful("trec_eval", "-v") == (0, f"gainful {__version__}, as trec_eval 10.0\n", "")
    assert gainful("trec_eval", "--version").out == gainful("trec_eval", "-v").out


def test_help(gainful):
    status, out, err = gainful("trec_eval", "-h")
    assert (status, err) == (0, "")
    assert out.startswith("Usage: gainful trec_eval [OPTIONS] QRELS RUN\n")
    for option in "hvqmclnMJNRTo":
        assert f"\n  -{option} " in out
    assert gainful("trec_eval", "-h", "-m", "map", "-mset_F").out == out + (
        "\nmap\n    average precision: AP\n"
        "set_F.1\n    F-measure of all returned; the parameter is beta squared: SetF\n"
    )
    everything = gainful("trec_eval", "-h", "-m", "all_trec").out
    assert all(f"\n{name}\n" in everything for name in ("map", "Rndcg", "ndcg", "bpref", "rbp"))


@pytest.mark.parametrize(
    ("words", "message"),
    {
        (): "expected two files, qrels and run, got none.",
        ("a",): "expected two files, qrels and run, got 1: a.",
        ("a", "b", "c"): "expected two files, qrels and run, got 3: a, b, c.",
        ("-l", "x", "a", "b"): "-l: expected a label of at least 0, got 'x'.",
        ("-l", "-1", "a", "b"): "-l: expected a label of at least 0, got '-1'.",
        ("-M0", "a", "b"): "-M: expected a whole number of at least 1, got '0'.",
        ("-M", "1.5", "a", "b"): "-M: expected a whole number of at least 1, got '1.5'.",
        ("-M", "9" * 20, "a", "b"): "-M: expected a whole number of at least 1, of at most 15 digits, got '"
        + "9" * 20
        + "'.",
        ("-N", "many", "a", "b"): "-N: expected a whole number, got 'many'.",
        ("-R", "likes", "a", "b"): "-R: expected qrels or prefs or qrels_prefs or qrels_jg, got 'likes'.",
        ("-Tzip", "a", "b"): "-T: expected trec_results, got 'zip'.",
        ("--trec-version", "8", "a", "b"): "--trec-version: expected 9 or 10, got '8'.",
        ("-D1", "a", "b"): "-D: there is no debug output; 'gainful explain' shows how a score comes about.",
        ("-x", "a", "b"): "option -x not recognized.",
        ("--measures", "map", "a", "b"): "option --measures not recognized.",
        ("a", "b", "-m"): "option -m requires argument.",
    }.items(),
)
def test_usage(words, message, gainful):
    assert gainful("trec_eval", *words) == (2, "", f"gainful: error: {message} Try 'gainful trec_eval --help'.\n")


def test_other_judgments_versions_and_cutoffs(files, gainful):
    """Options that reach the function; what they do is tested there."""
    qrels, run, means = files / "qrels", files / "run", files / "means"
    means.write_text("1 map 0 0.25\n")
    assert gainful("trec_eval", "-Z", means, "-mmap", qrels, run).out == "Zmap                   \tall\t2.0000\n"
    assert gainful("trec_eval", "-Rqrels_jg", "-mmap_avgjg", qrels, run).out == "map_avgjg             \tall\t0.5000\n"
    assert gainful("trec_eval", "--trec-version=9", "-mmap", files / "more", run).out.endswith("0.5000\n")
    status, out, err = gainful("trec_eval", "-m", "P.2.5", qrels, run)
    assert (status, out) == (0, "P_2                   \tall\t0.5000\n")
    assert err == "note: P.2.5 is read as P.2, as trec_eval does.\n"


def test_input_that_is_refused(files, gainful):
    qrels, run = files / "qrels", files / "run"

    def refused(*words) -> str:
        status, out, err = gainful("trec_eval", *words)
        assert (status, out) == (1, "")
        return err.removeprefix("gainful: error: ").replace(str(files) + "/", "")

    assert refused("-m", "mapp", qrels, run) == (
        "Unknown measure 'mapp'. Did you mean 'map'? 'gainful trec_eval -h -m all_trec' lists them.\n"
    )
    assert refused(run, qrels) == (
        "run:1: expected 4 fields (topic iteration doc label), got 6: '1 Q0 u 1 9 t'. "
        "It looks like a run; qrels come before runs\n"
    )
    assert refused(qrels, files / "runn") == "runn: no such file. Did you mean 'run'?\n"
    assert refused(files / "qrel", run) == "qrel: no such file. Did you mean 'qrels'?\n"
    with run.open("a") as file:
        file.write("1 Q0 a 5 1 t\n")
    assert refused(qrels, run) == "run 'run': document 'a' appears twice in topic '1': remove one.\n"
