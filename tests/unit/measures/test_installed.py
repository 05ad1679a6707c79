"""Measures of packages that were really built and installed work at the shell, without an import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gainful

PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "1.0"

[project.entry-points."gainful.measures"]
{name} = "{target}"

[tool.setuptools]
py-modules = ["{module}"]
"""
MEASURES = '''\
"""Measures of a third party."""
from gainful.measures import measure
from gainful.measures.parameters import Depth


@measure("TopShare", cite="nobody2026")
def top_share(rankings, *, cutoff: Depth):
    """Share of the first documents that are judged relevant."""
    return rankings.sum(rankings.relevant(1) & (rankings.rank <= cutoff)) / cutoff
'''
REGISTER = """\
def register():
    from gainful.measures import measure

    @measure("Nothing")
    def nothing(rankings):
        \"\"\"Always 0.\"\"\"
        return 0.0 * rankings.sum(rankings.rank > 0)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed four packages: two good ones and two that cannot be imported."""
    folder = tmp_path_factory.mktemp("packages")
    packages = {
        "top-share": ("top_share_measures", "top_share_measures:top_share", MEASURES),
        "nothing-much": ("nothing_much", "nothing_much:register", REGISTER),
        "broken-measures": ("broken_measures", "broken_measures", "import no_such_module_anywhere\n"),
        "leaving-measures": ("leaving_measures", "leaving_measures", "raise SystemExit('Not on this machine.')\n"),
    }
    for name, (module, target, source) in packages.items():
        (folder / name).mkdir()
        (folder / name / "pyproject.toml").write_text(PROJECT.format(name=name, module=module, target=target))
        (folder / name / f"{module}.py").write_text(source)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", folder / "site"]
    sources = [folder / name for name in packages]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, *sources], check=True, capture_output=True)
    (folder / "q").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 c 1\n")
    (folder / "r").write_text("1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n2 Q0 a 1 3 x\n2 Q0 c 2 2 x\n")
    return folder


def run(site: Path, *words: str, path: str = "site") -> subprocess.CompletedProcess[str]:
    """Python, with those packages installed."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=site,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(gainful.__file__).parents[1]), str(site / path)])},
        capture_output=True,
        text=True,
        check=False,
    )


def shell(site: Path, *words: str, path: str = "site") -> subprocess.CompletedProcess[str]:
    return run(site, "-m", "gainful", *words, path=path)


def test_a_measure_of_another_package_is_computed(site):
    found = shell(site, "evaluate", "q", "r", "-m", "TopShare@2", "-m", "Nothing", "--format", "csv")
    assert found.returncode == 0
    # One of two, and two of two.
    assert found.stdout.splitlines()[1:] == ["r,TopShare@2,all,0.75", "r,Nothing,all,0.0"]


def test_a_measure_of_another_package_is_listed(site):
    found = shell(site, "measures", "--format", "csv")
    assert found.returncode == 0
    assert any(line.startswith("TopShare,TopShare@k,Share of the first") for line in found.stdout.splitlines())
    assert any(line.startswith("Nothing,Nothing,Always 0.") for line in found.stdout.splitlines())
    assert found.stderr == (
        "note: The measures of the installed package 'broken-measures' cannot be loaded "
        "(broken_measures: ModuleNotFoundError: No module named 'no_such_module_anywhere').\n"
        "note: The measures of the installed package 'leaving-measures' cannot be loaded (leaving_measures: SystemExit"
        ": Not on this machine.).\n"
    )


def test_a_package_that_cannot_be_imported_is_named_where_its_measure_may_be_meant(site):
    found = shell(site, "evaluate", "q", "r", "-m", "Unheard@2")
    assert found.returncode == 1
    assert "Unknown measure 'Unheard@2'. 'gainful measures' lists them all. The measures of the" in found.stderr
    assert "package 'broken-measures' cannot be loaded" in found.stderr
    assert "Traceback" not in found.stderr


def test_known_names_load_nothing(site):
    code = "import sys, gainful as gf; gf.parse_measures(['nDCG@10', 'map', 'nDCGf@3']); print(*sys.modules)"
    modules = run(site, "-c", code).stdout.split()
    assert "gainful.measures.registry" in modules
    assert {"top_share_measures", "nothing_much", "broken_measures"}.isdisjoint(modules)


def test_python_needs_no_import_either(site):
    code = "import gainful as gf; print(gf.evaluate('q', 'r', 'TopShare@2').mean()['TopShare@2'].to_list())"
    assert run(site, "-c", code).stdout == "[0.75]\n"


def test_ir_measures_knows_it_too(site):
    code = "import gainful.compat.ir_measures, ir_measures as ir; print(ir.parse_measure('TopShare@2'))"
    assert run(site, "-c", code).stdout == "TopShare@2\n"


def test_a_file_may_name_one(site):
    (site / "m.json").write_text('{"measure": "TopShare", "cutoff": 2}')
    assert shell(site, "evaluate", "q", "r", "-m", "@m.json", "--format", "csv").stdout.splitlines()[1:] == [
        "r,TopShare@2,all,0.75"
    ]


def test_without_the_packages_the_measure_is_unknown(site):
    found = shell(site, "evaluate", "q", "r", "-m", "TopShare@2", path="elsewhere")
    assert found.returncode == 1
    assert "Unknown measure 'TopShare@2'." in found.stderr
    assert "cannot be loaded" not in found.stderr
