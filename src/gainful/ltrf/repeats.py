"""Compare losses: on one split, whose f-rankers are kept, or on many."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.errors import DataError, GainfulError, check_count, check_share, setting
from gainful.ltrf.comparison import LossComparison
from gainful.ltrf.data import Examples
from gainful.ltrf.experiments import Kept, Outcome, outcomes
from gainful.ltrf.functions import compare
from gainful.ltrf.outcomes import Place, Study, averaged, corrected_for_splits, outcome_of, tested, trained
from gainful.ltrf.ranker import SETTINGS, FRanker
from gainful.ltrf.settings import Loss, Settings, check_loss, differing
from gainful.ltrf.targets import Scale
from gainful.ltrf.training import Splits, read_parts, repeated_by, settings_of, train_on
from gainful.results import Note
from gainful.tune import threshold as thresholds
from gainful.tune.threshold.tradeoff import ThresholdCurve
from gainful.verbs.compare import compare as compare_runs


def compare_losses(data: Any, validation: Any, test: Any, given: Mapping[str, Any]) -> LossComparison:
    """What `compare` returns."""
    losses: tuple[Loss, ...] = tuple(dict.fromkeys(given["losses"]))
    check_share("alpha", given["alpha"])
    if not losses:
        raise GainfulError("losses: expected at least one, got none")
    for loss in losses:
        check_loss(loss)
    if given["f1"] and "bce" not in losses:
        raise GainfulError(
            f"{setting('f1')}: cuts the BCE model: expected bce among the losses, got {', '.join(losses)}"
        )
    for name in ("seeds", "folds"):
        check_count(name, given[name])
    parts = read_parts(data, validation, test, given)
    for loss in losses:
        check_loss(loss, parts.data.kind)
    if given["folds"] > 1 and (validation is not None or test is not None):
        raise GainfulError(
            f"{setting('folds', given['folds'])}: takes all queries in turn for the test; give them all as the data, "
            "and none to validate or to test"
        )
    if given["folds"] > len(parts.data.sizes) // 2:
        raise GainfulError(f"folds: expected at most half of the {len(parts.data.sizes)} queries, got {given['folds']}")
    study = Study(parts, *(given[name] for name in ("folds", "cutoff", "settings", "bayes", "f1")))
    if given["seeds"] == given["folds"] == 1:
        return _once(study, losses, given)
    return _repeated(study, losses, given)


def _once(study: Study, losses: Sequence[Loss], given: Mapping[str, Any]) -> LossComparison:
    """One split and one seed: the f-rankers are kept, and their curves."""
    place = Place(given["seed"], 0)
    splits = study.splits(place)
    rankers: dict[str, FRanker] = {}
    seconds: dict[str, float | None] = {}
    found: dict[Loss, Outcome] = {}
    for loss in losses:
        rankers[loss], seconds[loss] = _trained(splits, loss, study.cutoff, given["folder"], place.seed, study.settings)
        found[loss] = outcome_of(rankers[loss], splits, study)
    assert splits.test is not None
    qrels = splits.test.qrels(splits.scale)
    curves: dict[str, ThresholdCurve] = {
        loss: thresholds.curve(qrels, splits.test.run(np.array(one["scores"]), loss), measure=f"nDCGf@{study.cutoff}")
        for loss, one in found.items()
    }
    one = tested(place, splits, found, study.cutoff)
    return LossComparison(
        models=one.scores.systems,
        scores=one.scores,
        tests=compare_runs(one.scores, correction=given["correction"]),
        splits=one.rows,
        rankers=rankers,
        curves=curves,
        seconds=seconds,
        queries=_sizes(splits),
        left_out=_left_out(splits, study.settings),
        scale=splits.scale,
        settings=settings_of(compare, given, splits),
    )


def _repeated(study: Study, losses: Sequence[Loss], given: Mapping[str, Any]) -> LossComparison:
    """Every loss on every split; what is kept of a training is what it is compared by."""
    folds = range(1, study.folds + 1) if study.folds > 1 else (0,)
    places = [Place(seed, fold) for seed in range(given["seed"], given["seed"] + given["seeds"]) for fold in folds]
    jobs = {f"seed-{place.seed}-fold-{place.fold}-{loss}": (place, loss) for place in places for loss in losses}
    engine = given["options"].get("engine", "local")
    kept = Kept(given["folder"], _identity(study, places[0], given))
    found = dict(outcomes(trained, jobs, kept, shared=study, engine=engine, label="Training"))
    failed = {
        loss: [found[name]["failed"] for name, job in jobs.items() if job[1] == loss and "failed" in found[name]]
        for loss in losses
    }
    whole = [loss for loss in losses if not failed[loss]]
    if not whole:
        raise GainfulError(failed[losses[0]][0])
    each = []
    for place in places:
        splits = study.splits(place)
        here = {loss: found[f"seed-{place.seed}-fold-{place.fold}-{loss}"] for loss in whole}
        each.append(tested(place, splits, here, study.cutoff))
    first = study.splits(places[0])
    fixed = study.parts.test
    scores = averaged(each, (fixed or study.parts.data).queries)
    tests = compare_runs(scores, correction=given["correction"])
    if fixed is None:
        sizes = _sizes(first)
        tests = corrected_for_splits(
            tests, each, ratio=sizes[2] / (sizes[0] + sizes[1]), correction=given["correction"]
        )
    notes = [
        Note(
            "diverged",
            loss,
            f"{loss} is left out: {len(why)} of {len(places)} trainings failed, the first by: {why[0]}",
        )
        for loss, why in failed.items()
        if why
    ]
    return LossComparison(
        models=scores.systems,
        scores=scores,
        tests=tests,
        splits=pl.concat([one.rows for one in each]),
        rankers={},
        curves={},
        seconds={},
        queries=_sizes(first),
        left_out=(*notes, *_left_out(first, study.settings)),
        scale=first.scale,
        settings=settings_of(compare, given, first),
    )


def _sizes(splits: Splits) -> tuple[int, int, int]:
    unseen = 0 if splits.test is None else len(splits.test.sizes)
    return len(splits.train.sizes), len(splits.validation.sizes), unseen


def _identity(study: Study, place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the trainings in a folder have in common; more seeds and losses may be added later."""
    splits = study.splits(place)
    names = ("folds", "cutoff", "bayes", "f1", "seed")
    unseen = None if splits.test is None else splits.test.fingerprint()
    known = {**{name: given[name] for name in names}, "gains": str(splits.scale), "test_data": unseen}
    return known | repeated_by(splits, place.seed, study.settings)


def _trained(
    splits: Splits, loss: Loss, cutoff: int, folder: str | os.PathLike[str] | None, seed: int, settings: Settings
) -> tuple[FRanker, float | None]:
    """The f-ranker, and the seconds that it took; from the folder if it is there."""
    kept = None if folder is None else Path(folder) / loss
    if kept is not None and (kept / SETTINGS).exists():
        ranker = FRanker.load(kept)
        known = {"loss": ranker.loss, "gains": str(ranker.scale), "cutoff": ranker.cutoff, **ranker.settings}
        wanted = {"loss": loss, "gains": str(splits.scale), "cutoff": cutoff, **repeated_by(splits, seed, settings)}
        if known != wanted:
            raise DataError(f"{kept}: has another f-ranker ({differing(known, wanted)}): choose another folder")
        return ranker, None
    started = time.perf_counter()
    checkpoints = kept.with_name(f"{loss}.training") if kept is not None and splits.train.kind == "text" else None
    ranker = train_on(
        splits._replace(test=None), loss, cutoff=cutoff, checkpoints=checkpoints, seed=seed, settings=settings
    )
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        ranker.save(kept)
        if checkpoints is not None:
            shutil.rmtree(checkpoints)  # states of optimizers, several times as large as the f-ranker
    return ranker, time.perf_counter() - started


def _left_out(splits: Splits, settings: Settings) -> tuple[Note, ...]:
    """What is not learnt from, and what cannot be won or lost."""
    found = []
    train, most = splits.train, settings.of(splits.train.kind).get("max_docs")
    if most is not None:
        learnt = int(np.minimum(train.sizes, most).sum())
        if learnt < len(train):
            text = f"An epoch learns from {learnt} of the {len(train)} documents: {setting('max_docs', most)}."
            found.append(Note("left-out-documents", "", text))
    for what, part in {"to learn from": train, "to test": splits.test}.items():
        empty = 0 if part is None else _without_gain(splits.scale, part)
        if part is not None and empty:
            text = (
                f"{empty} of the {len(part.sizes)} queries {what} have gains of 0 alone: whatever is shown, nDCGf is 0."
            )
            found.append(Note("no-gain", what, text))
    return tuple(found)


def _without_gain(scale: Scale, examples: Examples) -> int:
    """Queries whose documents all have gain 0."""
    query = np.repeat(np.arange(len(examples.sizes)), examples.sizes)
    return int((np.bincount(query, scale.gain(examples.labels) != 0, len(examples.sizes)) == 0).sum())
