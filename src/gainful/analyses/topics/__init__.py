"""Topic-set size: how many topics an experiment needs, from the variances of an earlier one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from gainful.data.policies import Gaps
from gainful.errors import GainfulError, check_choice, check_count, check_share, setting
from gainful.verbs.source import Measures, Options, scores_of, settings_of

if TYPE_CHECKING:
    from gainful.analyses.topics.result import TopicsNeeded

Method = Literal["t", "anova", "interval"]


def topics(
    source: Any,
    runs: Any = None,
    measures: Measures = None,
    *,
    difference: float = 0.05,
    alpha: float = 0.05,
    power: float = 0.8,
    method: Method = "t",
    systems: int | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    gaps: Gaps = "error",
    **options: Unpack[Options],
) -> TopicsNeeded:
    """Find out how many topics a t-test, an ANOVA or a confidence interval needs.

    Topic set size design (Sakai 2016), with the variances of these scores taken for the true ones and scores taken as
    normal; the powers are those of the noncentral t and F distributions. t and interval are paired: they use the
    variance of the differences between two runs on the same topic, 2·MS(rest) of the two-way analysis, which is its
    mean over all pairs (`pairs()` has each of them). anova is one-way and unpaired: it uses the variance within runs,
    topics included, and the least noncentrality that a range has, n·difference²/(2σ²). Without any variance 2 topics
    do.

    The formula is exact for normal scores and a variance that is known. Beside it there are the interval of its number,
    since the variance comes from few topics; the numbers that some shares of the pairs need; and the power in
    experiments drawn from these scores as they are.

    Parameters
    ----------
    source, runs, measures
        Judgments, runs and what to compute; or `Rankings` and measures; or scores: `Scores`, a table, its file, or an
        array of runs × topics.
    difference
        What must be found: the difference of two runs' mean scores (t), the range of the means of all runs (anova);
        or, for interval, the full width, from end to end, that the interval of a difference may have on average.
    alpha
        Level of the test, or 1 - the confidence of the interval.
    power
        The probability with which a true difference of that size must be found; interval does not use it.
    method
        t (paired t-test, two-sided), anova (one-way, of several runs) or interval (width of the confidence interval
        of a difference).
    systems
        How many runs an ANOVA compares, with method anova; as many as there are if not given.
    confidence
        Of the interval of the number of topics, for which the topics there are are resampled.
    resamples
        How many resamples, and how many simulated experiments.
    seed
        Where the random numbers start.
    gaps
        A topic that some run has no score for: error, or drop to leave it out for all runs.
    **options
        See `Options`.

    Returns
    -------
    TopicsNeeded
        One result per measure.

    References
    ----------
    Sakai, Topic set size design, Information Retrieval Journal 19, 2016.

    Examples
    --------
    >>> result = topics([[0.1, 0.2, 0.4], [0.3, 0.5, 0.6], [0.2, 0.5, 0.5]], difference=0.05)
    >>> result["score"].needed
    23
    """
    from gainful.analyses.topics.compute import computed
    from gainful.stats.resample import check_resamples, generator

    check_choice("method", method, get_args(Method))
    if not (difference > 0 and math.isfinite(difference)):
        raise GainfulError(f"difference: expected a number above 0, got {difference}")
    check_share("alpha", alpha)
    check_share("power", power)
    check_share("confidence", confidence)
    check_resamples(resamples)
    generator(seed)
    if systems is not None:
        check_count("systems", systems, least=2)
        if method != "anova":
            raise GainfulError(
                f"systems: expected none for {setting('method', method)}, which compares two at a time, got {systems}"
            )
    scores = scores_of(source, runs, measures, options)
    return computed(scores, settings_of(topics, locals(), scores))
