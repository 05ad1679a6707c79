"""Rankings of people who hold arrays: labels and scores, queries × documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.data.policies import Ties
from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings
from gainful.errors import DataError, PolicyError


def rankings_from_arrays(labels: Any, scores: Any = None, mask: Any = None, *, ties: Ties = "order") -> Rankings:
    """Rankings of one system from (queries × documents) arrays or ragged lists; parameters as for `score`."""
    if ties not in ("order", "expected"):
        raise PolicyError(
            f"The 'ties' policy of arrays, which have no document ids, must be order or expected, got {ties!r} instead."
        )
    label, there = _padded(labels, "labels")
    if mask is not None:
        given, inside = _padded(mask, "mask")
        _same_shape(label, there, given, inside, "mask")
        there = there & (given != 0)
    if np.isinf(label[there]).any():
        raise DataError("labels: expected finite numbers, or NaN for unjudged, got inf")
    if scores is None:
        score = np.broadcast_to(-np.arange(label.shape[1], dtype=np.float64), label.shape)
    else:
        score, inside = _padded(scores, "scores")
        _same_shape(label, _padded(labels, "labels")[1], score, inside, "scores")
    bad = there & (np.isnan(score) | (score == np.inf))
    if bad.any():
        query, document = np.argwhere(bad)[0]
        raise DataError(
            f"scores: expected a number (-inf for 'not returned') for query {query}, document {document}, "
            f"got {score[query, document]}"
        )
    return _rank(label, np.where(there, score, -np.inf), there, ties)


def _rank(label: FloatArray, score: FloatArray, there: BoolArray, ties: Ties) -> Rankings:
    queries, width = label.shape
    order = np.argsort(-score, axis=1, kind="stable")
    ranked = np.take_along_axis(score, order, axis=1)
    returned = ranked > -np.inf
    pooled = there & ~np.isnan(label)
    number = np.cumsum(pooled.ravel()) - 1  # index in the pool, where pooled
    grades, grade = np.unique(label[pooled], return_inverse=True)
    hit = np.take_along_axis(pooled, order, axis=1) & returned
    row, place = np.nonzero(hit)
    document = number.reshape(label.shape)[row, order[row, place]] if width else np.zeros(0, np.int64)
    rank = place + 1
    first, last = (rank, rank) if ties == "order" else _tied(ranked, row, place)
    return Rankings(
        systems=("scores",),
        topics=tuple(str(query) for query in range(queries)),
        retrieved=returned.sum(axis=1),
        present=np.ones(queries, np.bool_),
        row=row,
        rank=rank,
        document=document,
        tie_first=first,
        tie_last=last,
        pool_topic=np.nonzero(pooled)[0],
        pool_grade=grade.astype(np.int64),
        grades=grades,
        ignored=(0,),
    )


def _tied(ranked: FloatArray, row: IntArray, place: IntArray) -> tuple[IntArray, IntArray]:
    """Per hit, the first and last rank of its group of equal scores."""
    queries, width = ranked.shape
    index = np.broadcast_to(np.arange(width), ranked.shape)
    begins = np.ones((queries, width), np.bool_)
    begins[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    first = np.maximum.accumulate(np.where(begins, index, 0), axis=1)
    ends = np.ones((queries, width), np.bool_)
    ends[:, :-1] = begins[:, 1:]
    last = np.minimum.accumulate(np.where(ends, index, width)[:, ::-1], axis=1)[:, ::-1]
    return first[row, place] + 1, last[row, place] + 1


def _padded(values: Any, name: str) -> tuple[FloatArray, BoolArray]:
    """A 2-D array and which of its cells were given."""
    try:
        array: NDArray[Any] = np.asarray(values)
    except ValueError:  # ragged
        array = np.asarray(None)
    if array.dtype.kind in "biuf" and array.ndim in (1, 2):
        block = np.atleast_2d(array).astype(np.float64)
        return block, np.ones(block.shape, np.bool_)
    if array.dtype.kind in "biuf":
        raise DataError(f"{name}: expected queries × documents, got an array of {array.ndim} dimensions")
    try:
        lists = [np.asarray(row, dtype=np.float64) for row in values]
    except (TypeError, ValueError):
        raise DataError(f"{name}: expected numbers, queries × documents, got {type(values).__name__}") from None
    if any(row.ndim != 1 for row in lists):
        raise DataError(f"{name}: expected one list of numbers per query")
    lengths = np.array([len(row) for row in lists], dtype=np.int64)
    there = np.arange(lengths.max(initial=0)) < lengths[:, None]
    block = np.full(there.shape, np.nan)
    block[there] = np.concatenate(lists) if len(lists) else np.zeros(0)
    return block, there


def _same_shape(label: FloatArray, there: BoolArray, other: FloatArray, inside: BoolArray, name: str) -> None:
    if label.shape != other.shape or not np.array_equal(there, inside):
        raise DataError(f"{name}: expected the shape of labels, {_shape(label, there)}, got {_shape(other, inside)}")


def _shape(block: FloatArray, there: BoolArray) -> str:
    return f"{block.shape[0]} × {block.shape[1]}" + ("" if there.all() else " (ragged)")
