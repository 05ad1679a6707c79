"""What `topics` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.topics.plan import LARGEST, Plan
from gainful.charts import topics_chart
from gainful.data.scores import ScoreMatrix
from gainful.errors import GainfulError, check_sizes
from gainful.results import Chart, Note, Result, Settings, of_measure, of_others, plural
from gainful.stats.paired import pairs
from gainful.stats.resample import FloatArray
from gainful.tables import Table

_METHODS = {
    "t": "Two-sided paired t-test; variance of differences pooled over all pairs.",
    "anova": "One-way ANOVA; variance within runs.",
    "interval": "Expected full width of the t interval of a difference; variance of differences pooled over all pairs.",
}
# A variance that comes from fewer is hardly known.
_FEW = 10
# Shares of the pairs of runs, for which it is told how many topics suffice.
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureTopics:
    """The topics that one measure needs."""

    measure: str
    runs: int
    topics: int
    variance: float  # of the differences between two runs (t, interval: the mean of all pairs), or within runs (anova)
    needed: int | None  # the smallest number of topics that does; None if a million do not
    attained: float  # the power (t, anova) or the expected width (interval) with that many; NaN if there is none
    now: float  # the same with the topics there are
    # The smallest difference for which the topics there are suffice; for interval, the width they give.
    detectable: float
    scores: ScoreMatrix  # what it was computed from
    # The interval of the number of topics, and the numbers that suffice for `SHARES` of the pairs (none of an ANOVA).
    low: int | None
    high: int | None
    shares: tuple[int | None, ...]
    # As `attained` and `now`, in experiments drawn from these scores; NaN if there is no such number, or a huge one.
    simulated: float
    simulated_now: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TopicsNeeded(Result):
    """How many topics each measure needs: what `topics` returns.

    Parameters
    ----------
    measures
        The results, one per measure; ``result["AP"]`` finds one.
    plan
        What was asked.
    settings
        What repeats it.
    """

    measures: tuple[MeasureTopics, ...]
    plan: Plan
    settings: Settings

    def __getitem__(self, measure: str) -> MeasureTopics:
        """The result of one measure."""
        return of_measure(self.measures, measure)

    def verdict(self) -> str:
        """What the first measure needs, what it has; then how many topics the other measures need."""
        first, *others = self.measures
        needed = {m.measure: m.needed or LARGEST + 1 for m in others if m.variance}
        return self._verdict_of(first) + of_others(
            needed,
            lambda n: _count(int(n) if n <= LARGEST else None),
            "{} needs {}.",
            "The other measures need {} to {}.",
        )

    def _verdict_of(self, m: MeasureTopics) -> str:
        plan = self.plan
        if not m.variance:
            return f"{self._no_variance(m)}: there is no variance to plan with."
        needed, here = f"{_count(m.needed)} topics{_ends(m)}", f"the {plural(m.topics, 'topic')} here"
        pairs = ""
        if m.shares and m.runs > 2:
            fewer = " or fewer" if m.shares[2] is not None else ""
            pairs = (
                f" Half of the pairs of runs need {_count(m.shares[2])} topics{fewer}, 90% need {_count(m.shares[4])}."
            )
        if plan.method == "interval":
            return (
                f"For the {100 * (1 - plan.alpha):.4g}% t interval of a difference in {m.measure} to be at most "
                f"{plan.difference:g} wide on average, it takes {needed}; with {here} it is {m.now:.3f} wide.{pairs}"
            )
        anova = plan.method == "anova"
        test, what = (f"one-way ANOVA of {plan.systems} runs", "range") if anova else ("paired t-test", "difference")
        return (
            f"To find a {what} of {plan.difference:g} in {m.measure} with power {plan.power:g} (α = {plan.alpha:g}), a "
            f"{test} needs {needed}; {here} have power {m.now:.2f} and find a {what} of {m.detectable:.3f}.{pairs}"
        )

    def _no_variance(self, m: MeasureTopics) -> str:
        what = "scores" if self.plan.method == "anova" else "differences of runs"
        return f"By {m.measure}, the {what} do not vary with the topic"

    def tables(self) -> tuple[Table, ...]:
        """What each measure needs; then the power, or the width, by number of topics."""
        name, interval = self._quantity(), self.plan.method == "interval"
        headers: dict[str, Any] = {"measure": "measure", "runs": "runs", "variance": ("variance", "variance")}
        headers |= {"needed": "topics needed", "low": "from", "high": "to", name: name, "simulated": "simulated"}
        headers |= {"topics": "topics here", f"{name}_now": f"{name} here", "simulated_now": "simulated"}
        title = _METHODS[self.plan.method]
        if not interval:
            headers["detectable_now"] = "difference found here"
            title += " Simulated: with topics drawn from these. Difference found here: the smallest that these topics "
            title += f"find with power {self.plan.power:g}."
        by_pair = () if not self.measures[0].shares or self.measures[0].runs < 3 else (self._shares_table(),)
        return (
            Table.of("measures", self.to_frame(), headers, title=title),
            *by_pair,
            Table.of("curve", self.curve(), title=f"With other numbers of topics, the {self._long_quantity()}:"),
        )

    def compact(self) -> tuple[Table, ...]:
        """What each measure needs, and what shares of the pairs need."""
        return self.tables()[:-1]

    def _shares_table(self) -> Table:
        """One row per measure: the topics that suffice for some shares of the pairs."""
        columns = {f"pairs_{share:g}": [m.shares[at] for m in self.measures] for at, share in enumerate(SHARES)}
        frame = pl.DataFrame({"measure": [m.measure for m in self.measures], **columns})
        headers = {f"pairs_{share:g}": (f"{share:.0%} of pairs", "count") for share in SHARES}
        title = "Runs that are alike need fewer topics: the number that suffices for a share of the pairs."
        return Table.of("pairs", frame, {"measure": "measure", **headers}, title=title)

    def _notes(self) -> tuple[Note, ...]:
        notes = []
        for m in self.measures:
            if not m.variance:
                text = f"{self._no_variance(m)}, so that the formula gives 2 topics, the fewest there can be."
                notes.append(Note("no-variance", m.measure, text))
                continue
            if m.needed is None:
                text = f"By {m.measure}, {LARGEST:,} topics are not enough: ask for a larger difference."
                notes.append(Note("out-of-reach", m.measure, text))
            if m.topics < _FEW:
                text = (
                    f"The variance by {m.measure} comes from only {m.topics} topics: other topics may need many more."
                )
                notes.append(Note("few-topics", m.measure, text))
        return tuple(notes)

    def curve(self, sizes: Sequence[int] | None = None) -> pl.DataFrame:
        """One row per measure and number of topics (up to what is needed, if not given): power, or expected width."""
        chosen = check_sizes(sizes, least=2) if sizes is not None else self._telling_sizes()
        frames = []
        for m in self.measures:
            attained = self.plan.attained(m.variance, np.array(chosen))
            frames.append(pl.DataFrame({"measure": m.measure, "topics": list(chosen), self._quantity(): attained}))
        return pl.concat(frames)

    def pairs(self) -> pl.DataFrame:
        """One row per measure and pair of runs: their difference, its variance over topics, the topics *they* need."""
        if self.plan.method == "anova":
            raise GainfulError("pairs: expected method 't' or 'interval', got 'anova', which compares all runs at once")
        frames = []
        for m in self.measures:
            first, second = pairs(m.runs)
            systems, means = np.array(m.scores.systems, object), m.scores.values.mean(axis=1)
            variances = pair_variances(m.scores.values)
            names = {"measure": m.measure, "run": systems[first].tolist(), "other": systems[second].tolist()}
            numbers = {"difference": means[first] - means[second], "variance": variances}
            needed = pl.Series(self.plan.needed(variances), dtype=pl.Int64)
            frames.append(pl.DataFrame({**names, **numbers, "needed": needed}))
        return pl.concat(frames)

    def to_frame(self) -> pl.DataFrame:
        """One row per measure."""
        name = self._quantity()
        labels = {"attained": name, "now": f"{name}_now", "detectable": "detectable_now"}
        fields = (
            "measure",
            "runs",
            "topics",
            "variance",
            "needed",
            *labels,
            "low",
            "high",
            "simulated",
            "simulated_now",
        )
        columns = {labels.get(field, field): [getattr(m, field) for m in self.measures] for field in fields}
        return pl.DataFrame(columns, schema_overrides=dict.fromkeys(("needed", "low", "high"), pl.Int64))

    def chart(self) -> Chart:
        """The power (or the width of the interval) against the number of topics; a dot where the data are."""
        name = self._quantity()
        wide = name == "width"
        labels = {m.measure: f"{m.measure}: {_count(m.needed)} topics{self._scaled(m)}" for m in self.measures}
        observed = self.to_frame().select("measure", "topics", pl.col(f"{name}_now").alias(name))
        goal = self.plan.difference if wide else self.plan.power
        return topics_chart(
            self.curve().with_columns(pl.col("measure").replace(labels), pl.col(name).round(5)),
            observed.with_columns(pl.col("measure").replace(labels)),
            value=name,
            axis=self._long_quantity() if wide else "power: chance to find it",
            short=self._long_quantity(),
            legend="topics needed",
            highest=3.0 * max([goal, *(m.now for m in self.measures)]) if wide else 1.0,
            goal=(goal, f"{name} {goal:g}"),
            title=self._title(),
            more="In brackets: the difference as a share of the range from the worst to the best run.",
        )

    def _scaled(self, m: MeasureTopics) -> str:
        """How large the difference is by this measure: where runs are close together, most of their range."""
        means = m.scores.values.mean(axis=1)
        spread = float(means.max() - means.min())
        return f" ({self.plan.difference / spread:.0%})" if spread > 0.0 else ""

    def _title(self) -> str:
        plan = self.plan
        match plan.method:
            case "t":
                what = f"Power of a t-test to find a difference of {plan.difference:g}"
            case "anova":
                what = f"Power of an ANOVA of {plan.systems} runs to find a range of {plan.difference:g}"
            case _:
                return f"Width of the {100 * (1 - plan.alpha):.4g}% confidence interval of a difference"
        return f"{what} at α = {plan.alpha:g}"

    def _quantity(self) -> str:
        return "width" if self.plan.method == "interval" else "power"

    def _long_quantity(self) -> str:
        return "expected width of the interval" if self.plan.method == "interval" else "power"

    def _telling_sizes(self) -> tuple[int, ...]:
        needed = [m.needed or LARGEST for m in self.measures]
        last = max(10, *(m.topics for m in self.measures), *(round(1.3 * n) for n in needed))
        chosen = set(np.geomspace(2, min(last, LARGEST), 60).round().astype(int).tolist())
        return tuple(sorted(chosen | {m.topics for m in self.measures} | {m.needed for m in self.measures if m.needed}))


def pair_variances(values: FloatArray) -> FloatArray:
    """var(x − y) of every pair, as 0 where it is mere rounding."""
    centred = values - values.mean(axis=1, keepdims=True)
    products = centred @ centred.T / (values.shape[1] - 1)
    own = products.diagonal()
    first, second = pairs(len(values))
    variances = own[first] + own[second] - 2.0 * products[first, second]
    return np.asarray(np.where(variances <= 1e-13 * (own[first] + own[second]), 0.0, variances), np.float64)


def _ends(m: MeasureTopics) -> str:
    if m.needed is None:
        return ""
    return f" ({_count(m.low)} to {_count(m.high)})" if m.high is not None else f" ({_count(m.low)} or more)"


def _count(needed: int | None) -> str:
    return f"more than {LARGEST:,}" if needed is None else f"{needed:,}"
