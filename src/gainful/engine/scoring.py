"""What is done with runs wherever it runs: join them with the judgments, score them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

import numpy as np

from gainful.data.align import align
from gainful.data.notes import Signs, run_notes, signs_of
from gainful.data.policies import Policies, Ties
from gainful.data.qrels import Qrels
from gainful.data.rankings import BoolArray, FloatArray, Rankings
from gainful.data.run import LargeRun, Run, UnreadRun, check_name
from gainful.data.scores import Scores
from gainful.errors import DataError, MeasureError, PolicyError, setting
from gainful.io.read import Entry, read_entries
from gainful.measures import Measure
from gainful.results import Note

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """What to compute of every run.

    Parameters
    ----------
    qrels, measures, policies
        As for `gainful.evaluate`.
    keep_going
        Whether a run that is refused is only noted.
    """

    qrels: Qrels
    measures: tuple[Measure, ...]
    policies: Policies
    keep_going: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """The scores of some runs.

    Parameters
    ----------
    systems, topics
        The names of the runs, and of the judged topics.
    values
        Measures × systems × topics, as the measures give them: NaN where one is undefined.
    present
        Systems × topics: whether the run has the topic.
    ignored, stranger
        Per system, how many topics without judgments it has, and one of them.
    signs
        What makes a run look wrong; see `gainful.data.notes`.
    notes
        What was noticed when the runs were read.
    failed
        What was refused, and why.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    values: FloatArray
    present: BoolArray
    ignored: tuple[int, ...]
    stranger: tuple[str | None, ...]
    signs: Signs
    notes: tuple[Note, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()


def score_entries(job: Job, entries: Sequence[Entry]) -> Part:
    """Read runs and score them; the next one is read meanwhile."""
    return score_runs(job, read_entries(entries, keep_going=job.keep_going, number=1))


def score_runs(job: Job, runs: Iterable[Run | LargeRun | UnreadRun]) -> Part:
    """Join runs with the judgments and score them."""
    rankings = align(job.qrels, runs, job.policies, keep_going=job.keep_going)
    return scored(rankings, job.measures, signs=signs_of(rankings))


def batches(entries: Sequence[Entry], number: int) -> list[list[Entry]]:
    """About `number` lists of consecutive entries, of about the same size on disk."""
    sizes = np.array([_size(entry) for entry in entries], np.float64)
    middle = np.cumsum(sizes) - sizes / 2.0
    which = np.minimum((middle / sizes.sum() * number).astype(np.int64), number - 1)
    cuts = np.flatnonzero(np.diff(which)) + 1
    return [list(part) for part in np.split(np.array(entries, dtype=object), cuts)]


def _size(entry: Entry) -> int:
    try:
        return 1 if entry.path is None else max(1, os.path.getsize(entry.path))
    except OSError:  # which is told when it is read
        return 1


def scored(rankings: Rankings, measures: Sequence[Measure], *, signs: Signs | None = None) -> Part:
    """The scores of rankings, before any policy fills or leaves out what is undefined."""
    shape = (len(rankings.systems), len(rankings.topics))
    values = np.zeros((len(measures), *shape))
    for at, measure in enumerate(measures if rankings.systems else ()):
        values[at] = _scores_of(measure, rankings).reshape(shape)
    return Part(
        systems=rankings.systems,
        topics=rankings.topics,
        values=values,
        present=rankings.present.reshape(shape),
        ignored=rankings.ignored,
        stranger=rankings.stranger,
        signs=np.full((2, *shape), np.nan) if signs is None else signs,
        notes=rankings.run_notes,
        failed=rankings.failed,
    )


def joined(parts: Sequence[Part], *, keep_going: bool = False) -> Part:
    """The scores of different runs, in the order of the parts; the second run of a name is refused."""
    failed = list(chain.from_iterable(part.failed for part in parts))
    names: list[str] = []
    kept: list[int] = []
    for at, name in enumerate(chain.from_iterable(part.systems for part in parts)):
        try:
            check_name(name, names)
        except DataError as error:
            if not keep_going:
                raise
            failed.append((repr(name), str(error)))
        else:
            names.append(name)
            kept.append(at)
    ignored = list(chain.from_iterable(part.ignored for part in parts))
    stranger = list(chain.from_iterable(part.stranger for part in parts))
    return Part(
        systems=tuple(names),
        topics=parts[0].topics,
        values=np.concatenate([part.values for part in parts], axis=1)[:, kept],
        present=np.concatenate([part.present for part in parts])[kept],
        ignored=tuple(ignored[at] for at in kept),
        stranger=tuple(stranger[at] for at in kept),
        signs=np.concatenate([part.signs for part in parts], axis=1)[:, kept],
        notes=tuple(chain.from_iterable(part.notes for part in parts)),
        failed=tuple(failed),
    )


def compute(
    rankings: Rankings, measures: Sequence[Measure], policies: Policies, *, spellings: Mapping[str, str] = _NOTHING
) -> Scores:
    """Scores of rankings that are aligned already; `policies` must be those they were aligned under.

    Parameters
    ----------
    rankings
        From `align`.
    measures
        What to compute.
    policies
        `missing` and `degenerate` are honoured here.
    spellings
        Texts under which the measures may be looked up besides their labels.
    """
    return finished(scored(rankings, measures), measures, policies, spellings=spellings)


def finished(
    part: Part, measures: Sequence[Measure], policies: Policies, *, spellings: Mapping[str, str] = _NOTHING
) -> Scores:
    """Scores of all runs, with what the policies make of those that are undefined."""
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


def _scores_of(measure: Measure, rankings: Rankings) -> FloatArray:
    scores = measure.compute(rankings)
    if np.shape(scores) != (rankings.n_rows,):
        raise MeasureError(f"{measure}: expected {rankings.n_rows} scores, one per row, got shape {np.shape(scores)}")
    return scores


def refused(job: Job, *failed: tuple[str, str]) -> Part:
    """No scores, and why."""
    topics = tuple(job.qrels.topics)
    return Part(
        systems=(),
        topics=topics,
        values=np.zeros((len(job.measures), 0, len(topics))),
        present=np.zeros((0, len(topics)), np.bool_),
        ignored=(),
        stranger=(),
        signs=np.zeros((2, 0, len(topics))),
        failed=failed,
    )
