"""A test bench for measures: what every measure must satisfy, tried on small random rankings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import permutations, product
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.data.align import align
from gainful.data.policies import Policies
from gainful.data.qrels import Qrels
from gainful.data.rankings import Rankings
from gainful.data.run import Run
from gainful.errors import MeasureError
from gainful.measures.grammar import parse_measure
from gainful.measures.registry import Measure

_Judgments = dict[str, dict[str, float | None]]
_Rows = list[tuple[str, str, float]]

_TOLERANCE = 1e-9
_LABELS: dict[str, tuple[float | None, ...]] = {
    "graded labels": (0, 1, 2, 3),
    "negative labels": (-2, -1, 0, 1),
    "float labels": (-0.5, 0, 0.3, 1.5),
    "no relevant document": (0,),
    "pooled but unjudged documents": (0, 1, None),
    "nothing judged": (None,),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Bench:
    """One collection, ranked in all the ways that are compared."""

    name: str
    rankings: Rankings
    same: tuple[tuple[str, Rankings], ...]  # which must give the same scores, and what was changed
    tied: tuple[tuple[str, Rankings, Rankings], ...]  # what is tied, averaged; and each order a topic of its own


def check_measure(measure: str | Measure, *, seed: int = 0) -> None:
    """Check on small random rankings whether a measure does what every measure must.

    The scores are one finite float64 (or NaN) per row, within the declared bounds, the same when computed again, and
    leave the input as it was; a system's score depends neither on the other systems, nor on the order of topics, nor
    on the order of rows in its run, nor on what ids are called; the text reads back as the same measure; and if the
    measure is declared `expected`, its score under ties='expected' is the mean over all orders of tied documents; and
    what its documents contribute, if declared, adds up to its score.

    Parameters
    ----------
    measure
        The measure, or its text, such as nDCG@10.
    seed
        Seed of the random rankings.

    Raises
    ------
    MeasureError
        What was expected, what was got, and on which input. An input that the measure itself refuses with a
        MeasureError is left out, unless it refuses all.

    Examples
    --------
    >>> check_measure("nDCGf@3")
    """
    chosen = parse_measure(measure)
    if (again := parse_measure(str(chosen))) != chosen:
        raise MeasureError(f"{chosen}: expected its text to read back as the same measure, got {again!r}")
    refusals: list[MeasureError] = []
    for bench in _benches(seed):
        try:
            chosen.compute(bench.rankings)
        except MeasureError as refusal:
            refusals.append(refusal)
            continue
        except Exception as error:
            # The input is read-only, so this is also what an attempt to change it comes to.
            got = f"{type(error).__name__}: {error} (on {bench.name})"
            raise MeasureError(f"{chosen}: expected scores, and its input unchanged, got {got}") from error
        _check_scores(chosen, bench.rankings, bench.name)
        _check_scores(chosen, bench.rankings.condensed(), bench.name)
        _check_same(chosen, bench)
        if chosen.explained:
            _check_contributions(chosen, bench.rankings, bench.name)
        if chosen.definition.expected:
            _check_ties(chosen, bench)
    if len(refusals) == len(_LABELS):
        raise MeasureError(f"{chosen}: expected scores, got a refusal of every input: {refusals[0]}")


def _check_scores(measure: Measure, rankings: Rankings, name: str) -> None:
    scores: Any = measure.compute(rankings)
    kind = f"{type(scores).__name__} of {getattr(scores, 'dtype', 'objects')}, shape {np.shape(scores)}"
    if kind != (wanted := f"ndarray of float64, shape {(rankings.n_rows,)}"):
        raise MeasureError(f"{measure}: expected an {wanted}, got {kind} (on {name})")
    low, high = measure.bounds or (-np.inf, np.inf)
    for row in np.flatnonzero(np.isinf(scores) | (scores < low - _TOLERANCE) | (scores > high + _TOLERANCE)).tolist():
        wanted = f"a finite score from {low:g} to {high:g}, or NaN where undefined"
        got = f"{scores[row]:g} ({_describe(rankings, row)}, {name})"
        raise MeasureError(f"{measure}: expected {wanted}, got {got}")


def _check_same(measure: Measure, bench: _Bench) -> None:
    scores = _cells(measure, bench.rankings)
    for what, rankings in bench.same:
        for (system, topic), found in _cells(measure, rankings).items():
            row, score = scores[system, topic]
            if not np.isclose(found[1], score, rtol=0, atol=_TOLERANCE, equal_nan=True):
                got = f"{found[1]!r} and {score!r} ({_describe(bench.rankings, row)}, {bench.name})"
                raise MeasureError(f"{measure}: expected the same score {what}, got {got}")


def _check_contributions(measure: Measure, rankings: Rankings, name: str) -> None:
    found = measure.contributions(rankings)
    row = np.arange(len(rankings.systems))[:, None] * len(rankings.topics) + rankings.pool_topic[found.document]
    scores = measure.compute(rankings)
    for what, added, wanted in (
        ("the score", found.won, scores),
        ("the best", found.best, rankings.per_row(found.top)),
    ):
        sums = np.bincount(row.ravel(), weights=added.ravel(), minlength=rankings.n_rows)
        total = rankings.per_row(found.empty) + sums
        wrong = np.flatnonzero(~np.isclose(total, wanted, rtol=0, atol=_TOLERANCE, equal_nan=True) & ~np.isnan(scores))
        for at in wrong.tolist():
            got = f"{float(total[at])!r} and {float(wanted[at])!r} ({_describe(rankings, at)}, {name})"
            raise MeasureError(f"{measure}: expected its contributions to add up to {what}, got {got}")


def _check_ties(measure: Measure, bench: _Bench) -> None:
    for groups, tied, orders in bench.tied:
        expected, mean = float(measure.compute(tied)[0]), float(measure.compute(orders).mean())
        if not np.isclose(expected, mean, rtol=0, atol=_TOLERANCE, equal_nan=True):
            wanted = f"{mean!r} under ties='expected', the mean over all orders of {groups}"
            raise MeasureError(f"{measure}: expected {wanted}, got {expected!r} ({_describe(tied, 0)}, {bench.name})")


def _cells(measure: Measure, rankings: Rankings) -> dict[tuple[str, str], tuple[int, float]]:
    """By system and topic (without the prefix of renamed ones), the row and its score."""
    names = product(rankings.systems, (topic.removeprefix("x") for topic in rankings.topics))
    return dict(zip(names, enumerate(measure.compute(rankings).tolist()), strict=True))


def _describe(rankings: Rankings, row: int) -> str:
    """The labels of a row by rank, ? for unjudged, and those of its pool."""
    names = [*(f"{label:g}" for label in rankings.grades), "?"]
    shown = ["?"] * int(rankings.retrieved[row])
    for hit in np.flatnonzero(rankings.row == row):
        shown[rankings.rank[hit] - 1] = names[rankings.grade[hit]]
    pool = [names[grade] for grade in rankings.pool_grade[rankings.pool_topic == row % len(rankings.topics)]]
    return f"on the ranking ({', '.join(shown)}) with the pool {{{', '.join(pool)}}}"


@lru_cache(maxsize=2)
def _benches(seed: int) -> list[_Bench]:
    rng = np.random.default_rng(seed)
    return [_bench(rng, name, labels) for name, labels in _LABELS.items()]


def _bench(rng: np.random.Generator, name: str, labels: tuple[float | None, ...]) -> _Bench:
    """Topics with many and with one judged document, one that no run has, one whose returned documents are unjudged."""

    def label() -> float | None:
        return labels[rng.integers(len(labels))]

    qrels: _Judgments = {"many": {f"d{i}": label() for i in range(9)}}
    qrels |= {"one": {"d0": label()}, "missing": {"d1": label()}, "outside": {"d2": label(), "d3": label()}}
    runs: dict[str, _Rows] = {}
    for system in ("a", "b", "c"):
        runs[system] = [("one", "d0", 1.0), *(("outside", f"u{i}", float(-i)) for i in range(3))]
        # About half of them in the pool, in any order, some with equal scores.
        some = rng.permutation(16)[: rng.integers(1, 17)]
        runs[system] += [("many", f"d{i}", float(rng.integers(6))) for i in some]
    shuffled = {system: [rows[i] for i in rng.permutation(len(rows))] for system, rows in runs.items()}
    # A prefix keeps the order of ids, which decides between tied documents.
    judged = {f"x{topic}": {f"x{doc}": label for doc, label in pool.items()} for topic, pool in qrels.items()}
    renamed = {system: [(f"x{topic}", f"x{doc}", s) for topic, doc, s in rows] for system, rows in runs.items()}
    rankings = _align(qrels, runs)
    return _Bench(
        name=name,
        rankings=rankings,
        same=(
            ("when computed again", rankings),
            *(("whatever the other systems are", _align(qrels, {name: rows})) for name, rows in runs.items()),
            ("in whatever order the topics come", _align({topic: qrels[topic] for topic in reversed(qrels)}, runs)),
            ("in whatever order the rows of a run come", _align(qrels, shuffled)),
            ("whatever ids are called", _align(judged, renamed)),
        ),
        tied=tuple(_ties({f"d{i}": label() for i in range(4)}, [f"d{i}" for i in rng.permutation(6)[:5]])),
    )


def _ties(pool: dict[str, float | None], returned: list[str]) -> Iterator[tuple[str, Rankings, Rankings]]:
    for sizes in ((5,), (1, 4), (2, 3), (1, 2, 2)):
        groups = [returned[start : start + size] for start, size in zip(np.cumsum([0, *sizes]), sizes, strict=False)]
        tied = [("tied", doc, float(-i)) for i, group in enumerate(groups) for doc in group]
        orders = [[doc for group in choice for doc in group] for choice in product(*map(permutations, groups))]
        every = [(str(n), doc, float(-i)) for n, order in enumerate(orders) for i, doc in enumerate(order)]
        averaged = _align({"tied": pool}, {"run": tied}, ties="expected")
        yield str(groups), averaged, _align({str(n): pool for n in range(len(orders))}, {"run": every})


def _align(qrels: _Judgments, runs: dict[str, _Rows], **policies: Any) -> Rankings:
    """The rankings, read-only."""
    judged = [(topic, doc, label) for topic, documents in qrels.items() for doc, label in documents.items()]
    ids = {"query_id": pl.String, "doc_id": pl.String}
    frame = pl.DataFrame(judged, {**ids, "relevance": pl.Float64}, orient="row")
    given = [Run(pl.DataFrame(run, {**ids, "score": pl.Float64}, orient="row"), name) for name, run in runs.items()]
    rankings = align(Qrels(frame), given, Policies(**policies))
    for field in fields(rankings):
        if isinstance(array := getattr(rankings, field.name), np.ndarray):
            array.setflags(write=False)
    return rankings
