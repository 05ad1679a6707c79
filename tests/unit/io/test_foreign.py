"""Judgments and runs in the objects of other packages; each test needs the package, and is left out without it."""

from __future__ import annotations

from pathlib import Path

import pytest

import gainful as gf

QRELS = [("1", "a", 1), ("1", "b", 0), ("2", "c", 1)]
RUN = [("1", "b", 0.75), ("1", "a", 0.5), ("2", "c", 0.25)]
# Of topic 1 the second document is relevant, of topic 2 the first.
EXPECTED = [0.5, 1.0]


def reciprocal_ranks(qrels, run) -> list[float]:
    return gf.evaluate(qrels, run, "RR").values.ravel().tolist()


@pytest.mark.slow
def test_hugging_face_datasets() -> None:
    datasets = pytest.importorskip("datasets")
    qrels = datasets.Dataset.from_list([{"query-id": q, "corpus-id": d, "score": r} for q, d, r in QRELS])
    run = datasets.Dataset.from_list([{"qid": q, "docno": d, "score": s} for q, d, s in RUN])
    assert reciprocal_ranks(qrels, run) == EXPECTED
    assert gf.read_runs({"mine": run})[0].name == "mine"
    chosen = run.filter(lambda row: row["qid"] == "2")  # rows that its table still holds
    assert len(gf.read_run(chosen)) == 1
    with pytest.raises(gf.DataError, match="expected one split of a DatasetDict as qrels, got all of them"):
        gf.evaluate(datasets.DatasetDict({"test": qrels}), run)


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("create table qrels (query_id varchar, doc_id varchar, relevance integer)")
    connection.execute("create table run (query_id varchar, doc_id varchar, score double)")
    connection.executemany("insert into qrels values (?, ?, ?)", QRELS)
    connection.executemany("insert into run values (?, ?, ?)", RUN)
    # Two on one connection, which does one thing at a time.
    assert reciprocal_ranks(connection.table("qrels"), connection.table("run")) == EXPECTED
    assert reciprocal_ranks(connection.table("qrels"), {"mine": connection.sql("from run")}) == EXPECTED


def test_ranx() -> None:
    ranx = pytest.importorskip("ranx")
    qrels = ranx.Qrels({"1": {"a": 1}, "2": {"c": 1}})
    run = ranx.Run({"1": {"b": 0.75, "a": 0.5}, "2": {"c": 0.25}}, name="mine")
    assert reciprocal_ranks(qrels, run) == EXPECTED
    assert [one.name for one in gf.read_runs([run])] == [gf.read_run(run).name] == ["mine"]


@pytest.mark.filterwarnings("ignore")
def test_trectools(tmp_path: Path) -> None:
    trectools = pytest.importorskip("trectools")
    (tmp_path / "q").write_text("".join(f"{q} 0 {d} {r}\n" for q, d, r in QRELS))
    (tmp_path / "r").write_text("".join(f"{q} Q0 {d} 1 {s} mine\n" for q, d, s in RUN))
    qrels, run = trectools.TrecQrel(str(tmp_path / "q")), trectools.TrecRun(str(tmp_path / "r"))
    assert reciprocal_ranks(qrels, run) == EXPECTED
    assert gf.read_run(run).name == "mine"
    with pytest.raises(gf.DataError, match=r"expected a run, got trectools\.TrecQrel: give a TrecQrel, then"):
        gf.evaluate(run, qrels)


def test_ir_datasets(tmp_path: Path) -> None:
    ir_datasets = pytest.importorskip("ir_datasets")
    (tmp_path / "q").write_text("".join(f"{q} 0 {d} {r}\n" for q, d, r in QRELS))
    (tmp_path / "t.tsv").write_text("1\tone\n2\ttwo\n")
    made = ir_datasets.create_dataset(qrels_trec=str(tmp_path / "q"), queries_tsv=str(tmp_path / "t.tsv"))
    assert reciprocal_ranks(made, {"1": ["b", "a"], "2": ["c"]}) == EXPECTED
    with pytest.raises(gf.DataError, match="expected a run, got a data set of ir_datasets without scoreddocs"):
        gf.evaluate(made, made)
    with pytest.raises(gf.DataError, match=r"^irds:no-such: expected the name of a data set of ir_datasets"):
        gf.read_qrels("irds:no-such")
