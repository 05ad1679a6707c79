"""All that a run returned for the judged topics, and in which order a falling threshold lets it in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.data.match import first_ranks
from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings
from gainful.data.run import Run
from gainful.errors import DataError, setting


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredDocuments:
    """The documents of a run by topic and rank, and the thresholds that can be set on their scores.

    The *place* of a document is its rank by the score that filters.

    The i-th document *admitted* is the i-th by topic and place; its topic then shows the documents up to that place.
    Thresholds are numbered from 1, the highest first; number 0 keeps nothing, the last one everything.
    """

    rankings: Rankings  # the join of the run with the judgments: topics, pools, hits
    start: IntArray  # per topic, where its documents begin, and where those of the last end
    lengths: IntArray  # per topic, how many documents it has
    topic: IntArray  # per document, its topic
    # Per document, by rank: the rank, where nothing is filtered; its index in the pool, -1 if it is not there; the
    # index of its label, -1 if it has none; its place, from 1.
    rank: IntArray
    document: IntArray
    grade: IntArray
    place: IntArray
    admitted: IntArray  # documents (by rank) in the order of topic and place
    step: IntArray  # per admitted document: the number of the first threshold that keeps it
    ends: IntArray  # admitted documents after which a topic can stop: those with equal scores come and go together
    thresholds: FloatArray  # the distinct scores, descending: the lowest raw score where several count as one
    admits: IntArray  # per threshold, from 0: how many documents come in with it, of all that the run returned
    one_score: bool  # whether documents are admitted in the order of their ranks, so that ranks never change

    def threshold(self, number: IntArray) -> FloatArray:
        """The score that keeps what threshold `number` keeps: inf for nothing, -inf for everything."""
        every = np.concatenate([[np.inf], self.thresholds[:-1], [-np.inf]])
        return np.asarray(every[number], np.float64)

    @property
    def key(self) -> IntArray:
        """Per admitted document, its topic and step as one number, ascending."""
        return self.topic * (len(self.thresholds) + 1) + self.step

    def narrowed(self, numbers: IntArray, present: BoolArray, key: IntArray) -> IntArray:
        """The thresholds as somebody who has only some of the topics, those `present` in its row, would give them.

        The last threshold up to each number that lets in a document of those topics; the last of all if all of their
        documents are kept. `key` is the property of this name, computed once.
        """
        size, topics = len(self.thresholds), len(self.start) - 1
        ends = np.searchsorted(key, np.arange(topics) * (size + 1) + numbers[:, None], side="right")
        last = np.where(present & (ends > self.start[:-1]), self.step[ends - 1], 0).max(axis=1)
        everything = (~present | (ends == self.start[1:])).all(axis=1)
        return np.where(everything, size, last)

    def kept(self) -> IntArray:
        """Per threshold, from 0: how many documents it keeps."""
        return np.cumsum(self.admits)


def scored_documents(rankings: Rankings, filter_run: Run | None, depth: int | None = None) -> ScoredDocuments:
    """The documents of the one run of rankings that know all scores; a filter run has the scores that filter.

    With a `depth`, those beyond it that are not in the pool are left out: nothing that looks no deeper changes with
    them, as long as documents are admitted in the order of their ranks.
    """
    (run,), raw = rankings.systems, rankings.scores
    if raw is None or not rankings.present.any():
        raise DataError(f"run {run!r}: expected documents for judged topics, got none")
    if not len(raw):
        raise DataError(f"run {run!r}: expected judged documents, got none; use {setting('unjudged', 'zero')}")
    start = np.append(0, np.cumsum(rankings.retrieved))
    at = np.arange(len(raw))
    hit = start[rankings.row] + rankings.rank - 1
    if depth is not None:
        row, rank = first_ranks(np.arange(len(rankings.topics)), rankings.retrieved, depth)
        matter = np.zeros(len(raw), np.bool_)
        matter[hit] = matter[start[row] + rank - 1] = True
        at = np.flatnonzero(matter)
    topic = np.searchsorted(start, at, side="right") - 1
    rank = at - start[topic] + 1
    start = np.searchsorted(topic, np.arange(len(start)))
    document = np.full(len(at), -1)
    document[np.searchsorted(at, hit)] = rankings.document
    if filter_run is None:
        # As joined, so that ranks agree: trec_eval's scores are float32.
        kind = np.float32 if rankings.policies.ties == "trec" else np.float64
    else:
        if rankings.listed is None:
            raise ValueError("expected rankings that list their documents")
        names = pl.Series(rankings.topics, dtype=pl.String).gather(topic)
        every = pl.DataFrame({"query_id": names, "doc_id": rankings.listed.doc_id})
        raw, kind = filter_scores(every, run, filter_run), np.float64
    thresholds, admits, step = _steps(raw, kind, at)
    admitted, place = np.arange(len(rank)), rank
    if filter_run is not None:
        admitted = np.argsort(topic * (len(thresholds) + 1) + step, kind="stable")
        place = np.empty_like(rank)
        place[admitted] = rank
    step = step[admitted]
    last = np.append(step[1:] != step[:-1], True)
    last[start[1:][np.diff(start) > 0] - 1] = True
    return ScoredDocuments(
        rankings=rankings,
        start=start,
        lengths=np.diff(start),
        topic=topic,
        rank=rank,
        document=document,
        grade=np.append(rankings.pool_grade, -1)[document],
        place=place,
        admitted=admitted,
        step=step,
        ends=np.flatnonzero(last),
        thresholds=thresholds,
        admits=admits,
        one_score=filter_run is None,
    )


def _steps(raw: FloatArray, kind: type[np.floating[Any]], at: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """The distinct scores as numbers of this kind, descending; how many documents have each; where each of `at` is."""
    with np.errstate(over="ignore"):
        if len(at) < len(raw):  # sorting alone, and looking up some, is faster than knowing the place of all
            ascending = np.sort(raw)
            counted = ascending.astype(kind)
            first = np.flatnonzero(np.append(True, counted[1:] != counted[:-1]))
            step = len(first) - np.searchsorted(counted[first], raw[at].astype(kind))
        else:
            order = np.argsort(raw)
            ascending = raw[order]
            counted = ascending.astype(kind)
            group = np.append(0, counted[1:] != counted[:-1])
            first = np.append(0, np.flatnonzero(group))
            step = np.empty(len(raw), np.int64)
            step[order] = len(first) - np.cumsum(group)
    return ascending[first][::-1], np.append(0, np.diff(first, append=len(raw))[::-1]), step


def filter_scores(frame: pl.DataFrame, name: str, filter_run: Run) -> FloatArray:
    """The score in `filter_run` of every row of another run's frame; refused where one is missing or given twice."""
    given = filter_run.frame.select("query_id", "doc_id", pl.col("score").alias("filter"))
    pair = ["query_id", "doc_id"]
    scores = frame.select(pair).join(given, on=pair, how="left", maintain_order="left")
    if scores.height > frame.height:
        twice = scores.filter(pl.struct(pair).is_duplicated()).row(0, named=True)
        raise DataError(
            f"filter run {filter_run.name!r}: document {twice['doc_id']!r} appears twice in topic "
            f"{twice['query_id']!r}: remove one"
        )
    absent = scores["filter"].is_null()
    if absent.any():
        row = scores.row(absent.arg_max() or 0, named=True)
        raise DataError(
            f"filter run {filter_run.name!r}: expected a score for every document of run {name!r}, got none for "
            f"{row['doc_id']!r} in topic {row['query_id']!r} ({absent.sum()} of {frame.height} are missing): add them, "
            "or take those documents out of the run"
        )
    return scores["filter"].to_numpy()
