"""The significance of all pairs of runs under each measure, by each method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from gainful.analyses.sensitivity import Method
from gainful.analyses.sensitivity.result import PairTests
from gainful.checks import check_share
from gainful.data.complete import complete_matrices
from gainful.data.policies import Gaps
from gainful.data.scores import ScoreMatrix, Scores
from gainful.errors import GainfulError, check_choice
from gainful.parallel import Apply
from gainful.stats.choices import Variant
from gainful.stats.paired import bootstrap, pairs, rounding, square, t_test, tukey_all, wilcoxon
from gainful.stats.resample import FloatArray, check_resamples


def checked(methods: Method | Sequence[Method], alpha: float, resamples: int) -> tuple[Method, ...]:
    """The methods, each once; refuses wrong settings before anything is read."""
    chosen: tuple[Method, ...] = (methods,) if isinstance(methods, str) else tuple(methods)
    for method in chosen:
        check_choice("methods", method, get_args(Method))
    if not chosen:
        raise GainfulError(f"methods: expected some of {', '.join(get_args(Method))}, got none")
    check_share("alpha", alpha)
    check_resamples(resamples)
    return tuple(dict.fromkeys(chosen))


def tests_of(
    scores: Scores, methods: Sequence[Method], *, resamples: int, seed: int, gaps: Gaps, apply: Apply
) -> tuple[PairTests, ...]:
    """One entry per measure and method; parameters as for `sensitivity`, and what goes through pieces of work."""
    matrices = zip(complete_matrices(scores, gaps=gaps), scores.higher, strict=True)
    todo = [(matrix, higher, method) for matrix, higher in matrices for method in methods]
    dealt = [matrix.values for matrix, _, method in todo if method == "tukey"]
    tukey = iter(tukey_all(dealt, resamples=resamples, seed=seed, apply=apply))
    return tuple(
        _tests(
            matrix,
            higher,
            method,
            next(tukey).p() if method == "tukey" else _levels(matrix.values, method, resamples, seed, apply),
        )
        for matrix, higher, method in todo
    )


def _tests(matrix: ScoreMatrix, higher: str, method: Method, asl: FloatArray) -> PairTests:
    means = matrix.values.mean(axis=1)
    first, second = pairs(len(matrix.systems))
    noise = rounding(matrix.values, first, second)[:, None]
    differing = (np.abs(matrix.values[first] - matrix.values[second]) > noise).sum(axis=1)
    return PairTests(
        measure=matrix.measure,
        higher=higher,
        method=method,
        topics=len(matrix.topics),
        systems=matrix.systems,
        asl=asl,
        difference=means[:, None] - means[None, :],
        differing=np.asarray(square(differing, len(matrix.systems), 0), np.int64),
    )


def _levels(
    values: FloatArray, method: Literal[Variant, "t", "wilcoxon"], resamples: int, seed: int, apply: Apply
) -> FloatArray:
    match method:
        case "t":
            return t_test(values)
        case "wilcoxon":
            return wilcoxon(values)
        case _:
            found = bootstrap(
                values, variant=method, without_variance="zero", resamples=resamples, seed=seed, apply=apply
            )
            return found.share()
