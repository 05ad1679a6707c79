"""Means by task, and the order of the runs when tasks are drawn anew or left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gainful.analyses.tasks.result import TaskMeans, Tasks
from gainful.data.groups import group_places
from gainful.data.rankings import FloatArray
from gainful.data.scores import Scores, summarise
from gainful.errors import DataError, MeasureError
from gainful.io.groups import read_groups
from gainful.progress import track
from gainful.results import Note, Settings, listed, plural
from gainful.stats.correlation import kendall
from gainful.stats.resample import bootstrap_counts, check_resamples, generator
from gainful.verbs.source import DEFAULT_MEASURES, Options, scores_of

_NAMED = 4


def computed(
    collections: Any, measures: Any, function: Callable[..., Any], given: Mapping[str, Any], options: Options
) -> Tasks:
    """What `gainful.tasks` finds."""
    check_resamples(given["resamples"])
    rng = generator(given["seed"])
    if given["groups"] is not None:
        each, scores = _of_groups(collections, measures, given["groups"], options)
    else:
        each, scores = _of_collections(collections, measures, options)
    if len(each) < 2:
        raise DataError(f"expected at least 2 tasks, got {len(each)}: give each collection a name, or groups of topics")
    runs = [run for run in scores[0].systems if all(run in one.systems for one in scores)]
    if not runs:
        raise DataError("expected runs of the same names in all tasks, got none that all of them have")
    odd = [run for run in dict.fromkeys(run for one in scores for run in one.systems) if run not in runs]
    whose = [f"{name}: " for name in each] if len(scores) > 1 else [""]
    notes = [
        replace(note, text=f"{of}{note.text}") for of, one in zip(whose, scores, strict=True) for note in one.notes()
    ]
    if odd:
        notes.append(
            Note("not-in-all-tasks", odd[0], f"Left out, since not all tasks have them: {listed(odd, _NAMED)}.")
        )
    drawn = bootstrap_counts(rng, given["resamples"], len(each))
    names, sizes = list(each), [size for size, _ in each.values()]
    found = []
    for at, measure in enumerate(scores[0].measures):
        means = np.array([[mean[at][run] for run in runs] for _, mean in each.values()])
        found.append(_means(measure, scores[0].higher[at], means, drawn, given["confidence"]))
    data = f"{plural(len(runs), 'run')}, {plural(len(each), 'task')}, {plural(sum(sizes), 'topic')}"
    return Tasks(
        tasks=tuple(names),
        sizes=tuple(sizes),
        systems=tuple(runs),
        measures=tuple(found),
        settings=Settings.of(
            function,
            {**given, "groups": None},
            data=data,
            policies=scores[0].policies,
            notes=tuple(dict.fromkeys(notes)),
        ),
    )


Each = dict[str, tuple[int, list[dict[str, float]]]]  # by task: its topics, and by measure the mean of each run


def _of_collections(collections: Any, measures: Any, options: Options) -> tuple[Each, list[Scores]]:
    pairs = list(collections.values()) if isinstance(collections, Mapping) else [collections]
    odd = [pair for pair in pairs if not (isinstance(pair, tuple | list) and len(pair) == 2)]
    if odd or not isinstance(collections, Mapping):
        got = f"a task that is {type(odd[0]).__name__}" if odd else type(collections).__name__
        raise DataError(
            "expected the collections of tasks by name, {task: (qrels, runs)}, or one collection and groups of its "
            f"topics, got {got}"
        )
    each: Each = {}
    scores = []
    for name, (qrels, runs) in track(list(collections.items()), len(collections), "Scoring tasks"):
        one = scores_of(qrels, runs, measures or DEFAULT_MEASURES, options)
        means = one.summary().tolist()
        each[str(name)] = len(one.topics), [dict(zip(one.systems, row, strict=True)) for row in means]
        scores.append(one)
    return each, scores


def _of_groups(source: Any, measures: Any, groups: Any, options: Options) -> tuple[Each, list[Scores]]:
    qrels, runs = source if isinstance(source, tuple | list) and len(source) == 2 else (source, None)
    one = scores_of(qrels, runs, measures or (DEFAULT_MEASURES if runs is not None else None), options)
    names, place = group_places(read_groups(groups), one.topics)
    each: Each = {}
    for at, name in enumerate(names):
        of = place == at
        rows = zip(one.values, one.counted, one.summaries, strict=True)
        means = [summarise(values[:, of], counted[:, of], how).tolist() for values, counted, how in rows]
        each[name] = int(of.sum()), [dict(zip(one.systems, row, strict=True)) for row in means]
    return each, [one]


def _means(measure: str, higher: str, means: FloatArray, drawn: FloatArray, confidence: float) -> TaskMeans:
    """What tasks × runs say; `drawn`: how often each task is in each resample."""
    if higher == "neither":
        raise MeasureError(f"{measure} is neither better high nor low: expected a measure such as nDCG@10")
    if np.isnan(means).any():
        raise DataError(f"{measure} is undefined for all topics of a task: leave that task or the measure out")
    tasks = len(means)
    sign = -1.0 if higher == "worse" else 1.0
    macro = means.mean(axis=0)
    resampled = _places(sign * (drawn @ means))
    ends = (1.0 - confidence) / 2.0
    low, high = np.quantile(resampled, [ends, 1.0 - ends], axis=0, method="inverted_cdf")
    without = (macro * tasks - means) / (tasks - 1)
    return TaskMeans(
        measure=measure,
        higher=higher,
        means=means,
        macro=macro,
        place=_places(sign * macro[None])[0],
        low=low,
        high=high,
        best=(resampled == 1).mean(axis=0),
        mean_place=_places(sign * means).mean(axis=0),
        wins=(_places(sign * means) == 1).sum(axis=0),
        agrees=kendall(macro, means),
        without=kendall(macro, without),
        leads_without=np.argmin(_places(sign * without), axis=1),
    )


def _places(scores: FloatArray) -> FloatArray:
    """Per row, the place of each score, the highest first; equal ones share the best of their places."""
    tied = np.abs(scores[:, :, None] - scores[:, None, :]) <= 1e-12 * np.abs(scores).max(initial=0.0)
    above = (scores[:, None, :] > scores[:, :, None]) & ~tied
    return np.asarray(1.0 + above.sum(axis=2), np.float64)
