"""Where to cut a result list: the threshold on its scores that is best for a measure."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from gainful.checks import check_count
from gainful.data.policies import Degenerate, Duplicates, Missing, Policies, Ties, Unjudged
from gainful.errors import DataError, GainfulError, MeasureError, PolicyError
from gainful.io.read import read_qrels, read_run
from gainful.measures import Measure, parse_measure
from gainful.stats.intervals import check_confidence
from gainful.stats.resample import check_resamples
from gainful.tune.threshold.choose import CLOSE, Rule, bootstrap, bound, cross_validate, order_interval
from gainful.tune.threshold.curve import ThresholdCurve, make_curve
from gainful.tune.threshold.documents import Listing, make_listing
from gainful.tune.threshold.result import Threshold
from gainful.tune.threshold.sweep import Steps, Sweep, sweep


def fit_threshold(
    qrels: Any,
    run: Any,
    *,
    measure: str | Measure = "nDCGf@3",
    filter_run: Any = None,
    max_forbidden: float | None = None,
    risk: float | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    folds: int = 5,
    repeats: int = 20,
    seed: int = 0,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
) -> Threshold:
    """Find where to cut a run: the threshold on its scores that is best for a measure, and what it is worth.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
    run
        The run to cut: a file, a dict or a frame.
    measure
        What the kept documents should be best at, such as nDCGf@3; any measure that is averaged over topics.
    filter_run
        A run with other scores for the same documents: those filter, and the scores of the run only rank.
    max_forbidden
        The largest mean share of forbidden documents among those shown (up to the measure's cutoff), on these topics.
    risk
        The largest expected share of the first k places (k the measure's cutoff) that hold a forbidden document on
        another topic: a guarantee, which needs at least 1/risk - 1 topics.
    resamples
        How many bootstrap samples of the topics.
    confidence
        Of all intervals.
    folds
        Into how many parts topics are divided for the held-out estimate, each left out in turn.
    repeats
        How many times they are.
    seed
        Where the random numbers start.
    ties
        Documents with equal scores: trec (by document id, as trec_eval) or order (as in the run). They are kept or cut
        together.
    unjudged
        Documents without a judgment: zero (label 0, holding their rank) or condensed (removed before ranking).
    missing
        Judged topics that the run has nothing for: empty (scored as an empty ranking), skip or error.
    degenerate
        Where the measure is undefined: zero, one or skip.
    duplicates
        A document twice in a topic: error or first.

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
    for the chosen threshold, which has seen these topics; the held-out gain is for thresholds that have not.

    risk: with R̂ the mean over n topics of (forbidden in the first k)/k, the thresholds with (n·R̂ + 1)/(n + 1) ≤ risk
    (and all above them) are allowed, and the best of them is chosen (Angelopoulos et al., Conformal risk control,
    ICLR 2024). The loss must not grow with the threshold; with a filter run, where cutting one document moves others
    up, each topic's loss is therefore the largest at this or any higher threshold.

    Examples
    --------
    >>> qrels = {"1": {"a": 1, "b": -2}, "2": {"c": -2, "d": 2}, "3": {"e": 1, "f": 0}}
    >>> run = {"1": {"a": 0.9, "b": 0.3}, "2": {"d": 0.8, "c": 0.4}, "3": {"e": 0.5, "f": 0.1}}
    >>> cut = fit_threshold(qrels, run, measure="nDCGf@3")
    >>> cut.threshold, round(cut.gain, 3)
    (0.5, 0.245)
    >>> import gainful as gf
    >>> gf.apply_threshold(run, cut)
    Run('run': 3 documents, 3 topics)
    """
    _check(max_forbidden=max_forbidden, risk=risk, confidence=confidence, folds=folds, repeats=repeats)
    check_resamples(resamples)
    policies = _policies(ties, unjudged, missing, degenerate, duplicates)
    chosen = _measure(measure)
    listing, found, curve = _swept(qrels, run, filter_run, chosen, policies)
    loss = None if risk is None else _loss(found, chosen, risk, curve.topics)
    rule = Rule(
        listing=listing,
        topics=found.topics,
        score=found.score,
        lower=chosen.definition.higher == "worse",
        forbidden=None if max_forbidden is None else found.forbidden,
        most=1.0 if max_forbidden is None else max_forbidden,
        loss=loss,
        risk=1.0 if risk is None else risk,
    )
    number = int(rule.best(np.ones((1, curve.topics)))[0])
    sign = -1.0 if rule.lower else 1.0
    gain = sign * (found.score.scores(number) - found.score.scores(len(curve) - 1))
    drawn = bootstrap(rule, gain, resamples=resamples, seed=seed)
    return Threshold(
        threshold=float(listing.threshold(np.array(number))),
        number=number,
        curve=curve,
        gain=float(gain.mean()),
        threshold_interval=order_interval(listing.threshold(drawn.numbers), confidence),
        gain_interval=order_interval(drawn.gains, confidence),
        held_out=cross_validate(rule, found.forbidden, folds=folds, repeats=repeats, confidence=confidence, seed=seed),
        max_forbidden=max_forbidden,
        risk=risk,
        safe_from=None if loss is None or risk is None else _safe_from(loss, risk, listing, number),
        forbidden_judged=int((np.append(listing.rankings.grades < 0, False)[listing.rankings.pool_grade]).sum()),
        confidence=confidence,
        resamples=resamples,
        folds=folds,
        repeats=repeats,
        seed=seed,
    )


def threshold_curve(
    qrels: Any,
    run: Any,
    *,
    measure: str | Measure = "nDCGf@3",
    filter_run: Any = None,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
) -> ThresholdCurve:
    """Show what every threshold on a run's scores gains and costs.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
    run
        The run to cut: a file, a dict or a frame.
    measure
        What to compute beside Forbidden, FilteredGood and Empty; any measure that is averaged over topics.
    filter_run
        A run with other scores for the same documents: those filter, and the scores of the run only rank.
    ties
        Documents with equal scores: trec (by document id, as trec_eval) or order (as in the run). They are kept or cut
        together.
    unjudged
        Documents without a judgment: zero (label 0, holding their rank) or condensed (removed before ranking).
    missing
        Judged topics that the run has nothing for: empty (scored as an empty ranking), skip or error.
    degenerate
        Where the measure is undefined: zero, one or skip.
    duplicates
        A document twice in a topic: error or first.

    Returns
    -------
    ThresholdCurve
        The means at every threshold.

    Examples
    --------
    >>> curve = threshold_curve({"1": {"a": 1, "b": -2}}, {"1": {"a": 0.9, "b": 0.3}}, measure="nDCGf@3")
    >>> curve.thresholds.tolist(), curve.score.round(3).tolist(), curve.forbidden.tolist()
    ([inf, 0.9, 0.3], [0.667, 1.0, 0.579], [0.0, 0.0, 0.5])
    """
    policies = _policies(ties, unjudged, missing, degenerate, duplicates)
    chosen = parse_measure(measure)
    _check_averaged(chosen)
    return _swept(qrels, run, filter_run, chosen, policies)[2]


def _swept(
    qrels: Any, run: Any, filter_run: Any, measure: Measure, policies: Policies
) -> tuple[Listing, Sweep, ThresholdCurve]:
    """Read, join and sweep, over the topics that count."""
    run = read_run(run)
    filters = None if filter_run is None else read_run(filter_run)
    qrels = read_qrels(qrels)
    listing = make_listing(qrels, run, filters, policies)
    found = sweep(listing, measure, policies)
    if not found.topics.any():
        raise DataError(f"{measure} is undefined for all topics of qrels {qrels.name!r}, and degenerate='skip'")
    curve = make_curve(
        listing, found, measure, run=run.name, filter_run=filters.name if filters else None, policies=policies
    )
    return listing, found, curve


def _loss(found: Sweep, measure: Measure, risk: float, topics: int) -> Steps:
    if found.loss is None:
        raise MeasureError(f"risk is about the first k places, and {measure} has no cutoff: write {measure}@10, say")
    if 1.0 / (topics + 1) > risk + CLOSE:  # what `bound` is at best, allowed as in `Rule`
        needed = int(np.ceil(1.0 / (risk + CLOSE) - 1.0))
        raise GainfulError(
            f"risk={risk:g} cannot be guaranteed from {topics} topics, whatever the threshold: it takes {needed}"
        )
    return found.loss


def _safe_from(loss: Steps, risk: float, listing: Listing, number: int) -> tuple[float, float]:
    """The lowest threshold within the risk, and the bound at the chosen one."""
    limits = bound(loss, np.ones((1, len(loss.base))), np.arange(loss.size + 1))[0]
    allowed = int(np.flatnonzero(limits <= risk + CLOSE)[-1])  # they never fall
    return float(listing.threshold(np.array(allowed))), float(limits[number])


def _policies(
    ties: Ties, unjudged: Unjudged, missing: Missing, degenerate: Degenerate, duplicates: Duplicates
) -> Policies:
    policies = Policies(ties=ties, unjudged=unjudged, missing=missing, degenerate=degenerate, duplicates=duplicates)
    if ties == "expected":
        raise PolicyError("ties='expected' has no one order to cut: use ties='trec' or ties='order'")
    if degenerate == "nan":
        raise PolicyError("degenerate='nan' leaves no mean to compare: use zero, one or skip")
    return policies


def _measure(text: str | Measure) -> Measure:
    measure = parse_measure(text)
    _check_averaged(measure)
    if measure.definition.higher == "neither":
        raise MeasureError(f"{measure} is neither better high nor low: expected a measure such as nDCGf@3")
    return measure


def _check_averaged(measure: Measure) -> None:
    if measure.definition.summary != "mean":
        raise MeasureError(f"{measure} is not averaged over topics: expected a measure such as nDCGf@3")


def _check(*, max_forbidden: float | None, risk: float | None, confidence: float, folds: int, repeats: int) -> None:
    if max_forbidden is not None and not (_is_number(max_forbidden) and 0.0 <= max_forbidden <= 1.0):
        raise GainfulError(f"max_forbidden: expected a share from 0 to 1, got {max_forbidden!r}")
    if risk is not None and not (_is_number(risk) and 0.0 < risk < 1.0):
        raise GainfulError(f"risk: expected a share between 0 and 1, got {risk!r}")
    check_confidence(confidence)
    check_count("folds", folds, least=2)
    check_count("repeats", repeats)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
