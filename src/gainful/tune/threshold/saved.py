"""A threshold that was saved, and a run filtered by it."""

from __future__ import annotations

import math
import os
from typing import get_args

from gainful import _polars as pl
from gainful.data.policies import Duplicates
from gainful.data.run import Run
from gainful.errors import DataError, DuplicateError, GainfulError, setting
from gainful.measures.grammar import read_json, shortened
from gainful.results import Note, some, warn
from gainful.tune.threshold.result import KIND, Threshold


def chosen_threshold(
    cut: Threshold | str | os.PathLike[str] | None, threshold: float | None, *, filtered: bool
) -> tuple[float, Duplicates, str | None]:
    """The threshold, what was done about duplicates when it was found, and the run whose scores it is for, if known.

    `filtered`: a filter run is given.
    """
    if (cut is None) == (threshold is None):
        got = "neither" if cut is None else "both"
        raise GainfulError(f"expected either {setting('cut')} or {setting('threshold')}, got {got}")
    if threshold is not None:
        if math.isnan(threshold):
            raise GainfulError("threshold: expected a number, got nan")
        return float(threshold), "error", None
    duplicates: Duplicates
    if isinstance(cut, Threshold):
        value, filter_run, duplicates = cut.threshold, cut.curve.filter_run, cut.settings.policies.duplicates
        run: str | None = cut.curve.run
    elif isinstance(cut, str | os.PathLike):
        value, run, filter_run, duplicates = _read(os.fspath(cut))
    else:
        raise GainfulError(f"cut: expected what threshold.fit returned, or its file, got {type(cut).__name__}")
    if filter_run is not None and not filtered:
        raise GainfulError(f"the threshold is for the scores of filter run {filter_run!r}: give a filter run here, too")
    if filter_run is None and filtered:
        raise GainfulError("the threshold is for the scores of the run itself: give no filter run")
    return value, duplicates, run if filter_run is None else filter_run


def check_same_run(fitted: str | None, scored: Run) -> None:
    """Warn of a threshold that was found on the scores of another run: they may be on another scale."""
    if fitted is not None and fitted != scored.name:
        text = (
            f"The threshold was fitted on scores of run {fitted!r}; those of {scored.name!r} may be on another scale."
        )
        warn([Note("other-run", scored.name, text, warn=True)])


def each_once(run: Run, duplicates: Duplicates) -> pl.DataFrame:
    """The run without the second of two equal documents of a topic; refused where those are an error."""
    first = run.frame.select(pl.struct("query_id", "doc_id").is_first_distinct()).to_series()
    if first.all():
        return run.frame
    if duplicates == "error":
        row = run.frame.filter(~first).row(0, named=True)
        raise DuplicateError(f"run {run.name!r}: document {row['doc_id']!r} appears twice in topic {row['query_id']!r}")
    return run.frame.filter(first)


def _read(path: str) -> tuple[float, str | None, str | None, Duplicates]:
    """The threshold, the run, that whose scores it is for if not its own, and the policy about duplicates."""
    wanted = "expected a threshold as 'gainful threshold fit --save' writes it"
    content = read_json(path, DataError, "a threshold")
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise DataError(f"{path}: {wanted}, got other JSON")
    value, filter_run = content.get("threshold"), content.get("filter_run")
    number = _as_float(value)
    if not (math.isfinite(number) or value in ("inf", "-inf")):
        raise DataError(f"{path}: expected a number, 'inf' or '-inf' as threshold, got {shortened(value)}")
    if not (filter_run is None or isinstance(filter_run, str)):
        raise DataError(f"{path}: expected a name or null as filter_run, got {shortened(filter_run)}")
    duplicates: object = content
    for key in ("settings", "policies", "duplicates"):
        duplicates = duplicates.get(key) if isinstance(duplicates, dict) else None
    if duplicates not in get_args(Duplicates):
        raise DataError(f"{path}: expected error or first as duplicates of its policies, got {shortened(duplicates)}")
    run = content.get("run")
    return number, run if isinstance(run, str) else None, filter_run, "first" if duplicates == "first" else "error"


def _as_float(value: object) -> float:
    """A number of JSON, or 'inf' or '-inf', as float; NaN for what is none, and for what no float can hold."""
    if isinstance(value, bool) or not (isinstance(value, int | float) or value in ("inf", "-inf")):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def emptied(whole: Run, kept: Run) -> str:
    """What to add to how many documents are left: the topics that have nothing left."""
    there = set(kept.topics)
    empty = [topic for topic in whole.topics if topic not in there]
    return f"; nothing left for {len(empty):,} of {len(whole.topics):,} topics ({some(empty)})" if empty else ""


def out_of_reach(run: Run, scored: Run) -> str:
    """Why a cut leaves nothing; `scored` has the scores that the threshold is on."""
    highest = scored.frame.join(run.frame, on=["query_id", "doc_id"], how="semi")["score"].to_numpy().max()
    return f"no score of run {scored.name!r} reaches the threshold; the highest is {highest}"
