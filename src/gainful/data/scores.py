"""Scores of systems on topics: what `evaluate` returns and every analysis takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from gainful import _polars as pl
from gainful.data.groups import group_places
from gainful.data.metadata import by_field, metadata_columns, metadata_notes
from gainful.data.metrics import flat
from gainful.data.notes import failure_notes
from gainful.data.policies import Policies
from gainful.data.rankings import BoolArray, FloatArray
from gainful.data.summary import FLOOR as FLOOR
from gainful.data.summary import Summary as Summary
from gainful.data.summary import summarise as summarise
from gainful.errors import DataError, did_you_mean
from gainful.results import Chart, Note, Result, Settings, listed, plural
from gainful.tables import Kind, Table, number

# The query_id under which tables keep the mean over topics.
MEAN = "all"
# More runs than this side by side do not fit a screen: then per-topic tables have one row per topic and run.
_SIDE_BY_SIDE = 8
# Measures that a verdict is about, and runs that a note names.
_IN_VERDICT, _NAMED = 4, 4
# Panels of the chart side by side.
_ACROSS = 4
_FILLED = {"zero": "counts as 0", "one": "counts as 1", "nan": "is NaN", "skip": "is left out of the mean"}
ScoreDict: TypeAlias = "dict[str, dict[str, dict[str, float]]]"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ScoreMatrix:
    """The scores of one measure: one row per run, one column per topic; NaN where a topic was left out.

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
        """Its size, and the means of the first runs."""
        means = summarise(self.values, ~np.isnan(self.values), "mean")
        some = [f"{name} {number(mean)}" for name, mean in zip(self.systems[:_NAMED], means.tolist(), strict=False)]
        more = ", …" if len(self.systems) > _NAMED else ""
        size = f"{plural(len(self.systems), 'run')} × {plural(len(self.topics), 'topic')}"
        return f"ScoreMatrix of {self.measure}: {size}; means {', '.join(some)}{more}"

    __repr__ = __str__

    def to_frame(self) -> pl.DataFrame:
        """Wide: one row per topic, one column per run."""
        if "query_id" in self.systems:
            raise DataError("a system is called 'query_id', as is the column of topics: rename it")
        columns = {system: self.values[i] for i, system in enumerate(self.systems)}
        return pl.DataFrame({"query_id": list(self.topics), **columns})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Scores(Result):
    """The scores of every measure, run and topic.

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
    metadata
        By run, what is known of it beside its ranking: team, type, description and the like.
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
    metadata: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

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

    @property
    def settings(self) -> Settings:  # type: ignore[override]
        """What the scores are of, and the policies."""
        left_out = f" ({len(self.failed)} left out)" if self.failed else ""
        data = f"{plural(len(self.systems), 'run')}{left_out}, {plural(len(self.topics), 'topic')}"
        return Settings(
            name="scores" if self.policies is None else "evaluate", data=data, given={}, policies=self.policies
        )

    def summary(self) -> FloatArray:
        """Measures × systems: the mean (sum, geometric mean) over topics."""
        rows = zip(self.values, self.counted, self.summaries, strict=True)
        return np.stack([summarise(values, counted, how) for values, counted, how in rows])

    def mean(self) -> pl.DataFrame:
        """One row per run, one column per measure: the mean over topics (a sum of counts, GMAP's geometric mean)."""
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

    def long_rows(self, *, per_topic: bool = True) -> Iterator[tuple[str, str, str, float]]:
        """run, measure, query_id, score: the topics of each run and measure, then their mean under 'all'."""
        means = self.summary()
        for j, run in enumerate(self.systems):
            for i, measure in enumerate(self.measures):
                if per_topic:
                    cells = zip(self.topics, self.values[i, j].tolist(), self.counted[i, j].tolist(), strict=True)
                    yield from ((run, measure, topic, value) for topic, value, counted in cells if counted)
                yield run, measure, MEAN, float(means[i, j])

    def _content(self) -> dict[str, Any]:
        """Means, scores by run, measure and topic, and what was done about the rest."""
        scores: ScoreDict = {}
        for j, system in enumerate(self.systems):
            scores[system] = {}
            for i, name in enumerate(self.measures):
                cells = zip(self.topics, self.values[i, j].tolist(), self.counted[i, j].tolist(), strict=True)
                scores[system][name] = {topic: value for topic, value, counted in cells if counted}
        means = self.summary().T.tolist()
        return {
            "mean": {
                run: dict(zip(self.measures, mean, strict=True)) for run, mean in zip(self.systems, means, strict=True)
            },
            "scores": scores,
            "policies": None if self.policies is None else self.policies.to_dict(),
            "missing_topics": dict(zip(self.systems, self.missing, strict=True)),
            "ignored_topics": dict(zip(self.systems, self.ignored, strict=True)),
            "failed_runs": dict(self.failed),
            **({"metadata": {run: dict(fields) for run, fields in self.metadata.items()}} if self.metadata else {}),
        }

    def to_metrics(self) -> dict[str, float]:
        """The means as MLflow and W&B take them: ``{"nDCG_at_10": …}``, of several runs ``{"bm25/nDCG_at_10": …}``."""
        means = self.summary().tolist()
        every = ((run, m, means[i][j]) for j, run in enumerate(self.systems) for i, m in enumerate(self.measures))
        return flat(every, one_run=len(self.systems) == 1)

    def verdict(self) -> str:
        """Which run has the best mean, by each of the first measures; of one run, its means."""
        means = self.summary()
        if self.topics and all(absent == len(self.topics) for absent in self.missing):
            return "No run has any of the judged topics, so there is nothing to score."
        if len(self.systems) == 1:
            words = {"mean": "a mean ", "sum": "a total ", "gmean": ""}
            every = [
                f"an undefined {name}"
                if np.isnan(mean)
                else f"{words[how]}{name} of {number(mean, whole=how == 'sum')}"
                for name, how, mean in zip(self.measures, self.summaries, means[:, 0].tolist(), strict=True)
            ]
            more = f" and {plural(len(every) - _IN_VERDICT, 'other score')}" if len(every) > _IN_VERDICT else ""
            shown = ", ".join(every[:_IN_VERDICT]) + more if more else listed(every)
            counts = self.counted[:, 0].sum(axis=1)
            fewest = f"{counts.min()} to " if counts.min() < counts.max() else ""
            return f"{self.systems[0]} has {shown} over {fewest}{plural(int(counts.max()), 'topic')}."
        leaders: dict[tuple[str, ...], list[str]] = {}
        for i, measure in enumerate(self.measures):
            best = self._best(means[i], self.higher[i])
            if best and sum(map(len, leaders.values())) < _IN_VERDICT:
                value = number(float(means[i, best[0]]), whole=self.summaries[i] == "sum")
                leaders.setdefault(tuple(self.systems[j] for j in best), []).append(f"{measure} ({value})")
        said = []
        for names, by in leaders.items():
            who, has = listed(names, _NAMED), "has the best" if len(names) == 1 else "have the best"
            if len(names) == len(self.systems):
                who, has = "both" if len(names) == 2 else "all", "have the same"
            said.append(f"{who} {has} {listed(by)}")
        return f"Of {len(self.systems)} runs, {'; '.join(said)}." if said else ""

    @staticmethod
    def _best(means: FloatArray, higher: str) -> list[int]:
        """Which systems have the best mean; none if neither end is the better."""
        if higher == "neither" or np.isnan(means).all():
            return []
        target = np.nanmax(means) if higher == "better" else np.nanmin(means)
        return [int(at) for at in np.flatnonzero(means == target)]

    def _order(self, means: FloatArray) -> list[int]:
        """Systems from best to worst by the first measure, undefined last; as given if neither end is the better."""
        sign = {"better": -1.0, "worse": 1.0, "neither": 0.0}[self.higher[0]]
        order = np.argsort(np.where(np.isnan(means[0]), np.inf, sign * means[0]), kind="stable")
        return [int(system) for system in order]

    def _headers(self) -> dict[str, tuple[str, Kind]]:
        measures = zip(self.measures, self.summaries, strict=True)
        return {name: (name, "count" if how == "sum" else "score") for name, how in measures}

    def mean_table(self) -> Table:
        """One row per run, the best by the first measure first."""
        means = self.summary()
        order = self._order(means)
        names = [self.systems[j] for j in order]
        before, after = metadata_columns(self.metadata, names, self.measures)
        best = {
            (row, i + 1 + len(before))
            for i, higher in enumerate(self.higher)
            for row in (self._best(means[i, order], higher) if len(order) > 1 else ())
        }
        data: dict[str, list[Any]] = {"run": names, **before}
        data |= {name: means[i, order].tolist() for i, name in enumerate(self.measures)}
        headers = {"run": "run", **{name: name for name in before}, **self._headers(), **{name: name for name in after}}
        return Table.of("means", {**data, **after}, headers, best=frozenset(best))

    def by(self, field: str) -> Table:
        """One row per value of a field of the metadata, such as team: its runs, the best of them, and their means."""
        means = dict(zip(self.measures, self.summary(), strict=True))
        return by_field(field, self.metadata, self.systems, means, self.higher)

    def topic_table(self) -> Table:
        """Topics × runs for one measure and a few runs, else one row per topic and run; the means come last."""
        means = self.summary()
        order = self._order(means)
        topics = [*self.topics, MEAN]
        full = np.concatenate([np.where(self.counted, self.values, np.nan), means[:, :, None]], axis=2)
        names, headers = [self.systems[j] for j in order], self._headers()
        columns: dict[str, list[Any]] = {"query_id": topics}
        if len(headers) == 1 and 1 < len(order) <= _SIDE_BY_SIDE and "query_id" not in names:
            ((_, kind),) = headers.values()
            columns |= {name: full[0, j].tolist() for name, j in zip(names, order, strict=True)}
            return Table.of("topics", columns, {"query_id": "topic", **{name: (name, kind) for name in names}})
        columns = {"query_id": topics * len(order), "run": [name for name in names for _ in topics]}
        columns |= {name: full[i, order].ravel().tolist() for i, name in enumerate(self.measures)}
        return Table.of("topics", columns, {"query_id": "topic", "run": "run", **headers})

    def by_group(self, groups: Mapping[str, str]) -> pl.DataFrame:
        """Long: run, measure, group, topics, score: the mean (sum, geometric mean) over the topics of each group.

        The mean of the groups' scores, in which each group counts the same, stands under the group 'macro'.
        """
        names, place = group_places(groups, self.topics)
        rows, members = [], [place == at for at in range(len(names))]
        for i, (measure, how) in enumerate(zip(self.measures, self.summaries, strict=True)):
            found = [summarise(self.values[i][:, of], self.counted[i][:, of], how).tolist() for of in members]
            for j, run in enumerate(self.systems):
                scores = [one[j] for one in found]
                sizes = [int(self.counted[i, j, of].sum()) for of in members]
                cells = [*zip(names, sizes, scores, strict=True), ("macro", sum(sizes), sum(scores) / len(scores))]
                rows += [(run, measure, *cell) for cell in cells]
        return pl.DataFrame(rows, schema=["run", "measure", "group", "topics", "score"], orient="row")

    def worst_topics(self) -> Table:
        """The topics of the first run by its first measure, the worst first."""
        sign = -1.0 if self.higher[0] == "worse" else 1.0
        cells = sorted(zip(self.topics, self.values[0, 0].tolist(), strict=True), key=lambda cell: sign * cell[1])
        data = {"query_id": [topic for topic, _ in cells], "score": [score for _, score in cells]}
        return Table.of("topics", data, {"query_id": "topic", "score": self.measures[0]})

    def tables(self) -> tuple[Table, ...]:
        """The means, then the scores of every topic."""
        return self.mean_table(), self.topic_table()

    def compact(self) -> tuple[Table, ...]:
        """The means."""
        return (self.mean_table(),)

    def _notes(self) -> list[Note]:
        notes = [*failure_notes(self.failed), *self.run_notes, *metadata_notes(self.metadata, self.systems)]
        return notes if self.policies is None else [*notes, *self._policy_notes(self.policies)]

    def _policy_notes(self, policies: Policies) -> Iterator[Note]:
        """Topics that are missing, undefined or ignored, and what became of them."""
        absent = {name: n for name, n in zip(self.systems, self.missing, strict=True) if 0 < n < len(self.topics)}
        if absent:
            treated = "are left out of its mean" if policies.missing == "skip" else "count as empty rankings"
            treated = f"{treated} (missing={policies.missing})"
            text = f"Judged topics for which a run returns nothing {treated}: {_some(absent)}."
            yield Note("missing-topics", next(iter(absent)), text)
        for name, n in zip(self.measures, self.undefined or (0,) * len(self.measures), strict=True):
            if n:
                text = f"{name} is undefined for {plural(n, 'topic')} and {_FILLED[policies.degenerate]} there."
                yield Note("undefined", name, text)
        ignored = {name: n for name, n in zip(self.systems, self.ignored, strict=True) if n}
        if ignored:
            text = f"Topics of a run without judgments are ignored: {_some(ignored)}."
            yield Note("ignored-topics", next(iter(ignored)), text)

    def chart(self) -> Chart:
        """One dot per run and measure: its mean, the best run by the first measure on top."""
        from gainful.charts import COLOURS, WIDTH, load_altair, row_height, styled

        alt = load_altair()
        means = self.mean_table().frame.unpivot(index="run", variable_name="measure", value_name="mean")
        runs, columns = means["run"].unique(maintain_order=True).to_list(), min(len(self.measures), _ACROSS)
        base = (
            alt.Chart(alt.Data(values=means.fill_nan(None).to_dicts()), width=WIDTH // (columns + 1))
            .properties(height=alt.Step(row_height(len(runs))))
            .mark_circle(size=60, color=COLOURS[0], opacity=1)
            .encode(
                x=alt.X(
                    "mean:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=3 if columns > 2 else 5)
                ),
                y=alt.Y("run:N", title=None, sort=runs),
                tooltip=["run:N", "measure:N", alt.Tooltip("mean:Q", format=".4f")],
            )
        )
        wrapped = base.facet(facet=alt.Facet("measure:N", title=None, sort=list(self.measures)), columns=columns)
        return styled(wrapped.resolve_scale(x="independent"), f"Means over {plural(len(self.topics), 'topic')}")


def _some(counts: Mapping[str, int]) -> str:
    named = ", ".join(f"{n} of {name!r}" for name, n in list(counts.items())[:_NAMED])
    rest = list(counts.values())[_NAMED:]
    return f"{named} and {sum(rest)} of {plural(len(rest), 'other run')}" if rest else named
