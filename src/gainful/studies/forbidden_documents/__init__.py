"""Carmel et al. (SIGIR 2022) on any collection: measuring, and learning, in the presence of forbidden documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from gainful.ltrf.settings import SHARED_LOSSES, Loss, Settings
from gainful.verbs.source import RunOptions

if TYPE_CHECKING:
    from gainful.studies.result import Study


def forbidden_documents(
    collections: Mapping[str, tuple[Any, Any]] | None = None,
    *,
    examples: Any = None,
    forbidden: float = -10.0,
    cutoff: int = 500,
    bound_cutoffs: Sequence[int] = (50, 300),
    draws: int = 200,
    fuzziness: float = 0.01,
    resamples: int = 1000,
    gains: Mapping[float, float] | str | None = None,
    losses: Sequence[Loss] = SHARED_LOSSES,
    seed: int = 0,
    settings: Settings = Settings(),
    **options: Unpack[RunOptions],
) -> Study:
    """Find out which nDCG to trust if documents must be filtered out, and which loss learns to filter.

    nDCGorg keeps negative gains, nDCGmin spans the worst to the best ordering of the judged documents, nDCGf the worst
    to the best of what may be shown of them. Every run is taken for a ranker of the judged documents that filters out
    those it does not return. Tables 3 to 5 and Figures 1 to 3 of Carmel et al. (SIGIR 2022) are reproduced, and from
    examples Tables 2, 6 and 7.

    Parameters
    ----------
    collections
        By name, judgments and runs, as in ``{"web": ("qrels.txt", "runs/")}``; if not given, simulated stand-ins
        of the Web Tracks 2011 and 2012. Without runs, ``("qrels.txt", ())``, a collection has Table 3 only.
    examples
        Judged pairs of query and document to learn from, as `ltrf compare` takes them, for Tables 2, 5, 6 and 7:
        data with text or features. Needs the extra [ltrf].
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
    **options
        See `RunOptions`: which files runs are read from, and what is done about those that cannot be.

    Returns
    -------
    Study
        Tables 3 to 5 and Figures 1 to 3 of the paper, with examples 2, 6 and 7, and which of its findings hold.

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
    from dataclasses import replace

    from gainful.data.policies import Policies
    from gainful.errors import GainfulError, check_count, check_cutoffs, check_finite
    from gainful.ltrf.data import read_examples
    from gainful.progress import track
    from gainful.results import Settings as Given
    from gainful.stats.resample import check_resamples
    from gainful.studies.collections import load_collections
    from gainful.studies.forbidden_documents.compute import find
    from gainful.studies.forbidden_documents.exhibits import absent, exhibits_of
    from gainful.studies.forbidden_documents.findings import findings
    from gainful.studies.forbidden_documents.learning import findings_of_learning, learn
    from gainful.studies.result import Study

    check_finite("forbidden", forbidden)
    if forbidden >= 0:
        raise GainfulError(f"forbidden: expected a gain below 0, such as -10, got {forbidden}")
    check_count("cutoff", cutoff)
    check_count("draws", draws, least=2, why=", for one draw contradicts no other")
    check_resamples(resamples)
    forbidden, bound_cutoffs = float(forbidden), check_cutoffs("bound_cutoffs", bound_cutoffs)
    given = Given.of(forbidden_documents, locals(), data="", policies=Policies(unjudged="condensed"))
    # Before any long work, should there be no such file.
    pairs = None if examples is None else read_examples(examples)
    loaded = load_collections(collections, given, options, runs_needed=False, like=("web2011", "web2012"))
    found = [find(one, given) for one in track(loaded, len(loaded), "Setting measures against each other")]
    learnt = None if pairs is None else learn(pairs, given)
    exhibits = list(exhibits_of(found, given, learnt))
    said = [finding for one in found for finding in findings(one, given)]
    training = dict.fromkeys(("examples", "gains", "losses", "settings"))
    used = {name: value for name, value in given.items() if name not in training}
    if learnt is not None:
        said += findings_of_learning(learnt)
        used |= learnt.settings()
    further = () if learnt is None else (learnt.name,)
    lacking = absent(found, exhibits, learnt)
    return Study.of(replace(given, given=used), loaded, exhibits, said, lacking, further)
