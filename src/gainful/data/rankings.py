"""Runs joined with qrels: the one structure every measure computes on."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful import _polars as pl
from gainful.data.policies import Policies
from gainful.results import Note

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Scalar = TypeVar("Scalar", np.float64, np.bool_)


def nameless() -> pl.Series:
    """No names at all, which measures do without."""
    return pl.Series(dtype=pl.String)


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Names that are made when somebody asks for them, or when they are sent elsewhere."""

    make: Callable[[], pl.Series]

    def __call__(self) -> pl.Series:
        """The names."""
        return self.make()

    def __reduce__(self) -> tuple[Any, ...]:
        return Names, (self().clone,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListedDocuments:
    """The first documents of every ranking, judged or not, sorted by row then rank."""

    # Per document, its row and its 1-based rank.
    row: IntArray
    rank: IntArray
    doc_id: pl.Series  # its name
    document: IntArray  # its index in the pool; -1 if it is not in the pool

    def __len__(self) -> int:
        return len(self.row)

    def taken(self, at: IntArray, row: IntArray) -> ListedDocuments:
        """Some of them, with other rows."""
        return ListedDocuments(row=row, rank=self.rank[at], doc_id=self.doc_id.gather(at), document=self.document[at])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Rankings:
    """All rankings of all runs, reduced to the documents of the pool.

    A *row* is one (system, topic) pair, numbered ``system * n_topics + topic``. A *hit* is a returned document
    that is in its topic's pool. Documents outside the pool are not stored: they are gaps in the ranks.

    Parameters
    ----------
    systems, topics
        The names behind the row numbers.
    retrieved
        Per row, how many documents were returned.
    present
        Per row, whether the run has that topic at all.
    row, rank, document
        Per hit, sorted by row then rank: its row, its 1-based rank, its index in the pool.
    tie_first, tie_last
        Per hit, the first and last rank of the group of tied documents it may take any place of;
        both are `rank` unless ties are averaged.
    pool_topic, pool_grade
        Per pool document, sorted by topic: its topic, and the index of its label in `grades`;
        -1 stands for pooled but unjudged.
    grades
        The distinct labels of the qrels, ascending.
    ignored
        Per system, how many topics of the run are not in the qrels.
    policies
        Those that the runs were joined under.
    pool_docs
        Gives the names of the pool documents (`pool_doc`), which few ask for.
    pool_subtopics
        Pool documents × subtopics: the labels, NaN where there is none; None if the judgments know no subtopics. The
        grade of a document is the highest of them.
    pool_stratum, pool_inclusion
        Per pool document, the number of the stratum that it was sampled from, and the probability that it was to be
        judged; None if the judgments do not say.
    documents
        How many documents of each ranking are listed.
    listed
        These documents; None if there are none.
    parts
        Per system, the scores of all documents that were returned, judged or not, by topic then rank, in parts; None if
        they were not kept. `scores` has them in one.
    tied
        Per row, 1 if all its documents have the same score and 0 if not, NaN if there are fewer than two; None if that
        is not known.
    stranger
        Per system, one of its topics that are not in the qrels; None if it has none.
    failed
        What could not be read or joined, with the reason; only where that was to be left out.
    run_notes
        What was noticed when the runs were read.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    retrieved: IntArray
    present: BoolArray
    row: IntArray
    rank: IntArray
    document: IntArray
    tie_first: IntArray
    tie_last: IntArray
    pool_topic: IntArray
    pool_grade: IntArray
    grades: FloatArray
    ignored: tuple[int, ...]
    policies: Policies = field(default_factory=Policies)
    pool_docs: Callable[[], pl.Series] = nameless
    pool_subtopics: FloatArray | None = None
    pool_stratum: IntArray | None = None
    pool_inclusion: FloatArray | None = None
    documents: float = 0
    listed: ListedDocuments | None = None
    parts: tuple[tuple[FloatArray, ...], ...] | None = None
    tied: FloatArray | None = None
    stranger: tuple[str | None, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    run_notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        listed = f", the first {self.documents:g} documents listed" if self.listed is not None else ""
        return f"Rankings({len(self.systems)} runs × {len(self.topics)} topics, {len(self.row)} hits{listed})"

    @property
    def pool_doc(self) -> pl.Series:
        """Per pool document, its name."""
        return self.pool_docs()

    @property
    def scores(self) -> FloatArray | None:
        """Per document that was returned, judged or not, by row then rank: its score; None if they were not kept."""
        return None if self.parts is None else np.concatenate([np.zeros(0), *chain.from_iterable(self.parts)])

    @property
    def n_rows(self) -> int:
        """Number of (system, topic) pairs."""
        return len(self.systems) * len(self.topics)

    @property
    def grade(self) -> IntArray:
        """Per hit, the index of its label in `grades`; -1 for pooled but unjudged."""
        return self.pool_grade[self.document]

    def of_grade(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Per hit, the entry of `values` (one per grade); 0 or False where the document is not judged."""
        # Grade -1 reads the extra last entry: unjudged needs no branch. Pools are shorter than what runs find in them.
        return with_zero(values)[self.pool_grade][self.document]

    def relevant(self, rel: float) -> BoolArray:
        """Per hit, whether its label reaches `rel`."""
        return self.of_grade(self.grades >= rel)

    def sum(self, values: FloatArray | BoolArray, at: IntArray | None = None) -> FloatArray:
        """Per row, the sum of `values` (one per hit, or one each `at` these places) over its hits."""
        row = self.row if at is None else self.row[at]
        return np.bincount(row, weights=values, minlength=self.n_rows).astype(np.float64, copy=False)

    def weights(self, discount: FloatArray) -> FloatArray:
        """Per hit, the discount at its rank (index 0 is rank 1; 0 beyond the end), averaged over tied ranks."""
        if self.tie_first is self.rank:
            return with_zero(discount)[np.minimum(self.rank - 1, len(discount))]
        total: FloatArray = np.concatenate([np.zeros(1), np.cumsum(discount)])
        first = np.minimum(self.tie_first - 1, len(discount))
        last = np.minimum(self.tie_last, len(discount))
        return (total[last] - total[first]) / (self.tie_last - self.tie_first + 1)

    def pool_sum(self, values: NDArray[Scalar]) -> FloatArray:
        """Per row, the sum over its topic's pool of the entry of `values` (one per grade) of each judged document."""
        weights = with_zero(values)[self.pool_grade]
        per_topic = np.bincount(self.pool_topic, weights=weights, minlength=len(self.topics))
        return self.per_row(per_topic.astype(np.float64, copy=False))

    def per_row(self, per_topic: FloatArray) -> FloatArray:
        """One value per topic, repeated for every system."""
        return per_topic if len(self.systems) == 1 else np.tile(per_topic, len(self.systems))

    def grades_by_rank(self, depth: int) -> FloatArray:
        """Grades × ranks down to `depth`: the share of the rows that have a document of that grade at that rank."""
        seen = (self.grade >= 0) & (self.rank <= depth)
        cell = self.grade[seen] * depth + self.rank[seen] - 1
        counts = np.bincount(cell, minlength=len(self.grades) * depth).reshape(len(self.grades), depth)
        return counts / max(self.n_rows, 1)

    def first_hit(self) -> IntArray:
        """Per row, the number of its first hit, or of the one that would follow it."""
        return self.row.searchsorted(np.arange(self.n_rows))

    def count_before(self, chosen: BoolArray, at: IntArray | None = None) -> IntArray:
        """Per hit (of those `at` these places, if given), how many of the `chosen` hits of its row rank above it."""
        running = np.zeros(len(chosen) + 1, np.int64)
        chosen.cumsum(out=running[1:])
        above = running[self.first_hit()]  # per row, those of all rows before it
        return running[:-1] - above[self.row] if at is None else running[at] - above[self.row[at]]

    def place_among(self, at: IntArray) -> IntArray:
        """Per hit at these places, from 1, which of those of its row it is; they are in the order of the hits."""
        row = self.row[at]
        return np.arange(1, len(row) + 1) - row.searchsorted(np.arange(self.n_rows))[row]

    def with_hits(self, at: IntArray | BoolArray | slice) -> Rankings:
        """The same ranks with some of the hits only: the others become gaps."""
        rank = self.rank[at]
        untied = self.tie_first is self.rank
        return replace(
            self,
            row=self.row[at],
            rank=rank,
            document=self.document[at],
            tie_first=rank if untied else self.tie_first[at],
            tie_last=rank if untied else self.tie_last[at],
        )

    def only(self, systems: Collection[str]) -> Rankings:
        """The rankings of some systems, in the order that they have here."""
        kept = np.array([name in systems for name in self.systems], np.bool_)
        places, chosen = np.cumsum(kept) - 1, np.flatnonzero(kept)
        topics = len(self.topics)

        def rows(values: NDArray[Any]) -> NDArray[Any]:
            return values.reshape(-1, topics)[kept].ravel()

        def renumbered(row: IntArray) -> tuple[IntArray, IntArray]:
            ends = (np.searchsorted(row, (chosen + more) * topics) for more in (0, 1))
            parts = (np.arange(first, end) for first, end in zip(*ends, strict=True))
            mine = np.concatenate([np.zeros(0, np.int64), *parts])
            system, topic = np.divmod(row[mine], topics)
            return mine, places[system] * topics + topic

        mine, row = renumbered(self.row)
        return replace(
            self.with_hits(mine),
            systems=tuple(self.systems[at] for at in chosen),
            retrieved=rows(self.retrieved),
            present=rows(self.present),
            row=row,
            ignored=tuple(self.ignored[at] for at in chosen),
            listed=None if self.listed is None else self.listed.taken(*renumbered(self.listed.row)),
            parts=None if self.parts is None else tuple(self.parts[at] for at in chosen),
            tied=None if self.tied is None else rows(self.tied),
            stranger=tuple(self.stranger[at] for at in chosen) if self.stranger else (),
        )

    def condensed(self) -> Rankings:
        """The same rankings with unjudged documents removed before ranks are given."""
        kept = self.grade >= 0
        row, document = self.row[kept], self.document[kept]
        scores, parts = self.scores, None
        if scores is not None:
            begin = np.cumsum(self.retrieved) - self.retrieved
            ends = np.searchsorted(row, np.arange(1, len(self.systems)) * len(self.topics))
            parts = tuple((part,) for part in np.split(scores[begin[row] + self.rank[kept] - 1], ends))
        slim = replace(
            self,
            row=row,
            document=document,
            retrieved=np.bincount(row, minlength=self.n_rows),
            listed=None,
            parts=parts,
            policies=replace(self.policies, unjudged="condensed"),
        )
        rank = slim.place_among(np.arange(len(row)))
        if self.documents:
            first = np.flatnonzero(rank <= self.documents)
            names, at = self.pool_doc.gather(document[first]), document[first]
            listed = ListedDocuments(row=row[first], rank=rank[first], doc_id=names, document=at)
            slim = replace(slim, listed=listed)
        if self.tie_first is self.rank:
            return replace(slim, rank=rank, tie_first=rank, tie_last=rank)
        # A tied group keeps its members: its first and last rank are those of its first and last member left.
        start = np.diff(row, prepend=-1) != 0
        start |= np.diff(self.tie_first[kept], prepend=-1) != 0
        first = np.flatnonzero(start)
        size = np.diff(np.append(first, len(row)))
        return replace(
            slim, rank=rank, tie_first=np.repeat(rank[first], size), tie_last=np.repeat(rank[first] + size - 1, size)
        )


def with_zero(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """The values, and a 0 (or False) after them."""
    table = np.zeros(len(values) + 1, values.dtype)
    table[:-1] = values
    return table
