"""What makes a run look wrong: most often it is the file, not the ranking, that its scores then tell of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from gainful.data.policies import Policies
from gainful.data.rankings import BoolArray, FloatArray, Rankings
from gainful.errors import setting
from gainful.results import Note, listed, percent, plural

# The documents that are looked at, and the share of them that should be judged.
FIRST, FEW = 10, 0.5
SIGNS = 3
_MOST_NAMED = 3

# Three rows of numbers, per run and topic: the share of the first documents that are judged, of those that could be;
# whether all documents have the same score (1) or not (0); and how many of them are in the pool. NaN where that says
# nothing.
Signs: TypeAlias = FloatArray


def failure_notes(failed: Sequence[tuple[str, str]]) -> list[Note]:
    """What could not be read and was left out."""
    return [
        Note("failed", source, reason if reason.startswith(source) else f"{source}: {reason}")
        for source, reason in failed
    ]


def signs_of(rankings: Rankings, *, estimated: bool = False) -> Signs:
    """3 × systems × topics; `estimated`: documents that are pooled and not judged are reckoned with, as judged ones."""
    shape = (SIGNS, len(rankings.systems), len(rankings.topics))
    signs = np.full(shape, np.nan)
    if len(rankings.grades) and rankings.grades[0] <= 0.0:  # qrels of nothing but relevant documents are never complete
        first = (rankings.rank <= FIRST) & ((rankings.grade >= 0) | estimated)
        found = np.bincount(rankings.row[first], minlength=rankings.n_rows)
        pool = np.bincount(rankings.pool_topic[(rankings.pool_grade >= 0) | estimated], minlength=shape[2])
        possible = np.minimum(np.minimum(rankings.retrieved, FIRST).reshape(shape[1:]), pool)
        np.divide(found.reshape(shape[1:]), possible, out=signs[0], where=possible > 0)
    if rankings.tied is not None:
        signs[1] = rankings.tied.reshape(shape[1:])
    found = np.bincount(rankings.row, minlength=rankings.n_rows).reshape(shape[1:])
    signs[2] = np.where(rankings.retrieved.reshape(shape[1:]) > 0, found, np.nan)
    return signs


def notes_of(rankings: Rankings) -> tuple[Note, ...]:
    """What must be known of these runs before their scores are read."""
    return run_notes(
        rankings.systems,
        rankings.topics,
        rankings.present.reshape(len(rankings.systems), -1),
        signs_of(rankings),
        rankings.stranger or (None,) * len(rankings.systems),
        rankings.policies,
        rankings.run_notes,
    )


def run_notes(
    systems: Sequence[str],
    topics: Sequence[str],
    present: BoolArray,
    signs: Signs,
    strangers: Sequence[str | None],
    policies: Policies,
    noticed: Sequence[Note],
) -> tuple[Note, ...]:
    """What must be known of runs before scores are read; `strangers`: of each, a topic without judgments, if any."""
    strange = (signs[2] == 0.0).any(axis=1) & ~(signs[2] > 0.0).any(axis=1)
    return (
        *_no_topic(systems, topics, present, strangers),
        *_no_document(systems, strange),
        *noticed,
        *(_all_tied(systems, signs[1], policies.ties) if policies.ties != "order" else ()),
        *_unjudged(systems, np.where(strange[:, None], np.nan, signs[0])),
    )


def _no_topic(
    systems: Sequence[str], topics: Sequence[str], present: BoolArray, strangers: Sequence[str | None]
) -> list[Note]:
    at = np.flatnonzero(~present.any(axis=1)).tolist()
    if not len(at):
        return []
    names, stranger = [systems[i] for i in at], next((strangers[i] for i in at if strangers[i] is not None), None)
    it, has = ("it", "has") if len(at) == 1 else ("them", "have")
    if stranger is None:
        return [Note("no-topic-matches", names[0], f"{_named(names)} {has} no topic at all.", warn=True)]
    text = (
        f"{_named(names)} {has} none of the judged topics: a topic of {it} is {stranger!r}, one of the judgments "
        f"{topics[0]!r}. Do these judgments belong to {it}?"
    )
    if names == ["run"]:  # the name of what has none
        text += f" If {stranger!r} is a run, write {{{stranger!r}: {{topic: {{document: score}}}}}}."
    return [Note("no-topic-matches", names[0], text, warn=True)]


def _no_document(systems: Sequence[str], strange: BoolArray) -> list[Note]:
    names = [systems[at] for at in np.flatnonzero(strange).tolist()]
    if not names:
        return []
    returns, their = ("returns", "its") if len(names) == 1 else ("return", "their")
    text = (
        f"{_named(names)} {returns} no document that has a judgment, in any topic: are {their} documents called as in "
        "the judgments?"
    )
    return [Note("no-document-matches", names[0], text, warn=True)]


def _all_tied(systems: Sequence[str], tied: FloatArray, ties: str) -> list[Note]:
    several = ~np.isnan(tied)
    names = [systems[i] for i in np.flatnonzero(several.any(axis=1) & ~(tied == 0.0).any(axis=1)).tolist()]
    if not names:
        return []
    gives = "gives" if len(names) == 1 else "give"
    decided = "the ids of the documents decide on their order" if ties == "trec" else "every order counts the same"
    text = (
        f"{_named(names)} {gives} all documents of a topic the same score, in every topic: {decided} (ties={ties}). "
        f"Take {setting('ties', 'order')} if the best document comes first in the file."
    )
    return [Note("all-tied", names[0], text, warn=True)]


def _unjudged(systems: Sequence[str], judged: FloatArray) -> list[Note]:
    known = ~np.isnan(judged)
    share = np.where(known, judged, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    few = np.flatnonzero(known.any(axis=1) & (share < FEW))
    if not len(few):
        return []
    worst = few[np.argsort(share[few], kind="stable")].tolist()
    some = listed([f"{percent(float(share[i]))} in run {systems[i]!r}" for i in worst[:_MOST_NAMED]])
    more = f" (and few in {plural(len(few) - _MOST_NAMED, 'other run')})" if len(few) > _MOST_NAMED else ""
    text = (
        f"Few of the first {FIRST} documents (or of as many as the topic has judgments) are judged: on average "
        f"{some}{more}. Documents without a judgment count as not relevant, so that such a run may be better than "
        "its scores say."
    )
    return [Note("mostly-unjudged", systems[worst[0]], text, warn=True)]


def _named(names: Sequence[str]) -> str:
    """'Run 'a'', 'Runs 'a' and 'b'', 'Runs 'a', 'b', 'c' and 4 others'."""
    if len(names) == 1:
        return f"Run {names[0]!r}"
    return f"Runs {listed(list(map(repr, names)), _MOST_NAMED)}"
