"""Rankings scored under fewer judgments, and held against all of them: one trial at some levels at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from gainful.analyses.robustness.decisions import Decisions, compared, rejected
from gainful.analyses.robustness.result import tidy
from gainful.analyses.robustness.samples import (
    Depletion,
    deplete,
    judged_only,
    of_system,
    only_contributor,
    stratified,
    to_depth,
    uniform,
    unpool,
)
from gainful.data.policies import Policies
from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings
from gainful.data.scores import Scores
from gainful.measures import Measure
from gainful.stats.correlation import kendall
from gainful.verbs.evaluate import compute

# Levels, and where the random numbers of their trial start.
Sample: TypeAlias = "tuple[tuple[float, ...], np.random.Generator]"


def samples(
    rankings: Rankings,
    depletion: Depletion,
    levels: Sequence[float],
    trials: int,
    rng: np.random.Generator,
    *,
    at_once: int,
) -> Iterator[Sample]:
    """Every trial and level, in order.

    A trial takes as many random numbers as there are documents in the pool, whatever the levels: parts of it that are
    worked on in different places draw the same ones again.

    Parameters
    ----------
    rankings, depletion, levels, trials
        What is depleted, how, and how often.
    rng
        Where the random numbers come from.
    at_once
        How many samples are worked on at the same time; a trial is not divided if that is 1, for its levels share work.
    """
    random = depletion in ("stratified", "uniform")
    size = len(levels) if random and at_once == 1 else -(-len(levels) // 4) if random else 1
    for _ in range(trials):
        for start in range(0, len(levels), size):
            yield tuple(levels[start : start + size]), copy.deepcopy(rng)
        if random:
            rng.random(len(rankings.pool_grade))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What one trial gave at one level.

    Parameters
    ----------
    summary
        Measures × systems: the mean scores.
    taus
        Per measure, τ with the order under all judgments.
    judged
        How many judgments were left.
    decisions
        Per measure, the decisions on pairs.
    """

    summary: FloatArray
    taus: FloatArray
    judged: float
    decisions: tuple[Decisions, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """Scores rankings whose judgments have been depleted.

    Parameters
    ----------
    measures, policies
        What to compute, and how.
    """

    measures: tuple[Measure, ...]
    policies: Policies

    def score(self, rankings: Rankings) -> Scores:
        """All measures; those that make nothing of pooled documents without a judgment never get to see them."""
        if self.policies.unjudged == "condensed":
            return compute(rankings.condensed(), list(self.measures), self.policies)
        slim = judged_only(rankings)
        parts = [compute(rankings if _sees_pool(m) else slim, [m], self.policies) for m in self.measures]
        return replace(
            parts[0],
            values=np.concatenate([part.values for part in parts]),
            counted=np.concatenate([part.counted for part in parts]),
            measures=tuple(part.measures[0] for part in parts),
            summaries=tuple(part.summaries[0] for part in parts),
            higher=tuple(part.higher[0] for part in parts),
            undefined=tuple(part.undefined[0] for part in parts),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Experiment:
    """What all trials share.

    Parameters
    ----------
    rankings
        Under all judgments, unjudged documents holding their ranks.
    depletion, rel, alpha
        As for `gainful.robustness`.
    scorer
        What scores them.
    means, truth
        Under all judgments: measures × systems, and per measure which pairs are found different; None if that cannot
        be.
    first, second
        The pairs.
    threads
        Levels of a trial that are worked on at the same time.
    """

    rankings: Rankings
    depletion: Depletion
    rel: float
    scorer: Scorer
    means: FloatArray
    truth: tuple[BoolArray | None, ...]
    first: IntArray
    second: IntArray
    alpha: float
    threads: int

    def run(self, sample: Sample) -> list[Outcome]:
        """One outcome a level."""
        levels, rng = sample
        if self.depletion == "leave-one-out":
            return [self._left_out(depth) for depth in levels]
        without: Callable[[Rankings, BoolArray], Rankings] = deplete
        match self.depletion:
            case "stratified":
                kept = stratified(self.rankings, levels, self.rel, rng)
            case "uniform":
                kept = uniform(self.rankings, levels, rng)
            case _:
                kept, without = to_depth(self.rankings, levels), unpool

        def outcome(mask: BoolArray) -> Outcome:
            left = int((mask & (self.rankings.pool_grade >= 0)).sum())
            return self._held_against(self.scorer.score(without(self.rankings, mask)), left)

        if self.threads == 1 or len(kept) == 1:
            return [outcome(mask) for mask in kept]
        # Array operations leave the interpreter to others: levels are independent, and share all they read.
        with ThreadPoolExecutor(max_workers=self.threads) as threads:
            return list(threads.map(outcome, kept))

    def _left_out(self, depth: float) -> Outcome:
        """Each run scored without the judgments that it alone contributed."""
        systems = range(len(self.rankings.systems))
        judged = self.rankings.pool_grade >= 0
        owner = only_contributor(self.rankings, depth)
        parts = [self.scorer.score(unpool(of_system(self.rankings, system), owner != system)) for system in systems]
        together = replace(
            parts[0],
            systems=self.rankings.systems,
            values=np.concatenate([part.values for part in parts], axis=1),
            counted=np.concatenate([part.counted for part in parts], axis=1),
        )
        return self._held_against(together, float(judged.sum() - ((owner >= 0) & judged).sum() / len(systems)))

    def _held_against(self, found: Scores, judged: float) -> Outcome:
        summary = found.summary()
        decisions = [
            Decisions() if known is None else compared(known, rejected(matrix, self.first, self.second, self.alpha))
            for matrix, known in zip(matrices_of(found), self.truth, strict=True)
        ]
        return Outcome(summary=summary, taus=_taus(summary, self.means), judged=judged, decisions=tuple(decisions))


def matrices_of(scores: Scores) -> FloatArray:
    """Measures × systems × topics, NaN where a cell does not count."""
    return np.where(scores.counted, scores.values, np.nan)


def _taus(depleted: FloatArray, full: FloatArray) -> FloatArray:
    """Per measure, τ_b of two orders of the systems; 0 where the depleted one ties them all, and the full one not."""
    pairs = [(tidy(now), tidy(then)) for now, then in zip(depleted, full, strict=True)]
    tau = kendall(np.stack([now for now, _ in pairs]), np.stack([then for _, then in pairs]))
    tied = [bool((now == now[0]).all() and (then > then.min()).any()) for now, then in pairs]
    return np.where(tied, 0.0, tau)


def _sees_pool(measure: Measure) -> bool:
    """Whether a document that is pooled but not judged may differ from any other to it; foreign measures might."""
    return measure.definition.name == "infAP" or not measure.definition.function.__module__.startswith("gainful.")
