"""What judgments of two judges say of the same runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gainful.data.scores import ScoreMatrix
from gainful.errors import DataError
from gainful.stats.choices import Correction
from gainful.stats.correlation import kendall, mid_ranks, rbo, tau_ap
from gainful.stats.intervals import t_interval
from gainful.stats.paired import corrected, pairs, rounding, t_test
from gainful.stats.prediction import Predicted, predicted_means
from gainful.stats.resample import FloatArray
from gainful.verbs.evaluate import bounds_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Conclusion:
    """The same runs under the first judge and under another one, by one measure."""

    judge: str
    measure: str
    higher: str  # whether a higher score is better, worse or neither
    systems: tuple[str, ...]
    topics: int  # that both have judged
    more: int  # that the other judge alone has
    # First judge and other one × runs: means over the common topics, and ranks from 1 for the best.
    means: FloatArray
    ranks: FloatArray
    # How far the two orders agree.
    tau_b: float
    tau_ap: float
    rbo: float
    # Pairs of runs that differ significantly under both in the same direction, under one of them, in opposite
    # directions, and under neither.
    both: int
    only_first: int
    only_other: int
    reversed: int
    neither: int
    # Of each run, by how much more the other judge raises its score than those of all runs.
    bias: FloatArray
    bias_low: FloatArray
    bias_high: FloatArray
    # Of each run, and of each pair of runs, the correlation over topics of what the two judges give.
    correlation: FloatArray
    pair_correlation: FloatArray
    # Means and differences from the topics of both judges; None if the other has no more topics.
    predicted: Predicted | None
    differences: Predicted | None

    @property
    def tested(self) -> int:
        """How many pairs of runs there are."""
        return self.both + self.only_first + self.only_other + self.reversed + self.neither

    def favoured(self) -> list[str]:
        """Runs that are shown to be favoured by the other judge, the most favoured first."""
        return self._lower() if self.higher == "worse" else self._higher()

    def disfavoured(self) -> list[str]:
        """Runs that are shown to be disfavoured by it, the worst first."""
        return self._higher() if self.higher == "worse" else self._lower()

    def _higher(self) -> list[str]:
        return [self.systems[at] for at in np.argsort(-self.bias, kind="stable") if self.bias_low[at] > 0.0]

    def _lower(self) -> list[str]:
        return [self.systems[at] for at in np.argsort(self.bias, kind="stable") if self.bias_high[at] < 0.0]


def conclusion(
    judge: str,
    first: ScoreMatrix,
    other: ScoreMatrix,
    higher: str,
    *,
    alpha: float,
    correction: Correction,
    confidence: float,
    p: float,
) -> Conclusion:
    """What the scores of runs under two judges have in common."""
    known = {topic: at for at, topic in enumerate(other.topics)}
    common = [topic for topic in first.topics if topic in known]
    if len(common) < 2:
        raise DataError(f"{judge}: expected at least 2 topics that the first judge has judged, too, got {len(common)}")
    mine = {topic: at for at, topic in enumerate(first.topics)}
    good = first.values[:, [mine[topic] for topic in common]]
    cheap = other.values[:, [known[topic] for topic in common]]
    alone = [at for topic, at in known.items() if topic not in mine]
    means = np.stack([good.mean(axis=1), cheap.mean(axis=1)])
    sign = -1.0 if higher == "worse" else 1.0
    noise = max(float(np.abs(values).max(initial=0.0)) for values in (good, cheap)) * 1e-12 or 1.0
    order = np.round(means / noise) * noise * sign
    counted = _outcomes(good, cheap, alpha, correction)
    shift = cheap - good
    shift -= shift.mean(axis=0)
    bounds = bounds_of(first.measure)
    span = bounds[1] - bounds[0]
    # A run and the others move apart by at most twice the range, of which the mean of all runs takes its part.
    most = 2.0 * span * (1.0 - 1.0 / len(good))
    low, high = (np.clip(end, -most, most) for end in t_interval(shift, confidence=confidence))
    one, two = pairs(len(good))
    more = other.values[:, alone]
    powered = len(alone) > 1
    return Conclusion(
        judge=judge,
        measure=first.measure,
        higher=higher,
        systems=first.systems,
        topics=len(common),
        more=len(alone),
        means=means,
        ranks=mid_ranks(order),
        tau_b=float(kendall(*order)),
        tau_ap=float(tau_ap(*order, variant="b")),
        rbo=float(rbo(*order, p=p)),
        **counted,
        bias=shift.mean(axis=1),
        bias_low=low,
        bias_high=high,
        correlation=_correlations(good, cheap),
        pair_correlation=_correlations(good[one] - good[two], cheap[one] - cheap[two]),
        predicted=predicted_means(good, cheap, more, confidence=confidence).within(*bounds) if powered else None,
        differences=predicted_means(
            good[one] - good[two], cheap[one] - cheap[two], more[one] - more[two], confidence=confidence
        ).within(-span, span)
        if powered
        else None,
    )


def _outcomes(good: FloatArray, cheap: FloatArray, alpha: float, correction: Correction) -> dict[str, int]:
    """How many pairs of runs are told apart by which judge."""
    one, two = pairs(len(good))
    directions = []
    for values in (good, cheap):
        difference = (values[one] - values[two]).mean(axis=1)
        difference[np.abs(difference) <= rounding(values, one, two)] = 0.0
        significant = corrected(t_test(values)[one, two], correction) < alpha
        directions.append(np.sign(difference) * significant)
    first, other = directions
    return {
        "both": int(((first * other) > 0).sum()),
        "only_first": int(((first != 0) & (other == 0)).sum()),
        "only_other": int(((first == 0) & (other != 0)).sum()),
        "reversed": int(((first * other) < 0).sum()),
        "neither": int(((first == 0) & (other == 0)).sum()),
    }


def _correlations(x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson's, row by row; NaN where a row never varies."""
    a, b = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    size = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(size > 1e-12, (a * b).sum(axis=1) / size, np.nan), np.float64)
