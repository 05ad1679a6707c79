"""Why a topic scored what it did: every rank, and every document that won or lost something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack

from gainful.data.policies import Duplicates, Unjudged
from gainful.verbs.source import RunOptions

if TYPE_CHECKING:
    from gainful.measures import Measure
    from gainful.verbs.explain.result import Explanation


class ExplainOptions(RunOptions, total=False):
    """How the ranking is made, see `Policies`; and which file it is in, see `RunOptions`."""

    ties: Literal["trec", "order"]
    unjudged: Unjudged
    duplicates: Duplicates


def explain(
    qrels: Any, run: Any, topic: str, measure: str | Measure = "nDCG@10", **options: Unpack[ExplainOptions]
) -> Explanation:
    """Explain the score of one topic: what each rank adds, and where it was lost.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame; or what
        `align` returns, with all documents listed (``documents=math.inf``).
    run
        The run: a file, a dict or a frame; with rankings the name of one of their runs.
    topic
        The topic.
    measure
        What to explain, such as nDCGf@10: nDCG (any norm, gain and discount), DCG, CG, AP, P, R, RR, or a measure of
        your own that declares what each document contributes.
    **options
        See `ExplainOptions`.

    Returns
    -------
    Explanation
        The steps from the first rank to the last, and what each document won or lost.

    Examples
    --------
    >>> why = explain({"7": {"a": 2, "b": 1}}, {"7": {"b": 0.9, "x": 0.5, "a": 0.1}}, "7")
    >>> print(why.verdict())
    nDCG@10 of topic 7 in run 'run' is 0.7602; the best ordering scores 1.0000. Lost: 0.2398 because documents ...
    >>> why.steps["ndcg"].round(2).to_list()
    [0.5, 0.38, 0.76]
    """
    from gainful.measures import parse_measure
    from gainful.results import Settings
    from gainful.verbs.explain.compute import one_ranking, take_apart
    from gainful.verbs.explain.result import Explanation

    chosen = parse_measure(measure)
    chosen.check_explained()
    rankings, row = one_ranking(qrels, run, str(topic), options)
    name = rankings.systems[row // len(rankings.topics)]
    return Explanation(
        measure=str(chosen),
        run=name,
        topic=str(topic),
        settings=Settings(
            name="explain", data=f"{chosen}, topic {topic}, run {name}", given={}, policies=rankings.policies
        ),
        **take_apart(rankings, row, chosen),
    )
