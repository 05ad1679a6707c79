"""The pages about other packages: their examples run with the real package, and are left out where it is missing."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from follow import ROOT, blocks

_FILE = re.compile(r"# examples/(\S+)\n")
_PACKAGES = ("beir", "mteb", "sentence_transformers", "sklearn", "llama_index", "ragas", "mlflow", "wandb")


def examples() -> dict[str, str]:
    found = {}
    for path in sorted((ROOT / "docs").glob("*.md")):
        for block in blocks(path.read_text(encoding="utf-8")):
            if block.kind == "python" and (match := _FILE.match(block.text)):
                found[match[1]] = block.text
    return found


EXAMPLES = examples()


def test_every_package_has_an_example():
    assert {next(name for name in _PACKAGES if file.startswith(name)) for file in EXAMPLES} == {*_PACKAGES}


@pytest.mark.slow
@pytest.mark.parametrize("file", EXAMPLES)
def test_example(file, tmp_path):
    package = next(name for name in _PACKAGES if file.startswith(name))
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}")
    probe = subprocess.run([sys.executable, "-c", f"import {package}"], capture_output=True, cwd=tmp_path, check=False)
    if probe.returncode:
        pytest.skip(f"{package} is installed, but cannot be imported")
    (tmp_path / file).write_text(EXAMPLES[file], encoding="utf-8")
    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]


ACTION = ROOT / ".github/actions/compare"


@pytest.mark.slow
@pytest.mark.parametrize(("worse", "status"), [(False, 0), (True, 3)])
def test_action(worse, status, tmp_path):
    """What the action runs, where it would run: all inputs reach the command, whose status is that of the step."""
    good = {f"q{at}": "d0 d1" for at in range(12)}
    lines = [f"{topic} 0 d0 1\n" for topic in good]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    for name, order in (("base", "01"), ("new run", "10" if worse else "01")):
        rows = [f"{t} Q0 d{d} {r} {9 - r} x\n" for t in good for r, d in enumerate(order)]
        (tmp_path / "runs" / f"{name}.txt").write_text("".join(rows))
    inputs = {"QRELS": "qrels.txt", "RUNS": "runs/", "BASELINE": "base", "MEASURES": "RR nDCG@10", "MARGIN": ""}
    inputs |= {"OPTIONS": "--test randomisation", "JUNIT": "j.xml", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "gainful"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m gainful "$@"\n')
    command.chmod(0o755)
    given = {**os.environ, **inputs, "PATH": f"{command.parent}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["bash", ACTION / "compare.sh"], env=given, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == status, ran.stderr
    assert "| --- |" in (tmp_path / "summary.md").read_text()
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert [case.get("name") for case in suite] == ["new run against base"] * 2
    assert [case.get("classname") for case in suite] == ["RR", "nDCG@10"]
    failures = [case.find("failure") is not None for case in suite]
    assert failures == [worse] * 2
    assert suite.get("failures") == str(2 * worse)


def test_action_declares_what_its_script_reads():
    text = (ACTION / "action.yml").read_text()
    read = set(re.findall(r"\$\{?([A-Z]{4,})\b", (ACTION / "compare.sh").read_text())) - {"PIPESTATUS"}
    declared = set(re.findall(r"^        ([A-Z]+): \$\{\{ inputs\.", text, re.MULTILINE))
    assert read <= declared


@pytest.mark.slow
def test_pytest_plugin(tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["gainful.compat.pytest_plugin"]\n')
    (tmp_path / "test_search.py").write_text(
        "QRELS = {str(q): {'a': 1} for q in range(12)}\n"
        "GOOD, BAD = {q: ['a', 'b'] for q in QRELS}, {q: ['b', 'a'] for q in QRELS}\n"
        "def test_same(not_worse):\n"
        "    assert not_worse(QRELS, {'old': GOOD, 'new': GOOD}, 'RR', baseline='old').baseline == 'old'\n"
        "def test_worse(not_worse):\n"
        "    not_worse(QRELS, {'old': GOOD, 'new': BAD}, 'RR', baseline='old')\n"
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", tmp_path]
    ran = subprocess.run([*words, tmp_path], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "1 failed, 1 passed" in ran.stdout
    assert "new is significantly worse than old" in ran.stdout or "RR" in ran.stdout.partition("FAILURES")[2]
