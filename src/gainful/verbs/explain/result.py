"""What `explain` returns: one topic's score, taken apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gainful import _polars as pl
from gainful.charts import COLOURS, WIDTH, load_altair, styled
from gainful.results import Chart, Note, Result, Settings, listed
from gainful.tables import Table, number

# A longer ranking is printed without the ranks below the first that gain nothing, and in no more lines than that.
_ALL_RANKS, _MOST_RANKS = 20, 40
_MOST_LOSSES = 10
# Less than this is not seen in four decimals.
_NOTHING = 5e-5
# Why something is lost or gained: on documents that are not shown, on wanted ones that are, on forbidden ones.
REASONS = (
    ("documents are not among the first {k}", "forbidden documents are not among the first {k}"),
    ("documents are ranked too low", "documents are ranked higher, where others are missing"),
    ("forbidden documents are shown, or ranked too high", "forbidden documents are ranked lower"),
)
_HEADERS: dict[str, Any] = {"doc_id": ("document", "text")} | {
    name: (name, "level") for name in ("label", "gain", "cg")
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Explanation(Result):
    """One topic's score, taken apart.

    Two identities hold: ``score = empty + sum(lost["won"])`` and ``best = score + sum(lost["lost"])``.

    Parameters
    ----------
    measure, run, topic
        What was explained.
    score
        The score of the topic, as `evaluate` gives it; NaN where the measure is undefined.
    empty
        What an empty ranking would score: 0 but for norm='min' and norm='f', where it is -W/(I - W).
    best
        What the best ordering of the pool scores: 1 for nDCG, whatever its norm.
    absent, misplaced, forbidden
        What was lost on documents that are not among the ranks that count, on wanted documents that are, and on
        forbidden ones that are; negative where the best ordering has less. Together ``best - score``.
    steps
        One row per rank: ``rank``, ``doc_id`` (null after the last document), ``label`` (null if unjudged), then for
        the gain family ``gain``, ``cg``, ``discount``, ``dcg``, ``ideal`` and ``worst`` (the DCG of the best and the
        worst that the pool allows down to this rank) and ``ndcg`` (null where undefined); for AP, P, R and RR
        ``relevant``, ``found``, ``precision``, ``recall`` and the measure itself; for a measure that declares no steps
        ``adds`` and ``score``.
    lost
        One row per document of the pool that counts, largest loss first: ``doc_id``, ``label``, ``gain``, ``rank``
        (null if not returned), ``won`` (what it adds to the score), ``best`` (what it adds in the best ordering)
        and ``lost``, the difference; negative where it stands higher than in the best ordering.
    settings
        The policies that were in force.
    """

    measure: str
    run: str
    topic: str
    score: float
    empty: float
    best: float
    absent: float
    misplaced: float
    forbidden: float
    steps: pl.DataFrame
    lost: pl.DataFrame
    settings: Settings

    def verdict(self) -> str:
        """The score, the best that was possible, and how the difference came about."""
        name = f"{self.measure} of topic {self.topic} in run {self.run!r}"
        if math.isnan(self.score):
            return f"{name} is undefined: the pool leaves nothing to gain or lose."
        start = f"{name} is {number(self.score)}; the best ordering scores {number(self.best)}."
        if abs(self.empty) >= _NOTHING:
            added = number(self.score - self.empty)
            start += f" An empty ranking scores {number(self.empty)}; what is shown adds {added}."
        return f"{start} {self._balance()}"

    def _balance(self) -> str:
        """What was lost, and why; a negative loss is a gain."""
        losses = list(zip((self.absent, self.misplaced, self.forbidden), REASONS, strict=True))
        lost = [f"{number(loss)} because {why}" for loss, (why, _) in losses if loss >= _NOTHING]
        won = [f"{number(-loss)} because {why}" for loss, (_, why) in losses if loss <= -_NOTHING]
        sentences = [f"Lost: {listed(lost)}."] if lost else []
        sentences += [f"Gained over the best ordering: {listed(won)}."] if won else []
        return " ".join(sentences or ["Nothing is lost."]).format(k=self.steps.height)

    def tables(self) -> tuple[Table, ...]:
        """The steps from rank to rank, then the documents by what was lost on them."""
        return _table("steps", self.steps), _table("lost", self.lost)

    def compact(self) -> tuple[Table, ...]:
        """The ranks and the documents that matter."""
        kept = self.steps.filter(pl.col("rank").is_in(_ranks_that_matter(self.steps)))
        lost = self._counted().head(_MOST_LOSSES)
        return _table("steps", kept), *([_table("lost", lost)] if lost.height else [])

    def _counted(self) -> pl.DataFrame:
        """The losses, less what lies beyond the cutoff both in the run and in the best ordering."""
        return self.lost.filter((pl.col("won") != 0) | (pl.col("best") != 0))

    def _notes(self) -> tuple[Note, ...]:
        notes = []
        if not self.steps["doc_id"].count():
            text = f"Run {self.run!r} returns nothing for topic {self.topic!r}: this is the score of an empty ranking."
            notes.append(Note("missing-topic", self.topic, text))
        if self.steps.height > _MOST_RANKS:
            text = f"Ranks that gain nothing are left out of the table; CSV and JSON have all {self.steps.height}."
            notes.append(Note("ranks-left-out", self.topic, text))
        losses = self._counted().height
        if losses > _MOST_LOSSES:
            text = f"The table has the {_MOST_LOSSES} largest losses of {losses}; JSON has them all."
            notes.append(Note("losses-left-out", self.topic, text))
        return tuple(notes)

    def chart(self) -> Chart:
        """What the documents with the largest losses won, and what they could have won."""
        alt = load_altair()
        rows = self._counted().head(_MOST_LOSSES).select("doc_id", "label", "rank", "won", "best", "lost")
        base = alt.Chart(alt.Data(values=rows.to_dicts())).encode(
            y=alt.Y("doc_id:N", sort=rows["doc_id"].to_list(), title="document"),
            tooltip=[alt.Tooltip(f"{name}:{kind}") for name, kind in zip(rows.columns, "NQQQQQ", strict=True)],
        )
        could = base.mark_tick(color=COLOURS[1], thickness=2, size=16).encode(x=alt.X("best:Q"))
        bars = base.mark_bar(color=COLOURS[0]).encode(x=alt.X("won:Q", title=f"part of {self.measure}"))
        title = f"{self.measure} of topic {self.topic}: what documents add"
        return styled((bars + could).properties(width=WIDTH), title, "Bar: won. Tick: could have won.")

    def _content(self) -> dict[str, Any]:
        numbers = {name: getattr(self, name) for name in ("score", "empty", "best", "absent", "misplaced", "forbidden")}
        plain = {name: None if math.isnan(value) else value for name, value in numbers.items()}
        names = {"measure": self.measure, "run": self.run, "topic": self.topic}
        return {**names, **plain, "steps": self.steps.to_dicts(), "lost": self.lost.to_dicts()}


def _table(name: str, frame: pl.DataFrame) -> Table:
    return Table.of(name, frame, {column: _HEADERS.get(column, column) for column in frame.columns})


def _ranks_that_matter(steps: pl.DataFrame) -> list[int]:
    if steps.height <= _MOST_RANKS:
        return steps["rank"].to_list()
    marks = [name for name in ("gain", "relevant", "adds") if name in steps.columns]
    hits = pl.col(marks[0]).cast(pl.Float64) != 0 if marks else pl.lit(value=True)
    matters = steps.filter((pl.col("rank") <= _ALL_RANKS) | hits)["rank"].to_list()
    return [*matters[: _MOST_RANKS - 1], steps.height]
