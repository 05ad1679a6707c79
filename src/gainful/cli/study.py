"""`gainful study negative-labels`, `gain-discount`, `incomplete-judgments` and `forbidden-documents`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from cyclopts import Parameter

from gainful.cli.output import Table, note, number
from gainful.cli.results import Shown
from gainful.cli.shell import one_line_each
from gainful.errors import DataError
from gainful.io.write import write_atomically
from gainful.studies.result import Exhibit, Study

# Rows of an exhibit that a screen holds; CSV, JSON and the page have all of them.
_ROWS = 24


@Parameter(name="*")
@one_line_each
@dataclass(frozen=True, slots=True, kw_only=True)
class Studied:
    """What a study runs on, and the page it makes.

    Parameters
    ----------
    collection
        A collection by name, as NAME=QRELS:RUNS, where RUNS is a file, a folder or a glob; may be repeated. Without
        any, and without files, the study runs on a simulated collection.
    page
        Write all tables, figures and findings into this file, a page (.html) that opens without a network.
    """

    collection: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    page: Path | None = None

    def collections(self, files: tuple[str, ...]) -> dict[str, tuple[Any, Any]] | None:
        """By name, the judgments and runs; None for the simulated collection."""
        if len(files) == 1:
            raise DataError(f"expected judgments and runs, got only {files[0]!r}")
        found: dict[str, tuple[Any, Any]] = {}
        if files:
            found[Path(files[0]).stem] = (files[0], list(files[1:]))
        for text in self.collection:
            name, pair = _collection(text)
            if name in found:
                raise DataError(f"--collection {text}: there is a collection {name!r} already; give it another name")
            found[name] = pair
        return found or None

    @contextmanager
    def working(self, shown: Shown) -> Iterator[None]:
        """Around the computation: refuses what cannot be written before it starts, and shows how far it is."""
        if self.page is not None and self.page.suffix.lower() != ".html":
            raise DataError(f"{self.page}: expected a name that ends in .html")
        with shown.working():
            yield

    def show(self, study: Study, shown: Shown) -> None:
        """Print or write the study, then its findings on stderr; write its page."""
        absent = [f"note: {name} could not be made: {why}" for name, why in study.absent.items()]
        tables = [_table(exhibit) for exhibit in study.exhibits]
        shown.show(study, tables, [*absent, *(str(finding) for finding in study.findings)])
        if self.page is not None:
            from gainful.report.study_page import study_page

            write_atomically(self.page, study_page(study).encode())
            note(f"page: {self.page}")


def _collection(text: str) -> tuple[str, tuple[str, str]]:
    """NAME=QRELS:RUNS; of several colons the first after which the judgments are a file."""
    name, equals, rest = text.partition("=")
    places = [at for at, character in enumerate(rest) if character == ":" and 0 < at < len(rest) - 1]
    if not (name and equals and places):
        raise DataError(f"--collection {text}: expected NAME=QRELS:RUNS, such as web=qrels.txt:runs/")
    at = next((place for place in places if os.path.exists(rest[:place])), places[0])
    return name, (rest[:at], rest[at + 1 :])


def _table(exhibit: Exhibit) -> Table:
    frame = exhibit.frame
    rows = [[_cell(value) for value in row] for row in frame.head(_ROWS).iter_rows()]
    more = f" ({frame.height - _ROWS} more rows: --format csv or --page has them.)" if frame.height > _ROWS else ""
    return Table(
        header=frame.columns,
        rows=rows,
        names=tuple(at for at, kind in enumerate(frame.dtypes) if kind == pl.String),
        heading=f"{exhibit.name}: {exhibit.title}. {exhibit.text}{more}",
    )


def _cell(value: object) -> str:
    if value is None or isinstance(value, float):
        return number(value)
    return str(value)
