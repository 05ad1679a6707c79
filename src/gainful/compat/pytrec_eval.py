"""pytrec_eval's API: ``import gainful.compat.pytrec_eval as pytrec_eval`` and leave the rest as it is.

Keys and values are those of pytrec_eval-terrier 0.5.11, which wraps trec_eval 9.0.8, up to the last bits. What is taken
in addition: labels that are not whole numbers, and anything `gainful.read_qrels` and `gainful.read_run` take.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from gainful import _polars as pl
from gainful.compat.trec_eval import check_number, values_of
from gainful.compat.trec_join import judged_in_trec, topics_of_trec
from gainful.compat.trec_measures import Setting, whole_part
from gainful.compat.trec_table import GROUPS, LATER, TABLE, Column, select
from gainful.data.pool import Judged, runs_of_equal
from gainful.data.qrels import Qrels
from gainful.data.rankings import IntArray, Rankings, nameless
from gainful.data.run import Run
from gainful.data.scores import FLOOR
from gainful.errors import DataError, MeasureError, PolicyError
from gainful.io.read import judgments, read_qrels, read_run, returned
from gainful.io.text import QRELS, RUN, Layout, read_text

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

__version__ = "0.5.11"  # what this is equal to, and what others look for; gainful.__version__ is our own

_ABSENT = {*LATER, "yaap", *(name for name, entry in TABLE.items() if entry.format in ("prefs", "qrels_jg"))}

supported_measures: set[str] = set(TABLE) - _ABSENT
supported_nicknames: dict[str, set[str]] = {
    name: set(members) - _ABSENT for name, members in GROUPS.items() if set(members) - _ABSENT > {"runid", "num_q"}
}

Results = dict[str, dict[str, float]]
Value = TypeVar("Value")


class InputTypeError(DataError, TypeError):
    """An argument, or a key or value of a dict, that is not what it must be; a TypeError, as pytrec_eval raises."""


class RelevanceEvaluator:
    """Evaluates runs against the same judgments.

    Parameters
    ----------
    query_relevance
        ``{topic: {document: label}}``, or whatever `gainful.read_qrels` takes. A negative label is not judged.
    measures
        trec_eval's names: ``map``, ``ndcg_cut.5,10`` or ``ndcg_cut_10``, ``official``. A measure whose results have one
        key whatever its parameters (``set_F.0.5``) can be asked for with one choice of them at a time.
    relevance_level
        The label from which a document is relevant: a number above 0.
    judged_docs_only_flag
        Whether unjudged documents are removed before all else.

    Examples
    --------
    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "P_1"})
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.9}, "q2": {"d1": 1.0}})
    {'q1': {'map': 0.5, 'P_1': 0.0}}
    """

    def __init__(
        self,
        query_relevance: object,
        measures: Iterable[str],
        relevance_level: float = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        self._columns = _columns(measures)
        self._level = _level(relevance_level)
        self._judged_only = bool(judged_docs_only_flag)
        try:
            self._judged = _judged(query_relevance)
        except DataError as error:
            raise _as_raised(error, query_relevance) from None
        self._topics = {} if self._judged is None else {name: at for at, name in enumerate(self._judged.topics)}

    def evaluate(self, scores: object) -> Results:
        """The value of every measure for every topic that is both judged and in the run: ``{topic: {measure: value}}``.

        The run is ``{topic: {document: score}}``, or whatever `gainful.read_run` takes; topics come in its order.
        """
        if scores is None or (isinstance(scores, Mapping) and not scores) or self._judged is None:
            return {}
        try:
            # A topic without documents is in a dict, though not in the columns made of it.
            run, names = (returned(scores), map(str, scores)) if isinstance(scores, Mapping) else _columns_of(scores)
            rankings = topics_of_trec(self._judged, [run], judged_only=self._judged_only)
        except DataError as error:
            raise _as_raised(error, scores) from None
        topics = [topic for topic in names if topic in self._topics]
        rows = np.array([self._topics[topic] for topic in topics], np.int64)
        if len(rows) < len(self._topics):  # what nobody asked for is not computed
            kept = np.sort(rows)
            rankings, rows = _of_topics(rankings, kept), np.searchsorted(kept, rows)
        values = values_of(self._columns, Setting(rankings=rankings, level=self._level, needed=whole_part), rows)
        found = {_key(column): _numbers(column, values[column.name]) for column in self._columns}
        return {topic: {key: numbers[at] for key, numbers in found.items()} for at, topic in enumerate(topics)}


def parse_run(f_run: object) -> dict[str, dict[str, float]]:
    """The run in lines of TREC text, or in a file, as a dict of dicts."""
    run = read_run(f_run) if isinstance(f_run, str | os.PathLike) else Run(_from_lines(f_run, RUN))
    return _nested(run.frame, run.frame["score"].to_list())


def parse_qrel(f_qrel: object) -> dict[str, dict[str, int]]:
    """The judgments in lines of TREC text, or in a file, as a dict of dicts; labels that are whole are integers."""
    qrels = read_qrels(f_qrel) if isinstance(f_qrel, str | os.PathLike) else Qrels(_from_lines(f_qrel, QRELS))
    label = qrels.frame["relevance"]
    whole = (label == label.floor()).all() and (label.abs() < 2**53).all()
    return _nested(qrels.frame, label.cast(pl.Int64).to_list() if whole else label.to_list())


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """One value for all topics: the sum of counts, the geometric mean from logarithms, else the mean."""
    numbers = np.asarray(list(values), np.float64)
    if measure.startswith("num_"):
        return float(np.sum(numbers))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(numbers) / len(numbers)))
    return float(np.mean(numbers))


def _judged(source: object) -> Judged | None:
    """The judgments as they are now, whatever becomes of the dict; None if there are none."""
    if isinstance(source, dict):
        if all(isinstance(documents, dict) and not documents for documents in source.values()):
            return None
        source = {topic: dict(found) if isinstance(found, dict) else found for topic, found in source.items()}
    qrels = judgments(source)
    return None if isinstance(qrels, Qrels) and not len(qrels) else judged_in_trec(qrels)


def _columns_of(source: object) -> tuple[Run, list[str]]:
    run = read_run(source)
    return run, run.topics


def _of_topics(rankings: Rankings, kept: IntArray) -> Rankings:
    """Some topics of one run, in the order that they have here."""
    number = np.arange(len(kept))

    def chosen(of: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Of what is sorted by topic, where these topics are; how many each has, and where it now begins."""
        first, last = np.searchsorted(of, kept), np.searchsorted(of, kept, side="right")
        size = last - first
        begin = np.cumsum(size) - size
        return np.repeat(first - begin, size) + np.arange(size.sum()), size, first - begin

    documents, pool_size, moved = chosen(rankings.pool_topic)
    hits, size, _ = chosen(rankings.row)
    rank = rankings.rank[hits]
    return replace(
        rankings,
        topics=tuple(rankings.topics[at] for at in kept.tolist()),
        retrieved=rankings.retrieved[kept],
        present=rankings.present[kept],
        row=np.repeat(number, size),
        rank=rank,
        document=rankings.document[hits] - np.repeat(moved, size),
        tie_first=rank,
        tie_last=rank,
        pool_topic=np.repeat(number, pool_size),
        pool_grade=rankings.pool_grade[documents],
        pool_docs=nameless,
        tied=None,
    )


def _columns(measures: Iterable[str]) -> list[Column]:
    if isinstance(measures, str) or not isinstance(measures, Iterable):
        raise InputTypeError(f"expected a set of measures such as {{'map', 'ndcg_cut.10'}}, got {measures!r}")
    names: list[str] = []
    for text in measures:
        if not isinstance(text, str):
            raise InputTypeError(f"expected names of measures such as 'map', got {text!r} ({type(text).__name__})")
        names += sorted(supported_nicknames.get(text, (text,)))
    by_key: dict[str, Column] = {}
    for column in select(names):
        if column.note:
            raise MeasureError(f"expected whole numbers as cutoffs, got {column.note.partition(' ')[0]!r}")
        if column.entry.name in _ABSENT:
            raise MeasureError(f"{column.entry.name} is not in pytrec_eval: use gainful.compat.trec_eval.trec_eval")
        other = by_key.setdefault(_key(column), column)
        if other.arguments != column.arguments:
            both = " and ".join(sorted((other.name, column.name)))
            raise MeasureError(
                f"{both} would have the same key, {_key(column)!r}, in the results: ask for one of them at a time"
            )
    return list(by_key.values())


def _level(given: object) -> float:
    try:
        check_number("relevance_level", given, above=True)
    except PolicyError as error:
        raise InputTypeError(str(error)) from None
    return float(given)  # type: ignore[arg-type]  # checked to be a number


def _key(column: Column) -> str:
    return column.name if column.entry.kind in ("cutoffs", "shares") else column.entry.name


def _numbers(column: Column, values: list[float] | list[str]) -> list[float]:
    """The values as pytrec_eval has them: 0 for text, the logarithm of what a geometric mean is taken of."""
    numbers = [0.0 if isinstance(value, str) else value for value in values]
    if column.entry.summary == "gmean":
        logs: list[float] = np.log(np.maximum(np.array(numbers), FLOOR)).tolist()
        return logs
    return numbers


def _as_raised(error: DataError, source: object) -> DataError:
    return InputTypeError(str(error)) if isinstance(source, Mapping) else error


def _from_lines(lines: object, layout: Layout) -> pl.DataFrame:
    if not isinstance(lines, Iterable):
        raise InputTypeError(f"expected lines of text or a path, got {type(lines).__name__}")
    if hasattr(lines, "read"):
        content = _bytes(lines.read())
    else:
        parts = [_bytes(line) for line in lines]
        content = (b"" if all(part.endswith(b"\n") for part in parts[:-1]) else b"\n").join(parts)
    where = str(getattr(lines, "name", "lines"))
    if not content:
        raise DataError(f"{where}: expected {layout.what}, got nothing")
    return read_text(content, layout, where)


def _bytes(text: object) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape")


def _nested(frame: pl.DataFrame, values: list[Value]) -> dict[str, dict[str, Value]]:
    topics, start = runs_of_equal(frame["query_id"])
    documents, bounds = frame["doc_id"].to_list(), start.tolist()
    nested: dict[str, dict[str, Value]] = {}
    for topic, first, end in zip(topics.to_list(), bounds[:-1], bounds[1:], strict=True):
        part = dict(zip(documents[first:end], values[first:end], strict=True))
        known = nested.setdefault(topic, part)
        if known is not part:
            known |= part
    if sum(map(len, nested.values())) < len(documents):
        pair = frame.select("query_id", "doc_id").filter(frame.select("query_id", "doc_id").is_duplicated()).row(0)
        raise DataError(f"document {pair[1]!r} appears twice in topic {pair[0]!r}: remove one")
    return nested
