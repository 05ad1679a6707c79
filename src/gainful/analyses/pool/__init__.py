"""What to judge: pools of runs, what they cost, and samples of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from gainful.data.policies import Duplicates
from gainful.errors import check_count, check_cutoffs
from gainful.verbs.source import Measures, RunOptions, check_options

if TYPE_CHECKING:
    from gainful.analyses.pool.result import PoolPlan

Topics = Literal["judged", "all"]


class PoolOptions(RunOptions, total=False):
    """How runs are read and ranked.

    Parameters
    ----------
    ties
        Documents with equal scores: trec (by document id, as trec_eval) or order (as in the run).
    duplicates
        See `Policies`.
    keep_going, include, exclude, recursive, columns, ignore_identical_ids
        See `RunOptions`.
    """

    ties: Literal["trec", "order"]
    duplicates: Duplicates


def pool(
    qrels: Any,
    runs: Any,
    *,
    depth: int = 20,
    depths: Sequence[int] = (5, 10, 20, 50, 100),
    more: int | None = None,
    teams: Path | None = None,
    topics: Topics = "judged",
    strata: Sequence[int] = (),
    rates: Sequence[float] = (),
    judged: Path | None = None,
    docs: Path | None = None,
    measures: Measures = "nDCG@10",
    rel: float = 1.0,
    seed: int = 0,
    **options: Unpack[PoolOptions],
) -> PoolPlan:
    """Find out what is still to judge in a pool of runs, what each depth costs, and list it or a sample of it.

    Parameters
    ----------
    qrels
        Judgments there are; the word none where nothing is judged yet.
    runs
        The runs to pool.
    depth
        How deep to judge: the pool is what any run, or any team, has among its first so many documents.
    depths
        Pool depths whose costs are told.
    more
        Judge only so many further documents per topic, those that enter the pool first.
    teams
        Pool by team: a table with the columns run and team, or the word headers for what the runs say of themselves
        (ir_metadata). A team gives the documents that rank best in any of its runs, so that one with many runs has no
        larger part in the pool than others.
    topics
        Which topics of the runs to pool: judged (those with judgments; all if there are none) or all.
    strata
        Judge a sample: depths that the pool is divided at, such as 10,100 for the documents to depth 10 and those from
        11 to 100.
    rates
        The share of each stratum that is drawn, such as 1,0.1; at least two documents of each topic.
    judged
        Judgments that came back: the list as it was written, with labels. They are added to the others.
    docs
        Texts of the documents, to be written into the list: TSV (document, text) or JSONL.
    measures
        What to say of runs: how far the judgments listed could change them.
    rel
        Labels from this on are relevant, in the shares of relevant documents.
    seed
        Where the random numbers of a sample start.
    **options
        See `PoolOptions`.

    Returns
    -------
    PoolPlan
        Costs by depth, the list to judge, what it could change, and the judgments for `evaluate`.

    Notes
    -----
    Documents of equal standing enter by how many runs (or teams) return them, then by name. A sample is drawn topic by
    topic without replacement, ⌈rate·N⌉ of the N documents of a stratum that have no judgment yet. What was judged
    before, in this pool or outside of it, is a stratum of its own, judged with certainty. `qrels` of the result then
    has all of these and the whole pool, with null labels for what was not drawn, and the columns stratum and inclusion
    that statAP, xinfAP and infNDCG use. The same seed, strata, judgments and runs draw the same sample again, so that
    judgments can come back in any number of parts.

    Examples
    --------
    >>> runs = {"a": {"1": ["x", "y", "z"]}, "b": {"1": ["y", "w", "x"]}}
    >>> found = pool({"1": {"x": 1}}, runs, depth=2, depths=[1, 2])
    >>> found.to_judge["doc_id"].to_list()
    ['w', 'y']
    >>> found.to_frame()["to_judge"].to_list()
    [1, 2]
    """
    from gainful.analyses.pool.compute import planned
    from gainful.analyses.pool.sample import check_strata

    check_options(options, PoolOptions)
    check_count("depth", depth)
    depths = check_cutoffs("depths", depths)
    if more is not None:
        check_count("more", more)
    check_strata(strata, rates, more)
    return planned(qrels, runs, pool, locals(), options)
