"""What `Qrels` and `Run` refuse, whoever makes them."""

import re

import polars as pl
import pytest

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import DataError

JUDGED = {"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [1.0, None]}
RANKED = {"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [1.0, 0.5]}


@pytest.mark.parametrize(
    ("kind", "frame", "message"),
    [
        (Qrels, {}, "qrels 'x': expected columns query_id, doc_id, relevance, got none"),
        (Run, JUDGED, "run 'x': expected columns query_id, doc_id, score, got query_id, doc_id, relevance"),
        (Run, {**RANKED, "score": [1, 2]}, "run 'x': expected column 'score' to be Float64, got Int64"),
        (Qrels, {**JUDGED, "doc_id": ["a", None]}, "qrels 'x', row 2: expected a doc_id, got null"),
        (Run, {**RANKED, "query_id": [None, "1"]}, "run 'x', row 1: expected a query_id, got null"),
        (Run, {**RANKED, "score": [1.0, None]}, "run 'x', row 2: expected a finite score, got null"),
        (Run, {**RANKED, "score": [1.0, float("nan")]}, "run 'x', row 2: expected a finite score, got nan"),
        (Qrels, {**JUDGED, "relevance": [float("-inf"), 1.0]}, "qrels 'x', row 1: expected a finite label, got -inf"),
    ],
)
def test_refused(kind, frame, message):
    with pytest.raises(DataError, match=rf"\A{re.escape(message)}\Z"):
        kind(pl.DataFrame(frame), "x")


def test_accepted():
    qrels, run = Qrels(pl.DataFrame(JUDGED)), Run(pl.DataFrame(RANKED), "mine")
    assert (len(qrels), qrels.topics, repr(qrels)) == (2, ["1"], "Qrels('qrels': 2 judgments, 1 topic)")
    assert (len(run), run.topics, repr(run)) == (2, ["1"], "Run('mine': 2 documents, 1 topic)")
