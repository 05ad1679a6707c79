"""Which threshold is best for some topics, and how far that can be trusted for others."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gainful.data.rankings import BoolArray, FloatArray, IntArray
from gainful.stats.resample import blocks, bootstrap_counts, generator
from gainful.stats.skewness import skewed_interval
from gainful.tune.threshold.documents import ScoredDocuments
from gainful.tune.threshold.risk import CLOSE, Risk
from gainful.tune.threshold.sweep import Steps


def last_best(values: FloatArray) -> IntArray:
    """Along the last axis, the position of the highest value; of equal ones the last, which keeps most."""
    highest = values.max(axis=-1, keepdims=True)
    equal = values >= highest - CLOSE * np.maximum(1.0, np.abs(highest))
    return np.asarray(equal.shape[-1] - 1 - np.argmax(equal[..., ::-1], axis=-1), np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """What makes a threshold the chosen one."""

    # The documents, and which of their topics count in the curves.
    documents: ScoredDocuments
    topics: BoolArray
    score: Steps  # the curve to be high, or low where `lower`
    lower: bool = False
    most_gained: float = math.inf  # by the range of the measure
    # A curve whose mean may not exceed `most`; no such limit where None.
    forbidden: Steps | None = None
    most: float = 1.0
    risk: Risk | None = None  # what may be lost on another topic; no such limit where None
    numbers: IntArray = field(init=False)  # the thresholds at which anything changes, and 0
    key: IntArray = field(init=False)  # that of the documents

    def __post_init__(self) -> None:
        changes = [curve.number for curve in self._curves()]
        object.__setattr__(self, "key", self.documents.key)
        object.__setattr__(self, "numbers", np.unique(np.concatenate([np.zeros(1, np.int64), *changes])))

    def best(self, weights: FloatArray) -> IntArray:
        """Per row of `weights` (how often each topic counts), the number of the best threshold.

        Of thresholds that are equally good it is the one that keeps most; where none is allowed, nothing is kept. A
        topic that counts 0 times is absent: who chooses does not know the scores of its documents.
        """
        numbers = self.numbers
        total = weights.sum(axis=1, keepdims=True)
        value = self.score.sums(weights, numbers) / total
        if self.lower:
            np.negative(value, out=value)
        if self.forbidden is not None:
            value[self.forbidden.sums(weights, numbers) > (self.most + CLOSE) * total] = -np.inf
        if self.risk is not None:
            value[~self.risk.allowed(weights, numbers)] = -np.inf
        hopeless = ~np.isfinite(value).any(axis=1)
        value[hopeless, 0] = 0.0
        last = last_best(value)
        # Up to where anything changes again, as far as the present topics have documents.
        furthest = np.append(numbers[1:] - 1, self.score.size)[last]
        furthest[hopeless] = 0
        present = np.ones((len(weights), len(self.topics)), np.bool_)
        present[:, self.topics] = weights > 0
        return self.documents.narrowed(furthest, present, self.key)

    def width(self) -> int:
        """How many numbers one resample takes."""
        return len(self.topics) + sum(len(curve.number) + 1 for curve in self._curves())

    def _curves(self) -> list[Steps]:
        curves = (self.score, self.forbidden, None if self.risk is None else self.risk.loss)
        return [curve for curve in curves if curve is not None]


def bootstrap(rule: Rule, gain: FloatArray, *, resamples: int, seed: int) -> tuple[IntArray, FloatArray]:
    """Draw topics with replacement: the threshold that each draw would choose, and what `gain` per topic is there."""
    rng = generator(seed)
    numbers, gains = [], []
    for size in blocks(resamples, rule.width(), "Resampling"):
        drawn = bootstrap_counts(rng, size, len(gain))
        numbers.append(rule.best(drawn))
        gains.append(drawn @ gain / len(gain))
    return np.concatenate(numbers), np.concatenate(gains)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What a threshold is worth on topics that it was not chosen from.

    The interval is of the gain to expect on new topics from the threshold that was chosen. As one of what is gained by
    choosing thresholds on other such topics, it is too narrow where most of those choices are to cut nothing.
    """

    gain: float  # the mean gain over no filter
    gain_low: float
    gain_high: float
    forbidden: float  # the mean share of forbidden documents among those shown
    folds: int
    repeats: int


def cross_validate(
    rule: Rule, forbidden: Steps, resampled: IntArray, *, folds: int, repeats: int, confidence: float, seed: int
) -> HeldOut | None:
    """Choose on some topics, score on the others; None for fewer than two topics.

    `resampled` are the thresholds that resamples of the topics choose. Folds share most of their topics, and choose
    nearly the same; gains at those thresholds vary less from topic to topic than the gains that are asked about. The
    interval therefore takes variance and skewness of a topic's gain at the resampled thresholds, averaged over them.
    """
    topics = len(rule.score.base)
    folds = min(folds, topics)
    if topics < 2:
        return None
    rng = generator(seed)
    sign = -1.0 if rule.lower else 1.0
    everything = rule.score.scores(rule.score.size)
    gain, bad = np.zeros(topics), np.zeros(topics)
    fold = np.stack([rng.permutation(topics) % folds for _ in range(repeats)])
    left_out = (fold[:, None, :] == np.arange(folds)[:, None]).reshape(-1, topics)
    done = 0
    for size in blocks(len(left_out), rule.width(), "Holding out"):
        block = left_out[done : done + size]
        done += size
        for out, number in zip(block, rule.best((~block).astype(np.float64)).tolist(), strict=True):
            gain[out] += sign * (rule.score.scores(number) - everything)[out]
            bad[out] += forbidden.scores(number)[out]
    gain, bad = gain / repeats, bad / repeats
    mean, (variance, skewness) = float(gain.mean()), spread(rule.score, resampled)
    shape = {"variance": variance, "skewness": sign * skewness}
    low, high = map(float, skewed_interval(mean, **shape, number=topics, confidence=confidence))
    return HeldOut(
        gain=mean,
        gain_low=max(low, -rule.most_gained),
        gain_high=min(high, rule.most_gained),
        forbidden=float(bad.mean()),
        folds=folds,
        repeats=repeats,
    )


def spread(score: Steps, numbers: IntArray) -> tuple[float, float]:
    """Variance and skewness over topics of what thresholds change in their scores; moments averaged over thresholds."""
    everything, topics = score.scores(score.size), len(score.base)
    distinct, times = np.unique(numbers, return_counts=True)
    moments = np.zeros(2)
    change = score.base - everything
    taken = 0
    for number, count in zip(distinct.tolist(), times.tolist(), strict=True):
        upto = int(np.searchsorted(score.number, number, side="right"))
        now = slice(taken, upto)
        change += np.bincount(score.topic[now], weights=score.height[now], minlength=topics)
        taken = upto
        apart = change - change.mean()
        moments += count * np.array([(apart**2).mean(), (apart**3).mean()])
    second, third = moments / len(numbers)
    if second <= CLOSE**2:
        return 0.0, 0.0
    return float(second * topics / (topics - 1)), float(third / second**1.5)


def order_interval(values: FloatArray, confidence: float) -> tuple[float, float]:
    """The percentile interval, its ends among the values themselves: some may be infinite."""
    ends = np.quantile(values, [0.5 - confidence / 2, 0.5 + confidence / 2], method="inverted_cdf")
    return float(ends[0]), float(ends[1])
