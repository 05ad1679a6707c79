"""Labels of several judges side by side, and how far they agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.data.columns import each_once
from gainful.data.policies import Duplicates
from gainful.data.qrels import Qrels
from gainful.errors import DataError
from gainful.stats.raters import IntArray, agreed, cohen, coincidences_of, counts_of, krippendorff, rates
from gainful.stats.resample import FloatArray, block_sizes, bootstrap_counts, generator

_PAIR = ["query_id", "doc_id"]
# More different labels are no grades, and a table of all pairs of them says nothing.
_MOST_LABELS = 64


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, and the ends of its interval; NaN where it is undefined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """How far two judges agree on labels."""

    first: str
    second: str
    topics: int  # that both have judged documents of
    counts: FloatArray  # labels × labels: how often the first gave one and the second another
    estimates: dict[str, Estimate]  # by name: agreed, kappa, linear, quadratic, sensitivity, specificity

    @property
    def pairs(self) -> int:
        """How many documents both have judged."""
        return int(self.counts.sum())

    def value(self, name: str) -> float:
        """The number of this name, such as kappa."""
        return self.estimates[name].value


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """The labels of all judges: one row per topic and document."""

    judges: tuple[str, ...]
    labels: FloatArray  # all there are, ascending
    codes: IntArray  # rows × judges: which label; -1 where there is none
    topic: IntArray  # per row
    topics: int


def ratings_of(judged: Sequence[Qrels], names: Sequence[str], duplicates: Duplicates) -> Ratings:
    """The judgments of all judges side by side; null labels are none."""
    table: pl.DataFrame | None = None
    for at, qrels in enumerate(judged):
        frame = qrels.frame.select(*_PAIR, pl.col("relevance").alias(str(at))).drop_nulls()
        frame = each_once(frame, duplicates, f"qrels {qrels.name!r}")
        table = frame if table is None else table.join(frame, on=_PAIR, how="full", coalesce=True)
    assert table is not None
    table = table.sort(_PAIR)  # a join keeps no order, and sums should not depend on it
    given = table.drop(_PAIR).to_numpy()
    labels = np.unique(given[~np.isnan(given)])
    if len(labels) > _MOST_LABELS:
        raise DataError(f"expected at most {_MOST_LABELS} different labels, got {len(labels)}: round them to grades")
    codes = np.where(np.isnan(given), -1, np.searchsorted(labels, given))
    topic = table["query_id"].rank("dense").to_numpy().astype(np.int64) - 1
    return Ratings(tuple(names), labels, codes, topic, int(topic.max(initial=-1)) + 1)


def agreements(
    ratings: Ratings, *, rel: float, confidence: float, resamples: int, seed: int
) -> tuple[tuple[Agreement, ...], dict[str, Estimate]]:
    """Of every two judges with documents in common, as all must have with the first; and Krippendorff's α of all."""
    relevant = (ratings.labels >= rel).tolist()
    of: dict[str, Callable[[FloatArray], FloatArray]] = {
        "agreed": agreed,
        "kappa": lambda counts: cohen(counts, ratings.labels),
        "linear": lambda counts: cohen(counts, ratings.labels, "linear"),
        "quadratic": lambda counts: cohen(counts, ratings.labels, "quadratic"),
        "sensitivity": lambda counts: rates(counts, relevant)[0],
        "specificity": lambda counts: rates(counts, relevant)[1],
    }
    drawn: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "seed": seed}
    sizes = {"topics": ratings.topics, "labels": len(ratings.labels)}
    found = []
    for one, other in combinations(range(len(ratings.judges)), 2):
        counts = counts_of(ratings.codes[:, one], ratings.codes[:, other], ratings.topic, **sizes)
        both = counts[counts.any(axis=(1, 2))]
        names = ratings.judges[one], ratings.judges[other]
        if not len(both) and one:  # as of a crowd, whose members share out the documents
            continue
        if not len(both):
            raise DataError(f"{names[0]} and {names[1]}: expected some pairs of topic and document in both, got none")
        found.append(Agreement(*names, len(both), both.sum(axis=0), _estimates(both, of, **drawn)))
    alphas: dict[str, Callable[[FloatArray], FloatArray]] = {
        "nominal": lambda counts: krippendorff(counts, ratings.labels),
        "ordinal": lambda counts: krippendorff(counts, ratings.labels, "ordinal"),
        "interval": lambda counts: krippendorff(counts, ratings.labels, "interval"),
    }
    coincidences = coincidences_of(ratings.codes, ratings.topic, **sizes)
    return tuple(found), _estimates(coincidences[coincidences.any(axis=(1, 2))], alphas, **drawn)


def _estimates(
    counts: FloatArray,
    of: dict[str, Callable[[FloatArray], FloatArray]],
    *,
    confidence: float,
    resamples: int,
    seed: int,
) -> dict[str, Estimate]:
    """What is made of the sum over topics, and its percentiles over resampled topics."""
    topics, labels = counts.shape[:2]
    total = counts.sum(axis=0)
    drawn: dict[str, list[FloatArray]] = {name: [] for name in of}
    rng = generator(seed)
    for size in block_sizes(resamples, 4 * labels * labels):
        weights = bootstrap_counts(rng, size, topics)
        sums = (weights @ counts.reshape(topics, -1)).reshape(size, labels, labels)
        for name, coefficient in of.items():
            drawn[name].append(coefficient(sums))
    tail = (1.0 - confidence) / 2.0
    found = {}
    for name, coefficient in of.items():
        values = np.concatenate(drawn[name])
        values = values[~np.isnan(values)]
        # One topic drawn again and again has no spread, which is not to be taken for certainty.
        ends = np.quantile(values, [tail, 1.0 - tail]).tolist() if topics > 1 and len(values) else [np.nan, np.nan]
        found[name] = Estimate(float(coefficient(total)), *ends)
    return found
