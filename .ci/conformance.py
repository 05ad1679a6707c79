"""Runs other projects' own tests on gainful and on what they were written for, and prints how many pass.

`make conformance FOLDER=suites` takes ``suites/trec_eval``, ``suites/pytrec_eval`` and ``suites/ir_measures``, each a
checkout of that project, as far as they are there; the others are cloned, or come as source archives from the package
index. A test that fails on gainful and passes on the original ends in exit status 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
SHIM = HERE.parent / "packages" / "pytrec_eval" / "src"
INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
HOMES = {
    "trec_eval": "https://github.com/usnistgov/trec_eval",
    "pytrec_eval": "https://github.com/cvangysel/pytrec_eval",
    "ir_measures": "https://github.com/terrierteam/ir_measures",
}
GAINFUL = (sys.executable, "-m", "gainful", "trec_eval")

Outcome = dict[str, bool]  # of each test, by its name


def quicktest(folder: Path, command: tuple[str, ...]) -> Outcome:
    """The commands of trec_eval's `make quicktest`, each with what it must print."""
    recipe = (folder / "Makefile").read_text(encoding="utf-8").partition("quicktest:")[2].partition("\n\n")[0]
    found: Outcome = {}
    for line in re.findall(r"^\t\./trec_eval (.*)$", recipe, re.MULTILINE):
        words, _, expected = line.partition("| diff -")
        run = subprocess.run([*command, *shlex.split(words)], cwd=folder, capture_output=True, check=False)
        found[line] = run.stdout == (folder / expected.strip()).read_bytes()
    return found


def built(folder: Path, into: Path) -> tuple[str, ...] | None:
    """trec_eval itself, compiled; None where that does not work."""
    shutil.copytree(folder, into, dirs_exist_ok=True)
    done = subprocess.run(["make", "trec_eval"], cwd=into, capture_output=True, check=False)
    return (str(into / "trec_eval"),) if done.returncode == 0 else None


def run_tests(folder: Path, files: str, *options: str, shim: bool = False) -> Outcome:
    """The tests in these files, with gainful as pytrec_eval if `shim`."""
    known = [str(HERE), *([str(SHIM)] if shim else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "report.xml"
        words = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", "--rootdir", str(folder), f"--junitxml={report}"]
        names = [str(path) for path in sorted(folder.glob(files))]
        subprocess.run(
            [sys.executable, "-m", "pytest", *words, *options, *names],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(known)},
            capture_output=True,
            check=False,
        )
        if not report.exists():
            return {}
        cases = ElementTree.parse(report).getroot().iter("testcase")
        return {
            f"{case.get('classname')}::{case.get('name')}": case.find("failure") is None and case.find("error") is None
            for case in cases
            if case.find("skipped") is None
        }


def archive(project: str, into: Path) -> Path | None:
    """The newest source archive of a project in the package index, unpacked; None if there is none or no network."""
    try:
        with urllib.request.urlopen(f"{INDEX}/{project.replace('_', '-')}/", timeout=30) as page:
            links = re.findall(r'href="([^"#]+\.tar\.gz)', page.read().decode())
        newest = max(links, key=lambda link: [int(number) for number in re.findall(r"\d+", link.rpartition("-")[2])])
        with (
            urllib.request.urlopen(newest, timeout=120) as response,
            tarfile.open(fileobj=response, mode="r|gz") as tar,
        ):
            tar.extractall(into / project, filter="data")
    except (OSError, ValueError) as error:
        print(f"{project}: no source archive ({error})", file=sys.stderr)
        return None
    return next((into / project).iterdir())


def cloned(project: str, into: Path) -> Path | None:
    """A checkout of a project, with its submodules; None if it cannot be had."""
    words = ["git", "clone", "--quiet", "--depth", "1", "--recurse-submodules", HOMES[project], str(into / project)]
    try:
        done = subprocess.run(
            words, env=os.environ | {"GIT_TERMINAL_PROMPT": "0"}, capture_output=True, timeout=120, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return into / project if done.returncode == 0 else None


def found(project: str, given: Path | None, into: Path) -> Path | None:
    """Where the tests of a project are."""
    if given is not None and (given / project).is_dir():
        return (given / project).resolve()
    return cloned(project, into / "clones") or archive(project, into / "archives")


def main() -> int:
    """Print the table; 1 if gainful fails where the original does not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where checkouts of the projects are")
    given = parser.parse_args().folder
    rows: list[tuple[str, Outcome, Outcome]] = []
    with tempfile.TemporaryDirectory() as temporary:
        into = Path(temporary)
        if (trec := found("trec_eval", given, into)) is not None:
            original = built(trec, into / "built")
            rows.append(
                ("trec_eval: quicktest", quicktest(trec, original) if original else {}, quicktest(trec, GAINFUL))
            )
        if (folder := found("pytrec_eval", given, into)) is not None:
            files = "tests/*_tests.py"
            rows.append(("pytrec_eval", run_tests(folder, files), run_tests(folder, files, shim=True)))
        if (folder := found("ir_measures", given, into)) is not None:
            files = "tests/test_*.py"
            theirs = run_tests(folder, files)
            rows.append(("ir_measures, gainful as pytrec_eval", theirs, run_tests(folder, files, shim=True)))
            served = run_tests(folder, files, "-p", "conformance_provider")
            rows.append(("ir_measures, gainful as provider", theirs, served))
    print("| tests | original | gainful |\n|---|---|---|")
    worse = []
    for name, theirs, ours in rows:
        counts = [f"{sum(one.values())} of {len(one)}" if one else "–" for one in (theirs, ours)]
        print(f"| {name} | {counts[0]} | {counts[1]} |")
        worse += [f"{name}: {test}" for test, passed in theirs.items() if passed and not ours.get(test)]
        worse += [f"{name}: {test}" for test, passed in ours.items() if not passed and test not in theirs]
    for test in worse:
        print(f"fails on gainful only: {test}", file=sys.stderr)
    return 1 if worse or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
