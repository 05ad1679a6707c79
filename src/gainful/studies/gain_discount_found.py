"""What the study of gains and discounts computes for one collection, by the layers below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from gainful.analyses.sensitivity import sensitivity
from gainful.analyses.sensitivity.result import Sensitivity
from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.errors import DataError
from gainful.io.read import iterate_runs
from gainful.studies.collections import StudyCollection, named
from gainful.tune.optimize import optimize
from gainful.tune.optimize.fit import MANY, Method, Target
from gainful.tune.optimize.result import OPTIMAL, Candidate, Optimum, Part
from gainful.verbs.evaluate import evaluate

# What is sought, as messages say it.
DISCOUNT, FREE = "the optimal discount", "the optimal discount without constraints"
GAIN, BOTH, HELD_OUT = "the optimal gain", "the optimal gain and discount", "the held-out Φ"
# Gains that may fall with the label have several maxima, and are few enough to be searched more often.
_MORE_STARTS = 3
# Topics that make two halves of two.
_TO_SPLIT = 4
DISCOUNTS = ("zipf", "linear", "log2")
GAINS = ("exp", "linear")
# As the tables have them.
ORDER = (*DISCOUNTS, OPTIMAL)
# Figure 9: gain and discount.
VARIANTS = (("linear", "log2"), ("exp", "log2"), ("linear", "linear"))
BEST_OF_ALL = "optimal gain, optimal discount"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings of the study."""

    cutoff: int
    discount_cutoffs: tuple[int, ...]
    gain_cutoffs: tuple[int, ...]
    phi: float
    best: int
    starts: int
    splits: int
    resamples: int
    seed: int

    @property
    def deep(self) -> int:
        """The cutoff of the tables."""
        return max(self.discount_cutoffs)

    def settings(self) -> dict[str, object]:
        """As a study keeps them."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """All that was found for one collection.

    Parameters
    ----------
    name
        Of the collection.
    shares
        Per rank and label, the share of the rankings that have a document of that label there.
    discounts
        By cutoff, the best discounts for linear gains.
    free_discount
        The best discounts that may also rise with the rank, at one cutoff.
    gains
        By cutoff, the best gains for the log2 discount that may also fall with the label, and those that may not.
    both
        By cutoff, the best gains and discounts together.
    pairs
        Significance of all pairs of the best runs, under the measures of Figure 9.
    failed
        What could not be done, at which cutoffs, and why.
    """

    name: str
    shares: pl.DataFrame
    discounts: dict[int, Part] = field(default_factory=dict)
    free_discount: dict[int, Part] = field(default_factory=dict)
    gains: dict[int, Part] = field(default_factory=dict)
    both: dict[int, Part] = field(default_factory=dict)
    pairs: dict[int, Sensitivity] = field(default_factory=dict)
    failed: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    @property
    def deep(self) -> Part | None:
        """The best discounts at the largest cutoff that the runs reach."""
        return self.discounts[max(self.discounts)] if self.discounts else None

    @property
    def deep_gain(self) -> Part | None:
        """The best gains at the same cutoff."""
        return self.gains.get(max(self.discounts)) if self.discounts else None


def steps(one: StudyCollection, plan: Plan, found: Found) -> list[Callable[[], None]]:
    """What is to be done for a collection, one after another."""
    topics = len(one.qrels.topics)
    splits = plan.splits if topics >= _TO_SPLIT else 0
    if splits < plan.splits:
        found.failed[HELD_OUT, f"expected at least {_TO_SPLIT} topics to be split into halves, got {topics}"] = []

    def do(kind: str, cutoff: int, into: dict[int, Part], **settings: Any) -> Callable[[], None]:
        def step() -> None:
            try:
                # Topics are held out at the largest cutoff that the runs reach, which comes first.
                held = splits if into is found.discounts and not into else 0
                into[cutoff] = _optimum(one, plan, cutoff=cutoff, splits=held, **settings).parts[0]
            except DataError as error:  # of the data; wrong settings are refused
                found.failed.setdefault((kind, str(error)), []).append(cutoff)

        return step

    def test_pairs() -> None:
        found.pairs.update(_pairs(one, plan, found))

    of_discounts = [
        *(do(DISCOUNT, k, found.discounts) for k in reversed(plan.discount_cutoffs)),
        do(FREE, plan.cutoff, found.free_discount, constrained=False),
    ]
    of_gains, of_both = {*plan.gain_cutoffs, *plan.discount_cutoffs}, {*plan.gain_cutoffs, plan.cutoff}
    labels = sum(label > 0 for label in one.label_ratios())
    if labels < 2:
        why = f"gains are weighed against each other: expected at least 2 labels above 0, got {labels}"
        found.failed.update({(GAIN, why): list(of_gains), (BOTH, why): list(of_both)})
        return of_discounts
    return [
        *of_discounts,
        *(do(GAIN, k, found.gains, target="gain", constrained=False) for k in sorted(of_gains)),
        *(do(BOTH, k, found.both, target="both") for k in sorted(of_both)),
        test_pairs,
    ]


def _optimum(
    one: StudyCollection,
    plan: Plan,
    *,
    cutoff: int,
    target: Target = "discount",
    constrained: bool = True,
    splits: int = 0,
) -> Optimum:
    # Without constraints the cone is slow; but the other takes long for many unknowns.
    method: Method | None = "slsqp" if target == "discount" and not constrained and cutoff <= MANY else None
    return optimize(
        one.qrels,
        one.runs,
        target=target,
        cutoff=cutoff,
        constrained=constrained,
        method=method,
        phi=plan.phi,
        starts=plan.starts * (_MORE_STARTS if target == "gain" else 1),
        resamples=1,  # significance is looked at for the best runs only
        splits=splits,
        seed=plan.seed,
    )


def _pairs(one: StudyCollection, plan: Plan, found: Found) -> dict[int, Sensitivity]:
    """Figure 9: the best runs by nDCG with linear gains and the log2 discount, tested under four measures."""
    part = found.both.get(plan.cutoff)
    if part is None:
        return {}
    order = (-part.scores.only(["log2, gain linear"]).summary()[0]).argsort(kind="stable")
    names = {part.scores.systems[at] for at in order[: plan.best]}
    chosen = {BEST_OF_ALL: part[OPTIMAL], **{variant(g, d): part[f"{d}, gain {g}"] for g, d in VARIANTS}}
    scores = evaluate(one.qrels, [run for run in one.runs if run.name in names], [c.measure for c in chosen.values()])
    return {plan.cutoff: sensitivity(scores, resamples=plan.resamples, seed=plan.seed)}


def variant(gain: str, discount: str) -> str:
    """What a measure of Figure 9 is called."""
    return f"{gain} gain, {discount} discount"


def label_shares(one: StudyCollection, depth: int) -> pl.DataFrame:
    """Figure 5: per rank and label above 0, the share of all rankings with a document of that label at that rank."""
    with named(one.name):
        rankings = align(one.qrels, iterate_runs(one.runs), Policies())
    shares = rankings.grades_by_rank(depth)
    wanted = [at for at, label in enumerate(rankings.grades) if label > 0]
    return pl.concat(
        [
            pl.DataFrame(
                {
                    "collection": one.name,
                    "label": f"{rankings.grades[at]:g}",
                    "rank": range(1, depth + 1),
                    "share": shares[at],
                }
            )
            for at in wanted
        ]
        or [pl.DataFrame(schema={"collection": pl.String, "label": pl.String, "rank": pl.Int64, "share": pl.Float64})]
    )


def share_below(candidate: Candidate) -> float:
    """The share of the weight that a discount puts on the lower half of its ranks."""
    return float(candidate.discount[len(candidate.discount) // 2 :].sum())


def gain_ratio(candidate: Candidate, label: float) -> float:
    """How many times the gain of the lowest label a label has; infinite where that has as little as allowed."""
    lowest = min(candidate.gain)
    return float("inf") if lowest in candidate.bound else candidate.gain[label] / candidate.gain[lowest]


def labels_above(part: Part) -> Sequence[float]:
    """The labels but the lowest that has a gain."""
    return sorted(part.candidates[0].gain)[1:]
