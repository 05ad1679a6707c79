"""Choose the gain and discount of nDCG that make its scores most reliable (Kanoulas & Aslam, CIKM 2009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from gainful.data.policies import Duplicates, Ties, Unjudged
from gainful.verbs.source import RunOptions

if TYPE_CHECKING:
    from gainful.tune.optimize.result import Optimum

Target = Literal["discount", "gain", "both"]
Method = Literal["slsqp", "cone"]


class OptimizeOptions(RunOptions, total=False):
    """How judgments and runs are joined.

    Parameters
    ----------
    ties, unjudged, duplicates
        See `Policies`.
    missing
        Judged topics that a run has nothing for: empty (scored as an empty ranking) or error.
    degenerate
        Topics without a relevant document: zero (0 for every run) or skip (left out).
    keep_going, include, exclude, recursive, columns, ignore_identical_ids
        See `RunOptions`.
    """

    ties: Ties
    unjudged: Unjudged
    missing: Literal["empty", "error"]
    degenerate: Literal["zero", "skip"]
    duplicates: Duplicates


def optimize(
    qrels: Any,
    runs: Any = None,
    *,
    target: Target = "discount",
    cutoff: int | Sequence[int] = (20,),
    also: Sequence[tuple[Any, Any]] = (),
    constrained: bool = True,
    gain: str | Mapping[float, float] = "linear",
    discount: str | Sequence[float] = "log2",
    phi: float = 0.95,
    method: Method | None = None,
    starts: int = 5,
    splits: int = 10,
    resamples: int = 1000,
    seed: int = 0,
    **options: Unpack[OptimizeOptions],
) -> Optimum:
    """Choose the gain and discount of nDCG that make its scores most reliable.

    Labels of 0 and below have no gain; neither have unjudged documents. Gains never fall with the label and discounts
    never rise with the rank, unless not `constrained`. What is made as large as can be is Φ (see `reliability`); what
    is best for one topic is best for any number of them. The optimum is fitted to these topics, so its own Φ promises
    too much: read the held-out Φ.

    Parameters
    ----------
    qrels, runs
        Judgments and two or more runs; or `Rankings`.
    target
        What to choose: discount, gain or both.
    cutoff
        The rank that nDCG looks down to; with several, one gain and discount for all of them.
    also
        Further collections, each judgments and runs, or rankings: the smallest Φ of all collections and cutoffs is made
        largest.
    constrained
        Whether gains must not fall with the label, nor discounts rise with the rank.
    gain
        The gain while discounts are sought: linear (the label), exp (2^label - 1) or a map such as {1: 1, 2: 5}.
    discount
        The discount while gains are sought: log2, jk, zipf, linear, none or a list such as [1, 0.5, 0.2].
    phi
        The Φ that topics are counted for, between 0 and 1.
    method
        How to search: cone (L-BFGS-B, fast also for 1000 ranks) or slsqp (sequential quadratic programs, exact where
        several Φ meet); the one that suits if not given.
    starts
        From how many points to search: first those that people use, then random ones. Halves of the topics are searched
        from one, the best of those that people use.
    splits
        How often the topics are split into halves, each to fit once and to measure once; 0 for no held-out Φ. A topic
        that several collections share is in the same half of each.
    resamples
        How many bootstrap samples for the significance of all pairs of runs.
    seed
        Where the random numbers start.
    **options
        See `OptimizeOptions`.

    Returns
    -------
    Optimum
        The measure, beside those that people use: Φ, topics needed, held-out Φ, agreement, significance.

    References
    ----------
    Kanoulas and Aslam, Empirical justification of the gain and discount function for nDCG, CIKM 2009.

    Examples
    --------
    >>> from gainful import simulate
    >>> made = simulate(topics=12, systems=8, depth=20, seed=3)
    >>> best = optimize(made.qrels, made.runs, cutoff=5, splits=0)
    >>> best.phi >= best.collections[0].phi("log2")
    True
    >>> best.discount.round(2).tolist()
    [0.46, 0.46, 0.02, 0.02, 0.02]
    """
    from gainful.tune.optimize.compute import find_optimum

    return find_optimum(qrels, runs, locals(), options)


def check_save(path: Path) -> None:
    """Refuse, before any long work, a file that a measure cannot be read from."""
    from gainful.errors import DataError

    if path.suffix.lower() != ".json":
        raise DataError(f"{path}: expected a name that ends in .json")
