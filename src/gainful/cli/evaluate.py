"""`gainful evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import numpy as np
from cyclopts import Parameter

from gainful.cli.inputs import Measures, OptionalWhole, counted, refuse_measures
from gainful.cli.output import (
    Format,
    Output,
    Table,
    as_csv,
    as_json,
    as_latex,
    as_table,
    chosen_format,
    emit,
    note,
    number,
)
from gainful.cli.shell import shell_of
from gainful.cli.wording import in_options
from gainful.data.policies import Degenerate, Duplicates, Missing, Policies, Ties, Unjudged
from gainful.data.rankings import FloatArray
from gainful.data.scores import Scores
from gainful.engine import Engine
from gainful.verbs.evaluate import DEFAULT_MEASURES
from gainful.verbs.evaluate import evaluate as scores_of

# More runs than this side by side do not fit a screen: then per-topic tables have a row a topic and run.
_SIDE_BY_SIDE = 8


@shell_of(scores_of)
def evaluate(
    qrels: str,
    runs: Annotated[list[str], Parameter(name="RUN...")],
    /,
    *,
    measures: Measures = DEFAULT_MEASURES,
    per_topic: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    format: Format | None = None,
    output: Output = None,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
    keep_going: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: OptionalWhole = None,
) -> int:
    """Score runs against judgments.

    Parameters
    ----------
    per_topic
        Show the score of every topic, not only the mean.
    format
        How to print; by default what the name of the output file ends in, else a table.
    output
        Write to this file instead of the screen.
    """
    refuse_measures(runs)
    shape = chosen_format(format, output)
    with counted(runs, engine, keep_going=keep_going) as given:
        scores = scores_of(
            qrels,
            given,
            measures,
            ties=ties,
            unjudged=unjudged,
            missing=missing,
            degenerate=degenerate,
            duplicates=duplicates,
            keep_going=keep_going,
            engine=engine,
            scheduler=scheduler,
            workers=workers,
        )
    match shape:
        case "csv":
            text = as_csv(("run", "measure", "query_id", "score"), long_rows(scores, per_topic=per_topic))
        case "json":
            content = scores.to_dict()
            text = as_json(content if per_topic else {key: content[key] for key in content if key != "scores"})
        case "latex":
            text = as_latex(_topic_table(scores) if per_topic else _mean_table(scores))
        case _:
            table = _topic_table(scores) if per_topic else _mean_table(scores)
            text = as_table(table, terminal=output is None and sys.stdout.isatty())
    emit(text, output)
    for line in remarks(scores):
        note(line)
    for name, message in scores.failed:
        note(f"failed: {in_options(message if message.startswith(name) else f'{name}: {message}')}")
    return 1 if scores.failed else 0


def long_rows(scores: Scores, *, per_topic: bool) -> Iterator[tuple[str, str, str, float]]:
    """run, measure, query_id, score: the topics of each run and measure, then their mean under 'all'."""
    means = scores.summary()
    for j, run in enumerate(scores.systems):
        for i, measure in enumerate(scores.measures):
            if per_topic:
                cells = zip(scores.topics, scores.values[i, j].tolist(), scores.counted[i, j].tolist(), strict=True)
                yield from ((run, measure, topic, value) for topic, value, counted in cells if counted)
            yield run, measure, "all", float(means[i, j])


def _order(scores: Scores, means: FloatArray) -> list[int]:
    """Systems from best to worst by the first measure, undefined last; as given if neither end is the better."""
    sign = {"better": -1.0, "worse": 1.0, "neither": 0.0}[scores.higher[0]]
    order = np.argsort(np.where(np.isnan(means[0]), np.inf, sign * means[0]), kind="stable")
    return [int(system) for system in order]


def _mean_table(scores: Scores) -> Table:
    means = scores.summary()
    order = _order(scores, means)
    rows = [[scores.systems[j], *_cells(scores, means[:, j])] for j in order]
    return Table(header=["run", *scores.measures], rows=rows, best=_best(scores, means[:, order]))


def _topic_table(scores: Scores) -> Table:
    """Topics × runs for one measure and a few runs, else a row a topic and run; the means come last."""
    means = scores.summary()
    order = _order(scores, means)
    values = np.where(scores.counted, scores.values, np.nan)
    topics = [*scores.topics, "all"]
    full = np.concatenate([values, means[:, :, None]], axis=2)
    if len(scores.measures) == 1 and 1 < len(order) <= _SIDE_BY_SIDE:
        whole = scores.summaries[0] == "sum"
        rows = [[topic, *(number(full[0, j, t], whole=whole) for j in order)] for t, topic in enumerate(topics)]
        return Table(header=["topic", *(scores.systems[j] for j in order)], rows=rows)
    rows = [[topic, scores.systems[j], *_cells(scores, full[:, j, t])] for j in order for t, topic in enumerate(topics)]
    return Table(header=["topic", "run", *scores.measures], rows=rows, names=(0, 1))


def _cells(scores: Scores, values: FloatArray) -> list[str]:
    return [number(value, whole=how == "sum") for value, how in zip(values.tolist(), scores.summaries, strict=True)]


def _best(scores: Scores, means: FloatArray) -> frozenset[tuple[int, int]]:
    """(row, column) of the best of several values in each column."""
    best = set()
    for i, higher in enumerate(scores.higher):
        if higher != "neither" and len(scores.systems) > 1 and not np.isnan(means[i]).all():
            target = np.nanmax(means[i]) if higher == "better" else np.nanmin(means[i])
            best |= {(int(row), i + 1) for row in np.flatnonzero(means[i] == target)}
    return frozenset(best)


def remarks(scores: Scores) -> Iterator[str]:
    """What one should know about the numbers above."""
    runs, topics = len(scores.systems), len(scores.topics)
    policies = scores.policies or Policies()  # evaluate always has some
    left_out = f" ({len(scores.failed)} left out)" if scores.failed else ""
    yield f"{_count(runs, 'run')}{left_out}, {_count(topics, 'topic')}; {policies}"
    strangers = [name for name, absent in zip(scores.systems, scores.missing, strict=True) if absent == topics]
    if len(strangers) == runs > 1:
        yield f"note: none of the {runs} runs has any of the judged topics: do these qrels belong to them?"
        strangers = []
    for name in strangers[:3]:
        yield f"note: run {name!r} has none of the judged topics: do these qrels belong to it?"
    absent = {name: n for name, n in zip(scores.systems, scores.missing, strict=True) if 0 < n < topics}
    if absent:
        policy = policies.missing
        treated = "are left out of its mean" if policy == "skip" else "count as empty rankings"
        yield f"note: judged topics that a run has nothing for {treated} (missing={policy}): {_some(absent)}"
    filled = {"zero": "counts as 0", "one": "counts as 1", "nan": "is NaN", "skip": "is left out of the mean"}
    for name, number_of in zip(scores.measures, scores.undefined, strict=True):
        if number_of:
            what = filled[policies.degenerate]
            yield f"note: {name} is undefined for {_count(number_of, 'topic')} and {what} there"
    ignored = {name: n for name, n in zip(scores.systems, scores.ignored, strict=True) if n}
    if ignored:
        yield f"note: topics of a run without judgments are ignored: {_some(ignored)}"


def _some(counts: dict[str, int], most: int = 4) -> str:
    named = ", ".join(f"{n} of {name}" for name, n in list(counts.items())[:most])
    rest = len(counts) - most
    return named if rest <= 0 else f"{named} and {sum(list(counts.values())[most:])} of {_count(rest, 'other run')}"


def _count(number_of: int, thing: str) -> str:
    return f"{number_of} {thing}" + ("" if number_of == 1 else "s")
