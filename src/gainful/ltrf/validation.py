"""nDCGf of scores under the best single threshold: what models are selected by, fast enough for every round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gainful.ltrf.targets import FloatArray, NotFiniteError, Scale, discounts
from gainful.tune.threshold.choose import last_best


class Best(NamedTuple):
    """The best threshold and what it gives; documents with a score of at least the threshold are kept."""

    value: float
    threshold: float


class Validation:
    """Judged documents, those of a query side by side, whose scores are cut where mean nDCGf is highest.

    Of equal scores the later of `doc_ids` goes first, as everywhere; without them, the order given.
    """

    def __init__(
        self, scale: Scale, labels: ArrayLike, sizes: ArrayLike, *, cutoff: int, doc_ids: Sequence[str] | None = None
    ) -> None:
        self._sizes = np.asarray(sizes, np.int64)
        self._query = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self._order = np.arange(len(self._query))
        if doc_ids is not None:
            # By bytes, as ids are compared everywhere.
            _, place = np.unique(np.array([name.encode() for name in doc_ids], dtype=object), return_inverse=True)
            self._order = np.lexsort((-place, self._query))
        self._gain = scale.gain(labels)[self._order]
        self._starts = (np.cumsum(self._sizes) - self._sizes)[self._query]
        self._discount = discounts(int(self._sizes.max(initial=0)), cutoff)
        best, worst = self._sum(np.maximum(self._gain, 0.0), 1.0), self._sum(np.minimum(self._gain, 0.0), -1.0)
        spread = best - worst
        # A query of gains 0 alone has no nDCGf: it counts 0, as elsewhere.
        self._per_gain = np.divide(1.0, spread * len(self._sizes), out=np.zeros(len(spread)), where=spread > 0)
        self.empty = float((-worst * self._per_gain).sum())

    def best(self, scores: ArrayLike) -> Best:
        """The highest mean nDCGf that one threshold for all queries gives; of equally good ones, that which keeps most.

        The threshold lies halfway between the last document kept and the first one cut, so that rounding on another
        machine does not carry documents across; +∞ keeps nothing.
        """
        given = np.asarray(scores, np.float64)[self._order]
        if not np.isfinite(given).all():  # it would sort as the best of all
            raise NotFiniteError("expected finite scores, got others")
        won = self._gain * self._at_rank(given) * self._per_gain[self._query]
        order = np.argsort(-given, kind="stable")
        falling = given[order]
        last = np.append(falling[1:] != falling[:-1], True)  # documents of equal score are kept together
        values = np.concatenate([[self.empty], (self.empty + np.cumsum(won[order]))[last]])
        thresholds = np.concatenate([[math.inf], falling[last]])
        at = int(last_best(values))
        kept = thresholds[at]
        halfway = (kept + thresholds[at + 1]) / 2 if 0 < at < len(thresholds) - 1 else kept
        return Best(float(values[at]), float(halfway))

    def _at_rank(self, scores: FloatArray) -> FloatArray:
        order = np.lexsort((-scores, self._query))
        weight = np.empty(len(scores))
        weight[order] = self._discount[np.arange(len(scores)) - self._starts]
        return weight

    def _sum(self, gain: FloatArray, sign: float) -> FloatArray:
        """Per query, the DCG of these gains in the order of `sign` times gain."""
        return np.bincount(self._query, gain * self._at_rank(sign * gain), len(self._sizes)).astype(np.float64)
