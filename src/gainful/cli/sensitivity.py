"""`gainful sensitivity`."""

from __future__ import annotations

from typing import Annotated, get_args

from gainful.analyses.sensitivity import Method
from gainful.analyses.sensitivity import Sensitivity as Found
from gainful.analyses.sensitivity import sensitivity as sensitivity_of
from gainful.cli.caveats import caveats
from gainful.cli.inputs import Files, OptionalWhole, Source, Whole
from gainful.cli.lists import choices
from gainful.cli.output import Table, number
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Gaps
from gainful.engine import Engine, open_engine


@shell_of(sensitivity_of)
def sensitivity(
    files: Files = (),
    /,
    *,
    methods: Annotated[tuple[Method, ...], choices(get_args(Method))] = ("studentized",),
    resamples: Whole = 1000,
    alpha: float = 0.05,
    seed: Whole = 0,
    gaps: Gaps = "error",
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: OptionalWhole = None,
    source: Source = Source(),
    shown: Shown = Shown(),
) -> None:
    """Find which measure tells systems apart.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; not with --scores.
    alpha
        The level at which the table counts a pair as told apart.
    """
    with shown.working(), open_engine(engine, scheduler=scheduler, workers=workers):
        scores = source.read(files, engine=engine, scheduler=scheduler, workers=workers)
        found = sensitivity_of(
            scores,
            methods=methods,
            resamples=resamples,
            seed=seed,
            gaps=gaps,
            engine=engine,
            scheduler=scheduler,
            workers=workers,
        )
        table = _table(found, alpha)
    shown.show(found, table, [*caveats(scores), *(f"note: {note}" for note in found.notes)])


def _table(found: Found, alpha: float) -> Table:
    rows = [
        [
            test.measure,
            test.method,
            str(len(test.curve())),
            number(test.discriminative_power(alpha)),
            number(test.detectable_difference(alpha)),
        ]
        for test in found.tests
    ]
    header = ["measure", "method", "pairs", f"told apart (α={alpha:g})", "detectable difference"]
    return Table(header=header, rows=rows, names=(0, 1))
