"""What a comparison found: numbers of runs and pairs, and what one may ask of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gainful.charts import COLOURS, WIDTH, load_altair, styled
from gainful.data.policies import Gaps, Policies, told
from gainful.errors import DataError, GainfulError, did_you_mean
from gainful.stats.corrections import Method as Correction
from gainful.stats.intervals import Interval, mean_interval
from gainful.stats.paired import CLOSE, IntArray, rounding
from gainful.stats.resample import FloatArray

if TYPE_CHECKING:
    import altair

Test = Literal["t", "wilcoxon", "randomisation", "bootstrap", "tukey"]
_RESAMPLED = ("randomisation", "bootstrap", "tukey")
# Of fewer topics, winning them all is no news: a sign test has p = 2/2⁴ at best.
_FEW_TOPICS = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrasts:
    """The runs under one measure, and the pairs that were tested; a pair is a run and an other run.

    Parameters
    ----------
    measure, higher
        What was measured, and whether a higher score is better, worse or neither.
    topics, values
        The topics that all runs have, and the scores: runs × topics.
    mean, low, high
        Of each run, with the ends of its interval.
    first, second
        Of each pair, the places of the run and of the other.
    difference, difference_low, difference_high
        Of each pair, the mean of run − other, with the ends of its interval.
    effect
        The difference in standard deviations of the differences per topic; 0 where all of them are 0, infinite where
        they are all the same other number.
    wins, ties, losses
        Of each pair, the topics in which the run is better than, equal to, worse than the other; higher counts as
        better where neither is.
    direction
        Of each pair, 1 where the test takes the run for higher than the other, -1 for lower, 0 for neither: the sign of
        the sum of signed ranks for wilcoxon, of the difference for all other tests.
    p, p_corrected
        Of each pair, as tested, and corrected for the number of pairs.
    """

    measure: str
    higher: str
    topics: tuple[str, ...]
    values: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    first: IntArray
    second: IntArray
    difference: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray
    effect: FloatArray
    wins: IntArray
    ties: IntArray
    losses: IntArray
    direction: IntArray
    p: FloatArray
    p_corrected: FloatArray

    def sign(self) -> float:
        """-1 where lower is better, else 1."""
        return -1.0 if self.higher == "worse" else 1.0

    def differences(self) -> FloatArray:
        """Pairs × topics: run − other."""
        return self.values[self.first] - self.values[self.second]

    def better(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Runs × runs: whether the row's run is significantly better than the column's (higher, if neither is).

        The `direction` of the test says which one is better.
        """
        _check_alpha(alpha)
        won = np.zeros((len(self.mean), len(self.mean)), np.bool_)
        found, gain = self.p_corrected < alpha, self.sign() * self.direction
        won[self.first, self.second] = found & (gain > 0.0)
        won[self.second, self.first] = found & (gain < 0.0)
        return won

    def against_the_mean(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Of each pair, whether it differs significantly, and the better of the two has not the better mean."""
        _check_alpha(alpha)
        return (self.p_corrected < alpha) & (self.direction * np.sign(self.difference) <= 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """What `compare` found, for every measure.

    Parameters
    ----------
    systems
        The names of the runs.
    contrasts
        One entry a measure.
    baseline
        The run that the others were compared with; None where all pairs were.
    test, correction, interval, confidence, resamples, seed, gaps, policies
        The settings that repeat it; no policies if the scores came from a table. `correction` is ``tukey`` for the test
        that corrects itself.
    """

    systems: tuple[str, ...]
    contrasts: tuple[Contrasts, ...]
    baseline: str | None
    test: Test
    correction: Correction | Literal["tukey"]
    interval: Interval
    confidence: float
    resamples: int
    seed: int
    gaps: Gaps
    policies: Policies | None

    def __str__(self) -> str:
        topics = "/".join(str(n) for n in sorted({len(one.topics) for one in self.contrasts}))
        number = len(self.contrasts[0].first)
        drawn = self.test in _RESAMPLED or self.interval == "bca"
        return (
            f"compare: {len(self.systems)} runs, {topics} topics, {number} pair{'s' if number > 1 else ''} a measure; "
            f"test={self.test} correction={self.correction} interval={self.interval} confidence={self.confidence:g} "
            f"{f'resamples={self.resamples} seed={self.seed} ' if drawn else ''}gaps={self.gaps}{told(self.policies)}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know about the numbers: topics too few to say much."""
        return tuple(
            f"{one.measure}: only {len(one.topics)} topics, too few for tests and intervals to say much"
            for one in self.contrasts
            if len(one.topics) < _FEW_TOPICS
        )

    def __getitem__(self, measure: str) -> Contrasts:
        """The runs and pairs under one measure."""
        names = [one.measure for one in self.contrasts]
        if measure not in names:
            raise DataError(
                f"No comparison by {measure!r}; there are: {', '.join(names)}.{did_you_mean(measure, names)}"
            )
        return self.contrasts[names.index(measure)]

    def p(self, measure: str, *, corrected: bool = False) -> FloatArray:
        """Runs × runs: the p-value of each pair, 1 on the diagonal, NaN for a pair that was not tested."""
        one = self[measure]
        values = one.p_corrected if corrected else one.p
        full = np.full((len(self.systems), len(self.systems)), np.nan)
        np.fill_diagonal(full, 1.0)
        full[one.first, one.second] = full[one.second, one.first] = values
        return full

    def significant(self, alpha: float = 0.05) -> pl.DataFrame:
        """The rows of `to_frame` whose corrected p-value is below `alpha`."""
        _check_alpha(alpha)
        return self.to_frame().filter(pl.col("p_corrected") < alpha)

    def movers(self, run: str, against: str, measure: str | None = None, most: int | None = 5) -> pl.DataFrame:
        """The topics that moved most: query_id, score, score_other, difference (of `run` and `against`), largest first.

        Parameters
        ----------
        run, against
            Two runs, whether they were tested or not.
        measure
            By default the first.
        most
            How many topics; None for all.
        """
        if most is not None and most < 0:
            raise GainfulError(f"most: expected a number of topics of at least 0, got {most}")
        one = self.contrasts[0] if measure is None else self[measure]
        mine = one.values[place_of(run, self.systems, "run")]
        other = one.values[place_of(against, self.systems, "against")]
        order = np.argsort(-np.abs(mine - other), kind="stable")[:most]
        names = pl.Series(one.topics, dtype=pl.String).gather(order)
        return pl.DataFrame(
            {"query_id": names, "score": mine[order], "score_other": other[order], "difference": (mine - other)[order]}
        )

    def worse(self, margin: float | None = None, alpha: float = 0.05) -> pl.DataFrame:
        """Where a run is worse than the baseline: measure, run, difference, bound, p_corrected, reason; or no row.

        Parameters
        ----------
        margin
            Without it, a run is worse if it is so significantly, after correction. With it, a run counts as worse
            unless it is shown to be no more than this (in units of the score) worse: unless the one-sided bound of the
            difference, the end of the two-sided interval of confidence 1 − 2·alpha, is at least −margin, up to
            rounding. Bounds are not corrected: all of them must hold, so more of them make it harder to pass, never
            easier.
        alpha
            The level.
        """
        _check_alpha(alpha)
        if self.baseline is None:
            raise GainfulError(
                "worse: expected a comparison with a baseline, got one of all pairs: compare(…, baseline=…)"
            )
        if margin is not None and not 0.0 <= margin < np.inf:
            raise GainfulError(f"margin: expected a number of at least 0, got {margin}")
        if margin is not None and alpha >= 0.5:
            raise GainfulError(f"alpha: expected a number below 0.5 for a margin, got {alpha}")
        rows = [row for one in self.contrasts for row in self._worse(one, margin, alpha)]
        columns = {"measure": pl.String, "run": pl.String, "difference": pl.Float64, "bound": pl.Float64}
        return pl.DataFrame(rows, {**columns, "p_corrected": pl.Float64, "reason": pl.String}, orient="row")

    def _worse(self, one: Contrasts, margin: float | None, alpha: float) -> list[tuple[object, ...]]:
        if one.higher == "neither":
            raise GainfulError(
                f"{one.measure}: neither a higher nor a lower score is better, so no run can be worse by it"
            )
        sign = one.sign()
        if margin is None:
            bound = np.full(len(one.first), np.nan)
            failed = (one.p_corrected < alpha) & (sign * one.direction < 0.0)
        else:
            low, high = mean_interval(
                one.differences(),
                self.interval,
                confidence=1.0 - 2.0 * alpha,
                resamples=self.resamples,
                seed=self.seed,
            )
            bound = low if sign > 0 else high
            noise = rounding(one.values, one.first, one.second)
            failed = ~(sign * bound >= -margin * (1.0 + CLOSE) - noise)
        rows: list[tuple[object, ...]] = []
        for at in np.flatnonzero(failed):
            run, difference, p = self.systems[one.first[at]], float(one.difference[at]), float(one.p_corrected[at])
            means = f"{one.mean[one.first[at]]:.4f} and {one.mean[one.second[at]]:.4f}"
            if margin is None:
                corrects = "" if self.correction == "none" else f", correction={self.correction}"
                ranks = ", worse by signed ranks, not by the mean" if one.against_the_mean(alpha)[at] else ""
                why = (
                    f"is worse than {self.baseline!r}: {means}{ranks}, p = {p:.2g} < {alpha:g} "
                    f"(test={self.test}{corrects})"
                )
                rows.append((one.measure, run, difference, None, p, f"{one.measure}: {run!r} {why}"))
            else:
                reach = abs(float(bound[at]))
                why = (
                    f"is not shown to be no more than {margin:g} worse than {self.baseline!r}: {means}, at "
                    f"{1.0 - alpha:.4g} confidence it may be worse by {reach:.4f} (interval={self.interval})"
                )
                rows.append((one.measure, run, difference, float(bound[at]), p, f"{one.measure}: {run!r} {why}"))
        return rows

    def means(self) -> pl.DataFrame:
        """Of each measure and run: mean, low, high."""
        runs = pl.Series("run", self.systems, dtype=pl.String)
        return pl.concat(
            pl.DataFrame([runs]).select(
                pl.lit(one.measure).alias("measure"),
                "run",
                pl.Series("mean", one.mean),
                pl.Series("low", one.low),
                pl.Series("high", one.high),
            )
            for one in self.contrasts
        )

    def to_frame(self) -> pl.DataFrame:
        """A row a measure and pair: means, difference (run − other), interval, effect, wins, direction, p-values."""
        names = pl.Series(self.systems, dtype=pl.String)
        return pl.concat(
            pl.DataFrame(
                {
                    "run": names.gather(one.first),
                    "other": names.gather(one.second),
                    "mean": one.mean[one.first],
                    "mean_other": one.mean[one.second],
                    "difference": one.difference,
                    "low": one.difference_low,
                    "high": one.difference_high,
                    "effect": one.effect,
                    "wins": one.wins,
                    "ties": one.ties,
                    "losses": one.losses,
                    "direction": one.direction,
                    "p": one.p,
                    "p_corrected": one.p_corrected,
                }
            ).select(pl.lit(one.measure).alias("measure"), pl.all())
            for one in self.contrasts
        )

    def to_dict(self) -> dict[str, object]:
        """The means with intervals, all pairs, and the settings."""
        return {
            "means": self.means().to_dicts(),
            "pairs": self.to_frame().to_dicts(),
            "topics": {one.measure: len(one.topics) for one in self.contrasts},
            "notes": list(self.notes),
            "baseline": self.baseline,
            "test": self.test,
            "correction": self.correction,
            "interval": self.interval,
            "confidence": self.confidence,
            "resamples": self.resamples,
            "seed": self.seed,
            "gaps": self.gaps,
            "policies": None if self.policies is None else self.policies.to_dict(),
        }

    def chart(self) -> altair.TopLevelMixin:
        """The means of the runs with their intervals; with a baseline, the differences from it with theirs."""
        alt = load_altair()
        frame, title = self._points()
        points = alt.Chart(frame).encode(y=alt.Y("run:N", title=None, sort=None))
        tooltip = [
            alt.Tooltip("measure:N"),
            alt.Tooltip("run:N"),
            *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("value", "low", "high")),
        ]
        ends = f"{100 * self.confidence:.6g}% confidence interval ({self.interval})"
        scale = alt.Scale(zero=self.baseline is not None)
        layers = [
            points.mark_rule(strokeWidth=2, color=COLOURS[0]).encode(
                x=alt.X("low:Q", title=f"{title}, {ends}", scale=scale), x2="high:Q", tooltip=tooltip
            ),
            points.mark_point(filled=True, size=60, opacity=1, color=COLOURS[0]).encode(x="value:Q", tooltip=tooltip),
        ]
        if self.baseline is not None:
            zero = alt.Chart(frame).mark_rule(strokeDash=[4, 4], color="#555555").encode(x=alt.datum(0))
            layers.insert(0, zero)
        panels = (
            alt.layer(*layers)
            .properties(width=WIDTH, height=alt.Step(22))
            .facet(facet=alt.Facet("measure:N", title=None, sort=[one.measure for one in self.contrasts]), columns=1)
            .resolve_scale(x="independent", y="independent")
        )
        heading = "Runs and their means" if self.baseline is None else f"Runs against the baseline {self.baseline}"
        about = "of each run by itself" if self.baseline is None else "of each pair by itself"
        several = [f"Intervals are {about}, not corrected for many."] if len(self.systems) > 2 else []
        return styled(panels, alt.Title(heading, subtitle=[*several, *self.notes]))

    def _points(self) -> tuple[pl.DataFrame, str]:
        """What the chart shows, the best run by the first measure first."""
        order = np.argsort(-self.contrasts[0].sign() * self.contrasts[0].mean, kind="stable")
        place = pl.DataFrame({"run": [self.systems[at] for at in order], "place": np.arange(len(order))})
        if self.baseline is None:
            frame, title = self.means().rename({"mean": "value"}), "mean"
        else:
            frame, title = (
                self.to_frame().select("measure", "run", pl.col("difference").alias("value"), "low", "high"),
                "difference",
            )
        return frame.join(place, on="run", maintain_order="left").sort("place", maintain_order=True), title


def place_of(run: str, systems: tuple[str, ...], what: str) -> int:
    """The place of a run among all; `what` asks."""
    if not isinstance(run, str):
        raise DataError(f"{what}: expected the name of a run, such as {systems[0]!r}, got {run!r}")
    if run not in systems:
        raise DataError(
            f"{what}: expected one of the runs {', '.join(systems)}, got {run!r}.{did_you_mean(run, systems)}"
        )
    return systems.index(run)


def _check_alpha(alpha: float) -> None:
    if not 0.0 < alpha < 1.0:
        raise GainfulError(f"alpha: expected a number between 0 and 1, got {alpha}")
