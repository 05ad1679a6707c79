"""What Bompada et al. (SIGIR 2007) found, and whether the numbers of a collection say the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gainful.analyses.robustness.result import Curve, Robustness
from gainful.data.rankings import FloatArray
from gainful.studies.result import Finding

MEASURES = ("bpref", "infAP", "nDCG")
# What a curve has to exceed to be past its knee.
KNEE = 0.9
# 'As good as' forgives a point; 'about 1 %', what the paper says of graded and binary nDCG, is what rounds to it.
AS_GOOD, ABOUT_ONE = 0.01, 0.015
# What the paper calls low levels: extremely low ones, and those of its remarks on the g-mean.
LOWEST, LOW = 0.05, 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Which labels are relevant, and which more than that."""

    relevant: float
    highly: tuple[float, ...]

    @classmethod
    def of(cls, found: Robustness) -> Labels:
        """Of the labels that documents have."""
        first, *rest = (label for label in found.labels if label >= found.rel)
        return cls(relevant=first, highly=tuple(rest))

    def __str__(self) -> str:
        return f"{self.relevant:g} relevant, {', '.join(f'{label:g}' for label in self.highly)} highly relevant"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Depleted:
    """What the layers below say of one collection; the first three measures are bpref, infAP and binary nDCG."""

    name: str
    found: Robustness

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels below that of all judgments, at which there is nothing to see."""
        return tuple(level for level in self.found.levels if level < 1)

    def tau(self, measure: str) -> FloatArray:
        """Mean τ over the trials, by level."""
        return self.graded_tau(MEASURES.index(measure) - 2)

    def graded_tau(self, weight: int) -> FloatArray:
        """The same, of nDCG with the weight at that place; 0 is binary."""
        means: FloatArray = self.found.taus.mean(axis=2)[weight + 2, : len(self.levels)]
        return means

    def decided(self, measure: str, what: str) -> FloatArray:
        """Accuracy, g-mean or false positives, by level."""
        return self.graded_decided(MEASURES.index(measure) - 2, what)

    def graded_decided(self, weight: int, what: str) -> FloatArray:
        """The same, of nDCG with the weight at that place; 0 is binary."""
        cells = self.found.decisions[weight + 2][: len(self.levels)]
        return np.array([getattr(cell, what) for cell in cells])

    def knee(self, measure: str, by: Curve, *, sustained: bool = False) -> float | None:
        """The lowest level at which a curve exceeds .9; sustained, from which on it does."""
        found = self.found.knees(KNEE, by=by)[self.found.measures[MEASURES.index(measure)]]
        return found.sustained if sustained else found.first

    @property
    def weights(self) -> tuple[float, ...]:
        """Of the highly relevant, binary first; one only if graded nDCG is binary nDCG."""
        return self.found.weights[: len(self.found.measures) - 2]


def findings_of_orders(one: Depleted) -> Iterator[Finding]:
    """What the paper says of the order of runs."""
    bpref, infap, ndcg = (one.tau(measure) for measure in MEASURES)
    most, levels = len(one.levels), np.array(one.levels)
    highest = int((ndcg >= np.maximum(bpref, infap) - 1e-12).sum())
    means = ", ".join(f"{measure} {one.tau(measure).mean():.3f}" for measure in MEASURES)
    yield _finding(
        one,
        "nDCG has the highest τ at most levels",
        highest > most / 2,
        f"at {highest} of {most} levels; mean τ of the levels: {means}",
    )
    above = int((infap > bpref).sum())
    yield _finding(one, "infAP has a higher τ than bpref at every level", above == most, f"at {above} of {most} levels")
    yield _lowest_knee(one, "tau", f"nDCG's τ exceeds {KNEE:g} at a lower level than those of bpref and infAP")
    falls = {measure: 1.0 - float(one.tau(measure)[0]) for measure in MEASURES}
    yield _finding(
        one,
        f"nDCG's curve is the flattest: at the lowest level, {levels[0]:g}, its τ has fallen least",
        falls["nDCG"] < min(falls["bpref"], falls["infAP"]),
        "by " + ", ".join(f"{fall:.3f} ({measure})" for measure, fall in falls.items()),
    )
    if (levels >= 0.4).any():
        lowest = float(ndcg[levels >= 0.4].min())
        yield _finding(
            one, f"nDCG has a τ of {KNEE:g} with 40% of the judgments", lowest >= KNEE, f"at least {lowest:.3f}"
        )
    if (levels <= LOWEST).any():
        lowest = float(ndcg[levels <= LOWEST].min())
        yield _finding(
            one, f"nDCG has a τ above 0.5 with {LOWEST:.0%} of the judgments and fewer", lowest > 0.5, f"{lowest:.3f}"
        )


def findings_of_decisions(one: Depleted) -> Iterator[Finding]:
    """What the paper says of tests of pairs."""
    levels = np.array(one.levels)
    behind = one.decided("infAP", "accuracy") - one.decided("nDCG", "accuracy")
    yield _finding(
        one,
        "nDCG decides on pairs of runs as accurately as infAP, or more so, at every level",
        bool((behind <= AS_GOOD).all()),
        f"mean accuracy of the levels {_means(one, 'accuracy')}; nDCG is behind infAP by at most "
        f"{max(0.0, float(behind.max())):.3f}, at {int((behind > AS_GOOD).sum())} of {len(levels)} levels by more than "
        f"{AS_GOOD:g}",
    )
    if (levels <= LOWEST).any():
        lowest = float(one.decided("nDCG", "accuracy")[levels <= LOWEST].min())
        yield _finding(
            one,
            f"nDCG decides with an accuracy above {KNEE:g} with {LOWEST:.0%} of the judgments and fewer",
            lowest > KNEE,
            f"lowest accuracy {lowest:.3f}",
        )
    yield _lowest_knee(
        one, "accuracy", f"nDCG's accuracy exceeds {KNEE:g} at a lower level than those of bpref and infAP"
    )
    lost = {measure: float(np.mean(one.decided(measure, "false_positive"))) for measure in MEASURES}
    if not np.isnan(list(lost.values())).any():  # there are differences to lose
        yield _finding(
            one,
            "nDCG loses fewer of the differences that all judgments tell than bpref and infAP",
            lost["nDCG"] < min(lost["bpref"], lost["infAP"]),
            f"mean share lost, of the levels: {_means(one, 'false_positive')}",
        )
    behind = (one.decided("infAP", "g_mean") - one.decided("nDCG", "g_mean"))[levels <= LOW]
    if len(behind) and not np.isnan(behind).any():
        yield _finding(
            one,
            f"nDCG has as high a g-mean as infAP, or a higher one, with {LOW:.0%} of the judgments and fewer",
            bool((behind <= AS_GOOD).all()),
            f"mean g-mean of all levels {_means(one, 'g_mean')}; nDCG is behind infAP by at most "
            f"{max(0.0, float(behind.max())):.3f}",
        )


def findings_of_weights(one: Depleted) -> Iterator[Finding]:
    """What the paper says of binary and graded nDCG."""
    curves: dict[str, list[FloatArray]] = {
        "τ": [one.graded_tau(at) for at in range(len(one.weights))],
        "accuracy": [one.graded_decided(at, "accuracy") for at in range(len(one.weights))],
    }
    claims = {
        "τ": "keeps the order of runs as binary nDCG does",
        "accuracy": "decides on pairs of runs as binary nDCG does",
    }
    for what, (binary, *graded) in curves.items():
        for weight, curve in zip(one.weights[1:], graded, strict=True):
            apart = np.abs(curve - binary)
            if not np.isnan(apart).any():
                yield _finding(
                    one,
                    f"graded nDCG, weight {weight:g}, {claims[what]}: {what} differs by about 1% (at most "
                    f"{ABOUT_ONE:g} on average)",
                    float(apart.mean()) <= ABOUT_ONE,
                    f"by {apart.mean():.3f} on average over the levels, {apart.max():.3f} at most",
                )


def _lowest_knee(one: Depleted, by: Curve, claim: str) -> Finding:
    knees = {measure: one.knee(measure, by) for measure in MEASURES}
    never = 2.0
    own, *others = (knees[measure] or never for measure in ("nDCG", "bpref", "infAP"))
    told = ", ".join(f"{measure} {'never' if level is None else f'{level:g}'}" for measure, level in knees.items())
    return _finding(one, claim, own < min(others), told)


def _means(one: Depleted, what: str) -> str:
    return ", ".join(f"{measure} {float(np.mean(one.decided(measure, what))):.3f}" for measure in MEASURES)


def _finding(one: Depleted, claim: str, holds: bool, evidence: str) -> Finding:
    return Finding(claim=claim, collection=one.name, holds=bool(holds), evidence=evidence)
