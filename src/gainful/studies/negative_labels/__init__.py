"""Gienapp et al. (CIKM 2020) on any collection: what negative labels do to nDCG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from gainful.verbs.source import RunOptions

if TYPE_CHECKING:
    from gainful.studies.result import Study


def negative_labels(
    collections: Mapping[str, tuple[Any, Any]] | None = None,
    *,
    cutoffs: Sequence[int] = (5, 10, 15, 20),
    pool_depth: int = 20,
    draws: int = 200,
    fuzziness: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    **options: Unpack[RunOptions],
) -> Study:
    """Find out what negative labels do to nDCG: bounds, order of runs, reliability, stability, sensitivity.

    nDCGorg keeps negative gains and is unbounded, nDCG0 takes them for 0, nDCGmin spans worst to best ordering. Tables
    1, 2a, 2b, 2d and Figures 2c, 2e, 2f of Gienapp et al. (CIKM 2020) are reproduced.

    Parameters
    ----------
    collections
        By name, judgments and runs, as in ``{"web": ("qrels.txt", "runs/")}``; if not given, simulated stand-ins
        of the Web Tracks 2011 and 2012. Without runs, ``("qrels.txt", ())``, a collection has Tables 1 and 2a only.
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
    **options
        See `RunOptions`: which files runs are read from, and what is done about those that cannot be.

    Returns
    -------
    Study
        Tables 1, 2a, 2b, 2d and Figures 2c, 2e, 2f of the paper, and which of its findings hold.

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
    from gainful.data.policies import Policies
    from gainful.errors import check_count, check_cutoffs
    from gainful.results import Settings
    from gainful.stats.resample import check_resamples
    from gainful.studies.collections import load_collections
    from gainful.studies.exhibits import absences
    from gainful.studies.negative_labels.compute import find
    from gainful.studies.negative_labels.exhibits import exhibits_of
    from gainful.studies.negative_labels.findings import findings
    from gainful.studies.result import Study

    cutoffs = check_cutoffs("cutoffs", cutoffs)
    check_count("pool_depth", pool_depth)
    check_count("draws", draws, least=2, why=", for one draw contradicts no other")
    check_resamples(resamples)
    settings = Settings.of(negative_labels, locals(), data="", policies=Policies())
    loaded = load_collections(collections, settings, options, runs_needed=False, like=("web2011", "web2012"))
    found = [find(one, settings) for one in loaded]
    exhibits = list(exhibits_of(found))
    absent = absences({one.name: one.lacking for one in found}, exhibits)
    return Study.of(settings, loaded, exhibits, (said for one in found for said in findings(one)), absent)
