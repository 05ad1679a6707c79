"""Which team a run is of."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gainful.errors import DataError
from gainful.io.compression import decompress, is_compressed
from gainful.io.encoding import to_utf8
from gainful.io.files import read_bytes


def read_teams(source: Any) -> dict[str, str]:
    """Run → team, from a mapping, or from a CSV or TSV file with the columns run and team."""
    if isinstance(source, Mapping):
        return {str(run): str(team) for run, team in source.items()}
    if not isinstance(source, str | os.PathLike):
        raise DataError(f"teams: expected a file or a mapping from runs to teams, got {type(source).__name__}")
    where = str(source)
    data = bytes(read_bytes(Path(source)))
    data = decompress(data, where) if is_compressed(data[:64]) else data
    text = to_utf8(data, where).decode().removeprefix("\ufeff")
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    rows = csv.DictReader(io.StringIO(text), delimiter=separator)
    names = rows.fieldnames or []
    if not {"run", "team"} <= {*names}:
        raise DataError(f"{where}: expected the columns run and team, got {', '.join(names) or 'none'}")
    found: dict[str, str] = {}
    for row in rows:
        run, team = row["run"], row["team"]
        if not run or not team:
            raise DataError(f"{where}:{rows.line_num}: expected a run and its team, got {run!r} and {team!r}")
        if found.setdefault(run, team) != team:
            raise DataError(
                f"{where}:{rows.line_num}: expected one team of run {run!r}, got {found[run]!r} and {team!r}"
            )
    return found


def teams_of(runs: Sequence[str], source: Any) -> list[str]:
    """The team of each run; refuses a run without any."""
    known = read_teams(source)
    missing = [name for name in runs if name not in known]
    if missing:
        raise DataError(f"teams: expected a team for every run, got none for {missing[0]!r}")
    return [known[name] for name in runs]


def word_of(source: Any) -> str | None:
    """What was given, as settings show it."""
    if source is None:
        return None
    return str(source) if isinstance(source, str | os.PathLike) else type(source).__name__
