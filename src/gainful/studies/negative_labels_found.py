"""What Gienapp et al. (CIKM 2020) found, and whether the numbers of a collection say the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gainful.analyses.agreement import Agreement
from gainful.analyses.boundedness.result import Boundedness
from gainful.analyses.reliability import Reliability
from gainful.analyses.sensitivity.result import Sensitivity
from gainful.analyses.stability import Stability
from gainful.data.scores import Scores
from gainful.studies.result import Finding

NORMS = ("nDCGorg", "nDCG0", "nDCGmin")
PAIRS = (("nDCGorg", "nDCG0"), ("nDCGorg", "nDCGmin"), ("nDCG0", "nDCGmin"))

# Coefficients closer than the last digit that the paper prints are equal.
PRINTED = 0.001
# What the paper calls almost perfect starts at .96, and nearly indistinguishable curves are within two points.
SAME_ORDER, SAME_POWER = 0.95, 0.02
# The level of the tests.
ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """What the layers below say of one collection that has runs to compare.

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
        """How many rankings, a run's of a topic, have an nDCGorg below 0 at the pool depth."""
        return int(self.bounds.runs()["org_below_0"].sum())

    def power(self, norm: str, cutoff: int, level: float = ALPHA) -> float:
        """Share of the pairs of runs whose significance is below a level."""
        return self.sensitive[label(norm, cutoff), "studentized"].discriminative_power(level)


def bounded(name: str, found: Boundedness) -> Finding:
    """What the paper says of judgments alone."""
    row = found.shares().row(0, named=True)
    shares = f"{row['share_below_0']:.0%} of the topics below 0, {row['share_at_most_minus_1']:.0%} at most -1"
    return Finding(
        claim="in most topics nDCGorg can fall below 0",
        collection=name,
        holds=row["share_below_0"] > 0.5,
        evidence=f"{shares}; published 70 to 100 % and 8 to 68 %",
    )


def findings(one: Compared) -> Iterator[Finding]:
    """What the paper says of runs, in its order."""

    def finding(claim: str, holds: bool, evidence: str) -> Finding:
        return Finding(claim=claim, collection=one.name, holds=bool(holds), evidence=evidence)

    def each(of: Any, norms: Sequence[str] = NORMS, form: str = ".3f") -> str:
        return "; ".join(f"@{k} " + ", ".join(f"{n} {of(n, k):{form}}" for n in norms) for k in one.cutoffs)

    yield finding(
        "no run has a negative mean nDCGorg",
        one.lowest_mean >= 0,
        f"lowest mean {one.lowest_mean:.4f}; of single topics, {one.negative_rankings} rankings are below 0",
    )
    rho = {pair: one.rho(*pair) for pair in PAIRS}
    told = ", ".join(f"ρ of {pair_of(pair)} {value:.3f}" for pair, value in rho.items())
    yield finding(
        f"nDCGmin reproduces the order of runs by nDCGorg (ρ of at least {SAME_ORDER:g})",
        rho["nDCGorg", "nDCGmin"] >= SAME_ORDER,
        told,
    )
    yield finding(
        "nDCG0 departs further from the order of runs by nDCGorg than nDCGmin",
        rho["nDCGorg", "nDCG0"] < rho["nDCGorg", "nDCGmin"] - PRINTED,
        told,
    )
    for coefficient, of in (("Φ", one.phi), ("Eρ²", one.erho2)):
        yield finding(
            f"nDCGmin is at least as reliable as nDCG0 at every cutoff, by {coefficient}"
            + ("" if coefficient == "Φ" else ", which the paper does not give"),
            all(of("nDCGmin", k) >= of("nDCG0", k) - PRINTED for k in one.cutoffs),
            each(of, ("nDCG0", "nDCGmin")),
        )
    yield finding(
        "nDCGorg is less reliable than nDCG0 and nDCGmin at every cutoff, by Φ, as on one of the paper's two tracks",
        all(one.phi("nDCGorg", k) < one.phi(n, k) - PRINTED for k in one.cutoffs for n in ("nDCG0", "nDCGmin")),
        each(one.phi),
    )
    yield from _stability(one, finding)
    yield finding(
        f"nDCGmin tells at least as many pairs of runs apart as nDCGorg at every cutoff (at {ALPHA:g}; up to "
        f"{100 * SAME_POWER:g} points fewer are as many)",
        all(one.power("nDCGmin", k) >= one.power("nDCGorg", k) - SAME_POWER - 1e-12 for k in one.cutoffs),
        each(one.power, ("nDCGorg", "nDCGmin"), ".1%"),
    )
    yield finding(
        f"nDCG0 tells fewer pairs of runs apart than nDCGmin at every cutoff (at {ALPHA:g})",
        all(one.power("nDCG0", k) < one.power("nDCGmin", k) for k in one.cutoffs),
        each(one.power, ("nDCG0", "nDCGmin"), ".1%"),
    )


def _stability(one: Compared, finding: Any) -> Iterator[Finding]:
    """What the paper says of error rates."""
    sizes, deepest, shallowest = one.sizes, max(one.cutoffs), min(one.cutoffs)
    most = f"{sizes[-1]} topic{'' if sizes[-1] == 1 else 's'}"

    def ends(norm: str) -> str:
        rates = one.error(norm, deepest)
        return f"{norm} {rates[0]:.1%} to {rates[-1]:.1%}"

    if len(sizes) > 1:
        yield finding(
            "more topics mean a lower error rate, by all three",
            all(one.error(n, k)[-1] < one.error(n, k)[0] for n in NORMS for k in one.cutoffs),
            f"@{deepest}, {sizes[0]} to {sizes[-1]} topics: " + ", ".join(map(ends, NORMS)),
        )
    ties = ", ".join(f"{norm} {one.ties(norm, deepest)[-1]:.0%}" for norm in NORMS)
    lower = _lowest({norm: one.error(norm, deepest) for norm in NORMS})
    yield finding(
        f"nDCGmin has the lowest error rate at every number of topics, @{deepest}",
        lower == len(sizes),
        f"at {lower} of {len(sizes)} numbers of topics; with {most} ties are {ties}",
    )
    exact = {norm: one.exact_error(norm) for norm in NORMS}
    lower = _lowest(exact)
    yield finding(
        f"nDCGmin has the lowest error rate, @{deepest}, even if no two means count as equal (fuzziness 0), which the "
        "paper does not give",
        lower == len(sizes),
        f"at {lower} of {len(sizes)} numbers of topics; with {most} "
        + ", ".join(f"{norm} {rates[-1]:.1%}" for norm, rates in exact.items()),
    )
    if deepest > shallowest:
        rise = {n: one.error(n, deepest)[-1] - one.error(n, shallowest)[-1] for n in NORMS}
        yield finding(
            "deeper cutoffs raise the error rate of nDCGorg and nDCG0, not that of nDCGmin",
            rise["nDCGorg"] > 0 and rise["nDCG0"] > 0 and rise["nDCGmin"] <= 0,
            f"from @{shallowest} to @{deepest}, {most}: "
            + ", ".join(f"{norm} {100 * value:+.1f} points" for norm, value in rise.items()),
        )


def _lowest(rates: dict[str, tuple[float, ...]]) -> int:
    """At how many numbers of topics nDCGmin's error rate is the lowest, or as low."""
    return sum(
        own <= min(other) for own, *other in zip(rates["nDCGmin"], rates["nDCGorg"], rates["nDCG0"], strict=True)
    )


def label(norm: str, cutoff: int) -> str:
    """The measure's name: nDCG0 is gainful's own nDCG."""
    return f"{'nDCG' if norm == 'nDCG0' else norm}@{cutoff}"


def pair_of(pair: tuple[str, str]) -> str:
    """What to call two measures that are set against each other."""
    return " ~ ".join(pair)
