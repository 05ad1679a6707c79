"""`gainful explain`."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated, Literal

import polars as pl
from cyclopts import Parameter

from gainful.cli.escape import shown
from gainful.cli.output import Output, Table, as_csv, as_json, as_table, chosen_format, emit, note, number
from gainful.cli.shell import shell_of
from gainful.data.policies import Duplicates, Ties, Unjudged
from gainful.data.scores import Scores
from gainful.verbs.evaluate import evaluate
from gainful.verbs.explain import Explanation
from gainful.verbs.explain import explain as explanation_of

# A table of more ranks leaves out those that gain nothing below this one, and keeps to this many lines.
_ALL_RANKS, _MOST_RANKS = 20, 40
_MOST_LOSSES = 10
_MOST_TOPICS = 20


@shell_of(explanation_of)
def explain(
    qrels: str,
    run: str,
    /,
    *,
    query: Annotated[str | None, Parameter(name=("--query", "-q"))] = None,
    measure: Annotated[str, Parameter(name=("--measure", "-m"))] = "nDCG@10",
    format: Literal["table", "csv", "json"] | None = None,
    output: Output = None,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    duplicates: Duplicates = "error",
) -> None:
    """Show how the score of one topic comes about.

    Parameters
    ----------
    query
        The topic. Without it, all topics and their scores are listed, the worst first.
    format
        How to print; by default what the name of the output file ends in, else a table. csv has the ranks alone.
    output
        Write to this file instead of the screen.
    """
    shape = chosen_format(format, output)
    terminal = output is None and sys.stdout.isatty()
    if query is None:
        scores = evaluate(qrels, run, measure, ties=ties, unjudged=unjudged, duplicates=duplicates)
        emit(_topics(scores, shape, terminal=terminal), output)
        if shape == "table" and len(scores.topics) > _MOST_TOPICS:
            note(f"note: the {_MOST_TOPICS} worst of {len(scores.topics)} topics; --format csv has them all")
        note(f"To explain one of these topics, add --query, such as: --query {shlex.quote(_worst_first(scores)[0][0])}")
        return
    why = explanation_of(qrels, run, query, measure, ties=ties, unjudged=unjudged, duplicates=duplicates)
    match shape:
        case "json":
            emit(as_json(why.to_dict()), output)
        case "csv":
            emit(as_csv(why.steps.columns, why.steps.rows()), output)
        case _:
            # What lies beyond the cutoff in the run and in the best ordering has no part in this.
            losses = why.lost.filter((pl.col("won") != 0) | (pl.col("best") != 0))
            text = [shown(str(why)), "", as_table(_steps(why), terminal=terminal)]
            if losses.height:
                text += [*_balance(why), "", as_table(_losses(losses), terminal=terminal)]
            emit("\n".join(text), output)
            if why.steps.height > _MOST_RANKS:
                note(f"note: some ranks are left out of the table; --format csv has all {why.steps.height}")
            if losses.height > _MOST_LOSSES:
                note(f"note: the {_MOST_LOSSES} largest losses of {losses.height}; --format json has them all")


def _worst_first(scores: Scores) -> list[tuple[str, float]]:
    sign = -1.0 if scores.higher[0] == "worse" else 1.0
    return sorted(zip(scores.topics, scores.values[0, 0].tolist(), strict=True), key=lambda cell: sign * cell[1])


def _topics(scores: Scores, shape: str, *, terminal: bool) -> str:
    """All topics, the worst first; a table shows the worst only."""
    ordered, measure = _worst_first(scores), scores.measures[0]
    if shape == "json":
        return as_json({"measure": measure, "run": scores.systems[0], "topics": dict(ordered)})
    if shape == "csv":
        return as_csv(("query_id", "score"), ordered)
    rows = [[topic, number(value)] for topic, value in ordered[:_MOST_TOPICS]]
    if len(ordered) > _MOST_TOPICS:
        rows.append(["…", "…"])
    return as_table(Table(header=["topic", measure], rows=rows), terminal=terminal)


def _steps(why: Explanation) -> Table:
    """The ranks, less those far down that change nothing."""
    steps = why.steps
    kept = _shown_ranks(steps)
    rows: list[list[str]] = []
    before = 0
    for row in steps.filter(pl.col("rank").is_in(kept)).iter_rows(named=True):
        if row["rank"] > before + 1:
            rows.append(["…"] * len(steps.columns))
        before = row["rank"]
        rows.append([_cell(column, value) for column, value in row.items()])
    header = ["document" if column == "doc_id" else column for column in steps.columns]
    return Table(header=header, rows=rows, names=(1,))


def _shown_ranks(steps: pl.DataFrame) -> list[int]:
    if steps.height <= _MOST_RANKS:
        return steps["rank"].to_list()
    hits = pl.col("gain") != 0 if "gain" in steps.columns else pl.col("relevant")
    matters = steps.filter((pl.col("rank") <= _ALL_RANKS) | hits)["rank"].to_list()
    return [*matters[: _MOST_RANKS - 1], steps.height]


def _cell(column: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:g}" if column in ("label", "gain", "cg") else number(value)
    return str(value)


def _balance(why: Explanation) -> list[str]:
    """The loss in two parts: what is not shown, and what stands elsewhere than it should."""
    last = why.steps.height
    there = (why.lost["rank"] <= last).fill_null(False)
    misplaced = float(why.lost["lost"].filter(there).sum())
    absent = float(why.lost["lost"].filter(~there).sum())
    start = f"An empty ranking scores {number(why.empty)}; what is shown adds {number(why.score - why.empty)}."
    return [
        *([start] if why.empty else []),
        f"Lost to the best ordering: {number(why.best - why.score)}",
        f"  {number(absent):>8} on documents that are not among the first {last}",
        f"  {number(misplaced):>8} on the places of those that are",
    ]


def _losses(losses: pl.DataFrame) -> Table:
    worst = losses.head(_MOST_LOSSES).iter_rows(named=True)
    rows = [[_cell(column, value) for column, value in row.items()] for row in worst]
    header = ["document" if column == "doc_id" else column for column in losses.columns]
    return Table(header=header, rows=rows)
