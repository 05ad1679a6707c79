"""The verb: qrels + runs + measures → Scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from gainful.data.align import align
from gainful.data.arrays import rankings_from_arrays
from gainful.data.policies import Degenerate, Duplicates, Missing, Policies, Ties, Unjudged
from gainful.data.rankings import FloatArray, Rankings
from gainful.data.scores import Scores
from gainful.engine import Engine, open_engine
from gainful.engine.evaluation import score_all
from gainful.engine.scoring import Job, Part, scored
from gainful.errors import GainfulError, MeasureError, PolicyError, check_choice
from gainful.io.read import iterate_runs, read_qrels
from gainful.io.scores import read_scores as read_table
from gainful.measures import Definition, Measure, parse_measure, parse_measures

DEFAULT_MEASURES = ("nDCG@10", "AP")


def evaluate(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
    keep_going: bool = False,
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: int | None = None,
) -> Scores:
    """Score runs against judgments.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
    runs
        One or more runs: files, folders or globs, dicts or frames.
    measures
        What to compute, such as nDCG@10, nDCGf@3 or AP(rel=2); `gainful measures` lists them all.
    ties
        Documents with equal scores: trec (by document id, as trec_eval), order (as in the run), or expected (the
        mean over all their orders).
    unjudged
        Documents without a judgment: zero (label 0, holding their rank) or condensed (removed before ranking).
    missing
        Judged topics that a run has nothing for: empty (scored as an empty ranking), skip or error.
    degenerate
        Where a measure is undefined: zero, nan, skip or one.
    duplicates
        A document twice in a topic: error or first.
    keep_going
        Leave out runs that cannot be read, name them in the end, and score the others; the exit status of a command
        is 1 then.
    engine
        Where to compute: local (in this process) or dask (on the workers of a Dask cluster).
    scheduler
        With engine dask: the address of a running scheduler, such as tcp://10.0.0.1:8786; by default workers are
        started on this machine, and ended afterwards.
    workers
        With engine dask: how many workers to start on this machine; one a core by default.

    Returns
    -------
    Scores
        One score per measure, run and topic; to the last bit the same, wherever it was computed.

    Examples
    --------
    >>> scores = evaluate({"q1": {"a": 1, "b": -2}}, {"q1": {"a": 0.9, "b": 0.1}}, "nDCGf@3")
    >>> scores.mean()["nDCGf@3"].round(3).to_list()
    [0.579]
    """
    policies = Policies(ties=ties, unjudged=unjudged, missing=missing, degenerate=degenerate, duplicates=duplicates)
    chosen = parse_measures(measures)
    asked = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    check_ties(chosen, ties)
    with open_engine(engine, scheduler=scheduler, workers=workers) as work:
        if engine == "local" and not keep_going:
            reading = iterate_runs(runs)  # in the background, while the judgments are read and indexed
            rankings = align(read_qrels(qrels), reading, policies)
            return compute(rankings, chosen, policies, spellings=_spellings(asked))
        job = Job(qrels=read_qrels(qrels), measures=tuple(chosen), policies=policies, keep_going=keep_going)
        part = score_all(work, job, runs, divided=engine == "dask")
    topics = tuple(job.qrels.frame["query_id"].unique(maintain_order=True).to_list())
    return _finished(part, topics, chosen, policies, _spellings(asked))


def score(
    measure: str | Measure,
    labels: Any,
    scores: Any = None,
    mask: Any = None,
    *,
    ties: Ties = "order",
    degenerate: Degenerate = "zero",
) -> FloatArray:
    """Score arrays: one value a query.

    Parameters
    ----------
    measure
        What to compute, such as nDCGf@3.
    labels
        Queries × documents, as an array or as ragged lists; NaN for unjudged. One flat list is one query.
    scores
        The same shape; -inf marks a document that is judged but was not returned. Without scores, documents are
        ranked as given.
    mask
        The same shape; False marks padding: no document at all.
    ties
        Documents with equal scores: order (as given) or expected (the mean over all their orders).
    degenerate
        Where the measure is undefined: zero, nan, skip (NaN, too) or one.

    Returns
    -------
    FloatArray
        One score a query.

    Examples
    --------
    >>> score("nDCGf@2", [[2, -1], [2, -1]], [[0.9, 0.4], [0.9, float("-inf")]]).round(2).tolist()
    [0.79, 1.0]
    """
    chosen = parse_measure(measure)
    check_ties([chosen], ties)
    policies = Policies(ties=ties, degenerate=degenerate)
    rankings = rankings_from_arrays(labels, scores, mask, ties=ties)
    values: FloatArray = compute(rankings, [chosen], policies).values[0, 0]
    return values


def compute(
    rankings: Rankings, measures: list[Measure], policies: Policies, *, spellings: dict[str, str] | None = None
) -> Scores:
    """Scores of rankings that are aligned already; `policies` must be those they were aligned under.

    Parameters
    ----------
    rankings
        From `align`.
    measures
        What to compute.
    policies
        `missing` and `degenerate` are honoured here.
    spellings
        Texts under which the measures may be looked up besides their labels.
    """
    return _finished(scored(rankings, measures), rankings.topics, measures, policies, spellings or {})


def _finished(
    part: Part, topics: tuple[str, ...], measures: list[Measure], policies: Policies, spellings: dict[str, str]
) -> Scores:
    """Scores of all runs, with what the policies make of those that are undefined."""
    values, present = part.values, part.present
    counted = np.ones(values.shape, np.bool_)
    undefined = np.isnan(values)
    if policies.missing == "skip":
        counted &= present
        undefined &= present
        values = np.where(present, values, np.nan)
    if policies.degenerate == "skip":
        counted &= ~undefined
    elif policies.degenerate != "nan":
        values = np.where(undefined, 1.0 if policies.degenerate == "one" else 0.0, values)
    return Scores(
        values=values,
        counted=counted,
        measures=tuple(str(measure) for measure in measures),
        systems=part.systems,
        topics=topics,
        summaries=tuple(measure.definition.summary for measure in measures),
        higher=tuple(measure.definition.higher for measure in measures),
        spellings=spellings,
        policies=policies,
        missing=tuple((~present).sum(axis=1).tolist()),
        ignored=part.ignored,
        undefined=tuple(undefined.any(axis=1).sum(axis=1).tolist()),
        failed=part.failed,
    )


def read_scores(source: Any, *, lower: Sequence[str] = ()) -> Scores:
    """Scores from a table: what `evaluate` returns, for the analyses that start from it.

    Parameters
    ----------
    source
        A file (.csv, .tsv, .jsonl, .json or .parquet; compressed or not), a frame, an array of systems × topics,
        `ScoreMatrix` or `Scores`. Long:
        the columns run, measure (optional), query_id and score. Wide: a row a topic, a column a system, and a query_id
        column if there is one (else topics are numbered from 1). Rows of query_id 'all' are means and not read. A cell
        that is empty, null, NA or, in a wide table, NaN is left out: it does not count.
    lower
        Measures of which a lower score is better, such as latency; a wide table's is called 'score'. gainful knows the
        direction of its own measures, and takes a higher score of any other for better.

    Returns
    -------
    Scores
        Measures that gainful knows are summarised as it summarises them, others by their mean; a wide table has one
        measure, named 'score'. There are no policies: a table does not tell them.

    Examples
    --------
    >>> import polars
    >>> times = {"run": ["a", "b"], "measure": ["latency"] * 2, "query_id": ["1", "1"], "score": [17.0, 12.0]}
    >>> read_scores(polars.DataFrame(times), lower=["latency"]).higher
    ('worse',)
    """
    scores = source if isinstance(source, Scores) else _known(read_table(source))
    if isinstance(lower, str):
        raise GainfulError(f"lower: expected a list of measures, got {lower!r}: write [{lower!r}]")
    labels = {scores.spellings.get(measure, measure) for measure in lower}
    for label in labels:
        check_choice("lower", label, scores.measures)
    if not labels:
        return scores
    directions = zip(scores.measures, scores.higher, strict=True)
    return replace(scores, higher=tuple("worse" if label in labels else higher for label, higher in directions))


def is_known(measure: str) -> bool:
    """Whether gainful knows a measure, and with it which end of its scale is better."""
    try:
        parse_measure(measure)
    except MeasureError:
        return False
    return True


def _known(scores: Scores) -> Scores:
    """The scores of a table, with what gainful knows of their measures."""
    known: dict[str, Definition] = {}
    for label in scores.measures:
        with suppress(MeasureError):
            known[label] = parse_measure(label).definition
    return replace(
        scores,
        summaries=tuple(known[label].summary if label in known else "mean" for label in scores.measures),
        higher=tuple(known[label].higher if label in known else "better" for label in scores.measures),
    )


def check_ties(measures: list[Measure], ties: Ties) -> None:
    """Refuse ties='expected' for measures that are not sums over ranks."""
    wrong = [str(measure) for measure in measures if ties == "expected" and not measure.definition.expected]
    if wrong:
        raise PolicyError(
            "ties='expected' is defined for sums over ranks, "
            f"which {', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not: use ties='trec' or ties='order'."
        )


def _spellings(asked: list[str | Measure]) -> dict[str, str]:
    """The texts that stand for exactly one measure, as they were typed."""
    parsed = {str(text): parse_measures(text) for text in asked}
    return {text: str(found[0]) for text, found in parsed.items() if len(found) == 1}
