"""What `agreement` returns."""

from __future__ import annotations

import math
from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.agreement import Correlation
from gainful.analyses.agreement.chart import map_chart, ranks_chart
from gainful.errors import GainfulError
from gainful.results import Chart, Note, Result, Settings, listed, plural
from gainful.stats.resample import FloatArray
from gainful.tables import Table

# What people read.
_TITLES: dict[Correlation, str] = {
    "tau_b": "Kendall's τ_b",
    "tau_a": "Kendall's τ_a",
    "tau_ap": "τ_AP",
    "rho": "Spearman's ρ",
    "rbo": "rank-biased overlap",
    "rms": "RMS difference of scores",
}
_HEADERS: dict[Correlation, str] = {"rbo": "RBO", "rms": "RMS difference"}
# Orders of fewer runs say little.
_FEW = 5
# Runs named that moved most, and runs named as the best of a measure.
_MOST = 5


@dataclass(frozen=True, slots=True)
class Agreed:
    """How far two measures agree, by one coefficient."""

    first: str
    second: str
    correlation: Correlation
    value: float  # its value on all topics
    # Between them lies the middle of the values on resampled topics; NaN where it is undefined in all of them. Not a
    # confidence interval: see `agreement`.
    resampled_low: float
    resampled_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where a run stands by two measures."""

    system: str
    # Its rank by each measure, 1 being the best; runs that are tied share the mean of their ranks.
    first: float
    second: float

    @property
    def places(self) -> float:
        """By how many places it is better by the second measure; negative if it is worse."""
        return self.first - self.second


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Agreement(Result):
    """What `agreement` found, for every pair of measures.

    Parameters
    ----------
    measures, systems
        The names of measures and runs.
    higher
        Per measure, whether a higher score is better, worse or neither.
    topics
        How many topics the scores are means of.
    scores
        Measures × runs: the mean scores.
    ranks
        Measures × runs: 1 for the best; runs that are tied share the mean of their ranks.
    pairs
        One entry per pair of measures and coefficient.
    settings
        What repeats it.
    """

    measures: tuple[str, ...]
    higher: tuple[str, ...]
    systems: tuple[str, ...]
    topics: int
    scores: FloatArray
    ranks: FloatArray
    pairs: tuple[Agreed, ...]
    settings: Settings

    @property
    def correlation(self) -> tuple[Correlation, ...]:
        """The coefficients, that of charts first."""
        chosen: tuple[Correlation, ...] = self.settings["correlation"]
        return chosen

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
        """The run that a measure puts first; several if they are tied."""
        ranks = self.ranks[self._at(measure)]
        return tuple(self.systems[at] for at in np.flatnonzero(ranks == ranks.min()))

    def moved(self, first: str, second: str) -> tuple[Move, ...]:
        """All runs, those first whose ranks by the two measures differ most; then by the first measure's rank."""
        one, other = self.ranks[self._at(first)], self.ranks[self._at(second)]
        order = np.lexsort((one, -np.abs(one - other)))
        return tuple(Move(system=self.systems[at], first=float(one[at]), second=float(other[at])) for at in order)

    def least(self) -> tuple[str, str]:
        """The two measures that agree least by the first coefficient; the first two where it is undefined."""
        found = min(self._shown(), key=self._closeness)
        return found.first, found.second

    def _shown(self) -> list[Agreed]:
        """The pairs by the first coefficient."""
        return [found for found in self.pairs if found.correlation == self.correlation[0]]

    def _closeness(self, found: Agreed) -> float:
        sign = -1.0 if found.correlation == "rms" else 1.0
        return math.inf if math.isnan(found.value) else sign * found.value

    def _at(self, measure: str) -> int:
        if measure not in self.measures:
            raise GainfulError(f"No ranks by {measure!r}; there are: {', '.join(self.measures)}")
        return self.measures.index(measure)

    def verdict(self) -> str:
        """Which two measures agree least, and who moves most between them; then who is best by which measure."""
        pair = self._telling()
        if pair is None:
            why = "of every two, one ties all runs or does not say which run is better"
            return f"How far the measures agree cannot be told: {why}."
        most, runs = len(self.measures) > 2, plural(len(self.systems), "run")
        if pair.correlation == "rms":
            how = f"differ{' most' if most else ''} in the mean scores of {runs}: the RMS difference is"
        else:
            how = f"agree least on the order of {runs}:" if most else f"order {runs} with"
            how += f" {_TITLES[pair.correlation]} ="
        mover = self._mover(pair.first, pair.second)
        return (
            f"{pair.first} and {pair.second} {how} {pair.value:.2f} ({pair.resampled_low:.2f} to "
            f"{pair.resampled_high:.2f} on resampled topics){mover and f'; {mover} moves most'}. {self._who_is_best()}"
        )

    def _telling(self) -> Agreed | None:
        """The pair that agrees least, of those whose measures both say which run is better."""
        ordering = {*self._ordering()}
        telling = [found for found in self._shown() if {found.first, found.second} <= ordering]
        return min(telling, key=self._closeness, default=None)

    def _ordering(self) -> list[str]:
        """The measures that say which run is better, and do not tie them all."""
        measures = zip(self.measures, self.higher, self.ranks, strict=True)
        return [name for name, higher, ranks in measures if higher != "neither" and (ranks != ranks[0]).any()]

    def _mover(self, first: str, second: str) -> str:
        """The run whose rank differs most, with both ranks; nothing if none does."""
        move = self.moved(first, second)[0]
        return f"{move.system} ({move.first:g} → {move.second:g})" if move.places else ""

    def _who_is_best(self) -> str:
        by_best: dict[str, list[str]] = {}
        for measure in self._ordering():
            by_best.setdefault(self._named_best(measure), []).append(measure)
        if len(by_best) == 1:
            return f"First by all of them: {next(iter(by_best))}."
        if len(by_best) > _MOST:
            return f"The measures put {len(by_best)} different runs first."
        return f"First: {'; '.join(f'{best} by {listed(names)}' for best, names in by_best.items())}."

    def _named_best(self, measure: str) -> str:
        best = self.best(measure)
        more = f" and {len(best) - _MOST} more (tied)" if len(best) > _MOST else " (tied)" if len(best) > 1 else ""
        return ", ".join(best[:_MOST]) + more

    def tables(self) -> tuple[Table, ...]:
        """Every pair of measures; all coefficients with both ends; who moved; who is best; scores and ranks of runs."""
        ends = dict(zip(("resampled_low", "resampled_high"), self.ends(), strict=True))
        titles: dict[str, str] = {name: _HEADERS.get(name, _TITLES[name]) for name in self.correlation}
        shown = self.correlation[0]
        wide = {"measure": "measure", "other": "with", shown: titles.pop(shown), **ends, **titles}
        long = {"measure": "measure", "other": "with", "correlation": "correlation", "value": "value", **ends}
        telling = self._telling()
        first, second = (telling.first, telling.second) if telling else self.least()
        moves = [(*astuple(move), move.places) for move in self.moved(first, second)[:_MOST] if move.places]
        ranks = {"first": f"rank by {first}", "second": f"rank by {second}", "places": "places up"}
        best = {"measure": self.measures, "best": [self._named_best(name) for name in self.measures]}
        return (
            Table.of("pairs", self._wide(), {**wide, "moved": "who moved most"}),
            Table.of("coefficients", self.to_frame(), long),
            Table.of(
                "moved",
                pl.DataFrame(moves, schema={"run": pl.String, **dict.fromkeys(ranks, pl.Float64)}, orient="row"),
                {"run": "run", **{name: (header, "level") for name, header in ranks.items()}},
                title=f"Runs that move most between {first} and {second}:",
            ),
            Table.of("best", pl.DataFrame(best)),
            Table.of(
                "runs", self._runs(), {"measure": "measure", "run": "run", "score": "mean", "rank": ("rank", "level")}
            ),
        )

    def compact(self) -> tuple[Table, ...]:
        """Every pair of measures, the runs that moved most between two, if any did, and the best runs."""
        every, _, moved, best, _ = self.tables()
        return (every, moved, best) if moved.frame.height else (every, best)

    def _wide(self) -> pl.DataFrame:
        """One row per pair of measures, one column per coefficient, and the ends of the first."""
        rows = [
            {
                "measure": pair.first,
                "other": pair.second,
                **{name: self.between(pair.first, pair.second, name).value for name in self.correlation},
                "resampled_low": pair.resampled_low,
                "resampled_high": pair.resampled_high,
                "moved": self._mover(pair.first, pair.second) or "nobody",
            }
            for pair in self._shown()
        ]
        return pl.DataFrame(rows)

    def _runs(self) -> pl.DataFrame:
        """One row per measure and run: its mean score and its rank."""
        return pl.concat(
            pl.DataFrame({"measure": measure, "run": self.systems, "score": scores, "rank": ranks})
            for measure, scores, ranks in zip(self.measures, self.scores, self.ranks, strict=True)
        )

    def _notes(self) -> tuple[Note, ...]:
        measures = list(zip(self.measures, self.higher, self.ranks, strict=True))
        no_direction = "{} does not say which run is better: runs are ordered by its higher scores."
        notes = [Note("no-direction", name, no_direction.format(name)) for name, h, _ in measures if h == "neither"]
        tied = "By {}, all runs are tied: it has no order to agree with."
        notes += [Note("all-tied", name, tied.format(name)) for name, _, ranks in measures if (ranks == ranks[0]).all()]
        few = f"Orders of only {len(self.systems)} runs easily agree, or disagree, by chance."
        return (*notes, *([Note("few-runs", "", few)] if len(self.systems) < _FEW else []))

    def _content(self) -> dict[str, Any]:
        return {**Result._content(self), "topics": self.topics}

    def to_frame(self) -> pl.DataFrame:
        """Long: measure, other, correlation, value, resampled_low, resampled_high; one row per pair and coefficient."""
        return pl.DataFrame(map(asdict, self.pairs)).rename({"first": "measure", "second": "other"})

    def chart(self) -> Chart:
        """Of two measures the ranks of all runs; of more a map of how far each two agree."""
        if len(self.measures) == 2:
            first, second = self.measures
            found = self.between(first, second)
            moves = [astuple(move) for move in self.moved(first, second)]
            value = "is undefined, all runs are tied" if np.isnan(found.value) else f"{found.value:.3f}"
            title = f"Who moved, the best at the top left: {_TITLES[found.correlation]} {value}"
            return ranks_chart(first, second, moves, title=title)
        shown = self.correlation[0]
        frame = self.to_frame().filter(pl.col("correlation") == shown)
        frame = frame.rename({"resampled_low": "low", "resampled_high": "high"})
        cells = pl.concat([frame, frame.with_columns(measure="other", other="measure")])
        title = f"How far measures agree on the order of {len(self.systems)} runs"
        return map_chart(cells, what=_TITLES[shown], high_is_far=shown == "rms", ends=self.ends(), title=title)

    def ends(self) -> tuple[str, str]:
        """What to call the two ends of the resampled values: resampled 2.5%, resampled 97.5%."""
        tail = 50.0 * (1.0 - self.settings["spread"])
        return f"resampled {tail:.4g}%", f"resampled {100.0 - tail:.4g}%"
