"""What is on the page: everything computed by the layers below, gathered into one dict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gainful._version import __version__
from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.data.scores import Scores
from gainful.errors import DataError, MeasureError, PolicyError
from gainful.measures import Measure
from gainful.pages.analyses import ANALYSES, Analysis, Content, Task, attempt
from gainful.pages.command import command_line, python_line
from gainful.pages.why import reasons
from gainful.progress import track
from gainful.verbs.compare import compare
from gainful.verbs.compare.result import Comparison
from gainful.verbs.evaluate import evaluate

# Rankings that are explained: more make a page too large to open.
MOST_RANKINGS = 30_000
# Twice as many as are shown, so that what is shown, and which side of alpha a p-value lies on, is as computed.
DIGITS = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inputs:
    """What a report is about, read already.

    Parameters
    ----------
    qrels, runs, measures, policies
        As for `report`.
    settings
        baseline, test, correction, confidence, alpha, cutoff, resamples, trials, seed, gaps.
    sources
        The words that stand for the qrels and the runs on a command line; None if they did not come from files.
    """

    qrels: Qrels
    runs: Sequence[Run]
    measures: Sequence[Measure]
    policies: Policies
    settings: dict[str, Any]
    sources: tuple[str, ...] | None


def gather(given: Inputs) -> Content:
    """Evaluate, compare, analyse and explain: all that the page shows, ready for JSON."""
    contents: Content = {}
    findings: list[str] = []
    found: dict[str, Any] = {}

    def scoring() -> None:
        policies: dict[str, Any] = dict(given.policies.to_dict())
        scores = evaluate(given.qrels, list(given.runs), list(given.measures), **policies)
        averaged = [name for name, how in zip(scores.measures, scores.summaries, strict=True) if how != "gmean"]
        found["scores"] = scores
        found["task"] = Task(
            qrels=given.qrels,
            runs=given.runs,
            scores=scores.only(averaged) if averaged else scores,
            measures=[measure for measure in given.measures if str(measure) in averaged],
            policies=given.policies,
            settings=given.settings,
            findings=findings,
        )
        contents.update(_about(given, scores), scores=_scores(scores))

    def comparing() -> None:
        contents["comparison"] = _comparison(found["task"], given.settings, findings)
        contents["notes"] += _dropped(contents["comparison"], len(found["scores"].topics))
        contents["notes"] += [f"{text}." for text in contents["comparison"].get("notes", ())]
        if "absent" in contents["comparison"]:
            findings.extend(_alone(found["scores"]))

    def explaining() -> None:
        contents["why"] = _why(given, found["scores"])

    sections: dict[str, Content] = {}

    def analysing(key: str, analysis: Analysis) -> None:
        sections[key] = attempt(analysis, found["task"])

    analyses = [partial(analysing, key, analysis) for key, *_, analysis in ANALYSES]
    steps: list[Callable[[], None]] = [scoring, comparing, *analyses, explaining]
    for step in track(steps, len(steps), "Making the report"):
        step()
    contents["analyses"] = [
        {"id": key, "title": title, "lead": lead, "command": command, **sections[key]}
        for key, title, lead, command, _ in ANALYSES
    ]
    contents["notes"] += [f"{text}." for text in sections["sensitivity"].get("notes", ())]
    contents["findings"] = findings
    contents["settings"] = given.settings
    contents["policies"] = given.policies.to_dict()
    contents["version"] = __version__
    contents["command"] = command_line(given)
    contents["python"] = python_line(given)
    return contents


def _about(given: Inputs, scores: Scores) -> Content:
    labels = given.qrels.frame["relevance"].value_counts(sort=False).drop_nulls().sort("relevance")
    runs = len(scores.systems)
    topics = len(scores.topics)
    strangers = [name for name, absent in zip(scores.systems, scores.missing, strict=True) if absent == topics]
    lacking = sum(0 < absent < topics for absent in scores.missing)
    notes = []
    if len(strangers) == runs > 1:
        notes.append(f"None of the {runs} runs has any of the judged topics: do these qrels belong to them?")
    else:
        notes += [f"Run {name!r} has none of the judged topics: do these qrels belong to it?" for name in strangers[:3]]
    if lacking:
        notes.append(
            f"{lacking} of {runs} runs {'lacks' if lacking == 1 else 'lack'} some judged topics, which "
            f"are {'left out of their means' if given.policies.missing == 'skip' else 'scored as empty rankings'}."
        )
    ignored = max(scores.ignored, default=0)
    if ignored:
        notes.append(
            f"Up to {ignored} topics of a run have no judgments and are not scored."
            if ignored > 1
            else "1 topic of a run has no judgments and is not scored."
        )
    for measure, undefined in zip(scores.measures, scores.undefined, strict=True):
        if undefined:
            notes.append(
                f"{measure} is undefined in {undefined} of {len(scores.topics)} topics (degenerate: "
                f"{given.policies.degenerate})."
            )
    return {
        "qrels": given.qrels.name,
        "systems": list(scores.systems),
        "topics": list(scores.topics),
        "judgments": int(labels["count"].sum()),
        "labels": [[label, count] for label, count in labels.iter_rows()],
        "measures": [
            {
                "name": str(measure),
                "headline": measure.definition.headline,
                "higher": measure.definition.higher,
                "summary": measure.definition.summary,
                "explained": measure.explained,
            }
            for measure in given.measures
        ],
        "missing": list(scores.missing),
        "notes": notes,
    }


def _scores(scores: Scores) -> Content:
    """Per measure: the scores of systems × topics, the summary of each system, and the mean of each topic."""
    summary = scores.summary()
    return {
        name: {
            "values": [_numbers(row) for row in scores[name].values],
            "summary": _numbers(summary[at]),
            "topic_means": _numbers(_topic_means(scores[name].values)),
        }
        for at, name in enumerate(scores.measures)
    }


def _topic_means(values: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.float64]:
    """The mean over the systems that have a score."""
    there = ~np.isnan(values)
    number = there.sum(axis=0)
    total = np.where(there, values, 0.0).sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _comparison(task: Task, settings: dict[str, Any], findings: list[str]) -> Content:
    names = ("baseline", "test", "correction", "confidence", "resamples", "seed", "gaps")
    try:
        result = compare(task.scores, **{name: settings[name] for name in names})
    except (DataError, MeasureError, PolicyError) as error:
        return {"absent": f"{str(error)[:1].upper()}{str(error)[1:]}"}
    named = zip(task.scores.measures, task.scores.summaries, strict=True)
    findings.extend(_leads(result, settings["alpha"], {name for name, how in named if how == "sum"}))
    return {
        "baseline": result.baseline,
        "correction": result.correction,
        "line": str(result),
        "notes": list(result.notes),
        "measures": {
            one.measure: {
                "topics": len(one.topics),
                "mean": _numbers(one.mean),
                "low": _numbers(one.low),
                "high": _numbers(one.high),
                "first": one.first.tolist(),
                "second": one.second.tolist(),
                "difference": _numbers(one.difference),
                "difference_low": _numbers(one.difference_low),
                "difference_high": _numbers(one.difference_high),
                "effect": _numbers(one.effect),
                "wins": one.wins.tolist(),
                "ties": one.ties.tolist(),
                "losses": one.losses.tolist(),
                "direction": (one.sign() * one.direction).astype(int).tolist(),
                "p": _significant_digits(one.p),
                "p_corrected": _significant_digits(one.p_corrected),
            }
            for one in result.contrasts
        },
    }


def _dropped(comparison: Content, topics: int) -> list[str]:
    """Which measures were compared on fewer topics than their means are of."""
    return [
        f"{name}: intervals, tests and leaders are of the {one['topics']} of {topics} topics for which all runs have a "
        "score (gaps: drop); the mean of a run is of all topics for which it has one."
        for name, one in comparison.get("measures", {}).items()
        if one["topics"] < topics
    ]


def _alone(scores: Scores) -> list[str]:
    """What one run scores, or who leads on one topic: nothing is tested there."""
    runs, topics = len(scores.systems), len(scores.topics)
    summary = scores.summary()
    measures = list(zip(scores.measures, scores.higher, summary, strict=True))
    if runs == 1:
        told = ", ".join(f"{values[0]:.3f} in {name}" for name, _, values in measures if math.isfinite(values[0]))
        where = "topic" if topics == 1 else "topics"
        return [f"{scores.systems[0]} scores {told} on {topics} {where}."] if told else []
    sentences = []
    for name, higher, values in measures if topics == 1 else ():
        if higher != "neither" and np.isfinite(values).all():
            best = np.round(-values if higher == "worse" else values, DIGITS)
            first = [scores.systems[at] for at in np.flatnonzero(best == best.max())]
            alike = f" (and {len(first) - 1} other{'s' if len(first) > 2 else ''} alike)" if len(first) > 1 else ""
            value = f"{values[int(np.argmax(best))]:.3f}"
            sentences.append(
                f"All runs score the same in {name}, {value}, on the one topic."
                if len(first) == runs
                else f"{first[0]}{alike} scores best in {name}, {value}, on the one topic."
            )
    return sentences


def _leads(result: Comparison, alpha: float, summed: set[str]) -> list[str]:
    """Who leads by each measure, and whom it beats; `summed` ones are shown as sums, but compared by their means."""
    sentences = []
    for one in result.contrasts:
        if one.higher == "neither":
            continue
        best = np.round(one.sign() * one.mean, DIGITS)
        at = int(np.argmax(best))
        name, mean = result.systems[at], f"{one.mean[at]:.3f} ({one.low[at]:.3f} to {one.high[at]:.3f})"
        least = " (lower is better)" if one.higher == "worse" else ""
        equal = int((best == best[at]).sum()) - 1
        alike = f" (and {equal} other{'s' if equal > 1 else ''} alike)" if equal else ""
        lead = f"{name}{alike} leads in {one.measure}{least} with {'a mean of ' if one.measure in summed else ''}{mean}"
        if equal == len(result.systems) - 1:
            lead = f"All runs have the same mean in {one.measure}, {one.mean[at]:.3f}"
        elif result.baseline is None:
            beaten, others = int(one.better(alpha)[at].sum()), len(result.systems) - 1
            lead += f", significantly better than {beaten} of {others} other{'s' if others > 1 else ''}"
        sentences.append(f"{lead}.")
    first = result.contrasts[0]
    if result.baseline is not None and first.higher != "neither":
        at = result.systems.index(result.baseline)
        better, worse = int(first.better(alpha)[:, at].sum()), int(first.better(alpha)[at].sum())
        sentences.append(
            f"In {first.measure}, {better} of {len(result.systems) - 1} are significantly better than the baseline "
            f"{result.baseline}, and {worse} worse."
        )
    return sentences


def _why(given: Inputs, scores: Scores) -> Content:
    """The rankings of every run and topic, explained; of too many, those of the first runs by the first measure."""
    explained = [measure for measure in given.measures if measure.explained]
    if given.policies.ties == "expected":
        return {"absent": "Under ties: expected there is no one ranking to show: every order of tied documents counts."}
    runs, topics = len(scores.systems), len(scores.topics)
    most = max(0, MOST_RANKINGS // topics)
    if not most:
        return {"absent": f"With {topics} topics the rankings are too many to be shown: 'gainful explain' tells them."}
    chosen = list(range(runs))
    if runs > most:
        summary = scores.summary()[0]
        sign = -1.0 if scores.higher[0] == "worse" else 1.0
        chosen = sorted(np.argsort(-sign * summary, kind="stable")[:most].tolist())
    ranks = given.settings["cutoff"]
    rankings = align(given.qrels, [given.runs[at] for at in chosen], given.policies, documents=ranks)
    content = reasons(rankings, explained, ranks=ranks)
    return {"systems": chosen, **content}


def _numbers(values: Any, digits: int = DIGITS) -> list[float | None]:
    """Rounded; None for what is no number."""
    return [round(value, digits) if math.isfinite(value) else None for value in np.asarray(values).tolist()]


def _significant_digits(values: Any) -> list[float]:
    """p-values, small as they may be."""
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values).tolist()]
