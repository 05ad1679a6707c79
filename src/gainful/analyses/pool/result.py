"""What `pool` returns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gainful import _polars as pl
from gainful.analyses.pool.sample import JUDGED
from gainful.charts import COLOURS, HEIGHT, WIDTH, load_altair, styled, tips
from gainful.data.qrels import Qrels
from gainful.errors import setting
from gainful.io.write import write_list
from gainful.results import Chart, Note, Result, Settings, listed, percent, plural
from gainful.tables import Table

# Runs and teams that are printed.
_MOST = 10
# Topics that a note names.
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PoolPlan(Result):
    """What `pool` found.

    Parameters
    ----------
    topics
        How many topics are pooled.
    ignored
        The topics of the runs that are not, having no judgment at all.
    costs
        One row per depth: documents in the pool, judged, still to judge, per topic and at most for one; and the share
        of relevant ones among the judged documents that enter since the depth before.
    contributors
        One row per run or team: its documents in the pool, those that it alone has, those to judge.
    to_judge
        The list: query_id, doc_id, and text where texts were given.
    effects
        One row per measure and run: the share of its first ten documents that is judged now and with the list, its
        mean, and what that becomes if no document of the list is relevant, or if all have the best label; None if
        nothing is judged or nothing is listed.
    qrels
        All judgments; of a sample those of the whole pool with strata and probabilities. None if there are none.
    sample
        The pool with stratum, inclusion and drawn; None if none was asked for.
    by
        run or team.
    settings
        What repeats it.
    """

    topics: int
    ignored: tuple[str, ...]
    costs: pl.DataFrame
    contributors: pl.DataFrame
    to_judge: pl.DataFrame
    effects: pl.DataFrame | None
    qrels: Qrels | None
    sample: pl.DataFrame | None
    by: str
    settings: Settings

    def verdict(self) -> str:
        """What is to judge, per topic; and how far that could change a run."""
        number = self.to_judge.height
        if not number:
            among = f" in the {plural(self.topics, 'topic')} with judgments" if self.ignored else ""
            return f"Nothing is left to judge{among}{self._where()}."
        each = "" if self.settings["more"] is not None else f", {number / self.topics:.3g} per topic"
        text = f"Judging {self._what()} needs {number:,} more {'judgment' if number == 1 else 'judgments'}{each}."
        if self.effects is None:
            return text
        least = self.effects.sort("judged", "run").row(0, named=True)
        rise = self.effects.with_columns(by=pl.col("if_all") - pl.col("score")).sort("by", descending=True)
        most = rise.row(0, named=True)
        rises = (
            f"{most['measure']} of {most['run']} would rise most, by {most['by']:.4f}"
            if most["by"] >= 0.00005
            else f"no run would rise in {listed(self.effects['measure'].unique(maintain_order=True).to_list())}"
        )
        return (
            f"{text} {least['run']} has the fewest judged documents among its first ten: {percent(least['judged'])} "
            f"now, {percent(least['judged_then'])} then. If all of the list were relevant, {rises}."
        )

    def _what(self) -> str:
        given = self.settings
        if self.sample is not None:
            return f"this sample of the pool to depth {given['strata'][-1]}"
        if given["more"] is not None:
            return f"{plural(given['more'], 'further document')} per topic"
        return f"to depth {given['depth']}"

    def _where(self) -> str:
        if self.sample is not None:
            return f": all of {self._what()} is judged"
        return "" if self.settings["more"] is not None else f": {self._what()} all is judged"

    def tables(self) -> tuple[Table, ...]:
        """Costs by depth; what the list could change; who contributes; the list itself; the strata of a sample."""
        costs: dict[str, Any] = {"depth": "depth", "documents": "documents", "judged": "judged", "to_judge": "to judge"}
        costs |= {"per_topic": ("per topic", "number"), "most": "most of one topic"}
        costs |= {"relevant": ("relevant of the new", "share")}
        found = [Table.of("costs", self.costs.with_columns(pl.col("per_topic").round(1)), costs)]
        if self.effects is not None:
            headers = {"measure": "measure", "run": "run", "judged": "judged@10", "judged_then": "then"}
            headers |= {"score": "mean", "if_none": "if none is relevant", "if_all": "if all are"}
            title = f"What {plural(self.to_judge.height, 'judgment')} could change:"
            found.append(Table.of("effects", self.effects, headers, title=title))
        if self.sample is not None:
            title = "The sample:"
            found.append(Table.of("strata", self._strata(), title=title))
        headers = {"contributor": self.by, "documents": "documents", "alone": "it alone has", "to_judge": "to judge"}
        title = f"Who contributes to the pool of depth {self.settings['depth']}:"
        found.append(Table.of("contributors", self.contributors, headers, title=title))
        found.append(Table.of("to_judge", self.to_judge.drop("text", strict=False)))
        return tuple(found)

    def _strata(self) -> pl.DataFrame:
        assert self.sample is not None
        return (
            self.sample.group_by("stratum", maintain_order=True)
            .agg(
                pl.len().alias("documents"),
                pl.col("drawn").sum().cast(pl.Int64),
                pl.col("relevance").is_not_null().sum().cast(pl.Int64).alias("judged"),
            )
            .sort(pl.col("stratum").str.extract(r"(\d+)").cast(pl.Int64), nulls_last=True)
        )

    def compact(self) -> tuple[Table, ...]:
        """Costs, what the list could change most, the strata."""
        shown = [table for table in self.tables() if table.name in ("costs", "effects", "strata")]
        return tuple(table.head(_MOST) if table.name == "effects" else table for table in shown)

    def _notes(self) -> tuple[Note, ...]:
        notes = []
        if self.ignored:
            have = "has" if len(self.ignored) == 1 else "have"
            text = (
                f"{plural(len(self.ignored), 'topic')} of the runs {have} no judgments and {have} no part in this: "
                f"{listed(list(self.ignored), _NAMED)}. {setting('topics', 'all')} pools all topics."
            )
            notes.append(Note("topics-not-pooled", self.ignored[0], text, warn=True))
        if self.effects is not None and self.effects.height > _MOST:
            text = f"{_MOST} of {self.effects.height} rows are printed, those that could rise most: JSON has them all."
            notes.append(Note("rows-not-printed", "", text))
        if self.sample is None:
            return tuple(notes)
        text = "Scores from a sample are estimates: use statAP, xinfAP or infNDCG, which know how it was drawn."
        notes.append(Note("sample", "", text))
        if self.to_judge.height and self.sample.filter(pl.col("stratum") != JUDGED)["relevance"].count():
            text = (
                f"{plural(self.to_judge.height, 'drawn document')} without a judgment yet: estimates take them for not "
                "drawn, and hold only when all have come back."
            )
            notes.append(Note("sample-incomplete", "", text))
        return tuple(notes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the list to judge; see `gainful.io.write.write_list`."""
        write_list(self.to_judge, Path(path))

    def chart(self) -> Chart:
        """Documents of each depth, judged and to judge."""
        alt = load_altair()
        parts = {"judged": "judged", "to judge": "to_judge"}
        frame = pl.concat(
            [
                pl.DataFrame(
                    {"depth": self.costs["depth"], "what": what, "documents": self.costs[name], "order": at}
                ).with_columns(per_topic=pl.col("documents") / self.topics)
                for at, (what, name) in enumerate(parts.items())
            ]
        )
        colour = alt.Color("what:N", title=None, sort=list(parts), scale=alt.Scale(range=[COLOURS[0], COLOURS[4]]))
        bars = (
            alt.Chart(frame)
            .mark_bar()
            .encode(
                x=alt.X("depth:O", title="pool depth (ranks)", axis=alt.Axis(labelAngle=0)),
                y=alt.Y("documents:Q", title="documents of all topics"),
                color=colour,
                order=alt.Order("order:Q"),
                tooltip=tips("depth:O", ("what:N", " "), "documents:Q", ("per_topic:Q", "per topic", ".1f")),
            )
        )
        return styled(bars.properties(width=WIDTH, height=HEIGHT), f"What a pool by {self.by} costs")
