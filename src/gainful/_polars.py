"""polars, imported when something of it is first used: text, dicts and small results need none of it.

No other module imports polars: ``from gainful import _polars as pl`` stands for ``import polars as pl``.
"""

import signal
import sys
from typing import Any


def __getattr__(name: str) -> Any:
    first = "polars" not in sys.modules
    import polars

    if first and hasattr(signal, "siginterrupt"):
        # polars takes over Ctrl-C, and lets it wait for what may never come: a line from a pipe, say.
        signal.siginterrupt(signal.SIGINT, True)
    return getattr(polars, name)
