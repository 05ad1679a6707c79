"""Reading examples: every format, every way in which a file can be wrong."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gainful as gf
from gainful.errors import DataError, GainfulError
from gainful.ltrf.data import read_examples
from gainful.ltrf.targets import Scale

ROWS = [
    {"query_id": "1", "query": "what", "doc_id": "a", "document": 'this, and "that"', "label": 2},
    {"query_id": "2", "query": "who", "doc_id": "a", "document": "me", "label": -1},
    {"query_id": "1", "query": "what", "doc_id": "b", "document": "nothing", "label": 0},
]


def refused(source, message, **options):
    with pytest.raises(DataError) as caught:
        read_examples(source, **options)
    assert str(caught.value) == message


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


class TestText:
    def check(self, examples):
        """Queries as they first appear, their documents side by side."""
        assert str(examples) == "3 documents of 2 queries, text"
        assert examples.queries == ("1", "2")
        assert examples.sizes.tolist() == [2, 1]
        assert examples.doc_ids == ["a", "b", "a"]
        assert examples.labels.tolist() == [2.0, 0.0, -1.0]
        assert examples.frame["document"].to_list() == ['this, and "that"', "nothing", "me"]

    def test_jsonl(self, tmp_path):
        lines = [json.dumps(row) for row in ROWS]
        self.check(read_examples(write(tmp_path / "a.jsonl", "\n\n".join(lines) + "\n")))
        (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
        self.check(read_examples(str(tmp_path / "b.jsonl.gz")))

    @pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
    def test_tables(self, tmp_path, suffix):
        path = tmp_path / f"a.{suffix}"
        frame = pl.DataFrame(ROWS)
        if suffix == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_csv(path, separator="\t" if suffix == "tsv" else ",")
        self.check(read_examples(path))

    @pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame, pa.Table.from_pylist])
    def test_frames(self, make):
        self.check(read_examples(make(ROWS)))

    def test_other_names(self):
        names = {"query_id": "qid", "doc_id": "docno", "label": "relevance", "document": "text"}
        self.check(read_examples(pl.DataFrame(ROWS).rename(names)))

    def test_without_labels(self):
        examples = read_examples(pl.DataFrame(ROWS).drop("label"), labelled=False)
        assert np.isnan(examples.labels).all()
        refused(examples, "examples: expected a label for every document, got some without")


class TestFeatures:
    def test_table(self, tmp_path):
        path = write(tmp_path / "a.csv", "qid,docno,f1,label,f 2\n1,a,.5,2,-1e3\n1,b,,0,7\n")
        examples = read_examples(path)
        assert (examples.kind, examples.names) == ("features", ("f1", "f 2"))
        assert np.array_equal(examples.features, np.array([[0.5, -1000], [np.nan, 7]], np.float32), equal_nan=True)

    def test_letor_as_a_plain_loop_reads_it(self, tmp_path):
        rng = np.random.default_rng(0)
        lines, expected = [], []
        for number in range(200):
            query, label = int(rng.integers(1, 20)), int(rng.integers(-2, 3))
            cells = {int(f): round(float(rng.normal()), 4) for f in rng.choice(np.arange(1, 31), 8, replace=False)}
            text = ("  " if number % 3 else "\t").join(f"{f}:{v}" for f, v in sorted(cells.items()))
            comment = [f" # d{number}", f" #docid = d{number} inc = 1", f"   #d{number}"][number % 3]
            lines.append(f"{label} qid:{query} {text}{comment}")
            expected.append((str(query), f"d{number}", float(label), cells))
        examples = read_examples(write(tmp_path / "train.txt", "# a comment\n\n" + "\n".join(lines) + "\n"))
        first = list(dict.fromkeys(query for query, *_ in expected))
        expected.sort(key=lambda row: first.index(row[0]))  # stable: the order in a query is kept
        assert [row[:3] for row in expected] == examples.frame.select("query_id", "doc_id", "label").rows()
        dense = np.zeros((200, 30), np.float32)
        for row, (*_, cells) in enumerate(expected):
            for feature, value in cells.items():
                dense[row, feature - 1] = value
        assert examples.names == tuple(str(n) for n in range(1, 31))
        assert np.array_equal(examples.features, dense)

    def test_letor_ids_and_feature_0(self, tmp_path):
        examples = read_examples(write(tmp_path / "a.dat", "1 qid:x 0:2 3:1\n\n0 qid:x 1:5\n"))
        assert examples.doc_ids == ["1", "3"]  # line numbers
        assert examples.names == ("0", "1", "3")  # no line names feature 2
        assert examples.features.tolist() == [[2, 0, 1], [0, 5, 0]]

    def test_matrix_by_name(self):
        examples = read_examples(pl.DataFrame({"qid": [1], "docno": ["a"], "label": [1], "x": [1.0], "y": [2.0]}))
        assert examples.matrix(("y", "x")).tolist() == [[2.0, 1.0]]
        assert examples.matrix(("y",)).tolist() == [[2.0]]
        with pytest.raises(DataError) as caught:
            examples.matrix(("x", "z"))
        assert str(caught.value) == (
            "examples: expected the 2 features that the f-ranker learnt from, got none called 'z'"
        )

    def test_letor_features_that_no_line_names_are_refused(self, tmp_path):
        path = write(tmp_path / "a.txt", "1 qid:1 1:7 2:5\n0 qid:1 9:0\n")
        assert read_examples(path).matrix(("2", "9", "1")).tolist() == [[5.0, 0.0, 7.0], [0.0, 0.0, 0.0]]
        with pytest.raises(DataError) as caught:
            read_examples(path).matrix(("2", "4", "1"))
        assert str(caught.value) == (
            f"{path}: expected the 3 features that the f-ranker learnt from, got none called '4'; if they are 0 in all "
            "lines, name them in one, as 4:0"
        )

    def test_letor_in_blocks(self, tmp_path, monkeypatch):
        """However many lines are read at a time, and wherever a feature is named first."""
        path = write(tmp_path / "a.txt", "1 qid:1 1:7\n\n0 qid:1 3:5\n# x\n2 qid:2 2:1 # a\n2 qid:1 1:4 3:0\n")
        monkeypatch.setattr("gainful.io.letor._AT_ONCE", 2)
        examples = read_examples(path)
        assert examples.doc_ids == ["1", "3", "6", "a"]
        assert examples.features.tolist() == [[7, 0, 0], [0, 0, 5], [4, 0, 0], [0, 1, 0]]

    def test_letor_lines_are_judgments(self, tmp_path):
        path = write(tmp_path / "a.txt", "# LETOR\n2 qid:7 1:0.5 2:1\n-1 qid:7 1:0.5 # docid = b inc = 1\n")
        assert gf.read_qrels(path).frame.rows() == [("7", "2", 2.0), ("7", "b", -1.0)]
        scores = gf.evaluate(path, {"7": {"2": 1.0, "b": 0.5}}, "nDCGf@1")
        assert scores.summary()[0, 0] == 1.0
        gf.write_qrels(path, tmp_path / "qrels.txt")
        assert (tmp_path / "qrels.txt").read_text() == "7 0 2 2\n7 0 b -1\n"
        assert gf.ltrf.qrels(path, gains="{-1:-10,2:3}").frame["relevance"].to_list() == [3.0, -10.0]

    def test_fingerprint(self):
        frame = pl.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [1, 0], "x": [1.0, 2.0]})
        changed = [frame.with_columns(x=pl.Series([1.0, 3.0])), frame.rename({"x": "y"}), frame.with_columns(label=0)]
        prints = [read_examples(one).fingerprint() for one in (frame, *changed)]
        assert len(set(prints)) == 4
        assert read_examples(frame.clone()).fingerprint() == prints[0]


class TestRefused:
    def test_jsonl(self, tmp_path):
        good = json.dumps(ROWS[0])
        path = write(tmp_path / "a.jsonl", f"{good}\n\n{good[:60]}\n")
        refused(path, f"{path}:3: expected a JSON object, got {good[:60]!r}")
        path = write(tmp_path / "b.jsonl", f"{good}\n[1]\n")
        refused(path, f"{path}:2: expected a JSON object, got '[1]'")
        path = write(tmp_path / "c.jsonl", f'{good}\n{{"query_id": 1}}\n')
        refused(
            path,
            f"{path}:2: expected the keys of the first line, doc_id, document, label, query, query_id; got query_id",
        )
        wrong = json.dumps({**ROWS[1], "label": "good"})
        path = write(tmp_path / "d.jsonl", f"{good}\n\n{wrong}\n")
        refused(path, f"{path}:3: expected a finite number as label, got 'good'")
        path = write(tmp_path / "e.jsonl", f"{good}\n{json.dumps({**ROWS[1], 'document': None})}\n")
        refused(path, f"{path}:2: expected a document, got nothing")
        path = write(tmp_path / "f.jsonl", f"{good}\n{good}\n")
        refused(path, f"{path}:2: expected every document once in a query, got 'a'")
        path = write(tmp_path / "g.jsonl", json.dumps({**ROWS[0], "document": ["a"]}) + "\n")
        refused(path, f"{path}: expected text in column 'document', got lists or objects")

    def test_csv(self, tmp_path):
        head = "query_id,query,doc_id,document,label\n"
        path = write(tmp_path / "a.csv", f"{head}1,what,a,text,2\n1,what,b,te")
        refused(path, f"{path}, row 2: expected a finite number as label, got nothing")
        path = write(tmp_path / "b.csv", f"{head}1,what,a,text,nan\n")
        refused(path, f"{path}, row 1: expected a finite number as label, got 'nan'")
        path = write(tmp_path / "c.csv", "query_id,doc_id,label,f\n1,a,1,0.5\n1,b,1,x\n")
        refused(path, f"{path}, row 2: expected a number in column 'f', got 'x'")
        path = write(tmp_path / "d.csv", head)
        refused(path, f"{path}: expected examples, got none")

    def test_columns(self):
        frame = pl.DataFrame(ROWS)
        refused(
            frame.drop("doc_id"),
            "examples: expected the columns query_id, doc_id, label, got query_id, query, document, label",
        )
        refused(
            frame.drop("query"),
            "examples: expected the columns query and document, or one column per feature, got only 'document'",
        )
        refused(
            frame.drop("query", "document"),
            "examples: expected columns query and document, or one column per feature, got neither",
        )
        refused(frame.with_columns(relevance=1), "examples: expected one column for the label, got label and relevance")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("1 qid:1 1:2\n1 quid:1 1:2\n", ":2: expected 'label qid:… 1:… 2:…', got '1 quid:1 1:2'"),
            ("good qid:1 1:2\n", ":1: expected 'label qid:… 1:… 2:…', got 'good qid:1 1:2'"),
            ("1 qid:1 1:2\n\n1 qid:1 1:2 2:\n", ":3: expected feature:value, got '2:'"),
            ("1 qid:1 1:2 x:3\n", ":1: expected feature:value, got 'x:3'"),
            ("1 qid:1\n", ": expected features, got none in any line"),
            ("1 qid:1 9999999999:1\n", ": expected features numbered up to 100000, got 9999999999"),
            ("# nothing\n", ": expected examples, got an empty file"),
        ],
    )
    def test_letor(self, tmp_path, text, message):
        path = write(tmp_path / "a.txt", text)
        refused(path, f"{path}{message}")

    def test_files(self, tmp_path):
        refused(tmp_path / "none.csv", f"{tmp_path / 'none.csv'}: no such file.")
        refused(tmp_path, f"{tmp_path}: expected a file, got a folder")
        path = tmp_path / "a.bin"
        path.write_bytes(b"\xff\xfe\x00")
        refused(path, f"{path}: expected LETOR/SVMlight lines or a table (.csv, .tsv, .jsonl, .ndjson, .parquet)")
        path = tmp_path / "a.parquet"
        path.write_bytes(b"PAR1 no")
        with pytest.raises(DataError, match=r"a\.parquet: cannot be read as parquet: "):
            read_examples(path)
        refused(3, "expected a file or a frame of examples, got int")


class TestSplit:
    def test_by_query(self):
        frame = pl.DataFrame({"qid": np.repeat(np.arange(100), 3), "docno": np.arange(300), "label": 1, "f": 0.5})
        parts = read_examples(frame).split(seed=3)
        assert [len(part.queries) for part in parts] == [64, 16, 20]
        assert sorted(query for part in parts for query in part.queries) == sorted(map(str, range(100)))
        assert all((part.sizes == 3).all() and len(part.features) == len(part) for part in parts)
        again, other = read_examples(frame).split(seed=3), read_examples(frame).split(seed=4)
        assert parts[2].queries == again[2].queries
        assert parts[2].queries != other[2].queries

    def test_refused(self):
        examples = read_examples(pl.DataFrame(ROWS))
        with pytest.raises(DataError, match=r"^examples: expected enough queries for 3 parts, got 2$"):
            examples.split()
        with pytest.raises(
            GainfulError, match=r"^split: expected positive shares that add up to 1, got \(0\.5, 0\.6\)$"
        ):
            examples.split((0.5, 0.6))


def test_labels_without_gains_say_where(tmp_path):
    path = write(tmp_path / "a.csv", "query_id,doc_id,label,f\n1,a,1,0.5\n1,b,7,1\n")
    with pytest.raises(DataError) as caught:
        read_examples(path).check(Scale.of({0: 0.0, 1: 1.0}))
    assert str(caught.value) == f"{path}: expected labels 0, 1, got 7: give every label a gain"
