"""Words of docstrings and help texts, as Markdown."""

from __future__ import annotations

import re

_CODE = re.compile(r"(``.*?``|`[^`]*`)", re.DOTALL)


def escaped(text: str, also: str = "") -> str:
    """Keep what Markdown would take for emphasis, links or tags, and `also`; what stands in backticks is left alone."""
    parts = _CODE.split(text)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(rf"([*_\[{also}])", r"\\\1", parts[at]).replace("<", "&lt;")
    return "".join(parts)


def title(page: str) -> str:
    """The first heading of a page."""
    return next(line[2:] for line in page.splitlines() if line.startswith("# "))
