"""A threshold that was chosen: what it is worth, how it is kept in a file, and the run cut there."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from gainful.data.policies import Duplicates
from gainful.data.run import Run
from gainful.errors import DataError, GainfulError, check_choice
from gainful.io.read import read_run
from gainful.io.write import write_atomically
from gainful.measures.files import read_json, shortened
from gainful.tune.threshold.choose import CLOSE, HeldOut
from gainful.tune.threshold.curve import ThresholdCurve
from gainful.tune.threshold.documents import filter_scores

if TYPE_CHECKING:
    import altair

_KIND = "gainful threshold"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Threshold:
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
    max_forbidden, risk
        The limits that were set, if any.
    safe_from
        The lowest threshold that the risk allows, and the bound on the risk at the chosen one; None without `risk`.
    forbidden_judged
        How many judged documents are forbidden (have a negative label).
    confidence, resamples, folds, repeats, seed
        The settings that repeat it.
    """

    threshold: float
    number: int
    curve: ThresholdCurve
    gain: float
    threshold_interval: tuple[float, float]
    gain_interval: tuple[float, float]
    held_out: HeldOut | None
    max_forbidden: float | None
    risk: float | None
    safe_from: tuple[float, float] | None
    forbidden_judged: int
    confidence: float
    resamples: int
    folds: int
    repeats: int
    seed: int

    def __str__(self) -> str:
        curve = self.curve
        return (
            f"threshold {self.threshold:.6g} for {curve.measure}: {curve.score[self.number]:.4f}, "
            f"{curve.score[-1]:.4f} unfiltered; {curve.run}, {curve.topics} topics; resamples={self.resamples} "
            f"folds={self.folds} repeats={self.repeats} seed={self.seed} {curve.policies}"
        )

    def held_out_in_words(self) -> str:
        """What the gain will be on other topics, as far as these can tell."""
        if self.held_out is None:
            return "Held out: one topic alone says nothing about others."
        out = self.held_out
        return (
            f"Held out: a threshold chosen on {out.folds - 1} of {out.folds} parts of the topics gains {out.gain:+.4f} "
            f"on the rest ({self.confidence:.4g} interval {out.low:+.4f} to {out.high:+.4f}), against {self.gain:+.4f} "
            "on the topics it was chosen from."
        )

    def guarantee(self) -> str | None:
        """What the risk control promises, in words; None where none was asked for."""
        if self.risk is None or self.safe_from is None:
            return None
        lowest, bound = self.safe_from
        unknown = {
            "zero": "documents without a judgment count as not forbidden",
            "condensed": "documents without a judgment are taken out first, and it says nothing about lists that "
            "show them",
        }[self.curve.policies.unjudged]
        return (
            f"Guarantee: on another topic of the same kind, at most {self.risk:.3g} of the first {self.curve.cutoff} "
            f"places are expected to hold a forbidden document, here and at any threshold from {lowest:.6g} up (bound "
            f"here {bound:.4f}, from {self.curve.topics} topics). It holds on average over topics exchangeable with "
            f"these, not for each; {unknown}."
        )

    def remarks(self) -> list[str]:
        """What a reader should know beside the numbers."""
        curve = self.curve
        found = [self.held_out_in_words()]
        if promise := self.guarantee():
            found.append(promise)
        if not self.forbidden_judged:
            found.append("note: no judged document is forbidden (has a negative label)")
        if len(curve) == 2:
            found.append("note: all scores are equal, so that a threshold keeps everything or nothing")
        elif self.number == len(curve) - 1:
            found.append("note: no threshold is better than none: everything is kept")
        elif self.number == 0 or abs(curve.score[self.number] - curve.score[0]) <= CLOSE:
            limited = self.max_forbidden is not None or self.risk is not None
            found.append(f"note: {'within the limits ' if limited else ''}nothing is better than an empty answer")
        if not curve.exact:
            found.append(f"note: {curve.measure} was computed on a grid of the {len(curve) - 1} thresholds")
        return found

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
        return pl.DataFrame(
            {
                "run": [self.curve.run],
                "measure": [self.curve.measure],
                "threshold": [self.threshold],
                "threshold_low": [self.threshold_interval[0]],
                "threshold_high": [self.threshold_interval[1]],
                "score": [float(self.curve.score[self.number])],
                "unfiltered": [float(self.curve.score[-1])],
                "gain": [self.gain],
                "gain_low": [self.gain_interval[0]],
                "gain_high": [self.gain_interval[1]],
                "held_out_gain": [None if out is None else out.gain],
                "held_out_low": [None if out is None else out.low],
                "held_out_high": [None if out is None else out.high],
            },
            schema_overrides=dict.fromkeys(["held_out_gain", "held_out_low", "held_out_high"], pl.Float64),
        )

    def to_dict(self) -> dict[str, object]:
        """All but the curve, and the settings; infinite thresholds as the texts 'inf' and '-inf'."""
        curve = self.curve
        return {
            "kind": _KIND,
            "threshold": _number(self.threshold),
            "run": curve.run,
            "filter_run": curve.filter_run,
            "measure": curve.measure,
            "topics": curve.topics,
            "cut": self.at(self.number),
            "everything": self.at(-1),
            "nothing": self.at(0),
            "gain": self.gain,
            "threshold_interval": [_number(end) for end in self.threshold_interval],
            "gain_interval": list(self.gain_interval),
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
            "max_forbidden": self.max_forbidden,
            "risk": self.risk,
            "safe_from": None if self.safe_from is None else _number(self.safe_from[0]),
            "risk_bound": None if self.safe_from is None else self.safe_from[1],
            "guarantee": self.guarantee(),
            "exact": curve.exact,
            "policies": curve.policies.to_dict(),
            "confidence": self.confidence,
            "resamples": self.resamples,
            "folds": self.folds,
            "repeats": self.repeats,
            "seed": self.seed,
        }

    def chart(self) -> altair.TopLevelMixin:
        """The trade-off curve with the chosen threshold and its interval."""
        return self.curve.draw(self.number, self.threshold_interval)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, for `apply_threshold`, all of it or nothing.

        Parameters
        ----------
        path
            The file.
        """
        write_atomically(path, json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n")


def apply_threshold(
    run: Any,
    cut: Threshold | str | os.PathLike[str] | None = None,
    *,
    threshold: float | None = None,
    filter_run: Any = None,
    duplicates: Duplicates | None = None,
) -> Run:
    """Cut a run: keep the documents whose score reaches a threshold.

    Parameters
    ----------
    run
        The run to cut: a file, a dict or a frame.
    cut
        What `fit_threshold` found, or the file that it was saved to.
    threshold
        The threshold itself, instead of a cut.
    filter_run
        A run with other scores for the same documents, to filter by.
    duplicates
        A document twice in a topic: error or first; if not given, as when the cut was found, and else error.

    Returns
    -------
    Run
        The documents with at least that score, in their order and with their scores. Topics may be empty, and gone.

    Notes
    -----
    Scores are compared as they are. That a cut found under ties='trec' keeps scores together that are equal as float32
    holds for the run that it was found on: the threshold is the lowest of them there, and another run may have one
    below it that is equal as float32.

    Examples
    --------
    >>> apply_threshold({"1": {"a": 0.9, "b": 0.3}}, threshold=0.5).frame["doc_id"].to_list()
    ['a']
    """
    value, found_under = _value(cut, threshold, filtered=filter_run is not None)
    if duplicates is not None:
        check_choice("duplicates", duplicates, get_args(Duplicates))
    run = read_run(run)
    frame = _each_once(run, duplicates or found_under)
    score = frame["score"].to_numpy()
    if filter_run is not None:
        score = filter_scores(frame, run.name, read_run(filter_run))
    return Run(frame.filter(pl.Series(score >= value)), run.name)


def _each_once(run: Run, duplicates: Duplicates) -> pl.DataFrame:
    """The run without the second of two equal documents of a topic; refused where those are an error."""
    first = run.frame.select(pl.struct("query_id", "doc_id").is_first_distinct()).to_series()
    if first.all():
        return run.frame
    if duplicates == "error":
        row = run.frame.filter(~first).row(0, named=True)
        raise DataError(
            f"run {run.name!r}: document {row['doc_id']!r} appears twice in topic {row['query_id']!r}: "
            "remove one, or use duplicates='first' to keep the first."
        )
    return run.frame.filter(first)


def _value(
    cut: Threshold | str | os.PathLike[str] | None, threshold: float | None, *, filtered: bool
) -> tuple[float, Duplicates]:
    """The threshold, and what was done about duplicates when it was found."""
    if (cut is None) == (threshold is None):
        got = "neither" if cut is None else "both"
        raise GainfulError(f"expected either a cut or a threshold, got {got}")
    if threshold is not None:
        if math.isnan(threshold):
            raise GainfulError("threshold: expected a number, got nan")
        return float(threshold), "error"
    duplicates: Duplicates
    if isinstance(cut, Threshold):
        value, filter_run, duplicates = cut.threshold, cut.curve.filter_run, cut.curve.policies.duplicates
    elif isinstance(cut, str | os.PathLike):
        value, filter_run, duplicates = _read_cut(os.fspath(cut))
    else:
        raise GainfulError(f"cut: expected what fit_threshold found, or its file, got {type(cut).__name__}")
    if filter_run is not None and not filtered:
        raise GainfulError(f"the cut is on the scores of filter run {filter_run!r}: give a filter run here, too")
    if filter_run is None and filtered:
        raise GainfulError("the cut is on the scores of the run itself: give no filter run")
    return value, duplicates


def _read_cut(path: str) -> tuple[float, str | None, Duplicates]:
    """A saved cut: threshold, the run whose scores it is on if not the run's own, and the policy about duplicates."""
    wanted = "expected a cut as 'gainful threshold fit --save' writes it"
    content = read_json(path, DataError, "a cut")
    if not isinstance(content, dict) or content.get("kind") != _KIND:
        raise DataError(f"{path}: {wanted}, got other JSON")
    value, filter_run = content.get("threshold"), content.get("filter_run")
    number = _as_float(value)
    if not (math.isfinite(number) or value in ("inf", "-inf")):
        raise DataError(f"{path}: expected a number, 'inf' or '-inf' as threshold, got {shortened(value)}")
    if not (filter_run is None or isinstance(filter_run, str)):
        raise DataError(f"{path}: expected a name or null as filter_run, got {shortened(filter_run)}")
    policies = content.get("policies")
    duplicates = policies.get("duplicates") if isinstance(policies, dict) else None
    if duplicates not in get_args(Duplicates):
        raise DataError(f"{path}: expected error or first as duplicates of its policies, got {shortened(duplicates)}")
    return number, filter_run, "first" if duplicates == "first" else "error"


def _as_float(value: object) -> float:
    """A number of JSON, or 'inf' or '-inf', as float; NaN for what is none, and for what no float can hold."""
    if isinstance(value, bool) or not (isinstance(value, int | float) or value in ("inf", "-inf")):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)
