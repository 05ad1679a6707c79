"""How often a smaller set of topics orders two runs the other way round (Buckley & Voorhees, SIGIR 2000)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from gainful.data.policies import Gaps
from gainful.errors import GainfulError, check_choice, check_count, check_sizes
from gainful.verbs.source import Measures, Options, scores_of, settings_of

if TYPE_CHECKING:
    from gainful.analyses.stability.result import Stability

Fuzzy = Literal["relative", "absolute"]
By = Literal["mean", "topic"]


def stability(
    source: Any,
    runs: Any = None,
    measures: Measures = None,
    *,
    sizes: Sequence[int] | None = None,
    draws: int = 200,
    fuzziness: float = 0.05,
    fuzzy: Fuzzy = "relative",
    by: By = "mean",
    seed: int = 0,
    gaps: Gaps = "error",
    **options: Unpack[Options],
) -> Stability:
    """Find out how often a smaller set of topics would reverse the order of two runs.

    Parameters
    ----------
    source, runs, measures
        Judgments, runs and what to compute; or `Rankings` and measures; or scores: `Scores`, a table, its file, or an
        array of runs × topics.
    sizes
        How many topics to draw, such as 5,10; by default up to 25 sizes, evenly spread up to half of the topics. Beyond
        the half, draws share so many topics that the error rate looks too good: it is 0 by construction when all are
        drawn.
    draws
        How many times topics are drawn, the same ones for every measure.
    fuzziness
        Two runs are equal if their scores differ by no more than this.
    fuzzy
        What the fuzziness is: relative (a share of the larger score) or absolute (a difference of scores).
    by
        What is compared: mean (the means over the topics drawn) or topic (the scores of each topic drawn; this error
        rate does not fall with the number of topics).
    seed
        Where the random numbers start.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs and measures).
    **options
        See `Options`.

    Returns
    -------
    Stability
        One curve per measure: error rate and share of ties by number of topics.

    Notes
    -----
    For each size n and pair of runs, GT, LT and EQ count the draws in which the first run's mean is greater, less or
    equal within the fuzziness, |x − y| ≤ f·max(|x|, |y|) or |x − y| ≤ f; a difference of 10⁻¹² of the largest score is
    rounding, and equal. The error rate is Σ min(GT, LT)/Σ(GT + LT + EQ) over all pairs, the share of ties Σ EQ over the
    same. With ``by="topic"``, GT, LT and EQ count, within each draw, the topics on which the first run's score is
    greater, less or equal; both sums then run over pairs and draws. One topic never contradicts itself, so that rate
    begins at 0 for n = 1 and grows towards the share of topics on which the generally worse run wins.

    A draw is one random order of the topics (`rng.permutation(topics)` of `numpy.random.default_rng(seed)`, draw after
    draw); its first n topics are the draw of size n. The sizes are therefore nested: a curve is smooth, and its points
    are not independent of each other. Time grows with sizes × draws × runs², and hardly with the topics.

    Buckley & Voorhees, Evaluating evaluation measure stability, SIGIR 2000.

    Examples
    --------
    >>> y = [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.3, 0.4, 0.5, 0.6, 0.7, 0.4]]  # the second is worse on one topic
    >>> found = stability(y, sizes=[1, 3], draws=100)
    >>> found["score"].error
    (0.12, 0.0)
    """
    from gainful.analyses.stability.compute import computed
    from gainful.engine import open_engine

    check_choice("fuzzy", fuzzy, get_args(Fuzzy))
    check_choice("by", by, get_args(By))
    check_count("draws", draws, least=2, why=", for one draw contradicts no other")
    if not (0.0 <= fuzziness < math.inf):
        raise GainfulError(f"fuzziness: expected a number that is not negative, such as 0.05, got {fuzziness}")
    if fuzzy == "relative" and fuzziness >= 1.0:
        raise GainfulError(
            f"fuzziness: expected a share of the larger score, less than 1, such as 0.05, got {fuzziness}"
        )
    sizes = None if sizes is None else tuple(sorted(set(check_sizes(sizes))))
    with open_engine(options.get("engine", "local")) as work:
        scores = scores_of(source, runs, measures, options)
        return computed(scores, settings_of(stability, locals(), scores), work)
