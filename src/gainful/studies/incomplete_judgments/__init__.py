"""Bompada et al. (SIGIR 2007) on any collection: which measures bear incomplete judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from gainful.verbs.source import RunOptions

if TYPE_CHECKING:
    from gainful.studies.result import Study


def incomplete_judgments(
    collections: Mapping[str, tuple[Any, Any]] | None = None,
    *,
    levels: Sequence[float] | None = None,
    trials: int = 10,
    weights: Sequence[float] = (2.0, 10.0, 100.0),
    rel: float = 1.0,
    pairs: int = 300,
    alpha: float = 0.05,
    least_returned: float = 0.95,
    seed: int = 0,
    **options: Unpack[RunOptions],
) -> Study:
    """Find out which of bpref, infAP and nDCG suffers least from incomplete judgments, binary and graded.

    Judgments are taken away, and runs ordered and tested again. Figures 1 to 3 and Tables 1, 3, 4 and 5 of Bompada et
    al. (SIGIR 2007) are reproduced.

    Parameters
    ----------
    collections
        By name, judgments and runs, as in ``{"web": ("qrels.txt", "runs/")}``; a simulated collection if not given.
    levels
        Shares of the judgments to keep, such as 0.1,0.5; the paper's 17 if not given.
    trials
        How often judgments are drawn at random.
    weights
        What a highly relevant document counts in Figure 3, a relevant one counting 1; binary nDCG comes with them.
    rel
        The lowest label that is relevant; all higher ones are highly relevant.
    pairs
        How many pairs of runs, drawn at random, are tested for a difference; all if there are no more.
    alpha
        Level of these tests (Wilcoxon's signed-rank test).
    least_returned
        Runs that returned less than this share of the documents that they could have returned are left out; 0 for none.
    seed
        Where the random numbers start, those of the simulated collection too.
    **options
        See `RunOptions`: which files runs are read from, and what is done about those that cannot be.

    Returns
    -------
    Study
        Figures 1 to 3 and Tables 1, 3, 4 and 5 of the paper, and which of its findings hold.

    Notes
    -----
    A run could have returned, for every judged topic, as many documents as the longest list of any run has. The level
    of all judgments, at which every curve is 1, counts for no finding. Where the paper says 'as good as', a difference
    of up to 0.01 counts as none; where it says 'about 1 %', a mean difference of up to 0.015.

    Examples
    --------
    >>> import gainful as gf
    >>> made = gf.simulate(topics=10, systems=8, depth=50)
    >>> collections = {"small": (made.qrels, made.runs)}
    >>> study = gf.studies.incomplete_judgments(collections, levels=[0.1, 0.5, 1], trials=2)
    >>> study["Table 3"].frame.columns
    ['collection', 'τ above 0.9', 'bpref', 'infAP', 'nDCG']
    """
    from gainful.analyses.robustness.depletion import checked_levels
    from gainful.data.policies import Policies
    from gainful.errors import GainfulError, check_count, check_finite, check_share
    from gainful.results import Settings
    from gainful.studies.collections import load_collections
    from gainful.studies.exhibits import absences
    from gainful.studies.incomplete_judgments.compute import find
    from gainful.studies.incomplete_judgments.exhibits import exhibits_of
    from gainful.studies.incomplete_judgments.findings import findings
    from gainful.studies.result import Study

    levels = checked_levels("stratified", levels)
    if levels[0] == 1:
        raise GainfulError("levels: expected at least one below 1, the level of all judgments")
    check_count("trials", trials)
    check_count("pairs", pairs)
    check_share("alpha", alpha)
    check_finite("rel", rel)
    if not 0 <= least_returned <= 1:
        raise GainfulError(f"least_returned: expected a share from 0 to 1, got {least_returned}")
    rel, weights = float(rel), tuple(map(float, weights))
    settings = Settings.of(incomplete_judgments, locals(), data="", policies=Policies())
    found = [find(one, settings) for one in load_collections(collections, settings, options)]
    exhibits = list(exhibits_of(found, rel))
    absent = absences({one.name: one.lacking for one in found}, exhibits)
    said = (finding for one in found for finding in findings(one))
    return Study.of(settings, [one.used for one in found], exhibits, said, absent)
