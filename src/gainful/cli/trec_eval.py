"""`gainful trec_eval`: the words after it are trec_eval's, so its rules apply and not those of the other commands."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from getopt import GetoptError, gnu_getopt
from typing import Any

from gainful._version import __version__
from gainful.cli.commands import COMMANDS
from gainful.cli.output import emit, note
from gainful.errors import GainfulWarning, UsageError

VERSION = "10.0"

# Each option: its letter, what follows it, its long name, what it does.
_OPTIONS = (
    ("h", "", "help", "Show this help, and describe the measures given with -m."),
    ("v", "", "version", "Show the version."),
    ("q", "", "query_eval_wanted", "Show the values of every topic, before those over all topics."),
    ("m", "MEASURE", "measure", "Compute this measure, or group of measures; may be repeated. Default: official."),
    ("c", "", "complete_rel_info_wanted", "Count judged topics that the run has nothing for as empty rankings."),
    ("l", "LABEL", "level_for_rel", "The label from which a document is relevant. Default: 1."),
    ("n", "", "nosummary", "Leave out the values over all topics."),
    ("M", "NUMBER", "Max_retrieved_per_topic", "Look at the first NUMBER documents of a topic alone."),
    ("J", "", "Judged_docs_only", "Remove documents without a judgment before all else."),
    ("N", "NUMBER", "Number_docs_in_coll", "The size of the collection, which only utility asks for."),
    ("R", "FORMAT", "Rel_info_format", "What QRELS is: qrels (the default), prefs, qrels_prefs or qrels_jg."),
    ("T", "FORMAT", "Results_format", "The format of RUN; trec_results is the only one."),
    ("o", "", "Output_old_results_format", "No effect, as in trec_eval."),
    ("D", "LEVEL", "Debug_level", "Not supported: see 'gainful explain'."),
    ("Z", "FILE", "Zscore", "Show z-scores, by means and deviations in lines such as '301 map 0.12 0.15'."),
    ("", "VERSION", "trec-version", "Which trec_eval to follow: 10 (the default) or 9."),
)
_SHORT = "".join(letter + (":" if value else "") for letter, value, _, _ in _OPTIONS if letter)
_LONG = [name + ("=" if value else "") for _, value, name, _ in _OPTIONS]
_LETTER = {f"--{name}": f"-{letter}" for letter, _, name, _ in _OPTIONS if letter}
_DIGITS = 15  # which a float64 holds
# Options of which some values are known.
_CHOICES = {
    "-R": ("qrels", "prefs", "qrels_prefs", "qrels_jg"),
    "-T": ("trec_results",),
    "--trec-version": ("9", "10"),
}


def trec_eval(*words: str) -> None:
    """Score as trec_eval does: its options, its names, its digits.

    Parameters
    ----------
    words
        trec_eval's command line: options, qrels and run; -h describes them.
    """
    files, measures, flags, settings = _parse(list(words))
    if "-h" in flags:
        emit("\n".join(_help(measures)) + "\n")
        return
    if "-v" in flags:
        emit(f"gainful {__version__}, as trec_eval {VERSION}\n")
        return
    if len(files) != 2:
        got = f"{len(files)}: {', '.join(files)}" if files else "none"
        raise UsageError(f"expected two files, qrels and run, got {got}.")
    from gainful.compat.trec_eval import trec_eval as result_of

    (qrels, run), asked = files, measures or ("official",)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)  # the notes of the result say the same
        result = result_of(qrels, run, asked, complete="-c" in flags, judged_only="-J" in flags, **settings)
    emit("".join(result.lines(per_topic="-q" in flags, summary="-n" not in flags)))
    for text in result.notes():
        note(f"note: {text}.")
    if result.missing == len(result.topics):
        note(f"note: {run} has none of the judged topics: do these qrels belong to it?")


def _parse(words: list[str]) -> tuple[list[str], list[str], set[str], dict[str, Any]]:
    """The files, the measures, the options without a value, and the parameters that the others are."""
    try:
        options, files = gnu_getopt(words, _SHORT, _LONG)
    except GetoptError as error:
        raise UsageError(f"{error.msg}.") from None
    measures, flags = [], set()
    settings: dict[str, Any] = {}
    for name, value in options:
        option = _LETTER.get(name, name)
        if option == "-D":
            raise UsageError("-D: there is no debug output; 'gainful explain' shows how a score comes about.")
        if option in _CHOICES and value not in _CHOICES[option]:
            raise UsageError(f"{option}: expected {' or '.join(_CHOICES[option])}, got {value!r}.")
        if option == "-m":
            measures.append(value)
        elif option == "-l":
            settings["level"] = _number(option, value, r"\d+(\.\d*)?|\.\d+", "a label of at least 0")
        elif option == "-M":
            settings["depth"] = int(_number(option, value, r"0*[1-9]\d*", "a whole number of at least 1"))
        elif option == "-N":
            settings["documents"] = int(_number(option, value, r"\d+", "a whole number"))
        elif option == "-R":
            settings["format"] = value
        elif option == "-Z":
            settings["zscores"] = value
        elif option == "--trec-version":
            settings["version"] = int(value)
        else:
            flags.add(option)
    return files, measures, flags, settings


def _number(option: str, value: str, pattern: str, expected: str) -> float:
    if not re.fullmatch(pattern, value, re.ASCII):
        raise UsageError(f"{option}: expected {expected}, got {value!r}.")
    if len(value) > _DIGITS:
        raise UsageError(f"{option}: expected {expected}, of at most {_DIGITS} digits, got {value!r}.")
    return float(value)


def _help(measures: list[str]) -> Iterator[str]:
    yield "Usage: gainful trec_eval [OPTIONS] QRELS RUN"
    yield ""
    yield "Score as trec_eval does: its options, its names, its digits. RUN may be -, standard input."
    yield ""
    for letter, value, name, text in _OPTIONS:
        flag = f"-{letter} {value}".rstrip() if letter else ""
        yield f"  {flag:<12}--{name}" + ("" if letter else f" {value}")
        yield f"              {text}"
    yield ""
    yield "A measure may have parameters: P.5,10, iprec_at_recall.0.1,0.2, ndcg.1=3,2=9, set_F.0.5, relstring.20."
    yield "Groups: official, set, all_trec; for preferences prefs, all_prefs; for groups of assessors qrels_jg."
    yield "-h -m all_trec describes all measures, -h -m map one."
    yield ""
    yield f"Example: {COMMANDS['trec_eval'].example}"
    if measures:
        from gainful.compat.trec_table import select

        yield ""
        entries = {column.entry.name: column.entry for column in select(measures)}
        for entry in entries.values():
            default = ",".join(f"{number:g}" for number in entry.default if isinstance(number, int | float))
            yield f"{entry.name}" + (f".{default}" if default else "")
            yield f"    {entry.help}"
