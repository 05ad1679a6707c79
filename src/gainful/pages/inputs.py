"""What a report is about: checked, read and joined once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from gainful.data.policies import Gaps
from gainful.data.pool import Judged
from gainful.data.rankings import Rankings
from gainful.data.scores import Scores
from gainful.engine.scoring import check_ties
from gainful.errors import check_choice, check_count, check_share
from gainful.io.corpus import check_texts
from gainful.io.read import judgments as read_judgments
from gainful.measures import Measure, parse_measures
from gainful.pages import TRIALS, ReportOptions, report
from gainful.pages.result import need_packages
from gainful.results import Settings, plural
from gainful.stats.choices import Correction, Test
from gainful.stats.resample import check_resamples, generator
from gainful.verbs.compare.result import place_of
from gainful.verbs.evaluate import described, evaluate, read_known
from gainful.verbs.source import (
    DEFAULT_MEASURES,
    Measures,
    Options,
    RunOptions,
    policies_of,
    rankings_of,
    selected,
)

_SHOWN = ("title", "author", "date", "queries", "docs", "hide_judgments", "metadata")
# Documents found in the pool that are looked at in all trials together: more take longer than the rest of the page.
MOST_FOUND = 1_500_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inputs:
    """What a report is about."""

    name: str  # of the judgments
    joined: Rankings  # the runs, joined with the judgments
    rankings: Rankings  # under the policies: without the unjudged documents where those are to be left out
    measures: Sequence[Measure]
    scores: Scores
    settings: Settings  # the parameters of `report`, and the policies
    # Which files were taken, whether broken ones were left out, and how the page was to be, where that was said; None
    # for what was given, but is no file.
    files: Mapping[str, Any]
    sources: tuple[str, ...] | None  # the words for qrels and runs on a command line; None if they are no files
    texts: Mapping[str, Any]  # where queries and docs are

    @property
    def averaged(self) -> Scores:
        """The scores of the measures that are averaged or summed over topics: those that can be analysed."""
        named = zip(self.scores.measures, self.scores.summaries, strict=True)
        names = [name for name, how in named if how != "gmean"]
        return self.scores.only(names) if names else self.scores

    def labels(self) -> list[tuple[float, int]]:
        """Each label of the judgments, and how many documents have it."""
        grade = self.rankings.pool_grade
        counts = np.bincount(grade[grade >= 0], minlength=len(self.rankings.grades))
        return list(zip(self.rankings.grades.tolist(), counts.tolist(), strict=True))

    def has_negative(self) -> bool:
        """Whether a label is negative."""
        return bool((self.rankings.grades < 0).any())

    def chosen(self, *names: str) -> dict[str, Any]:
        """Some of the settings."""
        return {name: self.settings[name] for name in names}


def read(qrels: Any, runs: Any, measures: Measures, options: ReportOptions, given: Mapping[str, Any]) -> Inputs:
    """Check everything that can be checked before the work, then read and join; `given` are all parameters."""
    for name, kind in (("test", Test), ("correction", Correction), ("gaps", Gaps)):
        check_choice(name, given[name], get_args(kind))
    for name in ("confidence", "alpha"):
        check_share(name, given[name])
    check_count("cutoff", given["cutoff"])
    if given["trials"] is not None:
        check_count("trials", given["trials"])
    check_resamples(given["resamples"])
    generator(given["seed"])
    shown = {name: value for name, value in options.items() if name in _SHOWN and value}
    options = cast(ReportOptions, {name: value for name, value in options.items() if name not in _SHOWN})
    texts: dict[str, Any] = {name: value for name, value in shown.items() if name in ("queries", "docs")}
    for source in texts.values():
        if not isinstance(source, Mapping):
            check_texts(Path(source))
    known = qrels if isinstance(qrels, Rankings) else None
    if known is not None and measures is DEFAULT_MEASURES and runs is not None:
        runs, measures = None, runs
    chosen = list(dict.fromkeys(parse_measures(measures)))  # type: ignore[arg-type]
    policies = policies_of(options) if known is None else known.policies
    check_ties(chosen, policies.ties)
    need_packages()
    known_of_runs = read_known(shown.get("metadata"), None if runs is None else selected(runs, options))
    for name in {"metadata", "queries", "docs"} & {*shown}:
        shown[name] = str(shown[name]) if isinstance(shown[name], str | os.PathLike) else None
    name, sources = "rankings", None
    if known is None:
        given_judgments = read_judgments(qrels, columns=options.get("columns"))
        name, sources = given_judgments.name, _words(qrels, runs)
        judged = Judged(given_judgments, policies.duplicates)
        # What is left of the judgments when some are taken away cannot be told from condensed rankings.
        held: Any = {**options, "unjudged": "zero"}
        negative = bool((judged.grades < 0.0).any())  # there may be something to cut
        joined = rankings_of(judged, runs, held, documents=given["cutoff"], scores=negative)
        rankings = joined.condensed() if policies.unjudged == "condensed" else joined
    else:
        # Averaged over all orders of tied documents, there is no one ranking to explain.
        needed = 0 if policies.ties == "expected" else given["cutoff"]
        joined = rankings = rankings_of(known, runs, cast(Options, options), documents=needed)
    if given["baseline"] is not None:
        place_of(given["baseline"], rankings.systems, "baseline")
    scores = described(evaluate(rankings, chosen, **cast(Options, options)), known_of_runs)
    trials = given["trials"] or min(max(MOST_FOUND // max(len(joined.row), 1), 1), TRIALS)
    judgments = int((rankings.pool_grade >= 0).sum())
    counts = f"{plural(len(scores.systems), 'run')}, {plural(len(scores.topics), 'topic')}, "
    data = f"{counts}{plural(judgments, 'judgment')}; {', '.join(scores.measures)}"
    return Inputs(
        name=name,
        joined=joined,
        rankings=rankings,
        measures=chosen,
        scores=scores,
        settings=Settings.of(
            report, {**given, "trials": trials}, data=data, policies=scores.policies, notes=scores.notes()
        ),
        files={**{name: options[name] for name in RunOptions.__annotations__ if options.get(name)}, **shown},  # type: ignore[literal-required]
        sources=sources,
        texts=texts,
    )


def _words(qrels: Any, runs: Any) -> tuple[str, ...] | None:
    """The words of a command line that name these inputs; None if there are none."""
    given = [qrels, *(runs if isinstance(runs, list | tuple) else [runs])]
    if not all(isinstance(one, str | os.PathLike) for one in given):
        return None
    return tuple(str(Path(one)) if isinstance(one, os.PathLike) else one for one in given)
