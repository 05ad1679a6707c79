"""The table of trec_eval's measures: names, parameters and order, what each is here, and how its text is read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from gainful.compat import trec_measures as own
from gainful.compat.trec_measures import Setting
from gainful.data.rankings import FloatArray
from gainful.errors import MeasureError, did_you_mean
from gainful.measures import REGISTRY, Definition, Measure

Format = Literal["qrels", "prefs", "qrels_jg", "any"]
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
    format: Format = "qrels"  # of the judgments that it is computed from


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """A measure with its parameters: one line of output per topic."""

    name: str
    entry: Entry
    arguments: tuple[object, ...] = ()
    note: str = ""  # what must be known to read it

    def compute(self, setting: Setting) -> Values:
        """One value per topic; 0 where the measure is undefined."""
        function = self.entry.function
        if isinstance(function, str):
            function = partial(_ours, function)
        values = function(setting, *self.arguments)
        return values if isinstance(values, list) or np.isfinite(values).all() else np.nan_to_num(values)


def _ours(name: str, setting: Setting, cutoff: int | None = None) -> FloatArray:
    """A measure of gainful's, relevance beginning at the setting's level."""
    return _bound(REGISTRY[name], setting.level, cutoff).compute(setting.rankings)


@lru_cache
def _bound(definition: Definition, level: float, cutoff: int | None) -> Measure:
    given: dict[str, object] = {} if cutoff is None else {"cutoff": cutoff}
    if "rel" in definition.parameters:
        given["rel"] = level
    return definition.bind(given)


def _nothing(setting: Setting) -> list[str]:
    """The run's name belongs to no topic."""
    return [""] * setting.rankings.n_rows


def _preference(name: str, setting: Setting) -> FloatArray:
    return setting.preferences[name]


def _over_groups(of_one: Entry, setting: Setting, *arguments: object) -> FloatArray:
    """The mean over the groups of a topic of what a measure is for each of them."""
    column = Column(name=of_one.name, entry=of_one, arguments=arguments)
    found = [np.asarray(column.compute(replace(setting, rankings=one))) for one in setting.groups]
    total: FloatArray = np.sum(found, axis=0)
    return total / (setting.groups_per_topic if setting.groups_per_topic is not None else 1.0)


def _count(name: str, help: str, function: Function, *, single: bool = True, format: Format = "qrels") -> Entry:
    return Entry(name, help, function, summary="sum", whole=True, single=single, format=format)


def _prefers(name: str, help: str) -> Entry:
    counted = name.startswith("prefs_num")
    function = partial(_preference, name)
    return Entry(name, help, function, summary="sum" if counted else "mean", whole=counted, format="prefs")


def _averaged(of_one: Entry) -> Entry:
    name, help = f"{of_one.name}_avgjg", f"{of_one.name}, mean over the groups of judgments of a topic"
    return replace(of_one, name=name, help=help, function=partial(_over_groups, of_one), format="qrels_jg")


def _geometric(name: str, help: str, function: Function) -> Entry:
    return Entry(name, help, function, summary="gmean", single=False)


def _at(name: str, help: str, function: Function, default: tuple[float, ...] = _CUTOFFS) -> Entry:
    return Entry(name, help, function, "cutoffs", default)


# In trec_eval's order, in which they are printed however they are asked for.
_ENTRIES = (
    Entry("runid", "the tag on the last line of the run", _nothing, summary="none", single=False, format="any"),
    _count("num_q", "topics averaged over", "NumQ", single=False, format="any"),
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
    Entry("set_map", "precision times recall of all returned: SetAP", "SetAP"),
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
_FULFILLED = "share of preferences that the run fulfils"
_PREFERENCES = (
    _prefers("prefs_num_prefs_poss", "preferences"),
    _prefers("prefs_num_prefs_ful", "preferences that the run fulfils"),
    _prefers("prefs_num_prefs_ful_ret", "preferences between two returned documents that the run fulfils"),
    *(
        _prefers(f"prefs_{name}{kind}", f"{_FULFILLED}{help}{among}")
        for kind, among in {
            "": "",
            "_ret": "; both documents returned",
            "_imp": "; one document returned at least",
        }.items()
        for name, help in {
            "simp": "",
            "pair": ", mean over pairs of documents",
            "avgjg": ", mean over groups",
            "avgjg_Rnonrel": ", mean over groups with as many relevant as other documents",
        }.items()
        if name + kind != "avgjg_Rnonrel_imp"
    ),
)
_BY_NAME = {entry.name: entry for entry in (*_ENTRIES, *_PREFERENCES)}
TABLE: dict[str, Entry] = _BY_NAME | {f"{name}_avgjg": _averaged(_BY_NAME[name]) for name in ("map", "P", "Rprec_mult")}
# Version 9 has not got these.
LATER = frozenset(("dcg", "ideal_dcg", "rbp", "rbp_resid", "unj"))

GROUPS: dict[str, tuple[str, ...]] = {
    "official": tuple(TABLE)[: list(TABLE).index("P") + 1],
    "set": (
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility"),
        *("set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    ),
    "all_trec": tuple(entry.name for entry in _ENTRIES if entry.name not in ("dcg", "ideal_dcg", "yaap")),
    "all_prefs": ("runid", "num_q", *(entry.name for entry in _PREFERENCES)),
    "prefs": ("runid", "num_q", *(entry.name for entry in _PREFERENCES[:6])),
    "qrels_jg": ("runid", "num_q", *(name for name, entry in TABLE.items() if entry.format == "qrels_jg")),
}

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LIST = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*")


def select(texts: Iterable[str], without: Collection[str] = ()) -> list[Column]:
    """The lines that measures stand for, in trec_eval's order; groups `without` some of their members.

    Parameters come after a dot (``P.5,10``) or as in results (``P_5``), and take the place of the defaults; those of
    several texts add up.
    """
    asked: dict[str, list[str]] = {}
    for text in texts:
        name, parameters = _split(text)
        for member in (one for one in GROUPS.get(name, (name,)) if one not in without or one == name):
            given = asked.setdefault(member, [])
            if parameters is not None and parameters not in given:
                given.append(parameters)
    return [column for name, entry in TABLE.items() if name in asked for column in _columns(entry, asked[name])]


def _split(text: str) -> tuple[str, str | None]:
    """The name and the parameters of a measure's text."""
    name, dot, parameters = text.partition(".")
    if name in GROUPS and dot:
        raise MeasureError(f"{name} is a group of measures and takes no parameters, got {text!r}")
    if name in TABLE or name in GROUPS:
        return name, parameters if dot else None
    for known in sorted(TABLE, key=len, reverse=True):
        rest = text.removeprefix(known + "_")
        if TABLE[known].kind != "plain" and rest != text and (_LIST.fullmatch(rest) or "=" in rest):
            return known, rest
    hint = did_you_mean(name, (*TABLE, *GROUPS)).replace("'?", dot + parameters + "'?")
    raise MeasureError(f"Unknown measure {text!r}.{hint} 'gainful trec_eval -h -m all_trec' lists them.")


def _columns(entry: Entry, given: list[str]) -> list[Column]:
    if not given:
        if entry.kind == "cutoffs" or entry.kind == "shares":
            return [_column(entry, value) for value in entry.default]
        return [Column(name=entry.name, entry=entry, arguments=tuple(entry.default))]
    if entry.kind == "plain":
        raise MeasureError(f"{entry.name} takes no parameters, got '{entry.name}.{given[0]}'")
    if entry.kind == "cutoffs" or entry.kind == "shares":
        asked = {value: _read_as(entry, text, value) for text in given for value in _numbers(entry, text)}
        return [_column(entry, value, asked[value]) for value in sorted(asked)]
    read = _numbers if entry.kind == "numbers" else _pairs
    return [Column(name=f"{entry.name}_{text}", entry=entry, arguments=read(entry, text)) for text in given]


def _column(entry: Entry, value: float, note: str = "") -> Column:
    text = f"{value:3.2f}" if entry.kind == "shares" else f"{value}"
    return Column(name=f"{entry.name}_{text}", entry=entry, arguments=(value,), note=note)


def _read_as(entry: Entry, text: str, value: float) -> str:
    """Of a cutoff that is no whole number, how it is read; trec_eval keeps that to itself."""
    fractions = [
        part for part in text.split(",") if entry.kind == "cutoffs" and float(part) != int(float(part)) == value
    ]
    return f"{entry.name}.{fractions[0]} is read as {entry.name}.{value}, as trec_eval does" if fractions else ""


_WANTED = {
    "cutoffs": "whole numbers of at least 1, such as {name}.5,10",
    "shares": "numbers of at least 0, such as {name}.0.2,0.5",
    "11pt_avg": "numbers of at least 0, such as 11pt_avg.0.2,0.5,0.8",
    "utility": "four numbers, such as utility.1,-1,0,0",
    "set_F": "one number of at least 0, such as set_F.0.5",
    "relstring": "one whole number of at least 1, such as relstring.20",
    "pairs": "pairs of a label and its gain, such as {name}.1=3.5,2=9",
    "rbp": "p, between 0 and 1, and pairs of a label and its gain, such as rbp.p=0.8,1=0.5",
    "rbp_resid": "p, between 0 and 1, such as rbp_resid.p=0.8",
}


def _refuse(entry: Entry, text: str) -> MeasureError:
    wanted = _WANTED.get(entry.name, _WANTED.get(entry.kind, "")).format(name=entry.name)
    return MeasureError(f"{entry.name} takes {wanted}; got '{entry.name}.{text}'")


def _number(entry: Entry, part: str, text: str) -> float:
    if not re.fullmatch(_NUMBER, part) or not math.isfinite(float(part)):
        raise _refuse(entry, text)
    return float(part)


def _numbers(entry: Entry, text: str) -> tuple[float, ...]:
    """Numbers that suit the measure; a cutoff of 23.4 is 23."""
    values = tuple(_number(entry, part, text) for part in text.split(","))
    whole = all(value.is_integer() and 1 <= value < 2**53 for value in values)
    valid = {
        "cutoffs": all(1 <= value < 2**53 for value in values),
        "utility": len(values) == 4,
        "set_F": len(values) == 1 and values[0] >= 0,
        "relstring": len(values) == 1 and whole,
    }
    if not valid.get(entry.kind, valid.get(entry.name, min(values) >= 0)):
        raise _refuse(entry, text)
    return tuple(map(int, values)) if entry.kind == "cutoffs" else values


def _pairs(entry: Entry, text: str) -> tuple[dict[float, float]] | tuple[dict[float, float], float]:
    """Gains by label; and p, if it is given."""
    gains: dict[float, float] = {}
    persistence = None
    for part in text.split(","):
        label, _, given = part.partition("=")
        gain = _number(entry, given, text)
        if label == "p" and entry.name.startswith("rbp") and persistence is None and 0 < gain < 1:
            persistence = gain
            continue
        # In trec_eval, -1 and -2 would be documents outside the pool and in it without a judgment.
        named = re.fullmatch(_NUMBER, label) and float(label) >= 0 and entry.name != "rbp_resid"
        if not named or float(label) in gains:
            raise _refuse(entry, text)
        gains[float(label)] = gain
    return (gains,) if persistence is None else (gains, persistence)
