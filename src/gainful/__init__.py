"""gainful: measure rankings, and measure the measures.

>>> import gainful as gf
>>> gf.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.5}}, "nDCG@10").mean()["nDCG@10"].to_list()
[1.0]
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gainful import ltrf as ltrf
    from gainful import studies as studies
    from gainful.charts import save_chart
    from gainful.compare import Comparison, compare
    from gainful.data.policies import Policies
    from gainful.data.qrels import Qrels
    from gainful.data.rankings import Rankings
    from gainful.data.run import Run
    from gainful.data.scores import ScoreMatrix, Scores
    from gainful.data.simulate import Collection, Truth, simulate
    from gainful.errors import DataError, GainfulError, MeasureError, PolicyError
    from gainful.evaluate import evaluate, read_scores, score
    from gainful.explain import Explanation, explain
    from gainful.io.read import read_qrels, read_run, read_runs
    from gainful.io.scores import write_scores
    from gainful.io.write import write_qrels, write_run
    from gainful.measures.check import check_measure
    from gainful.measures.grammar import parse_measure, parse_measures
    from gainful.measures.registry import Measure, measure
    from gainful.meta.agreement import Agreement, agreement
    from gainful.meta.boundedness import Boundedness, boundedness
    from gainful.meta.curves import Robustness
    from gainful.meta.reliability import Reliability, reliability
    from gainful.meta.robustness import robustness
    from gainful.meta.sensitivity import Sensitivity, sensitivity
    from gainful.meta.stability import Stability, stability
    from gainful.meta.topics import TopicsNeeded, topics_needed
    from gainful.report import Report, report
    from gainful.tune.curve import ThresholdCurve
    from gainful.tune.cut import Threshold, apply_threshold
    from gainful.tune.optimize import optimize
    from gainful.tune.optimum import Optimum
    from gainful.tune.threshold import fit_threshold, threshold_curve

__version__ = "0.1.0"

# Every public name and the module it lives in: imported when first used, so that `import gainful` costs nothing.
_HOME = {
    "Agreement": "gainful.meta.agreement",
    "Boundedness": "gainful.meta.boundedness",
    "Collection": "gainful.data.simulate",
    "Comparison": "gainful.compare",
    "DataError": "gainful.errors",
    "Explanation": "gainful.explain",
    "GainfulError": "gainful.errors",
    "Measure": "gainful.measures.registry",
    "MeasureError": "gainful.errors",
    "Optimum": "gainful.tune.optimum",
    "Policies": "gainful.data.policies",
    "PolicyError": "gainful.errors",
    "Qrels": "gainful.data.qrels",
    "Rankings": "gainful.data.rankings",
    "Reliability": "gainful.meta.reliability",
    "Report": "gainful.report",
    "Robustness": "gainful.meta.curves",
    "Run": "gainful.data.run",
    "ScoreMatrix": "gainful.data.scores",
    "Scores": "gainful.data.scores",
    "Sensitivity": "gainful.meta.sensitivity",
    "Stability": "gainful.meta.stability",
    "Threshold": "gainful.tune.cut",
    "ThresholdCurve": "gainful.tune.curve",
    "TopicsNeeded": "gainful.meta.topics",
    "Truth": "gainful.data.simulate",
    "agreement": "gainful.meta.agreement",
    "apply_threshold": "gainful.tune.cut",
    "boundedness": "gainful.meta.boundedness",
    "check_measure": "gainful.measures.check",
    "compare": "gainful.compare",
    "evaluate": "gainful.evaluate",
    "explain": "gainful.explain",
    "fit_threshold": "gainful.tune.threshold",
    "measure": "gainful.measures.registry",
    "optimize": "gainful.tune.optimize",
    "parse_measure": "gainful.measures.grammar",
    "parse_measures": "gainful.measures.grammar",
    "read_qrels": "gainful.io.read",
    "read_run": "gainful.io.read",
    "read_runs": "gainful.io.read",
    "read_scores": "gainful.evaluate",
    "reliability": "gainful.meta.reliability",
    "report": "gainful.report",
    "robustness": "gainful.meta.robustness",
    "save_chart": "gainful.charts",
    "score": "gainful.evaluate",
    "sensitivity": "gainful.meta.sensitivity",
    "simulate": "gainful.data.simulate",
    "stability": "gainful.meta.stability",
    "threshold_curve": "gainful.tune.threshold",
    "topics_needed": "gainful.meta.topics",
    "write_qrels": "gainful.io.write",
    "write_run": "gainful.io.write",
    "write_scores": "gainful.io.scores",
}

# Packages with public names of their own, as in gf.ltrf.train(…).
_PACKAGES = ("ltrf", "studies")

__all__ = [
    "Agreement",
    "Boundedness",
    "Collection",
    "Comparison",
    "DataError",
    "Explanation",
    "GainfulError",
    "Measure",
    "MeasureError",
    "Optimum",
    "Policies",
    "PolicyError",
    "Qrels",
    "Rankings",
    "Reliability",
    "Report",
    "Robustness",
    "Run",
    "ScoreMatrix",
    "Scores",
    "Sensitivity",
    "Stability",
    "Threshold",
    "ThresholdCurve",
    "TopicsNeeded",
    "Truth",
    "agreement",
    "apply_threshold",
    "boundedness",
    "check_measure",
    "compare",
    "evaluate",
    "explain",
    "fit_threshold",
    "measure",
    "optimize",
    "parse_measure",
    "parse_measures",
    "read_qrels",
    "read_run",
    "read_runs",
    "read_scores",
    "reliability",
    "report",
    "robustness",
    "save_chart",
    "score",
    "sensitivity",
    "simulate",
    "stability",
    "threshold_curve",
    "topics_needed",
    "write_qrels",
    "write_run",
    "write_scores",
]


class _Package(ModuleType):
    """Importing `gainful.evaluate` must not put that module in the place of the function of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return import_module(f"gainful.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'gainful' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES, "__version__"]
