"""Train an f-ranker: on text or on features, as the examples are."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gainful import results
from gainful.data.run import Run
from gainful.data.scores import Scores
from gainful.errors import DataError, GainfulError, GainfulWarning
from gainful.ltrf.bayes import Calibration
from gainful.ltrf.data import SPLIT, Examples, read_examples
from gainful.ltrf.ranker import FRanker, Model, training_settings
from gainful.ltrf.settings import Settings, check_loss
from gainful.ltrf.targets import Loss, Scale, read_scale
from gainful.ltrf.validation import Validation
from gainful.tune import threshold as thresholds
from gainful.tune.threshold.risk import check_enough, check_forbidden, check_risk
from gainful.verbs.evaluate import evaluate

# Points of the validation curve that are kept.
_POINTS = 200


class Splits(NamedTuple):
    """What is learnt from, what thresholds are chosen on, and what nobody has seen."""

    train: Examples
    validation: Examples
    test: Examples | None
    scale: Scale


class Parts(NamedTuple):
    """What was given: what to learn from, and queries to validate and to test, unless these are to be split off."""

    data: Examples
    validation: Examples | None
    test: Examples | None
    scale: Scale | None  # None: that of the labels that are learnt from

    def split(self, seed: int, *, need_test: bool = False) -> Splits:
        """At random, where a part is missing; `need_test` also where validation queries are given."""
        examples, held, unseen, scale = self
        learnt, chosen, last = SPLIT
        if held is None and unseen is None:
            examples, held, unseen = examples.split(SPLIT, seed=seed)
        elif held is None:
            examples, held = examples.split((learnt / (learnt + chosen), chosen / (learnt + chosen)), seed=seed)
        elif unseen is None and need_test:
            examples, unseen = examples.split((1.0 - last, last), seed=seed)
        return checked(Splits(examples, held, unseen, scale or self._own_gains(examples)))

    def _own_gains(self, train: Examples) -> Scale:
        """Every label its own gain, also those that no document to learn from has."""
        read_scale(None, train.labels)  # refuses a single one
        return read_scale(None, np.concatenate([part.labels for part in self[:3] if isinstance(part, Examples)]))

    def fold(self, seed: int, number: int, folds: int) -> Splits:
        """One fold of the queries to test, from 0; the others are split into those to learn from and to validate."""
        queries = np.array(self.data.queries, dtype=object)
        np.random.default_rng(seed).shuffle(queries)
        each = np.array_split(queries, folds)
        rest = np.concatenate([*each[number + 1 :], *each[:number]])
        share = SPLIT[1] / (SPLIT[0] + SPLIT[1])
        edge = max(1, round(share * len(rest)))
        train, held, unseen = (self.data.only(some.tolist()) for some in (rest[edge:], rest[:edge], each[number]))
        return checked(Splits(train, held, unseen, self.scale or self._own_gains(train)))


def prepare(data: Any, validation: Any, test: Any, given: Mapping[str, Any], *, need_test: bool = False) -> Splits:
    """Read, split and check all before a training; `need_test` also where validation queries are given."""
    return read_parts(data, validation, test, given).split(given["seed"], need_test=need_test)


def read_parts(data: Any, validation: Any, test: Any, given: Mapping[str, Any]) -> Parts:
    """Read and check what a training is given."""
    seed = given["seed"]
    if given["cutoff"] < 1:
        raise GainfulError(f"cutoff: expected at least 1, got {given['cutoff']}")
    if seed < 0:
        raise GainfulError(f"seed: expected a number of at least 0, got {seed}")
    examples = read_examples(data)
    held = None if validation is None else read_examples(validation)
    unseen = None if test is None else read_examples(test)
    _check_apart({"data": examples, "validation": held, "test": unseen})
    return Parts(
        examples, held, unseen, None if given["gains"] is None else read_scale(given["gains"], examples.labels)
    )


def checked(splits: Splits) -> Splits:
    """Refuse parts of different kinds, and labels without a gain."""
    for part in (splits.train, splits.validation, splits.test):
        if part is None:
            continue
        part.check(splits.scale)
        if part.kind != splits.train.kind:
            raise DataError(f"{part.name}: expected {splits.train.kind}, as in {splits.train.name}, got {part.kind}")
    return splits


def _check_apart(given: Mapping[str, Examples | None]) -> None:
    """Refuse a query that stands in two splits: what it was learnt or chosen on would be tested on it."""
    for (name, one), (other_name, other) in combinations(given.items(), 2):
        if one is None or other is None or one.kind != other.kind:
            continue
        elsewhere = set(other.queries)
        shared = [query for query in one.queries if query in elsewhere]
        if shared:
            some = ", ".join(shared[:3]) + (", …" if len(shared) > 3 else "")
            raise DataError(
                f"{name} ({one.name}) and {other_name} ({other.name}) share {len(shared)} of the queries, by their "
                f"ids: {some}; give every query to one of them"
            )


def train_on(
    splits: Splits,
    loss: Loss,
    *,
    cutoff: int,
    risk: float | None = None,
    risk_confidence: float | None = None,
    checkpoints: str | os.PathLike[str] | None = None,
    seed: int,
    settings: Settings,
) -> FRanker:
    """Train on splits that are ready; for the rest see `train`."""
    kind, scale = splits.train.kind, splits.scale
    check_loss(loss, kind)
    # What chose the epoch cannot promise anything about other queries: the threshold then gets queries of its own.
    check_risk(risk, risk_confidence)
    selection, validation = (splits.validation,) * 2 if risk is None else _halves(splits, risk, risk_confidence, seed)
    how: dict[str, Any] = {"cutoff": cutoff, "seed": seed, "settings": settings.of(kind)}
    model: Model
    pairs = None
    if kind == "text":
        from gainful.ltrf.lists import learnt_pairs
        from gainful.ltrf.text import train_text

        kept = None if checkpoints is None else Path(checkpoints)
        model, rounds = train_text(splits.train, selection, loss, scale, checkpoints=kept, **how)
        pairs = learnt_pairs(splits.train.sizes, max_docs=how["settings"]["max_docs"], epochs=len(rounds))
    else:
        from gainful.ltrf.features import train_features

        if checkpoints is not None:
            raise GainfulError("checkpoints: is for text; training on features takes seconds, and starts anew")
        model, rounds = train_features(splits.train, selection, loss, scale, **how)
    outputs = model.outputs(validation)
    scores = scale.document_score(loss, outputs)
    judged = Validation(scale, validation.labels, validation.sizes, cutoff=cutoff, doc_ids=validation.doc_ids)
    best = judged.best(scores)
    qrels, run = validation.qrels(scale), validation.run(scores, loss)
    curve = thresholds.curve(qrels, run, measure=f"nDCGf@{cutoff}")
    at = curve.thinned(_POINTS)
    at = at[np.isfinite(curve.thresholds[at])]
    found: dict[str, Any] = {
        "nDCGf": best.value,
        "rounds": [float(value) for value in rounds],
        "curve": {"threshold": curve.thresholds[at].tolist(), "nDCGf": curve.score[at].tolist()},
    }
    if pairs is not None:
        found["pairs"] = pairs
    threshold = best.threshold
    if risk is not None:
        fitted = thresholds.fit(
            qrels,
            run,
            measure=f"nDCGf@{cutoff}",
            risk=risk,
            risk_confidence=risk_confidence,
            resamples=1,
            folds=2,
            repeats=1,
            seed=seed,
        )
        threshold = float(fitted.curve.thresholds[fitted.number])  # the lowest score kept, also where all are
        found["nDCGf"] = float(fitted.curve.score[fitted.number])
        found["risk"] = {
            "at most": risk,
            "confidence": risk_confidence,
            "estimate": None if fitted.safe_from is None else fitted.safe_from[1],
            "queries": len(validation.sizes),
            "guarantee": fitted.guarantee(),
        }
    calibration = None
    if "ordinal" in loss:
        calibration = Calibration.fit(outputs.reshape(len(validation), -1), scale.targets(loss, validation.labels))
    ranker = FRanker(
        kind=kind,
        model=model,
        loss=loss,
        scale=scale,
        cutoff=cutoff,
        threshold=threshold,
        validation=found,
        calibration=calibration,
        settings=training_settings(kind, loss, repeated_by(splits, seed, settings, risk, risk_confidence)),
    )
    return ranker if splits.test is None else tested(ranker, splits.test)


def settings_of(function: Callable[..., Any], given: Mapping[str, Any], splits: Splits) -> results.Settings:
    """What repeats a result of `function`, which was called with `given`, beside the data."""
    unseen = "" if splits.test is None else f", {len(splits.test.sizes)} to test"
    data = f"{len(splits.train.sizes)} queries to learn from, {len(splits.validation.sizes)} to validate{unseen}"
    known = results.Settings.of(function, given, data=data)
    left_out = ("validation", "test", "folder", "settings")
    values = {name: value for name, value in known.items() if name not in left_out}
    values |= {"gains": str(splits.scale), **given["settings"].of(splits.train.kind)}
    return replace(known, name=f"ltrf {function.__name__}", given=values)


def repeated_by(
    splits: Splits, seed: int, settings: Settings, risk: float | None = None, risk_confidence: float | None = None
) -> dict[str, Any]:
    """What repeats a training: all settings, what they were applied to, and by what."""
    known = settings.of(splits.train.kind)
    if splits.train.kind == "text":
        from gainful.ltrf.text import made_by

        known |= made_by(known["model"], known["device"])
    else:
        known["lightgbm"] = version("lightgbm")
    return {
        **known,
        "risk": risk,
        "risk_confidence": risk_confidence,
        "training_data": splits.train.fingerprint(),
        "validation_data": splits.validation.fingerprint(),
        "seed": seed,
    }


def tested(ranker: FRanker, test: Examples) -> FRanker:
    """The f-ranker with what it is worth on queries that it has not seen."""
    scores = evaluate_examples(test, [ranker.rank(test)], ranker.scale, ranker.cutoff)
    return replace(ranker, test=dict(zip(scores.measures, scores.summary()[:, 0].tolist(), strict=True)))


def evaluate_examples(examples: Examples, runs: Iterable[Run], scale: Scale, cutoff: int) -> Scores:
    """Score runs against the gains of examples; a query of which nothing is shown is an empty list."""
    good = min((gain for gain in scale.gains if gain > 0), default=1.0)
    shown = [f"{name}@{cutoff}" for name in ("nDCGf", "nDCG0", "nDCGmin", "Forbidden")]
    measures = [*shown, f"FilteredGood(rel={good!r})", "Empty"]
    with warnings.catch_warnings():
        # Baselines are empty or shuffled on purpose.
        warnings.simplefilter("ignore", GainfulWarning)
        scores = evaluate(examples.qrels(scale), list(runs), measures, missing="empty")
    # nDCG0 is nDCG by its other name, and what is good was said by the gains.
    return replace(scores, measures=tuple(name.partition("(")[0] for name in measures), spellings={})


def _halves(splits: Splits, risk: float, confidence: float | None, seed: int) -> tuple[Examples, Examples]:
    """Queries to choose the epoch on, and others for the threshold; refused before a long training, not after it."""
    selection, rest = splits.validation.split((0.5, 0.5), seed=seed)
    are = "queries, half of those to validate"
    check_enough(risk, confidence, len(rest.sizes), are=are, more=", and {} to validate")
    check_forbidden("risk", int((splits.scale.gain(rest.labels) < 0).sum()))
    return selection, rest
