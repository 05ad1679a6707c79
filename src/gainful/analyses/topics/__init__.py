"""Topic-set size: how many topics an experiment needs, from the variances of an earlier one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from gainful.analyses.topics_chart import topics_chart
from gainful.checks import check_count, check_share, check_sizes
from gainful.data.complete import complete_matrices
from gainful.data.policies import Gaps, Policies, told
from gainful.data.scores import ScoreMatrix
from gainful.errors import GainfulError, check_choice
from gainful.stats.anova import two_way
from gainful.stats.paired import pairs
from gainful.stats.power import anova_power, detectable_effect, expected_width, smallest, t_power
from gainful.stats.resample import FloatArray
from gainful.verbs.evaluate import read_scores

if TYPE_CHECKING:
    import altair

Method = Literal["t", "anova", "interval"]
# Nobody judges more topics than this.
LARGEST = 1_000_000
_METHODS = {
    "t": "two-sided paired t-test, variance of differences pooled over all pairs",
    "anova": "one-way ANOVA, variance within runs",
    "interval": "expected full width of the t interval of a difference, variance of differences pooled over all pairs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is asked of the topics; answers for any variance and number of topics.

    Parameters
    ----------
    method, difference, alpha, power
        As in `topics_needed`.
    systems
        Those that an ANOVA compares; None for the other methods.
    """

    method: Method
    difference: float
    alpha: float
    power: float
    systems: int | None

    def attained(self, variance: Any, topics: Any) -> FloatArray:
        """The power, or the expected width of the interval, with so many topics."""
        if self.method == "interval":
            return expected_width(variance, topics, self.alpha)
        return self._power(self._effect(variance), topics)

    def needed(self, variances: FloatArray) -> list[int | None]:
        """For each variance the smallest number of topics that does; None if a million do not."""
        interval = self.method == "interval"

        def suffices(n: Any) -> np.typing.NDArray[np.bool_]:
            attained = self.attained(variances, n)
            return attained <= self.difference if interval else attained >= self.power

        return [int(n) or None for n in smallest(suffices, len(variances), largest=LARGEST)]

    def detectable(self, variance: float, topics: int) -> float:
        """The smallest difference for which so many topics suffice."""
        if self.method == "interval":
            return float(self.attained(variance, topics))
        effect = detectable_effect(lambda effect: float(self._power(effect, topics)), self.power)
        return math.sqrt(effect * variance * (2.0 if self.method == "anova" else 1.0))

    def _effect(self, variance: Any) -> FloatArray:
        # A range of D leaves the means at least D²/2 of squares about their mean, the others being half-way.
        share = 2.0 if self.method == "anova" else 1.0
        with np.errstate(divide="ignore"):
            return np.asarray(self.difference**2 / (share * np.asarray(variance)), np.float64)

    def _power(self, effect: Any, topics: Any) -> FloatArray:
        if self.systems is not None:
            return anova_power(effect, topics, self.systems, self.alpha)
        return t_power(effect, topics, self.alpha)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureTopics:
    """The topics that one measure needs.

    Parameters
    ----------
    measure
        Its name.
    runs, topics
        How many there were.
    variance
        Of the differences between two runs (t, interval: the mean of all pairs), or within runs (anova).
    needed
        The smallest number of topics that does; None if a million do not.
    attained
        The power (t, anova) or the expected width (interval) with that many; NaN if there is none.
    now
        The same with the topics there are.
    detectable
        The smallest difference for which the topics there are suffice; for interval, the width they give.
    scores
        What it was computed from.
    """

    measure: str
    runs: int
    topics: int
    variance: float
    needed: int | None
    attained: float
    now: float
    detectable: float
    scores: ScoreMatrix


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicsNeeded:
    """How many topics each measure needs: what `topics_needed` returns.

    Parameters
    ----------
    measures
        The results, one a measure; ``result["AP"]`` finds one.
    plan
        What was asked.
    gaps
        As in `topics_needed`.
    policies
        Those of the scores; None if they came from a table.
    """

    measures: tuple[MeasureTopics, ...]
    plan: Plan
    gaps: Gaps
    policies: Policies | None

    def __getitem__(self, measure: str) -> MeasureTopics:
        """The result of one measure."""
        for found in self.measures:
            if found.measure == measure:
                return found
        raise GainfulError(f"no measure {measure!r}; there are: {', '.join(m.measure for m in self.measures)}")

    def __str__(self) -> str:
        answers = ", ".join(f"{m.measure} {_count(m.needed)}" for m in self.measures)
        settings = " ".join(f"{name}={value}" for name, value in self._settings().items())
        return f"topics needed: {answers}; {_METHODS[self.plan.method]}; {settings}{told(self.policies)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know about the numbers: no variance, or too much of it."""
        notes = []
        for m in self.measures:
            if not m.variance:
                what = "scores" if self.plan.method == "anova" else "differences of runs"
                notes.append(f"{m.measure}: the {what} do not vary with the topic, so 2 topics, the fewest, do")
            elif m.needed is None:
                notes.append(f"{m.measure}: {LARGEST:,} topics are not enough: ask for a larger difference")
        return tuple(notes)

    def curve(self, sizes: Sequence[int] | None = None) -> pl.DataFrame:
        """A row a measure and number of topics: the power, or the expected width of the interval.

        Parameters
        ----------
        sizes
            The numbers of topics, from 2; by default up to what is needed and a little more.
        """
        chosen = check_sizes(sizes, least=2) if sizes is not None else self._telling_sizes()
        name = _quantity(self.plan.method)
        frames = []
        for m in self.measures:
            attained = self.plan.attained(m.variance, np.array(chosen))
            frames.append(pl.DataFrame({"measure": m.measure, "topics": list(chosen), name: attained}))
        return pl.concat(frames)

    def pairs(self) -> pl.DataFrame:
        """A row a measure and pair of runs: their difference, its variance over topics, and the topics *they* need."""
        if self.plan.method == "anova":
            raise GainfulError("pairs: expected method 't' or 'interval', got 'anova', which compares all runs at once")
        frames = []
        for m in self.measures:
            first, second = pairs(m.runs)
            systems, means = np.array(m.scores.systems, object), m.scores.values.mean(axis=1)
            variances = _pair_variances(m.scores.values)
            frames.append(
                pl.DataFrame(
                    {
                        "measure": m.measure,
                        "run": systems[first].tolist(),
                        "other": systems[second].tolist(),
                        "difference": means[first] - means[second],
                        "variance": variances,
                        "needed": pl.Series(self.plan.needed(variances), dtype=pl.Int64),
                    }
                )
            )
        return pl.concat(frames)

    def to_frame(self) -> pl.DataFrame:
        """A row a measure."""
        name = _quantity(self.plan.method)
        return pl.DataFrame(
            {
                "measure": [m.measure for m in self.measures],
                "runs": [m.runs for m in self.measures],
                "topics": [m.topics for m in self.measures],
                "variance": [m.variance for m in self.measures],
                "needed": pl.Series([m.needed for m in self.measures], dtype=pl.Int64),
                name: [m.attained for m in self.measures],
                f"{name}_now": [m.now for m in self.measures],
                "detectable_now": [m.detectable for m in self.measures],
            }
        )

    def to_dict(self) -> dict[str, object]:
        """All numbers, the curves and the settings; ready for JSON."""
        curve = self.curve()
        measures = {
            row["measure"]: {
                **{name: value for name, value in row.items() if name != "measure"},
                "curve": curve.filter(pl.col("measure") == row["measure"]).drop("measure").to_dicts(),
            }
            for row in self.to_frame().to_dicts()
        }
        about = {"notes": list(self.notes), "description": _METHODS[self.plan.method]}
        policies = None if self.policies is None else self.policies.to_dict()
        return {"measures": measures, **about, **self._settings(), "policies": policies}

    def chart(self) -> altair.TopLevelMixin:
        """The power (or the width of the interval) against the number of topics; a dot where the data are."""
        name = _quantity(self.plan.method)
        wide = name == "width"
        labels = {m.measure: f"{m.measure}: {_count(m.needed)} topics" for m in self.measures}
        observed = pl.DataFrame(
            {
                "measure": list(labels.values()),
                "topics": [m.topics for m in self.measures],
                name: [m.now for m in self.measures],
            }
        )
        goal = self.plan.difference if wide else self.plan.power
        title = "expected width of the interval" if wide else "power"
        return topics_chart(
            self.curve().with_columns(pl.col("measure").replace(labels), pl.col(name).round(5)),
            observed,
            value=name,
            axis=title,
            short=title,
            legend="topics needed",
            highest=3.0 * max([goal, *(m.now for m in self.measures)]) if wide else 1.0,
            goal=(goal, f"{'width' if wide else 'power'} {goal:g}"),
            title=self._title(),
        )

    def _title(self) -> str:
        plan = self.plan
        match plan.method:
            case "t":
                what = f"Power of a t-test to find a difference of {plan.difference:g}"
            case "anova":
                what = f"Power of an ANOVA of {plan.systems} runs to find a range of {plan.difference:g}"
            case _:
                return f"Width of the {100 * (1 - plan.alpha):.4g}% confidence interval (dot: these topics)"
        return f"{what} at α = {plan.alpha:g} (dot: these topics)"

    def _settings(self) -> dict[str, object]:
        plan = self.plan
        settings = {"method": plan.method, "difference": plan.difference, "alpha": plan.alpha}
        if plan.method != "interval":
            settings["power"] = plan.power
        if plan.systems is not None:
            settings["systems"] = plan.systems
        return {**settings, "gaps": self.gaps}

    def _telling_sizes(self) -> tuple[int, ...]:
        needed = [m.needed or LARGEST for m in self.measures]
        last = max(10, *(m.topics for m in self.measures), *(round(1.3 * n) for n in needed))
        chosen = set(np.geomspace(2, min(last, LARGEST), 60).round().astype(int).tolist())
        return tuple(sorted(chosen | {m.topics for m in self.measures} | {m.needed for m in self.measures if m.needed}))


def topics_needed(
    scores: Any,
    *,
    difference: float = 0.05,
    alpha: float = 0.05,
    power: float = 0.8,
    method: Method = "t",
    systems: int | None = None,
    gaps: Gaps = "error",
) -> TopicsNeeded:
    """Find how many topics a t-test, an ANOVA or a confidence interval needs.

    Topic set size design (Sakai 2016), with the variances of these scores taken for the true ones and scores taken as
    normal; the powers are those of the noncentral t and F distributions. t and interval are paired: they use the
    variance of the differences between two runs on the same topic, 2·MS(rest) of the two-way analysis, which is its
    mean over all pairs (`pairs()` has each of them). anova is one-way and unpaired: it uses the variance within runs,
    topics included, and the least noncentrality that a range has, n·difference²/(2σ²). Without any variance 2 topics
    do.

    Parameters
    ----------
    scores
        What `evaluate` returns, or anything that `read_scores` takes.
    difference
        What must be found: the difference of two runs' mean scores (t), the range of the means of all systems (anova);
        or, for interval, the full width, from end to end, that the interval of a difference may have on average.
    alpha
        Level of the test, or 1 - the confidence of the interval.
    power
        The probability with which a true difference of that size must be found; interval does not use it.
    method
        t (paired t-test, two-sided), anova (one-way, of several systems) or interval (width of the confidence interval
        of a difference).
    systems
        How many systems an ANOVA compares, with method anova; as many as there are runs if not given.
    gaps
        A topic that some run has no score for: error, or drop to leave it out for all runs.

    Returns
    -------
    TopicsNeeded
        One result a measure.

    References
    ----------
    Sakai, Topic set size design, Information Retrieval Journal 19, 2016.

    Examples
    --------
    >>> result = topics_needed([[0.1, 0.2, 0.4], [0.3, 0.5, 0.6], [0.2, 0.5, 0.5]], difference=0.05)
    >>> result["score"].needed
    23
    """
    check_choice("method", method, get_args(Method))
    if not (difference > 0 and math.isfinite(difference)):
        raise GainfulError(f"difference: expected a number above 0, got {difference}")
    check_share("alpha", alpha)
    check_share("power", power)
    if systems is not None:
        check_count("systems", systems, least=2)
        if method != "anova":
            raise GainfulError(
                f"systems: expected none for method={method!r}, which compares two at a time, got {systems}"
            )
    given = read_scores(scores)
    matrices = complete_matrices(given, gaps=gaps)
    compared = (systems or len(matrices[0].systems)) if method == "anova" else None
    plan = Plan(method=method, difference=float(difference), alpha=float(alpha), power=float(power), systems=compared)
    measures = tuple(_of(matrix, plan) for matrix in matrices)
    return TopicsNeeded(measures=measures, plan=plan, gaps=gaps, policies=given.policies)


def _of(matrix: ScoreMatrix, plan: Plan) -> MeasureTopics:
    squares = two_way(matrix.values)
    variance = float(squares.within_rows()) if plan.method == "anova" else 2.0 * float(squares.residual)
    topics = len(matrix.topics)
    (needed,) = plan.needed(np.array([variance]))
    return MeasureTopics(
        measure=matrix.measure,
        runs=len(matrix.systems),
        topics=topics,
        variance=variance,
        needed=needed,
        attained=float(plan.attained(variance, needed)) if needed else math.nan,
        now=float(plan.attained(variance, topics)),
        detectable=plan.detectable(variance, topics),
        scores=matrix,
    )


def _pair_variances(values: FloatArray) -> FloatArray:
    """var(x − y) of every pair, as 0 where it is mere rounding."""
    centred = values - values.mean(axis=1, keepdims=True)
    products = centred @ centred.T / (values.shape[1] - 1)
    own = products.diagonal()
    first, second = pairs(len(values))
    variances = own[first] + own[second] - 2.0 * products[first, second]
    return np.asarray(np.where(variances <= 1e-13 * (own[first] + own[second]), 0.0, variances), np.float64)


def _quantity(method: Method) -> str:
    return "width" if method == "interval" else "power"


def _count(needed: int | None) -> str:
    return f"more than {LARGEST:,}" if needed is None else f"{needed:,}"
