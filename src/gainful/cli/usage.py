"""Why a command line was not understood."""

from __future__ import annotations

from pathlib import Path

from cyclopts import CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError
from cyclopts.exceptions import ConsumeMultipleError

from gainful.errors import closest

# What other programs call the option for scores of topics.
_TOPICS = ("-q", "--per-query", "--per-topic", "--query", "--topic")
_VALUES = {Path: "FILE", float: "NUMBER", int: "NUMBER"}


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
    meant = closest(wrong[2:], known, alike=0.7)
    if wrong in _TOPICS:
        return f"Unknown option: {wrong}. 'gainful evaluate --per-topic' shows every topic, 'gainful explain' one."
    return f"Unknown option: {wrong}." + ("" if meant is None else f" Did you mean --{meant}?")


def _word(error: UnknownOptionError) -> str:
    return error.token.keyword or error.token.value
