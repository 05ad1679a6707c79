"""Tables: which column is what, which values are accepted, and what is said about the others."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest

from gainful.io.read import read_qrels, read_run, read_runs

QRELS_ROWS = [("1", "a", 2.0), ("1", "b", -1.0)]
RUN_ROWS = [("1", "a", 0.5), ("1", "b", 0.25)]


@pytest.mark.parametrize(
    "columns",
    [
        ("query_id", "doc_id", "relevance"),
        ("qid", "docno", "label"),
        ("q_id", "doc_id", "rel"),
        ("query-id", "corpus-id", "score"),
        ("topic", "document", "relevance"),
        ("Query-ID", " docno ", "LABEL"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
def test_spellings_of_qrels_columns(folder: Path, columns: tuple[str, str, str], suffix: str) -> None:
    separator = "," if suffix == ".csv" else "\t"
    lines = [columns, ("1", "a", "2"), ("1", "b", "-1")]
    (folder / f"q{suffix}").write_text("".join(separator.join(line) + "\n" for line in lines))
    assert read_qrels(f"q{suffix}").frame.rows() == QRELS_ROWS


@pytest.mark.parametrize(
    "columns",
    [
        ("query_id", "doc_id", "score"),
        ("qid", "docno", "score"),
        ("q_id", "docid", "sim"),
        ("topic_id", "doc_id", "sim"),
    ],
)
def test_spellings_of_run_columns(columns: tuple[str, str, str]) -> None:
    frame = pl.DataFrame(RUN_ROWS, schema=list(columns), orient="row")
    assert read_run(frame).frame.rows() == RUN_ROWS


def test_pyterrier_docno_goes_before_docid() -> None:
    frame = pl.DataFrame({"qid": ["1"], "docid": [7], "docno": ["a"], "score": [1.0], "query": ["text"], "rank": [0]})
    assert read_run(frame).frame.rows(named=True) == [{"query_id": "1", "doc_id": "a", "score": 1.0, "rank": 0}]


def test_columns_may_be_in_any_order_among_others(folder: Path) -> None:
    (folder / "q.csv").write_text("note,relevance,iteration,doc_id,query_id\nx,2,0,a,1\nx,-1,0,b,1\n")
    frame = read_qrels("q.csv").frame
    assert frame.rows() == [(*row, "0") for row in QRELS_ROWS]
    assert frame.columns == ["query_id", "doc_id", "relevance", "iteration"]


def test_quoted_cells(folder: Path) -> None:
    (folder / "r.csv").write_text('"query_id","doc_id","score"\n"1","a, ""b""\nc",0.5\n')
    assert read_run("r.csv").frame.rows() == [("1", 'a, "b"\nc', 0.5)]


def test_blank_lines_byte_order_mark_and_crlf(folder: Path) -> None:
    (folder / "r.csv").write_bytes(b"\xef\xbb\xbfqid,docno,score\r\n\r\n1,a,0.5\r\n\r\n1,b,0.25\r\n\r\n")
    assert read_run("r.csv").frame.rows() == RUN_ROWS


def test_ids_keep_their_zeros(folder: Path) -> None:
    (folder / "r.csv").write_text("qid,docno,score\n007,1e5,1\n")
    assert read_run("r.csv").frame.rows() == [("007", "1e5", 1.0)]


def test_ms_marco_qrels_are_trec_text_called_tsv(folder: Path) -> None:
    (folder / "qrels.dev.tsv").write_text("1\t0\ta\t2\n1\t0\tb\t-1\n")
    assert read_qrels("qrels.dev.tsv").frame.rows() == QRELS_ROWS


def test_a_table_with_no_rows_is_an_empty_run(folder: Path) -> None:
    (folder / "r.csv").write_text("qid,docno,score,run\n")
    assert read_run("r.csv").frame.height == 0
    assert read_run(pl.DataFrame({"qid": [], "docno": [], "score": []})).frame.height == 0


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt8, pl.Categorical, pl.Enum(["1", "2"]), pl.Binary])
def test_types_of_ids(dtype: pl.DataType) -> None:
    values = [b"1", b"2"] if dtype == pl.Binary else pl.Series(["1", "2"]).cast(dtype)
    frame = pl.DataFrame({"qid": values, "docno": values, "score": [0.5, 0.25]})
    assert read_run(frame).frame.rows() == [("1", "1", 0.5), ("2", "2", 0.25)]


def test_binary_ids_keep_their_bytes() -> None:
    frame = pl.DataFrame({"qid": [b"1"], "docno": [b"caf\xe9"], "score": [0.5]})
    assert read_run(frame).frame["doc_id"].to_list() == ["caf\U0010ffe9"]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2), pl.String])
def test_types_of_numbers(dtype: pl.DataType) -> None:
    frame = pl.DataFrame({"qid": ["1"], "docno": ["a"], "score": pl.Series([2]).cast(dtype)})
    result = read_run(frame).frame
    assert result.rows() == [("1", "a", 2.0)]
    assert result.schema["score"] == pl.Float64


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Int64, pl.Null])
def test_null_labels_are_pooled_but_not_judged(dtype: pl.DataType) -> None:
    frame = pl.DataFrame({"qid": ["1"], "docno": ["a"], "label": pl.Series([None], dtype=dtype)})
    assert read_qrels(frame).frame["relevance"].to_list() == [None]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.csv", "qid,docno,label\n1,a,\n1,b,1\n"),
        ("q.jsonl", '{"qid": 1, "docno": "a", "label": null}\n{"qid": 1, "docno": "b", "label": 1}\n'),
    ],
)
def test_empty_label_cells(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    assert read_qrels(name).frame["relevance"].to_list() == [None, 1.0]


def test_ranks_stand_in_for_scores() -> None:
    frame = pl.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "rank": [1, 2]})
    assert read_run(frame).frame.rows(named=True) == [
        {"query_id": "1", "doc_id": "a", "score": -1.0, "rank": 1},
        {"query_id": "1", "doc_id": "b", "score": -2.0, "rank": 2},
    ]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".ipc", ".stream.ipc", "", ".gz"])
def test_parquet_and_arrow(folder: Path, suffix: str) -> None:
    frame = pl.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [2, -1], "text": ["x", "y"]})
    if suffix in (".parquet", "", ".gz"):
        frame.write_parquet(f"q{suffix}")
    elif suffix == ".stream.ipc":
        frame.write_ipc_stream(f"q{suffix}")
    else:
        frame.write_ipc(f"q{suffix}")
    assert read_qrels(f"q{suffix}").frame.rows() == QRELS_ROWS


def test_jsonl(folder: Path) -> None:
    (folder / "r.jsonl").write_text(
        '\n{"query_id": "1", "doc_id": "a", "score": 0.5, "text": {"x": [1]}}\n\n'
        '{"doc_id":"b","score":2.5e-1,"query_id":1}\n'
    )
    assert read_run("r.jsonl").frame.rows() == RUN_ROWS


def test_jsonl_under_another_name(folder: Path) -> None:
    (folder / "r.txt").write_text('{"qid": 1, "docno": "a", "rank": 3}\n')
    assert read_run("r.txt").frame["score"].to_list() == [-3.0]


SEVERAL = "run,qid,docno,score\nB,1,a,0.5\nA,1,a,1\nB,1,b,0.25\n"


def test_a_run_column_makes_several_runs(folder: Path) -> None:
    (folder / "all.csv").write_text(SEVERAL)
    runs = read_runs("all.csv")
    assert [run.name for run in runs] == ["B", "A"]
    assert runs[0].frame.rows() == RUN_ROWS
    assert runs[0].frame.columns == ["query_id", "doc_id", "score"]


def test_several_runs_are_not_one(folder: Path, refused) -> None:
    (folder / "all.csv").write_text(SEVERAL)
    with refused("all.csv: expected one run, got 2 ('B', 'A')"):
        read_run("all.csv")
    frame = pl.DataFrame({"run": list("abcd"), "qid": ["1"] * 4, "docno": ["a"] * 4, "score": [1.0] * 4})
    with refused("run DataFrame: expected one run, got 4 ('a', 'b', 'c', …)"):
        read_run(frame)


def test_a_run_column_with_one_name(folder: Path) -> None:
    (folder / "x.csv").write_text("run,qid,docno,score\nB,1,a,0.5\nB,1,b,0.25\n")
    assert read_run("x.csv").name == "B"
    assert read_run("x.csv", name="mine").name == "mine"
    (folder / "x.csv").write_text("run,qid,docno,score\n")
    assert read_run("x.csv").frame.columns == ["query_id", "doc_id", "score"]


@pytest.mark.parametrize(
    ("header", "read", "problem"),
    [
        (
            "qid,text,score",
            read_run,
            "expected columns query_id, doc_id, score, got qid, text, score. doc_id may be called docno, corpus_id, "
            "document, document_id, docid, doc, passage_id, pid, passage, chunk_id, chunk or node_id. For any other "
            "name: columns={'doc_id': 'NAME'}.",
        ),
        (
            "q,d,label",
            read_qrels,
            "expected columns query_id, doc_id, relevance, got q, d, label. query_id may be called qid, q_id, topic, "
            "topic_id, queryid, question_id, query or question; doc_id may be called docno, corpus_id, document, "
            "document_id, docid, doc, passage_id, pid, passage, chunk_id, chunk or node_id. For any other name: "
            "columns={'query_id': 'NAME'}.",
        ),
        (
            "qid,docno,label",
            read_run,
            "expected columns query_id, doc_id, score, got qid, docno, label. "
            "It looks like qrels; qrels come before runs",
        ),
        (
            "qid,docno,score",
            read_qrels,
            "expected columns query_id, doc_id, relevance, got qid, docno, score. "
            "It looks like a run; qrels come before runs",
        ),
        *(
            (
                "run,measure,qid,score",
                read,
                f"expected columns query_id, doc_id, {value}, got run, measure, qid, score. "
                "It looks like a table of scores, which takes the place of judgments and runs",
            )
            for read, value in ((read_qrels, "relevance"), (read_run, "score"))
        ),
        (
            "qid,docno,rank",
            read_qrels,
            "expected columns query_id, doc_id, relevance, got qid, docno, rank. "
            "It looks like a run; qrels come before runs",
        ),
    ],
)
def test_missing_columns(folder: Path, refused, header: str, read, problem: str) -> None:
    (folder / "x.csv").write_text(f"{header}\n1,2,3\n")
    with refused(f"x.csv: {problem}"):
        read("x.csv")
    pl.read_csv("x.csv").write_parquet("x.parquet")
    with refused(f"x.parquet: {problem}"):
        read("x.parquet")
    pl.read_csv("x.csv").write_ndjson("x.jsonl")
    with refused(f"x.jsonl: {problem}"):
        read("x.jsonl")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1,a,rel", "expected a number as label, got 'rel'"),
        ("1,a, 1", "expected a number as label, got ' 1'"),
        ("1,a,nan", "expected a finite label, got nan"),
        ("1,a,-inf", "expected a finite label, got -inf"),
        (",a,1", "expected a query_id, got nothing"),
        ("1,,1", "expected a doc_id, got nothing"),
    ],
)
def test_bad_rows_of_qrels(folder: Path, refused, row: str, problem: str) -> None:
    (folder / "q.csv").write_text(f"qid,docno,label\n1,x,1\n{row}\n1,y,bad\n")
    if "number" not in problem:
        (folder / "q.csv").write_text(f"qid,docno,label\n1,x,1\n{row}\n")
    with refused(f"q.csv, row 2: {problem}"):
        read_qrels("q.csv")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1,a,high,1,r", "expected a number as score, got 'high'"),
        ("1,a,,1,r", "expected a number as score, got nothing"),
        ("1,a,nan,1,r", "expected a finite score, got nan"),
        ("1,a,2,first,r", "expected a number as rank, got 'first'"),
        ("1,a,2,,r", "expected a number as rank, got nothing"),
        ("1,a,2,1.5,r", "expected an integer as rank, got 1.5"),
        ("1,a,2,1e30,r", "expected an integer as rank, got 1e+30"),
        ("1,a,2,1,", "expected a run, got nothing"),
    ],
)
def test_bad_rows_of_runs(folder: Path, refused, row: str, problem: str) -> None:
    (folder / "r.csv").write_text(f"qid,docno,score,rank,run\n1,x,1,1,r\n{row}\n")
    with refused(f"r.csv, row 2: {problem}"):
        read_run("r.csv")


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"qid": [1.5]}, "expected strings or integers in column 'query_id', got Float64"),
        ({"docno": [True]}, "expected strings or integers in column 'doc_id', got Boolean"),
        ({"docno": [["a"]]}, "expected strings or integers in column 'doc_id', got List(String)"),
        ({"score": [True]}, "expected numbers in column 'score', got Boolean"),
        ({"score": [[1]]}, "expected numbers in column 'score', got List(Int64)"),
    ],
)
def test_columns_of_the_wrong_type(refused, values: dict[str, list[object]], problem: str) -> None:
    with refused(f"run frame: {problem}"):
        read_run(pl.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0], **values}))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1, 2]", "expected a JSON object, got '[1, 2]'"),
        ('{"qid": 1', "expected a JSON object, got '{\"qid\": 1'"),
        ("1 Q0 a 1 2 t", "expected a JSON object, got '1 Q0 a 1 2 t'"),
        ("[" * 100_000, "expected a JSON object, got '" + "[" * 77 + "...'"),
        ('{"qid": 1, "docno": 2, "score": "high"}', "expected a number as score, got 'high': "),
        ('{"qid": 1, "docno": 2, "score": true}', "expected a number as score, got True: "),
        ('{"qid": 1, "docno": 2, "score": NaN}', "expected a finite score, got nan: "),
        ('{"qid": 1, "docno": 2, "score": -1e999}', "expected a finite score, got -inf: "),
    ],
)
def test_bad_lines_of_jsonl(folder: Path, refused, line: str, problem: str) -> None:
    (folder / "r.jsonl").write_text(f'\n{{"qid": 1, "docno": 2, "score": 1}}\n{line}\n[]\n')
    with refused(f"r.jsonl:3: {problem}{repr(line) if problem.endswith(' ') else ''}"):
        read_run("r.jsonl")


def test_a_first_line_that_is_not_json(folder: Path, refused) -> None:
    (folder / "r.jsonl").write_text("\n\nqid\n")
    with refused("r.jsonl:3: expected a JSON object, got 'qid'"):
        read_run("r.jsonl")


def test_jsonl_with_missing_keys(folder: Path, refused) -> None:
    (folder / "r.jsonl").write_text('{"qid": 1, "docno": 2, "score": 1}\n{"qid": 1, "score": 1}\n')
    with refused("r.jsonl, row 2: expected a doc_id, got nothing"):
        read_run("r.jsonl")


def test_jsonl_that_only_polars_complains_about(folder: Path, refused, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise pl.exceptions.ComputeError("a bug")

    (folder / "r.jsonl").write_text('{"qid": 1, "docno": 2, "score": 1}\n')
    monkeypatch.setattr(pl, "read_ndjson", fail)
    with refused("r.jsonl: cannot be read as JSONL: a bug"):
        read_run("r.jsonl")


def test_unbalanced_quotes(folder: Path) -> None:
    (folder / "r.csv").write_text('qid,docno,score\n1,"a,1\n')
    with pytest.raises(ValueError, match=r"\Ar\.csv: cannot be read as CSV: could not parse .*\Z"):
        read_run("r.csv")


def test_superfluous_cells(folder: Path, refused) -> None:
    (folder / "r.csv").write_text("qid,docno,score\n1,a,1\n1,b,1,2\n")
    with refused("r.csv: cannot be read as CSV: found more fields than defined in 'Schema'"):
        read_run("r.csv")


def test_corrupt_parquet(folder: Path) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]}).write_parquet(buffer)
    (folder / "r.parquet").write_bytes(buffer.getvalue()[:-9])
    with pytest.raises(ValueError, match=r"\Ar\.parquet: cannot be read as Parquet: .+\Z"):
        read_run("r.parquet")


@pytest.mark.parametrize(("name", "kind"), [("r.parquet", "Parquet"), ("r.arrow", "Arrow"), ("r.feather.gz", "Arrow")])
def test_something_else_called_parquet(folder: Path, refused, name: str, kind: str) -> None:
    (folder / name).write_text("1 Q0 a 1 2 t\n")
    with refused(f"{name}: expected {kind}, got something else"):
        read_run(name)
