"""Is the difference real? Paired tests, intervals and effect sizes of runs on the same topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from gainful.data.policies import Gaps
from gainful.stats.choices import Correction, Interval, Test
from gainful.verbs.source import Measures, Options, scores_of, selected, settings_of

if TYPE_CHECKING:
    from gainful.verbs.compare.result import Comparison


def compare(
    source: Any,
    runs: Any = None,
    measures: Measures = None,
    *,
    baseline: str | None = None,
    test: Test = "t",
    correction: Correction = "holm",
    alpha: float = 0.05,
    interval: Interval = "t",
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    equivalence: float | None = None,
    groups: Any = None,
    macro: bool = False,
    gaps: Gaps = "error",
    metadata: Any = None,
    **options: Unpack[Options],
) -> Comparison:
    """Test whether runs really differ: paired tests, intervals, effect sizes, wins and losses.

    Parameters
    ----------
    source, runs, measures
        Judgments, runs and what to compute; or `Rankings` and measures; or scores: `Scores`, a table, its file, or an
        array of runs × topics.
    baseline
        Compare the other runs with this one; without it, all pairs are compared.
    test
        t (Student's paired t-test), wilcoxon (signed ranks), randomisation (signs of the differences are flipped),
        bootstrap (studentised) or tukey (randomised Tukey HSD, which corrects for all pairs by itself).
    correction
        For testing many pairs: holm, bonferroni, bh (Benjamini-Hochberg) or none; the family is the pairs tested
        under one measure. tukey takes none.
    alpha
        A difference is significant if its corrected p-value is below this.
    interval
        Of means and differences: t or bca (bootstrap). They hold one by one; those called `all` hold all together.
    confidence
        Of the intervals.
    resamples
        How many bootstrap samples or randomisations. Places and what holds for all pairs take at most 10,000, of more
        than 173 runs fewer.
    seed
        Where the random numbers start.
    equivalence
        Also test whether runs differ by less than this, in units of the score, in either direction (TOST).
    groups
        Topics that belong to groups, such as languages or tasks: a file with the columns topic and group, or the name
        of a column of a long table of scores; in Python also such a table, or a mapping. Tests and intervals are then
        stratified: variances are those within groups, and topics are resampled within groups.
    macro
        With groups: the mean of the groups' means, in which every group counts the same, instead of that of all topics.
    gaps
        Topics in which a run has no score: error, or drop (leave the topic out for all runs).
    metadata
        What to show beside the name of each run: a CSV or TSV file with the column run and others such as team, type
        and description; or the word headers, for what the runs say of themselves (ir_metadata). In Python also a
        mapping {run: {field: value}}.
    **options
        See `Options`.

    Returns
    -------
    Comparison
        Means, and for each pair the difference with its interval, effect size, wins and losses, and p-values.

    Notes
    -----
    All tests are two-sided, on the differences z of two runs over topics. p of a Monte Carlo test is (b + 1)/(resamples
    + 1), never 0; the randomisation test is exact where 2ᵀ, for T topics, is no more than `resamples`. Identical runs
    have p = 1. Which of two runs is better, where they differ significantly, is what the test is about: for wilcoxon
    the sum of the signed ranks, for all others the mean difference. The effect size is mean(z)/sd(z). Counts (measures
    that are summed over topics) are compared by their mean per topic.

    Examples
    --------
    >>> found = compare([[0.1, 0.2, 0.3, 0.4, 0.5], [0.3, 0.5, 0.4, 0.6, 0.7]])
    >>> found.to_frame().select("run", "other", "difference", "wins", "losses", "p").rows()
    [('1', '2', -0.2, 0, 5, 0.00319...)]
    """
    from gainful.engine import open_engine
    from gainful.io.groups import read_groups
    from gainful.io.metadata import word_of
    from gainful.verbs.compare.compute import check, contrasts_of, told, unused_correction
    from gainful.verbs.compare.result import Comparison
    from gainful.verbs.evaluate import described, read_known

    check(locals())
    known = read_known(metadata, None if runs is None else selected(runs, options))
    with open_engine(options.get("engine", "local")) as work:
        scores = described(scores_of(source, runs, measures, options), known)
        asked = settings_of(compare, locals(), scores)
        belong = None if groups is None else read_groups(groups, source if runs is None else None)
        found = contrasts_of(scores, asked, groups=belong, apply=work.map)
    notes = (*asked.notes, *unused_correction(test, correction))
    given = {**asked, **told(asked, belong), "metadata": word_of(metadata)}
    settings = replace(asked, given=given, notes=notes)
    return Comparison(systems=scores.systems, contrasts=found, settings=settings, metadata=scores.metadata)
