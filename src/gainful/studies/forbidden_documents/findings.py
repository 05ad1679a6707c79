"""What Carmel et al. (2022) found of nDCG with forbidden documents, and whether it holds for a collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from gainful.data.rankings import FloatArray
from gainful.studies.exhibits import read_paper
from gainful.studies.findings import Finding, decide, each
from gainful.studies.forbidden_documents.compute import LEVELS, NORMS, Compared, ForbiddenDocuments

# Curves that are this close, on average, are as good as each other.
ALIKE = 0.01
# Scores of a bounded measure may leave [0, 1] by rounding, and τ of the same order may fall short of 1.
_ROUNDING = 1e-9
ALPHA = 0.05
_OUTSIDE = read_paper("forbidden_documents").prints("Table 5", ["unbounded"], ".1%", cutoff=300) + " at 300"


def findings(one: ForbiddenDocuments, settings: Mapping[str, Any]) -> Iterator[Finding]:
    """All that can be looked for in what was found, in the paper's order."""
    shares = dict(one.outside().select("cutoff", "unbounded").iter_rows()) if one.bounds is not None else {}
    if one.compared is not None:
        yield _bounded(one.name, one.compared, settings["cutoff"], shares[settings["cutoff"]])
    cutoffs = settings["bound_cutoffs"]
    if shares and len(cutoffs) > 1:
        claim = "nDCGmin is out of bounds for some topics at a large cutoff, and for none at a small one"
        evidence = each({f"@{cutoff}": share for cutoff, share in shares.items()}, ".1%")
        holds = shares[min(cutoffs)] == 0 and shares[max(cutoffs)] > 0
        yield decide(one.name, claim, holds, evidence, shares, paper=_OUTSIDE)
    if one.compared is not None:
        yield from _of_measures(one.name, one.compared)


def _bounded(name: str, compared: Compared, cutoff: int, outside: float) -> Finding:
    values = dict(zip(NORMS, compared.scores.values, strict=True))
    low, high = float(values["nDCGf"].min()), float(values["nDCGf"].max())
    least, most = float(values["nDCGmin"].min()), float(values["nDCGmin"].max())
    claim = "Where documents are filtered out, nDCGf stays within 0 and 1, and nDCGmin does not"
    evidence = (
        f"at {cutoff}: nDCGf from {low:.3f} to {high:.3f}; nDCGmin from {least:.3f} to {most:.3f}, "
        f"outside in {outside:.1%} of the topics"
    )
    holds = low >= -_ROUNDING and high <= 1 + _ROUNDING and outside > 0
    return decide(name, claim, holds, evidence, low, high, least, most, outside, paper=_OUTSIDE)


def _of_measures(name: str, compared: Compared) -> Iterator[Finding]:
    """What the paper says of the three measures: orders of runs, stability, sensitivity, reliability."""
    finding = partial(decide, name)
    bounded = ("nDCGmin", "nDCGf")
    tau = {pair: compared.tau(*pair) for pair in (("nDCGmin", "nDCGf"), ("nDCGorg", "nDCGmin"), ("nDCGorg", "nDCGf"))}
    own, *others = tau.values()
    evidence = f"τ {own:.4f}; with nDCGorg {others[0]:.4f} and {others[1]:.4f}"
    yield finding("nDCGmin and nDCGf order the runs differently", own < 1 - _ROUNDING, evidence, tau)
    error = {norm: np.array(compared.error(norm)) for norm in NORMS}
    mean_error = {norm: float(rates.mean()) for norm, rates in error.items()}
    claim = "nDCGf and nDCGmin are more stable than nDCGorg, and never less stable"
    stabler = all(_dominates(-error[norm], -error["nDCGorg"]) for norm in bounded)
    yield finding(claim, stabler, f"mean error: {each(mean_error, '.2%')}", mean_error, paper="Figure 1")
    as_stable = mean_error["nDCGf"] <= mean_error["nDCGmin"] + ALIKE
    evidence = f"mean error: {_two(mean_error, '.2%')}; up to {ALIKE:.0%} apart is as stable"
    yield finding("nDCGf is as stable as nDCGmin, or more", as_stable, evidence, mean_error, paper="Figure 1")
    power = {norm: np.array([compared.power(norm, level) for level in LEVELS]) for norm in NORMS}
    at_alpha = {norm: compared.power(norm, ALPHA) for norm in NORMS}
    claim = "nDCGf and nDCGmin tell more pairs of runs apart than nDCGorg, and never fewer"
    more = all(_dominates(power[norm], power["nDCGorg"]) for norm in bounded)
    yield finding(claim, more, f"at {ALPHA:g}: {each(at_alpha, '.1%')}", at_alpha, paper="Figure 2")
    mean_power = {norm: float(shares.mean()) for norm, shares in power.items()}
    as_many = mean_power["nDCGf"] >= mean_power["nDCGmin"] - ALIKE
    evidence = f"mean over levels: {_two(mean_power, '.1%')}; up to {ALIKE:.0%} apart is as many"
    claim = "nDCGf tells as many pairs of runs apart as nDCGmin, or more"
    yield finding(claim, as_many, evidence, mean_power, paper="Figure 2")
    phi = {norm: compared.phi(norm) for norm in NORMS}
    lower, f, org = phi["nDCGmin"], phi["nDCGf"], phi["nDCGorg"]
    finding = partial(decide, name, paper="Figure 3")
    yield finding("nDCGf and nDCGmin are more reliable than nDCGorg", min(f, lower) > org, f"Φ: {each(phi)}", phi)
    yield finding("nDCGf is more reliable than nDCGmin", f > lower, f"Φ: {_two(phi, '.4f')}", f, lower)


def _two(values: Mapping[str, float], form: str) -> str:
    return each({norm: values[norm] for norm in ("nDCGf", "nDCGmin")}, form)


def _dominates(curve: FloatArray, other: FloatArray) -> bool:
    """Whether one curve is above the other somewhere, and below it nowhere."""
    return bool((curve >= other).all() and (curve > other).any())
