"""Generalisability theory: how far scores would come out the same on other topics, and how many topics that takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from gainful.analyses.topics_chart import topics_chart
from gainful.checks import check_share, check_sizes
from gainful.data.complete import complete_matrices
from gainful.data.policies import Gaps, Policies, told
from gainful.data.scores import ScoreMatrix
from gainful.errors import GainfulError, check_choice
from gainful.stats.anova import Ratios, absolute_ratios, components, relative_ratios, reliability_of, two_way
from gainful.stats.resample import FloatArray
from gainful.verbs.evaluate import read_scores

if TYPE_CHECKING:
    import altair

Coefficient = Literal["phi", "erho2"]
_COEFFICIENTS: tuple[Coefficient, ...] = ("erho2", "phi")
TITLES = {"phi": "Φ: reliability of scores", "erho2": "Eρ²: reliability of the order of runs"}
_METHOD = "two-way variance components; intervals: Eρ² by Feldt, Φ by Arteaga et al."


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and the ends of its confidence interval; NaN where undefined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TopicsFor:
    """How many topics reach a target; None where no number of them does.

    Parameters
    ----------
    value
        By the estimated variances.
    low, high
        By the upper and the lower end of the coefficient's confidence interval.
    """

    value: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One number each for runs, topics and the rest (run × topic, and error)."""

    run: float
    topic: float
    rest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureReliability:
    """The reliability of one measure.

    Parameters
    ----------
    measure
        Its name.
    runs, topics
        How many there were.
    mean_squares
        Of the two-way analysis of variance.
    raw
        The variance components that the mean squares give; they can be negative.
    variances
        The same, negative ones taken as 0.
    ratios
        For each coefficient, σ²(run) over the variance that counts as error when there is one topic.
    """

    measure: str
    runs: int
    topics: int
    mean_squares: Parts
    raw: Parts
    variances: Parts
    ratios: dict[Coefficient, Estimate]

    @property
    def shares(self) -> Parts:
        """Each component's share of the variance; NaN if there is none."""
        parts = asdict(self.variances)
        total = sum(parts.values())
        return Parts(**{name: part / total if total else math.nan for name, part in parts.items()})

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

    def curve(
        self, sizes: Sequence[int], coefficient: Coefficient = "phi"
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A coefficient, the lower and the upper end of its interval, for each of many numbers of topics."""
        _check_coefficient(coefficient)
        n = np.array(check_sizes(sizes), np.float64)
        ratio = self.ratios[coefficient]
        return reliability_of(ratio.value, n), reliability_of(ratio.low, n), reliability_of(ratio.high, n)

    def topics_needed(self, target: float = 0.95, coefficient: Coefficient = "phi") -> TopicsFor:
        """The smallest number of topics for which a coefficient reaches a target."""
        _check_coefficient(coefficient)
        check_share("target", target)
        ratio = self.ratios[coefficient]
        return TopicsFor(*(_topics_for(target, r) for r in (ratio.value, ratio.high, ratio.low)))

    def notes(self) -> list[str]:
        """What one should know about the numbers."""
        notes = []
        for name, raw in (("runs", self.raw.run), ("topics", self.raw.topic)):
            if raw < 0:
                notes.append(
                    f"{self.measure}: the variance of {name} came out negative ({raw:.3g}) and is taken as 0: "
                    f"{name} differ less than chance alone would make them"
                )
        if not self.variances.run:
            why = "have the same scores" if not self.mean_squares.rest else "cannot be told apart"
            notes.append(f"{self.measure}: the runs {why}, by which no number of topics makes their scores reliable")
        return notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How reliable each measure's scores are: what `reliability` returns.

    Parameters
    ----------
    measures
        The results, one a measure; ``result["AP"]`` finds one.
    sizes
        The numbers of topics of the curves.
    target, confidence, gaps, policies
        The settings; no policies if the scores came from a table.
    """

    measures: tuple[MeasureReliability, ...]
    sizes: tuple[int, ...]
    target: float
    confidence: float
    gaps: Gaps
    policies: Policies | None

    def __getitem__(self, measure: str) -> MeasureReliability:
        """The result of one measure."""
        for found in self.measures:
            if found.measure == measure:
                return found
        raise GainfulError(f"no measure {measure!r}; there are: {', '.join(m.measure for m in self.measures)}")

    def __str__(self) -> str:
        by_shape: dict[str, list[str]] = {}
        for m in self.measures:
            by_shape.setdefault(f"{m.runs} runs, {m.topics} topics", []).append(m.measure)
        names = ", ".join(f"{', '.join(labels)} ({shape})" for shape, labels in by_shape.items())
        settings = f"confidence={self.confidence:g} target={self.target:g} gaps={self.gaps}{told(self.policies)}"
        return f"reliability of {names}: {_METHOD}; {settings}"

    def topics_needed(self, target: float | None = None, coefficient: Coefficient = "phi") -> dict[str, TopicsFor]:
        """For each measure, the topics that a target (the one of the settings if not given) takes."""
        target = self.target if target is None else target
        return {m.measure: m.topics_needed(target, coefficient) for m in self.measures}

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know about the numbers: negative variances, runs that are all the same."""
        return tuple(note for m in self.measures for note in m.notes())

    def to_dict(self) -> dict[str, object]:
        """All numbers, the curves and the settings; ready for JSON."""
        curve = self.curve()
        measures = {}
        for m in self.measures:
            measures[m.measure] = {
                "runs": m.runs,
                "topics": m.topics,
                "mean_squares": asdict(m.mean_squares),
                "raw_variances": asdict(m.raw),
                "variances": asdict(m.variances),
                "shares": asdict(m.shares),
                "erho2": asdict(m.erho2),
                "phi": asdict(m.phi),
                "topics_for_erho2": asdict(m.topics_needed(self.target, "erho2")),
                "topics_for_phi": asdict(m.topics_needed(self.target, "phi")),
                "curve": curve.filter(pl.col("measure") == m.measure).drop("measure").to_dicts(),
            }
        return {
            "measures": measures,
            "notes": list(self.notes),
            "method": _METHOD,
            "sizes": list(self.sizes),
            "target": self.target,
            "confidence": self.confidence,
            "gaps": self.gaps,
            "policies": None if self.policies is None else self.policies.to_dict(),
        }

    def to_frame(self) -> pl.DataFrame:
        """A row a measure."""
        rows: list[dict[str, object]] = []
        for m in self.measures:
            row: dict[str, object] = {"measure": m.measure, "runs": m.runs, "topics": m.topics}
            for label, parts in (
                ("ms", m.mean_squares),
                ("raw", m.raw),
                ("variance", m.variances),
                ("share", m.shares),
            ):
                row |= {f"{label}_{name}": value for name, value in asdict(parts).items()}
            for label in _COEFFICIENTS:
                row |= _flat(label, asdict(m.at(m.topics, label)))
                row |= _flat(f"topics_for_{label}", asdict(m.topics_needed(self.target, label)))
            rows.append(row)
        whole = [name for name in rows[0] if name.startswith("topics")]
        return pl.DataFrame(rows, infer_schema_length=None, schema_overrides=dict.fromkeys(whole, pl.Int64))

    def curve(self) -> pl.DataFrame:
        """A row a measure and number of topics: Eρ² and Φ with the ends of their intervals."""
        frames = []
        for m in self.measures:
            columns: dict[str, object] = {"measure": [m.measure] * len(self.sizes), "topics": list(self.sizes)}
            for label in _COEFFICIENTS:
                names = (label, f"{label}_low", f"{label}_high")
                columns |= dict(zip(names, m.curve(self.sizes, label), strict=True))
            frames.append(pl.DataFrame(columns))
        return pl.concat(frames)

    def chart(self, coefficient: Coefficient = "phi") -> altair.TopLevelMixin:
        """A coefficient against the number of topics, with its interval; a dot where the data are.

        Parameters
        ----------
        coefficient
            ``phi`` or ``erho2``.
        """
        _check_coefficient(coefficient)
        low, high = f"{coefficient}_low", f"{coefficient}_high"
        columns = ["measure", "topics", coefficient, low, high]
        observed = pl.DataFrame(
            [(m.measure, m.topics, *astuple(m.at(m.topics, coefficient))) for m in self.measures],
            schema=columns,
            orient="row",
        )
        return topics_chart(
            self.curve().select(columns).with_columns(pl.col(pl.Float64).round(4)).fill_nan(None),
            observed.fill_nan(None),
            value=coefficient,
            axis=TITLES[coefficient],
            short="reliability",
            legend="measure",
            highest=1.0,
            goal=(self.target, f"target {self.target:g}"),
            title=f"Reliability and the number of topics ({self.confidence:.0%} interval; dot: these topics)",
            interval=(low, high, f"{self.confidence:.0%} interval"),
        )


def reliability(
    scores: Any,
    *,
    sizes: Sequence[int] | None = None,
    target: float = 0.95,
    confidence: float = 0.95,
    gaps: Gaps = "error",
) -> Reliability:
    """Tell how reliable scores are, and how many topics it takes to make them so.

    The variance of the scores is split into that of runs, of topics, and the rest (run × topic). With n topics,
    Φ(n) = σ²(run) / (σ²(run) + (σ²(topic) + σ²(rest))/n) is the reliability of the scores themselves; Eρ²(n), without
    σ²(topic), that of the differences between runs. A negative variance is taken as 0, and a note says so; the
    intervals use the mean squares as they are. Runs that are all the same have Φ = 0 and an undefined Eρ²; if no two
    scores differ, both are undefined (NaN).

    Parameters
    ----------
    scores
        What `evaluate` returns, or anything that `read_scores` takes.
    sizes
        The numbers of topics to give the coefficients for, such as 25,100; by default from 1 to where the target is
        reached.
    target
        The reliability that the topics are counted for, between 0 and 1.
    confidence
        The confidence of the intervals, between 0 and 1.
    gaps
        A topic that some run has no score for: error, or drop to leave it out for all runs.

    Returns
    -------
    Reliability
        One result a measure.

    References
    ----------
    Brennan, Generalizability Theory, 2001. Feldt, Psychometrika 30, 1965. Arteaga, Jeyaratnam and Franklin,
    Communications in Statistics 11, 1982. Urbano, Marrero and Martín, SIGIR 2013.

    Examples
    --------
    >>> result = reliability([[0.1, 0.2, 0.4], [0.3, 0.5, 0.6], [0.2, 0.5, 0.5]])
    >>> found = result["score"]
    >>> round(found.phi.value, 3), round(found.erho2.value, 3)
    (0.61, 0.923)
    >>> found.topics_needed(0.9).value
    18
    """
    check_share("target", target)
    check_share("confidence", confidence)
    if sizes is not None:
        sizes = check_sizes(sizes)
    given = read_scores(scores)
    matrices = complete_matrices(given, gaps=gaps)
    measures = tuple(_of(matrix, confidence) for matrix in matrices)
    return Reliability(
        measures=measures,
        sizes=tuple(sizes) if sizes is not None else _telling_sizes(measures, target),
        target=float(target),
        confidence=float(confidence),
        gaps=gaps,
        policies=given.policies,
    )


def _of(matrix: ScoreMatrix, confidence: float) -> MeasureReliability:
    squares = two_way(matrix.values)
    run, topic, rest = (float(part) for part in components(squares))
    ratios: dict[Coefficient, Ratios] = {
        "phi": absolute_ratios(squares, confidence),
        "erho2": relative_ratios(squares, confidence),
    }
    return MeasureReliability(
        measure=matrix.measure,
        runs=len(matrix.systems),
        topics=len(matrix.topics),
        mean_squares=Parts(run=float(squares.rows), topic=float(squares.columns), rest=float(squares.residual)),
        raw=Parts(run=run, topic=topic, rest=rest),
        variances=Parts(run=max(run, 0.0), topic=max(topic, 0.0), rest=rest),
        ratios={name: Estimate(*(float(end) for end in ends)) for name, ends in ratios.items()},
    )


def _topics_for(target: float, ratio: float) -> int | None:
    if not ratio > 0:
        return None
    needed = target / ((1.0 - target) * ratio)
    # Rounding must not ask for a topic more: .9/.1 is 9.000000000000002.
    return max(1, math.ceil(needed * (1.0 - 1e-12)))


def _telling_sizes(measures: Sequence[MeasureReliability], target: float) -> tuple[int, ...]:
    """From 1 to a little beyond the target, but not beyond 20 times what was observed; dense where the curve bends."""
    last = 1
    for m in measures:
        needed = m.topics_needed(target).value or 0
        last = max(last, min(20 * m.topics, max(2 * m.topics, round(1.2 * needed))))
    chosen = set(np.geomspace(1, last, 48).round().astype(int).tolist())
    return tuple(sorted(chosen | {m.topics for m in measures}))


def _flat(label: str, ends: dict[str, Any]) -> dict[str, object]:
    return {label: ends["value"], f"{label}_low": ends["low"], f"{label}_high": ends["high"]}


def _check_coefficient(coefficient: str) -> None:
    check_choice("coefficient", coefficient, TITLES)
