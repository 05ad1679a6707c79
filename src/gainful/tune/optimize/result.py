"""What `optimize` found: the best gains and discounts beside those that people use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from gainful.analyses.reliability.result import Reliability
from gainful.analyses.sensitivity.result import PairTests, Sensitivity
from gainful.data.policies import Policies
from gainful.data.rankings import FloatArray
from gainful.data.scores import Scores
from gainful.errors import GainfulError
from gainful.measures import Measure
from gainful.stats.correlation import kendall, rms
from gainful.tune.optimize.fit import Method, Target

if TYPE_CHECKING:
    import altair

    from gainful.tune.optimize.figures import Figure

# The name of what was sought, among what it is compared with.
OPTIMAL = "optimal"
# Ranks at which people look at a discount.
_TELLING = (1, 2, 3, 4, 5, 10, 15, 20, 30, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """One choice of gains and discounts at one cutoff.

    Parameters
    ----------
    name
        ``optimal``, or what it is called among people.
    measure
        The measure; it can be saved.
    discount
        By rank, made to add up to 1 so that curves can be compared; down to the cutoff, or the deepest list or pool.
    gain
        By label, for all labels that have a gain.
    bound
        The labels that were given as little gain as allowed: Φ would be largest with none, and ratios to it mean
        nothing.
    held_out
        Φ on the half of the topics that it was not fitted to, for as many topics as there are: two numbers a split.
    fitted
        The same on the half that it was fitted to.
    """

    name: str
    measure: Measure
    discount: FloatArray
    gain: dict[float, float]
    bound: tuple[float, ...]
    held_out: FloatArray
    fitted: FloatArray

    @property
    def gain_ratios(self) -> dict[float, float]:
        """The gain of every label over that of the lowest label that has one."""
        lowest = next((gain for gain in self.gain.values() if gain > 0), math.nan)
        return {label: gain / lowest for label, gain in self.gain.items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """One collection at one cutoff.

    Parameters
    ----------
    collection, cutoff
        Which.
    without_gain
        How many topics have no document with a gain.
    candidates
        The optimum first.
    scores
        Candidates × runs × topics, under the candidates' names.
    reliability
        Φ, the topics it takes, and Φ by the number of topics; one entry a candidate.
    tests
        Significance of all pairs of runs; one entry a candidate.
    """

    collection: str
    cutoff: int
    without_gain: int
    candidates: tuple[Candidate, ...]
    scores: Scores
    reliability: Reliability
    tests: Sensitivity

    def __getitem__(self, name: str) -> Candidate:
        """A candidate by its name."""
        for candidate in self.candidates:
            if candidate.name == name:
                return candidate
        raise GainfulError(f"no candidate {name!r}; there are: {', '.join(c.name for c in self.candidates)}")

    @property
    def title(self) -> str:
        """Which collection and cutoff, in a few words."""
        return f"{self.collection}, cutoff {self.cutoff}"

    def phi(self, name: str = OPTIMAL) -> float:
        """Φ of a candidate for the topics at hand: in-sample, and so too good to be true for what was fitted."""
        return self.reliability[name].phi.value

    def topics_needed(self, name: str = OPTIMAL) -> int | None:
        """How many topics a candidate takes for the Φ of the settings; None if no number is enough."""
        return self.reliability[name].topics_needed(self.reliability.settings["target"]).value

    def asl(self, name: str = OPTIMAL) -> PairTests:
        """The achieved significance levels of all pairs of runs under a candidate."""
        return self.tests[name, "studentized"]

    def tau(self) -> FloatArray:
        """Kendall's τ between the orders of the runs: candidates × candidates."""
        means = self.scores.summary()
        return kendall(means[:, None], means)

    def rms(self) -> FloatArray:
        """Root mean square differences between the mean scores of the runs: candidates × candidates."""
        means = self.scores.summary()
        return rms(means[:, None], means)

    def rows(self) -> list[dict[str, object]]:
        """A row a candidate."""
        tau, difference = self.tau()[0], self.rms()[0]
        return [
            {
                "collection": self.collection,
                "cutoff": self.cutoff,
                "candidate": candidate.name,
                "measure": str(candidate.measure),
                "runs": len(self.scores.systems),
                "topics": len(self.scores.topics),
                "phi": self.phi(candidate.name),
                "phi_one_topic": self.reliability[candidate.name].at(1).value,
                "topics_needed": self.topics_needed(candidate.name),
                "held_out_phi": _mean(candidate.held_out),
                "held_out_sd": _sd(candidate.held_out),
                "fitted_phi": _mean(candidate.fitted),
                "gain_ratio": list(candidate.gain_ratios.values())[-1],
                "tau": float(tau[i]),
                "rms": float(difference[i]),
                "told_apart": self.asl(candidate.name).discriminative_power(0.05),
            }
            for i, candidate in enumerate(self.candidates)
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimum:
    """The gains or discounts (or both) that make nDCG most reliable: what `optimize` returns.

    Parameters
    ----------
    parts
        One a collection and cutoff.
    reached
        The (smallest) Φ of one topic that each start led to: how far one can trust that there is no better.
    unused
        The setting that was given, gain or discount, although it is what is sought; None if there is none.
    target, constrained, method, starts, splits, resamples, seed, policies
        The settings that repeat it.
    """

    parts: tuple[Part, ...]
    reached: tuple[float, ...]
    unused: str | None
    target: Target
    constrained: bool
    method: Method
    starts: int
    splits: int
    resamples: int
    seed: int
    policies: Policies

    @property
    def measure(self) -> Measure:
        """The optimal measure, at the largest cutoff; ``measure.save("file.json")`` for ``evaluate -m @file.json``."""
        return max(self.parts, key=lambda part: part.cutoff)[OPTIMAL].measure

    @property
    def discount(self) -> FloatArray:
        """The discounts by rank, adding up to 1."""
        return max(self.parts, key=lambda part: part.cutoff)[OPTIMAL].discount

    @property
    def gain(self) -> dict[float, float]:
        """The gains by label."""
        return self.parts[0][OPTIMAL].gain

    @property
    def phi(self) -> float:
        """The smallest Φ of all collections and cutoffs, in-sample."""
        return min(part.phi() for part in self.parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know about the numbers."""
        notes = []
        if self.unused:
            notes.append(f"the {self.unused} that was given is not used: it is what is sought")
        if bound := self.parts[0][OPTIMAL].bound:
            listed = ", ".join(f"{label:g}" for label in bound)
            notes.append(
                f"label{'s' if len(bound) > 1 else ''} {listed}: as little gain as allowed; Φ would be largest with "
                "none at all, so how many times more the others have means nothing"
            )
        for part in self.parts:
            if self.splits:
                ours = _mean(part[OPTIMAL].held_out)
                others = {c.name: _mean(c.held_out) for c in part.candidates if c.name != OPTIMAL}
                best = max(others, key=lambda name: others[name])
                gained, kept = part.phi() - part.phi(best), ours - others[best]
                notes.append(
                    f"{part.title}: against {best}, the optimum gains {gained:+.4f} on the topics it was fitted to, "
                    f"and {kept:+.4f} on topics held out (Φ {ours:.4f}, {best} {others[best]:.4f})"
                )
            if clipped := {c.name: n for c in part.candidates if (n := int((c.held_out <= 0).sum()))}:
                listed = ", ".join(f"{name} {n}" for name, n in clipped.items())
                notes.append(
                    f"{part.title}: held-out Φ counts as 0 where a half tells the runs apart worse than chance "
                    f"({listed} of {2 * self.splits} halves), so these means are too high"
                )
            if part.without_gain:
                notes.append(
                    f"{part.title}: {part.without_gain} of {len(part.scores.topics)} topics have no relevant document "
                    "and count as 0 for every run (degenerate='skip' leaves them out)"
                )
        return tuple(notes)

    def __str__(self) -> str:
        what = {"discount": "discounts", "gain": "gains", "both": "gains and discounts"}[self.target]
        where = "; ".join(
            f"{part.title} ({len(part.scores.systems)} runs, {len(part.scores.topics)} topics): Φ {part.phi():.4f}"
            for part in self.parts
        )
        return (
            f"optimal {what} of nDCG: {where}; constrained={self.constrained} method={self.method} "
            f"starts={self.starts} splits={self.splits} seed={self.seed} {self.policies}"
        )

    def to_frame(self) -> pl.DataFrame:
        """A row a collection, cutoff and candidate: Φ, topics needed, held-out Φ, τ and RMS with the optimum."""
        rows = [row for part in self.parts for row in part.rows()]
        return pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"topics_needed": pl.Int64})

    def discounts(self) -> pl.DataFrame:
        """A row a collection, cutoff, candidate and rank: the discount, those of a candidate adding up to 1."""
        frames = [
            pl.DataFrame({"rank": np.arange(1, len(candidate.discount) + 1), "discount": candidate.discount}).select(
                pl.lit(part.collection).alias("collection"),
                pl.lit(part.cutoff).alias("cutoff"),
                pl.lit(candidate.name).alias("candidate"),
                pl.all(),
            )
            for part in self.parts
            for candidate in part.candidates
        ]
        return pl.concat(frames)

    def gains(self) -> pl.DataFrame:
        """A row a candidate and label: the gain, and its ratio to that of the lowest label with a gain."""
        rows = [
            {"candidate": c.name, "label": label, "gain": gain, "ratio": c.gain_ratios[label]}
            for c in self.parts[0].candidates
            for label, gain in c.gain.items()
        ]
        return pl.DataFrame(rows)

    def telling_ranks(self) -> list[int]:
        """The ranks down to the largest cutoff that are worth a line in a table."""
        last = len(self.discount)
        return sorted({rank for rank in _TELLING if rank < last} | {last})

    def to_dict(self) -> dict[str, object]:
        """Everything and the settings; ready for JSON."""
        return {
            "measure": str(self.measure),
            "discount": self.discount.tolist(),
            "gain": {f"{label:g}": gain for label, gain in self.gain.items()},
            "phi": self.phi,
            "parts": [self._part(part) for part in self.parts],
            "notes": list(self.notes),
            "reached": list(self.reached),
            "target": self.target,
            "constrained": self.constrained,
            "method": self.method,
            "starts": self.starts,
            "splits": self.splits,
            "resamples": self.resamples,
            "policies": self.policies.to_dict(),
            "seed": self.seed,
        }

    def _part(self, part: Part) -> dict[str, object]:
        candidates = []
        for row, c in zip(part.rows(), part.candidates, strict=True):
            found = part.reliability[c.name]
            candidates.append(
                {key: value for key, value in row.items() if key not in ("collection", "cutoff", "runs", "topics")}
                | {
                    "discount": c.discount.tolist(),
                    "gain": {f"{label:g}": gain for label, gain in c.gain.items()},
                    "labels_at_bound": list(c.bound),
                    "gain_ratios": {f"{label:g}": ratio for label, ratio in c.gain_ratios.items()},
                    "phi_interval": [found.phi.low, found.phi.high],
                    "phi_by_topics": found.curve(part.reliability.sizes)[0].tolist(),
                    "held_out": c.held_out.tolist(),
                    "fitted": c.fitted.tolist(),
                    "mean": dict(zip(part.scores.systems, _means(part, c.name), strict=True)),
                    "asl": part.asl(c.name).curve().tolist(),
                }
            )
        return {
            "collection": part.collection,
            "cutoff": part.cutoff,
            "runs": len(part.scores.systems),
            "topics": len(part.scores.topics),
            "sizes": list(part.reliability.sizes),
            "target_phi": part.reliability.settings["target"],
            "candidates": candidates,
            "tau": part.tau().tolist(),
            "rms": part.rms().tolist(),
        }

    def chart(self, figure: Figure = "all") -> altair.TopLevelMixin:
        """Draw what was found.

        Parameters
        ----------
        figure
            ``discount`` (by rank), ``gain`` (by label), ``reliability`` (Φ by the number of topics), ``held_out`` (Φ on
            the topics not used), ``scores`` (mean scores against those of the optimum), ``asl`` (significance of all
            pairs), or ``all`` of them.
        """
        from gainful.tune.optimize.figures import draw

        return draw(self, figure)


def _means(part: Part, name: str) -> list[float]:
    at = part.scores.measures.index(name)
    return [float(mean) for mean in part.scores.summary()[at]]


def _mean(values: Sequence[float] | FloatArray) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _sd(values: Sequence[float] | FloatArray) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
