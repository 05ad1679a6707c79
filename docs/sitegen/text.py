"""Words of docstrings and help texts, as Markdown."""

from __future__ import annotations

import re

_CODE = re.compile(r"(``.*?``|`[^`]*`)", re.DOTALL)


def escaped(text: str, also: str = "") -> str:
    """Keep what Markdown would take for emphasis, links or tags, and `also`; what stands in backticks is left alone."""
    parts = _CODE.split(text)
    return "".join(part if at % 2 else re.sub(rf"([*_<\[{also}])", r"\\\1", part) for at, part in enumerate(parts))


def title(page: str) -> str:
    """The first heading of a page."""
    return next(line[2:] for line in page.splitlines() if line.startswith("# "))
