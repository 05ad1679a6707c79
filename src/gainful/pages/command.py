"""What to type to get a report again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gainful.pages.inputs import Inputs

COMMAND = ("gainful", "report")


def command_line(given: Inputs) -> str | None:
    """What to type to get this report again, but for the file it goes to; None if it was not made from files."""
    if given.sources is None:
        return None
    options = [word for measure in given.measures for word in ("-m", str(measure))]
    for name, value in _unusual(given).items():
        options += option(f"--{name}", str(value))
    # A file whose name looks like an option can only come after all options.
    odd = any(word.startswith("-") for word in given.sources)
    return shlex.join([*COMMAND, *options, "--", *given.sources] if odd else [*COMMAND, *given.sources, *options])


def with_output(command: str, path: str) -> str:
    """The same command, and the file that the page goes to."""
    begin = shlex.join(COMMAND)
    return f"{begin} {shlex.join(option('-o', path))}{command.removeprefix(begin)}"


def option(name: str, value: str) -> list[str]:
    """An option and its value, in one word where the value looks like an option itself."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def python_line(given: Inputs) -> str:
    """The same as a call."""
    settings = "".join(f", {name}={value!r}" for name, value in _unusual(given).items())
    first = "qrels, runs"
    if given.sources is not None:
        first = f"{given.sources[0]!r}, {list(given.sources[1:])!r}"
    return f"gf.report({first}, {[str(measure) for measure in given.measures]}{settings})"


def _unusual(given: Inputs) -> dict[str, Any]:
    """Settings and policies that are not the defaults; the seed is always told."""
    from gainful.pages import DEFAULTS

    every = {**given.settings, **given.settings.policies.to_dict()}
    return {name: value for name, value in every.items() if name == "seed" or value != DEFAULTS[name]}
