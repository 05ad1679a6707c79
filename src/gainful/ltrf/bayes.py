"""A cut for every query of its own (experimental): show what is expected to add to nDCGf, and nothing else.

nDCGf of a ranking is linear in g_d/Z, where g_d is the gain of a document and Z the distance between the best and the
worst list of its query. Given how probable each label is, the expected nDCGf is highest if documents are sorted by
ĝ_d = E[g_d/Z] and those with ĝ_d ≤ 0 are left out. Labels are drawn from calibrated probabilities, documents
independently of each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.ltrf.targets import FloatArray, IntArray, Scale, discounts, sigmoid

DRAWS = 1000
# Numbers in memory at once.
_BLOCK = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What turns the numbers of an ordinal model into probabilities: one logistic curve a head (Platt 1999).

    Parameters
    ----------
    slopes, intercepts
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
        """As `to_dict` wrote it."""
        return cls(slopes=tuple(content["slopes"]), intercepts=tuple(content["intercepts"]))

    def to_dict(self) -> dict[str, list[float]]:
        """The numbers by name."""
        return {"slopes": list(self.slopes), "intercepts": list(self.intercepts)}

    def chances(self, outputs: FloatArray) -> FloatArray:
        """Documents × labels: how probable each label is."""
        above = sigmoid(outputs * np.asarray(self.slopes) + np.asarray(self.intercepts))
        # Better than a good label is better than a worse one, too, whatever the heads say.
        above = np.minimum.accumulate(above, axis=1)
        ends = np.ones((len(outputs), 1))
        return -np.diff(np.hstack([ends, above, 0.0 * ends]), axis=1)


def expected_gains(
    scale: Scale, chances: FloatArray, sizes: IntArray, *, cutoff: int, draws: int = DRAWS, seed: int = 0
) -> FloatArray:
    """ĝ_d = E[g_d/Z] of each document, from so many draws of all labels.

    Parameters
    ----------
    scale
        Labels and gains.
    chances
        Documents × labels, the documents of a query side by side.
    sizes
        How many documents each query has.
    cutoff
        Of nDCGf.
    draws, seed
        How many, and where the random numbers start.
    """
    rng = np.random.default_rng(seed)
    gains, width = np.asarray(scale.gains), int(sizes.max(initial=1))
    query = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    discount = discounts(width, cutoff)
    ends = np.cumsum(chances, axis=1)[:, :-1]
    total = np.zeros(len(query))
    done, block = 0, max(1, _BLOCK // max(1, len(sizes) * width))
    while done < draws:
        size = min(block, draws - done)
        drawn = gains[(rng.random((size, len(query), 1)) >= ends).sum(axis=2)]
        padded = np.zeros((size, len(sizes), width))
        padded[:, query, place] = drawn
        best = np.sort(np.maximum(padded, 0.0), axis=2)[:, :, ::-1] @ discount
        worst = np.sort(np.minimum(padded, 0.0), axis=2) @ discount
        spread = (best - worst)[:, query]
        total += np.divide(drawn, spread, out=np.zeros_like(drawn), where=spread > 0).sum(axis=0)
        done += size
    return total / draws


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
