"""The tests, intervals and effect sizes of all pairs of runs, measure by measure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from gainful.data.complete import complete_matrices
from gainful.data.groups import strata_of
from gainful.data.scores import ScoreMatrix, Scores
from gainful.errors import GainfulError, check_choice, check_share, setting
from gainful.progress import Apply
from gainful.results import Note, Settings, plural
from gainful.stats.bootstrap import bootstrap
from gainful.stats.choices import Correction, Interval, Test
from gainful.stats.intervals import mean_interval
from gainful.stats.maxt import max_t
from gainful.stats.paired import (
    IntArray,
    corrected,
    pairs,
    randomisation,
    rounding,
    sign_flip_p,
    signed_ranks,
    t_statistic,
    t_test,
    tukey_all,
    wilcoxon,
)
from gainful.stats.resample import FloatArray, check_resamples, generator
from gainful.stats.strata import Strata
from gainful.stats.stratified import stratified_bootstrap, stratified_t
from gainful.verbs.compare.contrasts import Contrasts, checked_alpha, difference_interval, within
from gainful.verbs.compare.result import place_of
from gainful.verbs.evaluate import bounds_of


def check(asked: Mapping[str, Any]) -> None:
    """Refuse wrong settings, by the parameters of `compare`, before anything is read."""
    for name, kind in {"test": Test, "correction": Correction, "interval": Interval}.items():
        check_choice(name, asked[name], get_args(kind))
    checked_alpha(asked["alpha"])
    check_share("confidence", asked["confidence"])
    check_resamples(asked["resamples"])
    generator(asked["seed"])
    within_margin = asked["equivalence"]
    if within_margin is not None and not 0.0 < within_margin < np.inf:
        raise GainfulError(f"equivalence: expected a number above 0, got {within_margin}")
    if asked["macro"] and asked["groups"] is None:
        raise GainfulError(f"{setting('macro')}: expected groups of topics with it: {setting('groups')}")
    if asked["macro"] and asked["test"] == "wilcoxon":
        raise GainfulError(
            f"{setting('macro')}: expected a test of means with it, got wilcoxon, which ranks all topics together"
        )


def contrasts_of(
    scores: Scores, asked: Settings, *, groups: Mapping[str, str] | None = None, apply: Apply
) -> tuple[Contrasts, ...]:
    """The runs and pairs under every measure, by what was asked of `compare`; `apply` is what goes through pieces."""
    baseline, drawn = asked["baseline"], {"resamples": asked["resamples"], "seed": asked["seed"]}
    against = None if baseline is None else place_of(baseline, scores.systems, "baseline")
    matrices = complete_matrices(scores, gaps=asked["gaps"])
    strata = [None if groups is None else strata_of(groups, one.topics, macro=asked["macro"]) for one in matrices]
    levels = _levels(matrices, strata, asked["test"], against=against, **drawn, apply=apply)

    def contrasts(matrix: ScoreMatrix, higher: str, summary: str, its: Strata | None, p: FloatArray) -> Contrasts:
        values = matrix.values
        first, second = pairs(len(values), against)
        z, effect, equal = _differences(values, first, second, its)
        bounds = _bounds(matrix)
        how: dict[str, Any] = {"confidence": asked["confidence"], **drawn, "strata": its}
        low, high = within(*mean_interval(values, asked["interval"], **how, apply=apply), bounds)
        ends = difference_interval(z, asked["interval"], equal=equal, bounds=bounds, **how, apply=apply)
        sign = -1.0 if higher == "worse" else 1.0
        all_at_once = max_t(sign * values, **how)
        width = all_at_once.all_pairs[first, second] if against is None else all_at_once.of_row[against, first]
        place_low, place_high = all_at_once.places()
        difference = z.mean(axis=1) if its is None else its.mean(z)
        span = bounds[1] - bounds[0]
        all_low, all_high = within(difference - width, difference + width, (-span, span))
        tested = signed_ranks(values, first, second).sum(axis=1) if asked["test"] == "wilcoxon" else difference
        return Contrasts(
            measure=matrix.measure,
            higher=higher,
            summary=summary,
            alpha=asked["alpha"],
            topics=matrix.topics,
            values=values,
            mean=values.mean(axis=1) if its is None else its.mean(values),
            low=low,
            high=high,
            first=first,
            second=second,
            difference=difference,
            difference_low=ends[0],
            difference_high=ends[1],
            all_low=all_low,
            all_high=all_high,
            effect=effect,
            equal=equal,
            wins=(sign * z > 0.0).sum(axis=1),
            ties=(z == 0.0).sum(axis=1),
            losses=(sign * z < 0.0).sum(axis=1),
            direction=np.sign(tested).astype(np.int64),
            p=p,
            p_corrected=p if asked["test"] == "tukey" else corrected(p, asked["correction"]),
            place_low=place_low,
            place_high=place_high,
            best=all_at_once.best,
            optimism=all_at_once.optimism,
            bounds=bounds,
            strata=its,
        )

    return tuple(map(contrasts, matrices, scores.higher, scores.summaries, strata, levels))


def _differences(
    values: FloatArray, first: IntArray, second: IntArray, strata: Strata | None
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """The differences of each pair, their effect size, and whether they are all equal and not 0."""
    z, noise = values[first] - values[second], rounding(values, first, second)
    z[np.abs(z) <= noise[:, None]] = 0.0
    if strata is None:
        effect = t_statistic(z, noise) / np.sqrt(z.shape[1])
        equal = np.isinf(effect)
    else:
        middle = strata.group_means(z)[:, strata.place]
        z = np.where(np.abs(z - middle) <= noise[:, None], middle, z)
        squares = ((z - middle) ** 2).sum(axis=1)
        equal = (strata.errors(z)[0] == 0.0) & z.any(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            effect = strata.mean(z) / np.sqrt(squares / (z.shape[1] - len(strata.names)))
    return z, np.where(equal, np.nan, np.nan_to_num(effect, nan=0.0)), equal


def _bounds(matrix: ScoreMatrix) -> tuple[float, float]:
    """The range of a measure, unless its scores, of a table, are on another scale."""
    low, high = bounds_of(matrix.measure)
    values, some = matrix.values, 1e-9
    inside = low - some <= values.min() and values.max() <= high + some
    return (low, high) if inside else (-np.inf, np.inf)


def _levels(
    matrices: Sequence[ScoreMatrix], strata: Sequence[Strata | None], test: Test, *, against: int | None, **more: Any
) -> list[FloatArray]:
    """The p-values of the pairs of each measure."""
    systems = len(matrices[0].systems)
    first, second = pairs(systems, against)
    chosen = (first, second) if against is None else first
    weighted = [
        one.values if its is None else its.weighted(one.values) for one, its in zip(matrices, strata, strict=True)
    ]
    if test == "tukey":
        return [found.p()[chosen] for found in tukey_all(weighted, against=against, **more)]
    levels = []
    for matrix, its, scaled in zip(matrices, strata, weighted, strict=True):
        values = matrix.values
        z, _, equal = _differences(values, first, second, its)
        if test == "wilcoxon":
            p = wilcoxon(values, against=against)[chosen]
        elif test == "randomisation":
            p = randomisation(scaled, against=against, **more).p()[chosen]
        elif its is None:
            p = t_test(values, against=against) if test == "t" else bootstrap(values, against=against, **more).p()
            p = np.where(equal, sign_flip_p(values.shape[1]), p[chosen])
        else:
            drawn = {name: more[name] for name in ("resamples", "seed")}
            p = stratified_t(z, its) if test == "t" else stratified_bootstrap(z, its, **drawn).p()
            p = np.where(z.any(axis=1), p, 1.0)
            for at in np.flatnonzero(equal):
                p[at] = randomisation(scaled[[first[at], second[at]]], **drawn).p()[0, 1]
        levels.append(p)
    return levels


def unused_correction(test: Test, correction: Correction) -> tuple[Note, ...]:
    """What to say of a correction that was asked for in vain."""
    if test != "tukey" or correction in ("holm", "none"):
        return ()
    text = f"Tukey's test corrects for all pairs by itself: {setting('correction', correction)} is not used."
    return (Note("correction-not-used", "", text),)


def told(asked: Mapping[str, Any], groups: Mapping[str, str] | None) -> dict[str, Any]:
    """Settings that are told in other words than they were given in, or not at all, since they were not used."""
    corrected_by = {"correction": "tukey"} if asked["test"] == "tukey" else {}
    if groups is None:
        return {**corrected_by, "macro": None}
    given = asked["groups"]
    return {
        **corrected_by,
        "groups": str(given) if isinstance(given, str | os.PathLike) else plural(len(set(groups.values())), "group"),
    }
