"""The optional distribution that provides the module name pytrec_eval, as others use it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

SHIM = Path(__file__).parents[2] / "packages" / "pytrec_eval" / "src"

USED = """
import ir_measures, pytrec_eval
assert pytrec_eval.RelevanceEvaluator.__module__ == "gainful.compat.pytrec_eval", pytrec_eval.__file__
run = {"q": {"a": 1.0, "b": 2.0}}
print(pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"map"}).evaluate(run)["q"]["map"])
print(ir_measures.pytrec_eval.calc_aggregate([ir_measures.AP], {"q": {"a": 1}}, run)[ir_measures.AP])
"""
HOOK = """
import importlib.metadata, site, sys
site.addsitedir({folder!r})
assert "gainful" not in sys.modules and "ir_measures" not in sys.modules
sys.path.insert(0, {folder!r})
print(importlib.metadata.version("pytrec_eval-terrier"))
import ir_measures
assert ir_measures.pytrec_eval.is_available()
assert sys.modules["pytrec_eval"].RelevanceEvaluator.__module__ == "gainful.compat.pytrec_eval"
measure = ir_measures.parse_measure("nDCGf@2")
print(ir_measures.calc_aggregate([measure], {{"q": {{"a": 1, "b": -1}}}}, {{"q": {{"a": 2.0}}}})[measure])
"""


def ran(code: str, *paths: Path) -> str:
    folders = os.pathsep.join([*map(str, paths), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": folders}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_pytrec_eval_is_gainful():
    assert ran(USED, SHIM) == "0.5\n0.5\n"


@pytest.mark.slow
def test_installed_it_is_what_others_require_and_registers_our_measures(tmp_path):
    """The wheel as pip builds it: under the name that ir_measures asks for, with what registers our measures."""
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", tmp_path, SHIM.parent]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if "No matching distribution found for hatchling" in done.stderr:
        pytest.skip("what builds it cannot be had")
    assert done.returncode == 0, done.stderr
    assert ran(HOOK.format(folder=str(tmp_path))) == "0.5.11+gainful\n1.0\n"


@pytest.fixture
def conformance(monkeypatch):
    monkeypatch.syspath_prepend(str(SHIM.parents[2] / ".ci"))
    return importlib.import_module("conformance")


def test_conformance_compares_what_is_printed_with_what_must_be(tmp_path, conformance):
    """Each line of the recipe is a command of its own; what follows the recipe is none."""
    recipe = "\t./trec_eval -q same | diff - out\n\t./trec_eval other | diff - out\n\t/bin/echo done\n"
    (tmp_path / "Makefile").write_text(f"quicktest: trec_eval\n{recipe}\nlong:\n\t./trec_eval x | diff - out\n")
    (tmp_path / "out").write_text("-q same\n")
    code = "import sys; print(*sys.argv[1:])"
    found = conformance.quicktest(tmp_path, (sys.executable, "-c", code))
    assert list(found.values()) == [True, False]


def test_conformance_counts_the_tests_of_a_program(tmp_path, conformance):
    """Those that are made only when it is run as one, too."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "pytrec_eval_tests.py").write_text(
        "import unittest\nclass Test(unittest.TestCase):\n    def test_good(self): pass\n"
        "    def test_error(self): raise KeyError\n"
        "if __name__ == '__main__':\n"
        "    setattr(Test, 'test_made-of.files', lambda self: self.fail())\n    unittest.main()\n"
    )
    assert conformance.unittests(tmp_path) == {"test_error": False, "test_good": True, "test_made-of.files": False}


def test_conformance_takes_the_index_where_a_repository_is_out_of_reach(tmp_path, conformance, monkeypatch, capsys):
    """And names what it cannot have; an archive cannot write outside of its folder."""

    def unreachable(*_, **__):
        raise OSError("no route")

    def released(release, into):
        archive = tmp_path / "released.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.addfile(tarfile.TarInfo("ir_measures-0.4.3/tests/test_it.py"))
            if (tmp_path / "out").exists():
                tar.addfile(tarfile.TarInfo("ir_measures-0.4.3/../../evil.py"))
        conformance.unpack(archive, into)

    monkeypatch.setattr(conformance.urllib.request, "urlopen", unreachable)
    monkeypatch.setattr(conformance, "fetch_release", released)
    assert (conformance.found("ir_measures", None, tmp_path / "in") / "tests" / "test_it.py").is_file()
    assert conformance.found("mteb", None, tmp_path / "in") is None
    assert "mteb: cannot be fetched (no route)" in capsys.readouterr().err
    (tmp_path / "out").mkdir()
    assert conformance.found("ir_measures", None, tmp_path / "out") is None
    assert "outside the destination" in capsys.readouterr().err
