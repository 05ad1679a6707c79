"""How the result of an analysis leaves the command line: as table, CSV, JSON, LaTeX, and as a chart."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import polars as pl
from cyclopts import Parameter

from gainful.charts import check_chart_path, save_chart
from gainful.cli.output import Format, Table, as_csv, as_json, as_latex, as_table, chosen_format, emit, note
from gainful.cli.progress import bars
from gainful.cli.shell import one_line_each

if TYPE_CHECKING:
    import altair


class Result(Protocol):
    """What every analysis returns."""

    def to_dict(self) -> dict[str, object]:
        """All of it, ready for JSON."""

    def to_frame(self) -> pl.DataFrame:
        """The numbers, a row each."""

    def chart(self) -> altair.TopLevelMixin:
        """What people would rather look at."""


@Parameter(name="*")
@one_line_each
@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Where a result goes, and how it looks there.

    Parameters
    ----------
    format
        How to print; by default what the name of the output file ends in, else a table.
    output
        Write to this file instead of the screen.
    chart
        Draw a chart into this file: .html (opens without a network), .svg, .png, .pdf or .json (Vega-Lite).
    """

    format: Format | None = None
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None
    chart: Path | None = None

    @contextmanager
    def working(self) -> Iterator[None]:
        """Around the computation: refuses what cannot be written before it starts, and shows how far it is."""
        chosen_format(self.format, self.output)
        if self.chart is not None:
            check_chart_path(self.chart)
        with bars():
            yield

    def show(self, result: Result, tables: Table | Sequence[Table], remarks: Sequence[str] = ()) -> None:
        """Print or write the result, draw its chart, then tell the remarks on stderr."""
        tables = [tables] if isinstance(tables, Table) else tables
        match chosen_format(self.format, self.output):
            case "csv":
                frame = result.to_frame()
                text = as_csv(frame.columns, frame.iter_rows())
            case "json":
                text = as_json(result.to_dict())
            case "latex":
                text = "\n".join(as_latex(table) for table in tables)
            case _:
                terminal = self.output is None and sys.stdout.isatty()
                text = "\n".join(as_table(table, terminal=terminal) for table in tables)
        emit(text, self.output)
        if self.chart is not None:
            save_chart(result.chart(), self.chart)
        for remark in (str(result), *remarks):
            note(remark)
        if self.chart is not None:
            note(f"chart: {self.chart}")
