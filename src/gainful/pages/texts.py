"""What topics ask and what documents say, for those who read a page: as much of it as a page can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gainful import _polars as pl
from gainful.io.corpus import texts_of
from gainful.pages.inputs import Inputs

# Characters of one text, and of all documents of a page.
MOST_OF_ONE = 400
MOST_OF_ALL = 3_000_000
# Less of a document says nothing: rather none of some.
LEAST_OF_ONE = 80


def _texts(ids: Sequence[str], source: Any, key: str) -> list[str | None]:
    """The text of each, None where there is none."""
    if isinstance(source, Mapping):
        return [None if source.get(one) is None else str(source[one]) for one in ids]
    return texts_of(pl.DataFrame({key: pl.Series(ids, dtype=pl.String)}), Path(source))["text"].to_list()


def _begun(text: str | None, most: int) -> str | None:
    return text if text is None or len(text) <= most else f"{text[: most - 1]}…"


def queries(given: Inputs) -> list[str | None] | None:
    """The beginning of the text of each topic; None without texts."""
    if "queries" not in given.texts:
        return None
    found = _texts(given.scores.topics, given.texts["queries"], "query_id")
    return [_begun(text, MOST_OF_ONE) for text in found]


def with_texts(why: dict[str, Any], given: Inputs) -> dict[str, Any]:
    """The rankings with the beginnings of the documents that they show, and a sentence on how much of them."""
    if "docs" not in given.texts:
        return why
    ids = list(dict.fromkeys(doc for topic in why["documents"] for doc in topic))
    found = {
        doc: text for doc, text in zip(ids, _texts(ids, given.texts["docs"], "doc_id"), strict=True) if text is not None
    }
    length = max(LEAST_OF_ONE, min(MOST_OF_ONE, MOST_OF_ALL // max(1, len(found))))
    held = list(found)[: MOST_OF_ALL // length]
    number = f"{len(held):,} of the {len(ids):,}" if len(held) < len(ids) else f"all {len(ids):,}"
    said = f"This page has the first {length} characters of {number} documents that it shows"
    without = len(ids) - len(found)
    reasons = [f"{without:,} have no text"] if without else []
    reasons += [f"{len(found) - len(held):,} would make it too large"] if len(held) < len(found) else []
    return {
        **why,
        "texts": {doc: _begun(found[doc], length) for doc in held},
        "texts_said": f"{said}{': ' if reasons else ''}{', '.join(reasons)}.",
    }
