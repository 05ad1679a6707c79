"""What the study of negative labels computes for one collection, by the layers below."""

from __future__ import annotations

from dataclasses import dataclass

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

NORMS = ("nDCGorg", "nDCG0", "nDCGmin")
PAIRS = (("nDCGorg", "nDCG0"), ("nDCGorg", "nDCGmin"), ("nDCG0", "nDCGmin"))
# The level of the tests.
ALPHA = 0.05
# Exhibits that need runs to set against each other.
OF_RUNS = ("Table 2b", "Figure 2c", "Table 2d", "Figure 2e", "Figure 2f")
_NONE = "has no label below 0: nDCG0 is nDCGorg, and there is nothing to find"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """What the analyses say of the three measures on one collection.

    `exact` is `stable` without fuzziness, at the deepest cutoff.
    """

    name: str
    scores: Scores
    agreed: Agreement
    reliable: Reliability
    stable: Stability
    exact: Stability
    sensitive: Sensitivity
    bounds: Boundedness
    cutoffs: tuple[int, ...]
    pool_depth: int

    def phi(self, norm: str, cutoff: int) -> float:
        """Reliability of scores."""
        return self.reliable[label(norm, cutoff)].phi.value

    def erho2(self, norm: str, cutoff: int) -> float:
        """Reliability of differences between runs."""
        return self.reliable[label(norm, cutoff)].erho2.value

    def rho(self, first: str, second: str) -> float:
        """Spearman's ρ of two orders of runs, at the pool depth."""
        return self.agreed.between(label(first, self.pool_depth), label(second, self.pool_depth)).value

    def error(self, norm: str, cutoff: int) -> tuple[float, ...]:
        """Error rate by number of topics."""
        return self.stable[label(norm, cutoff)].error

    def exact_error(self, norm: str) -> tuple[float, ...]:
        """The same at the deepest cutoff if no two means that differ count as equal."""
        return self.exact[label(norm, max(self.cutoffs))].error

    def ties(self, norm: str, cutoff: int) -> tuple[float, ...]:
        """Share of comparisons that find no difference, by number of topics."""
        return self.stable[label(norm, cutoff)].ties

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of topics that were drawn."""
        return self.stable.curves[0].sizes

    @property
    def lowest_mean(self) -> float:
        """The lowest mean nDCGorg of any run, at the pool depth."""
        return float(self.scores.only([label("nDCGorg", self.pool_depth)]).summary().min())

    @property
    def negative_rankings(self) -> int:
        """How many rankings, each of one run for one topic, have an nDCGorg below 0 at the pool depth."""
        return int(self.bounds.runs()["org_below_0"].sum())

    def power(self, norm: str, cutoff: int, level: float = ALPHA) -> float:
        """Share of the pairs of runs whose significance is below a level."""
        return self.sensitive[label(norm, cutoff), "studentized"].discriminative_power(level)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NegativeLabels(Found):
    """All that was found for one collection; `compared` is None where runs cannot be set against each other."""

    bounds: Boundedness
    compared: Compared | None


def find(one: StudyCollection, settings: Settings) -> NegativeLabels:
    """What a collection allows."""
    with named(one.name):
        bounds = boundedness(one.source, cutoff=settings["pool_depth"])
        lacking = {} if one.too_few is None else dict.fromkeys(OF_RUNS, one.too_few)
        if not bounds.negative:
            lacking = dict.fromkeys(("Table 2a", *OF_RUNS), _NONE)
        compared = None if lacking else _compare(one, bounds, settings)
        return NegativeLabels(one=one, bounds=bounds, compared=compared, lacking=lacking)


def _compare(one: StudyCollection, bounds: Boundedness, settings: Settings) -> Compared:
    cutoffs, pool_depth, seed = settings["cutoffs"], settings["pool_depth"], settings["seed"]
    depths = dict.fromkeys([*cutoffs, pool_depth])
    scores = evaluate(one.source, [label(norm, depth) for depth in depths for norm in NORMS])
    studied = scores.only([label(norm, cutoff) for cutoff in cutoffs for norm in NORMS])
    pooled, deepest = (scores.only([label(norm, depth) for norm in NORMS]) for depth in (pool_depth, max(cutoffs)))
    resampled = {"resamples": settings["resamples"], "seed": seed}
    drawn = {"draws": settings["draws"], "seed": seed}
    return Compared(
        name=one.name,
        scores=scores,
        agreed=agreement(pooled, correlation="rho", **resampled),
        reliable=reliability(studied),
        stable=stability(studied, fuzziness=settings["fuzziness"], **drawn),
        exact=stability(deepest, fuzziness=0.0, **drawn),
        sensitive=sensitivity(studied, **resampled),
        bounds=bounds,
        cutoffs=cutoffs,
        pool_depth=pool_depth,
    )


def label(norm: str, cutoff: int) -> str:
    """The measure's name: nDCG0 is gainful's own nDCG."""
    return f"{'nDCG' if norm == 'nDCG0' else norm}@{cutoff}"


def pair_of(pair: tuple[str, str]) -> str:
    """What to call two measures that are set against each other."""
    return " ~ ".join(pair)
