"""Texts of measures: ``Name(param=value, …)@cutoff`` and others' spellings; or ``@file.json`` of `Measure.save`."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from gainful.errors import GainfulError, MeasureError, did_you_mean, spoken
from gainful.measures.parameters import Value
from gainful.measures.registry import PRESETS, REGISTRY, Measure, load_installed, short, shown

# Of a file: room for thousands of discounts, and no more than can be read at once without a thought.
_LARGEST = 1_000_000
# Longer than any discount vector needs, short enough that no text can exhaust the parser.
_LONGEST = 200_000
_SHORT = 100

_TEXT = re.compile(r"(?P<name>[A-Za-z][\w.,-]*)\s*(?P<arguments>\(.*\))?\s*(?:@\s*(?P<cutoffs>[^@()]*))?", re.DOTALL)
_NUMBERED = re.compile(r"(?P<name>[A-Za-z]\w*?)[._](?P<number>{0}(?:,{0})*)".format(r"(?:\d+(?:\.\d+)?|\.\d+)"))
# White space around a sign, once for each stretch of it, and what is quoted, to leave that alone.
_SPACED = re.compile(r"""(?P<quoted>'[^']*'|"[^"]*")|(?<!\s)\s*(?P<sign>[@,(=:])\s*""")

# Foreign name, folded -> our name and the parameters it implies.
_ALIASES: dict[str, tuple[str, dict[str, object]]] = {
    # trec_eval
    "map": ("AP", {}),
    "map_cut": ("AP", {}),
    "gm_map": ("GMAP", {}),
    "ndcg_cut": ("nDCG", {}),
    "recall": ("R", {}),
    "recip_rank": ("RR", {}),
    "iprec_at_recall": ("iP", {}),
    "set_p": ("SetP", {}),
    "set_recall": ("SetR", {}),
    "set_f": ("SetF", {}),
    "set_map": ("SetAP", {}),
    "set_relative_p": ("SetP", {"relative": True}),
    "num_q": ("NumQ", {}),
    "num_ret": ("NumRet", {}),
    "num_rel": ("NumRel", {}),
    "num_rel_ret": ("NumRelRet", {}),
    "rbp": ("RBP", {"p": 0.9}),
    "rbp_resid": ("RBPres", {"p": 0.9}),
    # ir_measures
    "iprec": ("iP", {}),
    "mrr": ("RR", {}),
    # BEIR and MTEB, which also write ndcg_at_10
    "r_cap": ("Rcap", {}),
    "accuracy": ("Success", {}),
    "map_ia": ("AP_IA", {}),
    "strec": ("StRecall", {}),
    "setrelp": ("SetP", {"relative": True}),
    # ranx
    "precision": ("P", {}),
    "hit_rate": ("Success", {}),
    "f1": ("F", {}),
    "r_precision": ("Rprec", {}),
    "ndcg_burges": ("nDCG", {"gain": "exp"}),
    "dcg_burges": ("DCG", {"gain": "exp"}),
}
_DEPTHS = "5,10,15,20,30,100,200,500,1000"
_COUNTS = "num_q num_ret num_rel num_rel_ret"
_OFFICIAL = (
    f"{_COUNTS} map gm_map Rprec bpref(negatives=unjudged) recip_rank iP@0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1 P@{_DEPTHS}"
)
_SETS = "set_P set_relative_P set_recall set_map set_F"
# trec_eval's names for several measures, as far as there are such measures here: docs/trec_eval.md lists the others.
_GROUPS = {
    "official": _OFFICIAL,
    "set": f"{_COUNTS} {_SETS}",
    "all_trec": f"{_OFFICIAL} R@{_DEPTHS} infAP(negatives=unjudged) nDCG nDCG@{_DEPTHS} AP@{_DEPTHS} Success@1,5,10 "
    f"{_SETS} rbp rbp_resid",
}
# Names that mean different things to different people: for suggestions only.
_MEANT = {"hits": "Success", "hit": "Success", "hr": "Success"}
_GLUED = re.compile(r"(?P<name>[A-Za-z][A-Za-z_-]*)(?P<number>\d+)", re.ASCII)
# ir_measures' way to say gain: nDCG(dcg='exp-log2').
_DCG = {"log2": "linear", "exp-log2": "exp"}


def parse_measure(text: str | Measure) -> Measure:
    """Read one measure from a text.

    Examples
    --------
    >>> str(parse_measure("ndcg_cut_10"))
    'nDCG@10'
    >>> str(parse_measure("nDCG(norm=f, gain={-2: -10})@3"))
    'nDCGf(gain={-2: -10})@3'
    """
    found = parse_measures(text)
    if len(found) != 1:
        raise MeasureError(f"expected one measure, got {len(found)}: {', '.join(map(str, found))}")
    return found[0]


def parse_measures(texts: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Read measures from one or several texts: a list of cutoffs gives one measure each, and duplicates are dropped.

    trec_eval's ``official``, ``set`` and ``all_trec`` stand for those of their measures that there are here.

    Examples
    --------
    >>> [str(m) for m in parse_measures(["nDCG@5,10", "map"])]
    ['nDCG@5', 'nDCG@10', 'AP']
    """
    if isinstance(texts, (str, Measure)):
        texts = [texts]
    if not isinstance(texts, Iterable):
        raise MeasureError(f"expected measures such as 'nDCG@10', got {texts!r}")
    measures: dict[Measure, None] = {}
    for text in texts:
        if isinstance(text, Measure):
            measures[text] = None
        elif isinstance(text, str) and is_file_name(text):
            measures[read_measure(text.strip()[1:])] = None
        elif isinstance(text, str):
            measures.update(dict.fromkeys(_parsed(text)))
        else:
            raise MeasureError(f"expected a measure such as 'nDCG@10', got {text!r}")
    if not measures:
        raise MeasureError("expected at least one measure such as 'nDCG@10', got none")
    return list(measures)


def _parsed(text: str) -> tuple[Measure, ...]:
    """All measures of a text."""
    if len(text) > _SHORT:
        return tuple(measure for part in _split(text) for measure in _parse(part))
    return _kept(text, (*REGISTRY.values(), *PRESETS))


@lru_cache
def _kept(text: str, _: tuple[object, ...]) -> tuple[Measure, ...]:
    """Those of many small calls, which ask for the same again and again; good as long as the same are registered."""
    return tuple(measure for part in _split(text) for measure in _parse(part))


def parse_value(measure: str, parameter: str, text: str) -> Value:
    """The value of one parameter of a measure, from the text that would stand there in the measure's.

    Examples
    --------
    >>> parse_value("nDCG", "discount", "[1, 0.5]")
    (1.0, 0.5)
    """
    definition = REGISTRY[measure]
    try:
        given = _arguments(f"({parameter}={text})", text)
    except MeasureError:
        wanted = definition.parameters[parameter].kind.wanted
        raise MeasureError(f"{parameter}: expected {wanted}, got {short(text)!r}") from None
    if given.keys() != {parameter}:  # "{1: 1}, norm=f" says more than one thing
        raise MeasureError(f"{parameter}: expected one value, got {short(text)!r}")
    return definition.bind(given).parameters[parameter]


def _split(text: str) -> list[str]:
    """Texts separated by white space, which may also stand inside brackets and after commas."""
    if len(text) > _LONGEST:
        raise MeasureError(f"expected a measure of at most {_LONGEST} characters, got {len(text)}")
    parts, depth, current = [], 0, ""
    for character in _SPACED.sub(lambda match: match["quoted"] or match["sign"], text):
        depth += (character in "([{") - (character in ")]}")
        if character.isspace() and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [part for part in (*parts, current) if part]


def _parse(text: str) -> list[Measure]:
    if text in _GROUPS:
        return [measure for part in _split(_GROUPS[text]) for measure in _parse(part)]
    match = _TEXT.fullmatch(text)
    if not match:
        raise MeasureError(f"expected Name(parameter=value, …)@cutoff, got {short(text)!r}")
    name, given, cutoffs = match["name"], _arguments(match["arguments"] or "()", text), match["cutoffs"]
    if not _look_up(name) and (numbered := _NUMBERED.fullmatch(name)) and cutoffs is None:
        name, numbers = numbered["name"].removesuffix("_at"), numbered["number"]
        if name.casefold() == "rbp":
            given.setdefault("p", _cutoff(numbers if "." in numbers else "." + numbers, text))
        else:
            cutoffs = numbers
    found = _look_up(name, given)
    if found is None:
        problems = load_installed()
        found = _look_up(name, given)
        if found is None:
            why = "".join(f" {problem}" for problem in problems)
            hint = _hint(name, text)
            raise MeasureError(f"Unknown measure {short(text)!r}.{hint} 'gainful measures' lists them all.{why}")
    name, given = found[0], {**found[1], **given}
    if "dcg" in given and name == "nDCG":
        dcg = given.pop("dcg")
        if not isinstance(dcg, str) or dcg not in _DCG:
            words = ", ".join(_DCG)
            raise MeasureError(f"The 'dcg' parameter of nDCG must be one of {words}, got {shown(dcg)} instead.")
        given.setdefault("gain", _DCG[dcg])
    definition = REGISTRY[name]
    if cutoffs is None:
        return [definition.bind(given)]
    if "cutoff" in given:
        raise MeasureError(f"{short(text)!r} gives the cutoff twice")
    if "cutoff" not in definition.parameters:
        raise MeasureError(f"{name} takes no cutoff, got {short(text)!r}")
    return [definition.bind({**given, "cutoff": _cutoff(part, text)}) for part in cutoffs.split(",")]


def _look_up(name: str, given: Collection[str] = ()) -> tuple[str, Mapping[str, object]] | None:
    if name in _ALIASES and name not in REGISTRY:  # rbp is trec_eval's, RBP (and Rbp) ours
        return _ALIASES[name]
    folded = name.casefold().replace("-", "_")
    for known in REGISTRY:
        if folded == known.casefold():
            return known, {}
    for preset, (target, fixed) in PRESETS.items():
        if folded == preset.casefold():
            if again := fixed.keys() & set(given):
                raise MeasureError(f"{preset} sets {', '.join(again)} itself: leave it out, or write {target}")
            return target, fixed
    return _ALIASES.get(folded)


def _hint(name: str, text: str) -> str:
    """What may have been meant, with the rest of the text behind it."""
    glued = _GLUED.fullmatch(text)
    if glued and (known := _look_up(glued["name"])):  # nDCG10
        target, implied = known
        if "cutoff" in REGISTRY[target].parameters:
            ours = glued["name"] if implied else target
            return f" Did you mean '{ours}@{glued['number']}'?"
    rest = short(text[len(name) :]) if text.startswith(name) else ""
    if meant := _MEANT.get(name.casefold()):
        return f" Did you mean '{meant}{rest}' (at least one hit; also hit_rate) or 'NumRelRet{rest}' (their number)?"
    return did_you_mean(name, (*REGISTRY, *PRESETS, *_ALIASES, *_GROUPS)).replace("'?", f"{rest}'?")


def _cutoff(text: str, whole: str) -> int | float:
    text = text.strip()
    try:
        return int(text) if re.fullmatch(r"[+-]?\d+", text, re.ASCII) else float(text)
    except ValueError:
        several = "-m before each measure" if spoken.get() == "shell" else "blanks, not commas, between measures"
        raise MeasureError(
            f"expected a number after '@', got {short(text)!r} in {short(whole)!r} ({several})"
        ) from None


def _arguments(text: str, whole: str) -> dict[str, object]:
    """``(a=1, b='x')`` as a dict. Parsed as a Python call, read as literals, never evaluated."""
    try:
        call = ast.parse("_" + text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError(text)
        given: dict[str, object] = {}
        for word in call.keywords:
            name = word.arg
            if name is None or name in given:
                raise ValueError(text)
            given[name] = word.value.id if isinstance(word.value, ast.Name) else ast.literal_eval(word.value)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise MeasureError(f"expected parameters such as (rel=2, gain='exp'), got {short(whole)!r}") from None
    return given


def is_file_name(text: str) -> bool:
    """Whether a text names a file rather than a measure: ``@….json``."""
    text = text.strip()
    return text.startswith("@") and text.lower().endswith(".json") and len(text) > len("@.json")


def read_measure(path: str) -> Measure:
    """The measure in a file, whose name is given without the ``@``; data only, nothing is evaluated.

    ``{"measure": "nDCG", "cutoff": 20, "gain": {"1": 1, "2": 1.3}, "discount": [1, 0.9, …]}``
    """
    content = read_json(path, MeasureError, "a measure")
    wanted = 'an object such as {"measure": "nDCG", "cutoff": 10, "discount": [1, 0.8]}'
    if not isinstance(content, dict) or not isinstance(content.get("measure"), str):
        raise MeasureError(f"{path}: expected {wanted}, got {shortened(content)}")
    if "threshold" in content:
        raise MeasureError(f"{path}: expected a measure, got a threshold: 'gainful threshold apply --cut' takes it")
    called = content.pop("measure")
    if called not in REGISTRY and called not in PRESETS:
        load_installed()
    name, fixed = PRESETS.get(called, (called, {}))
    if name not in REGISTRY:
        raise MeasureError(f"{path}: Unknown measure {name!r}.{did_you_mean(name, (*REGISTRY, *PRESETS))}")
    if again := fixed.keys() & content:
        raise MeasureError(f"{path}: {called} sets {', '.join(again)} itself: leave it out, or write {name}")
    try:
        given = {key: _labelled(value) if isinstance(value, dict) else value for key, value in content.items()}
        return REGISTRY[name].bind({**given, **fixed})
    except MeasureError as error:
        raise MeasureError(f"{path}: {error}") from None


def read_json(path: str, kind: type[GainfulError], what: str) -> Any:
    """A small JSON file that somebody else may have written; what is wrong with it is raised as an error of `kind`."""
    try:
        if not Path(path).is_file():  # not to wait for a pipe, or read a device for ever
            raise kind(f"{path}: expected a file" if Path(path).exists() else f"{path}: no such file")
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except GainfulError:
        raise
    except (OSError, ValueError) as error:
        raise kind(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > _LARGEST:
        raise kind(f"{path}: expected {what} of at most {_LARGEST} bytes")
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise kind(f"{path}: expected JSON: {why}") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = value
    return found


def _labelled(gains: dict[str, Any]) -> dict[Any, Any]:
    """Labels are numbers, but JSON writes them as text; what is no number is left for the measure to refuse."""
    found: dict[Any, Any] = {}
    for text, gain in gains.items():
        try:
            label: Any = text if "_" in text else float(text)  # Python would take 1_0 for 10
        except ValueError:
            label = text
        if label in found:
            raise MeasureError(f"the label {text} is there twice")
        found[label] = gain
    return found


def shortened(value: object, most: int = 60) -> str:
    """What JSON holds, in at most so many characters."""
    return short(json.dumps(value, ensure_ascii=False), most)
