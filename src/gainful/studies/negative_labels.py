"""Gienapp et al. (CIKM 2020) on any collection: what negative labels do to nDCG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gainful.analyses.agreement import agreement
from gainful.analyses.boundedness import boundedness
from gainful.analyses.boundedness.result import Boundedness
from gainful.analyses.reliability import reliability
from gainful.analyses.sensitivity import sensitivity
from gainful.analyses.stability import stability
from gainful.checks import check_count, check_cutoffs
from gainful.data.policies import Policies
from gainful.stats.resample import check_resamples
from gainful.studies.collections import Collections, StudyCollection, cautions, load_collections, named
from gainful.studies.negative_labels_exhibits import OF_RUNS, bounds_table, exhibits_of_runs, label_table
from gainful.studies.negative_labels_found import NORMS, Compared, bounded, findings, label
from gainful.studies.result import Study, absences, decided
from gainful.verbs.evaluate import evaluate

PAPER = "Gienapp, Fröbe, Hagen and Potthast: The Impact of Negative Relevance Judgments on NDCG, CIKM 2020"
_NONE = "has no label below 0: nDCG0 is nDCGorg, and there is nothing to find"


def negative_labels(
    collections: Collections | None = None,
    *,
    cutoffs: Sequence[int] = (5, 10, 15, 20),
    pool_depth: int = 20,
    draws: int = 200,
    fuzziness: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
) -> Study:
    """Find what negative labels do to nDCG: bounds, order of runs, reliability, stability, sensitivity.

    nDCGorg keeps negative gains and is unbounded, nDCG0 takes them for 0, nDCGmin spans worst to best ordering. Made
    anew are Tables 1, 2a, 2b, 2d and Figures 2c, 2e, 2f of Gienapp et al. (CIKM 2020).

    Parameters
    ----------
    collections
        By name, judgments and runs, as in ``{"web": ("qrels.txt", "runs/")}``; a simulated collection if not given.
        Without runs, ``("qrels.txt", ())``, a collection has Tables 1 and 2a only.
    cutoffs
        Ranks that count, for Table 2d and Figures 2e and 2f.
    pool_depth
        Ranks that count, for Tables 2a, 2b and Figure 2c; in the paper as deep as the judgments go.
    draws
        How many times topics are drawn, for Figure 2e.
    fuzziness
        Two runs are equal if their means differ by no more than this share of the larger one, for Figure 2e.
    resamples
        How many bootstrap samples, for Figure 2f.
    seed
        Where the random numbers start, those of the simulated collection too.

    Returns
    -------
    Study
        Exhibits, and which of the paper's findings hold.

    Notes
    -----
    Φ and Eρ² that differ by less than 0.001 are taken for equal. Where the paper calls the curves of nDCGmin and
    nDCGorg nearly indistinguishable, up to two points fewer of the pairs are taken for as many. A finding on several
    cutoffs or numbers of topics holds only if it holds at each of them.

    Examples
    --------
    >>> import gainful as gf
    >>> made = gf.simulate(topics=10, systems=8, depth=50)
    >>> study = gf.studies.negative_labels({"small": (made.qrels, made.runs)}, cutoffs=[5, 10], resamples=100)
    >>> study["Table 2b"].frame.columns
    ['collection', 'cutoff', 'nDCGorg ~ nDCG0', 'nDCGorg ~ nDCGmin', 'nDCG0 ~ nDCGmin']
    """
    cutoffs = check_cutoffs("cutoffs", cutoffs)
    check_count("pool_depth", pool_depth)
    check_count("draws", draws, least=2, why=", for one draw contradicts no other")
    check_resamples(resamples)
    loaded = load_collections(collections, seed=seed, runs_needed=False)
    bounds = {}
    for one in loaded:
        with named(one.name):
            bounds[one.name] = boundedness(one.qrels, one.runs, cutoff=pool_depth)
    settings: dict[str, Any] = {"draws": draws, "fuzziness": fuzziness, "resamples": resamples, "seed": seed}
    compared = [
        _compare(one, bounds[one.name], cutoffs=cutoffs, pool_depth=pool_depth, **settings)
        for one in loaded
        if one.too_few is None and bounds[one.name].negative
    ]
    negative = {name: found for name, found in bounds.items() if found.negative}
    exhibits = [label_table(loaded), *([bounds_table(negative)] if negative else ())]
    exhibits += exhibits_of_runs(compared) if compared else ()
    lacking = {one.name: dict.fromkeys(OF_RUNS, one.too_few) for one in loaded if one.too_few is not None}
    lacking |= {one.name: dict.fromkeys(("Table 2a", *OF_RUNS), _NONE) for one in loaded if one.name not in negative}
    by_name = {one.name: one for one in compared}
    found = [
        finding
        for one in loaded
        if one.name in negative
        for finding in (
            bounded(one.name, bounds[one.name]),
            *(findings(by_name[one.name]) if one.name in by_name else ()),
        )
    ]
    verdicts = decided(found)
    return Study(
        name="negative-labels",
        paper=PAPER,
        collections=tuple(one.name for one in loaded),
        exhibits=tuple(exhibits),
        findings=verdicts,
        notes=cautions(loaded, (verdict.collection for verdict in verdicts)),
        absent=absences(lacking, exhibits),
        settings={"cutoffs": list(cutoffs), "pool_depth": pool_depth, **Policies().to_dict(), **settings},
    )


def _compare(
    one: StudyCollection,
    bounds: Boundedness,
    *,
    cutoffs: tuple[int, ...],
    pool_depth: int,
    draws: int,
    fuzziness: float,
    resamples: int,
    seed: int,
) -> Compared:
    depths = dict.fromkeys([*cutoffs, pool_depth])
    with named(one.name):
        scores = evaluate(one.qrels, one.runs, [label(norm, depth) for depth in depths for norm in NORMS])
    studied = scores.only([label(norm, cutoff) for cutoff in cutoffs for norm in NORMS])
    pooled = scores.only([label(norm, pool_depth) for norm in NORMS])
    return Compared(
        name=one.name,
        scores=scores,
        agreed=agreement(pooled, correlation="rho", resamples=resamples, seed=seed),
        reliable=reliability(studied),
        stable=stability(studied, draws=draws, fuzziness=fuzziness, seed=seed),
        exact=stability(
            scores.only([label(norm, max(cutoffs)) for norm in NORMS]), draws=draws, fuzziness=0.0, seed=seed
        ),
        sensitive=sensitivity(studied, resamples=resamples, seed=seed),
        bounds=bounds,
        cutoffs=cutoffs,
        pool_depth=pool_depth,
    )
