"""How far to trust it: sections that lay out the results of the analyses, or say why there are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.agreement import agreement
from gainful.analyses.boundedness import boundedness
from gainful.analyses.reliability import reliability
from gainful.analyses.robustness import robustness
from gainful.analyses.sensitivity import sensitivity
from gainful.analyses.stability import stability
from gainful.analyses.topics import topics
from gainful.errors import DataError, MeasureError, PolicyError
from gainful.pages.inputs import Inputs
from gainful.pages.result import own_notes
from gainful.results import Result
from gainful.tables import Table
from gainful.tune import threshold

# Runs whose threshold curve is drawn, the best first.
MOST_CURVES = 6
# Documents of the runs that are cut, in sum: more take longer than the rest of the page.
MOST_DOCUMENTS = 4_000_000

Content = dict[str, Any]


def _of_scores(analysis: Callable[..., Result], *settings: str, **more: Any) -> Callable[[Inputs], Iterator[Result]]:
    """An analysis of the scores, by some of the settings of the report."""
    return lambda given: iter([analysis(given.averaged, **more, **given.chosen(*settings))])


def robust(given: Inputs) -> Iterator[Result]:
    """Whether runs keep their order when judgments are taken away."""
    measures = [measure for measure in given.measures if str(measure) in given.averaged]
    unjudged = given.rankings.policies.unjudged
    chosen = given.chosen("trials", "alpha", "confidence", "seed")
    yield robustness(given.joined, measures=measures, unjudged=unjudged, **chosen)


def bounded(given: Inputs) -> Iterator[Result]:
    """Which values nDCG can take with negative labels."""
    if not given.has_negative():
        raise DataError("No label is negative: every nDCG lies between 0 and 1, whatever its norm.")
    yield boundedness(given.rankings, cutoff=given.settings["cutoff"])


def cut(given: Inputs) -> Iterator[Result]:
    """What a threshold on the scores of a run would gain and cost, for the best runs."""
    if not given.has_negative():
        raise DataError("No label is negative: there is nothing that a threshold should keep from being shown.")
    if given.files.get("hide_judgments"):
        raise DataError(
            "The judgments are not on this page, and a curve goes from document to document: it would tell them."
        )
    if given.rankings.policies.ties == "expected":
        raise PolicyError("Under ties: expected there is no one order to cut.")
    filtering = (m for m in given.measures if m.definition.name == "nDCG" and m.parameters.get("norm") == "f")
    measure = str(next(filtering, f"nDCGf@{given.settings['cutoff']}"))
    scores = given.averaged
    at = scores.measures.index(measure) if measure in scores else 0
    sign = -1.0 if scores.higher[at] == "worse" else 1.0
    summary = scores.summary()[at].tolist()
    order = sorted(range(len(summary)), key=lambda run: (summary[run] != summary[run], -sign * summary[run]))
    returned = given.rankings.retrieved.reshape(len(order), -1).sum(axis=1)[order]
    shown = int(np.searchsorted(np.cumsum(returned), MOST_DOCUMENTS, side="right"))
    for run in order[: min(max(shown, 1), MOST_CURVES)]:
        yield threshold.curve(given.rankings.only([scores.systems[run]]), measure=measure)


_TOO_FEW = re.compile(r"(?P<who>.+: )?expected (?P<what>.+), got (?P<number>\d+|none)(?P<rest>.*)", re.DOTALL)


def said(error: Exception) -> str:
    """Why there is no result, as a sentence: a page is no place for a message of a program."""
    found = _TOO_FEW.fullmatch(str(error))
    if found is None:
        text = str(error)
        return text if text.endswith(".") else f"{text}."
    there = "is" if found["number"] in ("1", "none") else "are"
    who = found["who"] or ""
    return (
        f"{who}{'this' if who else 'This'} takes {found['what']}: there {there} {found['number']} here{found['rest']}."
    )


def _one_topic(given: Inputs, _: Sequence[Any]) -> bool:
    return len(given.scores.topics) < 2


def _nothing_to_cut(_: Inputs, found: Sequence[Any]) -> bool:
    """Whether no run has a threshold that is better than none."""
    return all(one.higher != "neither" and one.best == len(one) - 1 for one in found)


def _within_bounds(_: Inputs, found: Sequence[Any]) -> bool:
    """Whether nothing can leave the range from 0 to 1."""
    over, under = found[0].outside()
    return not (over | under).any() and not found[0].shares()["below_0"].sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A section of the page."""

    id: str  # what it is called inside; also the command that tells more, unless there is another
    # The question it answers, and what one must know to read the answer.
    title: str
    lead: str
    find: Callable[[Inputs], Iterator[Result]]  # one result, or one per run
    command: str | None = None
    front: bool = False  # whether its verdict is on the front of the page
    dull: Callable[[Inputs, Sequence[Any]], bool] | None = None  # whether the verdict says it all
    charts: Callable[[Any], dict[str, Any]] | None = None  # and what to call them, where it has more than one

    def section(self, given: Inputs) -> tuple[Content, tuple[Result, ...]]:
        """What the page shows, and the results behind it; a sentence if the data, not the settings, do not allow it."""
        about = {"id": self.id, "title": self.title, "lead": self.lead, "command": self.command or self.id}
        try:
            found = tuple(self.find(given))
            figures = self._figures(found)
        except (DataError, MeasureError, PolicyError) as error:
            return {**about, "absent": said(error)}, ()
        first = found[0]
        tables = first.compact() if len(found) == 1 else [_joined(found)]
        return {
            **about,
            "verdict": first.verdict(),
            "dull": self.dull is not None and self.dull(given, found),
            "figures": figures,
            "tables": [as_content(table) for table in tables],
            "notes": [note.text for note in own_notes(first)],
            "line": str(first.settings),
        }, found

    def _figures(self, found: Sequence[Any]) -> list[Content]:
        from altair.utils.schemapi import debug_mode

        with debug_mode(False):  # checking charts against their schema, which tests do, takes as long as drawing them
            if len(found) > 1:
                charts = {one.run: one.chart() for one in found}
            else:
                charts = {"": found[0].chart()} if self.charts is None else self.charts(found[0])
            return [{"label": label, "spec": chart.to_dict(validate=False)} for label, chart in charts.items()]


def as_content(table: Table) -> Content:
    """A table as the page takes it."""
    columns = [{"name": column.header, "kind": column.kind} for column in table.columns]
    cells = [table.frame[column.name].to_list() for column in table.columns]
    return {"title": table.title, "columns": columns, "rows": [list(row) for row in zip(*cells, strict=True)]}


def _joined(found: Sequence[Result]) -> Table:
    """The last tables of several results, one below the other."""
    tables = [one.tables()[-1] for one in found]
    return replace(tables[0], data=pl.concat([table.frame for table in tables]))


# In the order of the page.
ANALYSES = (
    Analysis(
        id="agreement",
        title="Do the measures agree?",
        lead="Two measures that order the runs alike say the same thing twice; where they differ, it matters which one "
        "you believe.",
        find=_of_scores(agreement, "resamples", "seed", "gaps", correlation=("tau_b", "tau_ap", "rho", "rbo")),
        front=True,
    ),
    Analysis(
        id="reliability",
        title="Would other topics say the same?",
        lead="Φ is the share of the variance of mean scores that is due to the runs, not to which topics were asked; "
        "Eρ² the same for differences between runs.",
        find=_of_scores(reliability, "confidence", "gaps"),
        front=True,
        charts=lambda found: {
            "Φ: the scores themselves": found.chart("phi"),
            "Eρ²: the order of runs": found.chart("erho2"),
        },
    ),
    Analysis(
        id="topics",
        title="Are there enough topics?",
        lead="The power of a paired t-test to find a true difference of 0.05 between two runs.",
        find=_of_scores(topics, "alpha", "confidence", "seed", "gaps"),
    ),
    Analysis(
        id="stability",
        title="How often would fewer topics reverse a pair?",
        lead="Topics are drawn at random; the error rate is how often a pair of runs comes out the other way round.",
        find=_of_scores(stability, "seed", "gaps"),
    ),
    Analysis(
        id="sensitivity",
        title="Which measure tells runs apart?",
        lead="The significance of every pair of runs by a paired bootstrap, ascending: the lower the curve, the more "
        "pairs are told apart. Here each pair is tested alone, to compare measures; above, to compare runs, p-values "
        "are corrected for the number of pairs, so that fewer pairs differ.",
        find=_of_scores(sensitivity, "alpha", "resamples", "seed", "gaps"),
        front=True,
    ),
    Analysis(
        id="robustness",
        title="Are the judgments deep enough?",
        lead="Judgments are taken away at random; τ is how far the runs keep the order that all judgments give.",
        find=robust,
        dull=_one_topic,
    ),
    Analysis(
        id="boundedness",
        title="What do negative labels do to nDCG?",
        lead="With negative labels nDCG can fall below 0 or rise above 1, depending on how it is normalised.",
        find=bounded,
        dull=_within_bounds,
    ),
    Analysis(
        id="threshold",
        title="Where would one cut?",
        lead="Documents that score below a threshold are not shown: what that gains, what it still lets through, and "
        "what it costs.",
        command="threshold curve",
        find=cut,
        front=True,
        dull=_nothing_to_cut,
    ),
)
