"""How deep the rankings of runs are judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gainful.data.rankings import FloatArray, Rankings

# Deeper than people judge, and than most runs go.
_DEEPEST = 1000
# What counts as judged: one document in twenty may lack a judgment.
ENOUGH = 0.95


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedDocuments:
    """The share of each run's first documents that are judged."""

    # Runs × depths from 1: of the first documents of all rankings of a run, down to that depth, the share that has a
    # judgment. NaN for a run that returns nothing.
    shares: FloatArray

    def depth(self, enough: float = ENOUGH) -> int:
        """The largest d to which, at every depth, the median run has `enough` of its first documents judged; or 0."""
        there = self.shares[~np.isnan(self.shares).any(axis=1)]
        return _down_to(np.median(there, axis=0), enough) if len(there) else 0

    def depths(self, enough: float = ENOUGH) -> list[int]:
        """The same of each run by itself."""
        return [_down_to(share, enough) for share in self.shares]

    def first(self, number: int = 10) -> FloatArray:
        """Per run, the share of its first documents that are judged; NaN for a run that returns nothing."""
        if not self.shares.shape[1]:
            return np.full(len(self.shares), np.nan)
        return self.shares[:, min(number, self.shares.shape[1]) - 1]


def _down_to(shares: FloatArray, enough: float) -> int:
    deep = shares >= enough - 1e-12  # False for NaN
    return len(deep) if deep.all() else int(np.argmin(deep))


def judged_documents(rankings: Rankings) -> JudgedDocuments:
    """How much of the first documents of every run is judged, down to the end of the longest ranking or to 1000."""
    systems, topics = len(rankings.systems), len(rankings.topics)
    deepest = min(_DEEPEST, int(rankings.retrieved.max(initial=0)))
    seen = (rankings.grade >= 0) & (rankings.rank <= deepest)
    cell = rankings.row[seen] // topics * deepest + rankings.rank[seen] - 1
    judged = np.bincount(cell, minlength=systems * deepest).reshape(systems, deepest).cumsum(axis=1)
    lengths = np.minimum(rankings.retrieved, deepest).reshape(systems, topics)
    ends = np.bincount(
        (np.arange(systems)[:, None] * (deepest + 1) + lengths).ravel(), minlength=systems * (deepest + 1)
    ).reshape(systems, deepest + 1)
    # Rankings that are no shorter than each depth, so many documents at that depth.
    returned = ends[:, :0:-1].cumsum(axis=1)[:, ::-1].cumsum(axis=1)
    with np.errstate(invalid="ignore"):
        return JudgedDocuments(shares=judged / np.where(returned > 0, returned, np.nan))
