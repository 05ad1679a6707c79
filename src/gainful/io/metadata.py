"""What is known of runs beside their rankings, such as team, type and description: from a table, or from their headers.

A header is what ir_metadata puts before the first line of a run: YAML in comments, between ``# ir_metadata.start`` and
``# ir_metadata.end``. Of it, the lines ``key: value`` are read.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gainful.data.metadata import Metadata
from gainful.errors import DataError
from gainful.io.archives import Member
from gainful.io.compression import decompress, is_compressed
from gainful.io.encoding import decode, to_utf8
from gainful.io.files import HEAD, read_bytes, unpacked
from gainful.io.read import entries_of
from gainful.io.remote import RemoteFile
from gainful.io.strays import first_bytes
from gainful.results import listed

# The word that asks for the headers of the runs.
HEADERS = "headers"
_START, _END = b"# ir_metadata.start", b"# ir_metadata.end"


def read_metadata(source: Any, runs: Any = None) -> Metadata:
    """Run → field → value: of a mapping, of a CSV or TSV file with a column run, or of the headers of `runs`."""
    if isinstance(source, Mapping):
        return {str(run): _texts(fields) for run, fields in source.items()}
    if source == HEADERS:
        return _of_headers(runs)
    if not isinstance(source, str | os.PathLike):
        raise DataError(f"metadata: expected a file, a mapping or {HEADERS!r}, got {type(source).__name__}")
    where = str(source)
    data = bytes(read_bytes(Path(source)))
    data = decompress(data, where) if is_compressed(data[:64]) else data
    text = to_utf8(data, where).decode().removeprefix("\ufeff")
    separator = next((one for one in "\t;" if one in text.partition("\n")[0]), ",")
    rows = csv.DictReader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    rows.fieldnames = [name.strip() for name in rows.fieldnames or []]
    names = [name for name in rows.fieldnames if name]
    if "run" not in names or len(names) < 2:
        raise DataError(
            f"{where}: expected the column run, and others such as team, type and description, got "
            f"{', '.join(names) or 'none'}"
        )
    found: Metadata = {}
    for row in rows:
        run, fields = (row["run"] or "").strip(), {name: (row[name] or "").strip() for name in names if name != "run"}
        if not run:
            raise DataError(f"{where}:{rows.line_num}: expected the name of a run, got {run!r}")
        if found.setdefault(run, fields) != fields:
            raise DataError(f"{where}:{rows.line_num}: run {run!r} stands here twice, with different values: keep one")
    if not found:
        raise DataError(f"{where}: expected one row per run, got none")
    return found


def _texts(fields: Any) -> dict[str, str]:
    if not isinstance(fields, Mapping):
        raise DataError(f"metadata: expected {{run: {{field: value}}}}, got {fields!r} for a run")
    return {str(name): "" if value is None else str(value) for name, value in fields.items()}


def _of_headers(runs: Any) -> Metadata:
    if runs is None:
        raise DataError(f"{HEADERS}: expected runs in files with it")
    found: Metadata = {}
    for entry in entries_of(runs):
        file = entry.source
        if entry.stray is not None or not isinstance(file, Path | Member | RemoteFile):
            continue
        try:
            head = unpacked(file.read(), file.place).data[:HEAD] if isinstance(file, Member) else first_bytes(file)
        except DataError:
            continue  # who reads the run will tell
        _, begins, rest = bytes(head).partition(_START)
        if begins:
            found[entry.name or entry.default] = _fields(rest.partition(_END)[0].splitlines())
    if not found:
        raise DataError(f"{HEADERS}: expected runs that begin with {_START.decode()!r}, got none")
    return found


def _fields(lines: Iterable[bytes]) -> dict[str, str]:
    """Team, type and description as ir_metadata has them, or as they stand there by these names."""
    values: dict[str, list[str]] = {}
    above: list[tuple[int, str]] = []
    for line in lines:
        text = decode(line.lstrip(b"#")).rstrip()
        body = text.lstrip(" -")
        key, colon, value = body.partition(":")
        if not colon or body.startswith("#"):
            continue
        indent, key = len(text) - len(body), key.strip(" '\"").lower()
        while above and above[-1][0] >= indent:
            above.pop()
        above.append((indent, key))
        value = value.partition(" #")[0].strip(" '\"")
        if value:
            values.setdefault(".".join(name for _, name in above), []).append(value)
    known = {
        "team": values.get("team") or values.get("actor.team", []),
        "type": values.get("type") or [_KINDS.get(word.lower(), word) for word in values.get("method.automatic", [])],
        "description": values.get("description") or values.get("method.retrieval.name", []),
    }
    return {name: " + ".join(words) for name, words in known.items() if words}


# Runs that a message names.
_NAMED = 4
_KINDS = {"true": "automatic", "yes": "automatic", "false": "manual", "no": "manual"}


def teams_of(names: Sequence[str], source: Any, runs: Any = None) -> list[str]:
    """The team of each run; refuses a run without any."""
    if isinstance(source, Mapping):
        known = {str(run): str(team) for run, team in source.items()}
    elif isinstance(source, str | os.PathLike):
        found = read_metadata(str(source), runs)
        if not any("team" in fields for fields in found.values()):
            raise DataError(f"{source}: expected the columns run and team, got none that is called team")
        known = {run: fields.get("team", "") for run, fields in found.items()}
    else:
        raise DataError(f"teams: expected a file or a mapping from runs to teams, got {type(source).__name__}")
    missing = [name for name in names if not known.get(name)]
    if missing:
        named = listed([repr(name) for name in missing], _NAMED)
        here = set(names)
        others = [repr(name) for name in known if name not in here]
        there = f"; it has one for {listed(others, _NAMED)}" if others else ""
        raise DataError(f"teams: expected a team for every run, got none for {named}{there}")
    return [known[name] for name in names]


def word_of(source: Any) -> str | None:
    """What was given, as settings show it."""
    if source is None:
        return None
    return str(source) if isinstance(source, str | os.PathLike) else type(source).__name__
