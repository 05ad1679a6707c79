"""A rank column that contradicts the scores: columns that are swapped, or scores of which a lower one is better.

Documents are ranked by score, so such a run would be scored as the opposite of what was meant, and nobody would know.
Only the first lines are looked at: of many small runs, some hundredths of the time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import eq
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.data.rankings import FloatArray
from gainful.io.text import BOM, shorten
from gainful.results import Note

# How much of a run is looked at: bytes of text, rows of a table.
LOOKED_AT = 1 << 12
ROWS = 100

_NUMBER = re.compile(rb"[+-]?\d+\.?\d*")
_RANKED = "Documents are ranked by score, the highest first, and the rank column is not used."


def rank_notes(name: str, frame: pl.DataFrame | None, text: bytes = b"") -> tuple[Note, ...]:
    """What there is to say about the ranks of a run; nothing where they agree with the scores, or are all the same.

    The frame and the TREC text hold its first rows, or all; the text is looked at if the frame has no ranks.
    """
    rows: list[tuple[Any, ...]] = []  # topic, rank, score, and document or line
    if frame is not None and "rank" in frame.columns:
        rows = frame.head(ROWS).select("query_id", "rank", "score", "doc_id").rows()

        def called(at: int) -> str:
            topic, rank, score, document = rows[at]
            return f"row {at + 1} ({topic} {document}, rank {rank}, score {score:g})"
    else:
        lines = text[:LOOKED_AT].removeprefix(BOM).split(b"\n")
        if len(text) > LOOKED_AT:
            lines.pop()  # not all of it is there
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if len(fields) == 6 and not fields[0].startswith(b"#"):
                try:
                    rows.append((fields[0], fields[3], float(fields[4]), (number, line)))
                except ValueError:
                    return ()  # whoever reads the line says so

        def called(at: int) -> str:
            number, line = rows[at][3]
            return f"line {number} ({shorten(line)})"

    if len({row[1] for row in rows}) < 2:  # nobody's ranks: 0, 1 or - in each line
        return ()
    topics, ranks, scores, _ = zip(*rows, strict=True)
    numbers = _whole(ranks)
    none = np.isnan(numbers)
    if 2 * none.sum() > len(ranks):
        said = (
            f"The rank column of run {name!r} holds no whole numbers, for example in {called(int(np.argmax(none)))}. "
            f"{_RANKED} If columns are swapped, swap them back."
        )
        return (Note("rank-contradicts-score", name, said, warn=True),)
    # From row to row of a topic: 1 if rank and score grow or fall together, -1 if they do not.
    same = np.fromiter(map(eq, topics[1:], topics), np.bool_, len(topics) - 1)
    with np.errstate(over="ignore"):  # of two huge scores the sign alone counts
        steps = np.where(same, np.nan_to_num(np.sign(np.diff(numbers))) * np.sign(np.diff(scores)), 0.0)
    topic = np.cumsum(~same)
    looked_at = np.count_nonzero(np.bincount(topic, steps != 0.0))
    contradicting = np.count_nonzero(np.bincount(topic, steps) > 0.0)
    if 2 * contradicting <= looked_at:
        return ()
    where = "the first topic" if looked_at == 1 else f"{contradicting} of the first {looked_at} topics"
    example = int(np.argmax(steps))
    said = (
        f"The ranks of run {name!r} contradict its scores in {where}: rank and score grow together, for example from "
        f"{called(example)} to {called(example + 1)}. {_RANKED} If a lower score is better, negate the scores; if "
        "columns are swapped, swap them back."
    )
    return (Note("rank-contradicts-score", name, said, warn=True),)


def _whole(ranks: Sequence[bytes | int]) -> FloatArray:
    """The ranks as numbers; NaN for what is no whole number."""
    try:
        numbers = np.array([float(rank) for rank in ranks])
    except ValueError:
        texts = [rank if isinstance(rank, bytes) else b"%d" % rank for rank in ranks]
        numbers = np.array([float(text) if _NUMBER.fullmatch(text) else np.nan for text in texts])
    return np.where(np.isfinite(numbers) & (numbers == np.floor(numbers)), numbers, np.nan)
