"""Compiles gainful._core.native, if that is possible here: without it gainful works, more slowly.

`pip install` says nothing about an attempt that failed; `pip install --verbose` and `gainful --version` do. In the
environment, ``GAINFUL_PURE=1`` skips it, and ``GAINFUL_CORE=1`` makes a failure an error.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # `python hatch_build.py` compiles in place, and needs setuptools alone
    BuildHookInterface = object

FOLDER = "src/gainful/_core"


class CoreHook(BuildHookInterface):  # type: ignore[misc]
    """What hatchling calls before it makes a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; a wheel that holds the core is one for this platform and every Python from 3.11 on."""
        if os.environ.get("GAINFUL_PURE", "0") not in ("", "0"):
            return
        root = Path(self.root)
        try:
            built = build(root)
        except (Exception, SystemExit) as error:
            if os.environ.get("GAINFUL_CORE", "0") not in ("", "0"):
                raise
            self.app.display_warning(f"no compiled core, gainful will be slower: {error}")
            return
        if version != "editable":
            build_data["force_include"][str(built)] = f"gainful/_core/{built.name}"
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def build(root: Path) -> Path:
    """Compile in place; where the library is."""
    if platform.python_implementation() != "CPython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise RuntimeError("this Python has no stable ABI")
    from setuptools import Distribution, Extension

    flags = ["/O2", "/std:c11"] if sys.platform == "win32" else ["-std=c11", "-O3", "-g0", "-fvisibility=hidden"]
    extra = os.environ.get("GAINFUL_CFLAGS", "").split()
    extension = Extension(
        "gainful._core.native",
        [f"{FOLDER}/native.c"],
        extra_compile_args=[*flags, *extra],
        extra_link_args=[flag for flag in extra if flag.startswith("-fsanitize")],
        py_limited_api=True,
    )
    before = Path.cwd()
    os.chdir(root)
    try:
        command = Distribution(
            {"name": "gainful", "ext_modules": [extension], "package_dir": {"": "src"}}
        ).get_command_obj("build_ext")
        command.build_temp = "build"
        command.inplace = True
        command.force = True
        command.ensure_finalized()
        command.run()
        return root / command.get_ext_fullpath("gainful._core.native")
    finally:
        os.chdir(before)


if __name__ == "__main__":
    print(build(Path(__file__).resolve().parent))
