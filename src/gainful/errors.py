"""Everything gainful refuses, it refuses with one of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextvars import ContextVar
from typing import Literal

# To whom messages speak: to those who write Python, or to those who type commands.
spoken: ContextVar[Literal["python", "shell"]] = ContextVar("spoken", default="python")


class GainfulError(ValueError):
    """Base of all errors raised on purpose; the message says where, what was expected, what was got."""


class DataError(GainfulError):
    """A file, frame or dict that cannot be read as qrels, run or scores."""


class DuplicateError(DataError):
    """A document twice in a topic, where that is an error; made from what is twice, and where."""

    def __str__(self) -> str:
        return f"{self.args[0]}: remove one, or use {setting('duplicates', 'first')} to keep the first."


class MeasureError(GainfulError):
    """A measure that does not exist, or a parameter it does not take."""


class PolicyError(GainfulError):
    """A policy value that does not exist, or one that a measure cannot honour."""


class UsageError(GainfulError):
    """A command line that is not understood."""


class GainfulWarning(UserWarning):
    """Something about the data changes how a number must be read; the result's notes say the same."""


class MissingExtraError(GainfulError):
    """A package that only an extra of gainful brings is not installed."""

    def __init__(self, extra: str, what: str) -> None:
        super().__init__(f"{what} needs packages that are not installed: pip install '.[{extra}]' in a clone")


def setting(name: str, value: object = None) -> str:
    """A parameter, with its value if given, as the reader would write it: ties='order', or --ties order."""
    if spoken.get() == "python":
        return name if value is None else f"{name}={value!r}"
    option = f"--{name.replace('_', '-')}"
    return option if value is None else f"{option} {value}"


def check_choice(name: str, value: object, allowed: Collection[str]) -> None:
    """Refuse a value of the setting `name` that is not one of those allowed."""
    if value not in allowed:
        hint = did_you_mean(str(value), allowed)
        raise GainfulError(f"{name}: expected one of {', '.join(allowed)}, got {value!r}.{hint}")


def did_you_mean(wrong: str, known: Iterable[str], *, alike: float = 0.6) -> str:
    """' Did you mean 'x'?' for the closest known spelling, or nothing if none is that much alike."""
    found = closest(wrong, known, alike=alike)
    return "" if found is None else f" Did you mean {found!r}?"


def closest(wrong: str, known: Iterable[str], *, alike: float = 0.6) -> str | None:
    """The known spelling most like a wrong one; None if none is that much alike."""
    from difflib import get_close_matches  # not above: only those who err wait for it

    folded = {name.casefold(): name for name in reversed(list(known))}
    found = get_close_matches(wrong.casefold(), list(folded), n=1, cutoff=alike)
    return folded[found[0]] if found else None
