"""The text of a measure as trec_eval takes it: a name or a group, with parameters after a dot."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from gainful.compat.trec_table import GROUPS, TABLE, Column, Entry
from gainful.errors import MeasureError, did_you_mean

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LIST = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*")
# Measures of preferences and of groups of judges, whose file formats are not read.
_FOREIGN = re.compile(r"(all_)?prefs(_\w+)?|qrels_jg|\w+_avgjg")


def select(texts: Iterable[str]) -> list[Column]:
    """The lines that measures stand for, in trec_eval's order.

    Parameters come after a dot (``P.5,10``) or as in results (``P_5``), and take the place of the defaults; those of
    several texts add up.
    """
    asked: dict[str, list[str]] = {}
    for text in texts:
        name, parameters = _split(text)
        for member in GROUPS.get(name, (name,)):
            given = asked.setdefault(member, [])
            if parameters is not None and parameters not in given:
                given.append(parameters)
    return [column for name, entry in TABLE.items() if name in asked for column in _columns(entry, asked[name])]


def _split(text: str) -> tuple[str, str | None]:
    """The name and the parameters of a measure's text."""
    name, dot, parameters = text.partition(".")
    if name in GROUPS and dot:
        raise MeasureError(f"{name} is a group of measures and takes no parameters, got {text!r}")
    if name in TABLE or name in GROUPS:
        return name, parameters if dot else None
    for known in sorted(TABLE, key=len, reverse=True):
        rest = text.removeprefix(known + "_")
        if TABLE[known].kind != "plain" and rest != text and (_LIST.fullmatch(rest) or "=" in rest):
            return known, rest
    if _FOREIGN.fullmatch(name):
        raise MeasureError(f"{text!r} is for preference or multiple judgments, which are not supported: only qrels are")
    hint = did_you_mean(name, (*TABLE, *GROUPS)).replace("'?", dot + parameters + "'?")
    raise MeasureError(f"Unknown measure {text!r}.{hint} 'gainful trec_eval -h -m all_trec' lists them.")


def _columns(entry: Entry, given: list[str]) -> list[Column]:
    if not given:
        if entry.kind == "cutoffs" or entry.kind == "shares":
            return [_column(entry, value) for value in entry.default]
        return [Column(name=entry.name, entry=entry, arguments=tuple(entry.default))]
    if entry.kind == "plain":
        raise MeasureError(f"{entry.name} takes no parameters, got '{entry.name}.{given[0]}'")
    if entry.kind == "cutoffs" or entry.kind == "shares":
        return [_column(entry, value) for value in sorted({value for text in given for value in _numbers(entry, text)})]
    read = _numbers if entry.kind == "numbers" else _pairs
    return [Column(name=f"{entry.name}_{text}", entry=entry, arguments=read(entry, text)) for text in given]


def _column(entry: Entry, value: float) -> Column:
    text = f"{value:3.2f}" if entry.kind == "shares" else f"{value}"
    return Column(name=f"{entry.name}_{text}", entry=entry, arguments=(value,))


_WANTED = {
    "cutoffs": "whole numbers of at least 1, such as {name}.5,10",
    "shares": "numbers of at least 0, such as {name}.0.2,0.5",
    "11pt_avg": "numbers of at least 0, such as 11pt_avg.0.2,0.5,0.8",
    "utility": "four numbers, such as utility.1,-1,0,0",
    "set_F": "one positive number, such as set_F.0.5",
    "relstring": "one whole number of at least 1, such as relstring.20",
    "pairs": "pairs of a label and its gain, such as {name}.1=3.5,2=9",
    "rbp": "p, between 0 and 1, and pairs of a label and its gain, such as rbp.p=0.8,1=0.5",
    "rbp_resid": "p, between 0 and 1, such as rbp_resid.p=0.8",
}


def _refuse(entry: Entry, text: str) -> MeasureError:
    wanted = _WANTED.get(entry.name, _WANTED.get(entry.kind, "")).format(name=entry.name)
    return MeasureError(f"{entry.name} takes {wanted}; got '{entry.name}.{text}'")


def _number(entry: Entry, part: str, text: str) -> float:
    if not re.fullmatch(_NUMBER, part) or not math.isfinite(float(part)):
        raise _refuse(entry, text)
    return float(part)


def _numbers(entry: Entry, text: str) -> tuple[float, ...]:
    """Numbers that suit the measure; trec_eval would read a cutoff of 23.4 as 23."""
    values = tuple(_number(entry, part, text) for part in text.split(","))
    whole = all(value.is_integer() and 1 <= value < 2**53 for value in values)
    valid = {
        "cutoffs": whole,
        "utility": len(values) == 4,
        "set_F": len(values) == 1 and values[0] > 0,
        "relstring": len(values) == 1 and whole,
    }
    if not valid.get(entry.kind, valid.get(entry.name, min(values) >= 0)):
        raise _refuse(entry, text)
    return tuple(map(int, values)) if entry.kind == "cutoffs" else values


def _pairs(entry: Entry, text: str) -> tuple[dict[float, float]] | tuple[dict[float, float], float]:
    """Gains by label; and p, if it is given."""
    gains: dict[float, float] = {}
    persistence = None
    for part in text.split(","):
        label, _, given = part.partition("=")
        gain = _number(entry, given, text)
        if label == "p" and entry.name.startswith("rbp") and persistence is None and 0 < gain < 1:
            persistence = gain
            continue
        # In trec_eval, -1 and -2 would be documents outside the pool and in it without a judgment.
        named = re.fullmatch(_NUMBER, label) and float(label) >= 0 and entry.name != "rbp_resid"
        if not named or float(label) in gains:
            raise _refuse(entry, text)
        gains[float(label)] = gain
    return (gains,) if persistence is None else (gains, persistence)
