"""Everything gainful refuses, it refuses with one of these errors, and in the same words."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from contextvars import ContextVar
from numbers import Integral, Real
from typing import Any, Literal

# To whom messages speak: to those who write Python, or to those who type commands.
spoken: ContextVar[Literal["python", "shell"]] = ContextVar("spoken", default="python")


class GainfulError(ValueError):
    """Base of all errors raised on purpose; the message says where, what was expected, what was got."""


class DataError(GainfulError):
    """A file, frame or dict that cannot be read as qrels, run or scores; `remedy` is what to do about it, if known."""

    def __init__(self, *message: object, remedy: str = "") -> None:
        super().__init__(*message)
        self.remedy = remedy


class DuplicateError(DataError):
    """A document twice in a topic, where that is an error; made from what is twice, and where."""

    def __str__(self) -> str:
        return f"{self.args[0]}: remove one, or use {setting('duplicates', 'first')} to keep the first."


class TooLargeError(DataError):
    """A file that needs more memory than there may be; made from its name and the limit."""

    def __str__(self) -> str:
        how = "limit_memory" if spoken.get() == "python" else "--memory"
        where, limit = self.args
        return f"{where}: needs more than the {limit} of memory that gainful may take; {how} allows more"


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


def mention_keep_going(error: Exception) -> None:
    """Add to an error of one run among others what would leave that run out."""
    error.add_note(f"{setting('keep_going')} leaves out such runs, and goes on with the others.")


def no_run_left(failed: Sequence[tuple[str, str]], reason: str) -> DataError:
    """The error where no run can be read: that of the first, or `reason` if none was tried."""
    error = DataError(failed[0][1] if failed else reason)
    if len(failed) > 1:
        error.add_note(f"None of the {len(failed)} runs can be read; gainful check says what is wrong with each.")
    return error


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
    """The known spelling most like a wrong one, with the same letters if there is one; None if none is alike."""
    from difflib import get_close_matches  # not above: only those who err wait for it

    folded = {name.casefold(): name for name in reversed(list(known))}
    found = get_close_matches(wrong.casefold(), list(folded), cutoff=alike)
    found.sort(key=lambda name: sorted(name) != sorted(wrong.casefold()))
    return folded[found[0]] if found else None


def check_share(name: str, value: Any) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not (is_number(value) and 0.0 < value < 1.0):
        raise GainfulError(f"{name}: expected a number between 0 and 1, both excluded, got {value}")


def check_count(name: str, value: Any, *, least: int = 1, why: str = "") -> None:
    """Refuse what is not a whole number from `least` on, and tell why it has to be, if there is more to say."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise GainfulError(f"{name}: expected a whole number of at least {least}{why}, got {value}")


def check_finite(name: str, value: Any) -> None:
    """Refuse what is not a finite number."""
    if not (is_number(value) and math.isfinite(value)):
        raise GainfulError(f"{name}: expected a finite number, got {value}")


def check_sizes(sizes: Sequence[int], *, least: int = 1, most: int | None = None) -> tuple[int, ...]:
    """The numbers of topics as integers; refuses none, and any that is not whole or beyond `least` and `most`."""
    wanted = f"at least {least}" if most is None else f"from {least} to the {most} there are"
    given = check_numbers("sizes", sizes, "5, 10")
    wrong = [size for size in given if not (float(size).is_integer() and least <= size <= (most or size))]
    if wrong or not given:
        got = wrong[0] if wrong else "none"
        raise GainfulError(f"sizes: expected numbers of topics, whole and {wanted}, got {got}")
    return tuple(int(size) for size in given)


def check_numbers(name: str, values: Any, example: str) -> list[float]:
    """The numbers as a list; refuses a single one, and what is none."""
    given = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else None
    if given is None or not all(is_number(value) for value in given):
        raise GainfulError(f"{name}: expected a list of numbers such as [{example}], got {values!r}")
    return given


def check_cutoffs(name: str, cutoffs: Any, *, least: int = 1) -> tuple[int, ...]:
    """The cutoffs, each once and in order; refuses none, and any that is not a whole number from `least` on."""
    given = check_numbers(name, cutoffs, "10, 20")
    if not given:
        raise GainfulError(f"{name}: expected at least one, got none")
    for cutoff in given:
        check_count(name, cutoff, least=least)
    return tuple(sorted({int(cutoff) for cutoff in given}))


def is_number(value: object) -> bool:
    """Whether it is one; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)
