"""How far measures agree on the order of systems, and which systems move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from gainful.analyses.agreement.chart import map_chart, ranks_chart
from gainful.analyses.agreement.coefficients import CORRELATIONS, Coefficients, Correlation
from gainful.checks import check_share
from gainful.data.cube import complete_cube
from gainful.data.policies import Gaps, Policies, told
from gainful.engine import Engine, open_engine
from gainful.errors import DataError, GainfulError, check_choice
from gainful.stats.correlation import mid_ranks
from gainful.stats.paired import pairs
from gainful.stats.resample import FloatArray, block_sizes, bootstrap_draws, check_resamples, generator
from gainful.verbs.evaluate import read_scores

if TYPE_CHECKING:
    import altair

__all__ = ["CORRELATIONS", "Agreed", "Agreement", "Correlation", "Move", "agreement"]

# What people read in a chart.
_TITLES = {
    "tau_b": "Kendall's τ_b",
    "tau_a": "Kendall's τ_a",
    "tau_ap": "τ_AP",
    "rho": "Spearman's ρ",
    "rbo": "rank-biased overlap",
    "rms": "RMS difference of scores",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """How far two measures agree, by one coefficient.

    Parameters
    ----------
    first, second
        The measures.
    correlation
        The coefficient.
    value
        Its value on all topics.
    resampled_low, resampled_high
        Between them lies the middle of the values on resampled topics; NaN where it is undefined in all of them. Not a
        confidence interval: see `agreement`.
    """

    first: str
    second: str
    correlation: Correlation
    value: float
    resampled_low: float
    resampled_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where a system stands by two measures.

    Parameters
    ----------
    system
        Its name.
    first, second
        Its rank by each measure, 1 being the best; systems that are tied share the mean of their ranks.
    """

    system: str
    first: float
    second: float

    @property
    def places(self) -> float:
        """By how many places it is better by the second measure; negative if it is worse."""
        return self.first - self.second


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Agreement:
    """What `agreement` found, for every pair of measures.

    Parameters
    ----------
    measures, systems
        The names.
    topics
        How many topics the scores are means of.
    scores
        Measures × systems: the mean scores.
    ranks
        Measures × systems: 1 for the best; systems that are tied share the mean of their ranks.
    pairs
        One entry a pair of measures and coefficient.
    correlation, spread, resamples, p, seed, gaps, policies
        The settings that repeat it; no policies if the scores came from a table.
    """

    measures: tuple[str, ...]
    systems: tuple[str, ...]
    topics: int
    scores: FloatArray
    ranks: FloatArray
    pairs: tuple[Agreed, ...]
    correlation: tuple[Correlation, ...]
    spread: float
    resamples: int
    p: float
    seed: int
    gaps: Gaps
    policies: Policies | None

    def __str__(self) -> str:
        return (
            f"agreement: {len(self.measures)} measures on {len(self.systems)} systems, {self.topics} topics; "
            f"spread={self.spread:g} resamples={self.resamples} p={self.p:g} seed={self.seed} gaps={self.gaps}"
            f"{told(self.policies)}"
        )

    def between(self, first: str, second: str, correlation: Correlation | None = None) -> Agreed:
        """How far two measures agree, by a coefficient; by default the first that was asked for."""
        wanted = self.correlation[0] if correlation is None else correlation
        for found in self.pairs:
            if {found.first, found.second} == {first, second} and found.correlation == wanted:
                return found
        raise GainfulError(
            f"No {wanted} of {first!r} and {second!r}; there are {', '.join(self.correlation)} "
            f"of any two of: {', '.join(self.measures)}"
        )

    def matrix(self, correlation: Correlation | None = None) -> pl.DataFrame:
        """Measures × measures, by a coefficient; by default the first that was asked for."""
        wanted = self.correlation[0] if correlation is None else correlation
        same = 0.0 if wanted == "rms" else 1.0
        rows = [
            {other: same if other == name else self.between(name, other, wanted).value for other in self.measures}
            for name in self.measures
        ]
        return pl.DataFrame({"measure": list(self.measures)}).hstack(pl.DataFrame(rows))

    def best(self, measure: str) -> tuple[str, ...]:
        """The system that a measure puts first; several if they are tied."""
        ranks = self.ranks[self._at(measure)]
        return tuple(self.systems[at] for at in np.flatnonzero(ranks == ranks.min()))

    def moved(self, first: str, second: str) -> tuple[Move, ...]:
        """All systems, those first whose ranks by the two measures differ most; then by the first measure's rank."""
        one, other = self.ranks[self._at(first)], self.ranks[self._at(second)]
        order = np.lexsort((one, -np.abs(one - other)))
        return tuple(Move(system=self.systems[at], first=float(one[at]), second=float(other[at])) for at in order)

    def least(self) -> tuple[str, str]:
        """The two measures that agree least by the first coefficient; the first two where it is undefined."""
        chosen = [found for found in self.pairs if found.correlation == self.correlation[0]]
        sign = -1.0 if self.correlation[0] == "rms" else 1.0
        found = min(chosen, key=lambda found: np.inf if np.isnan(found.value) else sign * found.value)
        return found.first, found.second

    def _at(self, measure: str) -> int:
        if measure not in self.measures:
            raise GainfulError(f"No ranks by {measure!r}; there are: {', '.join(self.measures)}")
        return self.measures.index(measure)

    def to_frame(self) -> pl.DataFrame:
        """Long: measure, other, correlation, value, resampled_low, resampled_high; a row a pair and coefficient."""
        columns = ("measure", "other", "correlation", "value", "resampled_low", "resampled_high")
        rows = [(f.first, f.second, f.correlation, f.value, f.resampled_low, f.resampled_high) for f in self.pairs]
        types = [pl.String] * 3 + [pl.Float64] * 3
        return pl.DataFrame(rows, schema=list(zip(columns, types, strict=True)), orient="row")

    def to_dict(self) -> dict[str, object]:
        """Coefficients, mean scores and ranks of the systems by every measure, and the settings."""
        scores, ranks = (
            {
                name: dict(zip(self.systems, row, strict=True))
                for name, row in zip(self.measures, of.tolist(), strict=True)
            }
            for of in (self.scores, self.ranks)
        )
        return {
            "pairs": self.to_frame().to_dicts(),
            "scores": scores,
            "ranks": ranks,
            "topics": self.topics,
            "correlation": list(self.correlation),
            "spread": self.spread,
            "resamples": self.resamples,
            "p": self.p,
            "gaps": self.gaps,
            "policies": None if self.policies is None else self.policies.to_dict(),
            "seed": self.seed,
        }

    def chart(self) -> altair.TopLevelMixin:
        """Of two measures the ranks of all systems; of more a map of how far each two agree."""
        if len(self.measures) == 2:
            first, second = self.measures
            found = self.between(first, second)
            moves = [(move.system, move.first, move.second) for move in self.moved(first, second)]
            value = "is undefined, all systems are tied" if np.isnan(found.value) else f"{found.value:.3f}"
            title = f"Who moved, the best at the top right: {_TITLES[found.correlation]} {value}"
            return ranks_chart(first, second, moves, title=title)
        shown = self.correlation[0]
        both = [found for found in self.pairs if found.correlation == shown]
        cells = [
            (*names, found.value, found.resampled_low, found.resampled_high)
            for found in both
            for names in ((found.first, found.second), (found.second, found.first))
        ]
        frame = pl.DataFrame(cells, schema=["measure", "other", "value", "low", "high"], orient="row")
        title = f"How far measures agree on the order of {len(self.systems)} systems"
        return map_chart(frame, what=_TITLES[shown], high_is_far=shown == "rms", ends=self.ends(), title=title)

    def ends(self) -> tuple[str, str]:
        """What to call the two ends of the resampled values: resampled 2.5 %, resampled 97.5 %."""
        tail = 50.0 * (1.0 - self.spread)
        return f"resampled {tail:.4g} %", f"resampled {100.0 - tail:.4g} %"


def agreement(
    scores: Any,
    *,
    correlation: Correlation | Sequence[Correlation] = CORRELATIONS,
    spread: float = 0.95,
    resamples: int = 1000,
    p: float = 0.9,
    seed: int = 0,
    gaps: Gaps = "error",
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: int | None = None,
) -> Agreement:
    """Find how far measures agree on the order of systems, and which systems move.

    Parameters
    ----------
    scores
        Scores of two or more measures: what `evaluate` returns, a file or a frame.
    correlation
        What to compute, such as tau_b,rbo, the first being shown in charts: tau_b (Kendall's τ, corrected for ties),
        tau_a (Kendall's τ), tau_ap (τ_AP, in which the top counts more), rho (Spearman's ρ), rbo (rank-biased overlap),
        rms (root mean square difference of the scores themselves).
    spread
        The share of the values on resampled topics that lies between the two ends shown, the rest being beyond either
        end in equal parts.
    resamples
        How many times topics are drawn with replacement, the same ones for every measure.
    p
        Persistence of rbo, between 0 and 1: the smaller, the more the very top decides.
    seed
        Where the random numbers start.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs and measures).
    engine
        Where to compute: local (in this process) or dask (on the workers of a Dask cluster).
    scheduler
        With engine dask: the address of a running scheduler, such as tcp://10.0.0.1:8786; by default workers are
        started on this machine, and ended afterwards.
    workers
        With engine dask: how many workers to start on this machine; one a core by default.

    Returns
    -------
    Agreement
        Coefficients for every pair of measures, with their spread over resampled topics, and the ranks of all systems.

    Notes
    -----
    Systems are ordered by their means over topics (geometric means, where that is how the measure is summarised), the
    higher the better, or the lower where the measure says so; rms compares the means as they are. Means that differ by
    10⁻¹² of the largest score are tied. tau_ap is τ_AP,b of Urbano & Marrero (2017), symmetric: without ties the mean
    of τ_AP (Yilmaz et al. 2008) in both directions. rbo is RBO_ext (Webber et al. 2010) of the two complete orders, its
    ties corrected for as RBOᵇ by Corsi & Urbano (2024). tau_b, tau_ap and rho are NaN where a measure ties all systems.

    The resampled values show how much a coefficient hangs on which topics there are: far apart, a difference between
    two coefficients means little. They are not a confidence interval, and no forecast for other topics: a sample draws
    some topics twice and others never, so that its orders are noisier than the observed ones, and orders that agree
    well seem to agree less. The observed value may lie near the upper end, or beyond it.

    Examples
    --------
    >>> import polars as pl
    >>> long = [("a", "AP", "1", 0.9), ("b", "AP", "1", 0.6), ("c", "AP", "1", 0.1),
    ...         ("a", "AP", "2", 0.7), ("b", "AP", "2", 0.5), ("c", "AP", "2", 0.3),
    ...         ("a", "RR", "1", 0.5), ("b", "RR", "1", 1.0), ("c", "RR", "1", 0.2),
    ...         ("a", "RR", "2", 0.5), ("b", "RR", "2", 1.0), ("c", "RR", "2", 0.1)]
    >>> found = agreement(pl.DataFrame(long, schema=["run", "measure", "query_id", "score"], orient="row"))
    >>> round(found.between("AP", "RR", "tau_b").value, 3), found.best("AP"), found.best("RR")
    (0.333, ('a',), ('b',))
    """
    chosen = _check_settings(correlation, spread, p)
    check_resamples(resamples)
    given = read_scores(scores)
    if len(given.measures) < 2:
        raise DataError(
            f"expected at least 2 measures to set against each other, got {len(given.measures)}: "
            f"{', '.join(given.measures)}; name more, as in -m nDCG@10 -m AP, or give a table that has several"
        )
    cube = complete_cube(given, gaps=gaps)
    turned = np.array([-1.0 if higher == "worse" else 1.0 for higher in given.higher])
    first, second = pairs(len(cube.measures))
    every = Coefficients(cube=cube, turned=turned, first=first, second=second, chosen=chosen, p=p)
    means = every.means(np.ones((1, len(cube.topics))))
    value = every.of_means(means)[0]
    rng = generator(seed)
    sizes = block_sizes(resamples, len(first) * len(cube.systems) ** 2)
    draws = (bootstrap_draws(rng, size, len(cube.topics)) for size in sizes)
    with open_engine(engine, scheduler=scheduler, workers=workers) as work:
        drawn = np.concatenate(
            list(work.map(Coefficients.of_draws, draws, shared=every, total=len(sizes), label="Resampling topics"))
        )
    low, high = _ends(drawn, spread)
    return Agreement(
        measures=cube.measures,
        systems=cube.systems,
        topics=len(cube.topics),
        scores=means[0],
        ranks=mid_ranks(means[0] * turned[:, None]),
        pairs=tuple(
            Agreed(
                first=cube.measures[a],
                second=cube.measures[b],
                correlation=name,
                value=float(value[at, which]),
                resampled_low=float(low[at, which]),
                resampled_high=float(high[at, which]),
            )
            for at, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
            for which, name in enumerate(chosen)
        ),
        correlation=chosen,
        spread=float(spread),
        resamples=resamples,
        p=float(p),
        seed=seed,
        gaps=gaps,
        policies=given.policies,
    )


def _ends(drawn: FloatArray, spread: float) -> tuple[FloatArray, FloatArray]:
    """Percentiles over the resamples in which the coefficient is defined; NaN where that is none."""
    tail = (1.0 - spread) / 2.0
    undefined = np.isnan(drawn).all(axis=0)
    low, high = np.nanquantile(np.where(undefined, 0.0, drawn), [tail, 1.0 - tail], axis=0)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def _check_settings(
    correlation: Correlation | Sequence[Correlation], spread: float, p: float
) -> tuple[Correlation, ...]:
    chosen: tuple[Correlation, ...] = (correlation,) if isinstance(correlation, str) else tuple(correlation)
    if not chosen:
        raise GainfulError(f"correlation: expected some of {', '.join(CORRELATIONS)}, got none")
    for name in chosen:
        check_choice("correlation", name, CORRELATIONS)
    check_share("spread", spread)
    check_share("p", p)
    return tuple(dict.fromkeys(chosen))
