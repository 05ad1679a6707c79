"""What makes a command the twin of a function: it takes over the function's help."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from gainful.cli.output import check_targets

Command = TypeVar("Command", bound=Callable[..., int | None])
Options = TypeVar("Options")

# Options that name files: those to write, and those to read beside what stands without an option.
_WRITTEN = ("output", "chart", "page")
_READ = ("scores", "filter_run", "cut", "validation", "test", "examples")


def shell_of(function: Callable[..., object]) -> Callable[[Command], Command]:
    """Give a command the summary and the parameter texts of the function it calls, and keep its inputs safe.

    A command line that would write over a file that it reads is refused before the command starts.

    Parameters
    ----------
    function
        The public function. Parameters that only the command has are described in the command's own docstring.
    """

    def adopt(command: Command) -> Command:
        texts = {**parameter_texts(function), **parameter_texts(command)}
        names = [name for name in inspect.signature(command).parameters if name in texts]
        command.__doc__ = _docstring(summary(function), {name: texts[name] for name in names})
        signature = inspect.signature(command)

        @functools.wraps(command)
        def checked(*args: Any, **kwargs: Any) -> int | None:
            given = signature.bind(*args, **kwargs).arguments
            options = dict(_options(given))
            targets = [options[name] for name in _WRITTEN if options.get(name) is not None]
            save = options.get("save")
            if isinstance(save, Path) and not function.__module__.startswith("gainful.ltrf"):  # which saves folders
                targets.append(save)
            check_targets(targets, _inputs(options, signature))
            return command(*args, **kwargs)

        return cast(Command, checked)

    return adopt


def one_line_each(options: type[Options]) -> type[Options]:
    """Join the lines of each text of a class of options: cyclopts would show their breaks."""
    options.__doc__ = _docstring(summary(options), parameter_texts(options))
    return options


def _docstring(headline: str, texts: Mapping[str, str]) -> str:
    return "\n".join([headline, "", "Parameters", "----------", *(f"{name}\n    {texts[name]}" for name in texts)])


def _options(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All values by name, those inside of groups of options such as `Source` and `Shown` too."""
    for name, value in given.items():
        yield name, value
        for inner in getattr(value, "__dataclass_fields__", ()):
            yield inner, getattr(value, inner)


def _inputs(options: Mapping[str, Any], signature: inspect.Signature) -> Iterator[str]:
    """The files to be read; a measure is one only as ``@file.json``."""
    for name, value in options.items():
        parameter = signature.parameters.get(name)
        named = name in ("filter_run", "also") or (
            parameter is not None and parameter.kind is parameter.POSITIONAL_ONLY
        )
        for item in _flat(value):
            if isinstance(item, str) and item.startswith("@"):
                yield item[1:]
            # The --test of `compare` is a word, that of `ltrf train` a path.
            elif isinstance(item, str | Path) and (named or (name in _READ and isinstance(item, Path))):
                yield str(item)


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


def _flat(value: Any) -> Iterator[Any]:
    """The single values of lists, and of pairs in lists."""
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _flat(inner)
    else:
        yield value
