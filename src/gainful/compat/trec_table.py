"""The table of trec_eval's measures: their names, parameters and order, and what each is here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from gainful.compat import trec_measures as own
from gainful.compat.trec_measures import Setting
from gainful.data.rankings import FloatArray
from gainful.measures import REGISTRY

Kind = Literal["plain", "cutoffs", "shares", "numbers", "pairs"]
Values = FloatArray | list[str]
Function = Callable[..., Values] | str

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_SHARES = tuple(step / 10 for step in range(11))


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One measure of trec_eval.

    Of the parameters, ``cutoffs`` and ``shares`` have a line each; ``numbers`` and ``pairs`` (label=gain) are parts of
    one measure. The function takes the setting and those of one line; or it is the name of gainful's measure.
    """

    name: str
    help: str
    function: Function
    kind: Kind = "plain"
    default: tuple[float, ...] = ()
    summary: Literal["mean", "sum", "gmean", "none"] = "mean"  # none: printed for topics alone
    whole: bool = False  # printed without decimals
    single: bool = True  # printed for single topics


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """A measure with its parameters: one line of output per topic."""

    name: str
    entry: Entry
    arguments: tuple[object, ...] = ()

    def compute(self, setting: Setting) -> Values:
        """One value per topic; 0 where the measure is undefined."""
        function = self.entry.function
        if isinstance(function, str):
            function = partial(_ours, function)
        values = function(setting, *self.arguments)
        return values if isinstance(values, list) else np.nan_to_num(values)


def _ours(name: str, setting: Setting, cutoff: int | None = None) -> FloatArray:
    """A measure of gainful's, relevance beginning at the setting's level."""
    definition = REGISTRY[name]
    given: dict[str, object] = {} if cutoff is None else {"cutoff": cutoff}
    if "rel" in definition.parameters:
        given["rel"] = setting.level
    return definition.bind(given).compute(setting.rankings)


def _nothing(setting: Setting) -> list[str]:
    """The run's name belongs to no topic."""
    return [""] * setting.rankings.n_rows


def _count(name: str, help: str, function: Function, *, single: bool = True) -> Entry:
    return Entry(name, help, function, summary="sum", whole=True, single=single)


def _geometric(name: str, help: str, function: Function) -> Entry:
    return Entry(name, help, function, summary="gmean", single=False)


def _at(name: str, help: str, function: Function, default: tuple[float, ...] = _CUTOFFS) -> Entry:
    return Entry(name, help, function, "cutoffs", default)


# In trec_eval's order, in which they are printed however they are asked for.
_ENTRIES = (
    Entry("runid", "the tag on the last line of the run", _nothing, summary="none", single=False),
    _count("num_q", "topics averaged over", "NumQ", single=False),
    _count("num_ret", "documents returned", "NumRet"),
    _count("num_rel", "relevant documents", "NumRel"),
    _count("num_rel_ret", "relevant documents returned", "NumRelRet"),
    Entry("map", "average precision: AP", "AP"),
    _geometric("gm_map", "average precision, geometric mean over topics: GMAP", "GMAP"),
    Entry("Rprec", "precision after R documents: Rprec", "Rprec"),
    Entry("bpref", "binary preference: bpref(negatives=unjudged)", "bpref"),
    Entry("recip_rank", "reciprocal rank of the first relevant document: RR", "RR"),
    Entry(
        "iprec_at_recall",
        "interpolated precision at recall levels: iP, but with the rounded number of documents",
        own.interpolated_precision,
        "shares",
        _SHARES,
    ),
    _at("P", "precision at cutoffs: P", "P"),
    Entry(
        "relstring",
        "the labels of the first documents, a character each; for single topics only",
        own.label_strings,
        "numbers",
        (10.0,),
        summary="none",
    ),
    _at("recall", "recall at cutoffs: R", "R"),
    Entry("infAP", "inferred average precision: infAP(negatives=unjudged)", "infAP"),
    _geometric("gm_bpref", "bpref, geometric mean over topics", "bpref"),
    Entry(
        "Rprec_mult",
        "precision after multiples of R documents",
        own.precision_at_multiple,
        "shares",
        tuple(step / 10 for step in range(2, 21, 2)),
    ),
    Entry(
        "utility",
        "what each relevant and other document returned, relevant and other document missed is worth, summed",
        own.utility,
        "numbers",
        (1.0, -1.0, 0.0, 0.0),
    ),
    Entry("11pt_avg", "interpolated precision, mean over recall levels", own.average_interpolated, "numbers", _SHARES),
    Entry("binG", "mean over relevant of 1/log2(2 + others above)", own.binary_g),
    Entry("G", "gain, discounted by how far the gain so far falls short of the best", own.gain_g, "pairs"),
    Entry("dcg", "discounted cumulated gain: DCG", own.discounted_gain, "pairs"),
    Entry("ideal_dcg", "discounted cumulated gain of the best order", own.ideal_gain, "pairs"),
    Entry("ndcg", "nDCG of the whole ranking: nDCG, nDCG(gain={…})", own.ndcg_with_gains, "pairs"),
    Entry("ndcg_rel", "nDCG, mean over relevant documents", own.ndcg_at_relevant, "pairs"),
    Entry("Rndcg", "nDCG, mean over the ranks at which the gain of the best order falls", own.ndcg_at_levels, "pairs"),
    _at("ndcg_cut", "nDCG at cutoffs: nDCG", "nDCG"),
    _at("map_cut", "average precision at cutoffs: AP", "AP"),
    _at("relative_P", "precision at cutoffs, relative to the highest possible", own.relative_precision),
    _at("success", "whether there is a relevant document at cutoffs: Success", "Success", (1, 5, 10)),
    Entry("set_P", "precision of all returned: SetP", "SetP"),
    Entry("set_relative_P", "precision of all returned, relative to the highest possible", own.relative_precision),
    Entry("set_recall", "recall of all returned: SetR", "SetR"),
    Entry("set_map", "precision times recall of all returned", own.set_map),
    Entry("set_F", "F-measure of all returned; the parameter is beta squared: SetF", own.set_f, "numbers", (1.0,)),
    _count("num_nonrel_judged_ret", "judged documents returned that are not relevant", own.nonrelevant_returned),
    Entry("yaap", "average precision, smoothed and on a log-odds scale", own.yaap),
    Entry(
        "rbp",
        "rank-biased precision with gains, p=0.9 unless given: RBP(p=0.9) for labels 0 and 1",
        own.graded_rbp,
        "pairs",
    ),
    Entry(
        "rbp_resid",
        "residual of rank-biased precision: RBPres(p=0.9), but 0 where all returned is judged",
        own.residual,
        "pairs",
    ),
    _at("unj", "share of places at cutoffs that hold an unjudged document", own.unjudged, (5, 10, 20)),
)
TABLE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}

GROUPS: dict[str, tuple[str, ...]] = {
    "official": tuple(TABLE)[: list(TABLE).index("P") + 1],
    "set": (
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility"),
        *("set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    ),
    "all_trec": tuple(name for name in TABLE if name not in ("dcg", "ideal_dcg", "yaap")),
}
