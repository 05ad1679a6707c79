"""What a comparison found: numbers of runs and pairs, and what one may ask of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.data.metadata import by_field
from gainful.errors import DataError, GainfulError, did_you_mean, setting
from gainful.results import Chart, Note, Result, Settings, listed, of_measure, some
from gainful.stats.paired import CLOSE, rounding
from gainful.stats.resample import FloatArray
from gainful.tables import Table, printable
from gainful.verbs.compare.contrasts import Contrasts, check_margin, checked_alpha, difference_interval
from gainful.verbs.compare.equivalence import equivalence_frame, equivalence_table
from gainful.verbs.compare.tables import groups_table, means_table, movers_tables, pairs_table, standing_table
from gainful.verbs.compare.verdict import notes, sentences

# A table of more pairs is not read.
_MOST_PAIRS = 20
_MOVERS = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Comparison(Result):
    """What `compare` found, for every measure.

    Parameters
    ----------
    systems
        The names of the runs.
    contrasts
        One entry per measure.
    settings
        What repeats it; `correction` is ``tukey`` for the test that corrects itself.
    metadata
        By run, what is known of it beside its ranking: team, type, description and the like.
    """

    systems: tuple[str, ...]
    contrasts: tuple[Contrasts, ...]
    settings: Settings
    metadata: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def baseline(self) -> str | None:
        """The run that the others were compared with; None where all pairs were."""
        name: str | None = self.settings["baseline"]
        return name

    def family(self) -> int:
        """How many pairs were tested under each measure."""
        return len(self.contrasts[0].first)

    def verdict(self) -> str:
        """Who leads by each measure, whom it beats, and by which test."""
        return " ".join(sentences(self))

    def tables(self) -> tuple[Table, ...]:
        """The means with what each run is better than, all pairs, and what else was asked for; then the places.

        For two runs there are also the topics that moved most.
        """
        movers = self.movers_tables() if len(self.systems) == 2 else ()
        margin = self.settings["equivalence"]
        equivalence = () if margin is None else (equivalence_table(self, margin),)
        groups = () if self.contrasts[0].strata is None else (groups_table(self),)
        return (means_table(self), *groups, pairs_table(self), *equivalence, *movers, standing_table(self))

    def compact(self) -> tuple[Table, ...]:
        """All tables but the places, without those of pairs if they are many."""
        hidden = {"standing", *(("pairs", "equivalence") if self._pairs() > _MOST_PAIRS else ())}
        return tuple(table for table in self.tables() if table.name not in hidden)

    def _pairs(self) -> int:
        return len(self.contrasts) * self.family()

    def _notes(self) -> tuple[Note, ...]:
        text = f"The table of all {self._pairs():,} pairs is not printed: CSV and JSON have it."
        long = [Note("pairs-not-printed", "", text)] if self._pairs() > _MOST_PAIRS else []
        return (*notes(self), *long)

    def movers_tables(self, most: int | None = _MOVERS) -> tuple[Table, ...]:
        """The topics that moved most, one table per measure and pair that was tested; see `movers`."""
        return movers_tables(self, most)

    def __getitem__(self, measure: str) -> Contrasts:
        """The runs and pairs under one measure."""
        return of_measure(self.contrasts, measure)

    def p(self, measure: str, *, corrected: bool = False) -> FloatArray:
        """Runs × runs: the p-value of each pair, 1 on the diagonal, NaN for a pair that was not tested."""
        one = self[measure]
        values = one.p_corrected if corrected else one.p
        full = np.full((len(self.systems), len(self.systems)), np.nan)
        np.fill_diagonal(full, 1.0)
        full[one.first, one.second] = full[one.second, one.first] = values
        return full

    def significant(self, alpha: float | None = None) -> pl.DataFrame:
        """The rows of `to_frame` whose corrected p-value is below `alpha`; below that of the settings, if not given."""
        level = self.settings["alpha"] if alpha is None else checked_alpha(alpha)
        return self.to_frame().filter(pl.col("p_corrected") < level)

    def movers(self, run: str, against: str, measure: str | None = None, most: int | None = 5) -> pl.DataFrame:
        """The topics that moved most: query_id, score, score_other, difference (of `run` and `against`), largest first.

        Any two runs, whether they were tested or not, by a measure, by default the first; `most` None gives all topics.
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

    def worse(self, margin: float | None = None, alpha: float | None = None) -> pl.DataFrame:
        """Where a run is worse than the baseline: measure, run, difference, bound, p_corrected, reason; or no row.

        Parameters
        ----------
        margin
            Without it, a run is worse if it is so significantly, after correction. With it, a run counts as worse if it
            could be worse by more than this (in units of the score): unless the one-sided bound of the difference, the
            end of the two-sided interval of confidence 1 − 2·alpha, is at least −margin, up to rounding. Bounds are not
            corrected: all of them must hold, so more of them make it harder to pass, never easier.
        alpha
            The level; that of the settings by default.
        """
        level: float = self.settings["alpha"] if alpha is None else checked_alpha(alpha)
        if self.baseline is None:
            raise GainfulError(
                "worse: expected a comparison with a baseline, got one of all pairs: compare(…, baseline=…)"
            )
        check_margin(margin, level)
        rows = [row for one in self.contrasts for row in self._worse(one, margin, level)]
        columns = {"measure": pl.String, "run": pl.String, "difference": pl.Float64, "bound": pl.Float64}
        return pl.DataFrame(rows, {**columns, "p_corrected": pl.Float64, "reason": pl.String}, orient="row")

    def equivalent(self, margin: float) -> pl.DataFrame:
        """Whether two runs differ by less than a margin: measure, run, other, difference, p, p_corrected, equivalent.

        By TOST: p is the larger one of two one-sided t-tests. A pair is equivalent if p, corrected as the other tests
        are, is below the level of the settings.
        """
        if not 0.0 < margin < np.inf:
            raise GainfulError(f"margin: expected a number above 0, got {margin}")
        return equivalence_frame(self, margin)

    def by(self, field: str) -> Table:
        """One row per value of a field of the metadata, such as team: its runs, the best of them, and their means."""
        means = {one.measure: one.mean for one in self.contrasts}
        return by_field(field, self.metadata, self.systems, means, [one.higher for one in self.contrasts])

    def standing(self) -> pl.DataFrame:
        """Of each measure and run, the best first: place, its interval, how often it is best, whether it may be best.

        `optimism` is how much too good the mean of the first run is likely to be, having been chosen as the best.
        """
        return standing_table(self).frame

    def _worse(self, one: Contrasts, margin: float | None, alpha: float) -> list[tuple[object, ...]]:
        if one.higher == "neither":
            raise GainfulError(
                f"{one.measure}: neither a higher nor a lower score is better, so no run can be worse by it"
            )
        sign = one.sign()
        if margin is None:
            bound = np.full(len(one.first), np.nan)
            failed = one.significant(alpha) & (sign * one.direction < 0.0)
        else:
            low, high = difference_interval(
                one.differences(),
                self.settings["interval"],
                equal=one.equal,
                bounds=one.bounds,
                strata=one.strata,
                confidence=1.0 - 2.0 * alpha,
                resamples=self.settings["resamples"],
                seed=self.settings["seed"],
            )
            bound = low if sign > 0 else high
            noise = rounding(one.values, one.first, one.second)
            failed = ~(sign * bound >= -margin * (1.0 + CLOSE) - noise)
        rows: list[tuple[object, ...]] = []
        for at in np.flatnonzero(failed):
            run, difference, p = self.systems[one.first[at]], float(one.difference[at]), float(one.p_corrected[at])
            means = f"{one.mean[one.first[at]]:.4f} and {one.mean[one.second[at]]:.4f}"
            if margin is None:
                correction = self.settings["correction"]
                corrects = "" if correction == "none" else f", correction={correction}"
                ranks = ", worse by signed ranks, not by the mean" if one.against_the_mean(alpha)[at] else ""
                why = (
                    f"is worse than {self.baseline!r}: {means}{ranks}, p = {p:.2g} < {alpha:g} "
                    f"(test={self.settings['test']}{corrects})"
                )
            else:
                why = (
                    f"could be worse than {self.baseline!r} by up to {abs(float(bound[at])):.4g}; {margin:g} is "
                    f"allowed ({means}, {1.0 - alpha:.4g} confidence, interval={self.settings['interval']})"
                )
            reason = f"{one.measure}: {run!r} {why}"
            rows.append((one.measure, run, difference, None if margin is None else float(bound[at]), p, reason))
        return rows

    def to_junit(self, margin: float | None = None, alpha: float | None = None) -> str:
        """What `worse` finds as JUnit XML: one test per measure and run other than the baseline."""
        from xml.sax.saxutils import escape, quoteattr  # which imports much

        found = self.worse(margin, alpha).select("measure", "run", "reason").rows()
        reasons = {(measure, run): reason for measure, run, reason in found}
        cases = []
        for measure in (one.measure for one in self.contrasts):
            for run in (run for run in self.systems if run != self.baseline):
                pair = quoteattr(printable(f"{run} against {self.baseline}"))
                reason = escape(printable(reasons.get((measure, run), "")))
                inside = f"<failure>{reason}</failure>" if reason else ""
                cases.append(f"<testcase classname={quoteattr(printable(measure))} name={pair}>{inside}</testcase>")
        suite = f'<testsuite name="gainful compare" tests="{len(cases)}" failures="{len(reasons)}">'
        return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', suite, *cases, "</testsuite>"]) + "\n"

    def passed(self, margin: float | None = None, alpha: float | None = None) -> str:
        """What to say where `worse` finds nothing."""
        level = self.settings["alpha"] if alpha is None else alpha
        measures = listed([one.measure for one in self.contrasts])
        if margin is None:
            return f"no run is significantly worse than {self.baseline!r} in {measures} (alpha={level:g})"
        return (
            f"no run could be worse than {self.baseline!r} by more than {margin:g} in {measures} "
            f"({1.0 - level:.4g} confidence)"
        )

    def assumed(self) -> tuple[Note, ...]:
        """Measures that gainful does not know, so that a higher score was taken for better; `worse` depends on it."""
        from gainful.verbs.evaluate import known

        unknown = [one.measure for one in self.contrasts if one.higher == "better" and known(one.measure) is None]
        otherwise = f"and takes a higher score for better; {setting('lower_is_better')} says otherwise."
        return tuple(Note("unknown-measure", name, f"gainful does not know {name!r}, {otherwise}") for name in unknown)

    def means(self) -> pl.DataFrame:
        """Of each measure and run: mean, low, high."""
        runs = pl.Series(self.systems, dtype=pl.String)
        columns = ("mean", "low", "high")
        return pl.concat(
            pl.DataFrame({"measure": one.measure, "run": runs, **{name: getattr(one, name) for name in columns}})
            for one in self.contrasts
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per measure and pair: means, difference (run − other), interval, effect, wins, direction, p."""
        names = pl.Series(self.systems, dtype=pl.String)
        frames = []
        for one in self.contrasts:
            columns = {"run": names.gather(one.first), "other": names.gather(one.second)}
            means = {"mean": one.mean[one.first], "mean_other": one.mean[one.second], "difference": one.difference}
            ends = {"low": one.difference_low, "high": one.difference_high}
            rest = ("effect", "wins", "ties", "losses", "direction", "p", "p_corrected", "all_low", "all_high")
            tests = {name: getattr(one, name) for name in rest}
            frames.append(pl.DataFrame({"measure": one.measure, **columns, **means, **ends, **tests}))
        return pl.concat(frames)

    def _content(self) -> dict[str, Any]:
        return {
            "means": self.means().to_dicts(),
            "pairs": self.to_frame().to_dicts(),
            **{t.name: t.frame.to_dicts() for t in self.tables() if t.name in ("standing", "equivalence", "groups")},
            "topics": {one.measure: len(one.topics) for one in self.contrasts},
            **({"metadata": {run: dict(fields) for run, fields in self.metadata.items()}} if self.metadata else {}),
        }

    def chart(self) -> Chart:
        """The means of the runs with their intervals, and their places; with a baseline, the differences from it."""
        from gainful.verbs.compare.chart import comparison_chart

        return comparison_chart(self)


def place_of(run: str, systems: tuple[str, ...], what: str) -> int:
    """The place of a run among all; `what` asks."""
    if not isinstance(run, str):
        raise DataError(f"{what}: expected the name of a run, such as {systems[0]!r}, got {run!r}")
    if run not in systems:
        raise DataError(f"{what}: expected one of the runs {some(systems)}, got {run!r}.{did_you_mean(run, systems)}")
    return systems.index(run)
