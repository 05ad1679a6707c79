"""`gainful measures`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from gainful.cli.output import as_csv, as_json, chosen_format, emit, note, on_terminal
from gainful.errors import MeasureError
from gainful.tables import Table

if TYPE_CHECKING:
    from gainful.measures import Definition

_BETTER = {"better": "higher", "worse": "lower", "neither": "-"}


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
            text = _page(found[0])
        case _:
            headers = {"signature": "measure", "summary": "what it is", "better": "better", "cite": "reference"}
            data = {key: [str(entry[key]) for entry in entries] for key in headers}
            text = Table.of("measures", data, headers, prose=True).text(terminal=on_terminal(output))
    emit(text, output)
    for problem in problems:
        note(f"note: {problem}")


def definition_of(text: str) -> Definition:
    """The measure behind a name, with or without the cutoff that it may need."""
    from gainful.measures import parse_measure

    problem: MeasureError | None = None
    for cutoff in ("", "@10", "@0.1"):
        try:
            return parse_measure(text + cutoff).definition
        except MeasureError as error:
            problem = problem or error
    raise problem or MeasureError(text)


def describe(definition: Definition) -> dict[str, object]:
    """What there is to know of a measure, ready for JSON."""
    from gainful.measures import PRESETS

    return {
        "name": definition.name,
        "signature": definition.signature,
        "summary": definition.headline,
        "better": _BETTER[definition.higher],
        "cite": definition.cite,
        "reference": definition.doc.rpartition("\n\n")[2],
        "bounds": list(definition.bounds) if definition.bounds else None,
        "over_topics": definition.summary,
        "ties_expected": definition.expected,
        "parameters": {
            name: {
                "default": None if parameter.required else parameter.default,
                "wanted": parameter.kind.wanted,
            }
            for name, parameter in definition.parameters.items()
        },
        "presets": {label: dict(fixed) for label, (target, fixed) in PRESETS.items() if target == definition.name},
        "description": definition.doc,
    }


def _page(definition: Definition) -> str:
    """The measure's docstring and the facts around it."""
    from gainful.measures import PRESETS
    from gainful.measures.parameters import write

    lines = [definition.signature, "", definition.doc, ""]
    facts = {
        "better": _BETTER[definition.higher],
        "range": "unbounded" if definition.bounds is None else "{:g} to {:g}".format(*definition.bounds),
        "over topics": definition.summary,
        "ties": "trec, order, expected" if definition.expected else "trec, order",
    }
    for label, (target, fixed) in PRESETS.items():
        if target == definition.name:
            facts[label] = f"{target}({', '.join(f'{key}={write(value)}' for key, value in fixed.items())})"
    if definition.parameters:
        lines += ["Parameters:"]
        for name, parameter in definition.parameters.items():
            default = "required" if parameter.required else f"default {write(parameter.default)}"  # type: ignore[arg-type]
            lines += [f"  {name:<10} {parameter.kind.wanted} ({default})"]
        lines += [""]
    return "\n".join([*lines, *(f"{name + ':':<12} {value}" for name, value in facts.items())]) + "\n"
