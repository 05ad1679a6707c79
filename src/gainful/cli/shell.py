"""What makes a command the twin of a function: it takes over the function's help."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

Command = TypeVar("Command", bound=Callable[..., int | None])


def shell_of(function: Callable[..., object]) -> Callable[[Command], Command]:
    """Give a command the summary and the parameter texts of the function it calls.

    Parameters
    ----------
    function
        The public function. Parameters that only the command has are described in the command's own docstring.
    """

    def adopt(command: Command) -> Command:
        texts = {**parameter_texts(function), **parameter_texts(command)}
        names = [name for name in inspect.signature(command).parameters if name in texts]
        entries = [f"{name}\n    {texts[name]}" for name in names]
        command.__doc__ = "\n".join([summary(function), "", "Parameters", "----------", *entries])
        return command

    return adopt


def summary(function: Callable[..., object]) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(function) or "").partition("\n")[0]


def parameter_texts(function: Callable[..., object]) -> dict[str, str]:
    """The help of each parameter, one line each, from the 'Parameters' section of a numpydoc docstring."""
    _, _, section = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line.startswith("---"):  # the rule under the next section's title
            for name in names:
                texts.pop(name)
            break
        if line and not line.startswith(" "):
            names = line.split(", ")
            texts.update({name: [] for name in names})
        elif line:
            for name in names:
                texts[name].append(line.strip())
    return {name: " ".join(lines) for name, lines in texts.items()}
