"""Carmel et al. (SIGIR 2022) on any collection: measuring, and learning, in the presence of forbidden documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gainful.checks import check_count, check_cutoffs, check_finite
from gainful.errors import GainfulError
from gainful.ltrf.data import read_examples
from gainful.ltrf.settings import Settings
from gainful.ltrf.targets import LOSSES, Loss
from gainful.progress import track
from gainful.stats.resample import check_resamples
from gainful.studies.collections import Collections, cautions, load_collections
from gainful.studies.forbidden_documents_exhibits import (
    bound_table,
    label_table,
    length_table,
    reliability_figure,
    sensitivity_figure,
    stability_figure,
)
from gainful.studies.forbidden_documents_findings import findings
from gainful.studies.forbidden_documents_found import Plan, find
from gainful.studies.forbidden_documents_learning import (
    findings_of_learning,
    learn,
    loss_table,
    single_table,
    size_table,
)
from gainful.studies.result import Exhibit, Finding, Study, absences, decided

PAPER = "Carmel, Cohen, Ingber and Kravi: IR Evaluation and Learning in the Presence of Forbidden Documents, SIGIR 2022"
_NEVER = "the paper's product reviews were not published, and no other data have votes and marks of spam"
_EXAMPLES = "needs examples to learn from: judged pairs of query and document"


def forbidden_documents(
    collections: Collections | None = None,
    *,
    examples: Any = None,
    forbidden: float = -10.0,
    cutoff: int = 500,
    bound_cutoffs: Sequence[int] = (50, 300),
    draws: int = 200,
    fuzziness: float = 0.01,
    resamples: int = 1000,
    gains: Mapping[float, float] | str | None = None,
    losses: Sequence[Loss] = LOSSES,
    seed: int = 0,
    settings: Settings = Settings(),
) -> Study:
    """Find which nDCG to trust where documents must be filtered out, and which loss learns to do so.

    nDCGorg keeps negative gains, nDCGmin spans the worst to the best ordering of the judged documents, nDCGf the worst
    to the best of what may be shown of them. Every run is taken for a ranker of the judged documents that filters out
    those it does not return. Made anew are Tables 3 to 5 and Figures 1 to 3 of Carmel et al. (SIGIR 2022), and from
    examples Tables 2, 6 and 7.

    Parameters
    ----------
    collections
        By name, judgments and runs, as in ``{"web": ("qrels.txt", "runs/")}``; a simulated collection if not given.
        Without runs, ``("qrels.txt", ())``, a collection has Table 3 only.
    examples
        Judged pairs of query and document to learn from, as `ltrf compare` takes them, for Tables 2, 5, 6 and 7: a
        file or a frame with text or features. Needs the extra [ltrf].
    forbidden
        What a label below 0 gains; all other labels gain themselves.
    cutoff
        Ranks that count, for Figures 1 to 3.
    bound_cutoffs
        Ranks that count, for Table 5.
    draws
        How many times topics are drawn, for Figure 1.
    fuzziness
        Two runs are equal if their means differ by no more than this, for Figure 1.
    resamples
        How many bootstrap samples, for Figure 2.
    gains
        What each label of the examples is worth, such as {-2:-10,0:0,1:1,2:2}; as in the collections if not given.
    losses
        Which ones to train: bce, mse, ordinal, weighted-ordinal, lambdarank, lambdarank+bce.
    seed
        Where the random numbers start, those of the simulated collection too.
    settings
        How to train: learning rate, epochs and so on.

    Returns
    -------
    Study
        Exhibits, and which of the paper's findings hold.

    Notes
    -----
    A curve is better than another if it is so somewhere, and worse nowhere. Where the paper says 'as stable as', a mean
    difference of up to a hundredth counts as none.

    Examples
    --------
    >>> import gainful as gf
    >>> made = gf.simulate(topics=10, systems=8, depth=50)
    >>> study = gf.studies.forbidden_documents({"small": (made.qrels, made.runs)}, resamples=100)
    >>> study["Table 5"].frame.columns
    ['collection', 'cutoff', 'unbounded', 'over', 'under']
    """
    plan = Plan(
        forbidden=_negative(forbidden),
        cutoff=cutoff,
        bound_cutoffs=check_cutoffs("bound_cutoffs", bound_cutoffs),
        draws=draws,
        fuzziness=fuzziness,
        resamples=resamples,
        seed=seed,
    )
    check_count("cutoff", cutoff)
    check_count("draws", draws, least=2, why=", for one draw contradicts no other")
    check_resamples(resamples)
    # Before any long work, should there be no such file.
    examples = None if examples is None else read_examples(examples)
    loaded = load_collections(collections, seed=seed, runs_needed=False)
    found = [find(one, plan) for one in track(loaded, len(loaded), "Setting measures against each other")]
    learnt = None
    if examples is not None:
        learnt = learn(examples, forbidden=plan.forbidden, gains=gains, losses=losses, seed=seed, settings=settings)
    unbounded = [] if learnt is None or learnt.unbounded is None else [learnt.unbounded]
    exhibits: list[Exhibit] = [size_table(learnt)] if learnt is not None else []
    exhibits.append(label_table(found))
    if any(one.lengths is not None for one in found):
        exhibits.append(length_table(found))
    if unbounded or any(one.bounds is not None for one in found):
        exhibits.append(bound_table(found, plan, unbounded))
    if any(one.compared is not None for one in found):
        exhibits += [stability_figure(found, plan), sensitivity_figure(found, plan), reliability_figure(found, plan)]
    told: list[Finding] = [finding for one in found for finding in findings(one, plan)]
    absent = {"Table 1": _NEVER, **absences({one.name: one.lacking for one in found}, exhibits)}
    if learnt is None:
        absent |= dict.fromkeys(("Table 2", "Table 6", "Table 7"), _EXAMPLES)
    else:
        exhibits += [single_table(learnt, learnt.single)] if learnt.single is not None else []
        exhibits.append(loss_table(learnt))
        absent |= learnt.lacking
        told += findings_of_learning(learnt)
    verdicts = decided(told)
    return Study(
        name="forbidden-documents",
        paper=PAPER,
        collections=(*(one.name for one in loaded), *(() if learnt is None else (learnt.name,))),
        exhibits=tuple(exhibits),
        findings=verdicts,
        notes=cautions(loaded, (verdict.collection for verdict in verdicts)),
        absent=absent,
        settings={**plan.settings(), **({} if learnt is None else learnt.settings())},
    )


def _negative(forbidden: float) -> float:
    check_finite("forbidden", forbidden)
    if forbidden >= 0:
        raise GainfulError(f"forbidden: expected a gain below 0, such as -10, got {forbidden}")
    return float(forbidden)
