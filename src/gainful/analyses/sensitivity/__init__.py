"""Which measure tells systems apart: significance of all pairs, and the share of pairs that are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from gainful.charts import HEIGHT, WIDTH, load_altair, styled
from gainful.checks import check_share
from gainful.data.complete import complete_matrices
from gainful.data.policies import Gaps, Policies, told
from gainful.data.scores import ScoreMatrix
from gainful.engine import Engine, open_engine
from gainful.errors import GainfulError, check_choice
from gainful.stats.paired import IntArray, Variant, bootstrap, pairs, rounding, square, t_test, tukey_all, wilcoxon
from gainful.stats.resample import Apply, FloatArray, check_resamples
from gainful.verbs.evaluate import read_scores

if TYPE_CHECKING:
    import altair

Method = Literal["studentized", "shifted", "sign", "t", "wilcoxon", "tukey"]

# Levels that papers report.
LEVELS = (0.01, 0.05, 0.1)
# More points than this on a curve cannot be seen, and more dots are in each other's way.
_POINTS, _DOTS = 200, 30
# Methods that resample topics, and on how many topics a pair has to differ for that to mean much: of 2 topics half of
# the samples have no variance, of 5 one in 600; of 5 differences among many topics one in 150.
RESAMPLED = ("studentized", "shifted", "sign")
LEAST_TOPICS = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTests:
    """The significance of all pairs of systems under one measure and method.

    Parameters
    ----------
    measure, method
        What was measured, and how pairs were tested.
    systems
        The names of rows and columns.
    asl
        Systems × systems: the achieved significance level (p-value) of each pair.
    difference
        Systems × systems: mean of the row's system less that of the column's.
    differing
        Systems × systems: the number of topics on which the two differ.
    """

    measure: str
    method: Method
    systems: tuple[str, ...]
    asl: FloatArray
    difference: FloatArray
    differing: IntArray

    def curve(self) -> FloatArray:
        """The levels of all pairs, ascending: a measure is the more sensitive the lower its curve."""
        return np.sort(self.asl[pairs(len(self.systems))])

    def discriminative_power(self, alpha: float = 0.05) -> float:
        """The share of the pairs whose level is below `alpha`."""
        check_share("alpha", alpha)
        return float((self.curve() < alpha).mean())

    def detectable_difference(self, alpha: float = 0.05) -> float | None:
        """The smallest difference of means from which on every pair is significant at `alpha`; None if none is."""
        check_share("alpha", alpha)
        at = pairs(len(self.systems))
        difference, significant = np.abs(self.difference[at]), self.asl[at] < alpha
        beyond = difference[significant & (difference > difference[~significant].max(initial=-1.0))]
        return float(beyond.min()) if len(beyond) else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sensitivity:
    """What `sensitivity` found, for every measure and method.

    Parameters
    ----------
    tests
        One entry a measure and method.
    topics
        Per measure, the number of topics the systems were compared on.
    resamples, seed, gaps, policies
        The settings that repeat it; no policies if the scores came from a table.
    """

    tests: tuple[PairTests, ...]
    topics: dict[str, int]
    resamples: int
    seed: int
    gaps: Gaps
    policies: Policies | None

    def __str__(self) -> str:
        first = self.tests[0]
        number = len(first.curve())
        topics = sorted(set(self.topics.values()))
        return (
            f"sensitivity: {number} {'pair' if number == 1 else 'pairs'} of {len(first.systems)} systems, "
            f"{'/'.join(map(str, topics))} topics; "
            f"resamples={self.resamples} seed={self.seed} gaps={self.gaps}"
            f"{told(self.policies)}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know about the numbers: pairs that differ on too few topics to be resampled."""
        notes = []
        for test in {test.measure: test for test in self.tests if test.method in RESAMPLED}.values():
            differing = test.differing[pairs(len(test.systems))]
            few = int(((differing > 0) & (differing < LEAST_TOPICS)).sum())
            if few:
                notes.append(
                    f"{test.measure}: {few} of {len(differing)} pairs differ on fewer than {LEAST_TOPICS} topics, of "
                    "which too many samples are all alike: the bootstrap may call mere noise significant there; the "
                    "methods t and wilcoxon do not"
                )
        return tuple(notes)

    def __getitem__(self, key: tuple[str, Method]) -> PairTests:
        """The tests of a measure by a method."""
        for test in self.tests:
            if (test.measure, test.method) == key:
                return test
        known = ", ".join(f"({test.measure!r}, {test.method!r})" for test in self.tests)
        raise GainfulError(f"No tests of {key}; there are: {known}")

    def to_frame(self) -> pl.DataFrame:
        """Long: measure, method, run, other, difference, asl; a row a pair."""
        frames = []
        for test in self.tests:
            first, second = pairs(len(test.systems))
            names = pl.Series(test.systems, dtype=pl.String)
            frames.append(
                pl.DataFrame(
                    {
                        "run": names.gather(first),
                        "other": names.gather(second),
                        "difference": test.difference[first, second],
                        "asl": test.asl[first, second],
                    }
                ).select(pl.lit(test.measure).alias("measure"), pl.lit(test.method).alias("method"), pl.all())
            )
        return pl.concat(frames)

    def to_dict(self) -> dict[str, object]:
        """Discriminative power and detectable difference at the usual levels, all pairs, and the settings."""
        return {
            "tests": [
                {
                    "measure": test.measure,
                    "method": test.method,
                    "topics": self.topics[test.measure],
                    "discriminative_power": {str(level): test.discriminative_power(level) for level in LEVELS},
                    "detectable_difference": {str(level): test.detectable_difference(level) for level in LEVELS},
                }
                for test in self.tests
            ],
            "pairs": self.to_frame().to_dicts(),
            "notes": list(self.notes),
            "policies": None if self.policies is None else self.policies.to_dict(),
            "resamples": self.resamples,
            "gaps": self.gaps,
            "seed": self.seed,
        }

    def chart(self) -> altair.TopLevelMixin:
        """The ASL curve of every measure and method: the lower, the more pairs are told apart."""
        alt = load_altair()
        frames = []
        for test in self.tests:
            curve = test.curve()
            at = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), _POINTS)).astype(int))
            share = np.concatenate([[0.0], (at + 1) / len(curve)])
            points = pl.DataFrame({"share": share, "asl": curve[[0, *at]]})
            frames.append(points.with_columns(measure=pl.lit(test.measure), method=pl.lit(test.method)))
        share = alt.X("share:Q", title="share of the pairs of systems", axis=alt.Axis(format="%"))
        base = alt.Chart(pl.concat(frames)).encode(
            x=share.scale(domain=[0, 1]),
            y=alt.Y("asl:Q", title="achieved significance level", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("measure:N", title="measure", sort=None),
            tooltip=["measure:N", "method:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("asl:Q", format=".4f")],
        )
        # The i-th pair holds the share from i - 1 to i: a line crosses the rule at the share that is told apart.
        dash = alt.StrokeDash("method:N", title="method", sort=None)
        layers = [
            alt.Chart().mark_rule(strokeDash=[4, 4], color="#555555").encode(y=alt.datum(0.05)),
            base.mark_line(interpolate="step-before").encode(strokeDash=dash),
        ]
        if max(len(frame) for frame in frames) <= _DOTS:
            layers.append(base.mark_point(filled=True, size=25).transform_filter("datum.share > 0"))
        return styled(
            alt.layer(*layers).properties(width=WIDTH, height=HEIGHT), "Pairs of systems by how clearly they differ"
        )


def sensitivity(
    scores: Any,
    *,
    methods: Method | Sequence[Method] = ("studentized",),
    resamples: int = 1000,
    seed: int = 0,
    gaps: Gaps = "error",
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: int | None = None,
) -> Sensitivity:
    """Find which measure tells systems apart: the significance of all pairs, and the share that is told apart.

    Parameters
    ----------
    scores
        Scores of systems on topics: what `evaluate` returns, a file, a frame, or an array of systems × topics.
    methods
        How pairs are tested: studentized, shifted or sign (paired bootstrap), t, wilcoxon, or tukey (randomised Tukey
        HSD, corrected for all pairs); several as in t,tukey.
    resamples
        How many bootstrap samples or randomisations.
    seed
        Where the random numbers start.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs).
    engine
        Where to compute: local (in this process) or dask (on the workers of a Dask cluster).
    scheduler
        With engine dask: the address of a running scheduler, such as tcp://10.0.0.1:8786; by default workers are
        started on this machine, and ended afterwards.
    workers
        With engine dask: how many workers to start on this machine; one a core by default.

    Returns
    -------
    Sensitivity
        Achieved significance levels, discriminative power, detectable difference.

    Notes
    -----
    With z the differences of a pair over topics and w = z − z̄, the achieved significance level (ASL) is the share of
    the bootstrap samples with |t(w*)| ≥ |t(z)| (studentized), with |w̄*| ≥ |z̄| (shifted), or whose z̄* has not the
    sign of z̄ (sign; one-sided, so it finds more). The samples are the same for all pairs and measures of equal numbers
    of topics. Runs with the same scores have ASL 1. A sample without
    variance has t = 0 and never counts, so that pairs which differ on fewer than 5 topics look more significant than
    they are: `notes` tells how many there are. A sample without variance has t = 0: a convention for setting
    measures against each other. `compare`, a test whose rate of error must hold, takes |t| for infinite there. tukey is
    a p-value, (b + 1)/(resamples + 1). Sakai, SIGIR 2006; Carterette, TOIS 2012.

    Examples
    --------
    >>> y = [[0.1, 0.2, 0.3, 0.4, 0.5], [0.3, 0.5, 0.4, 0.6, 0.7], [0.3, 0.5, 0.4, 0.6, 0.7]]
    >>> found = sensitivity(y, methods="t")
    >>> round(found["score", "t"].discriminative_power(0.05), 3)
    0.667
    """
    chosen: tuple[Method, ...] = (methods,) if isinstance(methods, str) else tuple(methods)
    for method in chosen:
        check_choice("methods", method, get_args(Method))
    if not chosen:
        raise GainfulError(f"methods: expected some of {', '.join(get_args(Method))}, got none")
    check_resamples(resamples)
    given = read_scores(scores)
    matrices = complete_matrices(given, gaps=gaps)
    todo = [(matrix, method) for matrix in matrices for method in dict.fromkeys(chosen)]
    with open_engine(engine, scheduler=scheduler, workers=workers) as work:
        dealt = [matrix.values for matrix, method in todo if method == "tukey"]
        tukey = iter(tukey_all(dealt, resamples=resamples, seed=seed, apply=work.map))
        levels = [
            next(tukey).p() if method == "tukey" else _levels(matrix.values, method, resamples, seed, work.map)
            for matrix, method in todo
        ]
    return Sensitivity(
        tests=tuple(_tests(matrix, method, asl) for (matrix, method), asl in zip(todo, levels, strict=True)),
        topics={matrix.measure: len(matrix.topics) for matrix in matrices},
        resamples=resamples,
        seed=seed,
        gaps=gaps,
        policies=given.policies,
    )


def _tests(matrix: ScoreMatrix, method: Method, asl: FloatArray) -> PairTests:
    means = matrix.values.mean(axis=1)
    first, second = pairs(len(matrix.systems))
    noise = rounding(matrix.values, first, second)[:, None]
    differing = (np.abs(matrix.values[first] - matrix.values[second]) > noise).sum(axis=1)
    return PairTests(
        measure=matrix.measure,
        method=method,
        systems=matrix.systems,
        asl=asl,
        difference=means[:, None] - means[None, :],
        differing=np.asarray(square(differing, len(matrix.systems), 0), np.int64),
    )


def _levels(
    values: FloatArray,
    method: Literal[Variant, "t", "wilcoxon"],
    resamples: int,
    seed: int,
    apply: Apply,
) -> FloatArray:
    match method:
        case "t":
            return t_test(values)
        case "wilcoxon":
            return wilcoxon(values)
        case _:
            found = bootstrap(
                values, variant=method, without_variance="zero", resamples=resamples, seed=seed, apply=apply
            )
            return found.share()
