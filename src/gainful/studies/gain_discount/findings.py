"""What Kanoulas & Aslam (2009) found, and whether it holds for a collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from gainful.studies.exhibits import read_paper
from gainful.studies.findings import BEYOND, Finding, decide, each
from gainful.studies.gain_discount.compute import DISCOUNTS, GAINS, TESTED, GainDiscount, gain_ratio, labels_above
from gainful.tune.optimize.result import OPTIMAL, Candidate, CollectionOptimum

_PAPER = read_paper("gain_discount")
# The paper's lowest τ between the orders by the optimal discount and by log2 is .8581, and by gains .94.
SAME_ORDER, SAME_ORDER_BY_GAIN = 0.85, 0.9
# Discounts that move less of their weight than this are almost equal.
ALMOST = 0.1
ALPHA = 0.05


def findings(one: GainDiscount, settings: Mapping[str, Any]) -> Iterator[Finding]:
    """All that can be looked for in what was found, in the paper's order."""
    deep, gain, cutoff = one.deep, one.deep_gain, settings["cutoff"]
    if deep is not None:
        yield _flatter(one)
        yield from _of_topics(one.name, deep, settings["phi"])
    asked = {k: part for k, part in one.gains.items() if k in settings["gain_cutoffs"]}
    if asked:
        yield _alike_gains(one.name, asked)
    if deep is not None and gain is not None:
        yield from _of_gains(one.name, deep, gain)
    if cutoff in one.both:
        yield _independent(one.name, one.both[cutoff])
    if deep is not None:
        yield _same_order(one.name, deep)
    if gain is not None:
        yield _same_order_by_gain(one.name, gain)
    if one.pairs:
        yield _most_pairs(one, cutoff)


def _flatter(one: GainDiscount) -> Finding:
    parts = sorted(one.discounts.items())
    weights = {k: (_share_below(part[OPTIMAL]), _share_below(part["log2"])) for k, part in parts}
    claim = "The optimal discount is less steep than log2: more of its weight is on the lower half of the ranks"
    evidence = "; ".join(f"@{k}: {ours:.3f} against {theirs:.3f}" for k, (ours, theirs) in weights.items())
    holds = all(ours > theirs for ours, theirs in weights.values())
    return decide(one.name, claim, holds, evidence, weights, paper="Figure 2")


def _of_topics(name: str, part: CollectionOptimum, target: float) -> Iterator[Finding]:
    """What the paper says of discounts and how many topics they take; and beyond it, of topics held out."""
    finding = partial(decide, name, paper=_PAPER.prints("Table 1", ["zipf", "linear", "log2", "optimal"]))
    phi = {discount: part.phi(discount) for discount in (OPTIMAL, *DISCOUNTS)}
    ours, next_best = phi[OPTIMAL], max(phi[discount] for discount in DISCOUNTS)
    claim = f"The optimal discount needs the fewest topics for a Φ of {target:g}, on the topics it was fitted to"
    evidence = f"{_topics(part, tuple(phi))}; Φ {ours:.4f}, next {next_best:.4f}"
    yield finding(claim, all(ours >= theirs for theirs in phi.values()), evidence, phi)
    needed = {discount: part.topics_needed(discount) for discount in ("log2", "linear", "zipf")}
    reached = {discount: topics for discount, topics in needed.items() if topics is not None}
    if reached:
        nearest = [discount for discount, topics in reached.items() if topics == min(reached.values())]
        tie = f"; {' and '.join(nearest)} are equally near" if len(nearest) > 1 else ""
        claim = f"Of zipf, linear and log2, log2 is nearest to the optimum in the topics needed for a Φ of {target:g}"
        yield finding(claim, nearest == ["log2"], _topics(part, (OPTIMAL, *needed)) + tie)
    if len(part[OPTIMAL].held_out):
        means = {discount: float(part[discount].held_out.mean()) for discount in phi}
        claim = "Beyond the paper: the optimal discount is also the most reliable on topics it was not fitted to"
        best = all(means[OPTIMAL] > means[discount] for discount in DISCOUNTS)
        yield finding(claim, best, f"held-out Φ: {each(means)}", means, paper=BEYOND)


def _alike_gains(name: str, parts: Mapping[int, CollectionOptimum]) -> Finding:
    ours, linear = (
        {f"@{k}": gain_ratio(part[gain], labels_above(part)[-1]) for k, part in parts.items()}
        for gain in ("constrained", "linear")
    )
    top = f"{labels_above(next(iter(parts.values())))[-1]:g}"
    claim = "At most cutoffs, the optimal gains of the highest and the lowest label differ less than linear ones"
    evidence = f"label {top} over the lowest: {each(ours, '.2f')}; linear {next(iter(linear.values())):.2f}"
    most = 2 * sum(ours[k] < linear[k] for k in ours) > len(ours)
    paper = _PAPER.prints("Table 2", ["log2 discount", "linear"], ".1f")
    return decide(name, claim, most, evidence, ours, linear, paper=paper)


def _of_gains(name: str, discounts: CollectionOptimum, gains: CollectionOptimum) -> Iterator[Finding]:
    phi = {gain: gains.phi(gain) for gain in ("constrained", *GAINS)}
    exp, linear = phi["exp"], phi["linear"]
    claim = "Exponential gains make nDCG no more reliable than linear ones, as on two of the paper's three tracks"
    evidence = f"{_topics(gains, GAINS)}; Φ {exp:.4f} and {linear:.4f}"
    yield decide(name, claim, exp <= linear, evidence, exp, linear, paper=_PAPER.prints("Table 3", ["exp", "linear"]))
    by_discount, by_gain = np.ptp([discounts.phi(d) for d in (OPTIMAL, *DISCOUNTS)]), np.ptp(list(phi.values()))
    claim = "The choice of the discount changes Φ more than the choice of the gain"
    evidence = f"largest less smallest Φ: {by_discount:.4f} by discounts, {by_gain:.4f} by gains"
    yield decide(name, claim, by_discount > by_gain, evidence, by_discount, by_gain, paper="Tables 1 and 3")


def _independent(name: str, part: CollectionOptimum) -> Finding:
    moved = float(np.abs(part[OPTIMAL].discount - part["optimal discount"].discount).sum() / 2.0)
    claim = "The discount optimised together with the gain is almost that for linear gains"
    evidence = f"{moved:.1%} of the weight is on other ranks; at most {ALMOST:.0%} is almost none"
    return decide(name, claim, moved <= ALMOST, evidence, moved, paper="Figure 6")


def _same_order(name: str, part: CollectionOptimum) -> Finding:
    tau = {discount: _tau(part, OPTIMAL)[discount] for discount in ("log2", "linear", "zipf")}
    claim = "log2 orders the runs almost as the optimal discount does, and nearer to it than zipf"
    holds = tau["log2"] >= SAME_ORDER and tau["log2"] > tau["zipf"]
    paper = _PAPER.prints("Table 4", list(tau), ".4f", discount="optimal")
    return decide(name, claim, holds, f"τ with the optimum: {each(tau)}", tau, paper=paper)


def _same_order_by_gain(name: str, part: CollectionOptimum) -> Finding:
    tau = _tau(part, "constrained")["exp"]
    claim = "Exponential gains order the runs almost as the optimal gains do"
    evidence = f"τ {tau:.4f}; at least {SAME_ORDER_BY_GAIN:g} is almost the same"
    return decide(name, claim, tau >= SAME_ORDER_BY_GAIN, evidence, tau, paper="Figure 8: τ 0.94 on TREC 12")


def _most_pairs(one: GainDiscount, cutoff: int) -> Finding:
    tests = zip(("optimal", *TESTED[1:]), one.pairs[cutoff].tests, strict=True)
    power = {name: test.discriminative_power(ALPHA) for name, test in tests}
    claim = "nDCG with optimal gain and discount tells more pairs of runs apart than with the usual ones"
    most = all(power["optimal"] > theirs for name, theirs in power.items() if name != "optimal")
    return decide(one.name, claim, most, f"at {ALPHA:g}: {each(power, '.1%')}", power, paper="Figure 9")


def _share_below(candidate: Candidate) -> float:
    """The share of the weight that a discount puts on the lower half of its ranks."""
    return float(candidate.discount[len(candidate.discount) // 2 :].sum())


def _topics(part: CollectionOptimum, names: tuple[str, ...]) -> str:
    found = {name: part.topics_needed(name) for name in names}
    return "topics: " + ", ".join(f"{name} {'none' if n is None else n}" for name, n in found.items())


def _tau(part: CollectionOptimum, name: str) -> dict[str, float]:
    return dict(zip(part.scores.measures, map(float, part.tau()[part.scores.measures.index(name)]), strict=True))
