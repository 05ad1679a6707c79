"""What is wrong with files: each fault is found, in its place, and good files are left alone."""

import gzip
import io
import tarfile

import pytest

import gainful as gf
from gainful.cli.main import main
from gainful.errors import DataError, GainfulError


def lines(topics=("1", "2"), documents=30, *, tag="good", score=lambda rank: 100.0 - rank):
    return [
        f"{topic} Q0 d{number} {number} {score(number)} {tag}" for topic in topics for number in range(1, documents + 1)
    ]


QRELS = "".join(f"{topic} 0 d{number} {int(number < 5)}\n" for topic in ("1", "2") for number in range(1, 21))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "good").write_text("\n".join(lines()) + "\n")
    return tmp_path


def findings(name, data, folder, **limits):
    data = data if isinstance(data, bytes) else "\n".join(data).encode()
    (folder / "runs" / name).write_bytes(data)
    found = gf.check("qrels.txt", "runs", **limits)
    (good,) = [file for file in found.files if file.run == "good"]
    assert good.status == "ok"
    (file,) = [file for file in found.files if file.file == f"runs/{name}"]
    return {(one.level, one.code): one for one in file.findings}


def test_good_files(folder):
    found = gf.check("qrels.txt", "runs")
    assert [(file.file, file.status) for file in found.files] == [("qrels.txt", "ok"), ("runs/good", "ok")]
    run = found.files[1]
    # All of the first ten are judged, and no two scores are the same.
    assert (run.topics, run.documents, run.judged, run.tied) == (2, 60, 1.0, 0.0)
    assert found.errors == 0
    assert found.verdict() == "Of 1 run, 1 is ok. The judgments: ok."


UNREADABLE = {
    "no-tag": ([*lines()[:16], "1 Q0 d17 17 83.0", *lines()[17:]], ":17: expected 6 fields", "Write each line as"),
    "nan": (["1 Q0 d1 1 nan x", *lines()[1:]], ":1: expected a finite score", "Write a finite number"),
    "wide": ("\n".join(lines()).encode("utf-16"), ":1: expected text, got a NUL byte", "UTF-8"),
    "short.gz": (gzip.compress("\n".join(lines()).encode())[:-20], "damaged gzip file", "Pack or copy"),
    "empty": (b"", "got an empty file", "Write the file again"),
    "gap.csv": (b"query_id,doc_id,score\n1,d1,3\n1,d2,\n", ", row 2: expected a number", "Write a finite number"),
    "no-id.csv": (b"query_id,doc_id,score\n1,d1,3\n1,,2\n", ", row 2: expected a doc_id", "Fill in this field"),
    "no-score.csv": (b"query_id,doc_id\n1,d1\n", "expected columns query_id, doc_id, score", "Rename the columns"),
    "word.json": (b'{"1": {"d1": "three"}}', "topic '1', doc 'd1': expected a number", "Write a finite number"),
    "short.json": (b'{"1": {"d1": 3, "d2":', "cannot be read as JSON", "Write the file again"),
    "word.jsonl": (b'{"query_id": "1", "doc_id": "d1", "score": "x"}\n', ":1: expected a number", "Write a finite"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable(folder, name):
    data, where, remedy = UNREADABLE[name]
    one = findings(name, data, folder)["error", "unreadable"]
    assert one.text.startswith(f"runs/{name}")
    assert where in one.text
    assert remedy in one.remedy
    with pytest.raises(gf.DataError) as caught:  # evaluation says the same
        gf.evaluate("qrels.txt", f"runs/{name}", "AP")
    assert str(caught.value) == one.text


def test_the_place_of_a_fault_is_never_cut_off(folder):
    name = "a-run-of-a-team-with-a-very-long-name-for-it.csv"
    findings(name, b"query_id,doc_id,score\n1,d1,3\n1,d2,\n", folder)
    found = gf.check("qrels.txt", "runs")
    assert found.files[1].brief == "row 2: expected a number as score, got nothing"
    files, details = (table.text() for table in found.tables())
    assert f"runs/{name}" in files
    assert "…" not in details
    assert "row 2:" in " ".join(details.split())


def test_judgments_in_utf_16(folder):
    (folder / "qrels.txt").write_text(QRELS, encoding="utf-16")
    found = gf.check(["qrels.txt", "runs/good"])
    assert [(file.kind, file.status) for file in found.files] == [("qrels", "1 error"), ("run", "ok")]
    assert found.files[0].findings[0].text.startswith("qrels.txt:1: expected text, got a NUL byte")


def test_judgments_after_the_runs(folder):
    found = gf.check(["runs/good", "qrels.txt"])
    assert [(file.kind, file.what) for file in found.files] == [("run", ""), ("no run", "qrels; give judgments first")]
    assert gf.check("qrels.txt", ["runs/good", "qrels.txt"]).files[-1].what == "qrels"


def test_duplicates_and_their_lines(folder):
    twice = [*lines()[:3], "# a comment", lines()[2], *lines()[3:]]
    one = findings("x", twice, folder)["error", "duplicate"]
    assert "document 'd3' appears twice in topic '1' (lines 3 and 5)" in one.text
    three = [*lines(), lines()[0], lines()[1], lines()[2]]
    assert "2 other documents likewise" in findings("x", three, folder)["error", "duplicate"].text


WARNINGS = {
    "negated": (lines(score=float), "rank-contradicts-score"),
    "tied": (lines(score=lambda _: 1.0), "all-tied"),
    "half-tied": (lines(score=lambda rank: 100.0 - rank // 2), "ties"),
    "tags": ([*lines(("1",)), *lines(("2",), tag="other")], "tags"),
    "other-topics": (lines(("7", "8")), "no-topic-matches"),
    "one-more-topic": (lines(("1", "2", "7")), "unknown-topics"),
    "one-topic": (lines(("1",)), "missing-topics"),
    "few": ([*lines(("1",), 500), *lines(("2",), 2)], "few-documents"),
    "corpus": ([line.replace(" d", " e") for line in lines()], "unknown-documents"),
    "unjudged": ([*(f"{t} Q0 e{n} 0 {200 - n} x" for t in "12" for n in range(10)), *lines()], "mostly-unjudged"),
    "latin": (b"1 Q0 \xe4 0 200 good\n" + "\n".join(lines()).encode(), "encoding"),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings(folder, name):
    data, code = WARNINGS[name]
    found = findings(name, data, folder)
    assert ("warning", code) in found
    assert found["warning", code].remedy
    assert not any(level == "error" for level, _ in found)


def test_ranks_that_contradict_scores_in_one_topic_further_down(folder):
    many = [str(topic) for topic in range(1, 40)]
    wrong = [*lines(many), *lines(("40",), score=float)]
    text = findings("x", wrong, folder)["warning", "rank-contradicts-score"].text
    assert text.startswith("In 1 of 40 topics")
    assert f"line {39 * 30 + 2} " in text


def test_limits(folder):
    long = findings("long", lines(documents=31), folder, max_docs=30)["error", "too-many-documents"]
    assert "More than 30 documents in 2 topics: for example 31 in '1'." in long.text
    tag = findings("name", lines(tag="other"), folder, tag_is_name=True)["error", "tag-is-not-name"]
    assert tag.text == "The tag is 'other', and the file is called 'name'."
    (folder / "topics.txt").write_text("1\n2 second\n3\tthird\n")
    found = gf.check("qrels.txt", "runs/good", topics="topics.txt").files[1]
    assert [one.text for one in found.findings] == ["Nothing for 1 of 3 topics: 3."]
    (folder / "topics.xml").write_text("<top>\n<num> Number: 1 </num></top><top><num>2</num></top>")
    assert gf.check("qrels.txt", "runs/good", topics="topics.xml").files[1].status == "ok"
    (folder / "covid.xml").write_text('<topics><topic number="1"></topic><topic number="2"></topic></topics>')
    assert gf.check("qrels.txt", "runs/good", topics="covid.xml").files[1].status == "ok"
    (folder / "topics.jsonl").write_text('{"_id": "1", "query": "one"}\n{"_id": 2, "query": "two"}\n')
    assert gf.check("qrels.txt", "runs/good", topics="topics.jsonl").files[1].status == "ok"
    (folder / "topics.csv").write_text('query_id,text\n"1","one, or more"\n2,two\n')
    assert gf.check("qrels.txt", "runs/good", topics="topics.csv").files[1].status == "ok"
    (folder / "topics.jsonl").write_text('{"text": "one"}\n')
    with pytest.raises(DataError, match=r"^topics.jsonl: expected objects with a key such as query_id or _id, got '{"):
        gf.check("qrels.txt", "runs/good", topics="topics.jsonl")
    with pytest.raises(GainfulError, match="max_docs"):
        gf.check("qrels.txt", "runs", max_docs=0)


def test_judgments(folder):
    (folder / "qrels.txt").write_text("1 0 a 1\n1 0 a 2\n1 0 b 0\n1 0 b 0\n2 0 a 0\n3 0 a -3\n")
    found = gf.check("qrels.txt", "runs", labels=[0, 1, 2]).files[0]
    texts = {one.code: one.text for one in found.findings}
    assert texts["duplicate"].startswith(
        "2 pairs judged more than once, 1 of them differently: for example document 'a' of topic '1' (1, 2)"
    )
    assert texts["labels"].startswith("1 judgment with labels outside the scale (-3)")
    assert texts["no-relevant"] == "2 topics of 3 without a relevant document: 2, 3."


def test_the_first_file_may_be_judgments(folder):
    assert [file.kind for file in gf.check(["qrels.txt", "runs/good"]).files] == ["qrels", "run"]
    assert [file.kind for file in gf.check(["runs/good"]).files] == ["run"]
    assert [file.kind for file in gf.check("qrels.txt").files] == ["qrels"]
    (folder / "bad.txt").write_text("1 0 a x\n")
    assert gf.check("bad.txt", "runs").files[0].findings[0].code == "unreadable"
    (folder / "cut.txt").write_text("1 0 a 1\n1 0 b 0\n1 0")
    first = gf.check(["cut.txt", "runs/good"]).files[0]
    assert (first.kind, first.findings[0].text[:34]) == ("qrels", "cut.txt:3: expected 4 fields (topi")


def test_no_runs_and_archives(folder):
    (folder / "runs" / "README.md").write_text("# Runs\n")
    with tarfile.open(folder / "runs" / "more.tar.gz", "w:gz") as archive:
        for name, data in {"more/second": "\n".join(lines(documents=25, tag="second")), "more/notes.md": "x"}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data.encode()))
    found = gf.check("qrels.txt", "runs", tag_is_name=True)
    assert [(file.file, file.status) for file in found.files[1:]] == [
        ("runs/good", "ok"),
        ("runs/more.tar.gz/more/notes.md", "no run"),
        ("runs/more.tar.gz/more/second", "ok"),
        ("runs/README.md", "no run"),
    ]
    assert found.verdict().endswith("2 files are no runs.")


def test_two_runs_of_a_name(folder):
    (folder / "runs" / "good.gz").write_bytes(gzip.compress("\n".join(lines()).encode()))
    assert [file.status for file in gf.check("qrels.txt", "runs").files] == ["ok", "ok", "1 error"]


def test_one_run_under_two_names(folder):
    """The order of the lines and the tag do not matter; one other score, document or topic does."""
    copied = lines(tag="another")[::-1]
    one = findings("other", copied, folder)["warning", "same-content"]
    assert one.text == "The same topics, documents and scores as in run 'good'."
    assert copied[-1] == "1 Q0 d1 1 99.0 another"
    for changed in ("1 Q0 d1 1 99.5 x", "1 Q0 other 1 99.0 x", "3 Q0 d1 1 99.0 x"):
        assert ("warning", "same-content") not in findings("other", [*copied[:-1], changed], folder)


def test_runs_that_return_nothing_are_no_copies(folder):
    for name in ("one", "two"):
        (folder / "runs" / f"{name}.csv").write_text("query_id,doc_id,score\n")
    found = [one.code for file in gf.check("qrels.txt", "runs").files for one in file.findings]
    assert "same-content" not in found


def test_command(folder, capsys):
    assert main(["check", "qrels.txt", "runs"]) == 0
    (folder / "runs" / "bad").write_text("1 Q0 d1 1 2.5\n")
    assert main(["check", "qrels.txt", "runs", "--details", "--format", "markdown"]) == 1
    out = capsys.readouterr().out
    assert "| runs/bad | 1 error |" in out
    assert "Write each line as: topic Q0 doc rank score tag, with no blank inside a field." in out
    assert main(["check", "runs/good", "--format", "csv"]) == 0
    assert main(["check"]) == 1


def test_a_run_of_a_dict_is_called_by_its_name():
    found = gf.check({"1": {"a": 1}}, {"r": {"1": {"a": float("nan")}}, "s": {"1": {"a": 1.0}}}).files
    assert [file.file for file in found] == ["qrels", "r", "s"]
    assert found[1].brief.startswith("run dict, topic '1', doc 'a': expected a finite score")
