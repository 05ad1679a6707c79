"""Read a run, sweep the threshold over its scores, and choose one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gainful.data.notes import failure_notes, notes_of
from gainful.data.policies import Policies
from gainful.data.rankings import FloatArray, Rankings
from gainful.errors import DataError, GainfulError, MeasureError, check_count, check_share, is_number, setting
from gainful.io.read import read_run
from gainful.measures import Measure, parse_measure
from gainful.measures.gains import gains
from gainful.results import Note, Settings, plural
from gainful.stats.resample import check_resamples
from gainful.tune.threshold import ThresholdOptions
from gainful.tune.threshold.choose import Rule, bootstrap, cross_validate, order_interval
from gainful.tune.threshold.documents import ScoredDocuments, scored_documents
from gainful.tune.threshold.result import Threshold
from gainful.tune.threshold.risk import Risk, check_enough, check_forbidden, check_risk
from gainful.tune.threshold.sweep import GAIN_FAMILY, Sweep, sweep
from gainful.tune.threshold.tradeoff import ThresholdCurve
from gainful.verbs.source import check_options, policies_of, rankings_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SweptRun:
    """A run at every threshold."""

    run: str
    filter_run: str | None
    measure: Measure
    policies: Policies
    below: float  # labels below this are forbidden
    # The documents of the run, and what the sweep over their scores found.
    documents: ScoredDocuments
    found: Sweep

    def settings(self, function: Callable[..., Any], given: Mapping[str, Any]) -> Settings:
        """What repeats a result of `function`, which was called with `given`."""
        known = {**given, "measure": str(self.measure), "filter_run": self.filter_run}
        data = f"{self.run}, {plural(int(self.found.topics.sum()), 'topic')}"
        rankings = self.documents.rankings
        notes = (*failure_notes(rankings.failed), *notes_of(rankings), *_ranks(self.documents.thresholds, self.run))
        settings = Settings.of(function, known, data=data, policies=self.policies, notes=notes)
        return replace(settings, name=f"threshold {function.__name__}")

    def curve(self, settings: Settings) -> ThresholdCurve:
        """The means over topics."""
        cutoff = self.measure.parameters.get("cutoff")
        return ThresholdCurve(
            run=self.run,
            cutoff=cutoff if isinstance(cutoff, int) else None,
            below=self.below,
            higher=self.measure.definition.higher,
            topics=int(self.found.topics.sum()),
            documents=int(self.documents.admits.sum()),
            thresholds=np.concatenate([[np.inf], self.documents.thresholds]),
            kept=self.documents.kept(),
            score=self.found.score.mean(),
            forbidden=self.found.forbidden.mean(),
            filtered_good=self.found.filtered_good.mean(),
            empty=self.found.empty.mean(),
            exact=self.found.exact,
            settings=settings,
        )

    def best(self, settings: Settings) -> Threshold:
        """The best threshold within the limits of the settings, and what it is worth."""
        most, confidence, seed = settings["max_forbidden"], settings["confidence"], settings["seed"]
        curve, found, documents = self.curve(settings), self.found, self.documents
        forbidden_judged = self._forbidden_judged(settings)
        risk = self._risk(settings["risk"], settings["risk_confidence"])
        rule = Rule(
            documents=documents,
            topics=found.topics,
            score=found.score,
            lower=curve.higher == "worse",
            most_gained=float(np.ptp(self.measure.bounds or (-np.inf, np.inf))),
            forbidden=None if most is None else found.forbidden,
            most=1.0 if most is None else most,
            risk=risk,
        )
        number = int(rule.best(np.ones((1, curve.topics)))[0])
        sign = -1.0 if rule.lower else 1.0
        gain = sign * (found.score.scores(number) - found.score.scores(len(curve) - 1))
        numbers, gains = bootstrap(rule, gain, resamples=settings["resamples"], seed=seed)
        return Threshold(
            threshold=float(documents.threshold(np.array(number))),
            number=number,
            curve=curve,
            gain=float(gain.mean()),
            threshold_interval=order_interval(documents.threshold(numbers), confidence),
            gain_interval=order_interval(gains, confidence),
            held_out=cross_validate(
                rule,
                found.forbidden,
                numbers,
                folds=settings["folds"],
                repeats=settings["repeats"],
                confidence=confidence,
                seed=seed,
            ),
            safe_from=None if risk is None else self._safe_from(risk, number),
            forbidden_judged=forbidden_judged,
            settings=settings,
        )

    def _forbidden_judged(self, settings: Settings) -> int:
        """How many judged documents are forbidden; refused where limits are set on what does not exist."""
        rankings = self.documents.rankings
        number = int((np.append(rankings.grades < self.below, False)[rankings.pool_grade]).sum())
        for name in ("risk", "max_forbidden"):
            if settings[name] is not None:
                check_forbidden(name, number, f", or {setting('forbidden_below', 1)} where a label of 0 is bad")
        return number

    def _risk(self, most: float | None, confidence: float | None) -> Risk | None:
        loss, topics, places = self.found.loss, int(self.found.topics.sum()), self.measure.parameters.get("cutoff")
        if most is None:
            return None
        if loss is None or not isinstance(places, int):
            raise MeasureError(
                f"risk is about the first k places, and {self.measure} has no cutoff: write {self.measure}@10, say"
            )
        check_enough(most, confidence, topics)
        return Risk(loss=loss, places=places, most=most, confidence=confidence)

    def _safe_from(self, risk: Risk, number: int) -> tuple[float, float]:
        """The lowest threshold within the risk, and the estimate of the loss at the chosen one."""
        everyone, numbers = np.ones((1, len(risk.loss.base))), np.arange(risk.loss.size + 1)
        allowed = int(np.flatnonzero(risk.allowed(everyone, numbers)[0])[-1])  # the loss never falls
        estimate = risk.estimate(everyone, numbers)[0, number]
        return float(self.documents.threshold(np.array(allowed))), float(estimate)


def _ranks(thresholds: FloatArray, run: str) -> list[Note]:
    """Who gives no scores is taken at his ranks: -1 for the first document, -2 for the second."""
    if len(thresholds) < 2 or not np.array_equal(thresholds, -np.arange(1.0, len(thresholds) + 1.0)):
        return []
    text = f"Run {run!r} has ranks, but no scores: from score -3, say, the first 3 documents of each topic are kept."
    return [Note("ranks-as-scores", run, text)]


def sweep_run(
    qrels: Any,
    run: Any,
    filter_run: Any,
    measure: str | Measure,
    options: Mapping[str, Any],
    *,
    directed: bool,
    below: float | None,
) -> SweptRun:
    """Read, join and sweep, over the topics that count.

    `directed`: a threshold is to be chosen, so that high values of the measure must be good or bad, and every document
    is needed to tell what it would be on some of the topics. Documents with a label `below` this are forbidden; None
    stands for what `forbidden_labels` says.
    """
    if below is not None and not is_number(below):
        raise GainfulError(f"{setting('forbidden_below')}: expected a label such as 1, got {below!r}")
    check_options(options, ThresholdOptions)
    chosen = parse_measure(measure)
    if chosen.definition.summary != "mean":
        raise MeasureError(f"{chosen} is not averaged over topics: expected a measure such as nDCGf@3")
    if directed and chosen.definition.higher == "neither":
        raise MeasureError(f"{chosen} is neither better high nor low: expected a measure such as nDCGf@3")
    named = 0 if filter_run is None else math.inf  # to be found in the filter run
    rankings = rankings_of(qrels, run, options, documents=named, scores=True)  # type: ignore[arg-type]
    policies = policies_of(options, **rankings.policies.to_dict())
    check_options(policies.to_dict(), ThresholdOptions)
    if len(rankings.systems) != 1:
        raise DataError(f"expected one run to cut, got {len(rankings.systems)}: {', '.join(rankings.systems)}")
    filters = None if filter_run is None else read_run(filter_run, columns=options.get("columns"))
    cutoff = chosen.parameters.get("cutoff")
    shallow = isinstance(cutoff, int) and filters is None and not directed and chosen.definition.function in GAIN_FAMILY
    documents = scored_documents(rankings, filters, cutoff if shallow else None)  # type: ignore[arg-type]
    below = forbidden_labels(rankings, chosen) if below is None else float(below)
    found = sweep(documents, chosen, policies, below)
    if not found.topics.any():
        raise DataError(f"{chosen} is undefined for all topics, and {setting('degenerate', 'skip')} leaves them out")
    return SweptRun(
        run=rankings.systems[0],
        filter_run=None if filters is None else filters.name,
        measure=chosen,
        policies=policies,
        below=below,
        documents=documents,
        found=found,
    )


def forbidden_labels(rankings: Rankings, measure: Measure) -> float:
    """Below which label documents are forbidden: 0, or a higher one up to which the measure has negative gains."""
    gain = measure.parameters.get("gain", "linear")
    negative = gains(rankings.grades, gain) < 0  # type: ignore[arg-type]
    number = int(negative.sum())
    if not negative[:number].all() or number <= int((rankings.grades < 0).sum()):
        return 0.0
    return float(rankings.grades[number] if number < len(negative) else np.nextafter(rankings.grades[-1], np.inf))


def check_limits(given: Mapping[str, Any]) -> None:
    """Refuse limits and settings of a fit that cannot be."""
    most = given["max_forbidden"]
    if most is not None and not (is_number(most) and 0.0 <= most <= 1.0):
        raise GainfulError(f"max_forbidden: expected a share from 0 to 1, got {most!r}")
    check_risk(given["risk"], given["risk_confidence"])
    check_share("confidence", given["confidence"])
    check_count("folds", given["folds"], least=2)
    check_count("repeats", given["repeats"])
    check_resamples(given["resamples"])
