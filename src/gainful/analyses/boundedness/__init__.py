"""Which values nDCG can take at all: the attainable range per topic, and the runs that leave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from gainful.data.policies import Duplicates, Missing, Ties, Unjudged
from gainful.verbs.source import RunOptions

if TYPE_CHECKING:
    from gainful.analyses.boundedness.result import Boundedness

Norm = Literal["org", "min", "f"]
Lists = Literal["orderings", "sublists"]


class JoinOptions(RunOptions, total=False):
    """Some of `Options`: what is undefined is counted, and no policy gives it a value."""

    ties: Ties
    unjudged: Unjudged
    missing: Missing
    duplicates: Duplicates


def boundedness(
    qrels: Any,
    runs: Any = (),
    *,
    cutoff: int | Sequence[int] = (20,),
    gains: str | Mapping[float, float] = "linear",
    discount: str | Sequence[float] = "log2",
    **options: Unpack[JoinOptions],
) -> Boundedness:
    """Find the range of nDCG with negative labels, per topic, and the rankings of runs that leave [0, 1].

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame; or
        `Rankings`, and no runs.
    runs
        Runs whose rankings to check: files, folders or globs, dicts or frames; none are needed for the ranges.
    cutoff
        Ranks that count; several, such as 5,20, give an answer each.
    gains
        What a label gains: linear (the label), exp (2^label - 1), or a map such as "{-2: -10}"; labels that the map
        does not name gain themselves.
    discount
        What a rank weighs: log2, jk, zipf, linear, none, or a list of numbers that never rise such as "[1, 0.5]".
    **options
        See `JoinOptions`.

    Returns
    -------
    Boundedness
        Attainable ranges, shares of topics, and unbounded rankings of every run.

    Notes
    -----
    With I and W the DCG@k of the best and worst ordering of a topic's judged documents, and I_f and W_f those of the
    best and worst sublist (only non-negative, only non-positive gains): over orderings of the whole pool nDCG_org lies
    between W/I and 1, nDCG_min in [0, 1], and nDCG_f between (W - W_f)/(I_f - W_f) and (I - W_f)/(I_f - W_f). Over
    sublists, nDCG_org lies between W_f/I and I_f/I, nDCG_min between (W_f - W)/(I - W) and (I_f - W)/(I - W), and
    nDCG_f in [0, 1]. If I < 0, the range of nDCG_org begins at 1. Without negative gains, nDCG_org lies in [0, 1] for
    every topic. Undefined (NaN) where I = 0, I = W or I_f = W_f.

    A ranking is *unbounded* if its nDCG_min is: over (DCG > I) or under (DCG < W), which happens where documents of the
    pool are left out, or others stand between them. Gienapp et al., CIKM 2020; Carmel et al., SIGIR 2022.

    Examples
    --------
    >>> found = boundedness({"q": {"good": 2, "spam": -1}}, {"q": {"good": 1.0}}, cutoff=2)
    >>> found.attainable("org").round(3).ravel().tolist(), found.attainable("min", "sublists").round(3).ravel().tolist()
    ([0.191, 1.0], [-1.14, 1.57])
    >>> found.runs().select("over", "under").row(0)
    (1, 0)
    """
    from gainful.analyses.boundedness.compute import bounds_of

    return bounds_of(boundedness, qrels, runs, cutoff, gains, discount, options)
