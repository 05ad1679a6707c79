"""Analysis of variance of a crossed table with one number per cell, for any number of tables in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from gainful.errors import GainfulError
from gainful.stats.resample import FloatArray

# Beyond these, squares of what is 1e-14 of the largest number, or sums of squares, are more than a number can hold.
SMALLEST, LARGEST = 1e-140, 1e140
# An estimate and the two ends of its confidence interval.
Ratios: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class TwoWay:
    """Mean squares of tables of rows × columns, in the shape of the leading axes: one number per table."""

    rows: FloatArray
    columns: FloatArray
    residual: FloatArray
    n_rows: int
    n_columns: int
    df_rows: int  # degrees of freedom
    df_columns: int
    df_residual: int

    def within_rows(self) -> FloatArray:
        """The mean square of a one-way analysis, to which columns are error: df = rows · (columns − 1)."""
        squares = self.columns * self.df_columns + self.residual * self.df_residual
        return np.asarray(squares / (self.n_rows * self.df_columns))


def two_way(tables: FloatArray) -> TwoWay:
    """Mean squares of tables, … × rows × columns of at least 2 × 2; sums that are mere rounding become 0.

    >>> squares = two_way(np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 8.0]]))
    >>> [round(float(value), 4) for value in (squares.rows, squares.columns, squares.residual)]
    [13.5, 6.5, 1.5]
    """
    n_rows, n_columns = tables.shape[-2:]
    largest = np.abs(tables).max(axis=(-2, -1))
    extreme = largest[(largest > 0) & ~((largest >= SMALLEST) & (largest <= LARGEST))]
    if extreme.size:
        raise GainfulError(
            f"expected numbers whose squares can be held, the largest between {SMALLEST:g} and {LARGEST:g}, got "
            f"{extreme.flat[0]:g}: multiply all of them by the same factor"
        )
    noise = (1e-14 * largest) ** 2 * (n_rows * n_columns)
    # Centred by one number of the table first, so that a large common level does not swallow small differences.
    centred = tables - tables[..., :1, :1]
    grand = centred.mean(axis=(-2, -1))
    rows = centred.mean(axis=-1) - grand[..., None]
    columns = centred.mean(axis=-2) - grand[..., None]
    centred -= grand[..., None, None]
    centred -= rows[..., :, None]
    centred -= columns[..., None, :]
    sums = (
        n_columns * np.einsum("...i,...i->...", rows, rows),
        n_rows * np.einsum("...i,...i->...", columns, columns),
        np.einsum("...ij,...ij->...", centred, centred),
    )
    df = (n_rows - 1, n_columns - 1, (n_rows - 1) * (n_columns - 1))
    between, across, residual = (np.where(total <= noise, 0.0, total / d) for total, d in zip(sums, df, strict=True))
    return TwoWay(between, across, residual, n_rows, n_columns, *df)


def components(squares: TwoWay) -> Ratios:
    """The variances of rows, columns and the residual, if both are drawn at random; the first two can be negative."""
    rows = (squares.rows - squares.residual) / squares.n_columns
    columns = (squares.columns - squares.residual) / squares.n_rows
    return rows, columns, squares.residual


def relative_ratios(squares: TwoWay, confidence: float) -> Ratios:
    """σ²(rows)/σ²(residual) and the ends of its interval (Feldt 1965); none below 0, and NaN for 0/0."""
    rows, _, residual = components(squares)
    tail = (1.0 - confidence) / 2.0

    def end(p: float) -> FloatArray:
        expected = special.fdtri(squares.df_rows, squares.df_residual, p) * squares.residual
        return _ratio(squares.rows - expected, expected * squares.n_columns)

    return _ratio(rows, residual), end(1.0 - tail), end(tail)


def absolute_ratios(squares: TwoWay, confidence: float) -> Ratios:
    """σ²(rows)/(σ²(columns) + σ²(residual)) and the ends of its interval (Arteaga et al. 1982); none below 0."""
    rows, columns, residual = components(squares)
    tail = (1.0 - confidence) / 2.0
    df = squares.df_rows
    # Ratios have no unit, but the products of two mean squares below may be more than a number can hold.
    unit = np.maximum.reduce([squares.rows, squares.columns, squares.residual])
    unit = np.where(unit > 0, unit, 1.0)
    ms_r, ms_c, ms_e = squares.rows / unit, squares.columns / unit, squares.residual / unit

    def end(p: float) -> FloatArray:
        f_inf = special.chdtri(df, 1.0 - p) / df
        f_e = special.fdtri(df, squares.df_residual, p)
        f_c = special.fdtri(df, squares.df_columns, p)
        above = ms_r * ms_r - f_inf * ms_r * ms_e + (f_inf - f_e) * f_e * ms_e * ms_e
        # It is 0 at MS(rows) = F·MS(residual); further down the square would lead it up again.
        above = np.where(ms_r <= f_e * ms_e, 0.0, above)
        return _ratio(above * squares.n_rows, (df * f_inf * ms_r * ms_e + f_c * ms_r * ms_c) * squares.n_columns)

    # Rows without any difference, in a table that has some: 0, not undefined.
    same = (ms_r == 0) & ((ms_c > 0) | (ms_e > 0))
    low, high = (np.where(same, 0.0, end(p)) for p in (1.0 - tail, tail))
    return _ratio(rows, np.maximum(columns, 0.0) + residual), low, high


def reliability_of(ratio: Any, n: Any) -> FloatArray:
    """The share of σ²(rows) in the variance of a mean of n: n·ratio/(1 + n·ratio), 1 for an infinite ratio."""
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / (1.0 + 1.0 / (np.asarray(n) * ratio)))


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """A ratio of variances: a negative one is 0, x/0 infinite, 0/0 undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.maximum(above, 0.0) / below)
