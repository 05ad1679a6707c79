"""`gainful topics`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from gainful.analyses.topics import Method, TopicsNeeded, topics_needed
from gainful.cli.caveats import caveats
from gainful.cli.inputs import Files, Source, whole
from gainful.cli.output import Table, number
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Gaps


@shell_of(topics_needed)
def topics(
    files: Files = (),
    /,
    *,
    difference: float = 0.05,
    alpha: float = 0.05,
    power: float = 0.8,
    method: Method = "t",
    systems: Annotated[int | None, Parameter(converter=whole)] = None,
    gaps: Gaps = "error",
    source: Source = Source(),
    shown: Shown = Shown(),
) -> None:
    """Find how many topics are needed.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; not with --scores.
    """
    with shown.working():
        scores = source.read(files)
        result = topics_needed(
            scores,
            difference=difference,
            alpha=alpha,
            power=power,
            method=method,
            systems=systems,
            gaps=gaps,
        )
    remarks = [*caveats(scores), *(f"note: {note}" for note in result.notes)]
    if result.plan.method != "interval":
        remarks.append(f"Difference found now: the smallest that the topics now find with power {result.plan.power:g}.")
    shown.show(result, _table(result), remarks)


def _table(result: TopicsNeeded) -> Table:
    interval = result.plan.method == "interval"
    quantity = "width" if interval else "power"
    header = ["measure", "runs", "variance", "topics needed", quantity, "topics now", quantity]
    rows = [
        [
            m.measure,
            str(m.runs),
            f"{m.variance:.6f}",
            "-" if m.needed is None else str(m.needed),
            number(m.attained),
            str(m.topics),
            number(m.now),
            *([] if interval else [number(m.detectable)]),
        ]
        for m in result.measures
    ]
    return Table(header=header if interval else [*header, "difference found now"], rows=rows)
