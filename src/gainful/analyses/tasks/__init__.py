"""Which run is best over several tasks, and whether other tasks would order the runs otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from gainful.errors import check_share
from gainful.verbs.source import Measures, Options, check_options

if TYPE_CHECKING:
    from gainful.analyses.tasks.result import Tasks


def tasks(
    collections: Any,
    measures: Measures = None,
    *,
    groups: Any = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    **options: Unpack[Options],
) -> Tasks:
    """Find out which run is best over several tasks, and how much that depends on the choice of tasks.

    Parameters
    ----------
    collections
        Judgments and runs of each task by its name: ``{"nq": (qrels, runs), "scifact": (qrels, runs)}``. Or one
        collection, (qrels, runs), or its scores, whose topics `groups` assigns to tasks.
    measures
        What to compute.
    groups
        Which task each topic of one collection belongs to: a file with the columns topic and group.
    resamples
        How many times tasks are drawn with replacement.
    confidence
        Of the intervals of places.
    seed
        Where the random numbers start.
    **options
        See `Options`.

    Returns
    -------
    Tasks
        Per measure the mean of each run on each task, their mean over tasks (macro), places with intervals, and what
        each task does to the order.

    Notes
    -----
    In Python `groups` may also be a dict or a frame. Every task counts the same, however many topics it has. Runs are
    compared that all tasks have. Tasks are resampled, topics are not: the intervals say what other tasks of the same
    kind could change, given these topics. `compare(…, groups=…, macro=True)` tests differences on these tasks, by
    topics. τ is Kendall's τ_b.

    Examples
    --------
    >>> web = {"q1": {"a": 1}}, {"A": {"q1": ["a"]}, "B": {"q1": ["b", "a"]}}
    >>> news = {"q1": {"c": 1}}, {"A": {"q1": ["c"]}, "B": {"q1": ["c"]}}
    >>> found = tasks({"web": web, "news": news}, "RR")
    >>> found.to_frame().select("run", "macro", "place", "wins").rows()
    [('A', 1.0, 1, 2), ('B', 0.75, 2, 1)]
    """
    from gainful.analyses.tasks.compute import computed

    check_options(options)
    check_share("confidence", confidence)
    return computed(collections, measures, tasks, locals(), options)
