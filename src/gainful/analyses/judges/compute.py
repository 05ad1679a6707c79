"""Judges compared: their labels, then the runs under each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gainful.analyses.judges.conclusions import Conclusion, conclusion
from gainful.analyses.judges.labels import agreements, ratings_of
from gainful.analyses.judges.result import Judges
from gainful.data.complete import complete_matrices, gap_notes
from gainful.data.qrels import Qrels
from gainful.errors import DataError
from gainful.io.objects import is_one_run
from gainful.io.read import read_qrels
from gainful.io.sources import file_name
from gainful.progress import track
from gainful.results import Note, Settings, plural
from gainful.stats.resample import check_resamples, generator
from gainful.verbs.evaluate import evaluate
from gainful.verbs.source import Options, policies_of


def computed(
    sources: Sequence[Any],
    runs: Any,
    measures: tuple[str, ...],
    function: Callable[..., Any],
    given: Mapping[str, Any],
    options: Options,
) -> Judges:
    """What `gainful.judges` finds of judgments from these sources."""
    check_resamples(given["resamples"])
    generator(given["seed"])
    named = [pair for source in sources for pair in _each(source)]
    if len(named) < 2:
        raise DataError("expected judgments of at least 2 judges, got those of 1")
    judged = [read_qrels(source, columns=options.get("columns")) for _, source in named]
    names = [given or name for (given, _), name in zip(named, _names(judged), strict=True)]
    for name, often in Counter(names).items():
        if often > 1:
            raise DataError(f"two judges are called {name!r}; rename one")
    policies = policies_of(options)
    ratings = ratings_of(judged, names, policies.duplicates)
    drawn = {name: given[name] for name in ("confidence", "resamples", "seed")}
    pairs, alphas = agreements(ratings, rel=given["rel"], **drawn)
    runs = list(runs) if isinstance(runs, Iterator) else runs
    concluded: tuple[Conclusion, ...] = ()
    notes: tuple[Note, ...] = ()
    systems = missing = 0
    if runs is not None and not (isinstance(runs, list | tuple) and not runs):
        concluded, notes, systems, missing = _conclusions(judged, names, runs, measures, given, options)
    data = f"{plural(len(judged), 'judge')}, {plural(len(ratings.codes), 'pair')} of {plural(ratings.topics, 'topic')}"
    settings = Settings.of(
        function,
        given,
        data=data + (f", {plural(systems, 'run')}" if systems else ""),
        policies=policies,
        notes=notes,
    )
    return Judges(
        judges=tuple(names),
        labels=tuple(ratings.labels.tolist()),
        judged=tuple((ratings.codes >= 0).sum(axis=0).tolist()),
        agreements=pairs,
        alphas=alphas,
        conclusions=concluded,
        missing=missing,
        settings=settings if systems else replace(settings, given={**settings.given, **_UNUSED}),
    )


# Settings that have no meaning without runs.
_UNUSED = {"measures": None, "alpha": None, "correction": None, "p": None, "gaps": None}


def _conclusions(
    judged: Sequence[Qrels],
    names: Sequence[str],
    runs: Any,
    measures: tuple[str, ...],
    given: Mapping[str, Any],
    options: Options,
) -> tuple[tuple[Conclusion, ...], tuple[Note, ...], int, int]:
    """The runs under the first judge and under each other one, by every measure; and what must be known of them.

    Then how many runs there are, and for how many topics every one of them returns nothing, at least.
    """
    under = [evaluate(qrels, runs, measures, **options) for qrels in track(judged, len(judged), "Scoring runs")]
    chosen = {name: given[name] for name in ("alpha", "correction", "confidence", "p")}
    matrices = [complete_matrices(scores, gaps=given["gaps"]) for scores in under]
    found = [
        conclusion(name, first, other, higher, **chosen)
        for name, others in zip(names[1:], matrices[1:], strict=True)
        for first, other, higher in zip(matrices[0], others, under[0].higher, strict=True)
    ]
    most = max(under, key=lambda scores: len(scores.topics))  # what others have not judged is not ignored
    notes = dict.fromkeys(
        note
        for scores in under
        for note in (*scores.notes(), *gap_notes(scores))
        if note.code != "ignored-topics" or scores is most
    )
    empty = min(under[0].missing) if policies_of(options).missing == "empty" else 0
    return tuple(found), tuple(notes), len(under[0].systems), empty


def _each(source: Any) -> list[tuple[str | None, Any]]:
    """The judges of one source, with their names if it is a dict of judges."""
    if isinstance(source, Mapping) and source and not is_one_run(source):
        return [(str(name), judgments) for name, judgments in source.items()]
    return [(None, source)]


def _names(judged: Sequence[Qrels]) -> list[str]:
    """What to call the judges: the names of their files; numbers where these say nothing."""
    names = [file_name(Path(qrels.name)) if qrels.name != "qrels" else "" for qrels in judged]
    often = Counter(names)
    return [
        name if name and often[name] == 1 else qrels.name if name and _distinct(judged) else f"judge {at}"
        for at, (name, qrels) in enumerate(zip(names, judged, strict=True), 1)
    ]


def _distinct(judged: Sequence[Qrels]) -> bool:
    return len({qrels.name for qrels in judged}) == len(judged)
