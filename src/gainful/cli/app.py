"""The commands as cyclopts has them: made from functions (see `make`), one at a time."""

from __future__ import annotations

import warnings
from pathlib import Path

from cyclopts import App, CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError
from cyclopts.exceptions import ConsumeMultipleError

from gainful._core import KIND
from gainful._version import __version__
from gainful.cli.commands import COMMANDS, GROUPS
from gainful.cli.make import headline, hyphens_kept, load, made
from gainful.errors import GainfulWarning, UsageError, closest

# What other programs call the option for scores of topics.
_TOPICS = ("-q", "--per-query", "--per-topic", "--query", "--topic")
_VALUES = {Path: "FILE", float: "NUMBER", int: "NUMBER"}


def _app() -> App:
    return App(
        name="gainful",
        help="Measure rankings, and measure the measures.\n\nNew here? 'gainful demo' is a tour of five minutes, "
        "'gainful COMMAND --help' describes a command.",
        version=f"gainful {__version__} ({KIND})",
        help_format="plaintext",
        version_format="plaintext",
        print_error=False,
        exit_on_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )


app = _app()


def overview() -> App:
    """All commands by their headlines alone, which is what `gainful --help` shows: nothing else is made."""
    found = _app()
    for place, (name, command) in enumerate(COMMANDS.items()):
        first = name.partition(" ")[0]
        if first not in found:
            told = GROUPS[first] if first in GROUPS else headline(load(command.function))
            found.command(App(name=first, help=told, sort_key=place))
    found.register_install_completion_command(name="--install-completion")
    return found


def register(*only: str) -> None:
    """Make commands from functions, all of them or those of a name or group: what is not asked for is not imported."""
    for place, (name, command) in enumerate(COMMANDS.items()):
        first, _, second = name.partition(" ")
        if (only and first not in only) or name in _registered:
            continue
        if second and not any(known.startswith(f"{first} ") for known in _registered):
            app.command(App(name=first, help=GROUPS[first], sort_key=place))
        _registered.add(name)
        function = made(command)
        usage = getattr(function, "usage", None)
        (app[first] if second else app).command(
            function,
            name=second or first,
            help=headline(function),
            help_epilogue=f"Example: {command.example}",
            usage=None if usage is None else f"Usage: gainful {name} {usage}",
            sort_key=place,
        )
    if not only and "--install-completion" not in app:
        app.register_install_completion_command(name="--install-completion")


_registered: set[str] = set()


def call(words: list[str]) -> int:
    """Run the command that these words ask for; its exit status."""
    first = words[0] if words else ""
    brief = first in ("", "--help", "-h")
    if first != "--version" and not brief:
        register(*([first] if first in GROUPS or first in COMMANDS else []))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)  # the notes of the result say the same
        try:
            status = (overview() if brief else app)(hyphens_kept(words))
        except CycloptsError as error:
            raise UsageError(misunderstood(error)) from None
    return status if isinstance(status, int) else 0


def misunderstood(error: CycloptsError) -> str:
    """Why a command line was not understood."""
    if isinstance(error, MissingArgumentError) and not isinstance(error, ConsumeMultipleError):
        return _missing(error)
    if isinstance(error, UnusedCliTokensError):
        return f"unexpected {', '.join(map(repr, error.unused_tokens or ()))}."
    if isinstance(error, UnknownOptionError) and (_word(error).startswith("--") or _word(error) in _TOPICS):
        return _unknown(error)
    if isinstance(error, CoercionError) and error.msg is None and error.target_type is float and error.token:
        name = error.token.keyword or (error.argument.name if error.argument else "")
        return f"Invalid value for {name}: expected a number, got {error.token.value!r}."
    return str(error)


def _missing(error: MissingArgumentError) -> str:
    argument = error.argument
    if argument is None:
        return str(error)
    given = error.keyword or next((token.keyword for token in argument.tokens if token.keyword), None)
    if given:
        return f"{given}: expected a value after it."
    value = f" {_VALUES.get(argument.hint, 'VALUE')}" if argument.name.startswith("-") else ""
    dot = "" if argument.name.endswith("...") else "."
    return f"missing {argument.name}{value}{dot}"


def _unknown(error: UnknownOptionError) -> str:
    """With the option that was meant; cyclopts compares the dashes, too, and finds much alike."""
    wrong = _word(error).partition("=")[0]
    known = [name[2:] for argument in error.argument_collection for name in argument.names if name.startswith("--")]
    meant = closest(wrong[2:], [*known, "help"], alike=0.7)
    if wrong in _TOPICS and "topics" not in known:
        return f"Unknown option: {wrong}. 'gainful evaluate --per-topic' shows every topic, 'gainful explain' one."
    return f"Unknown option: {wrong}." + ("" if meant is None else f" Did you mean --{meant}?")


def _word(error: UnknownOptionError) -> str:
    return error.token.keyword or error.token.value
