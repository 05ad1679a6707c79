"""Texts of topics and documents: what is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from gainful.io.corpus import texts_of


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "expected texts, TSV (id, text) or JSONL, got an empty file"),
        ("no tab\n", "expected two columns, document and text, separated by a tab, got 1"),
        ("zz\tother\n", "expected texts of documents in the list, got none of them"),
    ],
)
def test_wrong_texts_in_one_sentence(folder: Path, refused, content: str, problem: str) -> None:
    (folder / "docs.tsv").write_text(content)
    with refused(f"docs.tsv: {problem}"):
        texts_of(pl.DataFrame({"doc_id": ["a"]}), Path("docs.tsv"))
