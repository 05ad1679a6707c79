"""How hard the tests try: the suite is run often and takes a share, `make fuzz` takes its time."""

from __future__ import annotations

import os

_SHARE = 8


def examples(most: int) -> int:
    """The number of examples of a property: `most` under GAINFUL_FUZZ=1, else an eighth."""
    return most if os.environ.get("GAINFUL_FUZZ") else most // _SHARE
