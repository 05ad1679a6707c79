"""Read qrels and runs from whatever holds them."""

from __future__ import annotations

import glob
import json
import os
import re
import stat
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from mmap import ACCESS_READ, mmap
from pathlib import Path

import polars as pl

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import DataError, did_you_mean
from gainful.io.compression import decompress, is_compressed, split_compression
from gainful.io.encoding import id_text
from gainful.io.objects import is_record, is_table, read_object
from gainful.io.tables import (
    ARROW_FILE,
    ARROW_STREAM,
    PARQUET,
    match_columns,
    read_arrow,
    read_jsonl,
    read_parquet,
    read_separated,
)
from gainful.io.text import BOM, LARGE, QRELS, RUN, Layout, is_text, read_text

ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
JSONL_SUFFIXES = (".jsonl", ".ndjson")
_FORMAT_SUFFIXES = (
    ".txt",
    ".run",
    ".trec",
    ".res",
    ".csv",
    ".tsv",
    ".json",
    ".parquet",
    *ARROW_SUFFIXES,
    *JSONL_SUFFIXES,
)
_HEAD = 1 << 16


def read_qrels(source: object) -> Qrels:
    """Read relevance judgments.

    Parameters
    ----------
    source
        A file (TREC text, CSV, TSV, JSONL, Parquet or Arrow, also compressed), a dict ``{topic: {doc: label}}``, a
        frame of polars, pandas or pyarrow, an iterable of objects with ``query_id``, ``doc_id`` and ``relevance``, or
        `Qrels`.

    Returns
    -------
    Qrels
        One row a judgment, in the order of the source.

    Raises
    ------
    DataError
        The source cannot be read as qrels; the message says where and why.

    Examples
    --------
    >>> read_qrels({"301": {"FT911-1": 2, "FT911-2": 0}})
    Qrels('qrels': 2 judgments, 1 topics)
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, str | os.PathLike):
        return Qrels(_read_file(Path(source), QRELS), str(source))
    return Qrels(read_object(source, QRELS))


def read_run(source: object, *, name: str | None = None) -> Run:
    """Read the run of one system.

    Parameters
    ----------
    source
        A file (TREC text, CSV, TSV, JSONL, Parquet or Arrow, also compressed), a dict ``{topic: {doc: score}}`` or
        ``{topic: [best doc, next doc, …]}``, a frame of polars, pandas or pyarrow, an iterable of objects with
        ``query_id``, ``doc_id`` and ``score``, or a `Run`.
    name
        Name of the run; by default what the column ``run`` says, or the file's name without its suffixes.

    Returns
    -------
    Run
        One row a document, in the order of the source.

    Raises
    ------
    DataError
        The source cannot be read as a run, or holds several; the message says where and why.

    Examples
    --------
    >>> read_run({"301": ["FT911-1", "FT911-2"]}, name="mine")
    Run('mine': 2 documents, 1 topics)
    """
    if isinstance(source, str | os.PathLike):
        source = Path(source)
    default = _run_name(source) if isinstance(source, Path) else "run"
    runs = _read_several(source, name or default)
    if len(runs) > 1:
        names = ", ".join(repr(run.name) for run in runs[:3]) + (", …" if len(runs) > 3 else "")
        raise DataError(f"{_where(source)}: expected one run, got {len(runs)} ({names}); use read_runs")
    run = runs[0]
    return run if name in (None, run.name) else Run(run.frame, name)


def read_runs(source: object) -> list[Run]:
    """Read the runs of several systems.

    Parameters
    ----------
    source
        A folder of run files, a pattern such as ``runs/*.gz``, a file, a table with a column ``run``, a dict
        ``{name: run}``, or a list of these and of anything that `read_run` takes.

    Returns
    -------
    list of Run
        In the order given; files of a folder or a pattern in the natural order of their names (``run2`` before
        ``run10``). Files that share a name get the name of their folder in front.

    Raises
    ------
    DataError
        There is no run, two have the same name, or one cannot be read.

    Examples
    --------
    >>> [run.name for run in read_runs({"a": {"301": {"d": 1.0}}, "b": {"301": ["d"]}})]
    ['a', 'b']
    """
    return list(iterate_runs(source))


def iterate_runs(source: object) -> Iterator[Run]:
    """Read runs one after another, a few ahead: what `read_runs` does, without holding all of them.

    The first files are being read when this returns, so that the caller can do something else meanwhile.

    Parameters
    ----------
    source
        As for `read_runs`; an iterator of `Run` is passed through as it goes.

    Returns
    -------
    iterator of Run
        As `read_runs` returns them.
    """
    return _told_apart(_iterate(source))


def _told_apart(runs: Iterator[Run]) -> Iterator[Run]:
    seen = set()
    for run in runs:
        if run.name in seen:
            raise DataError(f"two runs are called {run.name!r}; rename one, or give a dict {{name: run}}")
        seen.add(run.name)
        yield run
    if not seen:
        raise DataError("expected at least one run, got none")


def _iterate(source: object) -> Iterator[Run]:
    if isinstance(source, Iterator):
        first = next(source, None)
        if isinstance(first, Run):
            return chain(
                [first], chain.from_iterable([run] if isinstance(run, Run) else _iterate(run) for run in source)
            )
        source = [] if first is None else [first, *source]
    # One run of no topics, or no runs: who writes this has lost some.
    entries = [] if isinstance(source, Mapping) and not source else _expand(source)
    threads = ThreadPoolExecutor(os.cpu_count() or 1)
    tasks = ((*entry, default) for entry, default in zip(entries, _defaults(entries), strict=True))
    ahead = deque(threads.submit(_read_entry, *task) for task in islice(tasks, os.cpu_count() or 1))
    return _in_order(threads, tasks, ahead)


def _in_order(
    threads: ThreadPoolExecutor, tasks: Iterator[tuple[str | None, object, str]], ahead: deque[Future[list[Run]]]
) -> Iterator[Run]:
    try:
        while ahead:
            runs = ahead.popleft().result()
            ahead.extend(threads.submit(_read_entry, *task) for task in islice(tasks, 1))
            yield from runs
    finally:
        # Not waited for: after Ctrl-C one may still be reading from a pipe that nobody writes to.
        threads.shutdown(wait=False, cancel_futures=True)


def _read_entry(name: str | None, source: object, default: str) -> list[Run]:
    return _read_several(source, default) if name is None else [read_run(source, name=name)]


def _expand(source: object) -> list[tuple[str | None, object]]:
    """Runs to be read, with their names as far as they were given."""
    if isinstance(source, str | os.PathLike):
        return [(None, path) for path in _find_files(Path(source))]
    if isinstance(source, Mapping) and not _is_one_run(source):
        return [(str(name), run) for name, run in source.items()]
    if isinstance(source, Iterable) and not (isinstance(source, Mapping | Run | bytes | bytearray) or is_table(source)):
        items = list(source)
        return [(None, items)] if items and is_record(items[0]) else [run for item in items for run in _expand(item)]
    return [(None, source)]


def _is_one_run(source: Mapping[object, object]) -> bool:
    """Tell ``{topic: {doc: score}}`` and ``{topic: [doc, …]}`` from ``{name: run}`` by the first value that can."""
    for value in source.values():
        if isinstance(value, Mapping) and value:
            return not isinstance(next(iter(value.values())), Mapping | list | tuple)
        if isinstance(value, list | tuple) and value:
            return not is_record(value[0])
        if not isinstance(value, Mapping | list | tuple):
            return False
    return True


def _find_files(path: Path) -> list[Path]:
    if os.path.isdir(path):
        try:
            files = [file for file in path.iterdir() if file.is_file() and not file.name.startswith(".")]
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from None
        if not files:
            raise DataError(f"{path}: expected a folder of runs, got one without files")
    elif os.path.exists(path) or not glob.has_magic(str(path)):
        files = [path]
    else:
        files = [Path(name) for name in glob.glob(str(path), recursive=True) if os.path.isfile(name)]
        if not files:
            raise DataError(f"{path}: no file matches")
    return sorted(files, key=_natural)


def _natural(path: Path) -> tuple[list[str | int], str]:
    parts = re.split(r"(\d+)", str(path).casefold())
    return [int(part) if part.isdecimal() else part for part in parts], str(path)


def _run_name(path: Path) -> str:
    base, _ = split_compression(path)
    return id_text((base.stem if base.suffix.lower() in _FORMAT_SUFFIXES else base.name) or path.name)


def _defaults(entries: list[tuple[str | None, object]]) -> list[str]:
    """Names for runs without any; those of files are told apart by their folders where they must be."""
    defaults = []
    paths = [source.absolute() for name, source in entries if name is None and isinstance(source, Path)]
    same = Counter(_run_name(path) for path in paths)
    others = sum(name is None and not isinstance(source, Path | Run) for name, source in entries)
    for position, (_, source) in enumerate(entries, 1):
        if isinstance(source, Path):
            default = _run_name(source)
            if same[default] > 1:
                default = _with_folders(source.absolute(), [path for path in paths if _run_name(path) == default])
        else:
            default = f"run{position}" if others > 1 else "run"
        defaults.append(default)
    return defaults


def _with_folders(path: Path, rivals: list[Path]) -> str:
    """Name with as many of the folders above as tell it from its rivals."""
    for depth in range(1, len(path.parts)):
        folders = path.parts[-1 - depth : -1]
        if sum(rival.parts[-1 - depth : -1] == folders for rival in rivals) == 1:
            return "/".join((*folders, _run_name(path)))
    return _run_name(path)


def _read_several(source: object, name: str) -> list[Run]:
    """The runs in one source; `name` is for one without a column that names them."""
    if isinstance(source, Run):
        return [source]
    frame = _read_file(source, RUN) if isinstance(source, Path) else read_object(source, RUN)
    if "run" not in frame.columns:
        return [Run(frame, name)]
    if frame.is_empty():
        return [Run(frame.drop("run"), name)]
    parts = frame.partition_by("run", maintain_order=True, include_key=False, as_dict=True)
    return [Run(part, str(key)) for (key,), part in parts.items()]


def _where(source: object) -> str:
    return str(source) if isinstance(source, Path) else f"run {type(source).__name__}"


def _read_file(path: Path, layout: Layout) -> pl.DataFrame:
    where = str(path)
    content = _load(path, where)
    if is_compressed(content[:_HEAD]):
        content = decompress(bytes(content), where)
    if not content:
        raise DataError(f"{where}: expected {layout.what}, got an empty file")
    suffix = split_compression(path)[0].suffix.lower()
    if content[:8] == ARROW_FILE or (suffix in ARROW_SUFFIXES and content[:4] == ARROW_STREAM):
        return read_arrow(bytes(content), layout, where)
    if content[:4] == PARQUET and (suffix == ".parquet" or content[-4:] == PARQUET):
        return read_parquet(bytes(content), layout, where)
    if suffix in (".parquet", *ARROW_SUFFIXES):
        raise DataError(f"{where}: expected {'Parquet' if suffix == '.parquet' else 'Arrow'}, got something else")
    head = content[:_HEAD].removeprefix(BOM).lstrip().split(b"\n", 1)[0]
    if suffix == ".json":
        return _read_json(bytes(content), layout, where)
    # MS MARCO's qrels are TREC text called .tsv, so the first line counts more than the name.
    if not is_text(head):
        if suffix in JSONL_SUFFIXES or re.match(rb'\{\s*"', head):
            return read_jsonl(bytes(content), layout, where)
        if separator := _separator(head, suffix):
            return read_separated(bytes(content), separator, layout, where)
    return read_text(content, layout, where)


def _read_json(data: bytes, layout: Layout, where: str) -> pl.DataFrame:
    """One JSON value: the dict of dicts, or the list of records, that Python would pass."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: cannot be read as JSON: {error}") from None
    if not isinstance(value, dict | list):
        raise DataError(f"{where}: expected {{topic: {{doc: {layout.value_field}}}}}, got {type(value).__name__}")
    try:
        return read_object(value, layout)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def _separator(header: bytes, suffix: str) -> str | None:
    """What separates the columns of a table with this first line; None for TREC text."""
    for separator in (",", "\t"):
        names = [name.strip().strip('"') for name in header.decode("utf-8", "replace").split(separator)]
        if {"query_id", "doc_id"} <= match_columns(names, RUN).keys():
            return separator
    return {".csv": ",", ".tsv": "\t"}.get(suffix)


def _load(path: Path, where: str) -> bytes | mmap:
    """The file's content, mapped into memory if it is large."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size >= LARGE:
                return mmap(file.fileno(), 0, access=ACCESS_READ)
            return file.read()
    except FileNotFoundError:
        raise DataError(f"{where}: no such file.{_similar(path)}") from None
    except (OSError, ValueError) as error:
        if os.path.isdir(path):
            raise DataError(f"{where}: expected a file, got a folder") from None
        raise DataError(f"{where}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _similar(path: Path) -> str:
    try:
        return did_you_mean(path.name, os.listdir(path.parent)[:1000], alike=0.75)
    except OSError:
        return f" There is no folder {str(path.parent)!r} either."
