"""What is done with runs wherever it runs: join them with the judgments, score them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from gainful.data.align import align
from gainful.data.notes import SIGNS, Signs, run_notes, signs_of
from gainful.data.policies import Policies, Ties
from gainful.data.pool import Judged
from gainful.data.rankings import BoolArray, FloatArray, Rankings
from gainful.data.run import check_name
from gainful.data.scores import Scores
from gainful.errors import DataError, MeasureError, PolicyError, setting
from gainful.io.read import AnyRun, Entry, read_entries
from gainful.measures import Measure
from gainful.results import Note, listed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """What to compute of every run."""

    judged: Judged
    measures: tuple[Measure, ...]
    policies: Policies
    keep_going: bool = False  # a run that is refused is only noted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """The scores of some runs."""

    systems: tuple[str, ...]
    topics: tuple[str, ...]  # those judged
    values: FloatArray  # measures × systems × topics, as the measures give them: NaN where one is undefined
    present: BoolArray  # systems × topics: whether the run has the topic
    ignored: tuple[int, ...]  # per system, how many topics without judgments it has
    stranger: tuple[str | None, ...]  # per system, one of these
    signs: Signs  # what makes a run look wrong
    notes: tuple[Note, ...] = ()  # what was noticed when the runs were read
    failed: tuple[tuple[str, str], ...] = ()  # what was refused, and why

    def only(self, kept: Sequence[int]) -> Part:
        """The scores of some of these systems; notes and failures stay."""
        return replace(
            self,
            systems=tuple(self.systems[at] for at in kept),
            values=self.values[:, kept],
            present=self.present[kept],
            ignored=tuple(self.ignored[at] for at in kept),
            stranger=tuple(self.stranger[at] for at in kept),
            signs=self.signs[:, kept],
        )


def score_entries(job: Job, entries: Sequence[Entry]) -> Part:
    """Read runs and score them; the next one is read meanwhile."""
    return score_runs(job, read_entries(entries, keep_going=job.keep_going, raw=True, number=1))


def score_runs(job: Job, runs: Iterable[AnyRun]) -> Part:
    """Join runs with the judgments and score them."""
    rankings = align(job.judged, runs, job.policies, keep_going=job.keep_going)
    return scored(rankings, job.measures, signs=signs_for(rankings, job.measures))


def signs_for(rankings: Rankings, measures: Iterable[Measure]) -> Signs:
    """What makes a run look wrong, if it is scored by these measures."""
    return signs_of(rankings, estimated=all(measure.definition.estimates for measure in measures))


def some_topics(job: Job) -> Job:
    """The same job where a run has but some of its topics: those that are missing may be elsewhere."""
    return replace(job, policies=replace(job.policies, missing="empty"))


def batches(entries: Sequence[Entry], number: int) -> list[list[Entry]]:
    """About `number` lists of consecutive entries, of about the same size on disk."""
    sizes = np.array([size_of(entry) for entry in entries], np.float64)
    middle = np.cumsum(sizes) - sizes / 2.0
    which = np.minimum((middle / sizes.sum() * number).astype(np.int64), number - 1)
    cuts = np.flatnonzero(np.diff(which)) + 1
    return [list(part) for part in np.split(np.array(entries, dtype=object), cuts)]


def size_of(entry: Entry) -> int:
    """Its bytes on disk, at least 1."""
    try:
        return 1 if entry.path is None else max(1, os.path.getsize(entry.path))
    except OSError:  # which is told when it is read
        return 1


def scored(rankings: Rankings, measures: Sequence[Measure], *, signs: Signs | None = None) -> Part:
    """The scores of rankings, before any policy fills or leaves out what is undefined."""
    shape = (len(rankings.systems), len(rankings.topics))
    values = np.zeros((len(measures), *shape))
    for at, measure in enumerate(measures if rankings.systems else ()):
        scores = measure.compute(rankings)
        if (got := np.shape(scores)) != (rankings.n_rows,):
            raise MeasureError(f"{measure}: expected {rankings.n_rows} scores, one per row, got shape {got}")
        values[at] = scores.reshape(shape)
    return Part(
        systems=rankings.systems,
        topics=rankings.topics,
        values=values,
        present=rankings.present.reshape(shape),
        ignored=rankings.ignored,
        stranger=rankings.stranger,
        signs=np.full((SIGNS, *shape), np.nan) if signs is None else signs,
        notes=(*rankings.run_notes, *_subtopic_notes(rankings, measures)),
        failed=rankings.failed,
    )


def _subtopic_notes(rankings: Rankings, measures: Sequence[Measure]) -> tuple[Note, ...]:
    asked = [str(measure) for measure in measures if measure.definition.subtopics]
    if not asked or not rankings.systems or rankings.pool_subtopics is not None:
        return ()
    verb = "looks" if len(asked) == 1 else "look"
    text = (
        f"{listed(asked)} {verb} at subtopics, and these judgments have none: all of a topic counts as one subtopic. "
        "The second field of TREC qrels, or a column 'iteration', names them."
    )
    return (Note("no-subtopics", asked[0], text, warn=True),)


def joined(parts: Sequence[Part], *, keep_going: bool = False) -> Part:
    """The scores of different runs, in the order of the parts; the second run of a name is refused."""
    systems = tuple(chain.from_iterable(part.systems for part in parts))
    failed = list(chain.from_iterable(part.failed for part in parts))
    kept: dict[str, int] = {}
    for at, name in enumerate(systems):
        try:
            check_name(name, kept)
        except DataError as error:
            if not keep_going:
                raise
            failed.append((repr(name), str(error)))
        else:
            kept[name] = at
    return Part(
        systems=systems,
        topics=parts[0].topics,
        values=np.concatenate([part.values for part in parts], axis=1),
        present=np.concatenate([part.present for part in parts]),
        ignored=tuple(chain.from_iterable(part.ignored for part in parts)),
        stranger=tuple(chain.from_iterable(part.stranger for part in parts)),
        signs=np.concatenate([part.signs for part in parts], axis=1),
        notes=tuple(dict.fromkeys(chain.from_iterable(part.notes for part in parts))),
        failed=tuple(failed),
    ).only(list(kept.values()))


def compute(rankings: Rankings, measures: Sequence[Measure], policies: Policies) -> Scores:
    """Scores of rankings that are aligned already; `policies` must be those they were aligned under."""
    return finished(scored(rankings, measures), measures, policies, spellings={})


def finished(part: Part, measures: Sequence[Measure], policies: Policies, *, spellings: Mapping[str, str]) -> Scores:
    """Scores of all runs, what is undefined treated by the policies; `spellings` are further names of the measures."""
    values, present = part.values, part.present
    counted = np.ones(values.shape, np.bool_)
    undefined = np.isnan(values)
    if policies.missing == "skip":
        counted &= present
        undefined &= present
        values = np.where(present, values, np.nan)
    if policies.degenerate == "skip":
        counted &= ~undefined
    elif policies.degenerate != "nan":
        values = np.where(undefined, 1.0 if policies.degenerate == "one" else 0.0, values)
    return Scores(
        values=values,
        counted=counted,
        measures=tuple(str(measure) for measure in measures),
        systems=part.systems,
        topics=part.topics,
        summaries=tuple(measure.definition.summary for measure in measures),
        higher=tuple(measure.definition.higher for measure in measures),
        spellings=spellings,
        policies=policies,
        missing=tuple((~present).sum(axis=1).tolist()),
        ignored=part.ignored,
        undefined=tuple(undefined.any(axis=1).sum(axis=1).tolist()),
        failed=part.failed,
        run_notes=run_notes(part.systems, part.topics, present, part.signs, part.stranger, policies, part.notes),
    )


def check_ties(measures: Iterable[Measure], ties: Ties) -> None:
    """Refuse ties='expected' for measures that are not sums over ranks."""
    wrong = [str(measure) for measure in measures if ties == "expected" and not measure.definition.expected]
    if wrong:
        raise PolicyError(
            f"{setting('ties', 'expected')} is defined for sums over ranks, "
            f"which {', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not: "
            f"use {setting('ties', 'trec')} or {setting('ties', 'order')}."
        )


def refused(job: Job, *failed: tuple[str, str]) -> Part:
    """No scores, and why."""
    topics = job.judged.topics
    return Part(
        systems=(),
        topics=topics,
        values=np.zeros((len(job.measures), 0, len(topics))),
        present=np.zeros((0, len(topics)), np.bool_),
        ignored=(),
        stranger=(),
        signs=np.zeros((SIGNS, 0, len(topics))),
        failed=failed,
    )
