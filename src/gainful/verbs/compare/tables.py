"""The tables of a comparison: the means with what each run is better than, the pairs, the topics that moved most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gainful import _polars as pl
from gainful.data.metadata import metadata_columns
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
    before, after = metadata_columns(found.metadata, columns["run"], [one.measure for one in found.contrasts])
    columns |= before
    headers |= {name: name for name in before}
    best = set()
    for one in found.contrasts:
        mean = one.mean[order]
        if one.higher != "neither":
            best |= {(int(row), len(columns)) for row in np.flatnonzero(mean == one.sign() * (one.sign() * mean).max())}
        columns[one.measure], headers[one.measure] = mean, (one.measure, "score")
        for name, (kind, header, values) in _beaten(found, one, order).items():
            columns[f"{one.measure}: {name}"], headers[f"{one.measure}: {name}"] = values, (header, kind)
    headers |= {name: name for name in after}
    return Table.of("means", pl.DataFrame(columns | after), headers, best=frozenset(best))


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
        return {
            "beats": ("text", "beats", beaten),
            "group": ("count", "group", one.groups()[order].tolist()),
            "place": ("text", "place", _places(one, order)),
        }
    names = labels(len(order))
    better = ["".join(label for label, beaten in zip(names, row, strict=True) if beaten) for row in won]
    placed: dict[str, tuple[Kind, str, list[Any]]] = {"better than": ("marks", "better than", better)}
    return placed if len(order) == 2 else {**placed, "place": ("text", "place", _places(one, order))}


def _places(one: Contrasts, order: list[int]) -> list[str]:
    """The places that each run may have, such as 1-3."""
    ends = zip(one.place_low[order].tolist(), one.place_high[order].tolist(), strict=True)
    return [str(low) if low == high else f"{low}-{high}" for low, high in ends]


def standing_table(found: Comparison) -> Table:
    """One row per measure and run, the best first: the places that it may have, and how often it is best."""
    frames = []
    for one in found.contrasts:
        order = one.order().tolist()
        columns = {"run": [found.systems[at] for at in order], "mean": one.mean[order], "low": one.low[order]}
        columns |= {"high": one.high[order], "place": np.arange(1, len(order) + 1)}
        columns |= {name: getattr(one, name)[order] for name in ("place_low", "place_high", "best")}
        optimism = np.where(np.arange(len(order)) == 0, one.optimism, np.nan)
        frame = pl.DataFrame({"measure": one.measure, **columns, "may_be_best": one.may_be_best()[order]})
        frames.append(frame.with_columns(optimism=pl.Series(optimism).fill_nan(None)))
    headers: dict[str, str | tuple[str, Kind]] = {name: name for name in ("measure", "run", "mean", "low", "high")}
    headers |= {"place": "place", "place_low": "from", "place_high": "to", "best": ("best", "share")}
    headers |= {"may_be_best": "may be best", "optimism": "too good by"}
    title = (
        "Which run may be best? Places with their intervals, and the share of resampled topics on which a run is best."
    )
    return Table.of("standing", pl.concat(frames), headers, title=title)


def groups_table(found: Comparison) -> Table:
    """One row per measure and run: the mean of each group of topics, of all groups (macro) and of all topics."""
    frames = []
    for one in found.contrasts:
        order = one.order().tolist()
        strata = one.strata
        if strata is None:
            raise ValueError("these topics have no groups")
        means = strata.group_means(one.values)[order]
        columns = {name: means[:, at] for at, name in enumerate(strata.names)}
        columns |= {"macro": means.mean(axis=1), "topics": one.values[order].mean(axis=1)}
        runs = [found.systems[at] for at in order]
        frames.append(
            pl.DataFrame({"measure": one.measure, "run": runs, **{f"mean: {k}": v for k, v in columns.items()}})
        )
    sizes = zip(found.contrasts[0].strata.names, found.contrasts[0].strata.sizes().tolist(), strict=True)  # type: ignore[union-attr]
    headers = {"measure": "measure", "run": "run", **{f"mean: {name}": f"{name} ({size})" for name, size in sizes}}
    headers |= {"mean: macro": "mean of groups", "mean: topics": "mean of topics"}
    title = "Means of the groups of topics, with how many topics each has."
    return Table.of("groups", pl.concat(frames, how="diagonal"), headers, title=title)


def pairs_table(found: Comparison) -> Table:
    """One row per measure and pair: the difference, its interval, and what the test says."""
    frame = found.to_frame().with_columns(won=pl.concat_str("wins", "ties", "losses", separator="/"))
    headers: dict[str, str | tuple[str, Kind]] = {
        "measure": "measure",
        "run": "run",
        "other": "other" if found.baseline is None else "baseline",
        **{name: name for name in ("difference", "low", "high")},
        **({"all_low": "low (all)", "all_high": "high (all)"} if found.family() > 1 else {}),
        "effect": "effect",
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
