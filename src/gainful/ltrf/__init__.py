"""Learning to rank and filter: rankers that also leave out what must not be shown. Needs the extra `[ltrf]`.

>>> import gainful as gf
>>> callable(gf.ltrf.train)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gainful.ltrf.comparison import LossComparison, compare
    from gainful.ltrf.data import Examples, read_examples
    from gainful.ltrf.ranker import FRanker
    from gainful.ltrf.scoring import score
    from gainful.ltrf.search import Search, tune
    from gainful.ltrf.settings import Settings
    from gainful.ltrf.training import train

# Every public name and the module it lives in: imported when first used, torch and LightGBM not before they are needed.
_HOME = {
    "Examples": "gainful.ltrf.data",
    "FRanker": "gainful.ltrf.ranker",
    "LossComparison": "gainful.ltrf.comparison",
    "Search": "gainful.ltrf.search",
    "Settings": "gainful.ltrf.settings",
    "compare": "gainful.ltrf.comparison",
    "read_examples": "gainful.ltrf.data",
    "score": "gainful.ltrf.scoring",
    "train": "gainful.ltrf.training",
    "tune": "gainful.ltrf.search",
}

__all__ = [
    "Examples",
    "FRanker",
    "LossComparison",
    "Search",
    "Settings",
    "compare",
    "read_examples",
    "score",
    "train",
    "tune",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'gainful.ltrf' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
