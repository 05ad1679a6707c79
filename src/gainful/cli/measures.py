"""`gainful measures`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from gainful.cli.output import as_csv, as_json, chosen_format, emit, note, on_terminal
from gainful.tables import Table


def measures(
    name: str | None = None,
    /,
    *,
    format: Literal["table", "csv", "json"] | None = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
) -> None:
    """List all measures, or describe one.

    Parameters
    ----------
    name
        A measure, under any of its names: nDCG, ndcg_cut_10, map, …
    format
        How to print; by default what the name of the output file ends in, else a table.
    output
        Write to this file instead of the screen.
    """
    from gainful.measures import REGISTRY, load_installed
    from gainful.measures.describe import definition_of, describe, page

    problems = load_installed() if name is None else ()
    found = list(REGISTRY.values()) if name is None else [definition_of(name)]
    entries = [describe(definition) for definition in found]
    match chosen_format(format, output):
        case "json":
            text = as_json(entries if name is None else entries[0])
        case "csv":
            columns = ("name", "signature", "summary", "better", "reference")
            text = as_csv(columns, ([str(entry[column]) for column in columns] for entry in entries))
        case _ if name is not None:
            text = page(found[0])
        case _:
            headers = {"signature": "measure", "summary": "what it is", "better": "better", "cite": "reference"}
            data = {key: [str(entry[key]) for entry in entries] for key in headers}
            text = Table.of("measures", data, headers, prose=True).text(terminal=on_terminal(output))
    emit(text, output)
    for problem in problems:
        note(f"note: {problem}")
