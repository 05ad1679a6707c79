"""Rankings scored under fewer judgments, and compared with all of them: one trial at some levels at a time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from gainful.analyses.robustness import DEFAULT_MEASURES, Depletion, DepletionOptions
from gainful.analyses.robustness.decisions import Decisions, can_differ, compared, draw_pairs, rejected
from gainful.analyses.robustness.depletion import (
    Sample,
    checked_levels,
    judged_only,
    only_contributor,
    samples,
    unpool,
    without,
)
from gainful.analyses.robustness.judged import judged_documents
from gainful.analyses.robustness.result import Robustness
from gainful.analyses.robustness.verdict import tidy
from gainful.data.complete import check_runs
from gainful.data.notes import failure_notes, notes_of
from gainful.data.policies import Policies
from gainful.data.rankings import BoolArray, FloatArray, IntArray, Rankings, nameless
from gainful.data.scores import Scores
from gainful.engine import open_engine
from gainful.engine.scoring import check_ties, compute
from gainful.errors import DataError, check_count, check_finite, check_numbers, check_share, setting
from gainful.io.metadata import teams_of, word_of
from gainful.measures import REGISTRY, Measure, parse_measures
from gainful.results import Settings, plural
from gainful.stats.correlation import kendall
from gainful.stats.resample import generator
from gainful.verbs.source import LATE_POLICIES, check_options, policies_of, rankings_of, selected

# More levels at once take more memory than they save time.
MOST_THREADS = 8
# Measures that look no deeper are computed from the hits down to there: few of all, again and again.
_SHALLOW = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What one trial gave at one level."""

    summary: FloatArray  # measures × systems: the mean scores
    taus: FloatArray  # per measure, τ with the order under all judgments
    judged: float
    decisions: tuple[Decisions, ...]  # per measure, the decisions on pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """Scores rankings whose judgments have been depleted."""

    measures: tuple[Measure, ...]
    policies: Policies

    def views(self, rankings: Rankings) -> tuple[Rankings, ...]:
        """The same rankings, down to each depth that some measures look to."""
        return tuple(
            rankings if depth is None else rankings.with_hits(np.flatnonzero(rankings.tie_first <= depth))
            for depth in self._depths()
        )

    def _depths(self) -> dict[int | None, None]:
        return dict.fromkeys(map(self._depth, self.measures))

    def _depth(self, measure: Measure) -> int | None:
        cutoff = measure.cutoff
        deep = self.policies.unjudged == "condensed" or _foreign(measure)
        return None if deep or cutoff is None or cutoff > _SHALLOW else cutoff

    def score(self, views: Sequence[Rankings]) -> Scores:
        """All measures; those that make nothing of pooled documents without a judgment never get to see them."""
        if self.policies.unjudged == "condensed":
            return compute(views[0].condensed(), list(self.measures), self.policies)
        seen = dict(zip(self._depths(), views, strict=True))
        slim = {depth: judged_only(view) for depth, view in seen.items()}
        parts = [
            compute((seen if _sees_pool(measure) else slim)[self._depth(measure)], [measure], self.policies)
            for measure in self.measures
        ]
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
    """What all trials share."""

    rankings: Rankings  # under all judgments, unjudged documents holding their ranks
    views: tuple[Rankings, ...]  # as the scorer wants them
    # As for `gainful.robustness`.
    depletion: Depletion
    rel: float
    scorer: Scorer
    # Under all judgments: measures × systems, and per measure which pairs are found different; None if that cannot be.
    means: FloatArray
    truth: tuple[BoolArray | None, ...]
    first: IntArray
    second: IntArray
    alpha: float
    team: IntArray  # per system, its team, by number; each is one of its own where no teams are given
    threads: int  # levels of a trial that are worked on at the same time

    def run(self, sample: Sample) -> list[Outcome]:
        """One outcome per level."""
        if self.depletion == "leave-one-out":
            return [self._left_out(depth) for depth in sample[0]]
        kept, take = without(self.rankings, self.depletion, sample, self.rel)

        def outcome(mask: BoolArray) -> Outcome:
            left = int((mask & (self.rankings.pool_grade >= 0)).sum())
            return self._compared(self.scorer.score([take(view, mask) for view in self.views]), left)

        if self.threads == 1 or len(kept) == 1:
            return [outcome(mask) for mask in kept]
        # Array operations leave the interpreter to others: levels are independent, and share all they read.
        with ThreadPoolExecutor(max_workers=self.threads) as threads:
            return list(threads.map(outcome, kept))

    def _left_out(self, depth: float) -> Outcome:
        """Each run scored without the judgments that it, or its team, alone contributed."""
        judged = self.rankings.pool_grade >= 0
        owner = only_contributor(self.rankings, depth, self.team)
        parts = [
            self.scorer.score([unpool(view.only([name]), owner != team) for view in self.views])
            for team, name in zip(self.team.tolist(), self.rankings.systems, strict=True)
        ]
        together = replace(
            parts[0],
            systems=self.rankings.systems,
            values=np.concatenate([part.values for part in parts], axis=1),
            counted=np.concatenate([part.counted for part in parts], axis=1),
        )
        lost = np.bincount(owner[(owner >= 0) & judged], minlength=len(parts))[self.team]
        return self._compared(together, float(judged.sum() - lost.sum() / len(parts)))

    def _compared(self, found: Scores, judged: float) -> Outcome:
        summary = found.summary()
        decisions = [
            Decisions() if known is None else compared(known, rejected(matrix, self.first, self.second, self.alpha))
            for matrix, known in zip(matrices_of(found), self.truth, strict=True)
        ]
        return Outcome(summary=summary, taus=_taus(summary, self.means), judged=judged, decisions=tuple(decisions))


def depleted(
    function: Callable[..., Any], qrels: Any, runs: Any, measures: Any, options: DepletionOptions, **given: Any
) -> Robustness:
    """What `robustness`, the function, finds; `given` are its parameters."""
    check_options(options, DepletionOptions)
    depletion, alpha, rel = given["depletion"], given["alpha"], given["rel"]
    steps = checked_levels(depletion, given["levels"])
    weights, rng = _checked(given), generator(given["seed"])
    if isinstance(qrels, Rankings) and measures is None:
        runs, measures = None, runs
    chosen = parse_measures(DEFAULT_MEASURES if measures is None else measures)
    rankings, policies = _joined(qrels, runs, chosen, options)
    chosen = list(dict.fromkeys([*chosen, *_weighted(rankings, weights, rel)]))

    first, second = draw_pairs(len(rankings.systems), given["pairs"], rng)
    scorer = Scorer(measures=tuple(chosen), policies=policies)
    full = replace(scorer.score(scorer.views(rankings)), run_notes=notes_of(rankings))
    reach = judged_documents(rankings)
    # What nobody asks for any more would have to go to every worker.
    rankings = replace(rankings, pool_docs=nameless, documents=0, listed=None, parts=None, tied=None)
    means = full.summary()
    trials: int = given["trials"] if depletion in ("stratified", "uniform") else 1
    taus = np.empty((len(chosen), len(steps), trials))
    scores = np.zeros((len(chosen), len(steps), len(rankings.systems)))
    judged = np.zeros(len(steps))
    decisions = [[Decisions()] * len(steps) for _ in chosen]
    engine = options.get("engine", "local")
    experiment = Experiment(
        rankings=rankings,
        views=scorer.views(rankings),
        depletion=depletion,
        rel=rel,
        scorer=scorer,
        means=means,
        truth=tuple(
            rejected(matrix, first, second, alpha) if can_differ(matrix, first, second, alpha) else None
            for matrix in matrices_of(full)
        ),
        first=first,
        second=second,
        alpha=alpha,
        team=_teams(rankings.systems, given["teams"], depletion, None if runs is None else selected(runs, options)),
        threads=min(os.cpu_count() or 1, MOST_THREADS) if engine == "local" else 1,
    )
    with open_engine(engine) as work:
        todo = list(samples(rankings, depletion, steps, trials, rng, at_once=work.at_once))
        found = work.map(Experiment.run, todo, shared=experiment, total=len(todo), label="Depleting")
        for step, outcome in enumerate(chain.from_iterable(found)):
            trial, at = divmod(step, len(steps))
            taus[:, at, trial] = outcome.taus
            scores[:, at] += outcome.summary / trials
            judged[at] += outcome.judged / trials
            for m, counted in enumerate(outcome.decisions):
                decisions[m][at] += counted
    judgments = int((rankings.pool_grade >= 0).sum())
    used = {
        "teams": word_of(given["teams"]),
        "levels": None if given["levels"] is None else steps,
        "trials": trials,
        "weights": weights,
    }
    data = [f"{plural(len(rankings.systems), 'run')}, {plural(len(rankings.topics), 'topic')}"]
    data += [plural(judgments, "judgment"), plural(len(first), "pair")]
    return Robustness(
        measures=full.measures,
        cutoffs=tuple(measure.cutoff for measure in chosen),
        levels=steps,
        systems=rankings.systems,
        taus=taus,
        scores=scores,
        full=means,
        scored=full,
        decisions=tuple(tuple(row) for row in decisions),
        judged=tuple(judged.tolist()),
        judgments=judgments,
        reach=reach,
        pairs=len(first),
        labels=tuple(rankings.grades.tolist()),
        settings=Settings.of(function, {**given, **used}, data=", ".join(data), policies=policies, notes=full.notes()),
    )


def _teams(systems: Sequence[str], teams: Any, depletion: Depletion, runs: Any) -> IntArray:
    """The team of each system, by the number of its first one."""
    if teams is None:
        return np.arange(len(systems))
    if depletion != "leave-one-out":
        raise DataError(
            f"{setting('teams')}: expected {setting('depletion', 'leave-one-out')} with it, got {depletion}"
        )
    known = teams_of(systems, teams, runs)
    return np.array([known.index(team) for team in known], np.int64)


def _joined(qrels: Any, runs: Any, measures: Sequence[Measure], options: DepletionOptions) -> tuple[Rankings, Policies]:
    """The rankings, unjudged documents holding their ranks until they are depleted, and the policies to score by."""
    if isinstance(runs, dict | list | tuple) and not runs:
        raise DataError("expected at least 2 runs, whose order can change, got none")
    ties = qrels.policies.ties if isinstance(qrels, Rankings) else policies_of(options).ties
    check_ties(measures, ties)
    held: Any = {**options, "unjudged": "zero"}
    rankings = rankings_of(qrels, runs, held)
    left_out = (*failure_notes(rankings.failed), *notes_of(rankings))
    check_runs(rankings.systems, left_out, ", whose order can change")
    late: Any = {name: options[name] for name in (*LATE_POLICIES, "unjudged") if name in options}  # type: ignore[literal-required]
    return rankings, replace(rankings.policies, **late)


def _weighted(rankings: Rankings, weights: Sequence[float], rel: float) -> list[Measure]:
    """nDCG@1000 with the lowest relevant label counting 1 and all higher ones as much as each weight says."""
    labels = rankings.grades.tolist()
    relevant = [label for label in labels if label >= rel]
    if weights and not relevant:
        raise DataError(f"weights: no document is relevant, the highest label is {max(labels, default=0.0):g}")
    measures = []
    for weight in weights:
        # Labels up to 0 gain nothing anyhow, and would only make the name longer.
        gain = {label: 0.0 for label in labels if 0 < label < rel}
        gain |= {label: 1.0 if label == relevant[0] else float(weight) for label in relevant}
        measures.append(REGISTRY["nDCG"].bind({"gain": gain, "cutoff": 1000}))
    return measures


def _checked(given: Mapping[str, Any]) -> tuple[float, ...]:
    """The weights; refuses wrong settings before anything is read."""
    check_count("trials", given["trials"])
    check_count("pairs", given["pairs"])
    check_share("alpha", given["alpha"])
    check_share("confidence", given["confidence"])
    check_finite("rel", given["rel"])
    weights = check_numbers("weights", given["weights"], "2, 10")
    for weight in weights:
        if not (math.isfinite(weight) and weight > 0):
            raise DataError(f"weights: expected numbers above 0, got {weight:g}")
    return tuple(float(weight) for weight in weights)


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
    return measure.definition.estimates or _foreign(measure)


def _foreign(measure: Measure) -> bool:
    """Whether it is of another package, so that what it looks at is not known."""
    return not measure.definition.function.__module__.startswith("gainful.")
