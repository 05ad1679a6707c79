"""What thresholds on the scores of a run are worth, and the one that was chosen."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from gainful.data.rankings import FloatArray, IntArray
from gainful.io.atomic import write_atomically
from gainful.results import Note, Result, Settings, Table
from gainful.tune.threshold.choose import CLOSE, HeldOut, last_best

if TYPE_CHECKING:
    import altair

KIND = "gainful threshold"
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
        return "Forbidden" if self.cutoff is None else f"Forbidden@{self.cutoff}"

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
        """Where to cut, and what that gains on these topics.

        Parameters
        ----------
        number
            The position of the threshold to advise.
        limits
            A phrase that stands for the limits under which it was chosen.
        interval
            A phrase that stands after the threshold.
        """
        whole, at = float(self.score[-1]), float(self.score[number])
        if number == len(self) - 1:
            return f"Keep all of {self.run}: no threshold{limits} is better than none ({self.measure} {whole:.4f})."
        if number == 0:
            return (
                f"Show nothing of {self.run}: no threshold{limits} is better than an empty answer ({self.measure} "
                f"{at:.4f}, {whole:.4f} where everything is kept)."
            )
        shares = f"{self.forbidden_label} from {self.forbidden[-1]:.4f} to {self.forbidden[number]:.4f}"
        return (
            f"Cut {self.run} at {self.thresholds[number]:.6g}{interval}: on these topics {self.measure} goes from "
            f"{whole:.4f} to {at:.4f}{'' if self.measure == self.forbidden_label else ', ' + shares}."
        )

    def tables(self) -> tuple[Table, ...]:
        """As many thresholds as a screen holds; then the best one beside no threshold."""
        headers = {
            "threshold": ("threshold", "number"),
            "kept": "documents",
            "score": self.measure,
            "forbidden": self.forbidden_label,
            "filtered_good": "FilteredGood",
            "empty": "Empty",
        }
        at = self.thinned(_ROWS, self.best)
        marked = frozenset({(int(np.flatnonzero(at == self.best)[0]), 2)})
        curve = Table.of("curve", self.to_frame()[at], headers, best=marked)
        return curve, Table.of(
            "best",
            pl.DataFrame(
                {
                    "run": [self.run],
                    "uncut": [self.score[-1]],
                    "score": [self.score[self.best]],
                    "threshold": [self.thresholds[self.best]],
                    "kept": [self.kept[self.best] / self.documents],
                    "forbidden_uncut": [self.forbidden[-1]],
                    "forbidden": [self.forbidden[self.best]],
                }
            ),
            {
                "run": "run",
                "uncut": f"{self.measure} uncut",
                "score": "at the best threshold",
                "threshold": ("threshold", "number"),
                "kept": ("documents kept", "share"),
                "forbidden_uncut": (f"{self.forbidden_label} uncut", "share"),
                "forbidden": ("at the best threshold", "share"),
            },
        )

    def _notes(self) -> list[Note]:
        found = [] if self.exact else [self.on_a_grid()]
        if self.higher != "neither":
            text = "The best threshold has seen these topics: 'threshold fit' estimates what it is worth on others."
            found.append(Note("in-sample", self.measure, text))
        shown = len(self.thinned(_ROWS, self.best))
        if shown < len(self):
            text = f"{shown} of {len(self)} thresholds are shown; CSV and to_frame() have them all."
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

    def chart(self) -> altair.TopLevelMixin:
        """The measure above, what it costs below, over the threshold, with the best one marked."""
        from gainful.tune.threshold.chart import draw

        return draw(self, None if self.higher == "neither" else self.best)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Threshold(Result):
    """A threshold, what it is worth, and how it was chosen.

    Parameters
    ----------
    threshold
        Documents with at least this score are kept: the lowest score kept, -inf to keep everything, inf for nothing.
    number
        Its position in the arrays of `curve`.
    curve
        The whole trade-off.
    gain
        What it gains over no filter, on the topics it was chosen from (positive is better, whatever the measure).
    threshold_interval
        Of the threshold, choosing again from resampled topics.
    gain_interval
        Of the gain of this very threshold, over resampled topics.
    held_out
        The gain on topics that the threshold was not chosen from; None for a single topic.
    safe_from
        The lowest threshold that the risk allows, and the bound on the risk at the chosen one; None without a risk.
    forbidden_judged
        How many judged documents are forbidden (have a negative label).
    settings
        What repeats it.
    """

    threshold: float
    number: int
    curve: ThresholdCurve
    gain: float
    threshold_interval: tuple[float, float]
    gain_interval: tuple[float, float]
    held_out: HeldOut | None
    safe_from: tuple[float, float] | None
    forbidden_judged: int
    settings: Settings

    def verdict(self) -> str:
        """Where to cut, what that gains on these topics, and what it will gain on others."""
        limited = self.settings["max_forbidden"] is not None or self.settings["risk"] is not None
        low, high = self.threshold_interval
        advice = self.curve.advice(
            self.number,
            limits=" within the limits" if limited else "",
            interval=f" ({self.settings['confidence']:.4g} interval {low:.6g} to {high:.6g})",
        )
        return f"{advice} {self._expectation()}"

    def _expectation(self) -> str:
        """What the gain will be on other topics, as far as these can tell."""
        out = self.held_out
        if out is None:
            return "Held out: one topic alone says nothing about others."
        return (
            f"Held out: a threshold chosen on {out.folds - 1} of {out.folds} folds of the topics gains {out.gain:+.4f} "
            f"on the rest ({self.settings['confidence']:.4g} interval {out.gain_low:+.4f} to {out.gain_high:+.4f}), "
            f"against {self.gain:+.4f} on the topics it was chosen from."
        )

    def guarantee(self) -> str | None:
        """What the risk control promises, in words; None where none was asked for."""
        if self.safe_from is None:
            return None
        lowest, bound = self.safe_from
        unknown = {
            "zero": "documents without a judgment count as not forbidden",
            "condensed": "documents without a judgment are taken out first, and it says nothing about lists that "
            "show them",
        }[self.settings.policies.unjudged]
        return (
            f"Guarantee: on another topic of the same kind, at most {self.settings['risk']:.3g} of the first "
            f"{self.curve.cutoff} places are expected to hold a forbidden document, here and at any threshold from "
            f"{lowest:.6g} up (bound here {bound:.4f}, from {self.curve.topics} topics). It holds on average over "
            f"topics exchangeable with these, not for each; {unknown}."
        )

    def tables(self) -> tuple[Table, ...]:
        """What is shown without a threshold, with this one, and where nothing is kept; then how sure the gain is."""
        curve, measured = self.curve, self.at(0)
        kept = {"everything": len(curve) - 1, "from the threshold": self.number, "nothing": 0}
        outcome = pl.DataFrame(
            [
                {"kept": kind, "threshold": float(curve.thresholds[number]), **self.at(number)}
                for kind, number in kept.items()
            ]
        )
        gains = {"on these topics": (self.gain, *self.gain_interval)}
        if self.held_out is not None:
            gains["held out"] = (self.held_out.gain, self.held_out.gain_low, self.held_out.gain_high)
        share = f"{self.settings['confidence']:.4g}"
        return (
            Table.of(
                "outcome",
                outcome,
                {"kept": "kept", "threshold": ("from score", "number"), **{name: name for name in measured}},
            ),
            Table.of(
                "gains",
                pl.DataFrame(
                    [(name, *row) for name, row in gains.items()], ["topics", "gain", "low", "high"], orient="row"
                ),
                {
                    "topics": f"gain in {curve.measure}",
                    "gain": ("gain", "signed"),
                    "low": (f"low ({share})", "signed"),
                    "high": (f"high ({share})", "signed"),
                },
            ),
        )

    def compact(self) -> tuple[Table, ...]:
        """Both tables: neither is long."""
        return self.tables()

    def _notes(self) -> list[Note]:
        curve = self.curve
        found = []
        if promise := self.guarantee():
            found.append(Note("guarantee", curve.run, promise))
        if not self.forbidden_judged:
            found.append(Note("nothing-forbidden", "", "No judged document is forbidden (has a negative label)."))
        if len(curve) == 2:
            text = "All scores are equal, so that a threshold keeps everything or nothing."
            found.append(Note("equal-scores", curve.run, text))
        elif 0 < self.number < len(curve) - 1 and abs(curve.score[self.number] - curve.score[0]) <= CLOSE:
            found.append(Note("as-good-as-empty", curve.run, f"An empty answer has the same {curve.measure}."))
        return [*found, *([] if curve.exact else [curve.on_a_grid()])]

    def at(self, number: int) -> dict[str, float]:
        """The curve at one position: its values by name."""
        curve = self.curve
        beside = {
            curve.forbidden_label: float(curve.forbidden[number]),
            "FilteredGood": float(curve.filtered_good[number]),
            "Empty": float(curve.empty[number]),
            "documents": int(curve.kept[number]),
        }
        # First even if it is one of the others.
        score = {curve.measure: float(curve.score[number])}
        return score | {name: value for name, value in beside.items() if name != curve.measure}

    def to_frame(self) -> pl.DataFrame:
        """One row: the threshold, the gain, their intervals, and the held-out gain."""
        out = self.held_out
        row = {
            "run": self.curve.run,
            "measure": self.curve.measure,
            "threshold": self.threshold,
            "threshold_low": self.threshold_interval[0],
            "threshold_high": self.threshold_interval[1],
            "score": float(self.curve.score[self.number]),
            "unfiltered": float(self.curve.score[-1]),
            "gain": self.gain,
            "gain_low": self.gain_interval[0],
            "gain_high": self.gain_interval[1],
            "held_out_gain": None if out is None else out.gain,
            "held_out_low": None if out is None else out.gain_low,
            "held_out_high": None if out is None else out.gain_high,
        }
        held_out = dict.fromkeys(["held_out_gain", "held_out_low", "held_out_high"], pl.Float64)
        return pl.DataFrame([row], schema_overrides=held_out)

    def _content(self) -> dict[str, Any]:
        """All but the curve; infinite thresholds as the texts 'inf' and '-inf'."""
        lowest, bound = self.safe_from or (None, None)
        return {
            "kind": KIND,
            "threshold": _number(self.threshold),
            "run": self.curve.run,
            "filter_run": self.curve.filter_run,
            "measure": self.curve.measure,
            "topics": self.curve.topics,
            "chosen": self.at(self.number),
            "everything": self.at(-1),
            "nothing": self.at(0),
            "gain": self.gain,
            "threshold_interval": [_number(end) for end in self.threshold_interval],
            "gain_interval": list(self.gain_interval),
            "held_out": None if self.held_out is None else asdict(self.held_out),
            "safe_from": None if lowest is None else _number(lowest),
            "risk_bound": bound,
            "guarantee": self.guarantee(),
            "exact": self.curve.exact,
        }

    def chart(self) -> altair.TopLevelMixin:
        """The trade-off curve with the chosen threshold and its interval."""
        from gainful.tune.threshold.chart import draw

        return draw(self.curve, self.number, self.threshold_interval)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, for `threshold.apply`, all of it or nothing.

        Parameters
        ----------
        path
            The file.
        """
        write_atomically(path, json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n")


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)
