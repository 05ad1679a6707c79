"""The optimum of one collection beside what people use, and what each is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gainful.analyses.reliability.result import Reliability
from gainful.analyses.sensitivity.result import PairTests, Sensitivity
from gainful.data.rankings import FloatArray
from gainful.data.scores import Scores
from gainful.errors import GainfulError
from gainful.measures import Measure
from gainful.stats.correlation import kendall, rms

# The name of what was sought, among what it is compared with.
OPTIMAL = "optimal"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """One choice of gains and discounts at one cutoff."""

    name: str  # ``optimal``, or what it is called among people
    measure: Measure  # the measure; it can be saved
    # By rank, made to add up to 1 so that curves can be compared; down to the cutoff, or the deepest list or pool.
    discount: FloatArray
    gain: dict[float, float]  # by label, for all labels that have a gain
    # The labels that were given as little gain as allowed: Φ would be largest with none, and ratios to it mean nothing.
    bound: tuple[float, ...]
    # Φ on the half of the topics that it was not fitted to, for as many topics as there are: two numbers per split.
    held_out: FloatArray
    fitted: FloatArray  # the same on the half that it was fitted to

    @property
    def gain_ratios(self) -> dict[float, float]:
        """The gain of every label over that of the lowest label that has one."""
        lowest = next((gain for gain in self.gain.values() if gain > 0), math.nan)
        return {label: gain / lowest for label, gain in self.gain.items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectionOptimum:
    """One collection at one cutoff."""

    collection: str
    cutoff: int
    without_gain: int  # how many topics have no document with a gain
    candidates: tuple[Candidate, ...]  # the optimum first
    scores: Scores  # candidates × runs × topics, under the candidates' names
    reliability: Reliability  # Φ, the topics it takes, and Φ by the number of topics; one entry per candidate
    tests: Sensitivity  # significance of all pairs of runs; one entry per candidate

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

    @property
    def target(self) -> float:
        """The Φ that topics are counted for."""
        return float(self.reliability.settings["target"])

    def phi(self, name: str = OPTIMAL) -> float:
        """Φ of a candidate for the topics at hand: in-sample, and so too good to be true for what was fitted."""
        return self.reliability[name].phi.value

    def topics_needed(self, name: str = OPTIMAL) -> int | None:
        """How many topics a candidate takes for the Φ of the settings; None if no number is enough."""
        return self.reliability[name].topics_needed(self.target).value

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

    def held_out(self) -> tuple[str, float, float]:
        """The best candidate beside the optimum on topics held out, its mean Φ there, and that of the optimum."""
        others = {c.name: _mean(c.held_out) for c in self.candidates if c.name != OPTIMAL}
        best = max(others, key=lambda name: others[name])
        return best, others[best], _mean(self[OPTIMAL].held_out)

    def rows(self) -> list[dict[str, object]]:
        """One row per candidate."""
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
                "significant_pairs": self.asl(candidate.name).discriminative_power(0.05),
            }
            for i, candidate in enumerate(self.candidates)
        ]

    def to_dict(self) -> dict[str, object]:
        """Everything, ready for JSON."""
        candidates, means = [], self.scores.summary()
        for at, (row, c) in enumerate(zip(self.rows(), self.candidates, strict=True)):
            found = self.reliability[c.name]
            candidates.append(
                {key: value for key, value in row.items() if key not in ("collection", "cutoff", "runs", "topics")}
                | {
                    "discount": c.discount.tolist(),
                    "gain": {f"{label:g}": gain for label, gain in c.gain.items()},
                    "labels_at_bound": list(c.bound),
                    "gain_ratios": {f"{label:g}": ratio for label, ratio in c.gain_ratios.items()},
                    "phi_interval": [found.phi.low, found.phi.high],
                    "phi_by_topics": found.curve(self.reliability.sizes)[0].tolist(),
                    "held_out": c.held_out.tolist(),
                    "fitted": c.fitted.tolist(),
                    "mean": dict(zip(self.scores.systems, means[at].tolist(), strict=True)),
                    "asl": self.asl(c.name).curve().tolist(),
                }
            )
        return {
            "collection": self.collection,
            "cutoff": self.cutoff,
            "runs": len(self.scores.systems),
            "topics": len(self.scores.topics),
            "sizes": list(self.reliability.sizes),
            "target_phi": self.target,
            "candidates": candidates,
            "tau": self.tau().tolist(),
            "rms": self.rms().tolist(),
        }


def _mean(values: Sequence[float] | FloatArray) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _sd(values: Sequence[float] | FloatArray) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
