"""Bompada et al. (SIGIR 2007) on any collection: which measures bear incomplete judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from gainful.analyses.robustness import robustness
from gainful.analyses.robustness.decisions import Decisions
from gainful.analyses.robustness.result import Robustness
from gainful.analyses.robustness.samples import checked_levels
from gainful.checks import check_count, check_finite, check_share
from gainful.data.policies import Policies
from gainful.data.run import Run
from gainful.errors import GainfulError
from gainful.studies.collections import Collections, StudyCollection, cautions, load_collections, named
from gainful.studies.incomplete_judgments_exhibits import (
    accuracy_figure,
    confusion_table,
    knee_table,
    properties_table,
    tau_figure,
    weights_figure,
)
from gainful.studies.incomplete_judgments_found import (
    Depleted,
    Labels,
    findings_of_decisions,
    findings_of_orders,
    findings_of_weights,
)
from gainful.studies.result import Exhibit, Finding, Study, absences, decided

PAPER = (
    "Bompada, Chang, Chen, Kumar and Shenoy: On the Robustness of Relevance Measures with Incomplete Judgments, "
    "SIGIR 2007"
)
_OF_ORDERS = ("Figure 1", "Table 3")
_OF_DECISIONS = ("Figure 2", "Table 4", "Table 5")
_OF_WEIGHTS = ("Figure 3",)


def incomplete_judgments(
    collections: Collections | None = None,
    *,
    levels: Sequence[float] | None = None,
    trials: int = 10,
    weights: Sequence[float] = (2.0, 10.0, 100.0),
    rel: float = 1.0,
    pairs: int = 300,
    alpha: float = 0.05,
    least_returned: float = 0.95,
    seed: int = 0,
) -> Study:
    """Find which of bpref, infAP and nDCG bears incomplete judgments: order of runs, decisions, binary and graded.

    Judgments are taken away, and runs ordered and tested again. Made anew are Figures 1 to 3 and Tables 1, 3, 4 and 5
    of Bompada et al. (SIGIR 2007).

    Parameters
    ----------
    collections
        By name, judgments and runs, as in ``{"web": ("qrels.txt", "runs/")}``; a simulated collection if not given.
    levels
        Shares of the judgments to keep, such as 0.1,0.5; the paper's 17 if not given.
    trials
        How often judgments are drawn at random.
    weights
        What a highly relevant document counts in Figure 3, a relevant one counting 1; binary nDCG comes with them.
    rel
        The lowest label that is relevant; all higher ones are highly relevant.
    pairs
        How many pairs of runs, drawn at random, are tested for a difference; all if there are no more.
    alpha
        Level of these tests (Wilcoxon's signed-rank test).
    least_returned
        Runs that returned less than this share of the documents that they could have returned are left out; 0 for none.
    seed
        Where the random numbers start, those of the simulated collection too.

    Returns
    -------
    Study
        Exhibits, and which of the paper's findings hold.

    Notes
    -----
    A run could have returned, for every judged topic, as many documents as the longest list of any run has. The level
    of all judgments, at which every curve is 1, counts for no finding. Where the paper says 'as good as', a difference
    of up to 0.01 counts as none; where it says 'about 1 %', a mean difference of up to 0.015.

    Examples
    --------
    >>> import gainful as gf
    >>> made = gf.simulate(topics=10, systems=8, depth=50)
    >>> collections = {"small": (made.qrels, made.runs)}
    >>> study = gf.studies.incomplete_judgments(collections, levels=[0.1, 0.5, 1], trials=2)
    >>> study["Table 3"].frame.columns
    ['collection', 'τ above 0.9', 'bpref', 'infAP', 'nDCG']
    """
    steps = checked_levels("stratified", levels)
    if steps[0] == 1:
        raise GainfulError("levels: expected at least one below 1, the level of all judgments")
    for name, count in (("trials", trials), ("pairs", pairs)):
        check_count(name, count)
    check_share("alpha", alpha)
    check_finite("rel", rel)
    if not 0 <= least_returned <= 1:
        raise GainfulError(f"least_returned: expected a share from 0 to 1, got {least_returned}")
    loaded = load_collections(collections, seed=seed)
    kept = [replace(one, runs=_complete(one, least_returned)) for one in loaded]
    heavier = tuple(float(weight) for weight in weights)
    depleted: list[Depleted] = []
    lacking: dict[str, dict[str, str]] = {}
    for one, used in zip(loaded, kept, strict=True):
        if used.too_few is not None:
            short = len(used.runs) < min(2, len(one.runs))
            left = f" that returned {least_returned:.0%} of what they could" if short else ""
            lacking[one.name] = dict.fromkeys((*_OF_ORDERS, *_OF_DECISIONS, *_OF_WEIGHTS), f"{used.too_few}{left}")
            continue
        found = _deplete(used, steps, trials, heavier, rel, pairs, alpha, seed)
        lacking[one.name] = _lacking(found)
        depleted.append(Depleted(name=one.name, found=found))
    with_orders, with_decisions, with_weights = (
        [one for one in depleted if exhibits[0] not in lacking[one.name]]
        for exhibits in (_OF_ORDERS, _OF_DECISIONS, _OF_WEIGHTS)
    )
    exhibits: list[Exhibit] = [properties_table(loaded, kept, rel)]
    exhibits += [tau_figure(with_orders), knee_table(with_orders, by="tau")] if with_orders else []
    exhibits += [accuracy_figure(with_decisions), confusion_table(with_decisions)] if with_decisions else []
    exhibits += [knee_table(with_decisions, by="accuracy")] if with_decisions else []
    exhibits += [weights_figure(with_weights)] if with_weights else []
    findings: list[Finding] = []
    for studied in depleted:
        findings += findings_of_orders(studied) if studied in with_orders else ()
        findings += findings_of_decisions(studied) if studied in with_decisions else ()
        findings += findings_of_weights(studied) if studied in with_weights else ()
    verdicts = decided(findings)
    return Study(
        name="incomplete-judgments",
        paper=PAPER,
        collections=tuple(one.name for one in loaded),
        exhibits=tuple(exhibits),
        findings=verdicts,
        notes=cautions(kept, (verdict.collection for verdict in verdicts)),
        absent=absences(lacking, exhibits),
        settings={
            "levels": list(steps),
            "trials": trials,
            "weights": list(heavier),
            "rel": float(rel),
            "pairs": pairs,
            "alpha": alpha,
            "least_returned": float(least_returned),
            **Policies().to_dict(),
            "seed": seed,
        },
    )


def _deplete(
    one: StudyCollection,
    levels: tuple[float, ...],
    trials: int,
    weights: tuple[float, ...],
    rel: float,
    pairs: int,
    alpha: float,
    seed: int,
) -> Robustness:
    of = "" if rel == 1 else f"(rel={float(rel)!r})"
    with named(one.name):
        return robustness(
            one.qrels,
            one.runs,
            [f"bpref{of}", f"infAP{of}"],
            levels=levels,
            trials=trials,
            weights=tuple(dict.fromkeys((1.0, *weights))),  # 1 is binary
            rel=rel,
            pairs=pairs,
            alpha=alpha,
            seed=seed,
        )


def _lacking(found: Robustness) -> dict[str, str]:
    """Exhibits that cannot be made, and why."""
    lacking: dict[str, str] = {}
    if np.isnan(found.taus).any():
        lacking |= dict.fromkeys((*_OF_ORDERS, *_OF_WEIGHTS), "has runs that all score the same under all judgments")
    if any(cells[0] == Decisions() for cells in found.decisions):
        few = f"has no two runs that differ on enough topics for a test at alpha={found.alpha:g} to tell them apart"
        lacking |= dict.fromkeys(_OF_DECISIONS, few)
    if found.weights == (1.0,):
        lacking |= dict.fromkeys(_OF_WEIGHTS, "was given no weights but 1, which is binary")
    elif not Labels.of(found).highly:
        lacking |= dict.fromkeys(_OF_WEIGHTS, "has one relevant label only: graded nDCG is binary nDCG")
    return lacking


def _complete(one: StudyCollection, least: float) -> list[Run]:
    """The runs that returned at least that share of what they could."""
    topics = one.qrels.frame.select(pl.col("query_id").unique())
    lists = [
        run.frame.join(topics, on="query_id", how="semi").group_by("query_id").len()["len"].to_list()
        for run in one.runs
    ]
    longest = max((length for found in lists for length in found), default=0)
    # 0.95 · 20 topics · 5 documents must not ask for a document more.
    wanted = least * longest * topics.height * (1.0 - 1e-12)
    return [run for run, found in zip(one.runs, lists, strict=True) if sum(found) >= wanted]
