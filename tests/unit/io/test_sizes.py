"""Sizes that few have, and ids and labels that nobody should have: right, or refused."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gainful import evaluate, read_run
from gainful.data.run import LargeRun
from gainful.errors import MeasureError
from gainful.io import chunks
from gainful.io.read import iterate_runs

MILLION = 1_000_000

SCORE = """
import re, sys
from gainful import evaluate
from gainful.data import chunks as parts
from gainful.io import chunks

if len(sys.argv) > 2:
    chunks.STREAMED, chunks.CHUNK, parts.BIN = 0, int(sys.argv[2]), 4 * int(sys.argv[2])
evaluate("qrels.txt", sys.argv[1], "AP")
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def peak(path: Path, *chunk: int) -> int:
    """Most memory, in bytes, that a process of its own held at a time."""
    command = [sys.executable, "-c", SCORE, path.name, *map(str, chunk)]
    pure = {} if chunk else {"GAINFUL_PURE": "1"}  # the compiled core holds nothing of a file but its hits
    env = {**os.environ, **pure}
    done = subprocess.run(command, cwd=path.parent, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout) * 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux does")
@pytest.mark.parametrize("order", ["one after another", "scattered"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, order: str) -> None:
    """From 8 to 56 MB; read into a frame, all that the file is larger is held, and its columns besides."""
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 D{topic:020d} 1\n" for topic in range(0, 400, 2)))
    growth = []
    for chunk in ([500_000], []):
        sizes = []
        for rows in (100_000, 700_000):
            number = np.arange(rows)
            frame = pl.DataFrame({"topic": number // (rows // 400) if order == "one after another" else number % 400})
            document = "D" + pl.Series(number).cast(pl.String).str.zfill(20)
            tag = pl.lit("a-tag-that-is-rather-long-and-fills-the-file")
            frame = frame.with_columns(q0=pl.lit("Q0"), doc=document, rank=1, score=-number, tag=tag)
            path = tmp_path / f"{rows}.txt"
            frame.write_csv(path, separator=" ", include_header=False)
            sizes.append(peak(path, *chunk))
        growth.append(sizes[1] - sizes[0])
    assert growth[0] < 25 * MILLION < 60 * MILLION < growth[1]


@pytest.mark.slow
def test_one_topic_of_five_million_documents() -> None:
    """Relevant documents at ranks 1, 1,000,001, …: the precision at the i-th is i / rank."""
    ids = [pl.Series(np.arange(at, at + MILLION)).cast(pl.String) for at in range(0, 5 * MILLION, MILLION)]
    chunks = [
        pl.DataFrame({"query_id": ["q"], "score": [-float(at)]}).select(
            pl.col("query_id").repeat_by(MILLION).explode(), doc_id=doc, score=-pl.Series(doc).cast(pl.Float64)
        )
        for at, doc in enumerate(ids)
    ]
    run = LargeRun("r", lambda: iter(chunks), 100 * MILLION)
    judged = {"q": {str(at * MILLION): 1 for at in range(5)}}
    scores = evaluate(judged, run, ["AP", "NumRet"])
    expected = np.mean([(i + 1) / (i * MILLION + 1) for i in range(5)])
    assert scores["AP"].values.item() == pytest.approx(expected, rel=1e-14)
    assert scores["NumRet"].values.item() == 5 * MILLION


@pytest.mark.parametrize("size", [5000, 1 << 24])
def test_ten_thousand_topics_of_one_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Every second topic returns its relevant document, every second another one."""
    topics = range(10_000)
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("".join(f"{topic} 0 d{topic} 1\n" for topic in topics))
    run.write_text("".join(f"{topic} Q0 d{topic // 2 * 2} 1 1 t\n" for topic in topics))
    monkeypatch.setattr(chunks, "STREAMED", 0)
    monkeypatch.setattr(chunks, "CHUNK", size)
    scores = evaluate(qrels, run, "RR")
    assert scores.values[0, 0].tolist() == [1.0, 0.0] * 5000


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [0, 1 << 40])
def test_five_thousand_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streamed: int) -> None:
    """With room for few open files: each is closed once it was read."""
    monkeypatch.setattr(chunks, "STREAMED", streamed)
    number = 5000 if streamed else 200
    for run in range(number):
        (tmp_path / f"run{run}.txt").write_text(f"1 Q0 a 1 {run % 2} t\n1 Q0 b 2 0.5 t\n")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 50, limits[1]))
    try:
        scores = evaluate({"1": {"a": 1}}, tmp_path, "RR")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert scores.systems[:3] == ("run0", "run1", "run2")
    assert scores.values[0, :, 0].tolist() == [0.5, 1.0] * (number // 2)


# Two of each of the 17 planes of Unicode, the first and the last but two (the very last are no characters).
PLANES = [chr((plane << 16) + at) for plane in range(17) for at in (0x41, 0xFE7D)]


@pytest.mark.parametrize("write", ["text", "write_csv", "write_ndjson", "write_parquet"])
@pytest.mark.parametrize("size", [1, 1 << 24])
def test_ids_of_every_plane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str, size: int) -> None:
    """All tied, hence ranked by the bytes of their ids, the greatest first."""
    frame = pl.DataFrame({"query_id": PLANES[-1], "doc_id": PLANES, "score": 1.0})
    path = tmp_path / {"write_csv": "r.csv", "write_ndjson": "r.jsonl", "write_parquet": "r.parquet"}.get(
        write, "r.txt"
    )
    if write == "text":
        path.write_text("".join(f"{PLANES[-1]} Q0 {doc} 1 1 t\n" for doc in PLANES), encoding="utf-8")
    else:
        getattr(frame, write)(path)
    if size == 1:
        monkeypatch.setattr(chunks, "STREAMED", 0)
    monkeypatch.setattr(chunks, "CHUNK", size)
    assert read_run(path).frame["doc_id"].to_list() == PLANES
    order = sorted(PLANES, key=lambda doc: doc.encode(), reverse=True)
    for rank, doc in enumerate(order, 1):
        if rank % 5 == 1:
            scores = evaluate({PLANES[-1]: {doc: 1}}, iterate_runs(path), "RR")
            assert scores.values.item() == 1 / rank


@pytest.mark.parametrize("measure", ["nDCG@3", "nDCGf@5", "nDCGmin@5", "nDCGorg@5", "AP", "RBP@5", "bpref", "infAP"])
def test_labels_near_the_end_of_the_numbers(measure: str) -> None:
    """Measures that do not depend on the unit of the labels are those of labels of 1."""
    values = []
    for unit in (1.0, 1e308):
        qrels = {"q": {"a": unit, "b": unit, "c": unit, "d": 0, "e": -unit}}
        values.append(evaluate(qrels, {"q": ["a", "b", "d", "c", "e"]}, measure).values.item())
    assert values[1] == pytest.approx(values[0], rel=1e-14)


@pytest.mark.parametrize("measure", ["CG@5", "nDCG(gain='exp')@3", "ERR@5"])
def test_labels_that_add_up_to_no_number_are_refused(measure: str) -> None:
    with pytest.raises(MeasureError):
        evaluate({"q": {"a": 1e308, "b": 1e308}}, {"q": ["a", "b"]}, measure)
