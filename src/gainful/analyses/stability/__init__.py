"""How often a smaller set of topics orders two systems the other way round (Buckley & Voorhees, SIGIR 2000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gainful.charts import HEIGHT, WIDTH, load_altair, styled
from gainful.checks import check_count, check_sizes
from gainful.data.cube import Cube, complete_cube
from gainful.data.policies import Gaps, Policies, told
from gainful.engine import Engine, open_engine
from gainful.errors import GainfulError, check_choice
from gainful.stats.paired import pairs
from gainful.stats.resample import BLOCK, FloatArray, generator
from gainful.verbs.evaluate import read_scores

if TYPE_CHECKING:
    import altair

Fuzzy = Literal["relative", "absolute"]
By = Literal["mean", "topic"]
BoolArray = NDArray[np.bool_]

# As many sizes as a table can show.
_SIZES = 25
# Comparisons are counted in bytes, eight at a time.
_BYTE = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityCurve:
    """The error rate of one measure by the number of topics.

    Parameters
    ----------
    measure
        What was measured.
    sizes
        How many topics were drawn, ascending.
    error
        Per size, the share of the comparisons that contradict the majority of their pair.
    ties
        Per size, the share of the comparisons that found both systems equal within the fuzziness.
    """

    measure: str
    sizes: tuple[int, ...]
    error: tuple[float, ...]
    ties: tuple[float, ...]

    def size_for(self, error: float) -> int | None:
        """The smallest size from which on the error rate is at most `error`; None if that is none of the sizes."""
        if not 0.0 <= error <= 1.0:
            raise GainfulError(f"error: expected a share from 0 to 1, got {error}")
        needed = None
        for size, rate in zip(reversed(self.sizes), reversed(self.error), strict=True):
            if rate > error:
                break
            needed = size
        return needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """What `stability` found: a curve a measure.

    Parameters
    ----------
    curves
        One a measure.
    systems, topics
        How many there are.
    draws, fuzziness, fuzzy, by, seed, gaps, policies
        The settings that repeat it; no policies if the scores came from a table.
    """

    curves: tuple[StabilityCurve, ...]
    systems: int
    topics: int
    draws: int
    fuzziness: float
    fuzzy: Fuzzy
    by: By
    seed: int
    gaps: Gaps
    policies: Policies | None

    def __str__(self) -> str:
        sizes = self.curves[0].sizes
        drawn = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        number = self.systems * (self.systems - 1) // 2
        return (
            f"stability: {number} {'pair' if number == 1 else 'pairs'} of {self.systems} systems, {drawn} of "
            f"{self.topics} topics; by={self.by} fuzziness={self.fuzziness:g} fuzzy={self.fuzzy} draws={self.draws} "
            f"seed={self.seed} gaps={self.gaps}{told(self.policies)}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know about the numbers: runs that no draw tells apart, draws that share their topics."""
        notes = [
            f"{curve.measure}: no draw tells any two systems apart, as all scores are the same within the fuzziness: "
            "an error rate of 0 says nothing here"
            for curve in self.curves
            if min(curve.ties) == 1.0
        ]
        if self.by == "mean" and self.curves[0].sizes[-1] > self.topics // 2:
            notes.append(
                f"draws of more than half of the {self.topics} topics share so many that their error rates are too "
                f"low; at {self.topics} it is 0 by construction"
            )
        return tuple(notes)

    def __getitem__(self, measure: str) -> StabilityCurve:
        """The curve of a measure."""
        for curve in self.curves:
            if curve.measure == measure:
                return curve
        known = ", ".join(curve.measure for curve in self.curves)
        raise GainfulError(f"No curve of {measure!r}; there are: {known}")

    def sizes_for(self, error: float) -> dict[str, int | None]:
        """Per measure, the smallest size from which on the error rate is at most `error`."""
        return {curve.measure: curve.size_for(error) for curve in self.curves}

    def to_frame(self) -> pl.DataFrame:
        """Long: measure, topics, error, ties; a row a measure and size."""
        rows = [
            (curve.measure, *cells)
            for curve in self.curves
            for cells in zip(curve.sizes, curve.error, curve.ties, strict=True)
        ]
        schema = {"measure": pl.String, "topics": pl.Int64, "error": pl.Float64, "ties": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_dict(self) -> dict[str, object]:
        """The curves, then the settings."""
        return {
            "curves": [
                {
                    "measure": curve.measure,
                    "topics": list(curve.sizes),
                    "error": list(curve.error),
                    "ties": list(curve.ties),
                }
                for curve in self.curves
            ],
            "notes": list(self.notes),
            "systems": self.systems,
            "topics": self.topics,
            "draws": self.draws,
            "fuzziness": self.fuzziness,
            "fuzzy": self.fuzzy,
            "by": self.by,
            "gaps": self.gaps,
            "policies": None if self.policies is None else self.policies.to_dict(),
            "seed": self.seed,
        }

    def chart(self) -> altair.TopLevelMixin:
        """The error rate against the number of topics, a line a measure: the lower, the more stable."""
        alt = load_altair()
        lines = (
            alt.Chart(self.to_frame())
            .mark_line(point=alt.OverlayMarkDef(size=22))
            .encode(
                x=alt.X("topics:Q", title="topics drawn", axis=alt.Axis(tickMinStep=1)),
                y=alt.Y("error:Q", title="error rate", axis=alt.Axis(format="%")),
                color=alt.Color("measure:N", title="measure", sort=None),
                tooltip=[
                    alt.Tooltip("measure:N"),
                    alt.Tooltip("topics:Q", title="topics drawn"),
                    alt.Tooltip("error:Q", title="error rate", format=".2%"),
                    alt.Tooltip("ties:Q", title="ties", format=".1%"),
                ],
            )
        )
        what = (
            "Pairs of systems ordered the wrong way" if self.by == "mean" else "Topics on which the worse system wins"
        )
        return styled(lines.properties(width=WIDTH, height=HEIGHT), f"{what}, by number of topics")


def stability(
    scores: Any,
    *,
    sizes: Sequence[int] | None = None,
    draws: int = 200,
    fuzziness: float = 0.05,
    fuzzy: Fuzzy = "relative",
    by: By = "mean",
    seed: int = 0,
    gaps: Gaps = "error",
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: int | None = None,
) -> Stability:
    """Find how often fewer topics would order two systems the other way round.

    Parameters
    ----------
    scores
        Scores of systems on topics: what `evaluate` returns, a file, a frame, or an array of systems × topics.
    sizes
        How many topics to draw, such as 5,10; by default up to 25 sizes, evenly spread up to half of the topics. Beyond
        the half, draws share so many topics that the error rate looks too good: it is 0 by construction when all are
        drawn.
    draws
        How many times topics are drawn, the same ones for every measure.
    fuzziness
        Two systems are equal if their scores differ by no more than this.
    fuzzy
        What the fuzziness is: relative (a share of the larger score) or absolute (a difference of scores).
    by
        What is compared: mean (the means over the topics drawn) or topic (the scores of each topic drawn; this error
        rate does not fall with the number of topics).
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
    Stability
        A curve a measure: error rate and share of ties by number of topics.

    Notes
    -----
    For each size n and pair of systems, GT, LT and EQ count the draws in which the first system's mean is greater, less
    or equal within the fuzziness, |x − y| ≤ f·max(|x|, |y|) or |x − y| ≤ f; a difference of 10⁻¹² of the largest score
    is rounding, and equal. The error rate is Σ min(GT, LT)/Σ(GT + LT + EQ) over all pairs, the share of ties Σ EQ over
    the same. With ``by="topic"``, GT, LT and EQ count, within each draw, the topics on which the first system's score
    is greater, less or equal; both sums then run over pairs and draws. One topic never contradicts itself, so that
    rate begins at 0 for n = 1 and grows towards the share of topics on which the generally worse system wins.

    A draw is one random order of the topics (`rng.permutation(topics)` of `numpy.random.default_rng(seed)`, draw after
    draw); its first n topics are the draw of size n. The sizes are therefore nested: a curve is smooth, and its points
    are not independent of each other. Time grows with sizes × draws × systems², and hardly with the topics.

    Buckley & Voorhees, Evaluating evaluation measure stability, SIGIR 2000.

    Examples
    --------
    >>> y = [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.3, 0.4, 0.5, 0.6, 0.7, 0.4]]  # the second is worse on one topic
    >>> found = stability(y, sizes=[1, 3], draws=100)
    >>> found["score"].error
    (0.12, 0.0)
    """
    _check_settings(draws, fuzziness, fuzzy, by)
    given = read_scores(scores)
    cube = complete_cube(given, gaps=gaps)
    chosen = _chosen_sizes(sizes, len(cube.topics))
    place = _places(len(cube.topics), draws, seed)
    fuzz = [_Fuzz(fuzziness, fuzzy, cube.noise(measure)) for measure in range(len(cube.measures))]
    todo = [(measure, size) for measure in range(len(cube.measures)) for size in chosen]
    with open_engine(engine, scheduler=scheduler, workers=workers) as work:
        rates = work.map(
            _rates, todo, shared=_Draws(cube, place, by, tuple(fuzz)), total=len(todo), label="Drawing topics"
        )
        found = dict(zip(todo, rates, strict=True))
    return Stability(
        curves=tuple(
            StabilityCurve(
                measure=name,
                sizes=chosen,
                error=tuple(found[at, size][0] for size in chosen),
                ties=tuple(found[at, size][1] for size in chosen),
            )
            for at, name in enumerate(cube.measures)
        ),
        systems=len(cube.systems),
        topics=len(cube.topics),
        draws=draws,
        fuzziness=float(fuzziness),
        fuzzy=fuzzy,
        by=by,
        seed=seed,
        gaps=gaps,
        policies=given.policies,
    )


@dataclass(frozen=True, slots=True)
class _Fuzz:
    """When one score is greater than another."""

    fuzziness: float
    fuzzy: Fuzzy
    noise: float

    def greater(self, x: FloatArray, y: FloatArray) -> BoolArray:
        """Whether x − y > f·max(|x|, |y|), or > f; broadcast."""
        if self.fuzzy == "absolute":
            return np.asarray(x - (self.fuzziness + self.noise) > y, np.bool_)
        # Both x − f|x| > y and x > y + f|y|: margins before broadcasting; of scores ≥ 0 the first implies the second.
        greater: BoolArray = x - (self.fuzziness * np.abs(x) + self.noise) > y
        if min(x.min(initial=0.0), y.min(initial=0.0)) < 0.0:
            greater &= x - self.noise > y + self.fuzziness * np.abs(y)
        return greater


@dataclass(frozen=True, slots=True)
class _Draws:
    """What all sizes and measures share."""

    cube: Cube
    place: NDArray[np.int64]
    by: By
    fuzz: tuple[_Fuzz, ...]


def _rates(draws: _Draws, which: tuple[int, int]) -> tuple[float, float]:
    """Error rate and share of ties of a measure, at a size."""
    measure, size = which
    compare = _by_mean if draws.by == "mean" else _by_topic
    return compare(draws.cube, measure, draws.place < size, draws.fuzz[measure])


def _by_mean(cube: Cube, measure: int, drawn: BoolArray, fuzz: _Fuzz) -> tuple[float, float]:
    """Error rate and share of ties when the means over the topics drawn are compared."""
    draws, systems = len(drawn), len(cube.systems)
    means = cube.mean_of(measure, drawn.astype(np.float64))
    counts = np.zeros((systems, systems), np.int64)
    step = max(1, min(_BYTE, BLOCK // systems**2))
    for start in range(0, draws, step):
        block = means[start : start + step]
        greater = fuzz.greater(block[:, :, None], block[:, None, :])
        counts += np.add.reduce(greater.view(np.uint8), axis=0, dtype=np.uint8)
    total = draws * (systems * (systems - 1) // 2)
    wrong = int(np.minimum(counts, counts.T).sum()) // 2  # each pair stands there twice
    return wrong / total, (total - int(counts.sum())) / total


def _by_topic(cube: Cube, measure: int, drawn: BoolArray, fuzz: _Fuzz) -> tuple[float, float]:
    """Error rate and share of ties when the topics on which a system is better are counted."""
    values = cube.values[measure]
    first, second = pairs(len(values))
    inside = drawn.astype(np.float32)  # counts of topics, small enough to be exact
    wrong = decided = 0
    step = max(1, BLOCK // max(drawn.shape))
    for start in range(0, len(first), step):
        x, y = values[first[start : start + step]], values[second[start : start + step]]
        greater = inside @ fuzz.greater(x, y).T.astype(np.float32)
        less = inside @ fuzz.greater(y, x).T.astype(np.float32)
        wrong += int(np.minimum(greater, less).sum(dtype=np.float64))
        decided += int(greater.sum(dtype=np.float64) + less.sum(dtype=np.float64))
    total = int(drawn.sum()) * len(first)
    return wrong / total, (total - decided) / total


def _places(topics: int, draws: int, seed: int) -> NDArray[np.int64]:
    """Draws × topics: the place of each topic in the random order of the draw, from 0."""
    rng = generator(seed)
    orders = rng.permuted(np.broadcast_to(np.arange(topics), (draws, topics)), axis=1)
    return np.argsort(orders, axis=1)


def _chosen_sizes(sizes: Sequence[int] | None, topics: int) -> tuple[int, ...]:
    if sizes is None:
        half = topics // 2
        step = -(-half // _SIZES)
        return tuple(range(half, 0, -step))[::-1]
    return tuple(sorted(set(check_sizes(sizes, most=topics))))


def _check_settings(draws: int, fuzziness: float, fuzzy: str, by: str) -> None:
    check_choice("fuzzy", fuzzy, get_args(Fuzzy))
    check_choice("by", by, get_args(By))
    check_count("draws", draws, least=2, why=", for one draw contradicts no other")
    if not (0.0 <= fuzziness < np.inf):
        raise GainfulError(f"fuzziness: expected a number that is not negative, such as 0.05, got {fuzziness}")
    if fuzzy == "relative" and fuzziness >= 1.0:
        raise GainfulError(
            f"fuzziness: expected a share of the larger score, less than 1, such as 0.05, got {fuzziness}"
        )
