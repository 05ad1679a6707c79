"""How far judges agree: on labels, and on what follows from them for runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from gainful.data.policies import Gaps
from gainful.errors import GainfulError, check_finite, check_share, setting
from gainful.stats.choices import Correction
from gainful.verbs.source import DEFAULT_MEASURES, Measures, Options, check_options

if TYPE_CHECKING:
    from gainful.analyses.judges.result import Judges


def judges(
    qrels: Any,
    *others: Any,
    runs: Any = (),
    measures: Measures = None,
    rel: float = 1.0,
    alpha: float = 0.05,
    correction: Correction = "holm",
    confidence: float = 0.95,
    resamples: int = 1000,
    p: float = 0.9,
    seed: int = 0,
    gaps: Gaps = "error",
    **options: Unpack[Options],
) -> Judges:
    """Compare judges, such as assessors, crowds or LLMs: their labels, and what follows from them for runs.

    Parameters
    ----------
    qrels
        The judgments that the others are held against: those you trust most.
    *others
        Judgments of other judges, of the same pairs of topics and documents or of some of them. In Python, judges may
        have names: ``{"assessor": …, "llm": …}``.
    runs
        Runs to be scored with the judgments of each judge.
    measures
        What to score the runs by.
    rel
        Labels from this on are relevant, for sensitivity and specificity.
    alpha
        A difference of two runs is significant if its corrected p-value (paired t-test) is below this.
    correction
        For testing many pairs of runs: holm, bonferroni, bh (Benjamini-Hochberg) or none.
    confidence
        Of the intervals.
    resamples
        How many times topics are drawn with replacement, for the intervals of what labels are compared by.
    p
        Persistence of RBO, between 0 and 1: the smaller, the more the very top decides.
    seed
        Where the random numbers start.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs).
    **options
        See `Options`.

    Returns
    -------
    Judges
        Agreement of labels with intervals; with runs, their scores under each judge, how far orders and tests agree,
        the bias of each run, and means that a judge of more topics helps to estimate.

    Notes
    -----
    *Labels.* Of two judges what both have judged counts. Cohen's κ is plain, or weighted by the difference of two
    labels (linear) or its square (quadratic). Krippendorff's α takes any number of judges with gaps; its levels are
    nominal, ordinal and interval. Sensitivity is the share of the documents relevant by the first judge that the other
    calls relevant, specificity that of the nonrelevant ones. The judgments of a topic depend on each other, so topics
    are resampled; the ends are percentiles.

    *Conclusions.* Runs are scored on the topics that both have judged. A run's bias is by how much the other judge
    scores it higher than the first does, less the mean of that over all runs: it is above 0 for a run that the other
    judge favours. Its interval is Student's.

    *Many cheap labels, few good ones.* Where another judge has also judged topics that the first has not, means and
    differences of runs are estimated from both (prediction-powered inference, Angelopoulos et al. 2023): the other
    judge's scores of all topics, corrected by what the first judge says of some. If the topics with good judgments are
    a random choice of all, a biased judge does not bias the result, and the interval is on average no wider than that
    of the good topics alone. Both are Student's, corrected for skewness (Hall 1992). See `gainful.stats.prediction`.

    Examples
    --------
    >>> good = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1, "e": 0}}
    >>> cheap = {"1": {"a": 2, "b": 1, "c": 1}, "2": {"a": 0, "d": 1, "e": 1}}
    >>> found = judges(good, cheap)
    >>> round(found.agreement().value("kappa"), 3), round(found.agreement().value("specificity"), 3)
    (0.5, 0.333)
    """
    from gainful.analyses.judges.compute import computed
    from gainful.measures import parse_measures

    check_options(options)
    if measures and isinstance(runs, list | tuple) and not runs:
        raise GainfulError(f"{setting('measures')}: expected {setting('runs')} with it, what is to be scored")
    check_finite("rel", rel)
    for name, value in {"alpha": alpha, "confidence": confidence, "p": p}.items():
        check_share(name, value)
    chosen = tuple(map(str, parse_measures(measures or DEFAULT_MEASURES)))
    return computed((qrels, *others), runs, chosen, judges, {**locals(), "runs": None, "measures": chosen}, options)
