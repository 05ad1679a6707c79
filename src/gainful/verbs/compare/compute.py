"""The tests, intervals and effect sizes of all pairs of runs, measure by measure."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from gainful.data.complete import complete_matrices
from gainful.data.scores import ScoreMatrix, Scores
from gainful.errors import check_choice, check_share, setting
from gainful.progress import Apply
from gainful.results import Note, Settings
from gainful.stats.bootstrap import bootstrap
from gainful.stats.choices import Correction, Interval, Test
from gainful.stats.intervals import mean_interval
from gainful.stats.paired import (
    corrected,
    pairs,
    randomisation,
    rounding,
    signed_ranks,
    t_statistic,
    t_test,
    tukey_all,
    wilcoxon,
)
from gainful.stats.resample import FloatArray, check_resamples, generator
from gainful.verbs.compare.contrasts import Contrasts, checked_alpha
from gainful.verbs.compare.result import place_of

_RESAMPLED = ("randomisation", "bootstrap", "tukey")


def check(
    test: Test, correction: Correction, alpha: float, interval: Interval, confidence: float, resamples: int, seed: int
) -> None:
    """Refuse wrong settings before anything is read."""
    chosen = {"test": (test, Test), "correction": (correction, Correction), "interval": (interval, Interval)}
    for name, (value, kind) in chosen.items():
        check_choice(name, value, get_args(kind))
    checked_alpha(alpha)
    check_share("confidence", confidence)
    check_resamples(resamples)
    generator(seed)


def contrasts_of(scores: Scores, asked: Settings, *, apply: Apply) -> tuple[Contrasts, ...]:
    """The runs and pairs under every measure, by what was asked of `compare`; `apply` is what goes through pieces."""
    test, baseline, drawn = asked["test"], asked["baseline"], {"resamples": asked["resamples"], "seed": asked["seed"]}
    against = None if baseline is None else place_of(baseline, scores.systems, "baseline")
    matrices = complete_matrices(scores, gaps=asked["gaps"])

    def contrasts(matrix: ScoreMatrix, higher: str, summary: str, p: FloatArray) -> Contrasts:
        values = matrix.values
        first, second = pairs(len(values), against)
        z = values[first] - values[second]
        noise = rounding(values, first, second)
        z[np.abs(z) <= noise[:, None]] = 0.0
        kind, confidence = asked["interval"], asked["confidence"]
        ends = mean_interval(np.concatenate([values, z]), kind, confidence=confidence, **drawn, apply=apply)
        (low, difference_low), (high, difference_high) = (np.split(end, [len(values)]) for end in ends)
        p = p[(first, second) if against is None else first]
        gain = -z if higher == "worse" else z
        difference = z.mean(axis=1)
        tested = signed_ranks(values, first, second).sum(axis=1) if test == "wilcoxon" else difference
        return Contrasts(
            measure=matrix.measure,
            higher=higher,
            summary=summary,
            alpha=asked["alpha"],
            topics=matrix.topics,
            values=values,
            mean=values.mean(axis=1),
            low=low,
            high=high,
            first=first,
            second=second,
            difference=difference,
            difference_low=difference_low,
            difference_high=difference_high,
            effect=np.nan_to_num(t_statistic(z, noise) / np.sqrt(z.shape[1]), nan=0.0, posinf=np.inf, neginf=-np.inf),
            wins=(gain > 0.0).sum(axis=1),
            ties=(gain == 0.0).sum(axis=1),
            losses=(gain < 0.0).sum(axis=1),
            direction=np.sign(tested).astype(np.int64),
            p=p,
            p_corrected=p if test == "tukey" else corrected(p, asked["correction"]),
        )

    levels = _levels([matrix.values for matrix in matrices], test, against=against, **drawn, apply=apply)
    return tuple(map(contrasts, matrices, scores.higher, scores.summaries, levels))


def _levels(matrices: list[FloatArray], test: Test, *, against: int | None, **more: Any) -> list[FloatArray]:
    """The p-values of each measure."""
    match test:
        case "t":
            return [t_test(values, against=against) for values in matrices]
        case "wilcoxon":
            return [wilcoxon(values, against=against) for values in matrices]
        case "tukey":
            found = tukey_all(matrices, against=against, **more)
        case _:
            resampled = randomisation if test == "randomisation" else bootstrap
            found = [resampled(values, against=against, **more) for values in matrices]
    return [extremes.p() for extremes in found]


def used(test: Test, interval: Interval) -> dict[str, Any]:
    """Settings that were not used as given: Tukey's test corrects by itself, and not all tests draw random numbers."""
    replaced: dict[str, Any] = {"correction": "tukey"} if test == "tukey" else {}
    return replaced if test in _RESAMPLED or interval == "bca" else {**replaced, "resamples": None, "seed": None}


def unused_correction(test: Test, correction: Correction) -> tuple[Note, ...]:
    """What to say of a correction that was asked for in vain."""
    if test != "tukey" or correction in ("holm", "none"):
        return ()
    text = f"Tukey's test corrects for all pairs by itself: {setting('correction', correction)} is not used."
    return (Note("correction-not-used", "", text),)
