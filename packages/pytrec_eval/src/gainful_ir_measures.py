"""Registers gainful's measures with ir_measures when a program imports that, and does nothing in all others.

ir_measures has no entry points; the file of this name that ends in .pth imports this at the start of Python.
"""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _Registering:
    """Stands before the finders of modules until ir_measures is looked for."""

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Nothing but for ir_measures: its own, with a loader that also registers."""
        if name != "ir_measures":
            return None
        sys.meta_path.remove(cls)  # type: ignore[arg-type]
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load: Any = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                import gainful.compat.ir_measures  # noqa: F401

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec


if "ir_measures" not in sys.modules:
    sys.meta_path.insert(0, _Registering)  # type: ignore[arg-type]
