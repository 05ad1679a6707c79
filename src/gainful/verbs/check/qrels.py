"""Judgments: labels outside the scale, topics without relevant documents, pairs judged twice."""

from __future__ import annotations

from collections.abc import Iterator

from gainful import _polars as pl
from gainful.data.qrels import Qrels
from gainful.results import plural, some
from gainful.verbs.check.result import FileCheck, Finding


def check_qrels(qrels: Qrels, name: str, labels: tuple[float, ...] | None) -> FileCheck:
    """All that is wrong with judgments that can be read."""
    findings = [*_twice(qrels.frame), *_outside(qrels.frame, labels), *_without_relevant(qrels.frame)]
    return FileCheck(
        file=name,
        run=None,
        kind="qrels",
        topics=len(qrels.topics),
        documents=qrels.frame.height,
        findings=tuple(sorted(findings, key=lambda finding: finding.level != "error")),
    )


def _twice(frame: pl.DataFrame) -> Iterator[Finding]:
    pair = ["query_id", "doc_id", *(["iteration"] if "iteration" in frame.columns else [])]  # which names a subtopic
    twice = frame.filter(frame.select(pair).is_duplicated())
    if twice.is_empty():
        return
    by_pair = twice.group_by(pair, maintain_order=True).agg(pl.col("relevance").unique())
    different = by_pair.filter(pl.col("relevance").list.len() > 1)
    topic, document, *_, found = (different if different.height else by_pair).row(0)
    how = f"{different.height} of them differently" if different.height else "with the same label"
    text = (
        f"{plural(by_pair.height, 'pair')} judged more than once, {how}: for example document {document!r} of topic "
        f"{topic!r} ({', '.join(f'{label:g}' for label in sorted(found, key=lambda x: x or 0.0))})."
    )
    yield Finding(level="error", code="duplicate", text=text, remedy="Keep one judgment of each pair.")


def _outside(frame: pl.DataFrame, labels: tuple[float, ...] | None) -> Iterator[Finding]:
    if labels is None:
        return
    wrong = frame.filter(pl.col("relevance").is_not_null() & ~pl.col("relevance").is_in(list(labels)))
    if wrong.height:
        found = [f"{label:g}" for label in sorted(wrong["relevance"].unique().to_list())]
        topic, document = wrong.select("query_id", "doc_id").row(0)
        text = (
            f"{plural(wrong.height, 'judgment')} with labels outside the scale ({some(found)}): the first is of "
            f"document {document!r} of topic {topic!r}."
        )
        yield Finding(level="error", code="labels", text=text, remedy="Correct them, or give these labels, too.")


def _without_relevant(frame: pl.DataFrame) -> Iterator[Finding]:
    best = frame.group_by("query_id", maintain_order=True).agg(pl.col("relevance").max())
    empty = best.filter(pl.col("relevance").fill_null(0.0) <= 0.0)["query_id"].to_list()
    if empty:
        text = f"{plural(len(empty), 'topic')} of {best.height} without a relevant document: {some(empty)}."
        remedy = "Leave these topics out, or judge more; most measures are undefined there."
        yield Finding(level="warning", code="no-relevant", text=text, remedy=remedy)
