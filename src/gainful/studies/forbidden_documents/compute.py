"""What the study of forbidden documents computes for one collection, by the layers below."""

from __future__ import annotations

from dataclasses import dataclass

from gainful import _polars as pl
from gainful.analyses.agreement import agreement
from gainful.analyses.agreement.result import Agreement
from gainful.analyses.boundedness import boundedness
from gainful.analyses.boundedness.result import Boundedness
from gainful.analyses.reliability import reliability
from gainful.analyses.reliability.result import Reliability
from gainful.analyses.sensitivity import sensitivity
from gainful.analyses.sensitivity.result import Sensitivity
from gainful.analyses.stability import stability
from gainful.analyses.stability.result import Stability
from gainful.data.scores import Scores
from gainful.results import Settings
from gainful.studies.collections import Found, StudyCollection, named
from gainful.verbs.evaluate import evaluate

NORMS = ("nDCGorg", "nDCGmin", "nDCGf")
# What needs forbidden documents, and what also needs runs to set against each other.
OF_BOUNDS, OF_LENGTHS = ("Table 5",), ("Table 4",)
OF_PAIRS = ("Figure 1", "Figure 2", "Figure 3")
# Levels of significance of the curves.
LEVELS = tuple(level / 100 for level in range(1, 51))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """nDCGorg, nDCGmin and nDCGf at the cutoff of the study, and what the analyses say of them."""

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

    def power(self, norm: str, level: float) -> float:
        """Share of the pairs of runs whose significance is below a level."""
        return self.sensitive[self.at(norm), "sign"].discriminative_power(level)

    def phi(self, norm: str) -> float:
        """Φ on the topics at hand."""
        return self.reliable[self.at(norm)].phi.value

    def tau(self, first: str, second: str) -> float:
        """Kendall's τ between the orders of the runs."""
        return self.agreed.between(self.at(first), self.at(second)).value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForbiddenDocuments(Found):
    """All that was found for one collection; None for what it does not allow."""

    # Per run, the mean, the standard deviation and the smallest number of judged documents returned for a topic.
    lengths: pl.DataFrame | None
    bounds: Boundedness | None  # rankings outside of the range of nDCGmin
    compared: Compared | None

    def outside(self) -> pl.DataFrame:
        """Per cutoff, the shares of a run's rankings with an nDCGmin above 1 and below 0, averaged over runs."""
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


def find(one: StudyCollection, settings: Settings) -> ForbiddenDocuments:
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
    gains = dict.fromkeys(negative, settings["forbidden"])
    cutoffs = sorted({*settings["bound_cutoffs"], settings["cutoff"]})
    with named(one.name):
        return ForbiddenDocuments(
            one=one,
            lengths=_lengths(one) if OF_LENGTHS[0] not in lacking else None,
            bounds=boundedness(one.source, cutoff=cutoffs, gains=gains) if OF_BOUNDS[0] not in lacking else None,
            compared=_compare(one, gains, settings) if OF_PAIRS[0] not in lacking else None,
            lacking=lacking,
        )


def _lengths(one: StudyCollection) -> pl.DataFrame:
    scores = evaluate(one.source, "NumRet").to_frame()
    of = pl.col("score")
    return scores.group_by("run", maintain_order=True).agg(
        of.mean().alias("mean"), of.std().alias("standard deviation"), of.min().alias("smallest")
    )


def _compare(one: StudyCollection, gains: dict[float, float], settings: Settings) -> Compared:
    seed = settings["seed"]
    listed = ",".join(f"{label!r}:{gain!r}" for label, gain in gains.items())
    measures = [f"{norm}(gain={{{listed}}})@{settings['cutoff']}" for norm in NORMS]
    scores = evaluate(one.source, measures)
    half, drawn = max(1, len(scores.topics) // 2), {name: settings[name] for name in ("draws", "fuzziness")}
    return Compared(
        scores=scores,
        agreed=agreement(scores, correlation="tau_b", resamples=1, seed=seed),
        stable=stability(scores, sizes=range(min(2, half), half + 1), fuzzy="absolute", seed=seed, **drawn),
        sensitive=sensitivity(scores, methods="sign", resamples=settings["resamples"], seed=seed),
        reliable=reliability(scores),
    )
