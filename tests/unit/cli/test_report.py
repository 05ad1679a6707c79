from __future__ import annotations

import json
import re
from importlib import import_module

import pytest

import gainful as gf


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = gf.simulate(topics=6, systems=3, depth=30, pool_depth=8, seed=1)
    gf.write_qrels(made.qrels, "qrels.txt")
    for run in made.runs:
        gf.write_run(run, f"{run.name}.txt")
    return [f"{run.name}.txt" for run in made.runs]


def contents(path) -> dict:
    page = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="contents">(.*?)</script>', page, re.DOTALL)[1])


def test_writes_the_page_and_tells_what_it_found(gainful, here, tmp_path):
    words = ["report", "qrels.txt", *here, "-m", "nDCG@5", "-m", "AP", "--resamples", "50", "--trials", "2"]
    status, out, err = gainful(*words, "-o", "mine.html")
    assert status == 0
    told = contents(tmp_path / "mine.html")
    assert " ".join(out.split()) == " ".join(told["findings"])
    assert max(map(len, out.splitlines())) <= 100
    *remarks, settings, _ = err.splitlines()
    assert " ".join(remarks) == " ".join(f"note: {text}" for text in told["notes"])
    assert settings.startswith("report: 3 runs, 6 topics, ")
    assert err.splitlines()[-1] == "written to mine.html: open it in a browser"


def test_tells_of_qrels_that_are_of_other_runs(gainful, here, tmp_path):
    (tmp_path / "strange.txt").write_text("99 Q0 d1 1 1.0 strange\n", encoding="utf-8")
    _, _, err = gainful("report", "qrels.txt", "strange.txt", "-m", "AP")
    assert "note: Run 'strange' has none of the judged topics" in err


def test_the_command_on_the_page_repeats_it(gainful, here, tmp_path):
    words = ["report", "qrels.txt", *here, "-m", "AP", "--seed", "4", "--trials", "2", "--resamples", "50"]
    gainful(*words, "-o", "mine.html")
    command = contents(tmp_path / "mine.html")["command"]
    assert command == f"gainful report -o mine.html qrels.txt {' '.join(here)} -m AP --resamples 50 --trials 2 --seed 4"
    first = (tmp_path / "mine.html").read_bytes()
    again = gainful(*command.split()[1:])
    assert (again.status, again.err.splitlines()[-1]) == (0, "replaced mine.html: open it in a browser")
    assert (tmp_path / "mine.html").read_bytes() == first


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "page.pdf"], "page.pdf: expected a name that ends in .html"),
        (["-o", "no/page.html"], "no/page.html: expected a folder that exists, got 'no'"),
        (["-m", "nDGC@10"], "Unknown measure 'nDGC@10'. Did you mean 'nDCG@10'? 'gainful measures' lists them all."),
    ],
)
def test_refuses_before_any_work(gainful, here, words, message, monkeypatch):
    judged = import_module("gainful.data.align").Judged
    monkeypatch.setattr(judged, "__init__", lambda *_: pytest.fail("it went to work"))
    status, _, err = gainful("report", "qrels.txt", *here, *words)
    assert (status, err) == (1, f"gainful: error: {message}\n")


def test_does_not_write_over_what_it_reads(gainful, here, tmp_path):
    (tmp_path / "run.html").write_bytes((tmp_path / here[0]).read_bytes())
    status, _, err = gainful("report", "qrels.txt", "run.html", "-o", "run.html")
    assert status == 1
    assert err == "gainful: error: run.html: is what is read, and would be lost: write to another file\n"


def test_a_campaign(gainful, here, tmp_path):
    (tmp_path / "bad.txt").write_text("1 Q0 a 1 2.5\n")
    words = ["report", "qrels.txt", *here, "bad.txt", "-m", "AP", "-m", "RR", "--resamples", "50", "--trials", "2"]
    more = ["--keep-going", "--title", "The task", "--hide-judgments", "--save-files", "sent"]
    status, _, err = gainful(*words, *more, "-o", "mine.html")
    assert status == 1
    assert "failed: bad.txt:1: expected 6 fields" in err
    told = contents(tmp_path / "mine.html")
    assert told["title"] == "The task"
    assert "--keep-going --title 'The task' --hide-judgments" in told["command"]
    assert any(text.startswith("bad.txt:1: expected 6 fields") for text in told["notes"])
    qrels = gf.read_qrels("qrels.txt")
    page = json.dumps(told)
    assert not any(f'"{doc}"' in page for doc in qrels.frame["doc_id"])
    report = gf.report("qrels.txt", here, "AP", resamples=50, trials=2, hide_judgments=True)
    assert "absent" in report.to_dict()["why"]

    # One file per run: its scores, and the worst, median and best of the three runs.
    scores = gf.evaluate("qrels.txt", here, "AP")["AP"]
    rows = (tmp_path / "sent" / "runs" / f"{scores.systems[1]}.csv").read_text().splitlines()
    assert rows[0] == "measure,query_id,score,worst,median,best"
    for row, column in zip(rows[1:7], scores.values.T, strict=True):
        assert list(map(float, row.split(",")[2:])) == [column[1], *sorted(column)]
    assert rows[7].startswith("AP,all,")
    printed = gainful("trec_eval", "--trec-version", "9", "-q", "-c", "qrels.txt", here[0]).out
    assert printed == (tmp_path / "sent" / "runs" / f"{scores.systems[0]}.eval").read_text()
    assert (tmp_path / "sent" / "means.tex").read_text().startswith(r"\begin{tabular}")
    assert (tmp_path / "sent" / "scores.csv").read_text().startswith("run,measure,query_id,score\n")
    status, _, err = gainful(*words, "--keep-going", "--save-files", "sent")
    assert (status, "sent: expected a new or empty folder" in err) == (1, True)


def test_what_is_sent_out_is_trec_eval_9(tmp_path):
    """Which compares scores as float32 (so b and a tie, and b comes first), and asks for int(0.2·6 + 0.9) = 2 of 6."""
    judged = {"1": dict.fromkeys("bcdefg", 1) | {"a": 0}}
    run = {"1": {"a": 1.00000001, "b": 1.0, "w": 0.5, "x": 0.4, "c": 0.3}}
    gf.report(judged, {"mine": run, "none": {"2": {"a": 1.0}}}, "AP", resamples=50).save_files(tmp_path / "sent")
    lines = dict.fromkeys(("recip_rank", "iprec_at_recall_0.20"), "")
    for line in (tmp_path / "sent" / "runs" / "mine.eval").read_text().splitlines():
        name, topic, value = line.split()
        if topic == "1" and name in lines:
            lines[name] = value
    assert lines == {"recip_rank": "1.0000", "iprec_at_recall_0.20": "0.4000"}
    assert "map                   \tall\t0.0000\n" in (tmp_path / "sent" / "runs" / "none.eval").read_text()


def test_what_is_sent_out_has_teams(tmp_path):
    """P@1 of a, b and c: 1, 0 and 0; a and b are of one team."""
    runs = {"a": {"1": {"x": 1.0}}, "b": {"1": {"y": 1.0}}, "c": {"1": {"y": 1.0}}}
    teams = {"a": {"team": "us"}, "b": {"team": "us"}, "c": {"team": "them"}}
    gf.report({"1": {"x": 1}}, runs, "P@1", metadata=teams, resamples=50).save_files(tmp_path / "sent")
    rows = (tmp_path / "sent" / "teams.csv").read_text().splitlines()
    assert rows == ["team,runs,best run,best P@1,mean P@1", "us,2,a,1.0,0.5", "them,1,c,0.0,0.0"]
    assert r"us & 2 & a & 1.0000 & 0.5000 \\" in (tmp_path / "sent" / "teams.tex").read_text()
