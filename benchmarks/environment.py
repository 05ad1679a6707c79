"""The environment that all is measured in, with the peers and this checkout. Standard library only."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VENV = ROOT / ".venv-bench"
PYTHON = VENV / "bin" / "python"


def tool(*arguments: str) -> str:
    """Run benchmarks/tools.py in the environment; its last line of output."""
    command = [str(PYTHON), str(HERE / "tools.py"), *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"})
    return done.stdout.strip().rpartition("\n")[2]


def verdict(met: bool) -> str:
    """What is printed behind a bar."""
    return "met" if met else "MISSED"
