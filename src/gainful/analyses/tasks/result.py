"""What `tasks` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.charts import load_altair, styled, tips
from gainful.data.rankings import FloatArray
from gainful.results import Chart, Note, Result, Settings, of_measure, percent, plural
from gainful.tables import Table, number

# Fewer tasks than this say little about others.
_FEW = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskMeans:
    """One measure: means of tasks × runs, and what follows from them for each run, or for each task."""

    measure: str
    higher: str
    means: FloatArray
    # Per run: the mean over tasks, its place, the interval of that, how often it is best when tasks are resampled, its
    # mean place on the tasks, and on how many it is first.
    macro: FloatArray
    place: FloatArray
    low: FloatArray
    high: FloatArray
    best: FloatArray
    mean_place: FloatArray
    wins: FloatArray
    # Per task: τ of its order with the macro order, τ of the order without it, and which run leads without it.
    agrees: FloatArray
    without: FloatArray
    leads_without: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Tasks(Result):
    """Means over tasks, places with intervals, and what each task does to the order of the runs.

    Parameters
    ----------
    tasks, sizes
        The names of the tasks, and how many topics each has.
    systems
        The runs that all tasks have.
    measures
        What was found for each measure.
    settings
        What repeats it.
    """

    tasks: tuple[str, ...]
    sizes: tuple[int, ...]
    systems: tuple[str, ...]
    measures: tuple[TaskMeans, ...]
    settings: Settings

    def __getitem__(self, measure: str) -> TaskMeans:
        """What was found for one measure."""
        return of_measure(self.measures, measure)

    def _order(self, one: TaskMeans) -> list[int]:
        order: list[int] = np.argsort(one.place, kind="stable").tolist()
        return order

    def verdict(self) -> str:
        """Who leads over all tasks by the first measure, how surely, and which task matters most."""
        one = self.measures[0]
        first = self._order(one)[0]
        lead = (
            f"By {one.measure}, {self.systems[first]} has the best mean over {plural(len(self.tasks), 'task')} "
            f"({number(float(one.macro[first]))}); it is first on {int(one.wins[first])} of them, and in "
            f"{percent(float(one.best[first]))} of the resampled sets of tasks."
        )
        changed = [task for task, at in zip(self.tasks, one.leads_without.tolist(), strict=True) if at != first]
        if changed:
            others = "another run leads" if len(changed) == 1 else "other runs lead"
            return f"{lead} Without {' or '.join(changed[:3])}{', …' if len(changed) > 3 else ''}, {others}."
        if len(self.systems) < 2 or np.isnan(one.without).all():
            return lead
        least = int(np.nanargmin(one.without))
        if one.without[least] > 1.0 - 1e-12:
            return f"{lead} Leaving out one task never changes the order of the runs."
        return (
            f"{lead} Leaving out one task never changes who leads; the order changes most without "
            f"{self.tasks[least]} (τ = {one.without[least]:.2f})."
        )

    def tables(self) -> tuple[Table, ...]:
        """Per run its places; then the means of each task; then what each task does to the order."""
        share = f"{self.settings['confidence']:g}"
        headers: dict[str, Any] = {"measure": "measure", "run": "run", "macro": ("mean of tasks", "score")}
        headers["place"] = ("place", "count")
        headers |= {end: (f"{end} ({share})", "count") for end in ("low", "high")}
        headers |= {"best": ("best", "share"), "mean_place": ("mean place", "number"), "wins": ("tasks won", "count")}
        means = pl.concat(
            pl.DataFrame(
                {
                    "measure": one.measure,
                    "run": [self.systems[at] for at in self._order(one)],
                    **{f"task: {name}": one.means[i, self._order(one)] for i, name in enumerate(self.tasks)},
                }
            )
            for one in self.measures
        )
        sizes = zip(self.tasks, self.sizes, strict=True)
        by_task = {"measure": "measure", "run": "run"} | {f"task: {name}": f"{name} ({size})" for name, size in sizes}
        every = pl.concat(
            pl.DataFrame(
                {
                    "measure": one.measure,
                    "task": self.tasks,
                    "topics": self.sizes,
                    "agrees": one.agrees,
                    "without": one.without,
                    "leads_without": [self.systems[at] for at in one.leads_without.tolist()],
                }
            )
            for one in self.measures
        )
        order = {"measure": "measure", "task": "task", "topics": "topics", "agrees": ("τ with all", "score")}
        order |= {"without": ("τ without it", "score"), "leads_without": "leads without it"}
        return (
            Table.of("runs", self.to_frame(), headers),
            Table.of("means", means, by_task, title="Means of the tasks, with how many topics each has."),
            Table.of("tasks", every, order, title="What each task does to the order of the runs."),
        )

    def compact(self) -> tuple[Table, ...]:
        """All: none is longer than the runs or the tasks."""
        return self.tables()

    def to_frame(self) -> pl.DataFrame:
        """One row per measure and run, the best first."""
        return pl.concat(self._rows(one, self._order(one)) for one in self.measures)

    def _rows(self, one: TaskMeans, order: list[int]) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "measure": one.measure,
                "run": [self.systems[at] for at in order],
                "macro": one.macro[order],
                "place": one.place[order].astype(np.int64),
                "low": one.low[order].astype(np.int64),
                "high": one.high[order].astype(np.int64),
                "best": one.best[order],
                "mean_place": one.mean_place[order],
                "wins": one.wins[order].astype(np.int64),
            }
        )

    def _notes(self) -> list[Note]:
        if len(self.tasks) >= _FEW:
            return []
        text = f"{len(self.tasks)} tasks say little about others: intervals of places from so few are too narrow."
        return [Note("few-tasks", "", text)]

    def chart(self) -> Chart:
        """The place of each run by the first measure, with its interval over resampled tasks."""
        alt, one = load_altair(), self.measures[0]
        frame = self.to_frame().filter(pl.col("measure") == one.measure)
        y = alt.Y("run:N", title=None, sort=frame["run"].to_list())
        scale = alt.Scale(domain=[1, max(2, len(self.systems))])
        ends = ("low:Q", "from"), ("high:Q", "to")
        tip = tips("run:N", ("place:Q", "place"), *ends, ("macro:Q", "mean of tasks", ".4f"))
        x = alt.X("low:Q", title="place", scale=scale, axis=alt.Axis(tickMinStep=1))
        base = alt.Chart(frame)
        drawn = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q", y=y, tooltip=tip) + base.mark_circle(
            size=70, opacity=1
        ).encode(x="place:Q", y=y, tooltip=tip)
        return styled(drawn, f"Places by {one.measure} over {plural(len(self.tasks), 'task')}")
