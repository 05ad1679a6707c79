"""How robust measures are to incomplete judgments: whether runs keep their order when judgments are taken away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from gainful.data.policies import PolicyOptions
from gainful.engine import Engine
from gainful.verbs.source import Measures, RunOptions

if TYPE_CHECKING:
    from gainful.analyses.robustness.result import Robustness

Depletion = Literal["stratified", "uniform", "depth", "leave-one-out"]
DEFAULT_MEASURES = ("bpref", "infAP", "AP", "nDCG@1000")


class DepletionOptions(PolicyOptions, RunOptions, total=False):
    """How judgments and runs are read and joined, and where judgments are taken away: see `Options`."""

    engine: Engine


def robustness(
    qrels: Any,
    runs: Any = None,
    measures: Measures = None,
    *,
    depletion: Depletion = "stratified",
    levels: Sequence[float] | None = None,
    teams: Path | None = None,
    trials: int = 10,
    weights: Sequence[float] = (),
    rel: float = 1.0,
    pairs: int = 300,
    alpha: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
    **options: Unpack[DepletionOptions],
) -> Robustness:
    """Find out whether judgments are deep enough: remove some, and see whether runs keep their order.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame; or
        `Rankings`, joined with ``unjudged="zero"``, and measures after them.
    runs
        Two or more runs: files, folders or globs, dicts or frames.
    measures
        What to compute, such as bpref, infAP or nDCG@1000; bpref, infAP, AP and nDCG@1000 by default.
    depletion
        What is taken away: stratified (at random, the same share of relevant and of nonrelevant documents), uniform
        (at random, each document with the same probability), depth (what a shallower pool of these runs would not have
        had judged), or leave-one-out (each run is scored without the judgments that it alone contributed).
    levels
        Shares of the judgments to keep, such as 0.1,0.5 (stratified, uniform), or depths of the pool, such as 5,10
        (depth, leave-one-out); the usual ones if not given.
    teams
        With leave-one-out: a CSV or TSV file with the columns run and team, or the word headers for what the runs say
        of themselves (ir_metadata). Each run is then scored without the judgments that its team alone contributed,
        since the runs of a team resemble each other.
    trials
        How often judgments are drawn at random; depth and leave-one-out draw nothing and make one trial.
    weights
        Also compute nDCG@1000 with the lowest relevant label counting 1 and all higher ones this much, such as 2,10;
        1 is binary.
    rel
        The lowest label that is relevant, for stratified samples and weights; not for the measures.
    pairs
        How many pairs of runs, drawn at random, are tested for a difference; all if there are no more.
    alpha
        Level of these tests (Wilcoxon's signed-rank test).
    confidence
        Of the interval of the mean τ over the trials.
    seed
        Where the random numbers start.
    **options
        See `DepletionOptions`.

    Returns
    -------
    Robustness
        Per measure and level: Kendall's τ with the full order, the mean score, and the decisions on pairs.

    Notes
    -----
    Samples are nested: a lower level keeps a subset of a higher one. Of R relevant and N nonrelevant judged documents
    of a topic, stratified depletion to a share f keeps min(R, max(1, ⌈f·R⌉)) and min(N, max(10, ⌈f·N⌉)). What
    stratified and uniform take away stays pooled but unjudged, which infAP uses; what depth and leave-one-out take away
    was never pooled, and leaves the pool. The scale of the labels stays that of the full judgments. All measures see
    the same samples. τ_b corrects for ties; it is 0 where the depleted judgments leave all runs tied and NaN where the
    full ones do. Negative labels count as nonrelevant.

    Pairs are tested by Wilcoxon's signed-rank test in its normal approximation, with few judgments as with all; see
    `Decisions` for what is counted. Nothing is counted, and the shares are NaN, where the test could find no pair
    different under all judgments, whatever run wins: runs are identical or undefined, or topics too few. Buckley &
    Voorhees, SIGIR 2004; Bompada et al., SIGIR 2007; Zobel, SIGIR 1998 (leave-one-out).

    Examples
    --------
    >>> import gainful as gf
    >>> made = gf.simulate(topics=20, systems=12, depth=100)
    >>> found = gf.robustness(made.qrels, made.runs, ["infAP", "AP"], levels=[0.1, 0.5, 1], trials=5)
    >>> found.knees()
    {'infAP': Knee(first=0.5, sustained=0.5), 'AP': Knee(first=0.5, sustained=0.5)}
    """
    given = locals()
    from gainful.analyses.robustness.compute import depleted

    return depleted(robustness, **given)
