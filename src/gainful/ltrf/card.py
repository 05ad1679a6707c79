"""The card of a saved f-ranker: what it is for, what it is worth and how it is used, as model hubs show it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gainful.ltrf.ranker import FRanker

_TEXT = """\
from sentence_transformers import CrossEncoder
import json

threshold = json.load(open("ranker.json"))["threshold"]
ranked = CrossEncoder("model").rank(query, documents)
shown = [documents[one["corpus_id"]] for one in ranked if one["score"] >= threshold]"""
_FEATURES = """\
import gainful as gf

shown = gf.ltrf.score("this/folder", "new.csv")  # or without gainful: see its page on serving"""


def card(ranker: FRanker) -> str:
    """The text of README.md."""
    known, text = ranker.settings, ranker.kind == "text"
    base = str(known.get("model", ""))
    head = [
        f"library_name: {'sentence-transformers' if text else 'lightgbm'}",
        *(["pipeline_tag: text-ranking"] if text else []),
        *([f"base_model: {base}"] if text and not Path(base).is_dir() else []),
        "tags: [learning-to-rank, filtering, gainful]",
    ]
    worth = [("validation", f"nDCGf@{ranker.cutoff}", ranker.validation["nDCGf"])]
    worth += [("test", name, value) for name, value in (ranker.test or {}).items()]
    forbidden = [label for label, gain in ranker.scale.to_dict().items() if gain < 0]
    rows = [f"| {queries} | {measure} | {value:.4f} |" for queries, measure, value in worth]
    given = [f"{name}: {value}" for name, value in known.items() if value is not None]
    return "\n".join(
        [
            *("---", *head, "---", f"# A ranker that filters ({ranker.kind}, loss {ranker.loss})", ""),
            *(ranker.verdict(), ""),
            "It ranks the documents of a query, and documents that score below its threshold are not to be shown: they "
            "are more likely to do harm than good. That holds for queries and documents like those it was trained on.",
            *("", "## What it is worth", "", "| queries | measure | mean |", "|---|---|---|", *rows, ""),
            f"What labels are worth: {ranker.scale}; must not be shown: {', '.join(forbidden) or 'none'}.",
            *(f"{note.text}" for note in ranker.notes()),
            *("", "## Use", "", "```python", _TEXT if text else _FEATURES, "```", ""),
            *("## Training", "", f"By gainful. {'; '.join(given)}.", ""),
        ]
    )
