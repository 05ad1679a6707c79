"""What a measure's parameters may be: each kind checks a value and writes it back as text.

A measure names a kind by annotating its parameter (``cutoff: Cutoff = None``); plain ``bool`` and ``Literal``
annotations need no kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias, get_args

Value: TypeAlias = "bool | int | float | str | tuple[float, ...] | tuple[tuple[float, float], ...] | None"

GAINS = ("linear", "exp")
DISCOUNTS = ("log2", "jk", "zipf", "linear", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Checks a value; `wanted` completes the sentence 'The 'k' parameter must be …'."""

    wanted: str
    optional: bool = False

    def read(self, value: object) -> Value:
        """The value in its one form; raises ValueError or TypeError if it is not acceptable."""
        return None if value is None and self.optional else self._read(value)

    def _read(self, value: object) -> Value:
        raise NotImplementedError


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


@dataclass(frozen=True, slots=True)
class Whole(Kind):
    """A whole number of at least 1."""

    wanted: str = field(default="a whole number of at least 1", kw_only=True)

    def _read(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**53:
            raise ValueError(value)
        return value


@dataclass(frozen=True, slots=True)
class Number(Kind):
    """A finite number, within bounds if given (`open`: the bounds themselves excluded)."""

    low: float = -math.inf
    high: float = math.inf
    open: bool = False
    wanted: str = field(default="a finite number", kw_only=True)

    def _read(self, value: object) -> float:
        number = _number(value)
        if not (self.low < number < self.high if self.open else self.low <= number <= self.high):
            raise ValueError(value)
        return number


@dataclass(frozen=True, slots=True)
class Choice(Kind):
    """One of a few words."""

    words: tuple[str, ...]
    wanted: str = field(default="one of a few words", kw_only=True, compare=False)

    def _read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(value)
        return value


@dataclass(frozen=True, slots=True)
class Flag(Kind):
    """True or False."""

    wanted: str = field(default="True or False", kw_only=True)

    def _read(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise TypeError(value)
        return value


@dataclass(frozen=True, slots=True)
class GainKind(Kind):
    """A named gain, or a map from label to gain (kept as sorted pairs, so that measures can be compared)."""

    wanted: str = field(default="linear, exp or a map from label to gain such as {-2: -10, 1: 1}", kw_only=True)

    def _read(self, value: object) -> str | tuple[tuple[float, float], ...]:
        if isinstance(value, str) and value in GAINS:
            return value
        if isinstance(value, Mapping) and value:
            return tuple(sorted((_number(label), _number(gain)) for label, gain in value.items()))
        if isinstance(value, tuple) and value and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
            return self._read(dict(value))
        raise ValueError(value)


@dataclass(frozen=True, slots=True)
class DiscountKind(Kind):
    """A named discount, or the discounts of ranks 1, 2, … as a list."""

    wanted: str = field(
        default=f"one of {', '.join(DISCOUNTS)}, or a list of non-negative numbers such as [1, 0.5, 0.2]", kw_only=True
    )

    def _read(self, value: object) -> str | tuple[float, ...]:
        if isinstance(value, str):
            if value in DISCOUNTS:
                return value
        elif isinstance(value, Sequence) and not isinstance(value, bytes) and value:
            numbers = tuple(_number(weight) for weight in value)
            if min(numbers) >= 0 and max(numbers) > 0:
                return numbers
        raise ValueError(value)


Cutoff = Annotated[int | None, Whole(optional=True)]
Depth = Annotated[int, Whole()]
Rel = Annotated[float, Number()]
Gain = Annotated[str | tuple[tuple[float, float], ...], GainKind()]
Discount = Annotated[str | tuple[float, ...], DiscountKind()]
Base = Annotated[float, Number(1.0, math.inf, open=True, wanted="a finite number greater than 1")]
Beta = Annotated[float, Number(1e-6, 1e6, wanted="a number between 0.000001 and 1000000")]
Recall = Annotated[float, Number(0.0, 1.0, wanted="a recall level between 0 and 1")]
Persistence = Annotated[float, Number(0.0, 1.0, open=True, wanted="a number between 0 and 1, both excluded")]
Share = Annotated[float, Number(0.0, 1.0, wanted="a number between 0 and 1")]
TopLabel = Annotated[float | None, Number(0.0, 1000.0, optional=True, wanted="a number between 0 and 1000, or None")]
Norm = Literal["zero", "org", "min", "f"]
Negatives = Literal["nonrelevant", "unjudged"]


def kind_of(annotation: object) -> Kind:
    """The kind behind an annotation of a measure's signature."""
    for extra in getattr(annotation, "__metadata__", ()):
        if hasattr(extra, "read") and hasattr(extra, "wanted"):
            return extra  # type: ignore[no-any-return]
    if annotation is bool:
        return Flag()
    if annotation is int:
        return Whole()
    if annotation is float:
        return Number()
    words = get_args(annotation)
    if words and all(isinstance(word, str) for word in words):
        return Choice(words, wanted=f"one of {', '.join(words)}")
    raise TypeError(
        f"expected bool, int, float, a Literal of strings or a kind of gainful.measures.parameters, got {annotation!r}"
    )


def write(value: Value) -> str:
    """A parameter value as the grammar spells it."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            return "{" + ", ".join(f"{write(label)}: {write(gain)}" for label, gain in value) + "}"
        return "[" + ", ".join(write(weight) for weight in value) + "]"
    if isinstance(value, int):
        return repr(value)
    return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
