"""Kanoulas & Aslam (CIKM 2009) on any collection: which gain and discount make nDCG most reliable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gainful.checks import check_count, check_cutoffs, check_share
from gainful.errors import DataError
from gainful.progress import track
from gainful.stats.resample import check_resamples
from gainful.studies import gain_discount_figures as figures
from gainful.studies import gain_discount_tables as tables
from gainful.studies.collections import Collections, cautions, load_collections
from gainful.studies.gain_discount_findings import findings
from gainful.studies.gain_discount_found import BOTH, DISCOUNT, FREE, GAIN, HELD_OUT, Found, Plan, label_shares, steps
from gainful.studies.result import Exhibit, Study, decided

PAPER = "Kanoulas and Aslam: Empirical Justification of the Gain and Discount Function for nDCG, CIKM 2009"
_NOT_ASKED = "it was not asked for"
# What an exhibit stands on, to tell why it could not be made.
_NEEDS = {
    "Table 2": GAIN,
    "Table 3": GAIN,
    "Figure 8": GAIN,
    "Figure 6": BOTH,
    "Figure 9": BOTH,
    "Figure 3": FREE,
    "Held-out Φ": HELD_OUT,
}


def gain_discount(
    collections: Collections | None = None,
    *,
    cutoff: int = 20,
    discount_cutoffs: Sequence[int] = (10, 20, 100),
    gain_cutoffs: Sequence[int] = (3, 10, 20, 100, 200),
    phi: float = 0.95,
    best: int = 30,
    starts: int = 2,
    splits: int = 5,
    resamples: int = 1000,
    seed: int = 0,
) -> Study:
    """Find which gain and discount make nDCG most reliable, and how far those that people use are from it.

    Made anew are Tables 1 to 4 and Figures 2 to 9 of Kanoulas and Aslam (CIKM 2009); what the paper does not have, the
    reliability on topics that nothing was fitted to, stands beside them.

    Parameters
    ----------
    collections
        By name, judgments and runs, as in ``{"web": ("qrels.txt", "runs/")}``; a simulated collection if not given.
    cutoff
        Ranks that count, for Figures 3, 6 and 9.
    discount_cutoffs
        Ranks that count, for Figure 2; the largest also for Tables 1, 3 and 4 and Figures 4, 5, 7 and 8.
    gain_cutoffs
        Ranks that count, for Table 2.
    phi
        The Φ that topics are counted for in Tables 1 and 3, between 0 and 1.
    best
        How many runs are compared in Figure 9, the best ones.
    starts
        From how many points each optimum is searched; that of gains alone from three times as many.
    splits
        How often the topics are split into halves, each to fit once and to measure once; 0 for no held-out Φ.
    resamples
        How many bootstrap samples, for Figure 9.
    seed
        Where the random numbers start, those of the simulated collection too.

    Returns
    -------
    Study
        Exhibits, and which of the paper's findings hold.

    Notes
    -----
    Labels of 0 and below have no gain, and unjudged documents hold their ranks; the paper's collections have no
    negative labels. An optimum is fitted to the topics at hand and is the best there by construction: the findings that
    say so are told apart from those on topics held out. A discount is *less steep* than another if it puts more of its
    weight on the lower half of the ranks. Where runs are not deep enough for a cutoff, the largest that they reach
    takes its place, and that is told.

    Examples
    --------
    >>> import gainful as gf
    >>> made = gf.simulate(topics=10, systems=8, depth=50)
    >>> study = gf.studies.gain_discount(
    ...     {"small": (made.qrels, made.runs)}, cutoff=5, discount_cutoffs=[5], gain_cutoffs=[5], splits=0
    ... )
    >>> study["Table 1"].frame.columns
    ['collection', 'cutoff', 'zipf', 'linear', 'log2', 'optimal']
    """
    plan = Plan(
        cutoff=cutoff,
        discount_cutoffs=check_cutoffs("discount_cutoffs", discount_cutoffs, least=2),
        gain_cutoffs=check_cutoffs("gain_cutoffs", gain_cutoffs),
        phi=phi,
        best=best,
        starts=starts,
        splits=splits,
        resamples=resamples,
        seed=seed,
    )
    check_count("cutoff", cutoff, least=2)
    check_count("best", best, least=2)
    check_count("starts", starts)
    check_count("splits", splits, least=0)
    check_share("phi", phi)
    check_resamples(resamples)
    loaded = load_collections(collections, seed=seed)
    found = [Found(name=one.name, shares=label_shares(one, plan.deep)) for one in loaded]
    work = [step for one, into in zip(loaded, found, strict=True) for step in steps(one, plan, into)]
    for step in track(work, len(work), "Searching gains and discounts"):
        step()
    if not any(one.discounts for one in found):
        why = next(why for kind, why in found[0].failed if kind == DISCOUNT)
        raise DataError(f"collection {found[0].name!r}: {why}")
    made = _exhibits(found, plan)
    verdicts = decided(finding for one in found for finding in findings(one, plan))
    return Study(
        name="gain-discount",
        paper=PAPER,
        collections=tuple(one.name for one in loaded),
        exhibits=tuple(exhibit for exhibit in made if not exhibit.frame.is_empty()),
        findings=verdicts,
        notes=cautions(loaded, (verdict.collection for verdict in verdicts)),
        absent=dict(_absent(made, found)),
        settings=plan.settings(),
    )


def _exhibits(found: Sequence[Found], plan: Plan) -> list[Exhibit]:
    """All of them, in the paper's order; those that the data do not allow have no rows."""
    deep = {one.name: one.deep for one in found if one.deep is not None}
    gains = {one.name: one.deep_gain for one in found if one.deep_gain is not None}
    return [
        figures.figure_2(found),
        figures.figure_3(found),
        figures.figure_4(deep),
        tables.table_1(deep, plan),
        tables.table_2(found, plan),
        figures.figure_5(found),
        tables.table_3(gains, plan),
        tables.held_out(deep),
        figures.figure_6(found, plan),
        figures.figure_7(deep),
        tables.table_4(deep),
        figures.figure_8(gains),
        figures.figure_9(found, plan),
    ]


def _absent(made: Sequence[Exhibit], found: Sequence[Found]) -> Iterator[tuple[str, str]]:
    reasons = {kind: why for one in found for kind, why in one.failed}
    for exhibit in made:
        if exhibit.frame.is_empty():
            yield exhibit.name, reasons.get(_NEEDS.get(exhibit.name, ""), _NOT_ASKED)
    for one in found:
        for (kind, why), cutoffs in one.failed.items():
            at = f" at {', '.join(map(str, sorted(cutoffs)))}" if cutoffs else ""
            yield f"{kind}{at} on {one.name}", why
