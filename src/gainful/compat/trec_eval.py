"""trec_eval 10.0: its measures, its rules and what it prints.

It differs from `gainful.evaluate` in what it takes a negative label for (not judged), in what it does with topics that
a run has nothing for, and in some measures of its own; see docs/trec_eval.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.compat.trec_measures import Setting, round_half_up
from gainful.compat.trec_table import Column, select
from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.data.pool import Judged
from gainful.data.qrels import Qrels, RawQrels
from gainful.data.rankings import FloatArray, Rankings
from gainful.data.run import LargeRun, RawRun, Run, UnreadRun
from gainful.data.scores import FLOOR
from gainful.errors import DataError, DuplicateError, PolicyError
from gainful.io.compression import decompress_blocks, is_compressed
from gainful.io.encoding import decode, from_utf8
from gainful.io.files import is_standard_input, standard_input
from gainful.io.read import AnyRun, iterate_runs, judgments
from gainful.io.text import RUN, is_text

_TAIL = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TrecResult:
    """What trec_eval tells about a run: values per measure and topic, and over all topics.

    The values of geometric means are those they are means of; those of relstring are text, as is the summary of runid.
    """

    columns: tuple[Column, ...]  # the measures, in trec_eval's order
    topics: tuple[str, ...]  # in the byte order of their ids
    values: Mapping[str, list[float] | list[str]]
    summary: Mapping[str, float | str]
    missing: int  # how many of the topics the run has nothing for
    settings: Mapping[str, object]

    def __str__(self) -> str:
        return f"TrecResult: {len(self.columns)} measures × {len(self.topics)} topics"

    __repr__ = __str__

    def lines(self, *, per_topic: bool = False, summary: bool = True) -> Iterator[str]:
        """The lines that trec_eval prints, with their ends: per topic (its -q), then over all (left out by its -n)."""
        if per_topic:
            shown = [column for column in self.columns if column.entry.single]
            for at, topic in enumerate(self.topics):
                yield from (_line(column, topic, self.values[column.name][at]) for column in shown)
        if summary:
            for column in self.columns:
                if column.name in self.summary:
                    yield _line(column, "all", self.summary[column.name])

    def to_frame(self) -> pl.DataFrame:
        """Long: measure, query_id, score; the values over all topics under query_id 'all'. Numbers alone."""
        rows = [
            (column.name, topic, value)
            for column in self.columns
            for topic, value in zip(
                (*self.topics, "all"), (*self.values[column.name], self.summary.get(column.name, "")), strict=True
            )
            if not isinstance(value, str)
        ]
        schema = {"measure": pl.String(), "query_id": pl.String(), "score": pl.Float64()}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_dict(self) -> dict[str, object]:
        """Summary, values by measure and topic, and the settings; ready for JSON."""
        scores = {
            column.name: dict(zip(self.topics, self.values[column.name], strict=True))
            for column in self.columns
            if column.entry.name != "runid"
        }
        return {"summary": dict(self.summary), "scores": scores, "settings": dict(self.settings)}


def trec_eval(
    qrels: object,
    run: object,
    measures: str | Iterable[str] = ("official",),
    *,
    level: float = 1,
    complete: bool = False,
    depth: int | None = None,
    judged_only: bool = False,
    documents: int = 0,
) -> TrecResult:
    """Score a run as trec_eval 10.0 does.

    Parameters
    ----------
    qrels
        Judgments, as for `evaluate`. A negative label stands for a document that was pooled but not judged.
    run
        One run, as for `evaluate`; ``"-"`` is standard input.
    measures
        trec_eval's names, with parameters after a dot: ``map``, ``ndcg_cut.5,10``, ``ndcg.1=3,2=9``; or the groups
        ``official``, ``set`` and ``all_trec``.
    level
        The label from which a document is relevant (-l).
    complete
        Whether topics that the run has nothing for count as empty rankings (-c) or are an error.
    depth
        How many documents per topic are looked at (-M); all if not given.
    judged_only
        Whether unjudged documents are removed before all else (-J).
    documents
        How many documents the collection has (-N); only `utility` asks.

    Returns
    -------
    TrecResult
        The values per topic and over all topics, and the lines that trec_eval prints.

    Examples
    --------
    >>> result = trec_eval({"q1": {"a": 1, "b": 0}}, {"q1": {"b": 2.0, "a": 1.0}}, ["map", "P.1,2"])
    >>> dict(result.summary)
    {'map': 0.5, 'P_1': 0.0, 'P_2': 0.5}
    """
    check_number("level", level)
    check_number("documents", documents, whole=True)
    if depth is not None:
        check_number("depth", depth, least=1, whole=True)
    columns = tuple(select([measures] if isinstance(measures, str) else measures))
    ranked, tag = _source(run)
    reading = iterate_runs(ranked, raw=True)  # in the background, while the judgments are read
    judged = judged_in_trec(judgments(qrels))
    rankings = topics_of_trec(judged, _one(reading), depth=depth, judged_only=judged_only, exact=True)
    if not complete:
        _refuse_missing(rankings)
    settings = {
        "level": float(level),
        "complete": complete,
        "depth": depth,
        "judged_only": judged_only,
        "documents": documents,
    }
    return result_of(rankings, columns, settings, tag)


def result_of(
    rankings: Rankings, columns: tuple[Column, ...], settings: Mapping[str, Any], tag: Callable[[], str] = str
) -> TrecResult:
    """What trec_eval tells about the one run of these rankings, which are as it sees them."""
    level, documents = settings.get("level", 1.0), settings.get("documents", 0)
    setting = Setting(rankings=rankings, level=level, documents=documents, needed=round_half_up)
    names = [from_utf8(topic.encode()) for topic in rankings.topics]
    order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    values = values_of(columns, setting, order)
    summary: dict[str, float | str] = {}
    for column in columns:
        if column.entry.name == "runid":
            summary[column.name] = tag() or rankings.systems[0]
        elif column.entry.summary != "none":
            summary[column.name] = _summarised(column, np.asarray(values[column.name], np.float64))
    return TrecResult(
        columns=columns,
        topics=tuple(rankings.topics[at] for at in order.tolist()),
        values=values,
        summary=summary,
        missing=int((~rankings.present).sum()),
        settings=settings,
    )


def check_number(name: str, value: object, *, least: int = 0, whole: bool = False, above: bool = False) -> None:
    """Refuse what is no number of at least `least` (or `above` it)."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if (
        isinstance(value, bool)
        or not isinstance(value, kinds)
        or not least <= value < 2**53
        or (above and value == least)
    ):
        wanted = f"a {'whole ' if whole else ''}number {'above' if above else 'of at least'} {least}"
        raise PolicyError(f"The {name!r} parameter must be {wanted}, got {value!r} instead.")


def judged_in_trec(qrels: Qrels | RawQrels) -> Judged:
    """Judgments as trec_eval sees them: negative labels are not judged."""
    with _no_duplicates():
        return Judged(qrels, "error", "unjudged")


def topics_of_trec(
    judged: Judged,
    runs: Iterable[Run | RawRun | LargeRun],
    *,
    depth: int | None = None,
    judged_only: bool = False,
    exact: bool = False,
) -> Rankings:
    """Rankings as trec_eval sees them: ranks beyond `depth` are cut off.

    Scores are compared as float32, as version 9 does; if `exact`, as float64, as version 10 does.
    """
    with _no_duplicates():
        rankings = align(judged, runs, Policies(ties="trec"), exact=exact)
    if depth is not None:
        retrieved = np.minimum(rankings.retrieved, depth)
        rankings = replace(rankings.with_hits(rankings.rank <= depth), retrieved=retrieved)
    return rankings.condensed() if judged_only else rankings


def without_negative(rankings: Rankings) -> Rankings:
    """Rankings whose negative labels are not judged, as trec_eval sees them."""
    label = np.append(np.where(rankings.grades < 0.0, -1, np.arange(len(rankings.grades))), -1)
    return replace(rankings, pool_grade=label[rankings.pool_grade])


@contextmanager
def _no_duplicates() -> Iterator[None]:
    """Speak of none of gainful's policies, which trec_eval does not have."""
    try:
        yield
    except DuplicateError as error:
        raise DataError(f"{error.args[0]}: remove one.") from None


def values_of(
    columns: Iterable[Column], setting: Setting, order: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> dict[str, list[float] | list[str]]:
    """Per measure, its values for the topics in `order`."""
    return {column.name: np.asarray(column.compute(setting))[order].tolist() for column in columns}


def _summarised(column: Column, values: FloatArray) -> float:
    if column.entry.summary == "gmean":
        values = np.log(np.maximum(values, FLOOR))
    # One after another, as trec_eval adds: another order may round differently in the fourth decimal.
    total = float(np.cumsum(values)[-1])
    if column.entry.summary == "sum":
        return total
    mean = total / len(values)
    return float(np.exp(mean)) if column.entry.summary == "gmean" else mean


def _line(column: Column, topic: str, value: float | str) -> str:
    if isinstance(value, str):
        text = value if column.entry.name == "runid" else f"'{value}'"
    else:
        text = f"{value:.0f}" if column.entry.whole else f"{value:6.4f}"
    return f"{column.name:<22}\t{topic}\t{text}\n"


def _refuse_missing(rankings: Rankings) -> None:
    absent = [rankings.topics[at] for at in np.flatnonzero(~rankings.present)]
    if absent:
        some = ", ".join(absent[:5]) + (", …" if len(absent) > 5 else "")
        raise PolicyError(
            f"run {rankings.systems[0]!r} returns nothing for {len(absent)} of {len(rankings.topics)} judged topics "
            f"({some}): use -c (complete=True) to count them as empty rankings."
        )


def _source(run: object) -> tuple[object, Callable[[], str]]:
    """What to read as the run, and how to learn its tag; standard input is read here."""
    if is_standard_input(run):
        content = standard_input()
        return content, lambda: _last_tag(content.data[-_TAIL:])
    if isinstance(run, str | os.PathLike):
        path = Path(run)
        return path, lambda: _tag_of(path)
    return run, str


def _tag_of(path: Path) -> str:
    if path.is_dir():
        return ""
    with path.open("rb") as file:
        if is_compressed(file.read(_TAIL)):
            end = b""
            for block in decompress_blocks(path, str(path), _TAIL):
                end = (end + block)[-_TAIL:]
            return _last_tag(end)
        file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
        return _last_tag(file.read())


def _last_tag(content: bytes) -> str:
    """The tag on the last line of TREC text; nothing for other formats."""
    for line in reversed(content[-_TAIL:].splitlines()):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            return decode(fields[-1]) if len(fields) == len(RUN.fields) and is_text(line) else ""
    return ""


def _one(found: Iterator[AnyRun]) -> Iterator[Run | RawRun | LargeRun]:
    """The only run."""
    runs = (run for run in found if not isinstance(run, UnreadRun))  # what lies beside it and is none
    yield next(runs)
    for other in runs:
        raise DataError(f"expected one run, got several, {other.name!r} among them")
