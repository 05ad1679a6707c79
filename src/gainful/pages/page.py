"""A page of its own: everything inside one HTML file, and nothing in the data can become markup or script."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
import warnings
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from gainful._version import __version__
from gainful.errors import DataError, GainfulError, GainfulWarning
from gainful.io.atomic import write_atomically
from gainful.vega import converted

# Of a report, in the order in which they are run.
SCRIPTS = (
    *("shell.js", "exports.js", "charts.js", "state.js", "ranking.js", "beside.js", "grids.js"),
    *("leaderboard.js", "pairs.js", "heat.js", "topics.js", "head.js", "report.js"),
)
# Forbids every request; scripts run only if they are the ones that were put here.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
    "script-src {}"
)


# Nearly as small as zlib's usual 6 in less than half of its time: in numbers, short repetitions are chance.
_PACKING, _STRATEGY = 4, zlib.Z_FILTERED


# More runs are shown in groups, not pair by pair.
MOST_PAIRED = 40
# Pairs of all measures together, where they are packed: those of the first measures.
MOST_PAIRS = 250_000
_OF_PAIRS = (
    *("first", "second", "difference", "difference_low", "difference_high", "effect", "wins", "ties", "losses"),
    *("direction", "p", "p_corrected"),
)
# What is packed of a pair beside its interval: p-values in 1/10,000, and in the corrected one how the pair came out.
_UNITS, _SIGNIFICANT, _WORSE = 10_000, 1 << 15, 1 << 14
# As many as the digits of scores, see `contents`.
_PER_UNIT, _NO_SCORE = 10**8, 1 << 31


def report_page(contents: dict[str, Any]) -> str:
    """The page of what `gather` gives; what is not on the first screen is packed, as it is most of the data."""
    rest = {name: value for name, value in contents.items() if name != "why"}
    rest["scores"] = {name: _packed_scores(of) for name, of in contents["scores"].items()}
    rest["analyses"] = [{**each, "figures": None} for each in contents["analyses"]]
    charts = {each["id"]: each["figures"] for each in contents["analyses"] if "figures" in each}
    packed = {"why": "\n".join(_by_topic(contents["why"])).encode(), "charts": as_text(charts).encode()}
    comparison = contents["comparison"]
    if len(contents["systems"]) > MOST_PAIRED and comparison.get("baseline", "") is None:
        rest["comparison"], packed["pairs"] = packed_pairs(comparison, contents["settings"]["alpha"])
    return shell("report", rest, SCRIPTS, packed=packed)


def _by_topic(why: dict[str, Any]) -> Iterator[str]:
    """What all topics share, then one text per topic, so that a page reads no more than it opens."""
    if "absent" in why:
        yield as_text(why)
        return
    of_topics = {"documents", "labels", "rankings"}
    measures = why["measures"]
    told = {name: {key: of[key] for key in of.keys() - {"adds", "lost"}} for name, of in measures.items()}
    yield as_text({**{key: why[key] for key in sorted(why.keys() - of_topics)}, "measures": told})
    topics = len(why["documents"])
    for topic in range(topics):
        rows = slice(topic, None, topics)  # of all runs
        of_measures = {key: {name: of[key][rows] for name, of in measures.items()} for key in ("adds", "lost")}
        names = why["documents"][topic]
        prefix = os.path.commonprefix(names)  # noqa: RUF071 (letter by letter it is)
        own = {"prefix": prefix, "documents": [name[len(prefix) :] for name in names], "labels": why["labels"][topic]}
        yield as_text({**own, "rankings": why["rankings"][rows], **of_measures})


def _packed_scores(of: dict[str, Any]) -> dict[str, Any]:
    """The scores of a measure, as 32-bit numbers of so many per unit where they fit; the least stands for none."""
    values = np.array([*of["values"], of["topic_means"]], dtype=np.float64)
    if not np.nanmax(np.abs(values), initial=0.0) * _PER_UNIT < _NO_SCORE:
        return of
    told = np.where(np.isnan(values), -_NO_SCORE, np.round(values * _PER_UNIT)).astype("<i4")
    return {"summary": of["summary"], "per_unit": _PER_UNIT, "packed": base64.b64encode(told.tobytes()).decode()}


def packed_pairs(comparison: dict[str, Any], alpha: float) -> tuple[dict[str, Any], bytes]:
    """The comparison without its pairs, and these: per measure the ends of intervals, p and corrected p of each pair.

    Pairs come in the order of `itertools.combinations`. Intervals are 32-bit floats, p-values 16-bit numbers.
    """
    rest, data, room = {}, [], MOST_PAIRS
    for name, of in comparison["measures"].items():
        number = len(of["p"])
        rest[name] = {key: value for key, value in of.items() if key not in _OF_PAIRS}
        rest[name]["pairs"] = number if number <= room else 0
        if number > room:
            continue
        room -= number
        p, corrected = (np.asarray(of[key]) for key in ("p", "p_corrected"))
        worse = np.where(np.asarray(of["direction"]) < 0, _WORSE, 0)
        told = np.round(corrected * _UNITS).astype(int) + np.where(corrected < alpha, _SIGNIFICANT, 0) + worse
        ends = (np.asarray(of[f"difference_{end}"], dtype="<f4") for end in ("low", "high"))
        data += [*ends, np.round(p * _UNITS).astype("<u2"), told.astype("<u2")]
    return {**comparison, "measures": rest}, b"".join(part.tobytes() for part in data)


def shell(kind: str, contents: object, scripts: tuple[str, ...], packed: dict[str, bytes] | None = None) -> str:
    """A page, called `kind` in its title, that shows `contents` by `scripts`, which read `packed` when it is needed."""
    held = "\n".join(
        f'<script type="text/plain" id="packed-{name}">{_packed(data)}</script>'
        for name, data in (packed or {}).items()
    )
    script = "\n".join(_file(name) for name in scripts)
    library = vega()
    hashes = " ".join(f"'sha256-{_hash(text)}'" for text in (library, script))
    parts = {
        "kind": kind,
        "version": __version__,
        "policy": _POLICY.format(hashes),
        "style": _file("report.css"),
        "contents": as_text(contents),
        "packed": held,
        "vega": library,
        "script": script,
    }
    # In one go: what is put in is not looked through again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def _packed(data: bytes) -> str:
    packer = zlib.compressobj(_PACKING, wbits=31, strategy=_STRATEGY)  # with the header of gzip
    return base64.b64encode(packer.compress(data) + packer.flush()).decode()


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
    kept = _cache() / f"vega-{version('vl-convert-python')}-{__version__}.js"
    with suppress(OSError, ValueError):
        known, script = kept.read_bytes().decode().split("\n", 1)
        if known == _hash(script):  # or it is damaged
            return script
    try:
        script = converted("javascript_bundle", None).decode()  # all of Vega, as documented
    except GainfulError as error:  # the rest of the page is there all the same, and says it where charts would be
        warnings.warn(f"The page is without charts: {error}.", GainfulWarning, stacklevel=2)
        return f"window.vegaEmbed = async () => {{ throw new Error({as_text(str(error))}); }};"
    script = re.sub(r"</(?=script)", r"<\\/", script, flags=re.IGNORECASE)
    with suppress(OSError, DataError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, f"{_hash(script)}\n{script}")
    return script


def _cache() -> Path:
    with suppress(RuntimeError):
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gainful"
    return Path(os.devnull)  # this user has no home: nothing can be kept
