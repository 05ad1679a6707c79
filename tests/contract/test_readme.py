"""The README's shell examples do what it says they do (its Python examples run as doctests)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_console_blocks_print_what_is_shown(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for script in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True)
    blocks = re.findall(r"```console\n\$ (.*?)\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    for command, shown in blocks:
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert done.stdout.decode() == shown, command


def test_make_targets_named_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"make (\w+)", text))
    assert {"demo", "test", "bench"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
