"""`gainful agreement`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from gainful.analyses.agreement import CORRELATIONS, Correlation
from gainful.analyses.agreement import Agreement as Found
from gainful.analyses.agreement import agreement as agreement_of
from gainful.cli.caveats import caveats
from gainful.cli.inputs import Files, OptionalWhole, Source, Whole
from gainful.cli.lists import choices
from gainful.cli.output import Table, number
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Gaps
from gainful.engine import Engine, open_engine

# Systems named that moved most, and systems named as the best of a measure.
_MOST = 5


@shell_of(agreement_of)
def agreement(
    files: Files = (),
    /,
    *,
    correlation: Annotated[tuple[Correlation, ...], choices(CORRELATIONS)] = CORRELATIONS,
    spread: float = 0.95,
    resamples: Whole = 1000,
    p: float = 0.9,
    seed: Whole = 0,
    gaps: Gaps = "error",
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: OptionalWhole = None,
    source: Source = Source(),
    shown: Shown = Shown(),
) -> None:
    """Find how far measures agree on the order of systems.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; not with --scores.
    """
    with shown.working(), open_engine(engine, scheduler=scheduler, workers=workers):
        scores = source.read(files, engine=engine, scheduler=scheduler, workers=workers)
        found = agreement_of(
            scores,
            correlation=correlation,
            spread=spread,
            resamples=resamples,
            p=p,
            seed=seed,
            gaps=gaps,
            engine=engine,
            scheduler=scheduler,
            workers=workers,
        )
    shown.show(found, [_coefficients(found), _movers(found)], [*caveats(scores), *_remarks(found)])


def _coefficients(found: Found) -> Table:
    rows = [
        [
            pair.first,
            pair.second,
            pair.correlation,
            *(number(value) for value in (pair.value, pair.resampled_low, pair.resampled_high)),
        ]
        for pair in found.pairs
    ]
    header = ["measure", "with", "correlation", "value", *found.ends()]
    return Table(header=header, rows=rows, names=(0, 1, 2))


def _movers(found: Found) -> Table:
    """The systems that move most between the two measures that agree least."""
    first, second = found.least()
    rows = [
        [move.system, f"{move.first:g}", f"{move.second:g}", f"{move.places:+g}" if move.places else "0"]
        for move in found.moved(first, second)[:_MOST]
    ]
    return Table(header=["run", f"rank by {first}", f"rank by {second}", "moved"], rows=rows)


def _remarks(found: Found) -> Iterator[str]:
    for measure in found.measures:
        best = found.best(measure)
        more = f" and {len(best) - _MOST} more, tied" if len(best) > _MOST else ", tied" if len(best) > 1 else ""
        yield f"best by {measure}: {', '.join(best[:_MOST])}{more}"
