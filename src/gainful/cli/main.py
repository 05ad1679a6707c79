"""The command line: commands are made from functions (see `make`), and what computes is imported when one runs."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from cyclopts import App, CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError
from cyclopts.exceptions import ConsumeMultipleError

from gainful._version import __version__
from gainful.cli.commands import COMMANDS, GROUPS
from gainful.cli.make import headline, hyphens_kept, load, made
from gainful.cli.output import printable_lines
from gainful.cli.start import INTERRUPTED, PIPE_CLOSED
from gainful.errors import GainfulError, GainfulWarning, closest, spoken

_STDOUT, _STDERR = 1, 2
# What other programs call the option for scores of topics.
_TOPICS = ("-q", "--per-query", "--per-topic", "--query", "--topic")
_VALUES = {Path: "FILE", float: "NUMBER", int: "NUMBER"}


def _app() -> App:
    return App(
        name="gainful",
        help="Measure rankings, and measure the measures.\n\nNew here? 'gainful demo' is a tour of five minutes, "
        "'gainful COMMAND --help' describes a command.",
        version=f"gainful {__version__}",
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
        (app[first] if second else app).command(
            function,
            name=second or first,
            help=headline(function),
            help_epilogue=f"Example: {command.example}",
            sort_key=place,
        )
    if not only and "--install-completion" not in app:
        app.register_install_completion_command(name="--install-completion")


_registered: set[str] = set()


def main(tokens: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status.

    Parameters
    ----------
    tokens
        The words after `gainful`; those of this process if not given.

    Returns
    -------
    int
        0; 1 for input that gainful refuses; 2 for a command line it does not understand; 3 for a run that does not
        pass (`compare --fail-if-worse`); 130 and 141 for Ctrl-C and a closed pipe.
    """
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name that its encoding lacks is shown escaped
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if tokens is None else tokens)
    token = spoken.set("shell")
    gc.disable()  # a command makes next to no cycles, and its imports are a tenth faster
    try:
        status = _run(words)
        sys.stdout.flush()
    except CycloptsError as error:
        return _fail(f"{misunderstood(error)} Try 'gainful {_known_command(words)}--help'.", status=2)
    except GainfulError as error:
        return _fail(str(error), status=1)
    except (BrokenPipeError, SystemExit):  # which is how rich leaves when the reader of the help text is gone
        _redirect(sys.stdout)  # so that Python's own flush at exit finds no closed pipe
        return PIPE_CLOSED
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), status=1)
    except MemoryError as error:
        why = f": {error}" if str(error) else ""
        return _fail(f"not enough memory{why}; take fewer runs, topics or resamples at a time", status=1)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        gc.enable()
        spoken.reset(token)
    _flush(sys.stderr)
    return status


def _run(words: list[str]) -> int:
    if words[:1] == ["trec_eval"]:  # its words follow trec_eval's rules: -qc, -M100, -mmap
        from gainful.cli.trec_eval import trec_eval

        trec_eval(*words[1:])
        return 0
    first = words[0] if words else ""
    brief = first in ("", "--help", "-h")
    if first != "--version" and not brief:
        register(*([first] if first in GROUPS or first in COMMANDS else []))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)  # the notes of the result say the same
        status = (overview() if brief else app)(hyphens_kept(words))
    return status if isinstance(status, int) else 0


def _fail(message: str, *, status: int) -> int:
    _flush(sys.stdout)
    with suppress(OSError):  # nobody listens: the status tells it
        print(f"gainful: error: {printable_lines(message)}", file=sys.stderr, flush=True)
    _flush(sys.stderr)
    return status


def _known_command(words: list[str]) -> str:
    for known in (" ".join(words[:2]), *words[:1]):
        if known in COMMANDS or known in GROUPS:
            return f"{known} "
    return ""


def _flush(stream: TextIO) -> None:
    """What cannot be written goes nowhere, so that Python's own flush at exit succeeds."""
    try:
        stream.flush()
    except OSError:
        _redirect(stream)


def _open_streams() -> None:
    """Take the place of streams that were closed before we began, lest a file that we open takes it.

    What is meant for a closed stdout cannot be written, and is an error; messages are not missed.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        if descriptor == _STDOUT:
            os.close(descriptor)
            os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    if sys.stdout is None:
        sys.stdout = open(_STDOUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(_STDERR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _redirect(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


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
