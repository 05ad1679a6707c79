"""The command line: `gainful COMMAND …`.

A command's module, and with it polars, is imported only when that command runs.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from cyclopts import App, CycloptsError

from gainful._version import __version__
from gainful.cli.escape import shown_lines
from gainful.cli.examples import epilogue
from gainful.cli.start import INTERRUPTED, PIPE_CLOSED
from gainful.cli.wording import in_options, misunderstood
from gainful.errors import GainfulError

_STDOUT, _STDERR = 1, 2

# The first line of each function's docstring, so that `gainful --help` need not import it; a test compares them.
COMMANDS = {
    "evaluate": "Score runs against judgments.",
    "compare": "Find out whether the difference of runs is real: paired tests, intervals, effect sizes, wins.",
    "explain": "Show how the score of one topic comes about, rank by rank, and where it was lost.",
    "trec_eval": "Score as trec_eval does: its options, its names, its digits.",
    "reliability": "Tell how reliable scores are, and how many topics it takes to make them so.",
    "stability": "Find how often fewer topics would order two systems the other way round.",
    "sensitivity": "Find which measure tells systems apart: the significance of all pairs, and the share that is told "
    "apart.",
    "robustness": "Find out whether judgments are deep enough: take some away, and see if runs keep their order.",
    "boundedness": "Find out which values nDCG can take with negative labels: its range in every topic, and the runs "
    "outside of it.",
    "agreement": "Find how far measures agree on the order of systems, and which systems move.",
    "topics": "Find how many topics a t-test, an ANOVA or a confidence interval needs.",
    "optimize": "Choose the gain and discount of nDCG that make its scores most reliable.",
    "threshold fit": "Find where to cut a run: the threshold on its scores that is best for a measure, and what it is "
    "worth.",
    "threshold apply": "Cut a run: keep the documents whose score reaches a threshold.",
    "threshold curve": "Show what every threshold on a run's scores gains and costs.",
    "ltrf train": "Train a ranker that also filters: the best epoch and the threshold are those of the highest "
    "validation nDCGf.",
    "ltrf score": "Rank documents with an f-ranker, and leave out what must not be shown.",
    "ltrf compare": "Compare losses and baselines that rank and filter, on queries that none of them has seen.",
    "ltrf tune": "Search at random for settings that make an f-ranker better; the validation nDCGf decides.",
    "study negative-labels": "Find what negative labels do to nDCG: bounds, order of runs, reliability, stability, "
    "sensitivity.",
    "study gain-discount": "Find which gain and discount make nDCG most reliable, and how far those that people use "
    "are from it.",
    "study incomplete-judgments": "Find which of bpref, infAP and nDCG bears incomplete judgments: order of runs, "
    "decisions, binary and graded.",
    "study forbidden-documents": "Find which nDCG to trust where documents must be filtered out, and which loss learns "
    "to do so.",
    "report": "Put everything on one page: who wins, whether it is real, every topic explained, how far to trust it.",
    "measures": "List all measures, or describe one.",
    "simulate": "Make a test collection with known truth: graded and negative labels, pooled judgments, runs of teams.",
    "demo": "Take the five-minute tour on a simulated collection.",
}

# Commands of two words, by the first of them.
GROUPS = {
    "threshold": "Cut result lists: find the threshold, apply it, see the whole curve.",
    "ltrf": "Learn to rank and filter: train rankers that leave out what must not be shown, and use them.",
    "study": "Make the experiments of a paper anew: its tables and figures on your collections, beside the published.",
}

app = App(
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
groups: dict[str, App] = {}
for place, (command, headline) in enumerate(COMMANDS.items()):
    first, _, second = command.partition(" ")
    if second and first not in groups:
        groups[first] = App(name=first, help=GROUPS[first], sort_key=place)
        app.command(groups[first])
    home = groups[first] if second else app
    function = (second or first).replace("-", "_")
    home.command(
        f"gainful.cli.{first}:{function}",
        name=second or first,
        help=headline,
        help_epilogue=epilogue(command),
        sort_key=place,
    )


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
        # A name that the terminal's encoding lacks is shown escaped, not answered with a traceback.
        getattr(stream, "reconfigure", _ignore)(errors="backslashreplace")
    words = list(sys.argv[1:] if tokens is None else tokens)
    gc.disable()  # a command makes next to no cycles, and its imports are a tenth faster
    try:
        status = _run(words)
        sys.stdout.flush()
    except CycloptsError as error:
        return _fail(f"{misunderstood(error)} Try 'gainful {_known_command(words)}--help'.", status=2)
    except GainfulError as error:
        return _fail(in_options(str(error)), status=1)
    except BrokenPipeError:
        return _silenced()
    except SystemExit:  # how rich leaves when the reader of the help text is gone
        return _silenced()
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), status=1)
    except MemoryError as error:
        why = f": {error}" if str(error) else ""
        return _fail(f"not enough memory{why}; take fewer runs, topics or resamples at a time", status=1)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        gc.enable()
    _flush(sys.stderr)
    return status


def _run(words: list[str]) -> int:
    if words[:1] == ["trec_eval"]:  # its words follow trec_eval's rules: -qc, -M100, -mmap
        from gainful.cli.trec_eval import trec_eval

        trec_eval(*words[1:])
        return 0
    status = app(words)
    return status if isinstance(status, int) else 0


def _fail(message: str, *, status: int) -> int:
    _flush(sys.stdout)
    with suppress(OSError):  # nobody listens: the status tells it
        print(f"gainful: error: {shown_lines(message)}", file=sys.stderr, flush=True)
    _flush(sys.stderr)
    return status


def _known_command(words: list[str]) -> str:
    for known in (" ".join(words[:2]), *words[:1]):
        if known in COMMANDS or known in GROUPS:
            return f"{known} "
    return ""


def _silenced() -> int:
    """Point stdout elsewhere, so that Python's own flush at exit finds no closed pipe."""
    _redirect(sys.stdout)
    return PIPE_CLOSED


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


def _ignore(**_: str) -> None:
    """Stand in for `reconfigure` where a stream, such as a test's, has none."""
