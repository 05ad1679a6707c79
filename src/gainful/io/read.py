"""Read qrels and runs from whatever holds them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from gainful import _polars as pl
from gainful._core import native
from gainful.data.policies import Columns
from gainful.data.qrels import Qrels, RawQrels
from gainful.data.run import LargeRun, RawRun, Run, TextFile, UnreadRun, check_name
from gainful.errors import DataError, mention_keep_going
from gainful.io.archives import Member
from gainful.io.chunks import ahead, large_runs
from gainful.io.columns import named_columns
from gainful.io.dataset import dataset_runs, is_dataset
from gainful.io.files import HEAD, Content, is_standard_input, load, standard_input, text_file, unpacked
from gainful.io.foreign import converted, is_foreign
from gainful.io.letor import is_letor
from gainful.io.objects import is_one_run, is_record, is_table, read_object, refuse_ids
from gainful.io.ranks import LOOKED_AT, rank_notes
from gainful.io.remote import RemoteFile, is_url
from gainful.io.sources import Found, Selection, default_names, find_files, find_remote_files, run_name
from gainful.io.strays import is_doubtful, stray, stray_file, strays_among
from gainful.io.text import QRELS, RUN, Layout, has_iterations

AnyRun: TypeAlias = Run | RawRun | LargeRun | UnreadRun

_NONE = "expected at least one run, got none"
_ALL = Selection()


def read_qrels(source: object, *, columns: Columns = None) -> Qrels:
    """Read relevance judgments.

    Parameters
    ----------
    source
        A file (TREC text, LETOR lines, CSV, TSV, JSONL, Parquet or Arrow, also compressed), ``-`` for standard input, a
        dict ``{topic: {doc: label}}`` or ``{topic: [relevant doc, …]}``, a frame of polars, pandas or pyarrow, an
        iterable of objects with ``query_id``, ``doc_id`` and ``relevance``, `Qrels`, or what another package holds
        judgments in.
    columns
        What columns of a table are called, by gainful's name for them: ``{"doc_id": "chunk"}``; a number is a place.

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
    Qrels('qrels': 2 judgments, 1 topic)
    """
    found = judgments(source, raw=False, columns=columns)
    return found.read() if isinstance(found, RawQrels) else found


def judgments(source: object, *, raw: bool = True, columns: Columns = None) -> Qrels | RawQrels:
    """What `read_qrels` reads; if `raw`, as it was given where the compiled core can read that."""
    if isinstance(source, Qrels):
        return source
    raw = raw and native is not None
    layout = replace(QRELS, named=named_columns(columns)) if columns else QRELS
    if is_foreign(source):
        return Qrels(read_object(source, layout), source if isinstance(source, str) else "qrels")
    if isinstance(source, str | os.PathLike):
        content = standard_input() if is_standard_input(source) else load(_file(source))
        rows = partial(content.frame, layout)
        head = bytes(content.data[:HEAD])
        if raw and content.format == "text" and not is_letor(head) and not has_iterations(head):
            return RawQrels(bytes(content.data), rows, content.where)
        return Qrels(rows(), content.where)
    rows = partial(read_object, source, layout)
    return RawQrels(source, rows) if raw and isinstance(source, dict) else Qrels(rows())


def read_run(source: object, *, name: str | None = None, columns: Columns = None) -> Run:
    """Read one run.

    Parameters
    ----------
    source
        A file (TREC text, CSV, TSV, JSONL, Parquet or Arrow, also compressed), ``-`` for standard input, a dict
        ``{topic: {doc: score}}`` or ``{topic: [best doc, next doc, …]}``, a frame of polars, pandas or pyarrow, an
        iterable of objects with ``query_id``, ``doc_id`` and ``score``, a `Run`, or what another package holds one in.
    name
        Name of the run; by default what the column ``run`` says, or the file's name without its suffixes.
    columns
        See `read_qrels`.

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
    Run('mine': 2 documents, 1 topic)
    """
    return _whole(_read_one(source, name, raw=False, layout=_layout(named_columns(columns))))


def returned(source: object) -> Run | RawRun | LargeRun:
    """What `read_run` reads, as it was given where the compiled core can read that."""
    return _read_one(source, None, raw=native is not None)


def _layout(named: tuple[tuple[str, str], ...]) -> Layout:
    return replace(RUN, named=named) if named else RUN


def _read_one(source: object, name: str | None, *, raw: bool, layout: Layout = RUN) -> Run | RawRun | LargeRun:
    if is_foreign(source):
        ((name, source),) = ((name or own, one) for own, one in _expand(source, _ALL))
    if isinstance(source, str | os.PathLike):
        source = standard_input() if is_standard_input(source) else _file(source)
    default = run_name(source)
    runs = _read_several(source, name or default, raw=raw, layout=layout)
    if not runs:
        raise DataError(f"{_where(source)}: expected one run, got none")
    if len(runs) > 1:
        names = ", ".join(repr(run.name) for run in runs[:3]) + (", …" if len(runs) > 3 else "")
        raise DataError(f"{_where(source)}: expected one run, got {len(runs)} ({names})")
    if name in (None, runs[0].name):
        return runs[0]
    return replace(runs[0], name=name, notes=tuple(replace(note, subject=name) for note in runs[0].notes))


def read_runs(source: object, *, columns: Columns = None) -> list[Run]:
    """Read several runs.

    Parameters
    ----------
    source
        A folder of run files, a pattern such as ``runs/*.gz``, a file, a table with a column ``run``, a dict
        ``{name: run}``, or a list of these and of anything that `read_run` takes.
    columns
        See `read_qrels`.

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
    for run in iterate_runs(entries_of(source, Selection(columns=named_columns(columns))) if columns else source):
        if isinstance(run, UnreadRun):  # what is no run and was only found beside some
            continue
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
    searched: bool = False  # whether it was found beside others; else its name was given
    stray: str | None = None  # what it is, if it was found and is no run
    layout: Layout = RUN
    ignore_identical_ids: bool = False  # leave out documents that have the id of their topic

    def __str__(self) -> str:
        known = self.path is not None or isinstance(self.source, RemoteFile)
        return str(self.source) if known else repr(self.name or self.default)

    def found(self) -> object:
        """The source, by the name it was given if that leads there from here."""
        given = self.source.archive if isinstance(self.source, Member) else self.source
        if self.path is None or self.path == os.path.abspath(str(given)):
            return self.source
        if not os.path.exists(self.path):
            raise DataError(
                f"{self.path}: expected every worker to see the files under the same names as this process does, got "
                f"one that does not, on {platform.node()}"
            )
        return replace(self.source, archive=Path(self.path)) if isinstance(self.source, Member) else Path(self.path)

    def read(self, *, raw: bool) -> list[AnyRun]:
        """Its runs; those of large files are still to be read, and so are, if `raw`, those for the compiled core."""
        if self.stray is not None:
            return [UnreadRun(str(self), self.stray, is_run=False)]
        if self.ignore_identical_ids:
            every = replace(self, ignore_identical_ids=False).read(raw=False)
            return [run if isinstance(run, UnreadRun | RawRun) else run.without_topics() for run in every]
        source = self.found()
        if isinstance(source, Member):
            source = unpacked(source.read(), source.place)
            if (what := stray(source.data[:HEAD], Path(source.where), self.layout)) is not None:
                return [UnreadRun(str(self), what, is_run=False)]
        if isinstance(source, RemoteFile) and self.searched and (what := stray_file(source, self.layout)) is not None:
            return [UnreadRun(str(self), what, is_run=False)]
        if self.name is not None:
            return [_read_one(source, self.name, raw=raw, layout=self.layout)]
        runs = _read_several(source, self.default, raw=raw, layout=self.layout)
        if self.searched and is_doubtful(Path(str(self.source))):
            return [replace(run, doubtful=True) for run in runs if not isinstance(run, LargeRun)]
        return [*runs]


def entries_of(source: object, selection: Selection = _ALL) -> list[Entry]:
    """What holds the runs, file by file, as `read_runs` goes through it."""
    if isinstance(source, list) and source and all(isinstance(one, Entry) for one in source):
        return source
    if isinstance(source, dict) and source and selection == _ALL and is_one_run(source):  # often small
        return [Entry(source, None, None, "run")]
    # One run of no topics, or no runs: who writes this has lost some.
    found = [] if isinstance(source, Mapping) and not source else _expand(source, selection)
    if not found:
        some = selection.include or selection.exclude
        raise DataError(f"{_NONE} that the patterns admit" if some else _NONE)
    layout = _layout(selection.columns)
    # What gives its rows but once can neither be sent elsewhere nor be read again.
    given = [
        (name, one.file if isinstance(one, Found) else list(one) if isinstance(one, Iterator) else one)
        for name, one in found
    ]
    searched, strays = strays_among([one for _, one in found], layout, named=any(name for name, _ in found))
    if all(what is not None for what in strays):
        more = f"; none of the {len(given)} files is one" if len(given) > 1 else ""
        raise DataError(f"{given[0][1]}: expected a run, got {strays[0]}{more}")
    defaults = default_names([pair for pair, what in zip(given, strays, strict=True) if what is None])
    return [
        Entry(
            *(one, _absolute(one), name, next(defaults) if what is None else "", beside, what),
            *(layout, selection.ignore_identical_ids),
        )
        for (name, one), beside, what in zip(given, searched, strays, strict=True)
    ]


def _absolute(source: object) -> str | None:
    file = source.archive if isinstance(source, Member) else source
    return os.path.abspath(file) if isinstance(file, Path) else None


def iterate_runs(source: object, *, keep_going: bool = False, raw: bool = False) -> Iterator[AnyRun]:
    """Read runs one after another, a few ahead: what `read_runs` does, without holding all of them.

    The first files are being read when this returns, so that the caller can do something else meanwhile; large ones are
    still to be read, chunk by chunk. An iterator of runs is passed through as it goes. Whether names are
    different is for the caller to check; `align` does. What is no run and was only found beside some is an `UnreadRun`;
    with `keep_going`, so is what cannot be read. If `raw`, what the compiled core can read is left as it was given;
    what is wrong with it is said by who reads it.
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


def _runs(entry: Entry, read: Callable[[], list[AnyRun]], *, keep_going: bool) -> Sequence[AnyRun]:
    try:
        runs = read()
    except DataError as error:
        if not keep_going:
            if entry.searched:
                mention_keep_going(error)
            raise
        return [UnreadRun(str(entry), str(error))]
    if not keep_going:
        return runs
    return [replace(run, entry=str(entry)) if isinstance(run, RawRun) else run for run in runs]


def _expand(source: object, selection: Selection) -> list[tuple[str | None, object]]:
    """Runs to be read, with their names as far as they were given."""
    if is_standard_input(source):
        return [(None, standard_input())]
    if is_foreign(source):
        return _expand(converted(source, RUN), selection)
    if is_url(source):
        return [(None, found) for found in find_remote_files(source, selection)]
    if isinstance(source, str | os.PathLike):
        return [(None, found) for found in find_files(_path(source), selection)]
    if isinstance(source, Mapping) and not is_one_run(source):
        now = [is_standard_input(run) or is_foreign(run) for run in source.values()]  # not for threads
        return [
            (str(name), _expand(run, _ALL)[0][1] if at_once else run)
            for (name, run), at_once in zip(source.items(), now, strict=True)
        ]
    if isinstance(source, Iterable) and not (
        isinstance(source, Mapping | Run | RawRun | LargeRun | bytes | bytearray) or is_table(source)
    ):
        items = list(source)
        refuse_ids(items)
        return (
            [(None, items)]
            if items and is_record(items[0])
            else [run for item in items for run in _expand(item, selection)]
        )
    return [(None, source)]


def _file(source: str | os.PathLike[str]) -> Path | RemoteFile:
    return RemoteFile(source) if is_url(source) else _path(source)


def _path(source: str | os.PathLike[str]) -> Path:
    if not os.fspath(source):  # which would be the folder that we are in
        raise DataError("expected the name of a file, got an empty one; is a variable not set?")
    return Path(source)


def _read_several(source: object, name: str, *, raw: bool, layout: Layout = RUN) -> list[Run | RawRun | LargeRun]:
    """The runs in one source; `name` is for one without a column that names them."""
    if isinstance(source, Run | RawRun | LargeRun):
        return [source]
    if isinstance(source, Path | RemoteFile):
        if isinstance(source, Path) and is_dataset(source):
            large: Sequence[LargeRun] | None = dataset_runs(source, name, layout)
        else:
            large = large_runs(source, name, layout)
        if large is not None:
            return [replace(run, source=str(source)) for run in large] if len(large) == 1 else [*large]
        if raw and isinstance(source, Path) and (head := text_file(source)) is not None:
            rows = partial(_frame, source)
            return [RawRun(name, TextFile(source), rows, str(source), rank_notes(name, None, head[: LOOKED_AT + 1]))]
        source = load(source)
    if raw and isinstance(source, dict):
        return [RawRun(name, source, partial(read_object, source, layout))]
    if raw and isinstance(source, Content) and source.format == "text":
        notes = rank_notes(name, None, source.data[: LOOKED_AT + 1])
        return [RawRun(name, bytes(source.data), partial(source.frame, RUN), source.where, notes)]
    if isinstance(source, Content):
        text = source.data[: LOOKED_AT + 1] if source.format == "text" else b""
        frame, where = source.frame(layout), source.where
    else:
        frame, text, where = read_object(source, layout), b"", ""
    if "run" not in frame.columns:
        return [Run(frame, name, where, rank_notes(name, frame, text))]
    if frame.is_empty():
        return [Run(frame.drop("run"), name, where)]
    parts = frame.partition_by("run", maintain_order=True, include_key=False, as_dict=True)
    where = where if len(parts) == 1 else ""
    return [Run(part, str(key), where, rank_notes(str(key), part)) for (key,), part in parts.items()]


def _frame(path: Path) -> pl.DataFrame:
    return load(path).frame(RUN)


def _where(source: object) -> str:
    if isinstance(source, Content):
        return source.where
    return str(source) if isinstance(source, Path | RemoteFile) else f"run {type(source).__name__}"
