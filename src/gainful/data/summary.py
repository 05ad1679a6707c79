"""One number for the topics of a run: the mean, the sum or the geometric mean of its scores."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gainful.data.rankings import BoolArray, FloatArray

Summary = Literal["mean", "sum", "gmean"]
# trec_eval's floor under a geometric mean: one topic of 0 must not decide it alone.
FLOOR = 1e-5


def summarise(values: FloatArray, counted: BoolArray, summary: Summary) -> FloatArray:
    """One number for the last axis (topics), over the cells that count; NaN where none does."""
    number = counted.sum(axis=-1)
    if summary == "gmean":
        values = np.log(np.maximum(values, FLOOR))
    cells = np.where(counted, values, 0.0)
    with np.errstate(over="ignore"):
        total = cells.sum(axis=-1)
    if summary == "sum":
        return np.where(number > 0, total, np.nan)
    if np.isinf(total).any():  # the mean of numbers is one, even where their sum is none
        scaled = np.ldexp(cells, -64).sum(axis=-1) / np.maximum(number, 1)
        most = np.ldexp(np.finfo(np.float64).max, -64)
        return np.where(number > 0, np.ldexp(np.clip(scaled, -most, most), 64), np.nan)
    with np.errstate(invalid="ignore"):
        mean = np.where(number > 0, total / np.maximum(number, 1), np.nan)
        return np.exp(mean) if summary == "gmean" else mean
