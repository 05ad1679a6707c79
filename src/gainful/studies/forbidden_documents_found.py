"""What the study of forbidden documents computes for one collection, by the layers below."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from gainful.analyses.agreement import Agreement, agreement
from gainful.analyses.boundedness import boundedness
from gainful.analyses.boundedness.result import Boundedness
from gainful.analyses.reliability import Reliability, reliability
from gainful.analyses.sensitivity import sensitivity
from gainful.analyses.sensitivity.result import PairTests, Sensitivity
from gainful.analyses.stability import Stability, stability
from gainful.data.policies import Policies
from gainful.data.scores import Scores
from gainful.studies.collections import StudyCollection, named
from gainful.verbs.evaluate import evaluate

NORMS = ("nDCGorg", "nDCGmin", "nDCGf")
# Unjudged documents are left out: a run is then a ranker of the judged ones, those it did not return being filtered.
FILTERING = Policies(unjudged="condensed")
# What needs forbidden documents, and what also needs runs to set against each other.
OF_BOUNDS, OF_LENGTHS = ("Table 5",), ("Table 4",)
OF_PAIRS = ("Figure 1", "Figure 2", "Figure 3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings of the study, but for those of learning."""

    forbidden: float
    cutoff: int
    bound_cutoffs: tuple[int, ...]
    draws: int
    fuzziness: float
    resamples: int
    seed: int

    def settings(self) -> dict[str, object]:
        """As a study keeps them."""
        return {
            "forbidden": self.forbidden,
            "cutoff": self.cutoff,
            "bound_cutoffs": list(self.bound_cutoffs),
            "draws": self.draws,
            "fuzziness": self.fuzziness,
            "resamples": self.resamples,
            **FILTERING.to_dict(),
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """The three measures of runs that are set against each other.

    Parameters
    ----------
    scores
        nDCGorg, nDCGmin and nDCGf at the cutoff of the study.
    agreed, stable, sensitive, reliable
        What the analyses of that name say of them.
    """

    scores: Scores
    agreed: Agreement
    stable: Stability
    sensitive: Sensitivity
    reliable: Reliability

    def at(self, norm: str) -> str:
        """The measure, as the analyses call it."""
        return self.scores.measures[NORMS.index(norm)]

    def error(self, norm: str) -> tuple[float, ...]:
        """Error rates by number of topics."""
        return self.stable[self.at(norm)].error

    def pairs(self, norm: str) -> PairTests:
        """Significance of all pairs."""
        return self.sensitive[self.at(norm), "sign"]

    def phi(self, norm: str) -> float:
        """Φ on the topics at hand."""
        return self.reliable[self.at(norm)].phi.value

    def tau(self, first: str, second: str) -> float:
        """Kendall's τ between the orders of the runs."""
        return self.agreed.between(self.at(first), self.at(second)).value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """All that was found for one collection; None for what it does not allow.

    Parameters
    ----------
    one
        The collection.
    lengths
        Per run, the mean, the standard deviation and the smallest number of judged documents returned for a topic.
    bounds
        Rankings outside of the range of nDCGmin.
    compared
        The three measures.
    lacking
        Exhibits that cannot be made, and why.
    """

    one: StudyCollection
    lengths: pl.DataFrame | None
    bounds: Boundedness | None
    compared: Compared | None
    lacking: dict[str, str]

    @property
    def name(self) -> str:
        """Of the collection."""
        return self.one.name

    def outside(self) -> pl.DataFrame:
        """A row a cutoff: the shares of a run's rankings with an nDCGmin above 1 and below 0, averaged over runs."""
        if self.bounds is None:
            return pl.DataFrame()
        return (
            self.bounds.runs()
            .group_by("cutoff", maintain_order=True)
            .agg(
                ((pl.col("over") + pl.col("under")) / pl.col("topics")).mean().alias("unbounded"),
                (pl.col("over") / pl.col("topics")).mean(),
                (pl.col("under") / pl.col("topics")).mean(),
            )
        )


def find(one: StudyCollection, plan: Plan) -> Found:
    """What a collection allows."""
    lacking: dict[str, str] = {}
    negative = [label for label in sorted(one.label_ratios()) if label < 0]
    if not one.runs:
        lacking |= dict.fromkeys((*OF_LENGTHS, *OF_BOUNDS, *OF_PAIRS), "has no runs")
    elif not negative:
        why = "has no label below 0: nothing is forbidden, and nDCGf is nDCG"
        lacking |= dict.fromkeys((*OF_BOUNDS, *OF_PAIRS), why)
    elif one.too_few is not None:
        lacking |= dict.fromkeys(OF_PAIRS, one.too_few)
    gains = dict.fromkeys(negative, plan.forbidden)
    with named(one.name):
        return Found(
            one=one,
            lengths=_lengths(one) if "Table 4" not in lacking else None,
            bounds=_bounds(one, gains, plan) if "Table 5" not in lacking else None,
            compared=_compare(one, gains, plan) if "Figure 1" not in lacking else None,
            lacking=lacking,
        )


def _lengths(one: StudyCollection) -> pl.DataFrame:
    scores = evaluate(one.qrels, one.runs, "NumRet", unjudged="condensed")
    return (
        scores.to_frame()
        .group_by("run", maintain_order=True)
        .agg(
            pl.col("score").mean().alias("mean"),
            pl.col("score").std().alias("standard deviation"),
            pl.col("score").min().alias("smallest"),
        )
    )


def _bounds(one: StudyCollection, gains: dict[float, float], plan: Plan) -> Boundedness:
    cutoffs = sorted({*plan.bound_cutoffs, plan.cutoff})
    return boundedness(one.qrels, one.runs, cutoff=cutoffs, gains=gains, unjudged="condensed")


def _compare(one: StudyCollection, gains: dict[float, float], plan: Plan) -> Compared:
    listed = ",".join(f"{label!r}:{gain!r}" for label, gain in gains.items())
    measures = [f"{norm}(gain={{{listed}}})@{plan.cutoff}" for norm in NORMS]
    scores = evaluate(one.qrels, one.runs, measures, unjudged="condensed")
    half = max(1, len(scores.topics) // 2)
    return Compared(
        scores=scores,
        agreed=agreement(scores, correlation="tau_b", resamples=1, seed=plan.seed),
        stable=stability(
            scores,
            sizes=range(min(2, half), half + 1),
            draws=plan.draws,
            fuzziness=plan.fuzziness,
            fuzzy="absolute",
            seed=plan.seed,
        ),
        sensitive=sensitivity(scores, methods="sign", resamples=plan.resamples, seed=plan.seed),
        reliable=reliability(scores),
    )
