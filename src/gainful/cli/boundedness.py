"""`gainful boundedness`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from cyclopts import Parameter

from gainful.analyses.boundedness import Boundedness
from gainful.analyses.boundedness import boundedness as boundedness_of
from gainful.cli.inputs import refuse_measures
from gainful.cli.lists import WHOLES
from gainful.cli.output import Table, number
from gainful.cli.progress import reading
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Duplicates, Missing, Ties, Unjudged


def _commas(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))


@shell_of(boundedness_of)
def boundedness(
    qrels: str,
    runs: Annotated[tuple[str, ...], Parameter(name="RUN...", show_default=False)] = (),
    /,
    *,
    cutoff: Annotated[tuple[int, ...], WHOLES, Parameter(show_default=_commas)] = (20,),
    gains: str = "linear",
    discount: str = "log2",
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    duplicates: Duplicates = "error",
    shown: Shown = Shown(),
) -> None:
    """See `gainful.boundedness`."""
    refuse_measures(list(runs))
    with shown.working(), reading(list(runs)) as given:
        found = boundedness_of(
            qrels,
            given if runs else (),
            cutoff=cutoff,
            gains=gains,
            discount=discount,
            ties=ties,
            unjudged=unjudged,
            missing=missing,
            duplicates=duplicates,
        )
    shown.show(found, list(_tables(found)), list(_remarks(found)))


def _tables(found: Boundedness) -> Iterator[Table]:
    """Per cutoff the topics that can fall below 0 and to -1; per run the rankings outside the range of nDCGmin."""
    rows = [
        [
            str(row["cutoff"]),
            str(row["topics"]),
            f"{row['below_0']} ({row['share_below_0']:.0%})",
            f"{row['at_most_minus_1']} ({row['share_at_most_minus_1']:.0%})",
            number(row["lowest"]),
            str(row["undefined"]),
        ]
        for row in found.shares().iter_rows(named=True)
    ]
    header = ["cutoff", "topics", "nDCGorg can be < 0", "can be ≤ -1", "lowest nDCGorg", "undefined"]
    yield Table(header=header, rows=rows, names=())
    if found.systems:
        rows = [
            [
                row["run"],
                str(row["cutoff"]),
                str(row["topics"]),
                str(row["over"]),
                str(row["under"]),
                "-" if row["topics"] == 0 else f"{row['share']:.1%}",
                str(row["org_below_0"]),
                str(row["org_above_1"]),
            ]
            for row in found.runs().iter_rows(named=True)
        ]
        header = [
            "run",
            "cutoff",
            "topics",
            "nDCGmin > 1",
            "nDCGmin < 0",
            "outside [0, 1]",
            "nDCGorg < 0",
            "nDCGorg > 1",
        ]
        yield Table(header=header, rows=rows)


def _remarks(found: Boundedness) -> Iterator[str]:
    if not found.negative:
        yield "No label has a negative gain: nDCGorg is bounded, it lies between 0 and 1 in every topic."
    if found.unused:
        labels = ", ".join(f"{label:g}" for label in found.unused)
        there = ", ".join(f"{label:g}" for label in found.label_gains)
        yield f"note: gains names labels that no document has: {labels}; there are: {there}"
