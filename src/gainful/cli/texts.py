"""Texts of results with more than they print by themselves: groups of topics, topics that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gainful import _polars as pl
from gainful.cli.call import Call
from gainful.cli.output import as_csv, as_json, chosen_format, printed
from gainful.tables import Table, printable

if TYPE_CHECKING:
    from pathlib import Path

    from gainful.data.scores import Scores
    from gainful.results import Result
    from gainful.verbs.compare.result import Comparison


def with_groups(call: Call, scores: Scores, groups: Path) -> str:
    """The means, and those of groups of topics."""
    from gainful.io.groups import read_groups

    found, output = scores.by_group(read_groups(groups)), call.shown["output"]
    match chosen_format(call.shown["format"], output):
        case "csv":
            return as_csv(found.columns, found.iter_rows())
        case "json":
            return as_json({**scores.to_dict(), "groups": found.to_dicts()})
        case shape:
            wide = found.pivot("group", index=["measure", "run"], values="score").sort("measure", maintain_order=True)
            return printed(scores, shape, output, (scores.mean_table(), Table.of("groups", wide)))


def with_table(call: Call, found: Result, table: Table) -> str:
    """A result with one more table: instead of the others in CSV, besides all else elsewhere."""
    output = call.shown["output"]
    match chosen_format(call.shown["format"], output):
        case "csv":
            return as_csv(table.frame.columns, table.frame.iter_rows())
        case "json":
            return as_json({**found.to_dict(), table.name: table.frame.to_dicts()})
        case shape:
            return printed(found, shape, output, (*found.compact(), table))


def as_junit(found: Comparison, worse: pl.DataFrame) -> str:
    """The outcome of a comparison with a baseline as JUnit XML: one test per run and measure."""
    from xml.sax.saxutils import escape, quoteattr

    reasons = {(measure, run): reason for measure, run, reason in worse.select("measure", "run", "reason").rows()}
    runs = [run for run in found.systems if run != found.baseline]
    cases = []
    for measure in (one.measure for one in found.contrasts):
        for run in runs:
            pair = quoteattr(printable(f"{run} against {found.baseline}"))
            reason = escape(printable(reasons.get((measure, run), "")))
            inside = f"<failure>{reason}</failure>" if reason else ""
            cases.append(f"<testcase classname={quoteattr(printable(measure))} name={pair}>{inside}</testcase>")
    counts = f'tests="{len(cases)}" failures="{len(reasons)}"'
    suite = f'<testsuite name="gainful compare" {counts}>'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', suite, *cases, "</testsuite>"]) + "\n"


def with_movers(call: Call, found: Comparison, most: int) -> str:
    """The result with the topics that moved most: instead of the pairs in CSV, besides all else elsewhere."""
    output, tables = call.shown["output"], found.movers_tables(most)
    match chosen_format(call.shown["format"], output):
        case "csv":
            frame = pl.concat(table.frame for table in tables)
            return as_csv(frame.columns, frame.iter_rows())
        case "json":
            rows = [row for table in tables for row in table.frame.to_dicts()]
            return as_json({"movers": rows, **found.to_dict()})
        case shape:
            shown = (*(table for table in found.compact() if table.name != "movers"), *(tables if most else ()))
            return printed(found, shape, output, shown)
