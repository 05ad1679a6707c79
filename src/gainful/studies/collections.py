"""What a study runs on: collections with names, or simulated ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gainful import _polars as pl
from gainful.data.notes import failure_notes, notes_of
from gainful.data.qrels import Qrels
from gainful.data.rankings import Rankings
from gainful.data.simulate import simulate
from gainful.data.simulate.tracks import TRACKS, Like
from gainful.errors import DataError, GainfulError
from gainful.io.read import read_qrels
from gainful.results import Note, Settings, plural
from gainful.verbs.source import RunOptions, align, check_options

# Built like a Web Track, and as large: simulate's own topics and systems; or a stand-in for one.
SIMULATED = "simulated"
STAND_INS: Mapping[Like, str] = {like: f"{like} ({SIMULATED})" for like in TRACKS}
# With fewer, whether a finding holds is mostly chance.
ENOUGH_TOPICS, ENOUGH_RUNS = 10, 5
_NO_RUNS = "expected judgments and runs, got no runs"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyCollection:
    """Judgments and runs that belong together, under a name, joined once; `rankings` is None without runs."""

    name: str
    qrels: Qrels
    rankings: Rankings | None
    stands_for: Like | None = None  # the track that its runs were made up for
    files: tuple[str, ...] = ()  # where the judgments and the runs are, if all are files

    @property
    def source(self) -> Qrels | Rankings:
        """What analyses start from."""
        return self.qrels if self.rankings is None else self.rankings

    @property
    def joined(self) -> Rankings:
        """The rankings; refused without runs."""
        if self.rankings is None:
            raise DataError(_NO_RUNS)
        return self.rankings

    @property
    def runs(self) -> tuple[str, ...]:
        """Their names."""
        return () if self.rankings is None else self.rankings.systems

    @property
    def too_few(self) -> str | None:
        """Why runs cannot be set against each other here; None if they can."""
        if len(self.runs) < 2:
            return f"needs at least 2 runs, got {len(self.runs)}"
        if len(self.qrels.topics) < 2:
            return f"needs at least 2 judged topics, got {len(self.qrels.topics)}"
        return None

    @property
    def few(self) -> Note | None:
        """Why findings mean little here; None if they may mean something."""
        topics, runs = len(self.qrels.topics), len(self.runs)
        if self.too_few is not None or (topics >= ENOUGH_TOPICS and runs >= ENOUGH_RUNS):
            return None
        text = f"{self.name} has {plural(topics, 'topic')} and {plural(runs, 'run')}"
        return Note("few-topics-or-runs", self.name, f"{text}: too few for its findings to mean much.")

    def __str__(self) -> str:
        return f"{self.name} ({plural(len(self.qrels.topics), 'topic')}, {plural(len(self.runs), 'run')})"

    def notes(self) -> tuple[Note, ...]:
        """What must be known of the runs."""
        left = () if self.rankings is None else failure_notes(self.rankings.failed)
        found = () if self.rankings is None else (*left, *notes_of(self.rankings))
        if self.stands_for is None:
            return found
        text = " ".join(["a stand-in for the track, whose runs are not public.", *TRACKS[self.stands_for].likeness()])
        return (Note("stand-in", self.name, f"{text} A finding that rests on what was fitted shows nothing."), *found)

    def label_ratios(self) -> dict[float, float]:
        """Per label, its share among the judgments of a topic, averaged over the topics that have it."""
        judged = self.qrels.frame.filter(pl.col("relevance").is_not_null())
        ratios = (
            # In order, or sums would differ by a last bit from one run to the next.
            judged.group_by("query_id", "relevance", maintain_order=True)
            .len()
            .with_columns(ratio=pl.col("len") / pl.col("len").sum().over("query_id"))
            .group_by("relevance", maintain_order=True)
            .agg(pl.col("ratio").mean())
            .sort("relevance")
        )
        return dict(ratios.iter_rows())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """What a study found for one collection, and by exhibit why it cannot be made of it; a study adds its own."""

    one: StudyCollection
    lacking: dict[str, str]

    @property
    def name(self) -> str:
        """Of the collection."""
        return self.one.name


def load_collections(
    collections: Mapping[str, tuple[Any, Any]] | None,
    settings: Settings,
    options: RunOptions | None = None,
    *,
    runs_needed: bool = True,
    like: Sequence[Like] = (),
) -> list[StudyCollection]:
    """The collections by name, read and joined by the policies of the settings; simulated ones if none is given.

    `runs_needed`: one without any run, ``(qrels, ())``, is refused. `like`: the tracks that simulated ones stand for.
    """
    options = {} if options is None else options
    check_options(options, RunOptions)
    stands_for: dict[str, Like | None] = {}
    if collections is None:
        stands_for = {STAND_INS[track]: track for track in like} or {SIMULATED: None}
        drawn = {name: simulate(like=track, seed=settings["seed"]) for name, track in stands_for.items()}
        collections = {name: (made.qrels, made.runs) for name, made in drawn.items()}
    if not isinstance(collections, Mapping):
        raise DataError(f"collections: expected {{name: (qrels, runs)}}, got {type(collections).__name__}")
    if not collections:
        raise DataError("collections: expected at least one {name: (qrels, runs)}, got none")
    loaded = []
    for name, pair in collections.items():
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise DataError(f"collection {name!r}: expected (qrels, runs), got {type(pair).__name__}")
        none = pair[1] is None or (isinstance(pair[1], tuple | list) and not pair[1])
        with named(str(name)):
            if none and runs_needed:
                raise DataError(_NO_RUNS)
            qrels = read_qrels(pair[0], columns=options.get("columns"))
            rankings = None if none else align(qrels, pair[1], **settings.policies.to_dict(), **options)
        words = [pair[0], *(pair[1] if isinstance(pair[1], tuple | list) else [] if none else [pair[1]])]
        files = tuple(map(str, words)) if all(isinstance(word, str | Path) for word in words) else ()
        like_track = stands_for.get(str(name))
        loaded.append(
            StudyCollection(name=str(name), qrels=qrels, rankings=rankings, stands_for=like_track, files=files)
        )
    return loaded


@contextmanager
def named(collection: str) -> Iterator[None]:
    """Errors of what is done inside say of which collection they are."""
    try:
        yield
    except GainfulError as error:
        raise type(error)(f"collection {collection!r}: {error}") from None
