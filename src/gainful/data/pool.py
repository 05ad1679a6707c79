"""The pool: the qrels by topic, with a hash table in which whole runs are looked up at once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from gainful import _polars as pl
from gainful._core import native
from gainful.data.columns import SAMPLE
from gainful.data.policies import Duplicates
from gainful.data.qrels import Qrels, RawQrels
from gainful.data.rankings import BoolArray, FloatArray, IntArray
from gainful.data.run import after_mark
from gainful.errors import DataError, DuplicateError

if TYPE_CHECKING:
    from gainful._core.native import Index as CoreIndex

# What a negative label says: that a document is forbidden, or that it was pooled and not judged, as trec_eval takes it.
Negatives = Literal["forbidden", "unjudged"]

# What the core takes for a number besides float and int, and for a dict besides dict.
NUMBERS = (np.float64, np.float32, np.int64, np.int32)
MAPPINGS = (defaultdict,)

_SEED = 0x67A1
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that different topics never give the same key for one document


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A hash table from keys to pool documents, looked up for a whole run at once.

    A general join would build its table anew for every run and costs three times as much.
    """

    key: NDArray[np.uint64]  # sorted by slot
    document: IntArray
    first: NDArray[np.int32]  # per slot, where its keys begin in `key`; -1 if it has none

    @classmethod
    def build(cls, key: NDArray[np.uint64]) -> Index:
        """Index the keys of the pool, about 8 slots per key so that most lookups end at once."""
        slots = 1 << min(max(8 * len(key), 2).bit_length(), 24)
        slot = (key & np.uint64(slots - 1)).view(np.int64)
        document = np.argsort(slot)
        slot = slot[document]
        first = np.full(slots, -1, np.int32)
        begins = np.flatnonzero(np.diff(slot, prepend=-1))
        first[slot[begins]] = begins
        # The complement of the last key belongs to another slot: a search along the last slot ends there.
        return cls(np.append(key[document], ~key[document[-1:]]), document, first)

    def find(self, key: NDArray[np.uint64]) -> tuple[IntArray, IntArray]:
        """Positions in `key` that a pool document shares, ascending, and one such document each."""
        mask = np.uint64(len(self.first) - 1)
        at = self.first[(key & mask).view(np.int64)]
        position = np.flatnonzero(at >= 0)
        at, wanted = at[position], key[position]
        search = np.flatnonzero(self.key[at] != wanted)
        while len(search):
            at[search] += 1
            candidate, sought = self.key[at[search]], wanted[search]
            ended = ((candidate ^ sought) & mask) != 0
            at[search[ended]] = -1
            search = search[~ended & (candidate != sought)]
        found = at >= 0
        return position[found], self.document[at[found]]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The qrels, sorted by topic, with the keys that runs are matched against."""

    topics: tuple[str, ...]
    topic: IntArray
    doc: pl.Series
    grade: IntArray
    grades: FloatArray
    index: Index
    codes: pl.DataFrame  # query_id, topic
    subtopics: FloatArray | None = None  # documents × subtopics: the labels, NaN where there is none
    # Of judgments of a sample: per document the number of its stratum, and the probability of being judged.
    stratum: IntArray | None = None
    inclusion: FloatArray | None = None

    def find(
        self, doc: pl.Series, topic: IntArray, lengths: IntArray, key: NDArray[np.uint64]
    ) -> tuple[IntArray, IntArray]:
        """The rows of a run whose document is in the pool, ascending, and its number there."""
        position, document = self.index.find(key)
        different = np.flatnonzero((doc.gather(position) != self.doc.gather(document)).to_numpy())
        if not len(different):
            return position, document
        # Equal hashes of different documents, once in a blue moon: look those up by name.
        names = pl.DataFrame({"topic": self.topic, "doc": self.doc}).with_row_index("document")
        asked = pl.DataFrame(
            {"topic": np.repeat(topic, lengths)[position[different]], "doc": doc.gather(position[different])}
        )
        joined = asked.join(names, on=["topic", "doc"], how="left", maintain_order="left")["document"]
        document[different] = joined.cast(pl.Int64).fill_null(-1).to_numpy()
        return position[document >= 0], document[document >= 0]


class Judged:
    """The judgments as every join knows them; and what each kind of join needs besides, made when one asks for it."""

    topics: tuple[str, ...]
    topic: IntArray  # per document of the pool, as are the grades
    grade: IntArray
    grades: FloatArray
    # Of judgments by subtopic, and of a sample, which the core does not read.
    subtopics: FloatArray | None = None
    stratum: IntArray | None = None
    inclusion: FloatArray | None = None

    def __init__(self, qrels: Qrels | RawQrels, duplicates: Duplicates, negatives: Negatives = "forbidden") -> None:
        self._qrels, self._duplicates, self._negatives = qrels, duplicates, negatives
        self._core = _core_index(qrels, duplicates) if isinstance(qrels, RawQrels) else None
        if self._core is None:
            pool = self.pool
            self.topics, self.topic, self.grade, self.grades = pool.topics, pool.topic, pool.grade, pool.grades
            self.subtopics, self.stratum, self.inclusion = pool.subtopics, pool.stratum, pool.inclusion
        else:
            self.topics, self.topic = self._core.topics, np.frombuffer(self._core.topic(), np.int64)
            self.grade, self.grades = graded(np.frombuffer(self._core.label()), negatives)

    def __reduce__(self) -> tuple[type[Judged], tuple[Qrels, Duplicates, Negatives]]:
        """Sent to a worker, the judgments are indexed there once, not for each piece of work."""
        qrels = self._qrels.read() if isinstance(self._qrels, RawQrels) else self._qrels
        return Judged, (qrels, self._duplicates, self._negatives)

    @cached_property
    def pool(self) -> Pool:
        """For runs that are frames."""
        qrels = self._qrels.read() if isinstance(self._qrels, RawQrels) else self._qrels
        return make_pool(qrels, self._duplicates, self._negatives)

    @cached_property
    def core(self) -> CoreIndex | None:
        """For runs that the compiled core reads; None if there is no core."""
        if self._core is not None or native is None:
            return self._core
        doc = self.pool.doc
        lengths = doc.str.len_bytes().cast(pl.Int64).to_numpy()
        return native.index_columns(self.topics, self.topic, doc.str.join("").item().encode(), lengths)

    @cached_property
    def doc(self) -> pl.Series:
        """The names of the documents."""
        return self.pool.doc if self._core is None else pl.Series(self._core.ids(), dtype=pl.String)


def _core_index(qrels: RawQrels, duplicates: Duplicates) -> CoreIndex | None:
    """The index of judgments as they were given; None if they are not for the core, or something is wrong with them."""
    if native is None:
        return None
    found: CoreIndex | None
    if isinstance(qrels.raw, dict):
        found = native.index_dict(qrels.raw, NUMBERS, MAPPINGS)
    else:
        found = native.index_text(after_mark(qrels.raw), duplicates == "first")
    return found


def graded(label: FloatArray, negatives: Negatives) -> tuple[IntArray, FloatArray]:
    """Per document, the place of its label among all that there are, and these; -1 for one that is not judged."""
    known = ~np.isnan(label) if negatives == "forbidden" else label >= 0.0
    grades = np.sort(label[known])  # not np.unique, which imports all of numpy.ma
    new = np.ones(len(grades), np.bool_)
    new[1:] = grades[1:] != grades[:-1]
    grades = grades[new]
    grade = np.searchsorted(grades, label)
    grade[~known] = -1
    return grade, grades


def make_pool(qrels: Qrels, duplicates: Duplicates, negatives: Negatives = "forbidden") -> Pool:
    """Sort the qrels by topic and index them."""
    frame = qrels.frame
    if not frame.height:
        raise DataError(f"qrels {qrels.name!r}: expected judgments, got none")
    frame, labels = by_subtopic(frame, duplicates, qrels.name)
    values, start = runs_of_equal(frame["query_id"])
    topics = values.unique(maintain_order=True)
    codes = pl.DataFrame({"query_id": topics, "topic": np.arange(len(topics))})
    topic = np.repeat(topic_numbers(values, codes), np.diff(start))
    if len(values) > len(topics):
        order = np.argsort(topic, kind="stable")
        frame, topic = frame[order], topic[order]
    key = keys(frame["doc_id"], topic)
    repeated = repeated_rows(key, frame["doc_id"], topic)
    if len(repeated):
        if duplicates == "error":
            row = frame.row(int(repeated[0]), named=True)
            raise DuplicateError(
                f"qrels {qrels.name!r}: document {row['doc_id']!r} is judged twice for topic {row['query_id']!r}"
            )
        once = np.setdiff1d(np.arange(frame.height), repeated)
        frame, topic, key = frame[once], topic[once], key[once]
    grade, grades = graded(frame["relevance"].fill_null(np.nan).to_numpy(), negatives)
    return Pool(
        topics=tuple(topics.to_list()),
        topic=topic,
        doc=frame["doc_id"].rechunk(),
        grade=grade,
        grades=grades,
        index=Index.build(key),
        codes=codes,
        subtopics=None if labels is None else labels[frame["document"].to_numpy()],
        stratum=frame["stratum"].rank("dense").to_numpy().astype(np.int64) - 1 if "stratum" in frame.columns else None,
        inclusion=frame["inclusion"].to_numpy() if "inclusion" in frame.columns else None,
    )


def by_subtopic(frame: pl.DataFrame, duplicates: Duplicates, name: str) -> tuple[pl.DataFrame, FloatArray | None]:
    """Each document once, with its highest label and its number; and the labels by number and subtopic.

    Subtopics are the iterations of judgments that have several in one topic; other judgments are left as they are.
    """
    if "iteration" not in frame.columns or any(column in frame.columns for column in SAMPLE):
        return frame, None
    number = frame.select((pl.col("iteration").fill_null("0").rank("dense").over("query_id") - 1).cast(pl.Int64))
    subtopic = number["iteration"]
    if not subtopic.max():
        return frame, None
    frame = frame.with_columns(subtopic.alias("subtopic"))
    line = ("query_id", "doc_id", "subtopic")
    again = frame.select(line).is_duplicated()
    if again.any():
        if duplicates == "error":
            row = frame.row(again.arg_max() or 0, named=True)
            where = f"topic {row['query_id']!r} and subtopic {row['iteration']!r}"
            raise DuplicateError(f"qrels {name!r}: document {row['doc_id']!r} is judged twice for {where}")
        frame = frame.unique(line, keep="first", maintain_order=True)
    once = frame.group_by("query_id", "doc_id", maintain_order=True).agg(pl.col("relevance").max())
    once = once.with_row_index("document")
    at = frame.join(once.select("query_id", "doc_id", "document"), on=["query_id", "doc_id"], maintain_order="left")
    labels = np.full((once.height, int(subtopic.max()) + 1), np.nan)  # type: ignore[arg-type]
    labels[at["document"].to_numpy(), at["subtopic"].to_numpy()] = at["relevance"].fill_null(np.nan).to_numpy()
    return once.select("query_id", "doc_id", "relevance", "document"), labels


def runs_of_equal(ids: pl.Series) -> tuple[pl.Series, IntArray]:
    """The values of consecutive equal ids, and where each begins (with the end of the last)."""
    runs = ids.rle().struct.unnest()
    start = np.zeros(runs.height + 1, np.int64)
    np.cumsum(runs["len"].to_numpy(), out=start[1:])
    return runs["value"], start


def topic_numbers(values: pl.Series, codes: pl.DataFrame) -> IntArray:
    """The topic number of each id; -1 for topics without judgments."""
    joined = values.to_frame("query_id").join(codes, on="query_id", how="left", maintain_order="left")
    return np.asarray(joined["topic"].fill_null(-1).to_numpy(), dtype=np.int64)


def keys(doc: pl.Series, topic: IntArray, lengths: IntArray | int = 1) -> NDArray[np.uint64]:
    """A 64-bit hash of each (topic, document), different for one document in different topics.

    Topic i is that of `lengths[i]` consecutive documents.
    """
    key: NDArray[np.uint64] = np.repeat(topic.astype(np.uint64) * _MIX, lengths)
    key ^= doc.hash(seed=_SEED).to_numpy()
    return key


def repeated_rows(key: NDArray[np.uint64], doc: pl.Series, topic: IntArray, lengths: IntArray | int = 1) -> IntArray:
    """Rows whose (topic, document) stood in an earlier row; arguments as for `keys`, which gave `key`."""
    ordered = np.sort(key)
    suspects = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(suspects):
        return np.zeros(0, np.int64)
    rows = np.flatnonzero(np.isin(key, suspects))
    pairs = pl.DataFrame({"topic": np.repeat(topic, lengths)[rows], "doc": doc.gather(rows)})
    again: BoolArray = (~pairs.to_struct().is_first_distinct()).to_numpy()
    return rows[again]
