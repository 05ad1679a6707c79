"""Tables whose columns have other names, other separators, or no names at all."""

from __future__ import annotations

import gzip
import warnings
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import gainful as gf
from gainful.io import chunks
from gainful.io.read import read_qrels, read_run, read_runs

QRELS = [("1", "a", 1.0), ("1", "b", 0.0), ("2", "c", 2.0)]
RUN = [("1", "a", 0.75), ("1", "b", 0.5), ("2", "c", 0.25)]
COLUMNS = {"query_id": "question nr", "doc_id": "source", "score": "cosine", "relevance": "verdict"}


def table(rows: list[tuple[str, str, float]], header: str | None, separator: str = ",") -> str:
    lines = [separator.join(map(str, row)) for row in rows]
    return "\n".join([*([] if header is None else [header.replace(",", separator)]), *lines, ""])


@pytest.mark.parametrize("write", ["csv", "ndjson", "parquet", "ipc"])
def test_columns_are_what_the_reader_calls_them(folder: Path, write: str) -> None:
    for name, rows, value in (("q", QRELS, "verdict"), ("r", RUN, "cosine")):
        frame = pl.DataFrame(rows, schema=["question nr", "source", value], orient="row")
        getattr(frame, f"write_{write}")(f"{name}.{ {'ndjson': 'jsonl', 'ipc': 'arrow'}.get(write, write) }")
    (q,), (r,) = folder.glob("q.*"), folder.glob("r.*")
    assert read_qrels(q, columns=COLUMNS).frame.rows() == QRELS
    assert read_run(r, columns=COLUMNS).frame.rows() == RUN
    assert [run.frame.rows() for run in read_runs([r], columns=COLUMNS)] == [RUN]
    # P@1: of topic 1 a, of topic 2 c, both relevant; as for the same rows under the usual names.
    assert gf.evaluate(q, r, "P@1", columns=COLUMNS).mean()["P@1"].to_list() == [1.0]
    assert gf.align(q, r, columns=COLUMNS).retrieved.tolist() == [2, 1]


def test_a_column_by_its_place() -> None:
    frame = pl.DataFrame(RUN, schema=["x", "y", "z"], orient="row")
    assert read_run(frame, columns={"query_id": 1, "doc_id": "2", "score": 3}).frame.rows() == RUN


def test_a_name_that_is_given_comes_before_one_that_is_known() -> None:
    frame = pl.DataFrame({"query": ["what?"], "id": ["7"], "doc_id": ["a"], "score": [1.0]})
    assert read_run(frame).topics == ["what?"]
    assert read_run(frame, columns={"query_id": "id"}).topics == ["7"]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"chunk": "doc_id"}, "got 'chunk'. Write columns={'doc_id': 'chunk'}: gainful's name comes first."),
        ({"docid": "chunk"}, "got 'docid'. Did you mean 'doc_id'?"),
        (["doc_id"], "columns: expected the name or number of a column as doc_id, got ''"),
        ("doc_id=chunk", "columns: expected a dict such as {'query_id': 'question'}, got 'doc_id=chunk'"),
    ],
)
def test_names_that_are_wrong(columns, problem) -> None:
    with pytest.raises(gf.GainfulError) as error:
        read_run([], columns=columns)
    assert str(error.value).endswith(problem)


@pytest.mark.parametrize("function", [gf.evaluate, gf.align, gf.check, partial(gf.explain, topic="7")])
def test_names_of_columns_that_nothing_has(folder: Path, function) -> None:
    """TREC text and dicts have none; one table among the sources is enough, whatever the others are."""
    Path("q.txt").write_text("7 0 a 1\n")
    Path("r.txt").write_text("7 Q0 a 1 0.5 me\n")
    Path("r.txt.gz").write_bytes(gzip.compress(Path("r.txt").read_bytes()))
    for qrels, run in (("q.txt", "r.txt"), (Path("q.txt"), "r.txt.gz"), ({"7": {"a": 1}}, {"7": {"a": 0.5}})):
        with pytest.raises(gf.GainfulError, match=r"columns: expected a table \(CSV.* got TREC text or dicts only"):
            function(qrels, run, columns={"doc_id": "chunk"})
    Path("q.csv").write_text("query_id,chunk,relevance\n7,a,1\n")
    function("q.csv", "r.txt", columns={"doc_id": "chunk"})


@pytest.mark.parametrize("name", ["x.csv", "x.txt", "x"])
@pytest.mark.parametrize("separator", [";", ","])
def test_separators_are_told_by_the_first_line(folder: Path, name: str, separator: str) -> None:
    (folder / name).write_text(table(RUN, "question nr,source,cosine", separator))
    assert read_run(name, columns=COLUMNS).frame.rows() == RUN
    (folder / name).write_text(table(RUN, "query,passage_id,similarity", separator))
    assert read_run(name).frame.rows() == RUN


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_tables_without_a_header(folder: Path, separator: str, mark: str) -> None:
    (folder / "q.tsv").write_text(mark + table(QRELS, None, separator))
    (folder / "r.tsv").write_text(mark + table(RUN, None, separator))
    assert read_qrels("q.tsv").frame.rows() == QRELS
    assert read_run("r.tsv").frame.rows() == RUN
    four = [(topic, "0", doc, int(label)) for topic, doc, label in QRELS]
    (folder / "q.csv").write_text(mark + table(four, None, separator))
    assert read_qrels("q.csv").frame.select("query_id", "doc_id", "relevance").rows() == QRELS


def test_an_error_in_a_table_without_a_header_names_its_row(folder: Path, refused) -> None:
    (folder / "r.csv").write_text("1,a,0.5\n1,b,high\n")
    with refused("r.csv, row 2: expected a number as score, got 'high'"):
        read_run("r.csv")
    (folder / "q.csv").write_text("1,a,1\n1,b\n")
    with refused("q.csv:2: expected 3 fields, got 2"):
        read_qrels("q.csv")


def test_decimal_commas_are_told(folder: Path, refused) -> None:
    (folder / "r.csv").write_text("query_id;doc_id;score\n1;a;0,5\n")
    with refused("r.csv, row 1: expected a number as score, got '0,5': write a decimal point"):
        read_run("r.csv")


def test_whole_numbers_may_be_ranks_and_are_for_the_reader_to_name(folder: Path, refused) -> None:
    (folder / "r.tsv").write_text("1\ta\t1\n1\tb\t2\n")  # MS MARCO's runs: topic, document, rank
    with refused(
        "r.tsv: expected columns query_id, doc_id, score, got 3 without names: say which column is which, such as "
        "columns={'query_id': '1', 'doc_id': '2', 'score': '3'}."
    ):
        read_run("r.tsv")
    run = read_run("r.tsv", columns={"query_id": 1, "doc_id": 2, "rank": 3})
    assert run.frame.select("doc_id", "score").rows() == [("a", -1.0), ("b", -2.0)]


def test_large_files_and_data_sets(folder: Path, monkeypatch) -> None:
    (folder / "r.csv").write_text(table(RUN, None))
    (folder / "set.parquet").mkdir()
    frame = pl.DataFrame(RUN, schema=["question nr", "source", "cosine"], orient="row")
    frame.write_parquet("set.parquet/0.parquet")
    expected = gf.evaluate(read_qrels(pl.DataFrame(QRELS, ["query_id", "doc_id", "relevance"], orient="row")), [RUN])
    monkeypatch.setattr(chunks, "STREAMED", 1)
    for source, columns in (("r.csv", None), ("set.parquet", COLUMNS)):
        found = gf.evaluate({"1": {"a": 1, "b": 0}, "2": {"c": 2}}, source, columns=columns)
        assert found.values.tolist() == expected.values.tolist()


def test_documents_with_the_id_of_their_topic(folder: Path, monkeypatch) -> None:
    qrels, run = {"a": {"b": 1}, "b": {"a": 1}}, {"a": {"a": 3.0, "b": 2.0}, "b": {"a": 3.0, "b": 2.0}}
    assert gf.evaluate(qrels, run, "RR").values.ravel().tolist() == [0.5, 1.0]
    (folder / "r.txt").write_text("a Q0 a 1 3 x\na Q0 b 2 2 x\nb Q0 a 1 3 x\nb Q0 b 2 2 x\n")
    for source in (run, "r.txt"):
        assert gf.evaluate(qrels, source, "RR", ignore_identical_ids=True).values.ravel().tolist() == [1.0, 1.0]
    monkeypatch.setattr(chunks, "STREAMED", 1)
    assert gf.evaluate(qrels, "r.txt", "RR", ignore_identical_ids=True).values.ravel().tolist() == [1.0, 1.0]


def test_at_the_shell(folder: Path, gainful) -> None:
    (folder / "q.csv").write_text(table(QRELS, "question nr,source,verdict"))
    (folder / "r.csv").write_text(table(RUN, "question nr,source,cosine"))
    words = ("evaluate", "q.csv", "r.csv", "-m", "P@1", "--format", "csv")
    out = gainful(
        *words, "--columns", "query_id=question nr,doc_id=source", "--columns", "score=cosine,relevance=verdict"
    )
    assert out.out.splitlines()[1] == "r,P@1,all,1.0"
    wrong = gainful(*words)
    assert wrong.status == 1
    assert "For any other name: --columns query_id=NAME." in wrong.err


def test_nothing_is_said_of_files_as_they_should_be(folder: Path) -> None:
    (folder / "q.csv").write_text(table(QRELS, "query_id,doc_id,relevance"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_qrels("q.csv").frame.rows() == QRELS
