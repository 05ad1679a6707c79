"""What stands after an option: whole numbers, and several values separated by commas, by blanks, or by the option."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cyclopts import Parameter, Token

from gainful.errors import did_you_mean

Item = TypeVar("Item")


def whole(_: type, tokens: Sequence[Token]) -> int:
    """Cyclopts would round 1.5 to 2."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"expected a whole number, got {tokens[0].value!r}.") from None


def listed(read: Callable[[str], Item], wanted: str, *, suggest: Callable[[str], str] = lambda _: "") -> Parameter:
    """Some values, each as `read` takes it; `wanted` says what they are."""

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

    return Parameter(converter=convert, negative="", consume_multiple=True, show_default=_commas)


def choices(allowed: Sequence[str]) -> Parameter:
    """Some of a few words, such as t,tukey."""

    def read(word: str) -> str:
        if word not in allowed:
            raise ValueError(word)
        return word

    return listed(read, f"some of {','.join(allowed)}", suggest=lambda word: did_you_mean(word, allowed))


def pairs() -> Parameter:
    """Judgments and runs of further collections: two words each."""

    def convert(_: object, tokens: Sequence[Token]) -> tuple[tuple[str, str], ...]:
        words = [token.value for token in tokens]
        if len(words) % 2:
            raise ValueError(f"expected judgments and runs, got {words[-1]!r} alone.")
        return tuple(zip(words[::2], words[1::2], strict=True))

    return Parameter(converter=convert, negative="", n_tokens=2, allow_repeating=True, show_default=False)


def _commas(values: Any) -> str | None:
    """How such an option shows its default, if it has one."""
    if values is None or values == ():
        return None
    several = values if isinstance(values, list | tuple) else [values]
    return ",".join(value if isinstance(value, str) else f"{value:g}" for value in several)
