"""The table of trec_eval's measures: their names, parameters and order, and what each is here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
Parameters = tuple[float, ...] | tuple[tuple[str, float], ...]

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_SHARES = tuple(step / 10 for step in range(11))
_PERSISTENCE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """One measure of trec_eval.

    Parameters
    ----------
    name
        What it calls it.
    help
        What it is, in a line.
    compute
        From the setting and, unless `kind` is plain, the parameters (one of them where each has a line of its own).
    kind
        What parameters it takes: none; ``cutoffs`` and ``shares`` have a line each; ``numbers`` and ``pairs``
        (label=gain) are parts of one measure.
    default
        The parameters where none are given.
    summary
        How topics are summarised; ``none`` for what is printed for topics alone.
    whole
        Whether it is printed without decimals.
    single
        Whether it is printed for single topics.
    """

    name: str
    help: str
    compute: Callable[..., Values]
    kind: Kind = "plain"
    default: Parameters = ()
    summary: Literal["mean", "sum", "gmean", "none"] = "mean"
    whole: bool = False
    single: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """A measure with its parameters: one line of output a topic."""

    name: str
    entry: Entry
    arguments: tuple[object, ...] = ()

    def compute(self, setting: Setting) -> Values:
        """One value a topic; 0 where the measure is undefined."""
        values = self.entry.compute(setting, *self.arguments)
        return values if isinstance(values, list) else np.nan_to_num(values)


def _ours(name: str, setting: Setting, cutoff: int | None = None) -> FloatArray:
    """A measure of gainful's, relevance beginning at the setting's level."""
    definition = REGISTRY[name]
    given: dict[str, object] = {} if cutoff is None else {"cutoff": cutoff}
    if "rel" in definition.parameters:
        given["rel"] = setting.level
    return definition.bind(given).compute(setting.rankings)


def _library(name: str) -> Callable[..., FloatArray]:
    return partial(_ours, name)


def _ndcg(setting: Setting, *pairs: tuple[str, float]) -> FloatArray:
    return own.ndcg_with_gains(setting, _gain_map(pairs)) if pairs else _ours("nDCG", setting)


def _with_gains(function: Callable[[Setting, own.Gains], FloatArray]) -> Callable[..., FloatArray]:
    return lambda setting, *pairs: function(setting, _gain_map(pairs))


def _gain_map(pairs: Iterable[tuple[str, float]]) -> dict[float, float]:
    return {float(label): gain for label, gain in pairs if label != "p"}


def _rbp(setting: Setting, *pairs: tuple[str, float]) -> FloatArray:
    return own.graded_rbp(setting, _gain_map(pairs), dict(pairs).get("p", _PERSISTENCE))


def _rbp_residual(setting: Setting, *pairs: tuple[str, float]) -> FloatArray:
    residual = REGISTRY["RBPres"].bind({"p": dict(pairs).get("p", _PERSISTENCE)})
    return own.rbp_residual(setting, residual.compute(setting.rankings))


def _several(function: Callable[[Setting, Sequence[float]], FloatArray]) -> Callable[..., FloatArray]:
    return lambda setting, *numbers: function(setting, numbers)


def _label_strings(setting: Setting, length: float) -> list[str]:
    return own.label_strings(setting, int(length))


def _nothing(setting: Setting) -> list[str]:
    """The run's name belongs to no topic."""
    return [""] * setting.rankings.n_rows


# In trec_eval's order, in which they are printed however they are asked for.
TABLE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(name="runid", help="the tag on the last line of the run", compute=_nothing, summary="none", single=False),
        Entry(
            name="num_q", help="topics averaged over", compute=_library("NumQ"), summary="sum", whole=True, single=False
        ),
        Entry(name="num_ret", help="documents returned", compute=_library("NumRet"), summary="sum", whole=True),
        Entry(name="num_rel", help="relevant documents", compute=_library("NumRel"), summary="sum", whole=True),
        Entry(
            name="num_rel_ret",
            help="relevant documents returned",
            compute=_library("NumRelRet"),
            summary="sum",
            whole=True,
        ),
        Entry(name="map", help="average precision: AP", compute=_library("AP")),
        Entry(
            name="gm_map",
            help="average precision, geometric mean over topics: GMAP",
            compute=_library("GMAP"),
            summary="gmean",
            single=False,
        ),
        Entry(name="Rprec", help="precision after R documents: Rprec", compute=_library("Rprec")),
        Entry(name="bpref", help="binary preference: bpref(negatives=unjudged)", compute=_library("bpref")),
        Entry(name="recip_rank", help="reciprocal rank of the first relevant document: RR", compute=_library("RR")),
        Entry(
            name="iprec_at_recall",
            help="interpolated precision at recall levels: iP, but with the rounded number of documents",
            compute=own.interpolated_precision,
            kind="shares",
            default=_SHARES,
        ),
        Entry(name="P", help="precision at cutoffs: P", compute=_library("P"), kind="cutoffs", default=_CUTOFFS),
        Entry(
            name="relstring",
            help="the labels of the first documents, a character each; for single topics only",
            compute=_label_strings,
            kind="numbers",
            default=(10.0,),
            summary="none",
        ),
        Entry(name="recall", help="recall at cutoffs: R", compute=_library("R"), kind="cutoffs", default=_CUTOFFS),
        Entry(name="infAP", help="inferred average precision: infAP(negatives=unjudged)", compute=_library("infAP")),
        Entry(
            name="gm_bpref",
            help="bpref, geometric mean over topics",
            compute=_library("bpref"),
            summary="gmean",
            single=False,
        ),
        Entry(
            name="Rprec_mult",
            help="precision after multiples of R documents",
            compute=own.precision_at_multiple,
            kind="shares",
            default=tuple(step / 10 for step in range(2, 21, 2)),
        ),
        Entry(
            name="utility",
            help="what each relevant and other document returned, relevant and other document missed is worth, summed",
            compute=_several(own.utility),
            kind="numbers",
            default=(1.0, -1.0, 0.0, 0.0),
        ),
        Entry(
            name="11pt_avg",
            help="interpolated precision, mean over recall levels",
            compute=_several(own.average_interpolated),
            kind="numbers",
            default=_SHARES,
        ),
        Entry(name="binG", help="mean over relevant of 1/log2(2 + others above)", compute=own.binary_g),
        Entry(
            name="G",
            help="gain, discounted by how far the gain so far falls short of the best",
            compute=_with_gains(own.gain_g),
            kind="pairs",
        ),
        Entry(
            name="dcg",
            help="discounted cumulated gain: DCG",
            compute=_with_gains(own.discounted_gain),
            kind="pairs",
        ),
        Entry(
            name="ideal_dcg",
            help="discounted cumulated gain of the best order",
            compute=_with_gains(own.ideal_gain),
            kind="pairs",
        ),
        Entry(name="ndcg", help="nDCG of the whole ranking: nDCG, nDCG(gain={…})", compute=_ndcg, kind="pairs"),
        Entry(
            name="ndcg_rel",
            help="nDCG, mean over relevant documents",
            compute=_with_gains(own.ndcg_at_relevant),
            kind="pairs",
        ),
        Entry(
            name="Rndcg",
            help="nDCG, mean over the ranks at which the gain of the best order falls",
            compute=_with_gains(own.ndcg_at_levels),
            kind="pairs",
        ),
        Entry(
            name="ndcg_cut", help="nDCG at cutoffs: nDCG", compute=_library("nDCG"), kind="cutoffs", default=_CUTOFFS
        ),
        Entry(
            name="map_cut",
            help="average precision at cutoffs: AP",
            compute=_library("AP"),
            kind="cutoffs",
            default=_CUTOFFS,
        ),
        Entry(
            name="relative_P",
            help="precision at cutoffs, relative to the highest possible",
            compute=own.relative_precision,
            kind="cutoffs",
            default=_CUTOFFS,
        ),
        Entry(
            name="success",
            help="whether there is a relevant document at cutoffs: Success",
            compute=_library("Success"),
            kind="cutoffs",
            default=(1, 5, 10),
        ),
        Entry(name="set_P", help="precision of all returned: SetP", compute=_library("SetP")),
        Entry(
            name="set_relative_P",
            help="precision of all returned, relative to the highest possible",
            compute=own.set_relative_precision,
        ),
        Entry(name="set_recall", help="recall of all returned: SetR", compute=_library("SetR")),
        Entry(name="set_map", help="precision times recall of all returned", compute=own.set_map),
        Entry(
            name="set_F",
            help="F-measure of all returned; the parameter is beta squared: SetF",
            compute=own.set_f,
            kind="numbers",
            default=(1.0,),
        ),
        Entry(
            name="num_nonrel_judged_ret",
            help="judged documents returned that are not relevant",
            compute=own.nonrelevant_returned,
            summary="sum",
            whole=True,
        ),
        Entry(name="yaap", help="average precision, smoothed and on a log-odds scale", compute=own.yaap),
        Entry(
            name="rbp",
            help="rank-biased precision with gains, p=0.9 unless given: RBP(p=0.9) for labels 0 and 1",
            compute=_rbp,
            kind="pairs",
        ),
        Entry(
            name="rbp_resid",
            help="residual of rank-biased precision: RBPres(p=0.9), but 0 where all returned is judged",
            compute=_rbp_residual,
            kind="pairs",
        ),
        Entry(
            name="unj",
            help="share of places at cutoffs that hold an unjudged document",
            compute=own.unjudged,
            kind="cutoffs",
            default=(5, 10, 20),
        ),
    )
}

OFFICIAL = (
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *("iprec_at_recall", "P"),
)
GROUPS: dict[str, tuple[str, ...]] = {
    "official": OFFICIAL,
    "set": (
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility"),
        *("set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    ),
    "all_trec": tuple(name for name in TABLE if name not in ("dcg", "ideal_dcg", "yaap")),
}
