"""The power of a test, or the width of an interval, in experiments drawn from one's own scores."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from scipy import special

from gainful.analyses.topics.plan import Plan
from gainful.stats.paired import sign_flip_p
from gainful.stats.resample import FloatArray, block_sizes, generator

_Streams: TypeAlias = "tuple[np.random.Generator, ...]"
# From so many topics on, means are as normal as the formula takes them to be.
MOST_TOPICS = 5000


def simulated(values: FloatArray, plan: Plan, topics: int | None, *, experiments: int, seed: int) -> float:
    """The share of experiments with so many topics that find the difference; of intervals, their mean width.

    An experiment takes two runs at random (of an ANOVA, as many as it compares), moves their means so far apart as the
    plan says, and draws topics with replacement. NaN for more topics than it takes to be sure of the formula.
    """
    if topics is None or not 2 <= topics <= MOST_TOPICS:
        return math.nan
    rows = values.shape[1]
    # Deviations from a mean of the sample are a little smaller than those from the true one.
    centred = (values - values.mean(axis=1, keepdims=True)) * math.sqrt(rows / (rows - 1.0))
    generator(seed)  # refuses a bad one
    # One stream for each thing that is drawn, so that the size of the blocks changes nothing.
    streams = tuple(np.random.default_rng([seed, at]) for at in range(3))
    experiment = _paired if plan.systems is None else _anova
    sizes = block_sizes(experiments, topics * (plan.systems or 1))
    found = np.concatenate([experiment(streams, centred, plan, topics, size) for size in sizes])
    return float(found.mean())


def _paired(streams: _Streams, centred: FloatArray, plan: Plan, topics: int, size: int) -> FloatArray:
    first = streams[0].integers(len(centred), size=size)
    second = (first + streams[1].integers(1, len(centred), size=size)) % len(centred)
    drawn = streams[2].integers(centred.shape[1], size=(size, topics))
    z = centred[first[:, None], drawn] - centred[second[:, None], drawn]
    error = z.std(axis=1, ddof=1) / math.sqrt(topics)
    critical = -float(special.stdtrit(topics - 1, plan.alpha / 2.0))
    if plan.method == "interval":
        return np.asarray(2.0 * critical * error, np.float64)
    mean = np.abs(z.mean(axis=1) + plan.difference)
    constant = error <= 1e-12 * plan.difference
    found = np.where(constant, sign_flip_p(topics) < plan.alpha, mean > critical * error)
    return np.asarray(found, np.float64)


def _anova(streams: _Streams, centred: FloatArray, plan: Plan, topics: int, size: int) -> FloatArray:
    groups = plan.systems or 2
    chosen = streams[0].integers(len(centred), size=(size, groups))
    drawn = centred[chosen[:, :, None], streams[1].integers(centred.shape[1], size=(size, groups, topics))]
    means = drawn.mean(axis=2)
    within = ((drawn - means[:, :, None]) ** 2).sum(axis=(1, 2)) / (groups * (topics - 1.0))
    # The others are half-way between the best and the worst.
    means[:, 0] += plan.difference / 2.0
    means[:, 1] -= plan.difference / 2.0
    between = topics * means.var(axis=1, ddof=1)
    critical = special.fdtri(groups - 1, groups * (topics - 1), 1.0 - plan.alpha)
    return np.asarray(between > critical * within, np.float64)
