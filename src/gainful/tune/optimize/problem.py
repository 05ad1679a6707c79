"""What `optimize` works on: collections that something can be learned from, and what the optimum competes with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.errors import DataError, GainfulError, setting
from gainful.io.read import read_qrels
from gainful.measures import Measure
from gainful.measures.gains import discounts, gains
from gainful.tune.optimize import Method, Target
from gainful.tune.optimize.bilinear import bilinear
from gainful.tune.optimize.fit import MANY, Point, Problem, Space
from gainful.verbs.source import rankings_of

# What people use, to compare with and to start from.
DISCOUNTS = ("log2", "zipf", "linear", "jk")
GAINS = ("linear", "exp")
# What rankings are called, which have no name of their own.
UNNAMED = "collection"
# Beyond this 2^label says nothing.
_LARGEST_EXPONENT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedRuns:
    """Judgments and runs, as far as they are needed."""

    name: str
    rankings: Rankings
    topics: IntArray  # those that count

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the topics that count."""
        return tuple(self.rankings.topics[topic] for topic in self.topics)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problems:
    """What is sought, for which problems, and what it competes with."""

    target: Target
    constrained: bool
    method: Method
    labels: FloatArray
    each: list[Problem]
    known: dict[str, tuple[str | None, str | None]]  # discount and gain by their names; None for what is not sought

    @property
    def largest(self) -> Problem:
        """That of the largest cutoff."""
        return max(self.each, key=lambda problem: problem.arrays.cutoff)

    @property
    def space(self) -> Space:
        """Where to look."""
        ranks = 0 if self.target == "gain" else self.largest.arrays.cutoff
        labels = 0 if self.target == "discount" else len(self.labels)
        return Space(ranks=ranks, labels=labels, constrained=self.constrained)

    def points(self, cutoff: int) -> dict[str, Point]:
        """The numbers behind the names of what is known."""
        return {
            name: Point(
                discount=None if discount is None else discounts(discount, cutoff, cutoff),
                gain=None if gain is None else gains(self.labels, gain),
            )
            for name, (discount, gain) in self.known.items()
        }

    def of_topics(self, chosen: list[IntArray]) -> Problems:
        """The same for some topics of each collection."""
        return replace(self, each=[replace(p, arrays=p.arrays.of_topics(chosen[p.owner])) for p in self.each])


def make_problems(
    collections: list[JudgedRuns],
    labels: FloatArray,
    cutoffs: tuple[int, ...],
    fixed: Measure,
    given: Mapping[str, Any],
) -> Problems:
    """The problems, one per collection and cutoff; and the method that suits them if none is given."""
    discount, gain, target = fixed.parameters["discount"], fixed.parameters["gain"], given["target"]
    problems = []
    for number, collection in enumerate(collections):
        for cutoff in cutoffs:
            depth = min(cutoff, _deepest(collection.rankings))
            weights = discounts(discount, depth, cutoff)  # type: ignore[arg-type]
            problems.append(
                Problem(
                    owner=number,
                    arrays=bilinear(collection.rankings, labels, depth).of_topics(collection.topics),
                    cutoff=cutoff,
                    discount=np.pad(weights, (0, depth - len(weights))),
                    gain=np.maximum(gains(labels, gain), 0.0),  # type: ignore[arg-type]
                )
            )
    named = [name for name in GAINS if name != "exp" or labels[-1] <= _LARGEST_EXPONENT]
    by_target: dict[str, dict[str, tuple[str | None, str | None]]] = {
        "discount": {name: (name, None) for name in DISCOUNTS},
        "gain": {name: (None, name) for name in named},
        "both": {f"{discount}, gain {gain}": (discount, gain) for gain in named for discount in DISCOUNTS},
    }
    known, constrained = by_target[target], given["constrained"]
    made = Problems(target=target, constrained=constrained, method="cone", labels=labels, each=problems, known=known)
    kinks = len(problems) > 1  # the smallest of several Φ is not smooth, which is what L-BFGS-B asks for
    return replace(made, method=given["method"] or ("slsqp" if kinks and made.space.size <= MANY else "cone"))


def read_collection(qrels: Any, runs: Any, options: Mapping[str, Any]) -> JudgedRuns:
    """Judgments and runs, joined; or rankings, which are."""
    name = UNNAMED
    if not isinstance(qrels, Rankings):
        qrels = read_qrels(qrels, columns=options.get("columns"))
        name = Path(qrels.name).name
    rankings = rankings_of(qrels, runs, options)  # type: ignore[arg-type]
    return JudgedRuns(name=name, rankings=rankings, topics=np.arange(len(rankings.topics)))


def named_apart(collections: list[JudgedRuns]) -> list[JudgedRuns]:
    """Collections of the same name get a number."""
    names = [collection.name for collection in collections]
    return [
        replace(c, name=f"{c.name} ({names[:at].count(c.name) + 1})") if names.count(c.name) > 1 else c
        for at, c in enumerate(collections)
    ]


def labels_of(collections: list[JudgedRuns], fixed: Measure, target: Target) -> FloatArray:
    """The labels that have a gain, or are to be given one, in any collection."""
    seen = np.unique(np.concatenate([collection.rankings.grades for collection in collections]))
    with_gain = seen[gains(seen, fixed.parameters["gain"]) > 0]  # type: ignore[arg-type]
    if target == "discount":
        if not len(with_gain):
            raise DataError(f"no label has a gain above 0; there are: {_listed(seen)}")
        return with_gain
    labels = seen[seen > 0]
    if len(labels) < 2:
        got = _listed(labels) or "none"
        raise DataError(
            f"{setting('target', target)} weighs labels above 0 against each other and needs at least two, got {got}: "
            f"use {setting('target', 'discount')}"
        )
    if target == "both" and (wrong := with_gain[with_gain <= 0]).size:
        both = setting("target", "both")
        raise GainfulError(f"gain: for {both} only labels above 0 may have a gain, got one for {_listed(wrong)}")
    return labels


def usable(
    collections: list[JudgedRuns],
    labels: FloatArray,
    cutoffs: tuple[int, ...],
    target: Target,
    splits: int,
    degenerate: str,
) -> list[JudgedRuns]:
    """The collections, less topics that are left out; refused where nothing can be learned from one."""
    kept = []
    for collection in collections:
        rankings, name = collection.rankings, "" if collection.name == UNNAMED else f"{collection.name}: "
        if len(rankings.systems) < 2:
            raise DataError(f"{name}expected at least 2 runs to tell apart, got 1: {rankings.systems[0]}")
        pool = bilinear(rankings, labels, 1).pool.sum(axis=1)
        if not pool.any():
            raise DataError(f"{name}no topic has a document with a gain (labels {_listed(labels)})")
        if degenerate == "skip":
            collection = replace(collection, topics=np.flatnonzero(pool))
        least = 4 if splits else 2
        if len(collection.topics) < least:
            why = f" to be split into halves ({setting('splits', 0)} does without)" if splits else ""
            raise DataError(f"{name}expected at least {least} topics{why}, got {len(collection.topics)}")
        deepest = int(rankings.retrieved.max())
        if target != "gain" and deepest < cutoffs[-1]:
            raise DataError(
                f"{name}no run returns more than {deepest} documents for a topic, so nothing can be learned about "
                f"the discounts below: expected a cutoff of at most {deepest}, got {cutoffs[-1]}"
            )
        kept.append(collection)
    return kept


def _deepest(rankings: Rankings) -> int:
    """The last rank at which anything can stand, in a run or in the best order of a pool."""
    return max(int(rankings.retrieved.max()), int(np.bincount(rankings.pool_topic).max()), 1)


def _listed(labels: FloatArray) -> str:
    return ", ".join(f"{label:g}" for label in labels.tolist())
