"""Names come from files: what a terminal would obey in them is shown instead."""

from __future__ import annotations


def shown(text: str) -> str:
    """The text with control characters, line ends included, spelled out."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def shown_lines(text: str) -> str:
    """Several lines, each with control characters spelled out."""
    return "\n".join(map(shown, text.split("\n")))
