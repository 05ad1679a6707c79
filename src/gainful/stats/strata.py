"""Columns that belong to groups: means of groups, their errors, and resamples that draw within each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.stats.resample import FloatArray, bootstrap_counts, generator

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strata:
    """The group of each column, and what it counts for in the mean.

    Without groups all columns are one. With `macro` every group counts the same, else every column.
    """

    names: tuple[str, ...]
    place: IntArray  # of each column, which group
    macro: bool = False

    @classmethod
    def one(cls, columns: int) -> Strata:
        """No groups."""
        return cls(names=("",), place=np.zeros(columns, np.int64))

    def sizes(self) -> IntArray:
        """How many columns each group has."""
        return np.bincount(self.place, minlength=len(self.names))

    def weights(self) -> FloatArray:
        """What each column counts for; they add up to 1."""
        sizes = self.sizes()
        shares = np.full(len(sizes), 1.0 / len(sizes)) if self.macro else sizes / sizes.sum()
        return np.asarray((shares / sizes)[self.place], np.float64)

    def members(self) -> Iterator[IntArray]:
        """The columns of each group."""
        return (np.flatnonzero(self.place == at) for at in range(len(self.names)))

    def group_means(self, values: FloatArray) -> FloatArray:
        """Rows × groups."""
        return np.stack([values[:, columns].mean(axis=1) for columns in self.members()], axis=1)

    def mean(self, values: FloatArray) -> FloatArray:
        """Of each row."""
        return np.asarray((values * self.weights()).sum(axis=1), np.float64)

    def weighted(self, values: FloatArray) -> FloatArray:
        """The same rows with the mean of all columns equal to `mean`."""
        return np.asarray(values * (self.weights() * values.shape[1]), np.float64)

    def centred(self, values: FloatArray) -> FloatArray:
        """What is left of each column without the mean of its group, times what the column counts for.

        Their sum over drawn columns is how far the mean of a resample is from that of the sample.
        """
        return np.asarray((values - self.group_means(values)[:, self.place]) * self.weights(), np.float64)

    def corrections(self) -> FloatArray:
        """Of each column n/(n − 1) of its group, which makes squares about a mean of the sample unbiased."""
        sizes = self.sizes()
        return np.asarray((sizes / (sizes - 1.0))[self.place], np.float64)

    def squared_errors(self, values: FloatArray) -> FloatArray:
        """Rows × groups: what each group adds to the variance of a row's mean; 0 where that is mere rounding."""
        squares = self.centred(values) ** 2 * self.corrections()
        noise = (np.abs(values).max(axis=1, initial=0.0) * 1e-14) ** 2
        found = np.stack([squares[:, columns].sum(axis=1) for columns in self.members()], axis=1)
        found[found <= noise[:, None] * self.weights().max()] = 0.0
        return found

    def errors(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of each row's mean, the standard error and its degrees of freedom (Satterthwaite's, for several groups)."""
        squares = self.squared_errors(values)
        total = squares.sum(axis=1)
        below = (squares**2 / (self.sizes() - 1.0)).sum(axis=1)
        df = np.divide(total**2, below, out=np.full(len(total), 1.0), where=below > 0.0)
        return np.sqrt(total), df

    def streams(self, seed: int) -> list[np.random.Generator]:
        """Random numbers for each group, so that they do not depend on the size of the blocks they are drawn in."""
        return [generator(seed), *(np.random.default_rng([seed, at]) for at in range(1, len(self.names)))]

    def counts(self, streams: Sequence[np.random.Generator], number: int) -> FloatArray:
        """`number` resamples, as how often each column was drawn: within each group as many as it has."""
        drawn = np.empty((number, len(self.place)))
        for rng, columns in zip(streams, self.members(), strict=True):
            drawn[:, columns] = bootstrap_counts(rng, number, len(columns))
        return drawn
