"""All models on the test queries of one split, and over many: baselines, losses, means and tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from gainful import _polars as pl
from gainful.data.run import Run
from gainful.data.scores import Scores
from gainful.errors import GainfulError
from gainful.ltrf.data import Examples
from gainful.ltrf.experiments import Outcome
from gainful.ltrf.ranker import FRanker
from gainful.ltrf.settings import Loss, Settings
from gainful.ltrf.targets import FloatArray, NotFiniteError, TrainingError
from gainful.ltrf.training import Parts, Splits, evaluate_examples, train_on
from gainful.stats.choices import Correction
from gainful.stats.paired import corrected
from gainful.verbs.compare.result import Comparison


class Place(NamedTuple):
    """A split: where its random numbers start, and the fold that is tested, from 1; 0 where there are none."""

    seed: int
    fold: int


class Study(NamedTuple):
    """What all trainings of a comparison share."""

    parts: Parts
    folds: int
    cutoff: int
    settings: Settings
    bayes: bool
    f1: bool

    def splits(self, place: Place) -> Splits:
        """The queries of one split."""
        if place.fold:
            return self.parts.fold(place.seed, place.fold - 1, self.folds)
        return self.parts.split(place.seed, need_test=True)


def trained(study: Study, job: tuple[Place, Loss]) -> Outcome:
    """Train one loss on one split, and score its test queries; a training that fails says why."""
    place, loss = job
    splits = study.splits(place)
    try:
        ranker = train_on(
            splits._replace(test=None), loss, cutoff=study.cutoff, seed=place.seed, settings=study.settings
        )
        return outcome_of(ranker, splits, study)
    except (TrainingError, NotFiniteError) as error:
        return {"failed": str(error)}


def outcome_of(ranker: FRanker, splits: Splits, study: Study) -> Outcome:
    """What models are compared by: scores of the test documents, and where they are cut; ready for JSON."""
    if splits.test is None:
        raise GainfulError("expected test queries, got none")
    found: Outcome = {
        "threshold": ranker.threshold if math.isfinite(ranker.threshold) else None,
        "validation": ranker.validation["nDCGf"],
        "scores": ranker.score(splits.test).tolist(),
    }
    if study.bayes and ranker.calibration is not None:
        found["bayes"] = splits.test.kept(ranker.rank(splits.test, cut="bayes"))
    if study.f1 and ranker.loss == "bce":
        good = splits.scale.gain(splits.validation.labels) > 0
        found["f1"] = f1_threshold(ranker.score(splits.validation), good)
    return found


def f1_threshold(scores: FloatArray, good: Any) -> float:
    """Where documents at or above it have the highest F1; of equally good ones, the highest."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    last = np.append(falling[1:] != falling[:-1], True)
    hits = np.cumsum(good[order])[last]
    value = 2.0 * hits / (np.flatnonzero(last) + 1.0 + good.sum())
    return float(falling[last][int(np.argmax(value))])


def runs_of(found: Mapping[Loss, Outcome], test: Examples, seed: int) -> list[Run]:
    """The baselines, the losses, and their cuts by query."""
    chance = np.random.default_rng(seed).random(len(test))
    scores = {loss: np.array(outcome["scores"]) for loss, outcome in found.items()}
    runs = [test.run(np.full(len(test), math.nan), "filter-all"), test.run(chance, "filter-none")]
    if "ordinal" in found:
        runs.append(test.run(scores["ordinal"], "rank-only"))
    if "bce" in found:
        runs.append(
            test.run(np.where(_kept(scores["bce"], found["bce"]["threshold"]), chance, math.nan), "filter-only")
        )
        if "f1" in found["bce"]:
            cut = _kept(scores["bce"], found["bce"]["f1"])
            runs.append(test.run(np.where(cut, scores["bce"], math.nan), "bce, F1 threshold"))
    for loss, outcome in found.items():
        runs.append(test.run(np.where(_kept(scores[loss], outcome["threshold"]), scores[loss], math.nan), loss))
    for loss, outcome in found.items():
        if "bayes" in outcome:
            by_query = np.array([math.nan if score is None else score for score in outcome["bayes"]])
            runs.append(test.run(by_query, f"{loss}, by query"))
    return runs


def _kept(scores: FloatArray, threshold: float | None) -> Any:
    return scores >= (math.inf if threshold is None else threshold)


class Tested(NamedTuple):
    """All models on the test queries of one split."""

    place: Place
    scores: Scores
    rows: pl.DataFrame  # one per model


def tested(place: Place, splits: Splits, found: Mapping[Loss, Outcome], cutoff: int) -> Tested:
    """Score all models on the test queries of a split."""
    test = splits.test
    if test is None:
        raise GainfulError("expected test queries, got none")
    runs = runs_of(found, test, place.seed)
    scores = evaluate_examples(test, runs, splits.scale, cutoff)
    trained = [found.get(run.name, {}) for run in runs]  # type: ignore[call-overload]
    rows = pl.DataFrame(
        {
            "seed": [place.seed] * len(runs),
            "fold": [place.fold] * len(runs),
            "model": [run.name for run in runs],
            **dict(zip(scores.measures, scores.summary(), strict=True)),
            "threshold": [_threshold(outcome) for outcome in trained],
            "validation": [outcome.get("validation") for outcome in trained],
            "degenerate": [_degenerate(outcome) for outcome in trained],
        },
        schema_overrides={"threshold": pl.Float64, "validation": pl.Float64, "degenerate": pl.String},
    )
    return Tested(place, scores, rows)


def _threshold(outcome: Outcome) -> float | None:
    threshold = outcome.get("threshold", math.nan)
    return math.inf if threshold is None else None if math.isnan(threshold) else threshold


def _degenerate(outcome: Outcome) -> str | None:
    """How a model fails to rank or to filter, if it does."""
    if not outcome:
        return None
    scores = np.array(outcome["scores"])
    kept = _kept(scores, outcome["threshold"])
    if not kept.any():
        return "shows nothing"
    if len(scores) > 1 and (scores == scores[0]).all():
        return "gives one score to all"
    return "shows everything" if kept.all() else None


def averaged(splits: Sequence[Tested], queries: Sequence[str]) -> Scores:
    """The scores per query, the mean over the splits that it was tested in."""
    if len(splits) == 1:
        return splits[0].scores
    first = splits[0].scores
    at = {query: place for place, query in enumerate(queries)}
    total = np.zeros((*first.values.shape[:2], len(queries)))
    times = np.zeros(len(queries))
    for each in splits:
        places = [at[topic] for topic in each.scores.topics]
        total[:, :, places] += each.scores.values
        times[places] += 1.0
    seen = times > 0
    values = total[:, :, seen] / times[seen]
    topics = tuple(query for query, was in zip(queries, seen, strict=True) if was)
    return replace(first, values=values, counted=np.ones(values.shape, bool), topics=topics, undefined=())


def corrected_for_splits(
    tests: Comparison, splits: Iterable[Tested], *, ratio: float, correction: Correction, confidence: float = 0.95
) -> Comparison:
    """The tests with the variance of means over splits that share most of their training queries.

    The corrected resampled t-test (Nadeau & Bengio 2003; for repeated folds Bouckaert & Frank 2004): with J splits, the
    variance of the mean difference is (1/J + `ratio`) times that of the differences of the splits, `ratio` being test
    queries per query that was learnt or chosen on.
    """
    means = np.stack([each.scores.values.mean(axis=2) for each in splits], axis=-1)
    number = means.shape[-1]
    contrasts = []
    for one, values in zip(tests.contrasts, means, strict=True):
        apart = values[one.first] - values[one.second]
        middle = apart.mean(axis=1)
        error = np.sqrt((1.0 / number + ratio) * apart.var(axis=1, ddof=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2.0 * special.stdtr(number - 1, -np.abs(middle / error))
        # Without variance there is no t: the exact sign-flip p.
        p = np.where(error > 0, p, np.where(apart.any(axis=1), 2.0 ** (1 - number), 1.0))
        half, all_half = (
            special.stdtrit(number - 1, 1.0 - (1.0 - confidence) / 2.0 / family) * error
            for family in (1, max(1, len(p)))
        )
        contrasts.append(
            replace(
                one,
                difference=middle,
                difference_low=middle - half,
                difference_high=middle + half,
                all_low=middle - all_half,
                all_high=middle + all_half,
                direction=np.sign(middle).astype(np.int64),
                p=p,
                p_corrected=corrected(p, correction),
            )
        )
    return replace(tests, contrasts=tuple(contrasts))
