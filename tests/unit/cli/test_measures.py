from __future__ import annotations

import csv
import io
import json

import pytest

from gainful.measures import REGISTRY
from gainful.measures.describe import definition_of


class TestList:
    def test_every_measure_is_listed(self, gainful):
        status, out, err = gainful("measures")
        assert (status, err) == (0, "")
        first = [
            line.split("(")[0].split("@")[0].split("[")[0].split()[0] for line in out.splitlines() if line[0] != " "
        ]
        assert set(REGISTRY) <= set(first)

    def test_fits_a_page(self, gainful):
        assert max(map(len, gainful("measures").out.splitlines())) <= 100

    def test_csv(self, gainful):
        rows = list(csv.DictReader(io.StringIO(gainful("measures", "--format", "csv").out)))
        assert [row["name"] for row in rows] == list(REGISTRY)
        found = {row["name"]: row for row in rows}
        assert found["Forbidden"]["better"] == "lower"
        assert found["nDCG"]["better"] == "higher"
        assert found["Judged"]["better"] == "-"
        assert found["P"]["signature"] == "P(rel=1)@k"
        assert found["RR"]["reference"] == "Kantor & Voorhees, Information Retrieval 2(2), 2000."

    def test_json(self, gainful):
        assert [entry["name"] for entry in json.loads(gainful("measures", "--format", "json").out)] == list(REGISTRY)


class TestOne:
    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("nDCG", "nDCG"),
            ("ndcg_cut_10", "nDCG"),
            ("nDCGf", "nDCG"),
            ("map", "AP"),
            ("P", "P"),
            ("P_5", "P"),
            ("iprec", "iP"),
            ("iP", "iP"),
            ("nDCG(norm='f')@3", "nDCG"),
            ("rbp", "RBP"),
        ],
    )
    def test_any_of_its_names(self, text, name):
        assert definition_of(text).name == name

    def test_page(self, gainful):
        out = gainful("measures", "ndcg").out
        assert out.startswith("nDCG(gain='linear', discount='log2', base=2, norm='zero')[@k]\n\n")
        assert REGISTRY["nDCG"].doc in out
        assert "  norm       one of zero, org, min, f (default 'zero')\n" in out
        assert "nDCGf:       nDCG(norm='f')\n" in out
        assert "range:       unbounded\n" in out

    def test_page_of_a_measure_that_needs_a_cutoff(self, gainful):
        out = gainful("measures", "P").out
        assert "  cutoff     a whole number of at least 1 (required)\n" in out
        assert "range:       0 to 1\n" in out
        assert "ties:        trec, order, expected\n" in out

    def test_json(self, gainful):
        content = json.loads(gainful("measures", "ERR", "--format", "json").out)
        assert content["name"] == "ERR"
        assert content["parameters"]["max_label"]["default"] == 4
        assert content["bounds"] == [0.0, 1.0]

    def test_unknown(self, gainful):
        message = "gainful: error: Unknown measure 'nDGC'. Did you mean 'nDCG'? 'gainful measures' lists them all.\n"
        assert gainful("measures", "nDGC") == (1, "", message)

    def test_output(self, gainful, tmp_path):
        assert gainful("measures", "-o", tmp_path / "list.csv").out == ""
        assert (tmp_path / "list.csv").read_text(encoding="utf-8").startswith("name,signature")
