"""What Bompada et al. (SIGIR 2007) found, and whether the numbers of a collection say the same."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from gainful.analyses.robustness.result import Curve
from gainful.data.rankings import FloatArray
from gainful.studies.findings import Finding, decide, each
from gainful.studies.incomplete_judgments.compute import KNEE, MEASURES, Depleted, IncompleteJudgments

# 'As good as' forgives a point; 'about 1 %', what the paper says of graded and binary nDCG, is what rounds to it.
AS_GOOD, ABOUT_ONE = 0.01, 0.015
# What the paper calls low levels: extremely low ones, and those of its remarks on the g-mean.
LOWEST, LOW = 0.05, 0.3


def findings(one: IncompleteJudgments) -> Iterator[Finding]:
    """All that can be looked for in what was found, in the paper's order."""
    for exhibit, of in (("Figure 1", of_orders), ("Figure 2", of_decisions), ("Figure 3", of_weights)):
        for depleted in one.allowing(exhibit):
            yield from of(depleted)


def of_orders(one: Depleted) -> Iterator[Finding]:
    """What the paper says of the order of runs."""
    finding = partial(decide, one.name, paper="Figure 1")
    bpref, infap, ndcg = (one.tau(measure) for measure in MEASURES)
    most, levels = len(one.levels), np.array(one.levels)
    highest = int((ndcg >= np.maximum(bpref, infap) - 1e-12).sum())
    means = {measure: float(one.tau(measure).mean()) for measure in MEASURES}
    evidence = f"at {highest} of {most} levels; mean τ of the levels: {each(means, '.3f')}"
    yield finding("nDCG has the highest τ at most levels", highest > most / 2, evidence, means)
    above = int((infap > bpref).sum())
    at = f"at {above} of {most} levels"
    yield finding("infAP has a higher τ than bpref at every level", above == most, at, infap, bpref)
    yield _lowest_knee(one, "tau", "τ")
    falls = {measure: 1.0 - float(one.tau(measure)[0]) for measure in MEASURES}
    claim = f"nDCG's curve is the flattest: at the lowest level, {levels[0]:g}, its τ has fallen least"
    evidence = "by " + ", ".join(f"{fall:.3f} ({measure})" for measure, fall in falls.items())
    yield finding(claim, falls["nDCG"] < min(falls["bpref"], falls["infAP"]), evidence, falls)
    if (levels >= 0.4).any():
        lowest = float(ndcg[levels >= 0.4].min())
        claim = f"nDCG has a τ of {KNEE:g} with 40% of the judgments"
        yield finding(claim, lowest >= KNEE, f"at least {lowest:.3f}", lowest)
    if (levels <= LOWEST).any():
        lowest = float(ndcg[levels <= LOWEST].min())
        claim = f"nDCG has a τ above 0.5 with {LOWEST:.0%} of the judgments and fewer"
        yield finding(claim, lowest > 0.5, f"{lowest:.3f}", lowest)


def of_decisions(one: Depleted) -> Iterator[Finding]:
    """What the paper says of tests of pairs."""
    finding = partial(decide, one.name, paper="Figure 2")
    levels = np.array(one.levels)
    behind, means = _behind(one, "accuracy")
    claim = "nDCG decides on pairs of runs at least as accurately as infAP at every level"
    evidence = (
        f"mean accuracy of the levels {each(means, '.3f')}; nDCG is behind infAP by at most "
        f"{max(0.0, float(behind.max())):.3f}, at {int((behind > AS_GOOD).sum())} of {len(levels)} levels by more than "
        f"{AS_GOOD:g}"
    )
    yield finding(claim, (behind <= AS_GOOD).all(), evidence, means, behind)
    if (levels <= LOWEST).any():
        lowest = float(one.decided("nDCG", "accuracy")[levels <= LOWEST].min())
        claim = f"nDCG decides with an accuracy above {KNEE:g} with {LOWEST:.0%} of the judgments and fewer"
        yield finding(claim, lowest > KNEE, f"lowest accuracy {lowest:.3f}", lowest)
    yield _lowest_knee(one, "accuracy", "accuracy")
    lost = _means(one, "false_positive")
    claim = "nDCG loses fewer of the differences under all judgments than bpref and infAP"
    evidence = f"mean share lost, of the levels: {each(lost, '.3f')}"
    yield finding(claim, lost["nDCG"] < min(lost["bpref"], lost["infAP"]), evidence, lost)
    behind, means = _behind(one, "g_mean")
    behind = behind[levels <= LOW]
    if len(behind):
        claim = f"nDCG has at least the g-mean of infAP with {LOW:.0%} of the judgments and fewer"
        most = f"nDCG is behind infAP by at most {max(0.0, float(behind.max())):.3f}"
        evidence = f"mean g-mean of all levels {each(means, '.3f')}; {most}"
        yield finding(claim, (behind <= AS_GOOD).all(), evidence, means, behind)


def of_weights(one: Depleted) -> Iterator[Finding]:
    """What the paper says of binary and graded nDCG."""
    places = range(2, 2 + len(one.weights))  # binary nDCG, then graded
    curves = {
        "keeps the order of runs as binary nDCG does: τ": [one.tau(at) for at in places],
        "decides on pairs of runs as binary nDCG does: accuracy": [one.decided(at, "accuracy") for at in places],
    }
    for what, (binary, *graded) in curves.items():
        for weight, curve in zip(one.weights[1:], graded, strict=True):
            apart = np.abs(curve - binary)
            claim = f"graded nDCG, weight {weight:g}, {what} differs by about 1% (at most {ABOUT_ONE:g} on average)"
            evidence = f"by {apart.mean():.3f} on average over the levels, {apart.max():.3f} at most"
            yield decide(one.name, claim, float(apart.mean()) <= ABOUT_ONE, evidence, apart, paper="Figure 3")


def _lowest_knee(one: Depleted, by: Curve, what: str) -> Finding:
    knees = {measure: one.knee(measure, by) for measure in MEASURES}
    never = 2.0
    own, *others = (knees[measure] or never for measure in ("nDCG", "bpref", "infAP"))
    evidence = ", ".join(f"{measure} {'never' if level is None else f'{level:g}'}" for measure, level in knees.items())
    claim = f"nDCG's {what} exceeds {KNEE:g} at a lower level than those of bpref and infAP"
    paper = "Table 3, whose numbers were not available" if by == "tau" else "Table 5, whose numbers were not available"
    return decide(one.name, claim, own < min(others), evidence, paper=paper)


def _behind(one: Depleted, what: str) -> tuple[FloatArray, dict[str, float]]:
    """By level, how far nDCG is behind infAP; and the means of all measures."""
    return one.decided("infAP", what) - one.decided("nDCG", what), _means(one, what)


def _means(one: Depleted, what: str) -> dict[str, float]:
    return {measure: float(np.mean(one.decided(measure, what))) for measure in MEASURES}
