"""How far measures agree on the order of runs, and which runs move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from gainful.data.policies import Gaps
from gainful.errors import GainfulError, check_choice, check_share
from gainful.verbs.source import Measures, Options, scores_of, settings_of

if TYPE_CHECKING:
    from gainful.analyses.agreement.result import Agreement

Correlation = Literal["tau_b", "tau_a", "tau_ap", "rho", "rbo", "rms"]
CORRELATIONS: tuple[Correlation, ...] = get_args(Correlation)


def agreement(
    source: Any,
    runs: Any = None,
    measures: Measures = None,
    *,
    correlation: Correlation | Sequence[Correlation] = CORRELATIONS,
    spread: float = 0.95,
    resamples: int = 1000,
    p: float = 0.9,
    seed: int = 0,
    gaps: Gaps = "error",
    **options: Unpack[Options],
) -> Agreement:
    """Find out how well measures agree on the order of runs, and which runs move.

    Parameters
    ----------
    source, runs, measures
        Judgments, runs and two or more measures; or `Rankings` and measures; or scores: `Scores`, a table or its file.
    correlation
        What to compute, such as tau_b,rbo, the first being shown in charts: tau_b (Kendall's τ, corrected for ties),
        tau_a (Kendall's τ), tau_ap (τ_AP, in which the top counts more), rho (Spearman's ρ), rbo (rank-biased overlap),
        rms (root mean square difference of the scores themselves).
    spread
        The share of the values on resampled topics that lies between the two ends shown, the rest being beyond either
        end in equal parts.
    resamples
        How many times topics are drawn with replacement, the same ones for every measure.
    p
        Persistence of rbo, between 0 and 1: the smaller, the more the very top decides.
    seed
        Where the random numbers start.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs and measures).
    **options
        See `Options`.

    Returns
    -------
    Agreement
        Coefficients for every pair of measures, with their spread over resampled topics, and the ranks of all runs.

    Notes
    -----
    Runs are ordered by their means over topics (geometric means, where that is how the measure is summarised), the
    higher the better, or the lower where the measure says so; rms compares the means as they are. Means that differ by
    10⁻¹² of the largest score are tied. tau_ap is τ_AP,b of Urbano & Marrero (2017), symmetric: without ties the mean
    of τ_AP (Yilmaz et al. 2008) in both directions. rbo is RBO_ext (Webber et al. 2010) of the two complete orders, its
    ties corrected for as RBOᵇ by Corsi & Urbano (2024). tau_b, tau_ap and rho are NaN where a measure ties all runs.

    The resampled values show how much a coefficient hangs on which topics there are: far apart, a difference between
    two coefficients means little. They are not a confidence interval, and no forecast for other topics: a sample draws
    some topics twice and others never, so that its orders are noisier than the observed ones, and orders that agree
    well seem to agree less. The observed value may lie near the upper end, or beyond it.

    Examples
    --------
    >>> import polars as pl
    >>> long = [("a", "AP", "1", 0.9), ("b", "AP", "1", 0.6), ("c", "AP", "1", 0.1),
    ...         ("a", "AP", "2", 0.7), ("b", "AP", "2", 0.5), ("c", "AP", "2", 0.3),
    ...         ("a", "RR", "1", 0.5), ("b", "RR", "1", 1.0), ("c", "RR", "1", 0.2),
    ...         ("a", "RR", "2", 0.5), ("b", "RR", "2", 1.0), ("c", "RR", "2", 0.1)]
    >>> found = agreement(pl.DataFrame(long, schema=["run", "measure", "query_id", "score"], orient="row"))
    >>> round(found.between("AP", "RR", "tau_b").value, 3), found.best("AP"), found.best("RR")
    (0.333, ('a',), ('b',))
    """
    from gainful.analyses.agreement.compute import computed
    from gainful.engine import open_engine
    from gainful.stats.resample import check_resamples

    correlation = tuple(dict.fromkeys([correlation] if isinstance(correlation, str) else correlation))
    if not correlation:
        raise GainfulError(f"correlation: expected some of {', '.join(CORRELATIONS)}, got none")
    for name in correlation:
        check_choice("correlation", name, CORRELATIONS)
    check_share("spread", spread)
    check_share("p", p)
    check_resamples(resamples)
    with open_engine(options.get("engine", "local")) as work:
        scores = scores_of(source, runs, measures, options)
        return computed(scores, settings_of(agreement, locals(), scores), work)
