"""Generalisability theory: how far scores would come out the same on other topics, and how many topics that takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from gainful.data.policies import Gaps
from gainful.errors import check_share, check_sizes
from gainful.verbs.source import Measures, Options, scores_of, settings_of

if TYPE_CHECKING:
    from gainful.analyses.reliability.result import Reliability


def reliability(
    source: Any,
    runs: Any = None,
    measures: Measures = None,
    *,
    sizes: Sequence[int] | None = None,
    target: float = 0.95,
    confidence: float = 0.95,
    gaps: Gaps = "error",
    **options: Unpack[Options],
) -> Reliability:
    """Estimate how reliable scores are, and how many topics would make them reliable.

    The variance of the scores is split into that of runs, of topics, and the rest (run × topic). With n topics,
    Φ(n) = σ²(run) / (σ²(run) + (σ²(topic) + σ²(rest))/n) is the reliability of the scores themselves; Eρ²(n), without
    σ²(topic), that of the differences between runs. A negative variance is taken as 0, and a note says so; the
    intervals use the mean squares as they are. Runs that are all the same have Φ = 0 and an undefined Eρ²; if no two
    scores differ, both are undefined (NaN).

    Parameters
    ----------
    source, runs, measures
        Judgments, runs and what to compute; or `Rankings` and measures; or scores: `Scores`, a table, its file, or an
        array of runs × topics.
    sizes
        The numbers of topics to give the coefficients for, such as 25,100; by default from 1 to where the target is
        reached.
    target
        The reliability that the topics are counted for, between 0 and 1.
    confidence
        The confidence of the intervals, between 0 and 1.
    gaps
        A topic that some run has no score for: error, or drop to leave it out for all runs.
    **options
        See `Options`.

    Returns
    -------
    Reliability
        One result per measure.

    References
    ----------
    Brennan, Generalizability Theory, 2001. Feldt, Psychometrika 30, 1965. Arteaga, Jeyaratnam and Franklin,
    Communications in Statistics 11, 1982. Urbano, Marrero and Martín, SIGIR 2013.

    Examples
    --------
    >>> result = reliability([[0.1, 0.2, 0.4], [0.3, 0.5, 0.6], [0.2, 0.5, 0.5]])
    >>> result.verdict()
    'Φ of score is 0.61 with 3 topics (0.01 to 0.99); 37 would reach 0.95.'
    >>> round(result["score"].erho2.value, 3)
    0.923
    """
    from gainful.analyses.reliability.compute import computed

    check_share("target", target)
    check_share("confidence", confidence)
    sizes = None if sizes is None else check_sizes(sizes)
    scores = scores_of(source, runs, measures, options)
    return computed(scores, settings_of(reliability, locals(), scores))
