"""A page of its own: everything inside one HTML file, and nothing in the data can become markup or script."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import os
import re
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from gainful._version import __version__
from gainful.errors import DataError
from gainful.io.atomic import write_atomically

# Of a report, in the order in which they are run.
SCRIPTS = (
    *("shell.js", "charts.js", "ranking.js", "state.js", "grids.js"),
    *("leaderboard.js", "pairs.js", "topics.js", "report.js"),
)
# Forbids every request; scripts run only if they are the ones that were put here.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
    "script-src {}"
)


# Four times as fast as zlib's usual 6, and a tenth larger.
_PACKING = 4


def report_page(contents: dict[str, Any]) -> str:
    """The page of what `gather` gives; why topics scored what they did is packed, as it is most of the data."""
    rest = {name: value for name, value in contents.items() if name != "why"}
    return shell("report", rest, SCRIPTS, packed=contents["why"])


def shell(kind: str, contents: object, scripts: tuple[str, ...], packed: object = None) -> str:
    """A page, called `kind` in its title, that shows `contents` by `scripts`, which read `packed` when it is needed."""
    script = "\n".join(_file(name) for name in scripts)
    library = vega()
    hashes = " ".join(f"'sha256-{_hash(text)}'" for text in (library, script))
    parts = {
        "kind": kind,
        "version": __version__,
        "policy": _POLICY.format(hashes),
        "style": _file("report.css"),
        "contents": as_text(contents),
        "packed": base64.b64encode(gzip.compress(as_text(packed).encode(), _PACKING, mtime=0)).decode(),
        "vega": library,
        "script": script,
    }
    # In one go: what is put in is not looked through again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def as_text(contents: object) -> str:
    """JSON in ASCII without '<', so that nothing in it ends the script element; NaN becomes null."""
    try:
        text = json.dumps(contents, separators=(",", ":"), allow_nan=False, default=str)
    except (ValueError, TypeError):  # a number that JSON lacks, or a key
        text = json.dumps(_plain(contents), separators=(",", ":"), allow_nan=False, default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _file(name: str) -> str:
    return files("gainful.pages").joinpath(name).read_text(encoding="utf-8")


@cache
def vega() -> str:
    """All of Vega, Vega-Lite and Vega-Embed; they put themselves into `window`.

    Kept in the user's cache, under its hash: to bundle them takes as long as all the rest of a page.
    """
    import vl_convert

    kept = _cache() / f"vega-{version('vl-convert-python')}-{__version__}.js"
    with suppress(OSError, ValueError):
        known, script = kept.read_bytes().decode().split("\n", 1)
        if known == _hash(script):  # or it is damaged
            return script
    script = vl_convert.javascript_bundle(None)  # type: ignore[arg-type]  # all of Vega, as documented
    script = re.sub(r"</(?=script)", r"<\\/", script, flags=re.IGNORECASE)
    with suppress(OSError, DataError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, f"{_hash(script)}\n{script}")
    return script


def _cache() -> Path:
    with suppress(RuntimeError):
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gainful"
    return Path(os.devnull)  # this user has no home: nothing can be kept
