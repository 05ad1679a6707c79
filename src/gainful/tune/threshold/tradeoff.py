"""The whole trade-off: what is gained and what is lost at every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.data.rankings import FloatArray, IntArray
from gainful.results import Chart, Note, Result, Settings
from gainful.tables import Table
from gainful.tune.threshold.choose import last_best

# Rows of a curve that a screen holds.
_ROWS = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ThresholdCurve(Result):
    """What a run is worth at every threshold: documents with at least that score are kept.

    Parameters
    ----------
    run
        Whose documents.
    cutoff, higher
        The depth that the measure looks to (None: all of it), and whether a higher value of it is better, worse or
        neither.
    topics, documents
        How many topics were averaged over, and how many documents the run has for judged topics.
    thresholds
        Descending; the first one, infinite, keeps nothing, the last one everything.
    kept, score, forbidden, filtered_good, empty
        At each: documents kept, the measure, Forbidden (share of those shown, up to the cutoff), FilteredGood and
        Empty, each a mean over topics.
    exact
        Whether every threshold was computed; else the measure was on a grid of them, and holds from one to the next.
    settings
        What repeats it.
    """

    run: str
    cutoff: int | None
    higher: str
    topics: int
    documents: int
    thresholds: FloatArray
    kept: IntArray
    score: FloatArray
    forbidden: FloatArray
    filtered_good: FloatArray
    empty: FloatArray
    exact: bool
    settings: Settings
    below: float = 0.0  # labels below this are forbidden

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def measure(self) -> str:
        """What was computed."""
        return str(self.settings["measure"])

    @property
    def filter_run(self) -> str | None:
        """Whose scores filter, if not the run's own."""
        name: str | None = self.settings["filter_run"]
        return name

    @property
    def forbidden_label(self) -> str:
        """Forbidden with its cutoff, as `evaluate` calls it."""
        name = "Forbidden" if self.below == 0 else f"Forbidden(below={self.below:g})"
        return name if self.cutoff is None else f"{name}@{self.cutoff}"

    @property
    def best(self) -> int:
        """The position of the best threshold, without any limit; of equally good ones that which keeps most."""
        return int(last_best(-self.score if self.higher == "worse" else self.score))

    def verdict(self) -> str:
        """Where to cut, and what that gains on these topics."""
        if self.higher == "neither":
            return (
                f"{self.measure} of {self.run} is {self.score[-1]:.4f} where everything is kept, {self.score[0]:.4f} "
                "where nothing is."
            )
        return self.advice(self.best)

    def advice(self, number: int, *, limits: str = "", interval: str = "") -> str:
        """Where to cut, and what that gains on these topics; phrases stand for the limits, and after the threshold."""
        whole, at = float(self.score[-1]), float(self.score[number])
        if number == len(self) - 1:
            return f"Keep all of {self.run}: no threshold{limits} is better than none ({self.measure} {whole:.4f})."
        if number == 0:
            return (
                f"Show nothing of {self.run}: no threshold{limits} is better than an empty answer ({self.measure} "
                f"{at:.4f}, {whole:.4f} where everything is kept)."
            )
        shares = f"{self.forbidden_label} from {self.forbidden[-1]:.4f} to {self.forbidden[number]:.4f}"
        score = f"{self.thresholds[number]:.6g}" + (f" by the scores of {self.filter_run}" if self.filter_run else "")
        return (
            f"Cut {self.run} at {score}{interval}: on these topics {self.measure} goes from "
            f"{whole:.4f} to {at:.4f}{'' if self.measure == self.forbidden_label else ', ' + shares}."
        )

    def tables(self) -> tuple[Table, ...]:
        """As many thresholds as a screen holds; then the best one, if any is, beside no threshold."""
        headers = {
            "threshold": ("threshold", "number"),
            "kept": "documents",
            "score": self.measure,
            "forbidden": self.forbidden_label,
            "filtered_good": "FilteredGood",
            "empty": "Empty",
        }
        at = self.thinned(_ROWS, self.best)
        if self.higher == "neither":
            return (Table.of("curve", self.to_frame()[at], headers),)
        marked = frozenset({(int(np.flatnonzero(at == self.best)[0]), 2)})
        curve = Table.of("curve", self.to_frame()[at], headers, best=marked)
        best: dict[str, tuple[Any, Any]] = {
            "run": (self.run, "run"),
            "uncut": (self.score[-1], f"{self.measure} uncut"),
            "score": (self.score[self.best], "at the best threshold"),
            "threshold": (self.thresholds[self.best], ("threshold", "number")),
            "kept": (self.kept[self.best] / self.documents, ("documents kept", "share")),
            "forbidden_uncut": (self.forbidden[-1], (f"{self.forbidden_label} uncut", "share")),
            "forbidden": (self.forbidden[self.best], ("at the best threshold", "share")),
        }
        row = pl.DataFrame({name: [value] for name, (value, _) in best.items()})
        return curve, Table.of("best", row, {name: header for name, (_, header) in best.items()})

    def _notes(self) -> list[Note]:
        found = [] if self.exact else [self.on_a_grid()]
        if self.higher != "neither":
            text = "The best threshold has seen these topics: 'threshold fit' estimates what it is worth on others."
            found.append(Note("in-sample", self.measure, text))
        shown = len(self.thinned(_ROWS, self.best))
        if shown < len(self):
            text = f"{shown} of {len(self)} thresholds are shown; CSV and JSON have them all."
            found.append(Note("shortened", self.run, text))
        return found

    def on_a_grid(self) -> Note:
        """What to know of a curve that is not exact."""
        return Note("grid", self.measure, f"{self.measure} was computed on a grid of the {len(self) - 1} thresholds.")

    def to_frame(self) -> pl.DataFrame:
        """One row per threshold, descending: threshold, kept, score, forbidden, filtered_good, empty."""
        names = ("kept", "score", "forbidden", "filtered_good", "empty")
        return pl.DataFrame({"threshold": self.thresholds, **{name: getattr(self, name) for name in names}})

    def _content(self) -> dict[str, Any]:
        columns = {name: column.to_list() for name, column in self.to_frame().to_dict().items()}
        columns["threshold"] = ["inf", *self.thresholds[1:].tolist()]  # JSON has no infinity
        return {
            "run": self.run,
            "filter_run": self.filter_run,
            "measure": self.measure,
            "cutoff": self.cutoff,
            "topics": self.topics,
            "documents": self.documents,
            "curve": columns,
            "exact": self.exact,
        }

    def thinned(self, most: int, also: int | None = None) -> IntArray:
        """At most so many thresholds that show the curve: where something changes, evenly, with ends and `also`."""
        change = self.changes()
        extra = [0, len(self) - 1, *([] if also is None else [also])]
        at = np.linspace(0, len(change) - 1, min(len(change), max(1, most - len(extra)))).astype(np.int64)
        return np.unique(np.append(change[at] if len(change) else change, extra))

    def changes(self) -> IntArray:
        """The thresholds at which any of the four curves changes."""
        table = np.stack([self.score, self.forbidden, self.filtered_good, self.empty])
        return np.flatnonzero((np.diff(table, axis=1) != 0).any(axis=0)) + 1

    def chart(self) -> Chart:
        """The measure above, what it costs below, over the threshold, with the best one marked."""
        from gainful.tune.threshold.chart import draw

        return draw(self, None if self.higher == "neither" else self.best)
