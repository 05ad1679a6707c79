"""The verb: qrels + runs + measures → Scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from gainful.data.policies import Degenerate, Policies, Ties
from gainful.errors import DataError, GainfulError, check_choice, no_run_left, setting
from gainful.verbs.source import DEFAULT_MEASURES as DEFAULT_MEASURES
from gainful.verbs.source import (
    LATE_POLICIES,
    Measures,
    Options,
    check_columns,
    check_options,
    check_order,
    policies_of,
    rankings_of,
    selected,
)

if TYPE_CHECKING:
    from gainful.data.rankings import FloatArray, Rankings
    from gainful.data.scores import Scores
    from gainful.measures import Definition, Measure


def evaluate(
    qrels: Any,
    runs: Any = None,
    measures: Measures = DEFAULT_MEASURES,
    *,
    metadata: Any = None,
    **options: Unpack[Options],
) -> Scores:
    """Score runs against judgments.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame. Or
        `Rankings`, with the measures after them.
    runs
        One or more runs: files, folders or globs, dicts or frames.
    measures
        What to compute, such as nDCG@10, nDCGf@3 or AP(rel=2); `gainful measures` lists them all.
    metadata
        What to show beside the name of each run: a CSV or TSV file with the column run and others such as team, type
        and description; or the word headers, for what the runs say of themselves (ir_metadata). In Python also a
        mapping {run: {field: value}}.
    **options
        See `Options`.

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
    from gainful.data.pool import Judged
    from gainful.data.rankings import Rankings
    from gainful.engine import open_engine
    from gainful.engine.evaluation import score_all
    from gainful.engine.scoring import Job, check_ties, finished, score_runs
    from gainful.io.read import iterate_runs, judgments, read_qrels
    from gainful.measures import parse_measures
    from gainful.results import warn

    check_options(options)
    if options.get("lower_is_better"):
        raise GainfulError(
            f"{setting('lower_is_better')}: expected a table of scores with it; gainful knows the direction of the "
            "measures that it computes"
        )
    if isinstance(qrels, Rankings):
        runs, measures = (None, runs) if runs is not None and measures is DEFAULT_MEASURES else (runs, measures)
    measures = list(measures) if isinstance(measures, Iterator) else measures
    chosen = tuple(parse_measures(measures))  # type: ignore[arg-type]
    spellings = _spellings(measures)
    if isinstance(qrels, Rankings):
        scores = _of_rankings(rankings_of(qrels, runs, options), chosen, options, spellings)
        return described(scores, metadata)
    if runs is None:
        raise DataError("expected judgments and runs, or what `align` returns, got no runs")
    policies, keep_going = policies_of(options), options.get("keep_going", False)
    check_ties(chosen, policies.ties)
    check_order(qrels, runs)
    runs, engine, columns = selected(runs, options), options.get("engine", "local"), options.get("columns")
    check_columns(qrels, runs, columns)
    known = read_known(metadata, runs)
    with open_engine(engine) as work:
        # In the background, while the judgments are read and indexed.
        reading = iterate_runs(runs, keep_going=keep_going, raw=True) if engine == "local" else None
        # What is sent elsewhere is read here.
        given = read_qrels(qrels, columns=columns) if reading is None else judgments(qrels, columns=columns)
        judged = Judged(given, policies.duplicates)
        job = Job(judged=judged, measures=chosen, policies=policies, keep_going=keep_going)
        part = score_all(work, job, runs) if reading is None else score_runs(job, reading)
    if not part.systems:
        raise no_run_left(part.failed, part.notes[0].text if part.notes else "")
    scores = finished(part, chosen, policies, spellings=spellings)
    warn(scores.run_notes)
    return described(scores, known)


def read_known(metadata: Any, runs: Any = None) -> Any:
    """The metadata of runs, read before any long work; None if there is none."""
    if metadata is None:
        return None
    from gainful.io.metadata import read_metadata

    return read_metadata(metadata, runs)


def described(scores: Scores, metadata: Any) -> Scores:
    """Scores with what is known of their runs; with what they have already, if nothing is given."""
    known = read_known(metadata)
    return scores if known is None else replace(scores, metadata=known)


def score(
    measure: str | Measure,
    labels: Any,
    scores: Any = None,
    mask: Any = None,
    *,
    ties: Ties = "order",
    degenerate: Degenerate = "zero",
) -> FloatArray:
    """Score arrays: one value per topic.

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
        One score per query.

    Examples
    --------
    >>> score("nDCGf@2", [[2, -1], [2, -1]], [[0.9, 0.4], [0.9, float("-inf")]]).round(2).tolist()
    [0.79, 1.0]
    """
    from gainful.data.arrays import rankings_from_arrays
    from gainful.engine.scoring import check_ties, compute
    from gainful.measures import parse_measure

    chosen = parse_measure(measure)
    check_ties([chosen], ties)
    policies = Policies(ties=ties, degenerate=degenerate)
    rankings = rankings_from_arrays(labels, scores, mask, ties=ties)
    values: FloatArray = compute(rankings, [chosen], policies).values[0, 0]
    return values


def _of_rankings(
    rankings: Rankings, measures: Sequence[Measure], options: Options, spellings: dict[str, str]
) -> Scores:
    """Scores of what is joined already; what was noticed then was said then."""
    from gainful.data.align import check_missing
    from gainful.engine.scoring import check_ties, finished, scored, signs_for

    policies = replace(rankings.policies, **{name: options[name] for name in LATE_POLICIES if name in options})  # type: ignore[literal-required]
    check_ties(measures, policies.ties)
    part = scored(rankings, measures, signs=signs_for(rankings, measures))
    for name, present in zip(part.systems, part.present, strict=True):
        check_missing(name, part.topics, present, policies)
    return finished(part, measures, policies, spellings=spellings)


def read_scores(source: Any, *, lower_is_better: Sequence[str] = ()) -> Scores:
    """Read scores from a table, so that analyses can start from them.

    Parameters
    ----------
    source
        A file (.csv, .tsv, .jsonl, .json or .parquet; compressed or not), a frame, an array of runs × topics,
        `ScoreMatrix` or `Scores`. A long table has the columns run, measure (optional), query_id and score; a wide one
        has one row per topic, one column per run, and a query_id column if there is one (else topics are numbered from
        1). Rows of query_id 'all' are means and not read. A cell that is empty, null, NA or, in a wide table, NaN is
        left out: it does not count.
    lower_is_better
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
    >>> read_scores(polars.DataFrame(times), lower_is_better=["latency"]).higher
    ('worse',)
    """
    from gainful.data.scores import Scores
    from gainful.io.scores import read_scores as read_table

    scores = source if isinstance(source, Scores) else _known(read_table(source))
    if isinstance(lower_is_better, str):
        raise GainfulError(
            f"{setting('lower_is_better')}: expected a list of measures, got {lower_is_better!r}: write "
            f"[{lower_is_better!r}]"
        )
    labels = {scores.spellings.get(measure, measure) for measure in lower_is_better}
    for label in labels:
        check_choice(setting("lower_is_better"), label, scores.measures)
    if not labels:
        return scores
    directions = zip(scores.measures, scores.higher, strict=True)
    return replace(scores, higher=tuple("worse" if label in labels else higher for label, higher in directions))


def known(measure: str) -> Definition | None:
    """What gainful knows of a measure: which end of its scale is better, and more."""
    found = _parsed(measure)
    return None if found is None else found.definition


def bounds_of(measure: str) -> tuple[float, float]:
    """The range of a measure's values, as far as gainful knows one."""
    found = _parsed(measure)
    return (-math.inf, math.inf) if found is None or found.bounds is None else found.bounds


def _parsed(measure: str) -> Measure | None:
    from gainful.errors import MeasureError
    from gainful.measures import parse_measure

    try:
        return parse_measure(measure)
    except MeasureError:
        return None


def _known(scores: Scores) -> Scores:
    """The scores of a table, with what gainful knows of their measures."""
    found = [known(label) for label in scores.measures]
    return replace(
        scores,
        summaries=tuple("mean" if one is None else one.summary for one in found),
        higher=tuple("better" if one is None else one.higher for one in found),
    )


def _spellings(measures: Measures) -> dict[str, str]:
    """The texts that stand for exactly one measure, as they were typed."""
    from gainful.measures import Measure, parse_measures

    asked = [measures] if isinstance(measures, str | Measure) else list(measures or ())
    parsed = {str(text): parse_measures(text) for text in asked}
    return {text: str(found[0]) for text, found in parsed.items() if len(found) == 1}
