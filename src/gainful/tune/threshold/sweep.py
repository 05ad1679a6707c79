"""What a measure is worth at every threshold, from one sweep over the documents.

The score of a topic changes only when the threshold passes one of its documents, so that the mean over topics is a sum
of steps: sorted by threshold and added up, they are the whole curve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gainful.data.policies import Policies
from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings
from gainful.measures import Measure
from gainful.measures.dcg import cg, dcg, ndcg
from gainful.measures.gains import discounts
from gainful.progress import track
from gainful.tune.threshold.documents import ScoredDocuments

# Cells (states × documents) that a measure without a sweep of its own is computed on before a grid takes over.
MOST_CELLS = 500_000_000
_BLOCK = 1 << 22
# Measures that are sums over documents, of which each threshold only adds some.
GAIN_FAMILY = (cg, dcg, ndcg)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Steps:
    """One curve, as a sum of steps."""

    base: FloatArray  # per topic, the score where nothing is kept
    # Per step, by the number of its threshold: the topic, the first threshold that has taken it, by how much the score
    # of the topic changes.
    topic: IntArray
    number: IntArray
    height: FloatArray
    size: int  # how many thresholds there are

    def sums(self, weights: FloatArray, numbers: IntArray) -> FloatArray:
        """Weighted sums over topics: one row per row of `weights` (× topics), one column per threshold, ascending."""
        total = np.zeros((len(weights), len(self.topic) + 1))
        np.multiply(weights[:, self.topic], self.height, out=total[:, 1:])
        np.cumsum(total, axis=1, out=total)
        at = np.searchsorted(self.number, numbers, side="right")
        if len(at) != total.shape[1] or (np.diff(at) != 1).any():
            total = total[:, at]
        total += (weights @ self.base)[:, None]
        return total

    def mean(self) -> FloatArray:
        """The mean over topics at every threshold, from 0."""
        step = np.bincount(self.number, weights=self.height, minlength=self.size + 1)
        return np.asarray((self.base.sum() + np.cumsum(step)) / len(self.base), np.float64)

    def scores(self, number: int) -> FloatArray:
        """The score of every topic at one threshold."""
        taken = np.searchsorted(self.number, number, side="right")
        topic, height = self.topic[:taken], self.height[:taken]
        return self.base + np.bincount(topic, weights=height, minlength=len(self.base))

    def only(self, topics: BoolArray) -> Steps:
        """The same curve over some topics."""
        if topics.all():
            return self
        renumbered = np.cumsum(topics) - 1
        kept = topics[self.topic]
        return Steps(
            base=self.base[topics],
            topic=renumbered[self.topic[kept]],
            number=self.number[kept],
            height=self.height[kept],
            size=self.size,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """The curves of one measure and of what it costs."""

    score: Steps
    # Forbidden@k, FilteredGood and Empty, as these measures are defined.
    forbidden: Steps
    filtered_good: Steps
    empty: Steps
    # Forbidden documents in the top k, divided by k, and never less than at a higher threshold; None without cutoff.
    loss: Steps | None
    topics: BoolArray  # which topics count
    exact: bool  # whether `score` has all thresholds, and not a grid of them


def sweep(documents: ScoredDocuments, measure: Measure, policies: Policies, below: float = 0.0) -> Sweep:
    """Sweep the threshold from above all documents to below all of them, by the policies `missing` and `degenerate`.

    Documents with a label `below` this are forbidden.
    """
    fill = 1.0 if policies.degenerate == "one" else 0.0
    cutoff = measure.parameters.get("cutoff")
    longest = int(documents.lengths.max(initial=0))
    depth = min(cutoff, longest) if isinstance(cutoff, int) else longest
    # The entry of grade -1, of unjudged documents, is the last.
    negative = np.append(documents.rankings.grades < below, False)[documents.grade].astype(np.float64)
    empty, exact = np.zeros(len(documents.start) - 1), True
    if measure.definition.function in GAIN_FAMILY:
        weight = _discounts(measure, longest)
        start, unit = _units(documents, measure, weight)
        undefined = np.isnan(start)
        start, unit = np.where(undefined, fill, start), np.where(undefined, 0.0, unit)
        value = unit[documents.grade, documents.topic]
        gain, bad = _top_sums(documents, (value, weight[:depth]), (negative, np.ones(depth)))
        score = _steps(documents, start, start[documents.topic] + gain)
    else:
        (bad,) = _top_sums(documents, (negative, np.ones(depth)))
        score, undefined, exact = _any_steps(documents, measure, fill)
    counted = np.ones(len(empty), np.bool_)
    if policies.missing == "skip":
        counted &= documents.rankings.present
    if policies.degenerate == "skip":
        counted &= ~undefined
    loss = None
    if isinstance(cutoff, int):
        loss = _steps(documents, empty, _never_falling(documents, bad, depth) / cutoff)
    place = documents.rank  # also of admitted documents, how many their topic then has: both count from 1 in a topic
    forbidden = _steps(documents, empty, bad / np.minimum(place, depth))
    empties = _steps(documents, empty + 1.0, np.zeros(len(bad)))
    return Sweep(
        score=score.only(counted),
        forbidden=forbidden.only(counted),
        filtered_good=_filtered_good(documents, fill).only(counted),
        empty=empties.only(counted),
        loss=None if loss is None else loss.only(counted),
        topics=counted,
        exact=exact,
    )


def _top_sums(documents: ScoredDocuments, *pairs: tuple[FloatArray, FloatArray]) -> list[FloatArray]:
    """Σ value·weight(rank) over what is shown, after every admitted document.

    Of pairs: values, one per document by rank, and weights, one per rank, 0 beyond their end.
    """
    if not documents.one_score:
        return _inserted(documents, pairs)
    sums = []
    for values, weights in pairs:
        padded = np.append(weights, 0.0)
        sums.append(_running(documents, values * padded[np.minimum(documents.rank - 1, len(weights))]))
    return sums


def _inserted(documents: ScoredDocuments, pairs: tuple[tuple[FloatArray, FloatArray], ...]) -> list[FloatArray]:
    """Let every topic admit its next document at once: each moves those ranked behind it down by one."""
    lengths = documents.lengths
    depth, steps = max(len(weights) for _, weights in pairs), int(lengths.max())
    nobody = len(documents.document)  # ranks behind everybody
    tables = [np.append(values, 0.0) for values, _ in pairs]
    longest = np.argsort(-lengths, kind="stable")
    begin, fewer = documents.start[:-1][longest], -lengths[longest]
    shown = np.full((len(lengths), depth + 1), nobody, np.int64)
    shown[:, 0] = -1  # ranks before everybody
    sums = [np.zeros(nobody) for _ in pairs]
    for place in track(range(steps), steps, "Sweeping"):
        active = int(np.searchsorted(fewer, -place, side="left"))  # topics that have another document
        at = begin[:active] + place
        rows = shown[:active]
        rows[:, 1:] = np.maximum(rows[:, :-1], np.minimum(rows[:, 1:], documents.admitted[at, None]))
        for total, table, (_, weights) in zip(sums, tables, pairs, strict=True):
            total[at] = table[rows[:, 1 : len(weights) + 1]] @ weights
    return sums


def _discounts(measure: Measure, longest: int) -> FloatArray:
    """The discounts of a measure of the gain family, as deep as any list."""
    settings = measure.parameters
    discount, base = settings.get("discount", "none"), settings.get("base", 2.0)
    return discounts(discount, longest, settings["cutoff"], base)  # type: ignore[arg-type]


def _units(documents: ScoredDocuments, measure: Measure, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Per topic the score of an empty ranking, and per grade and topic what a document adds at a discount of 1.

    The measure itself is asked, about rankings of a single document, so that its norm is defined in one place only.
    """
    pool = documents.rankings
    grades, topics = len(pool.grades), len(pool.topics)
    row = pool.pool_grade * topics + pool.pool_topic
    row, document = np.unique(np.where(pool.pool_grade >= 0, row, -1), return_index=True)
    row, document = row[row >= 0], document[row >= 0]
    where = int(np.argmax(np.abs(weight))) if len(weight) else 0
    rank = np.full(len(row), where + 1)
    retrieved = np.zeros((grades + 1) * topics, np.int64)
    retrieved[row] = where + 1
    scores = measure.compute(_rankings(pool, grades + 1, retrieved, row, rank, document)).reshape(-1, topics)
    empty = scores[-1]
    unit = np.zeros((grades + 1, topics))  # the last row is for grade -1, unjudged
    if len(weight) and weight[where]:
        unit[:-1] = (scores[:-1] - empty) / weight[where]
    return empty, unit


def _any_steps(documents: ScoredDocuments, measure: Measure, fill: float) -> tuple[Steps, BoolArray, bool]:
    """Any measure, computed on what every topic shows after each of its documents; on a grid if that is too much.

    Also which topics it is undefined for, and whether it was not on a grid.
    """
    lengths, topics, size = documents.lengths, len(documents.start) - 1, len(documents.thresholds)
    width = int((documents.document >= 0).sum()) if documents.one_score else len(documents.document)
    most = max(2, MOST_CELLS // max(width, 1))
    exact = bool(lengths.max() < most)
    if exact:
        shown = np.minimum(np.arange(lengths.max() + 1)[:, None], lengths)
    else:
        grid = np.unique(np.linspace(0, size, min(most, size + 1)).astype(np.int64))
        ends = np.searchsorted(documents.key, np.arange(topics) * (size + 1) + grid[:, None], side="right")
        shown = ends - documents.start[:-1]
    scores = _state_scores(documents, measure, shown)
    undefined = np.isnan(scores)
    scores[undefined] = fill
    if exact:
        steps = _steps(documents, scores[0], scores[documents.rank, documents.topic])
    else:
        change = np.diff(scores, axis=0)
        at, topic = np.nonzero(change)
        steps = Steps(base=scores[0], topic=topic, number=grid[at + 1], height=change[at, topic], size=size)
    return steps, np.asarray(undefined.any(axis=0)), exact


def _state_scores(documents: ScoredDocuments, measure: Measure, shown: IntArray) -> FloatArray:
    """States × topics: the score where topic t shows its first shown[s, t] documents by place."""
    topics = len(documents.start) - 1
    document, topic, place, rank = documents.document, documents.topic, documents.place, documents.rank
    if documents.one_score:  # unjudged documents are gaps in ranks that do not change
        hit = np.flatnonzero(document >= 0)
        document, topic, place, rank = document[hit], topic[hit], place[hit], rank[hit]
    scores = np.empty(shown.shape)
    size = max(1, _BLOCK // max(len(document), topics))
    firsts = range(0, len(shown), size)
    for first in track(firsts, len(firsts), "Sweeping"):
        part = shown[first : first + size]
        kept = place <= part[:, topic]
        state, hit = np.nonzero(kept)
        ranks = rank[hit]
        if not documents.one_score:
            running = np.cumsum(kept, axis=1)
            before = np.concatenate([np.zeros((len(part), 1), np.int64), running], axis=1)[:, documents.start[:-1]]
            ranks = running[state, hit] - before[state, topic[hit]]
        inside = document[hit] >= 0
        row = (state * topics + topic[hit])[inside]
        rankings = _rankings(documents.rankings, len(part), part.ravel(), row, ranks[inside], document[hit[inside]])
        scores[first : first + size] = measure.compute(rankings).reshape(-1, topics)
    return scores


def _rankings(
    pool: Rankings, systems: int, retrieved: IntArray, row: IntArray, rank: IntArray, document: IntArray
) -> Rankings:
    """Made-up systems over the same topics and pools."""
    return replace(
        pool,
        systems=tuple(map(str, range(systems))),
        retrieved=retrieved,
        present=np.ones(len(retrieved), np.bool_),
        row=row,
        rank=rank,
        document=document,
        tie_first=rank,
        tie_last=rank,
        ignored=(0,) * systems,
    )


def _filtered_good(documents: ScoredDocuments, fill: float) -> Steps:
    """FilteredGood, with its default of label 1 and up."""
    pool = documents.rankings
    relevant = np.append(pool.grades >= 1.0, False)
    number = np.bincount(pool.pool_topic, weights=relevant[pool.pool_grade], minlength=len(pool.topics))
    kept = _running(documents, relevant[documents.grade][documents.admitted].astype(np.float64))
    share = 1.0 - kept / np.maximum(number, 1.0)[documents.topic]
    share[(number == 0)[documents.topic]] = fill
    return _steps(documents, np.where(number > 0, 1.0, fill), share)


def _steps(documents: ScoredDocuments, base: FloatArray, scores: FloatArray) -> Steps:
    """Steps from the score of the topic after every admitted document."""
    ends, topic = documents.ends, documents.topic
    at = topic[ends]
    height = np.diff(scores[ends], prepend=0.0)
    first = np.flatnonzero(np.diff(at, prepend=-1))
    height[first] = scores[ends[first]] - base[at[first]]
    some = np.flatnonzero(height)
    number = documents.step[ends[some]]
    order = np.argsort(number, kind="stable")
    some = some[order]
    return Steps(base=base, topic=at[some], number=number[order], height=height[some], size=len(documents.thresholds))


def _never_falling(documents: ScoredDocuments, bad: FloatArray, depth: int) -> FloatArray:
    """The largest number so far in each topic, over the states it can stop at."""
    if documents.one_score:
        return bad  # a longer prefix holds no fewer of anything
    ends, topic = documents.ends, documents.topic
    apart = float(depth) * topic[ends]  # no topic reaches beyond where the next begins; whole numbers are not rounded
    highest = bad.copy()
    highest[ends] = np.maximum.accumulate(bad[ends] + apart) - apart
    return highest


def _running(documents: ScoredDocuments, values: FloatArray) -> FloatArray:
    """Sums within each topic, up to every document."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(total[1:] - np.repeat(total[documents.start[:-1]], documents.lengths), np.float64)
