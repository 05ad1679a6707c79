"""The registry: one decorated function is the only definition of a measure.

Measures of other packages that are installed are those that name a module, or a function, in the group of entry points.
In the ``pyproject.toml`` of such a package::

    [project.entry-points."gainful.measures"]
    mine = "my_package.measures"

Importing the module registers its measures; a function is called, without arguments, to do it.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, TypeVar, get_type_hints

from gainful.data.rankings import FloatArray, Rankings
from gainful.data.scores import Summary
from gainful.errors import MeasureError, did_you_mean
from gainful.io.atomic import write_atomically
from gainful.measures.contributions import Contributions, Declared
from gainful.measures.parameters import Kind, Value, kind_of, write

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "gainful.measures"
Higher = Literal["better", "worse", "neither"]
Function = TypeVar("Function", bound=Callable[..., FloatArray])

REGISTRY: dict[str, Definition] = {}
PRESETS: dict[str, tuple[str, dict[str, Value]]] = {}
# What `cite` stands for: the last paragraph of a measure's help.
REFERENCES = {
    "agrawal2009": "Agrawal et al., WSDM 2009.",
    "aslam2006": "Aslam, Pavlu & Yilmaz, SIGIR 2006.",
    "buckley2004": "Buckley & Voorhees, SIGIR 2004.",
    "carmel2022": "Carmel et al., SIGIR 2022.",
    "chapelle2009": "Chapelle et al., CIKM 2009.",
    "chapelle2011": "Chapelle et al., Information Retrieval 14(6), 2011.",
    "clarke2008": "Clarke et al., SIGIR 2008.",
    "clarke2009": "Clarke, Kolla & Vechtomova, ICTIR 2009.",
    "craswell2004": "Craswell & Hawking, Overview of the TREC Web Track, 2004.",
    "ir_measures": "MacAvaney et al., ir_measures, ECIR 2022.",
    "jarvelin2002": "Järvelin & Kekäläinen, ACM TOIS 20(4), 2002.",
    "jarvelin2002, gienapp2020, carmel2022": (
        "Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; Gienapp et al., CIKM 2020 (min); Carmel et al., SIGIR 2022 (f)."
    ),
    "kantor2000": "Kantor & Voorhees, Information Retrieval 2(2), 2000.",
    "liu2016": "Liu et al., SIGIR 2016.",
    "moffat2008": "Moffat & Zobel, ACM TOIS 27(1), 2008.",
    "robertson2006": "Robertson, CIKM 2006.",
    "thakur2021": "Thakur et al., BEIR, NeurIPS Datasets and Benchmarks, 2021.",
    "trec_eval": "Buckley & Voorhees, in TREC: Experiment and Evaluation in Information Retrieval, 2005.",
    "vanrijsbergen1979": "van Rijsbergen, Information Retrieval, 1979.",
    "yilmaz2006": "Yilmaz & Aslam, CIKM 2006.",
    "yilmaz2008": "Yilmaz, Kanoulas & Aslam, SIGIR 2008.",
    "zhai2003": "Zhai, Cohen & Lafferty, SIGIR 2003.",
}
# `python -OO` runs without docstrings.
_WITHOUT_DOCS = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parameter:
    """One parameter of a measure: its kind, and its default where it has one."""

    kind: Kind
    default: object

    @property
    def required(self) -> bool:
        """Whether the text must give it."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Definition:
    """A registered measure."""

    name: str
    function: Callable[..., FloatArray]
    parameters: Mapping[str, Parameter]
    summary: Summary
    higher: Higher
    bounds: tuple[float, float] | None
    bounds_by: Callable[..., tuple[float, float] | None] | None
    expected: bool
    cite: str
    check: Callable[..., None] | None
    contributions: Declared | None
    subtopics: bool
    estimates: bool

    @property
    def doc(self) -> str:
        """The whole docstring, and the reference."""
        text = inspect.cleandoc(self.function.__doc__ or "")
        return f"{text}\n\n{REFERENCES[self.cite]}" if self.cite in REFERENCES else text

    @property
    def headline(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]

    @property
    def signature(self) -> str:
        """Name and parameters with their defaults, as one would type them."""
        inside = [
            f"{name}={write(parameter.default)}" if not parameter.required else name  # type: ignore[arg-type]
            for name, parameter in self.parameters.items()
            if name != "cutoff"
        ]
        text = self.name + (f"({', '.join(inside)})" if inside else "")
        if "cutoff" in self.parameters:
            text += "@k" if self.parameters["cutoff"].required else "[@k]"
        return text

    def bind(self, given: Mapping[str, object]) -> Measure:
        """The measure with these parameters, each checked now rather than when it is computed."""
        for name in given:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise MeasureError(
                    f"{self.name} has no parameter {name!r} (it has: {known}).{did_you_mean(name, self.parameters)}"
                )
        values: dict[str, Value] = {}
        for name, parameter in self.parameters.items():
            if name not in given and parameter.required:
                ask = f"{name}=…, {parameter.kind.wanted}"
                if name == "cutoff":
                    example = "0.1" if "recall" in parameter.kind.wanted else "10"
                    ask = f"a cutoff, {parameter.kind.wanted}: write {self.name}@{example}"
                raise MeasureError(f"{self.name} needs {ask}")
            value = given.get(name, parameter.default)
            try:
                values[name] = parameter.kind.read(value)
            except (ValueError, TypeError, OverflowError):
                raise MeasureError(
                    f"The {name!r} parameter of {self.name} must be {parameter.kind.wanted}, "
                    f"got {shown(value)} instead."
                ) from None
        if self.check:
            self.check(**values)
        return Measure(self, tuple(values.items()))


def short(text: str, most: int = 80) -> str:
    """A text as a message shows it, however long it is."""
    return text if len(text) <= most else text[: most - 1] + "…"


def shown(value: object) -> str:
    """A value as a message shows it."""
    try:
        return short(repr(value))
    except ValueError:  # Python refuses to write an integer of more than 4300 digits
        return "a number of thousands of digits"


@dataclass(frozen=True, slots=True, repr=False)
class Measure:
    """A measure with all its parameters set: what `evaluate` computes, and the label of its column."""

    definition: Definition
    values: tuple[tuple[str, Value], ...]

    @property
    def parameters(self) -> dict[str, Value]:
        """All parameters, defaults included."""
        return dict(self.values)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The range of its values; None if it has none."""
        by = self.definition.bounds_by
        return self.definition.bounds if by is None else by(**self.parameters)

    @property
    def cutoff(self) -> int | None:
        """How many ranks count; None if all do."""
        value = dict(self.values).get("cutoff")
        return value if isinstance(value, int) else None

    def __str__(self) -> str:
        return _label(self)

    def _written(self) -> str:
        name, given = self.definition.name, self._given()
        for preset, (target, fixed) in PRESETS.items():
            if target == name and fixed.items() <= given.items():
                name, given = preset, {key: value for key, value in given.items() if key not in fixed}
                break
        cutoff = given.pop("cutoff", None)
        text = name + (f"({', '.join(f'{key}={write(value)}' for key, value in given.items())})" if given else "")
        return text if cutoff is None else f"{text}@{write(cutoff)}"

    def _given(self) -> dict[str, Value]:
        """The parameters that differ from their defaults."""
        return {
            name: value
            for name, value in self.values
            if self.definition.parameters[name].required
            or value != self.definition.parameters[name].kind.read(self.definition.parameters[name].default)
        }

    def compute(self, rankings: Rankings) -> FloatArray:
        """One score per (system, topic) row; NaN where the measure is undefined."""
        return self.definition.function(rankings, **self.parameters)

    @property
    def explained(self) -> bool:
        """Whether it declares what each document contributes."""
        return self.definition.contributions is not None

    def check_explained(self) -> None:
        """Refuse a measure that does not declare what each document contributes."""
        if not self.explained:
            known = ", ".join(name for name, definition in REGISTRY.items() if definition.contributions is not None)
            raise MeasureError(f"expected a measure that can be explained ({known}), got {str(self)!r}")

    def contributions(self, rankings: Rankings) -> Contributions:
        """What each document adds to it, in every ranking and in the best one; ties must be broken."""
        self.check_explained()
        return self.definition.contributions(rankings, **self.parameters)  # type: ignore[misc]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the measure to a JSON file, whole or not at all; ``evaluate -m @file.json`` takes it.

        Parameters
        ----------
        path
            A name that ends in ``.json``; a file that is there is replaced.
        """
        if not str(path).lower().endswith(".json"):
            raise MeasureError(f"{path}: expected a name that ends in .json")
        content: dict[str, object] = {"measure": self.definition.name}
        for name, value in self._given().items():
            if name in content:
                raise MeasureError(f"{self.definition.name}: a parameter called {name!r} has no place in a file")
            is_map = isinstance(value, tuple) and bool(value) and isinstance(value[0], tuple)
            # JSON has no numbers as keys: write labels as the grammar does.
            content[name] = {write(label): gain for label, gain in value} if is_map else value  # type: ignore
        write_atomically(path, json.dumps(content, indent=1) + "\n")

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"


@lru_cache
def _label(measure: Measure) -> str:
    return measure._written()


def measure(
    name: str,
    *,
    higher: Higher = "better",
    bounds: tuple[float, float] | Callable[..., tuple[float, float] | None] | None = (0.0, 1.0),
    summary: Summary = "mean",
    expected: bool = False,
    cite: str = "",
    presets: Mapping[str, Mapping[str, Value]] | None = None,
    check: Callable[..., None] | None = None,
    contributions: Declared | None = None,
    subtopics: bool = False,
    estimates: bool = False,
) -> Callable[[Function], Function]:
    """Register a function as a measure; parser, help and tables are made from its signature and docstring.

    The function takes `Rankings` and keyword-only parameters and returns one float per row, NaN where the measure
    is undefined.

    Parameters
    ----------
    name
        What people type. Letters and digits, beginning with a letter.
    higher
        Whether a higher score is ``better``, ``worse`` or ``neither``.
    bounds
        The range of its values; None if it has none. Where it depends on the parameters, a function of them all.
    summary
        How topics are summarised: ``mean``, ``sum`` or ``gmean``.
    expected
        Whether it is a sum over ranks (or does not depend on them), so that ``ties="expected"`` is exact: it must
        then read ranks through `Rankings.weights` alone.
    cite
        Key of the reference.
    presets
        Further names that stand for some parameters set.
    check
        Called with all parameters when the text is parsed; raises MeasureError for a combination that makes no sense.
    contributions
        Called as the measure is; returns `Contributions`, what each document adds. With it the measure can be
        explained.
    subtopics
        Whether it is about judgments by subtopic; where these have none, a note says so.
    estimates
        Whether it reckons with documents that are pooled and not judged, where others take them for nonrelevant.
    """

    def register(function: Function) -> Function:
        for label in (name, *(presets or {})):
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z][A-Za-z0-9]*)*", label):
                raise MeasureError(f"expected a measure name of letters and digits, got {label!r}")
            if label.casefold() in {known.casefold() for known in (*REGISTRY, *PRESETS)}:
                raise MeasureError(f"a measure named {label!r} is registered already")
        if not (function.__doc__ or "").strip() and sys.flags.optimize < _WITHOUT_DOCS:
            raise MeasureError(f"measure {name!r} needs a docstring: it is the measure's help")
        hints = get_type_hints(function, include_extras=True)
        parameters = {
            key: _parameter(name, key, hints.get(key), parameter.default)
            for key, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        REGISTRY[name] = Definition(
            name=name,
            function=function,
            parameters=parameters,
            summary=summary,
            higher=higher,
            bounds=None if callable(bounds) else bounds,
            bounds_by=bounds if callable(bounds) else None,
            expected=expected,
            cite=cite,
            check=check,
            contributions=contributions,
            subtopics=subtopics,
            estimates=estimates,
        )
        for preset, fixed in (presets or {}).items():
            PRESETS[preset] = (name, dict(fixed))
        return function

    return register


def _parameter(measure: str, name: str, annotation: object, default: object) -> Parameter:
    try:
        kind = kind_of(annotation)
    except TypeError as error:
        raise MeasureError(f"measure {measure!r}, parameter {name!r}: {error}") from None
    parameter = Parameter(kind=kind, default=default)
    try:
        if not parameter.required:
            kind.read(default)
    except (ValueError, TypeError):
        raise MeasureError(
            f"measure {measure!r}, parameter {name!r}: expected {kind.wanted}, got {default!r}"
        ) from None
    return parameter


def unregister(name: str) -> None:
    """Forget a measure (and its presets) that was registered, so that it can be defined anew."""
    if name not in REGISTRY:
        raise MeasureError(f"no measure named {name!r} is registered")
    del REGISTRY[name]
    for preset in [preset for preset, (target, _) in PRESETS.items() if target == name]:
        del PRESETS[preset]


@cache
def load_installed() -> tuple[str, ...]:
    """Register the measures of all installed packages, once; what could not be loaded, a sentence for each."""
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    return tuple(problem for entry in found if (problem := _load(entry)))


def _load(entry: EntryPoint) -> str:
    """Nothing, or why it could not be loaded."""
    try:
        loaded = entry.load()
        # A measure is registered by its decorator, when its module is imported.
        if not inspect.ismodule(loaded) and all(loaded is not known.function for known in REGISTRY.values()):
            loaded()
    except (Exception, SystemExit) as error:  # whatever the code of others does
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        package = entry.dist.name if entry.dist else entry.name
        return (
            f"The measures of the installed package {package!r} cannot be loaded "
            f"({entry.value}: {type(error).__name__}: {reason})."
        )
    return ""
