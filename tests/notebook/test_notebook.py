"""A real notebook, run by a real kernel: every result shows its verdict, a table and a chart, without being asked."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Callable
from types import ModuleType
from xml.etree import ElementTree

import pytest

import gainful as gf

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

BEGIN = """
import gainful as gf

made = gf.simulate(topics=12, systems=6, contributors=4, depth=30, pool_depth=15, seed=3)
qrels, runs = made.qrels, made.runs
rankings = gf.align(qrels, runs)
scores = gf.evaluate(qrels, runs, ["nDCG@10", "AP"])
"""

# One cell per public function that returns a result, as people would type it.
CELLS = {
    "evaluate": 'gf.evaluate(qrels, runs, ["nDCG@10", "AP", "nDCGf@10"])',
    "compare": "gf.compare(scores)",
    "check": "gf.check(qrels, runs)",
    "explain": 'gf.explain(qrels, runs[0], runs[0].topics[0], "nDCGf@10")',
    "agreement": "gf.agreement(scores)",
    "judges": 'gf.judges(qrels, qrels, runs=runs, measures="AP", resamples=20)',
    "pool": "gf.pool(qrels, runs, depth=20)",
    "boundedness": "gf.boundedness(rankings, cutoff=5)",
    "reliability": 'gf.reliability(qrels, runs, "nDCG@10")',
    "robustness": 'gf.robustness(rankings, ["nDCG@10", "bpref"], trials=2, pairs=5)',
    "sensitivity": "gf.sensitivity(scores, resamples=100)",
    "tasks": "gf.tasks(scores, groups={topic: 'even' if at % 2 else 'odd' for at, topic in enumerate(scores.topics)})",
    "stability": "gf.stability(scores, draws=20)",
    "topics": "gf.topics(scores, difference=0.05)",
    "optimize": "gf.optimize(qrels, runs, cutoff=5, splits=0, resamples=10, starts=1)",
    "threshold.fit": "gf.threshold.fit(qrels, runs[0], resamples=20)",
    "threshold.curve": "gf.threshold.curve(qrels, runs[0])",
}


def kinds() -> set[str]:
    """The names of all classes that are results."""
    found: set[str] = set()
    left = [gf.Result]
    while left:
        left += (kind := left.pop()).__subclasses__()
        found.add(kind.__name__)
    return found


def functions() -> set[str]:
    """The public functions that return a result."""
    things: dict[str, object] = {}
    for name in gf.__all__:
        thing = getattr(gf, name)
        if isinstance(thing, ModuleType):
            inside = getattr(thing, "__all__", [inner for inner in vars(thing) if not inner.startswith("_")])
            things |= {f"{name}.{inner}": getattr(thing, inner) for inner in inside}
        else:
            things[name] = thing
    return {
        name
        for name, thing in things.items()
        if inspect.isfunction(thing) and inspect.signature(thing).return_annotation in kinds()
    }


# They take files that a user has, or minutes, or are a page of their own; see tests/unit/studies, ltrf and pages.
ELSEWHERE = {name for name in functions() if name.startswith(("studies.", "ltrf."))}
ELSEWHERE |= {"read_scores", "report", "score"}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory) -> dict[str, list[nbformat.NotebookNode]]:
    """What comes of each cell."""
    cells = [nbformat.v4.new_code_cell(code) for code in (BEGIN.strip(), *CELLS.values())]
    notebook = nbformat.v4.new_notebook(cells=cells)
    folder = tmp_path_factory.mktemp("notebook")
    where = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=600, startup_timeout=300, resources=where, allow_errors=True).execute()
    return {name: cell.outputs for name, cell in zip(("begin", *CELLS), notebook.cells, strict=True)}


@pytest.fixture
def shown(outputs) -> Callable[[str], dict[str, str]]:
    """What a cell shows, by kind."""

    def show(name: str) -> dict[str, str]:
        wrong = [output for output in outputs["begin"] + outputs[name] if output.output_type == "error"]
        assert not wrong, f"{wrong[0].ename}: {wrong[0].evalue}"
        [result] = [output for output in outputs[name] if output.output_type == "execute_result"]
        return dict(result.data)

    return show


def test_every_result_has_a_cell():
    assert set(CELLS) == functions() - ELSEWHERE


@pytest.mark.parametrize("name", CELLS)
def test_shows_verdict_table_and_chart(name, shown):
    page = shown(name)["text/html"]
    verdict = re.search(r"<p><b>(.+?)</b></p>", page, re.DOTALL)
    assert verdict, "no verdict"
    assert re.fullmatch(r"[^<>]*[.:]", verdict[1]), verdict[1]
    assert page.count("<tr>") >= 2
    svg = re.search(r"<svg.*</svg>", page, re.DOTALL)
    if name == "check":  # a list of faults: there is nothing to draw
        assert svg is None
    else:
        assert svg, "no chart"
        drawing = ElementTree.fromstring(svg[0])
        assert [one for one in drawing.iter() if "role-mark" in one.get("class", "")]
    assert not re.search(r"[ >(]nan\b|0x[0-9a-f]{6}|array\(", page)


@pytest.mark.parametrize("name", CELLS)
def test_says_the_same_as_text(name, shown):
    text, page = shown(name)["text/plain"], shown(name)["text/html"]
    verdict = re.search(r"<p><b>(.+?)</b></p>", page, re.DOTALL)[1]
    assert " ".join(text.split()).startswith(" ".join(html.unescape(verdict).split()))


@pytest.mark.parametrize("name", CELLS)
def test_shows_nothing_else(name, outputs):
    """What a library prints by itself, such as an empty box per table, would stand above every result."""
    assert [output.output_type for output in outputs[name]] == ["execute_result"]
    assert "\x1b" not in outputs[name][0].data["text/plain"]
