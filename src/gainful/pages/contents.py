"""What is on the page: everything computed by the layers below, gathered into one dict."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from gainful._version import __version__
from gainful.data.metadata import metadata_columns
from gainful.data.rankings import FloatArray
from gainful.data.scores import Scores
from gainful.errors import DataError, MeasureError, PolicyError
from gainful.pages import DEFAULTS
from gainful.pages.analyses import ANALYSES, Analysis, Content, said
from gainful.pages.inputs import Inputs
from gainful.pages.result import COMMAND, Report, option
from gainful.pages.texts import queries, with_texts
from gainful.pages.why import reasons
from gainful.progress import track
from gainful.results import Result
from gainful.verbs.compare import compare
from gainful.verbs.compare.result import Comparison
from gainful.verbs.compare.verdict import certainty, headline, sentences
from gainful.verbs.evaluate import evaluate

# Rankings, once and once per measure that is explained: more make a page too large to open.
MOST_RANKINGS = 60_000
# Twice as many as are shown, so that what is shown, and which side of alpha a p-value lies on, is as computed.
DIGITS = 8
# Notes that quote lines of files, and what may stand between the words of these.
_QUOTING = ("failed", "rank-contradicts-score")
_BETWEEN = re.compile(r"(\\t|[\s'\"(),;]+)")
_ROUNDED = ("mean", "low", "high", "difference", "difference_low", "difference_high", "effect")


def gather(given: Inputs) -> Report:
    """Compare, analyse and explain: all that the page shows, ready for JSON."""
    results: dict[str, tuple[Result, ...]] = {}
    findings: list[str] = []
    sections: list[Content] = []
    contents = {**_about(given), "scores": _scores(given.scores), "analyses": sections}
    steps: list[Analysis | str] = ["compare", *ANALYSES, "explain"]
    for step in track(steps, len(steps), "Making the report"):
        if step == "compare":
            contents["comparison"] = _comparison(given, results)
            compared = results.get("comparison")
            findings += [given.scores.verdict()] if compared is None else sentences(compared[0])  # type: ignore[arg-type]
        elif isinstance(step, str):
            contents["why"] = _why(given)
        else:
            section, results[step.id] = step.section(given)
            sections.append(section)
            if step.front and "verdict" in section:
                findings.append(section["verdict"])
    contents |= {
        "findings": findings,
        "settings": dict(given.settings),
        "policies": given.settings.policies.to_dict(),
        "version": __version__,
        "command": _command_line(given),
        "python": _python_line(given),
    }
    found = Report(
        contents=contents, scores=given.scores, rankings=given.rankings, results=results, settings=given.settings
    )
    hidden = set(given.rankings.pool_doc) if given.files.get("hide_judgments") else set()
    contents["notes"] = [_without(hidden, note.text) if note.code in _QUOTING else note.text for note in found.notes()]
    return found


def _without(documents: Collection[str], text: str) -> str:
    """A note without the names of some documents; a tab is spelled out where a line is quoted."""
    parts = _BETWEEN.split(text)
    return "".join("…" if part in documents else part for part in parts)


def _about(given: Inputs) -> Content:
    labels = given.labels()
    return {
        "qrels": given.name,
        **{name: given.files.get(name) for name in ("title", "author", "date")},
        "queries": queries(given),
        "judged": _judged(given),
        "systems": list(given.scores.systems),
        "metadata": _metadata(given.scores),
        "topics": list(given.scores.topics),
        "judgments": sum(count for _, count in labels),
        "labels": [list(pair) for pair in labels],
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
        "missing": list(given.scores.missing),
    }


def _metadata(scores: Scores) -> Content:
    """By field the values of all runs, in the order of the page: what stands beside their names."""
    before, after = metadata_columns(scores.metadata, scores.systems)
    return {**before, **after}


def _judged(given: Inputs) -> Content:
    """How many of the first documents of each run are judged."""
    cutoff = given.measures[0].cutoff or 10
    shares = evaluate(given.joined, f"Judged@{cutoff}").summary()[0]
    return {"name": f"Judged@{cutoff}", "shares": _numbers(shares, 4)}


def _scores(scores: Scores) -> Content:
    """Per measure: the scores of runs × topics, the summary of each run, and the mean of each topic."""
    summary = scores.summary()
    return {
        name: {
            "values": [_numbers(row) for row in scores[name].values],
            "summary": _numbers(summary[at]),
            "topic_means": _numbers(_topic_means(scores[name].values)),
        }
        for at, name in enumerate(scores.measures)
    }


def _topic_means(values: FloatArray) -> FloatArray:
    """The mean over the runs that have a score."""
    there = ~np.isnan(values)
    number = there.sum(axis=0)
    total = np.where(there, values, 0.0).sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _comparison(given: Inputs, results: dict[str, tuple[Result, ...]]) -> Content:
    names = ("baseline", "test", "correction", "alpha", "confidence", "resamples", "seed", "gaps")
    try:
        result: Comparison = compare(given.averaged, **given.chosen(*names))
    except (DataError, MeasureError, PolicyError) as error:
        return {"absent": said(error)}
    results["comparison"] = (result,)
    return {
        "baseline": result.baseline,
        "correction": result.settings["correction"],
        "line": str(result.settings),
        "measures": {
            one.measure: {
                "headline": headline(result, one),
                "certainty": certainty(result, one),
                "topics": len(one.topics),
                "tested": len(one.first),
                "significant": int(one.significant().sum()),
                **{name: getattr(one, name).tolist() for name in ("place_low", "place_high")},
                "groups": one.groups().tolist() if result.baseline is None else None,
                **{name: _numbers(getattr(one, name)) for name in _ROUNDED},
                **{name: getattr(one, name).tolist() for name in ("first", "second", "wins", "ties", "losses")},
                "direction": (one.sign() * one.direction).astype(int).tolist(),
                "p": _significant_digits(one.p),
                "p_corrected": _significant_digits(one.p_corrected),
            }
            for one in result.contrasts
        },
    }


def _why(given: Inputs) -> Content:
    """The rankings of every run and topic, explained; of too many, those of the first runs by the first measure."""
    scores, cutoff = given.scores, given.settings["cutoff"]
    if given.files.get("hide_judgments"):
        return {"absent": "The judgments are not on this page, and neither are the rankings that would tell them."}
    if given.settings.policies.ties == "expected":
        return {"absent": "Under ties: expected there is no one ranking to show: every order of tied documents counts."}
    runs, topics = len(scores.systems), len(scores.topics)
    explained = [measure for measure in given.measures if measure.explained]
    most = MOST_RANKINGS // (1 + len(explained)) // topics
    if not most:
        return {"absent": f"With {topics} topics the rankings are too many to be shown: 'gainful explain' tells them."}
    chosen = list(range(runs))
    rankings = given.rankings
    if runs > most:
        sign = -1.0 if scores.higher[0] == "worse" else 1.0
        chosen = sorted(np.argsort(-sign * scores.summary()[0], kind="stable")[:most].tolist())
        rankings = rankings.only([scores.systems[at] for at in chosen])
    return with_texts({"systems": chosen, **reasons(rankings, explained, ranks=cutoff)}, given)


def _command_line(given: Inputs) -> str | None:
    """What to type to get this report again, but for the file it goes to; None if it was not made from files."""
    if given.sources is None or None in given.files.values():
        return None
    options = [word for measure in given.measures for word in ("-m", str(measure))]
    for name, value in _unusual(given).items():
        options += option(f"--{name}", str(value))
    for name, value in given.files.items():
        word = f"--{name.replace('_', '-')}"
        values = [value] if isinstance(value, str) else value
        if isinstance(value, Mapping):
            values = [f"{ours}={theirs}" for ours, theirs in value.items()]
        options += [word] if value is True else [part for one in values for part in option(word, one)]
    # A file whose name looks like an option can only come after all options.
    odd = any(word.startswith("-") for word in given.sources)
    return shlex.join([*COMMAND, *options, "--", *given.sources] if odd else [*COMMAND, *given.sources, *options])


def _python_line(given: Inputs) -> str:
    """The same as a call."""
    words = {name: repr(value) for name, value in _unusual(given).items()}
    words |= {name: name if value is None else repr(value) for name, value in given.files.items()}
    settings = "".join(f", {name}={word}" for name, word in words.items())
    first = "qrels, runs" if given.sources is None else f"{given.sources[0]!r}, {list(given.sources[1:])!r}"
    return f"gf.report({first}, {[str(measure) for measure in given.measures]}{settings})"


def _unusual(given: Inputs) -> dict[str, Any]:
    """Settings and policies that are not the defaults; the seed is always told."""
    every = {**given.settings, **given.settings.policies.to_dict()}
    return {name: value for name, value in every.items() if name == "seed" or value != DEFAULTS[name]}


def _numbers(values: Any, digits: int = DIGITS) -> list[float | None]:
    """Rounded; None for what is no number."""
    return [round(value, digits) if math.isfinite(value) else None for value in np.asarray(values).tolist()]


def _significant_digits(values: Any) -> list[float]:
    """p-values, small as they may be."""
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values).tolist()]
