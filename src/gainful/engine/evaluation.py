"""All runs, shared out to whoever does the work, and put together in the order in which they were given.

Of a Parquet data set a few files are read at a time, and whole topics are scored where they are read. A topic that is
cut between two groups of files is brought together afterwards: each group hands back the rows that it begins and ends
with. Nothing is read twice, as long as a data set is sorted by topic, or by run and topic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import TypeAlias

import numpy as np

from gainful import _polars as pl
from gainful.data.align import check_missing
from gainful.data.columns import SCORES, schema_of
from gainful.data.run import Run
from gainful.engine import Work
from gainful.engine.scoring import Job, Part, batches, joined, refused, score_entries, score_runs, size_of, some_topics
from gainful.engine.stretches import Stretch, Stretched, score_stretch, stretches_of, whole_run
from gainful.errors import DataError, PolicyError
from gainful.io.chunks import PACKED, runs_of
from gainful.io.dataset import dataset_chunks, dataset_columns, file_size, files_by_run, is_dataset
from gainful.io.read import Entry, entries_of

# Pieces of work for each that works at the same time: some take longer than others.
_EACH = 4

Piece: TypeAlias = "list[Entry] | Group | Stretch"


def score_all(work: Work, job: Job, runs: object) -> Part:
    """The scores of all runs, of which several are read and scored at the same time."""
    entries = entries_of(runs)
    number = _EACH * work.at_once
    total = sum(map(size_of, entries))
    groups: dict[int, Sequence[Group | Stretch]] = {
        id(entry): groups_of(entry, number) or stretches_of(entry, number * size_of(entry) // total)
        for entry in entries
    }
    pieces: list[Piece] = []
    plan: list[tuple[Entry | None, int]] = []  # the data set or the text, or None, and the number of its pieces
    for is_set, some in groupby(entries, key=lambda entry: bool(groups[id(entry)])):
        stretch = list(some)
        if is_set:
            for entry in stretch:
                pieces += groups[id(entry)]
                plan.append((entry, len(groups[id(entry)])))
        else:
            share = min(len(stretch), -(-number * len(stretch) // len(entries)))
            together = batches(stretch, share)
            pieces += together
            plan.append((None, len(together)))
    results = work.map(_score, pieces, shared=job, total=len(pieces), label="Scoring runs")
    parts = [part for entry, size in plan for part in _put_together(work, job, entry, list(islice(results, size)))]
    found = joined(parts, keep_going=job.keep_going)
    if not found.systems and not found.failed and not found.notes:
        raise DataError("expected at least one run, got none")
    return found


def _score(job: Job, piece: Piece) -> Part | Grouped | Stretched | str:
    """The scores, or why there are none."""
    if isinstance(piece, list):
        return score_entries(job, piece)
    try:
        return score_stretch(job, piece) if isinstance(piece, Stretch) else score_group(job, piece)
    except (DataError, PolicyError) as error:
        if not job.keep_going:
            raise
        return str(error)


def _put_together(
    work: Work, job: Job, entry: Entry | None, results: Sequence[Part | Grouped | Stretched | str]
) -> Iterator[Part]:
    """The parts of several runs; or all that a data set or a text has, unless something in it cannot be read."""
    yield from (result for result in results if isinstance(result, Part))
    if entry is None:
        return
    messages = [result for result in results if isinstance(result, str)]
    if messages:
        yield refused(job, (str(entry), messages[0]))
        return
    stretched = [result for result in results if isinstance(result, Stretched)]
    if stretched:
        found = whole_run(job, entry, stretched)
    else:
        found = put_together(job, entry, [result for result in results if isinstance(result, Grouped)])
    if found is not None:
        yield found
    else:
        yield from work.map(score_entries, [[entry]], shared=job, total=1, label="Scoring runs")


_KEY = ("run", "query_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Some files of a data set, one after another."""

    entry: Entry
    files: tuple[str, ...]  # by their names inside of it
    run: str  # that they belong to, or what to call it if no column says so
    first: str | None  # file of the data set, which tells whether a column says so; None if their folder does


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouped:
    """What was made of a group."""

    part: Part | None  # the scores of whole topics
    keys: pl.DataFrame  # these topics: run, query_id
    edges: pl.DataFrame  # the rows of the first and of the last topic, which may go on elsewhere

    def runs(self) -> Iterator[str]:
        """Its runs, as they first appear: the group begins with the first edge and ends with the other."""
        for series in (self.edges["run"][:1], self.keys["run"], self.edges["run"]):
            yield from series.unique(maintain_order=True)
        yield from () if self.part is None else self.part.systems


def groups_of(entry: Entry, number: int) -> list[Group]:
    """About `number` groups of the files of a data set, of about the same size; none if it is read by one."""
    if entry.path is None or entry.name is not None or entry.ignore_identical_ids or not is_dataset(Path(entry.path)):
        return []
    root = Path(entry.path)
    found = []
    try:
        by_run = files_by_run(root)
        sizes_of = {file: max(1, file_size(file)) for files in by_run.values() for file in files}
    except DataError:
        return []  # whoever reads it says why, and others go on
    total = sum(sizes_of.values())
    for run, files in by_run.items():
        sizes = np.array([sizes_of[file] for file in files], np.float64)
        middle = np.cumsum(sizes) - sizes / 2.0
        which = (middle / total * number).astype(np.int64)
        for _, some in groupby(zip(which.tolist(), files, strict=True), key=lambda pair: pair[0]):
            names = tuple(str(file.relative_to(root)) for _, file in some)
            first = str(files[0].relative_to(root)) if run is None else None
            found.append(Group(entry=entry, files=names, run=entry.default if run is None else run, first=first))
    return found


def score_group(job: Job, group: Group) -> Grouped:
    """Read a group of files and score the topics that are whole in it."""
    root = Path(str(group.entry.found()))
    files = [root / name for name in group.files]
    first = None if group.first is None else root / group.first
    middle = _Middle(partial(dataset_chunks, files, root, group.entry.layout, first=first), group.run)
    head = pl.DataFrame(schema=[] if first is None else list(dataset_columns(first, root, group.entry.layout)))
    runs = runs_of(middle, head, PACKED * sum(map(file_size, files)), group.run, str(root))
    part = score_runs(some_topics(job), [replace(run, source=run.name) for run in runs]) if runs else None
    return Grouped(part=part, keys=middle.keys(), edges=middle.edges())


class _Middle:
    """The rows of a group without those of the topics that it begins and ends with; these are kept."""

    def __init__(self, chunks: Callable[[], Iterator[pl.DataFrame]], run: str) -> None:
        self._source = chunks
        self._run = run

    def __call__(self) -> Iterator[pl.DataFrame]:
        self._head: list[pl.DataFrame] = []
        self._seen: list[pl.DataFrame] = []
        self._held: list[pl.DataFrame] = []
        first: tuple[str, ...] | None = None
        last: tuple[str, ...] | None = None
        in_head = True
        for chunk in self._source():
            if chunk.is_empty():
                continue
            names = [name for name in _KEY if name in chunk.columns]
            start = _starts(chunk.select(names))
            first = first or chunk.select(names).row(0)
            if in_head and chunk.select(names).row(0) == first:
                size = int(start[1])
                self._head.append(chunk[:size])
                chunk, start = chunk[size:], start[1:] - size
            if chunk.is_empty():
                continue
            in_head = False
            if last is not None and chunk.select(names).row(0) != last:
                yield from self._released()
            last = chunk.select(names).row(-1)
            cut = int(start[-2])
            if cut:
                yield from self._released()
                self._seen.append(chunk[start[:-2]].select(names).unique(maintain_order=True))
                yield chunk[:cut]
            self._held.append(chunk[cut:])

    def _released(self) -> Iterator[pl.DataFrame]:
        """The rows that were held back, as their topic has ended."""
        if self._held:
            self._seen.append(self._held[0][:1].select(name for name in _KEY if name in self._held[0].columns))
            yield from self._held
            self._held = []

    def keys(self) -> pl.DataFrame:
        """Run and topic of all rows but those kept, each once."""
        return self._named(self._seen).select(_KEY).unique(maintain_order=True)

    def edges(self) -> pl.DataFrame:
        """The rows that were kept, in order."""
        return self._named([*self._head, *self._held])

    def _named(self, frames: list[pl.DataFrame]) -> pl.DataFrame:
        if not frames:
            return pl.DataFrame(schema={"run": pl.String(), **schema_of(SCORES)})
        together = pl.concat(frames)
        return together if "run" in together.columns else together.with_columns(run=pl.lit(self._run))


def _starts(keys: pl.DataFrame) -> np.typing.NDArray[np.int64]:
    """Where each stretch of equal rows begins, and the end of the last."""
    changes = np.zeros(keys.height, np.bool_)
    changes[0] = True
    for column in keys.iter_columns():
        changes[1:] |= (column[1:] != column[:-1]).to_numpy()
    return np.append(np.flatnonzero(changes), keys.height)


def put_together(job: Job, entry: Entry, found: Sequence[Grouped]) -> Part | None:
    """The scores of all runs of a data set; None if a topic is scattered over it, and must be read as a whole."""
    names = list(dict.fromkeys(chain.from_iterable(one.runs() for one in found)))
    parts = [one.part for one in found if one.part is not None]
    failed = dict(reversed([pair for part in parts for pair in part.failed]))
    edges = pl.concat([one.edges.select("run", *schema_of(SCORES)) for one in found])
    cut = edges.select(_KEY).unique(maintain_order=True)
    keys = pl.concat([*(one.keys for one in found), cut]).filter(~pl.col("run").is_in(list(failed)))
    if keys.is_duplicated().any():
        return None
    rows = edges.partition_by("run", as_dict=True, include_key=False)
    nothing = pl.DataFrame(schema=schema_of(SCORES))
    rest = [Run(rows.get((name,), nothing), name, source=name) for name in names if name not in failed]
    whole = score_runs(some_topics(job), rest) if rest else refused(job)
    failed |= dict(whole.failed)
    values, present, signs = whole.values.copy(), whole.present.copy(), whole.signs.copy()
    for part in parts:
        pairs = [(i, whole.systems.index(name)) for i, name in enumerate(part.systems) if name in whole.systems]
        here, there = [i for i, _ in pairs], [j for _, j in pairs]
        values[:, there] = np.where(part.present[here], part.values[:, here], values[:, there])
        signs[:, there] = np.where(part.present[here], part.signs[:, here], signs[:, there])
        present[there] |= part.present[here]
    kept = []
    for at, name in enumerate(whole.systems):
        try:
            check_missing(name, whole.topics, present[at], job.policies)
        except PolicyError as error:
            if not job.keep_going:
                raise
            failed[name] = str(error)
        else:
            kept.append(at)
    strange = keys.filter(~pl.col("query_id").is_in(whole.topics)).group_by("run").agg(pl.len(), pl.first("query_id"))
    unjudged = {run: (number, first) for run, number, first in strange.iter_rows()}
    return Part(
        systems=whole.systems,
        topics=whole.topics,
        values=values,
        present=present,
        ignored=tuple(unjudged.get(name, (0, None))[0] for name in whole.systems),
        stranger=tuple(unjudged.get(name, (0, None))[1] for name in whole.systems),
        signs=signs,
        notes=tuple(dict.fromkeys(chain.from_iterable(part.notes for part in parts))),
        failed=tuple((str(entry) if len(names) == 1 else repr(name), failed[name]) for name in names if name in failed),
    ).only(kept)
