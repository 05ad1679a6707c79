"""Teams, types and descriptions of runs, as columns of tables and as groups of runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gainful.errors import DataError, did_you_mean, setting
from gainful.results import Note, listed
from gainful.stats.resample import FloatArray
from gainful.tables import Table

Metadata: TypeAlias = "dict[str, dict[str, str]]"
# Too long to stand before the numbers.
_LAST = "description"
_NAMED = 4


def metadata_columns(
    metadata: Mapping[str, Mapping[str, str]], runs: Sequence[str], others: Collection[str] = ()
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The columns of a table of runs that stand before the numbers, and after them; none has the name of `others`."""
    fields = dict.fromkeys(name for run in runs for name, value in metadata.get(run, {}).items() if value)
    columns = {name: [metadata.get(run, {}).get(name, "") for run in runs] for name in fields}
    named = {f"{name} of run" if name in (*others, "run") else name: column for name, column in columns.items()}
    after = {_LAST: named.pop(_LAST)} if _LAST in named else {}
    return named, after


def metadata_notes(metadata: Mapping[str, Mapping[str, str]], runs: Sequence[str]) -> list[Note]:
    """Runs of which nothing is known, and what is known of runs that are not here: names may be misspelt."""
    if not metadata:
        return []
    known = set(runs)
    without, absent = [run for run in runs if run not in metadata], [run for run in metadata if run not in known]
    notes = []
    if without:
        names = listed([repr(run) for run in without], _NAMED)
        notes.append(Note("no-metadata", without[0], f"There is no metadata of {names}."))
    if absent:
        names = listed([repr(run) for run in absent], _NAMED)
        notes.append(Note("unknown-run", absent[0], f"There is metadata of runs that are not here: {names}."))
    return notes


def by_field(
    field: str,
    metadata: Mapping[str, Mapping[str, str]],
    runs: Sequence[str],
    means: Mapping[str, FloatArray],
    higher: Sequence[str],
) -> Table:
    """One row per team, or whatever else the field tells apart: its runs, the best, and the mean of all of them.

    `means` has the scores of the runs by measure; groups are ordered by their best run under the first one.
    """
    fields = dict.fromkeys(name for one in metadata.values() for name in one)
    if field not in fields:
        some = f"; there are: {', '.join(fields)}.{did_you_mean(field, list(fields))}" if fields else ": there is none"
        raise DataError(f"{setting('by', field)}: expected a field of the metadata{some}")
    group = [metadata.get(run, {}).get(field, "") or "(none)" for run in runs]
    members = {name: [at for at, its in enumerate(group) if its == name] for name in dict.fromkeys(group)}
    rows: list[dict[str, Any]] = []
    for name, of in members.items():
        row: dict[str, Any] = {field: name, "runs": len(of), "best run": ""}
        for (measure, values), way in zip(means.items(), higher, strict=True):
            sign = -1.0 if way == "worse" else 1.0
            known = [at for at in of if not np.isnan(values[at])]
            best = max(known, key=lambda at, sign=sign, values=values: sign * values[at], default=of[0])  # type: ignore[misc]
            row["best run"] = row["best run"] or runs[best]
            row |= {f"best {measure}": float(values[best]), f"mean {measure}": float(values[of].mean())}
        rows.append(row)
    first, sign = next(iter(means)), -1.0 if higher[0] == "worse" else 1.0
    rows.sort(key=lambda row: (row[f"best {first}"] != row[f"best {first}"], -sign * row[f"best {first}"]))
    title = f"Runs by {field}. The best run is that by {first}; best scores are those of any run of the group."
    return Table.of(f"by-{field}", {name: [row[name] for row in rows] for name in rows[0]}, title=title)
