"""The join, for everybody: judgments and runs in, `Rankings` out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from gainful.data.policies import Policies, PolicyOptions

if TYPE_CHECKING:
    from gainful.data.rankings import Rankings


def align(
    qrels: Any,
    runs: Any,
    *,
    documents: float = 0,
    scores: bool = False,
    keep_going: bool = False,
    **policies: Unpack[PolicyOptions],
) -> Rankings:
    """Join runs with judgments once, for all the functions that start from both.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
    runs
        One or more runs: files, folders or globs, dicts or frames.
    documents
        How many documents of each ranking to list by name, judged or not, as some functions need it: `explain`, say;
        infinity for all.
    scores
        Keep the scores of all documents, judged or not, as thresholds need them; also kept if all documents are listed.
    keep_going
        Leave out runs that cannot be read, and name them in `Rankings.failed`.
    **policies
        See `Policies`.

    Returns
    -------
    Rankings
        What takes the place of judgments and runs in every function.

    Examples
    --------
    >>> rankings = align({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 0.9, "c": 0.5}}, documents=10)
    >>> rankings.listed.doc_id.to_list()
    ['a', 'c']
    >>> import gainful as gf
    >>> gf.evaluate(rankings, "P@2").mean()["P@2"].to_list()
    [0.5]
    """
    from gainful.data.align import align as join
    from gainful.data.notes import notes_of
    from gainful.errors import DataError, GainfulError
    from gainful.io.read import iterate_runs, read_qrels
    from gainful.results import warn

    if not documents >= 0:
        raise GainfulError(f"documents: expected a number of at least 0, got {documents}")
    chosen = Policies(**policies)
    reading = iterate_runs(runs, keep_going=keep_going)  # in the background, while the judgments are read and indexed
    rankings = join(read_qrels(qrels), reading, chosen, documents=documents, scores=scores, keep_going=keep_going)
    if not rankings.systems:
        raise DataError(rankings.failed[0][1])
    warn(notes_of(rankings))
    return rankings
