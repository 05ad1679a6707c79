"""Options that take several values: separated by commas, by blanks, or the option given again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cyclopts import Parameter, Token

from gainful.errors import did_you_mean

Item = TypeVar("Item")


def _listed(
    read: Callable[[str], Item],
    wanted: str,
    *,
    suggest: Callable[[str], str] = lambda _: "",
    shown: Callable[[Any], str] | None = None,
) -> Parameter:
    def convert(_: object, tokens: Sequence[Token]) -> tuple[Item, ...]:
        words = [word for token in tokens for word in token.value.split(",") if word]
        found = []
        for word in words:
            try:
                found.append(read(word))
            except ValueError:
                # Blanks may separate values, so a file after the option is taken for one.
                hint = " Files go before the option." if Path(word).exists() else suggest(word)
                raise ValueError(f"expected {wanted}, got {word!r}.{hint}") from None
        if not found:
            raise ValueError(f"expected {wanted}, got none.")
        return tuple(found)

    return Parameter(converter=convert, negative="", consume_multiple=True, show_default=shown)


def choices(allowed: Sequence[str]) -> Parameter:
    """Some of a few words, such as t,tukey."""

    def read(word: str) -> str:
        if word not in allowed:
            raise ValueError(word)
        return word

    wanted = f"some of {','.join(allowed)}"
    return _listed(read, wanted, suggest=lambda word: did_you_mean(word, allowed), shown=",".join)


def commas(values: Sequence[float]) -> str:
    """How such an option shows its default, if it has one."""
    return ",".join(f"{value:g}" for value in values)


WHOLES = _listed(int, "whole numbers such as 5,10")
NUMBERS = _listed(float, "numbers such as 0.5,1")
