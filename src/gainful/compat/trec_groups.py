"""Judgments in groups, as trec_eval reads them: preferences (-R prefs, qrels_prefs) and several assessors (qrels_jg).

A group is what one assessor wanted at one time. In preferences, documents of a part (subgroup) of a group are compared
by their levels, of which 0 says not relevant; what is preferred to a document is preferred to what that is preferred to
in another part of the same group. In qrels_jg, a measure is the mean of what it is for the judgments of each group.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from gainful import _polars as pl
from gainful.data.pool import Judged, graded
from gainful.data.qrels import Qrels
from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings
from gainful.errors import DataError
from gainful.io.files import is_standard_input, load, standard_input
from gainful.io.text import QRELS, Layout, no_data, read_fields

GroupFormat = Literal["prefs", "qrels_prefs", "qrels_jg"]

_PREFERENCES = Layout(
    what="preferences",
    fields=("topic", "group", "part", "doc", "level"),
    columns=("query_id", "iteration", "part", "doc_id", "relevance"),
    value="relevance",
)
_LINE = ("query_id", "iteration", "part", "doc_id")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupedJudgments:
    """Judgments in groups; one entry per line of the file, sorted by topic, group and part."""

    where: str
    judged: Judged  # each document of a topic once, without a label: what runs are joined with
    name_order: IntArray  # per document of the pool, the place of its name among all, in the order of bytes
    topic: IntArray
    group: IntArray  # numbered from 0 within each topic
    part: IntArray
    document: IntArray  # of the pool
    level: FloatArray
    group_names: tuple[str, ...]  # per entry

    def rankings_of_groups(self, rankings: Rankings) -> list[Rankings]:
        """The rankings with the labels of each topic's first group, second group, and so on."""
        found = []
        grade, grades = graded(self.level, "unjudged")
        for number in range(int(self.group.max()) + 1):
            mine = self.group == number
            of_pool = np.full(len(rankings.pool_grade), -1, np.int64)
            of_pool[self.document[mine]] = grade[mine]
            found.append(replace(rankings, pool_grade=of_pool, grades=grades))
        return found

    def groups_per_topic(self) -> FloatArray:
        """How many groups each topic has."""
        last = np.zeros(len(self.judged.topics))
        np.maximum.at(last, self.topic, self.group)
        return last + 1.0


def read_groups(source: object, format: GroupFormat) -> GroupedJudgments:
    """Read judgments in groups from a file of text."""
    if not isinstance(source, str | os.PathLike):
        raise DataError(f"{format}: expected a file, got {type(source).__name__}")
    content = standard_input() if is_standard_input(source) else load(Path(source))
    if content.format not in ("text", None):
        raise DataError(f"{content.where}: expected text of {format}, got {content.format}")
    layout = _PREFERENCES if format == "prefs" else QRELS
    frame = read_fields(bytes(content.data), layout, content.where)
    if not frame.height:
        no_data(layout, content.where)
    if format != "prefs":
        frame = frame.with_columns(pl.lit("0").alias("part"))
    twice = frame.select(_LINE).filter(frame.select(_LINE).is_duplicated())
    if twice.height:
        topic, group, _, doc = twice.row(0)
        raise DataError(f"{content.where}: document {doc!r} is judged twice for topic {topic!r} in group {group!r}")
    if format != "qrels_jg" and (frame["relevance"] < 0).any():
        bad = frame.filter(pl.col("relevance") < 0).row(0, named=True)
        raise DataError(
            f"{content.where}: expected levels of at least 0 in preferences, got {bad['relevance']:g} for document "
            f"{bad['doc_id']!r} of topic {bad['query_id']!r}"
        )
    return _grouped(frame, content.where)


def _grouped(frame: pl.DataFrame, where: str) -> GroupedJudgments:
    once = frame.select("query_id", "doc_id").unique(maintain_order=True)
    judged = Judged(Qrels(once.with_columns(pl.lit(0.0).alias("relevance")), where), "error", "unjudged")
    topics = pl.DataFrame({"query_id": judged.topics, "topic": np.arange(len(judged.topics))})
    pool = pl.DataFrame({"topic": judged.topic, "doc_id": judged.doc}).with_row_index("document")
    frame = (
        frame.join(topics, on="query_id")
        .join(pool, on=["topic", "doc_id"])
        .with_columns(
            (pl.col("iteration").rank("dense").over("topic") - 1).alias("group"),
            pl.col("part").rank("dense").alias("part"),
        )
        .sort("topic", "group", "part")
    )
    name_order = np.empty(len(judged.topic), np.int64)
    name_order[judged.doc.arg_sort().to_numpy()] = np.arange(len(judged.topic))
    return GroupedJudgments(
        where=where,
        judged=judged,
        name_order=name_order,
        topic=frame["topic"].cast(pl.Int64).to_numpy(),
        group=frame["group"].cast(pl.Int64).to_numpy(),
        part=frame["part"].cast(pl.Int64).to_numpy(),
        document=frame["document"].cast(pl.Int64).to_numpy(),
        level=frame["relevance"].to_numpy(),
        group_names=tuple(frame["iteration"].to_list()),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """The preferences of a group: its documents as the run ranks them, those that it does not return at the end."""

    prefers: BoolArray  # [i, j]: document i is preferred to document j
    relevant: BoolArray
    returned: int
    whole: bool  # whether it has one part: then all documents of different levels are compared

    def counted(self, prefers: BoolArray, *, returned_only: bool = False) -> tuple[int, int]:
        """How many of these preferences the run fulfils, and how many there are."""
        size = self.returned
        inside = prefers[:size, :size]
        fulfilled = int(np.triu(inside, 1).sum())
        if returned_only:
            return fulfilled, int(inside.sum())
        return fulfilled + int(prefers[:size, size:].sum()), int(prefers.sum())

    def balanced(self, *, returned_only: bool) -> float:
        """The share of fulfilled preferences if as many documents are relevant as are not; NaN if there is none.

        Where there are too few that are not relevant, some are taken to follow behind all others; where there are too
        many, only the first are looked at.
        """
        among = self.returned if returned_only else len(self.relevant)
        relevant = int(self.relevant[:among].sum())
        more = relevant - (among - relevant)
        if more >= 0:
            fulfilled, possible = self.counted(self.prefers, returned_only=returned_only)
            fulfilled += int(self.relevant[: self.returned].sum()) * more
            possible += int(self.relevant.sum()) * more
        else:
            left = relevant if self.whole else int(self.relevant.sum())
            kept = self.relevant | (np.cumsum(~self.relevant) <= left)
            prefers = self.prefers & kept[:, None] & kept[None, :]
            if self.whole:  # trec_eval also compares every document that is not relevant with those it keeps of them
                prefers |= ~self.relevant[:, None] & (kept & ~self.relevant)[None, :]
            fulfilled, possible = self.counted(prefers, returned_only=returned_only)
        return fulfilled / possible if possible else np.nan


def preference_values(grouped: GroupedJudgments, rankings: Rankings) -> dict[str, FloatArray]:
    """Per measure of preferences, its values for the topics."""
    rank = np.full(len(rankings.pool_topic), np.iinfo(np.int64).max)
    rank[rankings.document] = rankings.rank
    order = np.lexsort((grouped.name_order, rank, rankings.pool_topic))
    size = np.bincount(rankings.pool_topic, minlength=rankings.n_rows)
    place = np.empty(len(order), np.int64)  # of each document among the judged ones of its topic
    place[order] = np.arange(len(order)) - (np.cumsum(size) - size)[rankings.pool_topic[order]]
    returned = np.bincount(rankings.row, minlength=rankings.n_rows)
    values: dict[str, list[float]] = {}
    for topic, found in _by_topic(grouped, place, returned):
        for name, value in _values_of_topic(found, int(size[topic]), int(returned[topic])).items():
            values.setdefault(name, []).append(value)
    return {name: np.array(column) for name, column in values.items()}


def _by_topic(
    grouped: GroupedJudgments, place: IntArray, returned: IntArray
) -> Iterator[tuple[int, list[tuple[IntArray, _Group]]]]:
    """Per topic, its groups, each with the places of its documents."""
    changes = np.flatnonzero((np.diff(grouped.topic, prepend=-1) != 0) | (np.diff(grouped.group, prepend=-1) != 0))
    groups: list[list[tuple[IntArray, _Group]]] = [[] for _ in grouped.judged.topics]
    for first, last in zip(changes.tolist(), [*changes[1:].tolist(), len(grouped.topic)], strict=True):
        lines = slice(first, last)
        topic = int(grouped.topic[first])
        places, at = np.unique(place[grouped.document[lines]], return_inverse=True)
        try:
            made = _group(at, grouped.level[lines], grouped.part[lines], int((places < returned[topic]).sum()))
        except ValueError as error:
            named = f"topic {grouped.judged.topics[topic]!r}, group {grouped.group_names[first]!r}"
            raise DataError(f"{grouped.where}: {named}: {error}", remedy="Correct the preferences.") from None
        groups[topic].append((places, made))
    yield from enumerate(groups)


def _group(at: IntArray, level: FloatArray, part: IntArray, returned: int) -> _Group:
    """The preferences of a group; ValueError says what is wrong with them."""
    size = int(at.max()) + 1
    prefers = np.zeros((size, size), np.bool_)
    parts = np.unique(part)
    for number in parts:
        mine = part == number
        prefers[np.ix_(at[mine], at[mine])] |= level[mine][:, None] > level[mine][None, :]
    relevant = np.zeros(size, np.bool_)
    relevant[at] = level > 0
    if (relevant[at] != (level > 0)).any():
        raise ValueError("a document has level 0 and another level")
    if len(parts) > 1:
        while True:  # what is preferred to what is preferred
            longer = prefers | (prefers.astype(np.float32) @ prefers.astype(np.float32) > 0)
            if (longer == prefers).all():
                break
            prefers = longer
        if (prefers & prefers.T).any():
            raise ValueError("a document is preferred to itself by way of others")
    return _Group(prefers=prefers, relevant=relevant, returned=returned, whole=len(parts) == 1)


def _values_of_topic(groups: list[tuple[IntArray, _Group]], size: int, returned: int) -> dict[str, float]:
    times = np.zeros((size, size), np.uint16)  # how many groups prefer one document to another
    kinds: dict[str, list[tuple[int, int]]] = {"": [], "_ret": [], "_imp": []}
    for places, group in groups:
        times[np.ix_(places, places)] += group.prefers
        seen = group.prefers.copy()
        seen[group.returned :, group.returned :] = False
        kinds[""].append(group.counted(group.prefers))
        kinds["_ret"].append(group.counted(group.prefers, returned_only=True))
        kinds["_imp"].append(group.counted(seen))
    found = {
        "prefs_num_prefs_poss": float(sum(possible for _, possible in kinds[""])),
        "prefs_num_prefs_ful": float(sum(fulfilled for fulfilled, _ in kinds[""])),
        "prefs_num_prefs_ful_ret": float(sum(fulfilled for fulfilled, _ in kinds["_ret"])),
    }
    for kind, counts in kinds.items():
        fulfilled, possible = (sum(numbers) for numbers in zip(*counts, strict=True))
        found[f"prefs_simp{kind}"] = fulfilled / possible if possible else 0.0
        found[f"prefs_avgjg{kind}"] = sum(some / all_ for some, all_ in counts if all_) / len(groups)
    for kind, returned_only in (("", False), ("_ret", True)):
        total = sum(group.balanced(returned_only=returned_only) for _, group in groups)
        found[f"prefs_avgjg_Rnonrel{kind}"] = total / len(groups) if total > 0 else 0.0
    up, down = np.triu(times, 1), np.tril(times, -1).T
    compared = (up > 0) | (down > 0)
    share = np.divide(up, up + down, out=np.zeros(up.shape), where=compared)
    for kind, rows, columns in (("", size, size), ("_ret", returned, returned), ("_imp", returned, size)):
        pairs = int(compared[:rows, :columns].sum())
        found[f"prefs_pair{kind}"] = float(share[:returned, :columns].sum() / pairs) if pairs else 0.0
    return found
