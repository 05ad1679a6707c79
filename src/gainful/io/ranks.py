"""A rank column that contradicts the scores: columns that are swapped, or scores of which a lower one is better.

Documents are ranked by score, so such a run would be scored as the opposite of what was meant, and nobody would know.
Only the first lines are looked at, which costs nothing that could be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from gainful.io.text import BOM, shorten
from gainful.results import Note

# How much of a run is looked at: bytes of text, rows of a table.
LOOKED_AT = 1 << 14
ROWS = 500

_RANKED = "Documents are ranked by score, the highest first, and the rank column is not used."


def rank_notes(name: str, frame: pl.DataFrame | None, text: bytes = b"") -> tuple[Note, ...]:
    """What there is to say about the ranks of a run; nothing where they agree with the scores, or are all the same.

    Parameters
    ----------
    name
        Of the run.
    frame
        Its first rows, or all; None if only the text is known.
    text
        TREC text of its first rows, or of all: what is looked at if the frame has no ranks.
    """
    if frame is not None and "rank" in frame.columns:
        rows = frame.head(ROWS)
        topics, documents, ranks, scores = (rows[name].to_list() for name in ("query_id", "doc_id", "rank", "score"))
        return _notes(
            name,
            topics,
            ranks,
            scores,
            lambda at: f"row {at + 1} ({topics[at]} {documents[at]}, rank {ranks[at]}, score {scores[at]:g})",
        )
    lines = text[:LOOKED_AT].removeprefix(BOM).split(b"\n")
    if len(text) > LOOKED_AT:
        lines.pop()  # not all of it is there
    found = [
        (number, fields)
        for number, fields in enumerate(map(bytes.split, lines))
        if len(fields) == 6 and not fields[0].startswith(b"#")
    ]
    try:
        scores = [float(fields[4]) for _, fields in found]
    except ValueError:
        return ()  # whoever reads the line says so
    return _notes(
        name,
        [fields[0] for _, fields in found],
        [fields[3] for _, fields in found],
        scores,
        lambda at: f"line {found[at][0] + 1} ({shorten(lines[found[at][0]])})",
    )


def _notes(
    name: str,
    topics: Sequence[object],
    ranks: Sequence[bytes | int],
    scores: Sequence[float],
    row: Callable[[int], str],
) -> tuple[Note, ...]:
    if not ranks or all(rank == ranks[0] for rank in ranks):  # nobody's ranks: 0, 1 or - in each line
        return ()
    numbers = [_whole(rank) for rank in ranks]
    if 2 * numbers.count(None) > len(numbers):
        text = (
            f"The rank column of run {name!r} holds no whole numbers, for example in {row(numbers.index(None))}. "
            f"{_RANKED} If ranks and scores are swapped, swap the columns back."
        )
        return (Note("rank-contradicts-score", name, text, warn=True),)
    against: dict[object, int] = {}  # how many steps down a topic contradict, less those that agree
    example = 0
    for at in range(1, len(numbers)):
        before, after = numbers[at - 1], numbers[at]
        if topics[at] == topics[at - 1] and before is not None and after is not None:
            sign = (after - before) * (scores[at] - scores[at - 1])
            if sign:
                against[topics[at]] = against.get(topics[at], 0) + (1 if sign > 0 else -1)
                example = example or (at if sign > 0 else 0)
    contradicting = sum(steps > 0 for steps in against.values())
    if 2 * contradicting <= len(against):
        return ()
    where = "the first topic" if len(against) == 1 else f"{contradicting} of the first {len(against)} topics"
    text = (
        f"The ranks of run {name!r} contradict its scores in {where}: rank and score grow together, for example from "
        f"{row(example - 1)} to {row(example)}. {_RANKED} If a lower score is better, negate the scores; if columns "
        "are swapped, swap them back."
    )
    return (Note("rank-contradicts-score", name, text, warn=True),)


def _whole(rank: bytes | int) -> float | None:
    try:
        number = float(rank)
    except ValueError:
        return None
    return number if number.is_integer() else None
