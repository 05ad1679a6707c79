"""Texts of results with more than they print by themselves: groups of topics or runs, topics that moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gainful import _polars as pl
from gainful.cli.call import Call
from gainful.cli.output import as_csv, as_json, chosen_format, printed
from gainful.tables import Table

if TYPE_CHECKING:
    from pathlib import Path

    from gainful.data.scores import Scores
    from gainful.results import Result
    from gainful.verbs.compare.result import Comparison


def with_groups(call: Call, scores: Scores, groups: Path) -> str:
    """The means, and those of groups of topics."""
    from gainful.io.groups import read_groups

    found = scores.by_group(read_groups(groups))

    def tables() -> tuple[Table, ...]:
        wide = found.pivot("group", index=["measure", "run"], values="score").sort("measure", maintain_order=True)
        return scores.mean_table(), Table.of("groups", wide)

    return _with(call, scores, "groups", found, tables)


def with_table(call: Call, found: Result, table: Table) -> str:
    """A result with one more table."""
    return _with(call, found, table.name, table.frame, lambda: (*found.compact(), table))


def with_movers(call: Call, found: Comparison, most: int) -> str:
    """The result with the topics that moved most."""
    moved = found.movers_tables(most)
    frame = pl.concat(table.frame for table in moved)
    others = (table for table in found.compact() if table.name != "movers")
    return _with(call, found, "movers", frame, lambda: (*others, *(moved if most else ())))


def _with(call: Call, found: Result, name: str, more: pl.DataFrame, tables: Callable[[], tuple[Table, ...]]) -> str:
    """More rows: instead of all else in CSV, besides it in JSON; elsewhere these tables."""
    output = call.shown["output"]
    match chosen_format(call.shown["format"], output):
        case "csv":
            return as_csv(more.columns, more.iter_rows())
        case "json":
            return as_json({**found.to_dict(), name: more.to_dicts()})
        case shape:
            return printed(found, shape, output, tables())
