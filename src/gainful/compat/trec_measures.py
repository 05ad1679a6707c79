"""What only trec_eval measures: for one run, one value a topic (NaN where undefined), for all topics at once.

Labels are as trec_eval sees them: what is negative in its files is *pooled, not judged*, a null label here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.measures.binary import ratio, relevant_in_pool, relevant_shown
from gainful.measures.cascade import rbp_residual
from gainful.measures.dcg import dcg, ndcg
from gainful.measures.gains import best_ordering, depth, discounts, gains
from gainful.measures.sets import shown

Gains = Mapping[float, float]
LABELS: Gains = MappingProxyType({})  # every label is its own gain


def round_half_up(share: float, relevant: FloatArray) -> FloatArray:
    """How many relevant documents make up a share of them, as trec_eval 10 rounds."""
    exact = share * relevant
    below = np.floor(exact)
    return below + (exact - below >= 0.5)  # not floor(x + 0.5): that sum may round up


def whole_part(share: float, relevant: FloatArray) -> FloatArray:
    """How many relevant documents make up a share of them, as trec_eval 9 truncates."""
    return np.floor(share * relevant + 0.9)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """What measures of trec_eval depend on."""

    rankings: Rankings  # of one run; rows are topics
    level: float = 1.0  # the label from which a document is relevant
    documents: int = 0  # of the collection
    # Of judgments in groups: values of preferences by measure; or rankings with the labels of each group, and how many
    # groups each topic has.
    preferences: Mapping[str, FloatArray] = field(default_factory=dict)
    groups: tuple[Rankings, ...] = ()
    groups_per_topic: FloatArray | None = None
    needed: Callable[[float, FloatArray], FloatArray] = round_half_up  # how many relevant ones a share stands for


def interpolated_precision(setting: Setting, share: float) -> FloatArray:
    """The highest precision at or below the place where this share of the relevant documents is found."""
    rankings = setting.rankings
    found = rankings.relevant(setting.level)
    count = rankings.count_before(found) + 1
    needed = setting.needed(share, relevant_in_pool(rankings, setting.level))
    reached = found & (count >= needed[rankings.row])
    value = np.zeros(rankings.n_rows)
    np.maximum.at(value, rankings.row[reached], count[reached] / rankings.rank[reached])
    return value


def average_interpolated(setting: Setting, *shares: float) -> FloatArray:
    """Interpolated precision, averaged over recall levels, from the highest as trec_eval adds them."""
    total = np.zeros(setting.rankings.n_rows)
    for share in sorted(shares, reverse=True):
        total = total + interpolated_precision(setting, share)
    return total / len(shares)


def precision_at_multiple(setting: Setting, multiple: float) -> FloatArray:
    """Precision after a multiple of R documents; trec_eval 10 still truncates here."""
    rankings = setting.rankings
    cutoff = whole_part(multiple, relevant_in_pool(rankings, setting.level))
    inside = rankings.relevant(setting.level) & (rankings.rank <= cutoff[rankings.row])
    return ratio(rankings.sum(inside), cutoff)


def relative_precision(setting: Setting, cutoff: int | None = None) -> FloatArray:
    """Precision after `cutoff` documents, or of all that was returned, relative to the highest possible."""
    found = relevant_shown(setting.rankings, setting.level, cutoff)
    size = setting.rankings.retrieved if cutoff is None else cutoff
    return ratio(found, np.minimum(size, relevant_in_pool(setting.rankings, setting.level)))


def set_f(setting: Setting, weight: float) -> FloatArray:
    """Weighted harmonic mean of precision and recall of all that was returned; the weight is that of recall."""
    found = relevant_shown(setting.rankings, setting.level, None)
    precision = ratio(found, setting.rankings.retrieved.astype(np.float64))
    recall = ratio(found, relevant_in_pool(setting.rankings, setting.level))
    return ratio((weight + 1.0) * precision * recall, weight * precision + recall)


def utility(setting: Setting, *worth: float) -> FloatArray:
    """The sum of what documents are worth: relevant returned, others returned, relevant missed, others missed."""
    rankings = setting.rankings
    found = relevant_shown(rankings, setting.level, None)
    relevant = relevant_in_pool(rankings, setting.level)
    returned = rankings.retrieved.astype(np.float64)
    return (
        worth[0] * found
        + worth[1] * (returned - found)
        + worth[2] * (relevant - found)
        + worth[3] * (setting.documents + found - returned - relevant)
    )


def nonrelevant_returned(setting: Setting) -> FloatArray:
    """How many judged documents that are not relevant were returned."""
    rankings = setting.rankings
    return rankings.sum((rankings.grade >= 0) & ~rankings.relevant(setting.level))


def unjudged(setting: Setting, cutoff: int) -> FloatArray:
    """The share of the first `cutoff` places that hold an unjudged document."""
    rankings = setting.rankings
    judged = rankings.sum((rankings.grade >= 0) & (rankings.rank <= cutoff))
    return (shown(rankings, cutoff) - judged) / cutoff


def yaap(setting: Setting) -> FloatArray:
    """Robertson's smoothed average precision: log((1 + S)/(1 + R - S)), S the sum that AP divides by R."""
    rankings = setting.rankings
    found = rankings.relevant(setting.level)
    total = rankings.sum((rankings.count_before(found) + 1) / rankings.rank * found)
    return np.log((1.0 + total) / (1.0 + relevant_in_pool(rankings, setting.level) - total))


def binary_g(setting: Setting) -> FloatArray:
    """Mean over relevant documents of 1/log2(2 + nonrelevant documents above)."""
    rankings = setting.rankings
    found = rankings.relevant(setting.level)
    above = rankings.rank - 1 - rankings.count_before(found)
    total = rankings.sum(np.where(found, 1.0 / np.log2(2.0 + above), 0.0))
    return ratio(total, relevant_in_pool(rankings, setting.level))


def gain_g(setting: Setting, given: Gains = LABELS) -> FloatArray:
    """Gain, discounted by how far the gain so far falls short of what was possible, relative to all gain there is."""
    rankings = setting.rankings
    ideal = _Ideal.of(rankings, given)
    gain = rankings.of_grade(_gains(rankings, given))
    # A place costs at least 1, also where nothing is left to gain.
    cost = ideal.until(np.maximum(ideal.gain, 1.0), rankings.row, rankings.rank)
    cost = cost + np.maximum(rankings.rank - ideal.size[rankings.row], 0)
    short = cost - running(gain, np.searchsorted(rankings.row, rankings.row))
    total = rankings.sum(np.where(gain != 0, gain / np.log2(2.0 + short), 0.0))
    best = np.bincount(ideal.topic, weights=ideal.gain, minlength=rankings.n_rows)
    return ratio(total, best.astype(np.float64, copy=False))


def ndcg_with_gains(setting: Setting, given: Gains = LABELS) -> FloatArray:
    """Discounted gain relative to the best ordering of what has positive gain; negative gains count in the ranking."""
    if not given:
        return ndcg(setting.rankings)
    return ratio(discounted_gain(setting, given), ideal_gain(setting, given))


def discounted_gain(setting: Setting, given: Gains = LABELS) -> FloatArray:
    """Discounted cumulated gain of the whole ranking."""
    return dcg(setting.rankings, gain=tuple(given.items()) if given else "linear")


def ideal_gain(setting: Setting, given: Gains = LABELS) -> FloatArray:
    """Discounted cumulated gain of the best ordering of the pool."""
    rankings = setting.rankings
    return best_ordering(rankings, np.maximum(_gains(rankings, given), 0.0), discounts("log2", depth(rankings)))


def ndcg_at_relevant(setting: Setting, given: Gains = LABELS) -> FloatArray:
    """NDCG, averaged over the documents with positive gain; one that was not returned counts with the final value."""
    rankings = setting.rankings
    ideal = _Ideal.of(rankings, given)
    gain = rankings.of_grade(_gains(rankings, given))
    weighted = gain / np.log2(1.0 + rankings.rank)
    found = gain > 0
    best = ideal.until(ideal.gain / np.log2(1.0 + ideal.rank), rankings.row, rankings.rank)
    here = ratio(running(weighted, np.searchsorted(rankings.row, rankings.row)), best)
    final = ratio(rankings.sum(weighted), ideal_gain(setting, given))
    total = rankings.sum(np.where(found, here, 0.0)) + (ideal.size - rankings.sum(found)) * final
    return np.where(total > 0, ratio(total, ideal.size.astype(np.float64)), 0.0)


def ndcg_at_levels(setting: Setting, given: Gains = LABELS) -> FloatArray:
    """NDCG, averaged over the ranks at which the gain of the best ordering falls, and the end of the ranking."""
    rankings = setting.rankings
    ideal = _Ideal.of(rankings, given)
    gain = rankings.of_grade(_gains(rankings, given))
    weighted = gain / np.log2(1.0 + rankings.rank)
    best = running(ideal.gain / np.log2(1.0 + ideal.rank), ideal.start[ideal.topic])
    total, points = np.zeros(rankings.n_rows), np.zeros(rankings.n_rows)
    falls = np.flatnonzero(np.append((np.diff(ideal.topic) != 0) | (np.diff(ideal.gain) != 0), len(ideal.gain) > 0))
    step = np.arange(len(falls)) - np.searchsorted(ideal.topic[falls], ideal.topic[falls])
    for number in range(int(step.max(initial=-1)) + 1):  # as many as a topic has different gains
        at = falls[step == number]
        limit = np.zeros(rankings.n_rows, np.int64)
        limit[ideal.topic[at]] = ideal.rank[at]
        reached = rankings.sum(np.where(rankings.rank <= limit[rankings.row], weighted, 0.0))
        total[ideal.topic[at]] += reached[ideal.topic[at]] / best[at]
        points[ideal.topic[at]] += 1
    # One more document than there are gains to be had is not yet an end of its own.
    longer = (rankings.retrieved > ideal.size + 1) & (ideal.size > 0)
    final = ratio(rankings.sum(weighted), ideal_gain(setting, given))
    total += np.where(longer, final, 0.0)
    return np.where(relevant_in_pool(rankings, setting.level) > 0, ratio(total, points + longer), 0.0)


def graded_rbp(setting: Setting, given: Gains = LABELS, p: float = 0.9) -> FloatArray:
    """Rank-biased precision with gains, brought into [0, 1] topic by topic where they lie beyond."""
    rankings = setting.rankings
    low, high = _gain_range(rankings, given)
    beyond = (low < 0) | (high > 1)
    low, high = np.where(beyond, low, 0.0)[rankings.row], np.where(beyond, high, 1.0)[rankings.row]
    gain = np.where(rankings.grade >= 0, (rankings.of_grade(_gains(rankings, given)) - low) / (high - low), 0.0)
    weight = p ** np.arange(depth(rankings), dtype=np.float64)
    return (1.0 - p) * rankings.sum(gain * rankings.weights(weight))


def residual(setting: Setting, _: Gains = LABELS, p: float = 0.9) -> FloatArray:
    """The residual of rank-biased precision; 0, as in trec_eval, where all that was returned is judged."""
    rankings = setting.rankings
    return np.where(rankings.sum(rankings.grade >= 0) < rankings.retrieved, rbp_residual(rankings, p=p), 0.0)


def label_strings(setting: Setting, length: float) -> list[str]:
    """The labels of the first documents, a character each: '-' outside the pool, '.' not judged, '>' above 9."""
    rankings = setting.rankings
    width = min(int(length), int(rankings.retrieved.max(initial=0)))
    table = np.full((rankings.n_rows, width), ord("-"), np.uint8)
    character = np.where(rankings.grades >= 10, ord(">"), ord("0") + np.clip(rankings.grades, 0, 9).astype(np.uint8))
    inside = rankings.rank <= width
    table[rankings.row[inside], rankings.rank[inside] - 1] = np.append(character, ord("."))[rankings.grade[inside]]
    lengths = np.minimum(rankings.retrieved, width).tolist()
    return [line.tobytes()[:size].decode("ascii") for line, size in zip(table, lengths, strict=True)]


def running(values: FloatArray, start: IntArray) -> FloatArray:
    """Sums of each value and those before it from `start` on; by doubling, which carries no error over."""
    total = values.astype(np.float64, copy=True)
    position = np.arange(len(values)) - start
    step = 1
    while len(at := np.flatnonzero(position >= step)):
        total[at] += total[at - step]
        step *= 2
    return total


def _gains(rankings: Rankings, given: Gains) -> FloatArray:
    return gains(rankings.grades, tuple(given.items()) if given else "linear")


def _gain_range(rankings: Rankings, given: Gains) -> tuple[FloatArray, FloatArray]:
    """Per topic, the lowest and the highest gain of its scale: all labels up to its highest, and those named."""
    top = np.full(rankings.n_rows, -1, np.int64)
    np.maximum.at(top, rankings.pool_topic, rankings.pool_grade)
    low, high = np.zeros(len(rankings.grades) + 1), np.zeros(len(rankings.grades) + 1)
    for at, label in enumerate(rankings.grades.tolist()):
        # Whole labels that are not named keep their value; the lowest and the highest of them are enough.
        steps = (range(int(label) + 1), range(int(label), -1, -1))
        scale = [float(next((step for step in part if step not in given), 0)) for part in steps]
        scale = [given.get(label, label), *given.values(), *(step for step in scale if step not in given)]
        low[at], high[at] = min(scale), max(scale)
    return low[top], high[top]  # -1, nothing judged, reads the extra last entry


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Ideal:
    """The documents of every pool that have positive gain, best first."""

    topic: IntArray
    gain: FloatArray
    rank: IntArray
    start: IntArray  # per topic
    size: IntArray  # per topic

    @classmethod
    def of(cls, rankings: Rankings, given: Gains) -> _Ideal:
        value = np.append(_gains(rankings, given), 0.0)[rankings.pool_grade]
        positive = value > 0
        topic, gain = rankings.pool_topic[positive], value[positive]
        order = np.lexsort((-gain, topic))
        topic, gain = topic[order], gain[order]
        size = np.bincount(topic, minlength=rankings.n_rows)
        start = np.cumsum(size) - size
        return cls(topic=topic, gain=gain, rank=np.arange(len(topic)) - start[topic] + 1, start=start, size=size)

    def until(self, values: FloatArray, topic: IntArray, rank: IntArray) -> FloatArray:
        """Per (topic, rank) pair, the sum of `values` (one an ideal document) down to that rank."""
        total = np.append(running(values, self.start[self.topic]), 0.0)
        last = self.start[topic] + np.minimum(rank, self.size[topic]) - 1
        return total[np.where(self.size[topic] > 0, last, len(values))]
