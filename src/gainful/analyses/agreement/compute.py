"""The agreement of measures on all topics, and on resampled ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.analyses.agreement import Correlation
from gainful.analyses.agreement.result import Agreed, Agreement
from gainful.data.complete import CompleteScores, complete_scores
from gainful.data.scores import Scores
from gainful.engine import Work
from gainful.errors import DataError
from gainful.results import Settings
from gainful.stats.correlation import kendall, mid_ranks, rbo, rms, spearman, tau_ap
from gainful.stats.paired import pairs
from gainful.stats.resample import FloatArray, block_sizes, bootstrap_draws, counts_of, generator


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coefficients:
    """Which coefficients of which measures."""

    complete: CompleteScores
    turned: FloatArray  # per measure, -1 where a lower score is better, else 1
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    chosen: tuple[Correlation, ...]
    p: float  # persistence of rbo

    def of_draws(self, draws: NDArray[np.unsignedinteger]) -> FloatArray:
        """Draws × pairs of measures × coefficients, for topics drawn with replacement."""
        return self.of_means(self.means(counts_of(draws)))

    def means(self, weights: FloatArray) -> FloatArray:
        """… × measures × runs, rounded so far that means which only rounding tells apart are equal."""
        means = self.complete.means(weights)
        grain = np.array([self.complete.noise(at) or 1.0 for at in range(len(self.complete.measures))])[:, None]
        return np.asarray(np.round(means / grain) * grain, np.float64)

    def of_means(self, means: FloatArray) -> FloatArray:
        """… × pairs of measures × coefficients."""
        of: dict[Correlation, Callable[[FloatArray, FloatArray], FloatArray]] = {
            "tau_b": kendall,
            "tau_a": lambda x, y: kendall(x, y, variant="a"),
            "tau_ap": lambda x, y: tau_ap(x, y, variant="b"),
            "rho": spearman,
            "rbo": lambda x, y: rbo(x, y, p=self.p),
        }
        order = means * self.turned[:, None]
        x, y = order[:, self.first], order[:, self.second]
        found = [
            rms(means[:, self.first], means[:, self.second]) if name == "rms" else of[name](x, y)
            for name in self.chosen
        ]
        return np.stack(found, axis=-1)


def computed(scores: Scores, settings: Settings, work: Work) -> Agreement:
    """The agreement of every pair of measures, by the settings of `gainful.agreement`."""
    if len(scores.measures) < 2:
        raise DataError(
            f"expected at least 2 measures to set against each other, got {len(scores.measures)}: "
            f"{', '.join(scores.measures)}; name more, such as nDCG@10 and AP, or give a table that has several"
        )
    complete = complete_scores(scores, gaps=settings["gaps"])
    turned = np.array([-1.0 if higher == "worse" else 1.0 for higher in scores.higher])
    first, second = pairs(len(complete.measures))
    chosen = settings["correlation"]
    every = Coefficients(complete=complete, turned=turned, first=first, second=second, chosen=chosen, p=settings["p"])
    means = every.means(np.ones((1, len(complete.topics))))
    value = every.of_means(means)[0]
    rng = generator(settings["seed"])
    sizes = block_sizes(settings["resamples"], len(first) * len(complete.systems) ** 2)
    draws = (bootstrap_draws(rng, size, len(complete.topics)) for size in sizes)
    drawn = work.map(Coefficients.of_draws, draws, shared=every, total=len(sizes), label="Resampling topics")
    found = np.stack([value, *_ends(np.concatenate(list(drawn)), settings["spread"])])
    return Agreement(
        measures=complete.measures,
        higher=scores.higher,
        systems=complete.systems,
        topics=len(complete.topics),
        scores=means[0],
        ranks=mid_ranks(means[0] * turned[:, None]),
        pairs=tuple(
            Agreed(complete.measures[a], complete.measures[b], name, *found[:, at, which].tolist())
            for at, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
            for which, name in enumerate(chosen)
        ),
        settings=settings,
    )


def _ends(drawn: FloatArray, spread: float) -> tuple[FloatArray, FloatArray]:
    """Percentiles over the resamples in which the coefficient is defined; NaN where that is none."""
    tail = (1.0 - spread) / 2.0
    undefined = np.isnan(drawn).all(axis=0)
    low, high = np.nanquantile(np.where(undefined, 0.0, drawn), [tail, 1.0 - tail], axis=0)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)
