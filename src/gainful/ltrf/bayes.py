"""A cut for every query of its own (experimental): show what is expected to add to nDCGf, and nothing else.

nDCGf of a ranking is linear in g_d/Z, where g_d is the gain of a document and Z the distance between the best and the
worst list of its query. Given how probable each label is, the expected nDCGf is highest if documents are sorted by
ĝ_d = E[g_d/Z] and those with ĝ_d ≤ 0 are left out. Labels are drawn from calibrated probabilities, documents
independently of each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.ltrf.targets import FloatArray, IntArray, Scale, discounts, sigmoid

DRAWS = 1000
Streams = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)
# Draws at once, and numbers in memory at once.
_DRAWN = 100
_BLOCK = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What turns the numbers of an ordinal model into probabilities: one logistic curve per head (Platt 1999).

    P(label > l_i) = 1/(1 + exp(-(slope_i·s_i + intercept_i))).
    """

    slopes: tuple[float, ...]
    intercepts: tuple[float, ...]

    @classmethod
    def fit(cls, outputs: FloatArray, targets: FloatArray) -> Calibration:
        """From the numbers (documents × heads) of judged documents, and whether they are better than each label."""
        lines = [_platt(score, target) for score, target in zip(outputs.T, targets.T, strict=True)]
        return cls(slopes=tuple(line[0] for line in lines), intercepts=tuple(line[1] for line in lines))

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Calibration:
        """As `asdict` gives it, and JSON keeps it."""
        return cls(slopes=tuple(content["slopes"]), intercepts=tuple(content["intercepts"]))

    def chances(self, outputs: FloatArray) -> FloatArray:
        """Documents × labels: how probable each label is."""
        above = sigmoid(outputs * np.asarray(self.slopes) + np.asarray(self.intercepts))
        # Better than a good label is better than a worse one, too, whatever the heads say.
        above = np.minimum.accumulate(above, axis=1)
        ends = np.ones((len(outputs), 1))
        return -np.diff(np.hstack([ends, above, 0.0 * ends]), axis=1)


def streams(queries: Iterable[str], doc_ids: Iterable[str], *, seed: int) -> Streams:
    """Where the random numbers of each document start: its own, whatever other documents there are."""
    keys = (f"{seed}\0{query}\0{doc}".encode() for query, doc in zip(queries, doc_ids, strict=True))
    return np.array([int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()) for key in keys], np.uint64)


def expected_gains(
    scale: Scale, chances: FloatArray, sizes: IntArray, *, cutoff: int, streams: Streams, draws: int = DRAWS
) -> FloatArray:
    """ĝ_d = E[g_d/Z] of each document, from so many draws of all labels.

    `chances` is documents × labels, the documents of a query side by side; `streams` as the function of that name
    gives.
    """
    total = np.zeros(len(chances))
    ends = np.cumsum(sizes)
    # Some queries at a time: each gets the same numbers, added in the same order, whichever others there are.
    for first, last in _blocks(sizes):
        at = slice(int(ends[first] - sizes[first]), int(ends[last - 1]))
        for start in range(0, draws, _DRAWN):
            numbers = np.arange(start, min(start + _DRAWN, draws), dtype=np.uint64)
            drawn = _labels(chances[at], streams[at], numbers)
            total[at] += _shares(np.asarray(scale.gains)[drawn], sizes[first:last], cutoff).sum(axis=0)
    return total / draws


def _blocks(sizes: IntArray) -> Iterator[tuple[int, int]]:
    """Queries, in blocks that are not too large: from, to."""
    first, width = 0, 0
    for at, size in enumerate(sizes.tolist()):
        width = max(width, size)
        if at > first and (at + 1 - first) * width * _DRAWN > _BLOCK:
            yield first, at
            first, width = at, size
    if len(sizes):
        yield first, len(sizes)


def _labels(chances: FloatArray, streams: Streams, draws: Streams) -> IntArray:
    """Draws × documents: places in the scale."""
    drawn = _uniform(streams[None, :] + draws[:, None] * _STEP)
    found = np.zeros(drawn.shape, np.int64)
    for end in np.cumsum(chances, axis=1)[:, :-1].T:
        found += drawn >= end
    return found


def _uniform(state: Streams) -> FloatArray:
    """SplitMix64 (Steele et al. 2014): numbers from 0 to 1 of counters; overflow is meant."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((state ^ (state >> np.uint64(31))) >> np.uint64(11), np.float64) * 2.0**-53


def _shares(gains: FloatArray, sizes: IntArray, cutoff: int) -> FloatArray:
    """g_d/Z of each document in each draw (draws × documents)."""
    query = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    padded = np.zeros((len(gains), len(sizes), max(cutoff, int(sizes.max(initial=1)))))
    padded[:, query, place] = gains
    padded.sort(axis=2)
    discount = discounts(cutoff, cutoff)
    # As many terms for every query, so that they are added in one order however long the others are.
    spread = (np.maximum(padded[:, :, : -cutoff - 1 : -1], 0.0) * discount).sum(axis=2)
    spread -= (np.minimum(padded[:, :, :cutoff], 0.0) * discount).sum(axis=2)
    of = spread[:, query]
    shares: FloatArray = np.divide(gains, of, out=np.zeros_like(gains), where=of > 0)
    return shares


def _platt(score: FloatArray, target: FloatArray) -> tuple[float, float]:
    """Slope and intercept of the logistic curve; Platt's targets keep it finite where the labels can be told apart."""
    from scipy.optimize import minimize

    good = float(target.sum())
    wanted = np.where(target > 0, (good + 1.0) / (good + 2.0), 1.0 / (len(target) - good + 2.0))
    centre, spread = float(score.mean()), float(score.std()) or 1.0
    scaled = (score - centre) / spread

    def loss(line: FloatArray) -> tuple[float, FloatArray]:
        logit = line[0] * scaled + line[1]
        value = np.logaddexp(0.0, logit) - wanted * logit
        miss = sigmoid(logit) - wanted
        return float(value.sum()), np.array([(miss * scaled).sum(), miss.sum()])

    slope, height = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x
    return float(slope / spread), float(height - slope * centre / spread)
