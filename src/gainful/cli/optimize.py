"""`gainful optimize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from gainful.cli.inputs import Whole, refuse_measures
from gainful.cli.output import Table, number
from gainful.cli.progress import reading
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Duplicates, Ties, Unjudged
from gainful.errors import DataError
from gainful.tune.optimize import optimize as optimum_of
from gainful.tune.optimize.fit import Method, Target
from gainful.tune.optimize.result import Optimum


def _spaced(values: tuple[int, ...]) -> str:
    return " ".join(map(str, values))


@shell_of(optimum_of)
def optimize(
    qrels: str,
    runs: Annotated[list[str], Parameter(name="RUN...")],
    /,
    *,
    target: Target = "discount",
    cutoff: Annotated[tuple[Whole, ...], Parameter(negative="", show_default=_spaced)] = (20,),
    also: Annotated[tuple[tuple[str, str], ...], Parameter(negative="", show_default=False)] = (),
    constrained: bool = True,
    gain: str = "linear",
    discount: str = "log2",
    phi: float = 0.95,
    method: Method | None = None,
    starts: Whole = 5,
    splits: Whole = 10,
    resamples: Whole = 1000,
    seed: Whole = 0,
    save: Path | None = None,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Literal["empty", "error"] = "empty",
    degenerate: Literal["zero", "skip"] = "zero",
    duplicates: Duplicates = "error",
    shown: Shown = Shown(),
) -> None:
    """Choose the gain and discount of nDCG.

    Parameters
    ----------
    save
        Write the optimal measure to this .json file: 'gainful evaluate -m @FILE' takes it.
    """
    refuse_measures(runs)
    if save is not None and save.suffix.lower() != ".json":
        raise DataError(f"{save}: expected a name that ends in .json")
    with shown.working(), reading(runs) as given:
        found = optimum_of(
            qrels,
            given,
            target=target,
            cutoff=cutoff,
            also=also,
            constrained=constrained,
            gain=gain,
            discount=discount,
            phi=phi,
            method=method,
            starts=starts,
            splits=splits,
            resamples=resamples,
            seed=seed,
            ties=ties,
            unjudged=unjudged,
            missing=missing,
            degenerate=degenerate,
            duplicates=duplicates,
        )
    remarks = [f"note: {note}" for note in found.notes]
    if save is not None:
        found.measure.save(save)
        remarks.append(f"measure: {save} (gainful evaluate -m @{save})")
    shown.show(found, _tables(found), remarks)


def _tables(found: Optimum) -> list[Table]:
    tables = [_comparison(found)]
    if found.target != "discount":
        tables.append(_gains(found))
    if found.target != "gain":
        tables.append(_discounts(found))
    return tables


def _comparison(found: Optimum) -> Table:
    where = ["collection", "cutoff"] if len(found.parts) > 1 else []
    header = [
        *where,
        found.target if found.target != "both" else "candidate",
        "Φ",
        f"topics for Φ ≥ {found.parts[0].reliability.target:g}",
        "held-out Φ",
        "sd",
        "τ",
        "RMS",
        "told apart (α=0.05)",
    ]
    rows = []
    for part in found.parts:
        for row in part.rows():
            cells = [str(row[name]) for name in (*where, "candidate")]
            needed = row["topics_needed"]
            rest = [
                number(float(str(row[name]))) for name in ("held_out_phi", "held_out_sd", "tau", "rms", "told_apart")
            ]
            rows.append([*cells, number(float(str(row["phi"]))), "-" if needed is None else str(needed), *rest])
    return Table(header=header, rows=rows, names=(0, 2) if where else (0,))


def _gains(found: Optimum) -> Table:
    part = found.parts[0]
    labels = list(part.candidates[0].gain)
    ratios = [[_ratio(c.gain_ratios[label], bound=bool(c.bound)) for label in labels] for c in part.candidates]
    rows = [[c.name, *cells] for c, cells in zip(part.candidates, ratios, strict=True)]
    return Table(header=["gain, relative", *(f"label {label:g}" for label in labels)], rows=rows)


def _ratio(value: float, *, bound: bool) -> str:
    """How many times the lowest gain; where that is as little as allowed, the number says nothing."""
    return "> 1,000" if bound and value > 1000 else number(value)


def _discounts(found: Optimum) -> Table:
    part = max(found.parts, key=lambda part: part.cutoff)
    ranks = found.telling_ranks()
    rows = [[c.name, *(number(float(c.discount[rank - 1])) for rank in ranks)] for c in part.candidates]
    return Table(header=["discount", *(f"rank {rank}" for rank in ranks)], rows=rows)
