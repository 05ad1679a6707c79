"""Which measure tells runs apart: significance of all pairs, and the share of pairs that are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from gainful.data.policies import Gaps
from gainful.verbs.source import Measures, Options, scores_of, settings_of

if TYPE_CHECKING:
    from gainful.analyses.sensitivity.result import Sensitivity

Method = Literal["studentized", "shifted", "sign", "t", "wilcoxon", "tukey"]


def sensitivity(
    source: Any,
    runs: Any = None,
    measures: Measures = None,
    *,
    methods: Method | Sequence[Method] = ("studentized",),
    alpha: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    gaps: Gaps = "error",
    **options: Unpack[Options],
) -> Sensitivity:
    """Find out which measure tells most runs apart, by testing all pairs of runs.

    Parameters
    ----------
    source, runs, measures
        Judgments, runs and what to compute; or `Rankings` and measures; or scores: `Scores`, a table, its file, or an
        array of runs × topics.
    methods
        How pairs are tested: studentized, shifted or sign (paired bootstrap), t, wilcoxon, or tukey (randomised Tukey
        HSD, corrected for all pairs); several as in t,tukey.
    alpha
        A pair is told apart if its significance level is below this.
    resamples
        How many bootstrap samples or randomisations.
    seed
        Where the random numbers start.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs).
    **options
        See `Options`.

    Returns
    -------
    Sensitivity
        Achieved significance levels, discriminative power, detectable difference.

    Notes
    -----
    With z the differences of a pair over topics and w = z − z̄, the achieved significance level (ASL) is the share of
    the bootstrap samples with |t(w*)| ≥ |t(z)| (studentized), with |w̄*| ≥ |z̄| (shifted), or whose z̄* has not the
    sign of z̄ (sign; one-sided, so it finds more). The samples are the same for all pairs and measures of equal numbers
    of topics. Runs with the same scores have ASL 1. A sample without variance has t = 0 and never counts, so that pairs
    which differ on fewer than 5 topics look more significant than they are: the notes say how many there are. That is a
    convention for comparing measures; `compare`, a test whose rate of error must hold, takes |t| for infinite there.
    tukey is a p-value, (b + 1)/(resamples + 1). No method but tukey is corrected for the number of pairs. Sakai, SIGIR
    2006; Carterette, TOIS 2012.

    Examples
    --------
    >>> y = [[0.1, 0.2, 0.3, 0.4, 0.5], [0.3, 0.5, 0.4, 0.6, 0.7], [0.3, 0.5, 0.4, 0.6, 0.7]]
    >>> found = sensitivity(y, methods="t")
    >>> round(found["score", "t"].discriminative_power(0.05), 3)
    0.667
    """
    from gainful.analyses.sensitivity.compute import checked, computed
    from gainful.engine import open_engine

    methods = checked(methods, alpha, resamples)
    with open_engine(options.get("engine", "local")) as work:
        scores = scores_of(source, runs, measures, options)
        return computed(scores, settings_of(sensitivity, locals(), scores), work)
