"""What Carmel et al. (2022) found of nDCG with forbidden documents, and whether it holds for a collection."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gainful.data.rankings import FloatArray
from gainful.studies.forbidden_documents_exhibits import LEVELS
from gainful.studies.forbidden_documents_found import NORMS, Compared, Found, Plan
from gainful.studies.result import Finding

# Curves that are this close, on average, are as good as each other.
ALIKE = 0.01
# Scores of a bounded measure may leave [0, 1] by rounding, and τ of the same order may fall short of 1.
_ROUNDING = 1e-9
ALPHA = 0.05


def findings(one: Found, plan: Plan) -> Iterator[Finding]:
    """All that can be looked for in what was found."""
    if one.compared is not None:
        yield _bounded(one, one.compared, plan)
    if one.bounds is not None and len(plan.bound_cutoffs) > 1:
        yield _by_cutoff(one, plan)
    if one.compared is not None:
        yield _orders_differ(one.name, one.compared)
        yield _more_stable(one.name, one.compared)
        yield _as_stable(one.name, one.compared)
        yield _more_sensitive(one.name, one.compared)
        yield _as_sensitive(one.name, one.compared)
        yield _more_reliable(one.name, one.compared)
        yield _most_reliable(one.name, one.compared)


def _bounded(one: Found, compared: Compared, plan: Plan) -> Finding:
    values = dict(zip(NORMS, compared.scores.values, strict=True))
    low, high = float(values["nDCGf"].min()), float(values["nDCGf"].max())
    outside = {row["cutoff"]: row["unbounded"] for row in one.outside().iter_rows(named=True)}[plan.cutoff]
    least, most = float(values["nDCGmin"].min()), float(values["nDCGmin"].max())
    return Finding(
        claim="Where documents are filtered out, nDCGf stays within 0 and 1, and nDCGmin does not",
        collection=one.name,
        holds=bool(low >= -_ROUNDING and high <= 1 + _ROUNDING and outside > 0),
        evidence=f"at {plan.cutoff}: nDCGf from {low:.3f} to {high:.3f}; nDCGmin from {least:.3f} to {most:.3f}, "
        f"outside in {outside:.1%} of the queries",
    )


def _by_cutoff(one: Found, plan: Plan) -> Finding:
    shares = {row["cutoff"]: row["unbounded"] for row in one.outside().iter_rows(named=True)}
    first, last = min(plan.bound_cutoffs), max(plan.bound_cutoffs)
    return Finding(
        claim="nDCGmin is unbounded for some queries at a large cutoff, and for none at a small one",
        collection=one.name,
        holds=shares[first] == 0 and shares[last] > 0,
        evidence=", ".join(f"@{cutoff} {share:.1%}" for cutoff, share in shares.items()),
    )


def _orders_differ(name: str, compared: Compared) -> Finding:
    tau = compared.tau("nDCGmin", "nDCGf")
    return Finding(
        claim="nDCGmin and nDCGf order the runs differently",
        collection=name,
        holds=tau < 1 - _ROUNDING,
        evidence=f"τ {tau:.4f}; with nDCGorg {compared.tau('nDCGorg', 'nDCGmin'):.4f} and "
        f"{compared.tau('nDCGorg', 'nDCGf'):.4f}",
    )


def _more_stable(name: str, compared: Compared) -> Finding:
    error = {norm: np.array(compared.error(norm)) for norm in NORMS}
    return Finding(
        claim="nDCGf and nDCGmin are more stable than nDCGorg, and less so for no number of topics",
        collection=name,
        holds=all(_dominates(-error[norm], -error["nDCGorg"]) for norm in ("nDCGmin", "nDCGf")),
        evidence="mean error: " + ", ".join(f"{norm} {error[norm].mean():.2%}" for norm in NORMS),
    )


def _as_stable(name: str, compared: Compared) -> Finding:
    f, least = (float(np.mean(compared.error(norm))) for norm in ("nDCGf", "nDCGmin"))
    return Finding(
        claim="nDCGf is as stable as nDCGmin, or more",
        collection=name,
        holds=f <= least + ALIKE,
        evidence=f"mean error: nDCGf {f:.2%}, nDCGmin {least:.2%}; up to {ALIKE:.0%} apart is as stable",
    )


def _more_sensitive(name: str, compared: Compared) -> Finding:
    power = {norm: _power(compared, norm) for norm in NORMS}
    return Finding(
        claim="nDCGf and nDCGmin tell more pairs of runs apart than nDCGorg, and fewer at no level",
        collection=name,
        holds=all(_dominates(power[norm], power["nDCGorg"]) for norm in ("nDCGmin", "nDCGf")),
        evidence=_told_apart(compared),
    )


def _as_sensitive(name: str, compared: Compared) -> Finding:
    f, least = (float(_power(compared, norm).mean()) for norm in ("nDCGf", "nDCGmin"))
    return Finding(
        claim="nDCGf tells as many pairs of runs apart as nDCGmin, or more",
        collection=name,
        holds=f >= least - ALIKE,
        evidence=f"mean over levels: nDCGf {f:.1%}, nDCGmin {least:.1%}; up to {ALIKE:.0%} apart is as many",
    )


def _more_reliable(name: str, compared: Compared) -> Finding:
    phi = {norm: compared.phi(norm) for norm in NORMS}
    return Finding(
        claim="nDCGf and nDCGmin are more reliable than nDCGorg",
        collection=name,
        holds=phi["nDCGf"] > phi["nDCGorg"] and phi["nDCGmin"] > phi["nDCGorg"],  # not if one is NaN
        evidence="Φ: " + ", ".join(f"{norm} {value:.4f}" for norm, value in phi.items()),
    )


def _most_reliable(name: str, compared: Compared) -> Finding:
    f, least = compared.phi("nDCGf"), compared.phi("nDCGmin")
    return Finding(
        claim="nDCGf is more reliable than nDCGmin",
        collection=name,
        holds=f > least,
        evidence=f"Φ: nDCGf {f:.4f}, nDCGmin {least:.4f}",
    )


def _dominates(curve: FloatArray, other: FloatArray) -> bool:
    """Whether one curve is above the other somewhere, and below it nowhere."""
    return bool((curve >= other).all() and (curve > other).any())


def _power(compared: Compared, norm: str) -> FloatArray:
    return np.array([compared.pairs(norm).discriminative_power(level) for level in LEVELS])


def _told_apart(compared: Compared) -> str:
    power = {norm: compared.pairs(norm).discriminative_power(ALPHA) for norm in NORMS}
    return f"at {ALPHA:g}: " + ", ".join(f"{norm} {share:.1%}" for norm, share in power.items())
