"""Where to cut a run: the threshold on its scores that is best for a measure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from gainful.data.policies import Duplicates, Missing, Unjudged
from gainful.errors import check_choice
from gainful.verbs.source import RunOptions

if TYPE_CHECKING:
    from gainful.data.run import Run
    from gainful.measures import Measure
    from gainful.tune.threshold.result import Threshold
    from gainful.tune.threshold.tradeoff import ThresholdCurve


class ThresholdOptions(RunOptions, total=False):
    """How judgments and a run are joined, and which file it is in.

    Parameters
    ----------
    keep_going, include, exclude, recursive, columns, ignore_identical_ids
        See `RunOptions`.
    ties
        Documents with equal scores: trec (by document id, as trec_eval) or order (as in the run). They are kept or
        filtered together.
    unjudged, missing, duplicates
        See `Policies`.
    degenerate
        Where the measure is undefined: zero, one or skip.
    """

    ties: Literal["trec", "order"]
    unjudged: Unjudged
    missing: Missing
    degenerate: Literal["zero", "one", "skip"]
    duplicates: Duplicates


def fit(
    qrels: Any,
    run: Any = None,
    *,
    measure: str | Measure = "nDCGf@3",
    filter_run: Any = None,
    forbidden_below: float | None = None,
    max_forbidden: float | None = None,
    risk: float | None = None,
    risk_confidence: float | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    folds: int = 5,
    repeats: int = 20,
    seed: int = 0,
    **options: Unpack[ThresholdOptions],
) -> Threshold:
    """Find where to cut a run: the threshold on its scores that is best for a measure, and what it is worth.

    Parameters
    ----------
    qrels, run
        Judgments and the run to cut; or `Rankings` of one run, joined with ``scores=True``.
    measure
        What the kept documents should be best at, such as nDCGf@3; any measure that is averaged over topics.
    filter_run
        A run with other scores for the same documents: those filter, and the scores of the run only rank.
    forbidden_below
        Judged documents with a label below this are forbidden: 1 where labels are 0 and 1. By default those with a
        negative label, or with a negative gain by the measure, as 0 has in nDCGf(gain={0: -1})@3.
    max_forbidden
        The largest mean share of forbidden documents among those shown (up to the measure's cutoff), on these topics.
    risk
        The largest expected share of the first k places (k the measure's cutoff) that hold a forbidden document on
        another topic: a guarantee, on average over the topics that a threshold is fitted on and new topics. It needs
        at least 1/risk - 1 topics, and a forbidden document among those judged.
    risk_confidence
        The probability, over the topics that a threshold is fitted on, with which the risk is kept to on new topics,
        such as 0.9: a stronger guarantee. It needs at least log(1 - risk_confidence)/log(1 - risk) topics.
    resamples
        How many bootstrap samples of the topics.
    confidence
        Of all intervals.
    folds
        Into how many folds topics are divided for the held-out estimate, each left out in turn.
    repeats
        How many times they are.
    seed
        Where the random numbers start.
    **options
        See `ThresholdOptions`.

    Returns
    -------
    Threshold
        The threshold, its curve, intervals, the held-out gain, and a guarantee where one was asked for.

    Notes
    -----
    With one score, what is kept is the start of the ranking, ranks do not change, and the mean of nDCGf@k (of any
    measure of the gain family) is a sum over the documents kept: its maximum over all thresholds is exact, by adding up
    in the order of scores. With a filter run, the first k of every topic are kept up to date while documents are
    admitted by descending filter score. Other measures are computed on every list that a threshold can leave; where
    those are too many, on a grid of thresholds, and the result says so. Of equally good thresholds the one that keeps
    most is chosen, and given as the lowest score that is kept: nothing is cut without a reason.

    The interval of the threshold is that of the thresholds chosen from resampled topics. The interval of the gain is
    for the chosen threshold, which has seen these topics; the held-out gain is for thresholds that have not. Its
    interval is of the gain that the chosen threshold can be expected to have on new topics. It is Student's, corrected
    for skewness (Hall 1992), with the variance and the skewness of a topic's gain at the thresholds that the resampled
    topics choose, averaged over these.

    risk: with R̂ the mean over n topics of (forbidden in the first k)/k, the thresholds with (n·R̂ + 1)/(n + 1) ≤ risk
    (and all above them) are allowed, and the best of them is chosen (Angelopoulos et al., Conformal risk control,
    ICLR 2024). With risk_confidence = 1 - δ, thresholds are tested from strict to loose, each with the
    Hoeffding-Bentkus p-value of "the expected loss is above risk", until one is above δ (Angelopoulos et al., Learn
    then test, 2021). The loss must not grow with the threshold; with a filter run, where cutting one document moves
    others up, each topic's loss is therefore the largest at this or any higher threshold.

    Examples
    --------
    >>> import gainful as gf
    >>> qrels = {"1": {"a": 1, "b": -2}, "2": {"c": -2, "d": 2}, "3": {"e": 1, "f": 0}}
    >>> run = {"1": {"a": 0.9, "b": 0.3}, "2": {"d": 0.8, "c": 0.4}, "3": {"e": 0.5, "f": 0.1}}
    >>> fitted = gf.threshold.fit(qrels, run, measure="nDCGf@3")
    >>> fitted.threshold, round(fitted.gain, 3)
    (0.5, 0.245)
    >>> gf.threshold.apply(run, fitted)
    Run('run': 3 documents, 3 topics)
    """
    from gainful.tune.threshold.compute import check_limits, sweep_run

    given = locals()
    check_limits(given)
    swept = sweep_run(qrels, run, filter_run, measure, options, directed=True, below=forbidden_below)
    return swept.best(swept.settings(fit, given))


def apply(
    run: Any,
    cut: Threshold | str | os.PathLike[str] | None = None,
    *,
    threshold: float | None = None,
    filter_run: Any = None,
    duplicates: Duplicates | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Cut a run: keep the documents whose score reaches a threshold.

    Parameters
    ----------
    run
        The run to cut.
    cut
        What `threshold.fit` found, or the file that it was saved to.
    threshold
        The threshold itself, instead of a fitted one.
    filter_run
        A run with other scores for the same documents, to filter by.
    duplicates
        A document twice in a topic: error or first; if not given, as when the threshold was fitted, and else error.
    **options
        See `RunOptions`: which file the run is in.

    Returns
    -------
    Run
        The documents with at least that score, in their order and with their scores. Topics may be empty, and gone.

    Notes
    -----
    Scores are compared as they are. That a threshold fitted under ties='trec' keeps scores together that are equal as
    float32 holds for the run that it was fitted on: the threshold is the lowest of them there, and another run may have
    one below it that is equal as float32.

    Examples
    --------
    >>> import gainful as gf
    >>> gf.threshold.apply({"1": {"a": 0.9, "b": 0.3}}, threshold=0.5).frame["doc_id"].to_list()
    ['a']
    """
    from gainful import _polars as pl
    from gainful.data.run import Run
    from gainful.io.read import read_run
    from gainful.tune.threshold.documents import filter_scores
    from gainful.tune.threshold.saved import check_same_run, chosen_threshold, each_once
    from gainful.verbs.source import check_options, one_run

    check_options(options, RunOptions)

    value, found_under, fitted = chosen_threshold(cut, threshold, filtered=filter_run is not None)
    if duplicates is not None:
        check_choice("duplicates", duplicates, get_args(Duplicates))
    whole = one_run(run, options)
    frame = each_once(whole, duplicates or found_under)
    score, scored = frame["score"].to_numpy(), whole
    if filter_run is not None:
        scored = read_run(filter_run)
        score = filter_scores(frame, whole.name, scored)
    check_same_run(fitted, scored)
    return Run(frame.filter(pl.Series(score >= value)), whole.name)


def curve(
    qrels: Any,
    run: Any = None,
    *,
    measure: str | Measure = "nDCGf@3",
    filter_run: Any = None,
    forbidden_below: float | None = None,
    **options: Unpack[ThresholdOptions],
) -> ThresholdCurve:
    """Show what every threshold on a run's scores gains and costs.

    Parameters
    ----------
    qrels, run
        Judgments and the run; or `Rankings` of one run, joined with ``scores=True``.
    measure
        What to compute beside Forbidden, FilteredGood and Empty; any measure that is averaged over topics.
    filter_run
        A run with other scores for the same documents: those filter, and the scores of the run only rank.
    forbidden_below
        See `fit`.
    **options
        See `ThresholdOptions`.

    Returns
    -------
    ThresholdCurve
        The means at every threshold.

    Examples
    --------
    >>> import gainful as gf
    >>> found = gf.threshold.curve({"1": {"a": 1, "b": -2}}, {"1": {"a": 0.9, "b": 0.3}}, measure="nDCGf@3")
    >>> found.thresholds.tolist(), found.score.round(3).tolist(), found.forbidden.tolist()
    ([inf, 0.9, 0.3], [0.667, 1.0, 0.579], [0.0, 0.0, 0.5])
    """
    from gainful.tune.threshold.compute import sweep_run

    given = locals()
    swept = sweep_run(qrels, run, filter_run, measure, options, directed=False, below=forbidden_below)
    return swept.curve(swept.settings(curve, given))
