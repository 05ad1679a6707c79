"""The experiments of the papers behind gainful on any collection: their tables and figures, made anew.

Nothing is computed here that the layers below do not compute: a study says what to compute, and puts the published
figures beside it.

>>> import gainful as gf
>>> callable(gf.studies.negative_labels)
True
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gainful.studies.forbidden_documents import forbidden_documents
    from gainful.studies.gain_discount import gain_discount
    from gainful.studies.incomplete_judgments import incomplete_judgments
    from gainful.studies.negative_labels import negative_labels
    from gainful.studies.result import Exhibit, Finding, Study

# Every public name and the module it lives in: imported when first used.
_HOME = {
    "Exhibit": "gainful.studies.result",
    "Finding": "gainful.studies.result",
    "Study": "gainful.studies.result",
    "forbidden_documents": "gainful.studies.forbidden_documents",
    "gain_discount": "gainful.studies.gain_discount",
    "incomplete_judgments": "gainful.studies.incomplete_judgments",
    "negative_labels": "gainful.studies.negative_labels",
}

__all__ = [
    "Exhibit",
    "Finding",
    "Study",
    "forbidden_documents",
    "gain_discount",
    "incomplete_judgments",
    "negative_labels",
]


class _Package(ModuleType):
    """Importing a study's module must not put it in the place of the function of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'gainful.studies' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
