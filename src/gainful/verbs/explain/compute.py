"""One row of the rankings, taken apart: a slice of what a measure says of all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from gainful import _polars as pl
from gainful.data.align import align
from gainful.data.qrels import Qrels
from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.data.run import Run
from gainful.errors import DataError, PolicyError, did_you_mean, setting
from gainful.io.read import read_qrels
from gainful.measures import Measure
from gainful.measures.contributions import Contributions, by_rank
from gainful.results import some
from gainful.verbs.explain import ExplainOptions
from gainful.verbs.source import Options, check_columns, one_run, policies_of, rankings_of, selected


def one_ranking(qrels: Any, run: Any, topic: str, options: ExplainOptions) -> tuple[Rankings, int]:
    """Rankings that list all documents, and the row of the run and the topic."""
    given = qrels if isinstance(qrels, Rankings) else None
    if options.get("ties", "trec" if given is None else given.policies.ties) == "expected":
        raise PolicyError(
            f"{setting('ties', 'expected')} averages over all orders of tied documents, so there is no one ranking to "
            f"explain: use {setting('ties', 'trec')} or {setting('ties', 'order')}."
        )
    if given is not None:
        rankings = rankings_of(given, None, cast(Options, options), documents=math.inf)
        if topic not in rankings.topics:
            raise DataError(_unknown(topic, rankings.topics, returned=False))
        if run not in rankings.systems:
            hint = did_you_mean(str(run), rankings.systems)
            raise DataError(f"expected one of the runs {some(rankings.systems)}, got {run!r}.{hint}")
        return rankings, rankings.systems.index(run) * len(rankings.topics) + rankings.topics.index(topic)
    columns = options.get("columns")
    check_columns(qrels, selected(run, options), columns)
    every, returned = read_qrels(qrels, columns=columns), one_run(run, options)
    judged = every.frame.filter(pl.col("query_id") == topic)
    frame = returned.frame.filter(pl.col("query_id") == topic)
    if not judged.height:
        raise DataError(_unknown(topic, every.topics, returned=bool(frame.height)))
    policies = policies_of(options)
    return align(Qrels(judged, every.name), [Run(frame, returned.name)], policies, documents=math.inf), 0


def _unknown(topic: str, topics: Sequence[str], *, returned: bool) -> str:
    reason = "has no judgments" if returned else "is neither in the qrels nor in the run"
    return f"topic {topic!r} {reason}.{did_you_mean(topic, topics)} Judged topics: {some(topics)}"


def take_apart(rankings: Rankings, row: int, measure: Measure) -> dict[str, Any]:
    """The score of a row, by rank and by document: the numbers of an `Explanation`."""
    found = measure.contributions(rankings)
    topic = row % len(rankings.topics)
    last = max(int(rankings.retrieved[row]), int(found.length[topic]))
    last = last if measure.cutoff is None else min(last, measure.cutoff)
    absent, misplaced, forbidden = found.lost(rankings, measure.cutoff)[:, row].tolist()
    return {
        "score": float(measure.compute(rankings)[row]),
        "empty": float(found.empty[topic]),
        "best": float(found.top[topic]),
        "absent": absent,
        "misplaced": misplaced,
        "forbidden": forbidden,
        "steps": _steps(rankings, row, found, last),
        "lost": _lost(rankings, row, found),
    }


def _steps(rankings: Rankings, row: int, found: Contributions, last: int) -> pl.DataFrame:
    if rankings.listed is None:
        raise DataError("expected rankings that list their documents")
    first, end = np.searchsorted(rankings.listed.row, [row, row + 1])
    documents = rankings.listed.doc_id.slice(first, end - first).head(last)
    there = by_rank(rankings, row, last, np.arange(1, len(rankings.grades) + 1))
    columns: dict[str, pl.Series | FloatArray | IntArray] = {
        "rank": np.arange(1, last + 1),
        "doc_id": documents.extend_constant(None, last - len(documents)),
        "label": np.append(np.nan, rankings.grades)[there],
    }
    if found.steps is not None:
        columns |= found.steps(row, last)
    else:
        added = found.added(rankings, last)[row]
        columns |= {"adds": added, "score": found.empty[row % len(rankings.topics)] + np.cumsum(added)}
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


def _lost(rankings: Rankings, row: int, found: Contributions) -> pl.DataFrame:
    system, topic = divmod(row, len(rankings.topics))
    mine = np.flatnonzero(rankings.pool_topic[found.document] == topic)
    document = found.document[mine]
    grade = rankings.pool_grade[document]
    rank, won, best = (of[system, mine] for of in (found.rank, found.won, found.best))
    frame = pl.DataFrame(
        {
            "doc_id": rankings.pool_doc.gather(document),
            "label": np.append(rankings.grades, np.nan)[grade],
            "gain": np.full(len(mine), np.nan) if found.worth is None else np.append(found.worth, 0.0)[grade],
            "rank": pl.Series(np.where(np.isinf(rank), 0, rank).astype(np.int64)).replace(0, None),
            "won": won,
            "best": best,
            "lost": best - won,
        }
    ).with_columns(pl.col(pl.Float64).fill_nan(None))
    # Of equal losses the higher rank comes first, then the larger gain.
    falling = [True, False, True]
    return frame.sort("lost", "rank", "gain", descending=falling, nulls_last=True, maintain_order=True)
