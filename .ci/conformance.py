"""Runs other projects' own tests on gainful and on what they were written for, and prints how many pass.

`make conformance` fetches the tests of `SOURCES`: from their repositories, or as source archives of the package index.
`make conformance FOLDER=suites` takes ``suites/trec_eval``, ``suites/pytrec_eval``, ``suites/ir_measures`` and
``suites/mteb``, each a checkout of that project, as far as they are there. What cannot be had is named and left out. A
test that fails on gainful and passes on the original ends in exit status 1.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
SHIM = HERE.parent / "packages" / "pytrec_eval" / "src"
GAINFUL = (sys.executable, "-m", "gainful", "trec_eval")

# Commits of repositories, by folder below that of the suite. BEIR has no tests of measures; PyTerrier's need Java.
SOURCES = {
    "trec_eval": {".": "usnistgov/trec_eval@f4253652c8efd0d86ddffd0d163cc0a0f813111a"},  # 10.0
    "pytrec_eval": {
        ".": "terrierteam/pytrec_eval@68c150b2a8341b4655fbd545ca009cd5c5efcfc8",  # 0.5.9
        "trec_eval": "usnistgov/trec_eval@de6a29f8ba9312c73f978aa9739695aa8ebf48eb",  # its submodule
    },
    "ir_measures": {".": "terrierteam/ir_measures@bb9ece5c1ec6a0027c8a9f7a8ee428614f8a2f44"},  # 0.4.3
    "mteb": {".": "embeddings-benchmark/mteb@a7110dff55ed6ca9cbde6219422c6a53a265f182"},  # 2.20.0
}
# Releases of the package index, for where a repository cannot be reached. Those of pytrec_eval and MTEB leave the tests
# of measures out, and that of ir_measures some.
RELEASES = {"ir_measures": "ir_measures==0.4.3"}

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


def python(folder: Path, *words: str, shim: bool) -> str:
    """What Python prints for these words in a folder, with gainful as pytrec_eval if `shim`."""
    known = [str(HERE), *([str(SHIM)] if shim else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    given = os.environ | {"PYTHONPATH": os.pathsep.join(known)}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout


def unittests(folder: Path, *, shim: bool = False) -> Outcome:
    """pytrec_eval's tests, run as a program: those on trec_eval's files are made only then."""
    text = python(folder, "tests/pytrec_eval_tests.py", "--verbose", shim=shim)
    return {name: end == "ok" for name, end in re.findall(r"^(test\S+) \(.*\) \.\.\. (ok|FAIL|ERROR)$", text, re.M)}


def pytests(folder: Path, files: Sequence[str], *options: str, shim: bool = False) -> Outcome:
    """The tests in the files of these patterns."""
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "report.xml"
        words = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", "--rootdir", str(folder), f"--junitxml={report}"]
        words += ["--continue-on-collection-errors", *options]
        names = sorted(str(path) for pattern in files for path in folder.glob(pattern))
        python(folder, "-m", "pytest", *words, *names, shim=shim)
        if not report.exists():
            return {}
        cases = ElementTree.parse(report).getroot().iter("testcase")
        return {
            f"{case.get('classname')}::{case.get('name')}": case.find("failure") is None and case.find("error") is None
            for case in cases
            if case.find("skipped") is None
        }


def unpack(archive: Path, into: Path) -> None:
    """Unpack an archive without its topmost folder, and nothing that would leave the folder."""
    with tempfile.TemporaryDirectory() as temporary:
        with tarfile.open(archive) as tar:
            for member in (member for member in tar if member.isreg()):
                if ".." in Path(member.name).parts or Path(member.name).is_absolute():
                    raise tarfile.ExtractError(f"{member.name} would be outside the destination")
                target, content = Path(temporary, member.name), tar.extractfile(member)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read() if content else b"")
                target.chmod(0o755 if member.mode & 0o100 else 0o644)
        (top,) = Path(temporary).iterdir()
        shutil.copytree(top, into, dirs_exist_ok=True)


def fetch_commit(source: str, into: Path) -> None:
    """Unpack a commit of a repository into a folder."""
    home, _, commit = source.partition("@")
    with tempfile.TemporaryDirectory() as temporary:
        archive = Path(temporary) / "commit.tar.gz"
        address = f"https://github.com/{home}/archive/{commit}.tar.gz"
        with urllib.request.urlopen(address, timeout=60) as response, archive.open("wb") as file:
            shutil.copyfileobj(response, file)
        unpack(archive, into)


def fetch_release(release: str, into: Path) -> None:
    """Unpack the source archive of a release into a folder; pip finds it, and checks its hash."""
    with tempfile.TemporaryDirectory() as temporary:
        words = ["download", "--quiet", "--no-deps", "--no-binary", release.partition("==")[0], "--dest", temporary]
        done = subprocess.run(
            [sys.executable, "-m", "pip", *words, release], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise OSError(done.stderr.strip().rpartition("\n")[2])
        unpack(next(Path(temporary).glob("*.tar.gz")), into)


def found(project: str, given: Path | None, into: Path) -> Path | None:
    """Where the tests of a project are; None, with the reason on stderr, if they cannot be had."""
    if given is not None and (given / project).is_dir():
        return (given / project).resolve()
    try:
        try:
            for folder, source in SOURCES[project].items():
                fetch_commit(source, into / project / folder)
        except OSError:
            if project not in RELEASES:
                raise
            fetch_release(RELEASES[project], into / project)
    except (OSError, tarfile.TarError) as error:
        print(f"{project}: cannot be fetched ({error}); put a checkout into FOLDER/{project}", file=sys.stderr)
        return None
    return into / project


def compared(project: str, folder: Path, into: Path) -> Iterator[tuple[str, Outcome, Outcome]]:
    """The outcomes of a project's tests, on the original and on gainful."""
    if project == "trec_eval":
        original = built(folder, into / "built")
        yield "trec_eval: `make quicktest`", quicktest(folder, original) if original else {}, quicktest(folder, GAINFUL)
    elif project == "pytrec_eval":
        yield "pytrec_eval", unittests(folder), unittests(folder, shim=True)
    elif importlib.util.find_spec(project) is None:
        print(f"{project}: is not installed", file=sys.stderr)
    elif project == "ir_measures":
        files = ["tests/test_*.py"]
        theirs = pytests(folder, files)
        yield "ir_measures, gainful as pytrec_eval", theirs, pytests(folder, files, shim=True)
        yield "ir_measures, gainful as provider", theirs, pytests(folder, files, "-p", "conformance_provider")
    else:
        files = [f"tests/test_evaluators/test_{name}.py" for name in ("RetrievalEvaluator", "evaluation_metrics")]
        yield "MTEB: metrics of retrieval", pytests(folder, files), pytests(folder, files, shim=True)


def main() -> int:
    """Print the table; 1 if gainful fails where the original does not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where checkouts of the projects are")
    given = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as temporary:
        into = Path(temporary)
        folders = {project: found(project, given, into) for project in SOURCES}
        rows = [row for name, folder in folders.items() if folder for row in compared(name, folder, into)]
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
