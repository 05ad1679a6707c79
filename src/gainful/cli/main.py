"""The command line; what a command needs is imported when it runs, and trec_eval needs little."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from gainful.cli.commands import COMMANDS, GROUPS
from gainful.cli.output import printable_lines
from gainful.cli.start import INTERRUPTED, PIPE_CLOSED
from gainful.errors import GainfulError, UsageError, spoken
from gainful.memory import memory_limit

_STDOUT, _STDERR = 1, 2


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
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name that its encoding lacks is shown escaped
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if tokens is None else tokens)
    token = spoken.set("shell")
    gc.disable()  # a command makes next to no cycles, and its imports are a tenth faster
    try:
        memory_limit()  # which the environment may say, and wrongly
        status = _run(words)
        sys.stdout.flush()
    except UsageError as error:
        return fail(f"{error} Try 'gainful {_known_command(words)}--help'.", status=2)
    except GainfulError as error:
        return fail("\n".join([_as_typed(str(error), words), *getattr(error, "__notes__", ())]), status=1)
    except (BrokenPipeError, SystemExit):  # which is how rich leaves when the reader of the help text is gone
        _redirect(sys.stdout)  # so that Python's own flush at exit finds no closed pipe
        return PIPE_CLOSED
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), status=1)
    except MemoryError as error:
        why = f": {error}" if str(error) else ""
        return fail(f"not enough memory{why}; take fewer runs, topics or resamples at a time", status=1)
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
    from gainful.cli.app import call

    return call(words)


def fail(message: str, *, status: int) -> int:
    """Say why nothing comes of it; the exit status."""
    _flush(sys.stdout)
    with suppress(OSError):  # nobody listens: the status tells it
        print(f"gainful: error: {printable_lines(message)}", file=sys.stderr, flush=True)
    _flush(sys.stderr)
    return status


def _as_typed(message: str, words: list[str]) -> str:
    """What is said of a parameter, said of the option that it comes from: alpha is --alpha to whoever typed that."""
    name, colon, rest = message.partition(": expected ")
    option = f"--{name.replace('_', '-')}"
    given = any(word == option or word.startswith(f"{option}=") for word in words)
    return f"{option}{colon}{rest}" if colon and given else message


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


def open_streams() -> None:
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
