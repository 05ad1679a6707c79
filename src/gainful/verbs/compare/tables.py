"""The tables of a comparison: the means with what each run is better than, the pairs, the topics that moved most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gainful import _polars as pl
from gainful.tables import Kind, Table

if TYPE_CHECKING:
    from gainful.verbs.compare.contrasts import Contrasts
    from gainful.verbs.compare.result import Comparison

# More runs are not told apart by letters, but by how many each one beats, and by groups.
MOST_LETTERS = 15
# As papers mark runs against a baseline: significantly better, significantly worse.
BETTER, WORSE = "†", "‡"


def means_table(found: Comparison) -> Table:
    """One row per run, the baseline, then the best by the first measure on top: its means, and what it beats."""
    order = _order(found)
    letters = found.baseline is None and len(order) <= MOST_LETTERS
    columns: dict[str, Any] = {"letter": labels(len(order))} if letters else {}
    headers: dict[str, str | tuple[str, Kind]] = {"letter": ""} if letters else {}
    columns["run"], headers["run"] = [found.systems[at] for at in order], "run"
    best = set()
    for one in found.contrasts:
        mean = one.mean[order]
        if one.higher != "neither":
            best |= {(int(row), len(columns)) for row in np.flatnonzero(mean == one.sign() * (one.sign() * mean).max())}
        columns[one.measure], headers[one.measure] = mean, (one.measure, "score")
        for name, (kind, header, values) in _beaten(found, one, order).items():
            columns[f"{one.measure}: {name}"], headers[f"{one.measure}: {name}"] = values, (header, kind)
    return Table.of("means", pl.DataFrame(columns), headers, best=frozenset(best))


def _order(found: Comparison) -> list[int]:
    order = [int(at) for at in found.contrasts[0].order()]
    if found.baseline is None:
        return order
    at = found.systems.index(found.baseline)
    return [at, *(other for other in order if other != at)]


def labels(number_of: int) -> list[str]:
    """Letters, from a."""
    return [chr(ord("a") + at) for at in range(number_of)]


def _beaten(found: Comparison, one: Contrasts, order: list[int]) -> dict[str, tuple[Kind, str, list[Any]]]:
    """Columns that say which runs are significantly better than which: name → kind, header and values."""
    won = one.better()[np.ix_(order, order)]
    if found.baseline is not None:  # it comes first
        marks = [BETTER if won[at, 0] else WORSE if won[0, at] else "" for at in range(len(order))]
        return {"against the baseline": ("marks", "", marks)}
    if len(order) > MOST_LETTERS:
        beaten = [f"{number} of {len(order) - 1}" for number in won.sum(axis=1)]
        return {"beats": ("text", "beats", beaten), "group": ("count", "group", one.groups()[order].tolist())}
    names = labels(len(order))
    better = ["".join(label for label, beaten in zip(names, row, strict=True) if beaten) for row in won]
    return {"better than": ("marks", "better than", better)}


def pairs_table(found: Comparison) -> Table:
    """One row per measure and pair: the difference, its interval, and what the test says."""
    frame = found.to_frame().with_columns(won=pl.concat_str("wins", "ties", "losses", separator="/"))
    headers: dict[str, str | tuple[str, Kind]] = {
        "measure": "measure",
        "run": "run",
        "other": "other" if found.baseline is None else "baseline",
        **{name: name for name in ("difference", "low", "high", "effect")},
        "won": "win/tie/loss",
        "p": ("p", "p"),
    }
    if found.family() > 1 and found.settings["correction"] not in ("none", "tukey"):
        headers["p_corrected"] = (f"p ({found.settings['correction']})", "p")
    return Table.of("pairs", frame, headers)


def movers_tables(found: Comparison, most: int | None) -> tuple[Table, ...]:
    """One table per measure and pair that was tested, with its runs side by side."""
    return tuple(
        Table.of(
            "movers",
            found.movers(run, other, one.measure, most).select(
                pl.lit(one.measure).alias("measure"), pl.lit(run).alias("run"), pl.lit(other).alias("other"), "*"
            ),
            {
                "query_id": f"{one.measure} of topic",
                "score": run,
                "score_other": other,
                "difference": "difference",
            },
        )
        for one in found.contrasts
        for run, other in ((found.systems[i], found.systems[j]) for i, j in zip(one.first, one.second, strict=True))
    )
