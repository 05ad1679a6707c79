"""Read qrels and runs from whatever holds them."""

from __future__ import annotations

import glob
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path, PurePath
from typing import TypeAlias, overload

from gainful import _polars as pl
from gainful._core import native
from gainful.data.qrels import Qrels, RawQrels
from gainful.data.run import LargeRun, RawRun, Run, TextFile, UnreadRun, check_name
from gainful.errors import DataError
from gainful.io.chunks import ahead, large_runs
from gainful.io.compression import split_compression
from gainful.io.dataset import dataset_runs, is_dataset, natural
from gainful.io.encoding import id_text
from gainful.io.files import (
    ARROW_SUFFIXES,
    JSONL_SUFFIXES,
    Content,
    is_standard_input,
    load,
    standard_input,
    text_file,
)
from gainful.io.objects import is_record, is_table, read_object
from gainful.io.ranks import LOOKED_AT, rank_notes
from gainful.io.remote import RemoteFile, is_url, remote_files
from gainful.io.text import QRELS, RUN

AnyRun: TypeAlias = Run | RawRun | LargeRun | UnreadRun

_NONE = "expected at least one run, got none"
_TEXT_SUFFIXES = (".txt", ".run", ".trec", ".res")
_FORMAT_SUFFIXES = (*_TEXT_SUFFIXES, ".csv", ".tsv", ".json", ".parquet", *ARROW_SUFFIXES, *JSONL_SUFFIXES)


def read_qrels(source: object) -> Qrels:
    """Read relevance judgments.

    Parameters
    ----------
    source
        A file (TREC text, CSV, TSV, JSONL, Parquet or Arrow, also compressed), ``-`` for standard input, a dict
        ``{topic: {doc: label}}``, a frame of polars, pandas or pyarrow, an iterable of objects with ``query_id``,
        ``doc_id`` and ``relevance``, or `Qrels`.

    Returns
    -------
    Qrels
        One row per judgment, in the order of the source.

    Raises
    ------
    DataError
        The source cannot be read as qrels; the message says where and why.

    Examples
    --------
    >>> read_qrels({"301": {"FT911-1": 2, "FT911-2": 0}})
    Qrels('qrels': 2 judgments, 1 topics)
    """
    found = judgments(source, raw=False)
    return found.read() if isinstance(found, RawQrels) else found


def judgments(source: object, *, raw: bool = True) -> Qrels | RawQrels:
    """What `read_qrels` reads; if `raw`, as it was given where the compiled core can read that."""
    if isinstance(source, Qrels):
        return source
    raw = raw and native is not None
    if isinstance(source, str | os.PathLike):
        content = standard_input() if is_standard_input(source) else load(_file(source))
        rows = partial(content.frame, QRELS)
        if raw and content.format == "text":
            return RawQrels(content.data, rows, content.where)
        return Qrels(rows(), content.where)
    rows = partial(read_object, source, QRELS)
    return RawQrels(source, rows) if raw and isinstance(source, dict) else Qrels(rows())


def read_run(source: object, *, name: str | None = None) -> Run:
    """Read one run.

    Parameters
    ----------
    source
        A file (TREC text, CSV, TSV, JSONL, Parquet or Arrow, also compressed), ``-`` for standard input, a dict
        ``{topic: {doc: score}}`` or ``{topic: [best doc, next doc, …]}``, a frame of polars, pandas or pyarrow, an
        iterable of objects with ``query_id``, ``doc_id`` and ``score``, or a `Run`.
    name
        Name of the run; by default what the column ``run`` says, or the file's name without its suffixes.

    Returns
    -------
    Run
        One row per document, in the order of the source.

    Raises
    ------
    DataError
        The source cannot be read as a run, or holds several; the message says where and why.

    Examples
    --------
    >>> read_run({"301": ["FT911-1", "FT911-2"]}, name="mine")
    Run('mine': 2 documents, 1 topics)
    """
    return _whole(_read_one(source, name, raw=False))


def returned(source: object) -> Run | RawRun | LargeRun:
    """What `read_run` reads, as it was given where the compiled core can read that."""
    return _read_one(source, None, raw=native is not None)


def _read_one(source: object, name: str | None, *, raw: bool) -> Run | RawRun | LargeRun:
    if isinstance(source, str | os.PathLike):
        source = standard_input() if is_standard_input(source) else _file(source)
    default = _run_name(source)
    runs = _read_several(source, name or default, raw=raw)
    if not runs:
        raise DataError(f"{_where(source)}: expected one run, got none")
    if len(runs) > 1:
        names = ", ".join(repr(run.name) for run in runs[:3]) + (", …" if len(runs) > 3 else "")
        raise DataError(f"{_where(source)}: expected one run, got {len(runs)} ({names})")
    if name in (None, runs[0].name):
        return runs[0]
    return replace(runs[0], name=name, notes=tuple(replace(note, subject=name) for note in runs[0].notes))


def read_runs(source: object) -> list[Run]:
    """Read several runs.

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
    runs: dict[str, Run] = {}
    for run in iterate_runs(source):
        check_name(run.name, runs)
        runs[run.name] = _whole(run)
    if not runs:
        raise DataError(_NONE)
    return list(runs.values())


def _whole(run: Run | RawRun | LargeRun) -> Run:
    return run if isinstance(run, Run) else run.read()


@dataclass(frozen=True, slots=True)
class Entry:
    """What holds one run, or several."""

    source: object  # a file as it was given, or an object
    path: str | None  # where the file is, for a process in another folder; None for an object
    name: str | None
    default: str  # what to call its run if no name was given and it says none itself

    def __str__(self) -> str:
        known = self.path is not None or isinstance(self.source, RemoteFile)
        return str(self.source) if known else repr(self.name or self.default)

    def found(self) -> object:
        """The source, by the name it was given if that leads there from here."""
        if self.path is None or self.path == os.path.abspath(str(self.source)):
            return self.source
        if not os.path.exists(self.path):
            raise DataError(
                f"{self.path}: expected every worker to see the files under the same names as this process does, got "
                f"one that does not, on {platform.node()}"
            )
        return Path(self.path)

    def read(self, *, raw: bool) -> list[Run | RawRun | LargeRun]:
        """Its runs; those of large files are still to be read, and so are, if `raw`, those for the compiled core."""
        if self.name is not None:
            return [_read_one(self.found(), self.name, raw=raw)]
        return _read_several(self.found(), self.default, raw=raw)


def entries_of(source: object) -> list[Entry]:
    """What holds the runs, file by file, as `read_runs` goes through it."""
    # One run of no topics, or no runs: who writes this has lost some.
    found = [] if isinstance(source, Mapping) and not source else _expand(source)
    if not found:
        raise DataError(_NONE)
    # What gives its rows but once can neither be sent elsewhere nor be read again.
    found = [(name, list(one) if isinstance(one, Iterator) else one) for name, one in found]
    return [
        Entry(one, os.path.abspath(one) if isinstance(one, Path) else None, name, default)
        for (name, one), default in zip(found, _default_names(found), strict=True)
    ]


@overload
def iterate_runs(source: object, *, raw: bool = False) -> Iterator[Run | RawRun | LargeRun]: ...
@overload
def iterate_runs(source: object, *, keep_going: bool, raw: bool = False) -> Iterator[AnyRun]: ...
def iterate_runs(source: object, *, keep_going: bool = False, raw: bool = False) -> Iterator[AnyRun]:
    """Read runs one after another, a few ahead: what `read_runs` does, without holding all of them.

    The first files are being read when this returns, so that the caller can do something else meanwhile; large ones are
    still to be read, chunk by chunk. An iterator of runs is passed through as it goes. Whether names are
    different is for the caller to check; `align` does. With `keep_going`, what cannot be read is an `UnreadRun`. If
    `raw`, what the compiled core can read is left as it was given; what is wrong with it is said by who reads it.
    """
    if isinstance(source, Iterator):
        first = next(source, None)
        if isinstance(first, AnyRun):
            others = (
                [run] if isinstance(run, AnyRun) else iterate_runs(run, keep_going=keep_going, raw=raw)
                for run in source
            )
            return chain([first], chain.from_iterable(others))
        source = [] if first is None else [first, *source]
    return read_entries(entries_of(source), keep_going=keep_going, raw=raw)


def read_entries(
    entries: Iterable[Entry], *, keep_going: bool, raw: bool, number: int = os.cpu_count() or 1
) -> Iterator[AnyRun]:
    """Read the runs of some entries, the first of them already in the background; as for `iterate_runs`."""
    entries, read = list(entries), partial(Entry.read, raw=raw and native is not None)
    if raw and native is not None and all(isinstance(entry.source, dict) for entry in entries):
        # The core reads them where they are joined: threads would have nothing to do.
        return (run for entry in entries for run in _runs(entry, partial(read, entry), keep_going=keep_going))
    reading = ahead(entries, read, number)
    return (run for entry, done in reading for run in _runs(entry, done.result, keep_going=keep_going))


def _runs(entry: Entry, read: Callable[[], list[Run | RawRun | LargeRun]], *, keep_going: bool) -> Sequence[AnyRun]:
    if not keep_going:
        return read()
    try:
        return [replace(run, entry=str(entry)) if isinstance(run, RawRun) else run for run in read()]
    except DataError as error:
        return [UnreadRun(str(entry), str(error))]


def _expand(source: object) -> list[tuple[str | None, object]]:
    """Runs to be read, with their names as far as they were given."""
    if is_standard_input(source):
        return [(None, standard_input())]
    if is_url(source):
        return [(None, file) for file in sorted(remote_files(source), key=natural)]
    if isinstance(source, str | os.PathLike):
        return [(None, path) for path in _find_files(Path(source))]
    if isinstance(source, Mapping) and not _is_one_run(source):
        return [(str(name), standard_input() if is_standard_input(run) else run) for name, run in source.items()]
    if isinstance(source, Iterable) and not (
        isinstance(source, Mapping | Run | RawRun | LargeRun | bytes | bytearray) or is_table(source)
    ):
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


def _file(source: str | os.PathLike[str]) -> Path | RemoteFile:
    return RemoteFile(source) if is_url(source) else Path(source)


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


def _run_name(source: object) -> str:
    """What to call a run that has no name, by where it came from."""
    if isinstance(source, RemoteFile):
        return file_name(source.path)
    if not isinstance(source, Path):
        return "stdin" if isinstance(source, Content) else "run"
    return file_name(source)


def file_name(path: PurePath) -> str:
    """The name of a file without the endings that say how it was written."""
    base, _ = split_compression(path)
    return id_text((base.stem if base.suffix.lower() in _FORMAT_SUFFIXES else base.name) or path.name)


def _default_names(entries: list[tuple[str | None, object]]) -> list[str]:
    """Names for runs without any; those of files are told apart by their folders where they must be."""
    defaults = []
    paths = [source.absolute() for name, source in entries if name is None and isinstance(source, Path)]
    same = Counter(_run_name(path) for path in paths)
    own_names = Path | RemoteFile | Content | Run | RawRun | LargeRun
    others = sum(name is None and not isinstance(source, own_names) for name, source in entries)
    for position, (_, source) in enumerate(entries, 1):
        default = _run_name(source)
        if isinstance(source, Path):
            if same[default] > 1:
                default = _with_folders(source.absolute(), [path for path in paths if _run_name(path) == default])
        elif others > 1 and not isinstance(source, Content | RemoteFile):
            default = f"run{position}"
        defaults.append(default)
    return defaults


def _with_folders(path: Path, rivals: list[Path]) -> str:
    """Name with as many of the folders above as tell it from its rivals."""
    for depth in range(1, len(path.parts)):
        folders = path.parts[-1 - depth : -1]
        if sum(rival.parts[-1 - depth : -1] == folders for rival in rivals) == 1:
            return "/".join((*folders, _run_name(path)))
    return _run_name(path)


def _read_several(source: object, name: str, *, raw: bool) -> list[Run | RawRun | LargeRun]:
    """The runs in one source; `name` is for one without a column that names them."""
    if isinstance(source, Run | RawRun | LargeRun):
        return [source]
    if isinstance(source, Path):
        large = dataset_runs(source, name) if is_dataset(source) else large_runs(source, name)
        if large is not None:
            return [replace(run, source=str(source)) for run in large] if len(large) == 1 else [*large]
        if raw and (head := text_file(source)) is not None:
            rows = partial(_frame, source)
            return [RawRun(name, TextFile(source), rows, str(source), rank_notes(name, None, head[: LOOKED_AT + 1]))]
        source = load(source)
    if isinstance(source, RemoteFile):
        large = large_runs(source, name)
        if large is not None:
            return [replace(run, source=str(source)) for run in large] if len(large) == 1 else [*large]
        source = load(source)
    if raw and isinstance(source, dict):
        return [RawRun(name, source, partial(read_object, source, RUN))]
    if raw and isinstance(source, Content) and source.format == "text":
        notes = rank_notes(name, None, source.data[: LOOKED_AT + 1])
        return [RawRun(name, source.data, partial(source.frame, RUN), source.where, notes)]
    if isinstance(source, Content):
        text = source.data[: LOOKED_AT + 1] if source.format == "text" else b""
        frame, where = source.frame(RUN), source.where
    else:
        frame, text, where = read_object(source, RUN), b"", ""
    if "run" not in frame.columns or frame.is_empty():
        return [Run(frame.drop("run", strict=False), name, where, rank_notes(name, frame, text))]
    parts = frame.partition_by("run", maintain_order=True, include_key=False, as_dict=True)
    where = where if len(parts) == 1 else ""
    return [Run(part, str(key), where, rank_notes(str(key), part)) for (key,), part in parts.items()]


def _frame(path: Path) -> pl.DataFrame:
    return load(path).frame(RUN)


def _where(source: object) -> str:
    if isinstance(source, Content):
        return source.where
    return str(source) if isinstance(source, Path | RemoteFile) else f"run {type(source).__name__}"
