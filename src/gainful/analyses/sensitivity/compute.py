"""The significance of all pairs of runs under each measure, by each method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from gainful.analyses.sensitivity import Method
from gainful.analyses.sensitivity.result import PairTests, Sensitivity
from gainful.data.complete import complete_matrices
from gainful.data.scores import ScoreMatrix, Scores
from gainful.engine import Work
from gainful.errors import GainfulError, check_choice, check_share
from gainful.results import Settings
from gainful.stats.bootstrap import bootstrap
from gainful.stats.choices import Variant
from gainful.stats.paired import differing_topics, square, t_test, tukey_all, wilcoxon
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


def computed(scores: Scores, settings: Settings, work: Work) -> Sensitivity:
    """The significance of all pairs, by the settings of `gainful.sensitivity`."""
    more: Any = {"resamples": settings["resamples"], "seed": settings["seed"], "apply": work.map}
    matrices = zip(complete_matrices(scores, gaps=settings["gaps"]), scores.higher, strict=True)
    todo = [(matrix, higher, method) for matrix, higher in matrices for method in settings["methods"]]
    tukey = iter(tukey_all([matrix.values for matrix, _, method in todo if method == "tukey"], **more))
    tests = [
        _tests(matrix, higher, method, next(tukey).p() if method == "tukey" else _levels(matrix.values, method, more))
        for matrix, higher, method in todo
    ]
    return Sensitivity(tests=tuple(tests), settings=settings)


def _tests(matrix: ScoreMatrix, higher: str, method: Method, asl: FloatArray) -> PairTests:
    means = matrix.values.mean(axis=1)
    return PairTests(
        measure=matrix.measure,
        higher=higher,
        method=method,
        topics=len(matrix.topics),
        systems=matrix.systems,
        asl=asl,
        difference=means[:, None] - means[None, :],
        differing=square(differing_topics(matrix.values), len(matrix.systems), 0),
    )


def _levels(values: FloatArray, method: Literal[Variant, "t", "wilcoxon"], more: Any) -> FloatArray:
    match method:
        case "t":
            return t_test(values)
        case "wilcoxon":
            return wilcoxon(values)
        case _:
            return bootstrap(values, variant=method, without_variance="zero", **more).share()
