"""trec_eval 10.0, or 9: its measures, its rules and what it prints.

It differs from `gainful.evaluate` in what it takes a negative label for (not judged), in what it does with topics that
a run has nothing for, and in some measures of its own; see docs/trec_eval.md.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gainful import _polars as pl
from gainful.compat.trec_join import RankedRun, judged_in_trec
from gainful.compat.trec_measures import Setting, round_half_up, whole_part
from gainful.compat.trec_table import LATER, Column, Format, select
from gainful.data.rankings import FloatArray, Rankings
from gainful.data.scores import FLOOR
from gainful.errors import DataError, GainfulWarning, MeasureError, PolicyError
from gainful.io.encoding import from_utf8
from gainful.io.read import judgments

if TYPE_CHECKING:
    from gainful.compat.trec_groups import GroupedJudgments, GroupFormat

JudgmentFormat = Literal["qrels", "prefs", "qrels_prefs", "qrels_jg"]
ZScores = Mapping[str, Mapping[str, tuple[float, float]]]

# Per format of judgments, what the measures are computed from, and a group of them.
_MEASURED_BY: dict[JudgmentFormat, tuple[Format, str]] = {
    "qrels": ("qrels", "official"),
    "prefs": ("prefs", "all_prefs"),
    "qrels_prefs": ("prefs", "all_prefs"),
    "qrels_jg": ("qrels_jg", "qrels_jg"),
}
_NO_ZSCORE = -1_000_000.0  # what trec_eval prints where there is no mean or no deviation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TrecResult:
    """What trec_eval tells about a run: values per measure and topic, and over all topics.

    The values of geometric means are those they are means of; those of relstring are text, as is the summary of runid.
    If z-scores were asked for, the values are z-scores.
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
                yield from (self._line(column, topic, self.values[column.name][at]) for column in shown)
        if summary:
            for column in self.columns:
                if column.name in self.summary:
                    yield self._line(column, "all", self.summary[column.name])

    def _line(self, column: Column, topic: str, value: float | str) -> str:
        if isinstance(value, str):
            return f"{column.name:<22}\t{topic}\t" + (value if column.entry.name == "runid" else f"'{value}'") + "\n"
        if self.settings.get("zscores"):
            return f"Z{column.name:<22}\t{topic}\t{value:6.4f}\n"
        return f"{column.name:<22}\t{topic}\t" + (f"{value:.0f}\n" if column.entry.whole else f"{value:6.4f}\n")

    def notes(self) -> tuple[str, ...]:
        """What must be known to read the numbers."""
        return tuple(column.note for column in self.columns if column.note)

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
    format: JudgmentFormat = "qrels",
    zscores: ZScores | str | os.PathLike[str] | None = None,
    version: Literal[9, 10] = 10,
) -> TrecResult:
    """Score a run as trec_eval does.

    Parameters
    ----------
    qrels
        Judgments, as for `evaluate`. A negative label stands for a document that was pooled but not judged.
    run
        One run, as for `evaluate`; ``"-"`` is standard input. Text after the tag of a line is ignored.
    measures
        trec_eval's names, with parameters after a dot: ``map``, ``ndcg_cut.5,10``, ``ndcg.1=3,2=9``; or the groups
        ``official``, ``set`` and ``all_trec``, ``prefs`` and ``all_prefs``, ``qrels_jg``.
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
    format
        What the judgments are (-R): ``qrels``; a file of preferences, ``prefs``; or qrels taken for preferences,
        ``qrels_prefs``, or for the judgments of several groups of assessors, ``qrels_jg``, with the name of the group
        in the second field.
    zscores
        Means and standard deviations of other runs (-Z), ``{topic: {measure: (mean, deviation)}}`` or a file: values
        become z-scores.
    version
        Which trec_eval: 10 (that is 10.0), or 9 (9.0.8). Version 9 compares scores as 32-bit numbers, truncates where
        10 rounds, leaves out topics that the run has nothing for, and has neither `rbp`, `rbp_resid` nor `unj`.

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
    check_choice("format", format, _MEASURED_BY)
    check_choice("version", version, (9, 10))
    columns = _columns(measures, format, version)
    scale = _read_zscores(zscores) if isinstance(zscores, str | os.PathLike) else zscores
    ranked = RankedRun(run)  # being read in the background, while the judgments are
    grouped = None if format == "qrels" else _groups(qrels, format)
    judged = judged_in_trec(judgments(qrels)) if grouped is None else grouped.judged
    rankings = ranked.join(
        judged,
        depth=depth,
        judged_only=judged_only and grouped is None,
        exact=version == 10,
        ascending=format in ("prefs", "qrels_prefs"),
    )
    if version == 10 and not complete:
        _refuse_missing(rankings)
    settings = {
        "level": float(level),
        "complete": complete,
        "depth": depth,
        "judged_only": judged_only,
        "documents": documents,
        "format": format,
        "zscores": scale is not None,
        "version": version,
    }
    result = result_of(rankings, columns, settings, ranked.tag, grouped=grouped, scale=scale)
    for note in result.notes():
        warnings.warn(note, GainfulWarning, stacklevel=2)
    return result


def result_of(
    rankings: Rankings,
    columns: tuple[Column, ...],
    settings: Mapping[str, Any],
    tag: Callable[[], str] = str,
    *,
    grouped: GroupedJudgments | None = None,
    scale: ZScores | None = None,
) -> TrecResult:
    """What trec_eval tells about the one run of these rankings, which are as it sees them; -c if settings are empty."""
    complete, newer = settings.get("complete", True), settings.get("version", 10) == 10
    setting = Setting(
        rankings=rankings,
        level=settings.get("level", 1.0),
        documents=settings.get("documents", 0),
        needed=round_half_up if newer else whole_part,
    )
    if grouped is not None:
        setting = _with_groups(setting, grouped, settings)
    names = [from_utf8(topic.encode()) for topic in rankings.topics]
    shown = np.flatnonzero(rankings.present | newer).tolist()
    if not shown:
        raise DataError(f"run {rankings.systems[0]!r} returns nothing for any judged topic")
    order = np.array(sorted(shown, key=names.__getitem__), np.int64)
    topics = tuple(rankings.topics[at] for at in order.tolist())
    values = values_of(columns, setting, order)
    if scale is not None:
        values = {column.name: _standardised(column, values[column.name], topics, scale) for column in columns}
    count = len(rankings.topics) if complete else len(topics)
    summary: dict[str, float | str] = {}
    for column in columns:
        numbers = values[column.name]
        if column.entry.name == "runid":
            summary[column.name] = tag() or rankings.systems[0]
        elif column.entry.name == "num_q":
            summary[column.name] = float(count)
        elif column.entry.name == "num_rel" and complete:  # trec_eval forgets the level then
            summary[column.name] = float(rankings.pool_sum(rankings.grades > 0).sum())
        elif column.entry.summary != "none":
            summary[column.name] = _summarised(column, np.asarray(numbers, np.float64), count, logs=scale is not None)
    return TrecResult(
        columns=columns,
        topics=topics,
        values=values,
        summary=summary,
        missing=int((~rankings.present).sum()),
        settings=settings,
    )


def _columns(measures: str | Iterable[str], format: JudgmentFormat, version: int) -> tuple[Column, ...]:
    columns = tuple(select([measures] if isinstance(measures, str) else measures, LATER if version == 9 else ()))
    of, group = _MEASURED_BY[format]
    for column in columns:
        if column.entry.format not in (of, "any"):
            wanted = " or ".join(name for name, (needed, _) in _MEASURED_BY.items() if needed == column.entry.format)
            raise MeasureError(
                f"{column.name} is computed from judgments as {wanted}, got {format}: say what the judgments are with "
                f"-R (format=…), or ask for -m {group}"
            )
        if version == 9 and column.entry.name in LATER:
            raise MeasureError(f"{column.name} is not in version 9 of trec_eval: leave it out, or ask for version 10")
    return columns


def _groups(qrels: object, format: GroupFormat) -> GroupedJudgments:
    from gainful.compat.trec_groups import read_groups  # few need it, and it needs polars

    return read_groups(qrels, format)


def _with_groups(setting: Setting, grouped: GroupedJudgments, settings: Mapping[str, Any]) -> Setting:
    from gainful.compat.trec_groups import preference_values

    if settings["format"] != "qrels_jg":
        return replace(setting, preferences=preference_values(grouped, setting.rankings))
    groups = grouped.rankings_of_groups(setting.rankings)
    return replace(
        setting,
        groups=tuple(one.condensed() if settings["judged_only"] else one for one in groups),
        groups_per_topic=grouped.groups_per_topic(),
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


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Refuse what is not among the choices."""
    if value not in choices:
        raise PolicyError(
            f"The {name!r} parameter must be one of {', '.join(map(str, choices))}, got {value!r} instead."
        )


def values_of(
    columns: Iterable[Column], setting: Setting, order: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> dict[str, list[float] | list[str]]:
    """Per measure, its values for the topics in `order`."""
    return {column.name: np.asarray(column.compute(setting))[order].tolist() for column in columns}


def _standardised(
    column: Column, values: list[float] | list[str], topics: tuple[str, ...], scale: ZScores
) -> list[float] | list[str]:
    """How many standard deviations the values are above the means; of geometric means, their logarithms."""
    if column.entry.summary == "none":
        return values
    numbers = np.asarray(values, np.float64)
    if column.entry.summary == "gmean":
        numbers = np.log(np.maximum(numbers, FLOOR))
    known = [scale.get(topic, {}).get(column.name, (math.nan, math.nan)) for topic in topics]
    mean, deviation = np.array(known, np.float64).T
    varies = deviation != 0.0
    scores = np.where(numbers == mean, 0.0, _NO_ZSCORE)
    scores[varies] = (numbers[varies] - mean[varies]) / deviation[varies]
    found: list[float] = np.where(np.isnan(scores), _NO_ZSCORE, scores).tolist()
    return found


def _summarised(column: Column, values: FloatArray, count: int, *, logs: bool) -> float:
    """One number of the values, which may be fewer than the `count` of topics; `logs` if they are logarithms."""
    left_out = 0.0
    if column.entry.summary == "gmean":
        values = values if logs else np.log(np.maximum(values, FLOOR))
        left_out = (count - len(values)) * math.log(FLOOR)
    # One after another, as trec_eval adds: another order may round differently in the fourth decimal.
    total = float(np.cumsum(values)[-1])
    if column.entry.summary == "sum":
        return total
    mean = (total + left_out) / count
    return float(np.exp(mean)) if column.entry.summary == "gmean" else mean


def _refuse_missing(rankings: Rankings) -> None:
    absent = [rankings.topics[at] for at in np.flatnonzero(~rankings.present)]
    if absent:
        some = ", ".join(absent[:5]) + (", …" if len(absent) > 5 else "")
        raise PolicyError(
            f"run {rankings.systems[0]!r} returns nothing for {len(absent)} of {len(rankings.topics)} judged topics "
            f"({some}): use -c (complete=True) to count them as empty rankings."
        )


def _read_zscores(source: str | os.PathLike[str]) -> ZScores:
    """The means and deviations in a file of lines such as ``301 map 0.1212 0.1545``."""
    from gainful.io.files import load
    from gainful.io.text import Layout, no_data, read_fields

    names = ("topic", "measure", "mean", "deviation")
    layout, path = Layout("means and deviations", names, names, "deviation"), Path(source)
    frame = read_fields(bytes(load(path).data), layout, str(path))
    if not frame.height:
        no_data(layout, str(path))
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for topic, measure, mean, deviation in frame.iter_rows():
        try:
            found.setdefault(topic, {})[measure] = (float(mean), deviation)
        except ValueError:
            raise DataError(
                f"{path}: expected a number as mean of {measure} in topic {topic!r}, got {mean!r}"
            ) from None
    return found
