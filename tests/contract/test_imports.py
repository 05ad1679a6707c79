"""What importing gainful, and using it, brings in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

OPTIONAL = {"altair", "cyclopts", "dask", "distributed", "lightgbm", "pandas", "pyarrow", "rich", "scipy", "torch"}


def _loaded(code: str) -> set[str]:
    script = f"import sys, json\n{code}\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_is_free():
    assert not _loaded("import gainful") & (OPTIONAL | {"polars", "numpy"})


def test_evaluating_needs_polars_and_numpy_alone():
    loaded = _loaded("import gainful as gf\ngf.evaluate({'q': {'d': 1}}, {'q': {'d': 2.0}}, ['nDCG@10', 'AP'])")
    assert {"polars", "numpy"} <= loaded
    assert not loaded & OPTIONAL


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


def test_trec_eval_needs_none_of_the_other_commands():
    tiny = Path(__file__).parents[1] / "golden" / "tiny"
    words = ["trec_eval", str(tiny / "qrels.txt"), str(tiny / "a.txt")]
    assert not _loaded(f"from gainful.cli.main import main\nassert main({words}) == 0") & OPTIONAL


def test_a_module_does_not_take_the_place_of_the_function_of_its_name():
    _loaded(
        "import gainful.verbs.evaluate as _, gainful.verbs.explain as _, gainful as gf\nassert callable(gf.evaluate)"
    )
