"""What importing gainful, and using it, brings in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gainful
from gainful._core import native

TINY = Path(__file__).parents[1] / "golden" / "tiny"
QRELS, RUN, RUN_B = (str(TINY / name) for name in ("qrels.txt", "a.txt", "b.txt"))
compiled = pytest.mark.skipif(native is None, reason="there is no compiled core")
OPTIONAL = {"altair", "cyclopts", "dask", "distributed", "lightgbm", "pandas", "pyarrow", "rich", "scipy", "torch"}


def _loaded(code: str) -> set[str]:
    script = f"import sys, json\n{code}\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_is_free():
    assert not _loaded("import gainful") & (OPTIONAL | {"polars", "numpy"})


@pytest.mark.parametrize("pure", [native is None, pytest.param(True, marks=pytest.mark.slow)])
def test_evaluating_needs_little(pure, monkeypatch):
    monkeypatch.setenv("GAINFUL_PURE", str(int(pure)))
    loaded = _loaded("import gainful as gf\ngf.evaluate({'q': {'d': 1}}, {'q': {'d': 2.0}}, ['nDCG@10', 'AP'])")
    assert "numpy" in loaded
    assert ("polars" in loaded) == pure
    assert not loaded & OPTIONAL


@compiled
@pytest.mark.parametrize(
    "words",
    [
        ["trec_eval", "-q", "-m", "all_trec", QRELS, RUN],
        ["evaluate", QRELS, RUN],
        ["evaluate", QRELS, RUN, "--per-topic"],
        ["evaluate", QRELS, RUN, "--per-topic", "--format", "csv"],
        ["evaluate", QRELS, RUN, "--format", "json"],
        ["evaluate", QRELS, RUN, RUN_B, "--format", "latex"],
    ],
    ids=lambda words: " ".join(word for word in words if str(TINY) not in word),
)
def test_text_needs_no_dataframe(words):
    loaded = _loaded(f"from gainful.cli.main import main\nassert main({words}) == 0")
    assert not loaded & {"polars", "scipy", "pandas", "altair"}
    assert words[0] != "trec_eval" or not loaded & OPTIONAL


def test_polars_is_imported_in_one_place():
    """`gainful._polars` imports it late, and sees to it that Ctrl-C still works."""
    source = Path(gainful.__file__).parent
    plain = re.compile(r"^\s*(import polars|from polars)\b", re.MULTILINE)
    found = {path.relative_to(source).name for path in source.rglob("*.py") if plain.search(path.read_text())}
    assert found == {"_polars.py"}


def test_results_are_printed_without_a_dataframe():
    """What is left to polars is reading and joining."""
    loaded = _loaded(
        "import numpy as np\nfrom gainful.data.scores import Scores\n"
        "scores = Scores(values=np.full((1, 2, 3), 0.5), counted=np.full((1, 2, 3), True), measures=('AP',), "
        "systems=('a', 'b'), topics=('1', '2', '3'), summaries=('mean',), higher=('better',), spellings={}, "
        "policies=None, missing=(0, 0), ignored=(0, 0))\n"
        "str(scores), scores.topic_table().latex(), scores.mean_table().html(), list(scores.long_rows())\n"
        "scores.to_dict()"
    )
    assert not loaded & {"polars", "pandas", "scipy"}


def test_analyses_need_no_more_of_scipy_than_its_functions():
    """scipy.stats and scipy.optimize take longer to import than most analyses."""
    _loaded(
        "import gainful as gf, numpy as np\n"
        "scores = np.random.default_rng(5).random((4, 12))\n"
        "gf.compare(scores), gf.reliability(scores), gf.stability(scores), gf.sensitivity(scores), gf.topics(scores)\n"
        "assert 'scipy.special' in sys.modules\n"
        "assert not {'scipy.stats', 'scipy.optimize', 'scipy.linalg'} & sys.modules.keys()"
    )


def test_a_module_does_not_take_the_place_of_the_function_of_its_name():
    _loaded(
        "import gainful.verbs.evaluate as _, gainful.verbs.explain as _, gainful as gf\nassert callable(gf.evaluate)"
    )
