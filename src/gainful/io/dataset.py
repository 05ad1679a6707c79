"""Parquet data sets: a folder of parts that together are one table, as Spark, Dask and polars write it.

Such a folder is told by its name (``bm25.parquet/``), by the ``_SUCCESS`` or ``_metadata`` beside the parts, or by
folders in it that are called ``key=value``. A folder called ``run=…`` or ``query_id=…`` (or another spelling of these)
gives all rows below it that run or topic; other keys mean nothing here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from gainful import _polars as pl
from gainful.data.run import LargeRun
from gainful.errors import DataError
from gainful.io.chunks import PACKED, parquet_chunks, parquet_columns, parquet_head, runs_of
from gainful.io.columns import match_columns
from gainful.io.encoding import id_text
from gainful.io.ranks import rank_notes
from gainful.io.text import RUN, Layout

_SIGNS = ("_SUCCESS", "_metadata", "_common_metadata")
# What folders may say, and how they say that there is no value.
_FOLDER_COLUMNS, _NULL = ("query_id", "run"), "__HIVE_DEFAULT_PARTITION__"


def is_dataset(path: Path) -> bool:
    """Whether this is a folder whose files are one table."""
    if not os.path.isdir(path):
        return False
    if path.suffix.lower() == ".parquet":
        return True
    try:
        with os.scandir(path) as entries:
            return any(
                entry.name in _SIGNS or ("=" in entry.name.strip("=") and entry.is_dir())
                for entry in entries
                if not entry.name.startswith(".")
            )
    except OSError:
        return False  # whoever reads the folder says why


def dataset_files(path: Path) -> list[Path]:
    """The files of a data set, in the natural order of their names; what is hidden or begins with ``_`` is not data."""
    found = []
    for folder, folders, names in os.walk(path, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        found += [Path(folder, name) for name in names if not name.startswith((".", "_"))]
    if not found:
        raise DataError(f"{path}: expected a data set, got a folder without files")
    return sorted(found, key=natural)


def _refuse(error: OSError) -> None:
    raise DataError(f"{error.filename}: cannot be read: {error.strerror}") from None


def natural(path: object) -> tuple[list[str | int], str]:
    """A key that sorts ``part2`` before ``part10``."""
    parts = re.split(r"(\d+)", str(path).casefold())
    return [int(part) if part.isdecimal() else part for part in parts], str(path)


def dataset_runs(path: Path, name: str, layout: Layout = RUN) -> list[LargeRun]:
    """The runs of a data set, to be read in chunks; `name` is for one that the data set does not name."""
    found = []
    for run, parts in files_by_run(path).items():
        size = PACKED * sum(map(file_size, parts))
        head = parquet_head(parts[0], _folder_values(parts[0], path), layout)
        if run is not None:
            notes = rank_notes(run, head)
            found.append(LargeRun(run, partial(dataset_chunks, parts, path, layout), size, notes=notes))
        else:
            chunks = partial(dataset_chunks, parts, path, layout, first=parts[0])
            found += runs_of(chunks, head, size, name, str(path))
    return found


def files_by_run(path: Path) -> dict[str | None, list[Path]]:
    """The files of a data set by the run that their folders say; None for those whose folders do not."""
    files: dict[str | None, list[Path]] = {}
    for file in dataset_files(path):
        files.setdefault(_folder_values(file, path).get("run"), []).append(file)
    return files


def file_size(path: Path) -> int:
    """The bytes of a file."""
    try:
        return path.stat().st_size
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def dataset_columns(file: Path, root: Path, layout: Layout) -> dict[str, str]:
    """Which columns of a file hold what, those that its folders say included."""
    return parquet_columns(file, _folder_values(file, root), layout)


def dataset_chunks(
    files: Sequence[Path], root: Path, layout: Layout, *, first: Path | None = None
) -> Iterator[pl.DataFrame]:
    """The rows of some files of a data set; its `first` tells whether a column names the runs, None if folders do."""
    kept = list(RUN.kept)
    if first is not None and "run" in dataset_columns(first, root, layout):
        kept.append("run")
    for file in files:
        if first is not None and ("run" in dataset_columns(file, root, layout)) != ("run" in kept):
            wanted = "a column run" if "run" in kept else "no column run"
            raise DataError(f"{file}: expected {wanted}, as in {first}; write all parts of a data set alike")
        for chunk in parquet_chunks(file, _folder_values(file, root), layout):
            yield chunk.select(kept)  # parts may differ in columns that do not matter


def _folder_values(file: Path, root: Path) -> dict[str, str]:
    """The topic and the run that the folders between a data set and a file of it say."""
    named = dict(part.split("=", 1) for part in file.relative_to(root).parts[:-1] if "=" in part)
    found = {column: named[key] for column, key in match_columns(list(named), RUN).items() if column in _FOLDER_COLUMNS}
    for column, value in found.items():
        if value in ("", _NULL):
            raise DataError(f"{file}: expected a {column} in the name of its folder, got nothing")
    return {column: id_text(unquote(value)) for column, value in found.items()}
