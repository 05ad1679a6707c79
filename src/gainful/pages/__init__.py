"""One self-contained HTML page of everything that gainful can tell about runs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from gainful.checks import check_count, check_share
from gainful.data.policies import Degenerate, Duplicates, Gaps, Missing, Policies, Ties, Unjudged
from gainful.errors import check_choice
from gainful.io.read import read_qrels, read_runs
from gainful.measures import Measure, parse_measures
from gainful.pages.contents import Inputs, gather
from gainful.pages.result import Report, need_packages
from gainful.stats.choices import Correction, Test
from gainful.stats.resample import check_resamples, generator
from gainful.verbs.compare.result import place_of
from gainful.verbs.evaluate import DEFAULT_MEASURES, check_ties

__all__ = ["Report", "report"]


def report(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    baseline: str | None = None,
    test: Test = "t",
    correction: Correction = "holm",
    confidence: float = 0.95,
    alpha: float = 0.05,
    cutoff: int = 20,
    resamples: int = 1000,
    trials: int = 5,
    seed: int = 0,
    gaps: Gaps = "error",
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
) -> Report:
    """Put everything on one page: who wins, whether it is real, every topic explained, how far to trust it.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
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
        How often judgments are drawn at random to see whether runs keep their order.
    seed
        Where the random numbers start.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs).
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

    Returns
    -------
    Report
        ``save("report.html")`` writes the page; ``to_dict()`` has all that is on it.

    Notes
    -----
    Nothing is computed here that the other functions do not compute: `evaluate`, `compare`, `explain`, `agreement`,
    `reliability`, `topics`, `stability`, `sensitivity`, `robustness`, `boundedness` and `threshold.curve`. What
    the data do not allow (one run, one topic, no negative labels) is left out, and the page says why.

    Examples
    --------
    >>> page = report({"1": {"a": 2, "b": 0}, "2": {"c": 1}}, {"x": {"1": ["a", "b"], "2": ["d", "c"]}}, "nDCG@10")
    >>> print(page)
    report: 1 run, 2 topics, 3 judgments; nDCG@10; ...
    """
    policies = Policies(ties=ties, unjudged=unjudged, missing=missing, degenerate=degenerate, duplicates=duplicates)
    for name, value, kind in (("test", test, Test), ("correction", correction, Correction), ("gaps", gaps, Gaps)):
        check_choice(name, value, get_args(kind))
    check_share("confidence", confidence)
    check_share("alpha", alpha)
    check_count("cutoff", cutoff)
    check_count("trials", trials)
    check_resamples(resamples)
    generator(seed)
    chosen = list(dict.fromkeys(parse_measures(measures)))
    check_ties(chosen, ties)
    need_packages()
    sources = _words(qrels, runs)
    every = read_runs(runs)
    if baseline is not None:
        place_of(baseline, tuple(run.name for run in every), "baseline")
    settings = {
        "baseline": baseline,
        "test": test,
        "correction": correction,
        "confidence": float(confidence),
        "alpha": float(alpha),
        "cutoff": int(cutoff),
        "resamples": int(resamples),
        "trials": int(trials),
        "seed": int(seed),
        "gaps": gaps,
    }
    return Report(
        contents=gather(
            Inputs(
                qrels=read_qrels(qrels),
                runs=every,
                measures=chosen,
                policies=policies,
                settings=settings,
                sources=sources,
            )
        )
    )


DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(report).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
}


def _words(qrels: Any, runs: Any) -> tuple[str, ...] | None:
    """The words of a command line that name these inputs; None if there are none."""
    given = [qrels, *(runs if isinstance(runs, (list, tuple)) else [runs])]
    if not all(isinstance(one, (str, os.PathLike)) for one in given):
        return None
    return tuple(str(Path(one)) if isinstance(one, os.PathLike) else one for one in given)
