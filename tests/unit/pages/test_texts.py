from __future__ import annotations

import pytest

import gainful as gf
from gainful.pages import texts

QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
RUNS = {"x": {"1": ["a", "b"], "2": ["c"]}}


def made(**options) -> dict:
    return gf.report(QRELS, RUNS, "nDCG@3", cutoff=3, resamples=20, trials=1, **options).contents


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.tsv", "1\tfirst\n2\tsecond\n9\tother\n"),
        ("q.tsv", "qid\tquery\n1\tfirst\n2\tsecond\n"),
        ("q.jsonl", '{"_id": "1", "text": "first", "metadata": {}}\n{"_id": "2", "text": "second", "metadata": {}}\n'),
        ("q.jsonl", '{"query_id": "1", "query": "first"}\n{"query_id": "2", "query": "second"}\n'),
        ("q.jsonl", '{"topic": 1, "title": "first"}\n{"topic": 2, "title": "second"}\n'),
    ],
)
def test_texts_of_topics(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert made(queries=tmp_path / name)["queries"] == ["first", "second"]


def test_texts_from_a_mapping_are_not_in_the_command():
    found = made(queries={"1": "x" * 500}, docs={"a": "A", "c": None})
    assert found["queries"] == ["x" * 399 + "…", None]
    assert found["why"]["texts"] == {"a": "A"}
    assert found["why"]["texts_said"] == (
        "This page has the first 400 characters of 1 of the 3 documents that it shows: 2 have no text."
    )


def test_a_limit_is_kept_and_said(monkeypatch):
    """Two of three fit: 80 characters of each are the least that says something."""
    monkeypatch.setattr(texts, "MOST_OF_ALL", 170)
    found = made(docs={name: name * 100 for name in "abc"})["why"]
    assert found["texts"] == {"a": "a" * 79 + "…", "b": "b" * 79 + "…"}
    assert found["texts_said"].endswith("2 of the 3 documents that it shows: 1 would make it too large.")


@pytest.mark.parametrize("option", ["queries", "docs"])
def test_files_that_do_not_fit(tmp_path, option):
    with pytest.raises(gf.DataError, match="no such file"):
        made(**{option: tmp_path / "none.tsv"})
    (tmp_path / "other.tsv").write_text("9\tother\n")
    with pytest.raises(gf.DataError, match=r"expected texts of (topics|documents) in the list, got none of them"):
        made(**{option: tmp_path / "other.tsv"})


def test_hidden_judgments_hide_the_documents(tmp_path):
    (tmp_path / "d.tsv").write_text("a\tsecret\n")
    assert "secret" not in str(made(docs=tmp_path / "d.tsv", hide_judgments=True))
