"""What `optimize` found: the best gains and discounts beside those that people use."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.reliability.result import Reliability
from gainful.analyses.sensitivity.result import PairTests, Sensitivity
from gainful.data.rankings import FloatArray
from gainful.data.scores import Scores
from gainful.errors import GainfulError, setting
from gainful.measures import Measure
from gainful.results import Chart, Note, Result, Settings, plural
from gainful.stats.correlation import kendall, rms
from gainful.tables import Table, number

if TYPE_CHECKING:
    from gainful.tune.optimize.figures import Figure

# The name of what was sought, among what it is compared with.
OPTIMAL = "optimal"
# Ranks at which people look at a discount.
_TELLING = (1, 2, 3, 4, 5, 10, 15, 20, 30, 50, 100, 200, 500, 1000)


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
        if name not in self.by_name:
            raise GainfulError(f"no candidate {name!r}; there are: {', '.join(self.by_name)}")
        return self.by_name[name]

    @property
    def by_name(self) -> dict[str, Candidate]:
        """The candidates by their names."""
        return {candidate.name: candidate for candidate in self.candidates}

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Optimum(Result):
    """The gains or discounts (or both) that make nDCG most reliable: what `optimize` returns.

    Parameters
    ----------
    collections
        One per collection and cutoff.
    reached
        The (smallest) Φ of one topic that each start led to: how far one can trust that there is no better.
    unused
        The setting that was given, gain or discount, although it is what is sought; None if there is none.
    settings
        What repeats it.
    """

    collections: tuple[CollectionOptimum, ...]
    reached: tuple[float, ...]
    unused: str | None
    settings: Settings

    @property
    def _deepest(self) -> CollectionOptimum:
        return max(self.collections, key=lambda one: one.cutoff)

    @property
    def measure(self) -> Measure:
        """The optimal measure, at the largest cutoff; ``measure.save("file.json")`` for ``evaluate -m @file.json``."""
        return self._deepest[OPTIMAL].measure

    @property
    def discount(self) -> FloatArray:
        """The discounts by rank, adding up to 1."""
        return self._deepest[OPTIMAL].discount

    @property
    def gain(self) -> dict[float, float]:
        """The gains by label."""
        return self.collections[0][OPTIMAL].gain

    @property
    def phi(self) -> float:
        """The smallest Φ of all collections and cutoffs, in-sample."""
        return min(one.phi() for one in self.collections)

    def verdict(self) -> str:
        """Φ of the optimum on the topics it was fitted to, and on others."""
        what = {"discount": "discounts", "gain": "gains", "both": "gains and discounts"}[self.settings["target"]]
        worst = min(self.collections, key=lambda one: one.phi())
        smallest = f", the smallest of {len(self.collections)}" if len(self.collections) > 1 else ""
        text = (
            f"The optimal {what} of nDCG reach Φ {worst.phi():.4f} on the {plural(len(worst.scores.topics), 'topic')} "
            f"they were fitted to ({worst.title}{smallest})."
        )
        if not self.settings["splits"]:
            return text
        best, theirs, ours = worst.held_out()
        better = "are better than" if ours > theirs else "are no better than"
        return f"{text} On topics held out they {better} {best}: Φ {ours:.4f} against {theirs:.4f}."

    def _notes(self) -> list[Note]:
        notes = []
        if self.unused:
            text = f"The {self.unused} that was given is not used: it is what is sought."
            notes.append(Note("unused", self.unused, text))
        if bound := self.collections[0][OPTIMAL].bound:
            labels = ", ".join(f"{label:g}" for label in bound)
            text = (
                f"Label{'s' if len(bound) > 1 else ''} {labels}: as little gain as allowed. Φ would be largest with "
                "none at all, so how many times more the others have means nothing."
            )
            notes.append(Note("least-gain", labels, text))
        for one in self.collections:
            if self.settings["splits"]:
                best, theirs, ours = one.held_out()
                text = (
                    f"{one.title}: against {best}, the optimum gains {one.phi() - one.phi(best):+.4f} on the topics it "
                    f"was fitted to, and {ours - theirs:+.4f} on topics held out (Φ {ours:.4f}, {best} {theirs:.4f})."
                )
                notes.append(Note("held-out", one.title, text))
            if clipped := {c.name: n for c in one.candidates if (n := int((c.held_out <= 0).sum()))}:
                names = ", ".join(f"{name} {n}" for name, n in clipped.items())
                text = (
                    f"{one.title}: held-out Φ counts as 0 where a half tells the runs apart worse than chance ({names} "
                    f"of {2 * self.settings['splits']} halves), so these means are too high."
                )
                notes.append(Note("worse-than-chance", one.title, text))
            if one.without_gain:
                text = (
                    f"{one.title}: {one.without_gain} of {len(one.scores.topics)} topics have no relevant document and "
                    f"count as 0 for every run ({setting('degenerate', 'skip')} leaves them out)."
                )
                notes.append(Note("without-gain", one.title, text))
        return notes

    def tables(self) -> tuple[Table, ...]:
        """All candidates beside each other; then gains and discounts, as far as they were sought."""
        target = self.settings["target"]
        where = {"collection": "collection", "cutoff": "cutoff"} if len(self.collections) > 1 else {}
        headers = {
            **where,
            "candidate": "candidate" if target == "both" else target,
            "phi": "Φ",
            "topics_needed": f"topics for Φ ≥ {self.settings['phi']:g}",
            "held_out_phi": "held-out Φ",
            "held_out_sd": "sd",
            "tau": "τ",
            "rms": "RMS",
            "significant_pairs": "significant pairs (α=0.05)",
        }
        found = [Table.of("candidates", self.to_frame(), headers)]
        if target != "discount":
            ratios = {
                c.name: {f"label {label:g}": _ratio(ratio, c) for label, ratio in c.gain_ratios.items()}
                for c in self.collections[0].candidates
            }
            found.append(_by_candidate("gains", "gain, relative", ratios))
        if target != "gain":
            ranks = sorted({rank for rank in _TELLING if rank < len(self.discount)} | {len(self.discount)})
            weights = {
                c.name: {f"rank {rank}": float(c.discount[rank - 1]) for rank in ranks}
                for c in self._deepest.candidates
            }
            found.append(_by_candidate("discounts", "discount", weights))
        return tuple(found)

    def compact(self) -> tuple[Table, ...]:
        """All tables: what was sought is what they show."""
        return self.tables()

    def to_frame(self) -> pl.DataFrame:
        """One row per collection, cutoff and candidate: Φ, topics needed, held-out Φ, τ and RMS with the optimum."""
        rows = [row for one in self.collections for row in one.rows()]
        return pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"topics_needed": pl.Int64})

    def _content(self) -> dict[str, Any]:
        return {
            "measure": str(self.measure),
            "discount": self.discount.tolist(),
            "gain": {f"{label:g}": gain for label, gain in self.gain.items()},
            "phi": self.phi,
            "collections": [one.to_dict() for one in self.collections],
            "reached": list(self.reached),
        }

    def chart(self, figure: Figure = "all") -> Chart:
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the optimal measure to a .json file: ``gainful evaluate -m @FILE`` takes it."""
        self.measure.save(path)


def _by_candidate(name: str, header: str, cells: Mapping[str, Mapping[str, Any]]) -> Table:
    frame = pl.DataFrame([{"candidate": candidate, **row} for candidate, row in cells.items()])
    kinds = {column: "ratio" if dtype == pl.String else "score" for column, dtype in frame.schema.items()}
    return Table.of(name, frame, {**{column: (column, kind) for column, kind in kinds.items()}, "candidate": header})


def _ratio(value: float, candidate: Candidate) -> str:
    """How many times the lowest gain; where that is as little as allowed, the number says nothing."""
    return "> 1,000" if candidate.bound and value > 1000 else number(value)


def _mean(values: Sequence[float] | FloatArray) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _sd(values: Sequence[float] | FloatArray) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
