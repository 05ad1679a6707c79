"""Random draws of topics, and how often each contradicts the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.analyses.stability import By, Fuzzy
from gainful.analyses.stability.result import Stability, StabilityCurve
from gainful.data.complete import CompleteScores, complete_scores
from gainful.data.scores import Scores
from gainful.engine import Work
from gainful.errors import check_sizes
from gainful.results import Settings
from gainful.stats.paired import pairs
from gainful.stats.resample import BLOCK, FloatArray, generator

BoolArray = NDArray[np.bool_]

# As many sizes as a table can show.
_SIZES = 25
# Comparisons are counted in bytes, eight at a time.
_BYTE = 255


def computed(scores: Scores, settings: Settings, work: Work) -> Stability:
    """The error rates of every measure, by the settings of `gainful.stability`."""
    complete = complete_scores(scores, gaps=settings["gaps"])
    chosen = _chosen_sizes(settings["sizes"], len(complete.topics))
    place = _places(len(complete.topics), settings["draws"], settings["seed"])
    fuzz = tuple(
        _Fuzz(settings["fuzziness"], settings["fuzzy"], complete.noise(measure))
        for measure in range(len(complete.measures))
    )
    todo = [(measure, size) for measure in range(len(complete.measures)) for size in chosen]
    draws = _Draws(complete, place, settings["by"], fuzz)
    rates = work.map(_Draws.rates, todo, shared=draws, total=len(todo), label="Drawing topics")
    found = dict(zip(todo, rates, strict=True))
    return Stability(
        curves=tuple(
            StabilityCurve(
                measure=name,
                sizes=chosen,
                error=tuple(found[at, size][0] for size in chosen),
                ties=tuple(found[at, size][1] for size in chosen),
            )
            for at, name in enumerate(complete.measures)
        ),
        systems=len(complete.systems),
        topics=len(complete.topics),
        settings=settings,
    )


@dataclass(frozen=True, slots=True)
class _Fuzz:
    """When one score is greater than another."""

    fuzziness: float
    fuzzy: Fuzzy
    noise: float

    def greater(self, x: FloatArray, y: FloatArray) -> BoolArray:
        """Whether x − y > f·max(|x|, |y|), or > f; broadcast."""
        if self.fuzzy == "absolute":
            return np.asarray(x - (self.fuzziness + self.noise) > y, np.bool_)
        # Both x − f|x| > y and x > y + f|y|: margins before broadcasting; of scores ≥ 0 the first implies the second.
        greater: BoolArray = x - (self.fuzziness * np.abs(x) + self.noise) > y
        if min(x.min(initial=0.0), y.min(initial=0.0)) < 0.0:
            greater &= x - self.noise > y + self.fuzziness * np.abs(y)
        return greater


@dataclass(frozen=True, slots=True)
class _Draws:
    """What all sizes and measures share."""

    complete: CompleteScores
    place: NDArray[np.int64]
    by: By
    fuzz: tuple[_Fuzz, ...]

    def rates(self, which: tuple[int, int]) -> tuple[float, float]:
        """Error rate and share of ties of a measure, at a size."""
        measure, size = which
        compare = _by_mean if self.by == "mean" else _by_topic
        return compare(self.complete, measure, self.place < size, self.fuzz[measure])


def _by_mean(complete: CompleteScores, measure: int, drawn: BoolArray, fuzz: _Fuzz) -> tuple[float, float]:
    """Error rate and share of ties when the means over the topics drawn are compared."""
    draws, systems = len(drawn), len(complete.systems)
    means = complete.mean_of(measure, drawn.astype(np.float64))
    counts = np.zeros((systems, systems), np.int64)
    step = max(1, min(_BYTE, BLOCK // systems**2))
    for start in range(0, draws, step):
        block = means[start : start + step]
        greater = fuzz.greater(block[:, :, None], block[:, None, :])
        counts += np.add.reduce(greater.view(np.uint8), axis=0, dtype=np.uint8)
    total = draws * (systems * (systems - 1) // 2)
    wrong = int(np.minimum(counts, counts.T).sum()) // 2  # each pair stands there twice
    return wrong / total, (total - int(counts.sum())) / total


def _by_topic(complete: CompleteScores, measure: int, drawn: BoolArray, fuzz: _Fuzz) -> tuple[float, float]:
    """Error rate and share of ties when the topics on which a run is better are counted."""
    values = complete.values[measure]
    first, second = pairs(len(values))
    inside = drawn.astype(np.float32)  # counts of topics, small enough to be exact
    wrong = decided = 0
    step = max(1, BLOCK // max(drawn.shape))
    for start in range(0, len(first), step):
        x, y = values[first[start : start + step]], values[second[start : start + step]]
        greater = inside @ fuzz.greater(x, y).T.astype(np.float32)
        less = inside @ fuzz.greater(y, x).T.astype(np.float32)
        wrong += int(np.minimum(greater, less).sum(dtype=np.float64))
        decided += int(greater.sum(dtype=np.float64) + less.sum(dtype=np.float64))
    total = int(drawn.sum()) * len(first)
    return wrong / total, (total - decided) / total


def _places(topics: int, draws: int, seed: int) -> NDArray[np.int64]:
    """Draws × topics: the place of each topic in the random order of the draw, from 0."""
    orders = generator(seed).permuted(np.broadcast_to(np.arange(topics), (draws, topics)), axis=1)
    return np.argsort(orders, axis=1)


def _chosen_sizes(sizes: Sequence[int] | None, topics: int) -> tuple[int, ...]:
    if sizes is None:
        half = topics // 2
        step = -(-half // _SIZES)
        return tuple(range(half, 0, -step))[::-1]
    return check_sizes(sizes, most=topics)
