"""One self-contained HTML page of everything that gainful can tell about runs."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from gainful.data.policies import Gaps, Policies, PolicyOptions
from gainful.stats.choices import Correction, Test
from gainful.verbs.source import DEFAULT_MEASURES, Measures, RunOptions

if TYPE_CHECKING:
    from gainful.pages.result import Report


class ReportOptions(PolicyOptions, RunOptions, total=False):
    """How judgments and runs are read and joined, see `Options`; and what the page is to say and to keep to itself.

    Parameters
    ----------
    metadata
        What is known of the runs, such as team, type and description: a CSV or TSV file with the column run, or the
        word headers for what the runs say of themselves (ir_metadata). In Python also a mapping.
    title
        What stands at the top of the page; how many runs and topics there are by default.
    author
        Who made the page, as it is to be shown.
    date
        When it was made, as it is to be shown.
    queries
        Texts of the topics: TSV (topic, text) or JSONL.
    docs
        Texts of the documents: TSV (document, text) or JSONL. The page holds the beginnings of those that it shows, up
        to a limit that it tells.
    hide_judgments
        Leave out what tells the label of a document: the rankings of topics, curves of thresholds, lines of files that
        are quoted. Scores stay; who knows a ranking may infer a label from a score at depth 1 or 2.
    """

    metadata: Any
    title: str
    author: str
    date: str
    queries: Path
    docs: Path
    hide_judgments: bool


def report(
    qrels: Any,
    runs: Any = None,
    measures: Measures = DEFAULT_MEASURES,
    *,
    baseline: str | None = None,
    test: Test = "t",
    correction: Correction = "holm",
    confidence: float = 0.95,
    alpha: float = 0.05,
    cutoff: int = 20,
    resamples: int = 1000,
    trials: int | None = None,
    seed: int = 0,
    gaps: Gaps = "error",
    **options: Unpack[ReportOptions],
) -> Report:
    """Write everything on one page: who wins, whether it is real, every topic explained, how far to trust it.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame. Or
        `Rankings` that list their documents at least to the cutoff, with the measures after them; joined with
        ``scores=True``, if thresholds are to be looked at.
    runs
        One or more runs: files, folders or globs, dicts or frames.
    measures
        What to compute, such as nDCG@10, nDCGf@3 or AP(rel=2); `gainful measures` lists them all. The page begins with
        the first.
    baseline
        Compare the other runs with this one; without it, all pairs are compared.
    test
        t (Student's paired t-test), wilcoxon (signed ranks), randomisation (signs of the differences are flipped),
        bootstrap (studentised) or tukey (randomised Tukey HSD, which corrects for all pairs by itself).
    correction
        For testing many pairs: holm, bonferroni, bh (Benjamini-Hochberg) or none.
    confidence
        Of all intervals.
    alpha
        A difference is significant if its corrected p-value is below this.
    cutoff
        How many ranks are shown where a topic is opened, and the depth at which the bounds of nDCG are looked at.
    resamples
        How many bootstrap samples or randomisations.
    trials
        How often judgments are drawn at random to see whether runs keep their order; without it 5 times, and less
        often where runs found more than 300,000 judged documents.
    seed
        Where the random numbers start.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs).
    **options
        See `Options`.

    Returns
    -------
    Report
        ``save("report.html")`` writes the page; ``to_dict()`` has all that is on it.

    Notes
    -----
    Judgments and runs are joined once. Nothing is computed here that the other functions do not compute: `evaluate`,
    `compare`, `explain`, `agreement`, `reliability`, `topics`, `stability`, `sensitivity`, `robustness`,
    `boundedness` and `threshold.curve`. What the data do not allow (one run, one topic, no negative labels) is left
    out, and the page says why.

    Examples
    --------
    >>> page = report({"1": {"a": 2, "b": 0}, "2": {"c": 1}}, {"x": {"1": ["a", "b"], "2": ["d", "c"]}}, "nDCG@10")
    >>> page.settings.data
    '1 run, 2 topics, 3 judgments; nDCG@10'
    """
    from gainful.pages.contents import gather
    from gainful.pages.inputs import read

    return gather(read(qrels, runs, measures, options, locals()))


# How often judgments are drawn at random, if nothing is said and that does not take longer than the rest of the page.
TRIALS = 5
# What need not be said to repeat a report.
DEFAULTS = {
    **{name: p.default for name, p in inspect.signature(report).parameters.items() if p.kind is p.KEYWORD_ONLY},
    "trials": TRIALS,
    **Policies().to_dict(),
}
