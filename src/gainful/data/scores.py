"""Scores of systems on topics: what `evaluate` returns and every analysis takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from gainful.data.policies import Policies
from gainful.data.rankings import BoolArray, FloatArray
from gainful.errors import DataError, did_you_mean
from gainful.results import Note

Summary = Literal["mean", "sum", "gmean"]
# trec_eval's floor under a geometric mean: one topic of 0 must not decide it alone.
FLOOR = 1e-5
ScoreDict: TypeAlias = "dict[str, dict[str, dict[str, float]]]"


def summarise(values: FloatArray, counted: BoolArray, summary: Summary) -> FloatArray:
    """One number for the last axis (topics), over the cells that count; NaN where none does."""
    number = counted.sum(axis=-1)
    if summary == "gmean":
        values = np.log(np.maximum(values, FLOOR))
    cells = np.where(counted, values, 0.0)
    with np.errstate(over="ignore"):
        total = cells.sum(axis=-1)
    if summary == "sum":
        return np.where(number > 0, total, np.nan)
    if np.isinf(total).any():  # the mean of numbers is one, even where their sum is none
        scaled = np.ldexp(cells, -64).sum(axis=-1) / np.maximum(number, 1)
        most = np.ldexp(np.finfo(np.float64).max, -64)
        return np.where(number > 0, np.ldexp(np.clip(scaled, -most, most), 64), np.nan)
    with np.errstate(invalid="ignore"):
        mean = np.where(number > 0, total / np.maximum(number, 1), np.nan)
        return np.exp(mean) if summary == "gmean" else mean


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ScoreMatrix:
    """The scores of one measure: a row a system, a column a topic; NaN where a topic was left out.

    Parameters
    ----------
    values
        Systems × topics.
    systems, topics
        The names of rows and columns.
    measure
        What was measured.
    """

    values: FloatArray
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str = "score"

    def __post_init__(self) -> None:
        expected = (len(self.systems), len(self.topics))
        if self.values.shape != expected:
            raise DataError(
                f"expected {expected[0]} systems × {expected[1]} topics, got an array of {self.values.shape}"
            )

    def __str__(self) -> str:
        return f"ScoreMatrix of {self.measure}: {len(self.systems)} systems × {len(self.topics)} topics"

    __repr__ = __str__

    def to_frame(self) -> pl.DataFrame:
        """Wide: a row a topic, a column a system."""
        if "query_id" in self.systems:
            raise DataError("a system is called 'query_id', as is the column of topics: rename it")
        columns = {system: self.values[i] for i, system in enumerate(self.systems)}
        return pl.DataFrame({"query_id": list(self.topics), **columns})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Scores:
    """The scores of every measure, system and topic.

    Parameters
    ----------
    values
        Measures × systems × topics. NaN where the measure is undefined and the policy says so, or left out.
    counted
        Which cells enter the means: all but those that a ``skip`` policy left out.
    measures, systems, topics
        The names of the three axes.
    summaries
        Per measure, how topics are summarised: mean, sum or gmean.
    higher
        Per measure, whether a higher score is better, worse or neither.
    spellings
        Other texts under which a measure may be looked up, such as the one it was asked for by.
    policies
        The policies that were in force; None for scores from a table, which does not tell them.
    missing, ignored
        Per system, the judged topics it has nothing for, and its topics without judgments.
    undefined
        Per measure, the topics for which it is undefined in some system.
    failed
        What was to be scored and could not be read, with the reason; only where that was to be left out.
    run_notes
        What makes runs look wrong.
    """

    values: FloatArray
    counted: BoolArray
    measures: tuple[str, ...]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    summaries: tuple[Summary, ...]
    higher: tuple[str, ...]
    spellings: Mapping[str, str]
    policies: Policies | None
    missing: tuple[int, ...]
    ignored: tuple[int, ...]
    undefined: tuple[int, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    run_notes: tuple[Note, ...] = ()

    def __contains__(self, measure: object) -> bool:
        return self.spellings.get(str(measure), str(measure)) in self.measures

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def __getitem__(self, measure: str) -> ScoreMatrix:
        """The scores of one measure."""
        label = self.spellings.get(str(measure), str(measure))
        if label not in self.measures:
            hint = did_you_mean(label, self.measures)
            raise DataError(f"No scores of {label!r}; there are: {', '.join(self.measures)}.{hint}")
        at = self.measures.index(label)
        values = np.where(self.counted[at], self.values[at], np.nan)
        return ScoreMatrix(values=values, systems=self.systems, topics=self.topics, measure=label)

    def only(self, measures: Sequence[str]) -> Scores:
        """The scores of some measures, in that order."""
        at = [self.measures.index(self[measure].measure) for measure in measures]
        return replace(
            self,
            values=self.values[at],
            counted=self.counted[at],
            measures=tuple(self.measures[i] for i in at),
            summaries=tuple(self.summaries[i] for i in at),
            higher=tuple(self.higher[i] for i in at),
            undefined=tuple(self.undefined[i] for i in at) if self.undefined else (),
        )

    def __str__(self) -> str:
        shape = f"{len(self.measures)} measures × {len(self.systems)} systems × {len(self.topics)} topics"
        return f"Scores: {shape}" if self.policies is None else f"Scores: {shape} ({self.policies})"

    __repr__ = __str__

    def summary(self) -> FloatArray:
        """Measures × systems: the mean (sum, geometric mean) over topics."""
        rows = zip(self.values, self.counted, self.summaries, strict=True)
        return np.stack([summarise(values, counted, how) for values, counted, how in rows])

    def mean(self) -> pl.DataFrame:
        """One row a run, one column a measure: the mean over topics (counts are summed, GMAP is a geometric mean)."""
        means = self.summary()
        return pl.DataFrame({"run": list(self.systems), **{name: means[i] for i, name in enumerate(self.measures)}})

    def to_frame(self) -> pl.DataFrame:
        """Long: run, measure, query_id, score; cells that were left out have no row."""
        m, s, t = self.values.shape
        names = pl.DataFrame(
            {
                "run": pl.Series(self.systems, dtype=pl.String).gather(np.tile(np.repeat(np.arange(s), t), m)),
                "measure": pl.Series(self.measures, dtype=pl.String).gather(np.repeat(np.arange(m), s * t)),
                "query_id": pl.Series(self.topics, dtype=pl.String).gather(np.tile(np.arange(t), m * s)),
            }
        )
        frame = names.with_columns(score=pl.Series(self.values.ravel()))
        return frame.filter(pl.Series(self.counted.ravel()))

    def to_dict(self) -> dict[str, object]:
        """Means, scores by run, measure and topic, and the settings; ready for JSON."""
        means = self.summary()
        scores: ScoreDict = {}
        mean: dict[str, dict[str, float]] = {}
        for j, system in enumerate(self.systems):
            mean[system] = {name: float(means[i, j]) for i, name in enumerate(self.measures)}
            scores[system] = {}
            for i, name in enumerate(self.measures):
                cells = zip(self.topics, self.values[i, j].tolist(), self.counted[i, j].tolist(), strict=True)
                scores[system][name] = {topic: value for topic, value, counted in cells if counted}
        return {
            "mean": mean,
            "scores": scores,
            "policies": None if self.policies is None else self.policies.to_dict(),
            "missing_topics": dict(zip(self.systems, self.missing, strict=True)),
            "ignored_topics": dict(zip(self.systems, self.ignored, strict=True)),
            "failed_runs": dict(self.failed),
        }
