"""polars, imported when something of it is first used: text, dicts and small results need none of it.

Modules that may be imported without need of polars say ``from gainful import _polars as pl`` where others say
``import polars as pl``.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    import polars

    return getattr(polars, name)
