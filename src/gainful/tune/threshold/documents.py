"""All that a run returned for the judged topics, and in which order a falling threshold lets it in."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.data.pool import runs_of_equal, topic_numbers
from gainful.data.qrels import Qrels
from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings
from gainful.data.run import Run
from gainful.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredDocuments:
    """The documents of a run by topic and rank, and the thresholds that can be set on their scores.

    The *place* of a document is its rank by the score that filters.

    The i-th document *admitted* is the i-th by topic and place; its topic then shows the documents up to that place.
    Thresholds are numbered from 1, the highest first; number 0 keeps nothing, the last one everything.

    Parameters
    ----------
    rankings
        The join of the run with the judgments: topics, pools, hits.
    start
        Per topic, where its documents begin, and where those of the last end.
    document
        Per document, by rank: its index in the pool, -1 if it is not there.
    place
        Per document, by rank: its place, from 1.
    admitted
        Documents (by rank) in the order of topic and place.
    step
        Per admitted document: the number of the first threshold that keeps it.
    thresholds
        The distinct scores, descending: the lowest raw score where several count as one.
    one_score
        Whether documents are admitted in the order of their ranks, so that ranks never change.
    """

    rankings: Rankings
    start: IntArray
    document: IntArray
    place: IntArray
    admitted: IntArray
    step: IntArray
    thresholds: FloatArray
    one_score: bool

    @property
    def lengths(self) -> IntArray:
        """Per topic, how many documents it has."""
        return np.diff(self.start)

    @property
    def topic(self) -> IntArray:
        """Per document, its topic."""
        return np.repeat(np.arange(len(self.start) - 1), self.lengths)

    @property
    def rank(self) -> IntArray:
        """Per document, its rank where nothing is filtered."""
        return np.arange(self.start[-1]) - np.repeat(self.start[:-1], self.lengths) + 1

    @property
    def grade(self) -> IntArray:
        """Per document, the index of its label; -1 where it is not judged."""
        return np.append(self.rankings.pool_grade, -1)[self.document]

    @property
    def ends(self) -> IntArray:
        """Admitted documents after which a topic can stop: those with equal scores come and go together."""
        last = np.append(self.step[1:] != self.step[:-1], True)
        last[self.start[1:][self.lengths > 0] - 1] = True
        return np.flatnonzero(last)

    def threshold(self, number: IntArray) -> FloatArray:
        """The score that keeps what threshold `number` keeps: inf for nothing, -inf for everything."""
        every = np.concatenate([[np.inf], self.thresholds[:-1], [-np.inf]])
        return np.asarray(every[number], np.float64)

    @property
    def key(self) -> IntArray:
        """Per admitted document, its topic and step as one number, ascending."""
        return self.topic * (len(self.thresholds) + 1) + self.step

    def narrowed(self, numbers: IntArray, present: BoolArray, key: IntArray) -> IntArray:
        """The thresholds as somebody who has only some of the topics would give them.

        Parameters
        ----------
        numbers
            Thresholds.
        present
            One row per threshold: the topics that there are.
        key
            The property of this name, computed once.

        Returns
        -------
        IntArray
            The last threshold up to each number that lets in a document of those topics; the last of all if all of
            their documents are kept.
        """
        size, topics = len(self.thresholds), len(self.start) - 1
        ends = np.searchsorted(key, np.arange(topics) * (size + 1) + numbers[:, None], side="right")
        last = np.where(present & (ends > self.start[:-1]), self.step[ends - 1], 0).max(axis=1)
        everything = (~present | (ends == self.start[1:])).all(axis=1)
        return np.where(everything, size, last)

    def kept(self) -> IntArray:
        """Per threshold, from 0: how many documents it keeps."""
        return np.cumsum(np.bincount(self.step, minlength=len(self.thresholds) + 1))


def scored_documents(qrels: Qrels, run: Run, filter_run: Run | None, policies: Policies) -> ScoredDocuments:
    """Join a run with judgments, unjudged documents and scores included.

    Parameters
    ----------
    qrels, run
        What to join.
    filter_run
        The scores that filter; those of `run` if None.
    policies
        All but `degenerate` are honoured here.
    """
    rankings = align(qrels, [run], replace(policies, unjudged="zero"))
    if not rankings.retrieved.any():
        raise DataError(f"run {run.name!r}: expected documents for topics of qrels {qrels.name!r}, got none of them")
    frame, topic = _judged(run, rankings, policies)
    # As aligned, so that ranks agree: trec_eval's scores are float32, and ids break its ties.
    trec = policies.ties == "trec"
    with np.errstate(over="ignore"):
        score = frame["score"].to_numpy().astype(np.float32 if trec else np.float64)
    by_id = trec and filter_run is not None
    keys = {"topic": pl.Series(topic), "score": pl.Series(score), **({"doc": frame["doc_id"]} if by_id else {})}
    falls = [False, True, True][: len(keys)]
    by = pl.arg_sort_by(*keys, descending=falls, maintain_order=True).cast(pl.Int64)
    order = pl.DataFrame(keys).select(by).to_series().to_numpy()
    start = np.concatenate([[0], np.cumsum(np.bincount(topic, minlength=len(rankings.topics)))])
    document = np.full(len(order), -1, np.int64)
    document[start[rankings.row] + rankings.rank - 1] = rankings.document
    if filter_run is None:
        filters, raw = score[order].astype(np.float64), frame["score"].to_numpy()[order]
    else:
        raw = filters = filter_scores(frame, run.name, filter_run)[order]
    if policies.unjudged == "condensed":
        kept = np.append(rankings.pool_grade, -1)[document] >= 0
        topic = topic[order][kept]
        document, filters, raw = document[kept], filters[kept], raw[kept]
        start = np.concatenate([[0], np.cumsum(np.bincount(topic, minlength=len(rankings.topics)))])
        rankings = rankings.condensed()
        if not len(document):
            raise DataError(f"run {run.name!r}: expected judged documents, got none; use unjudged='zero'")
    return _ordered(rankings, start, document, filters, raw, one_score=filter_run is None)


def _ordered(
    rankings: Rankings, start: IntArray, document: IntArray, filters: FloatArray, raw: FloatArray, *, one_score: bool
) -> ScoredDocuments:
    topic = np.repeat(np.arange(len(start) - 1), np.diff(start))
    number = np.arange(len(document))
    rank = number - start[topic] + 1
    distinct, group = np.unique(filters, return_inverse=True)
    lowest = np.full(len(distinct), np.inf)
    np.minimum.at(lowest, group, raw)
    step = len(distinct) - group
    admitted, place = number, rank
    if not one_score:
        admitted = np.argsort(topic * (len(distinct) + 1) + step, kind="stable")
        place = np.empty_like(number)
        place[admitted] = rank
    return ScoredDocuments(
        rankings=rankings,
        start=start,
        document=document,
        place=place,
        admitted=admitted,
        step=step[admitted],
        thresholds=lowest[::-1],
        one_score=one_score,
    )


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


def _judged(run: Run, rankings: Rankings, policies: Policies) -> tuple[pl.DataFrame, IntArray]:
    """The rows of a run that belong to judged topics, each document once, and their topics."""
    codes = pl.DataFrame({"query_id": list(rankings.topics), "topic": np.arange(len(rankings.topics))})
    values, start = runs_of_equal(run.frame["query_id"])
    topic = np.repeat(topic_numbers(values, codes), np.diff(start))
    frame = run.frame
    chosen: BoolArray = topic >= 0
    if policies.duplicates == "first" and chosen.sum() > rankings.retrieved.sum():
        chosen &= frame.select(pl.struct("query_id", "doc_id").is_first_distinct()).to_series().to_numpy()
    if not chosen.all():
        frame, topic = frame.filter(pl.Series(chosen)), topic[chosen]
    return frame, topic
