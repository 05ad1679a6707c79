"""A threshold that was chosen: what it is worth, and how it is kept in a file."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from typing import Any

from gainful import _polars as pl
from gainful.io.atomic import write_atomically
from gainful.results import Chart, Note, Result, Settings, plural
from gainful.tables import Table
from gainful.tune.threshold.choose import HeldOut
from gainful.tune.threshold.risk import CLOSE, smallest_risk
from gainful.tune.threshold.tradeoff import ThresholdCurve

KIND = "gainful threshold"


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
        The lowest threshold that the risk allows, and an estimate of the loss on another topic at the chosen one; None
        without a risk.
    forbidden_judged
        How many judged documents are forbidden.
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
            interval=""
            if self.curve.topics == 1  # nothing to resample
            else f" ({100 * self.settings['confidence']:.4g}% interval {low:.6g} to {high:.6g})",
        )
        doubt = f" It is not shown to improve {self.curve.measure} on other topics." if self._in_doubt() else ""
        return f"{advice}{doubt} {self._expectation()}"

    def _in_doubt(self) -> bool:
        """Whether a cut that gains on these topics may gain nothing on others."""
        return self.gain > 0.0 and self.held_out is not None and self.held_out.gain_low <= 0.0

    def _expectation(self) -> str:
        """What the gain will be on other topics, as far as these can tell."""
        out = self.held_out
        if out is None:
            return "Held out: one topic alone says nothing about others."
        return (
            f"Held out: a threshold chosen on {out.folds - 1} of {out.folds} folds of the topics gains {out.gain:+.4f} "
            f"on the rest ({100 * self.settings['confidence']:.4g}% interval of the gain expected on new topics "
            f"{out.gain_low:+.4f} to {out.gain_high:+.4f}), against {self.gain:+.4f} on the topics it was chosen from."
        )

    def guarantee(self) -> str | None:
        """What the risk control promises, in words; None where none was asked for."""
        if self.safe_from is None:
            return None
        lowest, estimate = self.safe_from
        sure = self.settings["risk_confidence"]
        at_most = (
            f"at most {self.settings['risk']:.3g} of the first {self.curve.cutoff} places hold a forbidden document"
        )
        anywhere = f"here and at any threshold from {lowest:.6g} up"
        if sure is None:
            promise = (
                f"Guarantee in expectation: on average over the topics that a threshold is fitted on and new topics "
                f"like them, {at_most}, {anywhere}. Fitted on these topics alone it may be more"
            )
        else:
            promise = (
                f"Guarantee with confidence {sure:g}: with probability {sure:g} over the topics it was fitted on, "
                f"{at_most} on average over new topics like them, {anywhere}"
            )
        unknown = {
            "zero": "documents without a judgment count as not forbidden",
            "condensed": "documents without a judgment are taken out first, and it says nothing about lists that "
            "show them",
        }[self.settings.policies.unjudged]
        topics = self.curve.topics
        return (
            f"{promise}. The share to expect on one more topic is estimated as {estimate:.4f}: the mean of the "
            f"{plural(topics, 'topic')} here and of one that has nothing but forbidden documents; no risk below "
            f"{smallest_risk(topics, sure)} can be guaranteed from so many. In all this, {unknown}."
        )

    def tables(self) -> tuple[Table, ...]:
        """What is shown without a threshold, with this one, and where nothing is kept; then how sure the gain is."""
        curve, measured = self.curve, self.at(0)
        kept = {"everything": len(curve) - 1, "from the threshold": self.number, "nothing": 0}
        outcome = [{"kept": kind, "threshold": float(curve.thresholds[at]), **self.at(at)} for kind, at in kept.items()]
        headers = {"kept": "kept", "threshold": ("from score", "number"), **{name: name for name in measured}}
        ends = self.gain_interval if curve.topics > 1 else (math.nan, math.nan)
        gains = [("on these topics", self.gain, *ends)]
        if (out := self.held_out) is not None:
            gains.append(("held out", out.gain, out.gain_low, out.gain_high))
        share = f"{self.settings['confidence']:.4g}"
        headed = {end: (f"{end} ({share})", "signed") for end in ("low", "high")}
        return Table.of("outcome", pl.DataFrame(outcome), headers), Table.of(
            "gains",
            pl.DataFrame(gains, ["topics", "gain", "low", "high"], orient="row"),
            {"topics": f"gain in {curve.measure}", "gain": ("gain", "signed"), **headed},
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
            text = f"No judged document is forbidden: none has a label below {curve.below:g}."
            found.append(Note("nothing-forbidden", "", text))
        if len(curve) == 2:
            text = "All scores are equal, so that a threshold keeps everything or nothing."
            found.append(Note("equal-scores", curve.run, text))
        elif 0 < self.number < len(curve) - 1 and abs(curve.score[self.number] - curve.score[0]) <= CLOSE:
            found.append(Note("as-good-as-empty", curve.run, f"An empty answer has the same {curve.measure}."))
        if (out := self.held_out) is not None and out.gain_low == out.gain_high:
            text = (
                "Resampled topics all choose thresholds that change no topic's score, so that the interval of the "
                "held-out gain has no width: it does not cover what rarer topics would gain or lose."
            )
            found.append(Note("nothing-to-gain", curve.run, text))
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
        out, held_out = self.held_out, dict.fromkeys(("held_out_gain", "held_out_low", "held_out_high"), pl.Float64)
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
            **dict(zip(held_out, (None,) * 3 if out is None else (out.gain, out.gain_low, out.gain_high), strict=True)),
        }
        return pl.DataFrame([row], schema_overrides=held_out)

    def _content(self) -> dict[str, Any]:
        """All but the curve; infinite thresholds as the texts 'inf' and '-inf'."""
        lowest, estimate = self.safe_from or (None, None)
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
            "risk_estimate": estimate,
            "guarantee": self.guarantee(),
            "exact": self.curve.exact,
        }

    def chart(self) -> Chart:
        """The trade-off curve with the chosen threshold and its interval."""
        from gainful.tune.threshold.chart import draw

        return draw(self.curve, self.number, self.threshold_interval)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, for `threshold.apply`, all of it or nothing."""
        write_atomically(path, json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n")


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)
