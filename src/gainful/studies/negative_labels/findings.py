"""What Gienapp et al. (CIKM 2020) found, and whether the numbers of a collection say the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from gainful import _polars as pl
from gainful.analyses.boundedness.result import Boundedness
from gainful.results import plural
from gainful.studies.exhibits import read_paper
from gainful.studies.findings import BEYOND, Finding, decide, each
from gainful.studies.negative_labels.compute import ALPHA, NORMS, PAIRS, Compared, NegativeLabels, pair_of

_PAPER = read_paper("negative_labels")
# Coefficients closer than the last digit that the paper prints are equal.
PRINTED = 0.001
# What the paper calls almost perfect starts at .96, and nearly indistinguishable curves are within two points.
SAME_ORDER, SAME_POWER = 0.95, 0.02


def findings(one: NegativeLabels) -> Iterator[Finding]:
    """All that can be looked for in what was found, in the paper's order."""
    if one.bounds.negative:
        yield of_judgments(one.name, one.bounds)
    if one.compared is not None:
        yield from of_runs(one.compared)


def of_judgments(name: str, found: Boundedness) -> Finding:
    """What the paper says of judgments alone."""
    row = found.shares().row(0, named=True)
    below, deep = row["share_below_0"], row["share_at_most_minus_1"]
    evidence = f"{below:.0%} of the topics below 0, {deep:.0%} at most -1"
    paper = _PAPER.prints("Table 2a", ["below 0", "at most -1"], ".0%")
    return decide(name, "in most topics nDCGorg can fall below 0", below > 0.5, evidence, below, deep, paper=paper)


def of_runs(one: Compared) -> Iterator[Finding]:
    """What the paper says of runs."""
    finding = partial(decide, one.name)

    def by_cutoff(of: Any, norms: Sequence[str], form: str = ".3f") -> tuple[str, list[float]]:
        """Evidence, and the numbers in it."""
        values = {k: {norm: of(norm, k) for norm in norms} for k in one.cutoffs}
        text = "; ".join(f"@{k} {each(some, form)}" for k, some in values.items())
        return text, [value for some in values.values() for value in some.values()]

    lowest = one.lowest_mean
    evidence = f"lowest mean {lowest:.4f}; of single topics, {one.negative_rankings} rankings are below 0"
    yield finding("no run has a negative mean nDCGorg", lowest >= 0, evidence, lowest)
    rho = {pair: one.rho(*pair) for pair in PAIRS}
    orders = each({f"ρ of {pair_of(pair)}": value for pair, value in rho.items()}, ".3f")
    same, other = rho["nDCGorg", "nDCGmin"], rho["nDCGorg", "nDCG0"]
    claim = f"nDCGmin reproduces the order of runs by nDCGorg (ρ of at least {SAME_ORDER:g})"
    paper = _PAPER.prints("Table 2b", [pair_of(pair) for pair in PAIRS], ".2f")
    yield finding(claim, same >= SAME_ORDER, orders, rho, paper=paper)
    claim = "nDCG0 departs further from the order of runs by nDCGorg than nDCGmin"
    yield finding(claim, other < same - PRINTED, orders, rho, paper=paper)
    for by, of in (("Φ", one.phi), ("Eρ², which the paper does not give", one.erho2)):
        claim = f"nDCGmin is at least as reliable as nDCG0 at every cutoff, by {by}"
        reliable = all(of("nDCGmin", k) >= of("nDCG0", k) - PRINTED for k in one.cutoffs)
        paper = _phi("nDCG0", "nDCGmin") if of == one.phi else BEYOND
        yield finding(claim, reliable, *by_cutoff(of, ("nDCG0", "nDCGmin")), paper=paper)
    claim = "nDCGorg is less reliable than nDCG0 and nDCGmin at every cutoff, by Φ, as on one of the paper's two tracks"
    less = all(one.phi("nDCGorg", k) < one.phi(n, k) - PRINTED for k in one.cutoffs for n in ("nDCG0", "nDCGmin"))
    yield finding(claim, less, *by_cutoff(one.phi, NORMS), paper=_phi(*NORMS))
    yield from _stability(one)
    claim = f"nDCGmin tells at least as many pairs of runs apart as nDCGorg at every cutoff (at {ALPHA:g}; up to "
    claim += f"{100 * SAME_POWER:g} points fewer are as many)"
    as_many = all(one.power("nDCGmin", k) >= one.power("nDCGorg", k) - SAME_POWER - 1e-12 for k in one.cutoffs)
    yield finding(claim, as_many, *by_cutoff(one.power, ("nDCGorg", "nDCGmin"), ".1%"), paper="Figure 2f")
    claim = f"nDCG0 tells fewer pairs of runs apart than nDCGmin at every cutoff (at {ALPHA:g})"
    fewer = all(one.power("nDCG0", k) < one.power("nDCGmin", k) for k in one.cutoffs)
    yield finding(claim, fewer, *by_cutoff(one.power, ("nDCG0", "nDCGmin"), ".1%"), paper="Figure 2f")


def _stability(one: Compared) -> Iterator[Finding]:
    """What the paper says of error rates."""
    finding = partial(decide, one.name, paper="Figure 2e")
    sizes, deepest, shallowest = one.sizes, max(one.cutoffs), min(one.cutoffs)
    most = plural(sizes[-1], "topic")
    fuzzy = {norm: one.error(norm, deepest) for norm in NORMS}
    exact = {norm: one.exact_error(norm) for norm in NORMS}
    if len(sizes) > 1:
        ends = ", ".join(f"{norm} {rates[0]:.1%} to {rates[-1]:.1%}" for norm, rates in fuzzy.items())
        lower = all(one.error(n, k)[-1] < one.error(n, k)[0] for n in NORMS for k in one.cutoffs)
        evidence = f"@{deepest}, {sizes[0]} to {sizes[-1]} topics: {ends}"
        yield finding("more topics mean a lower error rate, by all three", lower, evidence, *fuzzy.values())
    ties = each({norm: one.ties(norm, deepest)[-1] for norm in NORMS}, ".0%")
    claim = f"nDCGmin has the lowest error rate at every number of topics, @{deepest}"
    evidence = f"at {_lowest(fuzzy)} of {len(sizes)} numbers of topics; with {most} ties are {ties}"
    yield finding(claim, _lowest(fuzzy) == len(sizes), evidence, *fuzzy.values())
    equal = "even if no two means count as equal (fuzziness 0), which the paper does not give"
    claim = f"nDCGmin has the lowest error rate, @{deepest}, {equal}"
    last = each({norm: rates[-1] for norm, rates in exact.items()}, ".1%")
    evidence = f"at {_lowest(exact)} of {len(sizes)} numbers of topics; with {most} {last}"
    yield finding(claim, _lowest(exact) == len(sizes), evidence, *exact.values(), paper=BEYOND)
    if deepest > shallowest:
        rise = {n: 100 * (one.error(n, deepest)[-1] - one.error(n, shallowest)[-1]) for n in NORMS}
        claim = "deeper cutoffs raise the error rate of nDCGorg and nDCG0, not that of nDCGmin"
        others_rise = rise["nDCGorg"] > 0 and rise["nDCG0"] > 0 and rise["nDCGmin"] <= 0
        points = ", ".join(f"{norm} {value:+.1f} points" for norm, value in rise.items())
        yield finding(claim, others_rise, f"from @{shallowest} to @{deepest}, {most}: {points}", rise)


def _phi(*norms: str) -> str:
    """What the paper prints of Φ."""
    frame = _PAPER.published["Table 2d"]
    rows = {norm: frame.filter(measure=norm).select(pl.col("^@.*$")).to_numpy() for norm in norms}
    return "Table 2d: " + ", ".join(f"{norm} {row.min():.3f} to {row.max():.3f}" for norm, row in rows.items())


def _lowest(rates: dict[str, tuple[float, ...]]) -> int:
    """At how many numbers of topics nDCGmin's error rate is the lowest, or as low."""
    return sum(
        own <= min(other) for own, *other in zip(rates["nDCGmin"], rates["nDCGorg"], rates["nDCG0"], strict=True)
    )
