"""Two one-sided tests (TOST): whether two runs differ by less than a margin, in either direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from gainful import _polars as pl
from gainful.stats.paired import corrected, rounding, sign_flip_p
from gainful.stats.resample import FloatArray, largest_of
from gainful.stats.strata import Strata
from gainful.tables import Kind, Table

if TYPE_CHECKING:
    from gainful.verbs.compare.contrasts import Contrasts
    from gainful.verbs.compare.result import Comparison


def equivalence_p(one: Contrasts, margin: float) -> FloatArray:
    """Of each pair the larger p of two one-sided t-tests: that the difference is above −margin, and below margin.

    Differences without variance are tested by their signs, as elsewhere: 2^−T if all lie inside, else 1.
    """
    z, strata = one.differences(), one.strata or Strata.one(len(one.topics))
    error, df = strata.errors(z)
    room = margin - np.abs(one.difference)
    noise = rounding(one.values, one.first, one.second)
    constant = one.equal | ~(np.abs(z) > noise[:, None]).any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = special.stdtr(df, -room / error)
    inside = margin - largest_of(z) > noise
    return np.where(constant, np.where(inside, sign_flip_p(z.shape[1]) / 2.0, 1.0), p)


def equivalence_frame(found: Comparison, margin: float) -> pl.DataFrame:
    """One row per measure and pair: measure, run, other, difference, p, p_corrected, equivalent."""
    frames = []
    for one in found.contrasts:
        p = equivalence_p(one, margin)
        correction = found.settings["correction"]
        adjusted = corrected(p, "holm" if correction == "tukey" else correction)
        names = pl.Series(found.systems, dtype=pl.String)
        columns = {"run": names.gather(one.first), "other": names.gather(one.second), "difference": one.difference}
        tests = {"p": p, "p_corrected": adjusted, "equivalent": adjusted < one.alpha}
        frames.append(pl.DataFrame({"measure": one.measure, **columns, **tests}))
    return pl.concat(frames)


def equivalence_table(found: Comparison, margin: float) -> Table:
    """The pairs, those that are shown to be equivalent with a yes."""
    headers: dict[str, str | tuple[str, Kind]] = {
        "measure": "measure",
        "run": "run",
        "other": "other" if found.baseline is None else "baseline",
        "difference": "difference",
        "p": ("p", "p"),
    }
    if found.family() > 1 and found.settings["correction"] != "none":
        name = "holm" if found.settings["correction"] == "tukey" else found.settings["correction"]
        headers["p_corrected"] = (f"p ({name})", "p")
    headers["equivalent"] = "equivalent"
    title = f"Do two runs differ by less than {margin:g}, in either direction? Two one-sided t-tests."
    return Table.of("equivalence", equivalence_frame(found, margin), headers, title=title)


def equivalence_sentence(found: Comparison, margin: float) -> str:
    """How many pairs are shown to differ by less than the margin."""
    rows = equivalence_frame(found, margin)
    shown = int(rows["equivalent"].sum())
    if rows.height == 1:
        pair = "the two runs differ" if shown else "it is not shown that the two runs differ"
        return f"By TOST, {pair} by less than {margin:g}."
    pairs = f"{shown:,} of {rows.height:,} pairs {'is' if shown == 1 else 'are'}"
    return f"By TOST, {pairs} shown to differ by less than {margin:g}."
