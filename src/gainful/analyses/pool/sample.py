"""Stratified samples of a pool, with the probability of each document to be judged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gainful import _polars as pl
from gainful.errors import GainfulError, check_cutoffs, check_numbers, setting
from gainful.stats.resample import generator

# With one document of a stratum judged, no pair of its documents could ever be seen.
_LEAST = 2
# What was judged before: with certainty.
JUDGED = "judged"


def check_strata(strata: Sequence[int], rates: Sequence[float], more: int | None) -> None:
    """Refuse strata without rates, rates that are no shares, and a sample of what is not sampled."""
    if not len(strata) and not len(rates):
        return
    if more is not None:
        raise GainfulError(
            f"{setting('more')}: expected either this or {setting('strata')} and {setting('rates')}, got both"
        )
    given, lacking = ("rates", "strata") if len(rates) else ("strata", "rates")
    if not len(strata) or not len(rates):
        raise GainfulError(f"{setting(given)}: expected {setting(lacking)} beside it, a number for each, got none")
    bounds = check_cutoffs("strata", strata)
    shares = check_numbers("rates", rates, "1, 0.1")
    if len(bounds) != len(shares) or list(bounds) != list(strata):
        raise GainfulError(
            f"{setting('strata')}: expected as many depths, ascending, as {setting('rates')}, got "
            f"{', '.join(f'{b:g}' for b in strata)} with {', '.join(f'{rate:g}' for rate in shares)}"
        )
    for rate in shares:
        if not 0.0 < rate <= 1.0:
            raise GainfulError(f"rates: expected shares above 0 and at most 1, got {rate:g}")


def sampled(entries: pl.DataFrame, strata: Sequence[int], rates: Sequence[float], seed: int) -> pl.DataFrame:
    """The pool to the last stratum with stratum, inclusion and drawn; `entries` are sorted, with depth and known.

    Of the N documents of a topic in a stratum ⌈rate·N⌉ are drawn, at least two. Labels of what was not drawn are
    dropped: they would spoil the sample.
    """
    inside = entries.filter(pl.col("depth") <= strata[-1])
    known = inside["known"].to_numpy()
    number = np.searchsorted(np.asarray(strata), inside["depth"].to_numpy())
    stratum = np.where(known, len(strata), number)
    topic = inside["query_id"].rank("dense").to_numpy().astype(np.int64) - 1
    group = topic * (len(strata) + 1) + stratum
    size = np.bincount(group, minlength=(int(topic.max(initial=0)) + 1) * (len(strata) + 1))
    share = np.tile([*rates, 1.0], len(size) // (len(strata) + 1))
    # 0.07 · 100 is 7.000000000000001, which must not draw an eighth document.
    wanted = np.minimum(size, np.maximum(np.ceil(share * size - 1e-9), _LEAST)).astype(np.int64)
    order = np.lexsort((generator(seed).random(len(group)), group))
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    place = np.empty(len(group), np.int64)
    place[order] = np.arange(len(group)) - start[group[order]]
    drawn = place < wanted[group]
    names = np.array([*(f"to {depth}" for depth in strata), JUDGED])
    return inside.with_columns(
        stratum=pl.Series(names[stratum].tolist(), dtype=pl.String),
        inclusion=pl.Series(wanted[group] / size[group]),
        drawn=pl.Series(drawn),
        relevance=pl.when(pl.Series(drawn)).then("relevance"),
    )
