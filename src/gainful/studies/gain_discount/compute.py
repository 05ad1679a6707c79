"""What the study of gains and discounts computes for one collection, by the layers below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gainful import _polars as pl
from gainful.analyses.sensitivity import sensitivity
from gainful.analyses.sensitivity.result import Sensitivity
from gainful.errors import DataError
from gainful.progress import track
from gainful.results import Settings
from gainful.studies.collections import StudyCollection
from gainful.studies.exhibits import stacked
from gainful.tune.optimize import Target, optimize
from gainful.tune.optimize.fit import MANY
from gainful.tune.optimize.result import OPTIMAL, Candidate, CollectionOptimum
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
TESTED = ("optimal gain, optimal discount", *(f"{gain} gain, {discount} discount" for gain, discount in VARIANTS))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GainDiscount:
    """All that was found for one collection."""

    name: str
    shares: pl.DataFrame  # per rank and label, the share of the rankings that have a document of that label there
    # By cutoff, the best discounts for linear gains.
    discounts: dict[int, CollectionOptimum] = field(default_factory=dict)
    # The best discounts that may also rise with the rank, at one cutoff.
    free_discount: dict[int, CollectionOptimum] = field(default_factory=dict)
    # By cutoff, the best gains for the log2 discount that may also fall with the label, and those that may not.
    gains: dict[int, CollectionOptimum] = field(default_factory=dict)
    both: dict[int, CollectionOptimum] = field(default_factory=dict)  # by cutoff, the best gains and discounts together
    # Significance of all pairs of the best runs, under the measures of Figure 9.
    pairs: dict[int, Sensitivity] = field(default_factory=dict)
    # What could not be done, at which cutoffs, and why.
    failed: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    @property
    def deep(self) -> CollectionOptimum | None:
        """The best discounts at the largest cutoff that the runs reach."""
        return self.discounts[max(self.discounts)] if self.discounts else None

    @property
    def deep_gain(self) -> CollectionOptimum | None:
        """The best gains at the same cutoff."""
        return self.gains.get(max(self.discounts)) if self.discounts else None


def find(loaded: Sequence[StudyCollection], settings: Settings) -> list[GainDiscount]:
    """What the collections allow; refused if no discount can be sought in any."""
    found = [GainDiscount(name=one.name, shares=label_shares(one, max(settings["discount_cutoffs"]))) for one in loaded]
    work = [step for one, into in zip(loaded, found, strict=True) for step in steps(one, settings, into)]
    for step in track(work, len(work), "Searching gains and discounts"):
        step()
    if not any(one.discounts for one in found):
        why = next(why for kind, why in found[0].failed if kind == DISCOUNT)
        raise DataError(f"collection {found[0].name!r}: {why}")
    return found


def steps(one: StudyCollection, settings: Settings, found: GainDiscount) -> list[Callable[[], None]]:
    """What is to be done for a collection, one after another."""
    cutoff, discounts, gains = (settings[name] for name in ("cutoff", "discount_cutoffs", "gain_cutoffs"))
    topics, splits = len(one.qrels.topics), settings["splits"]
    if splits and topics < _TO_SPLIT:
        found.failed[HELD_OUT, f"expected at least {_TO_SPLIT} topics to be split into halves, got {topics}"] = []
        splits = 0

    def do(
        kind: str, at: int, into: dict[int, CollectionOptimum], target: Target = "discount", *, constrained: bool = True
    ) -> Callable[[], None]:
        def step() -> None:
            options: dict[str, Any] = {"phi": settings["phi"], "seed": settings["seed"]}
            options["starts"] = settings["starts"] * (_MORE_STARTS if target == "gain" else 1)
            # Topics are held out at the largest cutoff that the runs reach, which comes first.
            options["splits"] = splits if into is found.discounts and not into else 0
            options["resamples"] = 1  # significance is looked at for the best runs only
            # Without constraints the cone is slow; but the other takes long for many unknowns.
            options["method"] = "slsqp" if target == "discount" and not constrained and at <= MANY else None
            try:
                best = optimize(one.source, target=target, cutoff=at, constrained=constrained, **options)
                into[at] = best.collections[0]
            except DataError as error:  # of the data; wrong settings are refused
                found.failed.setdefault((kind, str(error)), []).append(at)

        return step

    of_discounts = [
        *(do(DISCOUNT, at, found.discounts) for at in reversed(discounts)),
        do(FREE, cutoff, found.free_discount, constrained=False),
    ]
    of_gains, of_both = sorted({*gains, *discounts}), sorted({*gains, cutoff})
    labels = sum(label > 0 for label in one.label_ratios())
    if labels < 2:
        why = f"gains are weighed against each other: expected at least 2 labels above 0, got {labels}"
        found.failed.update({(GAIN, why): of_gains, (BOTH, why): of_both})
        return of_discounts
    return [
        *of_discounts,
        *(do(GAIN, at, found.gains, "gain", constrained=False) for at in of_gains),
        *(do(BOTH, at, found.both, "both") for at in of_both),
        lambda: found.pairs.update(_pairs(one, settings, found)),
    ]


def _pairs(one: StudyCollection, settings: Settings, found: GainDiscount) -> dict[int, Sensitivity]:
    """Figure 9: the best runs by nDCG with linear gains and the log2 discount, tested under four measures."""
    cutoff = settings["cutoff"]
    if cutoff not in found.both:
        return {}
    part = found.both[cutoff]
    order = (-part.scores.only(["log2, gain linear"]).summary()[0]).argsort(kind="stable")
    best = one.joined.only([part.scores.systems[at] for at in order[: settings["best"]]])
    chosen = [part[OPTIMAL], *(part[f"{d}, gain {g}"] for g, d in VARIANTS)]
    scores = evaluate(best, [candidate.measure for candidate in chosen])
    return {cutoff: sensitivity(scores, resamples=settings["resamples"], seed=settings["seed"])}


def label_shares(one: StudyCollection, depth: int) -> pl.DataFrame:
    """Figure 5: per rank and label above 0, the share of all rankings with a document of that label at that rank."""
    rankings = one.joined
    shares = rankings.grades_by_rank(depth)
    return stacked(
        {"collection": one.name, "label": f"{label:g}", "rank": range(1, depth + 1), "share": shares[at]}
        for at, label in enumerate(rankings.grades)
        if label > 0
    )


def gain_ratio(candidate: Candidate, label: float) -> float:
    """How many times the gain of the lowest label a label has; infinite where that has as little as allowed."""
    lowest = min(candidate.gain)
    return float("inf") if lowest in candidate.bound else candidate.gain[label] / candidate.gain[lowest]


def labels_above(part: CollectionOptimum) -> Sequence[float]:
    """The labels but the lowest that has a gain."""
    return sorted(part.candidates[0].gain)[1:]
