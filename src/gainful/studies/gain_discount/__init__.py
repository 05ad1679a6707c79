"""Kanoulas & Aslam (CIKM 2009) on any collection: which gain and discount make nDCG most reliable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from gainful.verbs.source import RunOptions

if TYPE_CHECKING:
    from gainful.studies.result import Study


def gain_discount(
    collections: Mapping[str, tuple[Any, Any]] | None = None,
    *,
    cutoff: int = 20,
    discount_cutoffs: Sequence[int] = (10, 20, 100),
    gain_cutoffs: Sequence[int] = (3, 10, 20, 100, 200),
    phi: float = 0.95,
    best: int = 30,
    starts: int = 2,
    splits: int = 5,
    resamples: int = 1000,
    seed: int = 0,
    **options: Unpack[RunOptions],
) -> Study:
    """Find out which gain and discount make nDCG most reliable, and how far the usual ones are from that.

    Tables 1 to 4 and Figures 2 to 9 of Kanoulas and Aslam (CIKM 2009) are reproduced; what the paper does not have, the
    reliability on topics that nothing was fitted to, stands beside them.

    Parameters
    ----------
    collections
        By name, judgments and runs, as in ``{"web": ("qrels.txt", "runs/")}``; a simulated collection if not given.
    cutoff
        Ranks that count, for Figures 3, 6 and 9.
    discount_cutoffs
        Ranks that count, for Figure 2; the largest also for Tables 1, 3 and 4 and Figures 4, 5, 7 and 8.
    gain_cutoffs
        Ranks that count, for Table 2.
    phi
        The Φ that topics are counted for in Tables 1 and 3, between 0 and 1.
    best
        How many runs are compared in Figure 9, the best ones.
    starts
        From how many points each optimum is searched; that of gains alone from three times as many.
    splits
        How often the topics are split into halves, each to fit once and to measure once; 0 for no held-out Φ.
    resamples
        How many bootstrap samples, for Figure 9.
    seed
        Where the random numbers start, those of the simulated collection too.
    **options
        See `RunOptions`: which files runs are read from, and what is done about those that cannot be.

    Returns
    -------
    Study
        Tables 1 to 4 and Figures 2 to 9 of the paper, the Φ of topics held out, and which of its findings hold.

    Notes
    -----
    Labels of 0 and below have no gain, and unjudged documents hold their ranks; the paper's collections have no
    negative labels. An optimum is fitted to the topics at hand and is the best there by construction: the findings that
    say so are told apart from those on topics held out. A discount is *less steep* than another if it puts more of its
    weight on the lower half of the ranks. Where runs are not deep enough for a cutoff, the largest that they reach
    takes its place, and that is told.

    Examples
    --------
    >>> import gainful as gf
    >>> made = gf.simulate(topics=10, systems=8, depth=50)
    >>> study = gf.studies.gain_discount(
    ...     {"small": (made.qrels, made.runs)}, cutoff=5, discount_cutoffs=[5], gain_cutoffs=[5], splits=0
    ... )
    >>> study["Table 1"].frame.columns
    ['collection', 'cutoff', 'zipf', 'linear', 'log2', 'optimal']
    """
    from gainful.data.policies import Policies
    from gainful.errors import check_count, check_cutoffs, check_share
    from gainful.results import Settings
    from gainful.stats.resample import check_resamples
    from gainful.studies.collections import load_collections
    from gainful.studies.gain_discount.compute import find
    from gainful.studies.gain_discount.exhibits import absent, exhibits_of
    from gainful.studies.gain_discount.findings import findings
    from gainful.studies.result import Study

    discount_cutoffs = check_cutoffs("discount_cutoffs", discount_cutoffs, least=2)
    gain_cutoffs = check_cutoffs("gain_cutoffs", gain_cutoffs)
    for name, count, least in (("cutoff", cutoff, 2), ("best", best, 2), ("starts", starts, 1), ("splits", splits, 0)):
        check_count(name, count, least=least)
    check_share("phi", phi)
    check_resamples(resamples)
    settings = Settings.of(gain_discount, locals(), data="", policies=Policies())
    loaded = load_collections(collections, settings, options)
    found = find(loaded, settings)
    made = exhibits_of(found, settings)
    exhibits = [exhibit for exhibit in made if not exhibit.frame.is_empty()]
    said = (finding for one in found for finding in findings(one, settings))
    return Study.of(settings, loaded, exhibits, said, absent(made, found))
