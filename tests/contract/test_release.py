"""What a release says about itself is the same everywhere, and its archives are checked for what they must have."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from gainful._version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXPECTED = {"gainful/__init__.py", "gainful/__init__.pyi", "gainful/py.typed", "gainful/pages/page.html"} | {
    f"gainful/pages/{name}" for name in ("report.css", "report.js", "study.js")
}
WHEEL = EXPECTED | {"gainful-1.0.dist-info/METADATA", "gainful-1.0.dist-info/licenses/LICENSE"}
BESIDE = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "pyproject.toml", "hatch_build.py", "PKG-INFO")
SDIST = {f"gainful-1.0/src/{name}" for name in EXPECTED} | {f"gainful-1.0/{name}" for name in BESIDE}


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_and_date_are_the_same_everywhere():
    citation = dict(re.findall(r"^([\w-]+): (.+)$", read("CITATION.cff"), re.MULTILINE))
    [(version, date), *_] = re.findall(r"^## (\S+) — (\d{4}-\d\d-\d\d)$", read("CHANGELOG.md"), re.MULTILINE)
    assert (citation["version"], citation["date-released"]) == (version, date)
    assert version == __version__


def test_addresses_are_the_same_everywhere():
    home = PROJECT["project"]["urls"]["Repository"]
    assert all(address.startswith(home) for address in PROJECT["project"]["urls"].values())
    assert f"\nrepository-code: {home}\n" in read("CITATION.cff")


def test_the_license_is_the_same_everywhere():
    assert f"\nlicense: {PROJECT['project']['license']}\n" in read("CITATION.cff")


def test_every_package_that_is_asked_for_has_a_version_and_a_reason():
    asked = [*PROJECT["project"]["dependencies"]]
    asked += [one for extra in PROJECT["project"]["optional-dependencies"].values() for one in extra]
    asked += [one for group in PROJECT["dependency-groups"].values() for one in group]
    names = {re.split(r"[<>=~! ]", one)[0] for one in asked}
    assert len(names) > 20
    pinned = {line.partition("==")[0] for line in read("constraints.txt").splitlines() if "==" in line}
    assert sorted(names - pinned) == []
    assert [
        name for name in sorted(names) if not re.search(rf"\b{re.escape(name)}\b", read("docs/dependencies.md"))
    ] == []


def test_hosted_checks_and_hooks_call_what_exists():
    makefile = read("Makefile")
    text = read(".github/workflows/ci.yml") + read(".pre-commit-config.yaml")
    targets = re.findall(r"(?:run|entry): make (\w+)", text)
    assert {"test", "conformance", "release", "types", "layers"} == set(targets)
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_what_the_package_needs_is_there(release):
    assert {f"gainful/{name}" for name in release.NEEDED} <= release.tracked()
    assert release.version() == __version__


def test_archives_that_are_right(release):
    assert release.problems_of_wheel(WHEEL, EXPECTED, "1.0") == []
    assert release.problems_of_sdist(SDIST, EXPECTED, "1.0") == []


@pytest.mark.parametrize(
    ("lacking", "problem"),
    [
        ("gainful/py.typed", "wheel: no gainful/py.typed"),
        ("gainful/__init__.py", "wheel: no gainful/__init__.py"),
        ("gainful-1.0.dist-info/licenses/LICENSE", "wheel: no gainful-1.0.dist-info/licenses/LICENSE"),
    ],
)
def test_what_a_wheel_lacks_is_named(release, lacking, problem):
    assert release.problems_of_wheel(WHEEL - {lacking}, EXPECTED, "1.0") == [problem]


def test_what_is_too_much_is_named(release):
    assert release.problems_of_wheel(WHEEL | {"tests/test_a.py"}, EXPECTED, "1.0") == [
        "wheel: tests/test_a.py is not ours"
    ]
    wrong = release.problems_of_sdist(SDIST | {"gainful-1.0/tests/a.py"}, EXPECTED, "1.0")
    assert wrong == ["sdist: tests/a.py does not belong there"]
    assert release.problems_of_sdist(SDIST - {"gainful-1.0/LICENSE"}, EXPECTED, "1.0") == ["sdist: no LICENSE"]
