"""The six losses for LightGBM: gradient and Hessian of all queries at once, without a loop over them.

The gradients are those of `losses.loss_of` times the number of documents, so that a document counts 1 on average.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gainful.ltrf.targets import FloatArray, IntArray, Loss, Scale, pair_weight, running, sigmoid, tied


class Objective:
    """One loss (`losses.loss_of`) on fixed documents, those of a query side by side, as a function of their scores."""

    def __init__(
        self,
        loss: Loss,
        scale: Scale,
        labels: ArrayLike,
        sizes: ArrayLike,
        *,
        cutoff: int | None = None,
        gamma: float = 1.0,
    ) -> None:
        self.loss, self.scale, self.gamma = loss, scale, gamma
        self._sizes = np.asarray(sizes, np.int64)
        self._query = np.repeat(np.arange(len(self._sizes)), self._sizes)
        number = len(self._query)
        self._per_query = number / max(1, int((self._sizes > 0).sum()))
        self._weight = self._per_query / self._sizes[self._query]
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._target = scale.targets("bce" if loss == "lambdarank+bce" else loss, labels)
        if "lambdarank" in loss:
            self._gain = scale.gain(labels)
            self._tables = running(int(self._sizes.max(initial=0)), cutoff)
            self._spread = self._ideal(self._gain) + self._ideal(-self._gain)
            self._better, self._worse = self._pairs()

    def __call__(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and diagonal of the Hessian, in the shape of the scores."""
        match self.loss:
            case "bce":
                return self._binary(scores)
            case "mse":
                return self._weight * 2.0 * (scores - self._target), self._weight * 2.0
            case "ordinal" | "weighted-ordinal":
                chance = sigmoid(scores.reshape(self._target.shape))  # one head comes flat
                weight = self._weight[:, None] * self.scale.head_weights(self.loss)
                gradient, hessian = weight * (chance - self._target), weight * chance * (1.0 - chance)
                return gradient.reshape(scores.shape), hessian.reshape(scores.shape)
            case "lambdarank":
                return self._pairwise(scores)
            case _:
                pairwise, binary = self._pairwise(scores), self._binary(scores)
                return pairwise[0] + self.gamma * binary[0], pairwise[1] + self.gamma * binary[1]

    def _binary(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        chance = sigmoid(scores)
        return self._weight * (chance - self._target), self._weight * chance * (1.0 - chance)

    def _pairwise(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        better, worse = self._better, self._worse
        at, within = tied(*self._shared(scores), *self._tables)
        apart = np.where(scores[better] == scores[worse], within[better], np.abs(at[better] - at[worse]))
        weight = pair_weight(self._gain[better], self._gain[worse], apart, self._spread[self._query[better]])
        weight *= self._per_query
        wrong = sigmoid(scores[worse] - scores[better])
        pull, curve = weight * wrong, weight * wrong * (1.0 - wrong)
        number = len(scores)
        gradient = _sums(worse, pull, number) - _sums(better, pull, number)
        return gradient, _sums(worse, curve, number) + _sums(better, curve, number)

    def _shared(self, scores: FloatArray) -> tuple[IntArray, IntArray]:
        """Within each query, the first rank (from 0) that a document shares, and how many share it."""
        order = np.lexsort((-scores, self._query))
        ranked, query = scores[order], self._query[order]
        new = np.ones(len(scores), bool)
        new[1:] = (ranked[1:] != ranked[:-1]) | (query[1:] != query[:-1])
        group = np.cumsum(new) - 1
        starts = np.flatnonzero(new)
        first, size = np.empty(len(scores), np.int64), np.empty(len(scores), np.int64)
        first[order] = starts[group] - self._starts[query]
        size[order] = np.diff(np.append(starts, len(scores)))[group]
        return first, size

    def _ideal(self, gain: FloatArray) -> FloatArray:
        """Per query, the DCG of its positive gains in the best order."""
        positive = np.maximum(gain, 0.0)
        return _sums(self._query, positive * tied(*self._shared(positive), *self._tables)[0], len(self._sizes))

    def _pairs(self) -> tuple[IntArray, IntArray]:
        """All pairs of documents of a query of which the first has the higher gain."""
        partners = self._sizes[self._query]
        first = np.repeat(np.arange(len(self._query)), partners)
        ends = np.cumsum(partners)
        second = np.arange(len(first)) - np.repeat(ends - partners, partners) + self._starts[self._query[first]]
        chosen = (self._gain[first] > self._gain[second]) & (self._spread[self._query[first]] > 0)
        return first[chosen], second[chosen]


def _sums(places: IntArray, values: FloatArray, number: int) -> FloatArray:
    return np.bincount(places, values, number).astype(np.float64, copy=False)
