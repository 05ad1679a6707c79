"""Why a topic scored what it did: every rank, and every document that won or lost something."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from gainful.data.align import align
from gainful.data.policies import Duplicates, Policies, Ties, Unjudged
from gainful.data.qrels import Qrels
from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.data.run import Run
from gainful.errors import DataError, MeasureError, PolicyError, did_you_mean
from gainful.io.read import read_qrels, read_run
from gainful.measures import Measure, parse_measure
from gainful.measures.gains import discounts, gains

Columns: TypeAlias = "dict[str, pl.Series | FloatArray | IntArray]"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Explanation:
    """One topic's score, taken apart.

    Two identities hold: ``score = empty + sum(lost["won"])`` and ``best = score + sum(lost["lost"])``.

    Parameters
    ----------
    measure, run, query_id
        What was explained.
    score
        The score of the topic, as `evaluate` gives it; NaN where the measure is undefined.
    empty
        What an empty ranking would score: 0 but for norm='min' and norm='f', where it is -W/(I - W).
    best
        What the best ordering of the pool scores: 1 for nDCG, whatever its norm.
    policies
        The policies that were in force.
    steps
        One row a rank: ``rank``, ``doc_id`` (null after the last document), ``label`` (null if unjudged), then for
        the gain family ``gain``, ``cg``, ``discount``, ``dcg``, ``ideal`` and ``worst`` (the DCG of the best and the
        worst that the pool allows down to this rank) and ``ndcg`` (null where undefined); for the others
        ``relevant``, ``found``, ``precision``, ``recall`` and the measure itself.
    lost
        One row a document of the pool that counts, largest loss first: ``doc_id``, ``label``, ``gain``, ``rank``
        (null if not returned), ``won`` (what it adds to the score), ``best`` (what it adds in the best ordering)
        and ``lost``, the difference; negative where it stands higher than in the best ordering.
    """

    measure: str
    run: str
    query_id: str
    score: float
    empty: float
    best: float
    policies: Policies
    steps: pl.DataFrame
    lost: pl.DataFrame

    def __str__(self) -> str:
        where = f"{self.measure} of topic {self.query_id} in run {self.run!r}"
        how = f"(ties={self.policies.ties} unjudged={self.policies.unjudged})"
        if math.isnan(self.score):
            return f"{where} is undefined: the pool leaves nothing to gain or lose {how}"
        return f"{where} is {self.score:.4f}, the best is {self.best:.4f} {how}"

    __repr__ = __str__

    def to_frame(self) -> pl.DataFrame:
        """The steps."""
        return self.steps

    def to_dict(self) -> dict[str, object]:
        """Everything, ready for JSON: null where a number is undefined."""
        return {
            "measure": self.measure,
            "run": self.run,
            "query_id": self.query_id,
            "score": _number(self.score),
            "empty": _number(self.empty),
            "best": _number(self.best),
            "policies": self.policies.to_dict(),
            "steps": self.steps.to_dicts(),
            "lost": self.lost.to_dicts(),
        }


def explain(
    qrels: Any,
    run: Any,
    query: str,
    measure: str | Measure = "nDCG@10",
    *,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    duplicates: Duplicates = "error",
) -> Explanation:
    """Show how the score of one topic comes about, rank by rank, and where it was lost.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
    run
        The run: a file, a dict or a frame.
    query
        The topic.
    measure
        One of nDCG (any norm, gain and discount), DCG, CG, AP, P, R and RR, such as nDCGf@10.
    ties
        Documents with equal scores: trec (by document id, as trec_eval) or order (as in the run).
    unjudged
        Documents without a judgment: zero (label 0, holding their rank) or condensed (removed before ranking).
    duplicates
        A document twice in a topic: error or first.

    Returns
    -------
    Explanation
        The steps from the first rank to the last, and what each document won or lost.

    Examples
    --------
    >>> why = explain({"7": {"a": 2, "b": 1}}, {"7": {"b": 0.9, "x": 0.5, "a": 0.1}}, "7")
    >>> print(why)
    nDCG@10 of topic 7 in run 'run' is 0.7602, the best is 1.0000 (ties=trec unjudged=zero)
    >>> why.steps["ndcg"].round(2).to_list()
    [0.5, 0.38, 0.76]
    """
    policies = Policies(ties=ties, unjudged=unjudged, duplicates=duplicates)
    if ties == "expected":
        raise PolicyError(
            "ties='expected' averages over all orders of tied documents, so that there is no one ranking to explain: "
            "use ties='trec' or ties='order'."
        )
    chosen = parse_measure(measure)
    name = chosen.definition.name
    if name not in _EXPLAINED:
        raise MeasureError(f"expected a measure that can be explained ({', '.join(_EXPLAINED)}), got {str(chosen)!r}")
    judged, returned = read_qrels(qrels), read_run(run)
    ranking = _one_ranking(judged, returned, str(query), policies)
    parts = _EXPLAINED[name](ranking, **chosen.parameters)
    return Explanation(
        measure=str(chosen),
        run=returned.name,
        query_id=str(query),
        score=float(chosen.compute(ranking.rankings)[0]),
        empty=parts.empty,
        best=parts.best,
        policies=policies,
        steps=parts.steps,
        lost=parts.lost,
    )


class _Ranking(NamedTuple):
    """One topic of one run. All its documents are hits: the unjudged are in the pool, without a label."""

    rankings: Rankings
    names: pl.Series  # of the pool

    @property
    def returned(self) -> int:
        return int(self.rankings.retrieved[0])

    @property
    def labels(self) -> FloatArray:
        """Per pool document; NaN if unjudged."""
        return np.append(self.rankings.grades, np.nan)[self.rankings.pool_grade]

    @property
    def ranks(self) -> FloatArray:
        """Per pool document; infinite if it was not returned."""
        ranks = np.full(len(self.names), np.inf)
        ranks[self.rankings.document] = self.rankings.rank
        return ranks

    def by_rank(self, last: int) -> tuple[Columns, IntArray]:
        """The columns every explanation begins with; per rank to `last`, the pool document there (-1: none)."""
        document = np.full(max(last, self.returned), -1)
        document[self.rankings.rank - 1] = self.rankings.document
        document = document[:last]
        there = pl.Series(document, dtype=pl.Int64).replace(-1, None)
        labels = pl.Series(self.labels).fill_nan(None)
        columns: Columns = {
            "rank": np.arange(1, last + 1),
            "doc_id": self.names.gather(there),
            "label": labels.gather(there),
        }
        return columns, document

    def table_of_losses(self, chosen: IntArray, gain: FloatArray, won: FloatArray, best: FloatArray) -> pl.DataFrame:
        """`lost`, for the chosen pool documents; the other arrays run along them."""
        rank = self.ranks[chosen]
        frame = pl.DataFrame(
            {
                "doc_id": self.names.gather(chosen),
                "label": self.labels[chosen],
                "gain": gain,
                "rank": pl.Series(np.where(np.isinf(rank), 0, rank).astype(np.int64)).replace(0, None),
                "won": pl.Series(won).fill_nan(None),
                "best": pl.Series(best).fill_nan(None),
                "lost": pl.Series(best - won).fill_nan(None),
            }
        )
        return frame.sort("lost", "rank", descending=[True, False], nulls_last=True, maintain_order=True)


class _Parts(NamedTuple):
    steps: pl.DataFrame
    lost: pl.DataFrame
    empty: float
    best: float


def _one_ranking(qrels: Qrels, run: Run, query: str, policies: Policies) -> _Ranking:
    judged = qrels.frame.filter(pl.col("query_id") == query).select("query_id", "doc_id", "relevance")
    returned = run.frame.filter(pl.col("query_id") == query)
    if not judged.height:
        reason = "has no judgments" if returned.height else "is neither in the qrels nor in the run"
        topics = qrels.topics
        some = ", ".join(topics[:5]) + (", …" if len(topics) > 5 else "")
        raise DataError(f"topic {query!r} {reason}.{did_you_mean(query, topics)} Judged topics: {some}")
    # Unjudged documents join the pool without a label: so they get a rank, keep their name, and gain nothing.
    others = (
        returned.join(judged, on="doc_id", how="anti", maintain_order="left")
        .unique("doc_id", maintain_order=True)
        .select("query_id", "doc_id", relevance=pl.lit(None, pl.Float64))
    )
    pool = pl.concat([judged, others])
    rankings = align(Qrels(pool, name=qrels.name), [Run(returned, name=run.name)], policies)
    return _Ranking(rankings, pool["doc_id"].unique(maintain_order=True))


def _explain_gain(
    ranking: _Ranking,
    *,
    cutoff: int | None,
    gain: str | tuple[tuple[float, float], ...],
    discount: str | tuple[float, ...] = "none",
    base: float = 2.0,
    norm: str | None = None,
) -> _Parts:
    """CG, DCG and nDCG.

    With Z = I - W of the norm, a document of gain g at rank r wins g·D(r)/Z, and in the best ordering g·D(r')/Z.
    DCG has no norm: Z is 1, and the best is that of the documents with a positive gain.
    """
    judged = ~np.isnan(ranking.labels)
    value = np.append(gains(ranking.rankings.grades, gain), 0.0)[ranking.rankings.pool_grade]
    value = np.maximum(value, 0.0) if norm == "zero" else value

    longest = max(ranking.returned, int(judged.sum()), len(discount) if isinstance(discount, tuple) else 0)
    last = longest if cutoff is None else min(longest, cutoff)
    weight = discounts(discount, last, cutoff, base)
    weight = np.append(weight, np.zeros(last - len(weight)))
    columns, document = ranking.by_rank(last)
    at_rank = np.append(value, 0.0)[document]
    achieved = np.cumsum(at_rank * weight)

    # Leaving documents out is allowed under norm='f' and for DCG: the best shows no harm, the worst nothing else.
    sublist = norm in ("f", None)
    ideal = _best_so_far(np.maximum(value, 0.0)[judged] if sublist else value[judged], weight)
    worst = np.zeros(last)
    if norm in ("min", "f", None):
        worst = -_best_so_far(-np.minimum(value, 0.0)[judged] if sublist else -value[judged], weight)
    columns.update(gain=at_rank, cg=np.cumsum(at_rank), discount=weight, dcg=achieved, ideal=ideal, worst=worst)
    # The same gains summed in another order differ in their last bits: that is not a span to divide by.
    size = _best_so_far(np.abs(value[judged]), weight)
    span = np.ones(last) if norm is None else np.where(np.abs(ideal - worst) > 1e-12 * size, ideal - worst, np.nan)
    if norm is not None:
        columns["ndcg"] = pl.Series((achieved - worst) / span).fill_nan(None)

    z = span[-1] if last else np.nan
    ordered = np.flatnonzero(judged)
    # Of documents with equal value, the one that stands higher is taken to stand higher in the best ordering, too.
    ordered = ordered[np.lexsort((ranking.ranks[ordered], -value[ordered]))]
    places = np.zeros(len(ordered))
    places[:last] = np.sort(weight)[::-1][: len(ordered)]
    if sublist:
        places[value[ordered] < 0] = 0.0
    counts = value[ordered] != 0
    chosen = ordered[counts]
    won = value[chosen] * _at(weight, ranking.ranks[chosen]) / z
    best = value[chosen] * places[counts] / z + 0.0  # -0.0 is no way to show nothing
    top, bottom = (ideal[-1], worst[-1]) if last else (0.0, 0.0)
    return _Parts(
        steps=pl.DataFrame(columns),
        lost=ranking.table_of_losses(chosen, value[chosen], won, best),
        empty=0.0 if norm is None else float(-bottom / z) + 0.0,
        best=float(top) if norm is None else float((top - bottom) / z),
    )


def _best_so_far(gain: FloatArray, weight: FloatArray) -> FloatArray:
    """Per rank, the highest DCG that an ordering of these gains reaches down to it."""
    ordered = np.sort(gain)[::-1]
    if (np.diff(weight) <= 0).all():
        padded = np.zeros(len(weight))
        padded[: len(ordered)] = ordered[: len(weight)]
        return np.cumsum(padded * weight)
    # Discounts that rise somewhere: what is best for a rank may use its predecessors differently.
    best = np.zeros(len(weight))
    for last in range(1, len(weight) + 1):
        highest = np.sort(weight[:last])[::-1][: len(ordered)]
        best[last - 1] = ordered[: len(highest)] @ highest
    return best


def _at(weight: FloatArray, ranks: FloatArray) -> FloatArray:
    """The weight at each rank, 0 beyond the last and for documents that were not returned."""
    place = np.where(np.isinf(ranks), len(weight) + 1, ranks).astype(np.int64) - 1
    return np.append(weight, 0.0)[np.minimum(place, len(weight))]


def _explain_binary(name: str, ranking: _Ranking, *, cutoff: int | None, rel: float) -> _Parts:
    """AP, P, R and RR. In the best ordering the relevant documents come first, those found in the order found."""
    relevant = ranking.labels >= rel  # NaN, which stands for unjudged, compares False
    total = int(relevant.sum())
    longest = max(ranking.returned, total)
    last = longest if cutoff is None else min(longest, cutoff)
    columns, document = ranking.by_rank(last)
    hit = np.append(relevant, False)[document]
    rank = np.arange(1, last + 1)
    found = np.cumsum(hit)
    precision = found / rank
    columns.update(
        relevant=hit, found=found, precision=precision, recall=found / total if total else np.full(last, np.nan)
    )
    first = hit & (found == 1)
    # What the document at each rank adds to the score, and what the relevant at each rank of the best ordering would.
    share = {"AP": precision / max(total, 1), "P": 1.0 / (cutoff or 1), "R": 1.0 / max(total, 1), "RR": first / rank}
    ideal = {"AP": 1.0 / max(total, 1), "P": share["P"], "R": share["R"], "RR": rank == 1}
    added = np.where(hit, share[name], 0.0)
    perfect = np.where(rank <= total, ideal[name], 0.0)
    undefined = total == 0 and name in ("AP", "R")
    if name in ("AP", "RR"):
        columns[name.lower()] = np.full(last, np.nan) if undefined else np.cumsum(added)
    chosen = np.flatnonzero(relevant)
    chosen = chosen[np.argsort(ranking.ranks[chosen], kind="stable")]
    places = np.arange(1.0, total + 1)
    return _Parts(
        steps=pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None)),
        lost=ranking.table_of_losses(chosen, np.ones(total), _at(added, ranking.ranks[chosen]), _at(perfect, places)),
        empty=math.nan if undefined else 0.0,
        best=math.nan if undefined else float(perfect.sum()),
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


_EXPLAINED: dict[str, Callable[..., _Parts]] = {
    **dict.fromkeys(("nDCG", "DCG", "CG"), _explain_gain),
    **{name: partial(_explain_binary, name) for name in ("AP", "P", "R", "RR")},
}
