"""Read qrels and runs from whatever holds them."""

from __future__ import annotations

import glob
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from gainful.data.qrels import Qrels
from gainful.data.run import LargeRun, Run
from gainful.errors import DataError
from gainful.io.chunks import large_runs
from gainful.io.compression import split_compression
from gainful.io.dataset import dataset_runs, is_dataset, natural
from gainful.io.encoding import id_text
from gainful.io.files import ARROW_SUFFIXES, JSONL_SUFFIXES, read_file
from gainful.io.objects import is_record, is_table, read_object
from gainful.io.text import QRELS, RUN

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
        return Qrels(read_file(Path(source), QRELS), str(source))
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
    return _whole(_read_one(source, name))


def _read_one(source: object, name: str | None) -> Run | LargeRun:
    if isinstance(source, str | os.PathLike):
        source = Path(source)
    default = _run_name(source) if isinstance(source, Path) else "run"
    runs = _read_several(source, name or default)
    if not runs:
        raise DataError(f"{_where(source)}: expected one run, got none")
    if len(runs) > 1:
        names = ", ".join(repr(run.name) for run in runs[:3]) + (", …" if len(runs) > 3 else "")
        raise DataError(f"{_where(source)}: expected one run, got {len(runs)} ({names}); use read_runs")
    return runs[0] if name in (None, runs[0].name) else replace(runs[0], name=name)


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
    return [_whole(run) for run in iterate_runs(source)]


def _whole(run: Run | LargeRun) -> Run:
    return run.read() if isinstance(run, LargeRun) else run


def iterate_runs(source: object) -> Iterator[Run | LargeRun]:
    """Read runs one after another, a few ahead: what `read_runs` does, without holding all of them.

    The first files are being read when this returns, so that the caller can do something else meanwhile.

    Parameters
    ----------
    source
        As for `read_runs`; an iterator of `Run` and `LargeRun` is passed through as it goes.

    Returns
    -------
    iterator of Run and LargeRun
        As `read_runs` returns them, but for large files, which are still to be read: `align` does it chunk by chunk.
    """
    return distinct(_iterate(source))


def distinct(runs: Iterator[Run | LargeRun]) -> Iterator[Run | LargeRun]:
    """The runs as they come; an error for a name that was there before, and for no run at all."""
    seen = set()
    for run in runs:
        if run.name in seen:
            raise DataError(f"two runs are called {run.name!r}; rename one, or give a dict {{name: run}}")
        seen.add(run.name)
        yield run
    if not seen:
        raise DataError("expected at least one run, got none")


def _iterate(source: object) -> Iterator[Run | LargeRun]:
    if isinstance(source, Iterator):
        first = next(source, None)
        if isinstance(first, Run | LargeRun):
            others = ([run] if isinstance(run, Run | LargeRun) else _iterate(run) for run in source)
            return chain([first], chain.from_iterable(others))
        source = [] if first is None else [first, *source]
    # One run of no topics, or no runs: who writes this has lost some.
    entries = [] if isinstance(source, Mapping) and not source else expand(source)
    threads = ThreadPoolExecutor(os.cpu_count() or 1)
    tasks = ((*entry, default) for entry, default in zip(entries, default_names(entries), strict=True))
    ahead = deque(threads.submit(read_entry, *task) for task in islice(tasks, os.cpu_count() or 1))
    return _in_order(threads, tasks, ahead)


def _in_order(
    threads: ThreadPoolExecutor,
    tasks: Iterator[tuple[str | None, object, str]],
    ahead: deque[Future[list[Run | LargeRun]]],
) -> Iterator[Run | LargeRun]:
    try:
        while ahead:
            runs = ahead.popleft().result()
            ahead.extend(threads.submit(read_entry, *task) for task in islice(tasks, 1))
            yield from runs
    finally:
        # Not waited for: after Ctrl-C one may still be reading from a pipe that nobody writes to.
        threads.shutdown(wait=False, cancel_futures=True)


def read_entry(name: str | None, source: object, default: str) -> list[Run | LargeRun]:
    """The runs of one source, called as was said, or else as they say themselves, or by default."""
    return _read_several(source, default) if name is None else [_read_one(source, name)]


def expand(source: object) -> list[tuple[str | None, object]]:
    """Runs to be read, with their names as far as they were given."""
    if isinstance(source, str | os.PathLike):
        return [(None, path) for path in _find_files(Path(source))]
    if isinstance(source, Mapping) and not _is_one_run(source):
        return [(str(name), run) for name, run in source.items()]
    if isinstance(source, Iterable) and not (
        isinstance(source, Mapping | Run | LargeRun | bytes | bytearray) or is_table(source)
    ):
        items = list(source)
        return [(None, items)] if items and is_record(items[0]) else [run for item in items for run in expand(item)]
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
    """Files and data sets."""
    if is_dataset(path):
        return [path]
    if os.path.isdir(path):
        try:
            found = [file for file in path.iterdir() if not file.name.startswith(".") and _may_be_run(file)]
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from None
        if not found:
            raise DataError(f"{path}: expected a folder of runs, got one without files")
    elif os.path.exists(path) or not glob.has_magic(str(path)):
        found = [path]
    else:
        found = [file for file in map(Path, glob.glob(str(path), recursive=True)) if _may_be_run(file)]
        sets = {file for file in found if os.path.isdir(file)}
        found = [file for file in found if sets.isdisjoint(file.parents)]
        if not found:
            raise DataError(f"{path}: no file matches")
    return sorted(found, key=natural)


def _may_be_run(path: Path) -> bool:
    return os.path.isfile(path) or is_dataset(path)


def _run_name(path: Path) -> str:
    base, _ = split_compression(path)
    return id_text((base.stem if base.suffix.lower() in _FORMAT_SUFFIXES else base.name) or path.name)


def default_names(entries: list[tuple[str | None, object]]) -> list[str]:
    """Names for runs without any; those of files are told apart by their folders where they must be."""
    defaults = []
    paths = [source.absolute() for name, source in entries if name is None and isinstance(source, Path)]
    same = Counter(_run_name(path) for path in paths)
    others = sum(name is None and not isinstance(source, Path | Run | LargeRun) for name, source in entries)
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


def _read_several(source: object, name: str) -> list[Run | LargeRun]:
    """The runs in one source; `name` is for one without a column that names them."""
    if isinstance(source, Run | LargeRun):
        return [source]
    if isinstance(source, Path):
        large = dataset_runs(source, name) if is_dataset(source) else large_runs(source, name)
        if large is not None:
            return [*large]
    frame = read_file(source, RUN) if isinstance(source, Path) else read_object(source, RUN)
    if "run" not in frame.columns:
        return [Run(frame, name)]
    if frame.is_empty():
        return [Run(frame.drop("run"), name)]
    parts = frame.partition_by("run", maintain_order=True, include_key=False, as_dict=True)
    return [Run(part, str(key)) for (key,), part in parts.items()]


def _where(source: object) -> str:
    return str(source) if isinstance(source, Path) else f"run {type(source).__name__}"
