"""nDCG as a ratio of bilinear forms in gains and discounts, and the exact gradient of its reliability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from gainful.data.rankings import FloatArray, IntArray, Rankings

# What a topic's best DCG must exceed to be divided by: below it there is no gain at all, only rounding.
_NOTHING = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bilinear:
    """All rankings at one cutoff, reduced to which grade stands at which rank.

    With M_st[j, r] = 1 if system s has a document of grade j at rank r of topic t, and N_t the same for the best order
    of the topic's pool, nDCG is gᵀM_st d / gᵀN_t d for gains g and discounts d. Only grades that can have a gain are
    held, so the size is that of the relevant documents returned down to the cutoff.
    """

    systems: int
    topics: int
    cutoff: int
    # M as a sparse matrix: (system, topic, grade) × rank. With tied documents an entry is the expected number.
    returned: Any
    pool: IntArray  # topics × grades: how many documents are judged so. N follows from it.

    def scores(self, discount: FloatArray, gain: FloatArray) -> FloatArray:
        """NDCG: systems × topics; 0 where nothing in the pool has a gain."""
        return self._parts(discount, gain)[0]

    def phi(self, discount: FloatArray, gain: FloatArray) -> float:
        """Φ of one topic, not clipped at 0: a negative number tells how far the systems are from being told apart."""
        return _phi(self.scores(discount, gain))[0]

    def gradient(self, discount: FloatArray, gain: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Φ of one topic, and its derivatives by the discounts and by the gains.

        With V = (∂Φ/∂Y)/IDCG: ∂Φ/∂d = Σ V_st M_stᵀ g − Σ_t (Σ_s V_st Y_st) N_tᵀ g, and g likewise. Where two discounts
        or gains are equal, those of the one order that they are taken in.
        """
        scores, by_grade, ideal, ideal_by_grade, edges, by_gain = self._parts(discount, gain)
        phi, slope = _phi(scores)
        with np.errstate(divide="ignore", invalid="ignore"):
            v = np.where(ideal > _NOTHING, slope / ideal, 0.0)
        lost = (v * scores).sum(axis=0)
        d_gain = np.einsum("st,stj->j", v, by_grade)
        d_gain[by_gain] -= lost @ ideal_by_grade
        d_discount = np.asarray(self.returned.T @ (v[:, :, None] * gain).ravel(), np.float64)
        # A rank of the best order has the gain of its grade: the sum of the steps down to 0 that end below it.
        step = -np.diff(gain[by_gain], append=0.0)
        ends = np.bincount(edges.ravel(), weights=np.outer(lost, step).ravel(), minlength=self.cutoff + 1)
        d_discount[_falling(discount)] -= np.cumsum(ends[:0:-1])[::-1]
        return phi, d_discount, d_gain

    def of_topics(self, chosen: IntArray) -> Bilinear:
        """The same for some of the topics."""
        grades = self.pool.shape[1]
        row = (np.arange(self.systems)[:, None] * self.topics + chosen)[:, :, None] * grades + np.arange(grades)
        return replace(self, topics=len(chosen), returned=self.returned[row.ravel()], pool=self.pool[chosen])

    def _parts(
        self, discount: FloatArray, gain: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray, IntArray]:
        """Scores; the discounts collected by grade; the same two of the best order, with where its grades end."""
        by_grade = (self.returned @ discount).reshape(self.systems, self.topics, -1)
        total = np.concatenate([[0.0], np.cumsum(discount[_falling(discount)])])
        by_gain = _falling(gain)
        edges = np.minimum(np.cumsum(self.pool[:, by_gain], axis=1), self.cutoff)
        ideal_by_grade = np.diff(total[edges], axis=1, prepend=0.0)
        ideal = ideal_by_grade @ gain[by_gain]
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.where(ideal > _NOTHING, (by_grade @ gain) / ideal, 0.0)
        return scores, by_grade, ideal, ideal_by_grade, edges, by_gain


def bilinear(rankings: Rankings, grades: FloatArray, cutoff: int) -> Bilinear:
    """The arrays M and N of rankings; `grades` are the labels that may have a gain, ascending: all others have none."""
    systems, topics, number = len(rankings.systems), len(rankings.topics), len(grades)
    place = np.searchsorted(grades, rankings.grades)
    known = np.append(grades, np.nan)[place] == rankings.grades
    index = np.append(np.where(known, place, -1), -1)  # the last entry is that of unjudged documents, grade -1
    pooled = index[rankings.pool_grade]
    judged = pooled >= 0
    pool = np.bincount(rankings.pool_topic[judged] * number + pooled[judged], minlength=topics * number)
    grade = index[rankings.grade]
    hit = (grade >= 0) & (rankings.tie_first <= cutoff)
    row, first, last = rankings.row[hit] * number + grade[hit], rankings.tie_first[hit], rankings.tie_last[hit]
    if rankings.tie_first is rankings.rank:
        rank, share = first, np.ones(len(first))
    else:
        # Tied documents of one grade are spread evenly over the ranks of their group.
        _, back, count = np.unique(row * (cutoff + 1) + first, return_index=True, return_counts=True)
        row, first, last = row[back], first[back], last[back]
        length = np.minimum(last, cutoff) - first + 1
        start = np.repeat(np.cumsum(length) - length, length)
        rank = np.repeat(first, length) + np.arange(len(start)) - start
        row, share = np.repeat(row, length), np.repeat(count / (last - first + 1), length)
    returned = sparse.csr_array((share, (row, rank - 1)), shape=(systems * topics * number, cutoff))
    return Bilinear(systems=systems, topics=topics, cutoff=cutoff, returned=returned, pool=pool.reshape(topics, number))


def _falling(values: FloatArray) -> IntArray:
    """The order from the largest to the smallest."""
    return np.argsort(-values, kind="stable")


def _phi(scores: FloatArray) -> tuple[float, FloatArray]:
    """Φ of one topic and its derivative by every score; both 0 if no two scores differ.

    The variance of topics counts as 0 where it is estimated to be negative, that of systems is left as it is.
    """
    s, t = scores.shape
    centred = scores - scores.flat[0]
    grand = centred.mean()
    system = centred.mean(axis=1) - grand
    topic = centred.mean(axis=0) - grand
    rest = centred - grand - system[:, None] - topic
    ms_system = t * (system @ system) / (s - 1)
    ms_topic = s * (topic @ topic) / (t - 1)
    ms_rest = np.vdot(rest, rest) / ((s - 1) * (t - 1))
    of_system = (ms_system - ms_rest) / t
    of_topic = (ms_topic - ms_rest) / s
    other = max(of_topic, 0.0) + ms_rest
    whole = of_system + other
    if not whole > 1e-28:  # mere rounding: scores are between 0 and 1
        return 0.0, np.zeros_like(scores)
    d_rest = rest * (2.0 / ((s - 1) * (t - 1)))
    d_system = (system[:, None] * (2.0 / (s - 1)) - d_rest) / t
    d_other = d_rest + (topic * (2.0 / (t - 1)) - d_rest) / s if of_topic > 0 else d_rest
    slope = (d_system * other - of_system * d_other) / whole**2
    return float(of_system / whole), slope
