"""Which group each topic belongs to: from a mapping, a table of topics and groups, or a column of a table of scores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gainful.errors import DataError
from gainful.io.objects import is_table
from gainful.io.scores import read_table

# What the columns of a table of groups may be called.
_TOPIC = ("query_id", "qid", "topic", "topic_id", "query")


def read_groups(source: Any, scores: Any = None) -> dict[str, str]:
    """The group of each topic.

    `source` is a mapping, a file or frame with a column of topics and one of groups, or the name of a column of
    `scores`, which is a long table of scores or its file.
    """
    if isinstance(source, Mapping):
        return {str(topic): str(group) for topic, group in source.items()}
    if isinstance(source, str) and not os.path.exists(source) and _may_have_columns(scores):
        where, frame = read_table(scores)
        if source not in frame.columns:
            there = ", ".join(frame.columns)
            raise DataError(f"groups: no file {source!r}, and no such column in {where}, which has: {there}")
        return _groups(frame, source, where)
    where, frame = read_table(source)
    others = [name for name in frame.columns if name.casefold() not in _TOPIC]
    group = "group" if "group" in others else others[0] if len(others) == 1 else None
    if group is None:
        raise DataError(f"{where}: expected the columns topic and group, got {', '.join(frame.columns) or 'none'}")
    return _groups(frame, group, where)


def _may_have_columns(scores: Any) -> bool:
    return is_table(scores) or (isinstance(scores, str | os.PathLike) and os.path.isfile(scores))


def _groups(frame: Any, group: str, where: str) -> dict[str, str]:
    """The groups of a frame, each topic in one."""
    topic = next((name for name in frame.columns if name.casefold() in _TOPIC and name != group), None)
    if topic is None:
        raise DataError(f"{where}: expected a column topic or query_id, got {', '.join(frame.columns)}")
    found: dict[str, str] = {}
    for name, its in frame.select(topic, group).unique(maintain_order=True).rows():
        if name is None or its is None:
            raise DataError(f"{where}: expected a topic and its group in every row, got {name!r} and {its!r}")
        if str(name) in found:
            raise DataError(f"{where}: topic {name!r} is in two groups, {found[str(name)]!r} and {its!r}: keep one")
        found[str(name)] = str(its)
    return found
