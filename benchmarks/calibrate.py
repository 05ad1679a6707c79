"""Fit the stand-ins for the TREC Web Tracks to published figures; what to write into tracks.py on stdout.

python benchmarks/calibrate.py [web2011 …] [--steps 18] [--seeds 5]

Published: Gienapp et al. (CIKM 2020) Tables 1, 2a, 2b and 2d; Carmel et al. (SIGIR 2022) Table 3. Sizes and shares of
labels are set. The behaviour of runs and topics is fitted so that the mean over seeds meets the figures, by stochastic
approximation: every parameter follows the figure that it moves most, with steps that get smaller and seeds that are new
in every step; the mean of the last half of the steps is taken. All figures are then computed from other seeds. The
share of topics at or below -1 is taken at cutoff 10, where the published one agrees with the judgments. Φ was published
for 2011 and 2012 only (and by a program that does something else than the paper says): that of nDCG0 is fitted, the
others are not; the other years have the skill of these two, on average.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace

import numpy as np

import gainful as gf
from gainful.data.simulate import collection, tracks
from gainful.data.simulate.tracks import Behaviour, Track
from gainful.stats.anova import absolute_ratios, reliability_of, two_way
from gainful.stats.correlation import spearman

# Topics, judgments, runs, pool depth; per cent of the labels -2, 0, 1, 2, 3 and 4.
SIZES = {
    "web2010": (48, 25_329, 56, 20, (5.65, 73.70, 15.90, 4.25, 0.54, 0.0)),
    "web2011": (50, 19_381, 37, 20, (5.25, 78.45, 10.50, 3.67, 2.11, 0.0)),
    "web2012": (50, 16_055, 32, 20, (5.34, 72.71, 13.75, 2.52, 0.32, 5.34)),
    "web2013": (50, 14_474, 34, 15, (1.62, 69.80, 21.03, 6.36, 1.24, 0.05)),
    "web2014": (50, 14_432, 30, 15, (3.86, 56.90, 26.25, 11.18, 1.59, 0.23)),
}
ORG_0, ORG_MIN, MIN_0 = "ρ(nDCGorg, nDCG0)", "ρ(nDCGorg, nDCGmin)", "ρ(nDCG0, nDCGmin)"
BELOW, DEEP, JUDGED, PHI = "topics below 0", "topics at most -1, @10", "judgments per topic", "Φ(nDCG0@20)"
PUBLISHED = {
    "web2010": {BELOW: 1.00, DEEP: 0.44, ORG_0: 0.87, ORG_MIN: 1.00, MIN_0: 0.88},
    "web2011": {BELOW: 0.94, DEEP: 0.68, ORG_0: 0.79, ORG_MIN: 0.99, MIN_0: 0.82, PHI: 0.975},
    "web2012": {BELOW: 0.96, DEEP: 0.08, ORG_0: 0.91, ORG_MIN: 0.99, MIN_0: 0.93, PHI: 0.940},
    "web2013": {BELOW: 0.74, DEEP: 0.18, ORG_0: 0.93, ORG_MIN: 0.96, MIN_0: 0.97},
    "web2014": {BELOW: 0.70, DEEP: 0.12, ORG_0: 0.95, ORG_MIN: 0.97, MIN_0: 0.99},
}
NOT_FITTED = {
    "web2011": {"Φ(nDCGorg@20)": 0.924, "Φ(nDCGmin@20)": 0.984},
    "web2012": {"Φ(nDCGorg@20)": 0.967, "Φ(nDCGmin@20)": 0.996},
}
# What is fitted, and between which values.
BOUNDS = {
    "run_noise": (0.1, 4.0),
    "skill": (0.3, 4.0),
    "spam_push": (0.2, 5.0),
    "resistance_by_quality": (0.0, 0.9),
    "share_concentration": (2.0, 100.0),
    "spam_concentration": (2.0, 400.0),
}
INSTALLED = dict(tracks.TRACKS)
START = Behaviour(
    match=0.8,
    run_noise=0.9,
    skill=2.5,
    ease=-0.8,
    spam_push=3.5,
    resistance_by_quality=0.1,
    resistance_by_team=0.8,
    share_concentration=5.0,
    spam_concentration=25.0,
)


def track(name: str, behaviour: Behaviour) -> Track:
    """Of the published sizes and shares."""
    topics, _, runs, depth, labels = SIZES[name]
    shares = dict(zip(tracks.LABEL_SHARES, (round(share / sum(labels), 6) for share in labels), strict=True))
    return Track(topics=topics, systems=runs, pool_depth=depth, team_size=3, shares=shares, behaviour=behaviour)


def targets(name: str) -> dict[str, float]:
    """The published figures that are fitted."""
    return {JUDGED: SIZES[name][1] / SIZES[name][0], **PUBLISHED[name]}


def figures(name: str, behaviour: Behaviour, seeds: Iterable[int]) -> dict[str, float]:
    """Their means over seeds."""
    made = track(name, behaviour)
    collection.TRACKS = {name: made}  # not what is installed
    found = [_figures(gf.simulate(like=name, depth=2 * made.pool_depth, seed=seed), made) for seed in seeds]
    return {figure: float(np.mean([one[figure] for one in found])) for figure in found[0]}


def _figures(drawn: gf.Collection, made: Track) -> dict[str, float]:
    depth = made.pool_depth
    scores = gf.evaluate(
        drawn.qrels, drawn.runs, [f"nDCG{norm}@{k}" for k in (depth, 20) for norm in ("org", "0", "min")]
    )
    org, zero, least = scores.values[:3].mean(axis=2)
    phi = [
        float(reliability_of(absolute_ratios(two_way(values), 0.95)[0], made.topics)) for values in scores.values[-3:]
    ]
    bounds = gf.boundedness(drawn.qrels, cutoff=(10, depth)).shares()
    by_cutoff = {row["cutoff"]: row for row in bounds.iter_rows(named=True)}
    return {
        JUDGED: len(drawn.qrels) / made.topics,
        BELOW: by_cutoff[depth]["share_below_0"],
        DEEP: by_cutoff[10]["share_at_most_minus_1"],
        ORG_0: float(spearman(org, zero)),
        ORG_MIN: float(spearman(org, least)),
        MIN_0: float(spearman(zero, least)),
        "Φ(nDCGorg@20)": phi[0],
        PHI: phi[1],
        "Φ(nDCGmin@20)": phi[2],
    }


def pulls(wanted: Mapping[str, float], found: Mapping[str, float]) -> dict[str, float]:
    """How far each parameter should move, most of them as logarithms, by the figure that it moves most."""

    def miss(figure: str, scale: Callable[[float], float]) -> float:
        return scale(wanted[figure]) - scale(found[figure])

    def logit(share: float) -> float:
        return math.log((share + 0.01) / (1.01 - share))

    def z(correlation: float) -> float:
        return math.atanh(min(correlation, 0.992))

    return {
        "run_noise": 1.5 * miss(JUDGED, math.log),
        "skill": 0.4 * miss(PHI, logit) if PHI in wanted else 0.0,
        # Much spam in some runs: by nDCGorg and nDCGmin they are last, and not by nDCG0, unless they are the bad ones.
        "spam_push": 0.5 * miss(ORG_MIN, z) if wanted[ORG_MIN] >= 0.98 else -0.5 * miss(ORG_0, z),
        "resistance_by_quality": 0.15 * (miss(ORG_0, z) + miss(MIN_0, z)),
        # Topics without spam come from shares that vary much; ideals below the worst, from few relevant documents.
        "spam_concentration": 0.4 * miss(BELOW, logit),
        "share_concentration": -0.3 * miss(DEEP, logit),
    }


def fit(name: str, base: Behaviour, steps: int, seeds: int) -> Behaviour:
    """Follow the pulls."""
    wanted, now, tail = targets(name), base, []
    for step in range(steps):
        found = figures(name, now, range(1000 + step * seeds, 1000 + (step + 1) * seeds))
        size = 1.0 / math.sqrt(1.0 + step)
        moved = {}
        for parameter, pull in pulls(wanted, found).items():
            low, high = BOUNDS[parameter]
            at, by = getattr(now, parameter), size * float(np.clip(pull, -0.7, 0.7))
            at = at + by if parameter == "resistance_by_quality" else at * math.exp(by)
            moved[parameter] = min(max(at, low), high)
        now = replace(now, **moved)
        tail.append(moved)
        print(name, step + 1, {key: round(value, 3) for key, value in found.items()}, file=sys.stderr, flush=True)
    half = tail[len(tail) // 2 :]
    return replace(base, **{one: round(float(np.mean([moved[one] for moved in half])), 4) for one in BOUNDS})


def main() -> None:
    """Fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(SIZES))
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seeds", type=int, default=5, help="per step; 20 others give the figures")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    skills = {name: found.behaviour.skill for name, found in INSTALLED.items() if PHI in PUBLISHED[name]}
    for name in sorted(given.names, key=lambda one: PHI not in PUBLISHED[one]):  # those with a published Φ first
        published = PHI in PUBLISHED[name]
        base = START if published else replace(START, skill=round(float(np.mean(list(skills.values()))), 4))
        found = fit(name, base, given.steps, given.seeds)
        if published:
            skills[name] = found.skill
        values = ", ".join(f"{one.name}={getattr(found, one.name)}" for one in fields(found))
        print(f"{name}: Behaviour({values})")
        means = figures(name, found, range(20))
        for figure, published in targets(name).items():
            print(f"    {figure!r}: ({published:.4g}, {means[figure]:.4g}),  # fitted")
        for figure, published in NOT_FITTED.get(name, {}).items():
            print(f"    {figure!r}: ({published:.4g}, {means[figure]:.4g}),", flush=True)


if __name__ == "__main__":
    main()
