"""What there is to know of a measure, for programs and for people."""

from __future__ import annotations

from gainful.errors import MeasureError
from gainful.measures.grammar import parse_measure
from gainful.measures.parameters import write
from gainful.measures.registry import PRESETS, Definition

_BETTER = {"better": "higher", "worse": "lower", "neither": "-"}


def definition_of(text: str) -> Definition:
    """The measure behind a name, with or without the cutoff that it may need."""
    problem: MeasureError | None = None
    for cutoff in ("", "@10", "@0.1"):
        try:
            return parse_measure(text + cutoff).definition
        except MeasureError as error:
            problem = problem or error
    raise problem or MeasureError(text)


def describe(definition: Definition) -> dict[str, object]:
    """What there is to know of a measure, ready for JSON."""
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


def page(definition: Definition) -> str:
    """The measure's docstring and the facts around it."""
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
