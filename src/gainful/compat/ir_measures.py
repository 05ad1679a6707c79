"""gainful's measures inside ir_measures: import one, and `ir_measures.calc_aggregate` and the others take it.

>>> import ir_measures
>>> from gainful.compat.ir_measures import Forbidden, nDCGf
>>> qrels = {"q1": {"good": 2, "spam": -1}}
>>> run = {"q1": {"good": 0.9, "spam": 0.4}}
>>> found = ir_measures.calc_aggregate([ir_measures.nDCG @ 2, nDCGf @ 2, Forbidden @ 2], qrels, run)
>>> sorted((str(measure), round(value, 2)) for measure, value in found.items())
[('Forbidden@2', 0.5), ('nDCG@2', 1.0), ('nDCGf@2', 0.79)]

Every measure of `gainful measures` is here under its name, except that a name which ir_measures has already stays
ir_measures': gainful's is then written with ``gf_`` in front, such as ``gf_AP``. Importing this module registers them.

The provider also computes most of ir_measures' own measures, with the values of pytrec_eval where that has them:

>>> provider.calc_aggregate([ir_measures.nDCG @ 2, ir_measures.RR(judged_only=True)], qrels, run)
{nDCG@2: 1.0, RR(judged_only=True): 1.0}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from gainful.compat import pytrec_eval
from gainful.data.policies import Policies
from gainful.data.qrels import Qrels
from gainful.data.scores import Summary, summarise
from gainful.errors import GainfulError, MeasureError, PolicyError
from gainful.io.read import read_qrels, read_run
from gainful.measures import PRESETS, REGISTRY, Definition, Measure, load_installed
from gainful.measures import parse_measure as parse_ours
from gainful.verbs.evaluate import evaluate

try:
    import ir_measures
    from ir_measures.measures.base import Agg
    from ir_measures.providers.fallback_provider import FallbackEvaluator
    from ir_measures.providers.pytrec_eval_provider import PytrecEvalProvider
    from ir_measures.util import QrelsConverter
except ImportError as error:
    raise GainfulError(
        "gainful.compat.ir_measures needs ir_measures, which is not installed: pip install ir_measures"
    ) from error

__all__ = ["GainfulEvaluator", "GainfulMeasure", "GainfulProvider", "parse_measure", "provider", "register"]

_PREFIX = "gf_"


class GainfulMeasure(ir_measures.Measure):
    """A measure of gainful as ir_measures wants it: `nDCGf@3`, `nDCGf(gain={-2: -10})@3`, `bpref(rel=2)`.

    Parameters of the measure are checked as soon as all that it needs are there.
    """

    NAME: str

    def __init__(self, name: str, /, **given: Any) -> None:
        super().__init__(**given)  # type: ignore[no-untyped-call]
        self._name = name
        self._definition, self._fixed = _definition(name)
        wanted = {key: value for key, value in self._definition.parameters.items() if key not in self._fixed}
        self.NAME = self.__name__ = _PREFIX + name if _is_taken(name) else name
        self.PRETTY_NAME = self.SHORT_DESC = self._definition.headline
        self.__doc__ = self._definition.doc
        self.SUPPORTED_PARAMS = {
            key: ir_measures.ParamInfo(  # type: ignore[no-untyped-call]
                required=value.required, default=value.default, desc=value.kind.wanted
            )
            for key, value in wanted.items()
        }
        self._bound: Measure | None = None
        self._text = ""
        if all(key in given for key, value in wanted.items() if value.required):
            self.validate_params()

    @property
    def gainful(self) -> Measure:
        """The measure that `gainful.evaluate` computes."""
        if self._bound is None:
            if again := self._fixed.keys() & self.params:
                raise MeasureError(f"{self._name} sets {', '.join(again)} itself: leave it out.")
            self._bound = self._definition.bind({**self._fixed, **self.params})
            self._text = _label(self._bound)  # kept, since ir_measures asks for it once a topic
        return self._bound

    def validate_params(self) -> None:
        """Raise MeasureError if a parameter is missing, unknown or out of range."""
        self.validated = self.gainful is not None

    def __call__(self, **given: Any) -> GainfulMeasure:
        """The measure with these parameters, too."""
        return GainfulMeasure(self._name, **{**self.params, **given})

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.params.items())
        return self._text or self.NAME + (f"({given})" if given else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(GainfulMeasure, self._name, **self.params), ()

    def aggregator(self) -> Agg:
        """What makes one number of the topics: their mean, or the sum of counts, or the geometric mean."""
        return _Aggregator(self._definition.summary)


class _Aggregator(Agg):
    """Summarises topics as `Scores.mean` does, to the last bit."""

    def __init__(self, summary: Summary) -> None:
        self._summary: Summary = summary
        self._values: list[float] = []

    def add(self, value: float) -> None:
        self._values.append(value)

    def result(self) -> float:
        values = np.array(self._values, np.float64)
        return float(summarise(values, np.ones(values.shape, np.bool_), self._summary))


class GainfulEvaluator(ir_measures.Evaluator):
    """Scores one run after another for the same measures and judgments; made by `GainfulProvider.evaluator`.

    Measures of ir_measures' own among them have no value for topics that the run lacks: ir_measures gives them 0.
    """

    def __init__(self, measures: Iterable[ir_measures.Measure], qrels: Any, policies: Policies) -> None:
        self._qrels = read_qrels(qrels)
        self._policies = policies
        self._chosen: dict[Measure, list[ir_measures.Measure]] = {}
        for measure in measures:
            ours = measure.gainful if isinstance(measure, GainfulMeasure) else _bound(measure, self._qrels)
            self._chosen.setdefault(ours, []).append(measure)
        super().__init__([one for same in self._chosen.values() for one in same], set(self._qrels.topics))

    def _iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        if not self._qrels.topics:  # which ir_measures takes for no topics, `evaluate` for a mistake
            return
        one = read_run(run)
        chosen = list(self._chosen)
        scores = evaluate(self._qrels, [one], chosen, **self._policies.to_dict())  # type: ignore[arg-type]
        rows, returned = scores.values[:, 0].T.tolist(), set(one.topics)
        for topic, values in zip(scores.topics, rows, strict=True):
            for ours, value in zip(chosen, values, strict=True):
                for measure in self._chosen[ours]:
                    if topic in returned or isinstance(measure, GainfulMeasure):
                        yield ir_measures.Metric(query_id=topic, measure=measure, value=value)


class _TrecProvider(PytrecEvalProvider):
    """ir_measures' own provider of trec_eval's measures, with gainful in the place of pytrec_eval."""

    def initialize(self) -> None:
        self.pytrec_eval = pytrec_eval


_trec = _TrecProvider()  # type: ignore[no-untyped-call]


# Measures that both have, and trec_eval does not.
_SHARED = ("Judged", "RR", "ERR", "RBP", "nDCG", *(name for name, one in REGISTRY.items() if one.subtopics))


def _text(measure: ir_measures.Measure) -> str | None:
    """What gainful calls a measure of ir_measures that trec_eval does not have; None if gainful has none."""
    given = {key: value for key, value in measure.params.items() if key not in ("cutoff", "judged_only", "dcg")}
    cutoff = f"@{measure.params['cutoff']}" if "cutoff" in measure.params else ""
    name = measure.NAME
    if measure.params.get("judged_only") or name not in _SHARED or "gains" in given:
        return None
    if name == "nDCG":
        given = {"gain": "exp"} if measure.params.get("dcg") == "exp-log2" else {}
    inside = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return f"{name}({inside}){cutoff}"


def _bound(measure: ir_measures.Measure, qrels: Qrels) -> Measure:
    """The measure of gainful's that computes one of ir_measures' own."""
    text = _text(measure)
    found = parse_ours(str(text))
    if measure.NAME == "RBP" and "rel" not in measure.params:  # graded, by the largest label there is
        top = float(qrels.frame["relevance"].max() or 1.0)  # type: ignore[arg-type]
        found = found.definition.bind({**found.parameters, "max_label": max(top, 1.0)})
    return found


class GainfulProvider(ir_measures.Provider):
    """Computes gainful's measures for ir_measures, and most of ir_measures' own.

    The latter have the values of pytrec_eval, `judged_only` included, where that has the measure; `ERR` is gdeval's
    before rounding, and `RBP` without `rel` is graded by the largest label of the qrels.

    Parameters
    ----------
    **policies
        Those of `gainful.evaluate`: ties, unjudged, missing, degenerate, duplicates. ``skip`` is refused, since
        ir_measures gives every topic of the qrels a score.

    Examples
    --------
    >>> qrels = {"q1": {"good": 2, "spam": -1}}
    >>> run = {"q1": {"unknown": 2.0, "good": 1.0}}
    >>> measure = parse_measure("nDCGf@2")
    >>> GainfulProvider(unjudged="condensed").calc_aggregate([measure], qrels, run)
    {nDCGf@2: 1.0}
    """

    NAME = "gainful"

    def __init__(self, **policies: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._policies = Policies(**policies)
        for name, value in self._policies.to_dict().items():
            if value == "skip":
                raise PolicyError(
                    f"{name}='skip' cannot be honoured here: ir_measures gives every topic of the qrels a score. "
                    "Use gainful.evaluate."
                )

    def supports(self, measure: Any) -> bool:
        """Whether gainful has this measure; raises MeasureError if its parameters are wrong.

        A provider with policies other than the default has gainful's own measures alone.
        """
        measure.validate_params()
        if isinstance(measure, GainfulMeasure):
            return True
        if self._policies != Policies():
            return False
        return _trec.supports(measure) or _text(measure) is not None

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> ir_measures.Evaluator:
        chosen = list(measures)
        if wrong := [str(measure) for measure in chosen if not self.supports(measure)]:
            raise MeasureError(
                f"expected measures of gainful such as nDCGf@3, got {', '.join(wrong)}: "
                "ir_measures.calc_aggregate takes both kinds at once"
            )
        trec = [one for one in chosen if not isinstance(one, GainfulMeasure) and _trec.supports(one)]
        others = [one for one in chosen if one not in trec]
        if not trec:
            return GainfulEvaluator(others, qrels, self._policies)
        if not others:
            return _trec.evaluator(trec, qrels)
        first, second = QrelsConverter(qrels).tee(2)  # type: ignore[no-untyped-call]
        evaluators = [_trec.evaluator(trec, first.qrels), GainfulEvaluator(others, second.qrels, self._policies)]
        return FallbackEvaluator(chosen, evaluators)  # type: ignore[no-untyped-call]


provider = GainfulProvider()


def parse_measure(text: str) -> GainfulMeasure:
    """The measure that a text stands for in gainful's grammar, which takes more than ir_measures' own parser does.

    ``gf_AP`` and ``AP`` are the same here.

    >>> parse_measure("nDCG(norm=f, gain={-2: -10})@3")
    nDCGf(gain={-2: -10})@3
    """
    found = parse_ours(text.strip().removeprefix(_PREFIX))
    return GainfulMeasure(found.definition.name, **found.parameters)


def register(*, first: bool = False) -> None:
    """Make `ir_measures.parse_measure` and the default pipeline of ir_measures know all measures of gainful.

    Those of installed packages are among them. Done when this module is imported; again, it adds the measures that were
    registered with gainful since. The provider comes last, so that others compute what they have; if `first`, gainful
    computes all that it has.
    """
    ir_measures.providers.registry.setdefault(provider.NAME, provider)
    providers = ir_measures.DefaultPipeline.providers
    if provider not in providers or first:
        providers[:] = [one for one in providers if one is not provider]
        providers.insert(0 if first else len(providers), provider)
    load_installed()
    for name in _names():
        measure = GainfulMeasure(name)
        ir_measures.measures.registry.setdefault(measure.NAME, measure)


def _names() -> list[str]:
    return [*REGISTRY, *PRESETS]


def _definition(name: str) -> tuple[Definition, Mapping[str, Any]]:
    """The definition behind a name, and the parameters that the name sets."""
    target, fixed = PRESETS.get(name, (name, {}))
    if target not in REGISTRY:
        raise MeasureError(f"no measure named {name!r} is registered")
    return REGISTRY[target], fixed


def _is_taken(name: str) -> bool:
    """Whether ir_measures has a measure of this name itself."""
    return not isinstance(ir_measures.measures.registry.get(name), GainfulMeasure | None)


def _label(measure: Measure) -> str:
    """The label of gainful, told apart from ir_measures' own: what ir_measures compares measures by."""
    text, name = str(measure), measure.definition.name
    rest = text.removeprefix(name)
    if not _is_taken(name) or rest[:1] not in ("", "(", "@"):  # 'nDCGf@3' begins with nDCG, but is nobody else's
        return text
    for preset, (target, fixed) in PRESETS.items():
        if target == name and fixed.items() <= measure.parameters.items() and not _is_taken(preset):
            return preset + rest
    return _PREFIX + text


def __getattr__(name: str) -> GainfulMeasure:
    bare = name.removeprefix(_PREFIX)
    if bare in _names():
        if name != bare or not _is_taken(bare):
            return GainfulMeasure(bare)
        raise AttributeError(f"{name} is ir_measures' own: gainful's is {_PREFIX}{name}")
    raise AttributeError(f"module 'gainful.compat.ir_measures' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(GainfulMeasure(name).NAME for name in _names())]


register()
