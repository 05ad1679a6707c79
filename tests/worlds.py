"""Small random collections for property tests, and the frames they become."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

import reference
from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.data.qrels import Qrels
from gainful.data.rankings import Rankings
from gainful.data.run import Run
from gainful.measures import REGISTRY, Measure
from gainful.measures.parameters import Choice, DiscountKind, Flag, GainKind, Kind, Number, Whole

# In byte order: digits, capitals, small letters, beyond ASCII; "9" > "10", "Z" < "a" < "é" < "漢" < "𝔄" (which UTF-16,
# as in Java or JavaScript, would sort before "豈").
DOC_IDS = ("10", "9", "B", "Z", "a", "aa", "ab", "d-1", "d_1", "z", "é", "ÿ", "漢", "豈", "𝔄", "FT911-1")
TOPICS = ("1", "2", "10", "q")
# Equal as float32 but not as float64; a negative zero; beyond the range of float32; equal in both.
SCORES = (1.0, 1.0 + 1e-9, 1.0 + 2e-9, 0.5, 0.0, -0.0, -1.0, -1.0 - 1e-9, 1e300, 2e300, -1e300, 7.25, 7.25, 1e-46)
GRADED = (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0)
FLOATS = (-1.5, -0.1, 0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1.7, 2.0)


@dataclass(frozen=True)
class World:
    """Judgments by topic and document, and the rows of every run."""

    qrels: dict[str, dict[str, float | None]]
    runs: dict[str, list[tuple[str, str, float]]]

    def align(self, **policies: Any) -> Rankings:
        return align(qrels_of(self.qrels), runs_of(self.runs), Policies(**policies))


def qrels_of(qrels: dict[str, dict[str, float | None]], name: str = "qrels") -> Qrels:
    rows = [(topic, doc, label) for topic, judged in qrels.items() for doc, label in judged.items()]
    schema = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}
    return Qrels(pl.DataFrame(rows, schema=schema, orient="row"), name=name)


def run_of(rows: list[tuple[str, str, float]], name: str = "run") -> Run:
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return Run(pl.DataFrame(rows, schema=schema, orient="row"), name=name)


def runs_of(runs: dict[str, list[tuple[str, str, float]]]) -> list[Run]:
    return [run_of(rows, name) for name, rows in runs.items()]


def one_topic(labels: list[float | None], ranked: list[int | None]) -> Rankings:
    """One topic: document i of the pool has labels[i]; the run returns pool documents by index, None for any other."""
    qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)}}
    rows = [("q", f"u{at}" if i is None else f"d{i}", float(-at)) for at, i in enumerate(ranked)]
    return World(qrels, {"run": rows}).align()


@st.composite
def worlds(
    draw: st.DrawFn,
    labels: tuple[float | None, ...] = (*GRADED, None),
    scores: tuple[float, ...] = SCORES,
    documents: int = 12,
    systems: int = 3,
    duplicates: bool = False,
) -> World:
    """Qrels and runs; topics and documents may be missing on either side, and rows come in any order."""
    topics = draw(st.lists(st.sampled_from(TOPICS), min_size=1, unique=True))
    ids = st.sampled_from(DOC_IDS[:documents])
    qrels = {t: draw(st.dictionaries(ids, st.sampled_from(labels), min_size=1)) for t in topics}
    pair = st.tuples(st.sampled_from(TOPICS), ids)
    runs = {}
    for number in range(draw(st.integers(1, systems))):
        pairs = draw(st.lists(pair, max_size=30, unique=not duplicates))
        runs[f"run{number}"] = [(topic, doc, draw(st.sampled_from(scores))) for topic, doc in pairs]
    return World(qrels, runs)


def expected_scores(world: World, measure: Measure, ties: str = "trec", unjudged: str = "zero") -> np.ndarray:
    """What the reference says, per row of the rankings."""
    top = reference.top_label(world.qrels)
    values = []
    for rows in world.runs.values():
        for topic, judged in world.qrels.items():
            pool = reference.pool_of(judged)
            if ties == "expected":
                every = [
                    reference.score(
                        measure.definition.name,
                        measure.parameters,
                        reference.labels(order, judged, unjudged),
                        pool,
                        top,
                    )
                    for order in reference.all_orders(rows, topic)
                ]
                values.append(math.fsum(every) / len(every))
            else:
                ranking = reference.labels(reference.ranked(rows, topic, ties), judged, unjudged)
                values.append(reference.score(measure.definition.name, measure.parameters, ranking, pool, top))
    return np.array(values)


@st.composite
def descending(draw: st.DrawFn) -> list[float]:
    """A discount vector that never rises."""
    weights = draw(st.lists(st.sampled_from((0.0, 0.1, 0.25, 0.5, 0.9, 1.0, 2.0)), min_size=1, max_size=12))
    return [1.0, *sorted(weights, reverse=True)] if not any(weights) else sorted(weights, reverse=True)


def values_of(name: str, kind: Kind) -> st.SearchStrategy[Any]:
    """Values that a parameter takes."""
    if isinstance(kind, Whole):
        whole = st.integers(1, 15)
        return st.none() | whole if kind.optional else whole
    if isinstance(kind, GainKind):
        label = st.sampled_from(GRADED + FLOATS)
        # A tiny gain, and a power of 2: in floating point, 1 + 1e-7 - 1 is off by 6e-10 of itself, and so is what an
        # ideal of that divides.
        pairs = st.dictionaries(label, st.sampled_from((-10.0, -0.3, 0.0, 0.1, 1.0, 2.5, 2.0**-23)), min_size=1)
        return st.sampled_from(("linear", "exp")) | pairs
    if isinstance(kind, DiscountKind):
        return st.sampled_from(("log2", "jk", "zipf", "linear", "none")) | descending()
    if isinstance(kind, Choice):
        return st.sampled_from(kind.words)
    if isinstance(kind, Flag):
        return st.booleans()
    assert isinstance(kind, Number)
    return {
        "cutoff": st.sampled_from((0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)),  # of iP: a recall level
        "rel": st.sampled_from((1.0, 2.0, 0.5, 3.0, 0.0, -1.0, 0.1)),
        "below": st.sampled_from((0.0, 1.0, -1.0, 0.5)),
        "base": st.sampled_from((2.0, 3.0, 10.0, 2.5, 1.1)),
        "alpha": st.sampled_from((0.5, 0.3, 1.0)),
        "beta": st.sampled_from((1.0, 0.5, 2.0) if kind.high > 1 else (0.5, 0.8)),
        "p": st.sampled_from((0.8, 0.5, 0.95, 0.1)),
        "max_label": st.sampled_from((None, 3.0, 4.0, 5.0)),
    }[name]


@st.composite
def measures(draw: st.DrawFn, names: tuple[str, ...] = ()) -> Measure:
    """Any registered measure with any parameters."""
    definition = REGISTRY[draw(st.sampled_from(names or sorted(REGISTRY)))]
    given = {name: draw(values_of(name, parameter.kind)) for name, parameter in definition.parameters.items()}
    if given.get("discount") == "linear" and given.get("cutoff") is None:
        given["cutoff"] = 10
    if definition.name == "RBP" and given["max_label"] is not None:
        given["rel"] = 1.0
    return definition.bind(given)


def worked_example(**policies: Any) -> Rankings:
    """A topic small enough for paper: labels by rank 0, 2, outside the pool, -2, 1, pooled; a 1 was not returned."""
    qrels = {"q": {"a": 2.0, "b": 1.0, "c": 0.0, "d": -2.0, "e": 1.0, "f": None}}
    rows = [("q", doc, float(-at)) for at, doc in enumerate("caudbf")]
    return World(qrels, {"run": rows}).align(**policies)


def filterable(seed: int, topics: int = 12, docs: int = 6):
    """Judgments, a run, and filter scores; all values few enough to tie."""
    rng = np.random.default_rng(seed)
    qrels, run, filters = {}, {}, {}
    for topic in map(str, range(topics)):
        labels = rng.choice([-2, 0, 1, 2], docs, p=[0.4, 0.2, 0.2, 0.2])
        qrels[topic] = {f"d{i}": int(label) for i, label in enumerate(labels)}
        run[topic] = {f"d{i}": round(label + rng.normal(0, 2), 1) for i, label in enumerate(labels)}
        filters[topic] = {f"d{i}": round(label + rng.normal(0, 2), 1) for i, label in enumerate(labels)}
    return qrels, run, filters
