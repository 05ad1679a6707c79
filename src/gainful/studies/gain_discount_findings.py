"""What Kanoulas & Aslam (2009) found, and whether it holds for a collection."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gainful.studies.gain_discount_found import (
    BEST_OF_ALL,
    DISCOUNTS,
    GAINS,
    VARIANTS,
    Found,
    Plan,
    gain_ratio,
    labels_above,
    share_below,
    variant,
)
from gainful.studies.result import Finding
from gainful.tune.optimize.result import OPTIMAL, Part

# The paper's lowest τ between the orders by the optimal discount and by log2 is .8581, and by gains .94.
SAME_ORDER, SAME_ORDER_BY_GAIN = 0.85, 0.9
# Discounts that move less of their weight than this are almost equal.
ALMOST = 0.1
ALPHA = 0.05


def findings(one: Found, plan: Plan) -> Iterator[Finding]:
    """All that can be looked for in what was found."""
    if one.discounts:
        yield _flatter(one)
    if one.deep is not None:
        yield _fewest_topics(one.name, one.deep, plan)
        yield from _log2_next(one.name, one.deep, plan)
        if len(one.deep[OPTIMAL].held_out):
            yield _held_out(one.name, one.deep)
    if one.gains:
        yield _alike_gains(one, plan)
    if one.deep_gain is not None and one.deep is not None:
        yield _exponential(one.name, one.deep_gain)
        yield _gains_matter_less(one.name, one.deep, one.deep_gain)
    if plan.cutoff in one.both:
        yield _independent(one.name, one.both[plan.cutoff])
    if one.deep is not None:
        yield _same_order(one.name, one.deep)
    if one.deep_gain is not None:
        yield _same_order_by_gain(one.name, one.deep_gain)
    if one.pairs:
        yield _most_pairs(one, plan)


def _flatter(one: Found) -> Finding:
    weights = {k: (share_below(part[OPTIMAL]), share_below(part["log2"])) for k, part in sorted(one.discounts.items())}
    return Finding(
        claim="The optimal discount is less steep than log2, more of its weight being on the lower half of the ranks",
        collection=one.name,
        holds=all(ours > theirs for ours, theirs in weights.values()),
        evidence="; ".join(f"@{k}: {ours:.3f} against {theirs:.3f}" for k, (ours, theirs) in weights.items()),
    )


def _fewest_topics(name: str, part: Part, plan: Plan) -> Finding:
    ours, others = part.phi(OPTIMAL), {d: part.phi(d) for d in DISCOUNTS}
    return Finding(
        claim=f"With the optimal discount fewest topics reach a Φ of {plan.phi:g}, on the topics it was fitted to",
        collection=name,
        holds=all(ours >= theirs for theirs in others.values()),
        evidence=_topics(part, (OPTIMAL, *DISCOUNTS)) + f"; Φ {ours:.4f}, next {max(others.values()):.4f}",
    )


def _log2_next(name: str, part: Part, plan: Plan) -> Iterator[Finding]:
    needed = {d: part.topics_needed(d) for d in ("log2", "linear", "zipf")}
    reached = {d: topics for d, topics in needed.items() if topics is not None}
    if not reached:
        return
    nearest = [d for d, topics in reached.items() if topics == min(reached.values())]
    tie = f"; {' and '.join(nearest)} are equally near" if len(nearest) > 1 else ""
    yield Finding(
        claim=f"Of zipf, linear and log2, log2 is nearest to the optimum in the topics that a Φ of {plan.phi:g} takes",
        collection=name,
        holds=nearest == ["log2"],
        evidence=_topics(part, (OPTIMAL, *needed)) + tie,
    )


def _held_out(name: str, part: Part) -> Finding:
    means = {d: float(part[d].held_out.mean()) for d in (OPTIMAL, *DISCOUNTS)}
    return Finding(
        claim="Beyond the paper: the optimal discount is also the most reliable on topics it was not fitted to",
        collection=name,
        holds=all(means[OPTIMAL] > means[d] for d in DISCOUNTS),
        evidence="held-out Φ: " + ", ".join(f"{d} {value:.4f}" for d, value in means.items()),
    )


def _alike_gains(one: Found, plan: Plan) -> Finding:
    parts = {k: part for k, part in one.gains.items() if k in plan.gain_cutoffs}
    ratios = {
        k: tuple(gain_ratio(part[c], labels_above(part)[-1]) for c in ("constrained", "linear"))
        for k, part in parts.items()
    }
    smaller = sum(ours < linear for ours, linear in ratios.values())
    top = f"{labels_above(next(iter(parts.values())))[-1]:g}"
    return Finding(
        claim="At most cutoffs, the optimal gains of the highest and the lowest label differ less than linear ones",
        collection=one.name,
        holds=2 * smaller > len(ratios),
        evidence=f"label {top} over the lowest: "
        + ", ".join(f"@{k} {ours:.2f}" for k, (ours, _) in ratios.items())
        + f"; linear {next(iter(ratios.values()))[1]:.2f}",
    )


def _exponential(name: str, part: Part) -> Finding:
    return Finding(
        claim="Exponential gains make nDCG no more reliable than linear ones, as on two of the paper's three tracks",
        collection=name,
        holds=part.phi("exp") <= part.phi("linear"),
        evidence=f"{_topics(part, GAINS)}; Φ {part.phi('exp'):.4f} and {part.phi('linear'):.4f}",
    )


def _gains_matter_less(name: str, discounts: Part, gains: Part) -> Finding:
    by_discount = _range([discounts.phi(d) for d in (OPTIMAL, *DISCOUNTS)])
    by_gain = _range([gains.phi(g) for g in ("constrained", *GAINS)])
    return Finding(
        claim="The choice of the discount changes Φ more than the choice of the gain",
        collection=name,
        holds=by_discount > by_gain,
        evidence=f"largest less smallest Φ: {by_discount:.4f} by discounts, {by_gain:.4f} by gains",
    )


def _independent(name: str, part: Part) -> Finding:
    moved = float(np.abs(part[OPTIMAL].discount - part["optimal discount"].discount).sum() / 2.0)
    return Finding(
        claim="The discount sought together with the gain is almost that for linear gains",
        collection=name,
        holds=moved <= ALMOST,
        evidence=f"{moved:.1%} of the weight is on other ranks; at most {ALMOST:.0%} is almost none",
    )


def _same_order(name: str, part: Part) -> Finding:
    tau = _tau(part, OPTIMAL)
    return Finding(
        claim="log2 orders the runs almost as the optimal discount does, and nearer to it than zipf",
        collection=name,
        holds=tau["log2"] >= SAME_ORDER and tau["log2"] > tau["zipf"],
        evidence="τ with the optimum: " + ", ".join(f"{d} {tau[d]:.4f}" for d in ("log2", "linear", "zipf")),
    )


def _same_order_by_gain(name: str, part: Part) -> Finding:
    tau = _tau(part, "constrained")
    return Finding(
        claim="Exponential gains order the runs almost as the optimal gains do",
        collection=name,
        holds=tau["exp"] >= SAME_ORDER_BY_GAIN,
        evidence=f"τ {tau['exp']:.4f}; at least {SAME_ORDER_BY_GAIN:g} is almost the same",
    )


def _most_pairs(one: Found, plan: Plan) -> Finding:
    names = [BEST_OF_ALL, *(variant(*pair) for pair in VARIANTS)]
    tests = one.pairs[plan.cutoff].tests
    power = {name: test.discriminative_power(ALPHA) for name, test in zip(names, tests, strict=True)}
    ours = power.pop(BEST_OF_ALL)
    return Finding(
        claim="nDCG with optimal gain and discount tells more pairs of runs apart than with those that people use",
        collection=one.name,
        holds=all(ours > theirs for theirs in power.values()),
        evidence=f"at {ALPHA:g}: optimal {ours:.1%}, " + ", ".join(f"{name} {p:.1%}" for name, p in power.items()),
    )


def _topics(part: Part, names: tuple[str, ...]) -> str:
    found = {name: part.topics_needed(name) for name in names}
    return "topics: " + ", ".join(f"{name} {'none' if n is None else n}" for name, n in found.items())


def _tau(part: Part, name: str) -> dict[str, float]:
    return dict(zip(part.scores.measures, map(float, part.tau()[part.scores.measures.index(name)]), strict=True))


def _range(values: list[float]) -> float:
    return max(values) - min(values)
