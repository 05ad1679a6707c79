"""Nested samples of judgments, taken from rankings that are joined already: which are kept is an array.

What a sample of the judgments leaves out stays in the pool without a judgment, as infAP needs it (`deplete`); what a
smaller pool would not have held leaves it (`unpool`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, get_args

import numpy as np

from gainful.analyses.robustness import Depletion
from gainful.data.rankings import BoolArray, IntArray, Rankings, nameless
from gainful.errors import DataError, check_choice, check_numbers

# Levels, and where the random numbers of their trial start.
Sample: TypeAlias = "tuple[tuple[float, ...], np.random.Generator]"

# Shares of the judgments (Buckley & Voorhees 2004, Bompada et al. 2007), and depths of a pool.
SHARES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DEPTHS = (1, 2, 3, 5, 10, 15, 20, 30, 50, 100)
# bpref is noise with fewer: every topic keeps this many relevant and nonrelevant documents, if it has them.
LEAST_RELEVANT, LEAST_NONRELEVANT = 1, 10


def deplete(rankings: Rankings, kept: BoolArray) -> Rankings:
    """The same rankings with only the judgments of the documents that are kept."""
    return replace(rankings, pool_grade=np.where(kept, rankings.pool_grade, -1))


def unpool(rankings: Rankings, pooled: BoolArray) -> Rankings:
    """The same ranks over a smaller pool: the hits of what is no longer in it become gaps."""
    place = np.cumsum(pooled) - 1
    slim = rankings.with_hits(np.flatnonzero(pooled[rankings.document]))
    return replace(
        slim,
        document=place[slim.document],
        pool_topic=rankings.pool_topic[pooled],
        pool_grade=rankings.pool_grade[pooled],
        pool_docs=nameless,  # names are of no use to a measure
        pool_subtopics=None if rankings.pool_subtopics is None else rankings.pool_subtopics[pooled],
        pool_stratum=None if rankings.pool_stratum is None else rankings.pool_stratum[pooled],
        pool_inclusion=None if rankings.pool_inclusion is None else rankings.pool_inclusion[pooled],
    )


def judged_only(rankings: Rankings) -> Rankings:
    """The same ranks without the hits that have no judgment: they become gaps, as documents outside the pool are."""
    return rankings.with_hits(np.flatnonzero((rankings.pool_grade >= 0)[rankings.document]))


def stratified(rankings: Rankings, shares: Sequence[float], rel: float, rng: np.random.Generator) -> BoolArray:
    """Nested samples, shares × documents of the pool: prefixes of one permutation of the relevant, and of the others.

    Of R relevant and N nonrelevant documents a share f keeps min(R, max(1, ⌈f·R⌉)) and min(N, max(10, ⌈f·N⌉)). Negative
    labels are nonrelevant as any other below `rel`.
    """
    judged = rankings.pool_grade >= 0
    relevant = judged & np.append(rankings.grades >= rel, False)[rankings.pool_grade]
    stratum = rankings.pool_topic * 2 + relevant
    # Unjudged documents last, in a stratum of their own: they are never kept, and take no place of those that may be.
    stratum[~judged] = 2 * len(rankings.topics)
    order = np.lexsort((rng.random(len(stratum)), stratum))
    size = np.bincount(stratum, minlength=2 * len(rankings.topics) + 1)
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    place = np.empty(len(stratum), np.int64)
    place[order] = np.arange(len(stratum)) - start[stratum[order]]
    least = np.tile([LEAST_NONRELEVANT, LEAST_RELEVANT], len(rankings.topics) + 1)[: len(size)]
    # 0.07 · 100 is 7.000000000000001, which must not keep an eighth document.
    wanted = np.ceil(np.asarray(shares)[:, None] * size - 1e-9).astype(np.int64)
    return np.asarray(place < np.maximum(wanted, least)[:, stratum], np.bool_) & judged


def uniform(rankings: Rankings, shares: Sequence[float], rng: np.random.Generator) -> BoolArray:
    """Nested samples: every judged document is kept with the same probability, on its own; shares × documents."""
    drawn = rng.random(len(rankings.pool_grade))
    return np.asarray(drawn < np.asarray(shares)[:, None], np.bool_) & (rankings.pool_grade >= 0)


def to_depth(rankings: Rankings, depths: Sequence[float]) -> BoolArray:
    """What a pool of the first documents of all the runs would have held; depths × documents of the pool."""
    first = np.full(len(rankings.pool_grade), np.iinfo(np.int64).max)
    np.minimum.at(first, rankings.document, rankings.rank)
    return np.asarray(first <= np.asarray(depths)[:, None], np.bool_)


def only_contributor(rankings: Rankings, depth: float, team: IntArray | None = None) -> IntArray:
    """Per document of the pool, the one team that has it among its first `depth`; -1 if none or several have.

    `team` is the team of each system; every system is one of its own if there is none.
    """
    shown = rankings.rank <= depth
    document, system = rankings.document[shown], rankings.row[shown] // len(rankings.topics)
    owner = system if team is None else team[system]
    least = np.full(len(rankings.pool_grade), np.iinfo(np.int64).max)
    most = np.full(len(rankings.pool_grade), -1)
    np.minimum.at(least, document, owner)
    np.maximum.at(most, document, owner)
    return np.where(least == most, most, -1)


def samples(
    rankings: Rankings,
    depletion: Depletion,
    levels: Sequence[float],
    trials: int,
    rng: np.random.Generator,
    *,
    at_once: int,
) -> Iterator[Sample]:
    """Every trial and level, in order.

    A trial takes as many random numbers as there are documents in the pool, whatever the levels: parts of it that are
    worked on in different places draw the same ones again. It is not divided if one sample is worked on at once, for
    its levels share work.
    """
    random = depletion in ("stratified", "uniform")
    size = len(levels) if random and at_once == 1 else -(-len(levels) // 4) if random else 1
    for _ in range(trials):
        for start in range(0, len(levels), size):
            yield tuple(levels[start : start + size]), copy.deepcopy(rng)
        if random:
            rng.random(len(rankings.pool_grade))


def without(
    rankings: Rankings, depletion: Depletion, sample: Sample, rel: float
) -> tuple[BoolArray, Callable[[Rankings, BoolArray], Rankings]]:
    """Levels × documents of the pool that a trial keeps, and what takes the others away; not of leave-one-out."""
    levels, rng = sample
    match depletion:
        case "stratified":
            return stratified(rankings, levels, rel, rng), deplete
        case "uniform":
            return uniform(rankings, levels, rng), deplete
        case _:
            return to_depth(rankings, levels), unpool


def checked_levels(depletion: Depletion, levels: Sequence[float] | None) -> tuple[float, ...]:
    """The levels, ascending, each once: shares of the judgments or depths of a pool; the usual ones if None."""
    check_choice("depletion", depletion, get_args(Depletion))
    by_depth = depletion in ("depth", "leave-one-out")
    if levels is None:
        return DEPTHS if by_depth else SHARES
    given = check_numbers("levels", levels, "5, 10" if by_depth else "0.5, 1")
    if not given:
        raise DataError("levels: expected at least one, got none")
    for level in given:
        if by_depth and not (level >= 1 and float(level).is_integer()):
            raise DataError(f"levels: expected depths of a pool, whole numbers of at least 1, got {level:g}")
        if not by_depth and not 0 < level <= 1:
            raise DataError(f"levels: expected shares of the judgments, above 0 and at most 1, got {level:g}")
    return tuple(sorted({int(level) if by_depth else float(level) for level in given}))
