"""The recipe for an analysis works as it stands: put into a copy of gainful, its two files are a command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from follow import ROOT, files

TINY = Path(__file__).parents[1] / "golden" / "tiny"
# P@2 by hand: a has 1/2 in each of three topics, b has 1/2, 1/2 and, in the topic it lacks, 0.
RUN = """
import numpy as np
from gainful.analyses.spread import spread
from gainful.cli.main import main
for words in WORDS:
    print("=====")
    status = main(words)
    assert status == 0, status
print("=====")
found = spread(np.array([[0.2, 0.4], [0.2, 0.5]]))
print(found)
print("<table" in found._repr_html_() and "<svg" in found._repr_html_())
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> list[str]:
    """What the new command and function print, in a copy of gainful that differs in two files."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    blocks = files((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert list(blocks) == ["src/gainful/analyses/spread.py", "src/gainful/cli/commands.py"]
    for name, text in blocks.items():
        path = folder / name
        if path.exists():
            before = path.read_text(encoding="utf-8")
            assert before.count("\n_COMMANDS = (\n") == 1
            text = before.replace("\n_COMMANDS = (\n", f"\n_COMMANDS = (\n{text}")
        path.write_text(text, encoding="utf-8")
    data = [str(TINY / "qrels.txt"), str(TINY / "a.txt"), str(TINY / "b.txt")]
    words = [
        ["spread", *data, "-m", "P@2", "--least", "0.2"],
        ["spread", *data, "-m", "P@2", "--format", "json", "--missing", "skip", "--chart", "spread.svg"],
        ["spread", "--help"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", RUN.replace("WORDS", repr(words))],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout
    assert "<svg" in (folder / "spread.svg").read_text(encoding="utf-8")
    return done.stdout.split("=====\n")[1:]


def test_table_verdict_and_note(printed):
    assert "Runs differ most by P@2: from 0.3333 to 0.5000." in printed[0]
    assert "P@2 hardly tells these runs apart." in printed[0]
    assert "least=0.2" in printed[0]
    assert [line.split() for line in printed[0].splitlines() if line.startswith("P@2  ")] == [
        ["P@2", "0.3333", "0.5000"]
    ]


def test_json_and_policies(printed):
    found, _ = json.JSONDecoder().raw_decode(printed[1][printed[1].index("{") :])
    assert found["spread"] == [{"measure": "P@2", "lowest": 0.5, "highest": 0.5, "spread": 0.0}]
    assert found["settings"]["policies"]["missing"] == "skip"


def test_help(printed):
    assert "Find how far apart the best and the worst run are." in printed[2]
    assert "Measures whose means differ by less than this" in " ".join(printed[2].replace("│", " ").split())
    assert printed[2].splitlines()[-1] == "Example: gainful spread qrels.txt runs/ -m nDCG@10 -m AP"


def test_in_python(printed):
    assert "Runs differ most by score: from 0.3000 to 0.3500." in printed[3]
    assert printed[3].splitlines()[-1] == "True"
