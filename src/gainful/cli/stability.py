"""`gainful stability`."""

from __future__ import annotations

from typing import Annotated

from gainful.analyses.stability import By, Fuzzy
from gainful.analyses.stability import Stability as Found
from gainful.analyses.stability import stability as stability_of
from gainful.cli.caveats import caveats
from gainful.cli.inputs import Files, OptionalWhole, Source, Whole
from gainful.cli.lists import WHOLES
from gainful.cli.output import Table, number
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Gaps
from gainful.engine import Engine, open_engine

# Error rates that one may be content with.
_RATES = (0.1, 0.05, 0.02)


@shell_of(stability_of)
def stability(
    files: Files = (),
    /,
    *,
    sizes: Annotated[tuple[int, ...] | None, WHOLES] = None,
    draws: Whole = 200,
    fuzziness: float = 0.05,
    fuzzy: Fuzzy = "relative",
    by: By = "mean",
    seed: Whole = 0,
    gaps: Gaps = "error",
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: OptionalWhole = None,
    source: Source = Source(),
    shown: Shown = Shown(),
) -> None:
    """Find how often fewer topics would order two systems the other way round.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; not with --scores.
    """
    with shown.working(), open_engine(engine, scheduler=scheduler, workers=workers):
        scores = source.read(files, engine=engine, scheduler=scheduler, workers=workers)
        found = stability_of(
            scores,
            sizes=sizes,
            draws=draws,
            fuzziness=fuzziness,
            fuzzy=fuzzy,
            by=by,
            seed=seed,
            gaps=gaps,
            engine=engine,
            scheduler=scheduler,
            workers=workers,
        )
    shown.show(found, [_curves(found), _needed(found)], [*caveats(scores), *(f"note: {note}" for note in found.notes)])


def _curves(found: Found) -> Table:
    rows = [
        [str(size), *(number(curve.error[at]) for curve in found.curves)]
        for at, size in enumerate(found.curves[0].sizes)
    ]
    return Table(header=["topics", *(f"error of {curve.measure}" for curve in found.curves)], rows=rows, names=())


def _needed(found: Found) -> Table:
    """Per measure: how many topics for which error rate, and the ties at the largest size."""
    rows = []
    for curve in found.curves:
        needed = [curve.size_for(rate) for rate in _RATES]
        cells = ["-" if size is None else str(size) for size in needed]
        rows.append([curve.measure, *cells, number(curve.ties[-1])])
    header = ["measure", *(f"topics: error ≤ {rate:g}" for rate in _RATES), f"ties at {found.curves[0].sizes[-1]}"]
    return Table(header=header, rows=rows)
