"""The optional distribution that provides the module name pytrec_eval, as others use it."""

from __future__ import annotations

import os
import subprocess
import sys
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
HOOK = f"""
import site, sys
site.addsitedir({str(SHIM)!r})
assert "gainful" not in sys.modules and "ir_measures" not in sys.modules
import ir_measures
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
def test_importing_ir_measures_registers_our_measures():
    assert ran(HOOK) == "1.0\n"


def test_conformance_compares_what_is_printed_with_what_must_be(tmp_path, monkeypatch):
    """Each line of the recipe is a command of its own; what follows the recipe is none."""
    monkeypatch.syspath_prepend(str(SHIM.parents[2] / ".ci"))
    import conformance

    recipe = "\t./trec_eval -q same | diff - out\n\t./trec_eval other | diff - out\n\t/bin/echo done\n"
    (tmp_path / "Makefile").write_text(f"quicktest: trec_eval\n{recipe}\nlong:\n\t./trec_eval x | diff - out\n")
    (tmp_path / "out").write_text("-q same\n")
    code = "import sys; print(*sys.argv[1:])"
    found = conformance.quicktest(tmp_path, (sys.executable, "-c", code))
    assert list(found.values()) == [True, False]
