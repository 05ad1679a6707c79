"""`gainful reliability`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from gainful.analyses.reliability import Estimate, Reliability
from gainful.analyses.reliability import reliability as reliability_of
from gainful.cli.caveats import caveats
from gainful.cli.inputs import Files, Source
from gainful.cli.lists import WHOLES
from gainful.cli.output import Table, number
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Gaps


@shell_of(reliability_of)
def reliability(
    files: Files = (),
    /,
    *,
    sizes: Annotated[tuple[int, ...] | None, WHOLES] = None,
    target: float = 0.95,
    confidence: float = 0.95,
    gaps: Gaps = "error",
    source: Source = Source(),
    shown: Shown = Shown(),
) -> None:
    """Tell how reliable scores are.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; not with --scores.
    """
    with shown.working():
        scores = source.read(files)
        result = reliability_of(scores, sizes=sizes, target=target, confidence=confidence, gaps=gaps)
    tables = [_coefficients(result), _variances(result)]
    if sizes is not None:
        tables.append(_curve(result))
    told = "Φ (Phi): would other topics give the same scores; Eρ² (Erho2): the same order of runs. 1 is the best."
    shown.show(result, tables, [*caveats(scores), *(f"note: {note}" for note in result.notes), told])


def _coefficients(result: Reliability) -> Table:
    target = f"{result.target:g}"
    header = ["measure", "topics", "Erho2", "from", "to", "Phi", "from", "to"]
    rows = []
    for m in result.measures:
        needed = m.topics_needed(result.target)
        counts = [_whole(needed.value), _whole(needed.low), _whole(needed.high)]
        rows.append([m.measure, str(m.topics), *_cells(m.erho2), *_cells(m.phi), *counts])
    return Table(header=[*header, f"topics for Phi {target}", "from", "to"], rows=rows)


def _variances(result: Reliability) -> Table:
    header = ["measure", "variance: runs", "topics", "rest", "share: runs", "topics", "rest"]
    rows = []
    for m in result.measures:
        variances = [f"{part:.6f}" for part in (m.variances.run, m.variances.topic, m.variances.rest)]
        shares = [number(part) for part in (m.shares.run, m.shares.topic, m.shares.rest)]
        rows.append([m.measure, *variances, *shares])
    return Table(header=header, rows=rows)


def _curve(result: Reliability) -> Table:
    rows = [
        [m.measure, str(n), *_cells(m.at(n, "erho2")), *_cells(m.at(n, "phi"))]
        for m in result.measures
        for n in result.sizes
    ]
    return Table(header=["measure", "topics", "Erho2", "from", "to", "Phi", "from", "to"], rows=rows)


def _cells(estimate: Estimate) -> Iterator[str]:
    return (number(value) for value in (estimate.value, estimate.low, estimate.high))


def _whole(value: int | None) -> str:
    return "-" if value is None else str(value)
