"""The compiled core, where there is one; the rest of the package does without it, more slowly.

``GAINFUL_PURE=1`` in the environment is as if it had not been built.
"""

from __future__ import annotations

import os

try:
    if os.environ.get("GAINFUL_PURE", "0") not in ("", "0"):
        raise ImportError("not wanted")
    from gainful._core import native
except ImportError:
    native = None  # type: ignore[assignment]

# What `gainful --version` says.
KIND = "pure Python" if native is None else "compiled core"
