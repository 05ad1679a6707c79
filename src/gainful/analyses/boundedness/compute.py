"""The best and worst orderings and sublists of every pool, and what the runs achieve."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.boundedness import JoinOptions
from gainful.analyses.boundedness.result import Boundedness
from gainful.data.align import align
from gainful.data.columns import SCORES, schema_of
from gainful.data.notes import notes_of
from gainful.data.policies import Policies
from gainful.data.rankings import FloatArray, Rankings
from gainful.data.run import Run
from gainful.errors import DataError, MeasureError
from gainful.io.read import read_qrels
from gainful.measures import REGISTRY
from gainful.measures.gains import best_ordering, depth, discounts
from gainful.measures.gains import gains as gains_of
from gainful.measures.grammar import parse_value
from gainful.measures.parameters import Value, write
from gainful.results import Settings, plural
from gainful.verbs.source import check_options, policies_of, rankings_of


def bounds_of(
    function: Callable[..., Any], qrels: Any, runs: Any, cutoff: Any, gains: Any, discount: Any, options: JoinOptions
) -> Boundedness:
    """What `boundedness`, the function, finds; parameters as there."""
    check_options(options, JoinOptions)
    cutoffs = sorted({*cutoff} if isinstance(cutoff, Iterable) else {cutoff})
    if not cutoffs:
        raise DataError("cutoff: expected at least one, got none")
    parameters = [_checked(gains, discount, k) for k in cutoffs]
    some = runs is not None and not (isinstance(runs, list | tuple) and not runs)
    if some or isinstance(qrels, Rankings):
        some, rankings = True, rankings_of(qrels, runs if some else None, options)  # type: ignore[arg-type]
    else:
        judgments = read_qrels(qrels, columns=options.get("columns"))
        given = policies_of(options)
        no_run = Run(pl.DataFrame(schema=schema_of(SCORES)), name="none")  # ranges need judgments alone
        nothing = align(judgments, [no_run], Policies(duplicates=given.duplicates))
        rankings = replace(nothing, policies=given)
    gain, weight = parameters[0]["gain"], parameters[0]["discount"]
    value = gains_of(rankings.grades, gain)  # type: ignore[arg-type]
    weights: Any = [(weight, depth(rankings), setting["cutoff"]) for setting in parameters]
    bounds = [_bounds(rankings, value, discounts(*given)) for given in weights]
    ideal, worst, ideal_sublist, worst_sublist, size, achieved = (np.stack(part) for part in zip(*bounds, strict=True))
    if not np.isfinite(size).all():
        raise MeasureError("these gains and discounts add up to more than a number can hold: use smaller ones")
    shape = (len(rankings.systems), len(rankings.topics))
    # What is undefined stays so.
    policies = replace(rankings.policies, missing=options.get("missing", rankings.policies.missing), degenerate="nan")
    present = rankings.present.reshape(shape) if policies.missing == "skip" else np.ones(shape, np.bool_)
    systems = len(rankings.systems) if some else 0
    named = [label for label, _ in gain] if isinstance(gain, tuple) else []  # type: ignore[misc]
    runs_given = f"{plural(systems, 'run')}, " if systems else ""
    return Boundedness(
        cutoffs=tuple(cutoffs),
        topics=rankings.topics,
        systems=rankings.systems[:systems],
        ideal=ideal,
        worst=worst,
        ideal_sublist=ideal_sublist,
        worst_sublist=worst_sublist,
        size=size,
        achieved=achieved.reshape(len(cutoffs), *shape)[:, :systems],
        counted=present[:systems],
        label_gains=dict(zip(rankings.grades.tolist(), value.tolist(), strict=True)),
        unused=tuple(label for label in named if label not in rankings.grades),
        settings=Settings.of(
            function,
            {"cutoff": tuple(cutoffs), "gains": _plain(gain), "discount": _plain(weight)},
            data=f"{runs_given}{plural(len(rankings.topics), 'topic')}",
            policies=policies,
            notes=notes_of(rankings) if some else (),
        ),
    )


def _checked(gains: object, discount: object, cutoff: object) -> dict[str, Value]:
    """The parameters of nDCG, each in its one form; refused as the measure refuses them."""
    given = {"gain": gains, "discount": discount, "cutoff": cutoff, "norm": "min"}
    for name in ("gain", "discount"):
        text = given[name]
        if isinstance(text, str) and text.lstrip().startswith(("{", "[", "(")):
            given[name] = parse_value("nDCG", name, text.strip())
    measure = REGISTRY["nDCG"].bind(given)
    if measure.parameters["cutoff"] is None:
        raise DataError("cutoff: expected a whole number of at least 1, got None")
    return measure.parameters


def _bounds(rankings: Rankings, value: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
    """I, W, I_f, W_f, the size of the gains, all per topic; and the DCG per row."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (
            best_ordering(rankings, value, weight),
            -best_ordering(rankings, -value, weight),
            best_ordering(rankings, np.maximum(value, 0.0), weight),
            -best_ordering(rankings, -np.minimum(value, 0.0), weight),
            best_ordering(rankings, np.abs(value), weight),
            rankings.sum(rankings.of_grade(value) * rankings.weights(weight)),
        )


def _plain(value: Value) -> str:
    return value if isinstance(value, str) else write(value)
