"""Measures of other packages that are installed: those that name a module, or a function, in the group of entry points.

In the ``pyproject.toml`` of such a package::

    [project.entry-points."gainful.measures"]
    mine = "my_package.measures"

Importing the module registers its measures; a function is called, without arguments, to do it.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING

from gainful.measures.registry import REGISTRY

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "gainful.measures"


@cache
def load_installed() -> tuple[str, ...]:
    """Register the measures of all installed packages, once; what could not be loaded, a sentence for each."""
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    return tuple(problem for entry in found if (problem := _load(entry)))


def _load(entry: EntryPoint) -> str:
    """Nothing, or why it could not be loaded."""
    try:
        loaded = entry.load()
        # A measure is registered by its decorator, when its module is imported.
        if not inspect.ismodule(loaded) and all(loaded is not known.function for known in REGISTRY.values()):
            loaded()
    except (Exception, SystemExit) as error:  # whatever the code of others does
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        package = entry.dist.name if entry.dist else entry.name
        return (
            f"The measures of the installed package {package!r} cannot be loaded "
            f"({entry.value}: {type(error).__name__}: {reason})."
        )
    return ""
