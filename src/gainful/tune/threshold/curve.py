"""The whole trade-off: what is gained and what is lost at every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from gainful.charts import COLOURS, HEIGHT, WIDTH, load_altair, styled
from gainful.data.policies import Policies
from gainful.data.rankings import FloatArray, IntArray
from gainful.measures import Measure
from gainful.tune.threshold.documents import Listing
from gainful.tune.threshold.sweep import Sweep

if TYPE_CHECKING:
    import altair

# More points than this on a curve cannot be seen.
_POINTS = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThresholdCurve:
    """What a run is worth at every threshold: documents with at least that score are kept.

    Parameters
    ----------
    run, filter_run
        Whose documents, and whose scores filter if not the run's own.
    measure, cutoff, lower
        What was computed, the depth it looks to (None: all of it), and whether a lower value is better.
    topics, documents
        How many topics were averaged over, and how many documents the run has for judged topics.
    thresholds
        Descending; the first one, infinite, keeps nothing, the last one everything.
    kept, score, forbidden, filtered_good, empty
        At each: documents kept, the measure, Forbidden (share of those shown, up to the cutoff), FilteredGood and
        Empty, each a mean over topics.
    exact
        Whether every threshold was computed; else the measure was on a grid of them, and holds from one to the next.
    policies
        The policies that were in force.
    """

    run: str
    filter_run: str | None
    measure: str
    cutoff: int | None
    lower: bool
    topics: int
    documents: int
    thresholds: FloatArray
    kept: IntArray
    score: FloatArray
    forbidden: FloatArray
    filtered_good: FloatArray
    empty: FloatArray
    exact: bool
    policies: Policies

    @property
    def forbidden_label(self) -> str:
        """Forbidden with its cutoff, as `evaluate` calls it."""
        return "Forbidden" if self.cutoff is None else f"Forbidden@{self.cutoff}"

    @property
    def best(self) -> int:
        """The position of the best threshold, without any limit; of equally good ones that which keeps most."""
        value = -self.score if self.lower else self.score
        return int(np.flatnonzero(value >= value.max() - 1e-10 * max(1.0, abs(float(value.max()))))[-1])

    def __len__(self) -> int:
        return len(self.thresholds)

    def __str__(self) -> str:
        return (
            f"curve of {self.measure} for {self.run}: {len(self) - 1} thresholds, {self.documents} documents, "
            f"{self.topics} topics{'' if self.exact else ' (on a grid)'}; {self.policies}"
        )

    def to_frame(self) -> pl.DataFrame:
        """A row a threshold, descending: threshold, kept, score, forbidden, filtered_good, empty."""
        return pl.DataFrame(
            {
                "threshold": self.thresholds,
                "kept": self.kept,
                "score": self.score,
                "forbidden": self.forbidden,
                "filtered_good": self.filtered_good,
                "empty": self.empty,
            }
        )

    def to_dict(self) -> dict[str, object]:
        """The curve by columns, and the settings; the threshold that keeps nothing is the text 'inf'."""
        columns: dict[str, object] = {name: column.to_list() for name, column in self.to_frame().to_dict().items()}
        columns["threshold"] = ["inf", *self.thresholds[1:].tolist()]
        return {
            "run": self.run,
            "filter_run": self.filter_run,
            "measure": self.measure,
            "cutoff": self.cutoff,
            "topics": self.topics,
            "documents": self.documents,
            "curve": columns,
            "exact": self.exact,
            "policies": self.policies.to_dict(),
        }

    def thinned(self, most: int, also: int | None = None) -> IntArray:
        """At most so many thresholds that show the curve: where something changes, evenly, with ends and `also`."""
        change = self._changes()
        extra = [0, len(self) - 1, *([] if also is None else [also])]
        at = np.linspace(0, len(change) - 1, min(len(change), max(1, most - len(extra)))).astype(np.int64)
        return np.unique(np.append(change[at] if len(change) else change, extra))

    def _changes(self) -> IntArray:
        """The thresholds at which any of the four curves changes."""
        table = np.stack([self.score, self.forbidden, self.filtered_good, self.empty])
        return np.flatnonzero((np.diff(table, axis=1) != 0).any(axis=0)) + 1

    def chart(self) -> altair.TopLevelMixin:
        """The measure above, what it costs below, over the threshold."""
        return self.draw()

    def draw(self, chosen: int | None = None, interval: tuple[float, float] | None = None) -> altair.TopLevelMixin:
        """The chart, with the chosen threshold (its position in the arrays) and its interval marked."""
        alt = load_altair()
        at = self.thinned(_POINTS, chosen)
        change = self._changes()
        low, high = (self.thresholds[change[-1]], self.thresholds[1]) if len(change) else self.thresholds[[-1, 1]]
        margin = 0.04 * (high - low) or 1.0
        left, right = float(low - margin), float(high + margin)
        x = np.clip(self.thresholds[at], left, right)
        scale = alt.Scale(domain=[left, right], nice=False)
        points = self.to_frame()[at].with_columns(x=pl.Series(x))
        axis = alt.X("x:Q", scale=scale, title="threshold: documents with at least this score are kept")
        hints = [
            alt.Tooltip("threshold:Q", title="threshold", format=".6~g"),
            alt.Tooltip("kept:Q", title="documents kept", format=","),
            alt.Tooltip("score:Q", title=self.measure, format=".4f"),
            alt.Tooltip("forbidden:Q", title=self.forbidden_label, format=".1%"),
            alt.Tooltip("filtered_good:Q", title="FilteredGood", format=".1%"),
            alt.Tooltip("empty:Q", title="Empty", format=".1%"),
        ]
        line = {"interpolate": "step-before", "clip": True}  # the value up to a threshold is the one at it
        above: list[Any] = []
        if interval is not None:
            ends = np.clip(interval, left, right)
            span = pl.DataFrame({"from": [float(ends[0])], "to": [float(ends[1])]})
            band = alt.Chart(span).mark_rect(color=COLOURS[0], opacity=0.12)
            above.append(band.encode(x=alt.X("from:Q", scale=scale), x2="to:Q"))
        score = alt.Y("score:Q", title=self.measure, scale=alt.Scale(zero=False))
        above.append(
            alt.Chart(points)
            .mark_line(color=COLOURS[0], **line)
            .encode(x=alt.X("x:Q", scale=scale, title=None), y=score)
        )
        names = {"forbidden": self.forbidden_label, "filtered_good": "FilteredGood", "empty": "Empty"}
        long = points.rename(names).unpivot(list(names.values()), index="x", variable_name="what", value_name="share")
        below: list[Any] = [
            alt.Chart(long)
            .mark_line(**line)
            .encode(
                x=axis,
                y=alt.Y("share:Q", title="share", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
                color=alt.Color(
                    "what:N", title=None, sort=None, scale=alt.Scale(domain=list(names.values()), range=COLOURS[1:4])
                ),
                tooltip=["what:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("x:Q", title="threshold")],
            )
        ]
        if chosen is not None:
            place = points.filter(pl.Series(at == chosen))
            rule = alt.Chart(place).mark_rule(strokeDash=[4, 4], color="#555555").encode(x=alt.X("x:Q", scale=scale))
            above += [
                rule,
                alt.Chart(place)
                .mark_point(filled=True, size=80, color=COLOURS[0], opacity=1)
                .encode(x=alt.X("x:Q", scale=scale), y=score, tooltip=hints),
            ]
            below.append(rule)
        else:
            above.append(
                alt.Chart(points)
                .mark_point(opacity=0, size=60)
                .encode(x=alt.X("x:Q", scale=scale), y=score, tooltip=hints)
            )
        both = alt.vconcat(
            alt.layer(*above).properties(width=WIDTH, height=HEIGHT * 0.6),
            alt.layer(*below).properties(width=WIDTH, height=HEIGHT * 0.5),
            spacing=8,
        )
        return styled(both, f"Where to cut {self.run}")


def make_curve(
    listing: Listing, found: Sweep, measure: Measure, *, run: str, filter_run: str | None, policies: Policies
) -> ThresholdCurve:
    """The means of all curves of a sweep.

    Parameters
    ----------
    listing, found, measure
        The documents, what `sweep` made of them, and by which measure.
    run, filter_run
        Names.
    policies
        Those in force.
    """
    cutoff = measure.parameters.get("cutoff")
    return ThresholdCurve(
        run=run,
        filter_run=filter_run,
        measure=str(measure),
        cutoff=cutoff if isinstance(cutoff, int) else None,
        lower=measure.definition.higher == "worse",
        topics=int(found.topics.sum()),
        documents=len(listing.document),
        thresholds=np.concatenate([[np.inf], listing.thresholds]),
        kept=listing.kept(),
        score=found.score.mean(),
        forbidden=found.forbidden.mean(),
        filtered_good=found.filtered_good.mean(),
        empty=found.empty.mean(),
        exact=found.exact,
        policies=policies,
    )
