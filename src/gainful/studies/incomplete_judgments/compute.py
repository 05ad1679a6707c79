"""What the study of incomplete judgments computes for one collection, by the layers below."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gainful import _polars as pl
from gainful.analyses.robustness import robustness
from gainful.analyses.robustness.decisions import Decisions
from gainful.analyses.robustness.result import Curve, Robustness
from gainful.data.rankings import FloatArray, Rankings
from gainful.results import Settings
from gainful.studies.collections import Found, StudyCollection, named

MEASURES = ("bpref", "infAP", "nDCG")
# What a curve has to exceed to be past its knee.
KNEE = 0.9
OF_ORDERS = ("Figure 1", "Table 3")
OF_DECISIONS = ("Figure 2", "Table 4", "Table 5")
OF_WEIGHTS = ("Figure 3",)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Depleted:
    """What `robustness` says of one collection; the first three measures are bpref, infAP and binary nDCG."""

    name: str
    found: Robustness

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels below that of all judgments, at which there is nothing to see."""
        return tuple(level for level in self.found.levels if level < 1)

    def tau(self, at: int | str) -> FloatArray:
        """Mean τ over the trials, by level, of a measure or of that at a place."""
        means: FloatArray = self.found.taus.mean(axis=2)[_place(at), : len(self.levels)]
        return means

    def decided(self, at: int | str, what: str) -> FloatArray:
        """Accuracy, g-mean or false positives, by level, of a measure or of that at a place."""
        return np.array([getattr(cell, what) for cell in self.found.decisions[_place(at)][: len(self.levels)]])

    def knee(self, measure: str, by: Curve, *, sustained: bool = False) -> float | None:
        """The lowest level at which a curve exceeds .9; sustained, from which on it does."""
        found = self.found.knees(KNEE, by=by)[self.found.measures[MEASURES.index(measure)]]
        return found.sustained if sustained else found.first

    def curve(self, measure: str, at: int) -> pl.DataFrame:
        """τ by level, with its interval, of the measure at a place, under a name."""
        tau, low, high = self.found.tau()[at].T
        columns = {"level": self.found.levels, "judged": self.found.judged, "tau": tau, "low": low, "high": high}
        return pl.DataFrame({"collection": self.name, "measure": measure, **columns})

    @property
    def weights(self) -> tuple[float, ...]:
        """Of the highly relevant, binary first; one only if graded nDCG is binary nDCG."""
        return tuple(self.found.settings["weights"])[: len(self.found.measures) - 2]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IncompleteJudgments(Found):
    """All that was found for a collection, by runs that returned enough; `depleted` is None if that is too little."""

    used: StudyCollection
    depleted: Depleted | None

    def allowing(self, exhibit: str) -> list[Depleted]:
        """What an exhibit is made of; nothing if it cannot be made."""
        return [] if self.depleted is None or exhibit in self.lacking else [self.depleted]


def _place(measure: int | str) -> int:
    return MEASURES.index(measure) if isinstance(measure, str) else measure


def find(one: StudyCollection, settings: Settings) -> IncompleteJudgments:
    """What a collection allows."""
    least = settings["least_returned"]
    used = replace(one, rankings=_complete(one.joined, least))
    if used.too_few is not None:
        short = len(used.runs) < min(2, len(one.runs))
        why = used.too_few + (f" that returned {least:.0%} of what they could" if short else "")
        lacking = dict.fromkeys((*OF_ORDERS, *OF_DECISIONS, *OF_WEIGHTS), why)
        return IncompleteJudgments(one=one, used=used, depleted=None, lacking=lacking)
    rel = settings["rel"]
    of = "" if rel == 1 else f"(rel={rel!r})"
    weights = tuple(dict.fromkeys((1.0, *settings["weights"])))  # 1 is binary
    chosen = {name: settings[name] for name in ("levels", "trials", "rel", "pairs", "alpha", "seed")}
    with named(one.name):
        found = robustness(used.source, [f"bpref{of}", f"infAP{of}"], weights=weights, **chosen)
    return IncompleteJudgments(
        one=one, used=used, depleted=Depleted(name=one.name, found=found), lacking=_lacking(found)
    )


def relevant_labels(found: Robustness) -> list[float]:
    """The relevant labels, the lowest first; all others of them are highly relevant."""
    return [label for label in found.labels if label >= found.settings["rel"]]


def _lacking(found: Robustness) -> dict[str, str]:
    """Exhibits that cannot be made, and why."""
    lacking: dict[str, str] = {}
    if np.isnan(found.taus).any():
        lacking |= dict.fromkeys((*OF_ORDERS, *OF_WEIGHTS), "has runs that all score the same under all judgments")
    if any(cells[0] == Decisions() for cells in found.decisions):
        alpha = f"alpha={found.settings['alpha']:g}"
        few = f"has no two runs that differ on enough topics for a test at {alpha} to tell them apart"
        lacking |= dict.fromkeys(OF_DECISIONS, few)
    if found.settings["weights"] == (1.0,):
        lacking |= dict.fromkeys(OF_WEIGHTS, "was given no weights but 1, which is binary")
    elif len(relevant_labels(found)) < 2:
        lacking |= dict.fromkeys(OF_WEIGHTS, "has one relevant label only: graded nDCG is binary nDCG")
    return lacking


def _complete(rankings: Rankings, least: float) -> Rankings:
    """The runs that returned at least that share of what they could."""
    returned = rankings.retrieved.reshape(-1, len(rankings.topics))
    # 0.95 · 20 topics · 5 documents must not ask for a document more.
    wanted = least * returned.max(initial=0) * len(rankings.topics) * (1.0 - 1e-12)
    enough = zip(rankings.systems, returned.sum(axis=1) >= wanted, strict=True)
    return rankings.only([name for name, kept in enough if kept])
