"""Complete matrices out of scores: what every analysis of systems × topics stands on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from gainful.data.policies import Gaps, Policies
from gainful.data.rankings import FloatArray
from gainful.data.scores import FLOOR, ScoreMatrix, Scores
from gainful.errors import DataError, check_choice, setting
from gainful.results import Note, plural
from gainful.stats.resample import weighted_sums

# Sums over millions of topics must still be numbers.
_LARGEST = 1e300


def complete_matrices(scores: Scores, *, gaps: Gaps = "error", geometric: bool = False) -> tuple[ScoreMatrix, ...]:
    """One matrix per measure, without a gap; fewer than two runs or topics are refused.

    So are measures that are summarised by their geometric mean, unless `geometric`: what compares arithmetic means
    would pass off that of AP as GMAP.
    """
    check_choice("gaps", gaps, get_args(Gaps))
    for measure, summary in zip(scores.measures, scores.summaries, strict=True):
        if summary == "gmean" and not geometric:
            raise DataError(
                f"{measure}: expected a measure that is averaged over topics, got a geometric mean, which this "
                "analysis is not about: take AP instead"
            )
    check_runs(scores.systems, scores.notes())
    remedy = _remedy(scores.policies)
    return tuple(_complete(scores[measure], gaps, remedy) for measure in scores.measures)


def check_runs(names: Sequence[str], notes: Iterable[Note], why: str = "") -> None:
    """Refuse fewer than two runs, and name the files that were left out: one of them may have been meant."""
    if len(names) < 2:
        error = DataError(f"expected at least 2 runs{why}, got {len(names)}: {', '.join(names)}")
        for note in notes:
            if note.code in ("no-run", "failed"):
                error.add_note(note.text if note.code == "no-run" else f"Left out: {note.text}")
        raise error


def gap_notes(scores: Scores) -> tuple[Note, ...]:
    """Per measure, how many topics are left out because some run has no score for them."""
    notes, topics = [], plural(len(scores.topics), "topic")
    for measure in scores.measures:
        number = int(np.isnan(scores[measure].values).any(axis=0).sum())
        left_out = f"{number} of {topics} {'is' if number == 1 else 'are'} left out: some run has no score there."
        notes += [Note("dropped-topics", measure, f"By {measure}, {left_out}")] if number else []
    return tuple(notes)


def _remedy(policies: Policies | None) -> str:
    """What to do about gaps; only those that a policy left can be scored after all."""
    ways = [f"leave out topics that some run lacks ({setting('gaps', 'drop')})"]
    if policies is not None and policies.degenerate in ("nan", "skip"):
        ways.insert(0, f"give a value to measures that are undefined ({setting('degenerate', 'zero')})")
    if policies is not None and policies.missing == "skip":
        ways.insert(0, f"score missing topics as empty rankings ({setting('missing', 'empty')})")
    return ", or ".join(ways)


def _complete(matrix: ScoreMatrix, gaps: Gaps, remedy: str) -> ScoreMatrix:
    absent = np.isnan(matrix.values)
    if absent.any():
        if gaps == "error":
            system, topic = (int(at[0]) for at in np.nonzero(absent))
            others = f" (and {absent.sum() - 1} more)" if absent.sum() > 1 else ""
            raise DataError(
                f"{matrix.measure}: run {matrix.systems[system]!r} has no score for topic {matrix.topics[topic]!r}"
                f"{others}, but runs are compared on the same topics: {remedy}"
            )
        kept = np.flatnonzero(~absent.any(axis=0))
        topics = tuple(matrix.topics[t] for t in kept)
        matrix = replace(matrix, values=matrix.values[:, kept], topics=topics)
    if len(matrix.topics) < 2:
        left = "left that have a score for every run" if absent.any() else "of " + matrix.measure
        raise DataError(f"expected at least 2 topics {left}, got {len(matrix.topics)}")
    large = np.abs(matrix.values) > _LARGEST
    if large.any():
        system, topic = (int(at[0]) for at in np.nonzero(large))
        raise DataError(
            f"{matrix.measure}: expected scores of at most {_LARGEST:g}, since sums of them must be numbers, too; got "
            f"{matrix.values[system, topic]:g} of run {matrix.systems[system]!r} for topic {matrix.topics[topic]!r}: "
            "take smaller gains, or nDCG"
        )
    return matrix


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompleteScores:
    """Scores without a gap, every measure on the same topics."""

    values: FloatArray  # measures × systems × topics
    # The names of the three axes.
    measures: tuple[str, ...]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    geometric: tuple[bool, ...]  # per measure, whether systems are compared by the geometric mean

    def means(self, weights: FloatArray) -> FloatArray:
        """… × measures × systems: the means over the topics, weighted by the rows (… × topics) of `weights`."""
        return np.stack([self.mean_of(at, weights) for at in range(len(self.measures))], axis=-2)

    def mean_of(self, measure: int, weights: FloatArray) -> FloatArray:
        """… × systems: the means of one measure."""
        values = self.values[measure]
        total = weights.sum(axis=-1)[..., None]
        if self.geometric[measure]:
            return np.asarray(np.exp(weighted_sums(weights, np.log(np.maximum(values, FLOOR))) / total), np.float64)
        return np.asarray(weighted_sums(weights, values) / total, np.float64)

    def noise(self, measure: int) -> float:
        """What rounding alone can make of a difference of two scores or means that is 0."""
        return float(np.abs(self.values[measure]).max(initial=0.0)) * 1e-12


def complete_scores(scores: Scores, *, gaps: Gaps) -> CompleteScores:
    """All measures on the topics for which every system has a score of every measure."""
    matrices = complete_matrices(scores, gaps=gaps, geometric=True)
    kept = set(matrices[0].topics).intersection(*(matrix.topics for matrix in matrices))
    topics = tuple(topic for topic in scores.topics if topic in kept)
    if len(topics) < 2:
        raise DataError(
            f"expected at least 2 topics that have a score of every measure for every run, got {len(topics)}"
        )
    values = [matrix.values[:, [topic in kept for topic in matrix.topics]] for matrix in matrices]
    return CompleteScores(
        values=np.stack(values),
        measures=scores.measures,
        systems=scores.systems,
        topics=topics,
        geometric=tuple(how == "gmean" for how in scores.summaries),
    )
