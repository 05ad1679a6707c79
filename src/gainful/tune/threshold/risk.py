"""Thresholds that keep forbidden documents rare on other topics, too: in expectation, or with a confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.data.rankings import BoolArray, FloatArray, IntArray
from gainful.errors import GainfulError, check_share, is_number, setting
from gainful.stats.risk import largest_loss, topics_needed
from gainful.tune.threshold.sweep import Steps

# Sums that differ by less are equal: the same numbers were added in another order.
CLOSE = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Risk:
    """How much may be lost, and how that is controlled."""

    # Forbidden documents in the first `places`, divided by `places`: at most 1 per topic, and never falling.
    loss: Steps
    places: int
    most: float
    confidence: float | None  # None: in expectation

    def allowed(self, weights: FloatArray, numbers: IntArray) -> BoolArray:
        """Which thresholds (columns) keep to the risk, from topics that count as each row of `weights` says.

        In expectation: conformal risk control, those with (n·R̂ + 1)/(n + 1) ≤ risk. With a confidence: learn then
        test, those with a Hoeffding-Bentkus p-value of at most 1 − confidence, tested from strict to loose until one
        fails. The loss never falls, and with it the p-value: the first failure is the last pass, whatever thresholds
        there are to test.
        """
        if self.confidence is None:
            return np.asarray(self.estimate(weights, numbers) <= self.most + CLOSE)
        sizes, at = np.unique(weights.sum(axis=1), return_inverse=True)
        limits = [largest_loss(int(size), self.most, self.confidence, self.places) for size in sizes]
        return np.asarray(self.loss.sums(weights, numbers) <= np.array(limits)[at][:, None] + CLOSE)

    def estimate(self, weights: FloatArray, numbers: IntArray) -> FloatArray:
        """The loss expected on another topic, (n·R̂ + 1)/(n + 1): one topic is added that loses everything."""
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray((self.loss.sums(weights, numbers) + 1.0) / (total + 1.0), np.float64)


def check_risk(most: Any, confidence: Any) -> None:
    """Refuse a risk that is no share, and a confidence that is none, or that has no risk."""
    if most is not None and not (is_number(most) and 0.0 < most < 1.0):
        raise GainfulError(f"risk: expected a share between 0 and 1, got {most!r}")
    if confidence is not None:
        check_share("risk_confidence", confidence)
        if most is None:
            raise GainfulError(f"risk_confidence is that of a {setting('risk')}: expected both, got no risk")


def check_enough(most: float, confidence: float | None, topics: int, *, are: str = "topics", more: str = "") -> None:
    """Refuse a risk that even topics without any forbidden document would not show, being too few.

    It takes 1/risk − 1 topics in expectation, log(1 − confidence)/log(1 − risk) with a confidence. `are` says what the
    topics are, and `more` what else to say of the number needed.
    """
    needed = math.ceil(1.0 / (most + CLOSE) - 1.0) if confidence is None else topics_needed(most, confidence)
    if topics < needed:
        sure = "" if confidence is None else f" with confidence {confidence:g}"
        smallest = f"; the smallest risk that {topics} can guarantee is {smallest_risk(topics, confidence)}"
        raise GainfulError(
            f"{setting('risk', most)} cannot be guaranteed{sure} from {topics} {are}, whatever the threshold: it takes "
            f"{needed}{more.format(2 * needed) or smallest}"
        )


def smallest_risk(topics: int, confidence: float | None) -> str:
    """The smallest risk that so many topics can guarantee, rounded up: that of topics without a forbidden document."""
    least = 1.0 / (topics + 1.0) if confidence is None else 1.0 - (1.0 - confidence) ** (1.0 / topics)
    return f"{math.ceil(least * 1e4) / 1e4:.4f}"


def check_forbidden(name: str, number: int, more: str = "") -> None:
    """Refuse a limit on forbidden documents where no judged document is one; `more` is what else could be one."""
    if not number:
        raise GainfulError(
            f"{name} is about forbidden documents, and no judged document is one: expected labels (or gains) below 0"
            f"{more}"
        )
