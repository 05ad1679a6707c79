"""What `reliability` returns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from gainful import _polars as pl
from gainful.charts import topics_chart
from gainful.errors import check_choice, check_share, check_sizes
from gainful.results import Chart, Note, Result, Settings, beside, of_measure, of_others, plural
from gainful.stats.anova import reliability_of
from gainful.stats.resample import FloatArray
from gainful.tables import Table

Coefficient = Literal["phi", "erho2"]
_COEFFICIENTS: tuple[Coefficient, ...] = ("erho2", "phi")
# What rounding can make of a variance that is 0, relative to the mean squares.
_ROUNDING = 1e-12
# What columns with one number for runs, topics and the rest are called, and where it is found.
_PARTS = {"ms": "mean_squares", "raw": "raw", "variance": "variances", "share": "shares"}
_TITLES = {"phi": "Φ: reliability of scores", "erho2": "Eρ²: reliability of the order of runs"}


class Estimate(NamedTuple):
    """A number and the ends of its confidence interval; NaN where undefined."""

    value: float
    low: float
    high: float


class TopicsFor(NamedTuple):
    """How many topics reach a target; None where no number of them does."""

    value: int | None  # by the estimated variances
    # By the upper and the lower end of the coefficient's confidence interval.
    low: int | None
    high: int | None


class Components(NamedTuple):
    """One number each for runs, topics and the rest (run × topic, and error)."""

    run: float
    topic: float
    rest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureReliability:
    """The reliability of one measure."""

    measure: str
    runs: int
    topics: int
    mean_squares: Components  # of the two-way analysis of variance
    raw: Components  # the variance components that the mean squares give; they can be negative
    variances: Components  # the same, negative ones taken as 0
    # For each coefficient, σ²(run) over the variance that counts as error when there is one topic.
    ratios: dict[Coefficient, Estimate]

    @property
    def shares(self) -> Components:
        """Each component's share of the variance; NaN if there is none."""
        total = sum(self.variances)
        return Components(*(part / total if total else math.nan for part in self.variances))

    @property
    def phi(self) -> Estimate:
        """Φ: how far *scores* would come out the same on as many other topics."""
        return self.at(self.topics, "phi")

    @property
    def erho2(self) -> Estimate:
        """Eρ²: how far the *differences* of runs would come out the same on as many other topics."""
        return self.at(self.topics, "erho2")

    def at(self, topics: int, coefficient: Coefficient = "phi") -> Estimate:
        """A coefficient for another number of topics."""
        return Estimate(*(float(ends[0]) for ends in self.curve([topics], coefficient)))

    def curve(self, sizes: Sequence[int], coefficient: Coefficient = "phi") -> tuple[FloatArray, ...]:
        """A coefficient, the lower and the upper end of its interval, for each of many numbers of topics."""
        check_choice("coefficient", coefficient, _TITLES)
        n = np.array(check_sizes(sizes), np.float64)
        return tuple(reliability_of(ratio, n) for ratio in self.ratios[coefficient])

    def topics_needed(self, target: float = 0.95, coefficient: Coefficient = "phi") -> TopicsFor:
        """The smallest number of topics for which a coefficient reaches a target."""
        check_choice("coefficient", coefficient, _TITLES)
        check_share("target", target)
        ratio = self.ratios[coefficient]
        return TopicsFor(*(_topics_for(target, r) for r in (ratio.value, ratio.high, ratio.low)))

    def verdict(self, target: float) -> str:
        """Φ, and the topics that the target takes."""
        phi, needed = self.phi, self.topics_needed(target)
        if math.isnan(phi.value):
            return f"Φ of {self.measure} is undefined: no two scores differ."
        found = (
            f"Φ of {self.measure} is {beside(phi.value, target, 2)} with {plural(self.topics, 'topic')} "
            f"({phi.low:.2f} to {phi.high:.2f})"
        )
        if needed.value is not None:
            reach = "of them reaches" if needed.value == 1 else "of them reach"
            reach = "would reach" if needed.value > self.topics else reach
            return f"{found}; {needed.value:,} {reach} {target:g}."
        at_best = "no number of topics would reach"
        if needed.low:
            at_best = f"at the upper end of its interval, {plural(needed.low, 'topic')} would reach"
        return f"{found}: {self._why_none()}; {at_best} {target:g}."

    def notes(self) -> Iterator[Note]:
        """What one should know about the numbers."""
        for name, raw in (("runs", self.raw.run), ("topics", self.raw.topic)):
            if raw < -_ROUNDING * max(self.mean_squares.run, self.mean_squares.topic):
                yield Note(
                    "clipped-variance",
                    self.measure,
                    f"By {self.measure}, the variance of {name} came out negative ({raw:.3g}) and is taken as 0: "
                    f"{name} differ less than chance alone would make them.",
                )
        if not self.variances.run:
            yield Note(
                "no-variance",
                self.measure,
                f"By {self.measure}, {self._why_none()}: with these variances, no number of topics makes their scores "
                f"reliable{self._unless()}.",
            )

    def _unless(self) -> str:
        """What the interval of Φ leaves open where the estimate is 0."""
        return "; if Φ is at the upper end of its interval, some number does" if self.ratios["phi"].high > 0.0 else ""

    def _why_none(self) -> str:
        return "all runs have the same scores" if not self.mean_squares.rest else "the runs cannot be told apart"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Reliability(Result):
    """How reliable each measure's scores are: what `reliability` returns.

    Parameters
    ----------
    measures
        The results, one per measure; ``result["AP"]`` finds one.
    sizes
        The numbers of topics of the curves.
    settings
        What repeats it.
    """

    measures: tuple[MeasureReliability, ...]
    sizes: tuple[int, ...]
    settings: Settings

    def __getitem__(self, measure: str) -> MeasureReliability:
        """The result of one measure."""
        return of_measure(self.measures, measure)

    def topics_needed(self, target: float | None = None, coefficient: Coefficient = "phi") -> dict[str, TopicsFor]:
        """For each measure, the topics that a target (the one of the settings if not given) takes."""
        target = self.settings["target"] if target is None else target
        return {m.measure: m.topics_needed(target, coefficient) for m in self.measures}

    def verdict(self) -> str:
        """Φ of the first measure and the topics that it takes; then how far other measures are from it."""
        first, *others = self.measures
        known = {m.measure: m.phi.value for m in others if not math.isnan(m.phi.value)}
        return first.verdict(self.settings["target"]) + of_others(
            known, "{:.2f}".format, "Φ of {} is {}.", "Φ of the other measures is {} to {}."
        )

    def tables(self) -> tuple[Table, ...]:
        """The coefficients, the variances behind them, and the coefficients for other numbers of topics."""
        target = self.settings["target"]
        numbers = self.to_frame()
        both: dict[str, Any] = {}
        for name, sign in (("phi", "Φ"), ("erho2", "Eρ²")):
            both |= zip(_ends(name), (sign, "from", "to"), strict=True)
        needed = dict(zip(_ends("topics_for_phi"), (f"topics for Φ {target:g}", "from", "to"), strict=True))
        needed["topics_for_erho2"] = f"topics for Eρ² {target:g}"
        parts = [f"{kind}_{part}" for kind in _PARTS for part in Components._fields]
        variances = {
            f"{kind}_{part}": (f"{kind}: {header}" if part == "run" else header, kind)
            for kind in ("variance", "share")
            for part, header in zip(Components._fields, ("runs", "topics", "rest"), strict=True)
        }
        first = {"measure": "measure", "topics": "topics"}
        return (
            Table.of(
                "coefficients",
                numbers.drop(parts),
                {**first, **both, **needed},
                title="Φ: would other topics give the same scores? Eρ²: the same order of runs? 1 is the best. "
                "Intervals: Φ by Arteaga et al., Eρ² by Feldt.",
            ),
            Table.of(
                "variances",
                numbers.select("measure", *parts),
                {"measure": "measure", **variances},
                title="Where the variance of the scores comes from (two-way variance components):",
            ),
            Table.of("curve", self.curve(), {**first, **both}, title="With other numbers of topics:"),
        )

    def compact(self) -> tuple[Table, ...]:
        """The coefficients and the variances; the curve, too, where its sizes were asked for."""
        return self.tables()[: 2 if self.settings["sizes"] is None else 3]

    def _notes(self) -> tuple[Note, ...]:
        return tuple(note for m in self.measures for note in m.notes())

    def to_frame(self) -> pl.DataFrame:
        """All numbers: one row per measure."""
        rows: list[dict[str, Any]] = []
        for m in self.measures:
            row: dict[str, Any] = {"measure": m.measure, "runs": m.runs, "topics": m.topics}
            for label, name in _PARTS.items():
                row |= {f"{label}_{part}": value for part, value in getattr(m, name)._asdict().items()}
            for label in _COEFFICIENTS:
                row |= zip(_ends(label), m.at(m.topics, label), strict=True)
                row |= zip(_ends(f"topics_for_{label}"), m.topics_needed(self.settings["target"], label), strict=True)
            rows.append(row)
        whole = [name for name in rows[0] if name.startswith("topics")]
        return pl.DataFrame(rows, infer_schema_length=None, schema_overrides=dict.fromkeys(whole, pl.Int64))

    def curve(self) -> pl.DataFrame:
        """One row per measure and number of topics: Eρ² and Φ with the ends of their intervals."""
        frames = []
        for m in self.measures:
            columns: dict[str, Any] = {"measure": m.measure, "topics": list(self.sizes)}
            for label in _COEFFICIENTS:
                columns |= zip(_ends(label), m.curve(self.sizes, label), strict=True)
            frames.append(pl.DataFrame(columns))
        return pl.concat(frames)

    def chart(self, coefficient: Coefficient = "phi") -> Chart:
        """A coefficient against the number of topics, with its interval; a dot where the data are."""
        check_choice("coefficient", coefficient, _TITLES)
        _, low, high = _ends(coefficient)
        columns = ["measure", "topics", coefficient, low, high]
        rows = [(m.measure, m.topics, *m.at(m.topics, coefficient)) for m in self.measures]
        observed = pl.DataFrame(rows, schema=columns, orient="row")
        target, share = self.settings["target"], f"{self.settings['confidence']:.0%}"
        return topics_chart(
            self.curve().select(columns).with_columns(pl.col(pl.Float64).round(4)).fill_nan(None),
            observed.fill_nan(None),
            value=coefficient,
            axis=_TITLES[coefficient],
            short="reliability",
            legend="measure",
            highest=1.0,
            goal=(target, f"target {target:g}"),
            title="Reliability and the number of topics",
            interval=(low, high, f"{share} interval"),
        )


def _topics_for(target: float, ratio: float) -> int | None:
    if not ratio > 0:
        return None
    needed = target / ((1.0 - target) * ratio)
    # Rounding must not ask for a topic more: .9/.1 is 9.000000000000002.
    return max(1, math.ceil(needed * (1.0 - 1e-12)))


def _ends(label: str) -> tuple[str, str, str]:
    """The columns of a number and of both ends of its interval."""
    return label, f"{label}_low", f"{label}_high"
