"""What each document adds to a measure, in the ranking and in the best one: what `explain` and the report tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.errors import MeasureError

Steps = Callable[[int, int], Mapping[str, "FloatArray | IntArray"]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contributions:
    """What the documents that count add to a measure; `Contributions.of` makes it.

    ``score = empty + sum(won)`` and ``top = score + sum(best - won)`` for every run and topic.
    """

    document: IntArray  # per document that counts, its number in the pool, ascending
    rank: FloatArray  # runs × documents that count: where it was returned; infinite if it was not
    won: FloatArray  # likewise: what it adds to the score
    best: FloatArray  # likewise: what it adds in the best ordering
    empty: FloatArray  # per topic, what an empty ranking scores; NaN where the measure is undefined
    top: FloatArray  # per topic, what the best ranking scores; NaN where the measure is undefined
    worth: FloatArray | None  # per label, its gain, or whether it is relevant; None if labels do not say
    discount: FloatArray | None  # per rank, what a gain is multiplied with; None for a measure that has none
    length: IntArray  # per topic, how many ranks the best ordering has
    steps: Steps | None  # given a row of the rankings and a number of ranks: further columns by rank, by name

    @classmethod
    def of(
        cls,
        rankings: Rankings,
        document: IntArray,
        won: ArrayLike,
        best: ArrayLike,
        *,
        rank: FloatArray | None = None,
        empty: ArrayLike = 0.0,
        top: ArrayLike | None = None,
        worth: FloatArray | None = None,
        discount: FloatArray | None = None,
        length: IntArray | None = None,
        steps: Steps | None = None,
    ) -> Contributions:
        """What a measure declares: the documents that count, what each won, and what it could have won.

        The rest has defaults: an empty ranking scores 0, the best one what its documents add, and it has as many ranks
        as documents count.
        """
        topics = len(rankings.topics)
        shape = (len(rankings.systems), len(document))
        topic = rankings.pool_topic[document]
        try:
            won, best = (np.broadcast_to(np.asarray(one, np.float64), shape) for one in (won, best))
        except ValueError:
            raise MeasureError(
                f"expected contributions of {shape[0]} runs × {shape[1]} documents, got {np.shape(won)} and "
                f"{np.shape(best)}"
            ) from None
        base = np.array(np.broadcast_to(np.asarray(empty, np.float64), topics))
        if top is None:
            top = base + np.bincount(topic, weights=best[0], minlength=topics)
        return cls(
            document=document,
            rank=ranks_of(rankings, document) if rank is None else rank,
            won=np.where(won == 0.0, 0.0, won),  # -0.0 is no way to show nothing
            best=np.where(best == 0.0, 0.0, best),
            empty=base,
            top=np.array(np.broadcast_to(np.asarray(top, np.float64), topics)),
            worth=worth,
            discount=discount,
            length=np.bincount(topic, minlength=topics) if length is None else length,
            steps=steps,
        )

    def added(self, rankings: Rankings, last: int) -> FloatArray:
        """Rows × ranks to `last`: what the document there adds to the score."""
        topics = len(rankings.topics)
        added = np.zeros((rankings.n_rows, last))
        system, column = np.nonzero(self.rank <= last)
        row = system * topics + rankings.pool_topic[self.document[column]]
        added[row, self.rank[system, column].astype(np.int64) - 1] = self.won[system, column]
        return added

    def lost(self, rankings: Rankings, cutoff: int | None) -> FloatArray:
        """Three × rows: what documents beyond the cutoff lose, wanted ones within it, forbidden ones; < 0 if won."""
        topics = len(rankings.topics)
        row = np.arange(len(rankings.systems))[:, None] * topics + rankings.pool_topic[self.document]
        within = (self.rank < np.inf) & (self.rank <= (np.inf if cutoff is None else cutoff))
        wanted = (self.won > 0.0) | (self.best > 0.0)
        lost = np.nan_to_num(self.best - self.won)
        reasons = (~within, within & wanted, within & ~wanted)
        sums = [np.bincount(row[why], weights=lost[why], minlength=rankings.n_rows) for why in reasons]
        return np.stack(sums).astype(np.float64)


Declared = Callable[..., Contributions]


def counting(rankings: Rankings, worth: FloatArray) -> IntArray:
    """The documents of the pool that are worth something, by a value per label."""
    return np.flatnonzero(np.append(worth, 0.0)[rankings.pool_grade])


def ranks_of(rankings: Rankings, document: IntArray) -> FloatArray:
    """Runs × these documents of the pool: the rank, infinite if not returned."""
    column = np.full(len(rankings.pool_topic), -1)
    column[document] = np.arange(len(document))
    at = column[rankings.document]
    ranks = np.full((len(rankings.systems), len(document)), np.inf)
    ranks[rankings.row[at >= 0] // len(rankings.topics), at[at >= 0]] = rankings.rank[at >= 0]
    return ranks


def places(rankings: Rankings, document: IntArray, rank: FloatArray, worth: FloatArray | None = None) -> IntArray:
    """Runs × documents: the place from 0 among those of the topic, by `worth`; of equals the higher ranked first."""
    topic = group = rankings.pool_topic[document]
    if worth is not None:
        by_worth = np.lexsort((-worth, topic))
        best_first, sorted_worth = topic[by_worth], worth[by_worth]
        apart = (best_first[1:] != best_first[:-1]) | (sorted_worth[1:] != sorted_worth[:-1])
        group = np.empty_like(topic)
        group[by_worth] = np.cumsum(np.append(0, apart))[: len(topic)]
    # One number per document and run is sorted faster than two keys.
    last = int(rankings.rank.max(initial=0)) + 1
    order = np.argsort(group * (last + 1) + np.minimum(rank, last).astype(np.int64), axis=-1, kind="stable")
    start = np.searchsorted(topic, topic)  # where a topic's documents begin: it is sorted
    place = np.empty(rank.shape, np.int64)
    np.put_along_axis(place, order, np.arange(len(topic)) - start[order], axis=-1)
    return place


def at_place(weight: FloatArray, place: FloatArray | IntArray) -> FloatArray:
    """The weight at each place from 0; nothing beyond the last."""
    padded: FloatArray = np.append(weight, 0.0)
    return padded[np.minimum(place, len(weight)).astype(np.int64)]


def by_rank(rankings: Rankings, row: int, last: int, values: Any) -> Any:
    """Per rank to `last` of a row, the entry of `values` (one per label) of the document there; 0 if not judged."""
    first, end = np.searchsorted(rankings.row, [row, row + 1])
    rank, grade = rankings.rank[first:end], rankings.pool_grade[rankings.document[first:end]]
    shown = rank <= last
    column = np.zeros(last, np.asarray(values).dtype)
    column[rank[shown] - 1] = np.append(values, np.zeros(1, column.dtype))[grade[shown]]
    return column
