"""`gainful robustness`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import polars as pl
from cyclopts import Parameter

from gainful.analyses.robustness import DEFAULT_MEASURES
from gainful.analyses.robustness import robustness as robustness_of
from gainful.analyses.robustness.result import Robustness
from gainful.analyses.robustness.samples import LEAST_NONRELEVANT, LEAST_RELEVANT, Depletion
from gainful.cli.caveats import caveats
from gainful.cli.inputs import Measures, OptionalWhole, Whole, refuse_measures
from gainful.cli.lists import NUMBERS
from gainful.cli.output import Table, number
from gainful.cli.progress import reading
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Degenerate, Duplicates, Missing, Ties, Unjudged
from gainful.engine import Engine


@shell_of(robustness_of)
def robustness(
    qrels: str,
    runs: Annotated[list[str], Parameter(name="RUN...")],
    /,
    *,
    measures: Measures = DEFAULT_MEASURES,
    depletion: Depletion = "stratified",
    levels: Annotated[tuple[float, ...] | None, NUMBERS] = None,
    trials: Whole = 10,
    weights: Annotated[tuple[float, ...], NUMBERS, Parameter(show_default=False)] = (),
    rel: float = 1.0,
    pairs: Whole = 300,
    alpha: float = 0.05,
    confidence: float = 0.95,
    seed: Whole = 0,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: OptionalWhole = None,
    shown: Shown = Shown(),
) -> None:
    """See `gainful.robustness`."""
    refuse_measures(runs)
    with shown.working(), reading(runs) as given:
        found = robustness_of(
            qrels,
            given,
            measures,
            depletion=depletion,
            levels=levels,
            trials=trials,
            weights=weights,
            rel=rel,
            pairs=pairs,
            alpha=alpha,
            confidence=confidence,
            seed=seed,
            ties=ties,
            unjudged=unjudged,
            missing=missing,
            degenerate=degenerate,
            duplicates=duplicates,
            engine=engine,
            scheduler=scheduler,
            workers=workers,
        )
    shown.show(found, list(_tables(found)), list(_remarks(found)))


def _tables(found: Robustness) -> Iterator[Table]:
    """All levels of every measure, then where the curves rise, or whom leaving out hurts."""
    numbers = ("tau", "tau_low", "tau_high", "score", "accuracy", "g_mean", "false_positive")
    rows = [
        [row["measure"], f"{row['level']:g}", f"{row['judged']:.0f}", *(number(row[name]) for name in numbers)]
        for row in found.to_frame().iter_rows(named=True)
    ]
    header = ["measure", "level", "judged", "τ", "low", "high", "mean score", "accuracy", "g-mean", "differences lost"]
    yield Table(header=header, rows=rows)
    yield _moved(found) if found.depletion == "leave-one-out" else _knees(found)


def _knees(found: Robustness) -> Table:
    tau, accuracy = found.knees(), found.knees(by="accuracy")
    rows = [
        [measure, *("-" if level is None else f"{level:g}" for level in (*tau[measure], *accuracy[measure]))]
        for measure in found.measures
    ]
    header = ["measure", "τ > 0.9 first", "τ > 0.9 for good", "accuracy > 0.9 first", "accuracy > 0.9 for good"]
    return Table(header=header, rows=rows)


def _moved(found: Robustness) -> Table:
    """Per measure and depth, the run that loses most by not having contributed, and the places lost at most."""
    frame = found.runs().with_columns(
        change=pl.col("score") - pl.col("full_score"), places=pl.col("rank") - pl.col("full_rank")
    )
    higher = dict(zip(found.measures, found.higher, strict=True))
    rows = []
    for (measure, level), part in frame.group_by("measure", "level", maintain_order=True):
        gains = higher[str(measure)] == "worse"  # a run loses by a higher score, too
        worst = part.sort("change", descending=gains, maintain_order=True).row(0, named=True)
        most = str(max(part["places"].to_list()))
        mean = number(float(part["change"].to_numpy().mean()))
        rows.append([str(measure), f"{level:g}", worst["run"], number(worst["change"]), mean, most])
    header = ["measure", "level", "loses most", "change", "mean change", "most places lost"]
    return Table(header=header, rows=rows, names=(0, 2))


def _remarks(found: Robustness) -> Iterator[str]:
    yield from caveats(found.scored, dropped=False)
    yield from (f"note: {note}" for note in found.notes)
    if found.depletion == "leave-one-out":
        yield "Each run is scored without the judgments of documents that it alone has among its first 'level' ones."
    elif found.depletion == "depth":
        yield "A level is the depth of the pool of these runs; what it would not have held is taken out of it."
    else:
        yield "A level is the share of the judgments that is kept; what is taken away stays pooled, but unjudged."
    yield from _floors(found)
    if found.depletion != "leave-one-out":
        yield "For good: at that level and all higher ones. Differences lost: the share of those all judgments tell."


def _floors(found: Robustness) -> Iterator[str]:
    """Where a topic has so few judgments that stratified depletion cannot keep so small a share of them."""
    shares = zip(found.levels, (judged / found.judgments for judged in found.judged), strict=True)
    more = [(level, share) for level, share in shares if share > 1.1 * level]
    if found.depletion == "stratified" and more:
        ends = " and ".join(f"level {level:g} keeps {share:.0%}" for level, share in dict.fromkeys((more[0], more[-1])))
        yield (
            f"note: a topic keeps at least {LEAST_RELEVANT} relevant and {LEAST_NONRELEVANT} other documents, so low "
            f"levels keep more than they say: {ends}"
        )
