"""Answers of a forum, where the data is at hand: the table of all losses (GAINFUL_DATA, folder cqa-features)."""

from __future__ import annotations

import os
from functools import reduce
from pathlib import Path

import polars as pl
import pytest

import gainful as gf

pytest.importorskip("lightgbm")

DATA = Path(os.environ.get("GAINFUL_DATA", "")) / "cqa-features"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "GAINFUL_DATA" not in os.environ or not DATA.is_dir(),
        reason="set GAINFUL_DATA to the folder of the collections",
    ),
]
GROUPS = ("context.simone", "heuristics.simone", "lexical.wei", "semantic.preslav.glovecomposes", "semantic.simone.lsa")
GOLD = {"dev": "CQA-QL-devel-gold.txt", "test": "CQA-QL-test-gold.txt"}


def examples(split):
    """Five groups of features side by side; labels 2 good, 1 potentially useful, -1 bad or worse."""
    parts = []
    for group in GROUPS:
        name = "devel" if (group, split) == ("lexical.wei", "dev") else split
        part = pl.read_csv(DATA / f"{group}.{name}.csv.gz", infer_schema_length=None)
        part = part.rename({part.columns[0]: "doc_id"}).drop("cgold_yn", strict=False)
        parts.append(part.rename({c: f"{group}_{c}" for c in part.columns if c not in ("doc_id", "cgold")}))
    frame = reduce(
        lambda left, right: left.join(
            right.drop("cgold", strict=False), on="doc_id", how="left", maintain_order="left"
        ),
        parts,
    )
    if split in GOLD:
        gold = pl.read_csv(DATA / GOLD[split], separator="\t", has_header=False, new_columns=["doc_id", "cgold"])
        frame = frame.drop("cgold").join(gold, on="doc_id", how="left", maintain_order="left")
    label = pl.when(pl.col("cgold") == "Good").then(2).when(pl.col("cgold") == "Potential").then(1).otherwise(-1)
    return frame.select(
        pl.col("doc_id").str.extract(r"^(Q\d+)").alias("query_id"),
        label.alias("label"),
        pl.all().exclude("cgold"),
    )


def test_table():
    found = gf.ltrf.compare(
        examples("train"), validation=examples("dev"), test=examples("test"), gains="{-1:-10,1:1,2:2}", bayes=True
    )
    assert found.queries == (2600, 300, 329)
    value = dict(zip(found.models, found.scores.summary()[0], strict=True))
    for loss in found.rankers:
        if loss != "lambdarank":
            assert value[loss] > value["rank-only"] > value["filter-all"]
    assert max(value[loss] for loss in found.rankers) > 0.775
    assert value["filter-all"] == pytest.approx(0.561, abs=5e-4)  # no model in it: the topics' filtering difficulty
